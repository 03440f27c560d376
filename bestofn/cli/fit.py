"""`bestofn fit`: a selector fitted on one or several labelled pools, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bestofn.cli.options import (
    BanksOption,
    FormatOption,
    JobsOption,
    JsonOption,
    KeepGoingOption,
    PassAtOption,
    PoolsOption,
    ProblemsOption,
    QuietOption,
    StrictOption,
    TablesOption,
    UnknownAsFailOption,
)


def fit(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the selector.toml.")],
    pools: PoolsOption = None,
    tables: TablesOption = None,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            metavar="NAME",
            help="'reweight' or 'forward'; with --probability also a rule, which itself needs no fit, such as "
            "'gate-shortest'.",
        ),
    ] = "reweight",
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="A,B,...", help="Candidate features. Default: all.", show_default=False),
    ] = None,
    max_features: Annotated[int, typer.Option("--max-features", min=1, help="Most features `forward` selects.")] = 10,
    probability: Annotated[
        str | None,
        typer.Option(
            "--probability",
            metavar="MAP",
            help="Fit the probability of one attempt as well, which `bestofn score` needs: calibrated by 'beta' (for "
            "few labels) or 'isotonic'.",
            show_default=False,
        ),
    ] = None,
    probability_columns: Annotated[
        str | None,
        typer.Option(
            "--probability-columns",
            metavar="A,B,...",
            help="What the probability is made of. Default: eleven features of a run in a terminal.",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            metavar="POOL",
            help="Measure the probability on this labelled pool too, and do not fit on it. May be given several times.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="NAME", help="What the selector is called. Default: its kind.", show_default=False
        ),
    ] = None,
    note: Annotated[
        str | None,
        typer.Option("--note", metavar="TEXT", help="A remark for whoever opens the file.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Start of the bootstrap and of the folds.")] = 0,
    json: JsonOption = False,
    features: BanksOption = None,
    format: FormatOption = None,
    pass_at: PassAtOption = None,
    unknown_as_fail: UnknownAsFailOption = False,
    strict: StrictOption = False,
    keep_going: KeepGoingOption = False,
    jobs: JobsOption = None,
    problems: ProblemsOption = False,
    quiet: QuietOption = False,
) -> None:
    """Fit a selector on labelled pools and write it as a TOML file that a person can read.

    With several pools, what is fitted on the others is also tried on each of them, tasks of the same name left out.
    With --probability the file can also score one attempt on its own (`bestofn score --selector FILE`): its calibration
    and its reliability table come from tasks that were left out of the fit.

    Example: bestofn fit --pool demo -o selector.toml
    """
    from dataclasses import replace

    from bestofn.calibrating import COLUMNS, KIND_COLUMNS, with_probability
    from bestofn.cli.fitted import fitted_content, fitted_shown
    from bestofn.cli.output import to_json, write
    from bestofn.cli.reading import Reading, progress
    from bestofn.errors import UsageError
    from bestofn.judged import MODEL
    from bestofn.pooling import PooledFit, PoolTable, fit_pools
    from bestofn.selector import BASELINES
    from bestofn.selector_file import write_selector

    if output.suffix != ".toml":
        raise UsageError(f"cannot write '{output}': the ending must be .toml")
    if not pools and not tables:
        raise UsageError("say what to fit on: --pool POOL (such as --pool demo), or --table FILE")
    if probability is None and (probability_columns is not None or measure):
        raise UsageError("--probability-columns and --measure are about a probability: ask for one with --probability")
    if probability is None and kind in BASELINES:
        raise UsageError(f"'{kind}' is a rule and needs no fit: give --probability to fit the probability beside it")
    rule = BASELINES.get(kind)
    names = _named(columns)
    likely = (_named(probability_columns) or list(COLUMNS)) if probability is not None else []
    looked_at = [c for c in (*likely, *(KIND_COLUMNS if likely else ())) if not c.startswith(MODEL)]
    chosen = names if rule is None else list(rule.columns)
    wanted = None if chosen is None else list(dict.fromkeys([*chosen, *looked_at]))
    reading = Reading(features, format, jobs, strict, keep_going, quiet, pass_at, unknown_as_fail, problems)
    given = [PoolTable(pool, reading.table(pool, wanted)) for pool in pools or ()]
    for path in tables or ():
        opened = reading.opened(path)
        given.append(PoolTable(str(opened.about.get("pool") or path.stem), opened))
    fitted = (
        fit_pools(given, kind=kind, candidates=names, max_features=max_features, seed=seed)
        if rule is None
        else PooledFit(rule, ())
    )
    selector = replace(fitted.selector, name=name or fitted.selector.name, note=note or fitted.selector.note)
    if probability is not None:
        elsewhere = {pool: reading.table(pool, looked_at) for pool in measure or ()}
        with progress("fitting, each task left out", quiet=quiet) as step:
            selector = with_probability(
                selector,
                {pool.name: pool.table for pool in given},
                columns=likely,
                calibration=probability,
                elsewhere=elsewhere,
                banks=features,
                seed=seed,
                on_progress=step,
            )
    command = _command(pools, tables, kind, columns, probability, probability_columns, measure)
    write_selector(selector, output, created_by=command)
    fitted = replace(fitted, selector=selector)
    write(to_json(fitted_content(fitted, command)) if json else fitted_shown(fitted, output), None)


def _named(given: str | None) -> list[str] | None:
    """The names in a list with commas."""
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def _command(
    pools: list[str] | None,
    tables: list[Path] | None,
    kind: str,
    columns: str | None,
    probability: str | None,
    probability_columns: str | None,
    measure: list[str] | None,
) -> str:
    """What makes the same file again, for the file."""
    import shlex

    words = ["bestofn", "fit", *(w for pool in pools or () for w in ("--pool", pool))]
    words += [w for path in tables or () for w in ("--table", str(path))]
    words += ["--kind", kind, *(["--columns", columns] if columns else [])]
    words += ["--probability", probability] if probability else []
    words += ["--probability-columns", probability_columns] if probability_columns else []
    words += [w for pool in measure or () for w in ("--measure", pool)]
    return shlex.join(words)
