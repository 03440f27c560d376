"""Lays a recorded run out as a flat list of labelled texts, in the order in which they came about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

import orjson

from bestofn.rendering.words import Words
from bestofn.trajectory import Actor, Command, Observation, Step, Trajectory

_ECHO = 40
"""Longest prefix of a message that only repeats its command, such as `Execute [/bin/sh] `."""
_NO_NAME = re.compile(r"[^A-Za-z0-9_.:/-]+")
_NAME_LENGTH = 60


class Kind(StrEnum):
    """What a text is."""

    COMMAND = "command"
    OUTPUT = "output"
    MESSAGE = "message"
    REASONING = "reasoning"
    USER = "user"
    SYSTEM = "system"


class Entry(NamedTuple):
    """One text of a run."""

    step: int
    """1-based number of its step, counted over all steps of the recording."""
    kind: Kind
    title: str
    """What stands in its head line, with `{}` for each of the names."""
    text: str
    """As recorded."""
    remark: str = ""
    """What the head line says besides, such as that no output is recorded."""
    names: tuple[str, ...] = ()
    """Names of the agent and the tool, as recorded: to be redacted and made plain before they stand in a head line."""
    command: Command | None = None
    """The command itself, for those who ask what it did."""


def entries(trajectory: Trajectory, words: Words, *, reasoning: bool = False) -> tuple[list[Entry], int]:
    """The texts of a run, and how many characters of reasoning were left out.

    A message that only repeats the command below it is left out: the command says the same.
    """
    found: list[Entry] = []
    unsaid = 0
    for number, step in enumerate(trajectory.steps, start=1):
        if step.reasoning.strip():
            if reasoning:
                title = _titled(words.titles["reasoning"], step)
                found.append(Entry(number, Kind.REASONING, title, step.reasoning, names=_speaker(step)))
            else:
                unsaid += len(step.reasoning)
        if step.message.strip() and not _echoes(step):
            found.append(Entry(number, *_voice(step, words), step.message, names=_speaker(step)))
        found.extend(_actions(number, step, words, trajectory.coverage.observations))
    return found, unsaid


def instruction(trajectory: Trajectory, found: list[Entry]) -> tuple[str, int | None]:
    """The task as the agent was given it, and the index of the entry that holds it and nothing else.

    Where the recording does not keep the task apart, the user's first message before any turn of the agent is it.
    """
    task = trajectory.instruction.strip()
    for index, entry in enumerate(found):
        if task and entry.text.strip() == task:
            return task, index
        if entry.kind not in (Kind.USER, Kind.SYSTEM):
            break
        if not task and entry.kind is Kind.USER:
            return entry.text.strip(), index
    return task, None


def _voice(step: Step, words: Words) -> tuple[Kind, str]:
    """Who speaks in a step's message."""
    if step.actor is Actor.AGENT:
        return Kind.MESSAGE, _titled(words.titles["message"], step)
    if step.actor is Actor.USER:
        return Kind.USER, words.titles["user"]
    return Kind.SYSTEM, words.titles["system"]


def _actions(number: int, step: Step, words: Words, recorded: bool) -> Iterator[Entry]:
    """The commands of a step, each followed by what came back for it; what names no command comes last."""
    told = all(observation.command is not None for observation in step.observations)
    answers: dict[int, list[Observation]] = {}
    loose: list[Observation] = []
    for observation in step.observations:
        known = observation.command is not None and 0 <= observation.command < len(step.commands)
        (answers.setdefault(observation.command or 0, []) if known else loose).append(observation)
    for index, command in enumerate(step.commands):
        remark = words.notes["no_result"] if recorded and told and index not in answers else ""
        title, names = _command_title(command, step, words)
        yield Entry(number, Kind.COMMAND, title, shown(command), remark, names, command)
        yield from (_output(number, observation, words) for observation in answers.get(index, ()))
    yield from (_output(number, observation, words) for observation in loose)


def _output(number: int, observation: Observation, words: Words) -> Entry:
    code = "" if observation.exit_code is None else f", exit code {observation.exit_code}"
    remark = words.notes["partial_output"] if observation.cut else ""
    return Entry(number, Kind.OUTPUT, words.titles["output"] + code, observation.text, remark)


def shown(command: Command) -> str:
    """A command as a person would write it: the shell line, or one `name: value` a line for a call's arguments."""
    from bestofn.featurize.activity import is_shell

    if is_shell(command.tool) or not command.arguments:
        return command.text
    return "\n".join(f"{name}:{_value(value)}" for name, value in command.arguments.items())


def _value(value: object) -> str:
    """An argument behind its name; a text of several lines begins on a line of its own."""
    if isinstance(value, str):
        return f"\n{value}" if "\n" in value else f" {value}"
    if isinstance(value, Mapping):
        value = dict(value)
    try:
        return " " + orjson.dumps(value).decode()
    except (TypeError, orjson.JSONEncodeError):
        return f" {value}"


def _command_title(command: Command, step: Step, words: Words) -> tuple[str, tuple[str, ...]]:
    """The title of a command and the names in it."""
    from bestofn.featurize.activity import is_shell

    if not is_shell(command.tool):
        return f"{_titled(words.titles['call'], step)} {{}}", (*_speaker(step), command.tool)
    title = _titled(words.titles["command"], step)
    return (f"{title} ({{}})", (*_speaker(step), command.tool)) if command.tool else (title, _speaker(step))


def _titled(title: str, step: Step) -> str:
    """A title with a place for the speaking agent's name, where there are several agents."""
    return title.replace("agent", "agent {}", 1) if _speaker(step) else title


def _speaker(step: Step) -> tuple[str, ...]:
    """The speaking agent's name, where the recording has one."""
    return (step.name,) if step.name.strip() and step.actor is Actor.AGENT else ()


def plain_name(name: str) -> str:
    """A recorded name as it may stand in a line of ours: plain characters only, cut to a length."""
    return _NO_NAME.sub("_", name.strip())[:_NAME_LENGTH]


def _echoes(step: Step) -> bool:
    """True where the message is the first command once more, with at most a few words before it."""
    if not step.commands or step.actor is not Actor.AGENT:
        return False
    said, ran = step.message.strip(), step.commands[0].text.strip()
    return (
        bool(ran) and said.endswith(ran) and len(said) - len(ran) <= _ECHO and "\n" not in said[: len(said) - len(ran)]
    )
