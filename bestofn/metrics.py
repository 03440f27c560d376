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
Bools = NDArray[np.bool_]

DECIMALS = 9
"""Figures that agree to so many decimals are equal: what differs beyond is the rounding of sums."""
COUNTS = 2_000_000
"""Bootstrap counts (draws x tasks) held in memory at a time."""


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


def count_tasks(groups: Ints) -> int:
    """Number of tasks that the indices in `groups` call for."""
    return int(groups.max()) + 1 if len(groups) else 0


def task_sums(values: Floats, groups: Ints, n_tasks: int) -> Floats:
    """(n_tasks,) sums of row values within tasks."""
    return np.bincount(groups, weights=values, minlength=n_tasks).astype(np.float64, copy=False)


def task_extreme(values: Floats, groups: Ints, n_tasks: int, *, largest: bool = True) -> Floats:
    """(n_tasks,) largest or smallest row value within each task; minus or plus infinity where there is none."""
    out: Floats = np.full(n_tasks, -np.inf if largest else np.inf)
    (np.maximum if largest else np.minimum).at(out, groups, values)
    return out


def rows_by_task(groups: Ints) -> list[Ints]:
    """The rows of each task, in the order of the tasks' indices."""
    order = np.argsort(groups, kind="stable")
    return list(np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)) if len(order) else []


def pass_rate(rewards: Floats, groups: Ints) -> Floats:
    """(n_tasks,) mean known reward of each task, NaN where none is known."""
    n_tasks = count_tasks(groups)
    known = ~np.isnan(rewards)
    return _task_means(known, rewards, groups, n_tasks)


def swing_tasks(rewards: Floats, groups: Ints) -> Bools:
    """(n_tasks,) True where known outcomes differ."""
    n_tasks = count_tasks(groups)
    known = ~np.isnan(rewards)
    top = task_extreme(rewards[known], groups[known], n_tasks)
    low = task_extreme(rewards[known], groups[known], n_tasks, largest=False)
    return np.asarray(top > low, dtype=np.bool_)


def accuracy_by_task(scores: Floats, rewards: Floats, groups: Ints) -> Floats:
    """(n_tasks,) expected reward of the top-scored attempt; tied tops share the pick.

    Attempts with unknown outcomes are left out before the top is looked for. NaN where a task has no known outcome.
    A score of NaN is an error of the caller's: selectors give a number to every row.
    """
    n_tasks = count_tasks(groups)
    known = ~np.isnan(rewards)
    s, r, g = scores[known], rewards[known], groups[known]
    assert not np.isnan(s).any(), "a selector gave NaN as a score"
    top = s == task_extreme(s, g, n_tasks)[g]
    return _task_means(top, r, g, n_tasks)


def _task_means(rows: Bools, rewards: Floats, groups: Ints, n_tasks: int) -> Floats:
    """(n_tasks,) mean reward of the chosen rows of each task, NaN where none is chosen."""
    counts = task_sums(rows.astype(np.float64), groups, n_tasks)
    sums = task_sums(np.where(rows, rewards, 0.0), groups, n_tasks)
    means: Floats = np.divide(sums, counts, out=np.full(n_tasks, np.nan), where=counts > 0)
    return means


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
        pass_at_1=mean_over_tasks(rates),
        oracle=mean_over_tasks(np.where(labelled, best, np.nan)),
    )


def mean_over_tasks(by_task: Floats, which: Bools | None = None) -> float:
    """Mean of the task figures that are known, over all tasks or some; NaN where there are none."""
    counted = ~np.isnan(by_task) if which is None else which & ~np.isnan(by_task)
    return float(np.sort(by_task[counted]).mean()) if counted.any() else float("nan")


def gap_recovered(accuracy: float, pass_at_1: float, oracle: float) -> float:
    """(accuracy - Pass@1) / (oracle - Pass@1); NaN where the pool leaves no gap."""
    gap = oracle - pass_at_1
    return (accuracy - pass_at_1) / gap if gap > 10.0**-DECIMALS else float("nan")


def paired_intervals(
    differences: Floats, *, resamples: int = 10_000, seed: int = 0, confidence: float = 0.95
) -> Floats:
    """Percentile bootstrap intervals of mean differences, tasks drawn with replacement.

    Parameters
    ----------
    differences
        (rows, tasks) accuracy of a selector less that of another, task by task. All rows are read on the same draws.
    resamples, seed
        How many draws, and where they start.
    confidence
        Share of the draws inside the interval.

    Returns
    -------
    (rows, 2) lower and upper end; NaN where there are no tasks.
    """
    n_rows, n_tasks = differences.shape
    if n_rows == 0 or n_tasks == 0:
        return np.full((n_rows, 2), np.nan)
    # Tasks without any difference are drawn as one: it is the same distribution, and there are many of them.
    moving = differences[:, (differences != 0.0).any(axis=0)]
    n_moving = moving.shape[1]
    chances = [1.0 / n_tasks] * n_moving + [max(0.0, 1.0 - n_moving / n_tasks)]
    rng = np.random.default_rng(seed)
    means = np.zeros((n_rows, resamples))
    at_once = max(1, COUNTS // (n_moving + 1))
    for begin in range(0, resamples if n_moving else 0, at_once):
        counts = rng.multinomial(n_tasks, chances, size=min(at_once, resamples - begin))[:, :-1].astype(np.float64)
        means[:, begin : begin + len(counts)] = moving @ counts.T / n_tasks
    tail = (1.0 - confidence) / 2.0
    ends = np.quantile(np.round(means, DECIMALS), [tail, 1.0 - tail], axis=1).T
    return np.round(ends, DECIMALS) + 0.0
