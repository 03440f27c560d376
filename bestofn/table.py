"""The feature table: one row a trajectory, one column a feature, the reward apart.

Everything after scoring (selection, evaluation, ablation) reads this and never a trajectory. It holds plain
numpy arrays, and pandas comes in only to write and read files, so that picking the best of N stays quick to start.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bestofn.errors import TableError, UsageError
from bestofn.metrics import Bools as Bools
from bestofn.metrics import Floats as Floats
from bestofn.metrics import Ints as Ints

if TYPE_CHECKING:
    import pandas as pd

Texts = NDArray[np.object_]

LABEL_COLUMNS = ("reward", "label", "label_reason")
"""Columns that carry the outcome. They are never candidates for selection."""
RESERVED = ("task", "trajectory", "empty", *LABEL_COLUMNS)
"""Names that no feature may take."""


@dataclass(frozen=True)
class FeatureTable:
    """Features of every attempt of a pool.

    Shapes: n rows, k columns. Missing values are NaN. Rows keep reading order; no figure depends on it.
    """

    tasks: Texts
    """(n,) task names: the groups."""
    trajectories: Texts
    """(n,) trajectory ids."""
    columns: tuple[str, ...]
    """(k,) feature names."""
    values: Floats
    """(n, k) feature values, NaN where the recording cannot tell."""
    rewards: Floats
    """(n,) recorded outcomes, NaN where unknown."""
    empty: Bools
    """(n,) True where the recording holds no turn of the agent: such a row ranks below all others."""
    label_reasons: Texts
    """(n,) why a label is unknown, or a remark; '' otherwise."""
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What made this table: pool, version, hashes of the banks. Written beside CSV, inside Parquet."""

    def __post_init__(self) -> None:
        n, k = len(self.tasks), len(self.columns)
        if self.values.shape != (n, k):
            raise TableError(f"feature table: values have shape {self.values.shape}, expected {(n, k)}")
        for name in ("trajectories", "rewards", "empty", "label_reasons"):
            if len(getattr(self, name)) != n:
                raise TableError(f"feature table: {name} has {len(getattr(self, name))} rows, expected {n}")
        doubled = sorted({c for c in self.columns if self.columns.count(c) > 1})
        if doubled:
            raise TableError(f"feature table: column names stand twice: {', '.join(doubled)}")
        if "" in self.columns:
            raise TableError("feature table: a column has no name")
        taken = sorted(set(self.columns) & set(RESERVED))
        if taken:
            raise TableError(
                f"feature table: {', '.join(taken)} cannot name a feature; reserved are {', '.join(RESERVED)}"
            )

    def __len__(self) -> int:
        return len(self.tasks)

    @cached_property
    def digest(self) -> str:
        """'sha256:' and the hash of all that selection reads: names, values, outcomes; not of the order of rows or
        columns, and not of `about`."""
        import hashlib

        ordered = self.canonical()
        columns = sorted(self.columns)
        values = ordered.take(columns) + 0.0
        hasher = hashlib.sha256()
        for part in (columns, ordered.tasks, ordered.trajectories):
            hasher.update(repr([str(name) for name in part]).encode())
        for numbers in (values, ordered.rewards + 0.0):
            hasher.update(np.where(np.isnan(numbers), np.nan, numbers).astype("<f8").tobytes())
        hasher.update(ordered.empty.tobytes())
        return f"sha256:{hasher.hexdigest()}"

    @cached_property
    def groups(self) -> Ints:
        """(n,) task index of each row, tasks numbered in order of first appearance."""
        return np.array([self._task_index[t] for t in self.tasks], dtype=np.intp)

    @cached_property
    def task_names(self) -> tuple[str, ...]:
        """Task names in order of first appearance."""
        return tuple(self._task_index)

    @cached_property
    def _task_index(self) -> dict[str, int]:
        index: dict[str, int] = {}
        for task in self.tasks:
            index.setdefault(task, len(index))
        return index

    def column(self, name: str) -> Floats:
        """(n,) one feature. Raises TableError naming the columns there are."""
        if name not in self.columns:
            raise TableError(f"the feature table has no column '{name}': it has {', '.join(self.columns) or 'none'}")
        return self.values[:, self.columns.index(name)]

    def take(self, columns: Sequence[str]) -> Floats:
        """(n, len(columns)) several features, in the order asked."""
        return np.column_stack([self.column(c) for c in columns]) if columns else np.empty((len(self), 0))

    def only(self, columns: Sequence[str]) -> FeatureTable:
        """The table with these features alone, in the order asked."""
        return replace(self, columns=tuple(columns), values=self.take(columns))

    def rows(self, keep: Bools | Ints) -> FeatureTable:
        """The table of some rows only."""
        return replace(
            self,
            tasks=self.tasks[keep],
            trajectories=self.trajectories[keep],
            values=self.values[keep],
            rewards=self.rewards[keep],
            empty=self.empty[keep],
            label_reasons=self.label_reasons[keep],
        )

    def canonical(self) -> FeatureTable:
        """The same rows ordered by task, then trajectory, so that what is drawn by a seed does not depend on reading
        order."""
        names = list(zip(self.tasks, self.trajectories, strict=True))
        return self.rows(np.array(sorted(range(len(self)), key=names.__getitem__), dtype=np.intp))

    def threshold(self, pass_at: float) -> FeatureTable:
        """The table with every known reward read as a pass (at least `pass_at`) or a fail.

        Raises UsageError for a bar that is not a finite number.
        """
        if not math.isfinite(pass_at):
            raise UsageError(f"a reward cannot pass at {pass_at}: give a finite number")
        passed = np.where(np.isnan(self.rewards), np.nan, (self.rewards >= pass_at).astype(np.float64))
        return replace(self, rewards=passed)

    def unknown_as_fail(self) -> FeatureTable:
        """The table with every unknown outcome read as a fail, as some official scores do."""
        return replace(self, rewards=np.where(np.isnan(self.rewards), 0.0, self.rewards))

    def with_columns(self, names: Sequence[str], values: Floats) -> FeatureTable:
        """The table with more features on the right."""
        return replace(self, columns=(*self.columns, *names), values=np.hstack([self.values, values]))

    def to_frame(self) -> pd.DataFrame:
        """The table as pandas sees it: task, trajectory, features, then reward, label_reason, empty."""
        import pandas as pd

        frame = pd.DataFrame(self.values, columns=list(self.columns))
        frame.insert(0, "task", list(self.tasks))
        frame.insert(1, "trajectory", list(self.trajectories))
        frame["empty"] = self.empty
        frame["reward"] = self.rewards
        frame["label_reason"] = list(self.label_reasons)
        return frame

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, about: Mapping[str, Any] | None = None) -> FeatureTable:
        """A table from a data frame with at least `task` and `trajectory`.

        Raises TableError where these are missing, repeated, or a feature is not a number.
        """
        from bestofn.table_file import assemble, check_unique

        names = [str(name) for name in frame.columns]
        check_unique(names, "the data frame")
        columns = [frame.iloc[:, i] for i in range(len(names))]
        cells = [c.to_numpy() if getattr(c.dtype, "kind", "O") in "fiub" else c.tolist() for c in columns]
        return assemble(dict(zip(names, cells, strict=True)), "the data frame", about)

    def write(self, path: Path) -> None:
        """Write `.csv` or `.parquet`; `about` goes into Parquet metadata, or beside a CSV as `.about.json`.

        Raises TableError for any other ending.
        """
        from bestofn.table_file import write

        write(self, path)

    @classmethod
    def read(cls, path: Path) -> FeatureTable:
        """Read a table written by `write`, or any CSV or Parquet with the columns `task` and `trajectory`.

        Raises TableError with the place of what is missing, repeated or not a number.
        """
        from bestofn.table_file import read

        return read(path)

    @classmethod
    def build(
        cls,
        rows: Iterable[tuple[str, str, Sequence[float] | Floats, float, bool, str]],
        columns: Sequence[str],
        about: Mapping[str, Any] | None = None,
    ) -> FeatureTable:
        """A table from rows of (task, trajectory, values, reward, empty, label reason)."""
        collected = list(rows)
        values = np.array([r[2] for r in collected], dtype=np.float64).reshape(len(collected), len(columns))
        return cls(
            tasks=texts(r[0] for r in collected),
            trajectories=texts(r[1] for r in collected),
            columns=tuple(columns),
            values=values,
            rewards=np.array([r[3] for r in collected], dtype=np.float64),
            empty=np.array([r[4] for r in collected], dtype=np.bool_),
            label_reasons=texts(r[5] for r in collected),
            about=dict(about or {}),
        )


def texts(values: Iterable[Any]) -> Texts:
    """An object array of plain strings."""
    listed = [str(v) for v in values]
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out
