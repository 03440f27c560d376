"""What the commands share that ask a model: their options, the model itself, progress, and how a run ends."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from bestofn.criteria import CriteriaSet
    from bestofn.judge.judging import Judgement
    from bestofn.judge.score import Column
    from bestofn.judge.showing import Showing
    from bestofn.llm.cache import Cache
    from bestofn.llm.client import Answerer, Client
    from bestofn.llm.prices import Price
    from bestofn.llm.progress import Progress
    from bestofn.llm.request import Sampling
    from bestofn.table import FeatureTable

DEFAULT_CRITERIA = "terminal"
MAX_MISSING = 0.05
"""Share of missing answers above which a run counts as failed."""
PASSING = frozenset({
    "no content", "server gone", "timed out", "rate limited", "server error", "broken answer", "access denied",
    "budget spent",
})  # fmt: skip
"""Reasons of missing answers that are not kept, so that another run asks again."""


@dataclass(frozen=True)
class Asked:
    """The options of all commands that ask a model. `sharing_options` gives them to a command."""

    criteria: Annotated[
        list[str] | None,
        typer.Option(
            "--criteria",
            metavar="NAME|FILE",
            help="What is asked: built-in criteria or a Markdown file. May be given several times. "
            f"Default: {DEFAULT_CRITERIA}.",
            show_default=False,
        ),
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            help="An OpenAI-compatible server. Default: $BESTOFN_BASE_URL, $OPENAI_BASE_URL or OpenAI. The key comes "
            "from $BESTOFN_API_KEY or $OPENAI_API_KEY; local servers need none.",
            show_default=False,
        ),
    ] = None
    replay: Annotated[
        Path | None,
        typer.Option(
            "--replay",
            metavar="FILE",
            help="Score from recorded answers alone, without a server or key; an answer not in it is missing.",
            show_default=False,
        ),
    ] = None
    offline: Annotated[bool, typer.Option("--offline", help="Send nothing: cached and imported answers only.")] = False
    budget_usd: Annotated[
        float | None,
        typer.Option("--budget-usd", metavar="USD", help="Stop before this is spent.", show_default=False),
    ] = None
    budget_tokens: Annotated[
        int | None,
        typer.Option("--budget-tokens", metavar="N", help="Stop before so many tokens.", show_default=False),
    ] = None
    price_in: Annotated[
        float | None,
        typer.Option("--price-in", metavar="USD", help="Dollars per million input tokens.", show_default=False),
    ] = None
    price_out: Annotated[
        float | None,
        typer.Option("--price-out", metavar="USD", help="Dollars per million output tokens.", show_default=False),
    ] = None
    price_cached: Annotated[
        float | None,
        typer.Option("--price-cached", metavar="USD", help="The same for cached input.", show_default=False),
    ] = None
    max_missing: Annotated[
        float,
        typer.Option(
            "--max-missing", min=0.0, max=1.0, metavar="SHARE", help="Exit with 1 where more scores are missing."
        ),
    ] = MAX_MISSING
    tokens: Annotated[
        int, typer.Option("--tokens", min=200, metavar="N", help="Most tokens of recorded text in one prompt.")
    ] = 24_000
    answer_tokens: Annotated[
        int, typer.Option("--answer-tokens", min=1, metavar="N", help="Most tokens of an answer, reasoning included.")
    ] = 1024
    temperature: Annotated[float, typer.Option("--temperature", min=0.0, help="Sent where the server takes one.")] = 1.0
    effort: Annotated[
        str | None,
        typer.Option(
            "--effort", metavar="LEVEL", help="Reasoning effort: none, low, medium, high.", show_default=False
        ),
    ] = None
    show_reasoning: Annotated[bool, typer.Option("--show-reasoning", help="Show the agent's thinking as well.")] = False
    no_redact: Annotated[
        bool, typer.Option("--no-redact", help="Leave secrets in the prompts; only for a model on this machine.")
    ] = False
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, metavar="N", help="Calls under way at once, at most.")
    ] = 32
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, metavar="S", help="Seconds for one call.")] = 300.0
    retries: Annotated[
        int, typer.Option("--retries", min=0, metavar="N", help="Further tries of a call that fails.")
    ] = 6
    seed: Annotated[int, typer.Option("--seed", min=0, help="Start of the orders in which attempts are shown.")] = 0
    states: Annotated[
        Path | None,
        typer.Option(
            "--states",
            metavar="FILE",
            help="Where the state of every score goes, as CSV. Default: beside the table, ending in .states.csv.",
            show_default=False,
        ),
    ] = None

    def criteria_sets(self) -> list[CriteriaSet]:
        """The criteria asked for."""
        from bestofn.criteria import load

        return [load(name) for name in dict.fromkeys(self.criteria or [DEFAULT_CRITERIA])]

    def showing(self) -> Showing:
        """How runs are shown."""
        from bestofn.judge.showing import Showing

        return Showing(self.tokens, self.answer_tokens, self.seed, self.show_reasoning, not self.no_redact)

    def sampling(self) -> Sampling:
        """How the model is asked to answer."""
        from bestofn.llm.request import Sampling

        return Sampling(self.temperature, self.effort)

    def price(self, model: str) -> Price | None:
        """What tokens cost, where it is known."""
        from bestofn.llm.prices import price_for

        return price_for(model, price_in=self.price_in, price_out=self.price_out, price_cached=self.price_cached)

    def client(self, model: str, cache: Cache, show: Callable[[Progress], None] | None = None) -> Client:
        """The model on its server."""
        from bestofn.llm.budget import Budget
        from bestofn.llm.client import Client
        from bestofn.llm.run import Patience
        from bestofn.rendering.tokens import tokenizer_for

        price = self.price(model)
        limited = self.budget_usd is not None or self.budget_tokens is not None
        return Client(
            model,
            cache=cache,
            base_url=self.base_url,
            sampling=self.sampling(),
            price=price,
            budget=Budget(self.budget_usd, self.budget_tokens, price),
            timeout=self.timeout,
            concurrency=self.concurrency,
            patience=Patience(max_retries=self.retries),
            progress=show,
            count_tokens=tokenizer_for(model).count if limited else None,
            offline=self.offline,
        )


def sharing_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of `Asked`, which it gets together as its keyword argument `asked`."""
    own = inspect.signature(command, eval_str=True).parameters
    types = get_type_hints(Asked, include_extras=True)
    shared = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=types[f.name])
        for f in fields(Asked)
    ]
    kept = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own.values() if p.name != "asked"]
    names = {p.name for p in shared}

    def run(**given: Any) -> None:
        asked = Asked(**{name: given.pop(name) for name in names})
        command(**given, asked=asked)

    parameters = [*kept, *shared]
    run.__doc__ = command.__doc__
    run.__name__ = command.__name__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what the parser reads
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


