"""Calibration maps, their fit, and the figures that tell how good probabilities are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

from bestofn.calibration import Calibration, auc, brier, fit_calibration, reliability, sigmoid


@pytest.mark.parametrize("kind", ["beta", "isotonic"])
def test_a_fitted_map_undoes_overconfidence(kind: str) -> None:
    """Raw probabilities that are too sure are pulled to what really passes, and never reordered."""
    generator = np.random.default_rng(0)
    margin = generator.normal(size=4000)
    passed = (generator.random(4000) < sigmoid(margin)).astype(np.float64)
    raw = sigmoid(3.0 * margin)
    fitted = fit_calibration(kind, raw, passed)
    calibrated = fitted.apply(raw)
    assert brier(calibrated, passed) < brier(raw, passed) - 0.01
    assert np.abs(calibrated - sigmoid(margin)).mean() < 0.03
    assert (np.diff(calibrated[np.argsort(raw)]) >= 0.0).all()


def test_the_beta_map_is_its_formula() -> None:
    """a ln p - b ln(1 - p) + c on the log-odds; 1, 1, 0 changes nothing."""
    raw = np.array([0.1, 0.5, 0.9])
    assert Calibration("beta", (1.0, 1.0, 0.0)).apply(raw) == pytest.approx(raw)
    expected = [1 / (1 + math.exp(-(2 * math.log(p) - 0.5 * math.log(1 - p) + 0.3))) for p in raw]
    assert Calibration("beta", (2.0, 0.5, 0.3)).apply(raw) == pytest.approx(expected)


def test_the_isotonic_map_is_straight_between_its_points() -> None:
    """Half way between two points is half way up, and beyond the last point it is flat."""
    found = Calibration("isotonic", x=(0.2, 0.6), y=(0.1, 0.9))
    assert found.apply(np.array([0.0, 0.4, 1.0])) == pytest.approx([0.1, 0.5, 0.9])


def test_no_probability_is_certain() -> None:
    """The most extreme raw scores stay inside 0 and 1."""
    told = Calibration("isotonic", x=(0.0, 1.0), y=(0.0, 1.0)).apply(np.array([0.0, 1.0]))
    assert 0.0 < told[0] < told[1] < 1.0


def test_the_figures_are_those_of_scikit_learn() -> None:
    """Brier score and AUC, with ties, agree with another implementation."""
    generator = np.random.default_rng(1)
    passed = (generator.random(300) < 0.7).astype(np.float64)
    told = np.round(generator.random(300), 1)
    assert brier(told, passed) == pytest.approx(brier_score_loss(passed, told))
    assert auc(told, passed) == pytest.approx(roc_auc_score(passed, told))
    assert math.isnan(auc(told, np.ones(300)))


def test_the_reliability_table_counts_every_row_once() -> None:
    """Edges belong to the bin above, 1 to the last; empty bins are left out."""
    bins = reliability(np.array([0.0, 0.2, 0.2, 1.0]), np.array([0.0, 1.0, 0.0, 1.0]))
    assert [(b.low, b.rows, b.mean, b.observed) for b in bins] == [
        (0.0, 1, 0.0, 0.0),
        (0.2, 2, 0.2, 0.5),
        (0.95, 1, 1.0, 1.0),
    ]
