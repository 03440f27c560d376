"""Selectors as scikit-learn estimators over a feature table, groups being tasks.

`fit(X, y, groups)` and `decision_function(X, groups)`; `clone`, `get_params`, pipelines and, with groups routed by
`set_fit_request` and `set_score_request`, cross-validation work on them. Each is a thin coat: the rule itself is the
plain `Selector` in `selector_`, which scores without scikit-learn. This module alone imports scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bestofn.errors import TableError, UsageError
from bestofn.fitting import Learned, fit_forward, fit_reweight
from bestofn.loto import SHRINKAGE
from bestofn.metrics import Floats, accuracy_by_task, mean_over_tasks
from bestofn.selector import Selector, baseline
from bestofn.table import FeatureTable, texts

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    Features: TypeAlias = FeatureTable | pd.DataFrame | ArrayLike
    """(n, k) features: a feature table, a data frame whose columns are features, or an array, columns x0, x1, ..."""


def as_table(X: Features, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> FeatureTable:
    """A feature table from what scikit-learn passes around.

    Parameters
    ----------
    X
        (n, k) features. A FeatureTable brings its own tasks and rewards, which `groups` and `y` replace.
    y
        (n,) rewards, NaN for unknown.
    groups
        (n,) the task of each row.

    Raises UsageError without groups, TableError where lengths differ.
    """
    table = X if isinstance(X, FeatureTable) else _anonymous(X)
    if groups is not None:
        table = replace(table, tasks=texts(_long(groups, "groups", len(table))))
    elif not isinstance(X, FeatureTable):
        raise UsageError("a selector ranks within tasks: give groups, the task of each row")
    if y is not None:
        table = replace(table, rewards=_long(y, "y", len(table)).astype(np.float64))
    return table


def _anonymous(features: Any) -> FeatureTable:
    """Rows by number, in no task yet. Columns of an array are x0, x1, ..."""
    values = np.asarray(features, dtype=np.float64)
    if values.ndim != 2:
        raise TableError(f"features must be rows and columns, got an array of {values.ndim} dimension(s)")
    names = getattr(features, "columns", range(values.shape[1]))
    columns = [f"x{name}" if isinstance(name, int) else str(name) for name in names]
    return FeatureTable.build((("", str(i), row, np.nan, False, "") for i, row in enumerate(values)), columns)


def _long(values: ArrayLike, name: str, rows: int) -> Any:
    """(rows,) an array of that length. Raises TableError for another."""
    array = np.asarray(values)
    if array.shape != (rows,):
        raise TableError(f"{name} has shape {array.shape}, but the features have {rows} rows")
    return array


class _TaskSelector(BaseEstimator):  # type: ignore[misc] # scikit-learn ships no types
    """What all selectors share: scores from the plain selector that `fit` made."""

    selector_: Selector
    """The fitted rule."""

    def fit(self, X: Features, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> Self:
        """Fit on the rows whose outcome `y` is known. Groups are tasks."""
        table = as_table(X, y, groups)
        self.n_features_in_ = len(table.columns)
        self.feature_names_in_ = np.array(table.columns, dtype=object)
        self._learn(table)
        return self

    def _learn(self, table: FeatureTable) -> None:
        raise NotImplementedError

    def decision_function(self, X: Features, groups: ArrayLike | None = None) -> Floats:
        """(n,) scores, higher is better; comparable within a group. Equal scores share the pick."""
        check_is_fitted(self, "selector_")
        return self.selector_.scores(as_table(X, None, groups))

    def score(self, X: Features, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> float:
        """Accuracy: the expected outcome of each task's pick, averaged over tasks."""
        table = as_table(X, y, groups)
        scores = self.decision_function(table)
        return mean_over_tasks(accuracy_by_task(scores, table.rewards, table.groups))


class RuleSelector(_TaskSelector):
    """A rule that needs no labels, such as 'gate-shortest'; fitting only looks whether its columns are there."""

    def __init__(self, rule: str = "gate-shortest") -> None:
        self.rule = rule

    def _learn(self, table: FeatureTable) -> None:
        selector = baseline(self.rule)
        selector.scores(table)
        self.selector_ = selector


class ReweightSelector(_TaskSelector):
    """A shrunk linear re-weighting of within-task ranks: see `bestofn.fitting.fit_reweight`."""

    learned_: Learned

    def __init__(self, directions: Mapping[str, float] | None = None, *, gate: bool = True) -> None:
        self.directions = directions
        self.gate = gate

    def _learn(self, table: FeatureTable) -> None:
        self.learned_ = fit_reweight(table, directions=self.directions, gate=self.gate)
        self.selector_ = self.learned_.selector


class ForwardSelector(_TaskSelector):
    """Greedy forward selection by leave-one-task-out accuracy: see `bestofn.fitting.fit_forward`.

    `learned_` keeps the nested selections, `selector_.path` every step with its score.
    """

    learned_: Learned

    def __init__(
        self,
        max_features: int = 10,
        *,
        candidates: Sequence[str] | None = None,
        shrinkage: float = SHRINKAGE,
        gate: bool = False,
    ) -> None:
        self.max_features = max_features
        self.candidates = candidates
        self.shrinkage = shrinkage
        self.gate = gate

    def _learn(self, table: FeatureTable) -> None:
        self.learned_ = fit_forward(
            table,
            candidates=self.candidates,
            max_features=self.max_features,
            shrinkage=self.shrinkage,
            gate=self.gate,
        )
        self.selector_ = self.learned_.selector
