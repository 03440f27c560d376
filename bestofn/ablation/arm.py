"""An arm of an experiment: one way to choose attempts, what it came to on one pool, and what it took."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestofn.errors import BestofnError
from bestofn.judged import FREE, UNKNOWN, Cost
from bestofn.metrics import Floats, Ints


class Lacking(BestofnError):
    """An arm cannot have a figure here. It stands in the table all the same, with this in place of the figure."""

    def __init__(self, why: str, how: str) -> None:
        """Say why there is no figure, and how to get one: a command, a file, an option; "" where there is no way."""
        super().__init__(f"{why}: {how}" if how else why)
        self.why = why
        self.how = how


@dataclass(frozen=True)
class Arm:
    """One arm's result on one pool."""

    name: str
    what: str
    """What it is, in a few words."""
    by_task: Floats
    """(tasks,) expected outcome of its pick in each task of the pool's canonical table, tied tops sharing the pick;
    NaN where the task has no known outcome, and everywhere where the arm has no figure."""
    tied: Ints | None = None
    """(tasks,) how many attempts of known outcome share the pick; None where that is not told."""
    missing: int = 0
    """Scores that the arm reads and that are missing; they speak neither for nor against an attempt."""
    asked: int = 0
    """Scores that a model was asked for, the missing ones included."""
    cost: Cost = FREE
    """What its scores take of a model, a task."""
    optimistic: bool = False
    """True where the figure was reported on labels that the arm was made with."""
    why: str = ""
    """Why there is no figure; '' where there is one."""
    how: str = ""
    """How to get one."""
    note: str = ""
    """What else to know of it."""

    @classmethod
    def lacking(cls, name: str, what: str, n_tasks: int, reason: Lacking) -> Arm:
        """An arm without a figure."""
        return cls(name, what, np.full(n_tasks, np.nan), cost=UNKNOWN, why=reason.why, how=reason.how)
