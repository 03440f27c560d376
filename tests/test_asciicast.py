"""Terminal recordings as lines that were typed and what came back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bestofn.readers.asciicast import Exchange, exchanges


def cast(*events: Any) -> bytes:
    lines = [{"version": 2, "width": 80, "height": 24}, *events]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_what_is_printed_belongs_to_the_line_before() -> None:
    """Keys add up until Enter; echoes in between belong to the same line; resizes are no events."""
    raw = cast(
        [0.1, "o", "$ "],
        [0.2, "i", "l"],
        [0.3, "o", "l"],
        [0.4, "i", "s\r"],
        [0.5, "o", "s\r\na.txt\r\n"],
        [0.6, "r", "100x40"],
        [0.7, "i", "\x04"],
    )
    assert exchanges(raw) == [Exchange("", "$ "), Exchange("ls", "ls\r\na.txt\r\n"), Exchange("C-d", "")]


def test_broken_lines_are_left_out() -> None:
    """Empty lines, lines of other shapes and a cut last line take nothing else away."""
    raw = cast([0.1, "i", "ls\r"], "x", [1], [0.2, "o", 5], [0.3, "o", "a"]) + b'\n[0.9, "o", "trunc'
    assert exchanges(raw) == [Exchange("ls", "a")]


@pytest.mark.parametrize("raw", [b"", b"hello\n", b"[1]\n", b'{"x": 1}\n[0.1, "o", "a"]\n'])
def test_what_is_no_recording_gives_nothing(raw: bytes) -> None:
    """A file without the format's first line holds no exchange."""
    assert exchanges(raw) == []


@pytest.mark.shared
def test_case_24_reads_what_was_typed_and_printed(shared: Any) -> None:
    """A blank line and a cut one are left out; the input meets its output."""
    raw = (shared / "cases" / "24-ansi-and-carriage-returns" / "agent.cast").read_bytes()
    assert exchanges(raw) == [Exchange("", "\x1b[?2004h$ "), Exchange("ls", "a.txt\r\n")]
