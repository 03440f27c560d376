"""Names of harnesses in their many spellings."""

from __future__ import annotations

from typing import Any

import pytest

from bestofn.readers.harness import harness_of


@pytest.mark.parametrize(
    ("agent", "harness"),
    [
        ({"name": "forge"}, "forge"),
        ({"name": "ForgeCode"}, "forge"),
        ({"name": "Terminus 2"}, "terminus-2"),
        ({"name": "terminus_2"}, "terminus-2"),
        ({"name": "terminus"}, "terminus"),
        ({"name": "terminus-2-summarization-summary"}, "terminus-2"),
        ({"name": "mini-SWE-agent"}, "mini-swe-agent"),
        ({"name": "openhands-sdk"}, "openhands"),
        ({"name": "Claude Code"}, "claude-code"),
        ({"name": "Codex"}, "codex"),
        ({"name": "forgery"}, "forgery"),
        ("OpenHands", "openhands"),
        ({"name": None}, ""),
        ({}, ""),
        (None, ""),
        (["x"], ""),
    ],
)
def test_spellings_of_one_harness_are_one_name(agent: Any, harness: str) -> None:
    """Case, spaces, underscores and versions do not hide a known harness; any other keeps its own name."""
    assert harness_of({"agent": agent}) == harness
