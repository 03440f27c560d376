"""The report's plots, drawn with matplotlib: as SVG that takes the page's colours, and as PNG and SVG files.

What is a figure here is data about a pool: nothing comes from recordings but names, drawn as plain text.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bestofn.errors import UsageError
from bestofn.report.html_text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bestofn.evaluation import Evaluation
    from bestofn.metrics import Floats
    from bestofn.permutation import Null
    from bestofn.report.html_codes import CodeFigures

INK, SOFT, RULE = "#1f2328", "#59636e", "#c9d1d9"
PASS, FAIL, CHANCE, PAPER = "#2166ac", "#b8500c", "#8a6d00", "#ffffff"
COLOURS = {INK: "ink", SOFT: "soft", RULE: "rule", PASS: "pass", FAIL: "fail", CHANCE: "chance", PAPER: "paper"}
"""Every colour that is drawn, and the name under which the page gives it, light or dark."""
MOST_TASKS = 80
"""Swing tasks that one plot shows."""


class Plot(NamedTuple):
    """One figure with what it shows in words."""

    name: str
    title: str
    short: str
    """The title in a list of links."""
    caption: str
    figure: Figure


class WithinTask(NamedTuple):
    """One swing task's attempts by rank."""

    task: str
    passing: tuple[float, ...]
    """Ranks of the passing attempts, 1 is the pick; equal scores share a rank."""
    failing: tuple[float, ...]


def null_plot(result: Evaluation) -> Plot | None:
    """What forward selection reports under shuffled labels, with the observed value; None without permutations."""
    shuffled = result.shuffled
    shown: list[tuple[str, Null, Floats]] = []
    if shuffled is not None and result.null is not None:
        shown.append(("selected and reported on the same tasks", result.null, shuffled.optimistic))
    if shuffled is not None and result.null_nested is not None and shuffled.nested is not None:
        shown.append(("nested: selection redone without each task", result.null_nested, shuffled.nested))
    if not shown:
        return None
    accuracy = {row.selector: row.accuracy for row in result.rows}
    # All panels on one grid of bins, each a task or more wide, so that they can be compared.
    low = min(min(float(values.min()), accuracy[null.selector]) for _, null, values in shown)
    high = max(max(float(values.max()), accuracy[null.selector]) for _, null, values in shown)
    width = max(1 / max(result.figures.n_tasks, 1), (high - low) / 30)
    bins = np.arange(low - width, high + 2 * width, width)
    with drawing():
        figure, panels = panels_of(7.4, 1.75 * len(shown) + 0.35, len(shown))
        for axes, (what, null, values) in zip(panels, shown, strict=True):
            axes.hist(values, bins=list(bins), color=RULE, edgecolor=PAPER, lw=0.4)
            axes.axvline(accuracy[null.selector], color=FAIL, lw=2.2)
            axes.axvline(null.p95, color=INK, lw=1.0, ls=(0, (3, 3)))
            axes.set_title(
                f"{what}: observed {accuracy[null.selector]:.1%}, p = {null.p_value:.3f}", loc="left", fontsize=9
            )
            axes.set_ylabel("shuffles")
            axes.xaxis.set_major_formatter(percent_tick)
        panels[-1].set_xlabel("accuracy over all tasks")
    caption = (
        f"Grey: accuracy of forward selection with labels shuffled within tasks, {shown[0][1].permutations} times. "
        "Solid line: with the true labels. Dashed: 95th percentile of the shuffles. "
        "Left of the dashed line, the observed figure is what chance gives."
    )
    return Plot("null", "What shuffled labels give", "Shuffled labels", caption, figure)


def codes_plot(codes: CodeFigures) -> Plot | None:
    """Fired codes of passing and failing attempts, and the fewest-codes pick; None without both kinds."""
    if not len(codes.passing) or not len(codes.failing):
        return None
    from matplotlib.ticker import MaxNLocator

    most = int(max(codes.passing.max(), codes.failing.max()))
    with drawing():
        figure, (left, right) = panels_of(7.4, 2.9, 2, across=True, ratios=(2.3, 1))
        for shift, values, colour, name, hatch in (
            (-0.2, codes.passing, PASS, "pass", ""),
            (0.2, codes.failing, FAIL, "fail", "////"),
        ):
            heights = np.bincount(values.astype(np.intp), minlength=most + 1)
            left.bar(
                np.arange(most + 1) + shift, heights, 0.38, facecolor=colour if not hatch else PAPER, edgecolor=colour,
                hatch=hatch, lw=1.0, label=f"{name} (n={len(values)}), median {np.median(values):g}",
            )  # fmt: skip
            top = left.get_ylim()[1]
            left.plot([float(np.median(values))], [top * 1.02], "v", color=colour, ms=7, clip_on=False)
        left.set_xlabel("codes fired in an attempt")
        left.set_ylabel("attempts of swing tasks")
        left.xaxis.set_major_locator(MaxNLocator(integer=True))
        left.legend(frameon=False, fontsize=8.5, loc="upper right")
        left.set_ylim(0, left.get_ylim()[1] * 1.12)
        names, shares = ("random pick", "fewest codes"), (codes.uniform, codes.accuracy)
        right.bar(names, shares, 0.55, facecolor=PAPER, edgecolor=[SOFT, PASS], lw=1.2)
        for x, share in enumerate(shares):
            right.text(x, share + 0.015, f"{share:.0%}", ha="center", va="bottom", color=INK)
        right.set_ylim(0, max(1.0, max(shares) + 0.1))
        right.yaxis.set_major_formatter(percent_tick)
        right.set_ylabel("accuracy over swing tasks")
        right.set_title(f"p = {codes.p_value:.3f}", loc="left", fontsize=9)
    caption = (
        "Left: how many codes fire in passing and in failing attempts of the same tasks; triangles mark the medians. "
        f"Right: picking the attempt with the fewest fired codes; p from {codes.permutations:,} shuffles of the "
        "outcomes within tasks."
    )
    return Plot("codes", "Fired codes and outcome", "Fired codes", caption, figure)


