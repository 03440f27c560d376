"""Checks parsed TOML against a schema: every key known, every value of its kind, an error with its place otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from bestofn.errors import ContentError
from bestofn.table import RESERVED

Check = Callable[[Any], Any]
"""Gives the value back as it is used; raises ValueError saying what it must be."""


def checked(found: Mapping[str, Any], schema: Mapping[str, Check], needed: set[str], place: str) -> dict[str, Any]:
    """The values by key. Raises ContentError for a key that is unknown or missing, or a value of another kind."""
    unknown = [key for key in found if key not in schema]
    if unknown:
        raise ContentError(f"{place}: unknown key '{unknown[0]}'; the keys are {', '.join(schema)}")
    missing = [key for key in schema if key in needed and key not in found]
    if missing:
        raise ContentError(f"{place}: {', '.join(missing)} is missing")
    values = {}
    for key, value in found.items():
        try:
            values[key] = schema[key](value)
        except ValueError as error:
            raise ContentError(f"{place}: {key} = {value!r}, but it must be {error}") from None
    return values


def text(value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ValueError("a text in quotes")
    return value


def column(value: Any) -> str:
    """A name that a feature may have."""
    if not isinstance(value, str) or not value or value in RESERVED:
        raise ValueError(f"the name of a feature; {', '.join(RESERVED)} are none")
    return value


def truth(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def integer(value: Any) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number")
    return value


def number(value: Any) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ValueError("a finite number")
    return found


def share(value: Any) -> float:
    """A number from 0 to 1."""
    found = number(value)
    if not 0.0 <= found <= 1.0:
        raise ValueError("a number from 0 to 1")
    return found


def shares(value: Any) -> tuple[float, ...]:
    """Numbers from 0 to 1, in ascending order."""
    if not isinstance(value, list):
        raise ValueError("a list of numbers from 0 to 1")
    found = tuple(share(item) for item in value)
    if list(found) != sorted(found):
        raise ValueError("a list in ascending order")
    return found


def table(value: Any) -> Mapping[str, Any]:
    """A table."""
    if not isinstance(value, dict):
        raise ValueError("a table")
    return value


def tables(value: Any) -> list[Mapping[str, Any]]:
    """A list of tables."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("a list of tables")
    return value
