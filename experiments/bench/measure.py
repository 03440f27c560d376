"""Whole-process measurements: seconds and peak memory of a command, alternated with another in one run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from statistics import median
from typing import NamedTuple


class Run(NamedTuple):
    """One finished process."""

    seconds: float
    """Wall clock."""
    cpu_seconds: float
    """Processor time, user and system: steadier than the wall clock on a busy machine."""
    peak_mb: float
    """Largest resident set."""


def run(command: list[str], env: dict[str, str] | None = None) -> Run:
    """Run a command to its end, output read and thrown away; its failure is ours."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=_environment(env))
    assert process.stderr is not None
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - begin
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with {process.returncode}: {complaint.decode()[-2000:]}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _environment(env: dict[str, str] | None) -> dict[str, str]:
    """This process's environment, with compiled modules kept as an installed package has them."""
    return {**{k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}, **(env or {})}


def alternate(commands: list[list[str]], rounds: int, env: dict[str, str] | None = None) -> list[list[Run]]:
    """Rounds of each command in turn (A B A B ...) after one warm-up of each; the runs of each command."""
    for command in commands:
        run(command, env)
    runs: list[list[Run]] = [[] for _ in commands]
    for _ in range(rounds):
        for command, done in zip(commands, runs, strict=True):
            done.append(run(command, env))
    return runs


def middle(runs: list[Run]) -> float:
    """Median seconds by the wall clock."""
    return median(r.seconds for r in runs)


def middle_cpu(runs: list[Run]) -> float:
    """Median seconds of processor time."""
    return median(r.cpu_seconds for r in runs)
