"""A quote is shown only where it stands in the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bestofn.quotes import RecordedText, recorded_texts
from bestofn.readers.document import digest
from bestofn.trajectory import Origin, Trajectory


def place(path: Path, quote: str, context: str = "", earlier: int = 0) -> int | None:
    """The line, or None."""
    found = RecordedText(path).locate(quote, context, earlier)
    return None if found is None else found.line


@pytest.mark.parametrize("ascii", [True, False])
def test_words_are_found_however_json_spells_them(tmp_path: Path, ascii: bool) -> None:
    """Quotes with quotation marks, backslashes, umlauts and emoji are found in escaped and in plain JSON."""
    words = 'he said "ä\\b" 🙂 </script>'
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"a": 1, "b": f"first\n{words}\n"}, ensure_ascii=ascii, indent=1), encoding="utf-8")
    assert place(file, words) == 3
    file.write_text(json.dumps({"a": f"x {words}"}).replace("/", "\\/"), encoding="utf-8")
    assert place(file, words) == 1


def test_words_in_json_within_a_string_are_found(tmp_path: Path) -> None:
    """Arguments of a call are JSON inside JSON, and what they say is found in them."""
    file = tmp_path / "a.json"
    inner = json.dumps({"command": 'echo "a\tb"'})
    file.write_text(json.dumps({"x": 0, "calls": [{"arguments": inner}]}, indent=2))
    assert place(file, 'echo "a\tb"') == 5


def test_what_does_not_stand_there_is_not_found(tmp_path: Path) -> None:
    """Neither other words, nor words that only stand across two strings, nor none at all."""
    file = tmp_path / "a.json"
    file.write_text('{"a": "one", "b": "two"}')
    assert place(file, "three") is None
    assert place(file, "one two") is None
    assert place(file, "  ") is None


def test_the_text_that_a_quote_is_from_decides_between_places(tmp_path: Path) -> None:
    """The string that holds the whole text goes before an earlier one; among equal texts their number decides."""
    file = tmp_path / "a.json"
    file.write_text('["see: error X",\n"error X\\nmore",\n"error X\\nmore"]')
    assert place(file, "error X") == 1
    assert place(file, "error X", "error X\nmore") == 2
    assert place(file, "error X", "error X\nmore", earlier=1) == 3


def test_between_colours_the_longest_part_is_quoted(tmp_path: Path) -> None:
    """Where a reader took terminal codes out, what stands unbroken in the file is the quote."""
    file = tmp_path / "a.json"
    file.write_text(json.dumps(["x", "\x1b[1;31mTypeError\x1b[0m: not a number\r\n"], indent=0))
    found = RecordedText(file).locate("TypeError: not a number")
    assert found is not None
    assert (found.line, found.quote) == (3, ": not a number")


def test_a_record_is_only_quoted_from_its_own_line(tmp_path: Path, attempt: Callable[..., Trajectory]) -> None:
    """In JSON lines another record's words are no evidence; in a JSON list neither."""
    lines = ['{"m": "alpha"}', '{"m": "beta"}']
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(lines))
    second = attempt(origin=Origin("a.jsonl", "test", 1), digest=digest(lines[1].encode()))
    [text] = recorded_texts(file, second)
    assert text.locate("alpha") is None
    found = text.locate("beta")
    assert found is not None
    assert found.line == 2
    listed = tmp_path / "a.json"
    listed.write_text('[\n{"m": "alpha"},\n{"m": "beta"}\n]')
    [text] = recorded_texts(listed, attempt(origin=Origin("a.json", "test", 1)))
    assert text.locate("alpha") is None
    assert text.locate("beta") is not None


def test_what_the_checker_wrote_is_no_evidence(tmp_path: Path, attempt: Callable[..., Trajectory]) -> None:
    """In a trial's directory the verifier's folder is left out."""
    for folder in ("agent", "verifier"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "log.txt").write_text(f"words of the {folder}")
    texts = recorded_texts(tmp_path, attempt())
    assert [text.path.parent.name for text in texts] == ["agent"]
