"""Structural features are what they say, and NaN where the recording cannot tell."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from bestofn.featurize.reading import Reading
from bestofn.featurize.structural import STRUCTURAL
from bestofn.trajectory import (
    Actor,
    Command,
    Coverage,
    Ending,
    EndingState,
    Observation,
    Step,
    Trajectory,
    Usage,
)

Make = Callable[..., Trajectory]
NAN = math.nan


def agent(message: str = "", *commands: str, out: tuple[tuple[str, int | None], ...] = ()) -> Step:
    """A turn with shell commands and (output, exit code) pairs."""
    answers = tuple(Observation(text, index, code) for index, (text, code) in enumerate(out))
    return Step(Actor.AGENT, message, "", tuple(Command(c) for c in commands), answers)


def measure(name: str, trajectory: Trajectory) -> float:
    return STRUCTURAL[name].measure(Reading.of(trajectory))


def same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


@pytest.mark.parametrize(
    ("state", "finished", "timed_out"),
    [
        (EndingState.FINISHED, 1.0, 0.0),
        (EndingState.UNFINISHED, 0.0, NAN),
        (EndingState.TIMED_OUT, 0.0, 1.0),
        (EndingState.CRASHED, 0.0, 0.0),
        (EndingState.UNKNOWN, NAN, NAN),
    ],
)
def test_endings(attempt: Make, state: EndingState, finished: float, timed_out: float) -> None:
    """An unknown ending is neither; a missing end marker does not say whether time ran out."""
    for steps in ([agent("hi")], []):
        run = attempt(*steps, ending=Ending(state))
        assert same(measure("finished", run), finished)
        assert same(measure("timed_out", run), timed_out)


@pytest.mark.parametrize(("refused", "expected"), [(True, 1.0), (False, 0.0), (None, NAN)])
def test_refusals(attempt: Make, refused: bool | None, expected: float) -> None:
    """Without a message nobody knows whether the task was declined."""
    assert same(measure("refused", attempt(agent("hi"), ending=Ending(refused=refused))), expected)


RUN = (
    Step(Actor.USER, "please do it"),
    agent("", "cat a.py", out=(("old", 0),)),
    agent("", "echo 12 > a.py", out=(("", 0),)),
    agent("", "pytest -q", out=(("1 failed", 1),)),
    agent("", "pytest -q", out=(("1 failed", 1),)),
    agent("", "ls", "nonsense", out=(("a.py", 0),)),
    agent("Done."),
)
EXPECTED = {
    "has_final_message": 1.0,
    "n_steps": 6.0,
    "n_user_turns": 1.0,
    "n_commands": 6.0,
    "n_characters": float(sum(map(len, ["cat a.py", "echo 12 > a.py", "pytest -q" * 2, "ls", "nonsense", "Done."])))
    + len("old" + "1 failed" * 2 + "a.py"),
    "n_final_characters": 5.0,
    "n_edits": 1.0,
    "n_checks": 2.0,
    "checks_after_edit": 2.0,
    "looks_after_edit": 3.0,
    "consecutive_repeats": 1.0,
    "distinct_share": 5 / 6,
    "n_nonzero_exits": 2.0,
    "nonzero_exits_last5": 2.0,
    "n_unanswered": 1.0,
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_small_run_is_measured(attempt: Make, name: str) -> None:
    """Each feature of one run that a person can count."""
    assert measure(name, attempt(*RUN, coverage=Coverage(exit_codes=True))) == EXPECTED[name]


CONTENT = [name for name in STRUCTURAL if name not in ("finished", "timed_out")]
COUNTED = ["n_input_tokens", "n_output_tokens", "cost_usd", "seconds"]


@pytest.mark.parametrize("name", CONTENT)
def test_an_empty_recording_tells_nothing_of_its_content(attempt: Make, name: str) -> None:
    """Without a turn of the agent every feature but the endings is missing, and what was not counted is missing too."""
    run = attempt(Step(Actor.USER, "please"), ending=Ending(EndingState.FINISHED, False))
    assert math.isnan(measure(name, run))


@pytest.mark.parametrize(
    ("coverage", "missing"),
    [
        (Coverage(exit_codes=False), {"n_nonzero_exits", "nonzero_exits_last5"}),
        (Coverage(exit_codes=True, messages=False), {"has_final_message", "n_final_characters"}),
        (Coverage(exit_codes=True, observations=False), {"n_unanswered"}),
        (
            Coverage(exit_codes=True, commands=False),
            {"n_commands", "n_edits", "n_checks", "checks_after_edit", "looks_after_edit", "consecutive_repeats"}
            | {"distinct_share", "n_unanswered"},
        ),
        (
            Coverage(exit_codes=True, whole_texts=False),
            {"n_characters", "n_final_characters", "n_edits", "n_checks", "checks_after_edit", "looks_after_edit"}
            | {"consecutive_repeats", "distinct_share"},
        ),
    ],
)
def test_what_a_recording_does_not_cover_is_missing(attempt: Make, coverage: Coverage, missing: set[str]) -> None:
    """Exactly the features that need what is not recorded are NaN."""
    run = attempt(*RUN, coverage=coverage)
    found = {name for name in EXPECTED if math.isnan(measure(name, run))}
    assert found == missing


def test_a_dialogue_counts_the_users_turns(attempt: Make) -> None:
    """The task itself is the first, however many messages give it; turns that say nothing are none."""
    ask, hear, silent = Step(Actor.USER, "and this?"), agent("Yes."), Step(Actor.USER, " ")
    assert measure("n_user_turns", attempt(ask, ask, hear, ask, hear, silent, hear, ask)) == 3.0
    assert measure("n_user_turns", attempt(hear)) == 1.0


def test_without_an_edit_no_check_is_after_it(attempt: Make) -> None:
    """A run that changed nothing has no checks after its last change: NaN, not 0."""
    run = attempt(agent("", "pytest"))
    assert math.isnan(measure("checks_after_edit", run))
    assert measure("n_edits", run) == 0.0


def test_a_tool_whose_results_are_never_recorded_is_not_unanswered(attempt: Make) -> None:
    """Two shell lines, one without a result; two reads, whose results this recording does not hold."""
    reads = Step(Actor.AGENT, commands=(Command("a", "Read"), Command("b", "Read")))
    run = attempt(agent("", "ls", out=(("a", None),)), reads, agent("", "make"))
    assert measure("n_unanswered", run) == 1.0


def test_a_result_that_names_no_command_answers_its_step(attempt: Make) -> None:
    """One screen for two commands leaves none of them unanswered."""
    step = Step(Actor.AGENT, commands=(Command("a"), Command("b")), observations=(Observation("$ a\n$ b"),))
    assert measure("n_unanswered", attempt(step)) == 0.0


def test_without_commands_no_share_of_them_is_distinct(attempt: Make) -> None:
    """A share of nothing is NaN."""
    run = attempt(agent("hi"))
    assert math.isnan(measure("distinct_share", run))
    assert measure("consecutive_repeats", run) == 0.0


def test_what_the_harness_counted_is_taken_as_it_is(attempt: Make) -> None:
    """Tokens, dollars and seconds are known of an empty recording too, and missing where they were not counted."""
    run = attempt(usage=Usage(input_tokens=10, output_tokens=5, cost_usd=0.25, seconds=60.0))
    assert [measure(name, run) for name in COUNTED] == [10.0, 5.0, 0.25, 60.0]
    assert all(math.isnan(measure(name, attempt(agent("hi")))) for name in COUNTED)
