"""`bestofn judge`: asks a model about a pool's attempts, at once or in batch files, and compares ways of asking."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestofn.cli.asking import Asked, sharing_options
from bestofn.cli.options import (
    FormatOption,
    JsonOption,
    KeepGoingOption,
    OutputOption,
    PassAtOption,
    PoolOption,
    QuietOption,
    UnknownAsFailOption,
)

if TYPE_CHECKING:
    from bestofn.judge.comparing import Plan, Ways
    from bestofn.judge.diagnosis import Judgments
    from bestofn.judge.question import Method
    from bestofn.llm.cache import Cache
    from bestofn.llm.client import Client
    from bestofn.llm.request import Request
    from bestofn.pool import Pool

app = typer.Typer(
    help="Ask a model about the attempts of a pool: estimate, run, batch files out and in, recordings, comparisons.\n\n"
    "Answers are kept, so a run that stopped goes on where it was. `bestofn features --judge MODEL` puts the scores "
    "beside the other features.\n\nExample: bestofn judge estimate --pool demo --model gpt-5.4-mini",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ModelOption = Annotated[
    str,
    typer.Option("--model", "-m", metavar="MODEL", help="The judge, as its server names it.", show_default=False),
]
FileOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.", show_default=False)
]
WaysOption = Annotated[
    str,
    typer.Option(
        "--methods",
        metavar="A,B,...",
        help="Ways of asking: judge (the criteria), verifier-round-robin, verifier-pivot, min-codes.",
    ),
]
RepeatsOption = Annotated[
    int, typer.Option("--repeats", min=1, metavar="K", help="Readings of each meeting and criterion of a verifier.")
]
PivotsOption = Annotated[
    int, typer.Option("--pivots", min=1, metavar="K", help="Leaders that everybody meets in verifier-pivot.")
]
VerifierOption = Annotated[
    str, typer.Option("--verifier-criteria", metavar="NAME|FILE", help="What the verifier's tournaments ask.")
]
CodesOption = Annotated[
    str, typer.Option("--codes-criteria", metavar="NAME|FILE", help="What min-codes asks: which codes a run shows.")
]
JudgmentsOption = Annotated[
    Path | None,
    typer.Option(
        "--judgments",
        metavar="FILE",
        help="Codes for min-codes from an AdaMAST judgments.json, instead of asking.",
        show_default=False,
    ),
]


@app.command(name="run")
@sharing_options
def run(
    pool: PoolOption,
    asked: Asked,
    model: ModelOption = "",
    output: OutputOption = None,
    format: FormatOption = None,
    keep_going: KeepGoingOption = False,
    quiet: QuietOption = False,
) -> None:
    """Score a pool's attempts with a model, and write the scores as a table.

    The run ends with the states of all scores and with what each criterion took. Exit code 1 where too many are
    missing; the same command then asks for those alone.

    Example: bestofn judge run --pool demo --model gpt-5.4-mini -o scores.csv
    """
    from bestofn.cli.asking import finish, judged, write_states, write_table
    from bestofn.cli.reading import Reading

    table = Reading(format_name=format, keep_going=keep_going, quiet=quiet).table(pool, ())
    judgement = judged(pool, model, asked, format=format, quiet=quiet)
    table = judgement.onto(table)
    write_table(table, output)
    write_states(judgement.columns, table, asked, output)
    finish(judgement, asked, quiet=quiet)


@app.command()
@sharing_options
def estimate(
    pool: PoolOption,
    asked: Asked,
    model: ModelOption = "",
    methods: WaysOption = "judge",
    repeats: RepeatsOption = 1,
    pivots: PivotsOption = 2,
    verifier_criteria: VerifierOption = "verifier",
    codes_criteria: CodesOption = "diagnosis",
    format: FormatOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say how many calls, tokens and dollars a run would take. Nothing is sent.

    Answers that are there already cost nothing. Dollars are from the cheapest course (shared beginnings cached, answers
    of no length) to the dearest; they are unknown where the price is: give --price-in and --price-out.

    Example: bestofn judge estimate --pool demo --model gpt-5.4-mini
    """
    from bestofn.cli.output import to_json, write
    from bestofn.judge.comparing import Plan
    from bestofn.judge.estimating import PrefixCounter
    from bestofn.llm.estimate import estimate as add_up
    from bestofn.rendering.tokens import tokenizer

    ways = _ways(asked, verifier_criteria, codes_criteria, None, repeats, pivots)
    asked_methods = _methods(ways, methods, asked)
    with _prepared(pool, model, asked, format) as (recordings, client, _):
        counter = PrefixCounter(tokenizer().count)
        plan = Plan(asked_methods, recordings, client)
        price = asked.price(model)
        groups = counter.watch(_watched(plan, quiet))
        found = add_up(groups, price, count=counter, answered=client.is_answered)
    if json:
        write(to_json({**found._asdict(), "later_calls": plan.later, "price": price and price._asdict()}), None)
        return
    lines = [
        f"calls    {found.calls:,} to send, {found.answered:,} answered already",
        f"tokens   {found.input_tokens:,} in, {found.shared_tokens:,} of them shared beginnings; "
        f"{found.output_tokens:,} out at most",
    ]
    if plan.later:
        lines[0] += f", and up to {plan.later:,} more that depend on their answers (not counted below)"
    if price is None or found.usd_most is None or found.usd_least is None:
        lines.append(f"dollars  unknown: no price for '{model}'; give --price-in and --price-out")
    else:
        lines.append(f"dollars  {found.usd_least:.2f} to {found.usd_most:.2f} (prices: {price.origin})")
    write("\n".join(lines), None)


