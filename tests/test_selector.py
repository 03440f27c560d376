"""Selectors: levels, gate and weighted ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestofn.errors import TableError, UsageError
from bestofn.selector import BASELINES, DROPPED, EMPTY, Selector, Term, baseline, columns_needed, gated
from bestofn.table import FeatureTable

NAN = math.nan
COLUMNS = ("finished", "timed_out", "refused", "n_commands", "n_characters", "n_steps", "n_error", "answer_votes")


def table(*rows: dict, task: str = "t") -> FeatureTable:
    """Attempts of one task (or of `task` keys); what is not said is a good run's, `empty` is False."""
    good = dict(zip(COLUMNS, (1.0, 0.0, 0.0, 9.0, 100.0, 10.0, 0.0, 1.0), strict=True))
    return FeatureTable.build(
        (
            (row.get("task", task), str(i), [{**good, **row}[c] for c in COLUMNS], NAN, row.get("empty", False), "")
            for i, row in enumerate(rows)
        ),
        COLUMNS,
    )


@pytest.mark.parametrize(
    "bad", [{"finished": 0.0}, {"timed_out": 1.0}, {"refused": 1.0}, {"n_commands": 1.0}, {"n_commands": 0.0}]
)
def test_the_gate_drops_each_kind_of_run_that_did_not_try_to_the_end(bad):
    """Unfinished, timed out, refused, or at most one command."""
    assert gated(table({}, bad)).tolist() == [False, True]


def test_what_is_unknown_drops_nothing():
    """A format without end marker or commands loses no attempt."""
    assert not gated(table({}, dict.fromkeys(COLUMNS[:4], NAN))).any()


def test_few_commands_drop_nothing_where_nearly_all_attempts_have_few():
    """In a pool of word problems one command is the way to work; in others it is giving up."""
    few, many = {"n_commands": 1.0}, {"n_commands": 8.0}
    assert gated(table(few, few, many, many)).tolist() == [True, True, False, False]
    assert gated(table(few, few, few, many)).tolist() == [False] * 4
    assert gated(table(few, few, few, {**many, "refused": 1.0})).tolist() == [False] * 3 + [True]


def test_a_gate_that_drops_all_of_a_task_is_ignored_there():
    """Another task keeps its gate; an empty recording does not count as kept."""
    attempts = table(
        {"task": "a", "finished": 0.0},
        {"task": "a", "refused": 1.0},
        {"task": "a", "empty": True, "finished": 1.0},
        {"task": "b", "finished": 0.0},
        {"task": "b"},
        {"task": "b", "empty": True, "finished": 0.0},
    )
    assert gated(attempts).tolist() == [False, False, False, True, False, False]


def test_the_gate_makes_do_with_the_columns_there_are():
    """One gate column is enough; without any the selector says what it needs."""
    only = FeatureTable.build([("t", "1", [0.0], NAN, False, ""), ("t", "2", [1.0], NAN, False, "")], ["finished"])
    assert BASELINES["gate"].scores(only).tolist() == [DROPPED, 0.0]
    none = FeatureTable.build([("t", "1", [0.0], NAN, False, "")], ["x"])
    with pytest.raises(TableError) as told:
        BASELINES["gate"].scores(none)
    assert str(told.value) == (
        "selector 'gate': the table lacks any of finished, timed_out, refused, n_commands; its columns are x"
    )


def test_gate_shortest_takes_the_shortest_that_is_kept():
    """A short refusal stands below a long honest run."""
    attempts = table({"n_characters": 50.0, "refused": 1.0}, {"n_characters": 900.0}, {"n_characters": 400.0})
    assert np.argsort(-baseline("gate-shortest").scores(attempts)).tolist() == [2, 1, 0]


def test_lengths_that_are_unknown_leave_the_kept_ones_tied():
    """Without any length gate-shortest is the gate."""
    attempts = table({"n_characters": NAN}, {"n_characters": NAN}, {"n_characters": NAN, "finished": 0.0})
    assert baseline("gate-shortest").scores(attempts).tolist() == [0.0, 0.0, DROPPED]


@pytest.mark.parametrize("name", list(BASELINES))
def test_an_empty_recording_ranks_below_everything(name):
    """Below what the gate drops too, whatever its columns say."""
    attempts = table(
        {"empty": True, "n_characters": 1.0, "n_steps": 0.0, "answer_votes": 1.0},
        {"finished": 0.0, "n_characters": 900.0, "n_steps": 99.0, "n_error": 9.0, "answer_votes": 0.1},
        {},
    )
    scores = baseline(name).scores(attempts)
    assert scores[0] == EMPTY
    assert scores[0] < scores[1:].min()


