"""Criteria files: Markdown that a person reads and edits, one `##` heading a part or a criterion.

Parts that all criteria of a kind share (`preamble`, `answer_pointwise`, ...) stand once. A criterion is a heading that
begins with `llm_`, a list of its keys, an empty line, and the question as a template.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bestofn.content import builtin_names, find
from bestofn.criterion import VARIABLE, Criterion, Kind, Sees, listed, variables
from bestofn.errors import ContentError

SUFFIX = ".md"
NAME = re.compile(r"llm_[a-z0-9][a-z0-9_]*")
"""What a criterion may be called."""
_KEY = re.compile(r"- ([a-z][a-z ]*): *(.*)")


class Part(NamedTuple):
    """What a template must and may hold."""

    needs: tuple[str, ...] = ()
    """Variables that must stand in it."""
    may: tuple[str, ...] = ()
    """Variables that may."""


PARTS = {
    "preamble": Part(("fence", "instruction", "trajectory")),
    "preamble_attempts": Part(("fence", "instruction", "attempts"), ("count",)),
    "attempt": Part(("fence", "number", "state")),
    "answer_pointwise": Part(("tag",)),
    "answer_pairwise": Part(("tag",)),
    "answer_listwise": Part(("tags",), ("count",)),
    "prosecutor_a": Part(("codes", "answer_format")),
    "prosecutor_b": Part(("codes", "answer_format")),
    "prosecutor_c": Part(("codes", "answer_format")),
}
"""The shared parts. A prosecutor part is no criterion yet: compiling puts a taxonomy's codes into it."""
QUESTIONS = {
    Kind.POINTWISE: Part(("answer_format",)),
    Kind.PAIRWISE: Part(("answer_format",)),
    Kind.LISTWISE: Part(("answer_format",), ("count",)),
}
"""What a criterion's own text must and may hold."""
USES = {
    Kind.POINTWISE: ("preamble", "answer_pointwise"),
    Kind.PAIRWISE: ("preamble_attempts", "attempt", "answer_pairwise"),
    Kind.LISTWISE: ("preamble_attempts", "attempt", "answer_listwise"),
}
"""The parts that a criterion of each kind is made of, beside its own text."""
KEYS = {"kind": tuple(Kind), "sees": tuple(Sees)}
"""The keys of a criterion, all required, and what they may say."""
HEADER_KEYS = ("taxonomy", "compiled by")
"""The keys above the first heading, none required."""


@dataclass(frozen=True)
class CriteriaSet:
    """The criteria of one file."""

    name: str
    """The file's name without `.md`."""
    path: Path
    title: str
    """Its first line."""
    criteria: tuple[Criterion, ...]
    """In file order."""
    about: Mapping[str, str] = field(default_factory=dict[str, str])
    """`taxonomy` and `compiled by`, where the file says so."""
    hash: str = ""
    """First 16 hex digits of the file's SHA-256."""

    def of(self, kind: Kind) -> tuple[Criterion, ...]:
        """The criteria of one kind, in file order."""
        return tuple(criterion for criterion in self.criteria if criterion.kind is kind)

    def criterion(self, name: str) -> Criterion:
        """One criterion by its name or its column. Raises ContentError naming those there are."""
        for criterion in self.criteria:
            if name in (criterion.name, criterion.column):
                return criterion
        known = ", ".join(criterion.column for criterion in self.criteria)
        raise ContentError(f"{self.path} has no criterion '{name}': there are {known}")


class Section(NamedTuple):
    """One `##` heading of a criteria file and what stands under it."""

    name: str
    line: int
    """1-based."""
    keys: tuple[tuple[str, str], ...]
    """(key, value) pairs of a criterion's list, in order."""
    template: str
    """The text, without empty lines around it."""


def names() -> list[str]:
    """Names of the built-in criteria files, sorted."""
    return builtin_names("criteria", SUFFIX)


def load(name: str | os.PathLike[str]) -> CriteriaSet:
    """Criteria from a file, or built-in ones by their name.

    Raises ContentError for an unknown name, and with everything that `problems` finds, one a line.
    """
    path = find("criteria", os.fspath(name), SUFFIX)
    criteria, found = _read(path)
    if found:
        raise ContentError("\n".join(found))
    assert criteria is not None
    return criteria


def parse(text: str, name: str) -> CriteriaSet:
    """Criteria from the text of a file, such as one that was compiled and not written yet.

    Parameters
    ----------
    name
        What the file is, or would be, called, without `.md`.

    Raises ContentError with everything that `problems` would find in such a file.
    """
    criteria, found = _parse(text.encode(), text, Path(f"{name}{SUFFIX}"))
    if found:
        raise ContentError("\n".join(found))
    assert criteria is not None
    return criteria


def problems(path: str | os.PathLike[str]) -> list[str]:
    """Everything wrong with a criteria file, one sentence each with file, line and heading; empty: it is sound.

    Raises ContentError where there is no such file.
    """
    return _read(find("criteria", os.fspath(path), SUFFIX))[1]


def sections(text: str) -> tuple[list[str], list[Section]]:
    """The lines above the first `##` heading, and the sections below it, in file order."""
    lines = text.replace("\r\n", "\n").split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    if not starts:
        return lines, []
    spans = zip(starts, [*starts[1:], len(lines)], strict=True)
    return lines[: starts[0]], [_section(lines[start:end], start + 1) for start, end in spans]


