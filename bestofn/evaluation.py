"""How good selection is on a labelled pool, told so that it does not fool anyone.

Whatever is chosen with labels is chosen without the task it is used for. Every selector stands beside the rules that
need no labels, with intervals of its paired differences, and what shuffled labels would have given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bestofn.errors import PoolError, UsageError
from bestofn.fitting import Fits, check_rewards, repeats_of_reward, seen_before, task_scores
from bestofn.metrics import (
    DECIMALS,
    Floats,
    PoolFigures,
    accuracy_by_task,
    gap_recovered,
    mean_over_tasks,
    paired_intervals,
    pass_rate,
    pool_figures,
    swing_tasks,
)
from bestofn.permutation import Null, NullAccuracies, null_accuracies, null_of
from bestofn.policy import decide
from bestofn.selector import BASELINES, FITTED, Selector
from bestofn.table import FeatureTable

SELECTORS = (*BASELINES, *FITTED, "policy")
"""What an evaluation can show, in the order in which it stands in the table."""
OPTIMISTIC = "forward-optimistic"
"""The row of the published protocol: it stands beside `forward`."""
Interval = tuple[float, float]


class Row(NamedTuple):
    """One selector's figures. Accuracies are shares from 0 to 1; what cannot be told is NaN or None."""

    selector: str
    accuracy: float
    """Expected share of labelled tasks whose pick passes."""
    swing_accuracy: float
    """The same over swing tasks alone."""
    gap_recovered: float
    """(accuracy - Pass@1) / (oracle - Pass@1)."""
    ci_vs_pass1: Interval | None
    """95% interval of the paired difference to a random pick."""
    ci_vs_gate_shortest: Interval | None
    """95% interval of the paired difference to gate-shortest."""
    optimistic: bool = False
    """True where the figure was reported on labels that the selector was made with."""
    note: str = ""
    """Why there is no figure, or what to know of it."""

    @property
    def tied_with_pass1(self) -> bool:
        """Whether the interval to a random pick holds 0."""
        return holds_zero(self.ci_vs_pass1)

    @property
    def tied_with_gate_shortest(self) -> bool:
        """Whether the interval to gate-shortest holds 0."""
        return holds_zero(self.ci_vs_gate_shortest)


@dataclass(frozen=True)
class Evaluation:
    """The figures of one pool."""

    pool: str
    figures: PoolFigures
    if_unknown_failed: PoolFigures | None
    """The figures with unknown outcomes read as fails, as some official scores do; None where all are known."""
    n_attempts: int
    n_empty: int
    """Attempts whose recording holds no turn of the agent; they rank last."""
    rows: tuple[Row, ...]
    null: Null | None
    """The optimistic figure of `forward` beside the same under shuffled labels; None where it was not asked for."""
    null_nested: Null | None
    """The nested figure beside the same under shuffled labels; None in pools so large that it would take minutes."""
    chosen: Mapping[str, int]
    """In how many of the nested selections `forward` chose each column."""
    selections: int
    """Nested selections: one a swing task."""
    selected: tuple[str, ...]
    """What `forward` selects on all tasks."""
    policy: str
    """What `select` does by default, and why."""
    warnings: tuple[str, ...] = ()
    """What makes these figures suspect, such as a column that repeats the outcome."""
    shuffled: NullAccuracies | None = field(default=None, repr=False, compare=False)
    """What each permutation gave, to draw `null` and `null_nested`."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON: accuracies as shares, None where there is no figure."""
        content = {
            "pool": self.pool,
            **self.figures._asdict(),
            "if_unknown_failed": self.if_unknown_failed and self.if_unknown_failed._asdict(),
            "n_attempts": self.n_attempts,
            "n_empty": self.n_empty,
            "rows": [
                {
                    **row._asdict(),
                    "tied_with_pass1": row.tied_with_pass1,
                    "tied_with_gate_shortest": row.tied_with_gate_shortest,
                }
                for row in self.rows
            ],
            "null": self.null and self.null._asdict(),
            "null_nested": self.null_nested and self.null_nested._asdict(),
            "forward": {"selected": self.selected, "chosen": dict(self.chosen), "selections": self.selections},
            "policy": self.policy,
            "warnings": self.warnings,
        }
        return {key: _plain(value) for key, value in content.items()}


