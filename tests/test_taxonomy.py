"""Taxonomy files: what is read, what is refused and how it is said, and which bytes survive a change."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestofn import taxonomy
from bestofn.errors import ContentError
from bestofn.taxonomy import Code, Form, Taxonomy, lossless

FLAT = """{
  "schema_version": 1,
  "strategy": "baseline",
  "status": "accepted",
  "display_name": "Kitchen robots",
  "domain": "Cooking",
  "summary": "How they burn things.",
  "zz_unknown": {"weight": 1.0, "whole": 1, "tiny": 1e-07, "name": "caf\\u00e9", "naïve": [ ]},
  "codes": [
    {
      "id": "A.1",
      "name": "Burnt_Pan",
      "description": "The pan is burnt.",
      "category": "A",
      "x_seen": 3.50
    },
    {
      "id": "A.10",
      "severity": "high",
      "name": "Cold_Plates",
      "description": "Plates come out cold.",
      "category": "A"
    },
    {
      "id": "A.2",
      "name": "Lost_Recipe",
      "description": "The recipe is lost \\u2014 midway.",
      "category": "A",
      "examples": ["step 3"]
    },
    {"id": "B.1", "name": "Cook_Tastes_Nothing", "description": "Bland.", "category": "B", "applies_to_role": "cook"}
  ],
  "generation": {"trace_count": 24, "agreement": {"final_kappa": 0.80}}
}
"""


def write(folder: Path, text: str, name: str = "kitchen.json") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def flat(*codes: Any, **header: Any) -> str:
    return json.dumps({"schema_version": 1, **header, "codes": list(codes)})


def code(**fields: Any) -> dict[str, Any]:
    return {"id": "A.1", "name": "Burnt_Pan", "description": "It is burnt.", "category": "A", **fields}


def test_flat_form_is_read_in_file_order(tmp_path: Path) -> None:
    """Codes keep the file's order, in which A.10 stands before A.2, and any severity word."""
    read = taxonomy.load(write(tmp_path, FLAT))
    assert [c.id for c in read.codes] == ["A.1", "A.10", "A.2", "B.1"]
    assert (read.name, read.title, read.domain, read.status, read.form) == (
        "kitchen",
        "Kitchen robots",
        "Cooking",
        "accepted",
        Form.FLAT,
    )
    assert read.code("A.10").severity == "high"
    assert read.code("A.2").examples == ("step 3",)
    assert read.code("B.1").applies_to_role == "cook"
    assert [c.id for c in read.axis("A")] == ["A.1", "A.10", "A.2"]


def test_store_record_may_have_its_own_ids_and_categories(tmp_path: Path) -> None:
    """A store record's id may be '1' and its category any word, which stands on axis C."""
    record = {
        "taxonomy_id": "tax-kitchen-7",
        "repo": "acme/kitchen",
        "domain": "cooking",
        "codes": [
            {"id": "1", "name": "Burnt pan", "description": "It burns.", "category": "Custom", "example": "smoke"},
            {"id": "MAST-4", "name": "Loss of history", "description": "Forgets.", "category": "Specification"},
            {"id": "MAST-7", "name": "Guessing", "description": "Does not ask.", "category": "Coordination"},
        ],
    }
    read = taxonomy.load(write(tmp_path, json.dumps(record)))
    assert (read.name, read.form, read.status) == ("tax-kitchen-7", Form.RECORD, "")
    assert [(c.id, c.axis) for c in read.codes] == [("1", "C"), ("MAST-4", "A"), ("MAST-7", "B")]
    assert read.codes[0].examples == ("smoke",)


