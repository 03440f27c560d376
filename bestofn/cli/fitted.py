"""Shows what was fitted: the weights, how they do on pools not seen, and how far a probability can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestofn.cli.output import columns, percent, points

if TYPE_CHECKING:
    from bestofn.pooling import PooledFit
    from bestofn.probability import Probability
    from bestofn.selector import Selector

MOST = 15
"""Weights that the screen shows; the file has all."""


def fitted_content(fitted: PooledFit, command: str) -> dict[str, Any]:
    """What was fitted as plain data: the file's content, and leave-one-pool-out figures."""
    from bestofn.selector_file import to_content

    held_out = [
        {**{k: (None if v != v else v) for k, v in row._asdict().items() if k != "figures"}, **row.figures._asdict()}
        for row in fitted.held_out
    ]
    return {"selector": to_content(fitted.selector, command), "held_out": held_out}


def fitted_shown(fitted: PooledFit, output: Path) -> str:
    """What was fitted, and how good it is."""
    selector = fitted.selector
    lines = _weights(selector, output)
    if fitted.held_out:
        lines += ["", _held_out(fitted)]
    elif selector.path or selector.name in ("reweight", "forward") or selector.probability is None:
        lines += ["", "How good its picks are: bestofn evaluate on the same pool says so, leave-one-task-out."]
    if selector.probability is not None:
        lines += ["", *_probability(selector.probability)]
    return "\n".join(lines)


def _weights(selector: Selector, output: Path) -> list[str]:
    """The weights by which attempts of one task are ranked."""
    weights = sorted(selector.terms, key=lambda term: -abs(term.weight))
    lines = [f"{output}: {selector.name}, {len(weights)} features{', behind the gate' if selector.gate else ''}", ""]
    lines.append(columns(("feature", "weight"), [(t.column, f"{t.weight:+.4f}") for t in weights[:MOST]], right=(1,)))
    if len(weights) > MOST:
        lines.append(f"... and {len(weights) - MOST} more in the file")
    return lines


def _held_out(fitted: PooledFit) -> str:
    """How it does on each pool that it has not seen."""
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
    return columns(header, rows, right=(1, 2, 3, 4, 5, 6))


def _probability(found: Probability) -> list[str]:
    """What the probability is made of, and how good it is on tasks that were left out."""
    measured = found.measured
    terms = sorted(found.terms, key=lambda term: -abs(term.weight))
    lines = [
        f"probability of one attempt, {found.calibration.kind} calibration, of {measured.rows} labelled attempts at "
        f"{measured.tasks} tasks",
        f"  made of  {', '.join(f'{t.column} {t.weight:+.2f}' for t in terms) or 'nothing: no feature says anything'}",
        f"  {found.caveat()}",
        f"  AUC {measured.auc:.2f} ({measured.auc_low:.2f} to {measured.auc_high:.2f}), within tasks "
        f"{measured.auc_within_tasks:.2f}",
        "",
        columns(
            ("told", "attempts", "mean", "passed"),
            [
                (f"{row.low:g} to {row.high:g}", str(row.rows), f"{row.mean:.3f}", f"{row.observed:.3f}")
                for row in found.reliability
            ],
            right=(1, 2, 3),
        ),
        "",
        columns(
            ("error rate", "passes told fail", "fails told pass", "unsure"),
            [
                (f"{r.error_rate:g}", percent(r.passes_told_fail), percent(r.fails_told_pass), percent(r.unsure))
                for r in found.conformal.measured
            ],
            right=(1, 2, 3),
        ),
    ]
    if found.elsewhere:
        header = ("measured on, not fitted", "attempts", "base rate", "Brier", "of the base rate", "AUC", "same kind")
        rows = [
            (
                e.pool,
                str(e.rows),
                percent(e.base_rate),
                f"{e.brier:.3f}",
                f"{e.brier_base_rate:.3f}",
                f"{e.auc:.2f}",
                percent(e.inside),
            )
            for e in found.elsewhere
        ]
        lines += ["", columns(header, rows, right=(1, 2, 3, 4, 5, 6))]
    return lines
