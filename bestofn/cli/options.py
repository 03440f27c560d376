"""Options that several commands share, each worded once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PoolOption = Annotated[
    str,
    typer.Option(
        "--pool",
        "-p",
        metavar="POOL",
        help="A directory or file of recordings, or a pool's name (see `bestofn pools`).",
        show_default=False,
    ),
]
PoolsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--pool",
        "-p",
        metavar="POOL",
        help="A directory or file of labelled recordings, or a pool's name. May be given several times.",
        show_default=False,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Read every file as this format instead of telling by content (see `bestofn pools formats`).",
        show_default=False,
    ),
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Make bad files, empty recordings, unknown labels and duplicates an error.")
]
KeepGoingOption = Annotated[
    bool,
    typer.Option("--keep-going", help="Leave out files that hold records but no recognised turn, instead of failing."),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="Processes that read and featurise; -1 for all cores. Default: 1, or 2 for a large pool.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write to this file instead of the screen.", show_default=False
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks; results only.")]
BanksOption = Annotated[
    list[str] | None,
    typer.Option(
        "--features",
        metavar="BANK",
        help="Feature bank: a built-in name or a TOML file. May be given several times. Default: default and signals.",
        show_default=False,
    ),
]
PassAtOption = Annotated[
    float | None,
    typer.Option(
        "--pass-at",
        metavar="R",
        help="Count a reward of R or more as a pass and a smaller one as a fail.",
        show_default=False,
    ),
]
UnknownAsFailOption = Annotated[
    bool,
    typer.Option("--unknown-as-fail", help="Count attempts with unknown label as fails, as some official scores do."),
]
ProblemsOption = Annotated[
    bool, typer.Option("--problems", help="Name every problem of the recordings, not only the first of each kind.")
]
TableOption = Annotated[
    Path | None,
    typer.Option(
        "--table",
        metavar="FILE",
        help="A feature table written by `bestofn features` (CSV or Parquet), instead of reading a pool.",
        show_default=False,
    ),
]
TablesOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--table",
        metavar="FILE",
        help="A feature table written by `bestofn features`, with a model's columns or without. May be given several "
        "times, and beside --pool.",
        show_default=False,
    ),
]
