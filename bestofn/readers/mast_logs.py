"""Takes apart the two log formats of the MAST collection: HyperAgent's lines and MetaGPT's one text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import re2

from bestofn.readers.blocks import without
from bestofn.readers.text import clean
from bestofn.readers.values import amount, string
from bestofn.trajectory import Actor, Command, Coverage, Ending, EndingState, Step, Usage

_HYPER_HEAD = re.compile(r"(?m)^HyperAgent_\S* - [A-Z]+ - ")
_HYPER_TURN = re.compile(r"([\w -]{1,60}?)(?:'s Response|->([\w -]{1,60}?)): ?")
"""Who speaks in an entry, and to whom; all other entries are of the program itself."""
_ACTION = re2.compile(r"(?s)Action:\s*\n```[ \t]*(\w*)[ \t]*\n(.*?)\n[ \t]*```")
_META_HEAD = re2.compile(r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)? *\| *[A-Z]+ *\| *[^\n|]*? - ([^\n]*)\n?")
_META_TURN = re.compile(r"(\w[^:()\n]{0,60}(?:\([^()\n]{1,60}\))?): to do ")
_TASK_LENGTH = 200


class Recorded(NamedTuple):
    """What a recording came to, whatever form it had."""

    steps: tuple[Step, ...]
    ending: Ending
    coverage: Coverage
    instruction: str = ""
    usage: Usage = Usage()
    task: str = ""
    """A name for the task where the record has no id."""
    skipped: int = 0
    """Items that are no turns."""


def _entries(head: Any, text: str) -> Iterator[tuple[Any, str]]:
    """The entries of a log: each head with what stands below it up to the next."""
    heads = list(head.finditer(text))
    for index, found in enumerate(heads):
        end = heads[index + 1].start() if index + 1 < len(heads) else len(text)
        yield found, text[found.end() : end].strip()


def hyperagent(lines: Sequence[str]) -> Recorded:
    """The turns of a HyperAgent log: planner and inner agents, with the code they had run. No outputs are recorded."""
    text = clean("\n".join(lines))
    steps = tuple(_hyper_step(body) for _, body in _entries(_HYPER_HEAD, text))
    planned = [step.message for step in steps if step.name == "Planner"]
    ending = Ending()
    if planned and ("Final Answer:" in planned[-1] or "terminated=true" in planned[-1]):
        ending = Ending(EndingState.FINISHED, reason="the planner's final answer")
    return Recorded(steps, ending, Coverage(observations=False))


def _hyper_step(entry: str) -> Step:
    """One entry of the log."""
    turn = _HYPER_TURN.match(entry)
    if turn is None:
        return Step(Actor.SYSTEM, entry)
    said = entry[turn.end() :]
    if turn[2]:
        return Step(Actor.AGENT, said, name=f"{turn[1]} to {turn[2]}")
    actions = list(_ACTION.finditer(said))
    commands = tuple(Command(action[2], action[1].lower() or "python") for action in actions)
    return Step(Actor.AGENT, without(said, actions), commands=commands, name=turn[1])


def is_metagpt(value: Any) -> bool:
    """True for `{run_id, prompt, content}` whose content is a log of actions."""
    if not isinstance(value, dict) or "run_id" not in value or "prompt" not in value:
        return False
    return _META_HEAD.search(string(value.get("content"))[:100_000]) is not None


def metagpt(record: dict[str, Any]) -> Recorded:
    """The turns of a MetaGPT log: one for each action, with what the role wrote. Nothing tells what was run."""
    text = clean(string(record["content"]))
    steps = tuple(_meta_step(head[1], body) for head, body in _entries(_META_HEAD, text))
    prompt = clean(string(record["prompt"])).strip()
    return Recorded(
        steps,
        Ending(),
        Coverage(commands=False, observations=False),
        instruction=prompt,
        usage=Usage(cost_usd=amount(record.get("cost"))),
        task=" ".join(prompt.split())[:_TASK_LENGTH],
    )


def _meta_step(head: str, body: str) -> Step:
    """One entry of the log; an action that wrote nothing keeps its head line."""
    turn = _META_TURN.match(head)
    if turn is None:
        return Step(Actor.SYSTEM, f"{head}\n{body}".strip())
    return Step(Actor.AGENT, body or head, name=turn[1])
