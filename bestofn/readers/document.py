"""Loads JSON and JSON lines as people's tools leave them: torn, cut, with NaN, surrogates and stray bytes."""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.text import expect_anything

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
"""Endings that announce one record a line; other files are tried whole first."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_RECORD = re.compile(r'\{\s*"')
_LONGEST_NUMBER = 640
"""Digits of a whole number that Python converts whatever its settings are."""
_STARTS = 8
"""Places inside a broken line where a whole record is looked for."""


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


def digest(*parts: bytes) -> str:
    """Identity of a record within its task: its length with two checksums, the same in every process.

    Not a cryptographic hash: reading is most of the work, and copies of one attempt are all that it has to tell.
    """
    crc, adler, length = 0, 1, 0
    for part in parts:
        crc, adler, length = zlib.crc32(part, crc), zlib.adler32(part, adler), length + len(part)
    return f"{length:x}-{crc:08x}{adler:08x}"


def parse_json(raw: bytes) -> Any:
    """A JSON value; NaN, Infinity, lone surrogates and stray bytes are accepted, surrogates become U+FFFD.

    Raises ValueError where the text is no JSON at all.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            return _without_surrogates(json.loads(_decoded(raw), parse_int=_whole))
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def load_json_file(path: Path) -> Any:
    """The JSON value of a file beside the one that is being read. Raises OSError or ValueError."""
    expect_anything()
    return parse_json(path.read_bytes())


def load_document(path: Path) -> Document:
    """A file as one value or as lines, whichever it is.

    Raises OSError where the file cannot be read, ValueError where nothing in it is JSON.
    """
    raw = path.read_bytes()
    if not raw or raw.isspace():
        raise ValueError("the file is empty")
    if path.suffix.lower() in LINE_SUFFIXES:
        document = _as_lines(path, raw)
        # A value printed over many lines may have been given this ending.
        if any(isinstance(line.value, dict | list) for line in document.lines or ()):
            return document
        try:
            return Document(path, value=parse_json(raw), raw=raw)
        except ValueError:
            raise ValueError("no line of it is JSON") from None
    try:
        return Document(path, value=parse_json(raw), raw=raw)
    except ValueError as error:
        document = _as_lines(path, raw)
        if sum(isinstance(line.value, dict) for line in document.lines or ()) < max(2, len(document.problems)):
            raise ValueError(f"not JSON: {error}") from error
        return document


def _as_lines(path: Path, raw: bytes) -> Document:
    """Every line that parses, salvaging whole records that a torn write joined to a broken one."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raw = _decoded(raw).encode("utf-8", errors="replace")
    lines: list[Line] = []
    problems: list[tuple[ProblemKind, int, str]] = []
    pieces = raw.removeprefix(codecs.BOM_UTF8).split(b"\n")
    last = len(pieces) - 1
    for index, piece in enumerate(pieces):
        text = piece.strip(b"\r \t\x00")
        if not text:
            continue
        try:
            lines.append(Line(index + 1, parse_json(text), text))
            continue
        except ValueError as error:
            what = str(error)
        salvaged = _salvage(text)
        lines.extend(Line(index + 1, value, part) for value, part in salvaged)
        if index == last and not salvaged:
            problems.append((ProblemKind.TRUNCATED, index + 1, "the file stops in the middle of this record"))
        else:
            kept = f"; {len(salvaged)} whole record{'s' if len(salvaged) != 1 else ''} on it kept" if salvaged else ""
            problems.append((ProblemKind.BAD_LINE, index + 1, f"not JSON ({what}){kept}"))
    return Document(path, lines=tuple(lines), problems=tuple(problems), raw=raw)


def _salvage(text: bytes) -> list[tuple[Any, bytes]]:
    """Whole objects inside a line that is not one: those at its start, and one at its end after a torn record.

    Linear in the line: at most eight places where a record may begin are tried.
    """
    decoded = text.decode("utf-8", errors="replace")
    found: list[tuple[Any, bytes]] = []
    position = 0
    while decoded.startswith("{", position) and (record := _record_at(decoded, position)) is not None:
        value, end = record
        found.append((value, decoded[position:end].encode("utf-8", errors="replace")))
        position = end
        while position < len(decoded) and decoded[position] in " \t,":
            position += 1
    for tried, start in enumerate(_RECORD.finditer(decoded, position + 1)):
        if tried == _STARTS:
            break
        record = _record_at(decoded, start.start())
        if record is not None and record[1] == len(decoded):
            found.append((record[0], decoded[start.start() :].encode("utf-8", errors="replace")))
            break
    return found


def _record_at(text: str, position: int) -> tuple[dict[str, Any], int] | None:
    """The object that begins at a position and where it ends, None where none does."""
    try:
        value, end = json.JSONDecoder(parse_int=_whole).raw_decode(text, position)
        return (_without_surrogates(value), end) if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        return None


def _whole(digits: str) -> int | str:
    """A whole number; one longer than Python turns into a number stays the text that it is."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits


def _decoded(raw: bytes) -> str:
    """The text of a file: UTF-16 where it says so, else UTF-8, stray bytes replaced."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors="replace")
    return raw.decode("utf-8-sig", errors="replace")


def _without_surrogates(value: Any) -> Any:
    """The same value with lone surrogates replaced by U+FFFD, in keys as well."""
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(v) for v in value]
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    return value
