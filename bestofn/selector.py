"""A selector: what turns the rows of a feature table into scores. Fitted or written down, it is data.

A score has two parts. The level: an attempt without a turn of the agent stands below one that the gate drops, and that
below one that is kept. Within a level, a weighted sum of within-task ranks. Higher is better; equal scores are equal to
the last bit, and share the pick.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bestofn.errors import TableError, UsageError
from bestofn.metrics import Bools, Floats
from bestofn.probability import Probability
from bestofn.ranks import rank_sum, within_task_ranks
from bestofn.table import FeatureTable

GATE_COLUMNS = ("finished", "timed_out", "refused", "n_commands")
"""What the gate looks at; it makes do with those that the table has."""
HARDLY_TRIED = 1.0
"""Commands up to which a run counts as hardly tried."""
THE_WAY_OF_THE_POOL = 0.75
"""Share of a pool's attempts from which on so few commands are its way to work, and no sign of giving up."""
DROPPED = -4.0
"""Level of an attempt that the gate drops; sums of ranks lie in [-1, 1], so that levels never overlap."""
EMPTY = -8.0
"""Score of an attempt whose recording holds no turn of the agent."""


class Term(NamedTuple):
    """One column's part in the score."""

    column: str
    weight: float
    """Its ranks, -1 (smallest value of the task) to 1 (largest), are multiplied by this; only proportions matter."""
    missing: str = "middle"
    """Where an unknown value stands: 'middle', which says nothing, or 'last', behind every known one of its task."""


class PathStep(NamedTuple):
    """One step of forward selection."""

    column: str
    """The column added."""
    accuracy: float
    """Leave-one-task-out accuracy over all labelled tasks with it, selected and reported on the same tasks."""
    correlation: float
    """Mean within-task correlation of held-out scores and outcomes, which broke ties."""


class FittedOn(NamedTuple):
    """One pool that weights were fitted on."""

    pool: str
    digest: str
    """`FeatureTable.digest` of the rows that were used."""
    tasks: int
    """Tasks with a known outcome."""
    rows: int
    swing: int
    """Swing tasks: all that a fit can learn from."""
    seen: str = ""
    """The first 8 hex digits of SHA-256 of each task's name, with spaces between: to know a task again elsewhere."""


@dataclass(frozen=True)
class Selector:
    """A rule that scores every attempt of a table."""

    name: str
    gate: bool = False
    """Whether attempts that did not finish, refused or hardly tried stand below the others."""
    terms: tuple[Term, ...] = ()
    """Without any, all attempts of a level share the pick."""
    path: tuple[PathStep, ...] = ()
    """How forward selection came to the terms; it may go on after the best step."""
    fitted_on: tuple[FittedOn, ...] = ()
    """Empty for a rule that was not fitted."""
    note: str = ""
    """A remark for the reader, such as how many swing tasks are few."""
    probability: Probability | None = None
    """What makes a probability of success of one attempt on its own; None where the rule only ranks."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column it reads."""
        terms = tuple(term.column for term in self.terms)
        return (*(GATE_COLUMNS if self.gate else ()), *(c for c in terms if not self.gate or c not in GATE_COLUMNS))

    def missing(self, table: FeatureTable) -> str:
        """Why it cannot score this table, in words; '' where it can."""
        lacking = [term.column for term in self.terms if term.column not in table.columns]
        if self.gate and not set(GATE_COLUMNS) & set(table.columns):
            lacking.append(f"any of {', '.join(GATE_COLUMNS)}")
        return f"the table lacks {', '.join(lacking)}" if lacking else ""

    def scores(self, table: FeatureTable) -> Floats:
        """(n,) the score of every row, higher is better, never NaN.

        Raises TableError, with the columns there are, where the table lacks one that the selector reads.
        """
        reason = self.missing(table)
        if reason:
            raise TableError(f"selector '{self.name}': {reason}; its columns are {', '.join(table.columns) or 'none'}")
        return levels(table, gate=self.gate) + rank_sum(self._ranks(table), self._weights())

    def contributions(self, table: FeatureTable) -> Floats:
        """(n, terms) weight times rank: what each term adds to a row's sum before it is scaled, to explain a pick."""
        return np.asarray(self._ranks(table) * self._weights())

    def _ranks(self, table: FeatureTable) -> Floats:
        values = table.take([term.column for term in self.terms])
        for i, term in enumerate(self.terms):
            if term.missing == "last":
                values[np.isnan(values[:, i]), i] = -np.inf if term.weight > 0 else np.inf
        return _ranks(values, table)

    def _weights(self) -> Floats:
        return np.array([term.weight for term in self.terms], dtype=np.float64)


