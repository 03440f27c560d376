"""Chat messages as steps: OpenAI's shape, its older forms, and the parts that other services put into it.

Calls meet their results by id, and where a recording has none by position, only if that leaves no choice. A call
whose result is not recorded keeps none: no later result is given to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bestofn.readers.calls import command_of
from bestofn.readers.exit_code import output_of
from bestofn.readers.text import clean, text_of
from bestofn.readers.values import items, json_text, mapping, name, return_code, string
from bestofn.trajectory import Actor, Command, Coverage, Observation, Step

_ACTORS = {
    "system": Actor.SYSTEM,
    "developer": Actor.SYSTEM,
    "user": Actor.USER,
    "assistant": Actor.AGENT,
}
RESULT_ROLES = frozenset({"tool", "function"})
ROLES = frozenset(_ACTORS) | RESULT_ROLES
"""The roles of chat messages."""
_THINK = re.compile(r"\s*<think(?:ing)?>(.*?)</think(?:ing)?>\s*", re.DOTALL)
_THOUGHTS = frozenset({"thinking", "reasoning", "reasoning.text", "reasoning.summary"})
"""Types of content parts that are thoughts."""
_CUT = re.compile(r"\(\+\d+ (?:chars?|characters|bytes|lines)\)\s*\Z")
"""How a converter marks a text of which it kept only the beginning."""


@dataclass(frozen=True)
class Turns:
    """What a list of messages came to."""

    steps: tuple[Step, ...]
    skipped: tuple[int, ...] = ()
    """Indices of the list's items that are no messages."""

    @property
    def coverage(self) -> Coverage:
        """What a chat recording can tell: all channels, and whole texts unless it says that it cut them."""
        observations = [observation for step in self.steps for observation in step.observations]
        cut = any(o.cut for o in observations) or any(_CUT.search(c.text) for s in self.steps for c in s.commands)
        return Coverage(exit_codes=any(o.exit_code is not None for o in observations), whole_texts=not cut)

    @property
    def first_user_message(self) -> str:
        """What the user asked for before the agent's first turn."""
        for step in self.steps:
            if step.actor is Actor.AGENT:
                break
            if step.actor is Actor.USER and step.message:
                return step.message
        return ""


def is_message(item: Any) -> bool:
    """True where the item is a chat message: an object with a role and something that was said, called or returned."""
    if not isinstance(item, dict) or not isinstance(item.get("role"), str) or item["role"] not in ROLES:
        return False
    return any(key in item for key in ("content", "tool_calls", "function_call", "refusal", "reasoning_content"))


def turns(messages: Sequence[Any]) -> Turns:
    """The steps of a conversation, in order; what is no message is skipped and named by its index."""
    thread = _Thread()
    skipped: list[int] = []
    for index, message in enumerate(messages):
        if is_message(message):
            thread.add(message)
        else:
            skipped.append(index)
    return Turns(thread.steps(), tuple(skipped))


@dataclass
class _Turn:
    """One step while its results come in."""

    actor: Actor
    message: str = ""
    reasoning: str = ""
    name: str = ""
    commands: list[Command] = field(default_factory=list[Command])
    waiting: dict[int, str] = field(default_factory=dict[int, str])
    """Calls without a result so far: index and id."""
    observations: list[Observation] = field(default_factory=list[Observation])


@dataclass(frozen=True)
class _Result:
    """What a tool returned."""

    id: str
    tool: str
    text: str
    exit_code: int | None
    cut: bool


