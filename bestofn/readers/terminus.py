"""Terminus recordings: replies kept as the raw JSON or XML of the model, screens padded with empty rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import orjson

from bestofn.readers.text import clean
from bestofn.readers.values import string
from bestofn.trajectory import Actor, Command, Observation, Step

COMPLETE = "mark_task_complete"
"""The tool name under which later recordings keep the agent's word that it is done."""
_CONFIRM = "Are you sure you want to mark the task as complete?"
_NOT_RUN = "Previous response had parsing errors"
_PADDING = re.compile(r"\n{4,}")
_KEYSTROKES = re.compile(r"<keystrokes(?:\s[^>]*)?>(.*?)</keystrokes>", re.DOTALL)
_XML_PART = re.compile(r"<(analysis|plan)>(.*?)</\1>", re.DOTALL)
_XML_COMPLETE = re.compile(r"<task_complete>\s*true\s*</task_complete>")
_TASK = "Task Description:\n"
_SCREEN = "\n\nCurrent terminal state:\n"


def rewritten(steps: list[Step]) -> list[Step]:
    """The same steps with raw replies taken apart into message and commands, and padding gone."""
    return [_rewritten(step) if step.actor is Actor.AGENT else step for step in steps]


def instruction_in(prompt: str) -> str:
    """The task inside the first prompt, which is otherwise the harness's own; without its frame, the whole prompt."""
    _, mark, rest = prompt.partition(_TASK)
    task, end, _ = rest.rpartition(_SCREEN)
    return task.strip() if mark and end else prompt


def confirmed(turns: Sequence[Step]) -> bool:
    """True where the agent said that it is done, was asked again, and said so again as its last act."""
    last, asked = turns[-1], turns[-2] if len(turns) > 1 else None
    if asked is None or not any(_CONFIRM in observation.text for observation in asked.observations):
        return False
    marked = any(command.tool == COMPLETE for step in turns for command in step.commands)
    # Recordings of early versions hold no such call: there, the turn after the question is the answer.
    return any(command.tool == COMPLETE for command in last.commands) if marked else not _asked_again(last)


def _asked_again(step: Step) -> bool:
    return any(_CONFIRM in observation.text for observation in step.observations)


def _rewritten(step: Step) -> Step:
    observations = tuple(o._replace(text=_PADDING.sub("\n\n\n", o.text.rstrip("\n"))) for o in step.observations)
    if step.commands or _refused_by_parser(observations):
        return step._replace(observations=observations)
    reply = _json_reply(step.message) or _xml_reply(step.message)
    if reply is None:
        return step._replace(observations=observations)
    message, commands = reply
    if len(commands) == 1 == len(observations):
        observations = (observations[0]._replace(command=0),)
    return step._replace(message=message, commands=commands, observations=observations)


def _refused_by_parser(observations: tuple[Observation, ...]) -> bool:
    """True where the harness could not read the reply, so that nothing of it ran."""
    return any(observation.text.startswith(_NOT_RUN) for observation in observations)


def _json_reply(message: str) -> tuple[str, tuple[Command, ...]] | None:
    """Message and commands of a reply in JSON, which may stand in a fence or among other words."""
    begin, end = message.find("{"), message.rfind("}")
    if begin < 0 or '"commands"' not in message:
        return None
    try:
        reply = orjson.loads(message[begin : end + 1])
    except orjson.JSONDecodeError:
        return None
    if not isinstance(reply, dict) or not isinstance(reply.get("commands"), list):
        return None
    commands = tuple(_keystrokes(command) for command in reply["commands"] if isinstance(command, dict))
    complete = reply.get("task_complete") is True
    said = (("Analysis", string(reply.get("analysis"))), ("Plan", string(reply.get("plan"))))
    return _message(said), (*commands, *([Command("", COMPLETE)] if complete else []))


def _xml_reply(message: str) -> tuple[str, tuple[Command, ...]] | None:
    """Message and commands of a reply in XML."""
    if "<commands>" not in message:
        return None
    commands = tuple(Command(keys.rstrip("\n"), "bash_command") for keys in _KEYSTROKES.findall(message))
    complete = _XML_COMPLETE.search(message) is not None
    said = [(part.capitalize(), text.strip()) for part, text in _XML_PART.findall(message)]
    return _message(said), (*commands, *([Command("", COMPLETE)] if complete else []))


def _keystrokes(command: dict[str, Any]) -> Command:
    return Command(clean(string(command.get("keystrokes"))).rstrip("\n"), "bash_command", command)


def _message(said: Sequence[tuple[str, str]]) -> str:
    """As the harness itself writes it where it takes its replies apart."""
    return "\n".join(f"{part}: {clean(text)}" for part, text in said if text)
