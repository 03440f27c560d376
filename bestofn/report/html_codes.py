"""How fired codes and outcomes go together over the swing tasks of a pool (Figure 5 of arXiv:2607.16387)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bestofn.metrics import (
    DECIMALS,
    Bools,
    Floats,
    accuracy_by_task,
    mean_over_tasks,
    pass_rate,
    rows_by_task,
    swing_tasks,
)
from bestofn.table import FeatureTable

PERMUTATIONS = 2000


class CodeRow(NamedTuple):
    """One code: in how many attempts it fired."""

    code: str
    attempts: int
    """All attempts in which it fired, whatever their outcome."""
    passing: int
    """Passing attempts of swing tasks in which it fired."""
    failing: int
    """Failing attempts of swing tasks in which it fired."""
    share_passing: float
    """Of the passing attempts of swing tasks; NaN where there are none."""
    share_failing: float
    features: tuple[str, ...]
    """The features that made it fire, the commonest first."""


class CodeFigures(NamedTuple):
    """Fired codes against outcomes."""

    rows: tuple[CodeRow, ...]
    """One a code that fired, the one that tells failing attempts most clearly first."""
    passing: Floats
    """(passes,) fired codes of each passing attempt of a swing task."""
    failing: Floats
    """(fails,) the same of the failing ones."""
    accuracy: float
    """Expected accuracy over swing tasks of the attempt with the fewest fired codes; NaN without swing tasks."""
    uniform: float
    """The same of a random pick."""
    p_value: float
    """(1 + shuffles of the outcomes within tasks that reach `accuracy`) / (1 + shuffles)."""
    permutations: int


def code_figures(
    table: FeatureTable,
    fired: Sequence[Mapping[str, Sequence[str]]],
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> CodeFigures:
    """Firings by outcome, and what picking the attempt with the fewest fired codes comes to.

    Parameters
    ----------
    fired
        For each row of the table, the codes that fired, each with the features that made it fire.
    permutations, seed
        Of the outcomes within tasks.
    """
    swing = swing_tasks(table.rewards, table.groups)[table.groups] if len(table) else np.zeros(0, dtype=np.bool_)
    counts = np.array([len(codes) for codes in fired], dtype=np.float64)
    # A score between pass and fail is on neither side.
    passes, fails = swing & (table.rewards == 1.0), swing & (table.rewards == 0.0)
    rows = [_row(code, fired, passes, fails) for code in sorted({code for codes in fired for code in codes})]
    rows.sort(key=lambda row: (-np.nan_to_num(row.share_failing - row.share_passing), -row.attempts, row.code))
    accuracy, p_value = _fewest(table, counts, permutations, seed)
    uniform = mean_over_tasks(pass_rate(table.rewards, table.groups), swing_tasks(table.rewards, table.groups))
    return CodeFigures(tuple(rows), counts[passes], counts[fails], accuracy, uniform, p_value, permutations)


def _row(code: str, fired: Sequence[Mapping[str, Sequence[str]]], passes: Bools, fails: Bools) -> CodeRow:
    has = np.array([code in codes for codes in fired], dtype=np.bool_)
    by_feature: dict[str, int] = {}
    for codes in fired:
        for feature in codes.get(code, ()):
            by_feature[feature] = by_feature.get(feature, 0) + 1

    def share(group: Bools) -> float:
        return float(has[group].mean()) if group.any() else float("nan")

    return CodeRow(
        code,
        int(has.sum()),
        int((has & passes).sum()),
        int((has & fails).sum()),
        share(passes),
        share(fails),
        tuple(sorted(by_feature, key=lambda name: (-by_feature[name], name))),
    )


def _fewest(table: FeatureTable, counts: Floats, permutations: int, seed: int) -> tuple[float, float]:
    """Swing-task accuracy of the fewest fired codes, and its p-value under outcomes shuffled within tasks."""
    swing = swing_tasks(table.rewards, table.groups)
    if not swing.any():
        return float("nan"), float("nan")
    ordered = np.lexsort((table.trajectories.astype(str), table.tasks.astype(str)))
    known = ordered[~np.isnan(table.rewards[ordered]) & swing[table.groups[ordered]]]
    # An empty recording fires nothing because it says nothing: it ranks last.
    scores = np.where(table.empty, -np.inf, -counts)
    observed = mean_over_tasks(accuracy_by_task(scores, table.rewards, table.groups), swing)
    rng = np.random.default_rng([seed, 2])
    sums = np.zeros(permutations)
    tasks = [known[rows] for rows in rows_by_task(np.unique(table.tasks[known].astype(str), return_inverse=True)[1])]
    for rows in tasks:
        top = scores[rows] == scores[rows].max()
        drawn = rng.permuted(np.tile(table.rewards[rows], (permutations, 1)), axis=1)
        sums += drawn[:, top].mean(axis=1)
    reached = int((np.round(sums / len(tasks), DECIMALS) >= round(observed, DECIMALS)).sum())
    return observed, (1 + reached) / (1 + permutations)
