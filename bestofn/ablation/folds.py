"""Folds of tasks, and a command that makes a taxonomy of the runs of some folds without a look at the others."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import orjson

from bestofn.errors import UsageError
from bestofn.judge.question import task_runs
from bestofn.judge.showing import Showing, fingerprint
from bestofn.pool import Pool
from bestofn.rendering.transcript import render

TRACES, OUTPUT = "{traces}", "{output}"
"""What a command must hold: where its input lies, and where it shall write."""
TAXONOMY = "taxonomy.json"
"""What a command writes into the output folder."""
TAIL = 400
"""Characters of a failed command's errors that are shown."""


def folds(
    tasks: Iterable[str],
    n: int,
    *,
    seed: int = 0,
    categories: Mapping[str, str] | None = None,
    keys: Mapping[str, str] | None = None,
) -> list[frozenset[str]]:
    """The tasks in n folds, none empty where there are n tasks or more; fewer folds where there are fewer.

    Parameters
    ----------
    categories
        Task to category. Tasks of one category stay together: the largest category first goes to the smallest fold.
        A task without one is a category by itself. None: in an order drawn from a hash of each task's name, dealt out
        one by one.
    keys
        Task to what the hash is drawn from instead of its name.
    """
    drawn = keys or {}
    names = sorted(set(tasks), key=lambda name: (_hash(seed, drawn.get(name, name)), name))
    count = min(n, len(names))
    if categories is None:
        return [frozenset(names[at::count]) for at in range(count)]
    together: dict[str, list[str]] = {}
    for name in names:
        together.setdefault(f"category {categories[name]}" if name in categories else f"task {name}", []).append(name)
    found: list[list[str]] = [[] for _ in range(min(n, len(together)))]
    for _, members in sorted(together.items(), key=lambda pair: (-len(pair[1]), _hash(seed, pair[0]))):
        min(found, key=len).extend(members)
    return [frozenset(fold) for fold in found]


def read_categories(path: Path) -> dict[str, str]:
    """Task to category, from a JSON object. Raises UsageError for anything else."""
    try:
        content = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
        raise UsageError(f'{path}: must be an object of task to category, such as {{"fix-git": "software"}}')
    return content


def write_traces(pool: Pool, tasks: frozenset[str], folder: Path, showing: Showing) -> int:
    """Write the runs of some tasks as texts `run-0001.txt`, ...; gives how many.

    A text holds the task's words and the run as a judge would see it, secrets taken out: no outcome, no id, no path.
    The files are numbered in an order drawn from what happened in the runs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    runs = [run for task in task_runs(pool) if task.name in tasks for run in task.runs]
    for number, run in enumerate(sorted(runs, key=fingerprint), start=1):
        text = render(run, showing.tokens, reasoning=showing.reasoning, redact=showing.redact).text
        (folder / f"run-{number:04}.txt").write_text(text, encoding="utf-8", errors="replace", newline="\n")
    return len(runs)


def induce(command: str, pool: Pool, tasks: frozenset[str], target: Path, showing: Showing) -> None:
    """Run a command on the texts of some tasks' runs, and keep the taxonomy that it writes as `target`.

    The command is no shell line: its words are split as a shell would split them, and `{traces}` and `{output}` in
    them become folders of its own, in one of which it works. It is told nothing else.

    Raises UsageError where it fails or writes no taxonomy.
    """
    words = command_words(command)
    with tempfile.TemporaryDirectory(prefix="bestofn-") as place:
        traces, output = Path(place) / "traces", Path(place) / "output"
        output.mkdir()
        write_traces(pool, tasks, traces, showing)
        filled = [word.replace(TRACES, str(traces)).replace(OUTPUT, str(output)) for word in words]
        try:
            done = subprocess.run(filled, cwd=traces, capture_output=True, text=True, errors="replace", check=False)
        except OSError as error:
            raise UsageError(f"--with command= cannot be run: {error.strerror or error}: '{filled[0]}'") from error
        if done.returncode:
            said = (done.stderr or done.stdout).strip()[-TAIL:]
            raise UsageError(f"--with command= ended with {done.returncode}: {said or 'it said nothing'}")
        written = output / TAXONOMY
        if not written.is_file():
            raise UsageError(f"--with command= wrote no {TAXONOMY} into the folder of {OUTPUT}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(written.read_bytes())


def command_words(command: str) -> Sequence[str]:
    """The words of a command. Raises UsageError where it does not say where its input and output lie."""
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError as error:
        raise UsageError(f"--with command= cannot be split into words ({error}): check its quotes") from error
    lost = [name for name in (TRACES, OUTPUT) if not any(name in word for word in words)]
    if lost:
        raise UsageError(f"--with command= must hold {' and '.join(lost)}: the folders of the runs and of the taxonomy")
    return words


def _hash(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\x1f{name}".encode("utf-8", "surrogatepass")).hexdigest()
