"""The figures of the shared pools, as their README gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bestofn import load_pool
from bestofn.cli.output import percent
from bestofn.metrics import accuracy_by_task, mean_over_tasks, pool_figures
from bestofn.scoring import score_pool
from bestofn.selection import select
from bestofn.selector import BASELINES

pytestmark = pytest.mark.shared

FIGURES = {
    "tb2/forgecode": (89, 17, "81.8%", "89.9%"),
    "tbcore/orchestrator-qwen3": (80, 27, "19.3%", "38.8%"),
    "tau/airline-gpt4o": (50, 26, "42.0%", "72.0%"),
    "ag2/gsmplus-gpt4": (200, 68, "85.6%", "96.5%"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_labels_give_the_published_figures(shared: Path, name: str) -> None:
    """The figures are those of the pools' own README, which counts unknown labels as fails."""
    table = score_pool(load_pool(shared / "pools" / name), columns=()).table.unknown_as_fail()
    figures = pool_figures(table.rewards, table.groups)
    assert (figures.n_tasks, figures.n_swing, percent(figures.pass_at_1), percent(figures.oracle)) == FIGURES[name]


def test_unknown_labels_are_counted_nowhere(shared: Path) -> None:
    """Without that option, 34 attempts of the classic pool count in no figure."""
    table = score_pool(load_pool(shared / "pools/tbcore/orchestrator-qwen3"), columns=()).table
    figures = pool_figures(table.rewards, table.groups)
    assert (figures.n_tasks, figures.n_swing, figures.n_unknown) == (80, 26, 34)
    assert (percent(figures.pass_at_1), percent(figures.oracle)) == ("20.4%", "38.8%")


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
    assert selection.summary.accuracy == selection.summary.figures.pass_at_1
