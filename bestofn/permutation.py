"""What forward selection reports where there is nothing to find: labels shuffled within swing tasks, all done again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bestofn.fitting import swing_of
from bestofn.loto import SHRINKAGE, forward_paths, marginal_weights, top_rewards
from bestofn.metrics import DECIMALS, Floats, pass_rate
from bestofn.swing import NOWHERE, SwingTasks
from bestofn.table import FeatureTable

DEAR = 2e10
"""Scores above which the nested selection is not repeated under the null: it would take minutes."""


class Null(NamedTuple):
    """An accuracy beside those that shuffled labels give."""

    selector: str
    mean: float
    """Over the permutations."""
    p95: float
    """95th percentile over the permutations."""
    p_value: float
    """(1 + permutations that reach the observed accuracy) / (1 + permutations)."""
    permutations: int


class NullAccuracies(NamedTuple):
    """(permutations,) accuracies over all labelled tasks under shuffled labels."""

    optimistic: Floats
    """Selected and reported on the same tasks."""
    nested: Floats | None
    """Selection redone without each task; None where that is too dear, in a pool of hundreds of swing tasks."""


def null_accuracies(
    table: FeatureTable,
    columns: Sequence[str],
    *,
    permutations: int,
    seed: int = 0,
    max_features: int = 10,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> NullAccuracies:
    """Shuffle the known outcomes within each swing task, and repeat the whole forward selection, nested and not.

    Parameters
    ----------
    columns
        The candidates, in order of name.
    permutations, seed
        How many shuffles, and where they start. Rows must be in canonical order for the seed to mean the same.
    on_progress
        Called with shuffles done and in all.
    """
    swing = swing_of(table, tuple(columns), gate=False)
    rates = pass_rate(table.rewards, table.groups)
    rates[swing.tasks] = 0.0
    n_tasks, rest = int((~np.isnan(rates)).sum()), float(np.nansum(np.sort(rates)))
    m, k, n_swing = swing.shape
    affordable = permutations * min(max_features, k) * m * k * n_swing**2 <= DEAR
    folds = np.array([*(range(n_swing) if affordable else ()), NOWHERE])
    rng = np.random.default_rng([seed, 1])
    optimistic, nested = np.empty(permutations), np.empty(permutations)
    for turn in range(permutations):
        if on_progress is not None:
            on_progress(turn, permutations)
        shuffled = swing.relabelled(_shuffled(swing, rng))
        paths = forward_paths(shuffled, folds, max_features=max_features)
        best = np.append(paths.start[-1:], paths.accuracy[-1])[paths.sizes()[-1]]
        optimistic[turn] = (best * n_swing if n_swing else 0.0) + rest
        if affordable:
            weights = marginal_weights(shuffled, folds, SHRINKAGE) * paths.selected(k)
            nested[turn] = top_rewards(shuffled, weights[:-1]).sum() + rest
    return NullAccuracies(
        np.round(optimistic / n_tasks, DECIMALS), np.round(nested / n_tasks, DECIMALS) if affordable else None
    )


def null_of(selector: str, observed: float, accuracies: Floats) -> Null:
    """The observed accuracy beside the null's; needs at least one permutation."""
    reached = int((accuracies >= round(observed, DECIMALS)).sum())
    n = len(accuracies)
    return Null(selector, float(accuracies.mean()), float(np.quantile(accuracies, 0.95)), (1 + reached) / (1 + n), n)


def _shuffled(swing: SwingTasks, rng: np.random.Generator) -> Floats:
    """(m, S) the outcomes of each task in another order; padding stays where it is."""
    keys = np.where(swing.rows >= 0, rng.random(swing.rows.shape), np.inf)
    return np.take_along_axis(swing.rewards, np.argsort(keys, axis=0, kind="stable"), axis=0)
