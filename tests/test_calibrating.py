"""Fitting a probability: what is measured leaves out what it is measured on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bestofn import read_selector, write_selector
from bestofn.calibrating import COLUMNS, KIND_COLUMNS, fit_probability
from bestofn.errors import ContentError, TableError, UsageError
from bestofn.selector import Selector
from bestofn.table import FeatureTable

NAMES = (*COLUMNS, *KIND_COLUMNS)
SMALL = ("finished", "n_characters", "n_error")


def pool(seed: int = 0, tasks: int = 16, informative: bool = True) -> FeatureTable:
    """Tasks of four attempts; those that finish and have few errors pass more often."""
    generator = np.random.default_rng(seed)
    rows = []
    for task in range(tasks):
        for attempt in range(4):
            finished, errors = float(generator.random() < 0.8), float(generator.poisson(2))
            chance = 0.95 * finished * np.exp(-0.3 * errors) if informative else 0.6
            values = dict.fromkeys(NAMES, 0.0) | {"finished": finished, "n_error": errors, "n_user_turns": 1.0}
            values |= {"n_characters": float(generator.integers(2000, 90000)), "n_commands": 20.0}
            row = [values[name] for name in NAMES]
            rows.append((f"t{task}", f"t{task}.{attempt}", row, float(generator.random() < chance), False, ""))
    return FeatureTable.build(rows, NAMES)


def test_a_fit_reads_back_as_it_was_written(tmp_path: Path) -> None:
    """The file gives the same probabilities, to the last bit."""
    found = fit_probability({"mine": pool()}, columns=SMALL, elsewhere={"other": pool(1)})
    selector = Selector("mine", probability=found)
    write_selector(selector, tmp_path / "s.toml")
    assert read_selector(tmp_path / "s.toml") == selector
    assert found.measured.brier < 0.9 * found.measured.brier_base_rate
    assert found.elsewhere[0].auc > 0.7
    assert sum(row.rows for row in found.reliability) == 64


def test_features_without_information_are_said_to_say_nothing() -> None:
    """Where outcomes are chance, the caveat calls the probability little more than the base rate."""
    found = fit_probability({"mine": pool(informative=False)}, columns=SMALL)
    assert found.caveat().startswith("this probability is little more than the base rate of the pools it was fitted on")


def test_weights_keep_to_the_expected_direction() -> None:
    """Where errors go with passes, the model drops them rather than praise them."""
    table = pool()
    turned = replace(table, rewards=1.0 - table.rewards)
    found = fit_probability({"mine": turned}, columns=SMALL)
    assert {term.column for term in found.terms} <= {"n_characters"}


def test_what_is_measured_never_saw_the_task() -> None:
    """Turning one task's labels around changes no probability of that task's own attempts."""
    from bestofn.calibrating import _joined, _nested, _shapes
    from bestofn.featurize.extract import Extractor

    table = pool()
    logs, signs = _shapes(Extractor(SMALL), SMALL, [table])
    mine = table.tasks == "t3"
    other = replace(table, rewards=np.where(mine, 1.0 - table.rewards, table.rewards))
    told = [_nested(_joined([t], SMALL, logs, signs), "beta", 0) for t in (table, other)]
    assert told[0][mine] == pytest.approx(told[1][mine], abs=0.0)
    assert np.abs(told[0][~mine] - told[1][~mine]).max() > 0.0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (("length_rank",), "'length_rank' cannot make the probability of one attempt: it needs other attempts"),
        (("n_steps",), "'n_steps' cannot make the probability of one attempt: it has no expected direction"),
    ],
)
def test_a_column_that_one_attempt_cannot_have_is_refused(columns: tuple[str, ...], message: str) -> None:
    """The error says why."""
    with pytest.raises(UsageError, match=message):
        fit_probability({"mine": pool()}, columns=columns)


def test_too_few_labels_are_refused() -> None:
    """The error gives the counts."""
    with pytest.raises(
        TableError, match=r"at 3 tasks, and a probability takes at least 10 of each: add labelled pools"
    ):
        fit_probability({"mine": pool(tasks=3)}, columns=SMALL)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "beta"', 'kind = "gamma"', "calibration: kind = 'gamma', but it must be 'beta' or 'isotonic'"),
        ("a = ", "a = -", "calibration: a and b must not be below 0"),
        ("intercept = ", "interception = ", "probability: unknown key 'interception'"),
        ("brier_base_rate = 0", "brier_base_rate = 7", "measured: brier_base_rate = 7"),
        ("scale = ", "scale = -", "scale must be above 0"),
    ],
)
def test_a_slip_of_the_pen_is_an_error_with_its_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    """A wrong key or value in [probability] is named with the file."""
    file = tmp_path / "s.toml"
    write_selector(Selector("mine", probability=fit_probability({"mine": pool()}, columns=SMALL)), file)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(ContentError) as caught:
        read_selector(file)
    assert str(caught.value).startswith(str(file))
    assert message in str(caught.value)


@pytest.mark.shared
def test_the_shipped_selector_is_what_its_command_gives(shared: Path) -> None:
    """Weights, calibration and all figures of `terminal` come from the pool that it names."""
    from bestofn import load_pool, score_pool
    from bestofn.single import open_selector

    shipped = open_selector("terminal")
    table = score_pool(load_pool(shared / "pools" / "tb2" / "forgecode"), columns=NAMES, jobs=1).table
    assert shipped.probability is not None
    again = fit_probability({"tb2/forgecode": table})
    assert shipped.fitted_on[0].digest == table.digest
    assert replace(again, elsewhere=shipped.probability.elsewhere) == shipped.probability
