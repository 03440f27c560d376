"""What accuracy costs: frontiers, margins, and a judge asked where the free rule is unsure."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from ablation_tables import subject, table

from bestofn.ablation import Setting, Subject
from bestofn.ablation.frontier import Point, asked_tasks, frontier, margins, where_unsure
from bestofn.ablation.recipe import llm, mean_rank, rule
from bestofn.selector import BASELINES, Selector, Term
from bestofn.table import FeatureTable


def test_the_frontier_is_what_no_arm_beats() -> None:
    """Every arm off it is as dear as one that is better, or dearer than one as good; unknown costs stand nowhere."""
    rng = np.random.default_rng(0)
    points = [Point(f"p{i}", float(c), float(a)) for i, (c, a) in enumerate(rng.integers(0, 6, (40, 2)))]
    points.append(Point("unknown", math.nan, 9.0))
    best = frontier(points)
    known = points[:-1]
    for point in known:
        beaten = any(
            (o.cost <= point.cost and o.accuracy > point.accuracy)
            or (o.cost < point.cost and o.accuracy >= point.accuracy)
            for o in known
        )
        assert beaten != (point in best)
    assert [p.cost for p in best] == sorted(p.cost for p in best)


def lengths(*tasks: tuple[float, ...], finished: tuple[tuple[float, ...], ...] = ()) -> Subject:
    """A pool whose attempts have these lengths."""
    rows = [
        (f"t{t}", f"t{t}.{i}", [length, finished[t][i] if finished else 1.0], float(i == 0), False, "")
        for t, mine in enumerate(tasks)
        for i, length in enumerate(mine)
    ]
    return Subject.of("lengths", FeatureTable.build(rows, ["n_characters", "finished"]))


def test_margins_are_how_much_longer_the_runner_up_is() -> None:
    """Attempts that the gate drops do not compete; a tie is no margin, and standing alone is infinite."""
    pool = lengths(
        (100, 200, 900), (50, 50), (10, 1000, 20), (math.nan, 5.0, 6.0),
        finished=((1, 1, 1), (1, 1), (1, 0, 0), (1, 1, 1)),
    )  # fmt: skip
    found = margins(pool)
    assert found[0] == pytest.approx(math.log(2))
    assert found[1] == 0.0
    assert found[2] == math.inf
    assert found[3] == pytest.approx(math.log(6 / 5))


def test_the_least_sure_tasks_are_asked_about() -> None:
    """So many tasks by rising margin, all of a tie at the edge, and never one with a single candidate."""
    margin = np.array([0.3, 0.1, 0.1, 2.0, math.inf])
    assert asked_tasks(margin, 0.0).tolist() == [False] * 5
    assert asked_tasks(margin, 0.2).tolist() == [False, True, True, False, False]
    assert asked_tasks(margin, 0.6).tolist() == [True, True, True, False, False]
    assert asked_tasks(margin, 1.0).tolist() == [True, True, True, True, False]


def judged(n_tasks: int = 20) -> Subject:
    """A pool with a judge's column and its account."""
    name = "llm_good@00000000"
    rows = table(n_tasks, llm=[name])
    account = {"calls": 4 * n_tasks, "input_tokens": 400 * n_tasks, "cached_tokens": 100 * n_tasks,
               "output_tokens": 8 * n_tasks, "uncounted": 0, "usd": 0.5 * n_tasks}  # fmt: skip
    run = {"states": {name: {}}, "costs": {"tasks": n_tasks, "columns": {name: account}}}
    return Subject.of("small", replace(rows, about={**rows.about, "judge": [run]}))


def test_asking_about_no_task_and_about_all() -> None:
    """Nobody asked is the free rule at no cost; all asked is the judge behind the gate at its whole cost."""
    pool = judged()
    setting = Setting((pool,))
    none, every = (where_unsure(share).make(setting, pool) for share in (0.0, 1.0))
    assert none.by_task.tolist() == pool.by_task(BASELINES["gate-shortest"].scores(pool.table)).tolist()
    assert none.cost == (0.0,) * 5
    judge = Selector("judge", gate=True, terms=(Term(pool.llm[0], 1.0),))
    assert every.by_task.tolist() == pool.by_task(judge.scores(pool.table)).tolist()
    assert every.cost == pytest.approx((4.0, 400.0, 100.0, 8.0, 0.5))


def test_asking_about_half_mixes_both() -> None:
    """Each task comes from whoever decides it, and half the tasks take half."""
    pool = judged()
    asked = asked_tasks(margins(pool), 0.5)
    half = where_unsure(0.5).make(Setting((pool,)), pool)
    free, whole = (where_unsure(share).make(Setting((pool,)), pool) for share in (0.0, 1.0))
    assert half.by_task.tolist() == np.where(asked, whole.by_task, free.by_task).tolist()
    assert half.cost == pytest.approx(tuple(value / 2 for value in whole.cost))
    assert half.asked == 4 * 10


def test_a_judges_arm_costs_what_its_columns_cost() -> None:
    """The comparison shows the cost of the columns that an arm reads, and 0 for a rule."""
    pool = judged()
    found = Setting((pool,)).compare(pool, (rule("gate-shortest"), mean_rank("judge", llm)), reference="gate-shortest")
    assert found.row("judge").cost == pytest.approx((4.0, 400.0, 100.0, 8.0, 0.5))
    assert found.row("gate-shortest").cost == (0.0,) * 5
    assert found.row("judge").verdict == "resolved"


def test_without_scores_it_lacks() -> None:
    """An arm that would ask a judge says so."""
    pool = subject(6)
    assert where_unsure(0.5).arm(Setting((pool,)), pool).why == "no scores of a model"
