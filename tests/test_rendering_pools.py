"""Real recorded runs, rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

from bestofn.pool import Pool
from bestofn.rendering.attempts import View, side_by_side
from bestofn.rendering.final_state import final_state
from bestofn.rendering.rendered import CutKind
from bestofn.rendering.tokens import tokenizer
from bestofn.rendering.transcript import render

POOLS = ["tb2/forgecode", "tau/airline-gpt4o", "ag2/gsmplus-gpt4", "tbcore/orchestrator-qwen3"]
CUT_FOR_ROOM = (CutKind.MIDDLE, CutKind.DROPPED, CutKind.UNSHOWN)


@pytest.mark.shared
@pytest.mark.parametrize("name", POOLS)
def test_every_run_of_a_pool_is_rendered_within_its_budget(shared: Path, name: str) -> None:
    """Each run fits 8,000 tokens exactly counted, uses 90% of them where it was cut for room, and its cuts add up."""
    count = 0
    for trajectory in Pool(name, shared / "pools" / name).stream():
        rendered = render(trajectory, 8000)
        assert rendered.tokens == tokenizer().count(rendered.text) <= 8000
        if any(cut.kind in CUT_FOR_ROOM for cut in rendered.cuts):
            assert rendered.tokens >= 0.9 * 8000, trajectory.id
        assert 0 <= rendered.cut_characters <= rendered.characters
        assert rendered.text.count(f"[{rendered.nonce} ===== record ends =====]\n") == 1
        count += 1
    assert count > 100


@pytest.mark.shared
def test_no_label_and_no_path_of_a_real_run_is_shown(shared: Path) -> None:
    """Neither the trial's name nor its path stands in a prompt of the first attempts of a pool."""
    for number, trajectory in enumerate(Pool("f", shared / "pools" / "tb2" / "forgecode").stream()):
        if number >= 40:
            break
        for text in (render(trajectory, 20_000).text, final_state(trajectory, 8000).text):
            assert trajectory.id not in text
            assert trajectory.origin.path not in text


@pytest.mark.shared
def test_the_attempts_of_real_tasks_stand_side_by_side(shared: Path) -> None:
    """Five attempts of a task share one prompt of 12,000 tokens, and none of them is without its end."""
    for task in Pool("f", shared / "pools" / "tb2" / "forgecode").tasks[:8]:
        for view in View:
            rendered = side_by_side(task.trajectories, 12_000, view=view)
            assert rendered.tokens <= 12_000
            assert len(rendered.runs) == len(task.trajectories)
            assert all(tokenizer().count(text) > 200 for text in rendered.runs)
