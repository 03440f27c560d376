"""`bestofn ablate`: one experiment on labelled pools, and what it resolves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestofn.cli.asked import Asked, sharing_options
from bestofn.cli.options import (
    BanksOption,
    FormatOption,
    JobsOption,
    JsonOption,
    KeepGoingOption,
    PassAtOption,
    PoolsOption,
    QuietOption,
    TablesOption,
    UnknownAsFailOption,
)
from bestofn.cli.ways import ModelOption

SHIPPED = (
    "a model's scores come from the recorded answers that ship with this pool ({name}); some arms were asked about a "
    "part of its runs alone, as their missing scores tell: to ask another judge, give --model or --replay"
)

if TYPE_CHECKING:
    from bestofn.ablation.asking import Judge
    from bestofn.ablation.experiment import Experiment
    from bestofn.ablation.finding import Finding
    from bestofn.ablation.recorded import Shipped
    from bestofn.ablation.subject import Subject
    from bestofn.cli.reading import Reading


@sharing_options
def ablate(
    asked: Asked,
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME|FILE]", help="A built-in experiment, or a Python file that declares one.", show_default=False
        ),
    ] = "",
    pool: PoolsOption = None,
    table: TablesOption = None,
    model: ModelOption = "",
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="NAME=VALUE",
            help="A further input that the experiment names. May be given several times.",
            show_default=False,
        ),
    ] = None,
    permutations: Annotated[
        int, typer.Option("--permutations", min=1, metavar="N", help="Label shuffles and draws of noise.")
    ] = 200,
    resamples: Annotated[
        int, typer.Option("--resamples", min=100, metavar="N", help="Bootstrap draws of each interval.")
    ] = 10_000,
    json: JsonOption = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Write NAME.json, NAME.txt and the figures (SVG and PNG) into this folder as well.",
            show_default=False,
        ),
    ] = None,
    features: BanksOption = None,
    format: FormatOption = None,
    pass_at: PassAtOption = None,
    unknown_as_fail: UnknownAsFailOption = False,
    keep_going: KeepGoingOption = False,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Run one experiment on labelled pools; without a name, list them.

    Every arm stands beside a named reference, with the paired difference, its 95% interval, an exact p-value corrected
    for the number of arms, and what that resolves on a pool of this size. An arm that needs a model's scores gets them
    from --model or --replay, or from the columns of --table; without, it stands in the table with how to get them.
    The same command prints the same bytes; --seed is where its random draws start.

    Example: bestofn ablate features --pool demo
    """
    from bestofn.cli.output import remark, write
    from bestofn.cli.reading import Reading

    if not name:
        write(_list(json), None)
        return
    from bestofn.ablation.experiment import is_builtin, load

    experiment, inputs = load(name), _inputs(given or [])
    if pool or table:
        experiment.check(len(pool or []) + len(table or []), inputs)
    reading = Reading(
        features,
        format,
        jobs,
        keep_going=keep_going,
        quiet=quiet,
        pass_at=pass_at,
        unknown_as_fail=unknown_as_fail,
        like=asked.task,
    )
    subjects = _subjects(experiment, pool or [], table or [], reading, asked)
    command = _command(experiment.name if is_builtin(name) else name, pool or [], table or [])
    shipped = _shipped(asked, model, subjects)
    if shipped is not None:
        # What ships is what there is: an exit code about it would tell the user nothing.
        asked = replace(asked, replay=shipped.answers, max_missing=1.0)
        inputs = {**shipped.inputs_of(experiment.inputs), **inputs}
    with _judging(asked, model, quiet=quiet) as (judge, another):
        from bestofn.ablation.setting import Setting
        from bestofn.cli.reading import progress

        setting = Setting(
            subjects,
            judge,
            inputs,
            another,
            seed=asked.seed or 0,
            resamples=resamples,
            permutations=permutations,
            command=command,
            beside=shipped.answers.parent if shipped is not None else None,
            watch=lambda what: progress(what, quiet=quiet),
        )
        finding = experiment.measure(setting)
    if shipped is not None and _asked(finding, judge):
        finding = replace(finding, remarks=(*finding.remarks, SHIPPED.format(name=shipped.answers.name)))
    _write(finding, json=json, folder=output)
    if output is not None:
        remark(f"{output}: {finding.experiment}.json, {finding.experiment}.txt and figures", quiet=quiet)
    if judge is not None:
        _finish(judge, asked, quiet=quiet)


def _list(json: bool) -> str:
    """The built-in experiments, with their questions and sources."""
    from bestofn.ablation.experiment import builtin
    from bestofn.cli.output import to_json

    found = builtin()
    if json:
        return to_json(
            [{"name": e.name, "question": e.question, "source": e.source, "inputs": dict(e.inputs)} for e in found]
        )
    wide = max(len(experiment.name) for experiment in found)
    lines = []
    for experiment in found:
        lines += [f"{experiment.name.ljust(wide)}  {experiment.question}", f"{' ' * wide}  {experiment.source}"]
        lines += [f"{' ' * wide}  --with {name}=...: {what}" for name, what in experiment.inputs.items()]
    return "\n".join([*lines, "", "Run one with: bestofn ablate NAME --pool POOL (such as --pool demo)"])


