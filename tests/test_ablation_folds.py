"""Folds, and what a command that makes a taxonomy of some of them gets to see."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from judged_pool import record

from bestofn.ablation.folds import folds, induce, read_categories, write_traces
from bestofn.catalogue import load_pool
from bestofn.errors import UsageError
from bestofn.judge.showing import Showing

TASKS = [f"task{n}" for n in range(13)]
SEES = """
import json, os, pathlib, sys
traces, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
files = [path for place in (pathlib.Path("."), traces.parent) for path in sorted(place.rglob("*")) if path.is_file()]
seen = [str(sys.argv), os.getcwd(), *(path.name + path.read_text() for path in files)]
code = {"id": "A.1", "name": "Stops", "category": "A", "description": repr(seen)}
document = {"schema_version": 1, "status": "accepted", "display_name": "d", "domain": "d", "summary": "s"}
document["codes"] = [code]
(output / "taxonomy.json").write_text(json.dumps(document))
"""


def test_folds_part_the_tasks_evenly_and_alike_in_any_order() -> None:
    """Every task is in one fold, sizes differ by one at most, and another seed gives other folds."""
    found = folds(TASKS, 5)
    assert sorted(name for fold in found for name in fold) == sorted(TASKS)
    assert sorted(map(len, found)) == [2, 2, 3, 3, 3]
    assert folds(TASKS[::-1], 5) == found
    assert folds(TASKS, 5, seed=1) != found
    assert len(folds(TASKS[:3], 5)) == 3


def test_a_category_is_held_out_as_a_whole() -> None:
    """Tasks of one category share a fold; one without a category is a category by itself."""
    categories = {name: "abc"[n % 3] for n, name in enumerate(TASKS[:12])}
    found = folds(TASKS, 5, categories=categories)
    assert len(found) == 4
    for letter in "abc":
        members = {name for name, category in categories.items() if category == letter}
        assert sum(bool(members & fold) for fold in found) == 1
    assert frozenset({"task12"}) in found


def test_categories_are_read_strictly(tmp_path: Path) -> None:
    """An object of texts, and nothing else."""
    path = tmp_path / "categories.json"
    path.write_text('{"task1": "software"}')
    assert read_categories(path) == {"task1": "software"}
    path.write_text('{"task1": 3}')
    with pytest.raises(UsageError, match="must be an object of task to category"):
        read_categories(path)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """Six tasks whose names, ids, file names and rewards would all be seen if they got out."""
    folder = tmp_path / "FOLDERNAME"
    folder.mkdir()
    for n in range(6):
        runs = [record(f"WORDS{n}", f"ATTEMPTID{n}.{at}", quality, reward=0.8642) for at, quality in enumerate("BT")]
        for run in runs:
            run["task"] = f"TASKNAME{n}"
        (folder / f"FILENAME{n}.jsonl").write_text("\n".join(map(json.dumps, runs)) + "\n")
    return folder


def test_a_command_sees_no_held_out_run_and_no_label(pool: Path, tmp_path: Path) -> None:
    """All that it can read, its words and its place hold the train folds' texts; no name, id or outcome is in it."""
    opened = load_pool(pool)
    names = frozenset(task.name for task in opened.tasks)
    program = tmp_path / "sees.py"
    program.write_text(SEES)
    for fold in folds(names, 3):
        target = tmp_path / "made" / "fold.json"
        induce(f"{sys.executable} {program} {{traces}} {{output}}", opened, names - fold, target, Showing())
        [code] = json.loads(target.read_text())["codes"]
        for name in names:
            words = f"WORDS{name[-1]}"
            assert (words in code["description"]) == (name not in fold), f"{words}, held out: {sorted(fold)}"
        for word in ("0.8642", "TASKNAME", "ATTEMPTID", "FILENAME", "FOLDERNAME"):
            assert word not in code["description"]


def test_texts_are_numbered_by_what_happened_in_the_runs(pool: Path, tmp_path: Path) -> None:
    """Two runs of each chosen task, in files whose order names do not change."""
    opened = load_pool(pool)
    chosen = frozenset(task.name for task in opened.tasks[:3])
    assert write_traces(opened, chosen, tmp_path / "texts", Showing()) == 6
    texts = [path.read_text() for path in sorted((tmp_path / "texts").iterdir())]
    for path in pool.iterdir():
        path.write_text(path.read_text().replace("ATTEMPTID", "OTHER"))
        path.rename(path.with_name(path.name.replace("FILE", "ZFILE")))
    write_traces(load_pool(pool), chosen, tmp_path / "again", Showing())
    assert [path.read_text() for path in sorted((tmp_path / "again").iterdir())] == texts


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("induce {traces}", "--with command= must hold {output}: the folders of the runs and of the taxonomy"),
        ("induce '{traces} {output}", "--with command= cannot be split into words"),
        ("/no/such/program {traces} {output}", "--with command= cannot be run: No such file or directory"),
        (f"{sys.executable} -c 'import sys; sys.exit(\"it broke\")' {{traces}} {{output}}",
         "--with command= ended with 1: it broke"),
        (f"{sys.executable} -c pass {{traces}} {{output}}", "--with command= wrote no taxonomy.json"),
    ],
)  # fmt: skip
def test_a_command_that_fails_says_how(command: str, said: str, pool: Path, tmp_path: Path) -> None:
    """What is wrong with it, with its own last words; nothing is kept."""
    opened = load_pool(pool)
    with pytest.raises(UsageError) as caught:
        induce(command, opened, frozenset({opened.tasks[0].name}), tmp_path / "kept.json", Showing())
    assert str(caught.value).startswith(said)
    assert not (tmp_path / "kept.json").exists()
