"""The figures of a finding, drawn as the report's plots are: arms with their intervals, and charts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bestofn.ablation.comparison import Comparison, Row
from bestofn.ablation.finding import Chart, Finding
from bestofn.report.html_text import one_line
from bestofn.report.plots import CHANCE, FAIL, INK, PAPER, PASS, RULE, SOFT, Plot, drawing, panel, percent_tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = ((PASS, "-"), (FAIL, "--"), (CHANCE, "-."), (SOFT, ":"), (INK, "-"))
"""Colour and style of a chart's lines, in turn; then the same with markers."""
MARKS = ("", "o", "s", "^")
MOST_ARMS = 60
"""Arms that one figure shows."""


def figures(finding: Finding) -> list[Plot]:
    """One figure a comparison and chart."""
    several = len(finding.comparisons) > 1
    plots = [
        _arms(f"{finding.experiment}-{number}" if several else finding.experiment, comparison)
        for number, comparison in enumerate(finding.comparisons, start=1)
        if any(row.interval is not None for row in comparison.rows)
    ]
    return [*plots, *(_chart(f"{finding.experiment}-{chart.name}", chart) for chart in finding.charts)]


def _arms(name: str, comparison: Comparison) -> Plot:
    """Accuracy of every arm; its bar is the interval of the paired difference, laid around the reference."""
    rows = [row for row in comparison.rows if math.isfinite(row.accuracy)]
    left_out = max(0, len(rows) - MOST_ARMS)
    if left_out:
        rows = sorted(rows, key=lambda row: (row.arm != comparison.reference, -abs(row.difference or 0.0)))[:MOST_ARMS]
    base = comparison.row(comparison.reference).accuracy
    title = ": ".join(part for part in (comparison.pool, comparison.title) if part)
    shown = rows[::-1]
    with drawing():
        figure, axes = panel(7.4, 0.9 + 0.27 * len(shown))
        axes.axvline(base, color=SOFT, lw=0.9)
        for y, row in enumerate(shown):
            _arm(axes, y, row, base)
        axes.set_yticks(range(len(shown)), [one_line(row.arm, 44) for row in shown])
        axes.set_ylim(-0.6, len(shown) - 0.4)
        axes.xaxis.set_major_formatter(percent_tick)
        axes.set_xlabel(f"accuracy over {comparison.n_tasks} tasks; bars: 95% interval of the difference to the line")
        axes.set_title(one_line(title, 90), loc="left", fontsize=9)
        axes.grid(axis="x", color=RULE, lw=0.5)
    caption = (
        f"Line: {comparison.reference}. Filled: resolved. Open: tied with it, or not resolved after correction. "
        "Diamonds: optimistic, reported on labels that the arm was made with."
        + (f" The {left_out} arms with the smallest difference are left out." if left_out else "")
    )
    return Plot(name, title, title, caption, figure)


def _arm(axes: Axes, y: int, row: Row, base: float) -> None:
    colour = CHANCE if row.optimistic else PASS
    if row.interval is not None and not row.optimistic:
        axes.plot([base + end for end in row.interval], [y, y], color=colour, lw=1.4, solid_capstyle="butt")
    face = colour if row.verdict == "resolved" else PAPER
    axes.plot([row.accuracy], [y], "D" if row.optimistic else "o", ms=5.5, mfc=face, mec=colour, mew=1.4)


def _chart(name: str, chart: Chart) -> Plot:
    """Lines with their bands."""
    from matplotlib.ticker import MaxNLocator

    with drawing():
        figure, axes = panel(7.4, 3.9)
        for number, series in enumerate(chart.series):
            colour, style = LINES[number % len(LINES)]
            mark = MARKS[(number // len(LINES)) % len(MARKS)] or ("o" if len(series.x) == 1 else "")
            style = "none" if len(series.x) == 1 else style
            how: dict[str, Any] = {"drawstyle": "steps-post"} if chart.steps else {}
            axes.plot(series.x, series.y, color=colour, ls=style, lw=1.5, marker=mark, ms=4.5, label=series.name, **how)
            if series.low is not None and series.high is not None:
                axes.fill_between(series.x, series.low, series.high, color=colour, alpha=0.12, lw=0)
        positive = [x for series in chart.series for x in series.x if x > 0.0]
        if chart.log_x and positive:
            axes.set_xscale("symlog", linthresh=min(positive) / 2.0)
            axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.4g}")
        elif all(x == round(x) for series in chart.series for x in series.x):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_title(one_line(chart.title, 90), loc="left", fontsize=9)
        axes.set_xlabel(chart.x_label)
        axes.set_ylabel(chart.y_label)
        axes.yaxis.set_major_formatter(percent_tick)
        axes.grid(color=RULE, lw=0.5)
        if len(chart.series) > 1:
            figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8.5)
    return Plot(name, chart.title, chart.title, chart.note, figure)
