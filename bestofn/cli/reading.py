"""Reads a pool for a command: progress while it lasts, and afterwards a line for each kind of trouble."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bestofn.cli.output import remark, safe

if TYPE_CHECKING:
    from bestofn.pool import Pool
    from bestofn.scoring import OnProgress, Scoring
    from bestofn.table import FeatureTable

PATIENCE = 1.0
"""Seconds of silence before progress shows."""


@dataclass(frozen=True)
class Reading:
    """How a command was asked to read: the options that all commands share."""

    banks: Sequence[str | Path] | None = None
    format_name: str | None = None
    jobs: int | None = None
    strict: bool = False
    keep_going: bool = False
    quiet: bool = False
    pass_at: float | None = None
    unknown_as_fail: bool = False
    every_problem: bool = False
    like: str = ""
    """Only tasks whose name fits."""

    def table(self, pool_name: str, columns: Sequence[str] | None = None, *, tell: bool = True) -> FeatureTable:
        """The feature table of a pool, with its problems told on the error stream."""
        from dataclasses import replace

        from bestofn.catalogue import load_pool
        from bestofn.featurize.bank import load
        from bestofn.scoring import score_pool

        for bank in self.banks or ():
            load(bank)  # a bank that is not there or does not hold is told even where no column needs it
        pool = replace(load_pool(pool_name, format=self.format_name), like=self.like)
        with progress(f"reading {pool_name}", quiet=self.quiet) as step:
            scoring = score_pool(
                pool,
                columns=columns,
                banks=self.banks,
                jobs=self.jobs,
                strict=self.strict,
                keep_going=self.keep_going,
                on_progress=step,
            )
        if tell:
            tell_problems(scoring, pool, quiet=self.quiet, every=self.every_problem)
        return self.labelled(scoring.table)

    def opened(self, path: Path) -> FeatureTable:
        """The feature table in a file."""
        from bestofn.table_file import read

        return self.labelled(read(path))

    def labelled(self, table: FeatureTable) -> FeatureTable:
        """The table with its rewards read as the options say."""
        if self.pass_at is not None:
            table = table.threshold(self.pass_at)
        return table.unknown_as_fail() if self.unknown_as_fail else table


def tell_problems(scoring: Scoring, pool: Pool, *, quiet: bool = False, every: bool = False) -> None:
    """One line for each kind of problem: how many, and the first of them; or a line for each problem."""
    if every:
        for problem in scoring.problems:
            remark(f"{pool.name}: {problem}")
        return
    for kind, n in scoring.counts.items():
        first = next(problem for problem in scoring.problems if problem.kind == kind)
        more = f", and {n - 1} more (--problems names all)" if n > 1 else ""
        remark(f"{pool.name}: {n} x {kind}: {first.where}: {first.what}{more}", quiet=quiet)


@contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[OnProgress | None]:
    """A counter with its rate on the error stream, from the second second on, only on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    begin = time.monotonic()
    shown = since = begin
    last, first = 0, 0

    def step(done: int, total: int | None) -> None:
        nonlocal shown, since, last, first
        now = time.monotonic()
        if done < last:  # the next part of the work begins its own count
            since, first = now, done
        last = done
        if now - begin < PATIENCE or now - shown < 0.1:
            return
        shown = now
        rate = (done - first) / max(now - since, 1e-3)
        left = f" of {total}" + (f", {(total - done) / rate:.0f} s left" if rate else "") if total else ""
        sys.stderr.write(f"\r\x1b[K{safe(what)}: {done}{left}, {rate:.0f}/s")
        sys.stderr.flush()

    try:
        yield step
    finally:
        if shown != begin:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
