"""Compiles a taxonomy into content: criteria for an LLM, and a draft bank of features.

It writes text for a person to read and edit, and nothing else: what runs later is the files. The wording is content
too: `criteria/base.md` holds the prompts, `data/signatures.toml` says which codes show in the structure of a run.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bestofn import __version__, criteria
from bestofn.content import content_root, find
from bestofn.criteria_file import emit, one_line
from bestofn.errors import ContentError
from bestofn.featurize import bank
from bestofn.taxonomy import AXES, Code, Taxonomy, normalise

BASE = "base"
"""The built-in criteria file whose prompts are used."""
CRITERIA_FILE, FEATURES_FILE, README_FILE = "criteria.md", "features.toml", "README.md"
AXIS_NAMES = {"A": "the run as a whole", "B": "a role or a phase", "C": "the substance of the work"}


class Signature(NamedTuple):
    """How some failures show in the structure of a run, whatever the taxonomy."""

    name: str
    names: tuple[tuple[str, ...], ...]
    """Beginnings of words, of which a code's name must hold all of one entry."""
    functions: tuple[str, ...]
    """Built-in features."""
    features: tuple[Mapping[str, Any], ...]
    """Features as a bank has them, without `codes`."""

    def fits(self, code: Code) -> bool:
        """True where a code's name suggests this signature."""
        words = normalise(code.name).split("_")
        return any(all(any(w.startswith(part) for w in words) for part in parts) for parts in self.names)


class Extra(NamedTuple):
    """A further file that is compiled elsewhere and written beside the others."""

    name: str
    text: str
    says: str
    """What it is, as the README tells it behind the file's name."""


def compile(taxonomy: Taxonomy, *, base: str | os.PathLike[str] = BASE, extras: Sequence[Extra] = ()) -> dict[str, str]:
    """The files of a taxonomy: relative name to text. Nothing is written.

    `criteria.md` holds a prosecutor for each axis that has codes, the three health checks, the comparison of two and
    that of all; `features.toml`, where any code has a structural signature, the draft bank; `README.md` says what was
    left out and what to do next.

    Parameters
    ----------
    base
        Criteria file to take the prompts from: a name or a path.
    extras
        Further files of the taxonomy, which the README names too.

    Raises ContentError for a base that is not sound.
    """
    found = [(signature, codes) for signature in signatures() if (codes := _fitting(signature, taxonomy.codes))]
    files = {CRITERIA_FILE: _criteria(taxonomy, base)}
    if found:
        files[FEATURES_FILE] = _features(taxonomy, found)
    files |= {extra.name: extra.text for extra in extras}
    files[README_FILE] = _readme(taxonomy, files, found, extras)
    return files


def write(files: Mapping[str, str], folder: str | os.PathLike[str], *, replace: bool = False) -> list[Path]:
    """Write compiled files into a folder, and prove each with its own checker. Gives their paths.

    Raises ContentError where a file is there already and may not be replaced: a person may have edited it.
    """
    root = Path(folder)
    there = [name for name in files if (root / name).exists()]
    if there and not replace:
        raise ContentError(
            f"{root} holds {', '.join(there)} already, perhaps with edits: give another folder, or replace them on "
            "purpose (replace=True, on the command line --replace)"
        )
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8", newline="\n")
    wrong = criteria.problems(root / CRITERIA_FILE) if CRITERIA_FILE in files else []
    wrong += bank.problems(root / FEATURES_FILE) if FEATURES_FILE in files else []
    if wrong:
        raise ContentError("\n".join(wrong))
    return [root / name for name in files]


def signatures() -> list[Signature]:
    """The curated signatures of `data/signatures.toml`, in file order."""
    table = tomllib.loads((content_root("data") / "signatures.toml").read_text(encoding="utf-8"))
    return [
        Signature(
            entry["name"],
            tuple(tuple(words.split()) for words in entry["names"]),
            tuple(entry["functions"]),
            tuple(entry.get("feature", ())),
        )
        for entry in table["signature"]
    ]


def describe(code: Code) -> str:
    """A code as a prompt shows it, on one line: id, name, what goes wrong, when it counts and when not."""
    role = f" ({one_line(code.applies_to_role)})" if code.applies_to_role.strip() else ""
    parts = [f"{code.id} {one_line(code.name)}{role}: {_sentence(code.description)}"]
    if code.when_to_use.strip():
        parts.append(f"Counts when: {_sentence(code.when_to_use)}")
    if code.when_not_to_use.strip():
        parts.append(f"Not when: {_sentence(code.when_not_to_use)}")
    return " ".join(parts)


# Criteria


def _criteria(taxonomy: Taxonomy, base: str | os.PathLike[str]) -> str:
    """The criteria file: the base's own sections, with codes in the prosecutors and those without codes left out."""
    path = find("criteria", os.fspath(base), criteria.SUFFIX)
    if wrong := criteria.problems(path):
        raise ContentError("\n".join(wrong))
    _, parts = criteria.sections(path.read_text(encoding="utf-8-sig"))
    kept = []
    for section in parts:
        axis = section.name.removeprefix("prosecutor_").upper()
        if axis not in AXES:
            kept.append(section)
        elif codes := taxonomy.axis(axis):
            listed = "\n".join(f"- {describe(code)}" for code in codes)
            template = section.template.replace("{{codes}}", listed)
            kept.append(
                section._replace(
                    name=f"llm_{section.name}", keys=(("kind", "pointwise"), ("sees", "whole")), template=template
                )
            )
    return emit(
        kept,
        title=f"Criteria for {taxonomy.title}",
        about="What an LLM is asked about runs of this kind. Read it, edit it, and prove it with `bestofn check`: a "
        "changed\nword makes another criterion, with another column.",
        taxonomy=f"{taxonomy.name} {taxonomy.digest}",
    )


