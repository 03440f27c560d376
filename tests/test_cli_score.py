"""`bestofn score` as a pipeline meets it: real processes, exit codes, files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from judged_pool import honest
from scored_runs import bad, good, run_record, write
from scripted_server import Reply, ScriptedServer, chat

CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("BESTOFN", "GITHUB", "OPENAI"))}


def bestofn(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "bestofn", "score", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**CLEAN, "NO_COLOR": "1", **environment},
        timeout=120,
        check=False,
    )


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """good.json, bad.json, odd.json (another kind), broken.json."""
    write(tmp_path / "good.json", good())
    write(tmp_path / "bad.json", bad(), indent=1)
    write(tmp_path / "odd.json", run_record("odd", commands=2))
    (tmp_path / "broken.json").write_text("{")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("good.json", "--fail-under", "0.5"), 0),
        (("bad.json", "--fail-under", "0.5"), 1),
        (("bad.json",), 1),
        (("good.json", "bad.json"), 1),
        (("odd.json",), 0),
        (("odd.json", "--unsure", "fail"), 3),
        (("odd.json", "--unsure", "pass"), 0),
        (("odd.json", "bad.json", "--unsure", "fail"), 1),
        (("broken.json",), 2),
        (("bad.json", "broken.json"), 2),
        (("nothing.json",), 2),
        ((), 2),
        (("good.json", "--fail-under", "2"), 2),
        (("good.json", "--unsure", "perhaps"), 2),
        (("good.json", "--selector", "gate-shortest"), 0),
        (("good.json", "--selector", "gate-shortest", "--fail-under", "0.5"), 2),
        (("good.json", "--selector", "nobody"), 2),
        (("good.json", "--criteria", "terminal"), 2),
        (("good.json", "--baseline", "nothing.json"), 2),
        (("good.json", "-o", "no/such/folder.json"), 2),
    ],
)
def test_exit_codes(runs: Path, arguments: tuple[str, ...], code: int) -> None:
    """0 at or above the bar, 1 below, 2 wrong use or unreadable, 3 unsure where that is to fail."""
    done = bestofn(*arguments, cwd=runs)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_the_screen_shows_verdict_probability_evidence_and_how_far_to_trust_it(runs: Path) -> None:
    """The first line has the verdict; quotes have file, line and step; the caveat stands below."""
    done = bestofn("bad.json", "--fail-under", "0.5", cwd=runs)
    first = done.stdout.splitlines()[0]
    assert first.startswith("FAIL  build/bad  probability 0.")
    assert "  code  terminal-bench/A.1 Premature_Termination (finished" in done.stdout
    assert "bad.json:" in done.stdout
    assert "(step " in done.stdout
    assert "note  measured on tasks left out of the fit: Brier 0.1" in done.stdout


def test_all_reports_are_written_at_once(runs: Path) -> None:
    """One call writes JSON, JUnit, SARIF and Markdown; what was read is reported though one file is broken."""
    options = ("--json", "-o", "v.json", "--junit", "v.xml", "--sarif", "v.sarif", "--markdown", "v.md")
    done = bestofn("good.json", "broken.json", *options, cwd=runs)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "error: broken.json cannot be scored" in done.stderr
    content = json.loads((runs / "v.json").read_text())
    assert [result["file"] for result in content["results"]] == ["good.json"]
    assert len(content["problems"]) == 1
    assert (runs / "v.xml").read_text().startswith("<?xml")
    assert json.loads((runs / "v.sarif").read_text())["version"] == "2.1.0"
    assert "could not be read" in (runs / "v.md").read_text()


def test_the_baseline_is_an_earlier_json(runs: Path) -> None:
    """What got worse is printed, and the exit code stays the verdict's own."""
    assert bestofn("good.json", "--json", "-o", "before.json", cwd=runs).returncode == 0
    write(runs / "good.json", {**bad(), "id": "good"})
    done = bestofn("good.json", "--baseline", "before.json", cwd=runs)
    assert done.returncode == 1
    assert "worse   good: verdict" in done.stdout


def test_annotations_appear_only_under_github(runs: Path) -> None:
    """They go to the error stream, so that JSON on the screen stays JSON."""
    assert "::error" not in bestofn("bad.json", cwd=runs).stderr
    done = bestofn("bad.json", "--json", cwd=runs, GITHUB_ACTIONS="true")
    assert done.stderr.startswith("::error file=bad.json,line=")
    json.loads(done.stdout)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A model server that answers every question."""
    running = ScriptedServer(honest)
    yield running
    running.stop()


def test_a_judge_that_does_not_answer_never_passes_silently(runs: Path) -> None:
    """Answers without a letter are missing scores: exit code 3, each column named, unless the policy says otherwise."""
    mute = ScriptedServer(lambda body, number: Reply(chat("I cannot say.")))
    options = ("--judge", "m", "--base-url", mute.url, "--error-rate", "0.3")
    done = bestofn("good.json", *options, cwd=runs, BESTOFN_CACHE=str(runs / "cache"))
    assert done.returncode == 3, done.stderr
    assert "build/good: scores of the judge are missing: llm_" in done.stderr
    assert "because scores of the judge are missing" in done.stdout
    told = bestofn("good.json", *options, "--unsure", "warn", "-q", cwd=runs, BESTOFN_CACHE=str(runs / "cache"))
    assert told.returncode == 0
    assert "scores of the judge are missing" in told.stderr
    mute.stop()


def test_a_judges_scores_stand_beside_the_verdict(runs: Path, server: ScriptedServer) -> None:
    """Criteria about one run are asked, comparisons are not, and the scores are in the JSON with their state."""
    write(runs / "judged.json", {**good(), "messages": [*good()["messages"], {"role": "tool", "content": "QUALITY B"}]})
    done = bestofn(
        "judged.json", "--judge", "m", "--base-url", server.url, "--json", cwd=runs, BESTOFN_CACHE=str(runs / "cache")
    )
    content = json.loads(done.stdout)
    judged = content["results"][0]["judge"]
    assert len(judged) == 6
    assert all(row["column"].startswith("llm_") for row in judged)
    assert {row["state"] for row in judged} <= {"ok", "degraded"}, done.stderr


def judged_run(path: Path, quality: str = "B") -> Path:
    """A smooth run whose last output tells the judge of these tests its quality."""
    said = {"role": "tool", "tool_call_id": "c11", "content": f"QUALITY {quality}"}
    return write(path, {**good(), "messages": [*good()["messages"], said]})


def scores_of(done: subprocess.CompletedProcess[str]) -> dict[str, tuple[str, float | None]]:
    """State and value of each of the judge's columns in a JSON of one run."""
    [result] = json.loads(done.stdout)["results"]
    return {row["column"]: (row["state"], row["value"]) for row in result["judge"]}


