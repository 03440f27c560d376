"""Renders a report's page: the template with everything escaped, and a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bestofn.report.html_evidence import code_name
from bestofn.report.html_svg import svg
from bestofn.report.html_tasks import FLAGS
from bestofn.report.html_text import count, number, one_line, visible
from bestofn.report.plots_cost import cost_words

if TYPE_CHECKING:
    from jinja2 import Environment

    from bestofn.evaluation import Evaluation, Row
    from bestofn.report.html import Report


def render(report: Report) -> str:
    """The whole page."""
    from markupsafe import Markup

    style, script = _file("report.css"), _file("report.js")
    flags = {flag: sum(flag in task.flags for task in report.tasks) for flag in FLAGS}
    page = _environment().get_template("report.html").render(
        report=report,
        name=one_line(report.pool, 120),
        policy=(
            "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
            f"script-src {_hash(script)}; style-src {_hash(style)}; "
            "require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        style=Markup(style),
        script=Markup(script),
        plots=[(plot, Markup(svg(plot))) for plot in report.plots],
        bodies={name: (Markup(body.json), body) for name, body in report.bodies.items()},
        rows=_rows(report.evaluation) if report.evaluation is not None else [],
        flags=[(flag, FLAGS[flag], n) for flag, n in flags.items() if report.labels or flag in ("tie", "missing")],
        trimmed=sum(body.trimmed for body in report.bodies.values()),
        n_trimmed=sum(body.trimmed > 0 for body in report.bodies.values()),
    )  # fmt: skip
    # A half of a character that slipped through cannot be written as UTF-8.
    return page.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_file), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        number=number, visible=visible, percent=_percent, points=_points, code=code_name, line=one_line, cost=cost_words
    )
    environment.globals.update(count=count)
    return environment


def _file(name: str) -> str:
    return (files("bestofn.report") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _percent(share: float, digits: int = 1) -> str:
    """A share as a percentage, halves rounded up; a dash where it cannot be told."""
    if share != share:
        return "\u2013"
    from decimal import ROUND_HALF_UP, Decimal

    exact = Decimal(repr(round(share * 100, 7)))
    return f"{exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)}%".replace("-", "\u2212")


def _points(difference: float) -> str:
    return f"{difference * 100:+.1f}".replace("-", "\u2212")


WIDTH = 150
"""Width of a drawn interval."""


def _rows(result: Evaluation) -> list[dict[str, Any]]:
    """The evaluation's rows with both intervals drawn on one scale."""
    ends = [
        end for row in result.rows for interval in (row.ci_vs_pass1, row.ci_vs_gate_shortest) for end in interval or ()
    ]
    reach = max([0.01, *(abs(end) for end in ends)])

    def place(value: float) -> float:
        return round(WIDTH / 2 + value / reach * (WIDTH / 2 - 6), 1)

    by_name = {row.selector: row for row in result.rows}
    rule = by_name.get("gate-shortest")

    def drawn(row: Row, interval: tuple[float, float] | None, other: float) -> dict[str, Any] | None:
        if interval is None:
            return None
        low, high = interval
        return {
            "low": place(low),
            "high": place(high),
            "middle": place(min(max(row.accuracy - other, -reach), reach)),
            "text": f"{_points(low)} to {_points(high)}",
            "tied": low <= 0.0 <= high,
        }

    return [
        {
            "row": row,
            "pass1": drawn(row, row.ci_vs_pass1, result.figures.pass_at_1),
            "rule": drawn(row, row.ci_vs_gate_shortest, rule.accuracy if rule is not None else float("nan")),
        }
        for row in result.rows
    ]
