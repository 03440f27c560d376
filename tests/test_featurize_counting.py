"""Regex features look where they say, and count what they say."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from bestofn.featurize.counting import Counting
from bestofn.featurize.feature import Feature, Kind, Span, Value, Where
from bestofn.featurize.reading import Reading
from bestofn.trajectory import Actor, Channel, Command, Coverage, Observation, Step, Trajectory

Make = Callable[..., Trajectory]
NAN = math.nan


def feature(value: Value, where: Where = Where(), channel: Channel = Channel.OBSERVATION) -> Feature:  # noqa: B008 (a frozen value)
    return Feature("f", Kind.REGEX, -1, ("3.2",), "a test", "b", "x+", channel, where, value)


def outputs(*texts: str) -> tuple[Step, ...]:
    """One turn an output."""
    return tuple(Step(Actor.AGENT, commands=(Command("ls"),), observations=(Observation(text, 0),)) for text in texts)


def value(one: Feature, run: Trajectory) -> float:
    (found,) = Counting((one,)).values(Reading.of(run))
    return found


LAST_TWO = Where(Span.LAST_STEPS, 2)
CASES = [
    (Value.COUNT, Where(), 4.0),
    (Value.PRESENT, Where(), 1.0),
    (Value.RATE, Where(), 0.5),
    (Value.LAST, Where(), 0.0),
    (Value.COUNT, LAST_TWO, 1.0),
    (Value.RATE, LAST_TWO, 0.5),
    (Value.PRESENT, Where(Span.LAST_STEPS, 1), 0.0),
    (Value.COUNT, Where(Span.LAST_STEPS, 99), 4.0),
]


@pytest.mark.parametrize(("what", "where", "expected"), CASES)
def test_values_over_four_outputs(attempt: Make, what: Value, where: Where, expected: float) -> None:
    """Matches, presence, share of texts and the last text, over all or the last outputs."""
    assert value(feature(what, where), attempt(*outputs("x xx x", "none", "axa", "end"))) == expected


def test_equal_texts_are_told_apart_by_their_place(attempt: Make) -> None:
    """The last of three equal outputs is one output, not three."""
    run = attempt(*outputs("x", "x", "x"))
    assert value(feature(Value.COUNT, Where(Span.LAST_STEPS, 1)), run) == 1.0


def test_all_features_of_a_bank_are_counted_in_one_pass_as_they_are_alone(attempt: Make) -> None:
    """Computing features together changes none of them."""
    run = attempt(*outputs("x xx", "b", "x"), Step(Actor.AGENT, "xx"))
    many = (*(feature(what, where) for what, where, _ in CASES), feature(Value.COUNT, channel=Channel.MESSAGE))
    assert Counting(many).values(Reading.of(run)) == [value(one, run) for one in many]


@pytest.mark.parametrize("what", list(Value))
def test_an_empty_recording_is_missing(attempt: Make, what: Value) -> None:
    """No turn of the agent: nothing is known of any channel."""
    assert math.isnan(value(feature(what), attempt(Step(Actor.USER, "x", observations=(Observation("x"),)))))


@pytest.mark.parametrize("channel", list(Channel))
def test_a_channel_that_is_not_recorded_is_missing(attempt: Make, channel: Channel) -> None:
    """NaN for each channel that the recording does not cover."""
    run = attempt(*outputs("x"), coverage=Coverage(commands=False, observations=False, messages=False))
    assert math.isnan(value(feature(Value.COUNT, channel=channel), run))


@pytest.mark.parametrize(
    ("what", "expected"), [(Value.COUNT, 0.0), (Value.PRESENT, 0.0), (Value.RATE, NAN), (Value.LAST, 0.0)]
)
def test_a_recorded_channel_without_texts(attempt: Make, what: Value, expected: float) -> None:
    """No output has no match, and no share of outputs that match."""
    found = value(feature(what), attempt(Step(Actor.AGENT, "hi")))
    assert found == expected or (math.isnan(found) and math.isnan(expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x", {"present": 1.0, "count": NAN, "rate": NAN, "last": 1.0}), ("none", dict.fromkeys(Value, NAN))],
)
def test_in_cut_texts_only_a_match_is_known(attempt: Make, text: str, expected: dict[str, float]) -> None:
    """A match that is left is a match; how many there were, or that there was none, nobody knows."""
    run = attempt(*outputs(text), coverage=Coverage(whole_texts=False))
    for what in Value:
        found = value(feature(what), run)
        assert found == expected[what] or (math.isnan(found) and math.isnan(expected[what]))


def test_after_the_last_edit_is_missing_without_an_edit(attempt: Make) -> None:
    """A run that changed nothing has nothing after its last change."""
    after = feature(Value.COUNT, Where(Span.AFTER_LAST_EDIT))
    assert math.isnan(value(after, attempt(*outputs("x"))))
    edit = Step(Actor.AGENT, commands=(Command("echo x > a"),), observations=(Observation("x", 0),))
    assert value(after, attempt(*outputs("x"), edit, *outputs("xx x"))) == 2.0


def test_no_match_reaches_from_one_text_into_the_next(attempt: Make) -> None:
    """Two outputs that end and begin with the pattern are two matches."""
    assert value(feature(Value.COUNT), attempt(*outputs("ax", "xa"))) == 2.0
