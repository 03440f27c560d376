"""Rewards in their shapes, and what an exception does to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bestofn.readers.reward import (
    broken_by,
    ending_state,
    exception_type,
    label_from_file,
    label_from_rewards,
    outcome,
)
from bestofn.trajectory import EndingState, LabelKind


@pytest.mark.parametrize("rewards", [None, {}])
def test_nothing_said_is_no_label(rewards: Any) -> None:
    """A place that says nothing leaves the word to the next one."""
    assert label_from_rewards(rewards) is None


@pytest.mark.parametrize("value", [[1], {"value": 1}, "one", float("-inf"), 10**400, "nan"])
def test_what_is_no_number_is_unknown(value: Any) -> None:
    """No shape of nonsense becomes a number."""
    label = label_from_rewards({"reward": value})
    assert label is not None
    assert label.kind is LabelKind.UNKNOWN
    assert label.reason


def test_files_that_are_none(tmp_path: Path) -> None:
    """A missing file says nothing; a directory of its name neither; stray bytes are no reward."""
    assert label_from_file(tmp_path / "reward.txt") is None
    (tmp_path / "reward.json").mkdir()
    assert label_from_file(tmp_path / "reward.json") is None
    (tmp_path / "reward.txt").write_bytes(b"\xff\xfe\x00")
    label = label_from_file(tmp_path / "reward.txt")
    assert label is not None
    assert label.kind is LabelKind.UNKNOWN


def test_older_results_hold_the_reward_directly(tmp_path: Path) -> None:
    """A verifier's result without named rewards may hold one, or be one."""
    for result in ({"verifier_result": {"reward": 1.0}}, {"verifier_result": 1}):
        assert outcome(result, tmp_path).label.kind is LabelKind.PASS


@pytest.mark.parametrize(
    ("info", "name"),
    [
        ({"exception_type": "X"}, "X"),
        ("X", "X"),
        (None, ""),
        ({}, "unnamed exception"),
        ({"exception_type": 5}, "unnamed exception"),
        (7, "unnamed exception"),
    ],
)
def test_an_exception_without_a_name_is_still_one(info: Any, name: str) -> None:
    """Only null means that nothing broke."""
    assert exception_type({"exception_info": info}) == name
    assert (broken_by(name) is None) == (name == "")
    assert (ending_state(name) is EndingState.FINISHED) == (name == "")
