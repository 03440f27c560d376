"""`bestofn report`: one HTML file that shows how good picking is, and why each attempt was picked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bestofn.cli.options import (
    BanksOption,
    FormatOption,
    JobsOption,
    KeepGoingOption,
    PassAtOption,
    PoolOption,
    QuietOption,
    StrictOption,
    TableOption,
    UnknownAsFailOption,
)


def report(
    pool: PoolOption = "",
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the page goes.")] = Path(
        "report.html"
    ),
    plots: Annotated[
        Path | None,
        typer.Option(
            "--plots", metavar="DIR", help="Write the plots as PNG and SVG files there too.", show_default=False
        ),
    ] = None,
    selector: Annotated[
        str,
        typer.Option(
            "--selector", "-s", metavar="NAME|FILE", help="What picks: a name or file that `bestofn select` takes."
        ),
    ] = "policy",
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            "-t",
            metavar="GLOB",
            help="Show only tasks whose name fits; figures and plots stay those of the whole pool.",
            show_default=False,
        ),
    ] = None,
    no_labels: Annotated[
        bool, typer.Option("--no-labels", help="Neither show nor use recorded outcomes: no evaluation, only picks.")
    ] = False,
    table: TableOption = None,
    null: Annotated[
        int, typer.Option("--null", min=0, metavar="N", help="Label permutations for `forward`; 0 for none.")
    ] = 200,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Start of the permutations and the bootstrap.")] = 0,
    features: BanksOption = None,
    format: FormatOption = None,
    pass_at: PassAtOption = None,
    unknown_as_fail: UnknownAsFailOption = False,
    strict: StrictOption = False,
    keep_going: KeepGoingOption = False,
    jobs: JobsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write one HTML file about a pool: evaluation, plots, codes, and every task with its attempts side by side.

    The file needs no network, and nothing in a recording can run in it. With labels it shows how good every selector
    is; recorded outcomes stand apart from what the selector saw, and --no-labels leaves them out. With --table, the
    features come from there (with a model's scores, for instance), and the trajectories from the pool.

    Example: bestofn report --pool demo -o report.html --plots plots
    """
    from bestofn.catalogue import load_pool
    from bestofn.cli.output import remark, write
    from bestofn.cli.reading import progress
    from bestofn.cli.select import selector_named
    from bestofn.errors import UsageError
    from bestofn.report.html import report as make
    from bestofn.report.plots import write_plots

    if not pool:
        raise UsageError("say what to report on: --pool POOL (such as --pool demo)")
    if output.parent and not output.parent.is_dir():
        raise UsageError(f"cannot write '{output}': there is no directory '{output.parent}'")
    rows = None
    if table is not None:
        from bestofn.table_file import read

        rows = read(table)
    with progress(f"report on {pool}", quiet=quiet) as step:
        made = make(
            load_pool(pool, format=format),
            selector=selector_named(selector),
            labels=not no_labels,
            null=null,
            seed=seed,
            task=task,
            table=rows,
            banks=features,
            jobs=jobs,
            strict=strict,
            keep_going=keep_going,
            pass_at=pass_at,
            unknown_as_fail=unknown_as_fail,
            on_progress=step,
        )
        page = made.html()  # draws the plots: the line stands until they are there
    write(page, output)
    for kind, n in made.problems.items():
        remark(f"{pool}: {n} x {kind}", quiet=quiet)
    remark(f"{output}: {len(made.tasks)} tasks, {output.stat().st_size / 1e6:.1f} MB", quiet=quiet)
    if plots is not None:
        written = write_plots(made.plots, plots)
        if not written:
            remark("no plots: they need recorded outcomes", quiet=quiet)
        else:
            remark(f"{plots}: {', '.join(path.name for path in written)}", quiet=quiet)
