"""Picks the best attempt of every task of a feature table, and says why."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bestofn.errors import PoolError, UsageError
from bestofn.explanation import Explained, reasons
from bestofn.fitting import Fits, check_rewards, seen_before
from bestofn.metrics import (
    Floats,
    Ints,
    PoolFigures,
    accuracy_by_task,
    gap_recovered,
    mean_over_tasks,
    pool_figures,
    rows_by_task,
)
from bestofn.policy import USER_TURNS, chosen_selectors, decide
from bestofn.selector import BASELINES, FITTED, Selector
from bestofn.table import FeatureTable

DEFAULT = "policy"
"""What `select` does when no selector is named."""
NAMES = (DEFAULT, *BASELINES, *FITTED)
"""What `select` takes by name."""


class Ranked(NamedTuple):
    """One attempt in its task's ranking."""

    trajectory: str
    score: float
    rank: int
    """1 is best; equal scores share a rank, and the next rank is left out."""
    reasons: tuple[str, ...]
    """What moved it most, in words."""


class TaskPick(NamedTuple):
    """One task's pick."""

    task: str
    pick: tuple[str, ...]
    """The attempts with the best score: one, or several that share the pick."""
    margin: float
    """Score of the pick less that of the next best; NaN where there is none."""
    selector: str
    """The selector that ranked this task."""
    ranking: tuple[Ranked, ...]
    """All attempts, best first."""


class Summary(NamedTuple):
    """The selection as a whole. Accuracies are shares over tasks with a known outcome, NaN without labels."""

    figures: PoolFigures
    n_tasks: int
    n_attempts: int
    n_empty: int
    """Attempts without any turn of the agent; they rank last."""
    n_shared: int
    """Tasks whose pick is shared by several attempts."""
    accuracy: float
    """Expected share of tasks whose pick passes."""
    shortest: float
    """The same for the shortest attempt; NaN where lengths are unknown."""
    gap_recovered: float
    fractional: bool
    """Whether some outcomes lie between 0 and 1, so that an accuracy is a mean reward."""
    optimistic: str = ""
    """Why the accuracy flatters; '' where it does not."""


