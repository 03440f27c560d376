"""Criteria about one run at a time: one letter, or the codes that the run shows, each a column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from bestofn.criterion import Criterion, Sees
from bestofn.judge.codes import is_listing, read_codes
from bestofn.judge.question import Question, TaskRuns
from bestofn.judge.score import EMPTY, Attempt, Column, Score
from bestofn.judge.showing import Room, Showing, ask_run, render_run, rooms, to_request
from bestofn.judge.shown import ShownCounts
from bestofn.llm.answer import Outcome
from bestofn.llm.letters import LetterScore, read_scores
from bestofn.rendering.rendered import Rendered
from bestofn.trajectory import Trajectory


@dataclass
class Pointwise:
    """Asks every criterion about every run. The requests of one run are one group and share their beginning."""

    criteria: Sequence[Criterion]
    showing: Showing
    shown: ShownCounts
    rounds: int = field(default=1, init=False)
    _columns: dict[str, Column] = field(init=False)

    def __post_init__(self) -> None:
        self._columns = {c.column: Column(c.column, -1 if is_listing(c) else 1) for c in self.criteria}

    def groups(self, round: int, task: TaskRuns) -> Iterator[list[Question]]:
        """One group a run."""
        for run in task.empty:
            for column in self._columns.values():
                column.scores[task.attempt(run)] = Score.missing(EMPTY, "the recording holds no turn of the agent")
        for run in task.runs:
            yield list(self._questions(run, task.attempt(run)))

    def calls(self, round: int, n: int) -> int:
        """Every criterion about every run."""
        return len(self.criteria) * n

    def rooms(self, n: int) -> list[Room]:
        """One attempt stands in a prompt."""
        return rooms(self.criteria, 1, self.showing) if n else []

    def columns(self) -> list[Column]:
        """One column a criterion, in the criteria's order."""
        return list(self._columns.values())

    def remarks(self) -> list[str]:
        """Nothing beyond the states."""
        return []

    def _questions(self, run: Trajectory, attempt: Attempt) -> Iterable[Question]:
        records: dict[str, Rendered] = {}
        for criterion in self.criteria:
            if criterion.sees not in records:
                records[criterion.sees] = render_run(run, criterion.sees, self.showing)
                self.shown.add(records[criterion.sees], whole=criterion.sees is Sees.WHOLE)
            shown = ask_run(criterion, records[criterion.sees])
            request = to_request(shown, criterion, self.showing, run.id)
            yield Question(request, partial(self._receive, criterion, request.tags, attempt))

    def _receive(
        self, criterion: Criterion, tags: tuple[str, ...], attempt: Attempt, outcome: Outcome
    ) -> Mapping[str, LetterScore]:
        scores = read_codes(outcome, tags[0], criterion) if is_listing(criterion) else read_scores(outcome, tags)
        self._columns[criterion.column].scores[attempt] = Score.of(scores[tags[0]])
        return scores
