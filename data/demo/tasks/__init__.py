"""The tasks of the demo pool, one module each.

A module has INSTRUCTION, setup, check, POLICIES and, where it differs, MAX_CALLS or MAX_SECONDS.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from .kit import Policy

NAMES = (
    "config_override",
    "cron_next",
    "csv_dedupe",
    "fix_intervals",
    "flock_counter",
    "git_first_wrong",
    "git_lost_commits",
    "log_counts",
    "make_deps",
    "rename_files",
    "shift_minutes",
    "sqlite_report",
    "tar_rebuild",
)


@dataclass(frozen=True)
class Task:
    """One task, as its module states it."""

    name: str
    instruction: str
    setup: Callable[[Path], None]
    """Creates the files of the task in an empty directory."""
    check: Callable[[Path], bool]
    """Looks at the directory after the run: did the attempt succeed?"""
    policies: Mapping[str, Policy]
    """Four scripted policies by name; the names never enter a recording."""
    max_calls: int
    """Commands that one attempt may run."""
    max_seconds: float
    """Wall-clock seconds after which an attempt may not start another command."""


def load(name: str) -> Task:
    """Import one task by its name."""
    module = import_module(f".{name}", __package__)
    return Task(
        name=name,
        instruction=module.INSTRUCTION.strip(),
        setup=module.setup,
        check=module.check,
        policies=module.POLICIES,
        max_calls=getattr(module, "MAX_CALLS", 20),
        max_seconds=getattr(module, "MAX_SECONDS", 60.0),
    )
