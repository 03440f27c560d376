"""The taxonomies and criteria that ship: sound, with their origin, in our own words, and in step with each other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bestofn import compiler, criteria, taxonomy
from bestofn.content import content_root

PUBLISHED = {
    "mast-14": (5, 6, 3),
    "terminal-bench": (9, 11, 12),
    "swe-bench": (4, 10, 5),
    "swe-bench-swe-agent": (1, 1, 4),
    "olympiadbench": (5, 5, 6),
    "frontier-cs": (3, 1, 2),
    "theoremqa": (2, 0, 3),
    "mmlu-pro": (3, 0, 1),
    "drop": (3, 0, 1),
}
"""Codes on the axes A, B and C."""
BASES = ("published name: ", "after a published name: ", "published finding: ", "measured finding on ", "written for ")


def test_the_shipped_taxonomies_are_these() -> None:
    """Each is there and has the codes that its README counts."""
    assert {name: tuple(len(taxonomy.load(name).axis(a)) for a in "ABC") for name in taxonomy.names()} == PUBLISHED
    table = (content_root("data") / "taxonomies" / "README.md").read_text(encoding="utf-8")
    for name, sizes in PUBLISHED.items():
        assert re.search(rf"^\| `{name}` \| [^|]+ \| {sum(sizes)} \|", table, re.MULTILINE), name


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_each_says_where_it_comes_from(name: str) -> None:
    """None pretends to be induced, and every code says what it rests on."""
    read = taxonomy.load(name)
    assert read.status == "from-published-names"
    assert re.search(r"arXiv:\d{4}\.\d{5}", read.origin)
    assert read.summary
    assert read.domain
    for code in read.codes:
        assert code.basis.startswith(BASES), (name, code.id)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_each_is_written_as_our_writer_writes(name: str) -> None:
    """The files have our own layout, so that a change by program is a small diff."""
    path = content_root("data") / "taxonomies" / f"{name}.json"
    text = path.read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
    assert taxonomy.text(taxonomy.load(name)) == text


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_each_compiles_to_files_that_prove_themselves(name: str, tmp_path: Path) -> None:
    """Criteria and draft bank of every shipped taxonomy pass their checkers."""
    assert len(compiler.write(compiler.compile(taxonomy.load(name)), tmp_path)) == 3


def test_names_stand_once_in_each_taxonomy() -> None:
    """No two codes of a shipped taxonomy are the same by name."""
    for name in PUBLISHED:
        keys = [taxonomy.normalise(code.name) for code in taxonomy.load(name).codes]
        assert len(set(keys)) == len(keys), name


def test_the_shipped_criteria_are_sound() -> None:
    """Every built-in criteria file proves itself."""
    assert criteria.names() == ["audit", "base", "context", "diagnosis", "terminal", "verifier"]
    for name in criteria.names():
        assert criteria.problems(name) == []


def test_the_default_criteria_are_compiled_and_then_edited() -> None:
    """Beside the prosecutors' lists of codes, `terminal.md` is what compiling gives today."""
    compiled = compiler.compile(taxonomy.load("terminal-bench"))["criteria.md"]
    _, fresh = criteria.sections(compiled)
    _, shipped = criteria.sections((content_root("criteria") / "terminal.md").read_text(encoding="utf-8"))
    assert [section.name for section in shipped] == [section.name for section in fresh]
    for ours, theirs in zip(shipped, fresh, strict=True):
        assert ours.keys == theirs.keys
        assert _without_codes(ours.template) == _without_codes(theirs.template)
    edited = [ours.name for ours, theirs in zip(shipped, fresh, strict=True) if ours.template != theirs.template]
    assert edited == ["llm_prosecutor_a", "llm_prosecutor_b", "llm_prosecutor_c"]


def test_the_default_criteria_name_every_code_of_the_taxonomy_as_it_is_now() -> None:
    """The header's digest is that of the shipped taxonomy, and each code stands in the prosecutor of its axis."""
    read, default = taxonomy.load("terminal-bench"), criteria.load("terminal")
    assert default.about["taxonomy"] == f"terminal-bench {read.digest}"
    for code in read.codes:
        assert f"- {code.id} {code.name}: " in default.criterion(f"llm_prosecutor_{code.axis.lower()}").question


def test_the_readme_of_criteria_shows_a_column_as_it_is_today() -> None:
    """The example of a column is the real one."""
    column = criteria.load("terminal").criterion("llm_health_task").column
    assert f"`{column}`" in (content_root("criteria") / "README.md").read_text(encoding="utf-8")


def _without_codes(template: str) -> str:
    """A prosecutor's text with its list of codes taken out."""
    return re.sub(r"(?ms)^- [ABC]\.1 .*?(?=^The list tells)", "", template)


RUN = 8
"""Words in a row that count as copied."""


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.casefold())


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _words(text)
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


@pytest.mark.shared
def test_no_shipped_text_repeats_eight_words_of_the_papers(shared: Path) -> None:
    """Taxonomies, criteria and signatures are in our own words."""
    sources = sorted((shared / "seeds").glob("*.txt"))
    assert sources
    copied = set().union(*(_runs(path.read_text(encoding="utf-8", errors="replace")) for path in sources))
    shipped = [
        *(content_root("data") / "taxonomies").iterdir(),
        content_root("data") / "signatures.toml",
        *content_root("criteria").glob("*.md"),
    ]
    assert len(shipped) > 10
    for path in shipped:
        assert not _runs(path.read_text(encoding="utf-8")) & copied, path.name
