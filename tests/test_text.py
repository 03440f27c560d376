"""Recorded text as people can read it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestofn.readers.text import clean, expecting, image_mark, possible_controls, text_of

PLAIN_CHARACTERS = st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[?25l\x1b[31mred\x1b[m\x1b[0K", "red"),
        ("\x1b[38;2;192;197;206mgrey\x1b[0m", "grey"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r0m\x1b\\text", "text"),
        ("\x1b(Btext\x1b7\x1b8", "text"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x9d0;title\x07text", "text"),
        ("a\r\nb\r\r\nc", "a\nb\nc"),
        ("10%\r50%\r100%\n", "100%\n"),
        ("longer\rshort", "shortr"),
        ("50%\r\x1b[Kdone", "done"),
        ("ab\x08c", "ac"),
        ("a\x00\x07b\x7f", "ab"),
        ("caf\xe9 \x85next", "caf\xe9 next"),
        ("\u00e2\x80\x9cquoted\u00e2\x80\x9d", "\u00e2quoted\u00e2"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("lone\x1b", "lone"),
        ("\x1b]0;never closed", "0;never closed"),
    ],
)
def test_control_sequences_leave_what_a_terminal_shows(raw: str, shown: str) -> None:
    """Escapes of all kinds go, carriage returns and backspaces overwrite, mis-decoded letters take nothing along."""
    assert clean(raw) == shown


@given(st.text(PLAIN_CHARACTERS, max_size=700))
def test_plain_text_stays_as_it_is(text: str) -> None:
    """Text without control characters is not changed by a single character."""
    assert clean(text) == text


@given(st.text(st.sampled_from("ab \n\t\r\x08\x1b[]0;?mKAHC\x07\x9b\x9d\x90\\é\x00")))
def test_no_control_character_is_left(text: str) -> None:
    """Whatever the text, only newline and tab remain, and cleaning again changes nothing."""
    once = clean(text)
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in once)
    assert clean(once) == once


@pytest.mark.parametrize(
    "unit",
    ["\x1b", "\r", "\x08", "\x1b[", "\x1b]", "a\r", "a\x08", "\x1b[999C.", "\x1b[9B", "x\x1b[H", "\x1b[5A\n", "\x9b",
     "\x1b]a", "\x90", "\x9d0", "data:a/b;base64,", "\x1b[0"],
)  # fmt: skip
def test_hostile_text_of_a_million_characters_is_cleaned(unit: str) -> None:
    """Long runs of one control, each of which a careless pattern tries again from every place, do not blow it up."""
    text = unit * (1_000_000 // len(unit))
    assert len(clean(text)) <= 2 * len(text)


def test_an_inline_image_becomes_a_mark() -> None:
    """Base64 data gives its media type and size; short words that look like it stay."""
    data = "A" * 400
    assert clean(f"see data:image/png;base64,{data} here") == "see [image image/png, 300 bytes, not shown] here"
    wrapped = f"data:image/svg+xml;charset=utf-8;base64,{'B' * 76}\n{'C' * 75}=\nmore"
    assert clean(wrapped) == "[image image/svg+xml, 114 bytes, not shown]\nmore"
    assert clean("data:image/png;base64,AAAA") == "data:image/png;base64,AAAA"
    assert image_mark("image/gif", 8) == "[image image/gif, 6 bytes, not shown]"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("a\x1b[m", "a"),
        (["a", {"type": "text", "text": "b"}, 5, None], "a\nb"),
        ({"type": "text", "text": "x"}, "x"),
        ([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAAAAAA"}}],
         "[image image/png, 6 bytes, not shown]"),
        ([{"type": "image_url", "image_url": {"url": "http://x/y.png"}}], "[image at http://x/y.png]"),
        ([{"type": "tool_result", "content": [{"text": "in"}]}], "in"),
        (5, "5"),
    ],
)  # fmt: skip
def test_content_in_parts_is_joined(content: object, text: str) -> None:
    """Strings, lists of parts and single parts give their text; what is no text gives none."""
    assert text_of(content) == text


@pytest.mark.shared
def test_case_24_reads_as_on_the_screen(shared: Path) -> None:
    """Spinner, redrawn progress, title and colours: three lines remain; a stray byte is replaced."""
    raw = (shared / "cases" / "24-ansi-and-carriage-returns" / "agent.log").read_bytes()
    assert clean(raw.decode("utf-8", errors="replace")) == "Working... done\nRetrieving: 100%\ncaf\ufffd red\n"


def test_what_a_document_can_hold_is_told_from_its_bytes() -> None:
    """Escapes name the control characters that can occur; a document without any holds none."""
    assert possible_controls(b'{"a": "plain\\n\\ttext \\u00e9 \\u2014"}') == ""
    assert possible_controls(b'{"a": "\\u001b[1m \\r \\u0000"}') == "\x00\r\x1b"
    assert possible_controls('{"a": "°"}'.encode()) == ""
    assert possible_controls('{"a": "\x85"}'.encode()) is None
    assert possible_controls(b'{"a": "\x7f"}') == "\x7f"
    assert possible_controls(b'{"a": "\\u005cu001b"}') is None
    assert possible_controls('{"a": 1}'.encode("utf-16")) is None


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40), st.booleans())
def test_knowing_what_a_document_can_hold_changes_no_text(text: str, twice: bool) -> None:
    """Cleaning with the knowledge of a document's bytes gives what cleaning without it gives, nested JSON too."""
    for ascii_only in (True, False):
        raw = json.dumps(json.dumps(text, ensure_ascii=ascii_only) if twice else text, ensure_ascii=ascii_only)
        plain = clean(text)
        with expecting(possible_controls(raw.encode())):
            assert clean(text) == plain
