"""Fits selectors to a labelled table, and at once, for every task, what a fit on all the other tasks gives.

`reweight` starts from the direction that each feature is expected to have, all weighing the same, and lets the labels
bend that; `forward` picks few columns by leave-one-task-out accuracy. Neither refits anything in a loop: each task's
own sums are taken away from the totals, exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bestofn.errors import TableError
from bestofn.loto import SHRINKAGE, Paths, forward_paths, marginal_weights
from bestofn.metrics import DECIMALS, Floats, accuracy_by_task, mean_over_tasks, pass_rate, swing_tasks
from bestofn.ranks import rank_sum
from bestofn.reweight import reweighted
from bestofn.selector import (
    FITTED,
    GATE_COLUMNS,
    FittedOn,
    PathStep,
    Selector,
    Term,
    baseline,
    gated,
    levels,
    marks,
    task_ranks,
)
from bestofn.swing import NOWHERE, SwingTasks, gather
from bestofn.table import FeatureTable

SUSPECT_ROWS = 8
"""Labelled rows from which a column that repeats the outcome is no coincidence to pass over."""


@dataclass(frozen=True)
class Learned:
    """A fitted selector, and the weights that every task gets from the other tasks alone."""

    selector: Selector
    """Fitted on all tasks: for attempts that are not in this table, or have no label."""
    columns: tuple[str, ...]
    """(k,) the candidates."""
    held_out: Floats
    """(tasks, k) weights for each task of the table, fitted on all the others; 0 where a column was not selected."""

    def held_out_scores(self, table: FeatureTable) -> Floats:
        """(n,) the scores of every attempt of the table it was fitted on, each from the other tasks' labels only."""
        return task_scores(table, self.columns, self.held_out, gate=self.selector.gate)


@dataclass(frozen=True)
class Forward(Learned):
    """A forward selection, nested: `held_out` comes from the whole selection done again without each task."""

    same_tasks: Floats
    """(tasks, k) as `held_out`, but columns were selected on all tasks and only their weights leave the task out: the
    published protocol, which is optimistic."""
    chosen: Mapping[str, int]
    """In how many of the nested selections each column was chosen; columns never chosen are left out."""
    selections: int
    """How many nested selections there were: one a swing task."""
    optimistic: float
    """Accuracy over all labelled tasks as the published protocol reports it."""


@dataclass(frozen=True)
class Fits:
    """What can be fitted to one table, each when it is first asked for."""

    table: FeatureTable
    directions: Mapping[str, float] | None = None
    """See `fit_reweight`."""
    candidates: Sequence[str] | None = None
    max_features: int = 10

    @cached_property
    def reweight(self) -> Learned:
        """`fit_reweight` with its defaults."""
        return fit_reweight(self.table, directions=self.directions, candidates=self.candidates)

    @cached_property
    def forward(self) -> Forward:
        """`fit_forward` with its defaults."""
        return fit_forward(self.table, candidates=self.candidates, max_features=self.max_features)

    def scores(self, name: str) -> Floats:
        """(n,) scores under a rule, or under a fitted selector, every task's from the other tasks' labels only."""
        if name in FITTED:
            learned: Learned = getattr(self, name)
            return learned.held_out_scores(self.table)
        return baseline(name).scores(self.table)


def task_scores(table: FeatureTable, columns: Sequence[str], weights: Floats, *, gate: bool) -> Floats:
    """(n,) scores under weights (tasks, k) of each task's own."""
    return levels(table, gate=gate) + rank_sum(task_ranks(table, columns), weights[table.groups])


def check_rewards(table: FeatureTable) -> None:
    """Raise TableError where a known reward lies outside 0 to 1, the share of a pass it is read as."""
    known = table.rewards[~np.isnan(table.rewards)]
    outside = known[(known < 0.0) | (known > 1.0)]
    if len(outside):
        raise TableError(
            f"rewards must lie between 0 and 1, and {len(outside)} of {len(known)} do not, such as {outside[0]:g}: "
            "say from which reward on an attempt counts as passed with --pass-at"
        )


def repeats_of_reward(table: FeatureTable) -> tuple[str, ...]:
    """A warning for each column that tells the outcome exactly: one value for each outcome, and another for another."""
    known = ~np.isnan(table.rewards)
    rewards = table.rewards[known]
    if len(rewards) < SUSPECT_ROWS or len(np.unique(rewards)) < 2:
        return ()
    said = []
    for name in table.columns:
        column = table.column(name)[known]
        pairs = len(np.unique(np.stack([column, rewards]), axis=1).T)
        if pairs == len(np.unique(rewards)) == len(np.unique(column)):
            said.append(
                f"column '{name}' tells the outcome exactly in all {len(rewards)} labelled rows: "
                "if it was made from labels, no figure here means anything; leave it out"
            )
    return tuple(said)


def candidate_columns(table: FeatureTable, candidates: Sequence[str] | None) -> tuple[str, ...]:
    """The candidates, all columns by default, in order of name. Raises TableError for one the table lacks."""
    names = sorted(set(table.columns if candidates is None else candidates))
    for name in names:
        table.column(name)
    return tuple(names)


def has_gate(table: FeatureTable) -> bool:
    """Whether the table has any column that the gate looks at."""
    return bool(set(GATE_COLUMNS) & set(table.columns))


def expected_directions(table: FeatureTable, directions: Mapping[str, float] | None) -> Mapping[str, float]:
    """The given directions by column, or those that stand in the table's `about` under "directions"."""
    found = table.about.get("directions", {}) if directions is None else directions
    return found if isinstance(found, Mapping) else {}


