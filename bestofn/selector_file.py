"""`selector.toml`: a selector as a file that a person can read and that runs no code.

Every key is known and every value checked, so that a slip of the pen is an error with its place, not another ranking.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bestofn import __version__
from bestofn.errors import ContentError
from bestofn.fresh_file import fresh_file
from bestofn.probability_file import probability_content, read_probability
from bestofn.schema import Check, checked, column, integer, number, table, tables, text, truth
from bestofn.selector import FittedOn, PathStep, Selector, Term

FORMAT = 1
"""Version of the file's schema."""


def write_selector(selector: Selector, path: Path, *, created_by: str = "bestofn") -> None:
    """Write a selector so that `read_selector` gives the same back. Raises ContentError where that cannot be."""
    import tomli_w

    content = to_content(selector, created_by)
    from_content(content, str(path))
    try:
        with fresh_file(path) as fresh:
            fresh.write_text(_folded(tomli_w.dumps(content)), encoding="utf-8")
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
    content = {
        "format": FORMAT,
        "bestofn": __version__,
        "created_by": created_by,
        "name": selector.name,
        "gate": selector.gate,
        "note": selector.note,
        "terms": [_term(term) for term in selector.terms],
        "path": [step._asdict() for step in selector.path],
        "fitted_on": [{k: v for k, v in pool._asdict().items() if k != "seen" or v} for pool in selector.fitted_on],
    }
    if selector.probability is not None:
        content["probability"] = probability_content(selector.probability)
    return content


_NUMBERS = re.compile(r"\[\n(?:    [-0-9.e]+,\n)+\]")


def _folded(toml: str) -> str:
    """The same TOML with long lists of numbers twelve a line, which a person can scroll past."""

    def fold(match: re.Match[str]) -> str:
        numbers = match.group().split()[1:-1]
        lines = (" ".join(numbers[at : at + 12]) for at in range(0, len(numbers), 12))
        return "[\n" + "".join(f"    {line}\n" for line in lines) + "]"

    return _NUMBERS.sub(fold, toml)


def from_content(content: Mapping[str, Any], file: str) -> Selector:
    """The selector that parsed TOML describes. Raises ContentError naming `file` and the key that is wrong."""
    if content.get("format", FORMAT) != FORMAT:
        raise ContentError(
            f"{file}: format = {content['format']}, but this bestofn reads format {FORMAT}: "
            "use the version that wrote it"
        )
    top = checked(content, TOP, {"format", "name", "gate"}, file)
    if not top["name"]:
        raise ContentError(f"{file}: name is empty: every selector has one")
    terms = [
        Term(**checked(t, TERM, {"column", "weight"}, f"{file}, terms {i}"))
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
            PathStep(**checked(step, STEP, set(STEP), f"{file}, path {i}"))
            for i, step in enumerate(top.get("path", []), 1)
        ),
        fitted_on=tuple(
            FittedOn(**checked(pool, POOL, set(POOL) - {"seen"}, f"{file}, fitted_on {i}"))
            for i, pool in enumerate(top.get("fitted_on", []), 1)
        ),
        note=top.get("note", ""),
        probability=read_probability(top["probability"], f"{file}, probability") if "probability" in top else None,
    )


def _place(value: Any) -> str:
    if value not in ("middle", "last"):
        raise ValueError("'middle' or 'last'")
    return str(value)


def _term(term: Term) -> dict[str, Any]:
    """A term without what goes without saying."""
    content = term._asdict()
    return content if term.missing != "middle" else {key: content[key] for key in ("column", "weight")}


TERM: dict[str, Check] = {"column": column, "weight": number, "missing": _place}
STEP: dict[str, Check] = {"column": column, "accuracy": number, "correlation": number}
POOL: dict[str, Check] = {
    "pool": text,
    "digest": text,
    "tasks": integer,
    "rows": integer,
    "swing": integer,
    "seen": text,
}
TOP: dict[str, Check] = {
    "format": integer,
    "bestofn": text,
    "created_by": text,
    "name": text,
    "gate": truth,
    "note": text,
    "terms": tables,
    "path": tables,
    "fitted_on": tables,
    "probability": table,
}
"""What each key of the file must hold, by table."""
