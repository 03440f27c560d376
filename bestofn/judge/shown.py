"""Counts what had to be done to the runs before a model could be shown them: secrets, hostile places, cuts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from bestofn.rendering.rendered import CutKind, Rendered

_AGAIN = "a run that stands in several records counts in each"


@dataclass
class ShownCounts:
    """Sums over the records of a run; a record that several prompts share counts once."""

    records: int = 0
    whole: int = 0
    """Records that were to be shown whole; the others are final states, which leave most of a run out by design."""
    cut: int = 0
    """Whole records of which something had to be left out. Reasoning, which is left out by choice, does not count."""
    characters: int = 0
    """Length of what the whole records hold, reasoning aside."""
    shown: int = 0
    """Length of what was shown of it."""
    redactions: Counter[str] = field(default_factory=Counter[str])
    """Secrets taken out, by kind."""
    neutralised: Counter[str] = field(default_factory=Counter[str])
    """Places made harmless, by kind."""

    def add(self, record: Rendered, *, whole: bool) -> None:
        """Count a record."""
        self.records += 1
        if whole:
            thought = sum(cut.characters for cut in record.cuts if cut.kind is CutKind.REASONING)
            self.whole += 1
            self.characters += record.characters - thought
            self.shown += record.shown_characters
            self.cut += record.shown_characters < record.characters - thought
        self.redactions.update(record.redactions)
        self.neutralised.update(record.neutralised)

    def lines(self) -> list[str]:
        """The counts as sentences."""
        if not self.records:
            return []
        out = [f"{self.records} records rendered"]
        if self.whole:
            share = self.shown / self.characters if self.characters else 1.0
            out[0] += f", {self.whole} of them whole runs: {self.cut} had to be cut, {share:.0%} of their text is shown"
        if self.redactions:
            out.append(f"{self.redactions.total()} secrets taken out: {_listed(self.redactions)}; {_AGAIN}")
        if self.neutralised:
            out.append(f"{self.neutralised.total()} places made harmless: {_listed(self.neutralised)}; {_AGAIN}")
        return out


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in counts.most_common())
