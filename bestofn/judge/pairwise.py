"""Criteria about two runs: every pair is asked in both orders, and only a pair that answers in both counts.

A comparison that failed is dropped and counted; it is no tie. What remains must be enough: a task with fewer than half
of its pairs gets no verdict, nor does an attempt with fewer than half of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import NamedTuple

from bestofn.criterion import Criterion, Sees
from bestofn.judge.question import Question, TaskRuns
from bestofn.judge.score import ALONE, EMPTY, Attempt, Column, Score, reasons, rounded, worst
from bestofn.judge.showing import Room, Showing, ask_several, render_several, rooms, to_request
from bestofn.judge.shown import ShownCounts
from bestofn.llm.answer import Outcome
from bestofn.llm.letters import LetterScore, State, read_scores
from bestofn.rendering.order import both_orders

FLOOR = 0.5
"""Share of comparisons that must hold for a verdict."""
TOO_FEW = "too few comparisons"
"""Reason of a missing score: fewer than `FLOOR` of the comparisons hold."""
SOME_FAILED = "comparisons failed"
"""Reason of a degraded score: comparisons failed, and enough hold."""


class Bias(NamedTuple):
    """What the place in a prompt does, over the pairs that answer in both orders."""

    pairs: int
    mean: float
    """Mean advantage of the first place, from -1 to 1; 0 where the place does not matter."""
    disagreement: float
    """Mean distance between the two orders' verdicts on a pair, from 0 to 1."""
    reversed: float
    """Share of the pairs whose winner changes with the order."""

    def __str__(self) -> str:
        if not self.pairs:
            return "position bias unknown: no pair answered in both orders"
        return (
            f"position bias over {self.pairs} pairs: the first place gains {self.mean:+.2f}, both orders differ by "
            f"{self.disagreement:.2f} on average, {self.reversed:.0%} of the winners change with the order"
        )


class Verdicts(NamedTuple):
    """The verdicts on one task, attempts by their place in the task."""

    scores: tuple[Score, ...]
    """One an attempt: its mean probability of being the better one."""
    valid: int
    """Pairs that answer in both orders."""
    pairs: int


def verdicts(answers: Mapping[tuple[int, int], LetterScore], n: int) -> Verdicts:
    """What the comparisons of a task come to.

    Parameters
    ----------
    answers
        (first, second), the places of the attempts in the order shown, to the score of the comparison: 1 where the
        first is surely the better one, 0 where the second is. A comparison that is not there counts as failed.
    n
        Number of attempts.
    """
    pairs = list(combinations(range(n), 2))
    wins: list[list[float]] = [[] for _ in range(n)]
    used: list[list[LetterScore]] = [[] for _ in range(n)]
    failed: list[list[LetterScore]] = [[] for _ in range(n)]
    for i, j in pairs:
        both = [answers.get(order, _UNANSWERED) for order in ((i, j), (j, i))]
        lost = [answer for answer in both if answer.state is State.MISSING]
        if not lost:
            chance = (both[0].score + (1.0 - both[1].score)) / 2.0
            wins[i].append(chance)
            wins[j].append(1.0 - chance)
        for place in (i, j):
            used[place] += [] if lost else both
            failed[place] += lost
    valid = sum(map(len, wins)) // 2
    if valid < FLOOR * len(pairs):
        lost = [answers[key] for key in answers if answers[key].state is State.MISSING]
        detail = f"{valid} of {len(pairs)} pairs of the task answer in both orders ({reasons(lost)})"
        return Verdicts((Score.missing(TOO_FEW, detail),) * n, valid, len(pairs))
    scores = [_verdict(wins[place], used[place], failed[place], n - 1) for place in range(n)]
    return Verdicts(tuple(scores), valid, len(pairs))


_UNANSWERED = LetterScore(State.MISSING)


def _verdict(wins: Sequence[float], used: Sequence[LetterScore], failed: Sequence[LetterScore], pairs: int) -> Score:
    """One attempt's score from its pairs that hold."""
    said = f"{len(wins)} of {pairs} comparisons hold" + (f" ({reasons(failed)})" if failed else "")
    if not wins or len(wins) < FLOOR * pairs:
        return Score.missing(TOO_FEW, said)
    value = rounded(math.fsum(wins) / len(wins))
    if failed:
        return Score(State.DEGRADED, value, SOME_FAILED, said)
    state = worst(used)
    reason = next((str(score.reason) for score in used if score.reason is not None), "")
    return Score(state, value, reason, reasons(used))


