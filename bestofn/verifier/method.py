"""Asks for the readings of a tournament and turns them into a column: round robin, or the pivot tournament."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from bestofn.criterion import Criterion, Kind, Sees
from bestofn.errors import UsageError
from bestofn.judge.pairwise import FLOOR, SOME_FAILED, TOO_FEW
from bestofn.judge.question import Question, TaskRuns
from bestofn.judge.score import ALONE, EMPTY, Attempt, Column, Score, reasons, rounded
from bestofn.judge.showing import Room, Showing, ask_several, fingerprint, render_several, rooms, to_request
from bestofn.judge.shown import ShownCounts
from bestofn.llm.answer import Outcome
from bestofn.llm.letters import LetterScore, State, read_scores
from bestofn.rendering.order import shuffled
from bestofn.trajectory import Trajectory
from bestofn.verifier.tournament import (
    Meeting,
    Rewards,
    Tally,
    against,
    leaders,
    pivot_meetings,
    preference,
    ring,
    round_robin,
    win,
)

PIVOTS = 2
"""k of the pivot tournament, as the original has it."""


@dataclass
class _Reading:
    """The letters of one meeting, criterion by criterion and repeat by repeat, each as (first, second)."""

    letters: list[tuple[LetterScore, LetterScore]] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    """What the place shown first got more than the other, for each reading that holds."""

    def rewards(self, expected: int) -> Rewards | None:
        """Mean letters over criteria and repeats; None where fewer than half of them hold."""
        held = [pair for pair in self.letters if not _lost(pair)]
        if not held or len(held) < FLOOR * expected:
            return None
        n = len(held)
        return Rewards(*(rounded(math.fsum(pair[side].score for pair in held) / n) for side in (0, 1)))

    def receive(self, tags: tuple[str, ...], order: tuple[int, int], outcome: Outcome) -> Mapping[str, LetterScore]:
        """Take an answer. `order` says which of the two stood first in the prompt."""
        scores = read_scores(outcome, tags)
        shown = [scores[tag] for tag in tags]
        self.letters.append((shown[order[0]], shown[order[1]]))
        if not _lost(self.letters[-1]):
            self.gains.append(shown[0].score - shown[1].score)
        return scores


@dataclass
class _TaskState:
    """What is known of a task."""

    attempts: tuple[Attempt, ...]
    """In an order that depends on what happened in the runs alone."""
    empty: tuple[Attempt, ...]
    order: tuple[int, ...]
    """A random order of the attempts."""
    readings: dict[Meeting, _Reading] = field(default_factory=dict)
    meetings: list[Meeting] = field(default_factory=list)
    """All meetings of the tournament so far; one that stands twice counts twice and is asked once."""


@dataclass
class Tournament:
    """What both tournaments share: how a meeting is asked and read."""

    criteria: Sequence[Criterion]
    """Criteria that show several runs and ask for a letter each."""
    showing: Showing
    shown: ShownCounts
    repeats: int = 1
    """K. A repeat is another prompt (the other order, or other marks), so that no cache answers for it."""
    name: str = field(default="", init=False)
    rounds: int = field(default=1, init=False)
    _tasks: dict[str, _TaskState] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        wrong = [c.name for c in self.criteria if c.kind is not Kind.LISTWISE]
        if wrong or not self.criteria:
            raise UsageError(
                f"a verifier asks {Kind.LISTWISE} criteria about two runs at a time, and "
                f"{', '.join(wrong) or 'nothing'} is none: take the built-in set 'verifier', or write others like it"
            )
        if self.repeats < 1:
            raise UsageError(f"--repeats is {self.repeats}: every meeting is read at least once")

    @property
    def column(self) -> str:
        """The column's name, with a hash of all that shapes it."""
        shape = (*(c.identity for c in self.criteria), str(self.repeats), str(self.showing.seed), *self._shape())
        digest = hashlib.sha256("\x1f".join(shape).encode()).hexdigest()[:8]
        return f"llm_{self.name.replace('-', '_')}@{digest}"

    def rooms(self, n: int) -> list[Room]:
        """Two attempts stand in one prompt."""
        return rooms(self.criteria, 2, self.showing) if n > 1 else []

    def columns(self) -> list[Column]:
        """One column: an attempt's wins a meeting."""
        column = Column(self.column)
        for state in self._tasks.values():
            for attempt in state.empty:
                column.scores[attempt] = Score.missing(EMPTY, "the recording holds no turn of the agent")
            if len(state.attempts) < 2:
                for attempt in state.attempts:
                    column.scores[attempt] = Score.missing(ALONE, "there is no other attempt to compare with")
            else:
                column.scores.update(zip(state.attempts, self._scores(state), strict=True))
        return [column]

    def remarks(self) -> list[str]:
        """Meetings held and failed, and what the first place in a prompt gains."""
        held = failed = 0
        gains: list[float] = []
        for state in self._tasks.values():
            for reading in state.readings.values():
                known = reading.rewards(self._expected) is not None
                held, failed = held + known, failed + (not known)
                gains += reading.gains
        out = [f"{self.name}: {held} meetings hold" + (f", {failed} failed and count for nobody" if failed else "")]
        if gains:
            out.append(
                f"{self.name}: the first place in a prompt gains {math.fsum(gains) / len(gains):+.3f} on average"
            )
        return out

    @property
    def _expected(self) -> int:
        return len(self.criteria) * self.repeats

    def _shape(self) -> tuple[str, ...]:
        """What else shapes the column."""
        return ()

    def _share(self, rewards: Rewards) -> float:
        """What the first takes of a meeting."""
        raise NotImplementedError

    def _state(self, task: TaskRuns) -> tuple[_TaskState, list[Trajectory]]:
        """What is known of the task, and its runs in the order that the state numbers them."""
        named = sorted(((fingerprint(run), run) for run in task.runs), key=lambda pair: pair[0])
        runs = [run for _, run in named]
        if task.name not in self._tasks:
            order = shuffled([name for name, _ in named], self.showing.seed)
            attempts, empty = tuple(map(task.attempt, runs)), tuple(map(task.attempt, task.empty))
            self._tasks[task.name] = _TaskState(attempts, empty, order)
        return self._tasks[task.name], runs

    def _meet(
        self, state: _TaskState, runs: Sequence[Trajectory], meetings: Iterable[Meeting], about: str
    ) -> Iterator[list[Question]]:
        """The questions of meetings that are not asked yet; the criteria of one prompt are a group."""
        for meeting in meetings:
            state.meetings.append(meeting)
            if meeting in state.readings:
                continue
            reading = state.readings[meeting] = _Reading()
            pair = [runs[place] for place in meeting]
            for repeat in range(self.repeats):
                order = (1, 0) if repeat % 2 else (0, 1)
                salt = f"repeat {repeat // 2}" if repeat > 1 else ""
                records = {
                    sees: render_several(pair, order, sees, self.showing, salt=salt)
                    for sees in dict.fromkeys(criterion.sees for criterion in self.criteria)
                }
                for sees, record in records.items():
                    self.shown.add(record, whole=sees is Sees.WHOLE)
                requests = [to_request(ask_several(c, records[c.sees]), c, self.showing, about) for c in self.criteria]
                yield [Question(r, partial(reading.receive, r.tags, order)) for r in requests]

    def _tally(self, state: _TaskState) -> Tally:
        tally = Tally(len(state.attempts))
        for meeting in state.meetings:
            rewards = state.readings[meeting].rewards(self._expected)
            if rewards is not None:
                tally.add(meeting, self._share(rewards))
        return tally

    def _scores(self, state: _TaskState) -> list[Score]:
        tally = self._tally(state)
        held = sum(tally.meetings) // 2
        every = [score for reading in state.readings.values() for pair in reading.letters for score in pair]
        lost = [score for score in every if score.state is State.MISSING]
        said = f"{held} of {len(state.meetings)} meetings hold" + (f" ({reasons(lost)})" if lost else "")
        if held < FLOOR * len(state.meetings):
            return [Score.missing(TOO_FEW, said)] * tally.n
        degraded = next((str(score.reason) for score in every if score.state is State.DEGRADED), "")
        reason = SOME_FAILED if lost else degraded
        return [
            Score(State.DEGRADED if reason else State.OK, rounded(tally.mean(place)), reason, said if reason else "")
            if tally.meetings[place]
            else Score.missing(TOO_FEW, f"no meeting of this attempt holds; {said}")
            for place in range(tally.n)
        ]