@pytest.mark.parametrize(
    ("name", "best"),
    [("shortest", 0), ("longest", 2), ("fewest-steps", 1), ("fewest-errors", 2), ("majority", 1), ("gate", 1)],
)
def test_each_rule_takes_what_it_says(name, best):
    """One attempt is best under each rule."""
    attempts = table(
        {"n_characters": 1.0, "n_steps": 5.0, "n_error": 3.0, "answer_votes": 0.2, "finished": 0.0},
        {"n_characters": 5.0, "n_steps": 1.0, "n_error": 3.0, "answer_votes": 0.6},
        {"n_characters": 9.0, "n_steps": 5.0, "n_error": 0.0, "answer_votes": 0.2, "timed_out": 1.0},
    )
    assert int(np.argmax(baseline(name).scores(attempts))) == best


def test_the_majority_is_one_of_those_that_answer():
    """An attempt without a final answer stands behind every one with, though all of these agree."""
    attempts = table({"answer_votes": NAN}, {"answer_votes": 1.0}, {"answer_votes": 1.0})
    assert np.flatnonzero(
        baseline("majority").scores(attempts) == baseline("majority").scores(attempts).max()
    ).tolist() == [1, 2]
    nobody = table({"answer_votes": NAN}, {"answer_votes": NAN})
    assert baseline("majority").scores(nobody).tolist() == [0.0, 0.0]


def test_columns_needed():
    """A rule reads its own columns only; what is chosen among all needs all; a wrong name lists the right ones."""
    assert columns_needed("random") == ()
    assert columns_needed("gate-shortest") == ("finished", "timed_out", "refused", "n_commands", "n_characters")
    assert columns_needed("majority") == ("answer_votes",)
    assert columns_needed("forward") is None
    with pytest.raises(UsageError, match=r"^no selector 'shorter': there are random, shortest, .*, policy$"):
        columns_needed("shorter")
    with pytest.raises(UsageError, match=r"^no rule 'forward': there are random, shortest"):
        baseline("forward")


def test_a_missing_column_is_told_with_those_there_are():
    """The error names selector, column and columns."""
    with pytest.raises(
        TableError, match=r"^selector 'mine': the table lacks judge; its columns are finished, timed_out"
    ):
        Selector("mine", terms=(Term("judge", 1.0),)).scores(table({}))


def test_contributions_are_weight_times_rank():
    """They add up to the score before it is scaled by a power of two."""
    mine = Selector("mine", terms=(Term("n_steps", -3.0), Term("n_error", 1.0)))
    attempts = table({"n_steps": 1.0, "n_error": 2.0}, {"n_steps": 2.0}, {"n_steps": 3.0, "n_error": 1.0})
    parts = mine.contributions(attempts)
    assert parts.tolist() == [[3.0, 1.0], [0.0, -1.0], [-3.0, 0.0]]
    assert (mine.scores(attempts) * 8 == parts.sum(axis=1)).all()


VALUE = st.one_of(st.integers(0, 3).map(float), st.just(NAN))
ATTEMPT = st.fixed_dictionaries(
    dict.fromkeys(COLUMNS, VALUE) | {"task": st.sampled_from("abc"), "empty": st.booleans()},
)
SELECTORS = (
    *BASELINES.values(),
    Selector("mixed", gate=True, terms=(Term("n_steps", 0.1), Term("n_error", 0.2), Term("answer_votes", -0.3))),
)


@given(st.lists(ATTEMPT, min_size=1, max_size=20), st.randoms(), st.sampled_from(SELECTORS))
def test_shuffled_attempts_keep_their_scores(attempts, random, selector):
    """To the last bit, so that ties stay ties; and no score is NaN."""
    order = list(range(len(attempts)))
    random.shuffle(order)
    made = table(*attempts)
    scores = selector.scores(made)
    assert (selector.scores(made.rows(np.array(order))) == scores[order]).all()
    assert not np.isnan(scores).any()


@given(st.lists(ATTEMPT, min_size=1, max_size=20))
def test_an_increasing_transform_of_a_column_changes_no_score(attempts):
    """Lengths may be counted in any unit, or logarithms."""
    made = table(*attempts)
    other = table(*({**a, "n_characters": math.exp(a["n_characters"]) - 5} for a in attempts))
    for name in ("shortest", "longest", "gate-shortest"):
        assert (baseline(name).scores(made) == baseline(name).scores(other)).all()


@given(st.lists(ATTEMPT, min_size=1, max_size=20))
def test_terms_in_any_order_give_the_same_scores(attempts):
    """0.1 + 0.2 - 0.3 and -0.3 + 0.2 + 0.1 are one selector."""
    made, mixed = table(*attempts), SELECTORS[-1]
    turned = Selector("turned", gate=True, terms=mixed.terms[::-1])
    assert (mixed.scores(made) == turned.scores(made)).all()