def _subjects(
    experiment: Experiment, pools: Sequence[str], tables: Sequence[Path], reading: Reading, asked: Asked
) -> tuple[Subject, ...]:
    """The pools to look at. Raises UsageError where none was given, or one twice."""
    from bestofn.ablation.subject import Subject
    from bestofn.errors import UsageError

    if not pools and not tables:
        raise UsageError(f"say what to run '{experiment.name}' on: --pool POOL (such as --pool demo), or --table FILE")
    if tables and asked.task:
        raise UsageError("--task chooses among the tasks of a pool: a --table is taken whole")
    subjects = [Subject.of(name, reading.table(name), asked.pool(name, reading.format_name)) for name in pools]
    for path in tables:
        rows = reading.opened(path)
        subjects.append(Subject.of(str(rows.about.get("pool") or path.name), rows))
    names = [subject.name for subject in subjects]
    if len(set(names)) < len(names):
        raise UsageError(f"every pool is given once, and these have one name: {', '.join(sorted(names))}")
    return tuple(subjects)


def _inputs(given: Sequence[str]) -> dict[str, str]:
    from bestofn.errors import UsageError

    inputs: dict[str, str] = {}
    for pair in given:
        key, sign, value = pair.partition("=")
        if not sign or not key or not value:
            raise UsageError(f"--with takes NAME=VALUE, got '{pair}'")
        inputs[key] = value
    return inputs


def _command(name: str, pools: Sequence[str], tables: Sequence[Path]) -> str:
    """What was asked for, to add an option to."""
    import shlex

    parts = [part for pool in pools for part in ("--pool", pool)]
    parts += [part for path in tables for part in ("--table", str(path))]
    return f"bestofn ablate {shlex.join([name, *parts])}"


def _shipped(asked: Asked, model: str, subjects: Sequence[Subject]) -> Shipped | None:
    """The recorded answers that come with the pool, where nobody is named to ask."""
    from bestofn.ablation.recorded import shipped_answers

    if model or asked.replay is not None or len(subjects) != 1 or subjects[0].pool is None:
        return None
    return shipped_answers(subjects[0].pool)


@contextmanager
def _judging(asked: Asked, model: str, *, quiet: bool) -> Iterator[tuple[Judge | None, Callable[[str], Judge]]]:
    """Who answers, and how to get another one."""
    from bestofn.ablation.asking import Judge
    from bestofn.cli.asking import answering

    if asked.replay is not None:
        asked = _as_recorded(asked)
    with ExitStack() as stack:

        def judge_of(model: str | None, asked: Asked) -> Judge:
            answerer = stack.enter_context(answering(asked, model, quiet=quiet))
            return Judge(answerer, tuple(asked.criteria_sets()), asked.showing())

        def another(name: str) -> Judge:
            path = Path(name)
            if path.is_file():
                return judge_of(None, _as_recorded(replace(asked, replay=path)))
            return judge_of(name, replace(asked, replay=None))

        known = bool(model) or asked.replay is not None
        yield (judge_of(model or None, asked) if known else None), another


def _asked(finding: Finding, judge: Judge | None) -> bool:
    """Whether anything in a finding comes from a judge's answers, or lacks them."""
    answered = judge is not None and judge.answerer.accounts.total().replayed > 0
    return answered or any(row.asked for comparison in finding.comparisons for row in comparison.rows)


def _as_recorded(asked: Asked) -> Asked:
    """Asking a recording as it was asked, where it says how: the seed is for what this command draws then."""
    from bestofn.llm.replay import settings_of

    told = asked.replay is not None and "showing" in settings_of(asked.replay)
    return replace(asked, seed=None) if told else asked


def _write(finding: Finding, *, json: bool, folder: Path | None) -> None:
    """The finding on the screen, and all forms of it in a folder."""
    from bestofn.cli.finding_shown import finding_shown
    from bestofn.cli.output import to_json, write
    from bestofn.errors import UsageError

    shown, data = finding_shown(finding), to_json(finding.as_dict())
    if folder is not None:
        from bestofn.ablation.figure import figures
        from bestofn.report.plots import write_plots

        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write into '{folder}': {error.strerror or error}") from error
        write(data, folder / f"{finding.experiment}.json")
        write(shown, folder / f"{finding.experiment}.txt")
        write_plots(figures(finding), folder)
    write(data if json else shown, None)


def _finish(judge: Judge, asked: Asked, *, quiet: bool) -> None:
    """Tell how the judge's runs went, and exit with 1 where too much is missing."""
    from bestofn.cli.asking import finish

    for judgement in judge.judgements:
        finish(judgement, asked, quiet=quiet)
