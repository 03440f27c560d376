"""Accuracy against the number of labelled tasks: fits on some tasks, read on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bestofn.ablation.subject import Subject
from bestofn.fitting import fit_reweight, swing_of
from bestofn.loto import forward_paths, marginal_weights
from bestofn.metrics import DECIMALS, Floats, Ints, swing_tasks
from bestofn.selector import Selector, Term
from bestofn.swing import NOWHERE
from bestofn.table import FeatureTable

Learner = Callable[[FeatureTable], Selector]
"""Fits a selector to labelled rows."""


class Learned(NamedTuple):
    """What a learner came to with so many labelled tasks."""

    by_task: Floats
    """(tasks,) mean outcome of the picks in each task, over fits on other tasks."""
    swing: float
    """Mean number of swing tasks among those that were learned from."""
    fits: int


def learn_reweight(columns: Sequence[str]) -> Learner:
    """Shrunk re-weighting."""
    return lambda table: fit_reweight(table, candidates=columns).selector


def learn_forward(columns: Sequence[str], max_features: int = 10) -> Learner:
    """Forward selection, once on all rows: what is read on other tasks needs no nested selection."""
    names = tuple(sorted(columns))

    def fit(table: FeatureTable) -> Selector:
        swing = swing_of(table, names, gate=False)
        fold = np.array([NOWHERE])
        paths = forward_paths(swing, fold, max_features=max_features)
        weights = (marginal_weights(swing, fold) * paths.selected(len(names)))[0]
        return Selector("forward", terms=tuple(Term(n, float(w)) for n, w in zip(names, weights, strict=True) if w))

    return fit


def sizes(n_tasks: int, steps: Sequence[int] = (5, 10, 20, 40, 80, 160, 320)) -> tuple[int, ...]:
    """Numbers of labelled tasks to learn from: those of `steps` that leave a fifth of the tasks to read on."""
    return tuple(size for size in steps if size <= 0.8 * n_tasks)


def learn(
    subject: Subject, learners: Mapping[str, Learner], size: int, draws: Iterable[int], *, seed: int = 0
) -> dict[str, Learned]:
    """Fit on `size` labelled tasks and read on others, so that every task is read once a draw.

    Parameters
    ----------
    learners
        By name; all see the same tasks.
    draws
        Numbers of the draws: each puts the tasks in a random order, in a circle, and reads block after block of it
        with what the `size` tasks before the block teach.
    """
    table, known = subject.table, np.flatnonzero(~np.isnan(subject.rates))
    sums = {name: np.zeros(len(table.task_names)) for name in learners}
    swings: list[int] = []
    n_draws = 0
    for draw in draws:
        n_draws += 1
        order = np.random.default_rng([seed, 4, draw]).permutation(known)
        for taught, read in blocks(order, size):
            rows = table.rows(np.isin(table.groups, taught))
            swings.append(int(swing_tasks(rows.rewards, rows.groups).sum()))
            for name, learner in learners.items():
                outcome = subject.by_task(learner(rows).scores(table))
                sums[name][read] += outcome[read]
    share = float(np.mean(swings))
    return {name: Learned(_mean(mine, n_draws, subject), share, len(swings)) for name, mine in sums.items()}


def _mean(sums: Floats, n_draws: int, subject: Subject) -> Floats:
    means: Floats = np.where(np.isnan(subject.rates), np.nan, np.round(sums / n_draws, DECIMALS))
    return means


def blocks(order: Ints, size: int) -> Iterator[tuple[Ints, Ints]]:
    """(tasks to learn from, tasks to read): every task is read once, with the `size` tasks before its block."""
    n = len(order)
    width = n - size
    assert width > 0, "no task is left to read"
    for begin in range(0, n, width):
        read = order[begin : begin + width]
        yield order[np.arange(begin - size, begin) % n], read
