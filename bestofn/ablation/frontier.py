"""Accuracy for what it takes: which arms no other beats, and asking a judge only where a free selector is unsure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bestofn.ablation.arm import Lacking
from bestofn.ablation.recipe import Made, Recipe, llm, made
from bestofn.ablation.subject import Subject
from bestofn.judged import FREE, Cost
from bestofn.metrics import DECIMALS, Floats, rows_by_task
from bestofn.selector import BASELINES, Selector, equal_terms, levels

if TYPE_CHECKING:
    from bestofn.ablation.setting import Setting

FREE_SELECTOR = "gate-shortest"
"""What picks where nobody is asked."""
LENGTH = "n_characters"


class Point(NamedTuple):
    """An arm by what it takes and what it gives."""

    name: str
    cost: float
    """Of one kind, such as tokens a task."""
    accuracy: float


def frontier(points: Sequence[Point]) -> list[Point]:
    """The points that no other beats, by cost: none is as cheap and better, or cheaper and as good. Points that cost
    and give the same stand in it together."""
    known = [point for point in points if point.cost == point.cost and point.accuracy == point.accuracy]
    best: list[Point] = []
    for point in sorted(known, key=lambda p: (p.cost, -p.accuracy, p.name)):
        gain = round(point.accuracy - best[-1].accuracy, DECIMALS) if best else 1.0
        if gain > 0.0 or (gain == 0.0 and point.cost == best[-1].cost):
            best.append(point)
    return best


def margins(subject: Subject) -> Floats:
    """(tasks,) how sure gate-shortest is of its pick: the log of how much longer the runner-up is than the pick.

    Only attempts of the pick's own level compete: infinite where it stands alone there, 0 where it shares the pick or
    lengths are not known. No outcome is read.
    """
    table = subject.table
    if LENGTH not in table.columns:
        raise Lacking(f"the table lacks {LENGTH}", "read the pool itself (--pool), or a table with this column")
    level, length = levels(table, gate=True), table.column(LENGTH)
    out = np.zeros(len(table.task_names))
    for rows in rows_by_task(table.groups):
        mine = rows[level[rows] == level[rows].max()]
        lengths = np.sort(np.log(np.maximum(length[mine], 1.0)))  # NaN comes last
        out[table.groups[rows[0]]] = np.inf if len(mine) == 1 else lengths[1] - lengths[0]
    return np.where(np.isnan(out), 0.0, out)


def asked_tasks(margin: Floats, share: float) -> np.ndarray:
    """(tasks,) True for this share of the tasks, those with the smallest margins; a tie at the edge takes all of them
    in, and a task with one candidate left is never asked about."""
    wanted = round(share * len(margin))
    if wanted == 0:
        return np.zeros(len(margin), dtype=np.bool_)
    edge = np.sort(margin)[wanted - 1]
    return np.asarray((margin <= edge) & np.isfinite(margin))


def where_unsure(share: float, what: str = "") -> Recipe:
    """The judge's mean rank in the tasks where gate-shortest is least sure, gate-shortest elsewhere.

    Parameters
    ----------
    share
        Of the tasks, from 0 to 1.
    """

    def make(setting: Setting, subject: Subject) -> Made:
        scored = setting.with_llm(subject)
        asked = asked_tasks(margins(scored), share)
        columns = tuple(llm(scored))
        judge = Selector("judge", gate=True, terms=equal_terms(scored.table, columns))
        free = BASELINES[FREE_SELECTOR]
        if free.missing(scored.table):
            raise Lacking(free.missing(scored.table), "read the pool itself (--pool), or a table with these columns")
        rows = asked[scored.table.groups]
        scores = np.where(rows, judge.scores(scored.table), free.scores(scored.table))
        whole = made(scored, scores, columns)
        part = float(asked.mean())
        missing = int(np.isnan(scored.table.take(columns)[rows]).sum())
        return whole_part(whole, part, missing, len(columns) * int(rows.sum()), f"{asked.sum()} of {len(asked)} tasks")

    name = f"judge where unsure, {share:.0%} of tasks"
    return Recipe(name, what or "gate-shortest; the judge where the runner-up is nearly as short", make)


def whole_part(whole: Made, part: float, missing: int, asked: int, note: str) -> Made:
    """What asking about a part of the tasks takes: as much a task asked about as the mean over all tasks."""
    cost = Cost(*[part * value for value in whole.cost]) if part else FREE
    return Made(whole.by_task, whole.tied, missing, asked, cost, note=f"asked about {note}, at the mean cost of a task")
