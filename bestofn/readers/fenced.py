"""Commands that a model writes into its message as a fenced block, for harnesses without tool calls."""

from __future__ import annotations

import re

from bestofn.trajectory import Actor, Command, Step

TOOL = "bash"
_BLOCK = re.compile(r"```(?:bash|mswea_bash_command)[ \t]*\n(.*?)\n?```", re.DOTALL)


def rewritten(steps: list[Step]) -> list[Step]:
    """The same steps with the one block of a turn that got an answer as its command."""
    return [_rewritten(step) if step.actor is Actor.AGENT and not step.commands else step for step in steps]


def _rewritten(step: Step) -> Step:
    """A turn with several blocks, or without an answer, was not run as it stands."""
    blocks = list(_BLOCK.finditer(step.message)) if step.observations and "```" in step.message else []
    if len(blocks) != 1:
        return step
    block = blocks[0]
    said = f"{step.message[: block.start()].rstrip()}{step.message[block.end() :]}".strip()
    observations = step.observations
    if len(observations) == 1:
        observations = (observations[0]._replace(command=0),)
    return step._replace(message=said, commands=(Command(block[1], TOOL),), observations=observations)
