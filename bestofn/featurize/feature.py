"""What is known of one feature, whichever way it is computed: where it looks, what it expects, what it speaks for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from bestofn.trajectory import Channel, Trajectory

FeatureFunction = Callable[[Trajectory], float]
"""A user's own feature: a number for a trajectory, NaN where it cannot tell. It never sees the label."""

NAME = re.compile(r"[a-z][a-z0-9_]*")
"""What a feature may be called: the column name in every table."""


class Kind(StrEnum):
    """How a feature is computed."""

    REGEX = "regex"
    """A pattern of a bank, over one channel."""
    STRUCTURAL = "structural"
    """A function of one trajectory."""
    SIBLING = "sibling"
    """A function of one trajectory and the other attempts at the same task."""
    USER = "user"
    """A caller's own function."""


class Value(StrEnum):
    """What a regex feature counts. A text is one command, one output, one message or one thought."""

    PRESENT = "present"
    """1 where any text matches, else 0."""
    COUNT = "count"
    """Matches that do not overlap, over all texts."""
    RATE = "rate"
    """Share of the texts that hold a match, 0 to 1; NaN where there is no text."""
    LAST = "last"
    """1 where the last text matches, else 0, as where there is no text."""


class Span(StrEnum):
    """Which part of a run a regex feature looks at."""

    ANYWHERE = "anywhere"
    LAST_STEPS = "last K steps"
    """The last K steps that hold any text of the feature's channel."""
    AFTER_LAST_EDIT = "after the last edit"
    """All that follows the last command that changed a file or a record; NaN in a run without one."""


class Where(NamedTuple):
    """A span, with its K."""

    span: Span = Span.ANYWHERE
    steps: int = 0
    """K, only for `last K steps`."""

    def __str__(self) -> str:
        if self.span is Span.LAST_STEPS:
            return "the last step" if self.steps == 1 else f"last {self.steps} steps"
        return str(self.span)

    @classmethod
    def parse(cls, text: str) -> Where:
        """The span a bank names. Raises ValueError saying what may stand there."""
        if text in (Span.ANYWHERE, Span.AFTER_LAST_EDIT):
            return cls(Span(text))
        if text in ("last step", "the last step"):
            return cls(Span.LAST_STEPS, 1)
        counted = re.fullmatch(r"(?:the )?last ([1-9][0-9]{0,3}) steps", text)
        if counted is None:
            raise ValueError("'anywhere', 'last 5 steps' (any number from 1 to 9999) or 'after the last edit'")
        return cls(Span.LAST_STEPS, int(counted[1]))


ANYWHERE = Where()
"""The whole run."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of a feature table, and why it is there."""

    name: str
    kind: Kind
    direction: int
    """Sign of the expected relation to success: +1, -1, or 0 where it depends on the pool."""
    codes: tuple[str, ...]
    """The failure modes it speaks for: names or ids of a taxonomy."""
    why: str
    """One sentence: what it sees, and why that should tell success from failure."""
    bank: str = ""
    """The bank it stands in; empty for functions."""
    pattern: str = ""
    """RE2 pattern; only regex features have this and what follows."""
    channel: Channel | None = None
    where: Where = ANYWHERE
    value: Value = Value.COUNT
    matches: tuple[str, ...] = ()
    """Texts in which the pattern is found."""
    misses: tuple[str, ...] = ()
    """Texts that look alike, in which it is not found."""
