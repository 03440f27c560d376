"""A finding as a plain table for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bestofn.cli.output import columns, percent, points

if TYPE_CHECKING:
    from bestofn.ablation.comparison import Comparison, Row
    from bestofn.ablation.finding import Cell, Finding, Sheet
    from bestofn.ablation.significance import Resolution

WORDS = (
    "words   interval: paired bootstrap over tasks; moved: tasks whose two expected outcomes differ; p: exact, with",
    "        the picks of each task exchanged (against random: with picks drawn at random); Holm: p corrected for",
    "        the table; tied: the interval holds 0; open: it does not, but Holm is above 0.05; resolved: neither;",
    "        partial: over 5% of a compared arm's scores are missing, and the difference is about those as well",
)
"""What the words in the tables mean."""


def finding_shown(finding: Finding) -> str:
    """Question, pools, every table with what stands beside it, remarks, and what lacks."""
    blocks = [f"{finding.experiment}: {finding.question}\nsource  {finding.source}", "\n".join(_pools(finding))]
    several = len(finding.pools) > 1
    blocks += [_comparison(comparison, several) for comparison in finding.comparisons]
    blocks += [_sheet(sheet) for sheet in finding.sheets]
    notes = [*WORDS] if finding.comparisons else []
    notes += _lacking(finding, several)
    notes += [f"note    {remark}" for remark in finding.remarks]
    return "\n\n".join([*blocks, *(["\n".join(notes)] if notes else [])])


def _pools(finding: Finding) -> list[str]:
    lines = []
    for pool in finding.pools:
        figures = pool.figures
        unknown = f", {figures.n_unknown} attempts with unknown label (counted nowhere)" if figures.n_unknown else ""
        lines += [
            f"pool    {pool.name}: {figures.n_tasks} tasks, {figures.n_swing} swing tasks, "
            f"{pool.n_attempts} attempts{unknown}",
            f"        Pass@1 {percent(figures.pass_at_1)}, oracle {percent(figures.oracle)}; one task is "
            f"{100 / max(figures.n_tasks, 1):.1f} points; the smallest difference it can resolve is "
            f"{_least(pool.resolution)}",
        ]
    return lines


def _least(resolution: Resolution) -> str:
    k = resolution.tasks
    if math.isnan(resolution.difference):
        return f"none (it would take {k} swing tasks, all one way)"
    return f"{points(resolution.difference)[1:]} points ({k} tasks, all one way: p = 2 x 2^-{k})"


def _comparison(comparison: Comparison, several: bool) -> str:
    rows = comparison.rows
    judged = any(row.asked for row in rows)
    costs = any(math.isfinite(row.cost.calls) and row.cost.calls > 0 for row in rows)
    header = ["arm", "accuracy", "gap", f"vs {comparison.reference}", "95% interval", "moved", "p", "Holm", ""]
    header += ["missing"] if judged else []
    header += ["calls", "tokens", "cached", "usd"] if costs else []
    header += [""]
    body = [_cells(row, judged, costs) for row in rows]
    title = " ".join(part for part in (comparison.pool if several else "", comparison.title) if part)
    table = columns(header, body, right=(1, 2, 3, 5, 6, 7, *range(9, len(header) - 1)))
    return f"{title}\n{table}" if title else table


def _cells(row: Row, judged: bool, costs: bool) -> tuple[str, ...]:
    cells = [
        row.arm,
        percent(row.accuracy),
        percent(row.gap_recovered, 0),
        "-" if row.difference is None else points(row.difference),
        "-" if row.interval is None else f"{points(row.interval[0])} to {points(row.interval[1])}",
        "-" if row.moved is None else str(row.moved),
        _p(row.p),
        _p(row.p_holm),
        row.verdict,
    ]
    if judged:
        cells.append(f"{row.missing} of {row.asked}" if row.asked else "")
    if costs:
        cost = row.cost
        cells += [_number(cost.calls), _number(cost.tokens), _number(cost.cached_tokens), _dollars(cost.usd)]
    said = [f"no figure: {row.why}"] if row.why else ["OPTIMISTIC" if row.optimistic else "", row.note or row.what]
    return (*cells, "; ".join(part for part in said if part))


def _sheet(sheet: Sheet) -> str:
    numbers = [
        place for place in range(len(sheet.header)) if any(isinstance(row[place], int | float) for row in sheet.rows)
    ]
    table = columns(sheet.header, [tuple(map(_cell, row)) for row in sheet.rows], right=numbers)
    return "\n".join(part for part in (sheet.title, table, sheet.note) if part)


def _lacking(finding: Finding, several: bool) -> list[str]:
    """Which arms have no figure, why, and how to get it; arms that lack the same stand together."""
    together: dict[tuple[str, str, str], list[str]] = {}
    for pool, arm, why, how in finding.lacking:
        together.setdefault((pool, why, how), []).append(arm)
    lines = []
    for (pool, why, how), arms in together.items():
        where = f" ({pool})" if several else ""
        lines.append(f"lacks   {', '.join(arms)}{where}: {why}")
        lines += [f"        to get it: {how}"] if how else []
    return lines


def _cell(cell: Cell) -> str:
    from bestofn.ablation.finding import Points, PValue, Share

    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "-"
    if isinstance(cell, Share):
        return percent(float(cell))
    if isinstance(cell, Points):
        return points(float(cell))
    if isinstance(cell, PValue):
        return _p(float(cell))
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)


def _p(p: float | None) -> str:
    return "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _dollars(usd: float) -> str:
    return "not known" if math.isnan(usd) else f"${usd:.4g}"
