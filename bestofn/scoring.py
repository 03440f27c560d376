"""From a pool to its feature table: one pass, one trajectory in memory at a time, what went wrong named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from bestofn import beside
from bestofn.errors import FormatError, PoolError, UsageError
from bestofn.featurize.extract import Extractor, Row
from bestofn.featurize.feature import FeatureFunction
from bestofn.pool import Pool, Seen, count_problems
from bestofn.readers.draft import Source
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.registry import sources
from bestofn.table import FeatureTable
from bestofn.trajectory import Trajectory

OnProgress = Callable[[int, int | None], None]
"""Called with attempts read so far, and their number where it is known."""
CHUNK = 24
"""Sources that one process reads at a time."""
WAVE = 32
"""Chunks that are handed out together; between waves, rows are settled and progress is told. Even, for two."""
WORTH_IT = 64
"""Sources from which on a second process pays for its start."""
SHOWN = 5
"""Problems that an error names; the summary counts all."""


@dataclass(frozen=True)
class Scoring:
    """A pool's table, and what went wrong while reading it."""

    table: FeatureTable
    problems: tuple[Problem, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many problems of each kind, the commonest first."""
        return {str(kind): n for kind, n in count_problems(self.problems).most_common()}


class _Found(NamedTuple):
    """An attempt as a reading process hands it over: without its text, with its features."""

    trajectory: Trajectory
    row: Row


def score_pool(
    pool: Pool,
    *,
    columns: Sequence[str] | None = None,
    banks: Sequence[str | Path] | None = None,
    functions: Mapping[str, FeatureFunction] | None = None,
    jobs: int | None = None,
    strict: bool = False,
    keep_going: bool = False,
    on_progress: OnProgress | None = None,
) -> Scoring:
    """Read a pool and compute its features.

    Parameters
    ----------
    columns, banks, functions
        See `bestofn.featurize.extract.Extractor`.
    jobs
        Processes that read and featurise (joblib); -1 for all cores. None for this one, or two copies of it where
        the pool is large enough for that to pay. The result does not depend on it.
    strict
        Make every problem an error.
    keep_going
        Leave out files that hold records but no recognised turn, instead of failing.
    on_progress
        Called after every attempt.

    Raises PoolError where nothing can be ranked or, with `strict`, anything is wrong; FormatError where a file holds
    records and no recognised turn.
    """
    extractor = Extractor(columns, banks, functions)
    problems: list[Problem] = []
    rows: list[Row] = []
    if jobs is not None and (jobs == 0 or jobs < -1):
        raise UsageError(f"{jobs} processes read nothing: give a number from 1 on, or -1 for all cores")
    found = list(sources(pool.root, pool.format))
    stream = (
        _rows(pool, extractor, problems) if _alone(jobs, found) else _shared(pool, found, extractor, problems, jobs)
    )
    for row in stream:
        rows.append(row)
        if on_progress is not None:
            on_progress(len(rows), None)
    check_problems(pool, problems, strict=strict, keep_going=keep_going)
    if not rows:
        raise PoolError(_nothing(pool, problems))
    directions = {feature.name: feature.direction for feature in extractor.features}
    counts = {str(kind): n for kind, n in count_problems(tuple(problems)).most_common()}
    about = {"pool": pool.name, "directions": directions, **({"problems": counts} if counts else {})}
    return Scoring(extractor.finish(rows, about), tuple(problems))


def _rows(pool: Pool, extractor: Extractor, problems: list[Problem]) -> Iterator[Row]:
    """Rows in reading order, in this process."""
    for trajectory in pool.stream(problems.append):
        yield extractor.row(trajectory)


def _alone(jobs: int | None, found: Sequence[Source]) -> bool:
    """Whether this process reads all by itself."""
    return jobs == 1 or (jobs is None and (len(found) < WORTH_IT or not beside.possible()))


def _shared(
    pool: Pool, found: Sequence[Source], extractor: Extractor, problems: list[Problem], jobs: int | None
) -> Iterator[Row]:
    """Rows in reading order, read and featurised by several processes; ids and copies are settled here."""
    seen = Seen()
    chunks = [found[begin : begin + CHUNK] for begin in range(0, len(found), CHUNK)]
    for item in chain.from_iterable(_read_chunks(partial(_read_chunk, pool, extractor), chunks, jobs)):
        if isinstance(item, Problem):
            problems.append(item)
            continue
        admitted = seen.admit(item.trajectory, problems.append, empty=item.row.empty)
        if admitted is not None:
            yield item.row._replace(trajectory=admitted.id)


def _read_chunks(
    read: Callable[[Sequence[Source]], list[_Found | Problem]], chunks: Sequence[Sequence[Source]], jobs: int | None
) -> Iterator[list[_Found | Problem]]:
    """What the chunks hold, in order: by joblib's processes, or by copies of this one where none were named."""
    waves = [chunks[begin : begin + WAVE] for begin in range(0, len(chunks), WAVE)]
    if jobs is None:
        for wave in waves:
            yield from beside.by_two(read, wave)
        return
    from joblib import Parallel, delayed

    with Parallel(n_jobs=jobs, pre_dispatch="all") as parallel:
        for wave in waves:
            yield from parallel(delayed(read)(chunk) for chunk in wave)


def _read_chunk(pool: Pool, extractor: Extractor, chunk: Sequence[Source]) -> list[_Found | Problem]:
    """What some sources hold, in order, in a process of its own."""
    found: list[_Found | Problem] = []
    for source in chunk:
        for item in pool.found(source):
            if isinstance(item, Problem):
                found.append(item)
            else:
                found.append(_Found(replace(item, body=None, instruction=""), extractor.row(item)))
    return found


def check_problems(pool: Pool, problems: Sequence[Problem], *, strict: bool, keep_going: bool) -> None:
    """Raise for what is an error: files without a recognised turn, and with `strict` any problem."""
    lost = [problem for problem in problems if problem.kind is ProblemKind.NO_TURNS]
    if lost and not keep_going:
        raise FormatError(
            f"pool '{pool.name}': {_some(lost)}. Give the right --format, or leave such files out with --keep-going"
        )
    if strict and problems:
        counts = ", ".join(f"{n} {kind}" for kind, n in count_problems(tuple(problems)).most_common())
        raise PoolError(f"pool '{pool.name}' has problems, and --strict was given ({counts}): {_some(problems)}")


def _some(problems: Sequence[Problem]) -> str:
    """The first problems, and how many more."""
    named = "; ".join(str(problem) for problem in problems[:SHOWN])
    return named + (f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else "")


def _nothing(pool: Pool, problems: Sequence[Problem]) -> str:
    """Why a pool holds nothing to rank."""
    from bestofn.readers.registry import names

    place, formats = f"pool '{pool.name}' ({pool.root})", f"formats are {', '.join(names())}"
    if problems:
        unknown = any(problem.kind is ProblemKind.UNRECOGNISED for problem in problems)
        return f"{place} holds no attempt that can be read: {_some(problems)}" + (f". The {formats}" if unknown else "")
    if pool.like:
        return f"{place} holds no task whose name fits '{pool.like}'"
    n_sources = sum(1 for _ in sources(pool.root))
    if n_sources:
        there = f"files or trial folders are there ({n_sources}), but none"
        if pool.format is not None:
            return f"{place}: {there} holds an attempt of format '{pool.format}': leave --format out; {formats}"
        return f"{place}: {there} holds an attempt: all are reports or settings that lie beside recordings; {formats}"
    return (
        f"{place} holds no recordings: no .json, .jsonl, .ndjson or .traj file and no trial folder under it; {formats}"
    )
