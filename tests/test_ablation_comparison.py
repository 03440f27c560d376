"""Arms beside a reference: what is found, what is not, and what stands for an arm without a figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ablation_tables import shuffled, subject, table

from bestofn.ablation import Arm, Lacking, Made, Recipe, Setting, Subject, compare
from bestofn.ablation.recipe import both, forward, heuristics, mean_rank, named, oracle, reweight, rule
from bestofn.errors import PoolError, TableError, UsageError
from bestofn.evaluation import evaluate
from bestofn.metrics import paired_intervals

ARMS = (
    rule("random"),
    rule("gate-shortest"),
    rule("majority"),
    forward("forward", heuristics),
    forward("published", heuristics, optimistic=True),
    reweight("reweight", heuristics),
    oracle(),
)


def test_the_figures_are_those_of_evaluate() -> None:
    """Accuracies, gaps and intervals to a random pick are the ones that `bestofn evaluate` gives."""
    pool = subject(24, planted=["good"])
    mine = Setting((pool,)).compare(pool, ARMS, reference="random")
    theirs = {row.selector: row for row in evaluate(pool.table, null=0).rows}
    for arm, selector in (("gate-shortest", "gate-shortest"), ("forward", "forward"), ("reweight", "reweight"),
                          ("published", "forward-optimistic")):  # fmt: skip
        assert mine.row(arm).accuracy == theirs[selector].accuracy
        assert mine.row(arm).gap_recovered == theirs[selector].gap_recovered
        assert mine.row(arm).swing_accuracy == theirs[selector].swing_accuracy
    assert mine.row("oracle").accuracy == pool.figures.oracle


def test_the_interval_is_the_paired_bootstrap() -> None:
    """An arm's interval is that of its task-by-task difference to the reference."""
    pool = subject(24, planted=["good"])
    arms = [recipe.arm(Setting((pool,)), pool) for recipe in (rule("gate-shortest"), reweight("reweight", heuristics))]
    found = compare(pool, arms, reference="gate-shortest", seed=3, resamples=500)
    alone = paired_intervals((arms[1].by_task - arms[0].by_task)[None], seed=3, resamples=500)[0]
    assert found.row("reweight").interval == pytest.approx(tuple(alone))
    assert found.row("reweight").difference == pytest.approx((arms[1].by_task - arms[0].by_task).mean())
    assert found.row("gate-shortest").interval is None
    assert found.row("gate-shortest").difference is None


def test_a_planted_effect_is_resolved() -> None:
    """A column that tells outcomes lifts the arm that reads it, and the table says so."""
    pool = subject(40, planted=["good"], seed=2)
    arms = (rule("random"), reweight("with", named("good", "noise0")), reweight("without", named("noise0", "noise1")))
    found = Setting((pool,)).compare(pool, arms, reference="random")
    assert found.row("with").verdict == "resolved"
    assert found.row("with").p_holm is not None
    assert found.row("with").p_holm < 0.001


def test_a_planted_null_is_not_resolved() -> None:
    """Among pools of pure noise, an arm that learns from it is resolved in hardly any."""
    resolved = 0
    for seed in range(40):
        pool = subject(20, seed=seed, noise=4)
        found = Setting((pool,), resamples=200).compare(
            pool, (rule("gate-shortest"), reweight("learned", named("noise0", "noise1"))), reference="gate-shortest"
        )
        resolved += found.row("learned").verdict == "resolved"
    assert resolved <= 4


def test_few_tasks_one_way_are_open() -> None:
    """Four tasks all one way leave the interval above 0 and p above the level: open, and no result."""
    pool = subject(40, seed=5)
    swing = np.flatnonzero(pool.swing)
    base = np.where(pool.swing, 0.0, pool.rates)
    better = base.copy()
    better[swing[:4]] = 1.0
    found = compare(pool, [Arm("base", "", base), Arm("better", "", better)], reference="base")
    row = found.row("better")
    assert (row.verdict, row.moved, row.p) == ("open", 4, pytest.approx(2 * 2**-4))
    assert row.interval is not None
    assert row.interval[0] > 0.0
    six = base.copy()
    six[swing[:6]] = 1.0
    assert (
        compare(pool, [Arm("base", "", base), Arm("six", "", six)], reference="base").row("six").verdict == "resolved"
    )
    assert found.resolution.tasks == 6


def test_holm_counts_the_arms_that_were_tested() -> None:
    """Optimistic arms, the reference and arms without a figure are in no family."""
    pool = subject(24, planted=["good"])
    found = Setting((pool,)).compare(pool, ARMS, reference="random")
    tested = [row.arm for row in found.rows if row.p is not None]
    assert tested == ["gate-shortest", "forward", "reweight"]
    smallest = min((row for row in found.rows if row.p is not None), key=lambda row: row.p or 0.0)
    assert smallest.p_holm == pytest.approx(min(1.0, 3 * (smallest.p or 0.0)))
    assert found.row("published").optimistic
    assert found.row("published").verdict in ("", "tied")


