"""`bestofn check`: proves content files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer


class Proof(NamedTuple):
    """How one kind of content is proved."""

    suffix: str
    names: Callable[[], list[str]]
    """The built-in files of this kind."""
    problems: Callable[[str], list[str]]
    """What is wrong with a file or a built-in name, a sentence each."""
    holds: Callable[[str], str]
    """What a sound one holds, in words."""


def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Feature banks (.toml), criteria (.md), taxonomies (.json); a name stands for what is built in.",
        ),
    ],
) -> None:
    """Prove feature banks, criteria and taxonomies, each by its ending.

    A bank: every key known, every pattern linear, every example matched or missed as it says. Criteria: every part and
    variable there. A taxonomy: every code whole and its id its own. All errors are reported, each with its file and
    place. Exit code 2 if there is any.

    Example: bestofn check features/mine.toml criteria/mine.md
    """
    from bestofn.cli import USAGE
    from bestofn.cli.output import remark, write

    failed = False
    for file in files:
        for proof in _proofs(file):
            found = proof.problems(file)
            for problem in found:
                remark(problem)
            failed = failed or bool(found)
            if not found:
                write(f"{file}: {proof.holds(file)}", None)
    if failed:
        raise typer.Exit(USAGE)


def _proofs(file: str) -> list[Proof]:
    """How a file is proved: by its ending, and a bare name as all that is built in under it."""
    from bestofn import criteria, taxonomy
    from bestofn.content import builtin_names
    from bestofn.errors import UsageError
    from bestofn.featurize import bank

    proofs = [
        Proof(".toml", lambda: builtin_names("features", ".toml"), bank.problems, _bank),
        Proof(criteria.SUFFIX, criteria.names, criteria.problems, _criteria),
        Proof(".json", taxonomy.names, taxonomy.problems, _taxonomy),
    ]
    suffix = Path(file).suffix
    chosen = [
        p for p in proofs if suffix == p.suffix or (suffix not in {q.suffix for q in proofs} and file in p.names())
    ]
    if chosen:
        return chosen
    if Path(file).is_file():
        raise UsageError(f"cannot tell what '{file}' is: banks end in .toml, criteria in .md, taxonomies in .json")
    known = ", ".join(name for proof in proofs for name in proof.names())
    raise UsageError(f"no file '{file}', and built in are {known}")


def _bank(file: str) -> str:
    from bestofn.featurize.bank import load

    bank = load(file)
    examples = sum(len(f.matches) + len(f.misses) for f in bank.features)
    return f"{len(bank.features)} patterns hold, on {examples} examples"


def _criteria(file: str) -> str:
    from bestofn.criteria import load

    found = load(file)
    return f"{len(found.criteria)} criteria hold: {', '.join(c.column for c in found.criteria)}"


def _taxonomy(file: str) -> str:
    from bestofn.taxonomy import AXES, load

    found = load(file, allow_review=True)
    axes = ", ".join(f"{len(found.axis(axis))} {axis}" for axis in AXES if found.axis(axis))
    status = f"; status {found.status}" if found.status else ""
    return f"{len(found.codes)} codes hold ({axes}){status}"
