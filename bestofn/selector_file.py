"""`selector.toml`: a selector as a file that a person can read and that runs no code.

Every key is known and every value checked, so that a slip of the pen is an error with its place, not another ranking.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bestofn.errors import ContentError
from bestofn.selector import FittedOn, PathStep, Selector, Term
from bestofn.table import RESERVED

FORMAT = 1
"""Version of the file's schema."""


def write_selector(selector: Selector, path: Path, *, created_by: str = "bestofn") -> None:
    """Write a selector so that `read_selector` gives the same back. Raises ContentError where that cannot be."""
    import tomli_w

    content = to_content(selector, created_by)
    from_content(content, str(path))
    try:
        path.write_text(tomli_w.dumps(content), encoding="utf-8")
    except OSError as error:
        raise ContentError(f"cannot write '{path}': {error.strerror or error}") from error


def read_selector(path: Path) -> Selector:
    """The selector in a file. Raises ContentError naming the file and the key that is wrong."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ContentError(
            f"no selector at '{path}' ({error.strerror}): write one with `bestofn fit --pool POOL -o {path}`"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ContentError(f"'{path}' is not readable as TOML: {error}") from error
    return from_content(content, str(path))


def to_content(selector: Selector, created_by: str) -> dict[str, Any]:
    """What stands in the file, in the order in which it stands there."""
    return {
        "format": FORMAT,
        "bestofn": _version(),
        "created_by": created_by,
        "name": selector.name,
        "gate": selector.gate,
        "note": selector.note,
        "terms": [_term(term) for term in selector.terms],
        "path": [step._asdict() for step in selector.path],
        "fitted_on": [pool._asdict() for pool in selector.fitted_on],
    }


def from_content(content: Mapping[str, Any], file: str) -> Selector:
    """The selector that parsed TOML describes. Raises ContentError naming `file` and the key that is wrong."""
    top = _checked(content, TOP, {"format", "name", "gate"}, file)
    if top["format"] != FORMAT:
        raise ContentError(
            f"{file}: format = {top['format']}, but this bestofn reads format {FORMAT}: use the version that wrote it"
        )
    if not top["name"]:
        raise ContentError(f"{file}: name is empty: every selector has one")
    terms = [
        Term(**_checked(t, TERM, {"column", "weight"}, f"{file}, terms {i}"))
        for i, t in enumerate(top.get("terms", []), 1)
    ]
    columns = [term.column for term in terms]
    doubled = sorted({c for c in columns if columns.count(c) > 1})
    if doubled:
        raise ContentError(f"{file}: terms name {', '.join(doubled)} twice: add the weights up in one term")
    return Selector(
        name=top["name"],
        gate=top["gate"],
        terms=tuple(terms),
        path=tuple(
            PathStep(**_checked(step, STEP, set(STEP), f"{file}, path {i}"))
            for i, step in enumerate(top.get("path", []), 1)
        ),
        fitted_on=tuple(
            FittedOn(**_checked(pool, POOL, set(POOL), f"{file}, fitted_on {i}"))
            for i, pool in enumerate(top.get("fitted_on", []), 1)
        ),
        note=top.get("note", ""),
    )


Check = Callable[[Any], Any]
"""Gives the value back as it is used; raises ValueError saying what it must be."""


def _checked(found: Mapping[str, Any], schema: Mapping[str, Check], needed: set[str], place: str) -> dict[str, Any]:
    """The values by key. Raises ContentError for a key that is unknown or missing, or a value of another kind."""
    unknown = [key for key in found if key not in schema]
    if unknown:
        raise ContentError(f"{place}: unknown key '{unknown[0]}'; the keys are {', '.join(schema)}")
    missing = [key for key in schema if key in needed and key not in found]
    if missing:
        raise ContentError(f"{place}: {', '.join(missing)} is missing")
    values = {}
    for key, value in found.items():
        try:
            values[key] = schema[key](value)
        except ValueError as error:
            raise ContentError(f"{place}: {key} = {value!r}, but it must be {error}") from None
    return values


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text in quotes")
    return value


def _column(value: Any) -> str:
    if not isinstance(value, str) or not value or value in RESERVED:
        raise ValueError(f"the name of a feature; {', '.join(RESERVED)} are none")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("a finite number")
    return number


def _place(value: Any) -> str:
    if value not in ("middle", "last"):
        raise ValueError("'middle' or 'last'")
    return str(value)


def _tables(value: Any) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("a list of tables")
    return value


def _term(term: Term) -> dict[str, Any]:
    """A term without what goes without saying."""
    content = term._asdict()
    return content if term.missing != "middle" else {key: content[key] for key in ("column", "weight")}


def _version() -> str:
    """This package's version; 'unknown' where it runs without being installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("bestofn")
    except PackageNotFoundError:
        return "unknown"


TERM: dict[str, Check] = {"column": _column, "weight": _number, "missing": _place}
STEP: dict[str, Check] = {"column": _column, "accuracy": _number, "correlation": _number}
POOL: dict[str, Check] = {"pool": _text, "digest": _text, "tasks": _integer, "rows": _integer, "swing": _integer}
TOP: dict[str, Check] = {
    "format": _integer,
    "bestofn": _text,
    "created_by": _text,
    "name": _text,
    "gate": _truth,
    "note": _text,
    "terms": _tables,
    "path": _tables,
    "fitted_on": _tables,
}
"""What each key of the file must hold, by table."""
