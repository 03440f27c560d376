"""From a pool to its feature table: one pass, one trajectory in memory at a time, what went wrong named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from bestofn.errors import FormatError, PoolError
from bestofn.featurize.extract import Extractor, Row
from bestofn.featurize.feature import FeatureFunction
from bestofn.pool import Pool, Seen, assemble, count_problems
from bestofn.readers.draft import Source
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.table import FeatureTable
from bestofn.trajectory import Trajectory

OnProgress = Callable[[int, int | None], None]
"""Called with attempts read so far, and their number where it is known."""
CHUNK = 32
"""Sources that one process reads at a time."""
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
    jobs: int = 1,
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
        Processes that read and featurise (joblib); -1 for all cores. The result does not depend on it.
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
    stream = _rows(pool, extractor, problems) if jobs == 1 else _rows_in_parallel(pool, extractor, problems, jobs)
    for row in stream:
        rows.append(row)
        if on_progress is not None:
            on_progress(len(rows), None)
    check_problems(pool, problems, strict=strict, keep_going=keep_going)
    if not rows:
        raise PoolError(_nothing(pool, problems))
    directions = {feature.name: feature.direction for feature in extractor.features}
    return Scoring(extractor.finish(rows, {"pool": pool.name, "directions": directions}), tuple(problems))


def _rows(pool: Pool, extractor: Extractor, problems: list[Problem]) -> Iterator[Row]:
    """Rows in reading order, in this process."""
    for trajectory in pool.stream(problems.append):
        yield extractor.row(trajectory)


def _rows_in_parallel(pool: Pool, extractor: Extractor, problems: list[Problem], jobs: int) -> Iterator[Row]:
    """Rows in reading order, read and featurised by several processes; ids and copies are settled here."""
    from joblib import Parallel, delayed

    from bestofn.readers.registry import sources

    seen = Seen()
    work = (delayed(_read_chunk)(pool, chunk, extractor) for chunk in _chunks(sources(pool.root)))
    for found in Parallel(n_jobs=jobs, return_as="generator")(work):
        for item in found:
            if isinstance(item, Problem):
                problems.append(item)
                continue
            admitted = seen.admit(item.trajectory, problems.append, empty=item.row.empty)
            if admitted is not None:
                yield item.row._replace(trajectory=admitted.id)


def _read_chunk(pool: Pool, chunk: Sequence[Source], extractor: Extractor) -> list[_Found | Problem]:
    """What some sources hold, in order, in a process of its own."""
    from bestofn.readers.registry import read_source

    found: list[_Found | Problem] = []
    for source in chunk:
        for format_name, item in read_source(source, pool.format):
            if isinstance(item, Problem):
                found.append(item)
                continue
            trajectory = assemble(item, source, format_name)
            found.append(_Found(replace(trajectory, body=None), extractor.row(trajectory)))
    return found


def _chunks(found: Iterator[Source]) -> Iterator[list[Source]]:
    chunk: list[Source] = []
    for source in found:
        chunk.append(source)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


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
