"""Feature tables as CSV and Parquet."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestofn.errors import TableError
from bestofn.table import FeatureTable

TEXTS = st.one_of(
    st.sampled_from(
        ["007", "NA", "nan", "", "None", "null", "1e5", "TRUE", "naïve ✓", " a ", "a,b", 'say "x"', "a\nb"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
NUMBERS = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(-5, 5).map(float))
ROWS = st.lists(
    st.tuples(
        TEXTS, TEXTS, st.tuples(NUMBERS, NUMBERS), st.one_of(st.just(math.nan), st.floats(0, 1)), st.booleans(), TEXTS
    ),
    max_size=8,
    unique_by=lambda row: (row[0], row[1]),
)
COLUMNS = st.lists(
    TEXTS.filter(lambda t: t not in ("", "task", "trajectory", "empty", "reward")), min_size=2, max_size=2, unique=True
)


def same(first: FeatureTable, second: FeatureTable) -> bool:
    """Equal to the last bit, order of rows and columns included."""
    return (
        first.columns == second.columns
        and all(
            getattr(first, name).tolist() == getattr(second, name).tolist()
            for name in ("tasks", "trajectories", "empty", "label_reasons")
        )
        and first.values.tobytes() == second.values.tobytes()
        and first.rewards.tobytes() == second.rewards.tobytes()
        and second.about.items() <= first.about.items()  # the file adds the version that wrote it
    )


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@settings(max_examples=60, deadline=None)
@given(rows=ROWS, columns=COLUMNS)
def test_a_table_comes_back_as_it_was(ending, rows, columns):
    """Names such as 007, NA, nan and the empty one, and every bit of every number, survive the file."""
    rows = [(t, i, [v if v == v else math.nan for v in values], r, e, why) for t, i, values, r, e, why in rows]
    table = FeatureTable.build(rows, columns, {"pool": "p", "banks": {"default": "abc"}})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{ending}"
        table.write(path)
        assert same(FeatureTable.read(path), table)


def test_a_csv_opens_in_pandas_and_comes_back_from_it(tmp_path):
    """What pandas reads from our CSV, and writes as its own, is the same table."""
    table = FeatureTable.build(
        [("t", "1", [0.1, math.nan], 1.0, False, ""), ("t", "2", [1e300, -2.5], math.nan, True, "crashed")],
        ["a", "b"],
    )
    ours, theirs = tmp_path / "ours.csv", tmp_path / "theirs.csv"
    table.write(ours)
    pd.read_csv(ours, dtype={"a": str, "b": str}).to_csv(theirs, index=False)
    assert FeatureTable.read(theirs).digest == table.digest


def test_a_parquet_file_of_pandas_is_read(tmp_path):
    """Whole numbers, truth values and nulls of another writer become numbers."""
    frame = pd.DataFrame(
        {"task": ["a", "a"], "trajectory": ["1", "2"], "n": [1, 2], "ok": [True, None], "reward": [1, 0]}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = FeatureTable.read(tmp_path / "t.parquet")
    assert table.column("n").tolist() == [1.0, 2.0]
    assert table.column("ok")[0] == 1.0
    assert math.isnan(table.column("ok")[1])
    assert table.rewards.tolist() == [1.0, 0.0]


def written(tmp_path: Path, text: str) -> Path:
    """A CSV of that text."""
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_csv_by_hand(tmp_path):
    """A byte order mark, missing cells under their usual names and yes or no are understood."""
    path = written(tmp_path, "\ufefftask,trajectory,x,y,reward\nNA,1,,yes,1\nNA,2,NaN,no,\n\n")
    table = FeatureTable.read(path)
    assert table.tasks.tolist() == ["NA", "NA"]
    assert np.isnan(table.column("x")).all()
    assert table.column("y").tolist() == [1.0, 0.0]
    assert math.isnan(table.rewards[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task,x\na,1\n", "lacks trajectory: its columns are task, x"),
        ("", "lacks task and trajectory: its columns are none"),
        ("task,trajectory,x\na,1,abc\n", "row 1, column 'x': 'abc' is not a number; leave it empty where unknown"),
        ("task,trajectory,x\na,1,1_000\n", "column 'x': '1_000' is not a number"),
        ("task,trajectory,x\na,1,2\na,1,3\n", "holds trajectory '1' of task 'a' twice: every row needs its own"),
        ("task,trajectory,x\na,1\n", "line 2: 2 cells, but the header has 3"),
        ("task,trajectory,x,x\na,1,2,3\n", "column names stand twice: x"),
        ('task,trajectory,x\na,"1,2\n', "is not readable as CSV in UTF-8"),
        ("task,trajectory,reward\na,1,good\n", "column 'reward': 'good' is not a number"),
    ],
)
def test_what_is_wrong_in_a_csv_is_told_with_its_place(tmp_path, text, message):
    """Every error names the file and what to look at."""
    path = written(tmp_path, text)
    with pytest.raises(TableError) as told:
        FeatureTable.read(path)
    assert message in str(told.value)
    assert str(path) in str(told.value)


def test_other_endings_and_places(tmp_path):
    """Only .csv and .parquet are written and read; a missing file says how to make one."""
    table = FeatureTable.build([("t", "1", [1.0], 1.0, False, "")], ["a"])
    with pytest.raises(TableError, match=r"the ending must be \.csv or \.parquet"):
        table.write(tmp_path / "t.xlsx")
    with pytest.raises(TableError, match=r"cannot write '.*': No such file or directory"):
        table.write(tmp_path / "nowhere" / "t.csv")
    with pytest.raises(TableError, match="write one with `bestofn features --pool POOL -o"):
        FeatureTable.read(tmp_path / "t.csv")
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(TableError, match=r"the ending must be \.csv or \.parquet"):
        FeatureTable.read(tmp_path / "t.json")


def test_files_that_are_something_else(tmp_path):
    """A broken Parquet file, a binary CSV and a broken `.about.json` are told, not crashed on."""
    broken = tmp_path / "t.parquet"
    broken.write_bytes(b"not parquet at all")
    with pytest.raises(TableError, match="is not readable as Parquet"):
        FeatureTable.read(broken)
    binary = tmp_path / "b.csv"
    binary.write_bytes(b"task,trajectory\n\xff\xfe,1\n")
    with pytest.raises(TableError, match="is not readable as CSV in UTF-8"):
        FeatureTable.read(binary)
    path = written(tmp_path, "task,trajectory\na,1\n")
    path.with_suffix(".about.json").write_text("{")
    with pytest.raises(TableError, match=r"t\.about\.json' does not hold JSON about the table"):
        FeatureTable.read(path)
