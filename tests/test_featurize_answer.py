"""The final answer is found where a run states one, in one spelling."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestofn.featurize.answer import final_answer, normalised
from bestofn.trajectory import Actor, Command, Step

SAME = [
    (
        "100",
        [
            "100",
            "100.0",
            "$100",
            "$ 100.00",
            "100 dollars",
            "100%",
            "€100",
            " **100**. ",
            "{100}",
            "x = 100",
            "100 km/h",
        ],
    ),
    ("1000", ["1,000", "1000", "$1,000.00", "about 1,000 apples", "1{,}000"]),
    ("-5", ["-5", "\u22125", "-5.0", "$-5"]),
    ("0.5", ["0.5", ".5", "1/2", "\\frac{1}{2}", "\\dfrac{1}{2}", "0.50"]),
    ("77", ["Elvira will have €77 left to spend", "\\text{77}", "77."]),
    ("none", ["None", "'None'", "n/a", "Cannot be determined", "\\text{None}"]),
    ("paris", ["Paris", "  paris. ", "**Paris**", "\\text{Paris}"]),
    ("paul: 30, john: 20", ["Paul: 30, John: 20"]),
]


@pytest.mark.parametrize(("form", "stated"), [(form, text) for form, texts in SAME for text in texts])
def test_equal_answers_have_one_spelling(form: str, stated: str) -> None:
    """Currency, separators, zeros, units, boxes and case do not make another answer."""
    assert normalised(stated) == form


@pytest.mark.parametrize(
    ("one", "other"), [("12", "13"), ("1.5", "15"), ("Paris", "London"), ("5", "-5"), ("none", "0")]
)
def test_different_answers_stay_different(one: str, other: str) -> None:
    """Nothing that tells two answers apart is lost."""
    assert normalised(one) != normalised(other)


@given(st.integers(-(10**11), 10**11))
def test_whole_numbers_are_themselves_in_every_spelling(number: int) -> None:
    """Separators, decimals and currency leave a whole number as it is."""
    assert normalised(f"{number:,}") == normalised(f"{number}.00") == normalised(f"{number} USD") == str(number)


def say(*messages: str, actor: Actor = Actor.AGENT) -> list[Step]:
    return [Step(actor, message) for message in messages]


STATED = [
    (say("SOLUTION_FOUND \\boxed{12}"), "12"),
    (say("SOLUTION_FOUND: {60}"), "60"),
    (say("**SOLUTION_FOUND** 12"), "12"),
    (say("SOLUTION_FOUND: $19.50. Great teamwork!"), "19.5"),
    (say("FINAL ANSWER: 7\nmore words"), "7"),
    (say("so the final answer is 3,200."), "3200"),
    (say("work\n#### 42"), "42"),
    (say("<answer>B</answer>"), "b"),
    (say("\\boxed{\\frac{3}{4}}"), "0.75"),
    (say("The answer is 8 apples."), "8"),
    (say("Therefore the answer to the question is B."), "b"),
    (say("\\boxed{1}", "\\boxed{2}", "Well done, team!"), "2"),
    (say("\\boxed{1} or rather \\boxed{3}"), "3"),
    (say("SOLUTION_FOUND: 4", "the answer is 5"), "4"),
    (say("I put it as \\boxed{answer}.", "\\boxed{}"), None),
    (say("The answer is consistent with the statement."), None),
    (say("I answered all mails."), None),
    (say("\\boxed{9}", actor=Actor.USER), None),
    ([], None),
    ([Step(Actor.AGENT, commands=(Command('{"answer": "11"}', "submit", {"answer": "11"}),))], "11"),
    ([Step(Actor.AGENT, commands=(Command('{"answer": "11"}', "grade", {"answer": "11"}),))], None),
]


@pytest.mark.parametrize(("steps", "expected"), STATED)
def test_the_last_stated_answer_counts(steps: list[Step], expected: str | None) -> None:
    """Marks are looked for from the end, in the agent's words alone; a run without a mark has no answer."""
    assert final_answer(steps) == expected


@pytest.mark.parametrize(
    "text", ["\\boxed{" * 150_000, "the answer is " * 70_000, "1," * 500_000, "SOLUTION_FOUND" * 70_000]
)
def test_hostile_messages_take_a_moment(text: str) -> None:
    """A megabyte of marks is gone through once."""
    start = time.process_time()
    final_answer(say(text))
    assert time.process_time() - start < 60.0  # a hang takes hours: this is no stopwatch
