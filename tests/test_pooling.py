"""Fitting on several pools."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bestofn.errors import PoolError, UsageError
from bestofn.fitting import fit_forward, fit_reweight
from bestofn.metrics import accuracy_by_task, mean_over_tasks
from bestofn.pooling import PoolTable, fit_pools, join
from bestofn.table import FeatureTable

DIRECTIONS = {"signal": 1}


def made(
    name: str, seed: int, *, tasks: range = range(25), columns: tuple[str, ...] = ("signal", "noise")
) -> PoolTable:
    """Tasks of 4 attempts at a scale of the pool's own; `signal` goes with the outcome."""
    rng = np.random.default_rng(seed)
    rows = []
    for task in tasks:
        for attempt in range(4):
            skill = rng.normal()
            values = {"signal": 10.0**seed * (skill + rng.normal() / 2), "noise": rng.normal(), "n_commands": 9.0}
            passed = float(skill + rng.normal() / 2 > 0)
            rows.append((f"t{task}", f"{task}-{attempt}", [values[c] for c in columns], passed, False, ""))
    return PoolTable(name, FeatureTable.build(rows, columns, {"pool": name, "directions": DIRECTIONS}))


def test_joined_tasks_keep_apart_by_pool():
    """Tasks of one name stay two tasks; a column that a pool lacks is unknown there."""
    a, b = made("a", 0), made("b", 1, columns=("signal", "n_commands"))
    table = join([a, b])
    assert len(table.task_names) == 50
    assert table.task_names[0] == "a/t0"
    assert table.columns == ("signal", "noise", "n_commands")
    assert np.isnan(table.column("noise")[len(a.table) :]).all()
    assert table.about["directions"] == DIRECTIONS


def test_one_pool_is_fitted_as_it_is():
    """The selector is that of the pool alone, and there is nothing to hold out."""
    pool = made("a", 0)
    for kind, fit in (("reweight", fit_reweight), ("forward", fit_forward)):
        fitted = fit_pools([pool], kind=kind)
        assert fitted.selector == fit(pool.table).selector
        assert fitted.held_out == ()


def test_each_pool_is_held_out_in_turn():
    """Its accuracy is that of a selector fitted on the others, and the selector says what it was fitted on."""
    pools = [made("a", 0), made("b", 1, tasks=range(100, 130)), made("c", 2, tasks=range(200, 220))]
    fitted = fit_pools(pools, resamples=500)
    assert [(on.pool, on.rows) for on in fitted.selector.fitted_on] == [("a", 100), ("b", 120), ("c", 80)]
    assert [held.pool for held in fitted.held_out] == ["a", "b", "c"]
    for held, pool in zip(fitted.held_out, pools, strict=True):
        others = join([p for p in pools if p is not pool])
        scores = fit_reweight(others).selector.scores(pool.table)
        by_task = accuracy_by_task(scores, pool.table.rewards, pool.table.groups)
        assert held.accuracy == mean_over_tasks(by_task)
        assert held.removed == 0
        assert held.ci_vs_pass1[0] > 0
        assert math.isnan(held.gate_shortest)
        assert held.ci_vs_gate_shortest is None


def test_tasks_of_the_same_name_are_not_learned_from():
    """What the held-out pool shares with the others is taken out of them, so their outcomes there do not matter."""
    a, b = made("a", 0), made("b", 1, tasks=range(20, 50))
    fitted = fit_pools([a, b], resamples=50)
    assert [held.removed for held in fitted.held_out] == [5, 5]
    rewards = b.table.rewards.copy()
    shared = np.array([task in a.table.task_names for task in b.table.tasks])
    rewards[shared] = 1 - rewards[shared]
    turned = fit_pools([a, PoolTable("b", replace(b.table, rewards=rewards))], resamples=50)
    assert turned.held_out[0].accuracy == fitted.held_out[0].accuracy
    assert turned.held_out[0].ci_vs_pass1 == fitted.held_out[0].ci_vs_pass1
    assert turned.selector != fitted.selector


def test_a_pool_that_shares_all_its_tasks_leaves_nothing_to_learn():
    """The expected directions stand, and that is told."""
    a, b = made("a", 0), made("b", 1)
    held = fit_pools([a, b], resamples=50).held_out[0]
    assert (held.removed, held.learned_from) == (25, 0)
    assert held.accuracy > held.figures.pass_at_1


def test_columns_that_the_held_out_pool_lacks_say_nothing_there():
    """A pool without one of the columns is picked by the others."""
    a = made("a", 0)
    b = made("b", 1, tasks=range(50, 80), columns=("signal",))
    for kind in ("reweight", "forward"):
        fitted = fit_pools([a, b], kind=kind, resamples=50)
        assert fitted.held_out[1].accuracy > fitted.held_out[1].figures.pass_at_1


def test_what_cannot_be_fitted():
    """Unknown kinds, doubled names and pools without labels are told."""
    a = made("a", 0)
    with pytest.raises(UsageError, match=r"^cannot fit 'gate': fitted selectors are reweight, forward$"):
        fit_pools([a], kind="gate")
    with pytest.raises(UsageError, match=r"^fitting needs pools of different names, got: a, a$"):
        fit_pools([a, a])
    with pytest.raises(UsageError, match="got: none"):
        fit_pools([])
    silent = PoolTable("b", replace(a.table, rewards=np.full(len(a.table), math.nan)))
    with pytest.raises(PoolError, match=r"^pool 'b' has no attempt with a known outcome: leave it out of the fit$"):
        fit_pools([a, silent])
