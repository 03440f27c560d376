"""The judge over real sockets: what runs are worth comes out in the right rows, each score with its state."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged_pool import answer, honest, letters_for, write_pool
from scripted_server import Reply, ScriptedServer, Serve

from bestofn.catalogue import load_pool
from bestofn.criteria import CriteriaSet, load
from bestofn.criterion import Kind
from bestofn.errors import PoolError, UsageError
from bestofn.evaluation import evaluate
from bestofn.judge.judging import Judgement, judge
from bestofn.judge.score import ALONE, EMPTY
from bestofn.judge.showing import Showing
from bestofn.llm.cache import Cache
from bestofn.llm.client import Client
from bestofn.llm.letters import State, letter_value
from bestofn.llm.run import Patience
from bestofn.scoring import score_pool
from bestofn.selector import Selector, Term

QUICK = Patience(max_retries=1, longest_wait=5.0, first_wait=0.01)


def judged(
    pool: Path, server: ScriptedServer, cache: Cache, criteria: str | CriteriaSet = "terminal", **options: Any
) -> Judgement:
    """A judgement of a pool by a server."""
    client = Client("judge-1", cache=cache, base_url=server.url, patience=QUICK, timeout=5.0, **options)
    chosen = load(criteria) if isinstance(criteria, str) else criteria
    return judge(load_pool(pool), [chosen], client, Showing())


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An answer cache of the test's own."""
    return Cache(tmp_path / "cache" / "answers.sqlite")


def column(judgement: Judgement, name: str, *attempts: tuple[str, str]) -> list[float]:
    """Values of the column whose name begins so."""
    [found] = [c for c in judgement.columns if c.name.startswith(f"{name}@")]
    return [found.value(attempt) for attempt in attempts]


A1, A2, A3, A4 = (("t1", f"t1.a{n}") for n in range(1, 5))


