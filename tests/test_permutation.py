"""The label-permutation null of forward selection."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bestofn.fitting import fit_forward, swing_of
from bestofn.metrics import accuracy_by_task, mean_over_tasks, pass_rate, pool_figures
from bestofn.permutation import _shuffled, null_accuracies, null_of
from bestofn.table import FeatureTable


def made(seed: int, *, effect: float, tasks: int = 20, columns: int = 8) -> FeatureTable:
    """Tasks of 5 attempts; the first column goes with the outcome as strongly as `effect`."""
    rng = np.random.default_rng(seed)
    rows = []
    for task in range(tasks):
        for attempt in range(5):
            values = rng.normal(size=columns)
            passed = float(effect * values[0] + rng.normal() > 0)
            rows.append((f"{task:02}", f"{attempt}", values, passed if attempt or task else math.nan, False, ""))
    return FeatureTable.build(rows, [f"c{i}" for i in range(columns)])


def nested_accuracy(table: FeatureTable) -> float:
    scores = fit_forward(table).held_out_scores(table)
    return mean_over_tasks(accuracy_by_task(scores, table.rewards, table.groups))


def test_a_planted_effect_stands_out_of_the_null():
    """Hardly any shuffling reaches what a real effect gives, nested or not."""
    table = made(0, effect=3.0)
    null = null_accuracies(table, table.columns, permutations=99)
    assert null_of("forward-optimistic", fit_forward(table).optimistic, null.optimistic).p_value == 0.01
    assert null_of("forward", nested_accuracy(table), null.nested).p_value == 0.01


def test_where_there_is_nothing_the_p_values_are_not_small():
    """Over twelve pools without any effect p-values spread out instead of crowding near 0."""
    optimistic, nested = [], []
    for seed in range(12):
        table = made(seed, effect=0.0)
        null = null_accuracies(table, table.columns, permutations=39, seed=seed)
        optimistic.append(null_of("a", fit_forward(table).optimistic, null.optimistic).p_value)
        nested.append(null_of("b", nested_accuracy(table), null.nested).p_value)
    for p_values in (optimistic, nested):
        assert sum(p <= 0.05 for p in p_values) <= 2
        assert float(np.median(p_values)) > 0.2


def test_shuffled_labels_inflate_the_optimistic_figure_only():
    """Under the null, selecting and reporting on the same tasks is far above Pass@1; nesting brings it back."""
    table = made(3, effect=0.0, columns=26)
    null = null_accuracies(table, table.columns, permutations=40)
    rate = pool_figures(table.rewards, table.groups).pass_at_1
    assert null.optimistic.mean() > rate + 0.15
    assert abs(null.nested.mean() - rate) < 0.05


def test_labels_are_shuffled_within_their_tasks():
    """Each task keeps its outcomes, attempts without a known one stay out, and the order does change."""
    table = made(1, effect=0.0)
    swing = swing_of(table, table.columns, gate=False)
    rng = np.random.default_rng(0)
    shuffles = [_shuffled(swing, rng) for _ in range(20)]
    for shuffled in shuffles:
        assert (np.sort(shuffled, axis=0) == np.sort(swing.rewards, axis=0)).all()
        assert (shuffled[swing.rows < 0] == 0).all()
    assert len({s.tobytes() for s in shuffles}) == 20


def test_every_order_of_a_task_is_equally_likely():
    """With one pass in five attempts each attempt gets it a fifth of the time."""
    rows = [("t", str(i), [float(i)], float(i == 0), False, "") for i in range(5)]
    swing = swing_of(FeatureTable.build(rows, ["x"]), ("x",), gate=False)
    rng = np.random.default_rng(0)
    share = np.mean([_shuffled(swing, rng)[:, 0] for _ in range(4000)], axis=0)
    assert share == pytest.approx(np.full(5, 0.2), abs=0.025)


def test_the_null_holds_to_its_seed():
    """The same seed gives the same accuracies, another seed others."""
    table = made(2, effect=0.0)
    first, again, other = (null_accuracies(table, table.columns, permutations=5, seed=s) for s in (0, 0, 1))
    assert first.optimistic.tolist() == again.optimistic.tolist()
    assert first.optimistic.tolist() != other.optimistic.tolist()


def test_the_figures_of_a_null():
    """Mean, 95th percentile and p-value count the permutations that reach the observed accuracy."""
    null = null_of("x", 0.5, np.array([0.1, 0.2, 0.5, 0.6]))
    assert null == ("x", pytest.approx(0.35), pytest.approx(0.585), pytest.approx(3 / 5), 4)


def test_the_null_accuracy_of_unshuffled_labels_is_the_observed_one(monkeypatch):
    """Without shuffling, the null's two figures are exactly those that fitting reports."""
    monkeypatch.setattr("bestofn.permutation._shuffled", lambda swing, rng: swing.rewards)
    for seed in range(4):
        table = made(seed, effect=1.0)
        null = null_accuracies(table, table.columns, permutations=1)
        assert null.optimistic[0] == pytest.approx(fit_forward(table).optimistic)
        assert null.nested[0] == pytest.approx(nested_accuracy(table))


def test_the_nested_null_is_left_out_where_it_is_too_dear(monkeypatch):
    """The optimistic one, a fold instead of one a task, is the same all the same."""
    table = made(1, effect=0.0)
    whole = null_accuracies(table, table.columns, permutations=3)
    monkeypatch.setattr("bestofn.permutation.DEAR", 1.0)
    part = null_accuracies(table, table.columns, permutations=3)
    assert part.nested is None
    assert part.optimistic.tolist() == whole.optimistic.tolist()


def test_a_pool_without_a_swing_task_has_a_flat_null():
    """All labels agree within tasks, so every shuffle gives Pass@1."""
    table = made(0, effect=0.0)
    flat = FeatureTable.build(
        ((t, a, [1.0], float(t < "05"), False, "") for t, a in zip(table.tasks, table.trajectories, strict=True)),
        ["x"],
    )
    null = null_accuracies(flat, flat.columns, permutations=3)
    rate = mean_over_tasks(pass_rate(flat.rewards, flat.groups))
    assert null.optimistic.tolist() == [pytest.approx(rate)] * 3
    assert null.nested.tolist() == [pytest.approx(rate)] * 3
