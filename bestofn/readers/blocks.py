"""Takes blocks of code out of a message in which an agent wrote what it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def without(text: str, blocks: Sequence[Any]) -> str:
    """What a text says around the matches of a pattern in it, given in order: the parts with a line break between."""
    starts = [block.start() for block in blocks] + [len(text)]
    ends = [0] + [block.end() for block in blocks]
    parts = (text[begin:end].strip() for begin, end in zip(ends, starts, strict=True))
    return "\n".join(part for part in parts if part)
