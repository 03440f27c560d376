"""Pass, fail or unsure at a chosen error rate."""

from __future__ import annotations

import numpy as np
import pytest

from bestofn.conformal import Conformal
from bestofn.errors import UsageError


def test_p_values_count_the_class_with_the_attempt_in_it() -> None:
    """Among passes those as low count, among fails those as high, ties included."""
    found = Conformal((0.5, 0.7, 0.9), (0.1, 0.2, 0.5))
    assert found.p_values(0.5) == ((1 + 1) / 4, (1 + 1) / 4)
    assert found.p_values(0.05) == (1 / 4, 1.0)
    assert found.p_values(0.95) == (1.0, 1 / 4)


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_errors_keep_to_the_rate_in_each_class(rate: float) -> None:
    """Of new passes no more than about the rate are told 'fail', and of new fails 'pass'."""
    generator = np.random.default_rng(0)

    def draw(n: int, a: float, b: float) -> list[float]:
        return sorted(generator.beta(a, b, size=n).tolist())

    told_wrong = []
    for _ in range(40):
        found = Conformal(tuple(draw(300, 4, 2)), tuple(draw(80, 2, 4)))
        up = [found.answer(p, rate) == "fail" for p in draw(200, 4, 2)]
        down = [found.answer(p, rate) == "pass" for p in draw(200, 2, 4)]
        told_wrong.append((np.mean(up), np.mean(down)))
    assert (np.mean(told_wrong, axis=0) <= rate + 0.02).all()


def test_classes_that_cannot_be_told_apart_are_unsure() -> None:
    """Where passes and fails have the same probabilities, the middle is unsure."""
    same = tuple(np.linspace(0.0, 1.0, 101).tolist())
    assert Conformal(same, same).answer(0.5, 0.1) == "unsure"


def test_too_few_labels_rule_nothing_out() -> None:
    """Nine fails cannot promise an error rate of 0.05: the most extreme attempt is unsure."""
    found = Conformal(tuple(np.linspace(0.8, 0.99, 200).tolist()), (0.1,) * 9)
    assert found.finest == 0.1
    assert found.answer(0.99, 0.05) == "unsure"


@pytest.mark.parametrize("rate", [0.0, 0.5, -1.0, float("nan")])
def test_a_rate_that_promises_nothing_is_refused(rate: float) -> None:
    """The error names the rate and what may be given."""
    with pytest.raises(UsageError, match=r"cannot be kept: give a number above 0 and below 0\.5"):
        Conformal((0.5,), (0.5,)).answer(0.5, rate)
