"""The outcome that a verifier left behind, in the shapes in which harnesses write it.

Rewards come as a bare number, as an object of named rewards, as text; two places may disagree; and a run that broke
has no outcome, whatever number stands somewhere.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from bestofn.readers.document import parse_json
from bestofn.readers.values import mapping, reward_label, string
from bestofn.trajectory import EndingState, Label, LabelKind

KEY = "reward"
"""The reward that counts where there are several."""
NO_REWARD = "no reward"
LIMIT = 1_000_000
"""Bytes of a reward file that are read; a real one has a few."""

_TIMEOUT = "AgentTimeoutError"
_STOPPED_AGENT = re.compile(r"AgentTimeoutError|NonZeroAgentExitCodeError|(?:Context|Output)(?:Length|Window)\w*Error")
"""Exceptions that stop the agent and leave its work to be verified: the reward is valid."""
_NO_REWARD_WRITTEN = ("RewardFileNotFoundError", "RewardFileEmptyError")
_CHECKER_PREFIXES = ("Verifier", "RewardFile", "AddTests", "DownloadVerifier")
"""Exceptions of the verifier's side: the agent had come to its end before."""


class Outcome(NamedTuple):
    """The label, and what was contradictory on the way to it."""

    label: Label
    conflict: str = ""
    """Empty where all places agree."""


def label_from_rewards(rewards: Any) -> Label | None:
    """The label for an object of named rewards or a bare value; None where it says nothing.

    The reward named 'reward' counts; failing that a lone one does, and is named; several are never averaged.
    """
    if not isinstance(rewards, dict):
        return None if rewards is None else reward_label(rewards)
    if not rewards:
        return None
    if KEY in rewards:
        return reward_label(rewards[KEY])
    if len(rewards) > 1:
        return Label.unknown(f"several rewards and none is named '{KEY}': {', '.join(sorted(rewards))}")
    key, value = next(iter(rewards.items()))
    label = reward_label(value, f"reward '{key}'")
    return label if label.kind is LabelKind.UNKNOWN else label._replace(reason=f"from the reward named '{key}'")


def label_from_file(path: Path) -> Label | None:
    """The label in a `reward.json` or `reward.txt`, None where there is no such file."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            raw = file.read(LIMIT)
    except OSError as error:
        return Label.unknown(f"{path.name} cannot be read: {error.strerror or error}")
    if not raw.strip():
        return Label.unknown(f"{path.name} is empty")
    if path.suffix == ".json":
        try:
            value = parse_json(raw)
        except ValueError:
            return Label.unknown(f"{path.name} is not JSON")
    else:
        value = raw.decode("utf-8", errors="replace").strip()
    label = label_from_rewards(value)
    return label if label is not None else Label.unknown(f"{path.name} holds {NO_REWARD}")


def outcome(result: dict[str, Any] | None, verifier: Path) -> Outcome:
    """The outcome of a Harbor trial from its result.json (None where there is none) and its verifier's folder.

    What result.json says counts first, then reward.json, then reward.txt; of the files, one that can be read counts
    before one that cannot.
    """
    stated = label_from_rewards(_rewards(result)) if result is not None else None
    places = {"result.json": stated}
    for name in ("reward.json", "reward.txt"):
        places[f"verifier/{name}"] = label_from_file(verifier / name)
    labels = {place: label for place, label in places.items() if label is not None}
    known = {place: label for place, label in labels.items() if label.kind is not LabelKind.UNKNOWN}
    chosen = "result.json" if stated is not None else next(iter(known or labels), "")
    broken = broken_by(exception_type(result))
    if broken is not None:
        return Outcome(broken)
    if not chosen:
        return Outcome(Label.unknown("unfinished" if result is None else NO_REWARD))
    conflict = ""
    if len({label.value for label in known.values()}) > 1 or (known and len(known) < len(labels)):
        said = (f"{place} says {x.value:g}" if place in known else x.reason for place, x in labels.items())
        conflict = f"{', '.join(said)}; {chosen} counts"
    label = labels[chosen]
    if conflict and label.kind is not LabelKind.UNKNOWN:
        label = label._replace(reason=f"{label.reason}; {conflict}" if label.reason else conflict)
    return Outcome(label, conflict)


def exception_type(result: dict[str, Any] | None) -> str:
    """The type of the exception that a trial's result names, empty where it names none."""
    info = (result or {}).get("exception_info")
    if isinstance(info, str):
        return info
    if info is None:
        return ""
    return string(mapping(info).get("exception_type")) or "unnamed exception"


def ending_state(exception: str) -> EndingState:
    """How a trial ended by the exception that its harness names, empty for none: on its own, stopped, or broken."""
    if not exception or exception.startswith(_CHECKER_PREFIXES):
        return EndingState.FINISHED
    return EndingState.TIMED_OUT if exception == _TIMEOUT else EndingState.CRASHED


def broken_by(exception: str) -> Label | None:
    """The label of a trial that an exception broke so that no reward of it counts, None for any other."""
    if not exception or _STOPPED_AGENT.fullmatch(exception):
        return None
    return Label.unknown(NO_REWARD if exception in _NO_REWARD_WRITTEN else f"infra: {exception}")


def _rewards(result: dict[str, Any]) -> Any:
    """What the verifier's result holds as rewards."""
    verdict = result.get("verifier_result")
    if not isinstance(verdict, dict):
        return verdict
    return verdict.get("rewards") if "rewards" in verdict else verdict.get(KEY)
