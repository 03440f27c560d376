"""What the page shows of each task: its attempts side by side, the pick and why, and where they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bestofn.judged import model_columns
from bestofn.metrics import Ints, rows_by_task
from bestofn.report.html_differences import Parting, Run, parting
from bestofn.report.html_evidence import CodeName, Fired, code_name
from bestofn.report.html_text import clipped, number, one_line, visible
from bestofn.report.plots import WithinTask
from bestofn.selection import Selection, TaskPick
from bestofn.selector import BASELINES
from bestofn.table import FeatureTable

INSTRUCTION = 1500
"""Characters of a task's text that are shown."""


class Seen(NamedTuple):
    """What the pass over the recordings keeps of an attempt."""

    fired: tuple[Fired, ...]
    run: Run
    instruction: str
    ending: str
    """How it ended, in words."""
    origin: str
    """The file, relative to the pool."""


class AttemptView(NamedTuple):
    """One attempt."""

    id: str
    body: str
    """Id of the element that holds its trajectory."""
    label: str
    """pass, fail, the score, or unknown."""
    label_note: str
    score: str
    rank: int
    picked: bool
    reasons: tuple[str, ...]
    ending: str
    origin: str
    fired: tuple[Fired, ...]
    codes: tuple[CodeName, ...]
    """The codes that fired, each once."""


class FeatureRow(NamedTuple):
    """One feature that is not the same in all attempts."""

    name: str
    values: tuple[str, ...]
    read: bool
    """Whether the selector of this task reads it."""


class TaskView(NamedTuple):
    """One task."""

    anchor: str
    name: str
    instruction: str
    selector: str
    pick: tuple[str, ...]
    why: str
    margin: str
    flags: tuple[str, ...]
    """Out of FLAGS."""
    outcome: str
    """What the pick came to, '' where it is not shown."""
    passes: str
    """Such as '3 of 5', '' where it is not shown."""
    attempts: tuple[AttemptView, ...]
    features: tuple[FeatureRow, ...]
    same: tuple[tuple[str, str], ...]
    """Features with one value for all attempts, and that value."""
    parting: Parting


FLAGS = {"swing": "Swing tasks", "wrong": "Wrong picks", "tie": "Ties", "missing": "Missing scores"}
"""What tasks can be filtered by."""


def task_views(
    table: FeatureTable,
    selection: Selection,
    seen: Mapping[tuple[str, str], Seen],
    directions: Mapping[str, int],
    learned: Sequence[str],
    *,
    labels: bool,
) -> tuple[TaskView, ...]:
    """One view a task, in the table's order.

    Parameters
    ----------
    seen
        By task and trajectory.
    directions
        Of the features, to put those that say something first.
    learned
        Columns that a fitted selector of this pool reads.
    labels
        Whether recorded outcomes are shown.
    """
    picks = {pick.task: pick for pick in selection.tasks}
    views = []
    for index, rows in enumerate(rows_by_task(table.groups)):
        pick = picks.get(str(table.tasks[rows[0]]))
        if pick is not None:
            views.append(_view(f"task-{index + 1}", table, rows, pick, seen, directions, learned, labels))
    return tuple(views)


def within_tasks(table: FeatureTable, selection: Selection) -> tuple[WithinTask, ...]:
    """The ranks of passing and failing attempts in every task that has both."""
    rewards = dict(zip(table.trajectories, table.rewards.tolist(), strict=True))
    found = []
    for pick in selection.tasks:
        ranks = {outcome: [r.rank for r in pick.ranking if rewards[r.trajectory] == outcome] for outcome in (1.0, 0.0)}
        if ranks[1.0] and ranks[0.0]:
            found.append(WithinTask(pick.task, tuple(ranks[1.0]), tuple(ranks[0.0])))
    return tuple(found)


