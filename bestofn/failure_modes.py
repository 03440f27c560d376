"""The names that features give to failure modes, as codes of the shipped taxonomies."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

SHELF = ("terminal-bench", "mast-14")
"""Taxonomies in which a name or id is looked up, the first that has it being meant."""


class FailureMode(NamedTuple):
    """One code."""

    rule: str
    """Unique among all: 'mast-14/3.2'; a name that no taxonomy has stands as it is."""
    id: str
    """As its taxonomy numbers it; empty where no taxonomy has it."""
    name: str
    taxonomy: str
    """Empty where no taxonomy has it."""
    description: str


@lru_cache(maxsize=1)
def _known() -> dict[str, FailureMode]:
    from bestofn.taxonomy import load

    known: dict[str, FailureMode] = {}
    for taxonomy in map(load, SHELF):
        for code in taxonomy.codes:
            mode = FailureMode(f"{taxonomy.name}/{code.id}", code.id, code.name, taxonomy.name, code.description)
            for key in (code.id, code.name):
                known.setdefault(key, mode)
    return known


def failure_mode(name: str) -> FailureMode:
    """The code that a name or an id means."""
    return _known().get(name, FailureMode(name, "", name, "", ""))
