"""A reading finds texts, places and endings, and knows what it cannot know."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bestofn.featurize.feature import Span, Where
from bestofn.featurize.reading import Reading, shown
from bestofn.trajectory import Actor, Channel, Command, Coverage, Label, LabelKind, Observation, Step, Trajectory

Make = Callable[..., Trajectory]
AFTER_EDIT = Where(Span.AFTER_LAST_EDIT)


def agent(message: str = "", *commands: str, out: tuple[str, ...] = (), reasoning: str = "") -> Step:
    """A turn with shell commands, each answered by the output at its place."""
    answers = tuple(Observation(text, index) for index, text in enumerate(out))
    return Step(Actor.AGENT, message, reasoning, tuple(Command(c) for c in commands), answers)


def texts(reading: Reading, channel: Channel, where: Where = Where()) -> list[str] | None:  # noqa: B008 (a frozen value)
    part = reading.within(channel, where)
    return None if part is None else [text.text for text in part]


def test_only_the_agent_speaks_in_messages_and_commands(attempt: Make) -> None:
    """The user's words are no message; what came back counts in whoever's turn it stands."""
    reading = Reading.of(
        attempt(
            Step(Actor.USER, "please"),
            agent("first", "ls", out=("a.txt",), reasoning="hm"),
            Step(Actor.USER, "go on", observations=(Observation("from the tool"),)),
            agent("", "", out=("",)),
        )
    )
    assert texts(reading, Channel.MESSAGE) == ["first"]
    assert texts(reading, Channel.COMMAND) == ["ls"]
    assert texts(reading, Channel.REASONING) == ["hm"]
    assert texts(reading, Channel.OBSERVATION) == ["a.txt", "from the tool"]


def test_the_last_steps_are_those_that_hold_a_text_of_the_channel(attempt: Make) -> None:
    """Steps without an output do not use up the last two outputs; a step's outputs stay together."""
    reading = Reading.of(
        attempt(
            agent("", "a", out=("1",)), agent("", "b", "c", out=("2", "3")), agent("", "d", out=("4",)), agent("done")
        )
    )
    assert texts(reading, Channel.OBSERVATION, Where(Span.LAST_STEPS, 2)) == ["2", "3", "4"]
    assert texts(reading, Channel.MESSAGE, Where(Span.LAST_STEPS, 2)) == ["done"]


def test_after_the_last_edit_begins_behind_the_edit(attempt: Make) -> None:
    """The edit's own command, output and message are not behind it."""
    reading = Reading.of(
        attempt(
            agent("look", "cat a", out=("old",)),
            agent("write", "echo x > a.txt", "cat a.txt", out=("wrote", "x")),
            agent("check", "pytest", out=("1 passed",)),
        )
    )
    assert texts(reading, Channel.COMMAND, AFTER_EDIT) == ["cat a.txt", "pytest"]
    assert texts(reading, Channel.OBSERVATION, AFTER_EDIT) == ["x", "1 passed"]
    assert texts(reading, Channel.MESSAGE, AFTER_EDIT) == ["check"]


def test_a_command_that_edits_and_then_runs_shows_the_result(attempt: Make) -> None:
    """Its output stands behind the edit; its text does not."""
    reading = Reading.of(attempt(agent("", "echo 1 > a.py; python a.py", out=("1",))))
    assert texts(reading, Channel.OBSERVATION, AFTER_EDIT) == ["1"]
    assert texts(reading, Channel.COMMAND, AFTER_EDIT) == []


def test_without_an_edit_nothing_stands_after_it(attempt: Make) -> None:
    """None says that there is no such part, which is not an empty one."""
    assert texts(Reading.of(attempt(agent("", "ls", out=("a",)))), Channel.OBSERVATION, AFTER_EDIT) is None


def test_cut_texts_do_not_tell_the_last_edit(attempt: Make) -> None:
    """The cut part may have held another edit."""
    run = attempt(agent("", "echo x > a", out=("",)), agent("", "ls", out=("a",)), coverage=Coverage(whole_texts=False))
    assert texts(Reading.of(run), Channel.OBSERVATION, AFTER_EDIT) is None


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([agent("", "ls"), agent("All done.")], "All done."),
        ([agent("All done."), agent("", "ls")], None),
        ([agent("All done."), agent("")], "All done."),
        ([agent("Handing in.", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")], "Handing in."),
        ([agent("", "ls"), agent("Read main.py:1-40")], None),
        ([Step(Actor.AGENT, "All done.", commands=(Command("[x] all", "todo"),))], "All done."),
        ([Step(Actor.AGENT, "On it.", commands=(Command("a.py", "Read"),))], None),
        ([agent("", reasoning="still thinking")], None),
        ([Step(Actor.USER, "hello")], None),
    ],
)
def test_the_final_message_ends_the_run(attempt: Make, steps: list[Step], expected: str | None) -> None:
    """It is the message of the last turn that does nothing but speak or hand in."""
    assert Reading.of(attempt(*steps)).final_message == expected


def test_the_label_is_hidden(attempt: Make) -> None:
    """No feature can see the outcome."""
    label = Reading.of(attempt(agent("a"), label=Label.from_reward(1.0))).trajectory.label
    assert label.kind is LabelKind.UNKNOWN
    assert label.reason == "hidden from features"


def test_released_steps_are_read_once(attempt: Make) -> None:
    """A trajectory without its text in memory is read again, one time."""
    reads: list[int] = []

    def reread() -> tuple[Step, ...]:
        reads.append(1)
        return (agent("one"), agent("two"))

    reading = Reading.of(attempt(agent("one")).released(reread))
    assert texts(reading, Channel.MESSAGE) == ["one", "two"]
    assert reading.final_message == "two"
    assert len(reads) == 1


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (Command("ls -la", "bash"), "ls -la"),
        (Command("ls -la"), "ls -la"),
        (Command('{"path": "a"}', "Read", {"path": "a"}), 'Read\n{"path": "a"}'),
        (Command("", "submit"), "submit"),
    ],
)
def test_commands_as_patterns_see_them(command: Command, expected: str) -> None:
    """A shell line stands alone; another tool's name stands on a line above its arguments."""
    assert shown(command) == expected


def test_what_a_recording_covers(attempt: Make) -> None:
    """An empty run covers nothing, and thoughts are covered where there are any."""
    assert not any(Reading.of(attempt()).covers(channel) for channel in Channel)
    spoken = Reading.of(attempt(agent("hi"), coverage=Coverage(commands=False, observations=False)))
    assert [channel for channel in Channel if spoken.covers(channel)] == [Channel.MESSAGE]
    assert Reading.of(attempt(agent("hi", reasoning="hm"))).covers(Channel.REASONING)
