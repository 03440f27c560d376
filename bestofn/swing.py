"""The swing tasks of a table as arrays, and what each of them adds to the sums that a fit is made of.

Only swing tasks teach anything. In a task whose outcomes agree the centred outcomes are 0: it says nothing about any
weight, and no pick can change its accuracy. Its ranks do not count in sum(rank ** 2) either, so that a column is not
trusted less for varying where nothing could be learned.

Ranks and centred outcomes live on a grid (`bestofn.ranks`), so that these sums are exact in any order: taking a task's
own sums away leaves exactly what the other tasks alone give.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bestofn.metrics import Bools, Floats, Ints, count_tasks, swing_tasks
from bestofn.ranks import RANK_BITS, snap

NOWHERE = -1
"""As a held-out task: none. As a pick: no candidate was left."""
ABSENT = -(2.0**20)
"""Starting score of a padding place: below anything real."""
SQUARE_BITS = 32
"""Sums of squares are multiples of 2**-32, as products of two ranks are."""


@dataclass(frozen=True)
class SwingTasks:
    """The attempts with known outcome of the S swing tasks, as arrays padded to the m attempts of the largest."""

    tasks: Ints
    """(S,) index of each task in the table's numbering."""
    rows: Ints
    """(m, S) row of each attempt in the table, -1 where padded."""
    ranks: Floats
    """(m, K, S) within-task ranks, 0 where padded."""
    level: Floats
    """(m, S) what each attempt's score starts from: 0, less where the gate drops it, ABSENT where padded."""
    trains: Bools
    """(m, S) True where the attempt counts in the fit: neither padded nor dropped by the gate."""
    rewards: Floats
    """(m, S) outcomes, 0 where padded."""
    centred: Floats
    """(m, S) outcomes less the task's mean over attempts that train; 0 elsewhere."""
    products: Floats
    """(K, S) each task's own sum(rank * centred outcome)."""
    squares: Floats
    """(K, S) each task's own sum(rank ** 2), ranks taken from their mean; 0 where the task's outcomes say nothing."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """(m, K, S): attempts of the largest task, columns, tasks."""
        m, k, s = self.ranks.shape
        return m, k, s

    @cached_property
    def informs(self) -> Bools:
        """(S,) True where the outcomes of the attempts that train differ."""
        return np.asarray((self.centred != 0).any(axis=0))

    @cached_property
    def trained(self) -> Floats:
        """(m, K, S) the ranks of attempts that train, from their mean within the task; 0 elsewhere."""
        mean = (self.ranks * self.trains[:, None]).sum(axis=0) / np.maximum(self.trains.sum(axis=0), 1)
        return np.where(self.trains[:, None], self.ranks - mean, 0.0)

    def relabelled(self, rewards: Floats) -> SwingTasks:
        """The same attempts under other outcomes, (m, S): for the permutation null."""
        return _labelled(self.tasks, self.rows, self.ranks, self.level, self.trains, rewards)

    def without(self, held_out: Ints) -> tuple[Floats, Floats]:
        """(P, K) products and squares summed over all swing tasks but one, for each of P held-out tasks.

        Held-out tasks are given as places 0 to S - 1 among the swing tasks, or NOWHERE for none.
        """
        products, squares = (sums.sum(axis=1) - own(sums, held_out) for sums in (self.products, self.squares))
        return products, squares


def gather(ranks: Floats, rewards: Floats, groups: Ints, level: Floats, trains: Bools) -> SwingTasks:
    """The swing tasks of a table.

    Parameters
    ----------
    ranks, rewards, groups
        (n, K) within-task ranks, (n,) outcomes with NaN for unknown, (n,) task indices.
    level
        (n,) what each row's score starts from.
    trains
        (n,) False for rows that must not count in a fit.
    """
    tasks = np.flatnonzero(swing_tasks(rewards, groups))
    place = np.full(count_tasks(groups), NOWHERE)
    place[tasks] = np.arange(len(tasks))
    mine = np.flatnonzero(~np.isnan(rewards) & (place[groups] != NOWHERE))
    mine = mine[np.argsort(place[groups[mine]], kind="stable")]
    at = place[groups[mine]]
    nth = np.arange(len(mine)) - np.searchsorted(at, at)
    m, k, s = (int(nth.max()) + 1 if len(nth) else 0), ranks.shape[1], len(tasks)
    rows = np.full((m, s), -1, dtype=np.intp)
    rows[nth, at] = mine
    present = rows >= 0
    gathered = np.zeros((m, s, k))
    gathered[nth, at] = ranks[mine]
    return _labelled(
        tasks,
        rows,
        np.ascontiguousarray(gathered.transpose(0, 2, 1)),
        np.where(present, level[rows], ABSENT) if len(level) else np.zeros((m, s)),
        present & trains[rows] if len(trains) else present,
        np.where(present, rewards[rows], 0.0) if len(rewards) else np.zeros((m, s)),
    )


def _labelled(tasks: Ints, rows: Ints, ranks: Floats, level: Floats, trains: Bools, rewards: Floats) -> SwingTasks:
    """Centre the outcomes and take each task's sums."""
    count = np.maximum(trains.sum(axis=0), 1)
    centred = snap(np.where(trains, rewards - np.where(trains, rewards, 0.0).sum(axis=0) / count, 0.0), RANK_BITS)
    informs = trains & (centred != 0).any(axis=0)
    products = np.einsum("mks,ms->ks", ranks, centred)
    held = ranks * informs[:, None]
    squares = snap((held * held).sum(axis=0) - held.sum(axis=0) ** 2 / count, SQUARE_BITS)
    return SwingTasks(tasks, rows, ranks, level, trains, rewards, centred, products, squares)


def own(sums: Floats, held_out: Ints) -> Floats:
    """(P, K) the held-out tasks' own sums, 0 where none is held out."""
    if sums.shape[1] == 0:
        return np.zeros((len(held_out), sums.shape[0]))
    return np.where((held_out == NOWHERE)[:, None], 0.0, sums[:, held_out].T)
