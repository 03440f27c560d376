"""Which failure codes an attempt's features speak for in a report, each with the words that made them fire.

A code fires where a feature that is expected to be higher in failing runs (direction -1) found something. What only
measures size, such as characters or seconds, is above 0 in every run and fires nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from bestofn.evidence import SIZES, passage
from bestofn.failure_modes import failure_mode
from bestofn.featurize.feature import Feature
from bestofn.featurize.reading import Reading


class Fired(NamedTuple):
    """One feature that speaks for failure in one attempt."""

    feature: str
    value: float
    codes: tuple[str, ...]
    """As the feature names them."""
    why: str
    quote: str
    """Words of the recording that stand for the value, as `bestofn.evidence` finds them; '' where there are none."""
    step: int | None
    """The step they stand in, counted from 1."""


class CodeName(NamedTuple):
    """How a code is shown."""

    key: str
    """As features name it."""
    title: str
    description: str


def code_name(key: str) -> CodeName:
    """A code by what a feature calls it; the key itself where no taxonomy here has it."""
    mode = failure_mode(key)
    return CodeName(key, f"{mode.id} {mode.name.replace('_', ' ')}".strip(), mode.description)


@dataclass(frozen=True)
class Evidence:
    """Finds what fired, for the features of one table."""

    features: tuple[Feature, ...]

    @cached_property
    def speaking(self) -> tuple[int, ...]:
        """Indices of the features that can fire a code."""
        return tuple(
            index
            for index, feature in enumerate(self.features)
            if feature.direction < 0 and feature.codes and feature.name not in SIZES
        )

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Every code that a feature speaks for, in order of name."""
        return tuple(sorted({code for index in self.speaking for code in self.features[index].codes}))

    def fired(self, reading: Reading, values: Sequence[float]) -> tuple[Fired, ...]:
        """What fired in one attempt, given its row of the table."""
        found = []
        for index in self.speaking:
            if not values[index] > 0:  # NaN is not known, and fires nothing
                continue
            feature = self.features[index]
            words = passage(feature, float(values[index]), reading)
            quote, step = (words.quote, words.step) if words is not None and words.quote else ("", None)
            found.append(Fired(feature.name, float(values[index]), feature.codes, feature.why, quote, step))
        return tuple(found)
