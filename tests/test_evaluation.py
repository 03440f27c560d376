"""What an evaluation says of a labelled pool."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestofn.catalogue import load_pool
from bestofn.errors import PoolError, TableError, UsageError
from bestofn.evaluation import OPTIMISTIC, SELECTORS, Evaluation, Row, evaluate, holds_zero
from bestofn.featurize.extract import Extractor
from bestofn.fitting import fit_forward, fit_reweight
from bestofn.metrics import pass_rate
from bestofn.selector import Selector, Term, columns_needed
from bestofn.table import FeatureTable, texts

NAN = math.nan
COLUMNS = ("finished", "n_commands", "n_characters", "n_steps", "n_error", "answer_votes")


def made(seed: int, *, tasks: int = 30, effect: float = 1.5, unknown: float = 0.05) -> FeatureTable:
    """Tasks of 5 attempts, where long runs fail more; some outcomes unknown, some runs unfinished."""
    rng = np.random.default_rng(seed)
    rows = []
    for task in range(tasks):
        easy = rng.normal(1, 1.5)
        for attempt in range(5):
            length = rng.normal()
            passed = float(easy - effect * length + rng.normal() > 0)
            values = [
                float(passed or rng.random() > 0.1),
                float(rng.integers(0, 12)),
                float(np.round(math.exp(length + 6))),
                float(rng.integers(5, 50)),
                float(rng.integers(0, 4)),
                rng.integers(1, 6) / 5,
            ]
            reward = NAN if rng.random() < unknown else passed
            rows.append((f"task {task:02}", f"{task}-{attempt}", values, reward, rng.random() < 0.02, ""))
    return FeatureTable.build(rows, COLUMNS, {"pool": "made", "directions": {"n_characters": -1, "finished": 1}})


def row(result: Evaluation, name: str) -> Row:
    (found,) = (r for r in result.rows if r.selector == name)
    return found


@pytest.fixture(scope="module")
def result() -> Evaluation:
    """One full evaluation."""
    return evaluate(made(0), null=20, resamples=2000)


def test_every_rule_and_selector_stands_in_the_table(result):
    """In a fixed order, the optimistic figure beside the nested one."""
    assert [r.selector for r in result.rows] == [
        "random", "shortest", "longest", "fewest-steps", "fewest-errors", "majority", "gate", "gate-shortest",
        "reweight", "forward", "forward-optimistic", "policy",
    ]  # fmt: skip
    assert [r.selector for r in result.rows if r.optimistic] == [OPTIMISTIC]


def test_the_figures_of_the_pool_stand_beside(result):
    """Tasks, swing tasks, unknown labels, Pass@1 and oracle."""
    table = made(0)
    assert result.figures.n_unknown == int(np.isnan(table.rewards).sum()) > 0
    assert row(result, "random").accuracy == result.figures.pass_at_1
    assert result.figures.pass_at_1 < row(result, "gate-shortest").accuracy < result.figures.oracle
    assert result.n_empty == int(table.empty.sum())
    assert result.policy.startswith("reweight") or "gate-shortest" in result.policy


def test_figures_agree_with_each_other(result):
    """Swing accuracy, gap and interval of each row follow from the same task accuracies."""
    f = result.figures
    for r in result.rows:
        assert r.gap_recovered == pytest.approx((r.accuracy - f.pass_at_1) / (f.oracle - f.pass_at_1))
        # Only swing tasks move, so a gain over all tasks is the gain over these, diluted.
        base = row(result, "random")
        gain = (r.swing_accuracy - base.swing_accuracy) * f.n_swing / f.n_tasks
        assert r.accuracy - base.accuracy == pytest.approx(gain)
        low, high = r.ci_vs_pass1
        assert low <= r.accuracy - f.pass_at_1 <= high
        assert r.tied_with_pass1 == (low <= 0 <= high)
    assert row(result, "random").ci_vs_pass1 == (0.0, 0.0)
    assert row(result, "gate-shortest").ci_vs_gate_shortest == (0.0, 0.0)
    assert row(result, "gate-shortest").tied_with_gate_shortest


def test_a_real_effect_is_not_tied_with_a_random_pick(result):
    """Where short runs pass, the shortest is above Pass@1 with its whole interval, the longest below."""
    assert row(result, "shortest").ci_vs_pass1[0] > 0
    assert row(result, "longest").ci_vs_pass1[1] < 0


def test_the_optimistic_figure_is_the_published_protocol(result):
    """It is what the best step of the path reports; the nested row is another figure."""
    forward = fit_forward(made(0))
    assert row(result, OPTIMISTIC).accuracy == pytest.approx(max(s.accuracy for s in forward.selector.path))
    assert row(result, OPTIMISTIC).accuracy == pytest.approx(forward.optimistic)
    assert result.selected == tuple(t.column for t in forward.selector.terms)
    assert dict(result.chosen) == dict(forward.chosen)
    assert result.selections == result.figures.n_swing


def test_the_null_stands_beside_the_figure_it_is_of(result):
    """The optimistic one under `null`, the nested one under `null_nested`."""
    assert (result.null.selector, result.null.permutations) == (OPTIMISTIC, 20)
    assert result.null_nested.selector == "forward"
    assert result.null.mean > result.null_nested.mean
    assert 1 / 21 <= result.null.p_value <= 1


def test_json_has_shares_and_no_nan(result):
    """The keys that readers count on, accuracies as fractions, null where nothing is known."""
    text = json.dumps(result.as_dict(), allow_nan=False)
    content = json.loads(text)
    assert {"pool", "n_tasks", "n_swing", "n_unknown", "pass_at_1", "oracle", "rows", "null"} <= content.keys()
    assert set(content["null"]) == {"selector", "mean", "p95", "p_value", "permutations"}
    for r in content["rows"]:
        assert {
            "selector", "accuracy", "swing_accuracy", "gap_recovered", "ci_vs_pass1", "ci_vs_gate_shortest",
            "optimistic",
        } <= r.keys()  # fmt: skip
        assert 0 <= r["accuracy"] <= 1
        assert len(r["ci_vs_pass1"]) == 2


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 30), st.randoms())
def test_shuffled_attempts_change_no_figure(seed, random):
    """Not an accuracy, not an interval, not a p-value."""
    table = made(seed, tasks=12)
    order = list(range(len(table)))
    random.shuffle(order)
    first, second = (evaluate(t, null=5, resamples=200) for t in (table, table.rows(np.array(order))))
    assert first == second


def test_the_seed_is_held_to(result):
    """The same seed gives the same evaluation; another seed moves intervals and null only."""
    assert evaluate(made(0), null=20, resamples=2000) == result
    other = evaluate(made(0), null=20, resamples=2000, seed=1)
    assert [r.accuracy for r in other.rows] == [r.accuracy for r in result.rows]
    assert other.null != result.null


def test_selectors_can_be_chosen():
    """Only those asked for, in the usual order; `forward` brings its optimistic row; no null without it."""
    chosen = evaluate(made(1), selectors=["forward", "gate"], null=3, resamples=50)
    assert [r.selector for r in chosen.rows] == ["gate", "forward", OPTIMISTIC]
    assert chosen.null is not None
    rules = evaluate(made(1), selectors=["shortest"], null=3, resamples=50)
    assert rules.null is None
    assert rules.chosen == {}
    assert rules.rows[0].ci_vs_gate_shortest is not None
    with pytest.raises(UsageError) as told:
        evaluate(made(1), selectors=["shorter"])
    assert str(told.value) == f"no selector 'shorter': there are {', '.join(SELECTORS)}"


def test_a_selector_from_elsewhere_stands_in_the_table():
    """It is marked optimistic where it was fitted on these rows in any order, or on tasks of the same names."""
    table, other = made(2), made(3)
    elsewhere = replace(other, tasks=texts(f"elsewhere/{task}" for task in other.tasks))
    mine = Selector("mine", terms=(Term("n_steps", 1.0),))
    result = evaluate(
        table.rows(np.arange(len(table))[::-1]),
        selectors=["gate"],
        extra=[mine, *(fit_reweight(one).selector for one in (table, other, elsewhere))],
        null=0,
        resamples=50,
    )
    assert [(r.selector, r.optimistic) for r in result.rows[1:]] == [
        ("mine", False),
        ("reweight (given)", True),
        ("reweight (given)", True),
        ("reweight (given)", False),
    ]
    assert result.rows[2].note == "this selector was fitted on these very rows"
    assert result.rows[3].note.startswith("this selector was fitted on tasks of the same name as 30 of these 30")


def test_a_column_that_repeats_the_outcome_is_told():
    """A label that slipped in as a feature, or its opposite, is named; one that differs anywhere is not."""
    table = made(2)
    known = np.where(np.isnan(table.rewards), 0.5, table.rewards)
    columns = np.column_stack([known, 1 - known, 2 * known + 3, known])
    leaky = table.with_columns(["verdict", "failed", "points", "close"], columns)
    leaky.values[0, -1] = 0.25
    warnings = evaluate(leaky, selectors=["gate"], null=0, resamples=50).warnings
    assert [warning.split("'")[1] for warning in warnings] == ["verdict", "failed", "points"]
    assert evaluate(table, selectors=["gate"], null=0, resamples=50).warnings == ()


def test_one_task_has_no_interval():
    """How tasks differ cannot be told from one of them."""
    table = made(2)
    one = table.rows(table.tasks == table.tasks[0])
    assert all(row.ci_vs_pass1 is None for row in evaluate(one, null=0, resamples=50).rows)


def test_rules_that_cannot_tell_stand_without_a_figure():
    """The row is there, with the reason; the others have theirs."""
    table = made(0)
    table = replace(
        table, columns=("n_steps", "answer_votes"), values=table.take(["n_steps", "answer_votes"]) * [1, NAN]
    )
    result = evaluate(table, null=2, resamples=50)
    notes = {r.selector: r.note for r in result.rows if math.isnan(r.accuracy)}
    assert notes == {
        "shortest": "the table lacks n_characters",
        "longest": "the table lacks n_characters",
        "fewest-errors": "the table lacks n_error",
        "majority": "no attempt gives a final answer",
        "gate": "the table lacks any of finished, timed_out, refused, n_commands",
        "gate-shortest": "the table lacks n_characters, any of finished, timed_out, refused, n_commands",
    }
    assert row(result, "fewest-steps").ci_vs_gate_shortest is None
    assert not row(result, "fewest-steps").tied_with_gate_shortest
    assert result.as_dict()["rows"][1]["accuracy"] is None


def test_a_pool_without_labels_is_refused():
    """The error says what can be done all the same."""
    table = made(0)
    with pytest.raises(PoolError) as told:
        evaluate(replace(table, rewards=np.full(len(table), NAN)))
    assert str(told.value) == (
        "pool 'made' has no attempt with a known outcome (150 attempts), so there is nothing to evaluate against: "
        "`bestofn select` ranks it all the same"
    )


def test_rewards_outside_0_to_1_are_refused():
    """With the option that helps."""
    table = made(0)
    with pytest.raises(TableError, match="--pass-at"):
        evaluate(replace(table, rewards=table.rewards * 5))
    assert evaluate(replace(table, rewards=table.rewards * 5).threshold(3), null=0, resamples=10).figures.n_swing > 0


@pytest.mark.parametrize("kind", ["no swing task", "one task", "one attempt a task", "shares"])
def test_pools_that_are_hard_to_learn_from(kind):
    """Every row has a figure; without a swing task all are equal and there is no gap to recover."""
    table = made(4, unknown=0)
    if kind == "no swing task":
        table = replace(table, rewards=(table.groups % 2).astype(float))
    elif kind == "one task":
        table = table.rows(table.groups == 0)
    elif kind == "one attempt a task":
        table = table.rows(np.unique(table.groups, return_index=True)[1])
    else:
        table = replace(table, rewards=np.random.default_rng(0).integers(0, 4, len(table)) / 3)
    result = evaluate(table, null=3, resamples=100)
    assert not any(math.isnan(r.accuracy) for r in result.rows)
    if kind in ("no swing task", "one attempt a task"):
        assert {r.accuracy for r in result.rows} == {float(np.sort(pass_rate(table.rewards, table.groups)).mean())}
        assert {r.as_gap for r in map(Gap, result.rows)} == {None}
        assert all(r.tied_with_pass1 and r.ci_vs_pass1 == (0.0, 0.0) for r in result.rows)
        assert result.null.p_value == 1.0


class Gap:
    """A row's gap as JSON has it."""

    def __init__(self, of: Row) -> None:
        self.as_gap = None if math.isnan(of.gap_recovered) else of.gap_recovered


def test_holding_zero():
    """An interval that touches 0 is tied; none at all is not."""
    assert holds_zero((-0.1, 0.0))
    assert not holds_zero((0.01, 0.2))
    assert not holds_zero(None)


@pytest.mark.shared
def test_the_rules_reach_their_published_figures_on_forgecode(shared):
    """Gate 84.4, shortest 85.4, both 87.6; the default is the rule, since 17 swing tasks are too few to learn from."""
    pool = load_pool(shared / "pools" / "tb2" / "forgecode")
    table = Extractor(columns=columns_needed("gate-shortest")).table(pool.stream())
    result = evaluate(table, selectors=["gate", "shortest", "gate-shortest", "policy"], null=0)
    assert result.figures == (89, 17, 0, pytest.approx(0.818, abs=5e-4), pytest.approx(0.899, abs=5e-4))
    found = {r.selector: round(100 * r.accuracy, 1) for r in result.rows}
    assert found == {"shortest": 85.4, "gate": 84.4, "gate-shortest": 87.6, "policy": 87.6}
    assert result.policy.startswith("gate-shortest: of the other tasks 17 are swing tasks")
