"""The words around a run are content, and strict."""

from __future__ import annotations

from pathlib import Path

import pytest

from bestofn.content import content_root
from bestofn.errors import ContentError
from bestofn.rendering.words import load_words, read_words

SHIPPED = (content_root("data") / "rendering.toml").read_text(encoding="utf-8")


def test_the_shipped_words_tell_of_cuts_claims_and_redaction() -> None:
    """The legend says what a cut means, what a claim is, and what stands for a secret."""
    legend = load_words().legend
    assert "never take a cut for a missing or skipped step" in legend
    assert "What an agent says is a claim" in legend
    assert "[REDACTED:kind#n]" in legend


def test_all_that_is_wrong_with_a_file_is_listed(tmp_path: Path) -> None:
    """Missing texts, unknown ones and wrong variables stand in one error."""
    file = tmp_path / "rendering.toml"
    file.write_text(SHIPPED.replace('output = "output"', 'outputs = "output"').replace("{steps}, ", ""))
    with pytest.raises(ContentError) as caught:
        read_words(file)
    assert str(caught.value) == (
        f"{file}: marks.dropped has the variables ['characters'], not ['characters', 'steps']; "
        "titles.output is missing; titles.outputs is unknown"
    )


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    """What is no TOML is an error with the file's path."""
    file = tmp_path / "rendering.toml"
    file.write_text("legend = ")
    with pytest.raises(ContentError, match=r"rendering\.toml: not readable as TOML"):
        read_words(file)
