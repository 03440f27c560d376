"""Criteria in other words: other codes in the prosecutors' lists, or a text in place of a list, and all else as it was.

Every function takes the text of a criteria file and gives the text of another, as compiling does. What is asked can be
written to a file and read there, and a changed word gives a criterion another column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from bestofn import criteria_file
from bestofn.ablation.arm import Lacking
from bestofn.compiler import describe
from bestofn.criteria import CriteriaSet, Section, sections
from bestofn.errors import ContentError
from bestofn.judge.codes import ENTRY
from bestofn.taxonomy import AXES, Taxonomy

PROSECUTOR = "llm_prosecutor_"
"""Beginning of the names of the criteria that hold a list of codes, one an axis."""
BEGIN, END = "--- what is known ---", "--- end of what is known ---"
"""Lines around the text of a criterion that has a text in place of a list."""
MARGIN = "| "
"""Beginning of each line of such a text, so that nothing in it can be taken for a heading or a line of ours."""

Lists = Mapping[str, Sequence[str]]
"""The entries of each prosecutor's list, by axis, each entry as it stands in the file without its dash."""


class Listed(NamedTuple):
    """A template taken apart at its list."""

    before: str
    entries: tuple[str, ...]
    """Each without its dash, its lines as they stand."""
    after: str


def text_of(criteria: CriteriaSet) -> str:
    """The file of a criteria set. Raises ContentError where it is not there any more."""
    try:
        return criteria.path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ContentError(f"{criteria.path}: cannot be read: {error.strerror or error}") from error


def lists_of(text: str) -> dict[str, tuple[str, ...]]:
    """The entries of the prosecutors' lists, by axis. Raises Lacking where the criteria hold no such list."""
    _, parts = sections(text)
    found = {_axis(part): _listed(part.template).entries for part in parts if _prosecutes(part)}
    if not any(found.values()):
        raise Lacking(
            "these criteria hold no list of codes",
            "give --criteria with prosecutors, as `bestofn compile TAXONOMY -o DIR` makes them",
        )
    return {axis: found[axis] for axis in AXES if found.get(axis)}


def lists_from(taxonomy: Taxonomy) -> dict[str, tuple[str, ...]]:
    """A taxonomy's codes as entries: id, name and what goes wrong, as the default criteria have them."""
    brief = [replace(code, when_to_use="", when_not_to_use="") for code in taxonomy.codes]
    found = {axis: tuple(describe(code) for code in brief if code.axis == axis) for axis in AXES}
    return {axis: entries for axis, entries in found.items() if entries}


def with_lists(text: str, lists: Lists, *, title: str, taxonomy: str, preamble: str = "") -> str:
    """The same criteria with these entries in the prosecutors' lists. A prosecutor without entries is left out.

    Parameters
    ----------
    text
        A criteria file with prosecutors.
    title
        What the new file is, for its first line.
    taxonomy
        Where the entries come from, for its header.
    preamble
        Text of the preamble; '' leaves it as it is.
    """
    _, parts = sections(text)
    kept = []
    for part in parts:
        if _prosecutes(part):
            entries = lists.get(_axis(part), ())
            if not entries:
                continue
            listed = _listed(part.template)
            if not listed.entries:
                raise Lacking(f"'{part.name}' holds no list of codes", "give --criteria whose prosecutors hold one")
            shown = "\n".join(f"- {entry}" for entry in entries)
            part = part._replace(template="\n".join((listed.before, shown, listed.after)))
        elif part.name == "preamble" and preamble:
            part = part._replace(template=preamble)
        kept.append(part)
    return emit(kept, title=title, taxonomy=taxonomy)


def without_prosecutors(text: str, *, title: str) -> str:
    """The same criteria without the prosecutors. Raises Lacking where nothing is left to ask."""
    _, parts = sections(text)
    kept = [part for part in parts if not _prosecutes(part)]
    if not any(part.keys for part in kept):
        raise Lacking("these criteria ask nothing but prosecutors' lists", "give --criteria with health checks as well")
    return emit(kept, title=title, taxonomy="none")


def with_context(text: str, context: str, *, title: str, taxonomy: str, preamble: str = "") -> str:
    """The same criteria with a text between the lines `BEGIN` and `END`, where another text stood.

    Parameters
    ----------
    context
        As `in_margin` gave it; nothing of it is altered here.
    """
    _, parts = sections(text)
    kept, found = [], 0
    for part in parts:
        lines = part.template.split("\n")
        if BEGIN in lines and END in lines:
            begin, end = lines.index(BEGIN), lines.index(END)
            part = part._replace(template="\n".join([*lines[: begin + 1], context, *lines[end:]]))
            found += 1
        elif part.name == "preamble" and preamble:
            part = part._replace(template=preamble)
        kept.append(part)
    if not found:
        raise ContentError(f"no criterion of '{title}' has the lines '{BEGIN}' and '{END}' to put a text between")
    return emit(kept, title=title, taxonomy=taxonomy)


def in_margin(text: str) -> str:
    """A text as a criteria file can hold it between its own lines: each line behind a margin, no braces that act."""
    lines = ("".join(c if c.isprintable() else " " for c in line).rstrip() for line in text.splitlines())
    return "\n".join(f"{MARGIN}{line}".rstrip().replace("{{", "{ {").replace("}}", "} }") for line in lines)


def preamble_of(text: str) -> str:
    """The preamble of a criteria file; '' where it has none."""
    return next((part.template for part in sections(text)[1] if part.name == "preamble"), "")


def emit(parts: Iterable[Section], *, title: str, taxonomy: str) -> str:
    """The text of a criteria file."""
    about = "Made for an experiment out of another criteria file: read there why it asks what it asks."
    return criteria_file.emit(parts, title=title, about=about, taxonomy=taxonomy)


def _prosecutes(part: Section) -> bool:
    return part.name.startswith(PROSECUTOR) and _axis(part) in AXES


def _axis(part: Section) -> str:
    return part.name.removeprefix(PROSECUTOR).upper()


def _listed(template: str) -> Listed:
    """A template in three; a template without a list is all `before`."""
    lines = template.split("\n")
    begin = next((at for at, line in enumerate(lines) if ENTRY.match(line)), len(lines))
    end, entries = begin, list[str]()
    while end < len(lines) and (ENTRY.match(lines[end]) or (entries and lines[end].startswith("  "))):
        if ENTRY.match(lines[end]):
            entries.append(lines[end].removeprefix("- "))
        else:
            entries[-1] += f"\n{lines[end]}"
        end += 1
    return Listed("\n".join(lines[:begin]), tuple(entries), "\n".join(lines[end:]))