def test_an_arm_without_a_figure_stays_in_the_table() -> None:
    """It says why, and how to get one; it has no accuracy, and 0 nowhere."""
    pool = subject(10)
    arms = (rule("random"), rule("majority"), mean_rank("judge", both), forward("asked", both, asks=True))
    found = Setting((pool,), command="bestofn ablate x --pool small").compare(pool, arms, reference="random")
    majority, asked = found.row("majority"), found.row("asked")
    assert majority.why == "the table lacks answer_votes"
    assert asked.why == "no scores of a model"
    assert asked.how == "bestofn ablate x --pool small --model MODEL, or --replay FILE with recorded answers"
    for row in (majority, asked):
        assert np.isnan(row.accuracy)
        assert np.isnan(row.gap_recovered)
        assert (row.difference, row.interval, row.p, row.moved, row.verdict) == (None, None, None, None, "")


def test_a_reference_without_a_figure_leaves_no_difference() -> None:
    """Arms keep their accuracies, and are compared with nothing."""
    pool = subject(10)
    found = Setting((pool,)).compare(pool, (rule("random"), rule("majority")), reference="majority")
    assert found.row("random").accuracy == pool.figures.pass_at_1
    assert found.row("random").difference is None


def test_an_arm_that_leaves_tasks_out_has_no_figure() -> None:
    """A mean over some tasks is never shown beside a mean over all."""
    pool = subject(10)
    part = pool.rates.copy()
    part[:3] = np.nan
    row = compare(pool, [Arm("random", "", pool.rates), Arm("part", "", part)], reference="random").row("part")
    assert row.why == "no figure in 3 of 10 tasks"
    assert np.isnan(row.accuracy)


def test_missing_scores_are_counted() -> None:
    """What a model did not answer is counted with the arms that read it."""
    rows = table(8, llm=["llm_a", "llm_b"])
    values = rows.values.copy()
    values[:5, rows.columns.index("llm_a")] = np.nan
    from dataclasses import replace

    pool = Subject.of("small", replace(rows, values=values))
    found = Setting((pool,)).compare(pool, (rule("random"), mean_rank("judge", lambda s: s.llm)), reference="random")
    assert (found.row("judge").missing, found.row("judge").asked) == (5, 2 * 32)
    assert (found.row("random").missing, found.row("random").asked) == (0, 0)
    assert np.isnan(found.row("judge").cost.usd)


def test_the_order_of_rows_changes_nothing() -> None:
    """Tasks and attempts read in another order give the same rows, p-values and intervals."""
    rows = table(24, planted=["good"])
    one, other = (Subject.of("small", each) for each in (rows, shuffled(rows)))
    found = [Setting((pool,)).compare(pool, ARMS, reference="random") for pool in (one, other)]
    assert repr(found[0]) == repr(found[1])


def test_wrong_comparisons_are_named() -> None:
    """Two arms of one name, or a reference that is none of them, are errors."""
    pool = subject(6)
    arm = Arm("a", "", pool.rates)
    with pytest.raises(
        UsageError, match="a comparison needs arms of different names, one of them 'b': got \\['a', 'a'\\]"
    ):
        compare(pool, [arm, arm], reference="b")
    with pytest.raises(UsageError, match="no arm 'z': there are a"):
        compare(pool, [arm], reference="a").row("z")


def test_pools_that_cannot_be_compared_on() -> None:
    """A pool without outcomes, and rewards outside 0 to 1, are errors."""
    from dataclasses import replace

    rows = table(4)
    with pytest.raises(
        PoolError, match="pool 'p' has no attempt with a known outcome, so there is nothing to compare on"
    ):
        Subject.of("p", replace(rows, rewards=np.full(len(rows), np.nan)))
    with pytest.raises(TableError, match="rewards must lie between 0 and 1"):
        Subject.of("p", replace(rows, rewards=rows.rewards * 5))


def test_a_recipe_of_ones_own() -> None:
    """A function from pool to outcome is an arm, and one that raises says why."""
    pool = subject(6)

    def give(_: Setting, subject: Subject) -> Made:
        return Made(subject.rates)

    def fail(_: Setting, subject: Subject) -> Made:
        raise Lacking("no weather", "look outside")

    found = Setting((pool,)).compare(pool, (Recipe("a", "x", give), Recipe("b", "y", fail)), reference="a")
    assert found.row("b").why == "no weather"
    assert found.row("b").how == "look outside"


@pytest.mark.parametrize("where", ["arm", "reference"])
def test_a_difference_that_missing_scores_may_have_made_is_not_judged(where: str) -> None:
    """Above 5% of missing scores, of an arm or of its reference, there is no verdict, no p-value and no correction."""
    pool = subject(40, planted=["good"], seed=2)
    better = reweight("better", named("good")).arm(Setting((pool,)), pool).by_task
    few, many = {"missing": 10, "asked": 200}, {"missing": 11, "asked": 200}

    def row(counts: dict[str, int]) -> Any:
        mine, theirs = (counts, few) if where == "arm" else (few, counts)
        arms = [Arm("base", "", pool.rates, **theirs), Arm("better", "", better, **mine)]
        return compare(pool, arms, reference="base").row("better")

    assert row(few).verdict == "resolved"
    assert (row(many).verdict, row(many).p, row(many).p_holm) == ("partial", None, None)
    assert row(many).interval == row(few).interval
