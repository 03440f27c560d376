"""Reads mini-swe-agent's `.traj.json`: version 1, version 2 (`mini-swe-agent-1.1`), and bare lists of its messages.

The recording has no label. One comes from a report with `resolved_ids` beside it, if there is one (see `resolved`).
Commands stand in `extra.actions`, in tool calls, or in the one fenced block of a message. What came back is a message
of the user or of a tool that holds a return code. The submission is the agent's own product: it is what the command
that submits gave. Of `info` only the exit status, the submission and the cost are read; whatever else a fork of the
harness wrote there, such as its own checks of the patch, reaches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import re2

from bestofn.readers import resolved
from bestofn.readers.document import Document, digest
from bestofn.readers.draft import Draft, Source
from bestofn.readers.messages import is_message, turns
from bestofn.readers.mini_messages import SUBMIT, conversation
from bestofn.readers.places import bare, own_name
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.text import text_of
from bestofn.readers.values import amount, count, items, mapping, name, record_digest, string
from bestofn.trajectory import Actor, Ending, EndingState, Step, Usage

NAME = "mini-swe-agent"
SUMMARY = (
    "mini-swe-agent trajectories (.traj.json), one file an attempt; labels from a report with resolved_ids beside them"
)

_LIMITS = frozenset({"limitsexceeded", "timeexceeded"})
_INFO_KEYS = frozenset({"exit_status", "model_stats", "mini_version", "submission"})
_TASK_TEXT = re2.compile(
    r"(?s)<pr_description>\s*(?:Consider the following PR description:)?\s*(.*?)\s*</pr_description>"
)
_GENERIC = re.compile(
    r"(?i)(?:trajectory|traj|run|attempt|trial|rollout|sample|seed|output|result|last_mini_run)?[-_.]?\d*"
)
"""File names that say nothing of the task."""


def claims(document: Document) -> bool:
    """True for records with mini-swe-agent's `info` or format name, and for lists of messages of its kind."""
    values = _values(document)
    return any(map(_is_record, values[:20])) or _is_bare(values)


def is_companion(document: Document) -> bool:
    """True for the reports and predictions that lie beside recordings of SWE-bench runs."""
    if document.lines is not None:
        return resolved.is_predictions([line.value for line in document.lines])
    return resolved.is_report(document.value) or resolved.is_predictions(document.value)


def read(document: Document, source: Source) -> Iterator[Draft | Problem]:
    """The attempts of a file, in its order."""
    values = _values(document)
    if is_companion(document) and not any(map(_is_record, values)):
        return
    if _is_bare(values):
        yield from _attempt({"messages": values}, None, document.digest, source.relative, source)
        return
    single = document.lines is None and not isinstance(document.value, list)
    for index, record in enumerate(values):
        where = source.relative if single else f"{source.relative}, record {index}"
        if not isinstance(record, dict) or not ("messages" in record or _is_record(record)):
            kind = ProblemKind.NO_TURNS if single else ProblemKind.BAD_LINE
            yield Problem(kind, where, "no record with messages")
            continue
        if document.lines is not None:
            known = digest(document.lines[index].raw)
        else:
            known = document.digest if single else record_digest(record)
        yield from _attempt(record, None if single else index, known, where, source)


def _values(document: Document) -> list[Any]:
    """The file's records, or its messages."""
    if document.lines is not None:
        return [line.value for line in document.lines]
    return document.value if isinstance(document.value, list) else [document.value]


def _is_record(value: Any) -> bool:
    """True for a trajectory with mini-swe-agent's marks. SWE-agent's has its turns in `trajectory` or `history`."""
    if not isinstance(value, dict) or "history" in value or "trajectory" in value:
        return False
    if string(value.get("trajectory_format")).startswith("mini-swe-agent"):
        return True
    return "messages" in value and not _INFO_KEYS.isdisjoint(mapping(value.get("info")))


