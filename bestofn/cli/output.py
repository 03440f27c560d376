"""Where results go: the screen or a file, as tables for people and as JSON or CSV for machines."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bestofn.errors import UsageError

# Control characters, and the marks that turn the direction of text: a recording's names must not paint the screen.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def safe(text: str) -> str:
    """Text of a recording, harmless on a terminal."""
    return _UNSAFE.sub("\ufffd", text)


def write(text: str, output: Path | None) -> None:
    """Write to a file, or to the screen where none is given. Raises UsageError for a place that cannot be written."""
    text = text if text.endswith("\n") else text + "\n"
    if output is None:
        sys.stdout.write(safe(text) if sys.stdout.isatty() else text)
        return
    from bestofn.fresh_file import fresh_file

    try:
        with fresh_file(output) as fresh:
            fresh.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write '{output}': {error.strerror or error}") from error


def to_json(content: Any) -> str:
    """JSON for people and machines: indented, keys in their order."""
    import orjson

    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()


def to_csv(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """CSV with a header line; what cannot be told is empty."""
    import csv
    import io

    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return buffer.getvalue()


def remark(text: str, *, quiet: bool = False) -> None:
    """A line beside the results, on the error stream."""
    if not quiet:
        with suppress(OSError):  # a full error stream takes no remark, and the results stand all the same
            print(safe(text), file=sys.stderr, flush=True)


LONGEST = 60
"""Characters of a cell before it is cut; the last column and JSON hold all."""


def cell(text: str, most: int | None = None) -> str:
    """Text of a recording in one cell of a table: on one line, and no longer than that."""
    shown = safe(text).replace("\n", "\ufffd").replace("\t", " ")
    return shown if most is None or len(shown) <= most else f"{shown[: most - 1]}\u2026"


def columns(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """A plain table: columns aligned, two spaces apart, a rule under the header; `right` are aligned to the right."""
    last = len(header) - 1
    table = [[cell(text, None if n == last else LONGEST) for n, text in enumerate(row)] for row in (header, *rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = (
            text.rjust(width) if column in right else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join(cells).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(table[0]), rule, *map(line, table[1:])])


def percent(share: float | None, digits: int = 1) -> str:
    """A share as a percentage, halves rounded up as people round; '-' where it cannot be told."""
    if share is None or share != share:
        return "-"
    from decimal import ROUND_HALF_UP, Decimal

    exact = Decimal(repr(round(share * 100, 7)))
    return f"{exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)}%"


def points(difference: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return f"{difference * 100:+.1f}"