def _view(
    anchor: str,
    table: FeatureTable,
    rows: Ints,
    pick: TaskPick,
    seen: Mapping[tuple[str, str], Seen],
    directions: Mapping[str, int],
    learned: Sequence[str],
    labels: bool,
) -> TaskView:
    row_of = {str(table.trajectories[row]): row for row in rows.tolist()}
    ordered = np.array([row_of[ranked.trajectory] for ranked in pick.ranking], dtype=np.intp)
    kept = [seen[pick.task, ranked.trajectory] for ranked in pick.ranking]
    rule = BASELINES.get(pick.selector)
    read = rule.columns if rule is not None else tuple(learned)
    scored = tuple(term.column for term in rule.terms) if rule is not None else tuple(learned)
    rewards = table.rewards[ordered]
    picked = np.array([ranked.trajectory in pick.pick for ranked in pick.ranking])
    flags, outcome, passes = _outcome(rewards, picked) if labels else ((), "", "")
    if len(pick.pick) > 1:
        flags = (*flags, "tie")
    if _missing(table, ordered, scored):
        flags = (*flags, "missing")
    differing, same = _features(table, ordered, read, directions)
    attempts = []
    for row, ranked, known in zip(ordered.tolist(), pick.ranking, kept, strict=True):
        codes = dict.fromkeys(code for fired in known.fired for code in fired.codes)
        attempts.append(
            AttemptView(
                visible(ranked.trajectory),
                f"body-{row}",
                _label(float(table.rewards[row])) if labels else "",
                one_line(str(table.label_reasons[row])) if labels else "",
                "\u2013" if table.empty[row] else f"{ranked.score:.3f}",
                ranked.rank,
                ranked.trajectory in pick.pick,
                tuple(map(visible, ranked.reasons)),
                known.ending,
                known.origin,
                known.fired,
                tuple(map(code_name, codes)),
            )
        )
    return TaskView(
        anchor,
        one_line(pick.task, 160) or "(no name)",
        clipped(next((known.instruction for known in kept if known.instruction.strip()), ""), INSTRUCTION),
        visible(pick.selector),
        tuple(one_line(name, 120) for name in pick.pick),
        _why(pick),
        "tie" if len(pick.pick) > 1 else "\u2013" if math.isnan(pick.margin) else f"{pick.margin:.2f}",
        flags,
        outcome,
        passes,
        tuple(attempts),
        differing,
        same,
        parting([known.run for known in kept]),
    )


def _why(pick: TaskPick) -> str:
    if len(pick.ranking) == 1:
        return "the only attempt"
    return visible("; ".join(pick.ranking[0].reasons)) or "nothing tells the attempts apart"


def _label(reward: float) -> str:
    return "unknown" if math.isnan(reward) else {1.0: "pass", 0.0: "fail"}.get(reward, f"{reward:.3g}")


def _outcome(rewards: np.ndarray, picked: np.ndarray) -> tuple[tuple[str, ...], str, str]:
    """Flags, what the pick came to, and how many attempts pass."""
    known = ~np.isnan(rewards)
    if not known.any():
        return (), "unknown", ""
    swing = bool(rewards[known].max() > rewards[known].min())
    passes = f"{number(float(rewards[known].sum()))} of {int(known.sum())} pass"
    if not (known & picked).any():
        return (("swing",) if swing else ()), "unknown", passes
    share = float(rewards[known & picked].mean())
    wrong = share < rewards[known].max()
    flags = (*(("swing",) if swing else ()), *(("wrong",) if wrong else ()))
    return flags, {1.0: "pass", 0.0: "fail"}.get(share, f"{share:.0%}"), passes


def _missing(table: FeatureTable, rows: Ints, scored: Sequence[str]) -> bool:
    """True where a score lacks something: an empty recording, a model's answer, or what is known of a sibling."""
    if table.empty[rows].any():
        return True
    if any(np.isnan(table.column(column)[rows]).any() for column in model_columns(table)):
        return True
    unknown = [np.isnan(table.column(column)[rows]) for column in scored if column in table.columns]
    return any(bool(column.any() and not column.all()) for column in unknown)


def _features(
    table: FeatureTable, rows: Ints, read: Sequence[str], directions: Mapping[str, int]
) -> tuple[tuple[FeatureRow, ...], tuple[tuple[str, str], ...]]:
    """Features that differ, those that the selector reads first; and those that do not, with their value."""
    differing, same = [], []
    for name in table.columns:
        values = table.column(name)[rows]
        told = tuple(map(number, values.tolist()))
        if len(set(told)) > 1:
            differing.append(FeatureRow(name, told, name in read))
        elif name in read or not np.isnan(values).any():
            same.append((name, told[0]))
    differing.sort(key=lambda row: (not row.read, directions.get(row.name, 0) == 0))
    return tuple(differing), tuple(same)
