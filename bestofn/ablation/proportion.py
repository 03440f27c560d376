"""The first K codes of a taxonomy with its A/B/C proportions kept, and an order in which every beginning keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction


def shares(counts: Mapping[str, int], k: int) -> dict[str, int]:
    """How many of each axis, so that there are k in all: the largest remainder rule (T. Hare).

    Each axis gets the whole part of k x its count / all; what is left goes, one each, to the largest fractions, of
    equal ones to the axis that stands first. All of them where k is the whole or more.
    """
    total = sum(counts.values())
    if k >= total:
        return dict(counts)
    exact = {axis: Fraction(k * count, total) for axis, count in counts.items()}
    given = {axis: int(share) for axis, share in exact.items()}
    places = list(counts)
    left = k - sum(given.values())
    for axis in sorted(places, key=lambda axis: (given[axis] - exact[axis], places.index(axis)))[:left]:
        given[axis] += 1
    return given


def first(lists: Mapping[str, Sequence[str]], k: int) -> dict[str, tuple[str, ...]]:
    """The first codes of each axis, in their own order, k in all. An axis that gets none is left out."""
    given = shares({axis: len(entries) for axis, entries in lists.items()}, k)
    return {axis: tuple(entries[: given[axis]]) for axis, entries in lists.items() if given[axis]}


def interleaved(lists: Mapping[str, Sequence[str]]) -> list[str]:
    """All codes in one list, each axis spread evenly over it, so that its beginning holds all axes.

    The n-th of an axis with m codes stands at (2n - 1) / 2m of the way, of equal places the axis that stands first.
    """
    places = [
        (Fraction(2 * n + 1, 2 * len(entries)), at, n, entry)
        for at, entries in enumerate(lists.values())
        for n, entry in enumerate(entries)
    ]
    return [entry for *_, entry in sorted(places)]
