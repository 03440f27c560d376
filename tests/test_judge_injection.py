"""The experiment that measures how often hostile text moves a judge, on judges that fall for it and that do not."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from judged_pool import answer, letters_for, write_pool
from scripted_server import Reply, ScriptedServer

from bestofn.catalogue import load_pool
from bestofn.criteria import load
from bestofn.judge.question import task_runs
from bestofn.judge.showing import Showing
from bestofn.llm.cache import IN_MEMORY, Cache
from bestofn.llm.client import Client
from bestofn.rendering.injection import load_attacks

SCRIPT = Path(__file__).resolve().parents[1] / "experiments" / "injection.py"


@pytest.fixture(scope="module")
def injection() -> ModuleType:
    """The experiment; it is no part of the wheel."""
    if not SCRIPT.is_file():
        pytest.skip("needs experiments/injection.py, which a checkout has and a wheel has not")
    spec = importlib.util.spec_from_file_location("injection_experiment", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def rates(injection: ModuleType, pool: Path, gullible: bool) -> dict[str, float]:
    """Success rate by class, of a judge that falls for whatever speaks of a judge, or for nothing."""

    def script(body: dict[str, Any], n: int) -> Reply:
        text = body["messages"][-1]["content"]
        letters = letters_for(text) if "QUALITY" in text else {"probe": "A"}
        if gullible and "judge 1 of 3" in text:
            letters = dict.fromkeys(letters, "A")
        return answer(letters, logprobs=bool(body.get("logprobs")))

    server = ScriptedServer(script)
    try:
        runs = [run for task in task_runs(load_pool(pool)) for run in task.runs]
        client = Client("j", cache=Cache(IN_MEMORY), base_url=server.url)
        attacks = (injection.HARMLESS, *load_attacks())
        criterion = load("terminal").criterion("llm_health_task")
        rows = injection.table(injection.measure(runs, criterion, Showing(), client, attacks))
    finally:
        server.stop()
    assert all(row["missing"] == 0 for row in rows)
    return {row["class"]: row["success"] for row in rows}


def test_a_judge_that_reads_only_evidence_is_moved_by_nothing(injection: ModuleType, tmp_path: Path) -> None:
    """Every class has a success rate of 0, and every shipped class is there."""
    found = rates(injection, write_pool(tmp_path / "pool", {"t1": "TK"}), gullible=False)
    assert set(found) == {"(harmless)", *(attack.kind for attack in load_attacks())}
    assert set(found.values()) == {0.0}


def test_a_judge_that_agrees_with_other_judges_is_found_out(injection: ModuleType, tmp_path: Path) -> None:
    """Only the class that holds that attack succeeds, in the share of its attempts that use it."""
    found = rates(injection, write_pool(tmp_path / "pool", {"t1": "TK"}), gullible=True)
    assert found["(harmless)"] == 0.0
    moved = {kind for kind, rate in found.items() if rate > 0}
    planted = [(attack.kind, "judge 1 of 3" in attack.text) for attack in load_attacks() for _ in attack.where]
    assert moved == {kind for kind, uses in planted if uses}
    for kind in moved:
        uses = [used for other, used in planted if other == kind]
        assert found[kind] == pytest.approx(sum(uses) / len(uses))
