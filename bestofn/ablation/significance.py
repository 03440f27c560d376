"""What a paired difference on few tasks can show: an exact p-value, its correction, the smallest difference there is.

Tasks are the units, and what a test needs is the law of each task's difference where there is nothing to find.

- Between two selectors, their picks could as well be exchanged. Where each picks one attempt, that is the sign-flip
  test of pairs, which for outcomes of pass and fail is McNemar's test in its exact form. Where tied tops share a pick,
  the law is that of picks drawn among them, so that an average is not taken for certainty: p is at most too large.
- Against a random pick, signs cannot be flipped: at a Pass@1 of 80% a task is won by 0.2 often and lost by 0.8 rarely.
  There the null is that the selector picks at random: as many attempts as share its pick, drawn without replacement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bestofn.metrics import DECIMALS, Floats, Ints, task_sums

LEVEL = 0.05
"""Two-sided level at which a difference counts as resolved."""
DRAWS = 100_000
"""Random draws where the exact distribution is too large."""
MOST_SUMS = 500_000
"""Distinct sums that the exact distribution may have."""
GRID = 1e9
"""Values that agree to nine decimals are one value."""


class Law(NamedTuple):
    """What one task's difference may be where there is nothing to find."""

    values: tuple[float, ...]
    chances: tuple[float, ...]


class Resolution(NamedTuple):
    """The smallest difference between two arms that a pool can show.

    k tasks, all in favour of one arm and none of the other, give p = 2 * 2**-k in the exact sign test (McNemar's test
    in its exact form). The smallest k with p <= level / comparisons is the least that can count as resolved: below it,
    no difference between two arms that pick one attempt each can.
    """

    tasks: int
    """k."""
    difference: float
    """k / tasks of the pool; NaN where the pool has fewer swing tasks than k, and can resolve nothing."""


def smallest_difference(n_tasks: int, n_swing: int, *, comparisons: int = 1, level: float = LEVEL) -> Resolution:
    """The smallest resolvable difference of a pool, in a family of so many comparisons (Holm's first step)."""
    k = max(1, math.ceil(1.0 - math.log2(level / max(comparisons, 1)) - 1e-12))
    return Resolution(k, k / n_tasks if n_tasks and k <= n_swing else math.nan)


def exchange_p(first: Floats, second: Floats, weights: Floats | None = None, *, seed: int = 0) -> float:
    """Two-sided p-value of the mean difference of two selectors.

    Parameters
    ----------
    first, second
        (tasks,) expected outcomes of their picks, from 0 to 1. A task where they are equal says nothing.
    weights
        (tasks,) what each task weighs in the mean; all the same by default.
    seed
        Of random draws, where the distribution has too many distinct sums to be exact.
    """
    weights = np.ones(len(first)) if weights is None else weights
    moved = np.abs(first - second) > 10.0**-DECIMALS
    laws = [
        _exchanged(a, b, w)
        for a, b, w in zip(first[moved].tolist(), second[moved].tolist(), weights[moved].tolist(), strict=True)
    ]
    return _tail(laws, math.fsum((weights * (first - second))[moved].tolist()), seed)


def chance_p(outcomes: Floats, rates: Floats, attempts: Ints, tied: Ints | None = None, *, seed: int = 0) -> float:
    """Two-sided p-value of a selector's mean outcome, where it would pick at random.

    Parameters
    ----------
    outcomes, rates
        (tasks,) expected outcome of its pick and of a random one.
    attempts
        (tasks,) attempts of known outcome.
    tied
        (tasks,) how many of them share the pick; one each where it is not known, which makes p too large at most.
    seed
        As above.
    """
    tied = np.ones(len(outcomes), dtype=np.intp) if tied is None else tied
    laws = []
    for rate, n, k in zip(rates.tolist(), attempts.tolist(), tied.tolist(), strict=True):
        if 10.0**-DECIMALS < rate < 1.0 - 10.0**-DECIMALS:
            laws.append(_drawn_without_replacement(rate, n, k))
    return _tail(laws, math.fsum((outcomes - rates).tolist()), seed)


def _exchanged(a: float, b: float, weight: float) -> Law:
    """Each picks one attempt, which passes with the expected outcome; where just one passes, it may be either's."""
    apart = a * (1.0 - b) + b * (1.0 - a)
    return Law((-weight, 0.0, weight), (apart / 2.0, 1.0 - apart, apart / 2.0))


def _drawn_without_replacement(rate: float, n: int, k: int) -> Law:
    """Mean outcome, less the rate, of k of n attempts of which this share passes; of one where they are not all pass
    or fail, which spreads no less."""
    passes = round(rate * n)
    if abs(passes - rate * n) > 1e-6 or not 1 <= k <= n:
        return Law((-rate, 1.0 - rate), (1.0 - rate, rate))
    counts = range(max(0, k - (n - passes)), min(k, passes) + 1)
    ways = [math.comb(passes, j) * math.comb(n - passes, k - j) for j in counts]
    return Law(tuple(j / k - rate for j in counts), tuple(way / math.comb(n, k) for way in ways))


def _tail(laws: Sequence[Law], observed: float, seed: int) -> float:
    """The chance that the sum of all laws is as far from 0 as the one observed."""
    reach = abs(observed) - (len(laws) + 1) / GRID
    if not laws or reach <= 0.0:
        return 1.0
    sums, chances = np.zeros(1), np.ones(1)
    for law in laws:
        if len(sums) * len(law.values) > 4 * MOST_SUMS:
            return _drawn(laws, reach, seed)
        spread = np.rint(np.add.outer(sums, np.array(law.values) * GRID)).ravel()
        sums, place = np.unique(spread, return_inverse=True)
        chances = task_sums(np.multiply.outer(chances, np.array(law.chances)).ravel(), place, len(sums))
        # Sums that rounding parted are one.
        fresh = np.concatenate([[True], np.diff(sums) > len(laws)])
        if not fresh.all():
            chances = np.add.reduceat(chances, np.flatnonzero(fresh))
            sums = sums[fresh]
        if len(sums) > MOST_SUMS:
            return _drawn(laws, reach, seed)
    return min(1.0, math.fsum(chances[np.abs(sums) >= reach * GRID].tolist()))


def _drawn(laws: Sequence[Law], reach: float, seed: int) -> float:
    """The same from random draws, the observed one counted among them."""
    rng = np.random.default_rng([seed, 2])
    sums = np.zeros(DRAWS)
    for law in laws:
        sums += rng.choice(np.array(law.values), size=DRAWS, p=np.array(law.chances))
    return (1 + int((np.abs(sums) >= reach).sum())) / (1 + DRAWS)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """p-values corrected for their number, step down (S. Holm 1979); None stays None and counts for nothing."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    out: list[float | None] = [None] * len(p_values)
    least = 0.0
    for step, (p, place) in enumerate(known):
        least = max(least, min(1.0, (len(known) - step) * p))
        out[place] = least
    return out
