"""Several criteria sets about the same runs, asked together: each run is rendered once and all questions share it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bestofn.criteria import CriteriaSet
from bestofn.criterion import Criterion, Kind
from bestofn.judge.judging import Judgement
from bestofn.judge.listwise import Listwise
from bestofn.judge.pairwise import Pairwise
from bestofn.judge.plan import check_calls
from bestofn.judge.pointwise import Pointwise
from bestofn.judge.question import Method, Question, TaskRuns
from bestofn.judge.showing import Showing
from bestofn.judge.shown import ShownCounts
from bestofn.llm.prices import Price


@dataclass
class Together(Pointwise):
    """Pointwise criteria, several of which may have one name: their accounts go by column instead."""

    def groups(self, round: int, task: TaskRuns) -> Iterator[list[Question]]:
        """One group a run, every criterion in it."""
        for group in super().groups(round, task):
            yield [
                Question(replace(question.request, criterion=criterion.column), question.receive)
                for question, criterion in zip(group, self.criteria, strict=True)
            ]


def methods_together(sets: Sequence[CriteriaSet], showing: Showing, shown: ShownCounts) -> list[Method]:
    """The methods that ask some sets, what they share once.

    Raises UsageError for a set that would take more than 6N + N^2 calls a task.
    """
    for chosen in sets:
        check_calls(chosen)
    every = list({criterion.column: criterion for chosen in sets for criterion in chosen.criteria}.values())

    def of(kind: Kind) -> list[Criterion]:
        return [criterion for criterion in every if criterion.kind is kind]

    return [
        *([Together(of(Kind.POINTWISE), showing, shown)] if of(Kind.POINTWISE) else []),
        *(Pairwise(criterion, showing, shown) for criterion in of(Kind.PAIRWISE)),
        *(Listwise(criterion, showing, shown) for criterion in of(Kind.LISTWISE)),
    ]


def with_accounts(judgement: Judgement, price: Price | None) -> Judgement:
    """A judgement of `methods_together` with what each of its columns took."""
    costs = judgement.about["costs"]
    taken: dict[str, Any] = dict(costs["columns"])
    for (_, criterion), found in judgement.summary.taken.items():
        if any(column.name == criterion for column in judgement.columns):
            taken[criterion] = found.as_dict(price)
    return replace(judgement, about={**judgement.about, "costs": {**costs, "columns": taken}})