@dataclass
class Pairwise:
    """Asks one criterion about every pair of a task, in both orders: N(N - 1) requests."""

    criterion: Criterion
    showing: Showing
    shown: ShownCounts
    rounds: int = field(default=1, init=False)
    _answers: dict[str, dict[tuple[int, int], LetterScore]] = field(default_factory=dict, init=False)
    _tasks: dict[str, tuple[tuple[Attempt, ...], tuple[Attempt, ...]]] = field(default_factory=dict, init=False)

    def groups(self, round: int, task: TaskRuns) -> Iterator[list[Question]]:
        """Each comparison is a group of its own."""
        answers = self._answers.setdefault(task.name, {})
        self._tasks[task.name] = (tuple(map(task.attempt, task.runs)), tuple(map(task.attempt, task.empty)))
        for pair in combinations(range(len(task.runs)), 2):
            runs = [task.runs[place] for place in pair]
            for order in both_orders(0, 1):
                record = render_several(runs, order, self.criterion.sees, self.showing)
                self.shown.add(record, whole=self.criterion.sees is Sees.WHOLE)
                request = to_request(ask_several(self.criterion, record), self.criterion, self.showing, task.name)
                key = (pair[order[0]], pair[order[1]])
                yield [Question(request, partial(self._receive, request.tags, answers, key))]

    def calls(self, round: int, n: int) -> int:
        """Every pair in both orders."""
        return n * (n - 1)

    def rooms(self, n: int) -> list[Room]:
        """Two attempts stand in one prompt."""
        return rooms([self.criterion], 2, self.showing) if n > 1 else []

    def columns(self) -> list[Column]:
        """One column: an attempt's mean probability of being the better one."""
        column = Column(self.criterion.column)
        for name, (runs, empty) in self._tasks.items():
            for attempt in empty:
                column.scores[attempt] = Score.missing(EMPTY, "the recording holds no turn of the agent")
            if len(runs) < 2:
                for attempt in runs:
                    column.scores[attempt] = Score.missing(ALONE, "there is no other attempt to compare with")
            else:
                column.scores.update(zip(runs, verdicts(self._answers[name], len(runs)).scores, strict=True))
        return [column]

    def bias(self) -> Bias:
        """What the place in the prompt did."""
        return measure_bias(self._answers.values())

    def remarks(self) -> list[str]:
        """Position bias, and comparisons that failed."""
        every = [score for answers in self._answers.values() for score in answers.values()]
        lost = [score for score in every if score.state is State.MISSING]
        out = [f"{self.criterion.name}: {self.bias()}"]
        if lost:
            out.append(f"{self.criterion.name}: {len(lost)} of {len(every)} comparisons failed and count for nobody")
        return out

    def _receive(
        self,
        tags: tuple[str, ...],
        answers: dict[tuple[int, int], LetterScore],
        key: tuple[int, int],
        outcome: Outcome,
    ) -> Mapping[str, LetterScore]:
        scores = read_scores(outcome, tags)
        answers[key] = scores[tags[0]]
        return scores


def measure_bias(tasks: Iterable[Mapping[tuple[int, int], LetterScore]]) -> Bias:
    """What the place in a prompt does, over all pairs of all tasks that answer in both orders."""
    gains: list[float] = []
    reverses = 0
    for answers in tasks:
        for (i, j), first in answers.items():
            second = answers.get((j, i), _UNANSWERED)
            if i < j and State.MISSING not in (first.state, second.state):
                # Without bias the second order says 1 - first, so that both add up to 1.
                gains.append(first.score + second.score - 1.0)
                reverses += (first.score - 0.5) * (second.score - 0.5) > 0.0
    if not gains:
        return Bias(0, math.nan, math.nan, math.nan)
    n = len(gains)
    return Bias(n, math.fsum(gains) / n, math.fsum(map(abs, gains)) / n, reverses / n)
