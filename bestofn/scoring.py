"""From a pool to its feature table: one pass, one trajectory in memory at a time, what went wrong named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from bestofn.errors import FormatError, PoolError, UsageError
from bestofn.featurize.extract import Extractor, Row
from bestofn.featurize.feature import FeatureFunction
from bestofn.pool import Pool, Seen, assemble, count_problems
from bestofn.readers.draft import Source
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.registry import read_source, sources
from bestofn.table import FeatureTable
from bestofn.trajectory import Trajectory

OnProgress = Callable[[int, int | None], None]
"""Called with attempts read so far, and their number where it is known."""
CHUNK = 24
"""Sources that one process reads at a time."""
WAVE = 64
"""Chunks that are handed out together; between waves, rows are settled and progress is told."""
WORTH_IT = 200
"""Sources from which on a second process pays for its start."""
MOST_PROCESSES = 4
"""Processes that are taken without being asked."""
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
        Processes that read and featurise (joblib); -1 for all cores, None for up to four where the pool is large
        enough for that to pay. The result does not depend on it.
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
    if jobs == 0:
        raise UsageError("0 processes read nothing: give a number from 1 on, or -1 for all cores")
    found = list(sources(pool.root, pool.format))
    jobs = _jobs(len(found)) if jobs is None else jobs
    stream = _rows(pool, extractor, problems) if jobs == 1 else _parallel_rows(pool, found, extractor, problems, jobs)
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


def _jobs(n_sources: int) -> int:
    """Processes that are worth their start."""
    return min(MOST_PROCESSES, os.cpu_count() or 1) if n_sources >= WORTH_IT and hasattr(os, "fork") else 1


def _parallel_rows(
    pool: Pool, found: Sequence[Source], extractor: Extractor, problems: list[Problem], jobs: int
) -> Iterator[Row]:
    """Rows in reading order, read and featurised by several processes; ids and copies are settled here."""
    from joblib import Parallel, delayed

    seen = Seen()
    chunks = [found[begin : begin + CHUNK] for begin in range(0, len(found), CHUNK)]
    # Processes that begin as copies of this one have everything imported and compiled.
    with Parallel(n_jobs=jobs, backend="multiprocessing", pre_dispatch="all") as parallel:
        for begin in range(0, len(chunks), WAVE):
            wave = chunks[begin : begin + WAVE]
            for item in chain.from_iterable(parallel(delayed(_read_chunk)(pool, chunk, extractor) for chunk in wave)):
                if isinstance(item, Problem):
                    problems.append(item)
                    continue
                admitted = seen.admit(item.trajectory, problems.append, empty=item.row.empty)
                if admitted is not None:
                    yield item.row._replace(trajectory=admitted.id)


def _read_chunk(pool: Pool, chunk: Sequence[Source], extractor: Extractor) -> list[_Found | Problem]:
    """What some sources hold, in order, in a process of its own."""
    found: list[_Found | Problem] = []
    for source in chunk:
        for format_name, item in read_source(source, pool.format):
            if isinstance(item, Problem):
                found.append(item)
                continue
            trajectory = assemble(item, source, format_name)
            found.append(_Found(replace(trajectory, body=None, instruction=""), extractor.row(trajectory)))
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

    if problems:
        return f"pool '{pool.name}' ({pool.root}) holds no attempt that can be read: {_some(problems)}"
    return (
        f"pool '{pool.name}' ({pool.root}) holds no recordings: no .json, .jsonl, .ndjson or .traj file and no trial "
        f"folder under it; formats are {', '.join(names())}"
    )