@app.command()
@sharing_options
def export(
    pool: PoolOption,
    output: FileOption,
    asked: Asked,
    model: ModelOption = "",
    methods: WaysOption = "judge",
    repeats: RepeatsOption = 1,
    pivots: PivotsOption = 2,
    verifier_criteria: VerifierOption = "verifier",
    codes_criteria: CodesOption = "diagnosis",
    no_logprobs: Annotated[
        bool, typer.Option("--no-logprobs", help="Do not ask for log-probabilities; for models that refuse them.")
    ] = False,
    format: FormatOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write the requests as a batch file (OpenAI Batch format), without those that have an imported answer.

    A batch endpoint, another program or a person can answer it; `bestofn judge import` takes the answers. Give the same
    options when scoring: they shape the requests.

    Example: bestofn judge export --pool demo --model gpt-5.4-mini -o requests.jsonl
    """
    from dataclasses import replace

    from bestofn.cli.output import remark
    from bestofn.judge.comparing import Plan
    from bestofn.llm.batch import BATCH_DEFAULT, export_requests

    ways = _ways(asked, verifier_criteria, codes_criteria, None, repeats, pivots)
    asked_methods = _methods(ways, methods, asked)
    with _prepared(pool, model, asked, format) as (recordings, client, cache):
        report = export_requests(
            _watched(Plan(asked_methods, recordings, client), quiet),
            output,
            model=model,
            cache=cache,
            sampling=asked.sampling(),
            capabilities=replace(BATCH_DEFAULT, logprobs=not no_logprobs),
        )
    remark(f"{output}: {report.written} requests, {report.size / 1e6:.1f} MB", quiet=quiet)
    if report.answered:
        remark(f"{report.answered} left out: they have an imported answer", quiet=quiet)
    if report.too_large:
        remark("the file is larger than OpenAI's batch endpoint takes: split it by lines", quiet=quiet)


@app.command(name="import")
def import_(
    answers: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Batch output, or lines of custom_id and text.")
    ],
    quiet: QuietOption = False,
) -> None:
    """Take answers to an exported batch file: batch output, or lines with custom_id and text.

    Scoring with the same model and options then finds them, whatever server is named; with --offline nothing is sent.
    Exit code 1 where a file holds no answer.

    Example: bestofn judge import responses.jsonl
    """
    from bestofn.cli import BELOW_BAR
    from bestofn.cli.output import remark, write
    from bestofn.llm.batch import import_answers
    from bestofn.llm.cache import Cache

    cache = Cache()
    empty = False
    for path in answers:
        report = import_answers(path, cache)
        empty = empty or not report.imported
        first, *rest = report.lines()
        write(f"{path}: {first}", None)
        for line in rest:
            remark(line, quiet=quiet)
    cache.close()
    if empty:
        raise typer.Exit(BELOW_BAR)


@app.command()
@sharing_options
def record(
    pool: PoolOption,
    output: FileOption,
    asked: Asked,
    model: ModelOption = "",
    methods: WaysOption = "judge",
    repeats: RepeatsOption = 1,
    pivots: PivotsOption = 2,
    verifier_criteria: VerifierOption = "verifier",
    codes_criteria: CodesOption = "diagnosis",
    format: FormatOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write the kept answers as a recording, which --replay reads on any machine without a key.

    Exit code 1 where requests have no answer; their scores will be missing in a replay.

    Example: bestofn judge record --pool demo --model gpt-5.4-mini -o answers.jsonl
    """
    from bestofn.cli import BELOW_BAR
    from bestofn.cli.output import remark
    from bestofn.judge.comparing import Plan
    from bestofn.llm.replay import record as write_recording

    ways = _ways(asked, verifier_criteria, codes_criteria, None, repeats, pivots)
    asked_methods = _methods(ways, methods, asked)
    with _prepared(pool, model, asked, format) as (recordings, client, cache):
        plan = Plan(asked_methods, recordings, client)
        requests: Iterator[Request] = (request for group in _watched(plan, quiet) for request in group)
        written, lacking = write_recording(
            requests, output, model=model, cache=cache, sampling=asked.sampling(), server=client.server.identity
        )
    remark(f"{output}: {written} answers of {model}", quiet=quiet)
    if lacking:
        remark(f"{lacking} requests have no answer: run them first, or let their scores be missing", quiet=quiet)
        raise typer.Exit(BELOW_BAR)


@app.command()
@sharing_options
def compare(
    pool: PoolOption,
    asked: Asked,
    model: ModelOption = "",
    methods: WaysOption = "judge,verifier-round-robin,verifier-pivot,min-codes",
    repeats: RepeatsOption = 1,
    pivots: PivotsOption = 2,
    verifier_criteria: VerifierOption = "verifier",
    codes_criteria: CodesOption = "diagnosis",
    judgments: JudgmentsOption = None,
    save_table: Annotated[
        Path | None,
        typer.Option(
            "--save-table", metavar="FILE", help="Keep the feature table (.csv or .parquet).", show_default=False
        ),
    ] = None,
    json: JsonOption = False,
    output: OutputOption = None,
    format: FormatOption = None,
    pass_at: PassAtOption = None,
    unknown_as_fail: UnknownAsFailOption = False,
    keep_going: KeepGoingOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compare ways of asking one model on one labelled pool: our judge, the verifier's tournaments, min-codes.

    All ask the same model through the same cache, and stand in one table beside the rules that ask nobody. `judge` is
    the mean rank over its columns, which also stand alone. A missing score speaks neither for nor against an attempt;
    how many are missing stands below.

    Example: bestofn judge compare --pool demo --model gpt-5.4-mini --methods judge,verifier-pivot
    """
    from bestofn.catalogue import load_pool
    from bestofn.cli.asking import answering, finish, write_states, write_table
    from bestofn.cli.evaluate import _shown
    from bestofn.cli.output import to_json, write
    from bestofn.cli.reading import Reading
    from bestofn.evaluation import evaluate
    from bestofn.judge.comparing import BESIDE, selectors
    from bestofn.judge.diagnosis import read_judgments
    from bestofn.judge.judging import conclude
    from bestofn.judge.question import ask_all
    from bestofn.judge.shown import ShownCounts

    reading = Reading(
        format_name=format, keep_going=keep_going, quiet=quiet, pass_at=pass_at, unknown_as_fail=unknown_as_fail
    )
    recorded = read_judgments(judgments) if judgments is not None else None
    ways = _ways(asked, verifier_criteria, codes_criteria, recorded, repeats, pivots)
    showing, shown = asked.showing(), ShownCounts()
    chosen = ways.methods(_names(methods), showing, shown)
    every = [method for mine in chosen.values() for method in mine]
    table = reading.table(pool)
    with answering(asked, model, quiet=quiet) as answerer:
        summary = ask_all(every, load_pool(pool, format=format), answerer)
        judgement = conclude(every, answerer, summary, shown, showing, ways.sets(list(chosen)))
    table = judgement.onto(table)
    extra = selectors({name: [c for method in mine for c in method.columns()] for name, mine in chosen.items()})
    result = evaluate(table, selectors=BESIDE, extra=extra, null=0, seed=asked.seed)
    write(to_json(result.as_dict()) if json else _shown(result), output)
    if save_table is not None:
        write_table(table, save_table)
    write_states(judgement.columns, table, asked, save_table)
    finish(judgement, asked, quiet=quiet)


def _names(methods: str) -> list[str]:
    return [name.strip() for name in methods.split(",") if name.strip()]


def _ways(asked: Asked, verifier: str, diagnosis: str, judgments: Judgments | None, repeats: int, pivots: int) -> Ways:
    """What each way of asking asks."""
    from bestofn.criteria import load
    from bestofn.judge.comparing import Ways

    return Ways(asked.criteria_sets(), load(verifier), load(diagnosis), judgments, repeats, pivots)


def _methods(ways: Ways, names: str, asked: Asked) -> list[Method]:
    """The methods asked for."""
    from bestofn.judge.shown import ShownCounts

    chosen = ways.methods(_names(names), asked.showing(), ShownCounts())
    return [method for mine in chosen.values() for method in mine]


def _watched(plan: Plan, quiet: bool) -> Iterator[list[Request]]:
    """The groups of a plan, with progress on a terminal: to plan is to read and render every run."""
    from bestofn.cli.reading import progress
    from bestofn.judge.question import calls

    done = 0
    with progress("planning", quiet=quiet) as step:
        total = calls(plan.methods, plan.pool) if step is not None else None
        for group in plan.groups():
            done += len(group)
            if step is not None:
                step(done, total)
            yield group


@contextmanager
def _prepared(pool: str, model: str, asked: Asked, format: str | None) -> Iterator[tuple[Pool, Client, Cache]]:
    """The pool, a client that sends nothing, and its cache."""
    from dataclasses import replace

    from bestofn.catalogue import load_pool
    from bestofn.errors import UsageError
    from bestofn.llm.cache import Cache

    if not model:
        raise UsageError("say which model: --model MODEL, by the name that its server knows")
    cache = Cache()
    client = replace(asked, offline=True, budget_usd=None, budget_tokens=None).client(model, cache)
    try:
        yield load_pool(pool, format=format), client, cache
    finally:
        client.close()
        cache.close()
