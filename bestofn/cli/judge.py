"""`bestofn judge`: asks a model about a pool's attempts, at once, in batch files or from a recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestofn.cli import compare
from bestofn.cli.asked import Asked, sharing_options
from bestofn.cli.options import FormatOption, JsonOption, KeepGoingOption, OutputOption, PoolOption, QuietOption
from bestofn.cli.ways import (
    CodesOption,
    FileOption,
    ModelOption,
    PivotsOption,
    RepeatsOption,
    VerifierOption,
    WaysOption,
    prepared,
    read_methods,
    read_ways,
    watched,
)

if TYPE_CHECKING:
    from bestofn.llm.request import Request

app = typer.Typer(
    help="Ask a model about the attempts of a pool: estimate, run, batch files out and in, recordings, comparisons.\n\n"
    "Answers are kept, so a run that stopped goes on where it was. `bestofn features --judge MODEL` puts the scores "
    "beside the other features.\n\nExample: bestofn judge estimate --pool demo --model gpt-5.4-mini",
    no_args_is_help=True,
    rich_markup_mode=None,
)


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

    table = Reading(format_name=format, keep_going=keep_going, quiet=quiet, like=asked.task).table(pool, ())
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

    ways = read_ways(asked, verifier_criteria, codes_criteria, None, repeats, pivots)
    asked_methods = read_methods(ways, methods, asked)
    with prepared(pool, model, asked, format) as (recordings, client, _):
        counter = PrefixCounter(tokenizer().count)
        plan = Plan(asked_methods, recordings, client)
        price = asked.price(model)
        groups = counter.watch(watched(plan, quiet))
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

    ways = read_ways(asked, verifier_criteria, codes_criteria, None, repeats, pivots)
    asked_methods = read_methods(ways, methods, asked)
    with prepared(pool, model, asked, format) as (recordings, client, cache):
        report = export_requests(
            watched(Plan(asked_methods, recordings, client), quiet),
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
    add: Annotated[
        bool, typer.Option("--add", help="Keep the answers that FILE holds, of the same model, and add to them.")
    ] = False,
    format: FormatOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write the kept answers as a recording, which --replay reads on any machine without a key.

    Exit code 1 where requests have no answer; their scores will be missing in a replay.

    Example: bestofn judge record --pool demo --model gpt-5.4-mini -o answers.jsonl
    """
    from dataclasses import asdict

    from bestofn.cli import BELOW_BAR
    from bestofn.cli.output import remark
    from bestofn.judge.comparing import Plan
    from bestofn.llm.replay import record as write_recording

    ways = read_ways(asked, verifier_criteria, codes_criteria, None, repeats, pivots)
    asked_methods = read_methods(ways, methods, asked)
    with prepared(pool, model, asked, format) as (recordings, client, cache):
        plan = Plan(asked_methods, recordings, client)
        requests: Iterator[Request] = (request for group in watched(plan, quiet) for request in group)
        written, lacking = write_recording(
            requests,
            output,
            model=model,
            cache=cache,
            sampling=asked.sampling(),
            server=client.server.identity,
            settings={"showing": asdict(asked.showing())},
            add=add,
        )
    remark(f"{output}: {written} answers of {model}", quiet=quiet)
    if lacking:
        remark(f"{lacking} requests have no answer: run them first, or let their scores be missing", quiet=quiet)
        raise typer.Exit(BELOW_BAR)


app.command(name="compare")(compare.compare)
