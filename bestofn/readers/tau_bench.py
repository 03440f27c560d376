"""Reads tau-bench results: a JSON list of dialogues `{task_id, reward, info, traj, trial}` with a simulated user.

The label is the reward. What the user was told to want, the expected actions and outputs (`info.task`) and the
checker's report (`info.reward_info`) reach nothing; of `info` only `error` is read. A task is its id, so one pool
holds one domain (airline, retail); several files over the same ids are further attempts. `trial` is no identity:
there are files in which it repeats the task's id.

A crashed rollout is stored as reward 0, no turns and `info.error`. That 0 is what the harness writes for want of an
outcome, so the label is unknown, the ending crashed, and the reason the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bestofn.readers.calls import command_of
from bestofn.readers.document import Document, digest, parse_json
from bestofn.readers.draft import Draft, Source
from bestofn.readers.messages import turns
from bestofn.readers.places import bare, task_name
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.values import items, mapping, name, number, quoted, record_digest, reward_label, string
from bestofn.trajectory import Actor, Ending, EndingState, Label, LabelKind, Observation, Step

NAME = "tau-bench"
SUMMARY = "tau-bench results: a list of dialogues with a simulated user, one record an attempt"

_STOP = "###STOP###"
"""What the simulated user says when it has what it came for."""
_TRANSFER = "transfer_to_human"
"""How the tool's name begins that ends a dialogue."""
_ACTION_MARK = "Action:"
"""What stands between thought and call, written as JSON, in a turn of the text-only agents."""
_API_OUTPUT = "API output: "
_RESPOND = "respond"
"""The call by which a text-only agent speaks to the user."""


def claims(document: Document) -> bool:
    """True for a list of records (or one) with a task's id and a `traj`."""
    return any(map(_is_record, _values(document)[:20]))


def read(document: Document, source: Source) -> Iterator[Draft | Problem]:
    """The dialogues of a file, in its order."""
    raws = [line.raw for line in document.lines] if document.lines is not None else []
    values = _values(document)
    for index, record in enumerate(values):
        where = f"{source.relative}, record {index}"
        if not isinstance(record, dict) or "traj" not in record:
            yield Problem(ProblemKind.BAD_LINE, where, "no record with a traj")
            continue
        known = digest(raws[index]) if raws else record_digest(record)
        yield from _attempt(record, index, known, where, source)


def _values(document: Document) -> list[Any]:
    """The file's records."""
    if document.lines is not None:
        return [line.value for line in document.lines]
    return document.value if isinstance(document.value, list) else [document.value]


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and "traj" in value and ("task_id" in value or "reward" in value)


def _attempt(record: dict[str, Any], index: int, known: str, where: str, source: Source) -> Iterator[Draft | Problem]:
    """The attempt of one record, and what is wrong with it."""
    found = turns(items(record["traj"]))
    if record["traj"] is not None and record["traj"] != [] and not found.steps:
        yield Problem(ProblemKind.NO_TURNS, where, "none of the items of its traj is a chat message")
        return
    if found.skipped:
        yield Problem(
            ProblemKind.BAD_LINE, where, f"{len(found.skipped)} items of its traj are no chat messages, left out"
        )
    steps = _with_calls(found.steps)
    info, label = mapping(record.get("info")), reward_label(record.get("reward"))
    checked = mapping(info.get("reward_info")).get("reward")
    if number(checked) is not None and label.kind is not LabelKind.UNKNOWN and number(checked) != label.value:
        conflict = f"reward is {label.value:g} and reward_info has {number(checked):g}; the reward was taken"
        yield Problem(ProblemKind.LABEL_CONFLICT, where, conflict)
        label = label._replace(reason=conflict)
    ending = _ending(steps, info)
    if ending.state is EndingState.CRASHED and number(checked) is None:
        label = Label.unknown(f"{ending.reason}; the recorded reward is {quoted(record.get('reward'))}")
    yield Draft(
        task=name(record.get("task_id")) or task_name(source),
        name=f"{bare(source.path.name)}#{index}",
        steps=steps,
        label=label,
        ending=ending,
        coverage=found.coverage,
        instruction=found.first_user_message,
        digest=known,
        record=index,
    )


def _ending(steps: Sequence[Step], info: dict[str, Any]) -> Ending:
    """How the dialogue ended: a crash, the user's stop, a transfer to a human, or the limit of turns."""
    error = string(info.get("error")).strip()
    if error or not steps:
        what = f"crashed: {error.splitlines()[0][:200]}" if error else "crashed: no turn is recorded"
        return Ending(EndingState.CRASHED, reason=what)
    if steps[-1].actor is Actor.USER and _STOP in steps[-1].message:
        return Ending(EndingState.FINISHED, reason="the user stopped")
    if any(command.tool.startswith(_TRANSFER) for step in steps[-2:] for command in step.commands):
        return Ending(EndingState.FINISHED, reason="transferred to a human")
    return Ending(EndingState.UNFINISHED, reason="neither a stop of the user nor a transfer ends it")


def _with_calls(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps with the calls that text-only agents (act, react) write into their messages, and what came back."""
    joined: list[Step] = []
    for step in map(_call_of_text, steps):
        before = joined[-1] if joined else None
        if (
            before is not None
            and step.actor is Actor.USER
            and step.message.startswith(_API_OUTPUT)
            and len(before.commands) == 1
            and not before.observations
        ):
            observation = Observation(step.message.removeprefix(_API_OUTPUT), 0)
            joined[-1] = before._replace(observations=(observation,))
        else:
            joined.append(step)
    return tuple(joined)


def _call_of_text(step: Step) -> Step:
    """A turn of a text-only agent taken apart into its thought and its call, or what it says to the user."""
    if step.actor is not Actor.AGENT or step.commands or _ACTION_MARK not in step.message:
        return step
    thought, _, call = step.message.rpartition(_ACTION_MARK)
    try:
        action = mapping(parse_json(call.strip().encode("utf-8", errors="replace")))
    except ValueError:
        return step
    arguments = action.get("arguments", action.get("kwargs"))
    if name(action.get("name")) == _RESPOND:
        said = string(mapping(arguments).get("content"))
        return step._replace(message=said, reasoning=thought.strip()) if said else step
    if not name(action.get("name")):
        return step
    return step._replace(message="", reasoning=thought.strip(), commands=(command_of(name(action["name"]), arguments),))
