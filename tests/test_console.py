"""Turns that mini-swe-agent printed to a screen."""

from __future__ import annotations

from bestofn.readers.console import turns
from bestofn.trajectory import Actor, Command, Observation, Step

RULE = "\u2500" * 80
SCREEN = f"""$ mini -t 'Make f.'
System:
You work in a shell.
{RULE}
User:
Make f.
{RULE}
mini-swe-agent (step 1, $0.00):
THOUGHT: I look.
```bash
ls
```
06:50:45 - LiteLLM:ERROR: a library's own talk
User:
<returncode>1</returncode>
<output>
no such
</output>
{RULE}
mini-swe-agent (step 2, $0.01):
THOUGHT: I stop here."""


def test_turns_come_with_command_output_and_return_code() -> None:
    """What stands before the first turn is the prompt; what libraries log behind a block is nobody's word."""
    assert turns(SCREEN) == (
        Step(Actor.AGENT, "THOUGHT: I look.", "", (Command("ls", "bash"),), (Observation("no such", 0, 1),)),
        Step(Actor.AGENT, "THOUGHT: I stop here."),
    )


def test_a_screen_without_turns_gives_none() -> None:
    """Other agents' screens are left as they are."""
    assert turns("$ openhands --task x\nUser:\nhello") == ()
