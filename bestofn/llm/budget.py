"""A ceiling in dollars or tokens: a call reserves what it may cost before it is sent, and settles what it did cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from bestofn.errors import UsageError
from bestofn.llm.answer import Tokens
from bestofn.llm.prices import Price


class BudgetSpent(Exception):
    """The next call might go over the ceiling, and no call under way can give anything back."""


class Need(NamedTuple):
    """What a call may take, as estimated before it is sent."""

    input_tokens: int
    output_tokens: int
    """The output limit."""


class Load(NamedTuple):
    """Tokens and dollars, of one call or of many."""

    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: object) -> Load:
        assert isinstance(other, Load)
        return Load(self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: Load) -> Load:
        tokens = self.tokens - other.tokens
        return Load(tokens, max(0.0, self.usd - other.usd) if tokens else 0.0)


@dataclass
class Budget:
    """The ceiling of one run. Not locked: its user holds a lock.

    Only what this run sends counts: cached answers are free, so a run that stopped here goes on from here.
    Estimates are raised by the largest excess that the server has reported so far; until it has reported one, calls
    go out one at a time.
    """

    usd: float | None = None
    """US dollars; None for no limit."""
    max_tokens: int | None = None
    """Input and output tokens together; None for no limit."""
    price: Price | None = None
    spent: Load = field(default=Load(), init=False)
    """What was settled."""
    reserved: Load = field(default=Load(), init=False)
    """What calls under way may still cost."""
    _excess: float | None = field(default=None, init=False)  # reported over estimated input, at least 1

    def __post_init__(self) -> None:
        for name, value in (("--budget-usd", self.usd), ("--budget-tokens", self.max_tokens)):
            if value is not None and not value > 0:
                raise UsageError(f"{name} is {value}: give more than 0, or leave it out for no limit")
        if self.usd is not None and self.price is None:
            raise UsageError(
                "--budget-usd needs prices, and none are known for this model: give --price-in, --price-out"
            )

    @property
    def limited(self) -> bool:
        """True where there is a ceiling."""
        return self.usd is not None or self.max_tokens is not None

    def reserve(self, need: Need) -> Load | None:
        """Set aside what a call may cost. None where it must wait for calls under way to settle.

        Raises BudgetSpent where waiting cannot help.
        """
        if not self.limited:
            return Load()
        load = self.cost(Tokens(math.ceil(need.input_tokens * (self._excess or 1.0)), 0, need.output_tokens))
        if not self._fits(load, Load()):
            raise BudgetSpent(self._sentence(load))
        if not self._fits(load, self.reserved) or (self._excess is None and self.reserved.tokens):
            return None
        self.reserved += load
        return load

    def release(self, load: Load) -> None:
        """Give back a reservation whose call cost nothing."""
        self.reserved -= load

    def settle(self, load: Load, need: Need, tokens: Tokens) -> None:
        """Replace a reservation by what the call did cost; where the server did not count, the reservation stands."""
        self.release(load)
        if tokens.input is None or tokens.output is None:
            self.spent += load
            self._excess = self._excess or 1.0
            return
        self.spent += self.cost(tokens)
        self._excess = max(self._excess or 1.0, tokens.input / max(1, need.input_tokens))

    def cost(self, tokens: Tokens) -> Load:
        """What these tokens cost, as far as they were counted."""
        usd = self.price.cost(tokens) if self.price else None
        return Load((tokens.input or 0) + (tokens.output or 0), usd or 0.0)

    def _fits(self, load: Load, beside: Load) -> bool:
        """True where a call fits under the ceiling beside what is spent and reserved."""
        total = self.spent + beside + load
        usd_fits = self.usd is None or total.usd <= self.usd + 1e-12
        return usd_fits and (self.max_tokens is None or total.tokens <= self.max_tokens)

    def _sentence(self, load: Load) -> str:
        """Why the run stops here."""
        if self.max_tokens is not None and self.spent.tokens + load.tokens > self.max_tokens:
            spent, limit, step = f"{self.spent.tokens:,}", f"{self.max_tokens:,} tokens", f"{load.tokens:,}"
        else:
            spent, limit, step = f"${self.spent.usd:.4f}", f"${self.usd:g}", f"${load.usd:.4f}"
        return f"{spent} of {limit} spent, and the next call may take {step}: raise the budget and run again"
