"""Learning curves, noise and priors, each against the figures that other commands give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ablation_tables import subject, table

from bestofn.ablation import Lacking, Setting, Subject
from bestofn.ablation.elsewhere import lesson, prior
from bestofn.ablation.learning import blocks, learn, learn_forward, learn_reweight, sizes
from bestofn.ablation.noise import noise_accuracies
from bestofn.ablation.recipe import heuristics
from bestofn.fitting import fit_forward, fit_reweight
from bestofn.metrics import mean_over_tasks
from bestofn.permutation import null_accuracies
from bestofn.pooling import PoolTable, fit_pools


@pytest.mark.parametrize(("n", "size"), [(10, 3), (10, 9), (7, 5), (89, 71), (5, 1)])
def test_every_task_is_read_once(n: int, size: int) -> None:
    """Blocks part the tasks, and each is read with so many others and none of its own."""
    order = np.random.default_rng(n).permutation(n)
    read = []
    for taught, block in blocks(order, size):
        assert len(set(taught.tolist())) == size
        assert not set(taught.tolist()) & set(block.tolist())
        read += block.tolist()
    assert sorted(read) == list(range(n))


def test_all_other_tasks_are_leave_one_task_out() -> None:
    """With all tasks but one to learn from, both learners come to the nested figure."""
    pool = subject(18, planted=["good"], noise=5)
    columns = pool.heuristics
    learners = {"reweight": learn_reweight(columns), "forward": learn_forward(columns)}
    found = learn(pool, learners, 17, [0, 1])
    for name, fit in (
        ("reweight", fit_reweight(pool.table, candidates=columns)),
        ("forward", fit_forward(pool.table, candidates=columns)),
    ):
        assert found[name].by_task == pytest.approx(pool.by_task(fit.held_out_scores(pool.table)))
        assert found[name].fits == 2 * 18


def test_what_can_be_learned_is_learned() -> None:
    """A planted column is found with more tasks rather than fewer, and beats noise."""
    pool = subject(40, planted=["good"], seed=1)
    learner = {"forward": learn_forward(pool.heuristics)}
    few, many = (mean_over_tasks(learn(pool, learner, n, range(10))["forward"].by_task) for n in (3, 30))
    assert pool.figures.pass_at_1 < few < many
    assert learn(pool, learner, 30, range(3))["forward"].swing == pytest.approx(30 * pool.figures.n_swing / 40, abs=1.5)


def test_sizes_leave_tasks_to_read_on() -> None:
    """At least a fifth of the tasks is read at every size."""
    assert sizes(89) == (5, 10, 20, 40)
    assert sizes(6) == ()


def test_noise_goes_through_the_same_selection() -> None:
    """A draw's figures are those of fitting its noise columns as any other: published and nested."""
    pool = subject(14)
    found = noise_accuracies(pool, 6, [3], seed=5)
    kept = pool.table.rows(pool.swing[pool.table.groups])
    values = np.random.default_rng([5, 3, 6, 3]).standard_normal((len(kept), 6))
    whole = np.zeros((len(pool.table), 6))
    whole[pool.swing[pool.table.groups]] = values
    noisy = replace(pool.table, columns=tuple(f"noise{i:04}" for i in range(6)), values=whole)
    fit = fit_forward(noisy)
    assert found.optimistic[0] == pytest.approx(fit.optimistic)
    assert found.nested[0] == pytest.approx(mean_over_tasks(pool.by_task(fit.held_out_scores(noisy))))


def test_noise_flatters_the_published_protocol_alone() -> None:
    """More noise to choose among raises the published figure and leaves the nested one at Pass@1."""
    pool = subject(30)
    few, many = (noise_accuracies(pool, n, range(40)) for n in (2, 40))
    assert pool.figures.pass_at_1 < few.optimistic.mean() < many.optimistic.mean()
    assert abs(many.nested.mean() - pool.figures.pass_at_1) < 0.03


def test_noise_and_shuffled_labels_agree() -> None:
    """Noise features under true labels give what true features give under shuffled labels."""
    pool = subject(30, noise=10)
    noise = noise_accuracies(pool, len(pool.heuristics), range(150)).optimistic.mean()
    null = null_accuracies(pool.table, pool.heuristics, permutations=150).optimistic.mean()
    assert noise == pytest.approx(null, abs=0.02)


def pools() -> tuple[Subject, ...]:
    """Three pools that share some task names."""
    made = []
    for number, name in enumerate(("a", "b", "c")):
        rows = table(16, planted=["good"], seed=number)
        rows.tasks[:] = [task if task < "t003" else f"{name}{task}" for task in rows.tasks]
        made.append(Subject.of(name, rows))
    return tuple(made)


@pytest.mark.parametrize("kind", ["reweight", "forward"])
def test_a_prior_is_leave_one_pool_out(kind: str) -> None:
    """What the other pools teach does as well here as `bestofn fit` says of several pools."""
    mine = pools()
    theirs = fit_pools([PoolTable(s.name, s.table) for s in mine], kind=kind)
    for pool, held_out in zip(mine, theirs.held_out, strict=True):
        made = prior("prior", kind).make(Setting(mine), pool)
        assert mean_over_tasks(made.by_task) == pytest.approx(held_out.accuracy)
        assert (
            made.note
            == f"fitted on {held_out.learned_from} swing tasks of 2 other pools, 6 tasks of the same name left out"
        )


def test_a_prior_needs_another_pool() -> None:
    """Alone, or with pools that hold the same tasks only, there is nothing to learn from."""
    pool = subject(6)
    with pytest.raises(Lacking, match="no other pool to learn from: give other labelled pools too, each with --pool"):
        lesson(pool, [Subject.of("twin", pool.table)])
    assert prior("prior", "forward", heuristics).arm(Setting((pool,)), pool).why == "no other pool to learn from"
