"""`bestofn fit`: a selector fitted on one or several labelled pools, as a file."""

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
    PassAtOption,
    PoolsOption,
    ProblemsOption,
    QuietOption,
    StrictOption,
    UnknownAsFailOption,
)

if TYPE_CHECKING:
    from bestofn.pooling import PooledFit


def fit(
    pools: PoolsOption,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the selector.toml.")],
    kind: Annotated[str, typer.Option("--kind", metavar="NAME", help="'reweight' or 'forward'.")] = "reweight",
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="A,B,...", help="Candidate features. Default: all.", show_default=False),
    ] = None,
    max_features: Annotated[int, typer.Option("--max-features", min=1, help="Most features `forward` selects.")] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Start of the bootstrap.")] = 0,
    json: JsonOption = False,
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
    """Fit a selector on labelled pools and write it as a TOML file that a person can read.

    With several pools, what is fitted on the others is also tried on each of them, tasks of the same name left out.

    Example: bestofn fit --pool demo -o selector.toml
    """
    from bestofn.cli.output import to_json, write
    from bestofn.cli.reading import Reading
    from bestofn.errors import UsageError
    from bestofn.pooling import PoolTable, fit_pools
    from bestofn.selector_file import to_content, write_selector

    if output.suffix != ".toml":
        raise UsageError(f"cannot write '{output}': the ending must be .toml")
    names = [name.strip() for name in columns.split(",") if name.strip()] if columns is not None else None
    reading = Reading(features, format, jobs, strict, keep_going, quiet, pass_at, unknown_as_fail, problems)
    tables = [PoolTable(name, reading.table(name, names)) for name in pools]
    fitted = fit_pools(tables, kind=kind, max_features=max_features, seed=seed)
    command = "bestofn fit " + " ".join(f"--pool {name}" for name in pools) + f" --kind {kind}"
    write_selector(fitted.selector, output, created_by=command)
    if json:
        write(to_json({"selector": to_content(fitted.selector, command), "held_out": _held_out(fitted)}), None)
    else:
        write(_shown(fitted, output), None)


def _held_out(fitted: PooledFit) -> list[dict[str, object]]:
    """Leave-one-pool-out figures as plain data."""
    return [
        {**{k: (None if v != v else v) for k, v in row._asdict().items() if k != "figures"}, **row.figures._asdict()}
        for row in fitted.held_out
    ]


def _shown(fitted: PooledFit, output: Path) -> str:
    """What was fitted, and how it does on pools it has not seen."""
    from bestofn.cli.output import columns, percent, points

    selector = fitted.selector
    weights = sorted(selector.terms, key=lambda term: -abs(term.weight))
    lines = [f"{output}: {selector.name}, {len(weights)} features{', behind the gate' if selector.gate else ''}", ""]
    lines.append(columns(("feature", "weight"), [(t.column, f"{t.weight:+.4f}") for t in weights[:15]], right=(1,)))
    if len(weights) > 15:
        lines.append(f"... and {len(weights) - 15} more in the file")
    if fitted.held_out:
        rows = [
            (
                row.pool,
                percent(row.accuracy),
                percent(row.gap_recovered, 0),
                percent(row.figures.pass_at_1),
                percent(row.gate_shortest),
                percent(row.figures.oracle),
                "-" if row.ci_vs_pass1 is None else f"{points(row.ci_vs_pass1[0])} to {points(row.ci_vs_pass1[1])}",
                f"{row.learned_from} swing tasks, {row.removed} tasks of the same name removed",
            )
            for row in fitted.held_out
        ]
        header = ("held-out pool", "accuracy", "gap", "Pass@1", "gate-shortest", "oracle", "vs Pass@1", "learned from")
        lines += ["", columns(header, rows, right=(1, 2, 3, 4, 5, 6))]
    else:
        lines += ["", "How good it is: bestofn evaluate on the same pool says so, leave-one-task-out."]
    return "\n".join(lines)
