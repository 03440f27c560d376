"""`bestofn check`: proves content files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def check(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Feature banks (TOML); a name stands for a built-in one.")
    ],
) -> None:
    """Prove feature banks: every key known, every pattern linear, every example matched or missed as it says.

    All errors are reported, each with its file, feature and string. Exit code 2 if there is any.

    Example: bestofn check features/mine.toml
    """
    from bestofn.cli import USAGE
    from bestofn.cli.output import remark, write
    from bestofn.featurize.bank import load, problems

    failed = False
    for file in files:
        found = problems(file)
        for problem in found:
            remark(problem)
        failed = failed or bool(found)
        if not found:
            bank = load(file)
            examples = sum(len(f.matches) + len(f.misses) for f in bank.features)
            write(f"{file}: {len(bank.features)} patterns hold, on {examples} examples", None)
    if failed:
        raise typer.Exit(USAGE)
