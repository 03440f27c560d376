"""Several pools as one table, and how well what is fitted on some of them does on another.

Within-task ranks make pools comparable. Tasks keep apart by their pool's name; a task that also stands in the held-out
pool is taken out of the pools that are learned from, since its other attempts would tell about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bestofn.errors import PoolError, UsageError
from bestofn.evaluation import Interval, evaluate
from bestofn.fitting import fit_forward, fit_reweight, fitted_on
from bestofn.metrics import PoolFigures, swing_tasks
from bestofn.selector import FITTED, Selector
from bestofn.table import FeatureTable, texts


class PoolTable(NamedTuple):
    """A pool's name and feature table."""

    name: str
    table: FeatureTable


class HeldOutPool(NamedTuple):
    """How a selector fitted on the other pools does on one."""

    pool: str
    figures: PoolFigures
    """Of this pool."""
    learned_from: int
    """Swing tasks of the other pools that were learned from."""
    removed: int
    """Tasks of the other pools that were left out because this pool has one of the same name."""
    accuracy: float
    swing_accuracy: float
    gap_recovered: float
    gate_shortest: float
    """Accuracy of the rule on this pool; NaN where the table cannot tell."""
    ci_vs_pass1: Interval | None
    ci_vs_gate_shortest: Interval | None


@dataclass(frozen=True)
class PooledFit:
    """A selector fitted on one or several pools."""

    selector: Selector
    held_out: tuple[HeldOutPool, ...]
    """One a pool where there are several; a single pool is evaluated by `bestofn.evaluation`."""


def fit_pools(
    pools: Sequence[PoolTable],
    *,
    kind: str = "reweight",
    directions: Mapping[str, float] | None = None,
    candidates: Sequence[str] | None = None,
    max_features: int = 10,
    gate: bool | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> PooledFit:
    """Fit one selector on all pools, and report leave-one-pool-out accuracy where there are several.

    Parameters
    ----------
    kind
        'reweight' or 'forward'.
    directions, candidates, max_features, gate
        See `fit_reweight` and `fit_forward`; None leaves the gate as each has it.
    resamples, seed
        Of the bootstrap intervals.

    Raises UsageError for an unknown kind or two pools of one name, PoolError where a pool has no known outcome.
    """
    if kind not in FITTED:
        raise UsageError(f"cannot fit '{kind}': fitted selectors are {', '.join(FITTED)}")
    names = [pool.name for pool in pools]
    if not pools or len(set(names)) < len(names):
        raise UsageError(f"fitting needs pools of different names, got: {', '.join(names) or 'none'}")
    digests = [pool.table.digest for pool in pools]
    for pool, digest in zip(pools, digests, strict=True):
        first = pools[digests.index(digest)]
        if first is not pool:
            raise UsageError(f"'{first.name}' and '{pool.name}' hold the same rows: give each pool once")
    if not any(swing_tasks(pool.table.rewards, pool.table.groups).any() for pool in pools):
        raise PoolError(
            f"nothing to learn: in {', '.join(names)} no task has attempts whose outcomes differ; the rules need no fit"
        )
    for pool in pools:
        if np.isnan(pool.table.rewards).all():
            raise PoolError(f"pool '{pool.name}' has no attempt with a known outcome: leave it out of the fit")

    def learn(some: Sequence[PoolTable]) -> Selector:
        table = join(some)
        gated = {} if gate is None else {"gate": gate}
        fitted = (
            fit_forward(table, candidates=candidates, max_features=max_features, **gated)
            if kind == "forward"
            else fit_reweight(table, directions=directions, candidates=candidates, **gated)
        )
        return replace(fitted.selector, fitted_on=tuple(fitted_on(p.table, p.name) for p in some))

    several = pools if len(pools) > 1 else ()
    return PooledFit(learn(pools), tuple(_held_out(pool, pools, learn, resamples, seed) for pool in several))


def join(pools: Sequence[PoolTable]) -> FeatureTable:
    """All rows in one table, tasks called `pool/task`. A column that a pool lacks is unknown there."""
    columns = tuple(dict.fromkeys(name for pool in pools for name in pool.table.columns))
    tables = [completed(pool.table, columns) for pool in pools]
    directions: dict[str, Any] = {}
    for table in reversed(tables):
        directions.update(table.about.get("directions", {}))
    return FeatureTable(
        tasks=texts(f"{pool.name}/{task}" for pool in pools for task in pool.table.tasks),
        trajectories=texts(name for table in tables for name in table.trajectories),
        columns=columns,
        values=np.vstack([table.take(columns) for table in tables]),
        rewards=np.concatenate([table.rewards for table in tables]),
        empty=np.concatenate([table.empty for table in tables]),
        label_reasons=texts(reason for table in tables for reason in table.label_reasons),
        about={"pool": " + ".join(pool.name for pool in pools), "directions": directions},
    )


def completed(table: FeatureTable, columns: Sequence[str]) -> FeatureTable:
    """The table with every column it lacks added as unknown."""
    lacking = [name for name in columns if name not in table.columns]
    return table.with_columns(lacking, np.full((len(table), len(lacking)), np.nan))


def _held_out(
    pool: PoolTable,
    pools: Sequence[PoolTable],
    learn: Callable[[Sequence[PoolTable]], Selector],
    resamples: int,
    seed: int,
) -> HeldOutPool:
    """Learn from the other pools without the tasks that this one has, and pick here."""
    mine = set(pool.table.task_names)
    others, removed = [], 0
    for other in pools:
        if other.name != pool.name:
            keep = np.array([task not in mine for task in other.table.tasks], dtype=np.bool_)
            removed += len(mine & set(other.table.task_names))
            others.append(PoolTable(other.name, other.table.rows(keep)))
    selector = learn(others)
    table = completed(pool.table, selector.columns)
    result = evaluate(table, selectors=["gate-shortest"], extra=[selector], null=0, resamples=resamples, seed=seed)
    rule, row = result.rows
    return HeldOutPool(
        pool=pool.name,
        figures=result.figures,
        learned_from=sum(on.swing for on in selector.fitted_on),
        removed=removed,
        accuracy=row.accuracy,
        swing_accuracy=row.swing_accuracy,
        gap_recovered=row.gap_recovered,
        gate_shortest=rule.accuracy,
        ci_vs_pass1=row.ci_vs_pass1,
        ci_vs_gate_shortest=row.ci_vs_gate_shortest,
    )
