"""Nothing about an attempt but what happened in it reaches a model or a cache key: no outcome, no id, no file name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from judged_pool import record

from bestofn.catalogue import load_pool
from bestofn.criteria import load
from bestofn.judge.comparing import METHODS, Ways
from bestofn.judge.question import Asking, task_runs
from bestofn.judge.showing import Showing
from bestofn.judge.shown import ShownCounts
from bestofn.llm.answer import Completion
from bestofn.llm.capabilities import Capabilities
from bestofn.llm.request import Request, Sampling, request_hash

SENTINELS = ("TASKNAME", "ATTEMPTID", "FILENAME", "FOLDER", "LABELREASON", "GOLDANSWER", "0.8642")


def write(folder: Path, *, task: str, name: str, file: str, reward: float | None, **fields: Any) -> Path:
    """A pool of two tasks with three attempts each, the same whatever they are called and however they ended."""
    folder.mkdir(parents=True)
    for number, said in enumerate(("one", "two")):
        records = []
        for at, quality in enumerate("BKT"):
            made = record(said, f"{name}.{number}.{at}", quality, **fields)
            made["task"] = f"{task}.{number}"
            if reward is not None:
                made["reward"] = reward
            records.append(json.dumps(made))
        (folder / f"{file}.{number}.jsonl").write_text("\n".join(records) + "\n")
    return folder


def every_request(pool: Path) -> list[Request]:
    """All requests of all ways of asking, the tournament's second round included."""
    showing, shown = Showing(), ShownCounts()
    ways = Ways([load("terminal")], load("verifier"), load("diagnosis"), repeats=3)
    methods = [m for mine in ways.methods(METHODS, showing, shown).values() for m in mine]
    asking = Asking(methods)

    requests: list[Request] = []
    for round in range(asking.rounds):
        for group in asking.groups(round, task_runs(load_pool(pool))):
            for request in group:
                requests.append(request)
                said = "".join(f"<{tag}>J</{tag}>" for tag in request.tags)
                asking.take(request, Completion(content=said))
    return requests


def hashes(requests: list[Request]) -> set[str]:
    """The cache keys' part that depends on the requests."""
    return {request_hash(request, "judge-1", Sampling()) for request in requests}


def test_no_outcome_name_or_path_reaches_a_request(tmp_path: Path) -> None:
    """Sentinels in the label, its reason, foreign fields, task, id, file and folder stand in no body and no key."""
    pool = write(
        tmp_path / "FOLDER" / "pool",
        task="TASKNAME",
        name="ATTEMPTID",
        file="FILENAME",
        reward=0.8642,
        label_reason="LABELREASON",
        answer="GOLDANSWER",
        score=0.8642,
        metadata={"reward_info": "GOLDANSWER", "checker": "LABELREASON"},
    )
    requests = every_request(pool)
    assert {request.criterion for request in requests} == {
        *(criterion.name for name in ("terminal", "verifier", "diagnosis") for criterion in load(name).criteria)
    }
    for request in requests:
        for sent in (request.canonical.decode(), json.dumps(Capabilities().body(request, "judge-1", Sampling()))):
            assert not [sentinel for sentinel in SENTINELS if sentinel in sent]


def test_names_and_outcomes_change_no_cache_key(tmp_path: Path) -> None:
    """The same runs under other names, in other files, with other rewards or none, are the same requests."""
    first = write(tmp_path / "one", task="x", name="pass", file="a", reward=1.0)
    second = write(tmp_path / "two", task="y", name="fail", file="z", reward=0.0)
    third = write(tmp_path / "three", task="q", name="unknown", file="m", reward=None)
    expected = hashes(every_request(first))
    assert len(expected) > 100
    assert hashes(every_request(second)) == expected
    assert hashes(every_request(third)) == expected


def test_the_order_of_files_and_records_changes_no_cache_key(tmp_path: Path) -> None:
    """Attempts that are read in another order are shown in the same one."""
    first = write(tmp_path / "one", task="x", name="a", file="a", reward=1.0)
    second = write(tmp_path / "two", task="x", name="a", file="a", reward=1.0)
    for file in second.iterdir():
        file.write_text("\n".join(reversed(file.read_text().splitlines())) + "\n")
    assert hashes(every_request(second)) == hashes(every_request(first))


def test_another_run_is_another_key(tmp_path: Path) -> None:
    """A changed output changes every request that shows it."""
    first = write(tmp_path / "one", task="x", name="a", file="a", reward=1.0)
    second = write(tmp_path / "two", task="x", name="a", file="a", reward=1.0)
    for file in second.iterdir():
        file.write_text(file.read_text().replace("All is done.", "All is done!"))
    assert not hashes(every_request(second)) & hashes(every_request(first))
