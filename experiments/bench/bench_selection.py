"""Nested forward selection and its permutation null, beside scikit-learn's SequentialFeatureSelector.

    python experiments/bench/bench_selection.py

One process, one core, made-up tables of pure noise: 89 tasks of 5 attempts, 26 columns, once with as few swing tasks
as a strong pool has, once with nearly all, which is the most there can be to do. On a smaller case both select by
leave-one-task-out with the same base learner and criterion; exit code 1 where they disagree on any pick.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import LeaveOneGroupOut
from threadpoolctl import threadpool_limits

from bestofn.fitting import fit_forward, swing_of
from bestofn.loto import SHRINKAGE, forward_paths
from bestofn.metrics import Floats, swing_tasks
from bestofn.permutation import null_accuracies
from bestofn.ranks import WEIGHT_BITS, snap
from bestofn.table import FeatureTable


class Marginal(RegressorMixin, BaseEstimator):
    """The base learner of `forward` as scikit-learn wants it: within-task ranks in, centred outcomes out."""

    def fit(self, X: Floats, y: Floats) -> Marginal:
        """Each column's weight is its own."""
        self.weights_ = snap(X.T @ y / ((X * X).sum(axis=0) + SHRINKAGE), WEIGHT_BITS)
        return self

    def predict(self, X: Floats) -> Floats:
        """Scores."""
        return (X * self.weights_).sum(axis=1)


def criterion(estimator: Marginal, X: Floats, y: Floats) -> float:
    """Accuracy in one held-out task, ties shared; then the correlation, small enough to break ties only."""
    scores = estimator.predict(X)
    scale = np.sqrt((scores**2).sum() * (y**2).sum())
    return float(y[scores == scores.max()].mean() + 1e-6 * ((scores @ y) / scale if scale > 1e-9 else 0.0))


def noise(tasks: int, attempts: int, columns: int, pass_rate: float, seed: int) -> FeatureTable:
    """A table in which nothing can be learned."""
    rng = np.random.default_rng(seed)
    return FeatureTable.build(
        (
            (f"task-{t:03}", f"{t:03}-{a}", rng.normal(size=columns), float(rng.random() < pass_rate), False, "")
            for t in range(tasks)
            for a in range(attempts)
        ),
        [f"noise_{i:03}" for i in range(columns)],
    )


def by_scikit_learn(table: FeatureTable, size: int, without: int | None = None) -> set[str]:
    """What SequentialFeatureSelector selects: `size` columns, on all tasks or without one swing task."""
    swing = swing_of(table, table.columns, gate=False)
    task = np.repeat(np.arange(swing.shape[2]), swing.shape[0])
    keep = (swing.rows.T.ravel() >= 0) & (task != without)
    X = swing.trained.transpose(2, 0, 1).reshape(-1, swing.shape[1])[keep]
    y = swing.centred.T.ravel()[keep]
    splits = list(LeaveOneGroupOut().split(X, y, task[keep]))
    selector = SequentialFeatureSelector(Marginal(), n_features_to_select=size, scoring=criterion, cv=splits)
    return {name for name, taken in zip(table.columns, selector.fit(X, y).get_support(), strict=True) if taken}


def compare(table: FeatureTable, steps: int) -> dict[str, Any]:
    """Both selections of one small case, on all tasks pick by pick, and nested; seconds of the nested ones."""
    swing = swing_of(table, table.columns, gate=False)
    folds = np.arange(swing.shape[2])
    theirs_seconds, theirs = timed(lambda: [by_scikit_learn(table, steps, fold) for fold in folds.tolist()])
    ours_seconds, paths = timed(
        lambda: forward_paths(swing_of(table, table.columns, gate=False), folds, max_features=steps)
    )
    ours = [{table.columns[pick] for pick in picks} for picks in paths.picks.tolist()]
    path = [step.column for step in fit_forward(table, max_features=steps).selector.path]
    prefixes = [by_scikit_learn(table, size) for size in range(1, steps + 1)]
    return {
        "rows": len(table),
        "columns": len(table.columns),
        "swing_tasks": len(folds),
        "steps": steps,
        "agrees_on_all_tasks": [set(path[:size]) for size in range(1, steps + 1)] == prefixes,
        "agrees_in_every_fold": ours == theirs,
        "scikit_learn_seconds": theirs_seconds,
        "our_seconds": ours_seconds,
        "ratio": theirs_seconds / ours_seconds,
    }


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Wall-clock seconds, and what came out."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--permutations", type=int, default=200, help="label permutations (default: 200)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()

    threadpool_limits(1)
    fit_forward(noise(10, 5, 5, 0.5, 0))  # warm up
    figures: dict[str, Any] = {"rows": 445, "columns": 26, "permutations": options.permutations}
    for case, pass_rate in (("strong", 0.95), ("all_swing", 0.5)):
        table = noise(89, 5, 26, pass_rate, seed=1)
        nested, _ = timed(lambda table=table: fit_forward(table))
        null, _ = timed(lambda table=table: null_accuracies(table, table.columns, permutations=options.permutations))
        swing = int(swing_tasks(table.rewards, table.groups).sum())
        figures[case] = {"swing_tasks": swing, "nested_seconds": nested, "null_seconds": null}

    figures["beside_scikit_learn"] = compare(noise(14, 5, 8, 0.5, seed=2), steps=5)
    print(json.dumps(figures, indent=2) if options.json else told(figures))
    beside = figures["beside_scikit_learn"]
    if not (beside["agrees_on_all_tasks"] and beside["agrees_in_every_fold"]):
        sys.exit("scikit-learn selects otherwise: one of the two is wrong")


def told(figures: dict[str, Any]) -> str:
    """The figures in words."""
    lines = [f"forward selection by leave-one-task-out, nested, {figures['rows']} rows x {figures['columns']} columns"]
    for case in ("strong", "all_swing"):
        one = figures[case]
        lines.append(
            f"  {one['swing_tasks']:>2} swing tasks: {one['nested_seconds']:.3f} s; "
            f"{figures['permutations']} label permutations of it all: {one['null_seconds']:.1f} s"
        )
    beside = figures["beside_scikit_learn"]
    lines += [
        f"the same on {beside['rows']} rows x {beside['columns']} columns, {beside['steps']} steps, "
        f"{beside['swing_tasks']} swing tasks:",
        f"  ours {beside['our_seconds']:.4f} s, SequentialFeatureSelector {beside['scikit_learn_seconds']:.2f} s "
        f"(ratio {beside['ratio']:.0f})",
        f"  the same picks on all tasks, step by step: {beside['agrees_on_all_tasks']}; "
        f"in every fold: {beside['agrees_in_every_fold']}",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
