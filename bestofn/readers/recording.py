"""What one ATIF trajectory holds: its steps in channels, its ending, and what it can tell at all.

ATIF is one format written by many harnesses. What is peculiar to one of them lies in a module of its own
(`forge`, `terminus`), which rewrites the steps found here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from bestofn.readers import fenced, forge, terminus
from bestofn.readers.calls import command_of
from bestofn.readers.ending import ending_of
from bestofn.readers.exit_code import code_in, output_of
from bestofn.readers.harness import CLAUDE_CODE, FORGE, MINI_SWE_AGENT, TERMINUS, harness_of
from bestofn.readers.mini_outputs import output
from bestofn.readers.text import clean, text_of
from bestofn.readers.values import amount, count, items, mapping, name
from bestofn.trajectory import Actor, Command, Coverage, Ending, Observation, Step, Usage

_ACTORS = {
    "agent": Actor.AGENT,
    "assistant": Actor.AGENT,
    "user": Actor.USER,
    "system": Actor.SYSTEM,
    "environment": Actor.SYSTEM,
}
_CUT = re.compile(r"\(\+\d+ (?:chars?|characters|bytes|lines)\)\Z")
"""How a converter marks a text of which it kept only the beginning."""
_CUT_MARK = 40
"""Characters at the end of a text in which the mark stands."""
_ECHO = re.compile(r"(?:Execute \[[^\]\n]*\]|Executed|Running command:|(?:Read|Writ|Edit)ing file:) ?")
"""Begins a message that a harness makes up to say again which call the step makes."""


NOTHING_RECORDED = Coverage(commands=False, observations=False, messages=False)
"""What an attempt without any turn of the agent can tell."""


class Recording(NamedTuple):
    """One attempt as its ATIF trajectory tells it; labels are never part of it."""

    steps: tuple[Step, ...]
    instruction: str
    ending: Ending
    coverage: Coverage
    usage: Usage


def recording_of(trajectories: Sequence[Mapping[str, Any]]) -> Recording | None:
    """The attempt in a trajectory and its continuations, in order; None where it has steps but no known turn.

    Steps keep the order of the file: timestamps contradict it often enough. Copied context is left out, as are the
    turns of sub-agents where their steps stand among the others.
    """
    records = [record for trajectory in trajectories for record in items(trajectory.get("steps"))]
    first = trajectories[0]
    harness = harness_of(first)
    steps = [turn for record in _own(records) if (turn := _turn(record, harness)) is not None]
    if records and not steps:
        return None
    rewrite = _dialect(harness)
    steps = rewrite(steps) if rewrite is not None else steps
    instruction = next((step.message for step in steps if step.actor is Actor.USER and step.message), "")
    if harness.startswith(TERMINUS):
        instruction = terminus.instruction_in(instruction)
    converted = name(first.get("schema_version")).startswith("capy-converted")
    return Recording(
        tuple(steps),
        instruction,
        ending_of(harness, steps),
        _coverage(harness, steps, whole=not converted),
        _usage(trajectories[-1], records),
    )


def _own(records: Iterable[Any]) -> list[dict[str, Any]]:
    """The records that are new in this trajectory and the main agent's own."""
    new = [record for record in records if isinstance(record, dict) and record.get("is_copied_context") is not True]
    main = [record for record in new if not (record.get("extra") and mapping(record["extra"]).get("is_sidechain"))]
    return main or new


def _dialect(harness: str) -> Callable[[list[Step]], list[Step]] | None:
    """What takes a harness's peculiar steps apart, None where it has none."""
    if harness == FORGE:
        return forge.rewritten
    if harness.startswith(TERMINUS):
        return terminus.rewritten
    return fenced.rewritten if harness == MINI_SWE_AGENT else None


def _turn(record: dict[str, Any], harness: str) -> Step | None:
    """One step, None where the record is none."""
    source = record.get("source")
    actor = _ACTORS.get(source) if isinstance(source, str) else None
    if actor is None:
        return None
    said = record.get("message")
    thought = record.get("reasoning_content")
    reasoning = text_of(thought) if thought else ""
    calls = record.get("tool_calls")
    commands: tuple[Command, ...] = ()
    ids: list[str] = []
    if isinstance(calls, list):
        commands = tuple([_command(call, harness) for call in calls])
        ids = [name(call.get("tool_call_id")) if isinstance(call, dict) else "" for call in calls]
        if isinstance(said, str) and _repeats(said, commands, ids):
            said = ""
    message = text_of(said) if said else ""
    # One converter writes a message that comes with calls into both places.
    if reasoning == message:
        reasoning = ""
    observed = record.get("observation")
    observations = _observations(observed, commands, ids, harness) if observed else ()
    return Step(actor, message, reasoning, commands, observations)


def _command(call: Any, harness: str) -> Command:
    """One call; keystrokes lose the Enter that ends them."""
    if not isinstance(call, dict):
        return command_of("", call)
    tool = name(call.get("function_name")) or name(call.get("tool_name")) or name(call.get("name"))
    arguments = call.get("arguments")
    if tool == forge.SHELL and harness == FORGE and isinstance(arguments, dict) and len(arguments) == 1:
        line = arguments.get("command")
        if isinstance(line, str):
            return Command(clean(line), tool, arguments)
    command = command_of(tool, arguments)
    if command.arguments and "keystrokes" in command.arguments:
        return command._replace(text=command.text.rstrip("\n"))
    return command


