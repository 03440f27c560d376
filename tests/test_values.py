"""Single values of a recording, whatever their type."""

from __future__ import annotations

import math
from typing import Any

import pytest

from bestofn.readers.values import amount, count, json_text, name, number, quoted, record_digest, return_code

DEEP: Any = []
for _ in range(5000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (-1, -1),
        (2.0, 2),
        ("137", 137),
        (" 1\n", 1),
        (1.5, None),
        (True, None),
        (None, None),
        ("x", None),
        ([0], None),
    ],
)
def test_return_codes(value: Any, expected: int | None) -> None:
    """Whole numbers and their texts; truth values are none."""
    assert return_code(value) == expected


def test_totals_of_zero_are_not_recorded() -> None:
    """Nobody counted a total of 0; what is no finite number is none."""
    assert (count(12), count(0), count(-3), count(True), count("9"), count(math.nan)) == (
        12,
        None,
        None,
        None,
        None,
        None,
    )
    assert (amount(0.5), amount(0.0), amount(math.inf), amount(10**400)) == (0.5, None, None, None)
    assert number(0) == 0.0


def test_names_are_texts_or_numbers() -> None:
    """An id may be a number, and 7.0 is 7; anything else is no name."""
    numbers: list[Any] = [" a ", 0, 12, 1.5, 7.0, -0.0]
    others: list[Any] = [True, None, [], {}, math.nan, math.inf, 1e30]
    assert [name(value) for value in numbers] == ["a", "0", "12", "1.5", "7", "0"]
    assert [name(value) for value in others] == [""] * 7


def test_any_value_has_a_digest() -> None:
    """Numbers beyond 64 bits and values nested beyond reason have one as well."""
    assert record_digest({"a": 10**30}) != record_digest({"a": 10**30 + 1})
    assert record_digest(DEEP) != record_digest([])
    assert json_text({"a": [1, None]}) == '{"a":[1,null]}'


def test_quotes_are_short() -> None:
    """A message quotes text in quotes and cuts what is long."""
    assert (quoted("a"), quoted(0.0), quoted(None)) == ("'a'", "0.0", "null")
    assert quoted("x" * 100) == f"'{'x' * 40}...'"
