"""Leave-one-task-out forward selection, exact and without refits: what a task adds to the sums is taken away again.

The base learner is marginal: the weight of a column is sum(rank * outcome) / (sum(rank ** 2) + shrinkage), outcomes
centred within their task, over the training tasks. No column's weight depends on the others in the set, so the score
of a set is the sum of its columns' contributions, a fit without a task is the total less the task's own sums, and one
pass over an array of (attempts, held-out tasks, columns, tasks) evaluates every candidate in every fold.

All sums are exact (`bestofn.swing`): a held-out task's labels leave no trace, not even one of rounding, in what was
selected for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestofn.metrics import DECIMALS, Bools, Floats, Ints
from bestofn.ranks import WEIGHT_BITS, snap
from bestofn.swing import NOWHERE, SwingTasks

SHRINKAGE = 10.0
"""Added to sum(rank ** 2): about four tasks of five attempts, so that a column that varies in a task or two stays
small. Fixed before any pool was measured, and never tuned on one."""
BLOCK = 150_000
"""Elements of one array of scores; as many held-out tasks at a time as fit. More falls out of the processor's cache."""


class Paths(NamedTuple):
    """What greedy forward selection did in each of P folds, step by step, at most L steps."""

    picks: Ints
    """(P, L) the column added at each step, NOWHERE from where no candidate was left."""
    accuracy: Floats
    """(P, L) leave-one-task-out accuracy over the fold's swing tasks after each step; NaN after the end."""
    correlation: Floats
    """(P, L) mean within-task correlation of held-out scores and outcomes, which breaks ties of accuracy."""
    start: Floats
    """(P,) accuracy before the first step, of the gate alone or of a random pick."""

    def part(self, folds: slice) -> Paths:
        """Some of the folds, as views."""
        return Paths(self.picks[folds], self.accuracy[folds], self.correlation[folds], self.start[folds])

    def sizes(self) -> Ints:
        """(P,) length of the best prefix: the shortest of the most accurate, 0 where no step beats the start."""
        known = np.column_stack([self.start, self.accuracy])
        ranked = np.where(np.isnan(known), -np.inf, np.round(known, DECIMALS))
        return np.asarray(np.argmax(ranked, axis=1))

    def selected(self, n_columns: int) -> Bools:
        """(P, K) True for the columns of the best prefix."""
        chosen = np.zeros((len(self.picks), n_columns), dtype=np.bool_)
        sizes = self.sizes()
        for step in range(self.picks.shape[1]):
            folds = np.flatnonzero(sizes > step)
            chosen[folds, self.picks[folds, step]] = True
        return chosen


def forward_paths(swing: SwingTasks, held_out: Ints, *, max_features: int = 10, shrinkage: float = SHRINKAGE) -> Paths:
    """Greedy forward selection by leave-one-task-out accuracy, in each of P folds that hold out one task or none.

    Each step adds the column that gives the best accuracy, then the best mean within-task correlation, then the
    first place among the columns: callers order these by name.
    """
    m, k, s = swing.shape
    steps = min(max_features, k)
    found = Paths(
        np.full((len(held_out), steps), NOWHERE, dtype=np.intp),
        np.full((len(held_out), steps), np.nan),
        np.full((len(held_out), steps), np.nan),
        np.full(len(held_out), np.nan),
    )
    if s == 0:
        return found
    at_once = max(1, BLOCK // max(1, m * k * s))
    for begin in range(0, len(held_out), at_once):
        part = slice(begin, begin + at_once)
        _climb(swing, held_out[part], shrinkage, found.part(part))
    return found


def _climb(swing: SwingTasks, held_out: Ints, shrinkage: float, out: Paths) -> None:
    """Fill the paths of some folds. Axes of the arrays here: m attempts, p folds, k columns, s tasks."""
    folds = np.arange(len(held_out))
    inner = _inner(swing, held_out)
    weights = _inner_weights(swing, held_out, shrinkage)
    contributions = swing.ranks[:, None] * weights
    # The correlation needs no attempts: products and squares of sums are sums of the columns' own.
    shared = weights * swing.products
    norms = weights * weights * (swing.trained**2).sum(axis=0)
    crossed = np.zeros_like(weights)
    spread = (swing.centred**2).sum(axis=0)

    scores = np.repeat(swing.level[:, None], len(held_out), axis=1)
    shared_now, norm_now = (np.zeros((len(held_out), swing.shape[2])) for _ in range(2))
    reader = _Reader(swing.rewards)
    out.start[:] = _mean(reader.top_reward(scores[:, :, None])[:, 0], inner)
    free = swing.without(held_out)[1] > 0
    for step in range(out.picks.shape[1]):
        live = free.any(axis=1)
        if not live.any():
            break
        accuracy = _mean(reader.top_reward(scores[:, :, None] + contributions), inner[:, None])
        square = norm_now[:, None] + 2.0 * crossed + norms
        scale = np.sqrt(np.maximum(square, 0.0) * spread)
        together = shared_now[:, None] + shared
        correlation = _mean(np.divide(together, scale, out=np.zeros_like(together), where=scale > 1e-9), inner[:, None])
        pick = _best(accuracy, correlation, free)
        out.picks[live, step] = pick[live]
        out.accuracy[live, step] = accuracy[folds, pick][live]
        out.correlation[live, step] = correlation[folds, pick][live]
        free[folds, pick] = False

        added = contributions[:, folds, pick]
        shared_now = together[folds, pick]
        norm_now = norm_now + (2.0 * crossed + norms)[folds, pick]
        crossed += weights * _gram(swing, pick) * weights[folds, pick][:, None]
        scores = scores + added


def _gram(swing: SwingTasks, pick: Ints) -> Floats:
    """(P, K, S) within-task products of each column with the one just picked in each fold."""
    distinct, which = np.unique(pick, return_inverse=True)
    grams = np.stack([np.einsum("ms,mks->ks", swing.trained[:, column], swing.trained) for column in distinct])
    return np.asarray(grams[which])


def _best(accuracy: Floats, correlation: Floats, free: Bools) -> Ints:
    """(P,) the free column with the best accuracy, then correlation, then place."""
    first = np.where(free, np.round(accuracy, DECIMALS), -np.inf)
    tied = first == first.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(np.where(tied & free, np.round(correlation, DECIMALS), -np.inf), axis=1))


