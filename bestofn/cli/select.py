"""`bestofn select`: the best attempt of every task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    ProblemsOption,
    QuietOption,
    StrictOption,
    TableOption,
    UnknownAsFailOption,
)

if TYPE_CHECKING:
    from bestofn.cli.reading import Reading
    from bestofn.selection import Selection, Summary, TaskPick
    from bestofn.selector import Selector
    from bestofn.table import FeatureTable


def select(
    pool: PoolOption = "",
    table: TableOption = None,
    selector: Annotated[
        str,
        typer.Option(
            "--selector",
            "-s",
            metavar="NAME|FILE",
            help="A rule (gate-shortest, gate, shortest, longest, fewest-steps, fewest-errors, majority, random), "
            "'reweight' or 'forward' (fitted on the other tasks' labels), a file written by `bestofn fit`, or "
            "'policy': whichever of these the pool's labels allow.",
        ),
    ] = "policy",
    task: Annotated[
        str | None,
        typer.Option("--task", "-t", metavar="GLOB", help="Only tasks whose name fits.", show_default=False),
    ] = None,
    json: JsonOption = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, one row an attempt.")] = False,
    output: OutputOption = None,
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
    """Pick the best attempt of every task of a pool.

    No labels are needed. Where the pool has them, and enough tasks where they differ, each task's pick comes from a
    selector fitted on the other tasks; the line `policy` says which selector was used and why. Equal scores share the
    pick.

    Example: bestofn select --pool demo --task 'git_*'
    """
    from bestofn.cli.output import to_csv, to_json, write
    from bestofn.cli.reading import Reading
    from bestofn.errors import UsageError
    from bestofn.selection import select as pick

    if pool and table is not None:
        raise UsageError("--pool and --table exclude each other: take one")
    if not pool and table is None:
        raise UsageError("say what to select from: --pool POOL (such as --pool demo), or --table FILE")
    if json and csv:
        raise UsageError("--json and --csv exclude each other: take one")
    chosen = selector_named(selector)
    reading = Reading(features, format, jobs, strict, keep_going, quiet, pass_at, unknown_as_fail, problems)
    rows = _read(pool, chosen, reading) if table is None else reading.opened(table)
    selection = pick(rows, chosen)
    if task is not None:
        selection = selection.only(task)
    if json:
        text = to_json(selection.as_dict())
    elif csv:
        text = to_csv(("task", "trajectory", "rank", "score", "picked", "selector", "reasons"), _csv_rows(selection))
    else:
        text = _shown(selection)
    write(text, output)


def selector_named(given: str) -> str | Selector:
    """A selector by name, or the one in a file."""
    from bestofn.selection import NAMES

    if given in NAMES:
        return given
    path = Path(given)
    if path.suffix == ".toml" or path.is_file():
        from bestofn.selector_file import read_selector

        return read_selector(path)
    from bestofn.errors import UsageError

    raise UsageError(f"no selector '{given}': there are {', '.join(NAMES)}, or the path of a selector.toml")


def _read(pool: str, selector: str | Selector, reading: Reading) -> FeatureTable:
    """The columns that the selector reads; all of them only where something is to be learned."""
    from bestofn.selection import first_columns, needs_all

    columns = first_columns(selector)
    rows = reading.table(pool, columns)
    return reading.table(pool, tell=False) if columns is not None and needs_all(rows, selector) else rows


def _csv_rows(selection: Selection) -> list[tuple[object, ...]]:
    return [
        (task.task, r.trajectory, r.rank, r.score, int(r.trajectory in task.pick), task.selector, "; ".join(r.reasons))
        for task in selection.tasks
        for r in task.ranking
    ]


def _shown(selection: Selection) -> str:
    """A row a task, then the summary."""
    from bestofn.cli.output import columns

    rows = [_task_row(task) for task in selection.tasks]
    table = columns(("task", "pick", "margin", "why"), rows, right=(2,))
    shown = len(selection.tasks)
    part = f"shown   {shown} of {selection.summary.n_tasks} tasks; the rest of this is of the whole pool\n"
    part = part if shown < selection.summary.n_tasks else ""
    return f"{table}\n\n{part}policy  {selection.policy}\n{_summary(selection.summary)}"


def _task_row(task: TaskPick) -> tuple[str, str, str, str]:
    """A task's pick; one that is shared names how many share it."""
    pick = task.pick[0] if len(task.pick) == 1 else f"{task.pick[0]} or {len(task.pick) - 1} more"
    margin = "tie" if len(task.pick) > 1 else "-" if task.margin != task.margin else f"{task.margin:.2f}"
    why = "; ".join(task.ranking[0].reasons)
    if len(task.pick) == len(task.ranking) > 1:
        why = "nothing tells the attempts apart"
    elif len(task.pick) > 1:
        why += ", like the others that share the pick"
    return task.task, pick, margin, why if len(task.ranking) > 1 else "the only attempt"


def _summary(summary: Summary) -> str:
    """What was picked from, and with labels how good the picks are."""
    from bestofn.cli.output import percent

    figures = summary.figures
    lines = [f"pool    {_tasks(summary)}"]
    if figures.n_tasks == 0:
        lines.append("labels  none known, so no accuracy can be told")
        return "\n".join(lines)
    reached = "mean reward of the picks" if summary.fractional else "of picks pass"
    lines.append(
        f"result  {percent(summary.accuracy)} {reached}; Pass@1 {percent(figures.pass_at_1)}, "
        f"shortest {percent(summary.shortest)}, oracle {percent(figures.oracle)}, "
        f"gap recovered {percent(summary.gap_recovered, 0)}"
    )
    if summary.optimistic:
        lines.append(f"beware  optimistic: {summary.optimistic}")
    return "\n".join(lines)


def _tasks(summary: Summary) -> str:
    """Counts in one line."""
    figures = summary.figures
    parts = [f"{summary.n_tasks} tasks, {summary.n_attempts} attempts"]
    if figures.n_tasks:
        parts = [
            f"{figures.n_tasks} tasks labelled, {figures.n_swing} of them swing tasks; {summary.n_attempts} attempts"
        ]
    for n, what in (
        (summary.n_shared, "picks shared"),
        (figures.n_unknown if figures.n_tasks else 0, "attempts with unknown label, counted nowhere"),
        (summary.n_empty, "attempts without a turn of the agent, ranked last"),
    ):
        if n:
            parts.append(f"{n} {what}")
    return "; ".join(parts)
