"""Writes taxonomies: what was read and not changed stays byte for byte, unknown fields among it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bestofn.errors import ContentError
from bestofn.fresh_file import fresh_file
from bestofn.taxonomy import lossless
from bestofn.taxonomy.code import Code, Form, Taxonomy
from bestofn.taxonomy.document import SCHEMA_VERSION, read

_HEADER_FIELDS = ("status", "display_name", "domain", "summary", "origin")
_CODE_FIELDS = (
    "name",
    "description",
    "category",
    "severity",
    "when_to_use",
    "when_not_to_use",
    "applies_to_role",
    "examples",
    "basis",
)


def save(taxonomy: Taxonomy, path: str | os.PathLike[str]) -> None:
    """Write a taxonomy in one step; see `text` for what stays as it was, and for the error it raises."""
    data = text(taxonomy).encode()
    with fresh_file(Path(path)) as fresh:
        fresh.write_bytes(data)


def text(taxonomy: Taxonomy) -> str:
    """The file of a taxonomy, as text.

    One that was read and not changed gives the very text it was read from. Where codes or header fields changed, only
    their values are written anew; removed codes go, new ones are spaced like the old, and all unknown fields stay.

    Raises ContentError for a changed layered draft, which holds each code twice: save `flat(taxonomy)` instead.
    """
    document = taxonomy.document
    if not document:
        return _fresh(taxonomy)
    before, _ = read(document, taxonomy.name, "")
    changed = [key for key in _HEADER_FIELDS if getattr(taxonomy, key) != getattr(before, key)]
    if not changed and taxonomy.codes == before.codes:
        return document
    if before.form is Form.LAYERED:
        raise ContentError(
            f"taxonomy '{taxonomy.name}' was read from a layered draft and then changed, and drafts are not edited "
            "in place: save taxonomy.flat(...) of it, a flat v1 file"
        )
    root = lossless.parse(document)
    edits = [lossless.set_value(document, root, key, getattr(taxonomy, key)) for key in changed]
    array: lossless.Node = root.value["codes"]
    return lossless.apply(document, [*edits, *_codes_edits(document, array, before.codes, taxonomy.codes)])


def flat(taxonomy: Taxonomy) -> Taxonomy:
    """The same codes as a flat v1 taxonomy of its own, without the text it was read from and its unknown fields."""
    return Taxonomy(
        taxonomy.name,
        taxonomy.codes,
        display_name=taxonomy.display_name,
        domain=taxonomy.domain,
        summary=taxonomy.summary,
        status=taxonomy.status,
        origin=taxonomy.origin,
    )


def _fresh(taxonomy: Taxonomy) -> str:
    """A flat v1 file for a taxonomy that was made in memory."""
    header = {key: value for key in _HEADER_FIELDS if (value := getattr(taxonomy, key))}
    whole = {"schema_version": SCHEMA_VERSION, **header, "codes": [_plain(code) for code in taxonomy.codes]}
    return lossless.dump_indented(whole, "") + "\n"


def _plain(code: Code) -> dict[str, Any]:
    """A code as the flat form writes it, empty fields left out."""
    return {"id": code.id, **{key: value for key in _CODE_FIELDS if (value := _value(code, key))}}


def _value(code: Code, key: str) -> Any:
    value = getattr(code, key)
    return list(value) if isinstance(value, tuple) else value


def _codes_edits(
    document: str, array: lossless.Node, before: tuple[Code, ...], after: tuple[Code, ...]
) -> list[lossless.Edit]:
    """The edits that turn the codes that were read into those that are wanted."""
    old = {code.id: (node, code) for code, node in zip(before, array.value, strict=True)}
    if [code.id for code in after] == list(old):
        return [edit for code in after for edit in _code_edits(document, *old[code.id], code)]
    indent = lossless.indent_of(document, array.value[0]) if array.value else None
    items = [
        _edited(document, *old[code.id], code) if code.id in old else lossless.dump_indented(_plain(code), indent)
        for code in after
    ]
    return [lossless.set_items(document, array, items)]


def _code_edits(document: str, node: lossless.Node, old: Code, new: Code) -> list[lossless.Edit]:
    """The edits that turn one code's object into another's."""
    edits = []
    for key in _CODE_FIELDS:
        if getattr(new, key) != getattr(old, key):
            spelled = "definition" if key == "description" and key not in node.value else key
            edits.append(lossless.set_value(document, node, spelled, _value(new, key)))
    return edits


def _edited(document: str, node: lossless.Node, old: Code, new: Code) -> str:
    """One code's object with its edits made, as text."""
    edits = _code_edits(document, node, old, new)
    moved = [lossless.Edit(edit.start - node.start, edit.end - node.start, edit.text) for edit in edits]
    return lossless.apply(document[node.start : node.end], moved)
