"""How an arm is made: a name, what it is, and a function from a pool to the outcome of its picks. Arms as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bestofn.ablation.arm import Arm, Lacking
from bestofn.ablation.subject import Subject
from bestofn.judged import FREE, Cost, column_costs, total
from bestofn.metrics import Floats, Ints
from bestofn.selector import BASELINES, Selector, equal_terms

if TYPE_CHECKING:
    from bestofn.ablation.setting import Setting

Columns = Callable[[Subject], Sequence[str]]
"""Which columns of a pool's table an arm may read."""


@dataclass(frozen=True)
class Made:
    """What an arm came to, before it has its name."""

    by_task: Floats
    """See `Arm.by_task`."""
    tied: Ints | None = None
    """See `Arm.tied`."""
    missing: int = 0
    asked: int = 0
    cost: Cost = FREE
    optimistic: bool = False
    note: str = ""


@dataclass(frozen=True)
class Recipe:
    """One arm as data."""

    name: str
    what: str
    make: Callable[[Setting, Subject], Made]
    """Raises Lacking where this pool, or what was given, cannot make it."""

    def arm(self, setting: Setting, subject: Subject) -> Arm:
        """The arm on a pool; one without a figure says why, and how to get one."""
        try:
            made = self.make(setting, subject)
        except Lacking as reason:
            return Arm.lacking(self.name, self.what, len(subject.table.task_names), reason)
        return Arm(
            self.name,
            self.what,
            made.by_task,
            made.tied,
            made.missing,
            made.asked,
            made.cost,
            made.optimistic,
            note=made.note,
        )


def heuristics(subject: Subject) -> Sequence[str]:
    """All columns that no model gave."""
    return subject.heuristics


def llm(subject: Subject) -> Sequence[str]:
    """All columns that a model gave."""
    return subject.llm


def both(subject: Subject) -> Sequence[str]:
    """All columns."""
    return (*subject.heuristics, *subject.llm)


def named(*columns: str) -> Columns:
    """Some columns by name. Raises Lacking where the table has none of them, and leaves out those that it lacks."""

    def choose(subject: Subject) -> Sequence[str]:
        there = [name for name in columns if name in subject.table.columns]
        if not there:
            raise Lacking(f"the table has none of {', '.join(columns)}", "add their bank with --features")
        return there

    return choose


def bank(name: str) -> Columns:
    """The columns of a bank of regex features."""

    def choose(subject: Subject) -> Sequence[str]:
        from bestofn.featurize.bank import load

        return named(*(feature.name for feature in load(name).features))(subject)

    return choose


def rule(name: str, what: str = "") -> Recipe:
    """A rule that needs no labels (`bestofn.selector.BASELINES`)."""

    def make(_: Setting, subject: Subject) -> Made:
        if name == "random":
            return Made(subject.rates)
        return of_selector(BASELINES[name], subject)

    return Recipe(name, what or WHAT.get(name, "a rule without labels"), make)


def oracle() -> Recipe:
    """The best attempt of each task: what no selector can pass."""

    def make(_: Setting, subject: Subject) -> Made:
        known = ~np.isnan(subject.table.rewards)
        return Made(subject.by_task(np.where(known, subject.table.rewards, 0.0)), optimistic=True)

    return Recipe("oracle", "the best attempt of each task, by the labels", make)


def forward(
    name: str, columns: Columns = both, *, optimistic: bool = False, what: str = "", asks: bool = False
) -> Recipe:
    """Forward selection among some columns.

    Parameters
    ----------
    optimistic
        Report on the tasks that the columns were selected on, as published; else the selection is redone without each
        task.
    asks
        Whether a model's columns are needed: they are asked for where the table has none.
    """

    def make(setting: Setting, subject: Subject) -> Made:
        subject = setting.with_llm(subject) if asks else subject
        mine = _some(columns, subject)
        fit = subject.fits(mine, setting.max_features).forward
        if optimistic:
            from bestofn.fitting import task_scores

            scores = task_scores(subject.table, fit.columns, fit.same_tasks, gate=fit.selector.gate)
        else:
            scores = fit.held_out_scores(subject.table)
        return made(subject, scores, mine, optimistic=optimistic)

    said = (
        "selected and reported on the same tasks, as published" if optimistic else "selection redone without each task"
    )
    return Recipe(name, what or f"forward selection, {said}", make)


def reweight(name: str, columns: Columns = both, *, what: str = "", asks: bool = False) -> Recipe:
    """Shrunk re-weighting of some columns, fitted without each task."""

    def make(setting: Setting, subject: Subject) -> Made:
        subject = setting.with_llm(subject) if asks else subject
        mine = _some(columns, subject)
        return made(subject, subject.fits(mine).reweight.held_out_scores(subject.table), mine)

    return Recipe(name, what or "re-weighting towards expected directions, fitted without each task", make)


def mean_rank(name: str, columns: Columns, *, what: str = "", asks: bool = True) -> Recipe:
    """The mean within-task rank over some columns, each in its expected direction: needs no labels."""

    def make(setting: Setting, subject: Subject) -> Made:
        subject = setting.with_llm(subject) if asks else subject
        mine = _some(columns, subject)
        return of_selector(Selector(name, terms=equal_terms(subject.table, mine)), subject)

    return Recipe(name, what or "mean rank, no labels", make)


def of_selector(selector: Selector, subject: Subject) -> Made:
    """What a selector that was not fitted here picks. Raises Lacking for columns that the table does not have."""
    lacking = selector.missing(subject.table)
    if not lacking and "answer_votes" in selector.columns and np.isnan(subject.table.column("answer_votes")).all():
        raise Lacking("no attempt gives a final answer", "")
    if lacking:
        raise Lacking(lacking, "read the pool itself (--pool), or a table with these columns")
    return made(subject, selector.scores(subject.table), selector.columns)


def made(subject: Subject, scores: Floats, columns: Sequence[str], *, optimistic: bool = False, note: str = "") -> Made:
    """What scores come to, with the missing scores and the cost of the model's columns among those read."""
    asked = [column for column in columns if column in subject.llm]
    missing = int(np.isnan(subject.table.take(asked)).sum())
    costs = column_costs(subject.table) if asked else {}
    return Made(
        subject.by_task(scores),
        subject.tied(scores),
        missing,
        len(asked) * len(subject.table),
        total(costs[column] for column in asked),
        optimistic,
        note,
    )


def _some(columns: Columns, subject: Subject) -> tuple[str, ...]:
    mine = tuple(columns(subject))
    if not mine:
        raise Lacking("the table has no such column", "read the pool with other --features, or give another --table")
    return mine


WHAT = {
    "random": "a uniformly random pick: Pass@1",
    "shortest": "the fewest characters",
    "longest": "the most characters",
    "fewest-steps": "the fewest steps",
    "fewest-errors": "the fewest error words",
    "majority": "the final answer that most attempts give",
    "gate": "without unfinished, timed out, refused and hardly tried attempts",
    "gate-shortest": "the gate, then the fewest characters",
}
"""What each rule is, in a few words."""
