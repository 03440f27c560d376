"""What a method asks, and how a run of several methods over a pool goes: task by task, round by round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from bestofn.errors import PoolError
from bestofn.judge.score import Attempt, Column
from bestofn.judge.showing import Room
from bestofn.llm.answer import Outcome
from bestofn.llm.client import Answerer
from bestofn.llm.letters import LetterScore
from bestofn.llm.request import Request
from bestofn.llm.summary import RunSummary
from bestofn.pool import Pool
from bestofn.trajectory import Actor, Trajectory

Receive = Callable[[Outcome], Mapping[str, LetterScore]]


class Question(NamedTuple):
    """A request, and who takes its answer."""

    request: Request
    receive: Receive
    """Takes the outcome, and gives the score behind each tag for the summary of the run."""


@dataclass(frozen=True)
class TaskRuns:
    """One task's attempts with their steps in memory."""

    name: str
    runs: tuple[Trajectory, ...]
    """Those in which the agent did something."""
    empty: tuple[Trajectory, ...] = ()
    """Recordings without any turn of the agent: there is nothing to judge."""

    def attempt(self, run: Trajectory) -> Attempt:
        """The name under which a run's scores are kept."""
        return (self.name, run.id)


class Method(Protocol):
    """A way of asking about attempts that ends in columns."""

    rounds: int
    """How often it goes over the tasks; later rounds may depend on earlier answers."""

    def groups(self, round: int, task: TaskRuns) -> Iterable[Sequence[Question]]:
        """What to ask about a task in a round (from 0), in groups that share a prefix."""
        ...

    def calls(self, round: int, n: int) -> int:
        """Requests in a round about a task of n attempts, at most."""
        ...

    def rooms(self, n: int) -> Sequence[Room]:
        """What its prompts about a task of n attempts must show, each kind of prompt once."""
        ...

    def columns(self) -> list[Column]:
        """The columns, once all is answered."""
        ...

    def remarks(self) -> list[str]:
        """What a reader should know of the answers, in sentences."""
        ...


@dataclass
class Asking:
    """The open questions of a run: gives out requests, and hands each outcome to whoever asked."""

    methods: Sequence[Method]
    summary: RunSummary = field(default_factory=RunSummary)
    _open: dict[str, tuple[Receive, int]] = field(default_factory=dict, init=False)
    """By request id: who takes the outcome, and the place of the method that asks."""
    _asked: int = field(default=0, init=False)

    @property
    def rounds(self) -> int:
        """How often the pool is gone over."""
        return max((method.rounds for method in self.methods), default=0)

    def groups(self, round: int, tasks: Iterable[TaskRuns]) -> Iterator[list[Request]]:
        """The requests of a round, group by group, as they are needed."""
        for task in tasks:
            for place, method in enumerate(self.methods):
                if round < method.rounds:
                    for questions in method.groups(round, task):
                        if questions:
                            yield [self._give(question, place) for question in questions]

    def take(self, request: Request, outcome: Outcome) -> None:
        """Hand an outcome to whoever asked."""
        receive, place = self._open.pop(request.id)
        self.summary.add(request, receive(outcome))
        self.summary.taken[place, request.criterion].add(outcome)

    def _give(self, question: Question, place: int) -> Request:
        self._asked += 1
        request = replace(question.request, id=str(self._asked))
        self._open[request.id] = question.receive, place
        return request


def ask_all(methods: Sequence[Method], pool: Pool, answerer: Answerer, *, tasks: Tasks | None = None) -> RunSummary:
    """Ask everything that the methods want to know about a pool. They hold their columns afterwards.

    Parameters
    ----------
    tasks
        Reads the tasks; `task_runs` by default.

    Raises UsageError, before anything is asked, where a budget of tokens does not hold what a prompt must show.
    """
    check_budget(methods, pool, tasks)
    asking = Asking(methods)
    for round in range(asking.rounds):
        groups = asking.groups(round, (tasks or task_runs)(pool))
        for request, outcome in answerer.answer(groups, total=calls(methods, pool, round)):
            asking.take(request, outcome)
    return asking.summary


def check_budget(methods: Sequence[Method], pool: Pool, tasks: Tasks | None = None) -> None:
    """Raise UsageError where a budget of tokens does not hold what a prompt must show.

    Records are composed to find out, and only where the budget is so small that it may matter.
    """
    most = max((len(task.trajectories) for task in pool.tasks), default=0)
    tight = [method for method in methods if any(room.tight for room in method.rooms(most))]
    for task in (tasks or task_runs)(pool) if tight else ():
        for method in tight:
            for room in method.rooms(len(task.runs)):
                room.check(task.runs)


def calls(methods: Sequence[Method], pool: Pool, round: int | None = None) -> int:
    """Requests about a pool in one round, or in all: at most, as empty recordings are counted too."""
    sizes = [len(task.trajectories) for task in pool.tasks]
    return sum(
        method.calls(at, n)
        for method in methods
        for at in range(method.rounds)
        if round is None or at == round
        for n in sizes
    )


Tasks = Callable[[Pool], Iterable[TaskRuns]]
"""Reads a pool's tasks."""


def task_runs(pool: Pool) -> Iterator[TaskRuns]:
    """The pool's tasks one by one, each with its attempts' steps in memory while it is looked at.

    Raises PoolError where no attempt of the pool holds a turn of the agent.
    """
    judged = 0
    for task in pool.tasks:
        read = [replace(attempt, body=attempt.steps) for attempt in task.trajectories]
        told = {run.id: any(step.actor is Actor.AGENT for step in run.steps) for run in read}
        runs = tuple(run for run in read if told[run.id])
        judged += len(runs)
        yield TaskRuns(task.name, runs, tuple(run for run in read if not told[run.id]))
    if not judged:
        among = f" at a task whose name fits '{pool.like}'" if pool.like else ""
        raise PoolError(
            f"pool '{pool.name}' has no attempt with a turn of the agent{among}, so there is nothing to judge"
        )
