"""Criteria about all runs of a task at once: one prompt with each run's final state, and a letter for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from bestofn.criterion import Criterion, Sees
from bestofn.judge.question import Question, TaskRuns
from bestofn.judge.score import ALONE, EMPTY, Attempt, Column, Score
from bestofn.judge.showing import Room, Showing, ask_several, fingerprint, render_several, rooms, to_request
from bestofn.judge.shown import ShownCounts
from bestofn.llm.answer import Outcome
from bestofn.llm.letters import LetterScore, read_scores
from bestofn.rendering.order import restored, shuffled


@dataclass
class Listwise:
    """Asks one criterion once a task. The order shown is random, and the same whatever the files are called."""

    criterion: Criterion
    showing: Showing
    shown: ShownCounts
    rounds: int = field(default=1, init=False)
    _column: Column = field(init=False)

    def __post_init__(self) -> None:
        self._column = Column(self.criterion.column)

    def groups(self, round: int, task: TaskRuns) -> Iterator[list[Question]]:
        """One request."""
        for run in task.empty:
            self._column.scores[task.attempt(run)] = Score.missing(EMPTY, "the recording holds no turn of the agent")
        if len(task.runs) < 2:
            for run in task.runs:
                self._column.scores[task.attempt(run)] = Score.missing(ALONE, "there is no other attempt beside it")
            return
        order = shuffled([fingerprint(run) for run in task.runs], self.showing.seed)
        record = render_several(task.runs, order, self.criterion.sees, self.showing)
        self.shown.add(record, whole=self.criterion.sees is Sees.WHOLE)
        request = to_request(ask_several(self.criterion, record), self.criterion, self.showing, task.name)
        attempts = tuple(map(task.attempt, task.runs))
        yield [Question(request, partial(self._receive, request.tags, attempts, order))]

    def calls(self, round: int, n: int) -> int:
        """One, where there is something to compare."""
        return int(n > 1)

    def rooms(self, n: int) -> list[Room]:
        """All attempts stand in one prompt."""
        return rooms([self.criterion], n, self.showing) if n > 1 else []

    def columns(self) -> list[Column]:
        """One column: each attempt's letter beside the others."""
        return [self._column]

    def remarks(self) -> list[str]:
        """Nothing beyond the states."""
        return []

    def _receive(
        self, tags: tuple[str, ...], attempts: tuple[Attempt, ...], order: tuple[int, ...], outcome: Outcome
    ) -> Mapping[str, LetterScore]:
        scores = read_scores(outcome, tags)
        listed = restored([scores[tag] for tag in tags], order)
        for attempt, score in zip(attempts, listed, strict=True):
            self._column.scores[attempt] = Score.of(score)
        return scores
