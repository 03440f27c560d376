"""How far two ways of scoring the same attempts agree, and how far scores agree with outcomes. Numpy in, floats out.

Every figure is over the attempts where both are known, and NaN where it cannot be told: fewer than two such attempts,
or scores that never differ.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from bestofn.calibration import auc, pairs_won
from bestofn.metrics import DECIMALS, Bools, Floats, Ints, rows_by_task

VERDICT = 0.5
"""The score from which on a verdict says that an attempt passed."""


class Agreement(NamedTuple):
    """Two ways of scoring, side by side."""

    n: int
    """Attempts that both score."""
    spearman: float
    """Rank correlation over all attempts."""
    within: float
    """The same within tasks: of ranks among the attempts of a task, centred there."""
    pearson: float
    """Correlation of the scores themselves, over all attempts."""
    kappa: float
    """Cohen's kappa of the two verdicts."""


class Outcome(NamedTuple):
    """What scores say of outcomes."""

    n: int
    """Attempts with a score and a known outcome of pass or fail."""
    balanced: float
    """Mean of the shares of passing attempts with the verdict pass and of failing ones with the verdict fail."""
    pass_recall: float
    """Share of passing attempts with the verdict pass."""
    auc: float
    """Chance that a passing attempt scores above a failing one, ties counting half, over all attempts."""
    within: float
    """The same over pairs of one task."""


def agreement(first: Floats, second: Floats, groups: Ints) -> Agreement:
    """How far two columns agree.

    Parameters
    ----------
    first, second
        (rows,) scores from 0 to 1, NaN where missing.
    groups
        (rows,) each row's task.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    a, b, g = first[both], second[both], groups[both]
    return Agreement(
        int(both.sum()),
        correlation(ranks(a), ranks(b)),
        correlation(_centred_ranks(a, g), _centred_ranks(b, g)),
        correlation(a, b),
        kappa(a >= VERDICT, b >= VERDICT),
    )


def outcome(scores: Floats, rewards: Floats, groups: Ints) -> Outcome:
    """What scores from 0 to 1 say of outcomes; outcomes that are neither 1 nor 0 are left out."""
    told = ~np.isnan(scores) & ((rewards == 1.0) | (rewards == 0.0))
    s, passed, g = scores[told], rewards[told] == 1.0, groups[told]
    said = s >= VERDICT
    recall, specificity = _share(said[passed]), _share(~said[~passed])
    even = np.round(s, DECIMALS)
    within = [pairs_won(even[rows], passed[rows]) for rows in rows_by_task(g)]
    n_pairs = sum(pairs.n for pairs in within)
    return Outcome(
        int(told.sum()),
        (recall + specificity) / 2.0,
        recall,
        auc(even, passed),
        math.fsum(pairs.won for pairs in within) / n_pairs if n_pairs else math.nan,
    )


def ranks(values: Floats) -> Floats:
    """(rows,) ranks from 1, equal values sharing the mean of theirs. Values equal to nine decimals are equal."""
    return np.asarray(rankdata(np.round(values, DECIMALS)), dtype=np.float64)


def correlation(first: Floats, second: Floats) -> float:
    """Pearson's correlation; NaN where one of the two never differs."""
    if len(first) < 2:
        return math.nan
    a, b = first - first.mean(), second - second.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return min(1.0, max(-1.0, float(a @ b) / scale)) if scale > 10.0**-DECIMALS else math.nan


def kappa(first: Bools, second: Bools) -> float:
    """Cohen's kappa of two yes-or-no verdicts; NaN where chance alone would agree always."""
    if not len(first):
        return math.nan
    agreed = float((first == second).mean())
    p, q = float(first.mean()), float(second.mean())
    chance = p * q + (1.0 - p) * (1.0 - q)
    return (agreed - chance) / (1.0 - chance) if 1.0 - chance > 10.0**-DECIMALS else math.nan


def within_tasks(values: Floats, groups: Ints) -> Floats:
    """(rows,) values less the mean of their task's."""
    out: Floats = np.array(values, dtype=np.float64)
    for rows in rows_by_task(groups):
        out[rows] -= values[rows].mean()
    return out


def _centred_ranks(values: Floats, groups: Ints) -> Floats:
    out = np.zeros(len(values))
    for rows in rows_by_task(groups):
        mine = ranks(values[rows])
        out[rows] = mine - mine.mean()
    return out


def _share(values: Bools) -> float:
    return float(values.mean()) if len(values) else math.nan
