"""Asks a model for a command: progress while it lasts, what an interrupted run leaves, and how a run ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bestofn.cli.asked import Asked

if TYPE_CHECKING:
    from bestofn.judge.judging import Judgement
    from bestofn.judge.score import Column
    from bestofn.llm.client import Answerer
    from bestofn.llm.progress import Progress
    from bestofn.table import FeatureTable

PASSING = frozenset({
    "no content", "server gone", "timed out", "rate limited", "server error", "broken answer", "access denied",
    "budget spent",
})  # fmt: skip
"""Reasons of missing answers that are not kept, so that another run asks again."""


@contextmanager
def answering(asked: Asked, model: str | None, *, quiet: bool = False) -> Iterator[Answerer]:
    """Whoever answers: a recording where one is given, else the model on its server.

    An interrupted run says what is kept, and with which command it goes on.
    """
    from bestofn.errors import UsageError

    if asked.replay is not None:
        from bestofn.llm.replay import Replay

        recorded = Replay(asked.replay, model, sampling=asked.sampling())
        recorded.accounts.price = asked.price(recorded.model)  # a replay is free, its answers were not
        yield recorded
        return
    if not model:
        raise UsageError("say who answers: the name of a model, or recorded answers with --replay FILE")
    from bestofn.llm.cache import Cache

    cache = Cache()
    with _progress(quiet=quiet) as (show, watched):
        client = asked.client(model, cache, show)
        try:
            yield client
        except KeyboardInterrupt:
            _tell_interrupted(watched, cache.path)
            raise
        finally:
            client.close()
            cache.close()


def judged(pool: str, model: str | None, asked: Asked, *, format: str | None, quiet: bool) -> Judgement:
    """A model's judgement of a pool."""
    from bestofn.judge.judging import judge

    criteria = asked.criteria_sets()
    with answering(asked, model, quiet=quiet) as answerer:
        return judge(asked.pool(pool, format), criteria, answerer, asked.showing())


def finish(judgement: Judgement, asked: Asked, *, quiet: bool = False) -> None:
    """Tell how a run went, and exit with 1 where too much is missing."""
    from bestofn.cli import BELOW_BAR
    from bestofn.cli.output import percent, remark
    from bestofn.llm.letters import State

    for line in judgement.lines():
        remark(line, quiet=quiet)
    missing = max(judgement.share_missing, judgement.summary.share_missing)
    if missing > asked.max_missing:
        again = sum(n for reason, n in judgement.summary.reasons[State.MISSING].items() if reason in PASSING)
        rest = f"; to ask for the {again} that did not come, run the same command again" if again else ""
        remark(f"{percent(missing)} of the scores are missing, more than --max-missing {asked.max_missing:g}{rest}")
        raise typer.Exit(BELOW_BAR)


def write_table(table: FeatureTable, output: Path | None) -> None:
    """Write a feature table to a file, or as CSV to the screen."""
    from dataclasses import replace

    import bestofn
    from bestofn.cli.output import write

    if output is None:
        write(table.to_frame().to_csv(index=False), None)
    else:
        replace(table, about={"bestofn": bestofn.__version__, **table.about}).write(output)


def write_states(columns: Sequence[Column], table: FeatureTable, asked: Asked, beside: Path | None) -> None:
    """Write the state of every score, to the file asked for or beside the table."""
    from bestofn.cli.output import to_csv, write
    from bestofn.judge.score import STATE_HEADER, state_rows

    path = asked.states or (beside.with_suffix(".states.csv") if beside is not None else None)
    if path is not None:
        attempts = zip(table.tasks.tolist(), table.trajectories.tolist(), strict=True)
        write(to_csv(STATE_HEADER, list(state_rows(columns, attempts))), path)


def resuming() -> str:
    """The command that was given, to give again."""
    import shlex

    return f"to go on: bestofn {shlex.join(sys.argv[1:])}"


def _tell_interrupted(watched: _Watched, cache: Path) -> None:
    """What an interrupted run leaves, and how it goes on."""
    from bestofn.cli.output import remark

    last = watched.last
    of = "" if last is None or last.total is None or watched.done_earlier else f" of {last.total}"
    remark(f"interrupted: {watched.kept}{of} answers are kept in {cache}; {resuming()}")


@dataclass
class _Watched:
    """What the progress of a run told last. A run of several rounds or files begins its count anew with each."""

    last: Progress | None = None
    done_earlier: int = 0
    """Requests of the rounds before this one."""
    missing_earlier: int = 0

    @property
    def done(self) -> int:
        """Requests that came to an end, all rounds together."""
        return self.done_earlier + (self.last.done if self.last is not None else 0)

    @property
    def kept(self) -> int:
        """Answers so far, all rounds together."""
        return self.done - self.missing_earlier - (self.last.missing if self.last is not None else 0)

    def see(self, progress: Progress) -> None:
        """Take the next state."""
        last = self.last
        if last is not None and (progress.done < last.done or (last.total is not None and last.done >= last.total)):
            self.done_earlier, self.missing_earlier = self.done, self.missing_earlier + last.missing
        self.last = progress


@contextmanager
def _progress(*, quiet: bool) -> Iterator[tuple[Callable[[Progress], None], _Watched]]:
    """A line with cost and time left on the error stream, on a terminal only; and what was told last."""
    from bestofn.cli.reading import PATIENCE

    draws = not quiet and sys.stderr.isatty()
    begin = shown = time.monotonic()
    watched = _Watched()

    def show(progress: Progress) -> None:
        nonlocal shown
        watched.see(progress)
        now = time.monotonic()
        if draws and now - begin >= PATIENCE and now - shown >= 0.2:
            shown = now
            rate = watched.done / (now - begin)
            sys.stderr.write(f"\r\x1b[K{progress_line(progress, rate)}")
            sys.stderr.flush()

    try:
        yield show, watched
    finally:
        if shown != begin:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def progress_line(progress: Progress, rate: float | None = None) -> str:
    """Such as 'judging: 120 of 2670, 80 free, 3 missing, 2.5/s, $0.0412, 5 min left, 32 at once'."""
    parts = [f"judging: {progress.done}" + (f" of {progress.total}" if progress.total is not None else "")]
    if progress.from_cache:
        parts.append(f"{progress.from_cache} free")
    if progress.missing:
        parts.append(f"{progress.missing} missing")
    if rate is not None:
        parts.append(f"{rate:.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
    parts.append(f"{progress.tokens:,} tokens" if progress.usd is None else f"${progress.usd:.4f}")
    if progress.seconds_left is not None:
        left = progress.seconds_left
        parts.append(f"{left / 60:.0f} min left" if left >= 90 else f"{left:.0f} s left")
    parts.append(f"{progress.concurrency} at once")
    return ", ".join(parts)
