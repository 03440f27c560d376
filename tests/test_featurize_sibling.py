"""Sibling features compare the attempts at a task, in whatever order they come."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestofn.featurize.reading import Reading
from bestofn.featurize.sibling import (
    SIBLING,
    SKETCH_SIZE,
    Digest,
    answer_votes,
    digest,
    length_rank,
    similarity,
    states_answer,
)
from bestofn.featurize.sibling import _sketch as sketch
from bestofn.trajectory import Actor, Command, Coverage, Observation, Step, Trajectory

Make = Callable[..., Trajectory]
NAN = math.nan
PARTS = tuple(dict.fromkeys(entry.part for entry in SIBLING.values()))


def equal(one: list[float], other: list[float]) -> bool:
    return bool(np.array_equal(np.array(one), np.array(other), equal_nan=True))


def test_votes_are_shares_of_the_attempts_with_an_answer() -> None:
    """Three of four answers agree; an attempt without an answer has no vote."""
    answers = ["12", "12", "13", "12", "", None]
    assert equal(answer_votes([Digest(answer=a) for a in answers]), [0.75, 0.75, 0.25, 0.75, NAN, NAN])
    assert equal(states_answer([Digest(answer=a) for a in answers]), [1, 1, 1, 1, 0, NAN])


def test_where_nobody_answers_there_is_nothing_to_state() -> None:
    """A task that asks for no answer is not one that all attempts left unanswered."""
    assert equal(states_answer([Digest(answer=""), Digest(answer="")]), [NAN, NAN])
    assert equal(states_answer([Digest(answer=a) for a in ("1", "", "")]), [NAN, NAN, NAN])
    assert equal(states_answer([Digest(answer=a) for a in ("1", "")]), [1, 0])
    assert equal(states_answer([]), [])
    assert equal(answer_votes([Digest(answer=""), Digest(answer="")]), [NAN, NAN])


def test_length_ranks_share_ties() -> None:
    """0 is the shortest, 1 the longest, equal lengths stand in the middle of their ranks."""
    assert equal(length_rank([Digest(length=x) for x in (10.0, 30.0, 30.0, NAN, 90.0)]), [0, 0.5, 0.5, NAN, 1])
    assert equal(length_rank([Digest(length=5.0)]), [NAN])


@given(st.sets(st.integers(0, 60), min_size=1), st.sets(st.integers(0, 60), min_size=1))
def test_small_sets_are_compared_exactly(one: set[int], other: set[int]) -> None:
    """Up to the sketch's size the similarity is the share of the union that is in both."""
    a, b = sketch(map(str, one)), sketch(map(str, other))
    assert a is not None
    assert b is not None
    assert similarity(a, b) == pytest.approx(len(one & other) / len(one | other))
    assert similarity(a, b) == similarity(b, a)


def test_large_sets_are_compared_within_a_tenth() -> None:
    """A sketch keeps 128 hashes of ten thousand texts, and tells a half from a third."""
    one, half, third = range(10_000), range(3_333, 13_333), range(5_000, 15_000)
    a, b, c = (sketch(map(str, numbers)) for numbers in (one, half, third))
    assert a is not None
    assert b is not None
    assert c is not None
    assert len(a) == SKETCH_SIZE
    assert similarity(a, b) == pytest.approx(1 / 2, abs=0.1)
    assert similarity(a, c) == pytest.approx(1 / 3, abs=0.1)


def run(attempt: Make, words: str, output: str, command: str = "ls", **fields: object) -> Trajectory:
    return attempt(
        Step(Actor.AGENT, commands=(Command(command),), observations=(Observation(output, 0),)),
        Step(Actor.AGENT, words),
        **fields,
    )


def test_agreement_is_with_the_other_attempts(attempt: Make) -> None:
    """Two attempts with the same numbers, lines and commands agree; the third agrees with none."""
    digests = [
        digest(Reading.of(one), PARTS)
        for one in (
            run(attempt, "the total is 12", "rows: 12\nok", "make"),
            run(attempt, "12.0 in all", "ok\nrows:  12", "make"),
            run(attempt, "it is 99", "nothing", "ls"),
        )
    ]
    for name in ("numbers_agreement", "output_agreement", "command_agreement"):
        assert SIBLING[name].compare(digests) == [0.5, 0.5, 0.0], name


def test_a_lone_attempt_has_nobody_to_agree_with(attempt: Make) -> None:
    """Agreement needs another attempt."""
    alone = [digest(Reading.of(run(attempt, "12", "12")), PARTS)]
    assert all(math.isnan(SIBLING[name].compare(alone)[0]) for name in SIBLING if name.endswith("agreement"))


def test_only_the_asked_parts_are_taken(attempt: Make) -> None:
    """A digest without answers does not look for one."""
    found = digest(Reading.of(run(attempt, "\\boxed{1}", "12")), ("length",))
    assert found == Digest(length=float(len("\\boxed{1}" + "12" + "ls")))


def test_an_empty_recording_leaves_an_empty_digest(attempt: Make) -> None:
    """It takes no part in any comparison."""
    assert digest(Reading.of(attempt(Step(Actor.USER, "\\boxed{1}"))), PARTS) == Digest()


def test_cut_texts_are_not_compared(attempt: Make) -> None:
    """What is left of two texts may be equal where they were not; a stated answer stays one."""
    cut = Coverage(whole_texts=False)
    found = digest(Reading.of(run(attempt, "\\boxed{1}", "12", coverage=cut)), PARTS)
    assert (found.answer, found.numbers, found.outputs, found.commands) == ("1", None, None, None)
    assert math.isnan(found.length)
    assert digest(Reading.of(run(attempt, "hello", "12", coverage=cut)), ("answer",)).answer is None


def test_a_digest_is_small_whatever_the_run_holds(attempt: Make) -> None:
    """Megabytes of text leave a few kilobytes and no text."""
    big = run(attempt, " ".join(map(str, range(100_000))), "\n".join(f"line {n}" for n in range(100_000)))
    found = digest(Reading.of(big), PARTS)
    sketches = [part for part in (found.numbers, found.outputs, found.commands) if part is not None]
    assert sum(part.nbytes for part in sketches) <= 3 * 4 * SKETCH_SIZE


digests_of_a_task = st.lists(
    st.builds(
        Digest,
        answer=st.sampled_from(["1", "2", "none", "", None]),
        length=st.sampled_from([NAN, 1.0, 2.0, 3.5]),
        numbers=st.sets(st.sampled_from("abcdef")).map(sketch),
        outputs=st.sets(st.sampled_from("abcdef")).map(sketch),
        commands=st.sets(st.sampled_from("abcdef")).map(sketch),
    ),
    max_size=7,
)


@given(digests_of_a_task, st.randoms(use_true_random=False))
def test_the_order_of_attempts_changes_nothing(digests: list[Digest], random: object) -> None:
    """Every attempt keeps its value to the last bit when its siblings are shuffled."""
    order = list(range(len(digests)))
    random.shuffle(order)  # type: ignore[attr-defined]
    for name, entry in SIBLING.items():
        straight = entry.compare(digests)
        shuffled = entry.compare([digests[i] for i in order])
        assert equal([straight[i] for i in order], shuffled), name
