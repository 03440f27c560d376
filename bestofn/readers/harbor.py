"""Reads Harbor's trial directories: agent/trajectory.json with its continuations, the outcome from result.json.

    <job>/<task>__<id>/{config.json, result.json, agent/{trajectory.json, trajectory.cont-1.json, ...}, verifier/...}

Nothing of the verifier but its reward files is ever opened, and of result.json only the names below are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bestofn.readers.atif import is_trajectory, task_of, trajectories_from
from bestofn.readers.document import Document, digest, parse_json
from bestofn.readers.draft import Draft, Source
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.recording import NOTHING_RECORDED, Recording, recording_of, seconds_between
from bestofn.readers.reward import ending_state, exception_type, outcome
from bestofn.readers.values import amount, count, mapping, name
from bestofn.trajectory import Ending, EndingState, LabelKind, Usage

NAME = "harbor"
SUMMARY = "Harbor job directories: one trial directory an attempt (agent/trajectory.json, result.json, verifier/)"

_TRIAL_KEYS = frozenset({"trial_name", "verifier_result", "agent_info", "exception_info", "task_checksum"})
"""Keys of a trial's result.json; a job's has none of them."""
_JOB_KEYS = frozenset({"job_name", "n_total_trials", "n_concurrent_trials", "trials", "invocation"})
_REWARD_FILES = ("reward.json", "reward.txt")
_CONTINUATION = re.compile(r"trajectory\.cont-(\d{1,6})\.json")


def claims_directory(path: Path, names: frozenset[str]) -> bool:
    """True for a trial: agent/ or verifier/ inside and the harness's files beside, or a trial's result or config."""
    if "agent" in names and not names.isdisjoint({"verifier", "result.json", "trial.log"}):
        return True
    if "verifier" in names and any((path / "verifier" / file).is_file() for file in _REWARD_FILES):
        return True
    if "result.json" in names and not _TRIAL_KEYS.isdisjoint(_object(path / "result.json")):
        return True
    return "config.json" in names and "trial_name" in _object(path / "config.json")


def is_companion(document: Document) -> bool:
    """True for a job's own config.json, result.json and lock.json."""
    return document.path.name in ("config.json", "result.json", "lock.json") and not _JOB_KEYS.isdisjoint(
        mapping(document.value)
    )


def read_directory(source: Source) -> Iterator[Draft | Problem]:
    """The attempt in a trial directory."""
    folder, where = source.path, source.relative
    result_raw, config_raw = _bytes(folder / "result.json"), _bytes(folder / "config.json")
    result, config = _parsed(result_raw), _parsed(config_raw)
    if result_raw is not None and result is None:
        yield Problem(ProblemKind.UNREADABLE, f"{where}/result.json", "not a JSON object")
    raw = _bytes(folder / "agent" / "trajectory.json")
    recording: Recording | None = None
    if raw is not None:
        try:
            trajectory = parse_json(raw)
        except ValueError as error:
            yield Problem(ProblemKind.UNREADABLE, f"{where}/agent/trajectory.json", f"not JSON: {error}")
            trajectory = {"steps": [], "agent": {}}
        parts, missing = _parts(trajectory, folder / "agent")
        for file in missing:
            yield Problem(ProblemKind.TRUNCATED, where, f"its continuation {file} is not there")
        recording = recording_of(parts) if parts else None
        if recording is None:
            yield Problem(ProblemKind.NO_TURNS, f"{where}/agent/trajectory.json", "no step with a known source")
            return
    verdict = outcome(result, folder / "verifier")
    if verdict.conflict:
        yield Problem(ProblemKind.LABEL_CONFLICT, where, verdict.conflict)
    trial = name((result or {}).get("trial_name")) or name((config or {}).get("trial_name")) or folder.resolve().name
    told = recording.ending if recording is not None else Ending()
    yield Draft(
        task=_task(result, config, trial),
        name=trial,
        steps=recording.steps if recording is not None else (),
        label=verdict.label,
        ending=_ending(result, told, labelled=verdict.label.kind is not LabelKind.UNKNOWN),
        coverage=recording.coverage if recording is not None else NOTHING_RECORDED,
        instruction=recording.instruction if recording is not None else "",
        usage=_usage(result or {}, recording.usage if recording is not None else Usage()),
        # The names make two trials differ whose agents left the same bytes.
        digest=digest(raw or b"", b"\0", result_raw or b"", b"\0", config_raw or trial.encode("utf-8", "replace")),
    )


def _parts(trajectory: Any, folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The trajectory with its continuations: by its references, else by the numbers of their files."""
    if not is_trajectory(trajectory):
        return [], []
    parts, missing = trajectories_from(trajectory, folder / "trajectory.json")
    if len(parts) > 1 or missing:
        return parts, missing
    numbered = sorted((int(m[1]), path) for path in folder.iterdir() if (m := _CONTINUATION.fullmatch(path.name)))
    for _, path in numbered:
        part = _parsed(_bytes(path))
        if is_trajectory(part):
            parts.append(part or {})
        else:
            missing.append(path.name)
    return parts, missing


def _task(result: dict[str, Any] | None, config: dict[str, Any] | None, trial: str) -> str:
    """The task's name from the result, else from the settings, else what stands before `__` in the trial's name."""
    stated = task_of(name((result or {}).get("task_name")))
    settings = mapping((config or {}).get("task"))
    return stated or task_of(name(settings.get("name"))) or trial.rpartition("__")[0] or trial


def _ending(result: dict[str, Any] | None, told: Ending, *, labelled: bool) -> Ending:
    """What Harbor says of the agent's phase counts before what the steps tell."""
    if result is None:
        if told.state is EndingState.FINISHED or labelled:
            return told
        return Ending(EndingState.UNFINISHED, reason="no result.json")
    exception = exception_type(result)
    state = ending_state(exception)
    if state is not EndingState.FINISHED:
        return Ending(state, reason=exception)
    return told if told.state is not EndingState.UNKNOWN else Ending(state, reason="the agent ended by itself")


def _usage(result: dict[str, Any], told: Usage) -> Usage:
    """What the harness counted, else what the trajectory did."""
    counted = mapping(result.get("agent_result"))
    phase = mapping(result.get("agent_execution")) or result
    return Usage(
        count(counted.get("n_input_tokens")) or told.input_tokens,
        count(counted.get("n_output_tokens")) or told.output_tokens,
        count(counted.get("n_cache_tokens")) or told.cached_tokens,
        amount(counted.get("cost_usd")) or told.cost_usd,
        seconds_between([phase.get("started_at"), phase.get("finished_at")]) or told.seconds,
    )


def _bytes(path: Path) -> bytes | None:
    """A file's bytes, None where there is no such file. A pipe is none: reading it might never end."""
    return path.read_bytes() if path.is_file() else None


def _parsed(raw: bytes | None) -> dict[str, Any] | None:
    """The object that the bytes hold, None for anything else."""
    if raw is None:
        return None
    try:
        value = parse_json(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _object(path: Path) -> dict[str, Any]:
    """The object in a file, an empty one where it holds none, or an attempt of its own, or cannot be read."""
    try:
        found = _parsed(_bytes(path)) or {}
    except OSError:
        return {}
    return found if not isinstance(found.get("messages"), list) else {}
