"""What is found under a pool's root, and which reader takes it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recordings import pooled, written

from bestofn.errors import FormatError, PoolError, UsageError
from bestofn.readers.document import load_document
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.registry import COMPANIONS, by_name, names, sources

ATIF = {"schema_version": "ATIF-v1.6", "agent": {"name": "a"}, "steps": [{"source": "agent", "message": "hi"}]}


def found(root: Path, format_name: str | None = None) -> list[str]:
    """Paths of the sources under a root."""
    return [source.relative for source in sources(root, format_name)]


def test_files_come_in_path_order_by_their_endings(tmp_path: Path) -> None:
    """Recordings may lie at any depth; hidden places and other files are left out."""
    for name in (
        "b/2.json",
        "b/1.jsonl",
        "a/x.traj",
        "c.ndjson",
        "notes.md",
        ".git/c.json",
        "b/.hidden.json",
        "d.json/e.json",
    ):
        written(tmp_path / name, "{}")
    assert found(tmp_path) == ["a/x.traj", "b/1.jsonl", "b/2.json", "c.ndjson", "d.json/e.json"]


def test_a_root_that_is_no_place_is_an_error(tmp_path: Path) -> None:
    """A missing path and a pipe are named; neither is an empty pool."""
    with pytest.raises(PoolError, match=r"nothing to read at .*nowhere: no such path"):
        list(sources(tmp_path / "nowhere"))
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(PoolError, match=r"nothing to read at .*pipe\.json: not a file or a directory"):
        list(sources(tmp_path / "pipe.json"))


def test_pipes_are_passed_over_and_links_that_lead_nowhere_are_named(tmp_path: Path) -> None:
    """Nothing of it stops the reading of the files beside it."""
    written(tmp_path / "z.json", ATIF)
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "broken.json").symlink_to(tmp_path / "gone.json")
    (tmp_path / "circle.json").symlink_to(tmp_path / "circle.json")
    attempts, problems = pooled(tmp_path)
    assert len(attempts) == 1
    assert [(p.kind, p.where) for p in problems if p.kind is ProblemKind.UNREADABLE] == [
        (ProblemKind.UNREADABLE, "broken.json"),
        (ProblemKind.UNREADABLE, "circle.json"),
    ]


def test_links_to_directories_are_followed_once(tmp_path: Path) -> None:
    """A pool of links works; a circle, a link to a parent and a second link to one place add nothing."""
    outside, pool = tmp_path / "outside", tmp_path / "pool"
    written(outside / "a.json", ATIF)
    pool.mkdir()
    (outside / "up").symlink_to(outside)
    (pool / "first").symlink_to(outside)
    (pool / "second").symlink_to(outside)
    (pool / "self").symlink_to(pool)
    (pool / "nowhere").symlink_to(tmp_path / "gone")
    assert found(pool) == ["first/a.json"]


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One unreadable folder takes nothing else away. Root may read everything, so the system's answer is played."""
    written(tmp_path / "a" / "x.json", ATIF)
    written(tmp_path / "b" / "y.json", ATIF)
    real = os.scandir

    def refusing(path: Path) -> object:
        if Path(path).name == "a":
            raise PermissionError(13, "Permission denied")
        return real(path)

    def refusing_list(path: Path) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refusing)
    monkeypatch.setattr(os, "listdir", refusing_list)
    attempts, problems = pooled(tmp_path)
    assert [attempt.origin.path for attempt in attempts] == ["b/y.json"]
    assert problems[0] == Problem(ProblemKind.UNREADABLE, "a", "Permission denied")


def test_a_file_of_no_known_format_is_named(tmp_path: Path) -> None:
    """What nothing claims is counted, never dropped in silence."""
    written(tmp_path / "a.json", {"hello": 1})
    written(tmp_path / "b.json", "{")
    _, problems = pooled(tmp_path)
    assert [(p.kind, p.where) for p in problems] == [
        (ProblemKind.UNRECOGNISED, "a.json"),
        (ProblemKind.UNREADABLE, "b.json"),
    ]


