"""Counting and cutting by tokens."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestofn.errors import UsageError
from bestofn.rendering import tokens as module
from bestofn.rendering.tokens import FALLBACK, Tokenizer, tokenizer, tokenizer_for

TEXTS = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from(" \n\t\r=a1漢😀\u00e9\u0301\u3000")), max_size=300
)


def direct(table: Tokenizer, text: str) -> int:
    """The count as tiktoken gives it for the whole text at once."""
    return len(table._encoding.encode_ordinary(text))


@given(TEXTS)
@settings(deadline=None, max_examples=150)
def test_head_and_tail_are_parts_of_the_text_within_their_tokens(text: str) -> None:
    """A head is a beginning and a tail an end of the text, no character is split, and neither exceeds its tokens."""
    table = tokenizer()
    for wanted in (0, 1, 3, 10, 1000):
        head, tail = table.head(text, wanted), table.tail(text, wanted)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert table.count(head) <= wanted
        assert table.count(tail) <= wanted
        if direct(table, text) <= wanted:
            assert head == tail == text


def test_a_head_takes_nearly_all_its_tokens() -> None:
    """Of ordinary text a head of 100 tokens holds 100, and of long characters no more than four tokens are lost."""
    table = tokenizer()
    assert table.count(table.head("one two three " * 200, 100)) == 100
    assert table.count(table.tail("one two three " * 200, 100)) == 100
    assert table.count(table.head("漢字" * 200, 100)) >= 96


@pytest.mark.parametrize(
    "run",
    [
        " " * 70_000,
        "\n" * 70_000,
        " \n" * 40_000 + "   ",
        "\n" * 70_000 + "\t",
        " " * 70_000 + "\n\n ",
        "\u3000" * 70_000,
    ],
)
@pytest.mark.parametrize("behind", ["word", "1", "{}", "漢", ""])
def test_counts_stay_exact_where_long_white_space_is_parted(run: str, behind: str) -> None:
    """Parting a text inside a long run of white space changes no token."""
    table = tokenizer()
    text = f"begin.{run}{behind} end"
    assert table.count(text) == direct(table, text)


@pytest.mark.parametrize("text", ["a" * 1_000_000, " " * 1_000_000 + "x", "=" * 1_000_000, "\n" * 1_000_000 + "x"])
def test_a_megabyte_of_one_character_is_counted(text: str) -> None:
    """A megabyte of one character is counted and cut, where tiktoken alone would overflow its stack or crawl."""
    table = tokenizer()
    assert 5_000 < table.count(text) < 200_000
    assert table.count(table.head(text, 50)) == 50


def test_a_count_may_stop_early_but_is_exact_below_its_limit() -> None:
    """`count_up_to` equals the count where it is at most the limit, and is above the limit where the count is."""
    table = tokenizer()
    text = "a line of words\n" * 20_000
    whole = table.count(text)
    assert table.count_up_to(text, whole) == whole
    assert 1_000 < table.count_up_to(text, 1_000) < whole


def test_control_tokens_count_as_plain_text() -> None:
    """A control token of the table is several tokens of text, and no error."""
    assert tokenizer().count("<|endoftext|>") > 1


def test_any_model_gets_a_table_without_a_download(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown models, and known ones whose table is not on this machine, are counted in cl100k_base."""
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for model in (None, "gpt-4", "gpt-5", "openai/gpt-4o", "Qwen/Qwen3-32B", ""):
        assert tokenizer_for(model).name == FALLBACK


def test_a_broken_table_in_the_cache_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """A file in the user's cache whose hash is wrong counts as absent, so that tiktoken never fetches it anew."""
    name = hashlib.sha1(module._O200K_FILE.encode(), usedforsecurity=False).hexdigest()
    (tmp_path / name).write_bytes(b"not the table")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert tokenizer_for("gpt-5").name == FALLBACK


def test_an_unknown_table_is_an_error_that_lists_the_tables() -> None:
    """Asking for a table that we do not know names those there are."""
    with pytest.raises(UsageError, match="no token table 'p50k_base': there are cl100k_base and o200k_base"):
        tokenizer("p50k_base")