def fit_reweight(
    table: FeatureTable,
    *,
    directions: Mapping[str, float] | None = None,
    candidates: Sequence[str] | None = None,
    gate: bool = True,
) -> Learned:
    """A shrunk linear re-weighting of within-task ranks (`bestofn.reweight`).

    Parameters
    ----------
    directions
        Column name to +1, -1 or 0, columns not named being 0; by default what the table says under
        `about["directions"]`.
    candidates
        Columns to use, all by default.
    gate
        Whether the attempts that the gate drops stay below the others; they do not train then.
    """
    check_rewards(table)
    columns = candidate_columns(table, candidates)
    gate = gate and has_gate(table)
    expected = expected_directions(table, directions)
    d = np.array([np.sign(float(expected.get(name, 0.0))) for name in columns])
    swing = swing_of(table, columns, gate=gate)
    weights = reweighted(swing, d)
    selector = _selector("reweight", table, columns, weights[-1], gate)
    return Learned(selector, columns, _by_task(weights, swing, table))


def fit_forward(
    table: FeatureTable,
    *,
    candidates: Sequence[str] | None = None,
    max_features: int = 10,
    shrinkage: float = SHRINKAGE,
    gate: bool = False,
) -> Forward:
    """Greedy forward selection by leave-one-task-out accuracy (`bestofn.loto`), on all tasks and nested.

    Of the path of up to `max_features` steps the shortest most accurate prefix is kept: none at all, which leaves the
    pick to chance, where no step is better than that.

    Parameters
    ----------
    candidates
        Columns to choose among, all by default. A column that is constant within every task is never selected.
    shrinkage
        Added to the denominator of every weight.
    gate
        Whether the attempts that the gate drops stay below the others; they do not train then.
    """
    check_rewards(table)
    columns = candidate_columns(table, candidates)
    gate = gate and has_gate(table)
    swing = swing_of(table, columns, gate=gate)
    folds = np.array([*range(len(swing.tasks)), NOWHERE])
    paths = forward_paths(swing, folds, max_features=max_features, shrinkage=shrinkage)
    selected = paths.selected(len(columns))
    fitted = marginal_weights(swing, folds, shrinkage)
    nested = fitted * selected
    same_tasks = _by_task(fitted * selected[-1], swing, table)
    scores = task_scores(table, columns, same_tasks, gate=gate)
    counts = Counter({name: int(n) for name, n in zip(columns, selected[:-1].sum(axis=0), strict=True) if n})
    return Forward(
        selector=_selector("forward", table, columns, nested[-1], gate, _path(paths, columns, table)),
        columns=columns,
        held_out=_by_task(nested, swing, table),
        same_tasks=same_tasks,
        chosen=dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
        selections=len(swing.tasks),
        optimistic=mean_over_tasks(accuracy_by_task(scores, table.rewards, table.groups)),
    )


def swing_of(table: FeatureTable, columns: tuple[str, ...], *, gate: bool) -> SwingTasks:
    """The swing tasks of a table, for these columns."""
    trains = ~table.empty & ~gated(table) if gate else ~table.empty
    return gather(task_ranks(table, columns), table.rewards, table.groups, levels(table, gate=gate), trains)


def _by_task(weights: Floats, swing: SwingTasks, table: FeatureTable) -> Floats:
    """(tasks, k) from weights without each swing task, then of all: any other task is not in the fit as it is."""
    spread = np.repeat(weights[-1:], len(table.task_names), axis=0)
    spread[swing.tasks] = weights[:-1]
    return spread


def _selector(
    name: str,
    table: FeatureTable,
    columns: tuple[str, ...],
    weights: Floats,
    gate: bool,
    path: tuple[PathStep, ...] = (),
) -> Selector:
    """The selector of these weights, with where they come from."""
    terms = tuple(Term(c, float(w)) for c, w in zip(columns, weights, strict=True) if w != 0.0)
    return Selector(name, gate, terms, path, (fitted_on(table),))


def fitted_on(table: FeatureTable, pool: str | None = None) -> FittedOn:
    """What a table is, for a selector that was fitted on it; the pool's name stands in the table, if not given."""
    rates = pass_rate(table.rewards, table.groups)
    swing = int(swing_tasks(table.rewards, table.groups).sum())
    name = str(table.about.get("pool", "")) if pool is None else pool
    seen = " ".join(sorted(set(marks(table.task_names))))
    return FittedOn(name, table.digest, int((~np.isnan(rates)).sum()), len(table), swing, seen)


def seen_before(selector: Selector, table: FeatureTable) -> str:
    """Why a selector's figures on a table flatter it: it was fitted on these rows or tasks. '' where they do not."""
    if any(pool.digest == table.digest for pool in selector.fitted_on):
        return "this selector was fitted on these very rows"
    known = {mark for pool in selector.fitted_on for mark in pool.seen.split()}
    shared = sum(mark in known for mark in marks(table.task_names))
    if shared:
        return f"this selector was fitted on tasks of the same name as {shared} of these {len(table.task_names)}"
    return ""


def _path(paths: Paths, columns: tuple[str, ...], table: FeatureTable) -> tuple[PathStep, ...]:
    """The path on all tasks, its accuracies over all labelled tasks."""
    rates = pass_rate(table.rewards, table.groups)
    swing = swing_tasks(table.rewards, table.groups)
    rest = float(np.sort(rates[~swing & ~np.isnan(rates)]).sum())
    n_swing, n_tasks = int(swing.sum()), int((~np.isnan(rates)).sum())
    steps = zip(paths.picks[-1].tolist(), paths.accuracy[-1].tolist(), paths.correlation[-1].tolist(), strict=True)
    return tuple(
        PathStep(columns[pick], round((accuracy * n_swing + rest) / n_tasks, DECIMALS), round(correlation, DECIMALS))
        for pick, accuracy, correlation in steps
        if pick != NOWHERE
    )
