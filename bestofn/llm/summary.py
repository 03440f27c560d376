"""How a run went: the states of all scores with their reasons, and whether too much is missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from bestofn.llm.accounts import Account
from bestofn.llm.letters import LetterScore, State
from bestofn.llm.request import Request
from bestofn.llm.taken import Taken

ALWAYS = 20
"""Answers of one criterion from which on one letter for all of them is worth a warning."""


class RunSummary:
    """Counts scores as they come; made once for a run."""

    def __init__(self) -> None:
        self.states: Counter[State] = Counter()
        """Scores by state."""
        self.reasons: dict[State, Counter[str]] = defaultdict(Counter)
        """Scores that are not ok, by state and reason."""
        self.example: dict[str, str] = {}
        """The first sentence that came with each reason."""
        self.taken: dict[tuple[int, str], Taken] = defaultdict(Taken)
        """What the answers took, by place of the method that asked and by criterion."""
        self._letters: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, request: Request, scores: Mapping[str, LetterScore]) -> None:
        """Count the scores of one request."""
        for score in scores.values():
            self.states[score.state] += 1
            if score.reason is not None:
                self.reasons[score.state][score.reason] += 1
                self.example.setdefault(score.reason, score.detail)
            if score.letter:
                self._letters[request.criterion][score.letter] += 1

    @property
    def total(self) -> int:
        """All scores, missing ones included."""
        return sum(self.states.values())

    @property
    def share_missing(self) -> float:
        """Share of the scores that are missing; 0 where nothing was asked."""
        return self.states[State.MISSING] / self.total if self.total else 0.0

    def exceeds(self, share: float) -> bool:
        """True where more than this share is missing: the run should count as failed."""
        return self.share_missing > share

    def constant(self) -> dict[str, str]:
        """Criteria that got one and the same letter every time, with the letter: they tell attempts not apart."""
        return {
            criterion: next(iter(letters))
            for criterion, letters in self._letters.items()
            if len(letters) == 1 and letters.total() >= ALWAYS
        }

    def lines(self, accounts: Mapping[str, Account] | None = None, notes: Sequence[str] = ()) -> list[str]:
        """The summary as lines of text: states, reasons with an example, what each criterion took, notes."""
        out = [f"{self.total} scores: " + ", ".join(f"{self.states[state]} {state.value}" for state in State)]
        for state in (State.DEGRADED, State.MISSING):
            for reason, n in self.reasons[state].most_common():
                example = self.example.get(reason, "")
                out.append(f"  {n} {state.value}, {reason}" + (f": {example}" if example else ""))
        for criterion, letter in self.constant().items():
            out.append(f"  criterion '{criterion}' got {letter} every time: it tells no attempt from another")
        for criterion, account in (accounts or {}).items():
            out.append(f"  {criterion or '(no criterion)'}: {describe(account)}")
        out.extend(f"  note: {note}" for note in notes)
        return out


def describe(account: Account) -> str:
    """An account in words: calls, tokens with the cached apart, dollars, and what came free."""
    parts = [f"{account.calls} calls"]
    if account.retries:
        parts.append(f"{account.retries} retries")
    if account.calls:
        cached = f" ({account.cached_tokens:,} cached)" if account.cached_tokens else ""
        parts.append(f"{account.input_tokens:,} tokens in{cached}, {account.output_tokens:,} out")
        parts.append("cost unknown" if account.usd is None else f"${account.usd:.4f}")
    if account.uncounted:
        parts.append(f"{account.uncounted} calls without a token count")
    free = {"from the cache": account.from_cache, "imported": account.imported, "replayed": account.replayed}
    parts.extend(f"{n} {name}" for name, n in free.items() if n)
    return ", ".join(parts)
