"""Patterns run on RE2: they count what `re` counts, and no text makes them slow."""

from __future__ import annotations

import pickle
import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bestofn.errors import ContentError
from bestofn.featurize.patterns import SET_SIZE, Matcher, compile_pattern, empty_match, encode

PATTERNS = (
    r"a+b?",
    r"(?i)\berror\b",
    r"(?m)^[1-9]\d* failed$",
    r"\A\s*\S",
    r"[^\n]+",
    r"(?:ab|ba)+",
    r"x.y",
    r"\s\s",
    r"é|✓",
    r"(a)(b)",
)
ALPHABET = "aAbBxy 1 0\nérRoO✓failed\t"


@given(st.text(alphabet=ALPHABET, max_size=60))
@example("")
@example("10 failed\n0 failed\n3 failed")
@example("Error: ERROR, errors\nabab")
def test_counts_are_those_of_re(text: str) -> None:
    """Both engines find the same number of matches, and the set finds exactly the patterns that occur."""
    matcher = Matcher(PATTERNS)
    counts = [len(list(re.finditer(pattern, text, re.ASCII))) for pattern in PATTERNS]
    raw = encode(text)
    assert [matcher.count(index, raw) for index in range(len(PATTERNS))] == counts
    assert sorted(matcher.found(raw)) == [index for index, count in enumerate(counts) if count]


@given(st.text(alphabet=ALPHABET, max_size=60))
def test_spans_are_those_of_re_on_bytes(text: str) -> None:
    """Begin and end of each match are counted in bytes."""
    matcher = Matcher((r"a+b?",))
    assert matcher.spans(0, encode(text)) == [match.span() for match in re.finditer(rb"a+b?", encode(text))]


def test_a_bank_larger_than_one_set_loses_no_pattern() -> None:
    """Patterns of the second and third set are found under their own indices."""
    patterns = tuple(f"word{index:03d}" for index in range(2 * SET_SIZE + 3))
    matcher = Matcher(patterns)
    text = encode(" ".join(patterns[::7]))
    assert sorted(matcher.found(text)) == list(range(0, len(patterns), 7))


def test_a_matcher_survives_pickling() -> None:
    """It goes to another process as its patterns, compiled or not."""
    matcher = Matcher(("a+",))
    assert matcher.found(b"baa") == [0]
    copy = pickle.loads(pickle.dumps(matcher))
    assert copy.found(b"baa") == [0]
    assert copy == matcher


def test_patterns_are_compiled_only_when_used() -> None:
    """A pattern that is no RE2 does no harm until a text is matched."""
    matcher = Matcher(("(?!x)",))
    with pytest.raises((ValueError, ContentError)):
        matcher.found(b"x")


def test_lone_surrogates_are_encoded() -> None:
    """A text with half a character is matched around it."""
    assert Matcher(("ab",)).count(0, encode("ab\ud800ab")) == 2


@pytest.mark.parametrize(("pattern", "text"), [("a*", ""), (r"\b", "a"), ("^", ""), ("(?m)$", ""), ("a|", "")])
def test_patterns_that_match_nothing_at_all_are_found_out(pattern: str, text: str) -> None:
    """The first text in which it happens is told."""
    assert empty_match(compile_pattern(pattern)) == text


def test_a_pattern_that_takes_a_character_is_no_empty_match() -> None:
    """Anchors are fine as long as a character is matched too."""
    assert empty_match(compile_pattern(r"(?m)^\S+$"), ["a b", "\n\n"]) is None


HOSTILE = {
    "one line of a megabyte": "a" * 1_000_000,
    "words that all but match": "error " * 170_000,
    "nested near misses": "(a " * 330_000,
    "NUL bytes": "\0" * 1_000_000,
    "replacement characters": "\ufffd" * 350_000,
    "blank lines": "\n" * 1_000_000,
    "spaces": " " * 1_000_000,
    "digits": "1" * 1_000_000,
}
EXPLOSIVE = (r"(?:a+)+b", r"(?:a|a)*c", r".*.*=.*", r"\s*\n\s*x", r"(?m)^(?:.*\s)?Killed$", r"(?:\d+\.?)+x")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_matched_in_linear_time(name: str) -> None:
    """Patterns that take a backtracking engine for ever are done with a megabyte in a moment."""
    matcher = Matcher(EXPLOSIVE)
    raw = encode(HOSTILE[name])
    matcher.found(b"warm")
    start = time.process_time()
    for index in matcher.found(raw):
        matcher.count(index, raw)
    assert time.process_time() - start < 60.0  # a hang takes hours: this is no stopwatch