def evaluate(
    table: FeatureTable,
    *,
    selectors: Sequence[str] | None = None,
    extra: Sequence[Selector] = (),
    null: int = 200,
    seed: int = 0,
    resamples: int = 10_000,
    directions: Mapping[str, float] | None = None,
    candidates: Sequence[str] | None = None,
    max_features: int = 10,
    user_turns: float | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> Evaluation:
    """Leave-one-task-out figures of a labelled pool.

    Parameters
    ----------
    selectors
        Names out of SELECTORS, all by default. `forward` brings its optimistic row with it.
    extra
        Selectors from elsewhere, such as from a file; marked optimistic where they were fitted on these very rows.
    null
        Permutations of the labels for `forward`; 0 for none.
    seed, resamples
        Of permutations and bootstrap; the bootstrap's number of draws.
    directions, candidates, max_features
        See `fit_reweight` and `fit_forward`.
    user_turns
        See `decide`.
    on_progress
        Called with permutations done and in all.

    Raises PoolError where no outcome is known, TableError where rewards lie outside 0 to 1, UsageError for an unknown
    selector.
    """
    names = _names(selectors)
    pool = str(table.about.get("pool", ""))
    if np.isnan(table.rewards).all():
        raise PoolError(
            f"{f'pool {pool!r}' if pool else 'the table'} has no attempt with a known outcome ({len(table)} attempts), "
            "so there is nothing to evaluate against: `bestofn select` ranks it all the same"
        )
    check_rewards(table)
    table = table.canonical()
    fits = Fits(table, directions, candidates, max_features)
    decision = decide(table, user_turns=user_turns, fits=fits)
    drafts = [_draft(name, table, fits, decision.scores) for name in names]
    if "forward" in names:
        same = task_scores(table, fits.forward.columns, fits.forward.same_tasks, gate=fits.forward.selector.gate)
        note = "selected and reported on the same tasks, as published"
        drafts.insert(names.index("forward") + 1, _Draft(OPTIMISTIC, _accuracies(same, table), True, note))
    drafts += [_foreign(selector, table) for selector in extra]
    nulls: list[Null | None] = [None, None]
    shuffled: NullAccuracies | None = None
    if null > 0 and "forward" in names:
        shuffled = null_accuracies(
            table,
            fits.forward.columns,
            permutations=null,
            seed=seed,
            max_features=max_features,
            on_progress=on_progress,
        )
        nested = next(d.by_task for d in drafts if d.selector == "forward")
        nulls = [
            null_of(OPTIMISTIC, fits.forward.optimistic, shuffled.optimistic),
            None if shuffled.nested is None else null_of("forward", mean_over_tasks(nested), shuffled.nested),
        ]
    return Evaluation(
        pool=pool,
        figures=pool_figures(table.rewards, table.groups),
        if_unknown_failed=_if_unknown_failed(table),
        n_attempts=len(table),
        n_empty=int(table.empty.sum()),
        rows=_rows(drafts, table, resamples, seed),
        null=nulls[0],
        null_nested=nulls[1],
        chosen=fits.forward.chosen if "forward" in names else {},
        selections=fits.forward.selections if "forward" in names else 0,
        selected=tuple(term.column for term in fits.forward.selector.terms) if "forward" in names else (),
        policy=decision.line,
        warnings=repeats_of_reward(table),
        shuffled=shuffled,
    )


def _if_unknown_failed(table: FeatureTable) -> PoolFigures | None:
    if not np.isnan(table.rewards).any():
        return None
    return pool_figures(table.unknown_as_fail().rewards, table.groups)


class _Draft(NamedTuple):
    """A row before its intervals."""

    selector: str
    by_task: Floats
    """(tasks,) expected outcome of the pick, NaN where a task has no known outcome or the selector no figure."""
    optimistic: bool = False
    note: str = ""


def _names(selectors: Sequence[str] | None) -> list[str]:
    """The rows asked for, in the order of SELECTORS. Raises UsageError for an unknown one."""
    for name in selectors or ():
        if name not in SELECTORS:
            raise UsageError(f"no selector '{name}': there are {', '.join(SELECTORS)}")
    return [name for name in SELECTORS if selectors is None or name in selectors]


def _draft(name: str, table: FeatureTable, fits: Fits, by_policy: Floats) -> _Draft:
    """A rule's, a fitted selector's or the policy's accuracy in every task."""
    if name == "random":
        return _Draft(name, pass_rate(table.rewards, table.groups), note="Pass@1, by definition")
    if name == "policy":
        return _Draft(name, _accuracies(by_policy, table), note="what `select` does by default")
    if name in BASELINES:
        lacking = BASELINES[name].missing(table) or _no_answers(name, table)
        if lacking:
            return _Draft(name, np.full(len(table.task_names), np.nan), note=lacking)
    return _Draft(name, _accuracies(fits.scores(name), table))


def _no_answers(name: str, table: FeatureTable) -> str:
    """Why the majority says nothing here; '' where it does, and for all other rules."""
    if name == "majority" and np.isnan(table.column("answer_votes")).all():
        return "no attempt gives a final answer"
    return ""


def given_name(selector: Selector) -> str:
    """Under which name a selector from elsewhere stands in the table: never that of one of ours."""
    return selector.name if selector.name not in (*SELECTORS, OPTIMISTIC) else f"{selector.name} (given)"


def _foreign(selector: Selector, table: FeatureTable) -> _Draft:
    """A selector from elsewhere, on all tasks."""
    why = seen_before(selector, table)
    return _Draft(given_name(selector), _accuracies(selector.scores(table), table), bool(why), why)


def _accuracies(scores: Floats, table: FeatureTable) -> Floats:
    return accuracy_by_task(scores, table.rewards, table.groups)


def _rows(drafts: Sequence[_Draft], table: FeatureTable, resamples: int, seed: int) -> tuple[Row, ...]:
    """Accuracies and intervals, all rows on the same bootstrap draws."""
    figures = pool_figures(table.rewards, table.groups)
    rates = pass_rate(table.rewards, table.groups)
    swing = swing_tasks(table.rewards, table.groups)
    known = ~np.isnan(rates)
    rule = BASELINES["gate-shortest"]
    reference = None if rule.missing(table) else _accuracies(rule.scores(table), table)
    told = [not np.isnan(draft.by_task[known]).any() for draft in drafts]
    by_task = np.array(
        [np.where(tells, draft.by_task, rates)[known] for draft, tells in zip(drafts, told, strict=True)]
    )
    by_task = by_task.reshape(len(drafts), int(known.sum()))
    others = [rates[known]] if reference is None else [rates[known], reference[known]]
    differences = np.concatenate([np.round(by_task - other, DECIMALS) for other in others])
    ends = paired_intervals(differences, resamples=resamples, seed=seed).reshape(len(others), len(drafts), 2)
    several = int(known.sum()) > 1  # one task says nothing about how tasks differ
    rows = []
    for i, (draft, tells) in enumerate(zip(drafts, told, strict=True)):
        accuracy = mean_over_tasks(draft.by_task)
        intervals = [(float(e[i, 0]), float(e[i, 1])) if tells and several else None for e in ends]
        rows.append(
            Row(
                draft.selector,
                accuracy,
                mean_over_tasks(draft.by_task, swing),
                gap_recovered(accuracy, figures.pass_at_1, figures.oracle),
                intervals[0],
                intervals[1] if reference is not None else None,
                draft.optimistic,
                draft.note,
            )
        )
    return tuple(rows)


def holds_zero(interval: Interval | None) -> bool:
    """Whether a difference is statistically tied; never where there is no interval."""
    return interval is not None and interval[0] <= 0.0 <= interval[1]


def _plain(value: Any) -> Any:
    """The same without NaN and tuples."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
