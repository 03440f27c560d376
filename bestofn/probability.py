"""The probability that one attempt on its own succeeded: a small logistic model over its features, then calibrated.

A rank needs siblings, and one trajectory has none. So this looks at absolute values: how much was said and run, whether
the run ended of its own will, what errors it met. It is fitted on labelled pools (`bestofn.calibrating`), kept as plain
numbers in a selector file, and evaluated here with numpy alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from bestofn.calibration import LITTLE, Bin, Calibration, sigmoid
from bestofn.conformal import Conformal
from bestofn.metrics import Bools, Floats


class Term(NamedTuple):
    """One feature's part in the log-odds: weight * (value - mean) / scale, 0 where the value is unknown."""

    column: str
    log: bool
    """Whether the value enters as log(1 + value), as counts do."""
    weight: float
    mean: float
    """Of the value as it enters, over the rows it was fitted on."""
    scale: float
    low: float
    """Values below this are outside of what was fitted; they enter as this. In the units of the feature."""
    high: float


class Guard(NamedTuple):
    """A column that tells whether a run is of the kind that was fitted on; it has no part in the probability."""

    column: str
    low: float
    high: float
    """Runs outside of `low` to `high` are of another kind; an unknown value says nothing."""


class Measured(NamedTuple):
    """How good the probabilities were on the pools they were fitted on, each task's from the other tasks."""

    tasks: int
    rows: int
    swing: int
    """Tasks whose attempts differ in outcome."""
    base_rate: float
    """Share of passes."""
    brier: float
    brier_base_rate: float
    """Brier score of telling everybody the base rate of the other tasks."""
    auc: float
    auc_low: float
    """95% interval of the AUC, by resampling tasks."""
    auc_high: float
    auc_within_tasks: float
    """The same within swing tasks, mean over these: what is left when a task's difficulty is the same for all."""


class Elsewhere(NamedTuple):
    """How good the same probabilities are on a pool that was not fitted on."""

    pool: str
    digest: str
    rows: int
    base_rate: float
    mean_probability: float
    brier: float
    brier_base_rate: float
    auc: float
    inside: float
    """Share of its rows that lie inside of what was fitted."""


@dataclass(frozen=True)
class Probability:
    """A fitted model with its calibration and what is known of its quality."""

    intercept: float
    terms: tuple[Term, ...]
    calibration: Calibration
    conformal: Conformal
    measured: Measured
    reliability: tuple[Bin, ...]
    """Of the probabilities behind `measured`."""
    elsewhere: tuple[Elsewhere, ...] = ()
    guards: tuple[Guard, ...] = ()
    banks: Mapping[str, str] = field(default_factory=dict[str, str])
    """Feature banks and their hashes when it was fitted: another pattern counts other things."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The features it reads, without those of the guards."""
        return tuple(term.column for term in self.terms)

    def effects(self, values: Floats) -> Floats:
        """(n, terms) what each feature adds to the log-odds of success, from (n, terms) values; NaN is unknown."""
        low, high = (np.array([getattr(term, end) for term in self.terms]) for end in ("low", "high"))
        inside = np.clip(values, low, high)
        logs = np.array([term.log for term in self.terms])
        entered = np.where(logs, np.log1p(np.maximum(inside, 0.0)), inside)
        mean, scale, weight = (np.array([getattr(t, k) for t in self.terms]) for k in ("mean", "scale", "weight"))
        return np.where(np.isnan(values), 0.0, weight * (entered - mean) / scale)

    def probabilities(self, effects: Floats) -> Floats:
        """(n,) calibrated probabilities from (n, terms) effects."""
        return self.calibration.apply(sigmoid(self.intercept + effects.sum(axis=1)))

    def flattered(self, values: Floats) -> Bools:
        """(n, terms) True where a value lies beyond what was fitted, on the side that speaks for success.

        Beyond the other side the model only grows surer of failure, as it should. On this side it would praise what it
        has never seen, such as a run far shorter than all others.
        """
        low, high = (np.array([getattr(term, end) for term in self.terms]) for end in ("low", "high"))
        weight = np.array([term.weight for term in self.terms])
        return np.asarray(((values < low) & (weight < 0)) | ((values > high) & (weight > 0)))

    def foreign(self, values: Floats) -> Bools:
        """(n, guards) True where a run is of another kind than those that were fitted on."""
        low, high = (np.array([getattr(guard, end) for guard in self.guards]) for end in ("low", "high"))
        return np.asarray((values < low) | (values > high))

    @property
    def skill(self) -> float:
        """Share of the base rate's Brier score that is saved: 0 says no more than the base rate, 1 is perfect."""
        return 1.0 - self.measured.brier / self.measured.brier_base_rate

    def caveat(self) -> str:
        """What a reader must know of this probability, in a sentence."""
        m = self.measured
        figures = f"Brier {m.brier:.3f} against {m.brier_base_rate:.3f} for the base rate of {100 * m.base_rate:.0f}%"
        if self.skill < LITTLE:
            return (
                f"this probability is little more than the base rate of the pools it was fitted on ({figures}, by task)"
            )
        worse = [e for e in self.elsewhere if e.brier >= (1.0 - LITTLE) * e.brier_base_rate]
        said = f"measured on tasks left out of the fit: {figures}"
        if worse:
            said += (
                f"; on other pools ({', '.join(e.pool for e in worse)}) it says no more than the base rate or less: "
                "fit your own where your runs differ"
            )
        return said
