"""`bestofn features`: the feature table of a pool, or what the features are."""

from __future__ import annotations

from typing import Annotated

import typer

from bestofn.cli.options import (
    BanksOption,
    FormatOption,
    JobsOption,
    JsonOption,
    KeepGoingOption,
    OutputOption,
    PassAtOption,
    PoolOption,
    QuietOption,
    StrictOption,
    UnknownAsFailOption,
)


def features(
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
    json: JsonOption = False,
    format: FormatOption = None,
    pass_at: PassAtOption = None,
    unknown_as_fail: UnknownAsFailOption = False,
    strict: StrictOption = False,
    keep_going: KeepGoingOption = False,
    jobs: JobsOption = 1,
    quiet: QuietOption = False,
) -> None:
    """Write a pool's feature table: one row an attempt, one column a feature, empty where the recording cannot tell.

    The ending of the file decides: .csv or .parquet. `bestofn select` and `evaluate` take such a file with --table.

    Example: bestofn features --pool demo -o table.parquet
    """
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
    reading = Reading(banks, format, jobs, strict, keep_going, quiet, pass_at, unknown_as_fail)
    table = reading.table(pool, names)
    if output is None:
        write(table.to_frame().to_csv(index=False), None)
        return
    from bestofn.table_file import write as write_table

    write_table(table, output)
    remark(
        f"{output}: {len(table)} attempts at {len(table.task_names)} tasks, {len(table.columns)} features", quiet=quiet
    )


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
