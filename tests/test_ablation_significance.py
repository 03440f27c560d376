"""p-values, Holm and the smallest difference, each against a second way of computing it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from bestofn.ablation import significance
from bestofn.ablation.significance import chance_p, exchange_p, holm, smallest_difference

ALL_PASS = np.ones(40)


def flips(first: np.ndarray, second: np.ndarray) -> float:
    """The sign-flip p-value by trying every flip."""
    differences = first - second
    observed = abs(differences.sum())
    sums = [abs(np.dot(signs, differences)) for signs in itertools.product((-1, 1), repeat=len(differences))]
    return float(np.mean([value >= observed - 1e-9 for value in sums]))


@pytest.mark.parametrize("seed", range(6))
def test_exchanged_picks_are_the_sign_flip_test(seed: int) -> None:
    """Where each arm picks one attempt that passes or fails, p is that of all sign flips, tried one by one."""
    first, second = np.random.default_rng(seed).integers(0, 2, (2, 12)).astype(float)
    assert exchange_p(first, second) == pytest.approx(flips(first, second))


@pytest.mark.parametrize(("won", "lost"), [(6, 0), (5, 0), (7, 2), (20, 9), (60, 30)])
def test_exchanged_picks_are_mcnemars_test(won: int, lost: int) -> None:
    """p is that of the exact binomial test over the tasks that moved, as scipy has it."""
    first = np.array([1.0] * won + [0.0] * lost + [1.0] * 50)
    second = np.array([0.0] * won + [1.0] * lost + [1.0] * 50)
    assert exchange_p(first, second) == pytest.approx(stats.binomtest(won, won + lost).pvalue)


def test_weights_count_in_the_sum() -> None:
    """With weights, p is that of the flips of the weighted differences."""
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 2, (2, 11)).astype(float)
    weights = rng.random(11)
    moved = first != second
    signed = ((first - second) * weights)[moved]
    sums = [abs(np.dot(signs, signed)) for signs in itertools.product((-1, 1), repeat=len(signed))]
    assert exchange_p(first, second, weights) == pytest.approx(np.mean([s >= abs(signed.sum()) - 1e-9 for s in sums]))


def test_shared_picks_are_drawn() -> None:
    """Where tied tops share a pick, p is that of picks drawn among them and exchanged, tried one by one."""
    first, second = np.array([1.0, 1.0, 0.5, 1.0, 0.25]), np.array([0.0, 0.5, 0.0, 0.2, 1.0])
    observed = abs((first - second).sum())
    chance = 0.0
    for drawn in itertools.product((0, 1), repeat=10):
        a, b = np.array(drawn[:5]), np.array(drawn[5:])
        likely = np.prod(np.where(a, first, 1 - first)) * np.prod(np.where(b, second, 1 - second))
        for swapped in itertools.product((-1, 1), repeat=5):
            chance += likely / 2**5 * (abs(np.dot(swapped, a - b)) >= observed - 1e-9)
    assert exchange_p(first, second) == pytest.approx(chance)


def test_nothing_moved_says_nothing() -> None:
    """Equal outcomes give 1, whatever they are."""
    assert exchange_p(np.full(9, 0.3), np.full(9, 0.3)) == 1.0


@pytest.mark.parametrize("tied", [1, 2, 3])
def test_chance_is_the_permutation_of_outcomes(tied: int) -> None:
    """Against a random pick, p is that of all orders of the outcomes within tasks, tried one by one."""
    tasks = [(1, 0, 0, 1), (1, 1, 0, 1), (0, 0, 0, 1), (1, 1, 1, 1)]
    picked = [(0, 1, 2), (0, 1, 3), (3, 0, 1), (2, 1, 0)]
    outcomes = np.array([np.mean([task[i] for i in mine[:tied]]) for task, mine in zip(tasks, picked, strict=True)])
    rates = np.array([np.mean(task) for task in tasks])
    observed = abs((outcomes - rates).sum())
    sums = [
        abs(
            sum(np.mean([order[i] for i in mine[:tied]]) for order, mine in zip(orders, picked, strict=True))
            - rates.sum()
        )
        for orders in itertools.product(*(set(itertools.permutations(task)) for task in tasks))
    ]
    weights = [1.0] * len(sums)
    exact = np.average([value >= observed - 1e-9 for value in sums], weights=weights)
    assert chance_p(outcomes, rates, np.full(4, 4), np.full(4, tied)) == pytest.approx(exact)


def test_a_random_pick_is_seldom_found_better_than_a_random_pick() -> None:
    """Picks drawn at random reach p <= 0.05 in at most 5% of pools, where flipping signs would do so far more often."""
    rng = np.random.default_rng(0)
    reached = flipped = 0
    rates = np.array([0.8] * 12 + [0.6] * 4 + [0.2])
    for _ in range(600):
        outcomes = (rng.random(len(rates)) < rates).astype(float)
        reached += chance_p(outcomes, rates, np.full(len(rates), 5)) <= 0.05
        flipped += stats.wilcoxon(outcomes - rates).pvalue <= 0.05
    assert reached <= 0.05 * 600 + 2 * math.sqrt(600 * 0.05 * 0.95)
    assert flipped > 1.5 * reached


def test_unknown_ties_make_p_larger() -> None:
    """Where it is not told how many attempts share a pick, p is no smaller."""
    outcomes, rates, n = np.full(8, 1.0), np.full(8, 0.75), np.full(8, 4)
    assert chance_p(outcomes, rates, n) > chance_p(outcomes, rates, n, np.full(8, 3))


def test_a_reward_between_pass_and_fail_is_spread_as_far_as_can_be() -> None:
    """Outcomes that are no share of passes count as one draw of pass or fail."""
    assert chance_p(np.array([0.9]), np.array([0.37]), np.array([4])) == pytest.approx(0.37)


def test_too_many_sums_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution that is too large is drawn from, to the same p, and the same again."""
    rng = np.random.default_rng(3)
    first, second, weights = rng.integers(0, 2, 30).astype(float), rng.integers(0, 2, 30).astype(float), rng.random(30)
    exact = exchange_p(first, second, weights)
    monkeypatch.setattr(significance, "MOST_SUMS", 10)
    assert exchange_p(first, second, weights) == exchange_p(first, second, weights)
    assert exchange_p(first, second, weights) == pytest.approx(exact, abs=0.01)


def test_holm_by_hand() -> None:
    """Corrected p-values are those of a worked example; what has none keeps none."""
    assert holm([0.01, None, 0.04, 0.03, 0.005]) == pytest.approx([0.03, None, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(("comparisons", "tasks"), [(1, 6), (2, 7), (7, 9), (20, 10)])
def test_the_smallest_difference(comparisons: int, tasks: int) -> None:
    """So many tasks all one way reach the level, one fewer does not; a pool with fewer swing tasks resolves nothing."""
    found = smallest_difference(89, 17, comparisons=comparisons)
    assert found == (tasks, tasks / 89)
    for n, reaches in ((tasks, True), (tasks - 1, False)):
        p = exchange_p(ALL_PASS, np.array([0.0] * n + [1.0] * (40 - n)))
        assert (p * comparisons <= 0.05) is reaches
    assert math.isnan(smallest_difference(89, tasks - 1, comparisons=comparisons).difference)
