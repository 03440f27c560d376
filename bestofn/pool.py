"""A pool: all recorded attempts of one harness on one benchmark, read one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache, partial
from pathlib import Path

from bestofn.errors import FormatError, PoolError
from bestofn.readers.draft import Draft, Source
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.refusal import refused
from bestofn.trajectory import Actor, Ending, LabelKind, Origin, Step, Task, Trajectory

OnProblem = Callable[[Problem], None]


@dataclass(frozen=True)
class Pool:
    """A place with recordings. Nothing is read until it is asked for."""

    name: str
    root: Path
    format: str | None = None
    """The reader to use for every file; None lets each file's content decide."""
    like: str = ""
    """Only tasks whose name fits this pattern, such as `git-*`; '' for all."""

    def stream(self, on_problem: OnProblem | None = None) -> Iterator[Trajectory]:
        """Every attempt with its steps in memory, one at a time, in path order.

        Copies of one attempt are left out. What goes wrong goes to `on_problem`.
        """
        from bestofn.readers.registry import sources

        tell = on_problem or (lambda problem: None)
        seen = Seen()
        for source in sources(self.root, self.format):
            for found in self.found(source):
                if isinstance(found, Problem):
                    tell(found)
                    continue
                admitted = seen.admit(found, tell, empty=is_empty(found))
                if admitted is not None:
                    yield admitted

    def found(self, source: Source) -> Iterator[Trajectory | Problem]:
        """What one source holds, in order: attempts at tasks that were asked for, under their own names, and problems.

        Copies are among them: they can be known only beside the other sources.
        """
        from bestofn.readers.registry import read_source

        for format_name, item in read_source(source, self.format):
            if isinstance(item, Problem):
                yield item
            elif not self.like or fnmatchcase(item.task, self.like):
                yield assemble(item, source, format_name)

    @cached_property
    def _index(self) -> tuple[tuple[Task, ...], tuple[Problem, ...]]:
        """All attempts without their text, and what went wrong: one pass over the pool."""
        problems: list[Problem] = []
        tasks: dict[str, list[Trajectory]] = {}
        texts: dict[str, str] = {}
        for trajectory in self.stream(problems.append):
            light = trajectory.released(partial(_reread, self, trajectory.origin))
            # The attempts at a task share one instruction: held once, it weighs little in a pool of many thousands.
            shared = texts.setdefault(light.instruction, light.instruction)
            tasks.setdefault(trajectory.task, []).append(replace(light, instruction=shared))
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
    in_file: tuple[str, set[str]] = ("", set())
    """The file that the latest attempt came from, and the names that its attempts have by themselves."""

    def admit(self, trajectory: Trajectory, tell: OnProblem, *, empty: bool) -> Trajectory | None:
        """The trajectory under an id of its own, or None for a copy of one already read.

        `empty` says that it holds no turn of the agent; its steps are not looked at, so that they may be elsewhere.
        """
        key = (trajectory.task, trajectory.digest)
        where = str(trajectory.origin)
        if trajectory.digest and key in self.digests:
            tell(Problem(ProblemKind.DUPLICATE, where, f"the same record as {self.digests[key]}"))
            return None
        name = self._unique(trajectory.id, trajectory.origin)
        if self._repeats(trajectory):
            what = f"another record of this file is called '{trajectory.id}' as well; this one goes by '{name}'"
            tell(Problem(ProblemKind.SAME_NAME, where, what))
        if trajectory.digest:
            self.digests[key] = name
        if trajectory.label.kind is LabelKind.UNKNOWN:
            tell(Problem(ProblemKind.UNKNOWN_LABEL, where, trajectory.label.reason))
        if empty:
            reason = trajectory.ending.reason
            tell(Problem(ProblemKind.EMPTY, where, f"no turn of the agent{f' ({reason})' if reason else ''}"))
        return trajectory if name == trajectory.id else replace(trajectory, id=name)

    def _repeats(self, trajectory: Trajectory) -> bool:
        """True where an earlier attempt of the same file has the same name by itself. Files are read one by one."""
        if self.in_file[0] != trajectory.origin.path:
            self.in_file = (trajectory.origin.path, set())
        names = self.in_file[1]
        if trajectory.id in names:
            return True
        names.add(trajectory.id)
        return False

    def _unique(self, name: str, origin: Origin) -> str:
        """The name itself, or with its path (and record) where another attempt has it already."""
        candidates = [name, f"{origin.path}:{name}", f"{origin.path}#{origin.record}:{name}"]
        for candidate in candidates:
            if candidate not in self.ids:
                self.ids.add(candidate)
                return candidate
        raise PoolError(f"two attempts have the name {candidates[-1]}")


def assemble(draft: Draft, source: Source, format_name: str) -> Trajectory:
    """What a reader found, as a trajectory with its own name for an id."""
    return Trajectory(
        id=draft.name,
        task=draft.task,
        label=draft.label,
        ending=_with_refusal(draft),
        coverage=draft.coverage,
        origin=Origin(source.relative, format_name, draft.record),
        instruction=draft.instruction,
        usage=draft.usage,
        digest=draft.digest,
        body=draft.steps,
    )


def is_empty(trajectory: Trajectory) -> bool:
    """True where no turn of the agent is recorded."""
    return not any(step.actor is Actor.AGENT for step in trajectory.steps)


def _with_refusal(draft: Draft) -> Ending:
    """The ending, with what the recording says of a refusal, or what its last message says."""
    stated = draft.ending.refused
    return draft.ending if stated is not None else draft.ending._replace(refused=refused(draft.steps))


def _reread(pool: Pool, origin: Origin) -> tuple[Step, ...]:
    """The steps of one attempt, read again from its file. Raises FormatError where it is not there any more."""
    steps = _read_again(pool.root, pool.format, origin.path).get(origin.record)
    if steps is None:
        raise FormatError(f"{origin} held an attempt when the pool was read, and holds it no more")
    return steps


@lru_cache(maxsize=1)
def _read_again(root: Path, format_name: str | None, path: str) -> dict[int | None, tuple[Step, ...]]:
    """The steps of all attempts in one source; the last one asked for is kept, as it is often asked for again."""
    from bestofn.readers.registry import read_source

    inside = root / path
    # A root that is itself the file or the attempt's directory has its own name as its path.
    place = inside if inside.exists() else root
    drafts = (found for _, found in read_source(Source(place, root), format_name) if isinstance(found, Draft))
    return {draft.record: draft.steps for draft in drafts}


def count_problems(problems: tuple[Problem, ...]) -> Counter[ProblemKind]:
    """How many of each kind."""
    return Counter(problem.kind for problem in problems)