def test_layered_draft_takes_each_axis_from_its_fullest_layer(tmp_path: Path) -> None:
    """full_layer wins over annotation_layer axis by axis; its dicts and lists are both read."""
    draft = {
        "metadata": {"id_high_water": {"A": 9}},
        "role_definitions": {"cook": "cooks"},
        "annotation_layer": {
            "category_a": [{"code": "A.1", "name": "Short", "definition": "Short text.", "severity": "minor"}],
            "category_b": [{"code": "B.2", "name": "Only_Here", "definition": "Only here.", "applies_to_role": "cook"}],
            "category_c": [],
        },
        "full_layer": {
            "domain_info": {"domain": {"name": "Cooking "}},
            "category_a": {
                "A.1": {"code": "A.1", "name": "Full", "definition": "Full text.", "when_to_use": "smoke"},
                "A.7": {"name": "By_Key", "definition": "The key is the id."},
            },
            "category_c": [{"code": "C.1", "name": "Listed", "definition": "In a list."}],
        },
    }
    read = taxonomy.load(write(tmp_path, json.dumps(draft)))
    assert read.form is Form.LAYERED
    assert read.domain == "Cooking"
    assert [(c.id, c.category, c.name) for c in read.codes] == [
        ("A.1", "A", "Full"),
        ("A.7", "A", "By_Key"),
        ("B.2", "B", "Only_Here"),
        ("C.1", "C", "Listed"),
    ]
    assert read.codes[0].description == "Full text."


def test_categories_at_the_top_are_a_layered_draft_too(tmp_path: Path) -> None:
    """The older form with category_a at the top of the document is read."""
    text = json.dumps({"category_a": {"A.3": {"name": "N", "definition": "D."}}, "category_b": {}, "category_c": {}})
    assert [c.id for c in taxonomy.load(write(tmp_path, text)).codes] == ["A.3"]


def test_mast_ids_carry_their_axis(tmp_path: Path) -> None:
    """An id such as 2.3 is accepted in the flat form, and in a record without an axis its group gives the axis."""
    read = taxonomy.load(write(tmp_path, flat(code(id="3.2", category="C"))))
    assert read.codes[0].axis == "C"
    assert [Code(i, "n", "FC2", "d").axis for i in ("1.1", "2.6", "3.3", "9")] == ["A", "B", "C", "C"]


def test_review_required_is_refused_unless_asked_for(tmp_path: Path) -> None:
    """A taxonomy that its annotators did not agree on needs an explicit word."""
    path = write(tmp_path, flat(code(), status="review_required"))
    with pytest.raises(ContentError) as caught:
        taxonomy.load(path)
    assert str(caught.value) == (
        f"{path}, field 'status': 'review_required' says that its annotators did not agree well enough: "
        "read its codes, then ask for it with allow_review=True (on the command line --allow-review)"
    )
    assert taxonomy.problems(path) == []
    assert taxonomy.load(path, allow_review=True).status == "review_required"


