"""`bestofn features`: the feature table of a pool, or what the features are."""

from __future__ import annotations

from typing import Annotated

import typer

from bestofn.cli.asked import Asked, sharing_options
from bestofn.cli.options import (
    BanksOption,
    FormatOption,
    JobsOption,
    JsonOption,
    KeepGoingOption,
    OutputOption,
    PassAtOption,
    PoolOption,
    ProblemsOption,
    QuietOption,
    StrictOption,
    UnknownAsFailOption,
)


@sharing_options
def features(
    asked: Asked,
    pool: PoolOption = "",
    output: OutputOption = None,
    banks: BanksOption = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="A,B,...", help="Only these features.", show_default=False),
    ] = None,
    describe: Annotated[
        bool, typer.Option("--list", help="List the features and why they are there; reads no pool.")
    ] = False,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help="Add a model's scores, in columns named llm_...; see `bestofn judge` for what that takes.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
    format: FormatOption = None,
    pass_at: PassAtOption = None,
    unknown_as_fail: UnknownAsFailOption = False,
    strict: StrictOption = False,
    keep_going: KeepGoingOption = False,
    jobs: JobsOption = None,
    problems: ProblemsOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a pool's feature table: one row an attempt, one column a feature, empty where the recording cannot tell.

    The ending of the file decides: .csv or .parquet. `bestofn select` and `evaluate` take such a file with --table.
    With --judge or --replay a model's scores stand beside the others, and the state of each goes to a file beside the
    table; exit code 1 where too many are missing.

    Example: bestofn features --pool demo -o table.parquet
    """
    from bestofn.cli.asking import finish, judged, write_states, write_table
    from bestofn.cli.output import remark, write
    from bestofn.cli.reading import Reading
    from bestofn.errors import UsageError

    names = [name.strip() for name in columns.split(",") if name.strip()] if columns is not None else None
    if describe:
        write(_described(names, banks, json), output)
        return
    if not pool:
        raise UsageError("say which pool: --pool POOL (such as --pool demo), or --list for the features themselves")
    if json:
        raise UsageError("--json goes with --list; a table is written as .csv or .parquet with -o FILE")
    if output is not None and output.suffix not in (".csv", ".parquet"):
        raise UsageError(f"cannot write '{output}': the ending must be .csv or .parquet")
    reading = Reading(banks, format, jobs, strict, keep_going, quiet, pass_at, unknown_as_fail, problems, asked.task)
    table = reading.table(pool, names)
    judgement = None
    if judge is not None or asked.replay is not None:
        judgement = judged(pool, judge, asked, format=format, quiet=quiet)
        table = judgement.onto(table)
    write_table(table, output)
    if output is not None:
        size = f"{len(table)} attempts at {len(table.task_names)} tasks, {len(table.columns)} features"
        remark(f"{output}: {size}", quiet=quiet)
    if judgement is not None:
        write_states(judgement.columns, table, asked, output)
        finish(judgement, asked, quiet=quiet)


def _described(names: list[str] | None, banks: list[str] | None, json: bool) -> str:
    """What each feature is."""
    from bestofn.cli.output import columns, to_json
    from bestofn.featurize.extract import Extractor

    found = Extractor(names, banks).features
    if json:
        return to_json(
            [
                {
                    "name": f.name,
                    "kind": str(f.kind),
                    "bank": f.bank,
                    "channel": f.channel and str(f.channel),
                    "where": str(f.where),
                    "value": str(f.value),
                    "direction": f.direction,
                    "codes": f.codes,
                    "why": f.why,
                }
                for f in found
            ]
        )
    signs = {1: "+", -1: "-", 0: " "}
    return columns(
        ("feature", "kind", "expects", "why"), [(f.name, str(f.kind), signs[f.direction], f.why) for f in found]
    )
