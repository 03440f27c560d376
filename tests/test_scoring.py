"""From a pool to its table: one pass, nothing lost, trouble named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bestofn import load_pool, score_pool
from bestofn.errors import FormatError, PoolError
from bestofn.trajectory import Trajectory


def record(task: str, name: str, *, reward: float | None = 1.0, words: str = "ok") -> dict[str, object]:
    """A small recording."""
    made: dict[str, object] = {
        "task": task,
        "id": name,
        "ending": "finished",
        "messages": [{"role": "user", "content": "do"}, {"role": "assistant", "content": words}],
    }
    if reward is not None:
        made["reward"] = reward
    return made


def write(path: Path, *records: dict[str, object]) -> None:
    path.write_text("".join(json.dumps(r) + "\n" for r in records))


def test_a_table_has_a_row_an_attempt_and_says_what_made_it(tmp_path: Path) -> None:
    """Tasks, ids, rewards and the pool's name, banks and expected signs are in the table."""
    write(tmp_path / "a.jsonl", record("a", "one"), record("a", "two", reward=0.0, words="other"))
    table = score_pool(load_pool(tmp_path)).table
    assert list(table.trajectories) == ["one", "two"]
    assert list(table.rewards) == [1.0, 0.0]
    assert set(table.about) == {"pool", "banks", "functions", "directions"}
    assert table.about["directions"]["n_error"] == -1


def test_a_function_of_ones_own_becomes_a_column(tmp_path: Path) -> None:
    """A plain function of a trajectory, which never sees the label."""
    write(tmp_path / "a.jsonl", record("a", "one", words="TODO later"))

    def n_todo(trajectory: Trajectory) -> float:
        assert np.isnan(trajectory.label.value)
        return float(sum("TODO" in step.message for step in trajectory.steps))

    table = score_pool(load_pool(tmp_path), columns=["n_todo"], functions={"n_todo": n_todo}).table
    assert table.columns == ("n_todo",)
    assert table.values.tolist() == [[1.0]]


def test_several_processes_give_the_table_of_one(tmp_path: Path) -> None:
    """Rows, ids, copies left out and problems do not depend on the number of processes."""
    for n in range(70):
        write(
            tmp_path / f"{n:02}.jsonl",
            record(f"t{n % 9}", f"r{n % 35}", words=f"{n % 50}"),
            record("t", "bad", reward=None),
        )
    one, *others = (score_pool(load_pool(tmp_path), jobs=jobs) for jobs in (1, 2, None))
    for other in others:
        assert list(one.table.trajectories) == list(other.table.trajectories)
        assert one.problems == other.problems
        assert np.array_equal(one.table.values, other.table.values, equal_nan=True)


def test_copies_of_an_attempt_count_once(tmp_path: Path) -> None:
    """The same record under one task is left out and named; the same words in another record are not."""
    write(tmp_path / "a.jsonl", record("a", "one"))
    write(tmp_path / "b.jsonl", record("a", "one"), record("a", "two"))
    scoring = score_pool(load_pool(tmp_path))
    assert list(scoring.table.trajectories) == ["one", "two"]
    assert scoring.counts == {"duplicate": 1}


def test_a_file_without_a_recognised_turn_is_an_error(tmp_path: Path) -> None:
    """Records of which none is a turn are never an empty attempt; --keep-going leaves them out by name."""
    write(tmp_path / "a.jsonl", record("a", "one"))
    (tmp_path / "b.json").write_text(json.dumps({"task": "b", "messages": [{"role": "??", "text": 1}, {"x": 2}]}))
    with pytest.raises(FormatError, match=r"b\.json.*no recognised turn.*--keep-going"):
        score_pool(load_pool(tmp_path))
    scoring = score_pool(load_pool(tmp_path), keep_going=True)
    assert list(scoring.table.trajectories) == ["one"]
    assert scoring.counts == {"no recognised turn": 1}


def test_an_empty_place_says_what_was_looked_for(tmp_path: Path) -> None:
    """A directory without recordings names the endings and formats that are read."""
    with pytest.raises(PoolError, match=r"holds no recordings: no \.json, \.jsonl, \.ndjson or \.traj file"):
        score_pool(load_pool(tmp_path))


def test_a_pool_of_nothing_readable_names_its_files(tmp_path: Path) -> None:
    """Unreadable and foreign files are named where nothing else is there."""
    (tmp_path / "a.json").write_text("{broken")
    (tmp_path / "b.json").write_text('{"name": "package"}')
    with pytest.raises(PoolError, match=r"a\.json: unreadable file.*b\.json: unrecognised file"):
        score_pool(load_pool(tmp_path))


def test_files_of_which_nothing_came_are_spoken_of(tmp_path: Path) -> None:
    """The reason is not that no file is there: the format does not fit, or all lie beside recordings."""
    write(tmp_path / "a.jsonl", record("a", "one"))
    with pytest.raises(PoolError) as error:
        score_pool(load_pool(tmp_path, format="harbor"))
    assert "files or trial folders are there (1), but none holds an attempt of format 'harbor'" in str(error.value)
    assert "leave --format out" in str(error.value)
    (tmp_path / "a.jsonl").unlink()
    (tmp_path / "report.json").write_text('{"resolved_ids": ["x"]}')
    with pytest.raises(PoolError, match=r"\(1\), but none holds an attempt: all are reports or settings"):
        score_pool(load_pool(tmp_path))


def test_a_refusal_lists_the_formats_once(tmp_path: Path) -> None:
    """Where no file is recognised, the error lists what is."""
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text('{"resourceSpans": []}')
    with pytest.raises(PoolError) as error:
        score_pool(load_pool(tmp_path))
    assert str(error.value).count("it looks like OTLP traces, a format that is not read yet") == 2
    assert str(error.value).count("The formats are harbor, terminal-bench, atif") == 1
