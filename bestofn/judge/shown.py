"""Counts what had to be done to the runs before a model could be shown them: secrets, hostile places, cuts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from bestofn.rendering.rendered import Rendered


@dataclass
class ShownCounts:
    """Sums over the records of a run; a record that several prompts share counts once."""

    records: int = 0
    cut_records: int = 0
    """Records of which something was left out, reasoning aside."""
    characters: int = 0
    """Length of what the records hold."""
    shown: int = 0
    """Length of what was shown of it."""
    redactions: Counter[str] = field(default_factory=Counter[str])
    """Secrets taken out, by kind."""
    neutralised: Counter[str] = field(default_factory=Counter[str])
    """Places made harmless, by kind."""

    def add(self, record: Rendered) -> None:
        """Count a record."""
        self.records += 1
        self.characters += record.characters
        self.shown += record.shown_characters
        self.cut_records += record.shown_characters < record.characters
        self.redactions.update(record.redactions)
        self.neutralised.update(record.neutralised)

    def lines(self) -> list[str]:
        """The counts as sentences."""
        if not self.records:
            return []
        share = self.shown / self.characters if self.characters else 1.0
        out = [f"{self.records} records rendered, {self.cut_records} of them cut; {share:.0%} of the text shown"]
        if self.redactions:
            out.append(f"{self.redactions.total()} secrets taken out: {_listed(self.redactions)}")
        if self.neutralised:
            out.append(f"{self.neutralised.total()} places made harmless: {_listed(self.neutralised)}")
        return out


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in counts.most_common())
