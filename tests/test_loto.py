"""Nested leave-one-task-out forward selection, against slow ways of doing the same."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import LeaveOneGroupOut

from bestofn.loto import SHRINKAGE, forward_paths, marginal_weights, top_rewards
from bestofn.ranks import RANK_BITS, WEIGHT_BITS, snap, within_task_ranks
from bestofn.swing import NOWHERE, SwingTasks, gather


def pool(seed: int, *, tasks: int = 9, columns: int = 5, discrete: bool = False, scores: bool = False) -> dict:
    """A made-up pool with tasks of 1 to 6 attempts, some labels unknown, some recordings empty, some rows dropped."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(tasks), rng.integers(1, 7, tasks))
    n = len(groups)
    values = rng.integers(0, 3, (n, columns)).astype(float) if discrete else rng.normal(size=(n, columns))
    rewards = rng.integers(0, 4, n) / 3 if scores else rng.integers(0, 2, n).astype(float)
    rewards[rng.random(n) < 0.1] = math.nan
    empty, dropped = rng.random(n) < 0.05, rng.random(n) < 0.15
    ranks = within_task_ranks(np.where(empty[:, None], math.nan, values), groups)
    level = np.where(empty, -8.0, np.where(dropped, -4.0, 0.0))
    return {"ranks": ranks, "rewards": rewards, "groups": groups, "level": level, "trains": ~empty & ~dropped}


