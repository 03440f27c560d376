"""The feature table."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bestofn.errors import TableError, UsageError
from bestofn.table import FeatureTable, texts


def small(**changes) -> FeatureTable:
    """Two tasks, two columns."""
    table = FeatureTable.build(
        [
            ("b", "2", [1.0, math.nan], 1.0, False, ""),
            ("a", "1", [2.0, 5.0], 0.0, False, "reward.txt disagrees"),
            ("b", "1", [3.0, 6.0], math.nan, True, "no reward"),
        ],
        ["n_steps", "n_error"],
    )
    return replace(table, **changes)


def test_groups_number_tasks_in_order_of_first_appearance():
    """Group indices and task names go together."""
    table = small()
    assert table.groups.tolist() == [0, 1, 0]
    assert table.task_names == ("b", "a")


def test_a_missing_column_is_told_with_those_there_are():
    """The error lists the columns."""
    with pytest.raises(TableError, match=r"^the feature table has no column 'n_eror': it has n_steps, n_error$"):
        small().column("n_eror")


def test_take_keeps_the_order_asked_for():
    """Columns come as asked, none give an empty array."""
    table = small()
    assert table.take(["n_error", "n_steps"])[1].tolist() == [5.0, 2.0]
    assert table.take([]).shape == (3, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": ("x", "x")}, "column names stand twice: x"),
        ({"columns": ("reward", "x")}, "reward cannot name a feature"),
        ({"columns": ("", "x")}, "a column has no name"),
        ({"columns": ("x",)}, r"values have shape \(3, 2\), expected \(3, 1\)"),
        ({"rewards": np.zeros(2)}, "rewards has 2 rows, expected 3"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes, message):
    """Shapes, reserved names and doubled names are checked."""
    with pytest.raises(TableError, match=message):
        small(**changes)


def test_canonical_order_is_by_task_then_trajectory():
    """Rows in any order become the same table."""
    table = small().canonical()
    assert list(zip(table.tasks, table.trajectories, strict=True)) == [("a", "1"), ("b", "1"), ("b", "2")]
    assert table.values[0].tolist() == [2.0, 5.0]
    assert table.empty.tolist() == [False, True, False]


def test_the_digest_holds_to_what_selection_reads():
    """Neither the order of rows and columns nor `about` changes it; a value, an outcome or a name does."""
    table = small()
    same = [
        table.rows(np.array([2, 0, 1])),
        replace(table, columns=table.columns[::-1], values=table.values[:, ::-1]),
        replace(table, about={"pool": "x"}),
        replace(table, values=table.values * -1 * -1),
    ]
    changed = table.values.copy()
    changed[0, 0] += 1e-12
    others = [
        replace(table, values=changed),
        replace(table, rewards=np.array([1.0, 1.0, math.nan])),
        replace(table, columns=("n_steps", "n_errors")),
        replace(table, tasks=texts(["b", "c", "b"])),
        replace(table, empty=np.zeros(3, bool)),
    ]
    assert table.digest.startswith("sha256:")
    assert {t.digest for t in same} == {table.digest}
    assert table.digest not in {t.digest for t in others}
    assert len({t.digest for t in others}) == len(others)


def test_a_threshold_reads_scores_as_pass_or_fail():
    """At least `pass_at` passes; unknown stays unknown."""
    scored = small(rewards=np.array([0.7, 0.69, math.nan])).threshold(0.7)
    assert scored.rewards[:2].tolist() == [1.0, 0.0]
    assert math.isnan(scored.rewards[2])
    with pytest.raises(UsageError, match=r"^a reward cannot pass at nan: give a finite number$"):
        small().threshold(math.nan)


def test_columns_can_be_added_on_the_right():
    """Values of new columns come with their names."""
    table = small().with_columns(["judge"], np.array([[0.1], [0.2], [0.3]]))
    assert table.columns == ("n_steps", "n_error", "judge")
    assert table.column("judge").tolist() == [0.1, 0.2, 0.3]


def test_data_frame_there_and_back():
    """A table comes back from its data frame, whatever the order of columns."""
    table = small()
    frame = table.to_frame()
    back = FeatureTable.from_frame(
        frame[["reward", "n_error", "task", "empty", "trajectory", "label_reason", "n_steps"]]
    )
    assert back.digest == table.digest
    assert back.label_reasons.tolist() == table.label_reasons.tolist()


def test_a_data_frame_of_a_users_own():
    """Only `task` and `trajectory` are needed; numbers become names, truth values numbers."""
    frame = pd.DataFrame({"task": [7, 7], "trajectory": ["a", "b"], "ok": [True, False], "n": [1, 2]})
    table = FeatureTable.from_frame(frame)
    assert table.tasks.tolist() == ["7", "7"]
    assert table.columns == ("ok", "n")
    assert table.values.tolist() == [[1.0, 1.0], [0.0, 2.0]]
    assert np.isnan(table.rewards).all()
    assert not table.empty.any()


def test_a_data_frame_without_names_is_refused():
    """The errors say what is missing and what there is."""
    with pytest.raises(TableError, match=r"^the data frame lacks task and trajectory: its columns are x$"):
        FeatureTable.from_frame(pd.DataFrame({"x": [1.0]}))
    with pytest.raises(TableError, match=r"^the data frame, row 2: no task; every row needs one$"):
        FeatureTable.from_frame(pd.DataFrame({"task": ["a", None], "trajectory": ["1", "2"]}))
    with pytest.raises(TableError, match=r"^the data frame: column names stand twice: x$"):
        FeatureTable.from_frame(pd.DataFrame([["a", "b", 1, 2]], columns=["task", "trajectory", "x", "x"]))
