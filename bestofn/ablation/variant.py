"""A variant: other criteria for the same runs, as content that can be written to files and read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bestofn.ablation.arm import Lacking
from bestofn.ablation.wording import text_of, without_prosecutors
from bestofn.criteria import SUFFIX, CriteriaSet, load, parse

if TYPE_CHECKING:
    from bestofn.ablation.setting import Setting

DEFAULT = "terminal"
"""The criteria that variants are made from where no judge says which."""
OWN = "own criteria"
"""Name of the variant that is the judge's criteria as they are."""


class Part(NamedTuple):
    """What is asked about some tasks."""

    sets: tuple[CriteriaSet, ...]
    tasks: frozenset[str] | None = None
    """Their names; None for all."""

    def questions(self) -> dict[tuple[str, int], str]:
        """The column of each criterion, by its name and its place among those of that name, which differ in words."""
        seen, found = Counter[str](), dict[tuple[str, int], str]()
        for column, name in {c.column: c.name for chosen in self.sets for c in chosen.criteria}.items():
            found[name, seen[name]] = column
            seen[name] += 1
        return found


@dataclass(frozen=True)
class Variant:
    """Criteria under a name of their own."""

    name: str
    what: str
    parts: tuple[Part, ...]
    """One where all tasks are asked the same, else one a fold."""
    texts: Mapping[str, str]
    """The criteria that were made for it, as the texts of files, by name without `.md`; empty for the judge's own."""
    note: str = ""
    lacking: Lacking | None = None
    """Why there are no such criteria, where there are none."""

    @property
    def sets(self) -> tuple[CriteriaSet, ...]:
        """All criteria sets of all parts."""
        return tuple(chosen for part in self.parts for chosen in part.sets)

    def questions(self) -> dict[tuple[str, int], list[str]]:
        """The columns of each criterion: one a part, or the same for all, by name and place as in `Part`."""
        found: dict[tuple[str, int], list[str]] = {}
        for part in self.parts:
            for question, column in part.questions().items():
                found.setdefault(question, []).append(column)
        return found

    def columns(self, stem: str = "") -> tuple[str, ...]:
        """The columns of its criteria, each once, those alone whose names begin with `stem`."""
        found = (criterion.column for chosen in self.sets for criterion in chosen.criteria)
        return tuple(dict.fromkeys(column for column in found if column.startswith(stem)))


def criteria_of(setting: Setting) -> tuple[CriteriaSet, ...]:
    """What variants are made from: the judge's criteria, the default ones where there is no judge."""
    return setting.judge.criteria if setting.judge is not None else (load(DEFAULT),)


def unprosecuted(setting: Setting) -> tuple[CriteriaSet, ...]:
    """The judge's criteria, the first set of them without its prosecutors."""
    first, *others = criteria_of(setting)
    text = without_prosecutors(text_of(first), title=f"{first.title}, without prosecutors")
    return (parse(text, f"{first.name}-rest"), *others)


def own(setting: Setting, what: str = "the judge's criteria as they are") -> Variant:
    """The judge's criteria."""
    return Variant(OWN, what, (Part(criteria_of(setting)),), {})


def made(name: str, what: str, texts: Sequence[str], *, also: Sequence[CriteriaSet] = (), note: str = "") -> Variant:
    """A variant from the texts of criteria files, all tasks asked the same.

    Parameters
    ----------
    also
        Sets that are asked as they are.
    """
    named = {name if len(texts) == 1 else f"{name}-{n}": text for n, text in enumerate(texts, start=1)}
    sets = tuple(parse(text, slug(key)) for key, text in named.items())
    return Variant(name, what, (Part((*sets, *also)),), {slug(key): text for key, text in named.items()}, note)


def write(variants: Sequence[Variant], setting: Setting, pool: str = "") -> Iterator[str]:
    """Write the criteria of all variants as `--with write=DIR` asks, and say so; nothing where it does not.

    Files that are there already are replaced: they are made by the same command.

    Parameters
    ----------
    pool
        The pool that they were made for, where another pool has others; they get a folder of its name where the
        setting has several pools.
    """
    folder = setting.inputs.get("write")
    if folder is None:
        return
    root = Path(folder) / slug(pool) if pool and len(setting.subjects) > 1 else Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    names = []
    for variant in variants:
        for name, text in variant.texts.items():
            (root / f"{name}{SUFFIX}").write_text(text, encoding="utf-8", newline="\n")
            names.append(f"{name}{SUFFIX}")
    yield f"what each arm asks stands in {root}: {', '.join(dict.fromkeys(names))}"
    if setting.judge is None:
        yield (
            f"without a judge the questions are made from the default criteria '{DEFAULT}': to make them from those of "
            "--criteria, name a model too (with --offline nothing is sent)"
        )


def slug(name: str) -> str:
    """A name as a file can have it."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-")


WRITE = "a folder to write the criteria of every arm into, to read what is asked"
"""What `--with write=` is."""
ARMS = "names of arms, with commas: no other arm is asked, and those left out stand without a figure"
"""What `--with arms=` is."""
