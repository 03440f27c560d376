"""The plots: what they draw is what was measured, and they are safe to put on a page."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from report_pool import ordinary

from bestofn.catalogue import load_pool
from bestofn.errors import UsageError
from bestofn.judged import UNKNOWN, Cost
from bestofn.report.html import Report, report
from bestofn.report.html_svg import svg
from bestofn.report.plots import WithinTask, within_plot, write_plots
from bestofn.report.plots_cost import cost_plot, gap_plot


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report(load_pool(ordinary(tmp_path_factory.mktemp("pool") / "mine")), null=10)


def test_every_plot_is_written_as_png_and_svg_the_same_each_time(made: Report, tmp_path: Path) -> None:
    """Two runs give the same bytes."""
    first = write_plots(made.plots, tmp_path / "one")
    again = write_plots(report(load_pool(made.table.about["pool"]), null=10).plots, tmp_path / "two")
    assert [path.name for path in first] == [
        f"{n}.{e}" for n in ("gap", "null", "within", "codes") for e in ("svg", "png")
    ]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_the_page_form_has_no_style_and_only_its_own_ids(made: Report) -> None:
    """No style attribute or element, colours as classes, and every reference leads to an id of the same plot."""
    for plot in made.plots:
        root = ElementTree.fromstring(svg(plot))
        elements = list(root.iter())
        assert not any("style" in e.attrib or e.tag.endswith(("style", "script", "metadata")) for e in elements)
        ids = {e.attrib["id"] for e in elements if "id" in e.attrib}
        assert all(name.startswith(f"{plot.name}-") for name in ids)
        links = {value[1:] for e in elements for key, value in e.attrib.items() if key.endswith("href")}
        assert links <= ids
        assert any("stroke-pass" in e.get("class", "") or "fill-rule" in e.get("class", "") for e in elements)


def test_names_are_drawn_as_plain_text() -> None:
    """Formulas, tags and turned text in a task's name are neither run nor an error."""
    name = "$\\frac{1}{0$ <script>x</script> \u202e"
    plot = within_plot([WithinTask(name, (1,), (2, 3))], "a$b")
    assert plot is not None
    drawn = svg(plot)
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn
    assert "⟨U+202E⟩" in drawn


def test_the_gap_plot_puts_each_selector_at_its_gap_and_cost(made: Report) -> None:
    """Marks stand at the figures of the evaluation; what a row costs stands beside it, unknown as unknown."""
    assert made.evaluation is not None
    tokens = Cost(2.0, 9000.0, 0.0, 1000.0, float("nan"))
    costs = {"reweight": UNKNOWN, "forward": Cost(2.0, usd=0.25), "policy": tokens}
    plot = gap_plot(made.evaluation, costs)
    assert plot is not None
    axes = plot.figure.axes[0]
    rows = sorted((r for r in made.evaluation.rows if np.isfinite(r.gap_recovered)), key=lambda r: r.gap_recovered)
    marks = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert marks == [row.gap_recovered for row in rows]
    text = svg(plot)
    assert "not known" in text
    assert "$0.25" in text
    assert "10k tokens" in text


def test_the_cost_plot_puts_each_selector_at_its_cost_and_gap_and_names_what_is_unknown(made: Report) -> None:
    """Dollars where any are known, tokens where none are, no plot where nobody was asked; unknown is not at $0."""
    assert made.evaluation is not None
    rows = {row.selector: row for row in made.evaluation.rows}
    costs = {name: Cost() for name in rows} | {"reweight": UNKNOWN, "forward": Cost(2.0, 900.0, 0.0, 100.0, 0.25)}
    plot = cost_plot(made.evaluation, costs)
    assert plot is not None
    (axes,) = plot.figure.axes
    marks = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in axes.lines if line.get_marker() == "o"
    }
    told = [row for name, row in rows.items() if np.isfinite(row.gap_recovered) and name != "reweight"]
    assert marks == {(costs[row.selector].usd, row.gap_recovered) for row in told}
    assert axes.get_xlabel() == "dollars of model calls a task"
    assert plot.caption.endswith("Not drawn, as their cost is not known: reweight.")
    unpriced = cost_plot(made.evaluation, {**costs, "forward": costs["forward"]._replace(usd=float("nan"))})
    assert unpriced is not None
    assert unpriced.figure.axes[0].get_xlabel() == "tokens of model calls a task"
    assert cost_plot(made.evaluation, {name: Cost() for name in rows}) is None
    assert cost_plot(made.evaluation, {}) is None


def test_a_folder_that_cannot_be_written_is_named(made: Report, tmp_path: Path) -> None:
    """The error says where and why."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot write plots to '.*file': File exists"):
        write_plots(made.plots, tmp_path / "file")
