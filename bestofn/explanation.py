"""Says in words why a selector ranks an attempt where it does: the two or three things that moved it most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bestofn.fitting import Fits, Learned
from bestofn.metrics import Bools, Floats, Ints, rows_by_task
from bestofn.selector import FITTED, Selector, baseline, gated, task_ranks
from bestofn.table import FeatureTable

MOST = 3
"""Reasons given for one attempt."""
NAMES = {
    "n_characters": "characters",
    "answer_votes": "votes for its final answer",
    "final_message_success": "claims of success in the last message",
    "checks_after_edit": "checks after the last edit",
    "seconds": "seconds",
    "cost_usd": "dollars",
}
"""What columns are called in a sentence, where the column's own name with its underscores away would not do."""


class _Place(NamedTuple):
    """Where a row's value stands among the known values of its task."""

    value: float
    below: int
    """Known values that are smaller."""
    above: int
    """Known values that are larger."""
    others: Floats
    """Known values of the other attempts."""


@dataclass(frozen=True)
class Explained:
    """What every row's score is made of."""

    columns: tuple[str, ...]
    contributions: Floats
    """(n, k) weight times within-task rank."""
    gate: Bools
    """(n,) whether the gate had a say in this row's task."""

    @classmethod
    def of(cls, selector: Selector, table: FeatureTable) -> Explained:
        """One selector for all tasks."""
        columns = tuple(term.column for term in selector.terms)
        return cls(columns, selector.contributions(table), np.full(len(table), selector.gate))

    @classmethod
    def by_task(cls, table: FeatureTable, fits: Fits, selectors: Sequence[str]) -> Explained:
        """A selector for each task: a rule, or what was fitted on the other tasks."""
        parts: list[tuple[Bools, Explained]] = []
        for name in dict.fromkeys(selectors):
            mine = np.array([selector == name for selector in selectors], dtype=np.bool_)[table.groups]
            parts.append((mine, cls._learned(table, fits, name) if name in FITTED else cls.of(baseline(name), table)))
        columns = tuple(dict.fromkeys(column for _, part in parts for column in part.columns))
        contributions = np.zeros((len(table), len(columns)))
        gate = np.zeros(len(table), dtype=np.bool_)
        for mine, part in parts:
            at = np.array([columns.index(column) for column in part.columns], dtype=np.intp)
            contributions[np.flatnonzero(mine)[:, None], at] = part.contributions[mine]
            gate[mine] = part.gate[mine]
        return cls(columns, contributions, gate)

    @classmethod
    def _learned(cls, table: FeatureTable, fits: Fits, name: str) -> Explained:
        learned: Learned = fits.forward if name == "forward" else fits.reweight
        weights = learned.held_out[table.groups]
        gate = np.full(len(table), learned.selector.gate)
        return cls(learned.columns, task_ranks(table, learned.columns) * weights, gate)


def reasons(table: FeatureTable, explained: Explained) -> list[tuple[str, ...]]:
    """For each row, what moved it most: what the gate says first, then the largest contributions.

    Contributions are compared among the attempts of a task that the gate treats alike. For an attempt above the middle
    of these they are what speaks for it, for others what speaks against it.
    """
    dropped = gated(table) & explained.gate
    told: list[tuple[str, ...]] = [("no turn of the agent is recorded",)] * len(table)
    for rows in rows_by_task(table.groups):
        for alike in (rows[~table.empty[rows] & ~dropped[rows]], rows[~table.empty[rows] & dropped[rows]]):
            said = explained.contributions[alike]
            weights = said - said.mean(axis=0) if len(alike) else said
            for row, moved in zip(alike.tolist(), weights, strict=True):
                first = _gate_reasons(table, row) if dropped[row] else []
                if not dropped[row] and dropped[rows].any():
                    first = [_passed_gate(table, row)]
                if len(alike) == 1 and len(rows) > 1 and table.empty[rows].sum() == len(rows) - 1:
                    first = ["the only attempt with a turn of the agent"]
                told[row] = tuple([*first, *_moves(table, explained.columns, moved, row, alike)][:MOST])
    return told


def _moves(table: FeatureTable, columns: Sequence[str], moved: Floats, row: int, alike: Ints) -> list[str]:
    """What speaks for a row, or against it, the largest first."""
    sign = 1.0 if moved.sum() >= 0 else -1.0
    order = [term for term in np.argsort(-moved * sign, kind="stable")[:MOST] if moved[term] * sign > 0]
    return [_term_reason(table, columns[term], row, alike) for term in order]


def _passed_gate(table: FeatureTable, row: int) -> str:
    """What an attempt that the gate keeps has over those it drops."""
    return "finished" if _value(table, "finished", row) == 1.0 else "passes the gate"


def _gate_reasons(table: FeatureTable, row: int) -> list[str]:
    """Why the gate drops a row."""
    said: list[str] = []
    if _value(table, "timed_out", row) == 1.0:
        said.append("timed out")
    elif _value(table, "finished", row) == 0.0:
        said.append("did not finish")
    if _value(table, "refused", row) == 1.0:
        said.append("refuses the task")
    commands = _value(table, "n_commands", row)
    if commands <= 1.0:
        said.append("ran no command" if commands == 0.0 else "ran one command only")
    return said


def _value(table: FeatureTable, column: str, row: int) -> float:
    return float(table.column(column)[row]) if column in table.columns else float("nan")


def _term_reason(table: FeatureTable, column: str, row: int, rows: Ints) -> str:
    """One column's value against those of the other attempts."""
    values = table.column(column)
    others = values[rows[rows != row]]
    others = others[~np.isnan(others)]
    if np.isnan(values[row]) or len(others) == 0:
        return f"{_named(column)} cannot be told {'here' if len(others) else 'of the others'}"
    place = _Place(values[row], int((others < values[row]).sum()), int((others > values[row]).sum()), others)
    return f"{_degree(column, place)} {_named(column)} ({_number(place.value)}; others {_range(others)})"


def _degree(column: str, place: _Place) -> str:
    """Fewest, few, many, most; or lowest, low, high, highest for what is not counted."""
    counted = column.startswith("n_") or column in NAMES
    low = place.below < place.above
    extreme = place.below == 0 if low else place.above == 0
    if counted:
        return ("fewest" if extreme else "few") if low else ("most" if extreme else "many")
    return ("lowest" if extreme else "low") if low else ("highest" if extreme else "high")


def _named(column: str) -> str:
    return NAMES.get(column, column.removeprefix("n_").replace("_", " "))


def _range(values: Floats) -> str:
    low, high = _number(float(values.min())), _number(float(values.max()))
    return low if low == high else f"{low} to {high}"


def _number(value: float) -> str:
    """A number as people write it: whole ones in full with thousands apart, others with three digits."""
    return f"{value:,.0f}" if value == round(value) else f"{value:.3g}"