@dataclass
class _Thread:
    """The turns so far, and the results that stand behind the latest one."""

    turns: list[_Turn] = field(default_factory=list[_Turn])
    nameless: list[_Result] = field(default_factory=list[_Result])
    """Results without an id since the latest turn."""
    callers: dict[str, _Turn] = field(default_factory=dict[str, _Turn])
    """The latest turn that made a call with an id."""

    def add(self, message: dict[str, Any]) -> None:
        """Take one message in."""
        role, content = message["role"], message.get("content")
        if role in RESULT_ROLES:
            self._result(_result(_call_id(message), content, name(message.get("name")), message))
            return
        if role == "user" and isinstance(content, list):
            content = self._without_results(content)
            if not content:
                return
        turn = _Turn(_ACTORS[role], text_of(_said(content)), name=name(message.get("name")))
        if turn.actor is Actor.AGENT:
            turn.message = turn.message or clean(string(message.get("refusal")))
            turn.reasoning = _reasoning(message)
            if not turn.reasoning and (thought := _THINK.match(turn.message)):
                turn.reasoning, turn.message = thought[1].strip(), turn.message[thought.end() :]
        self._settle()
        self.turns.append(turn)
        for call_id, command in _calls(message) if turn.actor is Actor.AGENT else ():
            turn.waiting[len(turn.commands)] = call_id
            turn.commands.append(command)
            if call_id:
                self.callers[call_id] = turn

    def steps(self) -> tuple[Step, ...]:
        """The finished steps."""
        self._settle()
        return tuple(
            Step(t.actor, t.message, t.reasoning, tuple(t.commands), tuple(t.observations), t.name) for t in self.turns
        )

    def _without_results(self, content: list[Any]) -> list[Any]:
        """The parts of a user's message that are no results of tools; those go to their calls."""
        said: list[Any] = []
        for part in content:
            if isinstance(part, dict) and part.get("type") == "tool_result":
                self._result(_result(name(part.get("tool_use_id")), part.get("content")))
            else:
                said.append(part)
        return said

    def _result(self, result: _Result) -> None:
        """Give a result to its call; one without an id waits until all results of its turn are there."""
        if not result.id:
            self.nameless.append(result)
            return
        turn = self.callers.get(result.id)
        call = next((c for c, i in turn.waiting.items() if i == result.id), None) if turn is not None else None
        self._observe(turn if call is not None else None, call, result)

    def _settle(self) -> None:
        """Give the results without an id to the calls of the latest turn, where there is only one way to do it."""
        turn = self.turns[-1] if self.turns else None
        results, self.nameless = self.nameless, []
        for index, result in enumerate(results):
            call = None
            if turn is not None:
                if len(turn.waiting) == len(results) - index:
                    call = next(iter(turn.waiting))
                elif result.tool:
                    named = [waiting for waiting in turn.waiting if turn.commands[waiting].tool == result.tool]
                    call = named[0] if len(named) == 1 else None
            self._observe(turn if call is not None else None, call, result)

    def _observe(self, turn: _Turn | None, call: int | None, result: _Result) -> None:
        """Record a result: with its call, or behind the latest turn of the agent, or alone."""
        if turn is None:
            if not self.turns or self.turns[-1].actor is Actor.USER:
                self.turns.append(_Turn(Actor.SYSTEM))
            turn = self.turns[-1]
        if call is not None:
            del turn.waiting[call]
            if not turn.commands[call].tool:
                turn.commands[call] = turn.commands[call]._replace(tool=result.tool)
        turn.observations.append(Observation(result.text, call, result.exit_code, result.cut))


def _result(call_id: str, content: Any, tool: str = "", message: Mapping[str, Any] | None = None) -> _Result:
    """A tool's result; where the message states no return code, the harness may have written it into the output."""
    text, stated = text_of(content), message or {}
    cut = stated.get("cut") is True or _CUT.search(text) is not None
    if "exit_code" in stated:
        return _Result(call_id, tool, text, return_code(stated["exit_code"]), cut)
    output = output_of(text)
    return _Result(call_id, tool, output.text, output.code, cut)


def _call_id(message: dict[str, Any]) -> str:
    """The id of the call that a result answers."""
    return name(message.get("tool_call_id")) or name(message.get("call_id"))


def _calls(message: dict[str, Any]) -> list[tuple[str, Command]]:
    """(id, command) of every call in a message; one of an unknown shape keeps its whole text."""
    recorded = message.get("tool_calls")
    calls = [_call(call) for call in (recorded if isinstance(recorded, list) else [recorded]) if call is not None]
    if not calls and isinstance(message.get("function_call"), dict):
        calls = [_call(message["function_call"])]
    parts = [part for part in items(message.get("content")) if mapping(part).get("type") == "tool_use"]
    known = {call_id for call_id, _ in calls}
    return calls + [_call(part) for part in parts if name(part.get("id")) not in known]


def _call(call: Any) -> tuple[str, Command]:
    """(id, command) of one call: `function` or `custom` objects, flat ones, or what else stands there."""
    if not isinstance(call, dict):
        return "", Command(clean(call if isinstance(call, str) else json_text(call)))
    inner = next((call[key] for key in ("function", "custom") if isinstance(call.get(key), dict)), call)
    arguments = next((inner[key] for key in ("arguments", "input", "args", "parameters") if key in inner), None)
    tool = name(inner.get("name"))
    if not tool and arguments is None:
        arguments = {key: value for key, value in call.items() if key not in ("id", "type", "index")} or None
    return name(call.get("id")) or name(call.get("call_id")), command_of(tool, arguments)


def _said(content: Any) -> Any:
    """A message's content without the parts that are thoughts."""
    return [part for part in content if not _is_thought(part)] if isinstance(content, list) else content


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and string(part.get("type")) in _THOUGHTS


def _reasoning(message: dict[str, Any]) -> str:
    """What the model thought, under the names that services give it."""
    for key in ("reasoning_content", "reasoning", "thinking"):
        if text := text_of(message.get(key)):
            return text
    parts = [*items(message.get("reasoning_details")), *items(message.get("content"))]
    thoughts = [part for part in parts if _is_thought(part)]
    texts = (part.get("thinking") or part.get("text") or part.get("summary") for part in thoughts)
    return "\n".join(clean(text) for text in texts if isinstance(text, str))
