"""What tells a judge nothing is folded, marked and counted."""

from __future__ import annotations

import base64
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestofn.rendering.fold import Folded, fold

BLOB = base64.b64encode(random.Random(1).randbytes(3000)).decode()
LINES = st.sampled_from(
    ["", " ", "\t", "same", "x" * 500, " " * 300, BLOB[:76], BLOB[100:176], BLOB[:600], "other", "é"]
)


def mark(kind: str, amount: int) -> str:
    """A mark of a test."""
    return f"[m {kind} {amount}]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"key {BLOB} end", "key [m base64 4000] end"),
        ("--\n" + "\n".join(BLOB[i : i + 64] for i in range(0, 4000, 64)) + "\n--", "--\n[m base64 4062]\n--"),
        ('"data": "' + BLOB[:300].replace("=", "") + '"', '"data": "[m base64 300]"'),
        ("top\n" + "\n" * 40 + "bottom", "top\n[m blank 40]\nbottom"),
        ("a" + " " * 1000 + "b", "a[m spaces 1000]b"),
        ("tick\n" * 100 + "done", "tick\n[m repeated 99]\ndone"),
        ("=" * 1000, "=[m run 999]"),
    ],
    ids=["base64", "base64 lines", "base64 in JSON", "blank lines", "spaces", "repeated", "run"],
)  # fmt: skip
def test_each_kind_is_folded_to_its_mark(text: str, shown: str) -> None:
    """Base64, blank lines, spaces, repeated lines and long runs leave one mark with their amount."""
    folded = fold(text, mark)
    assert folded.text == shown
    assert folded.characters == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "ACGTTGCA" * 200,
        "deadbeef0123456789" * 40,
        "/usr/lib/python3/dist-packages/" * 20,
        BLOB[:200],
        "a\n\n\nb",
        "-" * 120,
        "row 1\nrow 2\nrow 3\n" * 5,
        "word " * 1000,
    ],
    ids=["DNA", "hexadecimal", "paths", "short base64", "few blanks", "ruler", "rows", "words"],
)
def test_what_may_matter_is_not_folded(text: str) -> None:
    """Sequences, hashes, paths, short base64 and ordinary layout stay whole."""
    assert fold(text, mark) == Folded(text)


@given(st.lists(LINES, max_size=40))
@settings(deadline=None, max_examples=150)
def test_what_is_shown_and_what_is_hidden_add_up(lines: list[str]) -> None:
    """The text without its marks, and the amounts hidden under them, are together as long as the source."""
    text = "\n".join(lines)
    folded = fold(text, mark)
    bare = re.sub(r"\[m [a-z0-9]+ \d+\]", "", folded.text)
    assert len(bare) + sum(span.hidden for span in folded.spans) == len(text)
    assert all(re.fullmatch(r"\[m [a-z0-9]+ \d+\]", folded.text[span.start : span.end]) for span in folded.spans)
    assert len(folded.text) <= len(text)


@pytest.mark.parametrize("piece", [" ", "\n", " \n", "a", "ab\n", "x" * 39 + " ", "-" * 399 + "\n" + "-" * 398 + "\n"])
def test_a_megabyte_of_layout_is_folded(piece: str) -> None:
    """Long runs of white space, characters and lines are read in linear time."""
    text = piece * (1_000_000 // len(piece))
    assert fold(text, mark).characters == len(text)
