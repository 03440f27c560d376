"""What an experiment found: comparisons, further tables, charts and remarks, as data for machines and for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bestofn.ablation.comparison import TIED, Comparison
from bestofn.ablation.significance import Resolution
from bestofn.metrics import DECIMALS, PoolFigures

Cell = str | float | int | None
"""One cell of a table: text, a number as it is, a `Share`, `Points` or `PValue`; None where it cannot be told."""


class Share(float):
    """A share from 0 to 1, shown as a percentage."""


def share(value: float) -> Cell:
    """A share as a cell."""
    return None if math.isnan(value) else Share(value)


def rounded(value: float) -> Cell:
    """A figure as a cell, to three decimals."""
    return None if math.isnan(value) else float(round(value, 3))


class Points(float):
    """A difference of shares, shown in percentage points."""


class PValue(float):
    """A p-value, shown to three decimals."""


@dataclass(frozen=True)
class Sheet:
    """A further table."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """Cells as wide as the header."""
    note: str = ""
    """What to know of it, under the table."""

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.header) for row in self.rows), f"{self.title}: rows and header differ"


class Series(NamedTuple):
    """One line of a chart."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] | None = None
    """Lower ends of an interval around each y."""
    high: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Chart:
    """What a figure shows: lines over a common axis, shares upwards."""

    name: str
    """Name of its files."""
    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    note: str = ""
    steps: bool = False
    """Draw steps instead of slopes, as a frontier is."""
    log_x: bool = False


class PoolShown(NamedTuple):
    """A pool's own figures in a finding."""

    name: str
    digest: str
    """`FeatureTable.digest` of the rows that the finding was made from."""
    n_attempts: int
    figures: PoolFigures
    resolution: Resolution


Piece = Comparison | Sheet | Chart | str
"""What an experiment gives, piece by piece; a string is a remark."""


@dataclass(frozen=True)
class Finding:
    """The result of one experiment."""

    experiment: str
    question: str
    source: str
    """Where the question comes from."""
    pools: tuple[PoolShown, ...]
    comparisons: tuple[Comparison, ...]
    sheets: tuple[Sheet, ...]
    charts: tuple[Chart, ...]
    remarks: tuple[str, ...]
    settings: Mapping[str, Any]
    """Seeds and numbers of draws, the judge where there is one."""

    @property
    def lacking(self) -> tuple[tuple[str, str, str, str], ...]:
        """(pool, arm, why, how) of every arm without a figure, each once."""
        rows = [(c.pool, row.arm, row.why, row.how) for c in self.comparisons for row in c.rows if row.why]
        return tuple(dict.fromkeys(rows))

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON: numbers to nine decimals, None where there is none."""
        return {
            "experiment": self.experiment,
            "question": self.question,
            "source": self.source,
            "pools": [
                {
                    "name": pool.name,
                    "digest": pool.digest,
                    "n_attempts": pool.n_attempts,
                    **plain(pool.figures._asdict()),
                    "smallest_resolvable": plain(pool.resolution._asdict()),
                }
                for pool in self.pools
            ],
            "comparisons": [_comparison(c) for c in self.comparisons],
            "tables": [
                {"title": s.title, "header": list(s.header), "rows": plain(s.rows), "note": s.note} for s in self.sheets
            ],
            "charts": [_chart(c) for c in self.charts],
            "lacking": [dict(zip(("pool", "arm", "why", "how"), row, strict=True)) for row in self.lacking],
            "remarks": list(self.remarks),
            "settings": plain(self.settings),
        }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    rows = []
    for row in comparison.rows:
        content = {**plain(row._asdict()), "tied": row.verdict == TIED}
        content["cost"] = plain(row.cost._asdict())
        rows.append(content)
    return {
        "title": comparison.title,
        "pool": comparison.pool,
        "reference": comparison.reference,
        "n_tasks": comparison.n_tasks,
        "n_swing": comparison.n_swing,
        "smallest_resolvable": plain(comparison.resolution._asdict()),
        "smallest_resolvable_holm": plain(comparison.resolution_holm._asdict()),
        "rows": rows,
    }


def _chart(chart: Chart) -> dict[str, Any]:
    return {
        "name": chart.name,
        "title": chart.title,
        "x": chart.x_label,
        "y": chart.y_label,
        "series": [plain(series._asdict()) for series in chart.series],
        "note": chart.note,
    }


def plain(value: Any) -> Any:
    """The same as JSON can hold it: no NaN, no tuples, no numpy, nine decimals."""
    if isinstance(value, bool) or value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return round(float(value), DECIMALS) + 0.0 if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    return plain(value.item())
