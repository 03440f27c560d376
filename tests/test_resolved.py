"""Report files give labels only where it is clear which attempt they judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings import written

from bestofn.readers.draft import Source
from bestofn.readers.resolved import NO_REPORT, is_predictions, is_report, label_for
from bestofn.trajectory import Label, LabelKind

PASSED = {"resolved_ids": ["i-1"], "unresolved_ids": []}
FAILED = {"resolved_ids": [], "unresolved_ids": ["i-1"]}


def label(root: Path, place: str) -> Label:
    """The label of the recording at a place."""
    return label_for(Source(written(root / place, "{}"), root), "i-1")


def test_the_nearest_report_counts(tmp_path: Path) -> None:
    """A report in the run's own folder counts before one at the pool's root, and that before one beside the pool."""
    root = tmp_path / "pool"
    assert label(root, "run1/i-1.traj.json") == Label.unknown(NO_REPORT)
    written(tmp_path / "results.json", PASSED)
    assert label(root, "run1/i-1.traj.json").kind is LabelKind.PASS
    written(root / "results.json", FAILED)
    assert label(root, "run1/i-1.traj.json").kind is LabelKind.FAIL
    written(root / "run1" / "report.json", PASSED)
    assert label(root, "run1/i-1.traj.json").kind is LabelKind.PASS


def test_a_report_judges_one_attempt_only(tmp_path: Path) -> None:
    """With several attempts below it, a report labels the run that it is named after and no other."""
    for run in ("run1", "run2"):
        written(tmp_path / run / "i-1" / "i-1.traj.json", "{}")
    written(tmp_path / "results.json", PASSED)
    unsure = label(tmp_path, "run1/i-1/i-1.traj.json")
    assert unsure == Label.unknown("results.json judges one of 2 attempts and does not say which")
    written(tmp_path / "model.run2.json", FAILED)
    assert label(tmp_path, "run2/i-1/i-1.traj.json").kind is LabelKind.FAIL
    assert label(tmp_path, "run1/i-1/i-1.traj.json").kind is LabelKind.UNKNOWN


def test_a_pool_given_by_a_relative_path_has_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the pool is named from the current directory the report is found all the same."""
    written(tmp_path / "pool" / "results.json", PASSED)
    written(tmp_path / "pool" / "run1" / "i-1.traj.json", "{}")
    monkeypatch.chdir(tmp_path)
    assert label_for(Source(Path("pool/run1/i-1.traj.json"), Path("pool")), "i-1").kind is LabelKind.PASS


def test_reports_that_disagree_say_nothing(tmp_path: Path) -> None:
    """Two reports side by side with opposite verdicts leave the label unknown."""
    written(tmp_path / "a.json", PASSED)
    written(tmp_path / "b.json", FAILED)
    assert label(tmp_path, "i-1.traj.json") == Label.unknown("a.json and b.json disagree")


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        ({"resolved_ids": [], "completed_ids": ["i-1"]}, LabelKind.FAIL),
        ({"resolved_ids": ["i-1"], "completed_ids": ["i-1"]}, LabelKind.PASS),
        ({"resolved_ids": [], "empty_patch_ids": ["i-1"]}, LabelKind.FAIL),
        ({"resolved_ids": [], "incomplete_ids": ["i-1"]}, LabelKind.UNKNOWN),
        ({"resolved_ids": ["i-2"]}, LabelKind.UNKNOWN),
        ({"resolved": ["i-1"], "no_generation": []}, LabelKind.PASS),
        ({"i-1": {"resolved": False, "tests_status": {}}}, LabelKind.FAIL),
        ({"i-1": {"resolved": "yes"}}, LabelKind.UNKNOWN),
    ],
)
def test_shapes_of_reports(tmp_path: Path, report: Any, kind: LabelKind) -> None:
    """Reports of a run and of one instance; who is in no list is unknown, not failed."""
    written(tmp_path / "report.json", report)
    assert label(tmp_path, "i-1.traj.json").kind is kind


def test_broken_reports_are_passed_over(tmp_path: Path) -> None:
    """A file that only looks like a report says nothing."""
    for name, content in (
        ("a.json", '{"resolved_ids": ['),
        ("b.json", '["resolved_ids"]'),
        ("c.json", '{"resolved_ids": 7}'),
    ):
        written(tmp_path / name, content)
    assert label(tmp_path, "i-1.traj.json") == Label.unknown(NO_REPORT)


def test_reports_and_predictions_are_known() -> None:
    """Both are told from recordings and from other lists of results."""
    assert is_report(PASSED)
    assert is_report({"resolved_ids": [], "unresolved_ids": []})
    assert not is_report({"resolved_ids": 7})
    assert not is_report({"info": {"resolved": True}, "messages": []})
    assert is_predictions({"i-1": {"instance_id": "i-1", "model_patch": "", "model_name_or_path": "m"}})
    assert is_predictions([{"instance_id": "i-1", "model_patch": ""}])
    assert not is_predictions({"instance_id": "i-1", "model_patch": "", "all_results": []})
    assert not any(is_predictions(value) for value in ([], {}, None, 7, "x", [7]))