class Slow:
    """The definition, with a refit for every task and nothing clever."""

    def __init__(self, made: dict) -> None:
        self.made = made
        known = ~np.isnan(made["rewards"])
        self.rows = {
            task: np.flatnonzero((made["groups"] == task) & known) for task in sorted(set(made["groups"].tolist()))
        }
        self.rows = {t: r for t, r in self.rows.items() if len(r) and np.ptp(made["rewards"][r]) > 0}

    def fit(self, training: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Weights, and which columns vary, from whole training tasks."""
        up, down = np.zeros(self.made["ranks"].shape[1]), np.zeros(self.made["ranks"].shape[1])
        for task in training:
            rows = self.rows[task][self.made["trains"][self.rows[task]]]
            outcomes = self.made["rewards"][rows]
            if len(rows) and np.ptp(outcomes) > 0:
                ranks = self.made["ranks"][rows]
                up += ranks.T @ snap(outcomes - outcomes.mean(), RANK_BITS)
                down += ((ranks - ranks.mean(axis=0)) ** 2).sum(axis=0)
        return snap(up / (down + SHRINKAGE), WEIGHT_BITS), down > 1e-9

    def judge(self, weights: np.ndarray, task: int) -> tuple[float, float]:
        """Accuracy and correlation in one task."""
        rows = self.rows[task]
        sums = self.made["ranks"][rows] @ weights
        scores = self.made["level"][rows] + sums
        accuracy = self.made["rewards"][rows][scores == scores.max()].mean()
        sums, outcomes = (array[self.made["trains"][rows]] for array in (sums, self.made["rewards"][rows]))
        if len(sums) < 2 or np.ptp(sums) == 0 or np.ptp(outcomes) == 0:
            return accuracy, 0.0
        return accuracy, np.corrcoef(sums, outcomes)[0, 1]

    def loto(self, chosen: list[int], tasks: list[int]) -> tuple[float, float]:
        """Mean accuracy and correlation, each task under weights from the others."""
        found = []
        for task in tasks:
            weights, _ = self.fit([t for t in tasks if t != task])
            mask = np.isin(np.arange(len(weights)), chosen)
            found.append(self.judge(weights * mask, task))
        return tuple(np.mean(found, axis=0))

    def select(self, tasks: list[int], steps: int) -> tuple[list[int], list[float], int]:
        """The greedy path, its accuracies, and the size of its best prefix."""
        _, varies = self.fit(tasks)
        path, accuracies = [], [self.loto([], tasks)[0]]
        free = [c for c in range(len(varies)) if varies[c]]
        while free and len(path) < steps:
            tried = {c: self.loto([*path, c], tasks) for c in free}
            best = max(free, key=lambda c: (round(tried[c][0], 9), round(tried[c][1], 9), -c))
            free.remove(best)
            path.append(best)
            accuracies.append(tried[best][0])
        return path, accuracies, int(np.argmax(np.round(accuracies, 9)))


def swing_of(made: dict) -> SwingTasks:
    return gather(**made)


@pytest.mark.parametrize("seed", range(20))
def test_nested_selection_agrees_with_refitting_everything(seed):
    """Picks, accuracies, sizes, weights and nested accuracies are those of loops over refits."""
    made = pool(seed, discrete=seed % 3 == 0, scores=seed % 4 == 1)
    swing, slow = swing_of(made), Slow(made)
    tasks = list(slow.rows)
    assert swing.tasks.tolist() == tasks
    folds = np.array([*range(len(tasks)), NOWHERE])
    paths = forward_paths(swing, folds, max_features=4)
    weights = marginal_weights(swing, folds) * paths.selected(swing.shape[1])
    nested = top_rewards(swing, weights[:-1])
    for fold, held_out in enumerate([*tasks, None]):
        others = [t for t in tasks if t != held_out]
        path, accuracies, size = slow.select(others, 4)
        assert [p for p in paths.picks[fold].tolist() if p != NOWHERE] == path
        assert [paths.start[fold], *paths.accuracy[fold, : len(path)]] == pytest.approx(accuracies)
        assert paths.sizes()[fold] == size
        slow_weights = slow.fit(others)[0] * np.isin(np.arange(swing.shape[1]), path[:size])
        assert weights[fold] == pytest.approx(slow_weights, abs=1e-7)
        if held_out is not None:
            assert nested[fold] == pytest.approx(slow.judge(slow_weights, held_out)[0])


class Marginal(RegressorMixin, BaseEstimator):
    """The base learner as scikit-learn wants it: within-task ranks in, centred outcomes out."""

    def fit(self, X, y):
        self.weights_ = snap(X.T @ y / ((X * X).sum(axis=0) + SHRINKAGE), WEIGHT_BITS)
        return self

    def predict(self, X):
        return (X * self.weights_).sum(axis=1)


def criterion(estimator, X, y):
    """Accuracy in the held-out task, ties shared; then the correlation, too small to do more than break ties."""
    scores = estimator.predict(X)
    scale = np.sqrt((scores**2).sum() * (y**2).sum())
    return float(y[scores == scores.max()].mean() + 1e-6 * ((scores @ y) / scale if scale > 1e-9 else 0.0))


@pytest.mark.parametrize("seed", range(3))
def test_scikit_learn_selects_the_same_to_the_last_pick(seed):
    """SequentialFeatureSelector with LeaveOneGroupOut, the same base learner and criterion takes the same path."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(10), 5)
    values = rng.normal(size=(50, 6))
    rewards = (values[:, 0] + rng.normal(size=50) > 0).astype(float)
    ranks = within_task_ranks(values, groups)
    swing = gather(ranks, rewards, groups, np.zeros(50), np.ones(50, bool))
    path = forward_paths(swing, np.array([NOWHERE]), max_features=5).picks[0].tolist()
    rows = swing.rows.T.ravel()
    X, y = ranks[rows], swing.centred.T.ravel()
    splits = list(LeaveOneGroupOut().split(X, y, groups[rows]))
    for size in range(1, 6):
        selector = SequentialFeatureSelector(Marginal(), n_features_to_select=size, scoring=criterion, cv=splits)
        assert set(np.flatnonzero(selector.fit(X, y).get_support())) == set(path[:size])


@pytest.mark.parametrize("seed", range(8))
def test_a_held_out_tasks_outcomes_leave_no_trace(seed):
    """Other outcomes in a task change nothing, to the last bit, in what is selected and fitted without it."""
    made = pool(seed, discrete=seed % 2 == 0)
    before = swing_of(made)
    for place, task in enumerate(before.tasks.tolist()):
        rewards = made["rewards"].copy()
        mine = made["groups"] == task
        rewards[mine] = np.random.default_rng(seed).permutation(rewards[mine]) * 0.37 + 0.1
        after = swing_of({**made, "rewards": rewards})
        if after.tasks.tolist() != before.tasks.tolist():
            continue
        fold = np.array([place])
        first, second = (forward_paths(s, fold, max_features=4) for s in (before, after))
        for one, other in zip(first, second, strict=True):
            assert np.array_equal(one, other, equal_nan=True)
        assert (marginal_weights(before, fold) == marginal_weights(after, fold)).all()


@pytest.mark.parametrize("seed", range(8))
def test_permuted_columns_are_selected_the_same(seed):
    """Which columns are selected does not depend on where they stand, where no two are equal."""
    made = pool(seed, columns=7)
    order = np.random.default_rng(seed).permutation(7)
    folds = np.array([0, 1, NOWHERE])
    first = forward_paths(swing_of(made), folds, max_features=5).picks
    second = forward_paths(swing_of({**made, "ranks": made["ranks"][:, order]}), folds, max_features=5).picks
    assert np.where(second == NOWHERE, NOWHERE, order[second]).tolist() == first.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_shuffled_attempts_are_selected_the_same(seed):
    """The order of rows changes no pick and no accuracy."""
    made = pool(seed, discrete=True)
    order = np.random.default_rng(seed).permutation(len(made["groups"]))
    # Task numbers stay, so that folds mean the same tasks.
    turned = {key: array[order] for key, array in made.items()}
    first, second = (forward_paths(swing_of(p), np.array([NOWHERE])) for p in (made, turned))
    assert first.picks.tolist() == second.picks.tolist()
    assert first.accuracy == pytest.approx(second.accuracy, nan_ok=True)


def test_a_constant_column_is_never_selected():
    """Nor one that varies only where all outcomes agree, or only among attempts without a known outcome."""
    groups = np.repeat(np.arange(4), 4)
    rewards = np.array([1, 0, 1, math.nan, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1.0])
    values = np.zeros((16, 4))
    values[12:, 1] = [1, 2, 3, 4]
    values[3, 2] = 9.0
    values[:, 3] = rewards
    swing = gather(within_task_ranks(values, groups), rewards, groups, np.zeros(16), np.ones(16, bool))
    paths = forward_paths(swing, np.array([0, 1, 2, NOWHERE]))
    assert set(paths.picks.ravel().tolist()) == {3, NOWHERE}
    assert paths.selected(4).sum(axis=1).tolist() == [1, 1, 1, 1]


def test_weights_live_on_the_grid_that_keeps_sums_exact():
    """Equal weights met by the same ranks in another order give the same score, so that ties stay ties."""
    swing = swing_of(pool(1, tasks=15))
    weights = marginal_weights(swing, np.array([*range(len(swing.tasks)), NOWHERE]))
    assert (weights * 2**WEIGHT_BITS % 1 == 0).all()
    assert len(np.unique(weights)) > weights.size / 2


def test_nothing_is_selected_where_nothing_beats_chance():
    """Columns that mislead leave the best prefix empty, and the pick to chance."""
    groups = np.repeat(np.arange(2), 2)
    rewards = np.array([1.0, 0.0, 1.0, 0.0])
    values = np.array([[1.0], [0.0], [0.0], [1.0]])
    swing = gather(within_task_ranks(values, groups), rewards, groups, np.zeros(4), np.ones(4, bool))
    paths = forward_paths(swing, np.array([NOWHERE]))
    assert paths.accuracy[0].tolist() == [0.0]
    assert paths.start.tolist() == [0.5]
    assert paths.sizes().tolist() == [0]


def test_pools_without_a_swing_task_or_a_column():
    """No path, no error."""
    groups, rewards = np.array([0, 0, 1]), np.array([1.0, 1.0, 0.0])
    swing = gather(np.zeros((3, 2)), rewards, groups, np.zeros(3), np.ones(3, bool))
    paths = forward_paths(swing, np.array([NOWHERE]))
    assert paths.picks.tolist() == [[NOWHERE, NOWHERE]]
    assert paths.sizes().tolist() == [0]
    assert top_rewards(swing, np.zeros((0, 2))).tolist() == []
    bare = gather(np.zeros((3, 0)), np.array([1.0, 0.0, 0.0]), groups, np.zeros(3), np.ones(3, bool))
    assert forward_paths(bare, np.array([0, NOWHERE])).picks.shape == (2, 0)


def test_folds_are_the_same_in_blocks_of_any_size(monkeypatch):
    """How many folds are computed at a time changes nothing."""
    swing = swing_of(pool(3, tasks=12))
    folds = np.array([*range(len(swing.tasks)), NOWHERE])
    at_once = forward_paths(swing, folds)
    monkeypatch.setattr("bestofn.loto.BLOCK", 1)
    one_by_one = forward_paths(swing, folds)
    assert at_once.picks.tolist() == one_by_one.picks.tolist()
    assert at_once.accuracy == pytest.approx(one_by_one.accuracy, nan_ok=True)
