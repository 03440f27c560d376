"""Replays terminal recordings (asciicast version 2): what was typed, and what was printed until the next line was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bestofn.readers.document import parse_json

_ENDS_LINE = re.compile(r"[\r\n\x03\x04\x1a]\Z")
"""Enter, or a control key that the terminal takes at once."""
_KEYS = {"\x03": "C-c", "\x04": "C-d", "\x1a": "C-z"}


class Exchange(NamedTuple):
    """A typed line and what came back; nothing typed for what was printed before all input."""

    typed: str
    """What was typed, with `C-c` and the like for control keys, without the Enter that ends it."""
    printed: str
    """As it came, with control sequences."""


def exchanges(raw: bytes) -> list[Exchange]:
    """The exchanges of a recording in order. Broken and cut lines are left out; what is no asciicast gives none."""
    found: list[Exchange] = []
    typed, printed = "", list[str]()
    for code, text in _events(raw):
        if code == "i":
            if printed and (not typed or _ENDS_LINE.search(typed)):
                found.append(Exchange(_shown(typed), "".join(printed)))
                typed, printed = "", []
            typed += text
        else:
            printed.append(text)
    if typed or printed:
        found.append(Exchange(_shown(typed), "".join(printed)))
    return found


def _events(raw: bytes) -> Iterator[tuple[str, str]]:
    """(i or o, text) of every event that was typed or printed."""
    header, _, rest = raw.partition(b"\n")
    try:
        settings = parse_json(header)
    except ValueError:
        return
    if not isinstance(settings, dict) or "version" not in settings:
        return
    for line in rest.split(b"\n"):
        if not line.strip():
            continue
        try:
            event = parse_json(line)
        except ValueError:
            continue
        if isinstance(event, list) and len(event) == 3 and event[1] in ("i", "o") and isinstance(event[2], str):
            yield event[1], event[2]


def _shown(typed: str) -> str:
    """Keys as text."""
    for key, name in _KEYS.items():
        typed = typed.replace(key, name)
    return typed.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
