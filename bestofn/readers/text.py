"""Makes recorded text readable: control sequences away, carriage returns applied, images replaced."""

from __future__ import annotations

import re
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


def clean(text: str) -> str:
    """The text as a terminal would leave it: escapes gone, `\\r` overwrites its line, inline images named.

    What comes back holds no control character but newline and tab.
    """
    if not _is_plain(text):
        text = _COLOUR.sub("", text).replace("\r\n", "\n")
        if any(mark in text for mark in _MOVES):
            text = shown(text)
        if not _is_plain(text):
            text = text.translate(_CONTROLS)
    if "base64," in text:
        text = _DATA_URI.sub(lambda m: image_mark(m[1], len(m[2])), text)
    return text


def _is_plain(text: str) -> bool:
    """True where the text holds no control character but newline and tab. Exact, at memory speed."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data.translate(None, _CONTROL_BYTES)) != len(data):
        return False
    # U+0080 to U+00BF begin with this byte in UTF-8; the first half of them are the 8-bit controls.
    return b"\xc2" not in data or _HIGH_CONTROL.search(text) is None


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
