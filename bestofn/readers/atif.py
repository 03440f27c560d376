"""Reads ATIF trajectories: bare files, and trajectories wrapped in a trial's record as `<trial>_trajectory.json`.

A wrapper looks like {"trial_name": ..., "task_name": ..., "reward": 1, "trajectory": {"schema_version": ...,
"agent": {...}, "steps": [...]}}. Only its names, its reward and its totals are read; a bare trajectory has no label.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bestofn.readers.document import Document, load_json_file
from bestofn.readers.draft import Draft, Source
from bestofn.readers.places import bare, own_name
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.recording import NOTHING_RECORDED, recording_of
from bestofn.readers.reward import NO_REWARD, broken_by, ending_state, exception_type, label_from_rewards
from bestofn.readers.values import amount, count, name, record_digest
from bestofn.trajectory import Ending, EndingState, Label, Usage

NAME = "atif"
SUMMARY = "ATIF trajectories: bare (trajectory.json) or wrapped with a reward (<trial>_trajectory.json)"

_CONTINUATIONS = 1000
"""Parts of one attempt that are followed, so that a circle of references ends."""
_WRAPPER_KEYS = ("trial_name", "trial_id", "task_name", "reward")
_TRIAL_SUMMARY_KEYS = ("trialId", "trialName")


class Record(NamedTuple):
    """One attempt in a file: the trajectory, and the wrapper around it (empty for a bare one)."""

    trajectory: Any
    wrapper: dict[str, Any]


def is_trajectory(value: Any) -> bool:
    """True for an ATIF trajectory: a list of steps, and an agent or a schema version beside it."""
    if not isinstance(value, dict) or not isinstance(value.get("steps"), list):
        return False
    return isinstance(value.get("agent"), dict) or isinstance(value.get("schema_version"), str)


def is_continuation(path: Path) -> bool:
    """True for the file of a later part of an attempt, or of a sub-agent: no attempt of its own."""
    return path.name.startswith("trajectory.") and path.name != "trajectory.json"


def claims(document: Document) -> bool:
    """True for a trajectory, a wrapped one, or several of them as a list or as lines."""
    values = _values(document)
    return bool(values) and _record(values[0]) is not None


def is_companion(document: Document) -> bool:
    """True for a `trials_metadata.json`, which repeats the rewards of the trials beside it."""
    trials = document.value
    return (
        isinstance(trials, list)
        and bool(trials)
        and all(isinstance(trial, dict) and any(key in trial for key in _TRIAL_SUMMARY_KEYS) for trial in trials)
        and not any("trajectory" in trial or "steps" in trial for trial in trials)
    )


def read(document: Document, source: Source) -> Iterator[Draft | Problem]:
    """The attempts in a file, each with its continuations; a later part or a sub-agent's own file holds none."""
    values = _values(document)
    single = document.lines is None and not isinstance(document.value, list)
    for index, value in enumerate(values):
        where = source.relative if single else f"{source.relative}, record {index}"
        record = _record(value)
        if record is None:
            kind = ProblemKind.NO_TURNS if single else ProblemKind.BAD_LINE
            yield Problem(kind, where, "no ATIF trajectory: it has no list of steps beside an agent")
            continue
        if single and not record.wrapper and is_continuation(source.path) and _has_start(source.path):
            return
        digest = document.digest if single else record_digest(value)
        yield from _attempt(record, source, where, digest, None if single else index)


