"""The demo pool on disk: its records, its balance, and that it can be recorded again."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo"

pytestmark = pytest.mark.skipif(
    not (DEMO / "record.py").is_file(),
    reason=f"needs a checkout: there is no {DEMO / 'record.py'} beside these tests",
)

CHEAP = ("config_override", "fix_intervals")
"""Two tasks that record in a second, one with an attempt that just ends."""

Record = dict[str, Any]


def read(folder: Path) -> dict[str, list[Record]]:
    """The records of a folder by the name of their file."""
    return {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted(folder.glob("*.jsonl"))
    }


@pytest.fixture(scope="module")
def pool() -> dict[str, list[Record]]:
    """The demo pool by task."""
    return read(DEMO / "pool")


def records_of(pool: dict[str, list[Record]]) -> list[Record]:
    """All records of all tasks."""
    return [record for records in pool.values() for record in records]


def record(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run record.py as a script; skip by name where a tool that the tasks need is missing."""
    run = subprocess.run(
        [sys.executable, str(DEMO / "record.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if run.returncode == 2 and "lacks" in run.stderr:
        pytest.skip(run.stderr.strip())
    return run


def policy_names() -> list[str]:
    """The names of all policies, read from the task modules without importing them."""
    texts = [path.read_text(encoding="utf-8") for path in (DEMO / "tasks").glob("*.py")]
    return [name for text in texts for name in re.findall(r"^def (\w+)\(\) -> Run:", text, re.M)]


def test_recording_again_gives_the_same_outcomes_and_endings(
    tmp_path: Path,
    pool: dict[str, list[Record]],
) -> None:
    """Two tasks recorded into another folder agree with the shipped pool."""
    run = record("-o", str(tmp_path), *CHEAP)
    assert run.returncode == 0, run.stderr
    again = read(tmp_path)
    assert sorted(again) == sorted(CHEAP)
    for task, records in again.items():
        now = [(r["id"], r["reward"], r["ending"]) for r in records]
        assert now == [(r["id"], r["reward"], r["ending"]) for r in pool[task]]


def test_check_reports_an_attempt_whose_outcome_differs(
    tmp_path: Path,
    pool: dict[str, list[Record]],
) -> None:
    """`--check` exits with 1 and names the attempt; on the shipped pool it exits with 0."""
    assert record("--check", "config_override").returncode == 0
    first, *rest = pool["config_override"]
    lines = [json.dumps(r) for r in ({**first, "reward": 1.0 - first["reward"]}, *rest)]
    (tmp_path / "config_override.jsonl").write_text("\n".join(lines), encoding="utf-8")
    run = record("--check", "-o", str(tmp_path), "config_override")
    assert run.returncode == 1
    assert f"{first['id']}: 0.0 finished on disk, 1.0 finished now" in run.stdout
    assert "1 attempts differ" in run.stdout


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    """Without git and the rest on the PATH the recorder says so and exits with 2."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    (tmp_path / "bash").symlink_to(bash)
    run = subprocess.run(
        [sys.executable, str(DEMO / "record.py")],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(tmp_path)},
    )
    assert run.returncode == 2
    assert "record.py: this machine lacks git, tar, make" in run.stderr


def test_every_record_has_the_stated_form(pool: dict[str, list[Record]]) -> None:
    """Keys, values, and one tool message after each call; a finished run closes with words."""
    for task, records in pool.items():
        assert len(records) == 4
        for r in records:
            assert list(r) == ["task", "id", "reward", "ending", "messages"]
            assert r["task"] == task
            assert r["reward"] in (0.0, 1.0)
            assert r["ending"] in ("finished", "timed_out", "unfinished")
            system, user, *turns = r["messages"]
            assert (system["role"], user["role"]) == ("system", "user")
            closing = turns.pop() if r["ending"] == "finished" else None
            if closing is not None:
                assert list(closing) == ["role", "content"]
                assert closing["role"] == "assistant"
                assert closing["content"]
            for number, (call, answer) in enumerate(zip(turns[::2], turns[1::2], strict=True), 1):
                (asked,) = call["tool_calls"]
                assert call["role"] == "assistant"
                assert asked["id"] == answer["tool_call_id"] == f"c{number}"
                assert asked["function"]["name"] == "bash"
                assert list(json.loads(asked["function"]["arguments"])) == ["command"]
                assert answer["role"] == "tool"
                assert isinstance(answer["content"], str)
                assert isinstance(answer["exit_code"], int)


def test_ids_are_unique_and_neutral(pool: dict[str, list[Record]]) -> None:
    """An id is the task and a number, nothing else."""
    for task, records in pool.items():
        assert [r["id"] for r in records] == [f"{task}.a{number}" for number in (1, 2, 3, 4)]


def test_no_record_tells_its_policy_or_a_path_of_the_machine(pool: dict[str, list[Record]]) -> None:
    """Policy names and the folders of the recording machine are nowhere in the pool."""
    names = policy_names()
    assert len(names) == len(set(names)) == len(records_of(pool))
    text = json.dumps(pool, ensure_ascii=False)
    assert [name for name in names if name in text] == []
    assert re.findall(r"/(?:tmp|root|home|var/folders|Users|private)/\S*", text) == []
    assert "/app/" in text


def test_sizes_stay_below_the_bar() -> None:
    """The pool is below 250 kB, the whole demo below 400 kB."""
    files = [path for path in DEMO.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    sizes = {path: path.stat().st_size for path in files}
    assert sum(size for path, size in sizes.items() if path.suffix == ".jsonl") < 250_000
    assert sum(sizes.values()) < 400_000


def test_most_tasks_are_mixed_and_about_half_of_the_attempts_pass(
    pool: dict[str, list[Record]],
) -> None:
    """At least nine of a dozen tasks have passes and failures; every ending occurs."""
    passes = {task: sum(r["reward"] for r in records) for task, records in pool.items()}
    assert len(passes) in (12, 13)
    assert sum(0 < count < 4 for count in passes.values()) >= 9
    assert 0.45 <= sum(passes.values()) / len(records_of(pool)) <= 0.6
    assert {r["ending"] for r in records_of(pool)} == {"finished", "timed_out", "unfinished"}


def test_the_position_of_an_attempt_does_not_tell_its_outcome(
    pool: dict[str, list[Record]],
) -> None:
    """No position is always right or always wrong, and none is far from the average."""
    for position in range(4):
        passed = sum(records[position]["reward"] for records in pool.values())
        assert 0.2 <= passed / len(pool) <= 0.8


def test_endings_and_words_do_not_give_the_outcome_away(pool: dict[str, list[Record]]) -> None:
    """There are cut-off successes, cut-off failures, proud failures and humble successes."""
    everything = records_of(pool)
    assert {r["reward"] for r in everything if r["ending"] == "timed_out"} == {0.0, 1.0}
    assert {r["reward"] for r in everything if r["ending"] == "unfinished"} == {0.0, 1.0}
    finished = [r for r in everything if r["ending"] == "finished"]
    closing = [(r["messages"][-1]["content"], r["reward"]) for r in finished]
    proud = re.compile("all checks passed|verified|everything checks out|all requirements", re.I)
    humble = re.compile("not sure|sorry|I did not|I may have|I think|I only trust", re.I)
    for words in (proud, humble):
        assert {reward for text, reward in closing if words.search(text)} == {0.0, 1.0}


def test_the_readme_states_the_passes_of_each_task(pool: dict[str, list[Record]]) -> None:
    """The table of the README is that of the pool."""
    readme = (DEMO / "README.md").read_text(encoding="utf-8")
    stated = re.findall(r"^\| (\w+) \| [^|]+ \| (\d) of 4 \|$", readme, re.M)
    passes = {task: int(sum(r["reward"] for r in records)) for task, records in pool.items()}
    assert {task: int(count) for task, count in stated} == passes
    assert f"{sum(passes.values())} of {len(records_of(pool))} passed." in readme
