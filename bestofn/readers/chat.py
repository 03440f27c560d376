"""Reads plain chat messages in OpenAI's shape: the format to write when no other fits. `data/FORMAT.md` documents it.

A record is one attempt:

    {"task": "fix-build", "id": "fix-build-3", "reward": 1,
     "instruction": "Make the build pass.", "ending": "finished",
     "usage": {"input_tokens": 5210, "output_tokens": 840, "cost_usd": 0.02, "seconds": 71},
     "messages": [
       {"role": "user", "content": "Make the build pass."},
       {"role": "assistant", "content": "I look first.", "tool_calls": [{"id": "c1", "type": "function",
         "function": {"name": "bash", "arguments": "{\\"command\\": \\"make\\"}"}}]},
       {"role": "tool", "tool_call_id": "c1", "content": "ok", "exit_code": 0},
       {"role": "assistant", "content": "The build passes."}]}

A file holds one record, a JSON list of records, or one record a line (JSONL). A bare list of messages, or JSONL with
one message a line, is one attempt whose label is unknown. Only the keys named here (or standing in `metadata` under
the same names) are read: whatever else a record holds, such as `answer` or `score`, reaches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from bestofn.readers.chat_shape import TASK_KEYS, claims
from bestofn.readers.document import Document, digest
from bestofn.readers.draft import Draft, Source
from bestofn.readers.messages import Turns, is_message, turns
from bestofn.readers.places import bare, own_name, task_name
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.text import text_of
from bestofn.readers.values import (
    amount,
    count,
    items,
    mapping,
    name,
    number,
    quoted,
    record_digest,
    reward_label,
    string,
)
from bestofn.trajectory import Ending, EndingState, Label, LabelKind, Usage

__all__ = ["NAME", "SUMMARY", "claims", "read"]

NAME = "chat"
SUMMARY = (
    "OpenAI chat messages: JSON or JSONL, one record an attempt (our own simple format), or a bare list of messages"
)

_TOO_LONG = " of at most 19 digits"
_PASS, _FAIL = frozenset({"pass", "passed"}), frozenset({"fail", "failed"})
_ENDINGS = {
    "finished": EndingState.FINISHED,
    "timed_out": EndingState.TIMED_OUT,
    "unfinished": EndingState.UNFINISHED,
    "crashed": EndingState.CRASHED,
    "refused": EndingState.FINISHED,
    "unknown": EndingState.UNKNOWN,
}


class _Record(NamedTuple):
    """One attempt of a file."""

    value: dict[str, Any]
    digest: str
    number: int | None
    where: str
    """File and record, for problems."""
    bare: bool = False
    """True for messages that no record holds."""


def read(document: Document, source: Source) -> Iterator[Draft | Problem]:
    """The attempts of a file, in its order."""
    for found in _records(document, source.relative):
        if isinstance(found, Problem):
            yield found
        else:
            yield from _attempt(found, source)


def _records(document: Document, where: str) -> Iterator[_Record | Problem]:
    """The records of a file; a list of messages is wrapped as one."""
    if document.lines is not None:
        values = [(line.value, f"{where}, line {line.number}", line.raw) for line in document.lines]
    elif isinstance(document.value, list):
        values = [(value, f"{where}, record {index}", b"") for index, value in enumerate(document.value)]
    elif isinstance(document.value, dict):
        yield _Record(document.value, document.digest, None, where)
        return
    else:
        yield Problem(ProblemKind.NO_TURNS, where, "it holds neither a record nor messages")
        return
    messages = [value for value, _, _ in values]
    if sum(map(is_message, messages)) > sum("messages" in mapping(value) for value in messages):
        yield _Record({"messages": messages}, document.digest, None, where, bare=True)
        return
    for index, (value, place, raw) in enumerate(values):
        if isinstance(value, dict) and "messages" in value:
            yield _Record(value, digest(raw) if raw else record_digest(value), index, place)
        else:
            yield Problem(ProblemKind.BAD_LINE, place, "no record with messages")


def _attempt(record: _Record, source: Source) -> Iterator[Draft | Problem]:
    """The attempt of one record, and what is wrong with it."""
    messages = record.value.get("messages")
    found = turns(items(messages))
    if messages is not None and not found.steps and messages != []:
        yield Problem(ProblemKind.NO_TURNS, record.where, "none of its messages has a role and a content")
        return
    task, wrong = _task(record.value)
    if wrong:
        # Under the file's name it would be an attempt at a task that it does not state.
        yield Problem(ProblemKind.BAD_LINE, record.where, wrong)
        return
    if found.skipped:
        more = f" and {len(found.skipped) - 1} more are" if len(found.skipped) > 1 else " is"
        yield Problem(ProblemKind.BAD_LINE, record.where, f"message {found.skipped[0]}{more} no chat message, left out")
    label = Label.unknown("no label in this format") if record.bare else _label(record.value)
    if conflict := _conflict(record.value):
        yield Problem(ProblemKind.LABEL_CONFLICT, record.where, conflict)
        label = label._replace(reason=conflict)
    yield _draft(record, task, found, label, source)


def _task(record: dict[str, Any]) -> tuple[str, str]:
    """(the task's name, what is wrong with it): the first that is text or a number; nothing where none is stated."""
    wrong = ""
    for key in TASK_KEYS:
        if key not in record and key not in mapping(record.get("metadata")):
            continue
        value = _field(record, key)
        if task := name(value):
            return task, ""
        wrong = wrong or f"{key} is {quoted(value)}: give text or a number{_TOO_LONG if number(value) else ''}"
    return "", wrong


def _draft(record: _Record, task: str, found: Turns, label: Label, source: Source) -> Draft:
    """The attempt with everything that the record says of it."""
    own = name(_field(record.value, "id"))
    numbered = f"{bare(source.path.name)}#{record.number}"
    return Draft(
        task=task or task_name(source),
        name=own or (own_name(source) if record.number is None else numbered),
        steps=found.steps,
        label=label,
        ending=_ending(_field(record.value, "ending")),
        coverage=found.coverage,
        instruction=text_of(_field(record.value, "instruction")) or found.first_user_message,
        usage=_usage(mapping(_field(record.value, "usage"))),
        digest=record.digest,
        record=record.number,
    )


def _field(record: dict[str, Any], key: str) -> Any:
    """What the record says under a key, or its `metadata` does."""
    return record[key] if key in record else mapping(record.get("metadata")).get(key)


def _label(record: dict[str, Any]) -> Label:
    """The label: `reward` where it is usable, else `label`, else unknown and why."""
    reason = string(_field(record, "label_reason")).strip()
    reward, word = _field(record, "reward"), _field(record, "label")
    remarks: list[str] = []
    for label in (
        reward_label(reward) if reward is not None else None,
        _word_label(word) if word is not None else None,
    ):
        if label is not None and label.kind is not LabelKind.UNKNOWN:
            return label._replace(reason="; ".join([*remarks, reason] if reason else remarks))
        if label is not None:
            remarks.append(label.reason)
    if not remarks:
        remarks = [f"{key} is null" for key in ("reward", "label") if key in record]
    stated = "; ".join(remarks) or "the record has neither reward nor label"
    return Label.unknown(f"{stated}: {reason}" if reason else stated)


def _word_label(value: Any) -> Label:
    """The label for `label`: pass, fail, unknown, or what could stand as a reward."""
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in _PASS:
        return Label.from_reward(1.0)
    if word in _FAIL:
        return Label.from_reward(0.0)
    if word == "unknown":
        return Label.unknown("label is 'unknown'")
    return reward_label(value, "label")


def _conflict(record: dict[str, Any]) -> str:
    """What to say where reward and label state opposite outcomes; the reward is taken."""
    reward, word = _field(record, "reward"), _field(record, "label")
    if reward is None or word is None:
        return ""
    stated = {reward_label(reward).kind, _word_label(word).kind}
    if stated != {LabelKind.PASS, LabelKind.FAIL}:
        return ""
    return f"reward is {quoted(reward)} and label is {quoted(word)}; the reward was taken"


def _ending(value: Any) -> Ending:
    """How the run ended, as the record says; a plain conversation has no end marker."""
    word = string(value).strip().lower().replace(" ", "_").replace("-", "_")
    if word not in _ENDINGS:
        return Ending(reason=f"ending is {quoted(value)}, which is not one of {', '.join(_ENDINGS)}" if word else "")
    return Ending(_ENDINGS[word], refused=True if word == "refused" else None)


def _usage(usage: dict[str, Any]) -> Usage:
    """What was counted, under our names or OpenAI's."""
    return Usage(
        input_tokens=count(usage.get("input_tokens", usage.get("prompt_tokens"))),
        output_tokens=count(usage.get("output_tokens", usage.get("completion_tokens"))),
        cached_tokens=count(usage.get("cached_tokens")),
        cost_usd=amount(usage.get("cost_usd")),
        seconds=amount(usage.get("seconds")),
    )
