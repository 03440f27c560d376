"""A pool as an experiment looks at it: its feature table in canonical order, and what can be fitted to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bestofn.errors import PoolError
from bestofn.fitting import Fits, check_rewards, repeats_of_reward
from bestofn.judged import OTHER_WAYS, model_columns
from bestofn.metrics import (
    Bools,
    Floats,
    Ints,
    PoolFigures,
    accuracy_by_task,
    pass_rate,
    pool_figures,
    swing_tasks,
    task_extreme,
)
from bestofn.pool import Pool
from bestofn.table import FeatureTable


@dataclass(frozen=True)
class Subject:
    """One labelled pool."""

    name: str
    table: FeatureTable
    """In canonical order, so that no figure depends on the order of tasks or attempts."""
    pool: Pool | None = None
    """Where its recordings are, for arms that ask a model; None where only a table was given."""
    _fits: dict[tuple[int, tuple[str, ...]], Fits] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, name: str, table: FeatureTable, pool: Pool | None = None) -> Subject:
        """A subject from a table in any order.

        Raises PoolError where no outcome is known, TableError where rewards lie outside 0 to 1.
        """
        figures = pool_figures(table.rewards, table.groups)
        if figures.n_tasks == 0:
            raise PoolError(f"pool '{name}' has no attempt with a known outcome, so there is nothing to compare on")
        check_rewards(table)
        return cls(name, table.canonical(), pool)

    @cached_property
    def figures(self) -> PoolFigures:
        """What the labels alone say."""
        return pool_figures(self.table.rewards, self.table.groups)

    @cached_property
    def rates(self) -> Floats:
        """(tasks,) Pass@1 of each task, NaN where no outcome is known."""
        return pass_rate(self.table.rewards, self.table.groups)

    @cached_property
    def swing(self) -> Bools:
        """(tasks,) True where known outcomes differ."""
        return swing_tasks(self.table.rewards, self.table.groups)

    @property
    def heuristics(self) -> tuple[str, ...]:
        """The columns that no model gave, by name."""
        return tuple(sorted(set(self.table.columns) - set(self.llm)))

    @property
    def llm(self) -> tuple[str, ...]:
        """The columns that a model gave, by name."""
        return tuple(sorted(model_columns(self.table)))

    def remarks(self) -> list[str]:
        """What makes any figure of this pool suspect, in sentences."""
        said = list(repeats_of_reward(self.table))
        if self.table.empty.all():
            said.append("no recording holds a turn of the agent, so no feature tells the attempts apart")
        elif self.table.empty.any():
            said.append(f"attempts without a turn of the agent, which rank last: {int(self.table.empty.sum())}")
        return [f"{self.name}: {sentence}" for sentence in said]

    def by_task(self, scores: Floats) -> Floats:
        """(tasks,) expected outcome of the top-scored attempt of each task."""
        return accuracy_by_task(scores, self.table.rewards, self.table.groups)

    def mean_score(self, stem: str = "") -> Floats:
        """(rows,) each attempt's mean over a model's scores from 0 to 1, those that there are; NaN without any.

        Parameters
        ----------
        stem
            How the columns begin that are meant.
        """
        columns = [name for name in self.llm if name.startswith(stem) and not name.startswith(OTHER_WAYS)]
        values = self.table.take(columns)
        known = ~np.isnan(values)
        sums, counts = np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1)
        out: Floats = np.divide(sums, counts, out=np.full(len(values), np.nan), where=counts > 0)
        return out

    def tied(self, scores: Floats) -> Ints:
        """(tasks,) how many attempts of known outcome have the top score of their task."""
        known = ~np.isnan(self.table.rewards)
        groups, n_tasks = self.table.groups[known], len(self.table.task_names)
        top = scores[known] == task_extreme(scores[known], groups, n_tasks)[groups]
        return np.bincount(groups[top], minlength=n_tasks)

    @cached_property
    def attempts(self) -> Ints:
        """(tasks,) attempts of known outcome."""
        known = ~np.isnan(self.table.rewards)
        return np.bincount(self.table.groups[known], minlength=len(self.table.task_names))

    def fits(self, columns: Sequence[str], max_features: int = 10) -> Fits:
        """What can be fitted on these columns, each fit made once."""
        key = (max_features, tuple(sorted(columns)))
        if key not in self._fits:
            self._fits[key] = Fits(self.table, candidates=key[1], max_features=max_features)
        return self._fits[key]

    def with_table(self, table: FeatureTable) -> Subject:
        """The same pool with another table, such as one with a model's columns."""
        return Subject(self.name, table.canonical(), self.pool)
