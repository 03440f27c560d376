"""Single values of a recording, which may be of any type where its format promises one."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

from bestofn.readers.document import digest
from bestofn.trajectory import Label

_WHOLE = re.compile(r"[+-]?\d{1,9}")
_EXACT = 2.0**53
"""Below it every whole number has a float of its own."""
_SHOWN = 40
"""Characters of a value that a message quotes."""


def mapping(value: Any) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def string(value: Any) -> str:
    """The value where it is text, else nothing."""
    return value if isinstance(value, str) else ""


def name(value: Any) -> str:
    """A name or an id: text, or a finite number as text (7.0 is 7, as other tools write it); else nothing.

    A whole number too long to be told from its neighbours, as JSON's beyond 64 bits, is none: two of them may differ.
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float):
        if not abs(value) < _EXACT:
            return ""
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def number(value: Any) -> float | None:
    """The value where it is a finite number, else None. True and False are no numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def amount(value: Any) -> float | None:
    """A cost or a time that was counted: a number above 0. A total of 0 means that nobody counted."""
    found = number(value)
    return found if found is not None and found > 0 else None


def count(value: Any) -> int | None:
    """A number of tokens that was counted; a total of 0 means that nobody counted."""
    found = amount(value)
    return int(found) if found is not None else None


def return_code(value: Any) -> int | None:
    """A return code, as a whole number or its text; None where the value is neither."""
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value.strip()) else None
    found = number(value)
    return int(found) if found is not None and found == int(found) else None


def json_text(value: Any) -> str:
    """The value as JSON, as short as it goes."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        # Whole numbers beyond 64 bits, and keys or values nested deeper than orjson goes.
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        except RecursionError:
            return "(nested too deeply)"


def record_digest(record: Any) -> str:
    """Identity of a record that stands among others in one JSON value."""
    return digest(json_text(record).encode("utf-8", errors="replace"))


def quoted(value: Any) -> str:
    """The value as a message may quote it: text in quotes, all else as JSON, cut to a length."""
    mark = "'" if isinstance(value, str) else ""
    text = value if isinstance(value, str) else json_text(value)
    return f"{mark}{text[:_SHOWN]}...{mark}" if len(text) > _SHOWN else f"{mark}{text}{mark}"


def reward_label(value: Any, what: str = "reward") -> Label:
    """The label for a recorded reward: a number, a truth value, or the text of one. Everything else is unknown."""
    if value is None:
        return Label.unknown(f"{what} is null")
    if isinstance(value, bool):
        return Label.from_reward(float(value))
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("true", "false"):
            return Label.from_reward(float(word == "true"))
        try:
            return Label.from_reward(float(word))
        except ValueError:
            return Label.unknown(f"{what} is {quoted(value)}, which is no number")
    if not isinstance(value, int | float):
        return Label.unknown(f"{what} is {'a list' if isinstance(value, list) else 'an object'}, which is no number")
    try:
        return Label.from_reward(float(value))
    except OverflowError:
        return Label.unknown(f"{what} is too large a number")
