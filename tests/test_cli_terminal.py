"""What a person at a terminal meets: progress on long work, a clean stop, silence when asked for, no colours."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from judged_pool import honest, write_pool
from report_pool import ordinary
from scored_runs import good, write
from scripted_server import Reply, Script, ScriptedServer, Serve
from terminal import Terminal

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with a small pool, a run to score and a broken one."""
    ordinary(tmp_path / "mine")
    write_pool(tmp_path / "judged", {"t1": "TCA", "t2": "BSD"})
    (tmp_path / "mine" / "broken.json").write_text("{")
    write(tmp_path / "good.json", good())
    return tmp_path


def slowly(seconds: float) -> Script:
    """A judge that takes so long for each answer but the first."""

    def script(body: dict[str, Any], number: int) -> Reply:
        reply = honest(body, number)
        reply.delay = seconds if number else 0.0
        return reply

    return script


def commands(server: ScriptedServer) -> dict[str, list[str]]:
    """One run of each command that shows progress or remarks."""
    judge = ["--base-url", server.url, "--model", "j"]
    return {
        "select": ["select", "--pool", "mine"],
        "evaluate": ["evaluate", "--pool", "mine", "--null", "5"],
        "report": ["report", "--pool", "mine", "--null", "5", "--plots", "plots"],
        "fit": ["fit", "--pool", "mine", "-o", "s.toml"],
        "features": ["features", "--pool", "mine", "-o", "t.csv"],
        "features --judge": ["features", "--pool", "judged", "--judge", "j", "--base-url", server.url, "-o", "t.csv"],
        "score": ["score", "good.json"],
        "judge run": ["judge", "run", "--pool", "judged", *judge, "-o", "t.csv"],
        "judge estimate": ["judge", "estimate", "--pool", "judged", *judge],
        "judge export": ["judge", "export", "--pool", "judged", *judge, "-o", "requests.jsonl"],
        "judge record": ["judge", "record", "--pool", "judged", *judge, "-o", "answers.jsonl"],
        "judge compare": ["judge", "compare", "--pool", "judged", *judge, "--methods", "judge"],
    }


NAMES = (
    "select", "evaluate", "report", "fit", "features", "features --judge", "score", "judge run", "judge estimate",
    "judge export", "judge record", "judge compare",
)  # fmt: skip
REMARKS = {"report", "fit", "select", "evaluate", "features", "features --judge", "judge run", "judge export"}


@pytest.mark.parametrize("name", NAMES)
def test_quiet_leaves_results_only_and_no_color_means_none(runs: Path, serve: Serve, name: str) -> None:
    """With --quiet a terminal shows no remark; with NO_COLOR or none, nothing is coloured; the exit code stays."""
    server = serve(slowly(0.0))
    command = commands(server)[name]
    environment = {"BESTOFN_CACHE": str(runs / "cache"), "NO_COLOR": "1"}
    loud = Terminal(*command, cwd=runs, environment=environment).finish()
    quiet = Terminal(*command, "--quiet", cwd=runs, environment=environment).finish()
    assert quiet[2] == "", quiet
    assert quiet[0] == loud[0] == (1 if name == "judge record" else 0)
    if name in REMARKS:
        assert loud[2] != ""
    assert not COLOUR.search("".join((*loud[1:], *quiet[1:])))


def test_scoring_many_files_shows_how_far_it_is_and_stops_cleanly(runs: Path) -> None:
    """A counter with rate and time left; Ctrl-C ends with 130, what was done and the command to give again."""
    command = ["score", *["good.json"] * 6000, "--json", "-o", "verdict.json"]
    seen = Terminal(*command, cwd=runs)
    assert seen.wait_for("scoring: "), seen.told
    assert seen.wait_for("/s"), seen.told
    assert re.search(r"scoring: \d+ of 6000, \d+ s left, \d+/s", seen.told)
    seen.interrupt()
    code, out, told = seen.finish()
    assert (code, out) == (130, "")
    assert re.search(
        r"interrupted: [1-9]\d* of 6000 are scored, and no report is written before all are; to go on: ", told
    )
    assert "bestofn score good.json good.json" in told
    assert "Traceback" not in told
    assert not (runs / "verdict.json").exists()


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (("evaluate", "--pool", "mine", "--null", "20000"), r"shuffling labels: \d+ of 20000, \d+ s left, \d+/s"),
        (("report", "--pool", "mine", "--null", "20000"), r"report on mine: \d+ of 20000, \d+ s left, \d+/s"),
    ],
)
def test_long_evaluations_show_how_far_they_are(runs: Path, command: tuple[str, ...], line: str) -> None:
    """Shuffles are counted with rate and time left, whatever was counted before them; Ctrl-C ends with 130."""
    seen = Terminal(*command, cwd=runs)
    assert seen.wait_for("of 20000, "), seen.told
    assert seen.wait_for("/s\r"), seen.told
    assert re.search(line, seen.told), seen.told
    seen.interrupt()
    code, out, told = seen.finish()
    assert (code, out) == (130, "")
    assert told.endswith("interrupted\r\n")
    assert not (runs / "report.html").exists()


def test_quiet_scoring_of_many_files_is_silent(runs: Path) -> None:
    """No counter, on a terminal either."""
    command = ["score", *["good.json"] * 300, "--json", "-o", "verdict.json", "-q"]
    code, out, told = Terminal(*command, cwd=runs).finish()
    assert (code, out, told) == (0, "", "")


def test_a_judged_score_tells_cost_and_time_and_goes_on_where_it_was_stopped(runs: Path, serve: Serve) -> None:
    """The line has rate, dollars and time left; Ctrl-C says what is kept over all files; nothing is asked twice."""
    server = serve(slowly(0.4))
    files = sorted(str(path) for path in (runs / "judged").iterdir())
    command = ["score", *files, "--judge", "j", "--base-url", server.url, "--concurrency", "1", "--json"]
    command += ["--price-in", "1", "--price-out", "10"]
    environment = {"BESTOFN_CACHE": str(runs / "cache")}
    seen = Terminal(*command, cwd=runs, environment=environment)
    assert seen.wait_for("s left"), seen.told
    assert re.search(r"judging: \d+ of 18, \d\.\d/s, \$0\.\d{4}, \d+ s left, 1 at once", seen.told), seen.told
    while len(server.questions) < 21:
        assert seen.wait_for("never", timeout=0.1) is False
    seen.interrupt()
    code, out, told = seen.finish()
    assert (code, out) == (130, "")
    found = re.search(r"interrupted: (\d+) answers are kept in (\S+); to go on: bestofn score ", told)
    assert found, told
    assert int(found[1]) >= 19, "answers of both files"
    assert "Traceback" not in told
    kept, before = int(found[1]), len(server.questions)
    code, out, told = Terminal(*command, cwd=runs, environment=environment).finish()
    assert code in (0, 3), told
    assert len(server.questions) - before <= 36 - kept
    assert out.count('"state": "ok"') == 36
