"""The text that a judge reads, and the account of what was left out, taken out and altered in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class CutKind(StrEnum):
    """Ways in which text is left out."""

    MIDDLE = "middle"
    """The middle of a text that was too long."""
    UNSHOWN = "unshown"
    """A text of which only the head line is shown."""
    DROPPED = "dropped"
    """Texts of one or more steps in a row."""
    BASE64 = "base64"
    BLANK = "blank"
    REPEATED = "repeated"
    RUN = "run"
    """One character many times over."""
    SPACES = "spaces"
    REASONING = "reasoning"
    """What the agent thought, left out by choice."""


class Cut(NamedTuple):
    """Something left out, as a mark in the text says it."""

    where: str
    """Such as 'step 12, output'."""
    kind: CutKind
    characters: int
    steps: int = 0
    """Steps that it touches, for `dropped`."""


@dataclass(frozen=True)
class Rendered:
    """The text for a prompt. What is asked comes after it.

    `text` is whole in itself. A caller with a template of its own puts together `legend`, `task` and `runs` instead;
    together they never take more tokens than `text`.
    """

    text: str
    """Ends with a line end."""
    tokens: int
    """Exact count in `encoding`, never above `budget`."""
    budget: int
    encoding: str
    """Name of the token table."""
    nonce: str
    """The word in every line of ours. It stands in no recorded text of these runs."""
    legend: str
    """How to read the marks: lines that belong above the record."""
    task: str
    """The task's own words under their head line, or a note that they are not recorded."""
    runs: tuple[str, ...]
    """Each run with the notes on it, in the order shown."""
    characters: int
    """Length of all recorded texts of these runs as they would stand here uncut: what is shown and what was cut."""
    cuts: tuple[Cut, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict[str, int])
    """Secrets replaced, by kind, before anything was cut. Texts too far from both ends to be shown do not count."""
    neutralised: Mapping[str, int] = field(default_factory=dict[str, int])
    """Places altered so that they cannot act on the judge, by kind."""

    @property
    def cut_characters(self) -> int:
        """Length of what was left out."""
        return sum(cut.characters for cut in self.cuts)

    @property
    def shown_characters(self) -> int:
        """Length of the recorded text that stands in the prompt."""
        return self.characters - self.cut_characters