BROKEN = [
    (flat(code(id="A1")), ", code 'A1', field 'id': must be a letter and a number such as A.3, or MAST's 3.2"),
    (flat(code(id="A.01")), ", code 'A.01', field 'id': must be a letter and a number such as A.3, or MAST's 3.2"),
    (
        flat(code(id="")),
        ", code number 1, field 'id': is missing; write a letter and a number such as A.3, or MAST's 3.2",
    ),
    (flat(code(id=7)), ", code number 1, field 'id': is 7; write a letter and a number such as A.3, or MAST's 3.2"),
    (
        flat(code(id="A 1")),
        ", code number 1, field 'id': is 'A 1'; write a letter and a number such as A.3, or MAST's 3.2",
    ),
    (flat(code(name=" ")), ", code 'A.1', field 'name': is empty; say in words what goes wrong in such a run"),
    (flat(code(name=None)), ", code 'A.1', field 'name': is missing; say in words what goes wrong in such a run"),
    (
        flat({"id": "A.1", "name": "n", "category": "A"}),
        ", code 'A.1', field 'description': is missing; say in words what goes wrong in such a run",
    ),
    (
        flat(code(), code(name="Other")),
        ", code 'A.1', field 'id': stands twice, for 'Burnt_Pan' and 'Other'; give one of them a new id",
    ),
    (flat(code(category="B")), ", code 'A.1', field 'category': is 'B', while the id is one of axis A"),
    (
        flat(code(category="System")),
        ", code 'A.1', field 'category': is 'System'; in the flat form it must be A, B, C or Custom",
    ),
    (
        flat({"id": "A.1", "name": "n", "description": "d"}),
        ", code 'A.1', field 'category': is missing; it must be A (the run), B (a role or phase) or C (the subject)",
    ),
    (flat(code(severity=3)), ", code 'A.1', field 'severity': is a number, where a text must be"),
    (flat(code(examples="one")), ", code 'A.1', field 'examples': is a text, where a list of texts must be"),
    (flat(code(examples=[1])), ", code 'A.1', field 'examples': holds an item that is no text"),
    (
        flat(code(name="x\ud800")),
        ", code 'A.1', field 'name': holds half of a surrogate pair, which is no letter: write the text anew",
    ),
    (flat("A.1"), ", code number 1: is a text, where an object must be"),
    (
        flat(code(), status="draft"),
        ", field 'status': is 'draft'; it may be accepted, review_required, from-published-names, hand-written",
    ),
    (flat(), ", field 'codes': is an empty list, where a list with at least one code must be"),
    ('{"schema_version": 2, "codes": []}', ", field 'schema_version': 2 is not known: this release reads 1"),
    ('{"schema_version": "1", "codes": []}', ", field 'schema_version': '1' is not known: this release reads 1"),
    ('{"name": "x"}', ", field 'codes': is missing, and there is no layer of categories either: this is no taxonomy"),
    (
        '{"schema_version": 2, "diagnoses": []}',
        ": holds judgments of traces, not a taxonomy: give the taxonomy.json that they name",
    ),
    ('{"schema_version": 1, "acceptance": {}}', ": is the manifest of a taxonomy: give the taxonomy.json beside it"),
    ('{"category_a": [], "category_b": {}}', ": has no code in any category"),
    ("[]", ": holds an empty list, where a taxonomy is an object"),
    ('{"codes": [}', ": not JSON: line 1, column 12: Expecting value"),
    ('{"codes": NaN}', ": not JSON: line 1, column 11: NaN is no JSON"),
    ('{"codes": [],\n "codes": []}', ': not JSON: line 2, column 2: the key "codes" stands twice in one object'),
    ("{} {}", ": not JSON: line 1, column 4: there is more text after the end of the value"),
    ("[" * 200, ": not JSON: line 1, column 102: values are nested more than 100 deep"),
    ("", ": not JSON: line 1, column 1: Expecting value"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_every_problem_names_the_code_and_the_field(tmp_path: Path, text: str, message: str) -> None:
    """What is wrong is said with file, code, field and a way out, by `problems` and by `load` alike."""
    path = write(tmp_path, text)
    assert taxonomy.problems(path) == [f"{path}{message}"]
    with pytest.raises(ContentError) as caught:
        taxonomy.load(path)
    assert str(caught.value) == f"{path}{message}"


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    """A file with two faults is refused with both."""
    path = write(tmp_path, flat(code(name=""), code(id="B.1", category="C")))
    with pytest.raises(ContentError) as caught:
        taxonomy.load(path)
    assert str(caught.value) == (
        f"{path}: 2 problems\n"
        f"  {path}, code 'A.1', field 'name': is empty; say in words what goes wrong in such a run\n"
        f"  {path}, code 'B.1', field 'category': is 'C', while the id is one of axis B"
    )


def test_a_file_that_is_not_utf8_is_named_with_its_byte(tmp_path: Path) -> None:
    """Latin-1 is not guessed at."""
    path = tmp_path / "kitchen.json"
    path.write_bytes(b'{"codes": "\xe9"}')
    assert taxonomy.problems(path) == [f"{path}: byte 11 is not UTF-8: save it as UTF-8"]


def test_an_unknown_name_lists_the_built_in_ones() -> None:
    """A misspelt name shows what there is."""
    with pytest.raises(ContentError, match=r"no taxonomies file 'terminal-bank': .*built in are .*terminal-bench"):
        taxonomy.load("terminal-bank")


ROUND_TRIPS = [FLAT, FLAT.replace("\n", "\r\n"), "\ufeff" + FLAT, FLAT.replace("\n", "").replace("  ", "\t")]


@pytest.mark.parametrize("text", ROUND_TRIPS)
def test_an_unchanged_taxonomy_is_saved_byte_for_byte(tmp_path: Path, text: str) -> None:
    """Key order, 1.0, 1e-07, escapes, spacing, line ends and a byte order mark come back as they were."""
    path = write(tmp_path, text)
    taxonomy.save(taxonomy.load(path), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == text.encode()


def test_a_changed_field_leaves_every_other_byte(tmp_path: Path) -> None:
    """One description and the domain are written anew; all else stays, unknown fields and escapes among it."""
    read = taxonomy.load(write(tmp_path, FLAT))
    codes = tuple(replace(c, description="Café plates.") if c.id == "A.10" else c for c in read.codes)
    written = taxonomy.text(replace(read, codes=codes, domain="Baking"))
    expected = FLAT.replace('"Plates come out cold."', '"Café plates."').replace('"Cooking"', '"Baking"')
    assert written == expected


def test_a_new_field_goes_to_the_end_of_its_object(tmp_path: Path) -> None:
    """A field that the file did not have is added, spaced like the others."""
    read = taxonomy.load(write(tmp_path, FLAT))
    codes = (replace(read.codes[0], severity="minor"), *read.codes[1:])
    assert taxonomy.text(replace(read, codes=codes)) == FLAT.replace(
        '"x_seen": 3.50\n', '"x_seen": 3.50,\n      "severity": "minor"\n'
    )


def test_removed_and_new_codes_keep_the_bytes_of_the_others(tmp_path: Path) -> None:
    """A code that goes takes its text along, a new one is spaced like the old, the rest stays."""
    read = taxonomy.load(write(tmp_path, FLAT))
    new = Code("A.11", "Salt", "C", "Too much salt.", severity="minor")
    kept = tuple(c for c in read.codes if c.id != "A.2")
    written = taxonomy.text(replace(read, codes=(*kept, replace(new, category="A"))))
    start, end = FLAT.index('    {\n      "id": "A.2"'), FLAT.index('    {"id": "B.1"')
    added = (
        ',\n    {\n      "id": "A.11",\n      "name": "Salt",\n      "description": "Too much salt.",\n'
        '      "category": "A",\n      "severity": "minor"\n    }\n  ],'
    )
    assert written == (FLAT[:start] + FLAT[end:]).replace("\n  ],", added, 1)
    assert taxonomy.load(write(tmp_path, written, "new.json")).codes == (*kept, replace(new, category="A"))


def test_a_record_keeps_the_word_definition(tmp_path: Path) -> None:
    """Where a file says `definition`, a changed description is written there."""
    text = '{"taxonomy_id": "t", "codes": [{"id": "1", "name": "n", "definition": "old", "category": "Custom"}]}'
    read = taxonomy.load(write(tmp_path, text))
    changed = replace(read, codes=(replace(read.codes[0], description="new"),))
    assert taxonomy.text(changed) == text.replace('"old"', '"new"')


def test_a_layered_draft_is_saved_unchanged_or_made_flat(tmp_path: Path) -> None:
    """A draft comes back byte for byte; a changed one is refused with what to do instead, and `flat` does it."""
    text = '{"full_layer": {"category_a": {"A.1": {"name": "N", "definition": "D.", "origin": "seed"}}}, "x": 1.0}'
    read = taxonomy.load(write(tmp_path, text))
    assert taxonomy.text(read) == text
    changed = replace(read, codes=(replace(read.codes[0], name="M"),))
    with pytest.raises(ContentError) as caught:
        taxonomy.text(changed)
    assert str(caught.value) == (
        "taxonomy 'kitchen' was read from a layered draft and then changed, and drafts are not edited in place: "
        "save taxonomy.flat(...) of it, a flat v1 file"
    )
    again = taxonomy.load(write(tmp_path, taxonomy.text(taxonomy.flat(changed)), "flat.json"))
    assert (again.form, again.codes) == (Form.FLAT, changed.codes)


def test_a_taxonomy_made_in_memory_is_written_as_flat_v1(tmp_path: Path) -> None:
    """What was made here reads back equal."""
    made = Taxonomy(
        "kitchen", (Code("A.1", "Burnt", "A", "Burnt.", examples=("x",)),), domain="d", status="hand-written"
    )
    taxonomy.save(made, tmp_path / "kitchen.json")
    assert taxonomy.load(tmp_path / "kitchen.json") == made
    assert json.loads((tmp_path / "kitchen.json").read_text())["schema_version"] == 1


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    """The digest is the beginning of what sha256sum says of the saved file, and moves with any byte."""
    from hashlib import sha256

    read = taxonomy.load(write(tmp_path, FLAT))
    assert read.digest == sha256(FLAT.encode()).hexdigest()[:12]
    assert taxonomy.load(write(tmp_path, FLAT + " ")).digest != read.digest


def test_an_unknown_code_id_lists_those_there_are(tmp_path: Path) -> None:
    """Asking for a code that is not there says which are."""
    with pytest.raises(ContentError) as caught:
        taxonomy.load(write(tmp_path, FLAT)).code("Z.1")
    assert str(caught.value) == "taxonomy 'kitchen' has no code 'Z.1': it has A.1, A.10, A.2, B.1"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.sampled_from([None, 1, 2]), st.booleans())
def test_the_lossless_parser_agrees_with_json(value: Any, indent: int | None, ascii_only: bool) -> None:
    """Our tree holds what json.loads reads, and every node's span is the text of its value."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    root = lossless.parse(text)
    assert root.plain() == value
    assert json.loads(text[root.start : root.end]) == value


@given(
    st.dictionaries(st.text(), st.integers() | st.text(), max_size=5), st.text(), st.text(), st.sampled_from([None, 2])
)
def test_setting_a_key_changes_that_key_alone(before: dict[str, Any], key: str, value: str, indent: int | None) -> None:
    """An edited object reads as the old one with one key set."""
    text = json.dumps(before, indent=indent)
    edited = lossless.apply(text, [lossless.set_value(text, lossless.parse(text), key, value)])
    assert json.loads(edited) == {**before, key: value}


def test_names_are_compared_by_their_words() -> None:
    """Case, separators, CamelCase and plural endings do not part names; the order of words does."""
    same = ["Training_Stalls", "training-stall", "Training stall", "TrainingStall", "TRAINING  STALL"]
    assert {taxonomy.normalise(name) for name in same} == {"training_stall"}
    assert taxonomy.normalise("Missed Dependencies") == taxonomy.normalise("missed_dependency")
    assert taxonomy.normalise("Process_Analysis_Status") == "process_analysis_status"
    assert taxonomy.normalise("stall training") != "training_stall"


def test_compare_gives_the_jaccard_index_of_all_codes_and_of_axis_a() -> None:
    """Two of five names shared are 0.4; on axis A one of three is a third."""
    one = Taxonomy(
        "one", tuple(Code(i, n, i[0], "d") for i, n in [("A.1", "Loops"), ("A.2", "Refusal"), ("C.1", "Unit_Errors")])
    )
    two = Taxonomy(
        "two",
        tuple(
            Code(i, n, i[0], "d")
            for i, n in [("A.1", "loop"), ("A.3", "Timeout"), ("C.9", "Unit Error"), ("B.1", "Haste")]
        ),
    )
    seen = taxonomy.compare(one, two)
    assert seen.full == pytest.approx(2 / 5)
    assert seen.backbone == pytest.approx(1 / 3)
    assert (seen.shared, seen.only_first, seen.only_second) == (
        ("Loops", "Unit_Errors"),
        ("Refusal",),
        ("Timeout", "Haste"),
    )
    assert taxonomy.compare(two, one)[:2] == seen[:2]
    assert taxonomy.compare(one, one)[:2] == (1.0, 1.0)


def test_a_backbone_that_neither_has_is_unknown() -> None:
    """Without any A code there is no index, which is not 0."""
    one = Taxonomy("one", (Code("C.1", "Haste", "C", "d"),))
    assert taxonomy.compare(one, one).full == 1.0
    assert math.isnan(taxonomy.compare(one, one).backbone)
