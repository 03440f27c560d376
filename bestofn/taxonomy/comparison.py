"""How much two taxonomies share, by the names of their codes."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from bestofn.taxonomy.code import Code, Taxonomy


class Comparison(NamedTuple):
    """What two taxonomies share. The indices are symmetric; names are as the taxonomies write them."""

    full: float
    """Jaccard index of all codes, 0 to 1: figure 9a of arXiv:2607.16387."""
    backbone: float
    """Jaccard index of the A codes alone: its table 9. NaN where neither has any."""
    shared: tuple[str, ...]
    """Names of the first that the second has too, on any axis."""
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


def compare(first: Taxonomy, second: Taxonomy) -> Comparison:
    """What two taxonomies share, over normalised names. A name that stands twice counts once."""
    ours, theirs = _by_name(first.codes), _by_name(second.codes)
    return Comparison(
        _jaccard(ours, theirs),
        _jaccard(_by_name(first.axis("A")), _by_name(second.axis("A"))),
        tuple(name for key, name in ours.items() if key in theirs),
        tuple(name for key, name in ours.items() if key not in theirs),
        tuple(name for key, name in theirs.items() if key not in ours),
    )


def normalise(name: str) -> str:
    """A code's name as compared: its words in lower case, each without its plural ending, joined by '_'.

    'Training_Stalls', 'training-stall' and 'TrainingStall' are one name. The order of words counts.
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", unicodedata.normalize("NFKC", name))
    return "_".join(_singular(word) for word in re.findall(r"[^\W_]+", spaced.casefold()))


def _by_name(codes: Iterable[Code]) -> dict[str, str]:
    """Normalised name to the name as written."""
    return {normalise(code.name): code.name for code in codes}


def _jaccard(one: Iterable[str], other: Iterable[str]) -> float:
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first or second else math.nan


def _singular(word: str) -> str:
    """A word without its plural ending; short words and those in -ss, -us, -is have none."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
