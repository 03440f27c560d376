"""Commands in fenced blocks of a message."""

from __future__ import annotations

import pytest

from bestofn.readers import fenced
from bestofn.trajectory import Actor, Command, Observation, Step

OUTPUT = (Observation("a.c"),)


@pytest.mark.parametrize("fence", ["bash", "mswea_bash_command"])
def test_the_one_block_of_an_answered_turn_is_its_command(fence: str) -> None:
    """The block leaves the message, and the output is the command's."""
    [step] = fenced.rewritten([Step(Actor.AGENT, f"THOUGHT: look\n\n```{fence}\nls -la\n```", observations=OUTPUT)])
    assert step == Step(
        Actor.AGENT, "THOUGHT: look", commands=(Command("ls -la", "bash"),), observations=(Observation("a.c", 0),)
    )


@pytest.mark.parametrize(
    "step",
    [
        Step(Actor.AGENT, "```bash\na\n```\n```bash\nb\n```", observations=OUTPUT),
        Step(Actor.AGENT, "```bash\nls\n```"),
        Step(Actor.AGENT, "```python\nprint()\n```", observations=OUTPUT),
        Step(Actor.AGENT, "```bash\nls\n```", commands=(Command("pwd"),), observations=OUTPUT),
        Step(Actor.USER, "```bash\nls\n```", observations=OUTPUT),
    ],
    ids=["two blocks", "no answer", "other language", "has a call", "of the user"],
)
def test_other_blocks_stay_words(step: Step) -> None:
    """What the harness did not run is no command."""
    assert fenced.rewritten([step]) == [step]
