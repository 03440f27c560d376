"""`bestofn taxonomy`, `bestofn compile` and `bestofn check` on criteria, taxonomies and banks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bestofn import criteria, taxonomy
from bestofn.cli import run


def test_without_a_name_the_built_in_taxonomies_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """One line each, with the number of codes on each axis and the status."""
    assert run(["taxonomy", "show"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["taxonomy", "codes", "A", "B", "C", "status", "title"]
    assert [line.split()[0] for line in lines[2:]] == taxonomy.names()
    assert next(line for line in lines if line.startswith("mast-14")).split()[1:5] == ["14", "5", "6", "3"]


def test_a_taxonomy_is_shown_with_its_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """Each code with axis, id, name and what goes wrong; and as JSON in the flat form."""
    assert run(["taxonomy", "show", "mast-14"]) == 0
    shown = capsys.readouterr().out
    for code in taxonomy.load("mast-14").codes:
        assert code.name in shown
        assert code.description in shown
    assert run(["taxonomy", "show", "mast-14", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["codes"]) == 14


def test_two_taxonomies_are_compared_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    """The indices are those of the library, and the names say what they are made of."""
    assert run(["taxonomy", "compare", "terminal-bench", "swe-bench", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = taxonomy.compare(taxonomy.load("terminal-bench"), taxonomy.load("swe-bench"))
    assert (found["full"], found["backbone"]) == (expected.full, expected.backbone)
    assert run(["taxonomy", "compare", "terminal-bench", "terminal-bench"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("all codes   1.00  (32 shared of 32 and 32)\nA axis      1.00  (9 and 9)\n")
    assert "only terminal-bench: none" in shown


def review(path: Path) -> Path:
    """A taxonomy that still needs review."""
    code = {"id": "A.1", "name": "Slow", "description": "It is slow.", "category": "A"}
    head = {"schema_version": 1, "strategy": "baseline", "status": "review_required", "display_name": "Mine"}
    path.write_text(json.dumps({**head, "domain": "d", "summary": "s", "codes": [code]}))
    return path


def test_a_taxonomy_that_needs_review_is_refused_unless_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Validating and compiling say so, with the option that takes it."""
    path = str(review(tmp_path / "mine.json"))
    assert run(["taxonomy", "validate", path]) == 2
    assert "--allow-review" in capsys.readouterr().err
    assert run(["taxonomy", "validate", path, "--allow-review"]) == 0
    assert run(["compile", path, "-o", str(tmp_path / "out")]) == 2
    assert run(["compile", path, "-o", str(tmp_path / "out"), "--allow-review"]) == 0


def test_what_is_wrong_with_a_taxonomy_names_the_code_and_the_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one line a problem."""
    path = review(tmp_path / "mine.json")
    path.write_text(path.read_text().replace('"description": "It is slow."', '"description": 3'))
    assert run(["taxonomy", "validate", str(path)]) == 2
    told = capsys.readouterr().err
    assert "A.1" in told
    assert "description" in told


def test_compiling_writes_files_that_prove_themselves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Criteria, draft bank, the question for codes and what to do next; `check` proves all but the last."""
    folder = tmp_path / "out"
    assert run(["compile", "mast-14", "-o", str(folder)]) == 0
    written = capsys.readouterr().out.split()
    assert {Path(name).name for name in written} == {"criteria.md", "features.toml", "diagnosis.md", "README.md"}
    readme = next(Path(name) for name in written if name.endswith("README.md")).read_text()
    assert all(f"- `{Path(name).name}` " in readme for name in written if not name.endswith("README.md"))
    assert run(["check", *(name for name in written if not name.endswith("README.md"))]) == 0
    assert len(criteria.load(folder / "criteria.md").criteria) == 8
    assert run(["compile", "mast-14", "-o", str(folder)]) == 2
    assert "perhaps with edits" in capsys.readouterr().err
    assert run(["compile", "mast-14", "-o", str(folder), "--replace"]) == 0


def test_check_tells_content_by_its_ending_and_built_in_names_by_what_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A bank, criteria and a taxonomy by name, each with what it holds."""
    assert run(["check", "default", "terminal", "verifier", "diagnosis", "mast-14"]) == 0
    bank, judge, pairs, codes, mast = capsys.readouterr().out.splitlines()
    assert bank.startswith("default: 20 patterns hold, on ")
    assert judge.startswith("terminal: 8 criteria hold: llm_prosecutor_a@")
    assert pairs.startswith("verifier: 3 criteria hold: ")
    assert codes.startswith("diagnosis: 1 criteria hold: llm_codes@")
    assert mast == "mast-14: 14 codes hold (5 A, 6 B, 3 C); status from-published-names"


def test_check_reports_what_is_wrong_with_criteria(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2 with file, line and heading."""
    path = tmp_path / "mine.md"
    path.write_text("# Mine\n\n## llm_x\n\n- kind: pointwise\n- sees: all\n\nWhat?\n")
    assert run(["check", str(path)]) == 2
    assert f"{path}, line 3, 'llm_x': `sees` is 'all'; it must be one of whole, end" in capsys.readouterr().err


def test_check_says_what_it_can_prove(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of another kind, and a name that nothing has."""
    other = tmp_path / "notes.txt"
    other.write_text("x")
    assert run(["check", str(other)]) == 2
    assert "banks end in .toml, criteria in .md, taxonomies in .json" in capsys.readouterr().err
    assert run(["check", "nothing"]) == 2
    assert "no file 'nothing', and built in are default, " in capsys.readouterr().err
