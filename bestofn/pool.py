"""A pool: all recorded attempts of one harness on one benchmark, read one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from bestofn.errors import FormatError, PoolError
from bestofn.readers.draft import Draft, Source
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.refusal import refused
from bestofn.trajectory import Actor, LabelKind, Origin, Step, Task, Trajectory

OnProblem = Callable[[Problem], None]


@dataclass(frozen=True)
class Pool:
    """A place with recordings. Nothing is read until it is asked for."""

    name: str
    root: Path
    format: str | None = None
    """The reader to use for every file; None lets each file's content decide."""

    def stream(self, on_problem: OnProblem | None = None) -> Iterator[Trajectory]:
        """Every attempt with its steps in memory, one at a time, in path order.

        Copies of one attempt are left out. What goes wrong goes to `on_problem`.
        """
        from bestofn.readers.registry import read_source, sources

        tell = on_problem or (lambda problem: None)
        seen = Seen()
        for source in sources(self.root):
            for format_name, found in read_source(source, self.format):
                if isinstance(found, Problem):
                    tell(found)
                else:
                    trajectory = seen.admit(found, source, format_name, tell)
                    if trajectory is not None:
                        yield trajectory

    @cached_property
    def _index(self) -> tuple[tuple[Task, ...], tuple[Problem, ...]]:
        """All attempts without their text, and what went wrong: one pass over the pool."""
        problems: list[Problem] = []
        tasks: dict[str, list[Trajectory]] = {}
        for trajectory in self.stream(problems.append):
            light = trajectory.released(partial(_reread, self, trajectory.origin))
            tasks.setdefault(trajectory.task, []).append(light)
        return tuple(Task(name, tuple(attempts)) for name, attempts in tasks.items()), tuple(problems)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks in order of first appearance; their trajectories read their steps again when asked."""
        return self._index[0]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What went wrong while reading."""
        return self._index[1]

    @property
    def trajectories(self) -> Iterator[Trajectory]:
        """All attempts, task by task, light."""
        return (attempt for task in self.tasks for attempt in task.trajectories)


@dataclass
class Seen:
    """Gives ids, and knows which attempts were read already."""

    ids: set[str] = field(default_factory=set[str])
    digests: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def admit(self, draft: Draft, source: Source, format_name: str, tell: OnProblem) -> Trajectory | None:
        """The trajectory for a draft, or None for a copy of one already read."""
        origin = Origin(source.relative, format_name, draft.record)
        key = (draft.task, draft.digest)
        if draft.digest and key in self.digests:
            tell(Problem(ProblemKind.DUPLICATE, str(origin), f"the same record as {self.digests[key]}"))
            return None
        name = self._unique(draft.name, source, draft.record)
        if draft.digest:
            self.digests[key] = name
        if draft.label.kind is LabelKind.UNKNOWN:
            tell(Problem(ProblemKind.UNKNOWN_LABEL, str(origin), draft.label.reason))
        if not any(step.actor is Actor.AGENT for step in draft.steps):
            tell(Problem(ProblemKind.EMPTY, str(origin), draft.ending.reason or "no turn of the agent"))
        return Trajectory(
            id=name,
            task=draft.task,
            label=draft.label,
            ending=draft.ending._replace(refused=refused(draft.steps)),
            coverage=draft.coverage,
            origin=origin,
            instruction=draft.instruction,
            usage=draft.usage,
            digest=draft.digest,
            body=draft.steps,
        )

    def _unique(self, name: str, source: Source, record: int | None) -> str:
        """The name itself, or with its path (and record) where another attempt has it already."""
        candidates = [name, f"{source.relative}:{name}", f"{source.relative}#{record}:{name}"]
        for candidate in candidates:
            if candidate not in self.ids:
                self.ids.add(candidate)
                return candidate
        raise PoolError(f"two attempts have the name {candidates[-1]}")


def _reread(pool: Pool, origin: Origin) -> tuple[Step, ...]:
    """The steps of one attempt, read again from its file."""
    from bestofn.readers.registry import read_source

    path = pool.root if pool.root.is_file() else pool.root / origin.path
    for _, found in read_source(Source(path, pool.root), pool.format):
        if isinstance(found, Draft) and found.record == origin.record:
            return found.steps
    raise FormatError(f"{origin} held an attempt when the pool was read, and holds it no more")


def count_problems(problems: tuple[Problem, ...]) -> Counter[ProblemKind]:
    """How many of each kind."""
    return Counter(problem.kind for problem in problems)