def _inner(swing: SwingTasks, held_out: Ints) -> Floats:
    """(P, S) share of each task in a fold's mean: none for the held-out one."""
    kept = np.arange(swing.shape[2]) != held_out[:, None]
    return np.asarray(kept / np.maximum(kept.sum(axis=1, keepdims=True), 1))


def _inner_weights(swing: SwingTasks, held_out: Ints, shrinkage: float) -> Floats:
    """(P, K, S) weights fitted without the fold's held-out task and without the task that is scored."""
    products, squares = swing.without(held_out)
    return _ratio(products[:, :, None] - swing.products, squares[:, :, None] - swing.squares, shrinkage)


def marginal_weights(swing: SwingTasks, held_out: Ints, shrinkage: float = SHRINKAGE) -> Floats:
    """(P, K) weights fitted on all swing tasks but one, for each of P held-out tasks."""
    return _ratio(*swing.without(held_out), shrinkage)


def top_rewards(swing: SwingTasks, weights: Floats) -> Floats:
    """(S,) expected outcome of the pick in each swing task, under weights (S, K) of its own."""
    scores = swing.level + np.einsum("mks,sk->ms", swing.ranks, weights)
    return _Reader(swing.rewards).top_reward(scores[:, None, None])[0, 0] if scores.size else np.zeros(0)


def _ratio(products: Floats, squares: Floats, shrinkage: float) -> Floats:
    """Marginal weights on their grid. A negative norm is the place of a task taken away twice; nothing reads it."""
    return snap(products / (np.maximum(squares, 0.0) + shrinkage), WEIGHT_BITS)


def _mean(by_task: Floats, shares: Floats) -> Floats:
    """Mean over the last axis with the given shares."""
    return np.asarray(np.einsum("...s,...s->...", by_task, np.broadcast_to(shares, by_task.shape)))


class _Reader:
    """Expected outcome of the top attempt, tied tops sharing the pick."""

    def __init__(self, rewards: Floats) -> None:
        self.rewards = rewards[:, None, None]
        binary = bool(np.isin(rewards, (0.0, 1.0)).all())
        self.passes = rewards[:, None, None].astype(np.bool_) if binary else None
        self.counter = np.uint8 if len(rewards) < 256 else np.uint32

    def top_reward(self, scores: Floats) -> Floats:
        """(p, k, s) from scores (m, p, k, s)."""
        top = scores == scores.max(axis=0)
        count = np.add.reduce(top.view(np.uint8), axis=0, dtype=self.counter)
        if self.passes is None:
            gained = np.einsum("mpks,mpks->pks", top, np.broadcast_to(self.rewards, top.shape))
        else:
            gained = np.add.reduce((top & self.passes).view(np.uint8), axis=0, dtype=self.counter)
        return np.asarray(gained / count, dtype=np.float64)
