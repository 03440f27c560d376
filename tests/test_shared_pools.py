"""The figures of the shared pools, as their README gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bestofn import load_pool
from bestofn.metrics import accuracy_by_task, mean_over_tasks, pool_figures
from bestofn.scoring import score_pool
from bestofn.selection import select
from bestofn.selector import BASELINES

pytestmark = pytest.mark.shared

FIGURES = {
    "tb2/forgecode": (89, 17, 0.818, 0.899),
    "tbcore/orchestrator-qwen3": (80, 27, 0.193, 0.388),
    "tau/airline-gpt4o": (50, 26, 0.420, 0.720),
    "ag2/gsmplus-gpt4": (200, 68, 0.856, 0.965),
}


@pytest.mark.parametrize("name", FIGURES)
def test_labels_give_the_published_figures(shared: Path, name: str) -> None:
    """Tasks, swing tasks, Pass@1 and oracle are those of the pools' own README."""
    table = score_pool(load_pool(shared / "pools" / name), columns=()).table
    figures = pool_figures(table.rewards, table.groups)
    assert (figures.n_tasks, figures.n_swing) == FIGURES[name][:2]
    assert round(figures.pass_at_1, 3) == FIGURES[name][2]
    assert round(figures.oracle, 3) == FIGURES[name][3]


def test_the_rules_give_what_was_measured_on_forgecode(shared: Path) -> None:
    """Gate alone, shortest alone and both: 84.4, 85.4 and 87.6 percent."""
    table = score_pool(load_pool(shared / "pools/tb2/forgecode"), columns=BASELINES["gate-shortest"].columns).table
    reached = {
        name: round(
            100 * mean_over_tasks(accuracy_by_task(BASELINES[name].scores(table), table.rewards, table.groups)), 1
        )
        for name in ("gate", "shortest", "gate-shortest")
    }
    assert reached == {"gate": 84.4, "shortest": 85.4, "gate-shortest": 87.6}


def test_a_pool_without_agent_content_is_not_ranked_by_noise(shared: Path) -> None:
    """Where no recording holds a turn of the agent, all attempts share the pick and the policy says so."""
    selection = select(score_pool(load_pool(shared / "pools/tbcore/orchestrator-qwen3")).table)
    assert "no recording holds a turn of the agent" in selection.policy
    assert all(len(task.pick) == len(task.ranking) for task in selection.tasks)
    assert round(selection.summary.accuracy, 3) == 0.193
