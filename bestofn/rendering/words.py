"""The words around a recorded run, from `data/rendering.toml`: prefaces, titles, marks and notes."""

from __future__ import annotations

import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

from bestofn.content import content_root
from bestofn.errors import ContentError

_VARIABLES: dict[str, dict[str, frozenset[str]]] = {
    "": {
        "preface_run": frozenset({"nonce"}),
        "preface_attempts": frozenset({"nonce", "count", "view"}),
        "legend": frozenset({"nonce"}),
    },
    "views": dict.fromkeys(("run", "final"), frozenset[str]()),
    "titles": dict.fromkeys(
        ("command", "call", "message", "reasoning", "output", "user", "system", "instruction"), frozenset[str]()
    ),
    "marks": {
        "middle": frozenset({"characters"}),
        "unshown": frozenset({"characters"}),
        "dropped": frozenset({"steps", "characters"}),
        **dict.fromkeys(("step", "part_of_step"), frozenset({"first"})),
        **dict.fromkeys(("steps", "part_of_steps"), frozenset({"first", "last", "count"})),
        "base64": frozenset({"characters"}),
        "blank": frozenset({"lines"}),
        "repeated": frozenset({"lines"}),
        "run": frozenset({"characters"}),
        "spaces": frozenset({"characters"}),
    },
    "notes": {
        "reasoning": frozenset({"characters"}),
        **dict.fromkeys(("no_instruction", "no_messages", "no_observations", "no_commands"), frozenset[str]()),
        **dict.fromkeys(("partial_texts", "partial_output", "no_result", "empty", "final"), frozenset[str]()),
        **dict.fromkeys(("finished", "unfinished", "timed_out", "crashed"), frozenset[str]()),
    },
}
"""Every text there is, by section, and the variables that stand in it."""


@dataclass(frozen=True)
class Words:
    """The texts by section."""

    preface_run: str
    preface_attempts: str
    legend: str
    views: Mapping[str, str]
    titles: Mapping[str, str]
    marks: Mapping[str, str]
    notes: Mapping[str, str]


@lru_cache(maxsize=1)
def load_words() -> Words:
    """The built-in words."""
    return read_words(content_root("data") / "rendering.toml")


def read_words(path: Path) -> Words:
    """The words of a file.

    Raises ContentError naming every text that is missing or unknown, or whose variables are not those it must have.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ContentError(f"{path}: not readable as TOML: {error}") from error
    wrong: list[str] = []
    flat = {f"{s}.{name}".lstrip("."): names for s, texts in _VARIABLES.items() for name, names in texts.items()}
    found = {
        f"{section}.{name}" if isinstance(value, dict) else section: text
        for section, value in content.items()
        for name, text in (value.items() if isinstance(value, dict) else [("", value)])
    }
    wrong += [f"{name} is missing" for name in flat.keys() - found.keys()]
    wrong += [f"{name} is unknown" for name in found.keys() - flat.keys()]
    for name in flat.keys() & found.keys():
        used = {variable for _, variable, _, _ in string.Formatter().parse(found[name]) if variable is not None}
        if used != flat[name]:
            wrong.append(f"{name} has the variables {sorted(used) or 'none'}, not {sorted(flat[name]) or 'none'}")
    if wrong:
        raise ContentError(f"{path}: {'; '.join(sorted(wrong))}")
    return Words(**{field.name: content[field.name] for field in fields(Words)})
