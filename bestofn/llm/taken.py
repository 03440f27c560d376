"""What answers took of a model when they were asked for, whoever gives them now: a cache and a recording keep counts.

An account of a run says what that run spent, and a run from the cache spends nothing. What a score costs is another
question: what it takes to ask for it. It is answered here, by criterion and by who asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bestofn.llm.accounts import TokenSums
from bestofn.llm.answer import Missing, Outcome, Source, Tokens
from bestofn.llm.prices import Price


@dataclass
class Taken(TokenSums):
    """What some answers took. The tokens are those of `calls`."""

    calls: int = 0
    """Answers that came. Each is one call, in this run or in an earlier one."""
    sent: int = 0
    """Those of `calls` that the server gave in this run; the rest was cached, imported or recorded."""
    unanswered: int = 0
    """Requests without an answer: what they took is not known, and not in the sums."""

    def add(self, outcome: Outcome) -> None:
        """Count one outcome."""
        if isinstance(outcome, Missing):
            self.unanswered += 1
            return
        self.calls += 1
        self.sent += outcome.source is Source.SERVER
        self.count(outcome.tokens)

    def join(self, other: Taken) -> Taken:
        """Both together."""
        return Taken(**{name: value + getattr(other, name) for name, value in vars(self).items()})

    @property
    def counted(self) -> bool:
        """Whether the sums hold all that was asked: every call has a count, and one came at least."""
        return self.calls > 0 and not self.uncounted

    def usd(self, price: Price | None) -> float | None:
        """Dollars at a price; None where the price or a count is not known, which is not free."""
        if price is None or not self.counted:
            return None
        return price.cost(Tokens(self.input_tokens, self.cached_tokens, self.output_tokens))

    def as_dict(self, price: Price | None) -> dict[str, Any]:
        """As a table's `about` has it."""
        return {**vars(self), "usd": self.usd(price)}
