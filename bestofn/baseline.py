"""Compares a report with the JSON of an earlier one, and says what got worse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from bestofn.errors import FormatError
from bestofn.verdict import Change, ScoreReport, Verdict

NOTICED = 0.01
"""Differences of a probability below this are none."""
_ORDER = {"fail": 0, "unsure": 1, "pass": 2}


def against(report: ScoreReport, path: Path) -> ScoreReport:
    """The report with its changes since an earlier JSON of `bestofn score`.

    Trajectories are the same where task and name are, else where the file is; one alone is compared with one alone.

    Raises FormatError for a file that is no such JSON.
    """
    before = _read(path)
    rows = before["results"]
    by_key = {f"{row.get('task')}/{row.get('trajectory')}": row for row in rows}
    by_file: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_file.setdefault(str(row.get("file")), []).append(row)
    alone = rows[0] if len(rows) == 1 and len(report.results) == 1 else None
    changes = []
    notes = list(report.notes)
    for result in report.results:
        same_file = by_file.get(result.file, [])
        old = by_key.get(result.key) or (same_file[0] if len(same_file) == 1 else alone)
        if old is None:
            changes.append(Change(result.file, result.trajectory, (), ("not in the baseline",)))
        else:
            changes.append(_change(result, old))
    digests = [about.get("digest") for about in (before.get("selector") or {}, report.selector)]
    if digests[0] != digests[1]:
        notes.append(f"{path.name} was scored with another selector: probabilities may differ for that reason alone")
    return replace(report, changes=tuple(changes), compared_with=path.as_posix(), notes=tuple(notes))


def _read(path: Path) -> dict[str, Any]:
    try:
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise FormatError(f"no baseline at '{path}' ({error.strerror}): write one with --json -o {path}") from error
    except orjson.JSONDecodeError as error:
        raise FormatError(f"baseline '{path}' is not JSON ({error}): write one with --json -o {path}") from error
    rows = content.get("results") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FormatError(f"baseline '{path}' is no JSON of `bestofn score`: it holds no list 'results'")
    return dict(content)


def _change(result: Verdict, old: Mapping[str, Any]) -> Change:
    worse: list[str] = []
    better: list[str] = []
    was, now = str(old.get("verdict")), str(result.verdict)
    if was != now:
        side = worse if _ORDER.get(now, 1) < _ORDER.get(was, 1) else better
        side.append(f"verdict {was} before, {now} now")
    before = old.get("probability")
    if isinstance(before, int | float) and result.probability is not None:
        difference = result.probability - float(before)
        if abs(difference) >= NOTICED:
            side = worse if difference < 0 else better
            side.append(f"probability {float(before):.3f} before, {result.probability:.3f} now ({difference:+.3f})")
    elif isinstance(before, int | float):
        worse.append(f"probability {float(before):.3f} before, none now")
    listed = old.get("codes")
    fired = {str(c.get("rule")): c for c in listed if isinstance(c, dict)} if isinstance(listed, list) else {}
    current = {code.rule: code.name for code in result.codes}
    worse += [f"{rule} {name} fires now" for rule, name in current.items() if rule not in fired]
    better += [f"{rule} {code.get('name', '')} fires no more" for rule, code in fired.items() if rule not in current]
    for score in result.judge:
        listed = old.get("judge")
        earlier = next((s for s in listed or () if isinstance(s, dict) and s.get("column") == score.column), None)
        if earlier is not None and earlier.get("state") != "missing" and score.state == "missing":
            worse.append(f"{score.column} is missing now")
    return Change(result.file, result.trajectory, tuple(worse), tuple(better))
