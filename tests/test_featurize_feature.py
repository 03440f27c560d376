"""The words of a feature's metadata are read as they are written."""

from __future__ import annotations

import pytest

from bestofn.featurize.feature import Span, Where


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("anywhere", Where(Span.ANYWHERE)),
        ("after the last edit", Where(Span.AFTER_LAST_EDIT)),
        ("last 5 steps", Where(Span.LAST_STEPS, 5)),
        ("last 1234 steps", Where(Span.LAST_STEPS, 1234)),
        ("the last step", Where(Span.LAST_STEPS, 1)),
    ],
)
def test_a_span_is_written_as_it_is_read(text: str, where: Where) -> None:
    """Parsing and printing are each other's inverse."""
    assert Where.parse(text) == where
    assert str(where) == text


@pytest.mark.parametrize(
    "text", ["", "last 0 steps", "last K steps", "last 5", "Anywhere", "last 99999 steps", "last -1 steps"]
)
def test_other_words_are_no_span(text: str) -> None:
    """The error says what may stand there."""
    with pytest.raises(
        ValueError, match=r"^'anywhere', 'last 5 steps' \(any number from 1 to 9999\) or 'after the last edit'$"
    ):
        Where.parse(text)
