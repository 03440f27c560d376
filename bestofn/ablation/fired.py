"""Fired codes: how many failure codes each attempt shows, by its outcome, and whether that tells outcomes apart.

The null hypothesis says that within a task it is chance which attempt passed. Labels are shuffled within swing tasks,
the only ones where that changes anything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bestofn.ablation.answers import not_recorded, unrecorded
from bestofn.ablation.arm import Lacking
from bestofn.ablation.subject import Subject
from bestofn.criteria import load
from bestofn.judge.codes import LISTING
from bestofn.judge.diagnosis import BASE, Recorded, read_judgments
from bestofn.judge.question import task_runs
from bestofn.judge.score import Column
from bestofn.metrics import DECIMALS, Bools, Floats, Ints, accuracy_by_task, rows_by_task
from bestofn.selector import Selector, Term

if TYPE_CHECKING:
    from bestofn.ablation.setting import Setting

_Figure = Callable[[Floats], float]
DRAWS = 10_000
"""Shuffles of the labels: they are cheap here."""


@dataclass(frozen=True)
class Fired:
    """The codes of every attempt of a pool."""

    subject: Subject
    """The pool with the number of codes as its only column of a model."""
    column: str
    counts: Floats
    """(rows,) number of fired codes, NaN where there is no diagnosis."""
    codes: tuple[tuple[str, ...], ...]
    """(rows,) their ids."""
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        subject: Subject,
        column: str,
        counts: Floats,
        codes: tuple[tuple[str, ...], ...],
        remarks: tuple[str, ...] = (),
    ) -> Fired:
        """The codes of a pool's attempts, in the order of its table's rows."""
        kept = subject.heuristics
        table = subject.table.only(kept)
        wide = table.with_columns([column], counts.reshape(-1, 1))
        directions = {**table.about.get("directions", {}), column: -1}
        wide = replace(wide, about={**table.about, "directions": directions})
        return cls(subject.with_table(wide), column, counts, codes, remarks)


class Tested(NamedTuple):
    """An observed figure beside those that shuffled labels give."""

    observed: float
    null_mean: float
    p_value: float
    """(1 + shuffles that reach it) / (1 + shuffles), one-sided."""
    draws: int


def fired(setting: Setting, subject: Subject) -> Fired:
    """The codes of a pool's attempts: from `--with judgments=FILE`, else from a model that is asked for them.

    Raises Lacking where there is neither, or nothing but a table.
    """
    if subject.pool is None:
        raise Lacking("a table does not tell which codes fired", "give the pool with --pool instead of --table")
    given = setting.inputs.get("judgments")
    if given is not None:
        method = Recorded(read_judgments(Path(given)))
        for task in task_runs(subject.pool):
            list(method.groups(0, task))
        [column] = method.columns()
        return _fired(subject, column, tuple(method.remarks()))
    judge = setting.asking
    judgement = judge.ask(subject, sets=[load(setting.inputs.get("codes", BASE))])
    [column, *_] = [one for one in judgement.columns if one.name.startswith(LISTING)]
    if unrecorded(column):
        judge.judgements.pop()
        raise not_recorded(setting)
    return _fired(replace(subject, table=judgement.onto(subject.table)), column)


def selector_p(found: Fired, *, draws: int = DRAWS, seed: int = 0) -> Tested:
    """The accuracy on swing tasks of the attempt with the fewest codes, ties shared, under shuffled labels.

    An attempt without a diagnosis is neither clean nor faulty: the selector ranks it in the middle of its task.
    """
    table = found.subject.table
    scores = Selector("fewest codes", terms=(Term(found.column, -1.0),)).scores(table)

    def figure(rewards: Floats) -> float:
        by_task = accuracy_by_task(scores, rewards, table.groups)[found.subject.swing]
        return float(np.sort(by_task).mean()) if len(by_task) else math.nan

    return _tested(figure, found.subject, draws, seed)


def difference_p(found: Fired, *, draws: int = DRAWS, seed: int = 0) -> Tested:
    """Mean codes of failing less mean codes of passing attempts of swing tasks, under shuffled labels."""
    told = ~np.isnan(found.counts) & in_swing(found.subject)

    def figure(rewards: Floats) -> float:
        passed, failed = found.counts[told & (rewards == 1.0)], found.counts[told & (rewards == 0.0)]
        return float(np.mean(failed) - np.mean(passed)) if len(passed) and len(failed) else math.nan

    return _tested(figure, found.subject, draws, seed)


def in_swing(subject: Subject) -> Bools:
    """(rows,) True for attempts of swing tasks."""
    rows: Bools = subject.swing[subject.table.groups]
    return rows


def histogram(found: Fired, rows: Bools) -> dict[int, tuple[int, int]]:
    """Number of codes to (passing, failing) attempts among some rows; numbers in between that none has are there."""
    told = rows & ~np.isnan(found.counts)
    rewards = found.subject.table.rewards
    passed = Counter(found.counts[told & (rewards == 1.0)].astype(int).tolist())
    failed = Counter(found.counts[told & (rewards == 0.0)].astype(int).tolist())
    most = max((*passed, *failed), default=-1)
    return {n: (passed[n], failed[n]) for n in range(most + 1)}


def by_code(found: Fired, rows: Bools) -> list[tuple[str, int, int]]:
    """(id, passing, failing attempts that show it) among some rows, the most telling first."""
    rewards = found.subject.table.rewards
    passed, failed = Counter[str](), Counter[str]()
    for row in np.flatnonzero(rows).tolist():
        side = passed if rewards[row] == 1.0 else failed if rewards[row] == 0.0 else None
        if side is not None:
            side.update(found.codes[row])
    ids = sorted({*passed, *failed}, key=lambda code: (passed[code] - failed[code], code))
    return [(code, passed[code], failed[code]) for code in ids]


def shuffled(rewards: Floats, groups: Ints, rng: np.random.Generator) -> Floats:
    """(rows,) the known outcomes of each task in another order; unknown ones stay where they are."""
    out: Floats = np.array(rewards, dtype=np.float64)
    known = ~np.isnan(rewards)
    for rows in rows_by_task(groups):
        mine = rows[known[rows]]
        out[mine] = rng.permutation(rewards[mine])
    return out


def _tested(figure: _Figure, subject: Subject, draws: int, seed: int) -> Tested:
    table = subject.table
    observed = round(figure(table.rewards), DECIMALS)
    if math.isnan(observed):
        return Tested(math.nan, math.nan, math.nan, 0)
    moving = in_swing(subject)
    rows = np.flatnonzero(moving)
    groups = np.unique(table.groups[rows], return_inverse=True)[1]
    rng = np.random.default_rng([seed, 5])
    values = np.empty(draws)
    rewards = np.array(table.rewards, dtype=np.float64)
    for draw in range(draws):
        rewards[rows] = shuffled(table.rewards[rows], groups, rng)
        values[draw] = figure(rewards)
    reached = int((np.round(values, DECIMALS) >= observed).sum())
    return Tested(observed, float(values.mean()), (1 + reached) / (1 + draws), draws)


def _fired(subject: Subject, column: Column, remarks: tuple[str, ...] = ()) -> Fired:
    """The codes of a column of scores."""
    table = subject.table
    attempts = list(zip(table.tasks.tolist(), table.trajectories.tolist(), strict=True))
    counts = np.array([column.value(attempt) for attempt in attempts], dtype=np.float64)
    told = zip(attempts, np.isnan(counts).tolist(), strict=True)
    details = ["" if lost else column.scores[attempt].detail for attempt, lost in told]
    codes = tuple(tuple(word for word in detail.split(", ") if word) for detail in details)
    return Fired.of(subject, column.name, counts, codes, remarks)
