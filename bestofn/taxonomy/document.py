"""Reads taxonomy files in the three forms that are in use, and says of each code and field what is wrong.

The flat `taxonomy.json` (schema_version 1); the store record (`taxonomy_id`, `repo`, `domain`, `codes`); the layered
draft (`full_layer`, `annotation_layer`, or `category_a` to `category_c` at the top), whose codes say `code` and
`definition` where the others say `id` and `description`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bestofn.content import builtin_names, find
from bestofn.errors import ContentError
from bestofn.taxonomy import lossless
from bestofn.taxonomy.code import AXES, CUSTOM, LETTER_ID, MAST_ID, REVIEW, STATUSES, Code, Form, Taxonomy

SCHEMA_VERSION = 1
"""The version of the flat form that is read and written."""
ANY_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
"""What a store record may call a code."""
_ID_SHAPE = "a letter and a number such as A.3, or MAST's 3.2"


class Problem(NamedTuple):
    """One thing that keeps a document from being a taxonomy."""

    where: str
    """The file, with the code and the field where it is theirs."""
    what: str
    """What is there, and what must be."""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def names() -> list[str]:
    """Names of the built-in taxonomies, sorted."""
    return builtin_names("data", ".json", "taxonomies")


def load(name: str | os.PathLike[str], *, allow_review: bool = False) -> Taxonomy:
    """A taxonomy from a file, or a built-in one by its name.

    Raises ContentError for an unknown name, for all that `problems` finds, and for one that still needs review where
    that is not allowed.
    """
    path = find("data", os.fspath(name), ".json", "taxonomies")
    taxonomy, found = _load(path)
    if found:
        head = f"{path}: {len(found)} problems\n  " if len(found) > 1 else ""
        raise ContentError(head + "\n  ".join(map(str, found)))
    if taxonomy.status == REVIEW and not allow_review:
        raise ContentError(
            f"{path}, field 'status': '{REVIEW}' says that its annotators did not agree well enough: read its codes, "
            "then ask for it with allow_review=True (on the command line --allow-review)"
        )
    return taxonomy


def problems(name: str | os.PathLike[str]) -> list[str]:
    """What keeps a file from being a taxonomy, a sentence each, naming the code and the field. Empty: nothing.

    Raises ContentError where there is no such file.
    """
    return [str(problem) for problem in _load(find("data", os.fspath(name), ".json", "taxonomies"))[1]]


def _load(path: Path) -> tuple[Taxonomy, list[Problem]]:
    try:
        document = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        return Taxonomy(path.stem, ()), [Problem(str(path), f"byte {error.start} is not UTF-8: save it as UTF-8")]
    except OSError as error:
        return Taxonomy(path.stem, ()), [Problem(str(path), f"cannot be read ({error.strerror}): give a taxonomy file")]
    return read(document, path.stem, str(path))


def read(document: str, name: str, where: str) -> tuple[Taxonomy, list[Problem]]:
    """The taxonomy in a text, as far as it goes, and all that is wrong with it. `where` is the file, for messages."""
    nothing = Taxonomy(name, (), document=document)
    try:
        root = lossless.parse(document).plain()
    except ValueError as error:
        return nothing, [Problem(where, f"not JSON: {error}")]
    if not isinstance(root, dict):
        return nothing, [Problem(where, f"holds {_kind(root)}, where a taxonomy is an object")]
    reader = _Reader(where, [])
    form = reader.form(root)
    if form is None:
        return nothing, reader.found
    entries = _layered(root) if form is Form.LAYERED else reader.listed(root)
    read_codes = (reader.code(form, entry, n, key, axis) for n, (entry, key, axis) in enumerate(entries, 1))
    codes = tuple(code for code in read_codes if code is not None)
    if not codes and not reader.found:
        reader.say("", "", "has no code in any category")
    reader.unique(codes)
    domain = reader.text(root, "domain")
    return Taxonomy(
        reader.text(root, "taxonomy_id") or name,
        codes,
        display_name=reader.text(root, "display_name"),
        domain=_layered_domain(root) or domain if form is Form.LAYERED else domain,
        summary=reader.text(root, "summary"),
        status=reader.status(form, root),
        origin=_only_text(root, "origin"),
        form=form,
        document=document,
    ), reader.found


class _Reader(NamedTuple):
    """Reads fields, and notes what is wrong with them."""

    where: str
    found: list[Problem]

    def say(self, code: str, key: str, what: str) -> None:
        """Note a problem of a code (such as "code 'A.3'"), of a field, or of the whole."""
        place = ", ".join(part for part in (self.where, code, key and f"field '{key}'") if part)
        self.found.append(Problem(place, what))

    def form(self, root: Mapping[str, Any]) -> Form | None:
        """Which form a document has; None, with the reason noted, where it has none or an unknown version."""
        if "diagnoses" in root:
            self.say("", "", "holds judgments of traces, not a taxonomy: give the taxonomy.json that they name")
        elif "codes" in root:
            version = root.get("schema_version")
            if "schema_version" in root and (isinstance(version, bool) or version != SCHEMA_VERSION):
                self.say("", "schema_version", f"{version!r} is not known: this release reads {SCHEMA_VERSION}")
            else:
                return Form.RECORD if "taxonomy_id" in root and "schema_version" not in root else Form.FLAT
        elif any(isinstance(layer.get(_category(axis)), dict | list) for layer in _layers(root) for axis in AXES):
            return Form.LAYERED
        elif "acceptance" in root:
            self.say("", "", "is the manifest of a taxonomy: give the taxonomy.json beside it")
        else:
            self.say("", "codes", "is missing, and there is no layer of categories either: this is no taxonomy")
        return None

    def status(self, form: Form, root: Mapping[str, Any]) -> str:
        """The status; only the flat form has a fixed list of them."""
        status = self.text(root, "status")
        if form is Form.FLAT and status and status not in STATUSES:
            self.say("", "status", f"is {status!r}; it may be {', '.join(STATUSES)}")
        return status

    def listed(self, root: Mapping[str, Any]) -> Iterator[tuple[Any, str, str]]:
        """(entry, '', '') of each item of `codes`."""
        codes = root["codes"]
        if not isinstance(codes, list) or not codes:
            self.say("", "codes", f"is {_kind(codes)}, where a list with at least one code must be")
            return
        yield from ((entry, "", "") for entry in codes)

    def code(self, form: Form, entry: Any, number: int, key: str, axis: str) -> Code | None:
        """One code; None where it has no usable id. `key` and `axis` come from its place in a layered draft."""
        label = f"code number {number}"
        if not isinstance(entry, dict):
            self.say(label, "", f"is {_kind(entry)}, where an object must be")
            return None
        id_key = "code" if "code" in entry and "id" not in entry else "id"
        id = entry.get(id_key, key)
        if not isinstance(id, str) or not ANY_ID.fullmatch(id):
            self.say(label, id_key, f"{'is missing' if id in ('', None) else f'is {id!r}'}; write {_ID_SHAPE}")
            return None
        label = f"code '{id}'"
        category = axis or self.text(entry, "category", label)
        self._check_id(form, id, id_key, category)
        meaning = "definition" if "definition" in entry and "description" not in entry else "description"
        for needed in ("name", meaning):
            if entry.get(needed) is None or (isinstance(entry[needed], str) and not entry[needed].strip()):
                lack = "is empty" if entry.get(needed) is not None else "is missing"
                self.say(label, needed, f"{lack}; say in words what goes wrong in such a run")
        return Code(
            id,
            self.text(entry, "name", label),
            category,
            self.text(entry, meaning, label),
            severity=self.text(entry, "severity", label),
            when_to_use=self.text(entry, "when_to_use", label),
            when_not_to_use=self.text(entry, "when_not_to_use", label),
            applies_to_role=self.text(entry, "applies_to_role", label),
            examples=self._examples(entry, label),
            basis=_only_text(entry, "basis"),
        )

    def _check_id(self, form: Form, id: str, id_key: str, category: str) -> None:
        """Note an id and a category that do not go together."""
        label = f"code '{id}'"
        letter = LETTER_ID.fullmatch(id)
        if not category.strip():
            self.say(label, "category", "is missing; it must be A (the run), B (a role or phase) or C (the subject)")
        elif form is Form.FLAT and category not in (*AXES, CUSTOM):
            self.say(label, "category", f"is {category!r}; in the flat form it must be A, B, C or {CUSTOM}")
        elif form is not Form.RECORD and category != CUSTOM and not letter and not MAST_ID.fullmatch(id):
            self.say(label, id_key, f"must be {_ID_SHAPE}")
        elif category in AXES and letter and letter[1] != category:
            self.say(label, "category", f"is {category!r}, while the id is one of axis {letter[1]}")

    def unique(self, codes: Iterable[Code]) -> None:
        """Note each id that stands more than once."""
        seen: dict[str, str] = {}
        for code in codes:
            if code.id in seen:
                twice = f"stands twice, for {seen[code.id]!r} and {code.name!r}; give one of them a new id"
                self.say(f"code '{code.id}'", "id", twice)
            seen.setdefault(code.id, code.name)

    def text(self, entry: Mapping[str, Any], key: str, label: str = "") -> str:
        """A field's text; '' where it is absent or null."""
        value = entry.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            self.say(label, key, f"is {_kind(value)}, where a text must be")
            return ""
        if _torn(value):
            self.say(label, key, "holds half of a surrogate pair, which is no letter: write the text anew")
            return ""
        return value

    def _examples(self, entry: Mapping[str, Any], label: str) -> tuple[str, ...]:
        """`examples`, or a store record's single `example`."""
        value = entry.get("examples")
        if value is None:
            return (one,) if (one := self.text(entry, "example", label)) else ()
        if not isinstance(value, list):
            self.say(label, "examples", f"is {_kind(value)}, where a list of texts must be")
            return ()
        if not all(isinstance(item, str) and not _torn(item) for item in value):
            self.say(label, "examples", "holds an item that is no text")
            return ()
        return tuple(value)


