"""What forward selection reports on features that are noise: the same protocol, columns drawn at random."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bestofn.ablation.subject import Subject
from bestofn.fitting import swing_of
from bestofn.loto import forward_paths, marginal_weights, top_rewards
from bestofn.metrics import DECIMALS, Floats
from bestofn.swing import NOWHERE
from bestofn.table import FeatureTable


class NoiseAccuracies(NamedTuple):
    """(draws,) accuracies over all labelled tasks, with nothing but noise to choose among."""

    optimistic: Floats
    """Selected and reported on the same tasks."""
    nested: Floats
    """Selection redone without each task."""


def noise_accuracies(
    subject: Subject, n_columns: int, draws: Iterable[int], *, seed: int = 0, max_features: int = 10
) -> NoiseAccuracies:
    """Forward selection among so many columns of normal noise, with the true labels, again and again.

    Parameters
    ----------
    draws
        Numbers of the draws to make; each starts at its own seed, so that a longer run begins like a shorter one.
    """
    table = subject.table.rows(subject.swing[subject.table.groups])
    names = tuple(f"noise{number:04}" for number in range(n_columns))
    rest = float(np.nansum(np.sort(subject.rates[~subject.swing])))
    n_tasks = subject.figures.n_tasks
    found = []
    for draw in draws:
        rng = np.random.default_rng([seed, 3, n_columns, draw])
        noisy = replace(table, columns=names, values=rng.standard_normal((len(table), n_columns)))
        found.append([(sums + rest) / n_tasks for sums in _swing_sums(noisy, names, max_features)])
    optimistic, nested = np.round(np.array(found).reshape(-1, 2), DECIMALS).T
    return NoiseAccuracies(optimistic, nested)


def _swing_sums(table: FeatureTable, names: tuple[str, ...], max_features: int) -> tuple[float, float]:
    """Swing tasks won, as published and nested."""
    swing = swing_of(table, names, gate=False)
    n_swing = len(swing.tasks)
    folds = np.array([*range(n_swing), NOWHERE])
    paths = forward_paths(swing, folds, max_features=max_features)
    best = np.append(paths.start[-1:], paths.accuracy[-1])[paths.sizes()[-1]]
    weights = marginal_weights(swing, folds) * paths.selected(len(names))
    return float(best * n_swing) if n_swing else 0.0, float(top_rewards(swing, weights[:-1]).sum())