@dataclass
class RoundRobin(Tournament):
    """Every pair once, the higher reward wins: C x K x N(N - 1)/2 calls a task."""

    name: str = field(default="verifier-round-robin", init=False)

    def groups(self, round: int, task: TaskRuns) -> Iterator[list[Question]]:
        """All meetings."""
        state, runs = self._state(task)
        yield from self._meet(state, runs, round_robin(len(runs)), task.name)

    def _share(self, rewards: Rewards) -> float:
        return win(rewards)

    def calls(self, round: int, n: int) -> int:
        """Requests about a task of n attempts."""
        return self._expected * len(round_robin(n)) if round == 0 else 0


@dataclass
class PivotTournament(Tournament):
    """A ring, then everybody against its k leaders: C x K x (N + k(N - k) + k(k - 1)/2) calls a task at most."""

    pivots: int = PIVOTS
    """k; all attempts where a task has fewer."""
    name: str = field(default="verifier-pivot", init=False)
    rounds: int = field(default=2, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pivots < 1:
            raise UsageError(f"--pivots is {self.pivots}: there is at least one")

    def groups(self, round: int, task: TaskRuns) -> Iterator[list[Question]]:
        """The ring; then, where enough of it holds to know who leads, the leaders' meetings."""
        state, runs = self._state(task)
        if round == 0:
            yield from self._meet(state, runs, ring(state.order), task.name)
            return
        tally = self._tally(state)
        if len(runs) > 1 and sum(tally.meetings) // 2 >= FLOOR * len(state.meetings):
            chosen = leaders(tally, self.pivots, state.order)
            yield from self._meet(state, runs, against(len(runs), chosen), task.name)

    def _share(self, rewards: Rewards) -> float:
        return preference(rewards)

    def _shape(self) -> tuple[str, ...]:
        return (str(self.pivots),)

    def calls(self, round: int, n: int) -> int:
        """Requests about a task of n attempts: the ring's, then at most those of the leaders."""
        ring = n if n > 1 else 0
        return self._expected * (ring if round == 0 else pivot_meetings(n, self.pivots) - ring)


def _lost(pair: tuple[LetterScore, LetterScore]) -> bool:
    return any(score.state is State.MISSING for score in pair)