def trajectories_from(trajectory: dict[str, Any], path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The trajectory in a file with the parts that continue it, and the names of parts that are not there."""
    parts, missing = [trajectory], list[str]()
    seen = {path.name}
    while len(parts) < _CONTINUATIONS:
        reference = name(parts[-1].get("continued_trajectory_ref"))
        file = Path(reference.replace("\\", "/")).name if "\0" not in reference else ""
        if not file or file in seen:
            break
        seen.add(file)
        try:
            part = load_json_file(path.parent / file)
        except (OSError, ValueError):
            part = None
        if not is_trajectory(part):
            missing.append(file)
            break
        parts.append(part)
    return parts, missing


def _values(document: Document) -> list[Any]:
    """What may be records: the lines, the items of a list, or the whole value."""
    if document.lines is not None:
        return [line.value for line in document.lines]
    return document.value if isinstance(document.value, list) else [document.value]


def _record(value: Any) -> Record | None:
    """The attempt that a value holds, None for anything else. A wrapper may say that it has no trajectory."""
    if is_trajectory(value):
        return Record(value, {})
    if not isinstance(value, dict) or "trajectory" not in value:
        return None
    inside = value["trajectory"]
    if is_trajectory(inside) or (inside is None and sum(key in value for key in _WRAPPER_KEYS) > 1):
        return Record(inside, value)
    return None


def _has_start(path: Path) -> bool:
    return (path.parent / "trajectory.json").is_file()


def _attempt(record: Record, source: Source, where: str, digest: str, index: int | None) -> Iterator[Draft | Problem]:
    """One attempt, or what is wrong with it."""
    wrapper = record.wrapper
    recording = None
    if record.trajectory is not None:
        parts, missing = trajectories_from(record.trajectory, source.path)
        for file in missing:
            yield Problem(ProblemKind.TRUNCATED, where, f"its continuation {file} is not there")
        recording = recording_of(parts)
        if recording is None:
            yield Problem(ProblemKind.NO_TURNS, where, "it has steps, but none with a known source")
            return
    trial = name(wrapper.get("trial_name")) or _name_from_path(source)
    yield Draft(
        task=task_of(name(wrapper.get("task_name"))) or _task_from_path(source, trial),
        name=trial if wrapper or index is None else f"{trial}-{index}",
        steps=recording.steps if recording is not None else (),
        label=_label(wrapper),
        ending=_ending(wrapper, recording.ending if recording is not None else Ending()),
        coverage=recording.coverage if recording is not None else NOTHING_RECORDED,
        instruction=recording.instruction if recording is not None else "",
        usage=_usage(wrapper, recording.usage if recording is not None else Usage()),
        digest=digest,
        record=index,
    )


def task_of(task_name: str) -> str:
    """The task's own name, without the organisation or dataset before the last slash."""
    return task_name.rstrip("/").rpartition("/")[2]


def _name_from_path(source: Source) -> str:
    """The file's own name, with its folders where all files of a harness have the same."""
    own = bare(source.path.name)
    return own_name(source) if own == "trajectory" else own.removesuffix("_trajectory")


def _task_from_path(source: Source, trial: str) -> str:
    """What stands before `__` in the trial's name or its folder's, else the folder, else the file."""
    folders = [part for part in source.relative.split("/")[:-1] if part != "agent"]
    for place in (trial.rpartition("/")[2], *folders[-1:]):
        before, mark, _ = place.rpartition("__")
        if mark and before:
            return before
    return folders[-1] if folders else trial


def _label(wrapper: dict[str, Any]) -> Label:
    """The reward beside the trajectory, unless the trial broke."""
    if not wrapper:
        return Label.unknown("a bare trajectory holds no label")
    broken = broken_by(exception_type(wrapper))
    if broken is not None:
        return broken
    label = label_from_rewards(wrapper["reward"] if "reward" in wrapper else wrapper.get("rewards"))
    return label if label is not None else Label.unknown(NO_REWARD)


def _ending(wrapper: dict[str, Any], told: Ending) -> Ending:
    """What the trial's record says of a timeout or a crash counts before what the steps tell."""
    exception = exception_type(wrapper)
    state = ending_state(exception) if exception else EndingState.FINISHED
    return told if state is EndingState.FINISHED else Ending(state, reason=exception)


def _usage(wrapper: dict[str, Any], told: Usage) -> Usage:
    """The wrapper's totals where it has any, else the trajectory's own."""
    cents = amount(wrapper.get("cost_cents"))
    return Usage(
        count(wrapper.get("n_input_tokens")) or told.input_tokens,
        count(wrapper.get("n_output_tokens")) or told.output_tokens,
        count(wrapper.get("n_cache_tokens")) or told.cached_tokens,
        cents / 100 if cents is not None else amount(wrapper.get("cost_usd")) or told.cost_usd,
        amount(wrapper.get("duration_seconds")) or told.seconds,
    )
