"""Turns a model's raw score into a probability that means what it says, and tells how well it does.

Two maps: beta calibration (Kull, Silva Filho and Flach, 2017: a ln p - b ln(1 - p) + c on the log-odds scale), smooth
and hard to overfit with few labels, and isotonic regression, a monotone step-like line through given points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bestofn.metrics import Bools, Floats

EDGES = (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Edges of the bins of a reliability table, finer where passes crowd."""
LITTLE = 0.10
"""Share of the base rate's Brier score that a probability must save to say more than the base rate."""
SMALLEST = 1e-6
"""A probability is never 0 or 1: labels are finite."""


class Pairs(NamedTuple):
    """Pairs of rows of which one passed and one failed."""

    won: float
    """Those in which the passing one scores higher; a tie is half."""
    n: int


class Bin(NamedTuple):
    """One row of a reliability table."""

    low: float
    high: float
    """Probabilities from `low` (included) to `high` (not included, save 1)."""
    rows: int
    mean: float
    """Mean probability in the bin."""
    observed: float
    """Share of passes among these."""


@dataclass(frozen=True)
class Calibration:
    """A monotone map from a raw probability to a calibrated one."""

    kind: str
    """'beta' or 'isotonic'."""
    parameters: tuple[float, ...] = ()
    """(a, b, c) of a beta map."""
    x: tuple[float, ...] = ()
    """Raw probabilities of an isotonic map, ascending."""
    y: tuple[float, ...] = ()
    """Calibrated probabilities at `x`, ascending; between two of them the line is straight."""

    def apply(self, raw: Floats) -> Floats:
        """(n,) calibrated probabilities of (n,) raw ones."""
        clipped = np.clip(raw, SMALLEST, 1.0 - SMALLEST)
        if self.kind == "isotonic":
            out = np.interp(clipped, self.x, self.y)
        else:
            a, b, c = self.parameters
            out = sigmoid(a * np.log(clipped) - b * np.log1p(-clipped) + c)
        return np.clip(out, SMALLEST, 1.0 - SMALLEST)


def sigmoid(margin: Floats) -> Floats:
    """1 / (1 + exp(-margin)) without overflow."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -margin)), dtype=np.float64)


def fit_calibration(kind: str, raw: Floats, passed: Floats) -> Calibration:
    """A calibration fitted to raw probabilities, which must come from models that did not see these rows.

    Parameters
    ----------
    kind
        'beta' or 'isotonic'.
    raw, passed
        (n,) raw probabilities and outcomes, 1 or 0.
    """
    if kind == "isotonic":
        from sklearn.isotonic import IsotonicRegression

        model = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(raw, passed)
        return Calibration(kind, x=_rounded(np.clip(model.X_thresholds_, 0.0, 1.0)), y=_rounded(model.y_thresholds_))
    from scipy.optimize import minimize

    clipped = np.clip(raw, SMALLEST, 1.0 - SMALLEST)
    design = np.column_stack([np.log(clipped), -np.log1p(-clipped), np.ones(len(raw))])

    def loss(w: Floats) -> tuple[float, Floats]:
        margin = design @ w
        return float((np.logaddexp(0.0, margin) - passed * margin).sum()), design.T @ (sigmoid(margin) - passed)

    start = np.array([1.0, 1.0, 0.0])
    found = minimize(loss, start, jac=True, bounds=[(0.0, None), (0.0, None), (None, None)], method="L-BFGS-B")
    return Calibration(kind, parameters=_rounded(found.x))


def brier(probabilities: Floats, passed: Floats) -> float:
    """Mean squared difference of probability and outcome: 0 is perfect."""
    return float(np.mean((probabilities - passed) ** 2))


def auc(scores: Floats, passed: Floats | Bools) -> float:
    """Chance that a passing row scores above a failing one, ties half; NaN without one of each."""
    pairs = pairs_won(scores, passed)
    return pairs.won / pairs.n if pairs.n else math.nan


def pairs_won(scores: Floats, passed: Floats | Bools) -> Pairs:
    """Pairs of a passing and a failing row: how many the scores put right, ties half, and how many there are."""
    up, down = scores[passed == 1.0], scores[passed == 0.0]
    ordered = np.sort(down)
    below = np.searchsorted(ordered, up, "left") + np.searchsorted(ordered, up, "right")
    return Pairs(float(below.sum()) / 2.0, len(up) * len(down))


def reliability(probabilities: Floats, passed: Floats, edges: Sequence[float] = EDGES) -> tuple[Bin, ...]:
    """The bins that hold anything: how often attempts of about this probability really passed."""
    bins = []
    for low, high in pairwise(edges):
        inside = (probabilities >= low) & ((probabilities < high) | (high == edges[-1]))
        if inside.any():
            mean, observed = float(probabilities[inside].mean()), float(passed[inside].mean())
            bins.append(Bin(low, high, int(inside.sum()), round(mean, 4), round(observed, 4)))
    return tuple(bins)


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(round(float(value), 6) for value in values)
