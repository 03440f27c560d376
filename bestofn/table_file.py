"""Feature tables as files that a person can open: CSV and Parquet, in and out.

A name is text and stays so: a task called `007`, `NA` or nothing at all comes back as it was. A number comes back to
the last bit; an empty cell is an unknown value.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bestofn.errors import TableError
from bestofn.fresh_file import fresh_file
from bestofn.metrics import Bools, Floats
from bestofn.table import RESERVED, FeatureTable, Texts, texts

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "<na>"})
"""What an unknown number may be written as, in any case."""
WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
"""What a truth value may be written as, in any case."""
SPECIAL = re.compile(r'[",\r\n]')
"""What a cell of CSV must be quoted for."""
ABOUT = b"bestofn"
"""Key of `about` in Parquet metadata."""


def write(table: FeatureTable, path: Path) -> None:
    """Write `.csv` (with `about` beside it as `.about.json`) or `.parquet`. Raises TableError for another ending."""
    import orjson

    about = orjson.dumps(dict(table.about), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    try:
        if path.suffix == ".csv":
            with fresh_file(path) as fresh:
                _write_csv(table, fresh)
            with fresh_file(path.with_suffix(".about.json")) as fresh:
                fresh.write_bytes(about + b"\n")
        elif path.suffix == ".parquet":
            with fresh_file(path) as fresh:
                _write_parquet(table, fresh, about)
        else:
            raise TableError(f"cannot write '{path}': the ending must be .csv or .parquet")
    except OSError as error:
        raise TableError(f"cannot write '{path}': {error.strerror or error}") from error


def read(path: Path) -> FeatureTable:
    """Read `.csv` or `.parquet`. Raises TableError with the place of what is missing, repeated or not a number."""
    import orjson

    if not path.is_file():
        raise TableError(f"no feature table at '{path}': write one with `bestofn features --pool POOL -o {path}`")
    if path.suffix == ".csv":
        columns = _read_csv(path)
        beside = path.with_suffix(".about.json")
        about, source = (beside.read_bytes(), beside) if beside.is_file() else (b"{}", path)
    elif path.suffix == ".parquet":
        columns, about = _read_parquet(path)
        source = path
    else:
        raise TableError(f"cannot read '{path}': the ending must be .csv or .parquet")
    try:
        what_made_it = orjson.loads(about)
    except orjson.JSONDecodeError as error:
        raise TableError(f"'{source}' does not hold JSON about the table ({error}): mend or delete it") from error
    if not isinstance(what_made_it, dict):
        raise TableError(f"'{source}' must hold a JSON object about the table: mend or delete it")
    return assemble(columns, f"'{path}'", what_made_it)


def assemble(columns: Mapping[str, Sequence[Any]], where: str, about: Mapping[str, Any] | None) -> FeatureTable:
    """A table from named columns: `task` and `trajectory`, features, and any of reward, label_reason and empty.

    `where` names the source in errors. Raises TableError.
    """
    lacking = [name for name in ("task", "trajectory") if name not in columns]
    if lacking:
        raise TableError(f"{where} lacks {' and '.join(lacking)}: its columns are {', '.join(columns) or 'none'}")
    names = tuple(name for name in columns if name not in RESERVED)
    tasks, trajectories = (_names(columns[name], name, where) for name in ("task", "trajectory"))
    n = len(tasks)
    seen: set[tuple[str, str]] = set()
    for pair in zip(tasks, trajectories, strict=True):
        if pair in seen:
            raise TableError(f"{where} holds trajectory '{pair[1]}' of task '{pair[0]}' twice: every row needs its own")
        seen.add(pair)
    values = [_numbers(columns[name], name, where) for name in names]
    reasons = columns.get("label_reason", [""] * n)
    return FeatureTable(
        tasks=tasks,
        trajectories=trajectories,
        columns=names,
        values=np.column_stack(values) if values else np.empty((n, 0)),
        rewards=_rewards(columns, n, where),
        empty=_truths(columns["empty"], where) if "empty" in columns else np.zeros(n, dtype=np.bool_),
        label_reasons=texts("" if _unknown(reason) else reason for reason in reasons),
        about=dict(about or {}),
    )


_OUTCOMES = {"pass": 1.0, "passed": 1.0, "fail": 0.0, "failed": 0.0, "unknown": math.nan, "": math.nan}
"""What a column `label` may say."""


def _rewards(columns: Mapping[str, Sequence[Any]], n: int, where: str) -> Floats:
    """The outcomes: `reward` where there is such a column, else what `label` says in words or numbers."""
    if "reward" in columns:
        return _numbers(columns["reward"], "reward", where)
    if "label" not in columns:
        return np.full(n, np.nan)
    told = ["" if _unknown(value) else str(value).strip().lower() for value in columns["label"]]
    if all(word in _OUTCOMES for word in told):
        return np.array([_OUTCOMES[word] for word in told], dtype=np.float64)
    try:
        return _numbers(columns["label"], "label", where)
    except TableError as error:
        raise TableError(f"{error}; or write pass, fail or unknown in every row") from error


def _write_csv(table: FeatureTable, path: Path) -> None:
    """Numbers as the shortest text that reads back the same, unknown ones as empty cells."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(_line(["task", "trajectory", *table.columns, "empty", "reward", "label_reason"]))
        for i in range(len(table)):
            *numbers, reward = ["" if v != v else repr(v) for v in (*table.values[i].tolist(), float(table.rewards[i]))]
            ends = ["true" if table.empty[i] else "false", reward, table.label_reasons[i]]
            file.write(_line([table.tasks[i], table.trajectories[i], *numbers, *ends]))


