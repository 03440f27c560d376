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
