"""Best of n: the closed form and the laid-out subsets, each against trying every subset."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from ablation_tables import subject

from bestofn.ablation.subsets import best_of, best_of_subsets, n_rows
from bestofn.selector import BASELINES


def tried(scores: np.ndarray, rewards: np.ndarray, n: int) -> float:
    """The mean over all subsets of one task, tied tops sharing the pick."""
    known = np.flatnonzero(~np.isnan(rewards))
    outcomes = []
    for chosen in combinations(known, min(n, len(known))):
        mine = np.array(chosen)
        top = mine[scores[mine] == scores[mine].max()]
        outcomes.append(rewards[top].mean())
    return float(np.mean(outcomes))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [1, 2, 3, 5, 9])
def test_the_closed_form_is_every_subset(seed: int, n: int) -> None:
    """With ties and unknown outcomes, in tasks of several sizes, the expectation is the mean over all subsets."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, 5)
    groups = np.repeat(np.arange(5), sizes)
    scores = rng.integers(0, 3, len(groups)).astype(float)
    rewards = rng.choice([0.0, 1.0, 0.5, np.nan], len(groups), p=[0.4, 0.4, 0.1, 0.1])
    found = best_of(scores, rewards, groups, n)
    for task in range(5):
        mine = groups == task
        if np.isnan(rewards[mine]).all():
            assert np.isnan(found[task])
        else:
            assert found[task] == pytest.approx(tried(scores[mine], rewards[mine], n))


def test_best_of_one_is_pass_at_1() -> None:
    """One attempt leaves nothing to choose, and all of them leave the ordinary figure."""
    pool = subject(12, 5)
    scores = BASELINES["shortest"].scores(pool.table)
    one = best_of(scores, pool.table.rewards, pool.table.groups, 1)
    every = best_of(scores, pool.table.rewards, pool.table.groups, 5)
    assert one == pytest.approx(pool.rates)
    assert every == pytest.approx(pool.by_task(scores))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_laid_out_subsets_are_the_closed_form(n: int) -> None:
    """Where a score does not depend on who else is there, both ways agree."""
    pool = subject(9, 4)
    rule = BASELINES["gate-shortest"]
    closed = best_of(rule.scores(pool.table), pool.table.rewards, pool.table.groups, n)
    assert best_of_subsets(pool, n, lambda rows, _: rule.scores(rows)) == pytest.approx(closed)


def test_a_subset_is_scored_for_itself() -> None:
    """A score that depends on who else is there is told again in each subset, with the task it belongs to."""
    pool = subject(6, 4)
    seen: list[int] = []

    def scorer(rows, tasks):  # type: ignore[no-untyped-def]  # a lambda with a memory
        sizes = np.bincount(rows.groups)
        seen.append(len(sizes))
        assert set(sizes.tolist()) == {2}
        assert [pool.table.task_names[task] for task in tasks] == [name.split(".")[0] for name in rows.trajectories]
        return np.zeros(len(rows))

    assert best_of_subsets(pool, 2, scorer) == pytest.approx(pool.rates)
    assert seen == [6 * 6]
    assert n_rows(pool, 2) == 6 * 6 * 2