def _sentence(text: str) -> str:
    line = one_line(text)
    return line if line.endswith((".", "!", "?")) else f"{line}."


# Features


def _fitting(signature: Signature, codes: Sequence[Code]) -> list[Code]:
    return [code for code in codes if signature.fits(code)]


def _features(taxonomy: Taxonomy, found: Sequence[tuple[Signature, Sequence[Code]]]) -> str:
    """The draft bank."""
    functions: dict[str, list[Code]] = {}
    for signature, codes in found:
        for name in signature.functions:
            known = functions.setdefault(name, [])
            known += [code for code in codes if code not in known]
    lines = [
        f"# Draft features for {one_line(taxonomy.title)}: taxonomy {one_line(taxonomy.name)} {taxonomy.digest}, "
        f"bestofn {__version__}.",
        "# Each is here because a code's name suggests it. Nothing was measured: read the patterns, try them on your",
        "# runs, add examples from them, drop what does not fit, then prove the file with `bestofn check`.",
        "",
        f"description = {_quoted(f'draft: structural signs of the failures in {one_line(taxonomy.title)}')}",
        "functions = [",
        *(f"  {_quoted(name)},  # {_listed(codes)}" for name, codes in functions.items()),
        "]",
    ]
    for signature, codes in found:
        for feature in signature.features:
            lines += ["", f"# {signature.name}: {_listed(codes)}", "[[feature]]", *_feature_lines(feature, codes)]
    without = [code for code in taxonomy.codes if not any(code in codes for _, codes in found)]
    if without:
        lines += ["", "# Codes that leave no sign in the structure of a run; criteria.md asks about them:"]
        lines += [f"#   {code.id} {one_line(code.name)}" for code in without]
    return "\n".join(lines) + "\n"


def _feature_lines(feature: Mapping[str, Any], codes: Sequence[Code]) -> Iterator[str]:
    """One [[feature]] as TOML, its keys in the order in which banks write them."""
    values: dict[str, Any] = {**feature, "codes": [code.id for code in codes]}
    for key in bank.FEATURE_KEYS:
        value = values[key]
        if key == "pattern":
            yield f"pattern = '''{value}'''"
        elif isinstance(value, list):
            yield f"{key} = [{', '.join(map(_quoted, value))}]"
        else:
            yield f"{key} = {value if isinstance(value, int) else _quoted(value)}"


def _quoted(text: str) -> str:
    """A TOML basic string: of the escapes that JSON writes, TOML knows all."""
    return json.dumps(text, ensure_ascii=False)


def _listed(codes: Sequence[Code]) -> str:
    return ", ".join(f"{code.id} {one_line(code.name)}" for code in codes)


# What to do next


def _readme(
    taxonomy: Taxonomy,
    files: Mapping[str, str],
    found: Sequence[tuple[Signature, Sequence[Code]]],
    extras: Sequence[Extra],
) -> str:
    """What was made, what was left out, and what comes next."""
    _, parts = criteria.sections(files[CRITERIA_FILE])
    asked = [part.name for part in parts if part.name not in criteria.PARTS]
    signed = {code.id for _, codes in found for code in codes}
    named = f"`{one_line(taxonomy.name)}` {taxonomy.digest}, status {one_line(taxonomy.status) or 'not stated'}"
    steps = [
        f"Read `{CRITERIA_FILE}`. Drop codes that do not fit your runs, sharpen those that do. A changed word makes\n"
        "   another criterion, with another column.",
        "Prove what you edited: `bestofn check FILE`. Then give the files by their paths.",
    ]
    blocks = [
        f"# Compiled from {one_line(taxonomy.title)}",
        f"Taxonomy {named}, {len(taxonomy.codes)} codes; compiled by bestofn {__version__}.\n"
        "These are drafts: nothing runs until you give a file by its path.",
        f"- `{CRITERIA_FILE}` asks {', '.join(f'`{name}`' for name in asked)}.",
    ]
    if FEATURES_FILE in files:
        share = f"{len(signed)} of {len(taxonomy.codes)}"
        blocks[-1] += (
            f"\n- `{FEATURES_FILE}` drafts features for {share} codes, as their names suggest; it lists the others."
        )
        steps.insert(
            1,
            f"Read `{FEATURES_FILE}`. Drop what does not fit; add strings from your own runs to `matches`, `misses`.",
        )
    blocks[-1] += "".join(f"\n- `{extra.name}` {extra.says}" for extra in extras)
    if FEATURES_FILE not in files:
        blocks.append(f"No code's name has a structural signature, so there is no `{FEATURES_FILE}`.")
    blocks += [
        f"No code stands on axis {axis} ({AXIS_NAMES[axis]}), so there is no `llm_prosecutor_{axis.lower()}`:\n"
        "an empty prompt would ask about nothing."
        for axis in AXES
        if not taxonomy.axis(axis)
    ]
    blocks.append("\n".join(["What to do next:", *(f"{number}. {step}" for number, step in enumerate(steps, 1))]))
    return "\n\n".join(blocks) + "\n"