def _line(cells: Sequence[str]) -> str:
    """One line of CSV. The standard writer leaves a lone carriage return unquoted, and then cannot read it."""
    quoted = (f'"{cell.replace(chr(34), chr(34) * 2)}"' if SPECIAL.search(cell) else cell for cell in cells)
    return ",".join(quoted) + "\n"


def _read_csv(path: Path) -> dict[str, Sequence[str]]:
    """The cells of each column, as text."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            rows = []
            for row in reader:
                if row and len(row) != len(header):
                    raise TableError(
                        f"'{path}', line {reader.line_num}: {len(row)} cells, but the header has {len(header)}"
                    )
                if row:
                    rows.append(row)
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"'{path}' is not readable as CSV in UTF-8: {error}") from error
    check_unique(header, f"'{path}'")
    return dict(zip(header, zip(*rows, strict=True) if rows else [()] * len(header), strict=True))


def _write_parquet(table: FeatureTable, path: Path, about: bytes) -> None:
    """Text columns as strings, numbers as doubles with nulls for unknown."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {
        "task": pa.array(table.tasks.tolist(), pa.string()),
        "trajectory": pa.array(table.trajectories.tolist(), pa.string()),
        **{name: pa.array(table.values[:, i], from_pandas=True) for i, name in enumerate(table.columns)},
        "empty": pa.array(table.empty),
        "reward": pa.array(table.rewards, from_pandas=True),
        "label_reason": pa.array(table.label_reasons.tolist(), pa.string()),
    }
    pq.write_table(pa.table(arrays).replace_schema_metadata({ABOUT: about}), path)


def _read_parquet(path: Path) -> tuple[dict[str, Sequence[Any]], bytes]:
    """The columns, numbers as arrays, and what stands about them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        stored = pq.ParquetFile(path).read()
    except (pa.ArrowInvalid, OSError) as error:
        raise TableError(f"'{path}' is not readable as Parquet: {error}") from error
    check_unique(stored.column_names, f"'{path}'")
    columns: dict[str, Sequence[Any]] = {}
    for name in stored.column_names:
        column = stored.column(name)
        numeric = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
        as_numbers = numeric and name not in ("task", "trajectory", "label_reason")
        columns[name] = column.cast(pa.float64(), safe=False).to_numpy() if as_numbers else column.to_pylist()
    return columns, (stored.schema.metadata or {}).get(ABOUT, b"{}")


def check_unique(names: Sequence[str], where: str) -> None:
    """Raise TableError where a column name stands twice."""
    doubled = sorted({name for name in names if list(names).count(name) > 1})
    if doubled:
        raise TableError(f"{where}: column names stand twice: {', '.join(doubled)}")


def _unknown(value: Any) -> bool:
    """True for None, NaN and what pandas takes for missing."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _names(values: Sequence[Any], column: str, where: str) -> Texts:
    """Names as text. Raises TableError for a missing one."""
    for index, value in enumerate(values):
        if _unknown(value):
            raise TableError(f"{where}, row {index + 1}: no {column}; every row needs one")
    return texts(values)


def _numbers(values: Sequence[Any], column: str, where: str) -> Floats:
    """Numbers, NaN where unknown. Raises TableError naming the cell."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        return values.astype(np.float64)
    out = np.empty(len(values))
    for index, value in enumerate(values):
        try:
            out[index] = _number(value)
        except (TypeError, ValueError, OverflowError):
            raise TableError(
                f"{where}, row {index + 1}, column '{column}': {value!r} is not a number; leave it empty where unknown"
            ) from None
    return out


def _number(value: Any) -> float:
    """One number. Raises ValueError or TypeError for anything else."""
    if _unknown(value):
        return math.nan
    if isinstance(value, str):
        word = value.strip().lower()
        if word in MISSING:
            return math.nan
        if word in WORDS:
            return WORDS[word]
        if "_" in word:  # Python reads 1_000 as a number, no one else does
            raise ValueError(word)
    return float(value)


def _truths(values: Sequence[Any], where: str) -> Bools:
    """Truth values; unknown is False."""
    return np.asarray(np.nan_to_num(_numbers(values, "empty", where)) != 0.0)
