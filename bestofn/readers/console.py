"""mini-swe-agent's turns as it prints them to the console, for runs of which only the screen was kept."""

from __future__ import annotations

import re

from bestofn.readers import fenced
from bestofn.readers.mini_outputs import output
from bestofn.trajectory import Actor, Observation, Step

_RULE = re.compile(r"\u2500{20,}")
_AGENT = re.compile(r"mini-swe-agent \(step \d+, \$[\d.]+\):")
_USER = "User:"


def turns(screen: str) -> tuple[Step, ...]:
    """The agent's turns on a cleaned screen, none where no turn of mini-swe-agent is printed.

    A line that was wider than the screen stays broken, as it was printed.
    """
    found: list[Step] = []
    said: list[str] | None = None
    shown: list[str] | None = None
    for line in screen.split("\n"):
        if _AGENT.fullmatch(line.rstrip()):
            found.extend(_turn(said, shown))
            said, shown = [], None
        elif said is None or _RULE.match(line):
            continue
        elif line.rstrip() == _USER:
            shown = []
        else:
            (said if shown is None else shown).append(line)
    return tuple(fenced.rewritten([*found, *_turn(said, shown)]))


def _turn(said: list[str] | None, shown: list[str] | None) -> list[Step]:
    """The turn of these lines, if there are any."""
    if said is None:
        return []
    observations: tuple[Observation, ...] = ()
    if shown is not None:
        found = output({"role": "tool", "content": "\n".join(shown).strip("\n")})
        if found is not None:
            observations = (Observation(found.text, None, found.exit_code, found.cut),)
    message, fence, _ = "\n".join(said).rpartition("\n```")
    # Behind the block, only the libraries that the agent uses log what they do.
    return [Step(Actor.AGENT, (message + fence if fence else "\n".join(said)).strip(), observations=observations)]
