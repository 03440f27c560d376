"""Three answers at a chosen error rate: pass, fail, or unsure, by class-wise (Mondrian) conformal prediction.

Probabilities of labelled attempts, each from a fit without its task, stand for what passes and what fails look like.
An answer is ruled out where no more than the error rate of its own class look as unlikely as this attempt, so that of
the attempts that really pass about that share is told 'fail', and the other way round (Vovk, Gammerman and Shafer,
"Algorithmic Learning in a Random World", chapter 4). The promise holds for attempts like those it was fitted on.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from bestofn.errors import UsageError

ERROR_RATE = 0.1
"""Share of passes told 'fail', and of fails told 'pass', by default."""


class Measured(NamedTuple):
    """What an error rate came to on labelled attempts, each answered without its own task."""

    error_rate: float
    """The rate that was asked for."""
    passes_told_fail: float
    """Share of the passing attempts that got 'fail'."""
    fails_told_pass: float
    unsure: float
    """Share of all attempts that got 'unsure'."""


@dataclass(frozen=True)
class Conformal:
    """Out-of-fold probabilities of labelled attempts."""

    passes: tuple[float, ...]
    """Of the passing ones, ascending."""
    fails: tuple[float, ...]
    """Of the failing ones, ascending."""
    measured: tuple[Measured, ...] = ()

    def p_values(self, probability: float) -> tuple[float, float]:
        """How usual this probability is among passes, and among fails: 0 (unheard of) to 1.

        The share of the class, this attempt among it, whose probability speaks against the class as much as this one.
        """
        lower = bisect_right(self.passes, probability)
        higher = len(self.fails) - bisect_left(self.fails, probability)
        return (lower + 1) / (len(self.passes) + 1), (higher + 1) / (len(self.fails) + 1)

    def answer(self, probability: float, error_rate: float = ERROR_RATE) -> str:
        """'pass', 'fail' or 'unsure'. Neither class fitting is as unsure as both.

        Raises UsageError for a rate that is not between 0 and 0.5.
        """
        check_rate(error_rate)
        may_pass, may_fail = (value > error_rate for value in self.p_values(probability))
        if may_pass == may_fail:
            return "unsure"
        return "pass" if may_pass else "fail"

    @property
    def finest(self) -> float:
        """The smallest error rate at which anything but 'unsure' can be told: the labels allow no less."""
        return 1.0 / (min(len(self.passes), len(self.fails)) + 1)


def check_rate(error_rate: float) -> None:
    """Raise UsageError for an error rate that promises nothing."""
    if not 0.0 < error_rate < 0.5:
        raise UsageError(f"an error rate of {error_rate:g} cannot be kept: give a number above 0 and below 0.5")
