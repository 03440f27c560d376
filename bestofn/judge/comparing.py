"""Ways of asking one model about one pool, side by side: our judge, the verifier's two tournaments, min-codes.

Each ends in columns of one table and in selectors over them, so that one evaluation holds them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bestofn.criteria import CriteriaSet
from bestofn.errors import UsageError
from bestofn.judge.diagnosis import Judgments, Recorded
from bestofn.judge.plan import methods_of
from bestofn.judge.question import Asking, Method, Tasks, task_runs
from bestofn.judge.score import Column
from bestofn.judge.showing import Showing
from bestofn.judge.shown import ShownCounts
from bestofn.llm.client import Answerer
from bestofn.llm.request import Request
from bestofn.pool import Pool
from bestofn.selector import Selector, Term
from bestofn.verifier.method import PIVOTS, PivotTournament, RoundRobin

JUDGE, MIN_CODES = "judge", "min-codes"
ROUND_ROBIN, PIVOT = "verifier-round-robin", "verifier-pivot"
METHODS = (JUDGE, ROUND_ROBIN, PIVOT, MIN_CODES)
"""The ways of asking, in the order in which they stand in a table."""
BESIDE = ("random", "gate", "shortest", "gate-shortest", "majority")
"""Rules without any model that every comparison shows."""


@dataclass(frozen=True)
class Ways:
    """What each way asks."""

    criteria: Sequence[CriteriaSet]
    """For `judge`."""
    verifier: CriteriaSet
    """For the tournaments."""
    diagnosis: CriteriaSet
    """For `min-codes`, where no judgments are given."""
    judgments: Judgments | None = None
    """Recorded diagnoses for `min-codes`."""
    repeats: int = 1
    """K of the tournaments."""
    pivots: int = PIVOTS
    """k of the pivot tournament."""

    def methods(self, names: Sequence[str], showing: Showing, shown: ShownCounts) -> dict[str, list[Method]]:
        """The methods of each way asked for. Raises UsageError for an unknown one."""
        for name in names:
            if name not in METHODS:
                raise UsageError(f"no way of asking '{name}': there are {', '.join(METHODS)}")
        return {name: list(self._of(name, showing, shown)) for name in METHODS if name in names}

    def _of(self, name: str, showing: Showing, shown: ShownCounts) -> Iterator[Method]:
        if name == JUDGE:
            yield from methods_of(self.criteria, showing, shown)
        elif name == ROUND_ROBIN:
            yield RoundRobin(self.verifier.criteria, showing, shown, self.repeats)
        elif name == PIVOT:
            yield PivotTournament(self.verifier.criteria, showing, shown, self.repeats, self.pivots)
        elif self.judgments is not None:
            yield Recorded(self.judgments)
        else:
            yield from methods_of([self.diagnosis], showing, shown)


def selectors(columns: Mapping[str, Sequence[Column]]) -> list[Selector]:
    """The selectors over each way's columns: all columns of a way with equal weights, and each of several alone."""
    found: list[Selector] = []
    for name, mine in columns.items():
        found.append(Selector(name, terms=tuple(Term(column.name, float(column.direction)) for column in mine)))
        if len(mine) > 1:
            found += [Selector(c.name.split("@")[0], terms=(Term(c.name, float(c.direction)),)) for c in mine]
    return found


def planned(
    methods: Sequence[Method], pool: Pool, answerer: Answerer, *, tasks: Tasks | None = None
) -> Iterator[list[Request]]:
    """Every request that the methods have now, group by group, with known answers taken into account.

    A tournament whose second round depends on answers that are not there plans its first round only.

    Parameters
    ----------
    answerer
        Gives what is known and sends nothing, such as an offline `Client` or a `Replay`.
    """
    asking = Asking(methods)
    for round in range(asking.rounds):
        for group in asking.groups(round, (tasks or task_runs)(pool)):
            for request, outcome in answerer.answer([group]):
                asking.take(request, outcome)
            yield group
