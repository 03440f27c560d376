"""Terminus recordings: raw replies, padded screens, and completion that must be confirmed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bestofn.readers import terminus
from bestofn.trajectory import Actor, Command, Observation, Step

QUESTION = "$ \n\nAre you sure you want to mark the task as complete?"
REPLY: dict[str, Any] = {
    "analysis": "Empty.",
    "plan": "Look.",
    "commands": [{"keystrokes": "ls -la\n", "duration": 0.1}, {"keystrokes": "C-c"}],
    "task_complete": False,
}


def rewritten(message: str, *outputs: str) -> Step:
    step = Step(Actor.AGENT, message, observations=tuple(Observation(text) for text in outputs))
    return terminus.rewritten([step])[0]


@pytest.mark.parametrize("frame", ["{}", "Here it is:\n```json\n{}\n```", "{}\nThat is all."])
def test_a_raw_json_reply_is_taken_apart(frame: str) -> None:
    """Analysis and plan are the message, keystrokes the commands, whatever stands around the JSON."""
    step = rewritten(frame.replace("{}", json.dumps(REPLY, indent=1)), "$ ")
    assert step.message == "Analysis: Empty.\nPlan: Look."
    assert [(c.text, c.tool) for c in step.commands] == [("ls -la", "bash_command"), ("C-c", "bash_command")]
    assert step.observations == (Observation("$ "),)


def test_a_raw_xml_reply_is_taken_apart() -> None:
    """The older form of the same reply."""
    step = rewritten(
        "<response><analysis>Empty.</analysis><plan>Look.</plan><commands>"
        '<keystrokes duration="0.1">ls\n</keystrokes></commands><task_complete>true</task_complete></response>',
        "$ ",
    )
    assert step.message == "Analysis: Empty.\nPlan: Look."
    assert step.commands == (Command("ls", "bash_command"), Command("", terminus.COMPLETE))


def test_what_cannot_be_read_stays_a_message() -> None:
    """Broken JSON, other JSON, and a reply that the harness refused ran nothing."""
    broken = '{"commands": [{"keystrokes": "ls"'
    for message in (broken, '{"commands": 5}', '{"x": "commands"}', "I am done."):
        assert rewritten(message, "$ ") == Step(Actor.AGENT, message, observations=(Observation("$ "),))
    refused = rewritten(json.dumps(REPLY), "Previous response had parsing errors:\nERROR: Missing field")
    assert refused.commands == ()


def test_one_command_owns_the_one_output() -> None:
    """With several commands on one screen, nothing tells which of them it answers."""
    assert rewritten(json.dumps({**REPLY, "commands": REPLY["commands"][:1]}), "a.c").observations[0].command == 0
    assert rewritten(json.dumps(REPLY), "a.c").observations[0].command is None


def test_padding_of_screens_goes() -> None:
    """Dozens of empty rows say nothing; single ones stay."""
    assert rewritten("x", "$ ls\n\n\n\n\n\n\na\n\nb\n\n\n\n\n").observations[0].text == "$ ls\n\n\na\n\nb"


def test_the_task_stands_inside_the_prompt() -> None:
    """What the harness writes around it is cut away; a prompt without the frame is kept."""
    prompt = "You are ...\nTask Description:\nMake f.\n\nCurrent terminal state:\nCurrent Terminal Screen:\n$ "
    assert terminus.instruction_in(prompt) == "Make f."
    assert terminus.instruction_in("Make f.") == "Make f."


def test_completion_counts_when_it_was_confirmed_last() -> None:
    """The question alone, a change of mind, or work after it is no end."""
    done = (Command("", terminus.COMPLETE),)
    asked = Step(Actor.AGENT, commands=done, observations=(Observation(QUESTION),))
    confirmed = Step(Actor.AGENT, commands=done, observations=(Observation("$ "),))
    went_on = Step(Actor.AGENT, commands=(Command("ls", "bash_command"),), observations=(Observation("a"),))
    assert terminus.confirmed([went_on, asked, confirmed])
    assert not terminus.confirmed([went_on, asked])
    assert not terminus.confirmed([asked, went_on])
    assert not terminus.confirmed([asked, confirmed, went_on])
    assert not terminus.confirmed([confirmed])


def test_early_recordings_keep_the_question_only() -> None:
    """Without recorded marks, the turn after the question is the answer to it."""
    asked = Step(Actor.AGENT, "I am done.", observations=(Observation(QUESTION),))
    answer = Step(Actor.AGENT, "Yes.", observations=(Observation("$ "),))
    assert terminus.confirmed([asked, answer])
    assert not terminus.confirmed([answer, asked])
