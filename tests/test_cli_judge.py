"""`bestofn judge` and `bestofn features --judge` as a person meets them: a server, a kill, a restart, batch files."""

from __future__ import annotations

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from judged_pool import honest, letters_for, write_pool
from scripted_server import Reply, ScriptedServer, Serve

from bestofn.cli import run
from bestofn.cli.asking import progress_line
from bestofn.criteria import load
from bestofn.llm.progress import Progress

QUICK = ("--retries", "0", "--timeout", "5")


@pytest.fixture
def pool(tmp_path: Path) -> str:
    """Two tasks with three attempts each, of which the better ones pass."""
    return str(write_pool(tmp_path / "pool", {"t1": "TCA", "t2": "BSD"}))


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


COLUMNS = [criterion.column for criterion in load("terminal").criteria]
CALLS = 2 * (6 * 3 + 3 * 2 + 1)
"""Calls of the default criteria about the pool."""


def test_features_with_a_judge_have_its_columns_and_a_file_of_states(
    pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scores stand beside the heuristics; each has its state; the end tells states and what each criterion took."""
    server = serve(honest)
    table = tmp_path / "table.csv"
    code = run(["features", "--pool", pool, "--judge", "j", "--base-url", server.url, "-o", str(table)])
    told = capsys.readouterr().err
    assert code == 0
    assert len(server.questions) == CALLS
    first = rows(table)[0]
    assert [name for name in first if name.startswith("llm_")] == COLUMNS
    assert "n_commands" in first
    assert float(first[COLUMNS[5]]) == pytest.approx(0.0)
    states = rows(tmp_path / "table.states.csv")
    assert len(states) == 6 * 8
    assert {row["state"] for row in states} == {"ok"}
    assert "54 scores: 54 ok, 0 degraded, 0 missing" in told
    assert "llm_health_task: 6 calls, 600 tokens in, 60 out, cost unknown" in told
    assert "llm_compare: position bias over 6 pairs" in told
    about = json.loads((tmp_path / "table.about.json").read_text())
    assert about["directions"][COLUMNS[0]] == 1
    assert about["judge"][0]["model"] == "j"


def test_the_scores_select(pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table with a judge's columns goes into the same selection and evaluation as any other."""
    table = tmp_path / "table.parquet"
    run(["features", "--pool", pool, "--judge", "j", "--base-url", serve(honest).url, "-o", str(table), "-q"])
    assert run(["evaluate", "--table", str(table), "--null", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_tasks"] == 2


def test_a_server_that_dies_leaves_missing_scores_and_a_restart_asks_for_those_alone(
    pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed midway: exit 1, what did not come is missing with its reason. Restarted: only that is asked again."""
    dying: list[ScriptedServer] = []

    def script(body: dict[str, Any], n: int) -> Reply:
        if n == 20:
            threading.Thread(target=dying[0].stop).start()
        return Reply(drop=True) if n >= 20 else honest(body, n)

    dying.append(serve(script))
    table = tmp_path / "table.csv"
    command = ["features", "--pool", pool, "--judge", "j", "-o", str(table), "--concurrency", "2", *QUICK]
    assert run([*command, "--base-url", dying[0].url]) == 1
    told = capsys.readouterr().err
    assert "missing, server gone" in told
    assert "more than --max-missing 0.05; to ask for the " in told
    lost = [row for row in rows(tmp_path / "table.states.csv") if row["state"] == "missing"]
    assert lost
    assert {row["reason"] for row in lost} <= {"server gone", "too few comparisons"}
    assert {row["value"] for row in lost} == {""}
    cells = {(row["task"], row["trajectory"]): row for row in rows(table)}
    assert all(cells[(row["task"], row["trajectory"])][row["column"]] == "" for row in lost)

    asked = {request(seen.body) for seen in dying[0].questions[:19]}  # the first request was the probe
    again = ScriptedServer(honest, port=int(dying[0].url.rsplit(":", 1)[1].split("/")[0]))
    try:
        assert run([*command, "--base-url", again.url]) == 0
    finally:
        again.stop()
    assert len(again.questions) == CALLS - 19
    assert not asked & {request(seen.body) for seen in again.questions}
    assert {row["state"] for row in rows(tmp_path / "table.states.csv")} == {"ok"}


def request(body: dict[str, Any]) -> str:
    """What a request asks."""
    return str(body["messages"][-1]["content"])


def test_a_spent_budget_stops_cleanly_and_goes_on_for_free(
    pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was not sent is missing with the reason; with more budget only the rest is sent."""
    server = serve(honest)
    table = tmp_path / "table.csv"
    command = ["judge", "run", "--pool", pool, "--model", "j", "--base-url", server.url, "-o", str(table)]
    assert run([*command, "--budget-tokens", "4000", "--answer-tokens", "100"]) == 1
    assert "missing, budget spent: " in capsys.readouterr().err
    sent = len(server.questions)
    assert 0 < sent < CALLS
    assert run([*command, "--answer-tokens", "100"]) == 0
    assert len(server.questions) == CALLS


def test_what_may_be_missing_is_the_users_to_say(pool: str, serve: Serve, tmp_path: Path) -> None:
    """With --max-missing 1 a run without any answer is done all the same."""
    server = serve(lambda body, n: Reply({"error": {"message": "no"}}, status=400) if n > 9 else honest(body, n))
    command = ["judge", "run", "--pool", pool, "--model", "j", "--base-url", server.url, "-o", str(tmp_path / "t.csv")]
    assert run([*command, *QUICK, "-q"]) == 1
    assert run([*command, *QUICK, "-q", "--max-missing", "1"]) == 0


def test_exported_requests_come_back_as_scores_without_a_call(
    pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Out as a batch file, in as batch output and as bare letters: all scores are there, and nothing was sent."""
    requests, answers, table = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl", tmp_path / "table.csv"
    assert run(["judge", "export", "--pool", pool, "--model", "j", "-o", str(requests)]) == 0
    lines = [json.loads(line) for line in requests.read_text().splitlines()]
    assert len(lines) == CALLS
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    fabricated = []
    for number, line in enumerate(lines):
        letters = letters_for(line["body"]["messages"][-1]["content"])
        text = "".join(f"<{tag}>{letter}</{tag}>" for tag, letter in letters.items())
        body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
        whole = {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}
        bare = {"custom_id": line["custom_id"], "text": next(iter(letters.values()))}
        fabricated.append(bare if number % 2 and len(letters) == 1 else whole)
    answers.write_text("".join(json.dumps(line) + "\n" for line in fabricated))
    assert run(["judge", "import", str(answers)]) == 0
    assert f"{CALLS} answers imported, 0 exported requests still open" in capsys.readouterr().out

    server = serve(honest)
    scored = ["features", "--pool", pool, "--judge", "j", "-o", str(table)]
    assert run([*scored, "--base-url", server.url]) == 0
    assert server.seen == []
    first = rows(table)[0]
    assert [float(first[name]) for name in COLUMNS[:6]] == [0.0] * 6
    assert {row["state"] for row in rows(tmp_path / "table.states.csv")} == {"degraded"}
    assert run([*scored, "--offline"]) == 0
    assert run(["judge", "export", "--pool", pool, "--model", "j", "-o", str(requests)]) == 0
    assert requests.read_text() == ""


def test_importing_a_file_without_answers_is_a_failure(serve: Serve, tmp_path: Path) -> None:
    """Exit code 1: whatever comes next would find nothing."""
    empty = tmp_path / "answers.jsonl"
    empty.write_text('{"custom_id": "someone-elses", "text": "A"}\n')
    assert run(["judge", "import", str(empty)]) == 1


def test_a_recording_replays_without_key_or_server(
    pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded on one machine, the same scores come out on another, where the cache is empty and there is no key."""
    server = serve(honest)
    one, two, recording = tmp_path / "one.csv", tmp_path / "two.csv", tmp_path / "answers.jsonl"
    run(["features", "--pool", pool, "--judge", "j", "--base-url", server.url, "-o", str(one), "-q"])
    assert run(["judge", "record", "--pool", pool, "--model", "j", "--base-url", server.url, "-o", str(recording)]) == 0
    assert f"{CALLS} answers of j" in capsys.readouterr().err
    server.stop()
    monkeypatch.setenv("BESTOFN_CACHE", str(tmp_path / "elsewhere"))
    assert run(["features", "--pool", pool, "--replay", str(recording), "-o", str(two)]) == 0
    assert two.read_text() == one.read_text()
    assert "answers of j, replayed from answers.jsonl" in capsys.readouterr().err


def test_an_answer_that_was_not_recorded_is_missing(
    pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A replay never asks anybody: it says what it lacks, and exits with 1."""
    server = serve(honest)
    recording = tmp_path / "answers.jsonl"
    run(["judge", "run", "--pool", pool, "--model", "j", "--base-url", server.url, "-q", "-o", str(tmp_path / "x.csv")])
    run(["judge", "record", "--pool", pool, "--model", "j", "--base-url", server.url, "-o", str(recording)])
    recording.write_text("".join(recording.read_text().splitlines(keepends=True)[:10]))
    sent = len(server.seen)
    assert run(["judge", "run", "--pool", pool, "--replay", str(recording), "-o", str(tmp_path / "y.csv")]) == 1
    assert "missing, not recorded: answers.jsonl holds no answer to this request" in capsys.readouterr().err
    assert len(server.seen) == sent


def test_recording_what_was_never_asked_is_a_failure(pool: str, serve: Serve, tmp_path: Path) -> None:
    """Exit code 1, since a replay would lack it."""
    command = ["judge", "record", "--pool", pool, "--model", "j", "-o", str(tmp_path / "a.jsonl")]
    assert run([*command, "--base-url", "http://127.0.0.1:9/v1"]) == 1


def test_answers_are_added_to_a_recording(
    pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two tasks recorded one after the other are the recording of both; answers of another model are not let in."""
    server = serve(honest)
    one, two, whole = (str(tmp_path / name) for name in ("one.jsonl.gz", "two.jsonl.gz", "whole.jsonl.gz"))
    asked = ["--pool", pool, "--model", "j", "--base-url", server.url, "-q"]
    run(["judge", "run", *asked, "-o", str(tmp_path / "a.csv")])
    assert run(["judge", "record", *asked, "-o", whole]) == 0
    for task in ("t1", "t2", "t2"):
        assert run(["judge", "record", *asked, "--task", task, "--add", "-o", one]) == 0
    with gzip.open(one) as mine, gzip.open(whole) as all_of_it:
        assert sorted(mine.read().splitlines()) == sorted(all_of_it.read().splitlines())
    run(["judge", "record", *asked, "--task", "t1", "-o", two])
    capsys.readouterr()
    assert run(["judge", "record", *asked[:2], "--model", "k", *asked[4:], "--add", "-o", two]) == 2
    assert "was recorded with model j, and this is k" in capsys.readouterr().err
    (tmp_path / "torn.jsonl.gz").write_bytes((tmp_path / "two.jsonl.gz").read_bytes()[:-40])
    assert run(["judge", "record", *asked, "--add", "-o", str(tmp_path / "torn.jsonl.gz")]) == 2
    assert "write to another file" in capsys.readouterr().err


def test_a_replay_shows_runs_as_the_recording_did(
    pool: str, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What shaped the prompts stands in the recording, so a replay needs no option; one that is given counts."""
    server = serve(honest)
    asked = (
        "--tokens",
        "3000",
        "--seed",
        "3",
        "--temperature",
        "0.5",
        "--extra-body",
        '{"top_k": 7}',
        "--answer-tokens",
        "99",
    )
    run(
        [
            "judge",
            "run",
            "--pool",
            pool,
            "--model",
            "j",
            "--base-url",
            server.url,
            *asked,
            "-o",
            str(tmp_path / "a.csv"),
        ]
    )
    assert all(seen.body["top_k"] == 7 and seen.body["max_tokens"] == 99 for seen in server.questions)
    recording = str(tmp_path / "answers.jsonl.gz")
    run(["judge", "record", "--pool", pool, "--model", "j", "--base-url", server.url, *asked, "-o", recording])
    server.stop()
    monkeypatch.setenv("BESTOFN_CACHE", str(tmp_path / "elsewhere"))
    assert run(["judge", "run", "--pool", pool, "--replay", recording, "-o", str(tmp_path / "b.csv")]) == 0
    assert (tmp_path / "b.csv").read_text() == (tmp_path / "a.csv").read_text()
    given = ["--replay", recording, "--answer-tokens", "98", "-o", str(tmp_path / "c.csv")]
    assert run(["judge", "run", "--pool", pool, *given]) == 1


def test_some_tasks_are_asked_about_first(
    pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a pattern only the tasks that fit are read, asked about and written; a run without one asks for the rest."""
    server, table = serve(honest), tmp_path / "table.csv"
    asked = ["judge", "run", "--pool", pool, "--model", "j", "--base-url", server.url, "-o", str(table)]
    assert run([*asked, "--task", "t2"]) == 0
    assert len(server.questions) == CALLS // 2
    assert {row["task"] for row in rows(table)} == {"t2"}
    assert run(asked) == 0
    assert len(server.questions) == CALLS
    assert run([*asked, "--task", "x*"]) == 2
    assert "holds no task whose name fits 'x*'" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["[1]", "{", "top_k=1"])
def test_fields_that_are_no_object_are_told(pool: str, given: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is read or asked."""
    assert run(["judge", "run", "--pool", pool, "--model", "j", "--extra-body", given]) == 2
    assert "--extra-body is " in capsys.readouterr().err


def test_a_budget_too_small_for_a_comparison_is_told_before_anything_is_asked(
    pool: str, serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs alone and two at a time would fit, but not all of a task side by side: not one call is spent to find out."""
    server = serve(honest)
    assert run(["judge", "run", "--pool", pool, "--model", "j", "--base-url", server.url, "--tokens", "540"]) == 2
    assert "a budget of 540 tokens does not hold the frame of the record" in capsys.readouterr().err
    assert server.seen == []


def test_an_estimate_counts_before_anything_is_sent(
    pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Calls, tokens and dollars; what is answered already costs nothing."""
    server = serve(honest)
    command = ["judge", "estimate", "--pool", pool, "--model", "j", "--base-url", server.url, "--json"]
    priced = [*command, "--price-in", "1", "--price-out", "10"]
    assert run(priced) == 0
    before = json.loads(capsys.readouterr().out)
    assert server.seen == []
    assert (before["calls"], before["answered"]) == (CALLS, 0)
    assert before["output_tokens"] == CALLS * 1024
    assert 0 < before["shared_tokens"] < before["input_tokens"]
    assert before["usd_most"] == pytest.approx((before["input_tokens"] + 10 * before["output_tokens"]) / 1e6)
    run(["judge", "run", "--pool", pool, "--model", "j", "--base-url", server.url, "-q", "-o", str(tmp_path / "x.csv")])
    assert run(priced) == 0
    after = json.loads(capsys.readouterr().out)
    assert (after["calls"], after["answered"], after["usd_most"]) == (0, CALLS, 0.0)
    assert run(command[:-1]) == 0
    assert "dollars  unknown: no price for 'j'; give --price-in and --price-out" in capsys.readouterr().out


def test_an_estimate_says_what_cannot_be_planned_yet(
    pool: str, serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pivot tournament's second round hangs on the first one's answers: its calls are told apart."""
    command = ["judge", "estimate", "--pool", pool, "--model", "j", "--base-url", serve(honest).url, "--json"]
    assert run([*command, "--methods", "verifier-pivot"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["calls"] == 2 * 3 * 3
    assert found["later_calls"] == 2 * 3 * (2 * 1 + 1)


def test_one_command_compares_all_ways_of_asking(
    pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Our judge, both tournaments and min-codes stand in one table beside the rules that ask nobody."""

    def script(body: dict[str, Any], n: int) -> Reply:
        text = body["messages"][-1]["content"]
        if "Answer with the ids of the codes" in text:
            [[tag, letter]] = letters_for(text).items()
            codes = "none" if letter < "E" else "A.1, B.2"
            return Reply({"choices": [{"message": {"content": f"<{tag}>{codes}</{tag}>"}, "finish_reason": "stop"}]})
        return honest(body, n)

    server = serve(script)
    saved = tmp_path / "table.csv"
    command = ["judge", "compare", "--pool", pool, "--model", "j", "--base-url", server.url]
    assert run([*command, "--json", "--save-table", str(saved)]) == 0
    found = {row["selector"]: row["accuracy"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert {"random", "gate-shortest", "judge", "llm_compare", "llm_listwise"} <= set(found)
    assert {found[name] for name in ("judge", "verifier-round-robin", "verifier-pivot", "min-codes")} == {1.0}
    assert {name.split("@")[0] for name in rows(saved)[0]} > {"llm_verifier_pivot", "llm_codes"}
    sent = len(server.seen)
    assert run(command) == 0
    assert len(server.seen) == sent
    out = capsys.readouterr().out
    assert "verifier-round-robin" in out
    assert "vs gate-shortest" in out


def test_min_codes_takes_recorded_diagnoses(
    pool: str, serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A judgments file gives the codes, and nobody is asked."""
    path = tmp_path / "judgments.json"
    fired = {"t1.a1": 3, "t1.a2": 1, "t1.a3": 0, "t2.a1": 0, "t2.a2": 4, "t2.a3": 1}
    diagnoses = [
        {"trace_id": name, "failure_modes": [{"code": f"A.{k}"} for k in range(n)], "none_apply": n == 0}
        for name, n in fired.items()
    ]
    path.write_text(json.dumps({"schema_version": 2, "mode": "default", "diagnoses": diagnoses}))
    command = ["judge", "compare", "--pool", pool, "--model", "j", "--offline", "--methods", "min-codes", "--json"]
    assert run([*command, "--judgments", str(path)]) == 0
    found = {row["selector"]: row["accuracy"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert found["min-codes"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["judge", "run"], "say who answers: the name of a model, or recorded answers with --replay FILE"),
        (["judge", "estimate"], "say which model: --model MODEL, by the name that its server knows"),
        (["judge", "run", "--model", "j", "--criteria", "nothing"], "no criteria file 'nothing'"),
        (["judge", "compare", "--model", "j", "--methods", "x"], "no way of asking 'x': there are judge, verifier-"),
        (["judge", "run", "--model", "j", "--criteria", "verifier"], "criteria 'verifier' hold 3 listwise (at most 1)"),
        (["judge", "run", "--model", "j", "--base-url", "nowhere"], "base URL 'nowhere' does not begin with http://"),
        (["judge", "run", "--model", "j"], "no key for api.openai.com/v1: set BESTOFN_API_KEY or OPENAI_API_KEY"),
        (["judge", "run", "--model", "j", "--budget-usd", "1"], "--budget-usd needs prices"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    arguments: list[str], message: str, pool: str, serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and the way out."""
    assert run([*arguments, "--pool", pool]) == 2
    assert f"error: {message}" in capsys.readouterr().err


def test_an_interrupted_run_keeps_what_is_done_and_says_how_it_goes_on(pool: str, serve: Serve, tmp_path: Path) -> None:
    """Ctrl-C: exit code 130, the number of answers kept, and the command to resume, which asks for the rest alone."""

    def slowly(body: dict[str, Any], n: int) -> Reply:
        reply = honest(body, n)
        reply.delay = 30.0 if n >= 8 else 0.0
        return reply

    server = serve(slowly)
    table = tmp_path / "t.csv"
    command = ["judge", "run", "--pool", pool, "--model", "j", "--base-url", server.url, "-o", str(table)]
    process = subprocess.Popen(
        [sys.executable, "-m", "bestofn", *command, "--concurrency", "1"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    deadline = time.monotonic() + 60
    while len(server.seen) < 9 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130, told
    assert f"interrupted: 7 of {CALLS} answers are kept in {tmp_path / 'cache'}" in told
    assert f"to go on: bestofn {' '.join(command)} --concurrency 1" in told
    assert not table.exists()
    server.script = honest
    before = len(server.questions)
    assert run([*command, "-q"]) == 0
    assert len(server.questions) - before == CALLS - 7


def test_the_progress_line_has_cost_and_time_left() -> None:
    """What a terminal shows while a run lasts, with the rate where it is known."""
    progress = Progress(120, 2670, 80, 3, 0.0412, 51_000, 312.0, 32)
    line = "judging: 120 of 2670, 80 free, 3 missing, $0.0412, 5 min left, 32 at once"
    assert progress_line(progress) == line
    assert progress_line(progress, 2.46) == line.replace("missing, ", "missing, 2.5/s, ")
    unpriced = progress._replace(usd=None, total=None, seconds_left=None, from_cache=0, missing=0)
    assert progress_line(unpriced) == "judging: 120, 51,000 tokens, 32 at once"
