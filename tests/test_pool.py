"""Pools: reading one attempt at a time, names, copies, and attempts without their text."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
from recordings import pooled, written

from bestofn.errors import FormatError
from bestofn.pool import Pool, count_problems
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.trajectory import Trajectory


def trial(name: str, message: str = "Done.", **fields: Any) -> dict[str, Any]:
    steps = [{"source": "user", "message": "Make f."}, {"source": "agent", "message": message}]
    inner = {"schema_version": "ATIF-v1.6", "agent": {"name": "a"}, "steps": steps}
    return {"trial_name": name, "task_name": "make-f", "reward": 1, "trajectory": inner, **fields}


def test_tasks_come_in_order_of_first_appearance(tmp_path: Path) -> None:
    """Attempts are grouped by the task that their record names, wherever they lie."""
    written(tmp_path / "1.json", trial("b1", task_name="b"))
    written(tmp_path / "2.json", trial("a1", task_name="org/a"))
    written(tmp_path / "3.json", trial("b2", task_name="b"))
    pool = Pool("x", tmp_path)
    assert [(task.name, [t.id for t in task.trajectories]) for task in pool.tasks] == [
        ("b", ["b1", "b2"]),
        ("a", ["a1"]),
    ]
    assert [t.id for t in pool.trajectories] == ["b1", "b2", "a1"]


def test_equal_names_get_their_paths(tmp_path: Path) -> None:
    """Two attempts never share an id, in one file or in several."""
    written(tmp_path / "1.json", trial("t", "one"))
    written(tmp_path / "2.json", [trial("t", "two"), trial("t", "three")])
    attempts, _ = pooled(tmp_path)
    assert [t.id for t in attempts] == ["t", "2.json:t", "2.json#1:t"]


def test_copies_under_one_task_are_left_out_and_named(tmp_path: Path) -> None:
    """The same bytes twice are one attempt; the same text with another name is another attempt."""
    written(tmp_path / "1.json", trial("t1"))
    written(tmp_path / "2.json", trial("t1"))
    written(tmp_path / "3.json", trial("t3"))
    attempts, problems = pooled(tmp_path)
    assert [t.id for t in attempts] == ["t1", "t3"]
    assert problems == [Problem(ProblemKind.DUPLICATE, "2.json (atif)", "the same record as t1")]
    assert count_problems(tuple(problems)) == {ProblemKind.DUPLICATE: 1}


def test_a_pool_holds_no_text(tmp_path: Path) -> None:
    """The light attempts of a pool share one instruction and read their steps again, the same ones."""
    for number in range(3):
        written(tmp_path / f"{number}.json", trial(f"t{number}", f"message {number}"))
    pool = Pool("x", tmp_path)
    light = list(pool.trajectories)
    assert all(t.body is None for t in light)
    assert len({id(t.instruction) for t in light}) == 1
    assert [t.steps for t in light] == [t.steps for t in pool.stream()]
    assert [t.steps[1].message for t in (light[2], light[0], light[2])] == ["message 2", "message 0", "message 2"]


def test_records_of_one_file_are_read_again_by_their_place(tmp_path: Path) -> None:
    """Each attempt of a list finds its own steps."""
    written(tmp_path / "all.json", [trial(f"t{number}", f"message {number}") for number in range(4)])
    assert [t.steps[1].message for t in Pool("x", tmp_path).trajectories] == [f"message {n}" for n in range(4)]
    assert [t.steps[1].message for t in Pool("x", tmp_path / "all.json").trajectories][3] == "message 3"


def test_streaming_lets_go_of_what_was_read(tmp_path: Path) -> None:
    """An attempt that the caller drops is freed before the third one is read."""
    for number in range(4):
        written(tmp_path / f"{number}.json", trial(f"t{number}", str(number)))
    seen: list[weakref.ref[Any]] = []
    alive: list[int] = []

    class Marked(str):
        """A text whose life can be followed."""

    for attempt in Pool("x", tmp_path).stream():
        gc.collect()
        alive.append(sum(reference() is not None for reference in seen))
        mark = Marked(attempt.steps[1].message)
        seen.append(weakref.ref(mark))
        object.__setattr__(attempt, "body", (attempt.steps[1]._replace(message=mark),))
        del mark, attempt
    assert max(alive) <= 1


def test_an_attempt_that_is_gone_says_so(tmp_path: Path) -> None:
    """A file that changed since the pool was read is an error with its place, not other steps."""
    path = written(tmp_path / "1.json", trial("t1"))
    [light] = Pool("x", tmp_path).trajectories
    written(path, {"nothing": 1})
    with pytest.raises(FormatError) as error:
        _ = light.steps
    assert str(error.value) == "1.json (atif) held an attempt when the pool was read, and holds it no more"


def test_attempts_cannot_be_changed(tmp_path: Path) -> None:
    """Records are immutable."""
    written(tmp_path / "1.json", trial("t1"))
    [attempt] = Pool("x", tmp_path).stream()
    assert isinstance(attempt, Trajectory)
    with pytest.raises(AttributeError):
        attempt.task = "other"  # type: ignore[misc]  # the very thing that must fail
    with pytest.raises(AttributeError):
        attempt.steps[0].message = "other"  # type: ignore[misc]  # the very thing that must fail


def test_an_empty_attempt_is_named_with_the_reason(tmp_path: Path) -> None:
    """An attempt without a turn of the agent stays in the pool."""
    written(tmp_path / "1.json", trial("t1", trajectory=None))
    attempts, problems = pooled(tmp_path)
    assert attempts[0].steps == ()
    assert problems == [Problem(ProblemKind.EMPTY, "1.json (atif)", "no turn of the agent")]


def test_one_name_for_several_records_of_a_file_is_told(tmp_path: Path) -> None:
    """All are kept under ids of their own; the same name in another file is no trouble."""
    written(tmp_path / "1.json", trial("t", "one"))
    written(tmp_path / "2.json", [trial("t", "two"), trial("t", "three"), trial("u", "four"), trial("t", "five")])
    attempts, problems = pooled(tmp_path)
    assert [t.id for t in attempts] == ["t", "2.json:t", "2.json#1:t", "u", "2.json#3:t"]
    assert [(p.kind, p.where) for p in problems] == [
        (ProblemKind.SAME_NAME, "2.json, record 1 (atif)"),
        (ProblemKind.SAME_NAME, "2.json, record 3 (atif)"),
    ]
    assert problems[0].what == "another record of this file is called 't' as well; this one goes by '2.json#1:t'"
