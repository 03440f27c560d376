"""Makes recorded text readable: control sequences away, carriage returns applied, images replaced."""

from __future__ import annotations

import re
from typing import Any

# ECMA-48: CSI with private parameters, OSC and DCS/SOS/PM/APC strings up to their end, other two-byte escapes.
_ESCAPES = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]"
    "|\x1b[\\]PX^_][^\x07\x1b\x9c]{0,65536}(?:\x07|\x1b\\\\|\x9c)"
    "|\x1b[ -/]*[0-~]"
)
_CONTROLS = re.compile("[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f\x80-\x9f]")
_DATA_URI = re.compile(r"data:([a-z]+/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=\s]{64,})")


def clean(text: str) -> str:
    """The text as a terminal would leave it: escapes gone, `\\r` overwrites its line, inline images named."""
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text or "\x08" in text:
        text = _overwrite(text.replace("\r\n", "\n"))
    if "base64," in text:
        text = _DATA_URI.sub(lambda m: image_mark(m[1], len(m[2])), text)
    return _CONTROLS.sub("", text) if not text.isprintable() and _CONTROLS.search(text) else text


def _overwrite(text: str) -> str:
    """Apply carriage returns and backspaces within each line."""
    if "\r" not in text and "\x08" not in text:
        return text
    return "\n".join(_overwritten(line) if "\r" in line or "\x08" in line else line for line in text.split("\n"))


def _overwritten(line: str) -> str:
    """What stays visible of one line after its carriage returns; later text covers earlier text."""
    shown: list[str] = []
    for part in line.split("\r"):
        cells = list(part)
        if "\x08" in part:
            cells = []
            for character in part:
                if character == "\x08":
                    if cells:
                        cells.pop()
                else:
                    cells.append(character)
        shown[: len(cells)] = cells
    return "".join(shown)


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
        return clean(source) if source.startswith("data:") else f"[image at {source}]"
    if isinstance(source, dict):
        if isinstance(source.get("data"), str):
            return image_mark(str(source.get("media_type", "image")), len(source["data"]))
        if isinstance(source.get("url"), str):
            return clean(source["url"]) if source["url"].startswith("data:") else f"[image at {source['url']}]"
    return ""
