"""What a feature table tells of the models that were asked for its columns: which columns, what they cost, which rows.

A score is not free because it came from a cache. What stands here is what asking for a column takes, by the calls and
tokens that were counted when it was asked; what was not counted, or has no price, is unknown and never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bestofn.evaluation import OPTIMISTIC, Evaluation, given_name
from bestofn.policy import chosen_selectors
from bestofn.selector import BASELINES, Selector, equal_terms
from bestofn.table import FeatureTable

MODEL = "llm_"
"""Beginning of the names of a model's columns."""
OTHER_WAYS = ("llm_verifier_", "llm_codes", "llm_n_codes")
"""Columns that are another way of asking than the judge's criteria: they stand alone, in no mean with these."""
JUDGE = "judge"
"""The row of all of a judge's criteria together."""


class Cost(NamedTuple):
    """What scores take of a model, a task; NaN is not known."""

    calls: float = 0.0
    input_tokens: float = 0.0
    """The cached ones included."""
    cached_tokens: float = 0.0
    """Those of `input_tokens` that the server's prefix cache served."""
    output_tokens: float = 0.0
    usd: float = 0.0

    @property
    def tokens(self) -> float:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


FREE = Cost()
"""Of what asks no model."""
UNKNOWN = Cost(*[math.nan] * len(Cost._fields))
"""Of a model's column whose table does not tell."""


def model_columns(table: FeatureTable) -> tuple[str, ...]:
    """The table's columns that a model was asked for: those that an account names, and those named like them."""
    named = {name for run in _runs(table) for name in _part(run, "states")}
    return tuple(column for column in table.columns if column in named or column.startswith(MODEL))


def column_costs(table: FeatureTable) -> dict[str, Cost]:
    """What each of a model's columns takes a task, by the latest run that asked for it; UNKNOWN where none tells."""
    found = dict.fromkeys(model_columns(table), UNKNOWN)
    for run in _runs(table):
        costs = _part(run, "costs")
        tasks = costs.get("tasks")
        for column in _part(run, "states"):
            if column in found:
                taken = _part(costs, "columns").get(column)
                found[column] = _cost(taken, tasks) if isinstance(taken, Mapping) else UNKNOWN
    return found


def total(costs: Iterable[Cost]) -> Cost:
    """Several together; unknown where one of them is."""
    return Cost(*[math.fsum(parts) for parts in zip(FREE, *costs, strict=True)])


def judge_selectors(table: FeatureTable) -> tuple[Selector, ...]:
    """A selector for each of a model's columns alone, and one over all criteria of a judge, with equal weights."""
    columns = model_columns(table)
    stems = [column.partition("@")[0] for column in columns]
    alone = [
        Selector(stem if stems.count(stem) == 1 else column, terms=equal_terms(table, [column]))
        for column, stem in zip(columns, stems, strict=True)
    ]
    criteria = [column for column in columns if not column.startswith(OTHER_WAYS)]
    if len(criteria) < 2:
        return tuple(alone)
    return (Selector(JUDGE, terms=equal_terms(table, criteria)), *alone)


def selector_costs(table: FeatureTable, result: Evaluation, extra: Sequence[Selector] = ()) -> dict[str, Cost]:
    """What the scores that each row of an evaluation reads take a task.

    A rule asks nobody. `reweight` reads every column. `forward` reads what it selects on all tasks, though all columns
    were asked for to select them. The policy costs what it uses, mean over tasks.

    Parameters
    ----------
    extra
        The selectors from elsewhere that the evaluation was given.
    """
    by_column = column_costs(table)

    def reading(columns: Iterable[str]) -> Cost:
        return total(by_column[column] for column in dict.fromkeys(columns) if column in by_column)

    costs = dict.fromkeys(BASELINES, FREE)
    costs |= {"reweight": reading(by_column), "forward": reading(result.selected)}
    costs[OPTIMISTIC] = costs["forward"]
    used = chosen_selectors(table)
    costs["policy"] = _mean([costs[name] for name in used])
    for selector in extra:
        costs[given_name(selector)] = reading(selector.columns)
    return {row.selector: costs.get(row.selector, UNKNOWN) for row in result.rows}


def _mean(costs: Sequence[Cost]) -> Cost:
    return Cost(*[part / len(costs) for part in total(costs)]) if costs else FREE


def _cost(taken: Mapping[str, Any], tasks: object) -> Cost:
    """A column's account as a cost a task. What some calls did not tell is unknown of all of them."""
    if not isinstance(tasks, int) or tasks < 1 or not taken.get("calls"):
        return UNKNOWN
    whole = not taken.get("uncounted")

    def each(key: str, *, known: bool = True) -> float:
        value = taken.get(key)
        return float(value) / tasks if known and isinstance(value, int | float) else math.nan

    input_, cached, output = (each(name, known=whole) for name in ("input_tokens", "cached_tokens", "output_tokens"))
    return Cost(each("calls"), input_, cached, output, each("usd"))


def _runs(table: FeatureTable) -> list[Mapping[str, Any]]:
    """The accounts of judges' runs that a table holds, the latest last."""
    runs = table.about.get("judge", ())
    return [run for run in runs if isinstance(run, Mapping)] if isinstance(runs, list | tuple) else []


def _part(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = content.get(key)
    return part if isinstance(part, Mapping) else {}
