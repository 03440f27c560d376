"""Picks: their ranks, ties, margins and reasons, and that no task's own labels have a part in its pick."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bestofn.errors import PoolError, UsageError
from bestofn.selection import first_columns, needs_all, select
from bestofn.selector import Selector, Term
from bestofn.table import FeatureTable

COLUMNS = ("finished", "timed_out", "refused", "n_commands", "n_characters", "n_error")


def table(n_tasks: int = 3, attempts: int = 3, seed: int = 0, swing: bool = True) -> FeatureTable:
    """A pool of random features and outcomes."""
    rng = np.random.default_rng(seed)
    rows = []
    for task in range(n_tasks):
        passes = rng.permutation([1.0] + [0.0] * (attempts - 1)) if swing else np.ones(attempts)
        for attempt in range(attempts):
            values = [1.0, 0.0, 0.0, 5.0, float(rng.integers(100, 9999)), float(rng.integers(0, 5))]
            rows.append((f"t{task}", f"t{task}.{attempt}", values, float(passes[attempt]), False, ""))
    return FeatureTable.build(rows, COLUMNS, {"pool": "made"})


def with_values(given: FeatureTable, column: str, values: list[float]) -> FeatureTable:
    """The table with one column replaced."""
    changed = given.values.copy()
    changed[:, given.columns.index(column)] = values
    return replace(given, values=changed)


def test_ranks_leave_a_gap_after_a_tie() -> None:
    """Two best attempts are both 1, the next is 3."""
    made = with_values(table(1), "n_characters", [5.0, 9.0, 5.0])
    task = select(made, "shortest").tasks[0]
    assert [(r.trajectory, r.rank) for r in task.ranking] == [("t0.0", 1), ("t0.2", 1), ("t0.1", 3)]
    assert task.pick == ("t0.0", "t0.2")
    assert task.margin == task.ranking[0].score - task.ranking[2].score


def test_an_only_attempt_has_no_margin() -> None:
    """With one attempt there is a pick and nothing to compare it with."""
    task = select(table(1, 1, swing=False), "shortest").tasks[0]
    assert task.pick == ("t0.0",)
    assert math.isnan(task.margin)


def test_reasons_name_the_value_and_those_of_the_others() -> None:
    """The pick's reason gives its value and the range of its siblings; a dropped attempt says why."""
    made = with_values(table(1), "n_characters", [5000.0, 900.0, 12000.0])
    made = with_values(made, "finished", [1.0, 0.0, 1.0])
    told = {r.trajectory: r.reasons for r in select(made, "gate-shortest").tasks[0].ranking}
    assert told["t0.0"] == ("finished", "fewest characters (5,000; others 12,000)")
    assert told["t0.1"] == ("did not finish",)
    assert told["t0.2"][-1] == "most characters (12,000; others 5,000)"


def test_an_empty_recording_ranks_last_and_says_so() -> None:
    """A crash without a turn is below every other attempt, whatever the selector."""
    made = table(1)
    made = replace(made, empty=np.array([True, False, False]))
    for name in ("policy", "shortest", "longest", "gate", "gate-shortest", "fewest-errors"):
        last = select(made, name).tasks[0].ranking[-1]
        assert last.trajectory == "t0.0", name
        assert last.reasons == ("no turn of the agent is recorded",)


def test_no_task_is_picked_with_its_own_labels() -> None:
    """Changing the outcomes of one task changes no rank and no selector in that task."""
    for n_tasks in (12, 30, 60):
        made = table(n_tasks, seed=n_tasks)
        before = select(made).tasks
        for held_out in range(0, n_tasks, 7):
            mine = made.groups == held_out
            flipped = replace(made, rewards=np.where(mine, 1.0 - made.rewards, made.rewards))
            after = select(flipped).tasks[held_out]
            assert (after.selector, after.ranking) == (before[held_out].selector, before[held_out].ranking)


def test_the_policy_learns_only_from_enough_swing_tasks() -> None:
    """19 others: a rule; 20 others: re-weighting; 50 others: forward selection."""
    assert {task.selector for task in select(table(20)).tasks} <= {"gate", "gate-shortest"}
    assert {task.selector for task in select(table(21)).tasks} == {"reweight"}
    assert {task.selector for task in select(table(51)).tasks} == {"forward"}


def test_shuffled_rows_give_the_same_picks() -> None:
    """The order in which attempts were read decides nothing."""
    made = table(24, seed=4)
    shuffled = made.rows(np.random.default_rng(1).permutation(len(made)))
    for name in ("policy", "gate-shortest", "reweight", "forward"):
        one = {task.task: (task.pick, task.ranking) for task in select(made, name).tasks}
        two = {task.task: (task.pick, task.ranking) for task in select(shuffled, name).tasks}
        assert one == two, name
        assert select(made, name).summary.accuracy == select(shuffled, name).summary.accuracy


def test_a_file_that_was_fitted_here_is_called_optimistic() -> None:
    """A selector that saw these labels flatters itself, and the summary says so."""
    made = table(21)
    from bestofn.fitting import fit_reweight

    own = select(made, fit_reweight(made).selector)
    assert own.summary.optimistic == "this selector was fitted on these very rows"
    assert select(made, Selector("rule", terms=(Term("n_error", -1.0),))).summary.optimistic == ""


def test_learning_without_labels_is_refused_with_a_way_out() -> None:
    """`forward` by name needs labels; the error names a rule and a file instead."""
    made = table(21)
    blank = replace(made, rewards=np.full(len(made), np.nan))
    with pytest.raises(
        PoolError, match="'forward' learns from labels, and no attempt here has one: take a rule such as"
    ):
        select(blank, "forward")
    assert select(blank).summary.figures.n_tasks == 0


def test_only_what_a_selector_reads_is_read_first() -> None:
    """A rule names its few columns, the policy those of the rule, a fitted selector asks for all."""
    assert first_columns("forward") is None
    assert set(first_columns("policy") or ()) == {
        "finished",
        "timed_out",
        "refused",
        "n_commands",
        "n_characters",
        "n_user_turns",
    }
    assert not needs_all(table(20), "policy")
    assert needs_all(table(21), "policy")
    assert not needs_all(table(21), "gate")


def test_an_unknown_selector_lists_all() -> None:
    """The error names rules, fitted selectors and the way to a file."""
    with pytest.raises(UsageError, match="no selector 'best': there are policy, random, shortest"):
        select(table(), "best")
