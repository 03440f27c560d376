"""Within-task ranks: what every selector reads instead of raw values.

Ranks make tasks, harnesses and pools comparable, and they hold on to nothing but order: any increasing transform of
a column gives the same ranks. They live on a grid of 2**-16, so that sums of their products are exact in 64-bit floats
whatever the order of rows: taking a task's own sums away leaves exactly what a fit without that task gives, and equal
scores are equal to the last bit.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from bestofn.metrics import Floats, Ints

RANK_BITS = 16
"""Ranks are multiples of 2**-16."""
WEIGHT_BITS = 24
"""Fitted weights are multiples of 2**-24."""
SUM_BITS = 32
"""Weights are scaled by a power of two and taken as multiples of 2**-32 when they meet ranks."""


def snap(values: Floats, bits: int) -> Floats:
    """The nearest multiples of 2**-bits, of any shape."""
    scale = float(2**bits)
    return np.rint(values * scale) / scale


def within_task_ranks(values: Floats, groups: Ints) -> Floats:
    """Ranks of each column within each task, from -1 (smallest) to 1 (largest).

    Parameters
    ----------
    values
        (n, k) feature values; NaN is unknown.
    groups
        (n,) the task of each row, as integers.

    Returns
    -------
    (n, k) ranks. Equal values share their average rank. Unknown values are left out of the ranking and get 0, the
    middle, which says nothing; so does every value of a column that is constant, or known once only, in a task.
    """
    n, k = values.shape
    if n == 0 or k == 0:
        return np.zeros((n, k))
    by_value = np.argsort(values, axis=0, kind="stable")
    by_task = np.argsort(groups[by_value], axis=0, kind="stable")
    order = np.take_along_axis(by_value, by_task, axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    tasks = np.sort(groups, kind="stable")

    fresh_task = np.concatenate([[True], tasks[1:] != tasks[:-1]])
    starts = np.flatnonzero(fresh_task)
    task_of_row = np.cumsum(fresh_task) - 1
    place = np.arange(n, dtype=np.float64)[:, None]
    fresh = np.ones((n + 1, k), dtype=np.bool_)
    fresh[1:-1] = fresh_task[1:, None] | (ordered[1:] != ordered[:-1])
    first = np.maximum.accumulate(np.where(fresh[:-1], place, 0.0), axis=0)
    last = np.minimum.accumulate(np.where(fresh[1:], place, float(n))[::-1], axis=0)[::-1]

    known = ~np.isnan(ordered)
    spread = (np.add.reduceat(known.astype(np.float64), starts, axis=0) - 1.0)[task_of_row]
    doubled = first + last - 2.0 * starts[task_of_row][:, None] - spread
    ranks = np.divide(doubled, spread, out=np.zeros((n, k)), where=known & (spread > 0))
    out = np.empty((n, k))
    np.put_along_axis(out, order, snap(ranks, RANK_BITS), axis=0)
    return out


def rank_sum(ranks: Floats, weights: Floats) -> Floats:
    """(n,) weighted sums of ranks, scaled into [-1, 1], exact: mathematically equal sums are equal floats.

    Parameters
    ----------
    ranks
        (n, k) from `within_task_ranks`.
    weights
        (k,) for all rows, or (n, k) row by row. Only their proportions matter: each row of weights is scaled by a
        power of two so that its absolute sum is at most 1.
    """
    _, exponent = np.frexp(np.abs(weights).sum(axis=-1))
    scaled = snap(np.ldexp(weights, -exponent[..., None]), SUM_BITS)
    return cast(Floats, (ranks * scaled).sum(axis=1))
