"""`bestofn pools`: the pools that have a name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bestofn.cli.options import JsonOption, QuietOption

app = typer.Typer(
    help="List the pools that have a name, with what their labels say; add or remove one.\n\n"
    "Names are looked up in each folder of BESTOFN_POOLS (as group/name), then among pools added with "
    "`bestofn pools add`, then among the built-in ones. A path in the working "
    "directory wins over a name.\n\nExample: bestofn pools add tb2/mine runs/2026-11/",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def pools(context: typer.Context, json: JsonOption = False, quiet: QuietOption = False) -> None:
    """List the pools that have a name."""
    if context.invoked_subcommand is not None:
        return
    from bestofn.catalogue import HOW_TO_ADD, entries
    from bestofn.cli.output import columns, percent, remark, to_json, write

    found = [_described(entry.name, str(entry.path), entry.origin, quiet) for entry in entries()]
    if json:
        write(to_json(found), None)
        return
    header = ("pool", "tasks", "attempts", "labels", "Pass@1", "oracle", "swing", "where")
    rows = [
        (
            pool["name"],
            str(pool["tasks"]),
            str(pool["attempts"]),
            str(pool["labels"]),
            percent(pool["pass_at_1"]),
            percent(pool["oracle"]),
            str(pool["n_swing"]),
            pool["problem"] or pool["path"],
        )
        for pool in found
    ]
    write(columns(header, rows, right=(1, 2, 3, 4, 5, 6)), None)
    remark(f"\nTo add one, {HOW_TO_ADD}.", quiet=quiet)


def _described(name: str, path: str, origin: str, quiet: bool) -> dict[str, Any]:
    """One pool's figures; a pool that cannot be read says why."""
    from bestofn.cli.reading import Reading
    from bestofn.errors import BestofnError
    from bestofn.metrics import pool_figures

    described: dict[str, Any] = {"name": name, "path": path, "origin": origin, "problem": ""}
    counts = {"tasks": 0, "attempts": 0, "labels": 0, "pass_at_1": None, "oracle": None, "n_swing": 0}
    try:
        table = Reading(quiet=quiet, keep_going=True).table(name, (), tell=False)
    except BestofnError as error:
        return {**described, **counts, "problem": str(error)}
    figures = pool_figures(table.rewards, table.groups)
    known = figures.n_tasks > 0
    return {
        **described,
        "tasks": len(table.task_names),
        "attempts": len(table),
        "labels": len(table) - figures.n_unknown,
        "pass_at_1": figures.pass_at_1 if known else None,
        "oracle": figures.oracle if known else None,
        "n_swing": figures.n_swing,
    }


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="Its name, such as tb2/terminus-2.")],
    path: Annotated[Path, typer.Argument(help="The directory or file that holds its recordings.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Let a name that is registered already lead to this place.")
    ] = False,
) -> None:
    """Give a pool a name.

    Example: bestofn pools add tb2/mine runs/2026-11/
    """
    from bestofn.catalogue import register, registry_file
    from bestofn.cli.output import write

    register(name, path, replace=replace)
    write(f"{name} is {path.resolve()} (remembered in {registry_file()})", None)


@app.command()
def remove(name: Annotated[str, typer.Argument(help="The name to forget; the recordings stay.")]) -> None:
    """Forget a pool's name.

    Example: bestofn pools remove tb2/mine
    """
    from bestofn.catalogue import unregister
    from bestofn.cli.output import write

    unregister(name)
    write(f"{name} is forgotten; its recordings stay where they are", None)


@app.command()
def formats() -> None:
    """List the formats that can be read, and say where the simple one to convert others to is described.

    Example: bestofn pools formats
    """
    from bestofn.cli.output import columns, remark, write
    from bestofn.content import content_root
    from bestofn.readers.registry import DIRECTORY_READERS, FILE_READERS

    rows = [(reader.NAME, reader.SUMMARY) for reader in (*DIRECTORY_READERS, *FILE_READERS)]
    write(columns(("format", "what it is"), rows), None)
    remark(f"\nAny other recording can be written as `chat`, which {content_root('data') / 'FORMAT.md'} describes.")