def test_content_decides_and_a_named_format_overrides(tmp_path: Path) -> None:
    """A trial directory is one attempt of its harness, or a folder of files where a file format is asked for."""
    trial = tmp_path / "t__1"
    written(trial / "agent" / "trajectory.json", ATIF)
    written(trial / "result.json", {"trial_name": "t__1", "verifier_result": {"rewards": {"reward": 1}}})
    assert found(tmp_path) == ["t__1"]
    assert found(tmp_path, "harbor") == ["t__1"]
    assert found(tmp_path, "atif") == ["t__1/agent/trajectory.json", "t__1/result.json"]
    assert found(tmp_path, "terminal-bench") == []
    attempts, problems = pooled(tmp_path, "atif")
    assert [attempt.origin.format for attempt in attempts] == ["atif"]
    assert ProblemKind.NO_TURNS in {problem.kind for problem in problems}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.sampled_from(["agent", "user", "reward", "{"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["steps", "agent", "trajectory", "messages", "role", "content", "traj", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=JSON_VALUES, name=st.sampled_from(["a.json", "a_trajectory.json", "results.json", "a.traj", "a.jsonl"]))
def test_any_json_gives_attempts_or_problems(tmp_path: Path, value: object, name: str) -> None:
    """Whatever a file holds, with any format asked for, no exception reaches the caller."""
    for old in tmp_path.iterdir():
        old.unlink()
    (tmp_path / name).write_bytes(json.dumps(value).encode())
    for format_name in (None, *names()):
        attempts, problems = pooled(tmp_path, format_name)
        assert attempts or problems or format_name in ("harbor", "terminal-bench") or is_quiet(tmp_path / name)


def is_quiet(path: Path) -> bool:
    """True for a file that a harness writes beside its recordings, which is neither an attempt nor a problem."""
    return any(is_companion(load_document(path)) for is_companion in COMPANIONS)


def test_a_directory_format_does_not_read_a_file(tmp_path: Path) -> None:
    """The error names the file and the format."""
    path = written(tmp_path / "a.json", ATIF)
    with pytest.raises(FormatError, match=r"a\.json is a file, and format 'harbor' reads directories"):
        pooled(path, "harbor")


def test_an_unknown_format_lists_the_known_ones() -> None:
    """The way out stands in the error."""
    assert {"harbor", "terminal-bench", "atif"} <= set(names())
    with pytest.raises(UsageError) as error:
        by_name("atfi")
    assert str(error.value) == f"no format 'atfi': there are {', '.join(names())}"


def test_endings_count_in_any_case_and_compressed_files_are_named(tmp_path: Path) -> None:
    """A tool that writes capitals loses nothing; what is packed is told; other files are passed over."""
    record = {"task": "t", "reward": 1, "messages": [{"role": "assistant", "content": "A"}]}
    written(tmp_path / "A.JSONL", "".join(json.dumps({**record, "id": f"a{n}"}) + "\n" for n in range(2)))
    written(tmp_path / "K.JSON", {**record, "id": "k"})
    for name in ("b.jsonl.gz", "c.json.ZST", "d.traj.xz", "e.tar.gz", "f.txt", "g.log", "h.md"):
        (tmp_path / name).write_bytes(b"\x1f\x8b packed")
    attempts, problems = pooled(tmp_path)
    assert [attempt.id for attempt in attempts] == ["a0", "a1", "k"]
    assert problems == [
        Problem(ProblemKind.UNRECOGNISED, name, "compressed: unpack it first")
        for name in ("b.jsonl.gz", "c.json.ZST", "d.traj.xz")
    ]


def test_a_file_that_is_given_directly_is_tried_whatever_its_ending(tmp_path: Path) -> None:
    """Endings only say which files of a folder are looked at."""
    file = written(tmp_path / "run.log", {"task": "t", "messages": [{"role": "assistant", "content": "A"}]})
    assert [attempt.task for attempt in pooled(file)[0]] == ["t"]
    assert pooled(tmp_path) == ([], [])


@pytest.mark.parametrize(
    ("file", "extra"),
    [
        ("a.json", {"resolved": ["x"]}),
        ("a.json", {"resolved_ids": ["x"], "submitted_ids": []}),
        ("result.json", {"trials": [], "job_name": "j"}),
        ("result.json", {"trial_name": "t__1", "verifier_result": None}),
        ("results.json", {"run_id": "r", "accuracy": 1.0}),
        ("results.json", {"is_resolved": True, "parser_results": {}}),
        ("a.json", {"trialId": "x", "trialName": "y"}),
        ("a.json", {"model_patch": "diff", "instance_id": "x"}),
    ],
)
def test_a_record_with_messages_is_no_companion(tmp_path: Path, file: str, extra: dict[str, object]) -> None:
    """Whatever report or setting its other keys are like, a chat record is an attempt."""
    record = {"task": "t", "messages": [{"role": "assistant", "content": "A"}], **extra}
    written(tmp_path / file, record)
    written(tmp_path / "other.json", {"task": "t", "messages": [{"role": "assistant", "content": "B"}]})
    attempts, _ = pooled(tmp_path)
    assert sorted(attempt.steps[0].message for attempt in attempts) == ["A", "B"]
    assert {attempt.origin.format for attempt in attempts} == {"chat"}


def test_a_list_of_records_with_messages_is_no_companion(tmp_path: Path) -> None:
    """A list whose items could be a summary of trials or patches is read where they hold messages."""
    record = {"trialId": "x", "task": "t", "messages": [{"role": "assistant", "content": "A"}]}
    assert len(pooled(written(tmp_path / "a.json", [record]))[0]) == 1
    empty = {"trialId": "x", "messages": []}
    assert pooled(written(tmp_path / "b.json", [empty]))[1] != []


def test_a_named_format_passes_over_companions(tmp_path: Path) -> None:
    """A report beside the recordings is no error, whether a format is named or not."""
    written(tmp_path / "a.json", {"task": "t", "messages": [{"role": "assistant", "content": "A"}]})
    written(tmp_path / "report.json", {"resolved_ids": [], "submitted_ids": ["t"]})
    attempts, problems = pooled(tmp_path, "chat")
    assert len(attempts) == 1
    assert {problem.kind for problem in problems} == {ProblemKind.UNKNOWN_LABEL}


def test_a_wrong_format_names_the_one_that_claims_the_file(tmp_path: Path) -> None:
    """The way out of a wrong `--format` stands in the error."""
    _, problems = pooled(written(tmp_path / "a.json", ATIF), "tau-bench")
    what = "holds records, but none is a turn of this format; it looks like format 'atif'"
    assert problems == [Problem(ProblemKind.NO_TURNS, "a.json", what)]
