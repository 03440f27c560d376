"""Figures of a selection."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestofn.metrics import (
    accuracy_by_task,
    gap_recovered,
    mean_over_tasks,
    paired_intervals,
    pass_rate,
    pool_figures,
    swing_tasks,
)

NAN = math.nan


def test_pool_figures_of_a_small_pool():
    """Pass@1 averages task means, the oracle task bests; unknown outcomes and tasks without any count nowhere."""
    groups = np.array([0, 0, 1, 1, 1, 2, 2, 3])
    rewards = np.array([1.0, 0.0, 1.0, 1.0, NAN, 0.0, 0.0, NAN])
    figures = pool_figures(rewards, groups)
    assert figures == (3, 1, 2, pytest.approx((0.5 + 1 + 0) / 3), pytest.approx(2 / 3))


def test_scores_count_as_shares_of_a_pass():
    """A reward between 0 and 1 counts as that share, and makes a swing task where it differs."""
    groups = np.array([0, 0, 1, 1])
    rewards = np.array([0.25, 0.75, 0.5, 0.5])
    assert pass_rate(rewards, groups).tolist() == [0.5, 0.5]
    assert swing_tasks(rewards, groups).tolist() == [True, False]


def test_tied_tops_share_the_pick():
    """Accuracy is the expected outcome of a pick among equal top scores."""
    scores = np.array([2.0, 2.0, 1.0, 5.0, 5.0, 5.0])
    rewards = np.array([1.0, 0.0, 1.0, 1.0, 0.0, NAN])
    assert accuracy_by_task(scores, rewards, np.array([0, 0, 0, 1, 1, 1])).tolist() == [0.5, 0.5]


def test_a_difference_however_small_is_no_tie():
    """Only equal scores share the pick."""
    assert accuracy_by_task(np.array([1.0, 1.0 - 2.0**-53]), np.array([1.0, 0.0]), np.zeros(2, int)).tolist() == [1.0]


def test_unknown_outcomes_leave_before_the_top_is_looked_for():
    """A top attempt without a known outcome leaves the pick to the next one."""
    assert accuracy_by_task(np.array([3.0, 2.0, 1.0]), np.array([NAN, 1.0, 0.0]), np.zeros(3, int)).tolist() == [1.0]


def test_a_task_without_known_outcomes_has_no_accuracy():
    """NaN, not 0."""
    result = accuracy_by_task(np.array([1.0, 1.0]), np.array([NAN, 1.0]), np.array([0, 1]))
    assert math.isnan(result[0])
    assert result[1] == 1.0


def test_nothing_at_all():
    """An empty pool has no tasks and no figures."""
    none = np.empty(0)
    figures = pool_figures(none, np.empty(0, int))
    assert figures[:3] == (0, 0, 0)
    assert math.isnan(figures.pass_at_1)
    assert math.isnan(figures.oracle)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.sampled_from([0.0, 1.0, 0.3, NAN])), min_size=1))
def test_accuracy_agrees_with_counting_by_hand(rows):
    """Accuracy by task is what a loop over tasks finds."""
    groups = np.array([r[0] for r in rows])
    scores = np.array([float(r[1]) for r in rows])
    rewards = np.array([r[2] for r in rows])
    found = accuracy_by_task(scores, rewards, groups)
    for task in range(groups.max() + 1):
        known = [(s, r) for g, s, r in zip(groups, scores, rewards, strict=True) if g == task and not math.isnan(r)]
        tops = [r for s, r in known if s == max(s for s, _ in known)]
        assert found[task] == pytest.approx(np.mean(tops)) if tops else math.isnan(found[task])


def test_gap_recovered():
    """The share of the way from Pass@1 to the oracle; NaN where there is no way to go."""
    assert gap_recovered(0.85, 0.8, 0.9) == pytest.approx(0.5)
    assert gap_recovered(0.75, 0.8, 0.9) == pytest.approx(-0.5)
    assert math.isnan(gap_recovered(0.8, 0.8, 0.8))
    assert math.isnan(gap_recovered(0.3, 0.1 + 0.2, 0.3))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.randoms())
def test_means_do_not_depend_on_the_order_of_tasks(values, random):
    """The mean over tasks is the same to the last bit in any order."""
    shuffled = list(values)
    random.shuffle(shuffled)
    assert mean_over_tasks(np.array(values)) == mean_over_tasks(np.array(shuffled))


def test_intervals_agree_with_a_bootstrap_of_rows():
    """The ends are those of a plain bootstrap that draws task indices, up to Monte Carlo error."""
    rng = np.random.default_rng(3)
    differences = rng.choice([-1.0, 0.0, 0.0, 0.0, 0.5, 1.0], size=60)
    found = paired_intervals(differences[None], resamples=20_000, seed=1)[0]
    draws = differences[rng.integers(0, 60, size=(20_000, 60))].mean(axis=1)
    assert found == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.02)


def test_intervals_of_no_difference_are_exactly_zero():
    """Where no task differs, both ends are 0."""
    assert paired_intervals(np.zeros((2, 9))).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_intervals_hold_to_their_seed():
    """The same seed gives the same ends, another seed others."""
    differences = np.random.default_rng(0).normal(size=(1, 30))
    first, again, other = (paired_intervals(differences, resamples=500, seed=seed) for seed in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()


def test_intervals_without_tasks_are_unknown():
    """No task, no interval."""
    assert np.isnan(paired_intervals(np.empty((2, 0)))).all()


def test_an_interval_covers_the_truth_about_as_often_as_it_says():
    """Over seeded pools of 80 tasks the 95% interval holds the true difference 90 to 99% of the time."""
    rng = np.random.default_rng(5)
    held = 0
    for seed in range(200):
        sample = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.6, 0.3], size=80)
        low, high = paired_intervals(sample[None], resamples=800, seed=seed)[0]
        held += low <= 0.2 <= high
    assert 180 <= held <= 198