@dataclass(frozen=True)
class Selection:
    """What was picked in a pool."""

    pool: str
    selector: str
    policy: str
    """Which selector was used and why, in one line."""
    tasks: tuple[TaskPick, ...]
    summary: Summary
    problems: Mapping[str, int]
    """What went wrong while reading, how often by kind."""

    def only(self, pattern: str) -> Selection:
        """The tasks whose name fits a glob. Raises UsageError, naming some, where none does."""
        kept = tuple(task for task in self.tasks if fnmatch.fnmatchcase(task.task, pattern))
        if not kept:
            some = ", ".join(task.task for task in self.tasks[:5])
            raise UsageError(f"no task fits '{pattern}': the pool has {len(self.tasks)} tasks, such as {some}")
        return replace(self, tasks=kept)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; what cannot be told is None."""
        summary = self.summary
        return {
            "pool": self.pool,
            "selector": self.selector,
            "policy": self.policy,
            "tasks": [
                {
                    "task": task.task,
                    "pick": list(task.pick),
                    "margin": _number(task.margin),
                    "selector": task.selector,
                    "ranking": [{**ranked._asdict(), "reasons": list(ranked.reasons)} for ranked in task.ranking],
                }
                for task in self.tasks
            ],
            "summary": {
                **{name: _number(value) for name, value in summary.figures._asdict().items()},
                **{name: _number(value) for name, value in summary._asdict().items() if name != "figures"},
                "problems": dict(self.problems),
            },
        }


def select(table: FeatureTable, selector: str | Selector = DEFAULT, *, user_turns: float | None = None) -> Selection:
    """The best attempt of every task.

    Parameters
    ----------
    table
        One pool's features.
    selector
        `policy`, a rule's name, `reweight` or `forward` (each task's pick is then fitted on the other tasks' labels),
        or a selector read from a file.
    user_turns
        See `bestofn.policy.decide`.

    Raises PoolError for an empty table or a fitted selector without labels, UsageError for an unknown name, TableError
    where a column is lacking.
    """
    if len(table) == 0:
        raise PoolError("there is no attempt to choose from")
    check_rewards(table)
    fits = Fits(table)
    if isinstance(selector, Selector):
        explained = Explained.of(selector, table)
        scores = selector.scores(table)
        by_task = (selector.name,) * len(table.task_names)
        line, optimistic = _from_file(selector), seen_before(selector, table)
        name = selector.name
    elif selector == DEFAULT:
        decision = decide(table, user_turns=user_turns, fits=fits)
        scores, by_task, line, optimistic, name = decision.scores, decision.selectors, decision.line, "", DEFAULT
        explained = Explained.by_task(table, fits, by_task)
    else:
        name = selector
        by_task = (name,) * len(table.task_names)
        line, optimistic = _asked(name, table), ""
        scores = fits.scores(name)
        explained = Explained.by_task(table, fits, by_task)
    words = reasons(table, explained)
    tasks = tuple(
        _pick(task, by_task[index], rows, table, scores, words)
        for index, (task, rows) in enumerate(zip(table.task_names, rows_by_task(table.groups), strict=True))
    )
    return Selection(
        pool=str(table.about.get("pool", "")),
        selector=name,
        policy=line,
        tasks=tasks,
        summary=_summary(table, scores, tasks, optimistic),
        problems=table.about.get("problems", {}),
    )


def first_columns(selector: str | Selector) -> tuple[str, ...] | None:
    """The columns to read first: what a rule or a file reads, what the policy needs to decide; None for all of them."""
    if isinstance(selector, Selector):
        return tuple(dict.fromkeys((*selector.columns, "n_characters")))
    if selector in FITTED:
        return None
    rule = BASELINES["gate-shortest" if selector == DEFAULT else selector]
    return tuple(dict.fromkeys((*rule.columns, "n_characters", *((USER_TURNS,) if selector == DEFAULT else ()))))


def needs_all(table: FeatureTable, selector: str | Selector) -> bool:
    """Whether the policy, having seen the labels, will learn from them and so needs every column."""
    return selector == DEFAULT and any(name in FITTED for name in chosen_selectors(table))


def _asked(name: str, table: FeatureTable) -> str:
    """The policy line of a selector that was asked for by name."""
    if name in BASELINES:
        return f"{name}: asked for; a rule that needs no labels"
    if name not in FITTED:
        raise UsageError(f"no selector '{name}': there are {', '.join((DEFAULT, *BASELINES, *FITTED))}, or a file")
    if np.isnan(table.rewards).all():
        raise PoolError(
            f"'{name}' learns from labels, and no attempt here has one: take a rule such as gate-shortest, or a "
            "selector file fitted on labelled pools with `bestofn fit`"
        )
    return f"{name}: asked for; each task's pick comes from a fit on the other tasks"


def _from_file(selector: Selector) -> str:
    pools = ", ".join(fitted.pool or "a table" for fitted in selector.fitted_on)
    return f"{selector.name}: from a file, {f'fitted on {pools}' if pools else 'not fitted'}"


def _pick(
    task: str, selector: str, rows: Ints, table: FeatureTable, scores: Floats, words: Sequence[tuple[str, ...]]
) -> TaskPick:
    """One task's ranking. Equal scores stand in order of their ids, and share their rank."""
    ordered = sorted(rows.tolist(), key=lambda row: (-scores[row], table.trajectories[row]))
    mine = scores[ordered]
    top = mine[0]
    below = mine[mine < top]
    return TaskPick(
        task=task,
        pick=tuple(table.trajectories[row] for row in ordered if scores[row] == top),
        margin=float(top - below[0]) if len(below) else math.nan,
        selector=selector,
        ranking=tuple(
            Ranked(table.trajectories[row], float(scores[row]), 1 + int((mine > scores[row]).sum()), words[row])
            for row in ordered
        ),
    )


def _summary(table: FeatureTable, scores: Floats, tasks: Sequence[TaskPick], optimistic: str) -> Summary:
    figures = pool_figures(table.rewards, table.groups)
    accuracy = mean_over_tasks(accuracy_by_task(scores, table.rewards, table.groups))
    rule = BASELINES["shortest"]
    by_length = math.nan if _no_lengths(table) else _accuracy(rule.scores(table), table)
    return Summary(
        figures=figures,
        n_tasks=len(table.task_names),
        n_attempts=len(table),
        n_empty=int(table.empty.sum()),
        n_shared=sum(len(task.pick) > 1 for task in tasks),
        accuracy=accuracy,
        shortest=by_length,
        gap_recovered=gap_recovered(accuracy, figures.pass_at_1, figures.oracle),
        fractional=not np.isin(table.rewards[~np.isnan(table.rewards)], (0.0, 1.0)).all(),
        optimistic=optimistic,
    )


def _no_lengths(table: FeatureTable) -> bool:
    return "n_characters" not in table.columns or bool(np.isnan(table.column("n_characters")).all())


def _accuracy(scores: Floats, table: FeatureTable) -> float:
    return mean_over_tasks(accuracy_by_task(scores, table.rewards, table.groups))


def _number(value: Any) -> Any:
    """None for a float that says nothing."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
