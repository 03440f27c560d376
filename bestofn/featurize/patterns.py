"""Matches many patterns on many texts with RE2, in time linear in the text.

A set of patterns is run over each text once, which tells the patterns that occur in it at all; only those are then
counted. Texts are bytes in UTF-8, so that nothing is decoded or copied on the way. Python's own `re` never sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import re2

from bestofn.errors import ContentError

MEMORY = 32 << 20
"""Bytes that the automata of one pattern set may take; beyond it RE2 starts over and stays linear."""
SET_SIZE = 32
"""Patterns in one set, so that a large bank cannot outgrow the memory of one."""
_PROBES = (b"", b"a", b"1", b" ", b"a b", b"\n", b"a\nb\n", b"-")
"""Short texts in which a pattern that can match nothing at all shows itself."""


def options() -> Any:
    """RE2 as all of our patterns see it: UTF-8, case-sensitive, no groups to capture, quiet."""
    chosen = re2.Options()
    chosen.never_capture = True
    chosen.log_errors = False
    chosen.max_mem = MEMORY
    return chosen


def encode(text: str) -> bytes:
    """A text as patterns see it; a lone surrogate becomes `?`."""
    return text.encode("utf-8", "replace")


def compile_pattern(pattern: str) -> Any:
    """A compiled pattern for bytes. Raises ValueError with one clause on what is wrong and what to write instead."""
    try:
        return re2.compile(encode(pattern), options())
    except re2.error as error:
        reason = error.args[0]
        said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        if "(?=" in pattern or "(?!" in pattern or "(?<=" in pattern or "(?<!" in pattern:
            said += "; RE2 has no lookaround: match the words that must stand there, and prove the rest in `misses`"
        elif "invalid escape sequence: \\" in said and said[-1].isdigit():
            said += "; RE2 has no backreferences: write the repeated part out"
        raise ValueError(said) from error


def empty_match(pattern: Any, texts: Iterable[str] = ()) -> str | None:
    """A text in which the pattern matches nothing at all, such as `a*` does everywhere; None where there is none."""
    for text in (*_PROBES, *map(encode, texts)):
        if any(match.start() == match.end() for match in pattern.finditer(text)):
            return str(text.decode("utf-8"))
    return None


@dataclass(frozen=True)
class Matcher:
    """Several patterns, compiled when first used. It travels between processes as its patterns alone."""

    patterns: tuple[str, ...]

    @cached_property
    def _compiled(self) -> tuple[Any, ...]:
        return tuple(compile_pattern(pattern) for pattern in self.patterns)

    @cached_property
    def _sets(self) -> tuple[tuple[int, Any], ...]:
        """(index of the first pattern, set) for each run of SET_SIZE patterns."""
        sets: list[tuple[int, Any]] = []
        for first in range(0, len(self.patterns), SET_SIZE):
            one = re2.Set.SearchSet(options())
            try:
                for pattern in self.patterns[first : first + SET_SIZE]:
                    one.Add(encode(pattern))
                one.Compile()
            except re2.error as error:
                raise ContentError(
                    f"the patterns from '{self.patterns[first]}' on are too large for RE2 to run together: shorten "
                    "the longest, above all large bounds such as {0,1000}"
                ) from error
            sets.append((first, one))
        return tuple(sets)

    def found(self, text: bytes) -> list[int]:
        """Indices of the patterns that occur in the text."""
        hits: list[int] = []
        for first, one in self._sets:
            hits.extend(first + index for index in one.Match(text) or ())
        return hits

    def count(self, index: int, text: bytes) -> int:
        """Matches of one pattern that do not overlap."""
        return sum(1 for _ in self._compiled[index].finditer(text))

    def spans(self, index: int, text: bytes) -> Sequence[tuple[int, int]]:
        """(start, end) in bytes of each match of one pattern."""
        return [match.span() for match in self._compiled[index].finditer(text)]

    def __getstate__(self) -> dict[str, Any]:
        return {"patterns": self.patterns}
