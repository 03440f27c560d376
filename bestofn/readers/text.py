"""Makes recorded text readable: control sequences away, carriage returns applied, images replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bestofn.readers.screen import shown

_COLOUR = re.compile("\x1b\\[[0-9;:]*m")
"""By far the most common sequence, and one that moves nothing."""
_MOVES = "\x1b\r\x08\x0b\x0c\x9b\x9d\x90\x98\x9e\x9f"
_CONTROL_CODES = (*range(0x09), *range(0x0B, 0x20), 0x7F)
_CONTROL_BYTES = bytes(_CONTROL_CODES)
_CONTROLS = dict.fromkeys((*_CONTROL_CODES, *range(0x80, 0xA0)), "")
_HIGH_CONTROL = re.compile("[\x80-\x9f]")
_DATA_URI = re.compile(
    r"data:([a-zA-Z]{1,20}/[\w.+-]{1,80})(?:;[\w=-]{1,80}){0,4};base64,"
    r"([A-Za-z0-9+/]{40,}+(?:\n[A-Za-z0-9+/]{40,}+)*+(?:\n[A-Za-z0-9+/]{1,99}=)?={0,2})"
)
"""An image or another file written into the text, in one piece or wrapped; short ones stay."""


_ESCAPE = re.compile(rb"\\[rbf]|\\u00[0-9a-fA-F]{2}")
_SHORT = {b"\\r": "\r", b"\\b": "\x08", b"\\f": "\x0c"}
"""JSON's escapes that can stand for a control character, and the short ones of them."""
_C1 = re.compile(b"\xc2[\x80-\x9f]")
_possible: str | None = None
"""The control characters that the texts now being cleaned can hold; None where that is not known. See `expecting`."""


def possible_controls(raw: bytes) -> str | None:
    """The control characters that the strings of a JSON document can hold, by one look at its bytes.

    JSON strings hold none as they are but DEL and the 8-bit ones: the others must be escaped, and so must those of
    JSON inside a string. None where that cannot be told: the bytes are not UTF-8 by their mark, hold 8-bit controls,
    or write a backslash by its number.
    """
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") or (b"\xc2" in raw and _C1.search(raw) is not None):
        return None
    escapes = set(_ESCAPE.findall(raw))
    found = {_SHORT.get(escape) or chr(int(escape[-2:], 16)) for escape in escapes}
    if b"\x7f" in raw:
        found.add("\x7f")
    return None if "\\" in found else "".join(sorted(c for c in found if ord(c) in _CONTROLS))


@contextmanager
def expecting(possible: str | None) -> Iterator[None]:
    """While this lasts, `clean` looks for these control characters only; it holds for one step of one reader."""
    global _possible
    before, _possible = _possible, possible
    try:
        yield
    finally:
        _possible = before


def expect_anything() -> None:
    """Text from another file comes into this step: look for all control characters until it ends."""
    global _possible
    _possible = None


def clean(text: str) -> str:
    """The text as a terminal would leave it: escapes gone, `\\r` overwrites its line, inline images named.

    What comes back holds no control character but newline and tab.
    """
    controls = _controls(text) if _possible is None or any(map(text.__contains__, _possible)) else 0
    if controls:
        escapes = text.count("\x1b")
        text = _COLOUR.sub("", text)
        # Where all controls were the escapes of colours, nothing is left to look for.
        if controls != escapes or "\x1b" in text:
            text = _without_controls(text.replace("\r\n", "\n"))
    if "base64," in text:
        text = _DATA_URI.sub(lambda m: image_mark(m[1], len(m[2])), text)
    return text


def _controls(text: str) -> int:
    """How many control characters but newline and tab the text holds, at memory speed."""
    data = text.encode("utf-8", "surrogatepass")
    count = len(data) - len(data.translate(None, _CONTROL_BYTES))
    # U+0080 to U+00BF begin with this byte in UTF-8; the first half of them are the 8-bit controls.
    return count + (len(_HIGH_CONTROL.findall(text)) if b"\xc2" in data else 0)


def _without_controls(text: str) -> str:
    """The text as on a screen, without what no screen shows."""
    if any(mark in text for mark in _MOVES):
        text = shown(text)
    return text.translate(_CONTROLS) if _controls(text) else text


def image_mark(media_type: str, encoded_length: int) -> str:
    """The placeholder that stands for image data."""
    return f"[image {media_type}, {encoded_length * 3 // 4} bytes, not shown]"


def text_of(content: Any) -> str:
    """Plain text of a message's content: a string, a list of typed parts, or nothing.

    Images become a placeholder; parts of other types keep their text where they have one.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return clean(content)
    if isinstance(content, list):
        return "\n".join(t for t in (_part_text(part) for part in content) if t)
    if isinstance(content, dict):
        return _part_text(content)
    return clean(str(content))


def _part_text(part: Any) -> str:
    """The text of one content part."""
    if isinstance(part, str):
        return clean(part)
    if not isinstance(part, dict):
        return ""
    for key in ("text", "content", "output_text"):
        if isinstance(part.get(key), str):
            return clean(part[key])
    if isinstance(part.get("content"), list):
        return text_of(part["content"])
    source = part.get("source") or part.get("image_url") or part.get("file") or {}
    if isinstance(source, str):
        return clean(source) if source.startswith("data:") else f"[image at {clean(source)}]"
    if isinstance(source, dict):
        if isinstance(source.get("data"), str):
            return image_mark(str(source.get("media_type", "image")), len(source["data"]))
        for key in ("url", "path"):
            place = source.get(key)
            if isinstance(place, str):
                return clean(place) if place.startswith("data:") else f"[image at {clean(place)}]"
    return ""