def _repeats(message: str, commands: tuple[Command, ...], ids: list[str]) -> bool:
    """True where the message is the harness's own naming of the call, so that nobody said it."""
    if len(commands) != 1 or (begin := _ECHO.match(message)) is None:
        return False
    rest = message[begin.end() :]
    command = commands[0]
    return rest in (command.text, f"{command.tool} {ids[0]}", *(command.arguments or {}).values())


def _observations(
    observed: Any, commands: tuple[Command, ...], ids: list[str], harness: str
) -> tuple[Observation, ...]:
    """What came back, each with its call: by id; by position only where there are as many results as calls."""
    if isinstance(observed, str):
        observed = [{"content": observed}]
    listed = observed.get("results") if isinstance(observed, dict) else observed
    results = [result for result in items(listed) if isinstance(result, dict)]
    by_position = len(results) == len(commands) and not any(result.get("source_call_id") for result in results)
    found: list[Observation] = []
    answered: set[int | None] = set()
    for index, result in enumerate(results):
        content = result.get("content")
        if content is None:
            # No output was recorded, which is not an empty one; references to sub-agents have none.
            continue
        call = index if by_position else _index(ids, result.get("source_call_id"))
        if call in answered:
            call = None
        answered.add(call)
        tool = commands[call].tool if call is not None else ""
        found.append(_observation(content, result, call, tool, harness))
    return tuple(found)


def _index(ids: list[str], call_id: Any) -> int | None:
    """Which call a result answers."""
    wanted = name(call_id)
    return ids.index(wanted) if wanted and wanted in ids else None


def _observation(content: Any, result: dict[str, Any], call: int | None, tool: str, harness: str) -> Observation:
    """One result with its return code, where the harness recorded one."""
    text = content if isinstance(content, str) else text_of(content)
    if harness == FORGE:
        return Observation(clean(text), call)
    if harness == MINI_SWE_AGENT:
        shown = output({"role": "tool", "content": text, "extra": result.get("extra")})
        if shown is not None:
            return Observation(shown.text, call, shown.exit_code, shown.cut)
    code = code_in(result.get("extra"))
    if harness == CLAUDE_CODE:
        text, code = _claude_output(text, tool, code)
    else:
        text, written = output_of(text)
        code = written if code is None else code
    text = clean(text)
    return Observation(text, call, code, _is_cut(text))


def _claude_output(text: str, tool: str, code: int | None) -> tuple[str, int | None]:
    """A result of Claude Code without the second copy of itself that the converter adds to it.

    Its shell prefixes the output of a failing command with its exit code, so one without the prefix succeeded.
    """
    head, mark, tail = text.partition("\n\n[stdout]\n")
    if mark and tail.startswith(head):
        text = head + tail[len(head) :]
    text, _, metadata = text.partition("\n[metadata] {")
    if metadata.endswith("[error] tool reported failure"):
        text = f"{text.rstrip()}\n[error] tool reported failure"
    _, written = output_of(text)
    code = written if code is None else code
    if code is None and tool == "Bash" and text and "[error]" not in text and "in background" not in text:
        code = 0
    return text, code


def _coverage(harness: str, steps: list[Step], *, whole: bool) -> Coverage:
    """What this recording can tell."""
    begun = commands = observations = messages = codes = False
    for step in steps:
        if step.actor is not Actor.AGENT:
            continue
        begun = True
        messages = messages or bool(step.message)
        for command in step.commands:
            commands = True
            whole = whole and not _is_cut(command.text)
        for observation in step.observations:
            observations = True
            codes = codes or observation.exit_code is not None
            whole = whole and not (observation.cut and _is_cut(observation.text))
    if not begun:
        return NOTHING_RECORDED
    return Coverage(
        commands=commands or not observations,
        observations=observations or not commands,
        messages=messages or harness == FORGE,
        exit_codes=codes,
        whole_texts=whole,
    )


def _is_cut(text: str) -> bool:
    """True where a converter says at the end of the text that it left the rest out."""
    return text.endswith(")") and _CUT.search(text[-_CUT_MARK:]) is not None


def _usage(last: Mapping[str, Any], records: list[Any]) -> Usage:
    """The totals of the last part, which count all parts before it."""
    totals = mapping(last.get("final_metrics"))
    return Usage(
        count(totals.get("total_prompt_tokens")),
        count(totals.get("total_completion_tokens")),
        count(totals.get("total_cached_tokens")),
        amount(totals.get("total_cost_usd")),
        seconds_between(mapping(record).get("timestamp") for record in records),
    )


def seconds_between(timestamps: Iterable[Any]) -> float | None:
    """Seconds from the first to the last, None unless all are ISO dates of one kind that never run backwards."""
    moments: list[datetime] = []
    for text in timestamps:
        if not isinstance(text, str) or len(text) < len("2026-01-01T00:00"):
            return None
        try:
            moments.append(datetime.fromisoformat(text))
        except ValueError:
            return None
    if len(moments) < 2 or len({moment.tzinfo is None for moment in moments}) > 1:
        return None
    if any(later < earlier for earlier, later in pairwise(moments)):
        return None
    return (moments[-1] - moments[0]).total_seconds() or None
