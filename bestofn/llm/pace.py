"""How many calls may be under way: more while the server keeps up, half as many when it says it does not."""

from __future__ import annotations

import random
import time

FIRST_WAIT = 0.5
"""Seconds before the first retry; each further wait doubles."""
LONGEST_WAIT = 60.0
"""Seconds that a doubled wait never exceeds."""


class Pace:
    """Additive increase, multiplicative decrease, as TCP does it. Not locked: its user holds a lock."""

    def __init__(self, ceiling: int, start: int = 4) -> None:
        self.ceiling = ceiling
        """Calls under way at most."""
        self.paused_until = 0.0
        """`time.monotonic()` before which no call may start, because the server asked for it."""
        self.lowest = min(start, ceiling)
        """The smallest limit so far."""
        self._limit = float(self.lowest)
        self._slow_start = True
        self._last_decrease = 0.0

    @property
    def limit(self) -> int:
        """Calls that may be under way now."""
        return max(1, int(self._limit))

    def succeeded(self) -> None:
        """A call was answered: one more at a time until the first decrease, then one more a round."""
        gain = 1.0 if self._slow_start else 1.0 / self._limit
        self._limit = min(float(self.ceiling), self._limit + gain)

    def slowed(self, started: float, wait: float | None) -> None:
        """The server was too busy for a call that started at `started`.

        Calls sent before the last decrease tell nothing new: a storm of refusals halves the limit once.
        """
        now = time.monotonic()
        if wait is not None:
            self.paused_until = max(self.paused_until, now + wait)
        if started >= self._last_decrease:
            self._limit = max(1.0, self._limit / 2)
            self._slow_start = False
            self._last_decrease = now
            self.lowest = min(self.lowest, self.limit)


def backoff(attempt: int, asked: float | None, *, first: float = FIRST_WAIT) -> float:
    """Seconds to wait before try `attempt` + 1 (attempts count from 1).

    The server's Retry-After is a lower bound; a random share on top keeps the retries of many calls apart.
    """
    doubled = min(LONGEST_WAIT, first * 2.0 ** min(attempt - 1, 20))
    if asked is not None:
        return asked + random.uniform(0.0, min(doubled, 1.0))
    return doubled * random.uniform(0.5, 1.0)
