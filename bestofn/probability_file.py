"""The table [probability] of a selector file, read strictly and written so that it reads back the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from bestofn import conformal, probability
from bestofn.calibration import Bin, Calibration
from bestofn.conformal import Conformal
from bestofn.errors import ContentError
from bestofn.probability import Elsewhere, Guard, Probability, Term
from bestofn.schema import Check, checked, column, integer, number, share, shares, table, tables, text, truth


def probability_content(found: Probability) -> dict[str, Any]:
    """What stands in the file, in the order in which it stands there."""
    c = found.calibration
    a_b_c = dict(zip("abc", c.parameters, strict=False))
    return {
        "intercept": found.intercept,
        "terms": [term._asdict() for term in found.terms],
        "calibration": {"kind": c.kind, **(a_b_c or {"x": list(c.x), "y": list(c.y)})},
        "measured": found.measured._asdict(),
        "reliability": [row._asdict() for row in found.reliability],
        "elsewhere": [row._asdict() for row in found.elsewhere],
        "conformal": {
            "passes": list(found.conformal.passes),
            "fails": list(found.conformal.fails),
            "measured": [row._asdict() for row in found.conformal.measured],
        },
        "guards": [guard._asdict() for guard in found.guards],
        "banks": dict(found.banks),
    }


def read_probability(content: Mapping[str, Any], place: str) -> Probability:
    """The model that parsed TOML describes. Raises ContentError naming the place and the key that is wrong."""
    top = checked(content, TOP, set(TOP) - {"elsewhere", "guards"}, place)
    terms = _rows(top["terms"], TERM, Term, f"{place}, terms")
    columns = [term.column for term in terms]
    doubled = sorted({name for name in columns if columns.count(name) > 1})
    if doubled:
        raise ContentError(f"{place}: terms name {', '.join(doubled)} twice")
    for term in terms:
        if term.scale <= 0.0 or term.low > term.high:
            raise ContentError(f"{place}, term '{term.column}': scale must be above 0, and low not above high")
    measured = checked(top["measured"], MEASURED, set(MEASURED), f"{place}, measured")
    if measured["brier_base_rate"] <= 0.0:
        raise ContentError(
            f"{place}, measured: brier_base_rate must be above 0: without both outcomes nothing is fitted"
        )
    return Probability(
        intercept=top["intercept"],
        terms=terms,
        calibration=_calibration(top["calibration"], f"{place}, calibration"),
        conformal=_conformal(top["conformal"], f"{place}, conformal"),
        measured=probability.Measured(**measured),
        reliability=_rows(top["reliability"], BIN, Bin, f"{place}, reliability"),
        elsewhere=_rows(top.get("elsewhere", []), ELSEWHERE, Elsewhere, f"{place}, elsewhere"),
        guards=_rows(top.get("guards", []), GUARD, Guard, f"{place}, guards"),
        banks={name: text(value) for name, value in top["banks"].items()},
    )


def _calibration(content: Mapping[str, Any], place: str) -> Calibration:
    kind = content.get("kind")
    if kind == "beta":
        found = checked(content, BETA, set(BETA), place)
        if found["a"] < 0.0 or found["b"] < 0.0:
            raise ContentError(f"{place}: a and b must not be below 0, or a better score would be a worse chance")
        return Calibration("beta", parameters=(found["a"], found["b"], found["c"]))
    if kind == "isotonic":
        found = checked(content, ISOTONIC, set(ISOTONIC), place)
        if not found["x"] or len(found["x"]) != len(found["y"]):
            raise ContentError(f"{place}: x and y must hold as many numbers as each other, at least one")
        return Calibration("isotonic", x=found["x"], y=found["y"])
    raise ContentError(f"{place}: kind = {kind!r}, but it must be 'beta' or 'isotonic'")


def _conformal(content: Mapping[str, Any], place: str) -> Conformal:
    found = checked(content, CONFORMAL, {"passes", "fails"}, place)
    if not found["passes"] or not found["fails"]:
        raise ContentError(f"{place}: passes and fails must each hold at least one probability")
    measured = _rows(found.get("measured", []), RATES, conformal.Measured, f"{place}, measured")
    return Conformal(found["passes"], found["fails"], measured)


Row = TypeVar("Row", bound=tuple[Any, ...])


def _rows(found: list[Mapping[str, Any]], schema: Mapping[str, Check], kind: type[Row], place: str) -> tuple[Row, ...]:
    return tuple(kind(**checked(row, schema, set(schema), f"{place} {i}")) for i, row in enumerate(found, 1))


TERM: dict[str, Check] = {
    "column": column,
    "log": truth,
    "weight": number,
    "mean": number,
    "scale": number,
    "low": number,
    "high": number,
}
GUARD: dict[str, Check] = {"column": column, "low": number, "high": number}
BETA: dict[str, Check] = {"kind": text, "a": number, "b": number, "c": number}
ISOTONIC: dict[str, Check] = {"kind": text, "x": shares, "y": shares}
RATES: dict[str, Check] = dict.fromkeys(conformal.Measured._fields, share)
CONFORMAL: dict[str, Check] = {"passes": shares, "fails": shares, "measured": tables}
MEASURED: dict[str, Check] = {
    name: integer if name in ("tasks", "rows", "swing") else share for name in probability.Measured._fields
}
BIN: dict[str, Check] = {"low": share, "high": share, "rows": integer, "mean": share, "observed": share}
ELSEWHERE: dict[str, Check] = {
    name: {"pool": text, "digest": text, "rows": integer}.get(name, share) for name in Elsewhere._fields
}
TOP: dict[str, Check] = {
    "intercept": number,
    "terms": tables,
    "calibration": table,
    "measured": table,
    "reliability": tables,
    "elsewhere": tables,
    "conformal": table,
    "guards": tables,
    "banks": table,
}
"""What each key must hold, by table."""
