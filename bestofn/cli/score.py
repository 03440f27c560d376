"""`bestofn score`: one trajectory's verdict, for people and for pipelines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestofn.cli.asked import Asked, sharing_options
from bestofn.cli.options import BanksOption, FormatOption, JsonOption, OutputOption, QuietOption

if TYPE_CHECKING:
    from bestofn.single import JudgeFunction, OnProgress
    from bestofn.verdict import Moved, Quote, ScoreReport, Verdict

SHOWN = 20
"""Trajectories that the screen shows with their evidence."""
LINE = 600
"""Characters of a name or a sentence on the screen."""


def _file(name: str, what: str) -> typer.models.OptionInfo:
    """An option that names a file to write."""
    option: typer.models.OptionInfo = typer.Option(name, metavar="FILE", help=what, show_default=False)
    return option


@partial(sharing_options, without=("max_missing", "states", "task"))
def score(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Recordings, or directories that are one attempt.", show_default=False),
    ],
    asked: Asked,
    selector: Annotated[
        str,
        typer.Option(
            "--selector",
            "-s",
            metavar="NAME|FILE",
            help="What scores: 'terminal' is built in; a selector.toml of your own needs a [probability] table for "
            "more than a rank score.",
        ),
    ] = "terminal",
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under", metavar="P", help="The bar: exit with 1 below this probability.", show_default=False
        ),
    ] = None,
    error_rate: Annotated[
        float,
        typer.Option(
            "--error-rate",
            metavar="A",
            help="Share of passing runs that may be told 'fail', and of failing ones 'pass'; else it is 'unsure'.",
        ),
    ] = 0.1,
    unsure: Annotated[
        str | None,
        typer.Option(
            "--unsure",
            metavar="POLICY",
            help="What 'unsure' does: fail (exit with 3), warn or pass (exit with 0). Default: warn, and fail where "
            "scores of a judge are missing.",
            show_default=False,
        ),
    ] = None,
    baseline: Annotated[
        Path | None, _file("--baseline", "An earlier --json of this command: says what got worse.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help="Ask a model as well, or take its recorded answers with --replay; see `bestofn judge`.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
    output: OutputOption = None,
    junit: Annotated[Path | None, _file("--junit", "Write JUnit XML as well.")] = None,
    sarif: Annotated[Path | None, _file("--sarif", "Write SARIF 2.1.0 as well: a result a fired code.")] = None,
    markdown: Annotated[
        Path | None, _file("--markdown", "Write a job summary or pull-request comment as well.")
    ] = None,
    show_label: Annotated[
        bool, typer.Option("--show-label", help="Show the recorded outcome beside the verdict; it is never used.")
    ] = False,
    features: BanksOption = None,
    format: FormatOption = None,
    quiet: QuietOption = False,
) -> None:
    """Give one trajectory's verdict: pass, fail or unsure, with its probability and verbatim evidence.

    Each trajectory stands alone; a file may hold several. The probability is calibrated on labelled pools, and how good
    it was on tasks left out stands in the selector's file and under the verdict. Without --fail-under the verdict is
    what the error rate allows to say; with it, below the bar fails.

    Exit codes: 0 at or above the bar, 1 below, 2 wrong use or unreadable input, 3 unsure with --unsure fail.

    Example: bestofn score run.json --fail-under 0.5 --unsure fail --junit verdict.xml
    """
    from bestofn.cli.output import to_json, write
    from bestofn.cli.reading import progress
    from bestofn.single import score as score_files

    with (
        _judging(asked, judge, quiet=quiet) as asking,
        progress("scoring", quiet=quiet) as step,
        _telling_interrupts(step, alone=asking is None or asked.replay is not None) as told,
    ):
        report = score_files(
            files,
            selector=selector,
            fail_under=fail_under,
            error_rate=error_rate,
            unsure=unsure,
            judge=asking,
            baseline=baseline,
            format=format,
            show_label=show_label,
            keep_going=True,
            banks=features,
            on_progress=told,
        )
    if junit is not None:
        from bestofn.report.junit import junit as to_junit

        write(to_junit(report), junit)
    if sarif is not None:
        from bestofn.report.sarif import sarif as to_sarif

        write(to_json(to_sarif(report)), sarif)
    if markdown is not None:
        from bestofn.report.markdown import markdown as to_markdown

        write(to_markdown(report), markdown)
    text = to_json(report.as_dict()) if json else _shown(report)
    if text or output is not None:  # where nothing could be read, the errors say it all
        write(text, output)
    _tell(report, quiet=quiet)
    if report.exit_code:
        raise typer.Exit(report.exit_code)


@contextmanager
def _judging(asked: Asked, model: str | None, *, quiet: bool) -> Iterator[JudgeFunction | None]:
    """Asks a model what can be asked about one trajectory alone; None where nobody is asked.

    All files are asked about through one client, so that a server is got to know once and a budget is for all.
    """
    from bestofn.errors import UsageError

    if model is None and asked.replay is None:
        if asked.criteria:
            raise UsageError("--criteria says what to ask: say whom with --judge MODEL or --replay FILE")
        yield None
        return
    from dataclasses import replace

    from bestofn.cli.asking import answering
    from bestofn.criterion import Kind
    from bestofn.judge.judging import judge
    from bestofn.judge.score import Column
    from bestofn.pool import Pool, is_empty

    sets = [
        replace(chosen, criteria=tuple(c for c in chosen.criteria if c.kind is Kind.POINTWISE))
        for chosen in asked.criteria_sets()
    ]
    if not any(chosen.criteria for chosen in sets):
        raise UsageError("these criteria only compare attempts, and one trajectory has none to be compared with")
    with answering(asked, model, quiet=quiet) as answerer:

        def ask(pool: Pool) -> tuple[Column, ...]:
            if all(is_empty(trajectory) for trajectory in pool.trajectories):
                return ()
            return judge(pool, sets, answerer, asked.showing()).columns

        yield ask


@contextmanager
def _telling_interrupts(step: OnProgress | None, *, alone: bool) -> Iterator[OnProgress]:
    """The progress, and a word on how far it came where it is interrupted.

    `alone` is False where a model is asked, since then another tells what is kept.
    """
    from bestofn.cli.asking import resuming
    from bestofn.cli.output import remark

    last: tuple[int, int | None] = (0, None)

    def told(done: int, total: int | None) -> None:
        nonlocal last
        last = done, total
        if step is not None:
            step(done, total)

    try:
        yield told
    except KeyboardInterrupt:
        of = "" if last[1] is None else f" of {last[1]}"
        if alone:
            remark(f"interrupted: {last[0]}{of} are scored, and no report is written before all are; {resuming()}")
        raise


def _tell(report: ScoreReport, *, quiet: bool) -> None:
    """What stands beside the results: what could not be read, missing scores of a judge, annotations."""
    from bestofn.cli.output import remark

    for problem in report.problems:
        remark(f"error: {_line(problem)}")
    for result in report.results:
        if result.judge_missing:
            remark(f"{_line(result.key)}: scores of the judge are missing: {', '.join(result.judge_missing)}")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from bestofn.report.annotations import workflow_commands

        for line in workflow_commands(report):
            remark(line)
    elif not quiet:
        for result in report.results:
            if str(result.verdict) == "unsure" and not result.judge_missing and report.settings["unsure"] == "warn":
                remark(f"warning: {_line(result.key)} is unsure")


def _line(text: str) -> str:
    """Text of a recording on one line of a terminal; a giant one is cut, and the JSON has all of it."""
    from bestofn.cli.output import safe

    cut = text if len(text) <= LINE else f"{text[:LINE]}... (+{len(text) - LINE:,} characters)"
    return safe(cut.replace("\n", " ").replace("\t", " "))


def _shown(report: ScoreReport) -> str:
    """The verdicts for people."""
    blocks = [_verdict(result) for result in report.results[:SHOWN]]
    if len(report.results) > SHOWN:
        blocks.append(f"... and {len(report.results) - SHOWN} more; --json has all of them")
    if len(report.results) > 1:
        counts: dict[str, int] = {}
        for result in report.results:
            counts[str(result.verdict)] = counts.get(str(result.verdict), 0) + 1
        blocks.append(f"{len(report.results)} trajectories: " + ", ".join(f"{n} {v}" for v, n in counts.items()))
    if report.compared_with:
        lines = [f"against {_line(report.compared_with)}"]
        for change in report.changes:
            lines += [f"  worse   {_line(change.trajectory)}: {_line(said)}" for said in change.worse]
            lines += [f"  better  {_line(change.trajectory)}: {_line(said)}" for said in change.better]
        blocks.append("\n".join(lines if len(lines) > 1 else [f"{lines[0]}: nothing changed"]))
    if report.results:
        blocks += [f"note  {_line(note)}" for note in report.notes]
    return "\n\n".join(blocks)


def _verdict(result: Verdict) -> str:
    score_ = "none" if result.score is None else f"{result.score:.3f}"
    lines = [f"{str(result.verdict).upper()}  {_line(result.key)}  {result.score_name} {score_}"]
    if result.label:
        lines[0] += f"  (recorded: {result.label})"
    lines += [f"  because {_line(reason)}" for reason in result.reasons]
    for moved in result.features:
        lines.append(
            f"  {_effect(moved)}  {moved.feature} = {'unknown' if moved.value is None else f'{moved.value:g}'}"
        )
        lines.append(f"      {_quoted(moved.quote, moved.unquoted)}")
    for code in result.codes:
        where = f"line {code.quote.line}, step {code.quote.step}" if code.quote is not None else code.unquoted
        lines.append(f"  code  {_line(code.rule)} {_line(code.name)} ({', '.join(code.features)}): {where}")
    for judged in result.judge:
        value = "" if judged.value is None else f" {judged.value:.3f}"
        lines.append(f"  judge {judged.column}: {judged.state}{value} {_line(judged.reason)}".rstrip())
    lines += [f"  note  {_line(remark)}" for remark in result.remarks]
    return "\n".join(lines)


def _effect(moved: Moved) -> str:
    """What a feature does to the score."""
    return f"{moved.effect:+.2f}" if moved.points is None else f"{100 * moved.points:+.1f} points"


def _quoted(quote: Quote | None, unquoted: str) -> str:
    if quote is None:
        return unquoted
    return f"{_line(quote.file)}:{quote.line} (step {quote.step}): {_line(quote.text)}"
