"""Ways of asking one model about one pool, side by side: our judge, the verifier's two tournaments, min-codes.

Each ends in columns of one table and in selectors over them, so that one evaluation holds them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bestofn.criteria import CriteriaSet
from bestofn.errors import UsageError
from bestofn.judge.diagnosis import Judgments, Recorded
from bestofn.judge.plan import methods_of
from bestofn.judge.question import Asking, Method, Tasks, calls, task_runs
from bestofn.judge.score import Column
from bestofn.judge.showing import Showing
from bestofn.judge.shown import ShownCounts
from bestofn.llm.answer import Missing
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

    def sets(self, names: Sequence[str]) -> list[CriteriaSet]:
        """The criteria that the ways asked for make use of."""
        found = list(self.criteria) if JUDGE in names else []
        if ROUND_ROBIN in names or PIVOT in names:
            found.append(self.verifier)
        if MIN_CODES in names and self.judgments is None:
            found.append(self.diagnosis)
        return found

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


@dataclass
class Plan:
    """What some methods would ask about a pool now."""

    methods: Sequence[Method]
    pool: Pool
    answerer: Answerer
    """Gives what is known and sends nothing, such as an offline `Client` or a `Replay`."""
    tasks: Tasks = task_runs
    later: int = field(default=0, init=False)
    """Requests, at most, that depend on answers which are not there. Known once `groups` came to its end."""

    def groups(self) -> Iterator[list[Request]]:
        """Every request, group by group. Known answers are taken into account: a tournament whose next round depends
        on others gives no request for it."""
        asking = Asking(self.methods)
        unknown = 0
        for round in range(asking.rounds):
            given = 0
            for group in asking.groups(round, self.tasks(self.pool)):
                for request, outcome in self.answerer.answer([group]):
                    asking.take(request, outcome)
                    unknown += isinstance(outcome, Missing)
                given += len(group)
                yield group
            if round and unknown:
                self.later += max(0, calls(self.methods, self.pool, round) - given)
