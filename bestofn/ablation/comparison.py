"""Arms beside a reference on one pool: accuracy, paired difference, interval, p-value, and what that resolves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bestofn.ablation.arm import Arm
from bestofn.ablation.significance import LEVEL, Resolution, chance_p, exchange_p, holm, smallest_difference
from bestofn.ablation.subject import Subject
from bestofn.errors import UsageError
from bestofn.evaluation import Interval, holds_zero
from bestofn.judged import UNKNOWN, Cost
from bestofn.metrics import DECIMALS, Floats, gap_recovered, mean_over_tasks, paired_intervals

TIED, OPEN, RESOLVED = "tied", "open", "resolved"
"""What a difference is: its interval holds 0; it does not, and the corrected p-value is above the level; neither."""
PARTIAL = "partial"
"""A difference that is not judged: of one of the two arms so many scores are missing that it is about those as well."""
MOST_MISSING = 0.05
"""Share of an arm's scores that may be missing, as for a judge's run that counts as whole."""


class Row(NamedTuple):
    """One arm's figures beside the reference. Shares from 0 to 1; None or NaN where there is no figure."""

    arm: str
    what: str
    accuracy: float
    """Expected share of labelled tasks whose pick passes."""
    swing_accuracy: float
    """The same over swing tasks alone."""
    gap_recovered: float
    """(accuracy - Pass@1) / (oracle - Pass@1)."""
    difference: float | None
    """Accuracy less the reference's; None for the reference."""
    interval: Interval | None
    """95% interval of the difference, tasks drawn with replacement."""
    moved: int | None
    """Tasks in which the two arms' expected outcomes differ."""
    p: float | None
    """Two-sided p-value (`bestofn.ablation.significance`); None for optimistic arms, whose labels made them."""
    p_holm: float | None
    """The same, corrected for the number of arms with a p-value."""
    verdict: str
    """`tied`, `open`, `resolved` or `partial`; '' where there is no difference to judge."""
    missing: int
    asked: int
    cost: Cost
    """What its scores take of a model, a task; NaN is not known."""
    optimistic: bool
    why: str
    how: str
    note: str


@dataclass(frozen=True)
class Comparison:
    """Some arms of one question on one pool."""

    title: str
    pool: str
    reference: str
    """The arm that the others are compared with."""
    rows: tuple[Row, ...]
    n_tasks: int
    """Tasks with a known outcome."""
    n_swing: int
    """Tasks whose known outcomes differ: the only ones that can move."""
    resolution: Resolution
    """The smallest difference that one comparison on this pool can resolve."""
    resolution_holm: Resolution
    """The same for the first of as many comparisons as this table makes."""

    def row(self, arm: str) -> Row:
        """One arm's figures. Raises UsageError listing the arms for an unknown one."""
        for row in self.rows:
            if row.arm == arm:
                return row
        raise UsageError(f"no arm '{arm}': there are {', '.join(row.arm for row in self.rows)}")


