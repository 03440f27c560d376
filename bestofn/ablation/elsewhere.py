"""A prior: what other pools teach, without the tasks that the pool itself has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bestofn.ablation.arm import Lacking
from bestofn.ablation.recipe import Columns, Made, Recipe, heuristics, made
from bestofn.ablation.subject import Subject
from bestofn.fitting import fit_reweight
from bestofn.metrics import swing_tasks
from bestofn.pooling import PoolTable, completed, join
from bestofn.selector import Selector
from bestofn.table import FeatureTable

if TYPE_CHECKING:
    from bestofn.ablation.setting import Setting


class Lesson(NamedTuple):
    """The rows of other pools that a pool may learn from."""

    table: FeatureTable
    pools: int
    swing: int
    """Swing tasks among them: all that a fit can learn from."""
    removed: int
    """Tasks left out because the pool has one of the same name."""


def lesson(subject: Subject, others: Sequence[Subject]) -> Lesson:
    """What other pools hold that this one does not. Raises Lacking where that is nothing."""
    mine = set(subject.table.task_names)
    kept, removed = [], 0
    for other in others:
        keep = np.array([task not in mine for task in other.table.tasks], dtype=np.bool_)
        removed += len(mine & set(other.table.task_names))
        if keep.any():
            kept.append(PoolTable(other.name, other.table.rows(keep)))
    if not kept:
        raise Lacking("no other pool to learn from", "give other labelled pools too, each with --pool")
    table = join(kept)
    return Lesson(table, len(kept), int(swing_tasks(table.rewards, table.groups).sum()), removed)


def prior(name: str, kind: str = "reweight", columns: Columns = heuristics, *, what: str = "") -> Recipe:
    """A selector fitted on the setting's other pools.

    Parameters
    ----------
    kind
        'reweight' or 'forward'.
    columns
        The candidates, of those that this pool's table has.
    """

    def make(setting: Setting, subject: Subject) -> Made:
        found = lesson(subject, [other for other in setting.subjects if other.name != subject.name])
        there = [column for column in columns(subject) if column in found.table.columns]
        selector = fitted(kind, found.table, there, setting.max_features)
        table = completed(subject.table, selector.columns)
        note = f"fitted on {found.swing} swing tasks of {found.pools} other pools"
        note += f", {found.removed} tasks of the same name left out" if found.removed else ""
        return made(subject, selector.scores(table), there, note=note)

    return Recipe(name, what or f"{kind}, fitted on the other pools", make)


def fitted(kind: str, table: FeatureTable, columns: Sequence[str], max_features: int) -> Selector:
    """A selector fitted on all rows of a table."""
    from bestofn.ablation.learning import learn_forward

    if kind == "forward":
        return learn_forward(columns, max_features)(table)
    return fit_reweight(table, candidates=columns).selector
