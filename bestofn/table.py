"""The feature table: one row a trajectory, one column a feature, the reward apart.

Everything after scoring (selection, evaluation, ablation) reads this and never a trajectory. It holds plain
numpy arrays, and pandas comes in only to write and read files, so that picking the best of N stays quick to start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bestofn.errors import TableError

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
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
        taken = sorted(set(self.columns) & set(RESERVED))
        if taken:
            raise TableError(
                f"feature table: {', '.join(taken)} cannot name a feature; reserved are {', '.join(RESERVED)}"
            )

    def __len__(self) -> int:
        return len(self.tasks)

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
        missing = [c for c in ("task", "trajectory") if c not in frame.columns]
        if missing:
            raise TableError(
                f"the table lacks {' and '.join(missing)}: its columns are {', '.join(map(str, frame.columns))}"
            )
        names = tuple(str(c) for c in frame.columns if c not in RESERVED)
        try:
            values = frame[list(names)].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise TableError(f"the table holds a value that is not a number: {error}") from error
        n = len(frame)

        def optional(column: str, default: Any) -> Any:
            return frame[column].to_numpy() if column in frame.columns else np.full(n, default)

        reasons = ["" if r is None or r != r else str(r) for r in optional("label_reason", "")]
        return cls(
            tasks=_texts(frame["task"]),
            trajectories=_texts(frame["trajectory"]),
            columns=names,
            values=values,
            rewards=np.asarray(optional("reward", np.nan), dtype=np.float64),
            empty=np.asarray(optional("empty", False), dtype=np.bool_),
            label_reasons=_texts(reasons),
            about=dict(about or {}),
        )

    def write(self, path: Path) -> None:
        """Write `.csv` or `.parquet`; `about` goes into Parquet metadata, or beside a CSV as `.about.json`.

        Raises TableError for any other ending.
        """
        import orjson

        about = orjson.dumps(dict(self.about), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
        if path.suffix == ".csv":
            self.to_frame().to_csv(path, index=False)
            path.with_suffix(".about.json").write_bytes(about + b"\n")
        elif path.suffix == ".parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            arrow = pa.Table.from_pandas(self.to_frame(), preserve_index=False)
            pq.write_table(arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), b"bestofn": about}), path)
        else:
            raise TableError(f"cannot write '{path}': the ending must be .csv or .parquet")

    @classmethod
    def read(cls, path: Path) -> FeatureTable:
        """Read a table written by `write`, or any CSV or Parquet with the columns `task` and `trajectory`."""
        import orjson
        import pandas as pd

        if not path.is_file():
            raise TableError(f"no feature table at '{path}': write one with `bestofn features --pool POOL -o {path}`")
        about: dict[str, Any] = {}
        if path.suffix == ".csv":
            frame = pd.read_csv(path, dtype={"task": str, "trajectory": str, "label_reason": str}, keep_default_na=True)
            beside = path.with_suffix(".about.json")
            if beside.is_file():
                about = orjson.loads(beside.read_bytes())
        elif path.suffix == ".parquet":
            import pyarrow.parquet as pq

            arrow = pq.read_table(path)
            about = orjson.loads((arrow.schema.metadata or {}).get(b"bestofn", b"{}"))
            frame = arrow.to_pandas()
        else:
            raise TableError(f"cannot read '{path}': the ending must be .csv or .parquet")
        return cls.from_frame(frame, about)

    @classmethod
    def build(
        cls,
        rows: Iterable[tuple[str, str, Sequence[float], float, bool, str]],
        columns: Sequence[str],
        about: Mapping[str, Any] | None = None,
    ) -> FeatureTable:
        """A table from rows of (task, trajectory, values, reward, empty, label reason)."""
        collected = list(rows)
        values = np.array([r[2] for r in collected], dtype=np.float64).reshape(len(collected), len(columns))
        return cls(
            tasks=_texts(r[0] for r in collected),
            trajectories=_texts(r[1] for r in collected),
            columns=tuple(columns),
            values=values,
            rewards=np.array([r[3] for r in collected], dtype=np.float64),
            empty=np.array([r[4] for r in collected], dtype=np.bool_),
            label_reasons=_texts(r[5] for r in collected),
            about=dict(about or {}),
        )


def _texts(values: Iterable[Any]) -> Texts:
    """An object array of plain strings."""
    listed = [str(v) for v in values]
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out
