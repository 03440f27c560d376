"""`bestofn compile`: turns a taxonomy into criteria and a draft feature bank, as files to read and edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bestofn.cli.options import QuietOption
from bestofn.cli.taxonomy import AllowReviewOption, TaxonomyArgument


def compile(
    taxonomy: TaxonomyArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write to.", show_default=False)
    ],
    base: Annotated[
        str, typer.Option("--base", metavar="NAME|FILE", help="Criteria to take the prompts from.")
    ] = "base",
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite files that are there.")] = False,
    allow_review: AllowReviewOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compile a taxonomy: criteria for a model, a draft bank of features, and a question for its codes.

    Everything is written as text to read and edit; nothing runs that was not. Give the files by their paths:
    `bestofn judge run --criteria DIR/criteria.md`, `bestofn features --features DIR/features.toml`,
    `bestofn judge compare --codes-criteria DIR/diagnosis.md`.

    Example: bestofn compile mast-14 -o compiled/
    """
    from bestofn import compiler, criteria
    from bestofn.cli.output import remark, write
    from bestofn.errors import ContentError
    from bestofn.judge.diagnosis import FILE, compile_diagnosis
    from bestofn.taxonomy import load

    read = load(taxonomy, allow_review=allow_review)
    diagnosis = compiler.Extra(
        FILE, compile_diagnosis(read), "asks which codes a run shows, for `bestofn judge compare --codes-criteria`."
    )
    files = compiler.compile(read, base=base, extras=[diagnosis])
    written = compiler.write(files, output, replace=replace)
    if wrong := criteria.problems(output / FILE):
        raise ContentError("\n".join(wrong))
    for path in written:
        write(str(path), None)
    remark(f"Read {output / compiler.README_FILE} for what to do next.", quiet=quiet)
