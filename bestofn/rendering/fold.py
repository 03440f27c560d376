"""Takes out of a text what tells a judge nothing: base64, blank lines, one line or character many times over.

Each leaves a mark that says how much was there, and each is counted, so that what is shown and what is cut add up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

MINIMUM_BASE64 = 256
"""Shorter base64 may be the very answer to a task, and costs little."""
MINIMUM_BLANK = 4
MINIMUM_REPEATS = 5
MINIMUM_SPACES = 200
MINIMUM_RUN = 400
"""Times that one character stands in a row before it is folded."""
_DISTINCT = 30
"""Characters of its alphabet that base64 of any length shows, and that words, DNA or rulers do not."""

_RUN = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{40,}+={0,2}(?![A-Za-z0-9+/_=-])")
_JOINT = re.compile(r"(?:\\r)?(?:\\n|\n)[ \t]{0,40}")
_LAST_LINE = re.compile(r"(?:\\r)?(?:\\n|\n)[ \t]{0,40}([A-Za-z0-9+/_-]{1,80}={0,2})(?![A-Za-z0-9+/_=-])")
_BLANKS = re.compile(rf"\n(?:[^\S\n]*\n){{{MINIMUM_BLANK},}}")
_SPACES = re.compile(rf"(?<![^\S\n])[^\S\n]{{{MINIMUM_SPACES},}}+")
_REPEATS = re.compile(rf"(?m)^(.{{1,400}})\n(?:\1\n){{{MINIMUM_REPEATS - 1},}}")

Mark = Callable[[str, int], str]
"""Kind and amount (lines for `blank` and `repeated`, else characters) to the text of a mark."""


class Span(NamedTuple):
    """A mark in a folded text."""

    start: int
    end: int
    hidden: int
    """Characters of the source that it stands for."""
    kind: str


@dataclass(frozen=True)
class Folded:
    """A text with marks in it."""

    text: str
    spans: tuple[Span, ...] = ()

    @property
    def characters(self) -> int:
        """Length of the source."""
        return self.source(0, len(self.text))

    def source(self, start: int, end: int) -> int:
        """How many characters of the source a part of the text stands for. No span may lie across its ends."""
        inside = (span for span in self.spans if start <= span.start and span.end <= end)
        return end - start + sum(span.hidden - (span.end - span.start) for span in inside)

    def before(self, position: int) -> int:
        """The position, or the beginning of the mark in which it lies."""
        return next((span.start for span in self.spans if span.start < position < span.end), position)

    def behind(self, position: int) -> int:
        """The position, or the end of the mark in which it lies."""
        return next((span.end for span in self.spans if span.start < position < span.end), position)


def fold(text: str, mark: Mark) -> Folded:
    """The text with marks for what was taken out."""
    if len(text) < MINIMUM_SPACES and "\n\n\n" not in text and not _REPEATS.search(text):
        return Folded(text)
    found = sorted([*_base64(text), *_simple(text), *_runs(text)])
    parts: list[str] = []
    spans: list[Span] = []
    position = length = 0
    for start, end, kind, amount in found:
        if start < position:
            continue
        shown = mark(kind, amount)
        if len(shown) >= end - start:
            continue
        parts += [text[position:start], shown]
        length += start - position
        spans.append(Span(length, length + len(shown), end - start, kind))
        length += len(shown)
        position = end
    if not spans:
        return Folded(text)
    return Folded("".join(parts) + text[position:], tuple(spans))


class _Place(NamedTuple):
    """A part of a text to be taken out."""

    start: int
    end: int
    kind: str
    amount: int


def _simple(text: str) -> Iterator[_Place]:
    """Blank lines, spaces, and repeated lines, each without the line end before and after."""
    for match in _BLANKS.finditer(text):
        yield _Place(match.start() + 1, match.end() - 1, "blank", match.group().count("\n") - 1)
    for match in _SPACES.finditer(text):
        yield _Place(match.start(), match.end(), "spaces", match.end() - match.start())
    for match in _REPEATS.finditer(text):
        if match[1].strip():
            first = match.end(1) + 1
            lines = (match.end() - first) // (len(match[1]) + 1)
            yield _Place(first, match.end() - 1, "repeated", lines)


def _runs(text: str) -> Iterator[_Place]:
    """One character many times over, all but the first of it.

    Whatever is twice as long as a block holds a whole block of one character, so that few places are looked at.
    """
    block, end = MINIMUM_RUN // 2, 0
    for position in range(0, len(text) - block + 1, block):
        character = text[position]
        if position < end or character.isspace() or text.count(character, position, position + block) < block:
            continue
        start = position
        while start > 0 and text[start - 1] == character:
            start -= 1
        end = position + block
        while text.startswith(character * block, end):
            end += block
        while end < len(text) and text[end] == character:
            end += 1
        if end - start > MINIMUM_RUN:
            yield _Place(start + 1, end, "run", end - start - 1)


def _base64(text: str) -> Iterator[_Place]:
    """Long runs of base64, and blocks of lines of it that follow each other."""
    block: list[re.Match[str]] = []
    for run in _RUN.finditer(text):
        if block and not _JOINT.fullmatch(text, block[-1].end(), run.start()):
            yield from _if_base64(text, block)
            block = []
        block.append(run)
    if block:
        yield from _if_base64(text, block)


def _if_base64(text: str, block: list[re.Match[str]]) -> Iterator[_Place]:
    """The place of a block, where it is long and mixed enough to be base64."""
    start, end = block[0].start(), block[-1].end()
    if end - start < MINIMUM_BASE64 or not _mixed(text[start : min(end, start + 4096)], _DISTINCT):
        return
    last = _LAST_LINE.match(text, end) if len(block) > 1 else None
    if last and (last[1].endswith("=") or _mixed(last[1], 3)):
        end = last.end(1)
    yield _Place(start, end, "base64", end - start)


def _mixed(text: str, distinct: int) -> bool:
    """True where a text has that many characters, and of each case and digits among them, as base64 has."""
    seen = set(text)
    return (
        len(seen) >= distinct
        and any("A" <= c <= "Z" for c in seen)
        and any("a" <= c <= "z" for c in seen)
        and any("0" <= c <= "9" for c in seen)
    )
