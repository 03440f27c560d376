"""Reads SWE-bench's report files: which instances a run resolved. Recordings without a label get theirs from here.

A report stands beside the recordings: in their folder, in one above it up to the pool's root, or beside the root. It
judges one attempt an instance, so where several attempts lie below it, it has to be named after the attempt's run.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from bestofn.readers.document import load_json_file
from bestofn.readers.draft import Source
from bestofn.readers.places import bare
from bestofn.readers.values import items, mapping
from bestofn.trajectory import Label, LabelKind

LARGEST = 20_000_000
"""Bytes of a file that may be a report."""
MOST = 200
"""JSON files of one folder that are looked at."""
NO_REPORT = "no label in this format, and no report with resolved_ids beside it"

_PREDICTION_KEYS = frozenset({"instance_id", "model_name_or_path", "model_patch"})


class Report(NamedTuple):
    """One report: what it says of each instance."""

    name: str
    labels: dict[str, Label]


def is_report(value: Any) -> bool:
    """True for a report on a run, or on one instance of it. A record with messages is none, whatever else it holds."""
    report = mapping(value)
    return not _is_recording(report) and (isinstance(report.get("resolved_ids"), list) or bool(_verdicts(report)))


def is_predictions(value: Any) -> bool:
    """True for the patches of a run, by instance or in a row."""
    if isinstance(value, dict) and "model_patch" not in value:
        value = list(value.values())
    rows = value if isinstance(value, list) else [value]
    return bool(rows) and all(
        isinstance(row, dict) and "model_patch" in row and row.keys() <= _PREDICTION_KEYS for row in rows
    )


def label_for(source: Source, instance: str) -> Label:
    """The label of an attempt at an instance, from the nearest report that speaks of it; unknown where none does."""
    for folder in _folders(source):
        reports = [report for report in _reports(folder) if instance in report.labels]
        if not reports:
            continue
        runs = source.path.absolute().relative_to(folder).parts[:-1]
        named = [report for report in reports if any(_names(report, run) for run in runs if run != instance)]
        if named:
            return _agreed(named, instance)
        attempts = _attempts_below(folder, _changed(folder))[instance]
        if attempts > 1:
            return Label.unknown(f"{reports[0].name} judges one of {attempts} attempts and does not say which")
        return _agreed(reports, instance)
    return Label.unknown(NO_REPORT)


def _folders(source: Source) -> Iterator[Path]:
    """The folder of the recording and those above it, up to the one that holds the pool's root."""
    top = source.root.absolute().parent
    for folder in source.path.absolute().parents:
        yield folder
        if folder == top:
            return


def _names(report: Report, run: str) -> bool:
    """True where a report's file is named after a run."""
    return run in bare(report.name).split(".") or bare(report.name) == run


def _agreed(reports: list[Report], instance: str) -> Label:
    """What the reports say, where they say the same."""
    labels = [report.labels[instance] for report in reports]
    if len({(label.kind, label.value if label.kind is not LabelKind.UNKNOWN else 0.0) for label in labels}) > 1:
        return Label.unknown(f"{reports[0].name} and {reports[1].name} disagree")
    return labels[0]


def _reports(folder: Path) -> tuple[Report, ...]:
    """The reports in a folder."""
    return _reports_in(folder, _changed(folder))


def _changed(folder: Path) -> int:
    """When an entry of the folder last came or went, so that what was read of it before is not taken for current."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=256)
def _reports_in(folder: Path, changed: int) -> tuple[Report, ...]:
    """The reports in a folder as it was at a time."""
    reports: list[Report] = []
    try:
        with os.scandir(folder) as found:
            entries = sorted((e for e in found if _may_be_report(e)), key=lambda entry: entry.name)[:MOST]
        for entry in entries:
            try:
                labels = _verdicts(load_json_file(Path(entry.path)))
            except (OSError, ValueError):
                continue
            if labels:
                reports.append(Report(entry.name, labels))
    except OSError:
        pass
    return tuple(reports)


def _may_be_report(entry: os.DirEntry[str]) -> bool:
    """True for JSON files that are no recordings by their name, small enough, and that speak of what was resolved."""
    name = entry.name.lower()
    if not name.endswith(".json") or name.endswith(".traj.json"):
        return False
    try:
        if not entry.is_file() or entry.stat().st_size > LARGEST:
            return False
        return b'"resolved' in Path(entry.path).read_bytes()
    except OSError:
        return False


@lru_cache(maxsize=64)
def _attempts_below(folder: Path, changed: int) -> Counter[str]:
    """How many recordings below a folder bear an instance's id, in their own name or in that of their folder."""
    counts: Counter[str] = Counter()
    for place, _, files in os.walk(folder):
        for file in files:
            if file.lower().endswith((".traj.json", ".traj")):
                counts.update({bare(file), os.path.basename(place)})
    return counts


def _verdicts(value: Any) -> dict[str, Label]:
    """Instance by instance, what a report says; empty for what is no report."""
    report = mapping(value)
    if _is_recording(report):
        return {}
    if report and all(isinstance(mapping(entry).get("resolved"), bool) for entry in report.values()):
        return {instance: Label.from_reward(float(entry["resolved"])) for instance, entry in report.items()}
    resolved = _ids(report, "resolved")
    if resolved is None:
        return {}
    labels: dict[str, Label] = {}
    for key in ("incomplete", "error"):
        labels |= dict.fromkeys(_ids(report, key) or (), Label.unknown(f"the evaluation ended as '{key}'"))
    for key in ("completed", "unresolved", "empty_patch"):
        reason = "the patch was empty" if key == "empty_patch" else ""
        labels |= dict.fromkeys(_ids(report, key) or (), Label.from_reward(0.0, reason))
    return labels | dict.fromkeys(resolved, Label.from_reward(1.0))


def _is_recording(report: dict[str, Any]) -> bool:
    return isinstance(report.get("messages"), list)


def _ids(report: dict[str, Any], key: str) -> list[str] | None:
    """The ids of one list of a report, None where it has no such list."""
    for name in (f"{key}_ids", key):
        if isinstance(report.get(name), list):
            return [entry for entry in items(report[name]) if isinstance(entry, str)]
    return None
