"""A judge's run from a pool to columns: what was asked, what came of it, and what must be known of the answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from bestofn.criteria import CriteriaSet
from bestofn.judge.pairwise import Pairwise
from bestofn.judge.plan import methods_of
from bestofn.judge.question import Method, Tasks, ask_all
from bestofn.judge.score import Attempt, Column, about_columns, share_missing
from bestofn.judge.showing import Showing
from bestofn.judge.shown import ShownCounts
from bestofn.llm.accounts import Account
from bestofn.llm.client import Answerer
from bestofn.llm.letters import State
from bestofn.llm.summary import RunSummary
from bestofn.llm.taken import Taken
from bestofn.pool import Pool
from bestofn.table import FeatureTable


@dataclass(frozen=True)
class Judgement:
    """What a run came to."""

    columns: tuple[Column, ...]
    summary: RunSummary
    accounts: Mapping[str, Account]
    """What was consumed, by criterion."""
    remarks: tuple[str, ...]
    """What a reader of the scores should know, in sentences."""
    about: Mapping[str, Any]
    """Who judged, how, and how it went: goes into a table's `about` under `judge`."""

    @property
    def share_missing(self) -> float:
        """Share of the scores asked for that are missing."""
        return share_missing(self.columns)

    def onto(self, table: FeatureTable) -> FeatureTable:
        """The table with the columns on the right, their expected directions and the account of the run.

        A column that the table has already, from an earlier run, is replaced.
        """
        attempts: list[Attempt] = list(zip(table.tasks.tolist(), table.trajectories.tolist(), strict=True))
        names = [column.name for column in self.columns]
        kept = [name for name in table.columns if name not in names]
        values = np.array([[column.value(a) for column in self.columns] for a in attempts], dtype=np.float64)
        directions = {**table.about.get("directions", {}), **{c.name: c.direction for c in self.columns}}
        runs = [*table.about.get("judge", ()), self.about]
        base = table.only(kept)
        widened = base.with_columns(names, values.reshape(len(table), len(names)))
        return replace(widened, about={**table.about, "directions": directions, "judge": runs})

    def lines(self) -> list[str]:
        """The end of a run as lines of text: states, reasons, what each criterion took, remarks."""
        return self.summary.lines(self.accounts, self.remarks)


def judge(
    pool: Pool,
    criteria: Sequence[CriteriaSet],
    answerer: Answerer,
    showing: Showing,
    *,
    tasks: Tasks | None = None,
) -> Judgement:
    """Ask a model about every attempt of a pool.

    Parameters
    ----------
    criteria
        The sets to ask; of each at most 6N + N^2 calls a task of N attempts. What two sets share is asked once.
    answerer
        A `Client`, or a `Replay` of recorded answers.
    showing
        How runs are shown.
    tasks
        Reads the pool's tasks; `task_runs` by default.

    Raises UsageError for a set that asks too much or a budget of tokens that holds no record, PoolError where there is
    nothing to judge.
    """
    shown = ShownCounts()
    methods = methods_of(criteria, showing, shown)
    summary = ask_all(methods, pool, answerer, tasks=tasks)
    return conclude(methods, answerer, summary, shown, showing, criteria)


def conclude(
    methods: Sequence[Method],
    answerer: Answerer,
    summary: RunSummary,
    shown: ShownCounts,
    showing: Showing,
    criteria: Sequence[CriteriaSet],
) -> Judgement:
    """The judgement of methods that have all their answers."""
    columns = {column.name: column for method in methods for column in method.columns()}
    remarks = [remark for method in methods for remark in method.remarks()]
    return Judgement(
        columns=tuple(columns.values()),
        summary=summary,
        accounts=answerer.accounts.by_criterion(),
        remarks=(*remarks, *shown.lines(), *answerer.notes),
        about={
            "model": getattr(answerer, "model", ""),
            "criteria": [{"name": chosen.name, "hash": chosen.hash, **chosen.about} for chosen in criteria],
            "showing": {"tokens": showing.tokens, "seed": showing.seed, "reasoning": showing.reasoning},
            "states": about_columns(columns.values()),
            "costs": _costs(methods, answerer, summary),
            "missing": {str(reason): n for reason, n in summary.reasons[State.MISSING].items()},
            "position_bias": {
                method.criterion.column: _plain(method.bias()._asdict())
                for method in methods
                if isinstance(method, Pairwise)
            },
            "notes": list(answerer.notes),
        },
    )


def _costs(methods: Sequence[Method], answerer: Answerer, summary: RunSummary) -> dict[str, Any]:
    """What each column's answers took. A column that two criteria of one name would share has no account."""
    price = answerer.accounts.price
    taken: dict[str, Taken] = {}
    tasks: set[str] = set()
    for place, method in enumerate(methods):
        mine = {criterion: found for (at, criterion), found in summary.taken.items() if at == place}
        made = method.columns()
        tasks |= {task for column in made for task, _ in column.scores}
        stems = [column.name.partition("@")[0] for column in made]
        for column, stem in zip(made, stems, strict=True):
            # What a method of one column asks is all for that column, however many criteria it has.
            parts = list(mine.values()) if len(made) == 1 else [mine[stem]] if stem in mine else []
            if parts and stems.count(stem) == 1:
                taken[column.name] = reduce(Taken.join, parts)
    return {
        "price": price and price._asdict(),
        "tasks": len(tasks),
        "columns": {name: found.as_dict(price) for name, found in taken.items()},
    }


def _plain(figures: Mapping[str, float]) -> dict[str, float | None]:
    """Figures as JSON can hold them."""
    return {name: None if math.isnan(value) else value for name, value in figures.items()}
