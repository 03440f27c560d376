"""Agreement of two columns of scores, each figure beside another way of computing it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, pearsonr, spearmanr
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, roc_auc_score

from bestofn.ablation.agreement import agreement, correlation, kappa, outcome, within_tasks
from bestofn.metrics import Floats, Ints


def columns(seed: int = 0, n: int = 80) -> tuple[Floats, Floats, Ints]:
    """Two related columns on a grid of ties, some missing, tasks of five."""
    rng = np.random.default_rng(seed)
    first = np.round(rng.random(n), 1)
    second = np.round(np.clip(first + rng.normal(0, 0.3, n), 0, 1), 1)
    first[rng.random(n) < 0.1] = np.nan
    second[rng.random(n) < 0.1] = np.nan
    return first, second, np.arange(n) // 5


@pytest.mark.parametrize("seed", range(5))
def test_correlations_and_kappa_are_those_of_scipy_and_sklearn(seed: int) -> None:
    """Over the attempts that both score, ties sharing their ranks."""
    first, second, groups = columns(seed)
    both = ~np.isnan(first) & ~np.isnan(second)
    told = agreement(first, second, groups)
    assert told.n == both.sum()
    assert told.spearman == pytest.approx(spearmanr(first[both], second[both]).statistic, abs=1e-12)
    assert told.pearson == pytest.approx(pearsonr(first[both], second[both]).statistic, abs=1e-12)
    verdicts = [column[both] >= 0.5 for column in (first, second)]
    assert told.kappa == pytest.approx(cohen_kappa_score(*verdicts), abs=1e-12)


def test_within_tasks_a_difference_between_tasks_counts_for_nothing() -> None:
    """Two judges that agree on which tasks are easy and oppose each other within each agree overall and not within."""
    easy = np.repeat([0.1, 0.9], 4)
    step = np.tile([0.0, 0.01, 0.02, 0.03], 2)
    told = agreement(easy + step, easy - step, np.repeat([0, 1], 4))
    assert told.spearman > 0.5
    assert told.pearson > 0.9
    assert told.within == pytest.approx(-1.0)
    assert within_tasks(easy, np.repeat([0, 1], 4)) == pytest.approx(np.zeros(8))


def test_what_cannot_be_told_is_nan() -> None:
    """Constant columns, one attempt, or none."""
    same, other = np.full(6, 0.5), np.linspace(0, 1, 6)
    told = agreement(same, other, np.arange(6) // 3)
    assert told.n == 6
    assert all(math.isnan(value) for value in (told.spearman, told.within, told.pearson))
    assert told.kappa == 0.0
    assert math.isnan(kappa(np.ones(4, dtype=bool), np.ones(4, dtype=bool)))
    nothing = agreement(np.full(3, np.nan), np.zeros(3), np.arange(3))
    assert nothing.n == 0
    assert all(math.isnan(value) for value in nothing[1:])
    assert math.isnan(correlation(np.array([1.0]), np.array([2.0])))


@pytest.mark.parametrize("seed", range(5))
def test_outcomes_are_told_as_sklearn_tells_them(seed: int) -> None:
    """Balanced accuracy, recall and AUC; within tasks the same pairs one by one."""
    scores, _, groups = columns(seed)
    rng = np.random.default_rng(seed + 100)
    rewards = rng.integers(0, 2, len(scores)).astype(float)
    rewards[:4] = (np.nan, 0.5, np.nan, 1.0)
    known = ~np.isnan(scores) & np.isin(rewards, (0.0, 1.0))
    told = outcome(scores, rewards, groups)
    s, r, g = scores[known], rewards[known], groups[known]
    assert told.n == known.sum()
    assert told.balanced == pytest.approx(balanced_accuracy_score(r, s >= 0.5))
    assert told.auc == pytest.approx(roc_auc_score(r, s))
    won = [mannwhitneyu(s[(g == t) & (r == 1)], s[(g == t) & (r == 0)]).statistic
           for t in np.unique(g) if 0 < r[g == t].sum() < (g == t).sum()]  # fmt: skip
    pairs = sum((r[g == t] == 1).sum() * (r[g == t] == 0).sum() for t in np.unique(g))
    assert told.within == pytest.approx(sum(won) / pairs)