@contextmanager
def answering(asked: Asked, model: str | None, *, quiet: bool = False) -> Iterator[Answerer]:
    """Whoever answers: a recording where one is given, else the model on its server.

    An interrupted run says what is kept, and with which command it goes on.
    """
    from bestofn.errors import UsageError

    if asked.replay is not None:
        from bestofn.llm.replay import Replay

        yield Replay(asked.replay, model, sampling=asked.sampling())
        return
    if not model:
        raise UsageError("say who answers: the name of a model, or recorded answers with --replay FILE")
    from bestofn.llm.cache import Cache

    cache = Cache()
    with _progress(quiet=quiet) as (show, last):
        client = asked.client(model, cache, show)
        try:
            yield client
        except KeyboardInterrupt:
            _tell_interrupted(last(), cache.path)
            raise
        finally:
            client.close()
            cache.close()


def judged(pool: str, model: str | None, asked: Asked, *, format: str | None, quiet: bool) -> Judgement:
    """A model's judgement of a pool."""
    from bestofn.catalogue import load_pool
    from bestofn.judge.judging import judge

    criteria = asked.criteria_sets()
    with answering(asked, model, quiet=quiet) as answerer:
        return judge(load_pool(pool, format=format), criteria, answerer, asked.showing())


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


def _tell_interrupted(last: Progress | None, cache: Path) -> None:
    """What an interrupted run leaves, and how it goes on."""
    import shlex

    from bestofn.cli.output import remark

    of = "" if last is None or last.total is None else f" of {last.total}"
    done = 0 if last is None else last.done - last.missing
    remark(f"interrupted: {done}{of} answers are kept in {cache}; to go on: bestofn {shlex.join(sys.argv[1:])}")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[tuple[Callable[[Progress], None], Callable[[], Progress | None]]]:
    """A line with cost and time left on the error stream, on a terminal only; and a way to ask for the last state."""
    from bestofn.cli.reading import PATIENCE

    draws = not quiet and sys.stderr.isatty()
    begin = shown = time.monotonic()
    last: Progress | None = None

    def show(progress: Progress) -> None:
        nonlocal shown, last
        last = progress
        now = time.monotonic()
        if draws and now - begin >= PATIENCE and now - shown >= 0.2:
            shown = now
            sys.stderr.write(f"\r\x1b[K{progress_line(progress)}")
            sys.stderr.flush()

    try:
        yield show, lambda: last
    finally:
        if shown != begin:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def progress_line(progress: Progress) -> str:
    """Such as 'judging: 120 of 2670, 80 free, 3 missing, $0.0412, 5 min left, 32 at once'."""
    parts = [f"judging: {progress.done}" + (f" of {progress.total}" if progress.total is not None else "")]
    if progress.from_cache:
        parts.append(f"{progress.from_cache} free")
    if progress.missing:
        parts.append(f"{progress.missing} missing")
    parts.append(f"{progress.tokens:,} tokens" if progress.usd is None else f"${progress.usd:.4f}")
    if progress.seconds_left is not None:
        left = progress.seconds_left
        parts.append(f"{left / 60:.0f} min left" if left >= 90 else f"{left:.0f} s left")
    parts.append(f"{progress.concurrency} at once")
    return ", ".join(parts)
