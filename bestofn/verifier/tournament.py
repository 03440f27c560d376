"""The arithmetic of the two tournaments: who meets whom, and what the meetings come to. Attempts are numbers from 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

Meeting = tuple[int, int]
"""(a, b): attempt a stands first in the prompt, b second."""


class Rewards(NamedTuple):
    """What one meeting came to: each side's mean letter, from 0 to 1."""

    first: float
    second: float


def preference(rewards: Rewards) -> float:
    """How surely the first is the better one: sigmoid(R_a - R_b), between 0.27 and 0.73 as rewards lie in 0 to 1."""
    return 1.0 / (1.0 + math.exp(rewards.second - rewards.first))


def win(rewards: Rewards) -> float:
    """1 where the first has the higher reward, 0 where the second has, 0.5 where they are equal."""
    return 0.5 + 0.5 * ((rewards.first > rewards.second) - (rewards.first < rewards.second))


@dataclass
class Tally:
    """Wins and meetings of n attempts."""

    n: int
    wins: list[float] = field(init=False)
    meetings: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.wins = [0.0] * self.n
        self.meetings = [0] * self.n

    def add(self, meeting: Meeting, share: float) -> None:
        """Count a meeting of which the first takes `share` and the second the rest."""
        for place, part in zip(meeting, (share, 1.0 - share), strict=True):
            self.wins[place] += part
            self.meetings[place] += 1

    def mean(self, place: int) -> float:
        """An attempt's wins a meeting; NaN where it met nobody."""
        return self.wins[place] / self.meetings[place] if self.meetings[place] else math.nan


def round_robin(n: int) -> list[Meeting]:
    """Every pair once: N(N - 1)/2 meetings."""
    return list(combinations(range(n), 2))


def ring(order: Sequence[int]) -> list[Meeting]:
    """Neighbours in a ring: N meetings in which everybody stands once first and once second."""
    n = len(order)
    return [(order[at], order[(at + 1) % n]) for at in range(n)] if n > 1 else []


def leaders(tally: Tally, k: int, order: Sequence[int]) -> list[int]:
    """The k attempts with the most wins a meeting; of equal ones those that stand earlier in the random order."""
    rank = {place: at for at, place in enumerate(order)}
    known = [place for place in range(tally.n) if tally.meetings[place]]
    return sorted(known, key=lambda place: (-round(tally.mean(place), 12), rank[place]))[:k]


def against(n: int, pivots: Sequence[int]) -> list[Meeting]:
    """Everybody else against each pivot, standing first, and the pivots among themselves: k(N - k) + k(k - 1)/2."""
    others = [place for place in range(n) if place not in pivots]
    return [(place, pivot) for place in others for pivot in pivots] + list(combinations(sorted(pivots), 2))


def pivot_meetings(n: int, k: int) -> int:
    """Meetings of the whole pivot tournament: N + k(N - k) + k(k - 1)/2."""
    k = min(k, n)
    return n + k * (n - k) + k * (k - 1) // 2 if n > 1 else 0
