"""Within-task ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from bestofn.ranks import RANK_BITS, rank_sum, snap, within_task_ranks

VALUES = st.one_of(st.integers(-3, 3).map(float), st.just(math.nan), st.just(math.inf), st.floats(-1e9, 1e9))
ROWS = st.lists(st.tuples(st.integers(0, 4), VALUES, VALUES), min_size=1, max_size=40)


def arrays(rows):
    """Values (n, 2) and groups (n,) of drawn rows."""
    return np.array([r[1:] for r in rows], dtype=float), np.array([r[0] for r in rows])


def slow_ranks(values, groups):
    """The definition, task by task and column by column."""
    out = np.zeros(values.shape)
    for task in set(groups.tolist()):
        for column in range(values.shape[1]):
            mine = np.flatnonzero((groups == task) & ~np.isnan(values[:, column]))
            count = len(mine)
            if count > 1:
                out[mine, column] = (2 * rankdata(values[mine, column]) - count - 1) / (count - 1)
    return out


@given(ROWS)
def test_ranks_agree_with_the_definition(rows):
    """Average ranks from -1 to 1 within each task, 0 for unknown: as scipy ranks each task, up to the grid."""
    values, groups = arrays(rows)
    assert within_task_ranks(values, groups) == pytest.approx(slow_ranks(values, groups), abs=2.0 ** -(RANK_BITS + 1))


@given(ROWS, st.integers(0, 99))
def test_an_increasing_transform_changes_no_rank(rows, seed):
    """Ranks hold on to order alone: any strictly increasing map of the values gives the same."""
    values, groups = arrays(rows)
    distinct, places = np.unique(values, return_inverse=True)
    images = np.cumsum(np.random.default_rng(seed).exponential(size=len(distinct)) + 1e-3) - 7.0
    images[np.isnan(distinct)] = np.nan
    mapped = images[places].reshape(values.shape)
    assert (within_task_ranks(mapped, groups) == within_task_ranks(values, groups)).all()


@given(ROWS, st.randoms())
def test_shuffled_rows_keep_their_ranks(rows, random):
    """Each row's ranks are the same to the last bit wherever it stands."""
    values, groups = arrays(rows)
    order = list(range(len(rows)))
    random.shuffle(order)
    assert (within_task_ranks(values[order], groups[order]) == within_task_ranks(values, groups)[order]).all()


@given(ROWS)
def test_a_negated_column_has_negated_ranks(rows):
    """The grid is symmetric."""
    values, groups = arrays(rows)
    assert (within_task_ranks(-values, groups) == -within_task_ranks(values, groups)).all()


def test_constant_and_unknown_columns_say_nothing():
    """A column that is constant, unknown, or known once only in a task is 0 there."""
    nan = math.nan
    values = np.array([[3.0, nan, 1.0], [3.0, nan, nan], [3.0, nan, nan]])
    assert (within_task_ranks(values, np.zeros(3, int)) == 0).all()


def test_an_unknown_value_stands_in_the_middle_and_moves_no_other():
    """Unknown is 0, and the known ones rank as if it were not there."""
    values = np.array([[1.0], [math.nan], [2.0]])
    assert within_task_ranks(values, np.zeros(3, int)).ravel().tolist() == [-1.0, 0.0, 1.0]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60), st.randoms())
def test_sums_of_products_on_the_grid_are_exact_in_any_order(values, random):
    """Adding up and taking away again leaves the very same number."""
    products = snap(np.array(values), RANK_BITS) * snap(np.array(values[::-1]), RANK_BITS)
    total = sum(products)
    mine = products[0]
    rest = list(products[1:])
    random.shuffle(rest)
    assert total - mine == sum(rest)


@given(
    st.lists(st.floats(-1e6, 1e6).filter(lambda w: w == 0 or abs(w) > 1e-3), min_size=1, max_size=12),
    st.randoms(),
    st.integers(0, 99),
)
def test_rank_sums_do_not_depend_on_the_order_of_columns(weights, random, seed):
    """Equal sums are equal to the last bit, and lie in [-1, 1]."""
    ranks = within_task_ranks(np.random.default_rng(seed).integers(0, 4, (8, len(weights))) * 1.0, np.zeros(8, int))
    order = list(range(len(weights)))
    random.shuffle(order)
    found = rank_sum(ranks, np.array(weights))
    assert (rank_sum(ranks[:, order], np.array(weights)[order]) == found).all()
    assert (np.abs(found) <= 1).all()
    assert (rank_sum(ranks, 8 * np.array(weights)) == found).all()


def test_no_rows_and_no_columns():
    """Nothing in, nothing out."""
    assert within_task_ranks(np.empty((0, 3)), np.empty(0, int)).shape == (0, 3)
    assert within_task_ranks(np.empty((4, 0)), np.zeros(4, int)).shape == (4, 0)
    assert rank_sum(np.empty((4, 0)), np.empty(0)).tolist() == [0.0] * 4