def _only_text(entry: Mapping[str, Any], key: str) -> str:
    """A field of our own; where another tool uses its name for something else, it is left alone."""
    value = entry.get(key)
    return value if isinstance(value, str) and not _torn(value) else ""


def _torn(text: str) -> bool:
    """True where a text holds half of a surrogate pair, which JSON can spell and UTF-8 cannot."""
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _category(axis: str) -> str:
    return f"category_{axis.lower()}"


def _layers(root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The layers of a draft, the fullest first: full_layer, annotation_layer, the document itself."""
    return [layer for layer in (root.get("full_layer"), root.get("annotation_layer"), root) if isinstance(layer, dict)]


def _layered(root: Mapping[str, Any]) -> Iterator[tuple[Any, str, str]]:
    """(entry, id by its key, axis) of each code of a draft, each axis from the fullest layer that has any."""
    for axis in AXES:
        group = next((group for layer in _layers(root) if (group := layer.get(_category(axis)))), None)
        if isinstance(group, dict):
            yield from ((entry, key, axis) for key, entry in group.items())
        elif isinstance(group, list):
            yield from ((entry, "", axis) for entry in group)


def _layered_domain(root: Mapping[str, Any]) -> str:
    """The domain's name in a draft: `domain_info.domain`, a text or an object with a name."""
    for layer in _layers(root):
        info = layer.get("domain_info")
        domain = info.get("domain") if isinstance(info, dict) else None
        name = domain.get("name") if isinstance(domain, dict) else domain
        if isinstance(name, str) and not _torn(name):
            return name.strip()
    return ""


def _kind(value: Any) -> str:
    """A JSON value's kind in words."""
    kinds = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    if value is None:
        return "null"
    return f"an empty {kinds[type(value)].split()[-1]}" if value in ([], {}, "") else kinds[type(value)]