def within_plot(tasks: Sequence[WithinTask], selector: str) -> Plot | None:
    """Where passing and failing attempts stand in each swing task's ranking; None without swing tasks."""
    if not tasks:
        return None
    from matplotlib.ticker import MaxNLocator

    def pass_advantage(task: WithinTask) -> float:
        return float(np.mean(task.passing or (0.0,)) - np.mean(task.failing or (0.0,)))

    shown = sorted(tasks, key=lambda task: (-pass_advantage(task), task.task))[-MOST_TASKS:]
    with drawing():
        figure, axes = panel(7.4, 1.0 + 0.235 * len(shown))
        for y, task in enumerate(shown):
            axes.axhline(y, color=RULE, lw=0.6, zorder=0)
            for ranks, style, lift in ((task.failing, "x", -0.13), (task.passing, "o", 0.13)):
                colour = PASS if style == "o" else FAIL
                for rank in sorted(set(ranks)):
                    n = ranks.count(rank)
                    places = rank + (np.arange(n) - (n - 1) / 2) * 0.13
                    both = rank in task.passing and rank in task.failing
                    heights = [y + (lift if both else 0.0)] * n
                    axes.plot(places, heights, style, color=colour, mfc=colour, ms=5.5, mew=1.5)
        axes.set_yticks(range(len(shown)), [one_line(task.task, 44) for task in shown])
        axes.set_ylim(-0.7, len(shown) - 0.3)
        most = max(rank for task in shown for rank in (*task.passing, *task.failing))
        axes.set_xlim(0.5, most + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(f"rank within its task under {one_line(selector, 40)}; 1 is the pick")
        axes.plot([], [], "o", color=PASS, ms=5.5, label="passes")
        axes.plot([], [], "x", color=FAIL, ms=5.5, mew=1.5, label="fails")
        axes.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize=8.5, borderpad=0)
    left_out = len(tasks) - len(shown)
    caption = (
        "Each row is a swing task, each mark an attempt. A good ranking has its dots on the left and its crosses on "
        "the right; tasks are in order of how far it has. Marks side by side share their rank."
        + (f" The {left_out} tasks with the worst ranking are left out." if left_out else "")
    )
    return Plot("within", "Passing against failing attempts within tasks", "Within tasks", caption, figure)


def write_plots(plots: Sequence[Plot], folder: Path) -> list[Path]:
    """Each plot as `<name>.svg` and `<name>.png`. Raises UsageError for a folder that cannot be written."""
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for plot in plots:
            for form in ("svg", "png"):
                path = folder / f"{plot.name}.{form}"
                with drawing(plot.name):
                    metadata = {"Date": None} if form == "svg" else {"Software": None}
                    plot.figure.savefig(path, format=form, dpi=180, facecolor=PAPER, metadata=metadata)
                written.append(path)
    except OSError as error:
        raise UsageError(f"cannot write plots to '{folder}': {error.strerror or error}") from error
    return written


@contextmanager
def drawing(salt: str = "bestofn") -> Iterator[None]:
    """How everything is drawn: text as plain text, the same bytes every time, no word about lacking glyphs."""
    import matplotlib

    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "text.parse_math": False,
        "axes.formatter.use_mathtext": False,
        "font.family": "sans-serif",
        "font.size": 9.0,
        "axes.edgecolor": SOFT,
        "axes.linewidth": 0.8,
        "axes.labelcolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.titlecolor": INK,
        "xtick.color": SOFT,
        "ytick.color": SOFT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "text.color": INK,
        "legend.labelcolor": INK,
        "hatch.linewidth": 0.8,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "axes.unicode_minus": True,
    }
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def panel(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of one panel."""
    figure, panels = panels_of(width, height, 1)
    return figure, panels[0]


def panels_of(
    width: float, height: float, n: int, *, across: bool = False, ratios: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure of n panels, on no screen and kept by nobody but the caller."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    if across:
        axes = figure.subplots(1, n, squeeze=False, width_ratios=ratios)
    else:
        axes = figure.subplots(n, 1, squeeze=False, sharex=True)
    return figure, list(axes.ravel())


def percent_tick(share: float, _: object = None) -> str:
    """A share as an axis shows it."""
    return f"{share * 100:.0f}%"