def test_every_score_lands_with_its_own_attempt(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """Pointwise and listwise letters come back to the attempt that they were given for, whatever the order shown."""
    pool = write_pool(tmp_path / "pool", {"t1": "TCAK", "t2": "BT"})
    found = judged(pool, serve(honest), cache)
    expected = [letter_value(letter) for letter in "TCAK"]
    for name in ("llm_prosecutor_a", "llm_health_local", "llm_health_task", "llm_listwise"):
        assert column(found, name, A1, A2, A3, A4) == pytest.approx(expected, abs=1e-9), name
    assert column(found, "llm_listwise", ("t2", "t2.a1"), ("t2", "t2.a2")) == pytest.approx([letter_value("B"), 0.0])
    assert found.summary.states == {State.OK: found.summary.total}


def only(kind: Kind) -> CriteriaSet:
    """The default criteria of one kind."""
    default = load("terminal")
    return replace(default, criteria=default.of(kind))


def test_the_order_in_a_list_is_not_the_order_of_the_files(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """The first attempt of a file stands in several places of the prompt, over some tasks."""
    pool = write_pool(tmp_path / "pool", {f"t{n}": "ACEGI" for n in range(8)})
    server = serve(honest)
    judged(pool, server, cache, only(Kind.LISTWISE))
    shown = [list(letters_for(seen.body["messages"][-1]["content"]).values()) for seen in server.questions]
    assert len(shown) == 8
    assert all(sorted(letters) == list("ACEGI") for letters in shown)
    assert len({letters.index("A") for letters in shown}) > 1


def test_comparisons_rank_attempts(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """The column of the pairwise criterion is the mean chance of winning, which over a task is a half."""
    pool = write_pool(tmp_path / "pool", {"t1": "TCAK"})
    found = judged(pool, serve(honest), cache, only(Kind.PAIRWISE))
    values = column(found, "llm_compare", A1, A2, A3, A4)
    assert np.argsort(values).tolist() == [0, 3, 1, 2]
    assert math.fsum(values) / 4 == pytest.approx(0.5)


def test_the_first_request_of_a_run_is_answered_before_the_others_start(
    tmp_path: Path, serve: Serve, cache: Cache
) -> None:
    """The six requests about one run share their beginning byte for byte, and five wait for the first."""
    pool = write_pool(tmp_path / "pool", {"t1": "A"})
    server = serve(honest)
    judged(pool, server, cache)
    texts = [seen.body["messages"][-1]["content"] for seen in server.questions]
    assert len(texts) == 6
    beginning = texts[0][: texts[0].index("END OF RUN ===")]
    assert all(text.startswith(beginning) for text in texts)
    first, *others = server.questions
    assert all(first.finished <= other.started for other in others)


def test_an_empty_recording_and_an_only_attempt_are_not_asked_about(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """They are missing with their own reasons, and do not count as failures of the judge."""
    pool = write_pool(tmp_path / "pool", {"t1": "A"})
    empty = {"task": "t1", "id": "t1.a2", "messages": [{"role": "user", "content": "Make t1 work."}]}
    with (pool / "t1.jsonl").open("a") as file:
        file.write(json.dumps(empty) + "\n")
    server = serve(honest)
    found = judged(pool, server, cache)
    states = {c.name.split("@")[0]: (c.scores[A1].reason, c.scores[A2].reason) for c in found.columns}
    assert states["llm_health_task"] == ("", EMPTY)
    assert states["llm_listwise"] == states["llm_compare"] == (ALONE, EMPTY)
    assert found.share_missing == 0.0
    assert len(server.questions) == 6


def test_a_pool_without_any_turn_of_an_agent_is_refused(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """There is nothing to judge, and noise is not ranked."""
    pool = tmp_path / "pool"
    pool.mkdir()
    (pool / "t1.jsonl").write_text(
        json.dumps({"task": "t1", "id": "a", "messages": [{"role": "user", "content": "Go."}]}) + "\n"
    )
    with pytest.raises(PoolError, match="has no attempt with a turn of the agent, so there is nothing to judge"):
        judged(pool, serve(honest), cache)


def test_the_columns_join_the_table_with_their_directions_and_the_account(
    tmp_path: Path, serve: Serve, cache: Cache
) -> None:
    """Scores stand beside the heuristics, a better attempt is expected higher, and `about` says who judged and how."""
    pool = write_pool(tmp_path / "pool", {"t1": "TCA"})
    judgement = judged(pool, serve(honest), cache)
    table = judgement.onto(score_pool(load_pool(pool)).table)
    [name] = [c for c in table.columns if c.startswith("llm_health_task@")]
    assert table.column(name).tolist() == pytest.approx([letter_value(letter) for letter in "TCA"], abs=1e-9)
    assert table.about["directions"][name] == 1
    assert table.about["directions"]["n_error"] == -1 or "n_error" in table.about["directions"]
    [run] = table.about["judge"]
    assert run["model"] == "judge-1"
    assert run["states"][name] == {"ok": 3}
    assert run["position_bias"][next(c for c in table.columns if c.startswith("llm_compare@"))]["pairs"] == 3


def test_a_second_judgement_replaces_columns_of_the_same_name(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """A table that is judged again holds each column once, with the new values."""
    pool = write_pool(tmp_path / "pool", {"t1": "TCA"})
    table = judged(pool, serve(honest), cache).onto(score_pool(load_pool(pool)).table)
    other = Cache(tmp_path / "other.sqlite")
    again = judged(pool, serve(lambda body, n: _always("B", body)), other).onto(table)
    assert sorted(again.columns) == sorted(table.columns)
    [name] = [c for c in again.columns if c.startswith("llm_health_task@")]
    assert again.column(name).tolist() == pytest.approx([letter_value("B")] * 3, abs=1e-9)


def _always(letter: str, body: dict[str, Any]) -> Reply:
    text = body["messages"][-1]["content"]
    letters = dict.fromkeys(letters_for(text) if "QUALITY" in text else ["probe"], letter)
    return answer(letters, logprobs=bool(body.get("logprobs")))


@pytest.mark.parametrize("letter", ["A", "J", "T"])
def test_a_judge_that_always_says_the_same_is_worth_a_random_pick(
    tmp_path: Path, serve: Serve, cache: Cache, letter: str
) -> None:
    """Every column of a constant judge ties all attempts: its accuracy is exactly Pass@1, and the run says so."""
    pool = write_pool(tmp_path / "pool", {"t1": "ATTT", "t2": "AATT", "t3": "TTA"})
    judgement = judged(pool, serve(lambda body, n: _always(letter, body)), cache)
    table = judgement.onto(score_pool(load_pool(pool)).table)
    own = [Selector(c.name, terms=(Term(c.name, 1.0),)) for c in judgement.columns]
    result = evaluate(table, selectors=["random"], extra=own, null=0, resamples=10)
    assert len(result.rows) == 9
    assert {row.accuracy for row in result.rows} == {result.figures.pass_at_1}


def test_a_constant_judge_is_found_out(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """The run's end names criteria that got one letter every time."""
    pool = write_pool(tmp_path / "pool", {f"t{n}": "AAAT" for n in range(5)})
    lines = judged(pool, serve(lambda body, n: _always("A", body)), cache).lines()
    assert any("criterion 'llm_health_task' got A every time" in line for line in lines)


def test_what_goes_wrong_ends_in_its_state(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """Letters alone are degraded, off-scale answers and errors are missing with their reasons, and none has a value."""
    pool = write_pool(tmp_path / "pool", {"t1": "A", "t2": "B", "t3": "C"})

    def script(body: dict[str, Any], n: int) -> Reply:
        text = body["messages"][-1]["content"]
        if "QUALITY A" in text:
            return answer(letters_for(text), logprobs=False)
        if "QUALITY B" in text:
            return answer(dict.fromkeys(letters_for(text), "Z"), logprobs=False)
        if "QUALITY C" in text:
            return Reply({"error": {"message": "This model's maximum context length is 10 tokens"}}, status=400)
        return honest(body, n)

    found = judged(pool, serve(script), cache, only(Kind.POINTWISE))
    [scores] = [c.scores for c in found.columns if c.name.startswith("llm_health_task@")]
    degraded, off, over = (scores[(task, f"{task}.a1")] for task in ("t1", "t2", "t3"))
    assert (degraded.state, degraded.value, degraded.reason) == (State.DEGRADED, 1.0, "no logprobs")
    assert (off.state, off.reason) == (State.MISSING, "off scale")
    assert (over.state, over.reason) == (State.MISSING, "context overflow")
    assert math.isnan(off.value)
    assert math.isnan(over.value)
    assert found.share_missing == pytest.approx(2 / 3)


def test_secrets_do_not_leave_the_machine_and_are_counted(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """A key in a run stands in no request, and the end of the run tells how many were taken out."""
    pool = write_pool(tmp_path / "pool", {"t1": "AB"})
    key = "AKIA" + "Q7ZX2MNB4VKLP9WD"
    path = pool / "t1.jsonl"
    path.write_text(path.read_text().replace("All is done.", f"All is done with {key}."))
    server = serve(honest)
    lines = judged(pool, server, cache, only(Kind.POINTWISE)).lines()
    assert not any(key in json.dumps(seen.body) for seen in server.seen)
    assert any(line.startswith("  note: 2 secrets taken out: 2 ") for line in lines)
    assert "  note: 2 records rendered, 2 of them whole runs: 0 had to be cut, 100% of their text is shown" in lines


def test_what_had_to_be_cut_is_told(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """A run beyond the budget of tokens is cut, the model is told where, and the end of the run says how much."""
    pool = write_pool(tmp_path / "pool", {"t1": "A"})
    path = pool / "t1.jsonl"
    path.write_text(path.read_text().replace("I check.", "I check. " + "word " * 4000))
    server = serve(honest)
    client = Client("judge-1", cache=cache, base_url=server.url, patience=QUICK)
    found = judge(load_pool(pool), [only(Kind.POINTWISE)], client, Showing(tokens=1500))
    assert any("1 of them whole runs: 1 had to be cut" in line for line in found.lines())
    assert all(" cut: " in seen.body["messages"][-1]["content"] for seen in server.questions)


def test_what_two_criteria_files_share_is_asked_once(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """The health checks of two compiled sets are the same column and the same call."""
    pool = write_pool(tmp_path / "pool", {"t1": "AB"})
    server = serve(honest)
    client = Client("judge-1", cache=cache, base_url=server.url, patience=QUICK)
    found = judge(load_pool(pool), [load("terminal"), load("base")], client, Showing())
    assert [c.name for c in found.columns] == [c.column for c in load("terminal").criteria]
    assert len(server.questions) == 6 * 2 + 2 + 1


def test_a_budget_of_tokens_that_holds_no_record_is_an_error(tmp_path: Path, serve: Serve, cache: Cache) -> None:
    """The message says how many are needed."""
    pool = write_pool(tmp_path / "pool", {"t1": "AB"})
    client = Client("judge-1", cache=cache, base_url=serve(honest).url)
    with pytest.raises(UsageError, match="a budget of 20 tokens does not hold"):
        judge(load_pool(pool), [load("terminal")], client, Showing(tokens=20))
