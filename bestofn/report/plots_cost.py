"""The report's plots of what selection gains and what it costs: every selector's gap, alone and over its cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bestofn.report.html_text import one_line
from bestofn.report.plots import CHANCE, INK, PAPER, PASS, RULE, SOFT, Plot, drawing, panel, percent_tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bestofn.evaluation import Evaluation, Row
    from bestofn.judged import Cost


NAMED = 3
"""Names beside one mark before the rest is counted."""


def gap_plot(result: Evaluation, costs: Mapping[str, Cost]) -> Plot | None:
    """Gap recovered of every selector with its interval, against what it costs; None where the pool leaves no gap.

    Parameters
    ----------
    costs
        What each row's scores take of a model, a task; empty where no model was asked.
    """
    figures = result.figures
    gap = figures.oracle - figures.pass_at_1
    rows = [row for row in result.rows if math.isfinite(row.gap_recovered)]
    if not rows:
        return None
    rows.sort(key=lambda row: row.gap_recovered)
    with drawing():
        figure, axes = panel(7.4, 0.9 + 0.27 * len(rows))
        axes.axvline(0.0, color=SOFT, lw=0.9)
        axes.axvline(1.0, color=SOFT, lw=0.9, ls=(0, (3, 3)))
        for y, row in enumerate(rows):
            colour = CHANCE if row.optimistic else PASS
            if row.ci_vs_pass1 is not None:
                axes.plot([end / gap for end in row.ci_vs_pass1], [y, y], color=colour, lw=1.4, solid_capstyle="butt")
            face = PAPER if row.optimistic else colour
            axes.plot([row.gap_recovered], [y], "o", ms=5.5, mfc=face, mec=colour, mew=1.4)
        axes.set_yticks(range(len(rows)), [one_line(row.selector, 40) for row in rows])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.xaxis.set_major_formatter(percent_tick)
        axes.set_xlabel("gap recovered: 0% is a random pick, 100% the best attempt of every task")
        right = axes.secondary_yaxis("right")
        right.set_yticks(range(len(rows)), [cost_words(costs.get(row.selector)) for row in rows])
        right.tick_params(length=0, labelcolor=SOFT)
        right.spines["right"].set_visible(False)
        axes.set_title("model cost a task", loc="right", fontsize=8.5, color=SOFT)
        axes.grid(axis="x", color=RULE, lw=0.5)
    free = all(costs[row.selector].calls == 0.0 for row in rows if row.selector in costs)
    caption = (
        "Dots: share of the way from a random pick to the best attempt. Bars: 95% bootstrap interval of the paired "
        "difference to a random pick. Hollow: optimistic, reported on labels that it was made with. "
        + ("No row here asks a model, so none costs more than reading the recordings." if free else "")
    )
    return Plot("gap", "Gap recovered against cost", "Gap and cost", caption.strip(), figure)


def cost_plot(result: Evaluation, costs: Mapping[str, Cost]) -> Plot | None:
    """Gap recovered over what it costs, a mark a selector; None where no row is known to take anything of a model.

    Dollars where a price is known; tokens where none is.
    """
    rows = [row for row in result.rows if math.isfinite(row.gap_recovered) and row.selector in costs]
    unit = next((unit for unit in ("usd", "tokens") if any(getattr(costs[r.selector], unit) > 0 for r in rows)), None)
    if unit is None:
        return None
    amounts = {row.selector: float(getattr(costs[row.selector], unit)) for row in rows}
    drawn = [row for row in rows if math.isfinite(amounts[row.selector])]
    least = min(amount for amount in amounts.values() if amount > 0)
    gap = result.figures.oracle - result.figures.pass_at_1
    with drawing():
        figure, axes = panel(7.4, max(3.4, 1.1 + 0.2 * len(drawn)))
        axes.axhline(0.0, color=SOFT, lw=0.9)
        axes.axhline(1.0, color=SOFT, lw=0.9, ls=(0, (3, 3)))
        axes.set_xscale("symlog", linthresh=least / 2, linscale=0.6)
        for row in drawn:
            x, colour = amounts[row.selector], CHANCE if row.optimistic else PASS
            if x > 0 and row.ci_vs_pass1 is not None:
                axes.plot([x, x], [end / gap for end in row.ci_vs_pass1], color=colour, lw=1.0)
            face = PAPER if row.optimistic else colour
            axes.plot([x], [row.gap_recovered], "o", ms=5.5, mfc=face, mec=colour, mew=1.4)
        best = _frontier(drawn, amounts)
        axes.step(
            [x for x, _ in best], [y for _, y in best], where="post", color=SOFT, lw=1.0, ls=(0, (1, 2)), zorder=0
        )
        axes.set_xlim(-least / 6, max(amounts[row.selector] for row in drawn) * 1.6)
        ticks = _ticks(least, max(amounts[row.selector] for row in drawn))
        words = [f"${tick:g}" if unit == "usd" else _short(tick) for tick in ticks]
        axes.set_xticks([0.0, *ticks], ["$0" if unit == "usd" else "0", *words])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(percent_tick)
        axes.set_ylabel("gap recovered")
        axes.set_xlabel("dollars of model calls a task" if unit == "usd" else "tokens of model calls a task")
        _name_beside(axes, drawn, amounts)
        axes.grid(axis="y", color=RULE, lw=0.5)
    unknown = ", ".join(one_line(row.selector, 40) for row in rows if row not in drawn)
    caption = (
        "Up is better, left is cheaper. The dotted line is the best that so much buys. Bars: 95% intervals, of rows "
        "that cost something. A score costs what it took to ask for it, whether or not it came from a cache now"
        + ("" if unit == "usd" else ", counted in tokens since no price above 0 is known")
        + ". A selector that is fitted costs what it reads once it is fitted."
        + (f" Not drawn, as their cost is not known: {unknown}." if unknown else "")
    )
    return Plot("cost", "What the gap costs", "Cost", caption, figure)


def _frontier(rows: Sequence[Row], amounts: Mapping[str, float]) -> list[tuple[float, float]]:
    """The rows, honest ones alone, that nothing as cheap beats: (amount, gap recovered), ascending."""
    best: list[tuple[float, float]] = []
    for row in sorted(rows, key=lambda row: (amounts[row.selector], -row.gap_recovered)):
        if not row.optimistic and (not best or row.gap_recovered > best[-1][1]):
            best.append((amounts[row.selector], row.gap_recovered))
    return best


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten from about `low` to about `high`, or twos and fives between where these are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside = [10.0**p * step for p in powers for step in (1, 2, 5) if low * 0.7 <= 10.0**p * step <= high * 1.4]
    whole = [tick for tick in inside if math.isclose(math.log10(tick) % 1, 0, abs_tol=1e-9)]
    return whole if len(whole) > 2 else inside


def _name_beside(axes: Axes, rows: Sequence[Row], amounts: Mapping[str, float]) -> None:
    """The names at each place in a list on the right, in order of their gap, each with a line to its mark."""
    places: dict[tuple[float, float], list[str]] = {}
    for row in sorted(rows, key=lambda row: (row.gap_recovered, -amounts[row.selector])):
        places.setdefault((amounts[row.selector], row.gap_recovered), []).append(one_line(row.selector, 34))
    for number, (place, names) in enumerate(places.items()):
        more = f"\nand {len(names) - NAMED} more" if len(names) > NAMED else ""
        axes.annotate(
            "\n".join(names[:NAMED]) + more, place, (1.03, (number + 0.5) / len(places)),
            textcoords="axes fraction", va="center", ha="left", fontsize=8, color=INK, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": RULE, "lw": 0.7, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 3},
        )  # fmt: skip


def cost_words(cost: Cost | None) -> str:
    """What scores take a task: dollars; tokens where only these are known; None is of a row that asks nobody."""
    if cost is None or cost.calls == 0.0:
        return "$0"
    if math.isfinite(cost.usd):
        return f"${cost.usd:.2g}"
    return f"{_short(cost.tokens)} tokens" if math.isfinite(cost.tokens) else "not known"


def _short(number: float) -> str:
    """A count in few letters, such as '12.3k'."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"