@pytest.fixture
def recording(runs: Path, server: ScriptedServer) -> Path:
    """Answers about judged.json, asked for with `judge run` and written with `judge record`."""
    judged_run(runs / "judged.json")
    options = ("--pool", "judged.json", "--criteria", "terminal", "--model", "j", "--base-url", server.url)
    for command in (("run", "-o", "t.csv"), ("record", "-o", "answers.jsonl")):
        done = subprocess.run(
            [sys.executable, "-m", "bestofn", "judge", command[0], *options, *command[1:]],
            capture_output=True, text=True, cwd=runs, env={**CLEAN, "BESTOFN_CACHE": str(runs / "cache")},
            timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return runs / "answers.jsonl"


def test_recorded_answers_give_the_judges_scores_without_a_server(
    runs: Path, recording: Path, server: ScriptedServer
) -> None:
    """`score --criteria C --replay F` on a machine without server, key or cache is what asking gave."""
    live = bestofn("judged.json", "--judge", "j", "--base-url", server.url, "--json", cwd=runs, BESTOFN_CACHE="cache")
    server.stop()
    replayed = bestofn(
        "judged.json", "--criteria", "terminal", "--replay", "answers.jsonl", "--json", cwd=runs, BESTOFN_CACHE="empty"
    )
    assert replayed.returncode == live.returncode, replayed.stderr
    told = scores_of(replayed)
    assert len(told) == 6
    assert {state for state, _ in told.values()} == {"ok"}
    assert all(value == pytest.approx(18 / 19, abs=0.01) for _, value in told.values())
    assert told == scores_of(live)
    shown = bestofn("judged.json", "--replay", "answers.jsonl", cwd=runs, BESTOFN_CACHE="empty").stdout
    assert shown.count("  judge llm_") == 6
    assert not (runs / "empty").exists(), "a replay keeps nothing"


def test_what_was_not_recorded_never_passes_silently(runs: Path, recording: Path) -> None:
    """Another run than the recorded one, or another question: each score is missing by name, and it exits with 3."""
    judged_run(runs / "other.json", "C")
    options = ("--replay", "answers.jsonl", "--error-rate", "0.3")
    assert bestofn("judged.json", *options, cwd=runs).returncode == 0
    for arguments in (("other.json",), ("judged.json", "--criteria", "diagnosis")):
        done = bestofn(*arguments, *options, cwd=runs)
        assert done.returncode == 3, done.stdout
        assert "scores of the judge are missing: llm_" in done.stderr
        assert "missing not recorded: answers.jsonl holds no answer to this request" in done.stdout
        quiet = bestofn(*arguments, *options, "--quiet", cwd=runs)
        assert quiet.returncode == 3
        assert "scores of the judge are missing: llm_" in quiet.stderr
    for form in ("--junit", "--markdown"):
        bestofn("other.json", *options, form, "out", cwd=runs)
        assert "scores of the judge are missing" in (runs / "out").read_text()


def test_a_selector_that_reads_what_nobody_was_asked_for_does_not_pass(runs: Path, recording: Path) -> None:
    """A reworded criterion is another column: the one that the selector reads is missing, not average."""
    from dataclasses import replace

    from bestofn import write_selector
    from bestofn.probability import Term
    from bestofn.single import open_selector

    shipped = open_selector("terminal")
    assert shipped.probability is not None
    term = Term("llm_health_task@00000000", False, 0.4, 0.5, 0.2, 0.0, 1.0)
    wider = replace(shipped.probability, terms=(*shipped.probability.terms, term))
    write_selector(replace(shipped, name="mine", probability=wider), runs / "mine.toml")
    options = ("judged.json", "--selector", "mine.toml", "--error-rate", "0.3")
    done = bestofn(*options, cwd=runs)
    assert done.returncode == 2
    assert "selector 'mine' reads llm_health_task@00000000: say who judges, --judge or --replay" in done.stderr
    done = bestofn(*options, "--replay", "answers.jsonl", cwd=runs)
    assert done.returncode == 3
    assert "llm_health_task@00000000: missing the selector reads it, and no criterion here asks for it" in done.stdout
