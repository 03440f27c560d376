"""Figures of a selection: Pass@1, oracle, accuracy with ties by expectation. Numpy in, floats out.

Attempts with an unknown outcome are left out of every figure; a task where no outcome is known counts nowhere.
A reward is read as it stands: 1 is a pass, 0 a fail, and a score between them counts as that share of a pass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class PoolFigures(NamedTuple):
    """What the labels alone say about a pool."""

    n_tasks: int
    """Tasks with at least one known outcome."""
    n_swing: int
    """Tasks whose known outcomes differ: the only ones where a pick matters."""
    n_unknown: int
    """Attempts without a known outcome, which no figure counts."""
    pass_at_1: float
    """Expected accuracy of a uniformly random pick, averaged over tasks."""
    oracle: float
    """Accuracy of the best attempt of each task."""


def task_sums(values: Floats, groups: Ints, n_tasks: int) -> Floats:
    """(n_tasks,) sums of row values within tasks."""
    return np.bincount(groups, weights=values, minlength=n_tasks)


def task_extreme(values: Floats, groups: Ints, n_tasks: int, *, largest: bool = True) -> Floats:
    """(n_tasks,) largest or smallest row value within each task; minus or plus infinity where there is none."""
    out = np.full(n_tasks, -np.inf if largest else np.inf)
    (np.maximum if largest else np.minimum).at(out, groups, values)
    return out


def pass_rate(rewards: Floats, groups: Ints) -> Floats:
    """(n_tasks,) mean known reward of each task, NaN where none is known."""
    n_tasks = int(groups.max()) + 1 if len(groups) else 0
    known = ~np.isnan(rewards)
    counts = task_sums(known.astype(float), groups, n_tasks)
    sums = task_sums(np.where(known, rewards, 0.0), groups, n_tasks)
    return np.divide(sums, counts, out=np.full(n_tasks, np.nan), where=counts > 0)


def swing_tasks(rewards: Floats, groups: Ints) -> NDArray[np.bool_]:
    """(n_tasks,) True where known outcomes differ."""
    n_tasks = int(groups.max()) + 1 if len(groups) else 0
    known = ~np.isnan(rewards)
    top = task_extreme(rewards[known], groups[known], n_tasks)
    low = task_extreme(rewards[known], groups[known], n_tasks, largest=False)
    return top > low


def accuracy_by_task(scores: Floats, rewards: Floats, groups: Ints) -> Floats:
    """(n_tasks,) expected reward of the top-scored attempt; tied tops share the pick.

    Attempts with unknown outcomes are left out before the top is looked for. NaN where a task has no known outcome.
    A score of NaN is an error of the caller's: selectors give a number to every row.
    """
    n_tasks = int(groups.max()) + 1 if len(groups) else 0
    known = ~np.isnan(rewards)
    s, r, g = scores[known], rewards[known], groups[known]
    assert not np.isnan(s).any(), "a selector gave NaN as a score"
    top = s == task_extreme(s, g, n_tasks)[g]
    counts = task_sums(top.astype(float), g, n_tasks)
    sums = task_sums(np.where(top, r, 0.0), g, n_tasks)
    return np.divide(sums, counts, out=np.full(n_tasks, np.nan), where=counts > 0)


def pool_figures(rewards: Floats, groups: Ints) -> PoolFigures:
    """Pass@1, oracle and counts of a labelled pool; Pass@1 and oracle are NaN where no label is known."""
    rates = pass_rate(rewards, groups)
    labelled = ~np.isnan(rates)
    known = ~np.isnan(rewards)
    best = task_extreme(rewards[known], groups[known], len(rates))
    return PoolFigures(
        n_tasks=int(labelled.sum()),
        n_swing=int(swing_tasks(rewards, groups).sum()),
        n_unknown=int((~known).sum()),
        pass_at_1=float(rates[labelled].mean()) if labelled.any() else float("nan"),
        oracle=float(best[labelled].mean()) if labelled.any() else float("nan"),
    )


def gap_recovered(accuracy: float, pass_at_1: float, oracle: float) -> float:
    """(accuracy - Pass@1) / (oracle - Pass@1); NaN where the pool leaves no gap."""
    gap = oracle - pass_at_1
    return (accuracy - pass_at_1) / gap if gap > 0 else float("nan")
