"""Fired codes: counts by outcome, the selector, and p-values beside an enumeration of all ways to lay the labels."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from judged_pool import write_pool

from bestofn.ablation import Lacking, Setting, Subject
from bestofn.ablation.fired import (
    Fired,
    by_code,
    difference_p,
    fired,
    histogram,
    in_swing,
    selector_p,
    shuffled,
)
from bestofn.catalogue import load_pool
from bestofn.scoring import score_pool
from bestofn.table import FeatureTable

NAN = math.nan


def made(counts: Sequence[float], rewards: Sequence[float], size: int = 3) -> Fired:
    """Tasks of `size` attempts each, with these counts and outcomes; a code a count."""
    rows = [(f"t{i // size:02}", f"a{i % size}", [0.0], reward, False, "") for i, reward in enumerate(rewards)]
    subject = Subject.of("small", FeatureTable.build(rows, ["plain"], {}))
    codes = tuple(tuple(f"A.{n + 1}" for n in range(0 if math.isnan(count) else int(count))) for count in counts)
    return Fired.of(subject, "llm_codes@x", np.array(counts, dtype=float), codes)


SMALL = made([0, 2, 1, 3, 1, 1, 5, 0, 0], [1, 0, 0, 0, 1, 1, 0, 0, 0])
"""Two swing tasks, and one where nothing passed."""


def every_labelling(found: Fired) -> list[np.ndarray]:
    """All orders of the outcomes within each task, each as likely as any other."""
    rewards = found.subject.table.rewards
    tasks = [rewards[found.subject.table.groups == task] for task in range(3)]
    return [np.concatenate(parts) for parts in product(*(list(permutations(task)) for task in tasks))]


def test_the_p_value_of_the_selector_is_that_of_all_labellings() -> None:
    """Fewest codes pick the passing attempt of task 0 and one of two passing ones of task 1: 1.0 on swing tasks."""
    tested = selector_p(SMALL)
    values = []
    for rewards in every_labelling(SMALL):
        picked = [rewards[0], (rewards[4] + rewards[5]) / 2]
        values.append(np.mean(picked))
    exact = float(np.mean(np.array(values) >= 1.0 - 1e-9))
    assert tested.observed == 1.0
    assert exact == pytest.approx(1 / 3 * 1 / 3)
    assert tested.p_value == pytest.approx(exact, abs=0.01)
    assert tested.null_mean == pytest.approx(np.mean(values), abs=0.01)
    assert np.mean(values) == pytest.approx(SMALL.subject.rates[SMALL.subject.swing].mean())


def test_the_p_value_of_the_difference_is_that_of_all_labellings() -> None:
    """Mean codes of failing less passing attempts of swing tasks: (2 + 1 + 3) / 3 - (0 + 1 + 1) / 3."""
    tested = difference_p(SMALL)
    swing = in_swing(SMALL.subject)

    def figure(rewards: np.ndarray) -> float:
        return float(SMALL.counts[swing & (rewards == 0)].mean() - SMALL.counts[swing & (rewards == 1)].mean())

    values = np.array([figure(rewards) for rewards in every_labelling(SMALL)])
    assert tested.observed == pytest.approx(4 / 3)
    assert tested.p_value == pytest.approx(float(np.mean(values >= 4 / 3 - 1e-9)), abs=0.01)


def test_a_planted_difference_is_found_and_noise_is_not() -> None:
    """Failing attempts with two codes more have the smallest p-value there is; random counts have a large one."""
    rng = np.random.default_rng(3)
    rewards = np.tile([1.0, 0.0, 0.0, 1.0], 20)
    planted = made((rng.integers(0, 3, 80) + 3 * (rewards == 0)).tolist(), rewards.tolist(), 4)
    for tested in (selector_p(planted, draws=999), difference_p(planted, draws=999)):
        assert tested.p_value == 1 / 1000
    found = [selector_p(made(rng.integers(0, 6, 80).tolist(), rewards.tolist(), 4), draws=199) for _ in range(40)]
    assert 0.3 < np.mean([tested.p_value for tested in found]) < 0.8
    assert np.mean([tested.p_value <= 0.05 for tested in found]) <= 0.2


def test_counts_by_outcome_are_those_of_swing_tasks() -> None:
    """The task where nothing passed is not in it; numbers that no attempt has stand with zeros."""
    assert histogram(SMALL, in_swing(SMALL.subject)) == {0: (1, 0), 1: (2, 1), 2: (0, 1), 3: (0, 1)}
    assert histogram(SMALL, np.ones(9, dtype=bool))[4] == (0, 0)
    assert by_code(SMALL, in_swing(SMALL.subject)) == [("A.2", 0, 2), ("A.1", 2, 3), ("A.3", 0, 1)]


def test_an_attempt_without_a_diagnosis_is_in_no_median_and_stands_in_the_middle() -> None:
    """It is neither the cleanest nor the worst, and not counted as an attempt without codes."""
    found = made([NAN, 2, 0, 4, NAN, NAN, NAN, NAN, NAN], [1, 0, 0, 0, 1, 1, 1, 0, 0])
    assert histogram(found, in_swing(found.subject)) == {0: (0, 1), 1: (0, 0), 2: (0, 1), 3: (0, 0), 4: (0, 1)}
    # Task 0: the clean one fails, and is picked. Tasks 1 and 2: one diagnosis or none sets nobody apart, 2/3 and 1/3.
    assert selector_p(found, draws=9).observed == pytest.approx((0 + 2 / 3 + 1 / 3) / 3)


def test_shuffled_labels_stay_in_their_task_and_unknown_ones_in_their_place() -> None:
    """Each task keeps its number of passes."""
    rewards, groups = np.array([1, 0, NAN, 0, 1, 1]), np.array([0, 0, 0, 1, 1, 1])
    seen = {tuple(np.nan_to_num(shuffled(rewards, groups, np.random.default_rng(n)), nan=-1)) for n in range(60)}
    assert seen == {(*first, -1.0, *second)
                    for first in ((1.0, 0.0), (0.0, 1.0))
                    for second in ((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0))}  # fmt: skip


def test_a_pool_without_swing_tasks_tells_nothing() -> None:
    """No p-value, and no error."""
    found = made([0, 1, 2], [1, 1, 1])
    assert selector_p(found).draws == difference_p(found).draws == 0


def test_recorded_diagnoses_are_read_with_their_codes(tmp_path: Path) -> None:
    """AdaMAST's judgments: a diagnosis without codes that does not say that none applies is missing, not clean."""
    folder = write_pool(tmp_path / "pool", {"t1": "BTK"})
    modes = {"t1.a1": ([], True), "t1.a2": (["A.1", "C.3"], False), "t1.a3": ([], False)}
    diagnoses = [{"trace_id": name, "failure_modes": [{"code": code} for code in codes], "none_apply": none}
                 for name, (codes, none) in modes.items()]  # fmt: skip
    file = tmp_path / "judgments.json"
    file.write_text(json.dumps({"schema_version": 2, "judge": {"model": "m"}, "diagnoses": diagnoses}))
    pool = load_pool(folder)
    subject = Subject.of("p", score_pool(pool).table, pool)
    setting = Setting((subject,), inputs={"judgments": str(file)})
    found = fired(setting, subject)
    assert found.counts.tolist()[:2] == [0.0, 2.0]
    assert math.isnan(found.counts[2])
    assert found.codes == ((), ("A.1", "C.3"), ())
    assert found.remarks == ("codes of 3 attempts from judgments.json, diagnosed by m",)
    assert found.subject.llm == (found.column,)
    with pytest.raises(Lacking, match="a table does not tell which codes fired"):
        fired(setting, replace(subject, pool=None))
    with pytest.raises(Lacking, match="no scores of a model"):
        fired(replace(setting, inputs={}), subject)
