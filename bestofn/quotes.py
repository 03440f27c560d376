"""Proves that a quote stands in a file, and on which line: nothing is called a quote that cannot be found there.

A recording's texts are mostly strings inside JSON, so a quote is looked for in the file's JSON strings as they read
once unescaped, in JSON that such a string holds in turn, and last in the file's plain text.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from bestofn.readers.document import LINE_SUFFIXES, digest
from bestofn.trajectory import Trajectory

LONGEST = 200
"""Characters of a quote, at most."""
SHORTEST = 4
"""Characters that a part of a quote must have to be worth showing."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SURROGATES = re.compile("[\ud800-\udfff]")
_CODES = re.compile(r"\x1b(?:\[[0-9:;<=>?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
"""Escape sequences of a terminal: colours, movements, titles."""
_NESTED = 3
"""How deep JSON within strings is opened."""
_TEXT_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".traj", ".cast", ".txt", ".log", ".md"})
_CHECKER_FOLDERS = frozenset({"verifier", "tests"})
"""Folders of an attempt that hold what the checker wrote."""


class Location(NamedTuple):
    """Where a quote stands."""

    file: Path
    line: int
    """From 1."""
    quote: str
    """The words that stand there: the quote, or its longest part between colour codes that a reader takes out."""


@dataclass(frozen=True)
class RecordedText:
    """The text of one file in which one trajectory stands."""

    path: Path
    begin: int = 0
    """Only what lies from here ..."""
    end: int | None = None
    """... to here, in characters, belongs to the trajectory; None for all."""

    @cached_property
    def text(self) -> str:
        """The whole file, decoded."""
        return decoded(self.path.read_bytes())

    @cached_property
    def _strings(self) -> list[tuple[int, str]]:
        """(offset, unescaped) of each JSON string of the trajectory."""
        found = _STRING.finditer(self.text, self.begin, len(self.text) if self.end is None else self.end)
        strings = ((match.start(), _unescaped(match.group())) for match in found)
        return [(offset, text) for offset, text in strings if text is not None]

    def locate(self, quote: str, context: str = "", earlier: int = 0) -> Location | None:
        """Where the quote stands; None where it does not.

        Parameters
        ----------
        quote
            The words, as the reader of the format gave them.
        context
            The whole text that the quote is from: a string that holds all of it goes before others.
        earlier
            How many equal texts stand before this one in the run.
        """
        if not quote.strip():
            return None
        holding = [(offset, text) for offset, text in self._strings if _holds(text, quote)]
        whole = [offset for offset, text in holding if context and context in text]
        offsets = whole or [offset for offset, _ in holding]
        if offsets:
            return self._at(offsets[min(earlier, len(offsets) - 1)], quote)
        offset = self.text.find(quote, self.begin, self.end)
        return self._at(offset, quote) if offset >= 0 else self._between_codes(quote)

    def _between_codes(self, quote: str) -> Location | None:
        """The same for a quote whose colours a reader took out: its longest part that stands unbroken."""
        for offset, text in self._strings:
            part = _unbroken(text, quote) if "\x1b" in text else ""
            if len(part) >= SHORTEST:
                return self._at(offset, part)
        return None

    def _at(self, offset: int, quote: str) -> Location:
        return Location(self.path, self.text.count("\n", 0, offset) + 1, quote)


def recorded_texts(path: Path, trajectory: Trajectory) -> list[RecordedText]:
    """The texts in which a trajectory's quotes may stand.

    Parameters
    ----------
    path
        The file, or the directory that is one attempt; what the checker wrote is no evidence, and is left out.
    """
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.suffix.lower() in _TEXT_SUFFIXES and p.is_file())
        return [RecordedText(p) for p in found if not _CHECKER_FOLDERS & set(p.relative_to(path).parts[:-1])]
    whole = RecordedText(path)
    if trajectory.origin.record is None:
        return [whole]
    part = _line_of(whole, trajectory.digest) or _item_of(whole, trajectory.origin.record)
    return [RecordedText(path, *part)] if part is not None else [whole]


def decoded(raw: bytes) -> str:
    """A file's text: UTF-16 where it says so, else UTF-8, stray bytes replaced."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors="replace")
    return raw.decode("utf-8-sig", errors="replace")


def _line_of(whole: RecordedText, wanted: str) -> tuple[int, int] | None:
    """Begin and end of the line whose record has this digest."""
    if whole.path.suffix.lower() not in LINE_SUFFIXES:
        return None
    begin = 0
    for line in whole.text.split("\n"):
        if digest(line.strip("\r \t\x00").encode("utf-8", "replace")) == wanted:
            return begin, begin + len(line)
        begin += len(line) + 1
    return None


def _item_of(whole: RecordedText, index: int) -> tuple[int, int] | None:
    """Begin and end of an item of a JSON list."""
    text, decoder = whole.text, json.JSONDecoder()
    at = _past(text, 0, " \t\r\n")
    if text[at : at + 1] != "[":
        return None
    at += 1
    for number in range(index + 1):
        at = _past(text, at, " \t\r\n,")
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        if number == index:
            return at, end
        at = end
    return None


def _past(text: str, at: int, characters: str) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at


def _unescaped(literal: str) -> str | None:
    """What a JSON string says; None where it is none."""
    if "\\" not in literal:
        return literal[1:-1]
    try:
        return _SURROGATES.sub("\ufffd", json.loads(literal, strict=False))
    except ValueError:
        return None


def _holds(text: str, quote: str) -> bool:
    """True where a string holds the quote, itself or in JSON that it holds."""
    if len(text) < len(quote):
        return False
    if quote in text:
        return True
    return "\\" in text and any(quote in inner for inner in _inner_strings(text, _NESTED))


def _unbroken(text: str, quote: str) -> str:
    """The longest part of a quote that stands between terminal codes, where the quote stands once these are gone."""
    pieces = _CODES.split(text)
    begin = "".join(pieces).find(quote)
    if begin < 0:
        return ""
    end, at, best = begin + len(quote), 0, ""
    for piece in pieces:
        part = piece[max(0, begin - at) : max(0, end - at)].strip()
        best = max(best, part, key=len)
        at += len(piece)
    return best


def _inner_strings(text: str, depth: int) -> Iterator[str]:
    """The strings of the JSON that a string holds."""
    stripped = text.strip()
    if depth == 0 or stripped[:1] not in ("{", "["):
        return
    try:
        value = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        return
    for inner in _strings_of(value):
        yield inner
        yield from _inner_strings(inner, depth - 1)


def _strings_of(value: Any) -> Iterator[str]:
    """Every string in a JSON value."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            waiting.extend(reversed(item))
        elif isinstance(item, dict):
            waiting.extend(reversed([part for pair in item.items() for part in pair]))
