"""What a model's columns cost, as a table tells it: counted where it was counted, and unknown elsewhere."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged_pool import honest, write_pool
from scripted_server import Reply, ScriptedServer

from bestofn.catalogue import load_pool
from bestofn.cli import run
from bestofn.criteria import load
from bestofn.evaluation import evaluate
from bestofn.judged import FREE, UNKNOWN, Cost, column_costs, judge_selectors, selector_costs, total
from bestofn.llm.answer import Completion, Missing, Reason, Source, Tokens
from bestofn.llm.prices import Price
from bestofn.llm.taken import Taken
from bestofn.report.html import report
from bestofn.table import FeatureTable
from bestofn.table_file import read

COLUMNS = [criterion.column for criterion in load("terminal").criteria]
COMPARE, LISTWISE = (next(c for c in COLUMNS if c.startswith(name)) for name in ("llm_compare", "llm_listwise"))


def test_what_answers_took_is_counted_whoever_gives_them_now() -> None:
    """A cached answer took what it took; one without a count, or none at all, leaves the dollars unknown."""
    price, taken = Price(1.0, 10.0, 0.1), Taken()
    for source in (Source.SERVER, Source.CACHE):
        taken.add(Completion("A", tokens=Tokens(1000, 400, 50), source=source))
    assert (taken.calls, taken.sent, taken.input_tokens, taken.cached_tokens) == (2, 1, 2000, 800)
    assert taken.usd(price) == pytest.approx((1200 * 1.0 + 800 * 0.1 + 100 * 10.0) / 1e6)
    assert taken.usd(None) is None
    taken.add(Missing(Reason.GONE))
    assert (taken.calls, taken.unanswered) == (2, 1)
    taken.add(Completion("A"))
    assert taken.usd(price) is None
    lost = Taken()
    lost.add(Missing(Reason.GONE))
    assert lost.usd(price) is None


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A judge that reads qualities rightly, and reports 40 of 100 input tokens as cached."""

    def script(body: dict[str, Any], number: int) -> Reply:
        reply = honest(body, number)
        details = {"cached_tokens": 40}
        reply.body["usage"] = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": details}
        return reply

    running = ScriptedServer(script)
    yield running
    running.stop()


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tasks with three attempts each, a cache of the test's own."""
    monkeypatch.setenv("BESTOFN_CACHE", str(tmp_path / "cache"))
    for name in ("BESTOFN_API_KEY", "OPENAI_API_KEY", "BESTOFN_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return write_pool(tmp_path / "pool", {"t1": "TCA", "t2": "BSD"})


PRICES = ("--price-in", "1", "--price-out", "10", "--price-cached", "0.5")
ONE_CALL = (60 * 1.0 + 40 * 0.5 + 10 * 10.0) / 1e6


def costs_in(table: Path) -> dict[str, Any]:
    """The account of the latest run in the JSON beside a table."""
    found: dict[str, Any] = json.loads(table.with_suffix(".about.json").read_text())["judge"][-1]["costs"]
    return found


def test_a_table_tells_what_each_column_took_live_cached_and_replayed(
    pool: Path, server: ScriptedServer, tmp_path: Path
) -> None:
    """Calls, tokens with the cached apart and dollars are the same three times; only `sent` tells who answered."""
    ask = ["features", "--pool", str(pool), "-q", *PRICES]
    live, cached, replayed = (tmp_path / f"{name}.csv" for name in ("live", "cached", "replayed"))
    judge = ["--judge", "j", "--base-url", server.url]
    assert run([*ask, *judge, "-o", str(live)]) == 0
    assert run([*ask, *judge, "-o", str(cached)]) == 0
    recording = tmp_path / "answers.jsonl"
    run(["judge", "record", "--pool", str(pool), "--model", "j", "--base-url", server.url, "-o", str(recording), "-q"])
    assert run([*ask, "--replay", str(recording), "-o", str(replayed)]) == 0
    told = costs_in(live)
    assert told["tasks"] == 2
    assert told["price"] == {"input": 1.0, "output": 10.0, "cached": 0.5, "origin": "given"}
    assert set(told["columns"]) == set(COLUMNS)
    assert told["columns"][COMPARE] == {
        "calls": 12, "sent": 12, "unanswered": 0, "input_tokens": 1200, "cached_tokens": 480, "output_tokens": 120,
        "uncounted": 0, "usd": pytest.approx(12 * ONE_CALL),
    }  # fmt: skip
    assert [told["columns"][column]["calls"] for column in COLUMNS] == [6] * 6 + [12, 2]
    for other in (cached, replayed):
        again = costs_in(other)
        assert {c: {**row, "sent": 0} for c, row in told["columns"].items()} == again["columns"]


def test_a_selector_costs_what_its_columns_took(pool: Path, server: ScriptedServer, tmp_path: Path) -> None:
    """The report has a row for each column and for all together; rules cost nothing; sums are per task."""
    file = tmp_path / "t.csv"
    run(["features", "--pool", str(pool), "-q", *PRICES, "--judge", "j", "--base-url", server.url, "-o", str(file)])
    made = report(load_pool(pool), table=read(file), null=0)
    assert made.evaluation is not None
    rows = [row.selector for row in made.evaluation.rows]
    assert {"judge", "llm_compare", "llm_listwise", "llm_health_task"} <= set(rows)
    assert set(made.costs) == set(rows)
    assert made.costs["llm_listwise"] == Cost(1.0, 100.0, 40.0, 10.0, pytest.approx(ONE_CALL))
    every = (6 * 3 + 6 + 1) * ONE_CALL
    assert made.costs["judge"].usd == pytest.approx(every)
    assert made.costs["reweight"].usd == pytest.approx(every)
    assert made.costs["gate-shortest"] == made.costs["random"] == made.costs["policy"] == FREE
    assert [plot.name for plot in made.plots][:2] == ["gap", "cost"]
    page = made.html()
    assert "model cost a task" in page
    assert f"${every:.2g}" in page
    assert 'id="cost"' in page


def test_without_a_price_dollars_are_unknown_and_tokens_are_told(
    pool: Path, server: ScriptedServer, tmp_path: Path
) -> None:
    """The page shows tokens and no dollar figure for a judge's rows."""
    file = tmp_path / "t.csv"
    run(["features", "--pool", str(pool), "-q", "--judge", "j", "--base-url", server.url, "-o", str(file)])
    told = costs_in(file)
    assert told["price"] is None
    assert {row["usd"] for row in told["columns"].values()} == {None}
    made = report(load_pool(pool), table=read(file), null=0)
    assert math.isnan(made.costs["judge"].usd)
    assert made.costs["judge"].tokens == 25 * 110
    assert "2.75k tokens" in made.html()


def table(about: dict[str, Any]) -> FeatureTable:
    """Four attempts with a model's columns."""
    names = ("n_characters", "llm_a@1", "llm_b@1", "llm_verifier_pivot@2")
    rows = [(f"t{i // 2}", f"t{i // 2}.{i % 2}", [9.0 - i, i, i, i], float(i % 2), False, "") for i in range(4)]
    found = FeatureTable.build(rows, names)
    return FeatureTable(**{**{name: getattr(found, name) for name in found.__dataclass_fields__}, "about": about})


def account(**columns: dict[str, Any] | None) -> dict[str, Any]:
    """One run's account of columns, named without their hash."""
    named = {f"{name}@{2 if 'pivot' in name else 1}": row for name, row in columns.items()}
    known = {name: row for name, row in named.items() if row is not None}
    return {"states": {name: {"ok": 4} for name in named}, "costs": {"tasks": 2, "columns": known}}


TOOK = {"calls": 4, "input_tokens": 400, "cached_tokens": 0, "output_tokens": 40, "uncounted": 0, "usd": 0.02}


def test_what_a_table_does_not_tell_is_unknown() -> None:
    """No account, an account without this column, calls without a count: unknown, and so is every sum with them."""
    assert column_costs(table({})) == dict.fromkeys(("llm_a@1", "llm_b@1", "llm_verifier_pivot@2"), UNKNOWN)
    uncounted = {**TOOK, "uncounted": 1, "usd": None}
    told = column_costs(table({"judge": [account(llm_a=TOOK, llm_b=uncounted, llm_verifier_pivot=None)]}))
    assert told["llm_a@1"] == Cost(2.0, 200.0, 0.0, 20.0, 0.01)
    assert told["llm_b@1"].calls == 2.0
    assert np.isnan(told["llm_b@1"][1:]).all()
    assert told["llm_verifier_pivot@2"] is UNKNOWN
    assert math.isnan(total(told.values()).usd)
    assert total([]) == FREE


def test_the_latest_run_that_asked_for_a_column_tells_what_it_took() -> None:
    """An earlier run's account of the same column does not stand for scores that were replaced."""
    later = account(llm_a={**TOOK, "usd": 0.08})
    assert column_costs(table({"judge": [account(llm_a=TOOK, llm_b=TOOK), later]}))["llm_a@1"].usd == 0.04
    assert column_costs(table({"judge": [account(llm_a=TOOK), account(llm_a=None)]}))["llm_a@1"] is UNKNOWN


def test_every_column_of_a_model_stands_alone_and_criteria_together() -> None:
    """A tournament is another way of asking: it is in no mean with criteria. Directions are the table's."""
    found = judge_selectors(table({"directions": {"llm_b@1": -1}, "judge": []}))
    assert [(s.name, [(t.column, t.weight) for t in s.terms]) for s in found] == [
        ("judge", [("llm_a@1", 1.0), ("llm_b@1", -1.0)]),
        ("llm_a", [("llm_a@1", 1.0)]),
        ("llm_b", [("llm_b@1", -1.0)]),
        ("llm_verifier_pivot", [("llm_verifier_pivot@2", 1.0)]),
    ]


def test_a_rule_is_free_and_a_fitted_selector_with_an_unknown_column_is_not() -> None:
    """Unknown is never 0."""
    rows = table({"judge": [account(llm_a=TOOK, llm_b=TOOK)]})
    extra = judge_selectors(rows)
    costs = selector_costs(rows, evaluate(rows, extra=extra, null=0), extra)
    assert costs["shortest"] == FREE
    assert costs["judge"].usd == 0.02
    assert math.isnan(costs["llm_verifier_pivot"].usd)
    assert math.isnan(costs["reweight"].usd)
