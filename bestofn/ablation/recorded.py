"""The recorded answers that ship with a built-in pool, so that its judged experiments run without a model."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bestofn import catalogue
from bestofn.errors import ContentError
from bestofn.pool import Pool

SUFFIX = ".toml"
"""Ending of the file, beside a recording and of its pool's name, that says with which inputs it was asked."""
TABLE = "with"


@dataclass(frozen=True)
class Shipped:
    """What ships with a pool in place of a model."""

    answers: Path
    """A recording."""
    inputs: Mapping[str, str]
    """Inputs of experiments for which answers are recorded, as `--with` gives them; files lie beside the recording."""

    def inputs_of(self, declared: Iterable[str]) -> dict[str, str]:
        """Those that an experiment takes."""
        return {name: self.inputs[name] for name in declared if name in self.inputs}


def shipped_answers(pool: Pool) -> Shipped | None:
    """The answers that ship with a pool; None for a pool that is not built in, or comes without any.

    Raises ContentError where the file of inputs beside them cannot be read.
    """
    entry = next((e for e in catalogue.entries() if pool.root.resolve() == e.path.resolve()), None)
    answers = catalogue.recorded_answers(entry.name) if entry is not None else None
    if entry is None or answers is None:
        return None
    path = answers.with_name(f"{entry.name}{SUFFIX}")
    if not path.is_file():
        return Shipped(answers, {})
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ContentError(f"'{path}' is not readable as TOML: {error}") from error
    inputs = told.get(TABLE, {})
    if set(told) - {TABLE} or not all(isinstance(value, str) for value in inputs.values()):
        raise ContentError(f"'{path}' must hold a table [{TABLE}] of texts and nothing else")
    return Shipped(answers, inputs)
