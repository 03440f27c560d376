"""What a criteria set asks about a pool, and how many calls that takes: 6N + N^2 a task of N attempts at most."""

from __future__ import annotations

from collections.abc import Sequence

from bestofn.criteria import CriteriaSet
from bestofn.criterion import Kind
from bestofn.errors import UsageError
from bestofn.judge.listwise import Listwise
from bestofn.judge.pairwise import Pairwise
from bestofn.judge.pointwise import Pointwise
from bestofn.judge.question import Method
from bestofn.judge.showing import Showing
from bestofn.judge.shown import ShownCounts

MOST = {Kind.POINTWISE: 6, Kind.PAIRWISE: 1, Kind.LISTWISE: 1}
"""Criteria of each kind in one set: 6N + N(N - 1) + 1 calls, which is 6N + N^2 at most."""


def methods_of(sets: Sequence[CriteriaSet], showing: Showing, shown: ShownCounts) -> list[Method]:
    """The methods that ask some sets' criteria: the pointwise ones together, so that they share prefixes, then each
    comparison. What two sets share is asked once.

    Raises UsageError for a set that would take more than 6N + N^2 calls a task.
    """
    for chosen in sets:
        check_calls(chosen)
    every = {criterion.column: criterion for chosen in sets for criterion in chosen.criteria}.values()
    pointwise = [criterion for criterion in every if criterion.kind is Kind.POINTWISE]
    return [
        *([Pointwise(pointwise, showing, shown)] if pointwise else []),
        *(Pairwise(criterion, showing, shown) for criterion in every if criterion.kind is Kind.PAIRWISE),
        *(Listwise(criterion, showing, shown) for criterion in every if criterion.kind is Kind.LISTWISE),
    ]


def check_calls(criteria: CriteriaSet) -> None:
    """Raise UsageError for a set that would take more than 6N + N^2 calls a task."""
    over = [f"{len(criteria.of(k))} {k} (at most {most})" for k, most in MOST.items() if len(criteria.of(k)) > most]
    if over:
        raise UsageError(
            f"criteria '{criteria.name}' hold {' and '.join(over)}, more than 6N + N^2 calls a task: split the file in "
            "several, and give --criteria several times"
        )