def equal_terms(table: FeatureTable, columns: Iterable[str]) -> tuple[Term, ...]:
    """Terms of equal weight, each column in the direction that the table expects of it; upwards where it says none."""
    directions = table.about.get("directions", {})
    return tuple(Term(column, -1.0 if directions.get(column) == -1 else 1.0) for column in columns)


def marks(tasks: Iterable[str]) -> tuple[str, ...]:
    """What `FittedOn.seen` keeps of each task's name."""
    return tuple(hashlib.sha256(task.encode("utf-8", "replace")).hexdigest()[:8] for task in tasks)


def task_ranks(table: FeatureTable, columns: Sequence[str]) -> Floats:
    """(n, len(columns)) within-task ranks. An empty recording is ranked in no column: its score says all of it."""
    return _ranks(table.take(columns), table)


def _ranks(values: Floats, table: FeatureTable) -> Floats:
    return within_task_ranks(np.where(table.empty[:, None], np.nan, values), table.groups)


def gated(table: FeatureTable) -> Bools:
    """(n,) True for attempts that the gate drops: unfinished, timed out, refused, or with one command at most.

    What is unknown drops nothing. Few commands drop nothing in a pool where nearly all attempts have so few, such as
    one of word problems. Where all attempts of a task (empty recordings aside) would go, none does.
    """
    real = ~table.empty
    drop = np.zeros(len(table), dtype=np.bool_)
    for name, bad in (("finished", 0.0), ("timed_out", 1.0), ("refused", 1.0)):
        if name in table.columns:
            drop |= table.column(name) == bad
    if "n_commands" in table.columns:
        few = table.column("n_commands") <= HARDLY_TRIED
        known = real & ~np.isnan(table.column("n_commands"))
        if few[known].sum() < THE_WAY_OF_THE_POOL * known.sum():
            drop |= few
    drop &= real
    kept = np.zeros(len(table.task_names), dtype=np.bool_)
    kept[table.groups[real & ~drop]] = True
    return np.asarray(drop & kept[table.groups])


def levels(table: FeatureTable, *, gate: bool) -> Floats:
    """(n,) what each row's score starts from: EMPTY, DROPPED by the gate where there is one, or 0."""
    level = np.where(gated(table), DROPPED, 0.0) if gate else np.zeros(len(table))
    return np.asarray(np.where(table.empty, EMPTY, level))


BASELINES: dict[str, Selector] = {
    selector.name: selector
    for selector in (
        Selector("random"),
        Selector("shortest", terms=(Term("n_characters", -1.0),)),
        Selector("longest", terms=(Term("n_characters", 1.0),)),
        Selector("fewest-steps", terms=(Term("n_steps", -1.0),)),
        Selector("fewest-errors", terms=(Term("n_error", -1.0),)),
        Selector("majority", terms=(Term("answer_votes", 1.0, "last"),)),
        Selector("gate", gate=True),
        Selector("gate-shortest", gate=True, terms=(Term("n_characters", -1.0),)),
    )
}
"""The rules that need no labels, by name."""
FITTED = ("reweight", "forward")
"""The selectors that are fitted."""


def baseline(name: str) -> Selector:
    """A rule by name. Raises UsageError listing the rules."""
    if name not in BASELINES:
        raise UsageError(f"no rule '{name}': there are {', '.join(BASELINES)}")
    return BASELINES[name]


def columns_needed(name: str) -> tuple[str, ...] | None:
    """The columns that a selector reads, so that no others are computed; None for one that chooses among all.

    Raises UsageError for a name that is neither a rule, nor fitted, nor `policy`.
    """
    if name in (*FITTED, "policy"):
        return None
    if name not in BASELINES:
        raise UsageError(f"no selector '{name}': there are {', '.join((*BASELINES, *FITTED, 'policy'))}")
    return BASELINES[name].columns
