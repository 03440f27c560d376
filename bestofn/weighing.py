"""Weighs one attempt's row: as a calibrated probability, or as a rank score where the selector holds no probability."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from bestofn.metrics import Floats
from bestofn.probability import Probability
from bestofn.selector import DROPPED, EMPTY, Selector
from bestofn.table import FeatureTable
from bestofn.verdict import Answer

KNOWN = 0.5
"""Share of the model's weight that must be known for an answer other than unsure."""


class Weighed:
    """A probability of one row."""

    def __init__(self, model: Probability, values: Mapping[str, float], empty: bool) -> None:
        self.model = model
        self.empty = empty
        row = np.array([[values.get(column, math.nan) for column in model.columns]])
        self.known = ~np.isnan(row[0])
        self._effects = model.effects(row)
        self.flattered = [c for c, beyond in zip(model.columns, model.flattered(row)[0], strict=True) if beyond]
        guarded = np.array([[values.get(guard.column, math.nan) for guard in model.guards]])
        self.foreign = [
            f"{guard.column} is {values[guard.column]:g}, and was {guard.low:g} to {guard.high:g}"
            for guard, outside in zip(model.guards, model.foreign(guarded)[0], strict=True)
            if outside
        ]
        self.score = None if empty else round(float(model.probabilities(self._effects)[0]), 6)
        self.probability = self.score
        self.effects = dict(zip(model.columns, (float(e) for e in self._effects[0]), strict=True))

    def points(self, column: str) -> float | None:
        """What the column's value changes in the probability, against an average value."""
        without = self._effects.copy()
        without[0, self.model.columns.index(column)] = 0.0
        assert self.score is not None
        return self.score - float(self.model.probabilities(without)[0])

    @property
    def remarks(self) -> list[str]:
        """What is unknown."""
        unknown = [c for c, known in zip(self.model.columns, self.known, strict=True) if not known]
        return [f"not told by this recording, and taken as average: {', '.join(unknown)}"] if unknown else []

    def answer(self, error_rate: float) -> tuple[Answer | None, list[str], tuple[float, float] | None]:
        """What the error rate allows to say, why it is no more, and how usual the probability is in either class."""
        if self.score is None:
            return None, ["no turn of the agent is recorded, so nothing is known"], None
        reference = self.model.conformal
        p_values = reference.p_values(self.score)
        answer = Answer(reference.answer(self.score, error_rate))
        reasons = []
        weights = np.abs([term.weight for term in self.model.terms])
        if weights[self.known].sum() < KNOWN * weights.sum():
            reasons.append("too little of what the probability is made of is known")
        if self.foreign:
            reasons.append(f"another kind of run than those it was fitted on: {'; '.join(self.foreign)}")
        if self.flattered and answer is not Answer.FAIL:
            reasons.append(
                f"better than almost all it was fitted on, which is no evidence: {', '.join(self.flattered)}"
            )
        if reasons and answer is not Answer.FAIL:
            return Answer.UNSURE, reasons, p_values
        if answer is Answer.UNSURE:
            both = p_values[0] > error_rate
            why = "passing and failing attempts look like this" if both else "neither passing nor failing ones look so"
            reasons.append(f"at an error rate of {error_rate:g} nothing can be said: {why}")
        else:
            other = "failing" if answer is Answer.PASS else "passing"
            chance = p_values[1] if answer is Answer.PASS else p_values[0]
            reasons.append(f"only {100 * chance:.1f}% of {other} attempts look this much like a {answer}")
        return answer, reasons, p_values


class Ranked:
    """A rank score of one row, which has no siblings to be ranked among."""

    probability = None

    def __init__(self, selector: Selector, values: Mapping[str, float], empty: bool) -> None:
        names = [name for name in values if name in selector.columns]
        row: Floats = np.array([values[name] for name in names])
        table = FeatureTable.build([("task", "attempt", row, math.nan, empty, "")], names)
        self.score: float | None = float(selector.scores(table)[0])
        self.effects: dict[str, float] = {}
        self.remarks: list[str] = []

    def points(self, column: str) -> float | None:
        """A rank score has no probability."""
        return None

    def answer(self, error_rate: float) -> tuple[Answer | None, list[str], tuple[float, float] | None]:
        """Nothing can be answered."""
        said = {EMPTY: "no turn of the agent is recorded", DROPPED: "the gate drops it"}
        level = said.get(self.score or 0.0)
        return None, [f"a rank score is no probability{f'; {level}' if level else ''}"], None
