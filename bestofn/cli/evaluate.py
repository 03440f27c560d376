"""`bestofn evaluate`: how good every selector is on a labelled pool, leave-one-task-out."""

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
    from bestofn.evaluation import Evaluation, Row
    from bestofn.permutation import Null
    from bestofn.selector import Selector


def evaluate(
    pool: PoolOption = "",
    table: TableOption = None,
    selectors: Annotated[
        str | None,
        typer.Option(
            "--selectors",
            metavar="A,B,...",
            help="Rows to show: names that `bestofn select` takes, and files written by `bestofn fit`. Default: all.",
            show_default=False,
        ),
    ] = None,
    null: Annotated[
        int, typer.Option("--null", min=0, metavar="N", help="Label permutations for `forward`; 0 for none.")
    ] = 200,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Start of the permutations and the bootstrap.")] = 0,
    min_accuracy: Annotated[
        float | None,
        typer.Option(
            "--min-accuracy",
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="Exit with 1 where the `policy` row (or the only row asked for) is below this share.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
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
    """Evaluate every selector on a labelled pool, leave-one-task-out.

    Whatever a selector learns or chooses, it learns and chooses without the task it is used for. Each row stands beside
    Pass@1 (a random pick) and gate-shortest (a rule without labels), with 95% bootstrap intervals of the paired
    differences; 'tied' marks intervals that hold 0. For `forward`, the nested figure is the result; the one reported on
    the tasks it was selected on is marked optimistic, and stands beside what shuffled labels give.

    Example: bestofn evaluate --pool demo --null 50
    """
    from bestofn.cli import BELOW_BAR
    from bestofn.cli.output import remark, to_json, write
    from bestofn.cli.reading import Reading, progress
    from bestofn.errors import UsageError
    from bestofn.evaluation import evaluate as measure

    if pool and table is not None:
        raise UsageError("--pool and --table exclude each other: take one")
    if not pool and table is None:
        raise UsageError("say what to evaluate on: --pool POOL (such as --pool demo), or --table FILE")
    names, files = _asked(selectors)
    reading = Reading(features, format, jobs, strict, keep_going, quiet, pass_at, unknown_as_fail, problems)
    rows = reading.table(pool) if table is None else reading.opened(table)
    with progress("shuffling labels", quiet=quiet) as step:
        result = measure(rows, selectors=names, extra=files, null=null, seed=seed, on_progress=step)
    write(to_json(result.as_dict()) if json else evaluation_shown(result), output)
    if min_accuracy is not None:
        judged = next((r for r in result.rows if r.selector == "policy"), result.rows[0])
        if judged.selector != "policy" and len(result.rows) > 1:
            raise UsageError("--min-accuracy judges the row `policy`, or the only one: add policy to --selectors")
        if not judged.accuracy >= min_accuracy:
            remark(f"{judged.selector}: accuracy {judged.accuracy:.3f} is below --min-accuracy {min_accuracy:g}")
            raise typer.Exit(BELOW_BAR)


def _asked(selectors: str | None) -> tuple[list[str] | None, list[Selector]]:
    """The rows by name, and the selectors in files."""
    from bestofn.errors import UsageError
    from bestofn.selector_file import read_selector

    if selectors is None:
        return None, []
    given = [name.strip() for name in selectors.split(",") if name.strip()]
    if not given:
        raise UsageError("--selectors names none: leave it out for all rows, or give names such as gate,forward")
    files = [name for name in given if name.endswith(".toml")]
    return [name for name in given if name not in files], [read_selector(Path(name)) for name in files]


def evaluation_shown(result: Evaluation) -> str:
    """The table, then what stands beside it."""
    from bestofn.cli.output import columns, percent

    figures = result.figures
    failed = result.if_unknown_failed
    header = ("selector", "accuracy", "swing", "gap", "vs Pass@1", "", "vs gate-shortest", "", "")
    body = columns(header, [_row(row) for row in result.rows], right=(1, 2, 3, 4, 6))
    unknown = f", {figures.n_unknown} attempts with unknown label (counted nowhere)" if figures.n_unknown else ""
    empty = f", {result.n_empty} attempts without a turn of the agent (ranked last)" if result.n_empty else ""
    lines = [
        f"pool    {result.pool or 'from a table'}: {figures.n_tasks} tasks, {figures.n_swing} swing tasks, "
        f"{result.n_attempts} attempts{unknown}{empty}",
        f"Pass@1  {percent(figures.pass_at_1)}    oracle  {percent(figures.oracle)}    "
        f"(one task is {100 / max(figures.n_tasks, 1):.1f} points; only swing tasks can move)",
        *(
            [
                f"        with unknown labels counted as fails, as some official scores do (--unknown-as-fail): Pass@1 "
                f"{percent(failed.pass_at_1)}, oracle {percent(failed.oracle)}, {failed.n_swing} swing tasks"
            ]
            if failed is not None
            else []
        ),
        "",
        body,
        "",
        f"policy  {result.policy}",
        *(f"beware  {warning}" for warning in result.warnings),
        *_nulls(result),
        *_chosen(result),
    ]
    return "\n".join(lines)


def _row(row: Row) -> tuple[str, ...]:
    """One selector's cells."""
    from bestofn.cli.output import percent, points

    def interval(ends: tuple[float, float] | None) -> str:
        return "-" if ends is None else f"{points(ends[0])} to {points(ends[1])}"

    return (
        row.selector,
        percent(row.accuracy),
        percent(row.swing_accuracy),
        percent(row.gap_recovered, 0),
        interval(row.ci_vs_pass1),
        "tied" if row.tied_with_pass1 else "",
        interval(row.ci_vs_gate_shortest),
        "tied" if row.tied_with_gate_shortest else "",
        f"OPTIMISTIC: {row.note}" if row.optimistic else row.note,
    )


def _nulls(result: Evaluation) -> list[str]:
    """What shuffled labels give."""

    def line(null: Null, what: str) -> str:
        return (
            f"null    {what}: labels shuffled {null.permutations} times give {null.mean:.1%} on average, "
            f"95th percentile {null.p95:.1%}, p = {null.p_value:.3f}"
        )

    lines = []
    if result.null is not None:
        lines.append(line(result.null, "forward, optimistic"))
    if result.null_nested is not None:
        lines.append(line(result.null_nested, "forward, nested"))
    return lines


def _chosen(result: Evaluation) -> list[str]:
    """How often forward selection chose each feature."""
    if not result.selections:
        return []
    often = ", ".join(f"{name} {n}" for name, n in list(result.chosen.items())[:10]) or "nothing"
    return [f"chosen  forward, in {result.selections} nested selections: {often}"]