def _is_bare(values: list[Any]) -> bool:
    """True for messages of which the first speak of the harness's way to submit, or one shows a return code its way."""
    if not values or 2 * sum(map(is_message, values)) <= len(values):
        return False
    texts = [text_of(value["content"]) for value in values if is_message(value) and value["role"] in ("system", "user")]
    return any(mark in text for text in texts[:3] for mark in SUBMIT) or any(
        text.startswith("<returncode>") for text in texts
    )


def _attempt(
    record: dict[str, Any], number: int | None, known: str, where: str, source: Source
) -> Iterator[Draft | Problem]:
    """The attempt of one record, and what is wrong with it."""
    messages, info = record.get("messages"), mapping(record.get("info"))
    talk = conversation(items(messages), string(info.get("submission")))
    found = turns(talk.messages)
    if messages and not found.steps:
        yield Problem(ProblemKind.NO_TURNS, where, "none of its messages has a role and a content")
        return
    if talk.skipped:
        yield Problem(ProblemKind.BAD_LINE, where, f"{talk.skipped} items of its messages are no messages, left out")
    instance = name(record.get("instance_id")) or name(info.get("instance_id")) or _instance(source)
    yield Draft(
        task=instance,
        name=own_name(source) if number is None else f"{bare(source.path.name)}#{number}",
        steps=found.steps,
        label=resolved.label_for(source, instance),
        ending=_ending(string(info.get("exit_status")) or talk.exit_status, talk.exit_text, found.steps),
        # Long outputs are cut for the model as well, so that their lengths are what it saw.
        coverage=found.coverage._replace(whole_texts=True),
        instruction=_task_text(found.first_user_message),
        usage=_usage(info, items(messages)),
        digest=known,
        record=number,
    )


def _instance(source: Source) -> str:
    """The task of a recording that does not name it: its file, or its folder where the file's name says nothing."""
    parts = source.relative.split("/")
    file, folder = bare(parts[-1]), parts[-2] if len(parts) > 1 else ""
    if folder and (_GENERIC.fullmatch(file) or ("__" in folder and "__" not in file)):
        return folder
    return file


def _ending(status: str, text: str, steps: Sequence[Step]) -> Ending:
    """How the run ended: by its exit status, and without one by whether its last command submits."""
    status = status.strip()
    if status.lower() == "submitted":
        return Ending(EndingState.FINISHED, reason="submitted")
    if status.lower() in _LIMITS:
        return Ending(EndingState.TIMED_OUT, reason=status)
    if status:
        first = text.strip().partition("\n")[0][:200]
        return Ending(EndingState.CRASHED, reason=f"{status}: {first}" if first and first != status else status)
    last = next((step for step in reversed(steps) if step.actor is Actor.AGENT and step.commands), None)
    if last is not None and any(mark in command.text for command in last.commands for mark in SUBMIT):
        return Ending(EndingState.FINISHED, reason="its last command submits")
    return Ending(EndingState.UNFINISHED, reason="no exit status, and its last command does not submit")


def _task_text(message: str) -> str:
    """The task in the first message, where the harness's template marks it, else the whole message."""
    marked = _TASK_TEXT.search(message)
    return marked[1] if marked is not None and marked[1] else message


def _usage(info: dict[str, Any], messages: list[Any]) -> Usage:
    """The cost that the harness counted, and the tokens that the service reported with each response."""
    input_tokens = output_tokens = cached_tokens = 0
    for message in messages:
        response = mapping(mapping(mapping(message).get("extra")).get("response")) or mapping(message)
        usage = mapping(response.get("usage"))
        details = mapping(usage.get("prompt_tokens_details")) or mapping(usage.get("input_tokens_details"))
        input_tokens += count(usage.get("prompt_tokens", usage.get("input_tokens"))) or 0
        output_tokens += count(usage.get("completion_tokens", usage.get("output_tokens"))) or 0
        cached_tokens += count(details.get("cached_tokens")) or 0
    return Usage(
        input_tokens=count(input_tokens),
        output_tokens=count(output_tokens),
        cached_tokens=count(cached_tokens),
        cost_usd=amount(mapping(info.get("model_stats")).get("instance_cost")),
    )
