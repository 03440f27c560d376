"""What went wrong while reading, counted and named and never turned into a number."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ProblemKind(StrEnum):
    """The kinds of trouble a pool can hold."""

    UNREADABLE = "unreadable file"
    """Not to be opened, or broken beyond recovery."""
    NO_TURNS = "no recognised turn"
    """Holds records, none of which is a turn: another format or version. An error, never an empty attempt."""
    UNRECOGNISED = "unrecognised file"
    """Looks like no format we know; left out."""
    BAD_LINE = "bad line"
    """One line or record of a file; the others were read."""
    EMPTY = "empty recording"
    """An attempt that exists, with no turn of the agent recorded."""
    TRUNCATED = "truncated recording"
    """The file stops in the middle of a record; all complete records were read."""
    UNKNOWN_LABEL = "unknown label"
    """The attempt stays rankable; no accuracy figure counts it."""
    LABEL_CONFLICT = "conflicting labels"
    """Two places disagree on the outcome; the one with precedence was taken."""
    DUPLICATE = "duplicate"
    """A copy of an attempt already read; left out."""
    SAME_NAME = "same name as another attempt"
    """Two different records of one file have one id; both are kept, the later one under a longer id."""


class Problem(NamedTuple):
    """One thing that went wrong."""

    kind: ProblemKind
    where: str
    """File (relative to the pool) and line or record."""
    what: str
    """One clause: what was found."""

    def __str__(self) -> str:
        return f"{self.where}: {self.kind}: {self.what}"
