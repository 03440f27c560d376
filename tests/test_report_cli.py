"""`bestofn report` as a person meets it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from report_pool import hostile, ordinary

ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("BESTOFN")}, "NO_COLOR": "1"}


def bestofn(*arguments: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bestofn", *arguments],
        capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=False, cwd=at,
    )  # fmt: skip


def test_one_command_writes_the_page_and_the_plots(tmp_path: Path) -> None:
    """The page is report.html where no other name is given; remarks say what was written."""
    ordinary(tmp_path / "mine")
    done = bestofn("report", "--pool", "mine", "--plots", "plots", "--null", "5", at=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "report.html: 4 tasks, 0.2 MB" in done.stderr
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    assert len(list((tmp_path / "plots").iterdir())) == 8


def test_what_goes_to_the_terminal_holds_no_control_sequence(tmp_path: Path) -> None:
    """A recording's names and texts cannot paint the screen, in this command or in those that list attempts."""
    hostile(tmp_path / "bad")
    for command in ("report", "select", "evaluate"):
        done = bestofn(command, "--pool", "bad", *(["--null", "0"] if command != "select" else []), at=tmp_path)
        assert done.returncode == 0, done.stderr
        said = done.stdout + done.stderr
        assert not {c for c in said if (c < " " and c != "\n") or "\x7f" <= c <= "\x9f" or c in "\u202e\u2066"}


def test_wrong_use_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    """No pool, a directory that is not there, a task that fits nothing."""
    done = bestofn("report", at=tmp_path)
    assert (done.returncode, done.stderr) == (
        2, "error: say what to report on: --pool POOL (such as --pool demo)\n",
    )  # fmt: skip
    done = bestofn("report", "--pool", "demo", "-o", "no/where.html", at=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: cannot write 'no/where.html': there is no directory 'no'\n")
    done = bestofn("report", "--pool", "demo", "--task", "nix*", at=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: no task fits 'nix*': the pool has 13 tasks, such as ")


def test_without_labels_there_are_no_plots_and_it_says_so(tmp_path: Path) -> None:
    """`--no-labels` leaves outcomes aside."""
    ordinary(tmp_path / "mine")
    done = bestofn("report", "--pool", "mine", "--no-labels", "--plots", "plots", at=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "no plots: they need recorded outcomes" in done.stderr
