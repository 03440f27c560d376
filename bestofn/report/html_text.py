"""Makes a recording's text harmless to look at: what hides, reorders or piles up is shown as its number."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"  # blank letters and marks
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, directions
    "\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff"  # halves of a character
    "\U000e0000-\U000e0fff"  # tags and variation selectors that no one sees
    "]"
)
_PILED = re.compile(
    "([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4})[\u0300-\u036f"
    "\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)


def visible(text: str) -> str:
    """The text with every character that hides or turns text shown as ⟨U+202E⟩; newline and tab stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _HIDDEN.sub(lambda match: f"\u27e8U+{ord(match[0]):04X}\u27e9", text)
    return _PILED.sub(lambda match: f"{match[1]}\u27e8{len(match[0]) - 4} more marks\u27e9", text)


def clipped(text: str, most: int) -> str:
    """The visible text, or its beginning and how much more there is."""
    text = text.strip()
    if len(text) <= most:
        return visible(text)
    return f"{visible(text[:most].rstrip())} \u2026 (+{len(text) - most:,} characters)"


def one_line(text: str, most: int = 200) -> str:
    """The text in one line, clipped."""
    return clipped(" ".join(text[: most * 4].split()) + (" \u2026" if len(text) > most * 4 else ""), most)


def count(number: float, one: str, many: str = "") -> str:
    """A number with its noun: '1 task', '2 tasks'."""
    return f"{number:,.0f} {one if number == 1 else many or one + 's'}"


def number(value: float) -> str:
    """A number as people write it; an en dash where it is not known."""
    if value != value:
        return "\u2013"
    return f"{value:,.0f}" if value == round(value) else f"{value:.3g}"
