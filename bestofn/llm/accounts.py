"""What a run consumed, per criterion: calls, tokens with the cached ones apart, dollars, and what came free."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from bestofn.llm.answer import Completion, Source, Tokens
from bestofn.llm.prices import Price

PROBE = "(probe)"
"""The name under which calls stand that only ask what a server accepts."""


@dataclass
class TokenSums:
    """Tokens of some calls, as far as a server counts them."""

    input_tokens: int = 0
    """The cached ones included."""
    cached_tokens: int = 0
    """Those of `input_tokens` that the server's prefix cache served, as far as it tells: some never do."""
    output_tokens: int = 0
    uncounted: int = 0
    """Calls without a count: the sums leave them out."""

    def count(self, tokens: Tokens) -> None:
        """Count one call in."""
        self.input_tokens += tokens.input or 0
        self.cached_tokens += tokens.cached or 0
        self.output_tokens += tokens.output or 0
        self.uncounted += tokens.input is None or tokens.output is None


@dataclass
class Account(TokenSums):
    """What one criterion consumed. The tokens are those of `calls`."""

    calls: int = 0
    """Answers that the server gave in this run."""
    retries: int = 0
    """Tries that failed and were sent again."""
    from_cache: int = 0
    """Answers of earlier runs, free now."""
    imported: int = 0
    """Answers that an imported batch file gave."""
    replayed: int = 0
    """Answers that a recording gave."""
    usd: float | None = 0.0
    """Dollars for `calls`; None where a price or a count is not known."""

    def add(self, other: Account) -> None:
        """Count another account in."""
        for name in vars(self):
            if name != "usd":
                setattr(self, name, getattr(self, name) + getattr(other, name))
        self.usd = None if self.usd is None or other.usd is None else self.usd + other.usd


@dataclass
class Accounts:
    """The accounts of one run. Safe to use from several threads."""

    price: Price | None = None
    """None where it is not known: the dollars are then unknown, not 0."""
    _by_criterion: dict[str, Account] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def enter(self, criterion: str, completion: Completion) -> None:
        """Count one delivered answer."""
        entry = Account()
        match completion.source:
            case Source.CACHE:
                entry.from_cache = 1
            case Source.IMPORT:
                entry.imported = 1
            case Source.REPLAY:
                entry.replayed = 1
            case Source.SERVER:
                entry.calls = 1
                entry.count(completion.tokens)
                entry.usd = self.price.cost(completion.tokens) if self.price else None
        self._add(criterion, entry)

    def retried(self, criterion: str) -> None:
        """Count one try that is sent again."""
        self._add(criterion, Account(retries=1))

    def by_criterion(self) -> dict[str, Account]:
        """A copy of the accounts, by criterion in order of first appearance."""
        with self._lock:
            return {name: Account(**vars(account)) for name, account in self._by_criterion.items()}

    def total(self) -> Account:
        """All criteria and the probe together."""
        total = Account()
        for account in self.by_criterion().values():
            total.add(account)
        return total

    def _add(self, criterion: str, entry: Account) -> None:
        with self._lock:
            self._by_criterion.setdefault(criterion, Account()).add(entry)
