"""Small labelled tables with something in them, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestofn.ablation import Subject
from bestofn.table import FeatureTable


def table(
    n_tasks: int = 30,
    n_attempts: int = 4,
    *,
    seed: int = 0,
    planted: Sequence[str] = (),
    noise: int = 3,
    llm: Sequence[str] = (),
    **about: Any,
) -> FeatureTable:
    """Tasks of passes and fails; `planted` columns tell the outcome up to some noise, the others are noise."""
    rng = np.random.default_rng(seed)
    rewards = rng.integers(0, 2, n_tasks * n_attempts).astype(float)
    names = ["n_characters", "finished", *planted, *llm, *(f"noise{i}" for i in range(noise))]
    columns = []
    for name in names:
        told = rewards + rng.normal(0, 0.4, len(rewards))
        plain = np.ones(len(rewards)) if name == "finished" else rng.random(len(rewards)) * 1000
        columns.append(told if name in (*planted, *llm) else plain)
    rows = [
        (
            f"t{i // n_attempts:03}",
            f"t{i // n_attempts:03}.a{i % n_attempts}",
            [c[i] for c in columns],
            rewards[i],
            False,
            "",
        )
        for i in range(len(rewards))
    ]
    directions = dict.fromkeys((*planted, *llm), 1.0)
    return FeatureTable.build(rows, names, {"pool": "small", "directions": directions, **about})


def subject(*args: Any, **fields: Any) -> Subject:
    """A pool of such a table."""
    return Subject.of("small", table(*args, **fields))


def shuffled(rows: FeatureTable, seed: int = 7) -> FeatureTable:
    """The same rows in another order."""
    return rows.rows(np.random.default_rng(seed).permutation(len(rows)))