def _section(lines: Sequence[str], line: int) -> Section:
    name, body = lines[0][3:].strip(), list(lines[1:])
    while body and not body[0].strip():
        body.pop(0)
    keys: list[tuple[str, str]] = []
    while name not in PARTS and body and (match := _KEY.fullmatch(body[0].rstrip())) is not None:
        keys.append((match[1], match[2]))
        body.pop(0)
    return Section(name, line, tuple(keys), "\n".join(body).strip())


def _read(path: Path) -> tuple[CriteriaSet | None, list[str]]:
    """The criteria, where nothing is wrong with them, and all that is."""
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        return None, [f"{path}: cannot be read: {error.strerror}"]
    except UnicodeDecodeError as error:
        return None, [f"{path}: not UTF-8 at byte {error.start}: save it as UTF-8"]
    return _parse(raw, text, path)


def _parse(raw: bytes, text: str, path: Path) -> tuple[CriteriaSet | None, list[str]]:
    """The criteria in a text, where nothing is wrong with it, and all that is."""
    header, parsed = sections(text)
    title, about, wrong = _header(header)
    found = [f"{path}: {problem}" for problem in wrong]
    if not any(section.name not in PARTS for section in parsed):
        found.append(f"{path}: asks nothing: write at least one criterion under a heading such as '## llm_health_task'")
    seen: dict[str, int] = {}
    for section in parsed:
        where = f"{path}, line {section.line}, '{section.name}'"
        if section.name in seen:
            found.append(f"{where}: stands already in line {seen[section.name]}; give one of them another name")
        seen.setdefault(section.name, section.line)
        found += [f"{where}: {problem}" for problem in _problems(section, parsed)]
    if found:
        return None, found
    parts = {section.name: section.template for section in parsed if section.name in PARTS}
    criteria = tuple(_criterion(section, parts) for section in parsed if section.name not in PARTS)
    return CriteriaSet(path.stem, path, title, criteria, about, hashlib.sha256(raw).hexdigest()[:16]), []


def _header(lines: Sequence[str]) -> tuple[str, dict[str, str], list[str]]:
    """Title, keys, and what is wrong with them. Other lines are for the reader."""
    written = [line.rstrip() for line in lines if line.strip()]
    found: list[str] = []
    if not written or not written[0].startswith("# "):
        found.append("begins without a title: write '# ' and a name in its first line")
    about: dict[str, str] = {}
    for line in written:
        if (match := _KEY.fullmatch(line)) is None:
            continue
        if match[1] not in HEADER_KEYS:
            found.append(f"unknown key '{match[1]}' above the first heading; there are {', '.join(HEADER_KEYS)}")
        about[match[1]] = match[2]
    return written[0][2:].strip() if written else "", about, found


def _problems(section: Section, parsed: Sequence[Section]) -> Iterator[str]:
    """What is wrong with one section."""
    part = PARTS.get(section.name)
    if part is None and not NAME.fullmatch(section.name):
        yield (
            "is neither a criterion, whose name is llm_ and lower-case letters, digits or _, nor one of the shared "
            f"parts {', '.join(PARTS)}"
        )
        return
    if part is None:
        yield from _key_problems(section)
        kind = dict(section.keys).get("kind", "")
        if kind not in KEYS["kind"]:
            return
        part = QUESTIONS[Kind(kind)]
        there = [other.name for other in parsed]
        for needed in USES[Kind(kind)]:
            if needed not in there:
                yield f"is {kind}, which takes a part '## {needed}', and this file has none"
    yield from _template_problems(section.template, part)


def _key_problems(section: Section) -> Iterator[str]:
    given = [key for key, _ in section.keys]
    for key, value in section.keys:
        if key not in KEYS:
            yield f"unknown key '{key}'; a criterion has {', '.join(KEYS)}"
        elif value not in KEYS[key]:
            yield f"`{key}` is '{value}'; it must be one of {', '.join(KEYS[key])}"
    for key, choices in KEYS.items():
        if given.count(key) > 1:
            yield f"`{key}` stands twice"
        elif key not in given:
            yield f"`{key}` is missing; write '- {key}: {choices[0]}' under the heading, or {' or '.join(choices[1:])}"


def _template_problems(template: str, part: Part) -> Iterator[str]:
    if not template:
        yield "has no text"
        return
    used = variables(template)
    known = (*part.needs, *part.may)
    if unknown := [name for name in used if name not in known]:
        yield f"uses {listed(unknown)}, unknown here; it may use {listed(known)}"
    if absent := [name for name in part.needs if name not in used]:
        yield f"never shows {listed(absent)}"
    rest = VARIABLE.sub("", template)
    if "{{" in rest or "}}" in rest:
        yield "has double braces that are no variable; write {{name}} in lower-case letters, or put a space between"
    if "tag" in part.needs and "<{{tag}}>" not in template:
        yield "must show the answer as <{{tag}}>X</{{tag}}>, since the letter is looked for behind <{{tag}}>"


def _criterion(section: Section, parts: Mapping[str, str]) -> Criterion:
    """The criterion of a section, where nothing is wrong with the file."""
    keys = dict(section.keys)
    kind = Kind(keys["kind"])
    return Criterion(
        section.name,
        kind,
        Sees(keys["sees"]),
        preamble=parts["preamble" if kind is Kind.POINTWISE else "preamble_attempts"],
        attempt="" if kind is Kind.POINTWISE else parts["attempt"],
        question=section.template.replace("{{answer_format}}", parts[f"answer_{kind}"]),
    )