def compare(
    subject: Subject,
    arms: Sequence[Arm],
    *,
    reference: str,
    title: str = "",
    seed: int = 0,
    resamples: int = 10_000,
) -> Comparison:
    """Compare arms with a named one of them.

    Parameters
    ----------
    subject
        The pool that the arms were measured on.
    arms
        In the order in which they shall stand.
    reference
        The arm that differences are taken to. Where it has no figure, no other arm has a difference.
    seed, resamples
        Of the bootstrap, and of p-values that cannot be had exactly.

    Raises UsageError where arms share a name or none is called like the reference.
    """
    names = [arm.name for arm in arms]
    if len(set(names)) < len(names) or reference not in names:
        raise UsageError(f"a comparison needs arms of different names, one of them '{reference}': got {names}")
    known = ~np.isnan(subject.rates)
    told = [not arm.why and not np.isnan(arm.by_task[known]).any() for arm in arms]
    base = arms[names.index(reference)].by_task[known] if told[names.index(reference)] else None
    differences = np.zeros((len(arms), int(known.sum())))
    if base is not None:
        for place, arm in enumerate(arms):
            if told[place]:
                differences[place] = np.round(arm.by_task[known] - base, DECIMALS)
    part = [_partly(arm) or _partly(arms[names.index(reference)]) for arm in arms]
    several = int(known.sum()) > 1  # one task says nothing about how tasks differ
    ends = paired_intervals(differences, resamples=resamples, seed=seed)
    compared = [tells and base is not None and arm.name != reference for arm, tells in zip(arms, told, strict=True)]
    ps = [
        _p(subject, arms[names.index(reference)], arm, seed)
        if compared[place] and several and not arm.optimistic and not part[place]
        else None
        for place, arm in enumerate(arms)
    ]
    corrected = holm(ps)
    rows = []
    for place, arm in enumerate(arms):
        with_interval = compared[place] and several
        interval = (float(ends[place, 0]), float(ends[place, 1])) if with_interval else None
        rows.append(_row(subject, arm, told[place], differences[place] if compared[place] else None, interval,
                         ps[place], corrected[place], partly=part[place]))  # fmt: skip
    n_tasks, n_swing = subject.figures.n_tasks, subject.figures.n_swing
    family = sum(p is not None for p in ps)
    return Comparison(
        title,
        subject.name,
        reference,
        tuple(rows),
        n_tasks,
        n_swing,
        smallest_difference(n_tasks, n_swing),
        smallest_difference(n_tasks, n_swing, comparisons=family),
    )


def _partly(arm: Arm) -> bool:
    """Whether more of an arm's scores are missing than a comparison bears."""
    return arm.missing > MOST_MISSING * arm.asked


def _p(subject: Subject, reference: Arm, arm: Arm, seed: int) -> float:
    """The p-value of two arms, either of which may be a random pick."""
    known = ~np.isnan(subject.rates)
    rates = subject.rates[known]
    for one, other in ((reference, arm), (arm, reference)):
        if np.allclose(one.by_task[known], rates, rtol=0.0, atol=10.0**-DECIMALS):
            tied = None if other.tied is None else other.tied[known]
            return chance_p(other.by_task[known], rates, subject.attempts[known], tied, seed=seed)
    return exchange_p(arm.by_task[known], reference.by_task[known], seed=seed)


def _row(
    subject: Subject,
    arm: Arm,
    tells: bool,
    differences: Floats | None,
    interval: Interval | None,
    p: float | None,
    p_holm: float | None,
    *,
    partly: bool,
) -> Row:
    """One arm's figures, with what the comparison found."""
    by_task = arm.by_task if tells else np.full_like(arm.by_task, np.nan)
    accuracy = mean_over_tasks(by_task)
    untold = int(np.isnan(arm.by_task[~np.isnan(subject.rates)]).sum())
    why = arm.why or ("" if tells else f"no figure in {untold} of {subject.figures.n_tasks} tasks")
    verdict = ""
    if interval is not None:
        verdict = TIED if holds_zero(interval) else RESOLVED if p_holm is not None and p_holm <= LEVEL else OPEN
        verdict = PARTIAL if partly else verdict
    return Row(
        arm=arm.name,
        what=arm.what,
        accuracy=accuracy,
        swing_accuracy=mean_over_tasks(by_task, subject.swing),
        gap_recovered=gap_recovered(accuracy, subject.figures.pass_at_1, subject.figures.oracle),
        difference=None if differences is None else mean_over_tasks(differences),
        interval=interval,
        moved=None if differences is None else int((differences != 0.0).sum()),
        p=p,
        p_holm=p_holm,
        verdict="" if arm.optimistic and verdict not in (TIED, PARTIAL) else verdict,
        missing=arm.missing,
        asked=arm.asked,
        cost=arm.cost if tells else UNKNOWN,
        optimistic=arm.optimistic,
        why=why,
        how=arm.how,
        note=arm.note,
    )
