"""Loads JSON and JSON lines as people's tools leave them: torn, cut, with NaN, surrogates and stray bytes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from bestofn.readers.problem import Problem, ProblemKind

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
"""Endings that announce one record a line; other files are tried whole first."""
_SURROGATES = re.compile("[\ud800-\udfff]")


class Line(NamedTuple):
    """One record of a file of JSON lines."""

    number: int
    """1-based line number."""
    value: Any
    raw: bytes


@dataclass(frozen=True)
class Document:
    """A file that was loaded: one JSON value, or the records of its lines."""

    path: Path
    value: Any = None
    """The whole file's value; None for JSON lines."""
    lines: tuple[Line, ...] | None = None
    """The records, for JSON lines."""
    problems: tuple[tuple[ProblemKind, int, str], ...] = ()
    """(kind, line number, what) for lines that could not be read."""
    raw: bytes = field(default=b"", repr=False)

    @property
    def digest(self) -> str:
        """Hash of the file's bytes."""
        return digest(self.raw)

    def trouble(self, where: str) -> Iterator[Problem]:
        """The line problems, named with the file."""
        return (Problem(kind, f"{where}, line {number}", what) for kind, number, what in self.problems)


def digest(raw: bytes) -> str:
    """32 hex digits of BLAKE2b: identity of a record."""
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def parse_json(raw: bytes) -> Any:
    """A JSON value; NaN, Infinity, lone surrogates and stray bytes are accepted, surrogates become U+FFFD.

    Raises ValueError where the text is no JSON at all.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            return _without_surrogates(json.loads(raw.decode("utf-8-sig", errors="replace")))
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def load_json_file(path: Path) -> Any:
    """The JSON value of a file. Raises OSError or ValueError."""
    return parse_json(path.read_bytes())


def load_document(path: Path) -> Document:
    """A file as one value or as lines, whichever it is.

    Raises OSError where the file cannot be read, ValueError where nothing in it is JSON.
    """
    raw = path.read_bytes()
    if not raw.strip():
        raise ValueError("the file is empty")
    if path.suffix not in LINE_SUFFIXES:
        try:
            return Document(path, value=parse_json(raw), raw=raw)
        except ValueError as error:
            document = _as_lines(path, raw)
            if len(document.lines or ()) < 2:
                raise ValueError(f"not JSON: {error}") from error
            return document
    document = _as_lines(path, raw)
    if not document.lines:
        raise ValueError("no line of it is JSON")
    return document


def _as_lines(path: Path, raw: bytes) -> Document:
    """Every line that parses, salvaging a second record that a torn write joined to a broken one."""
    lines: list[Line] = []
    problems: list[tuple[ProblemKind, int, str]] = []
    pieces = raw.split(b"\n")
    last = len(pieces) - 1
    for index, piece in enumerate(pieces):
        text = piece.strip(b"\r \t\x00")
        if index == 0:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if not text:
            continue
        try:
            lines.append(Line(index + 1, parse_json(text), text))
            continue
        except ValueError as error:
            what = str(error)
        salvaged = list(_salvage(text))
        lines.extend(Line(index + 1, value, part) for value, part in salvaged)
        if index == last and not salvaged:
            problems.append((ProblemKind.TRUNCATED, index + 1, "the file stops in the middle of this record"))
        else:
            kept = f"; {len(salvaged)} whole record{'s' if len(salvaged) != 1 else ''} on it kept" if salvaged else ""
            problems.append((ProblemKind.BAD_LINE, index + 1, f"not JSON ({what}){kept}"))
    return Document(path, lines=tuple(lines), problems=tuple(problems), raw=raw)


def _salvage(text: bytes) -> Iterator[tuple[Any, bytes]]:
    """Whole objects inside a line that is not one: those at its start, and one at its end after a torn record.

    Linear in the line: at most eight places where a record may begin are tried.
    """
    decoded = text.decode("utf-8", errors="replace")
    decoder = json.JSONDecoder()
    position = 0
    while position < len(decoded) and decoded[position] == "{":
        try:
            value, end = decoder.raw_decode(decoded, position)
        except (ValueError, RecursionError):
            break
        yield _without_surrogates(value), decoded[position:end].encode("utf-8", errors="replace")
        position = end
        while position < len(decoded) and decoded[position] in " \t,":
            position += 1
    starts = [m.start() for m in re.finditer(r'\{"', decoded[position + 1 :])]
    for start in starts[:8]:
        begin = position + 1 + start
        try:
            value, end = decoder.raw_decode(decoded, begin)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and end == len(decoded):
            yield _without_surrogates(value), decoded[begin:end].encode("utf-8", errors="replace")
            return


def _without_surrogates(value: Any) -> Any:
    """The same value with lone surrogates replaced by U+FFFD, in keys as well."""
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(v) for v in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value
