"""How far a run is: what came, what it cost so far, how long it will take. Whoever draws it gets it by a callback."""

from __future__ import annotations

import time
from typing import NamedTuple

from bestofn.llm.accounts import Accounts
from bestofn.llm.answer import Missing, Outcome, Source
from bestofn.llm.pace import Pace


class Progress(NamedTuple):
    """How far a run is."""

    done: int
    total: int | None
    """None where the number of requests is not known beforehand."""
    from_cache: int
    """Answers that cost nothing: cached or imported."""
    missing: int
    usd: float | None
    """US dollars spent in this run; None where prices or counts are not known."""
    tokens: int
    """Input and output tokens of this run, as far as the server counts them."""
    seconds_left: float | None
    """At the rate of this run's calls; None where it cannot be told yet."""
    concurrency: int
    """Calls that may be under way now."""


class Meter:
    """Counts outcomes for the progress."""

    def __init__(self, total: int | None, accounts: Accounts, pace: Pace) -> None:
        self._total = total
        self._accounts = accounts
        self._pace = pace
        self._done = self._free = self._missing = self._called = 0
        self._first_call: float | None = None

    def count(self, outcome: Outcome) -> None:
        """Count one outcome."""
        self._done += 1
        if isinstance(outcome, Missing):
            self._missing += 1
        elif outcome.source is Source.SERVER:
            self._called += 1
        else:
            self._free += 1

    def read(self) -> Progress:
        """The progress now."""
        now = time.monotonic()
        if self._first_call is None:
            self._first_call = now
        left = None
        if self._total is not None and self._called:
            left = (now - self._first_call) / self._called * max(0, self._total - self._done)
        spent = self._accounts.total()
        return Progress(
            done=self._done,
            total=self._total,
            from_cache=self._free,
            missing=self._missing,
            usd=spent.usd,
            tokens=spent.input_tokens + spent.output_tokens,
            seconds_left=left,
            concurrency=self._pace.limit,
        )
