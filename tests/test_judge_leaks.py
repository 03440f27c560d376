"""Nothing about an attempt but what happened in it reaches a model or a cache key: no outcome, no id, no file name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from judged_pool import record

from bestofn.catalogue import load_pool
from bestofn.criteria import load
from bestofn.judge.comparing import METHODS, Ways
from bestofn.judge.question import Asking, task_runs
from bestofn.judge.showing import Showing
from bestofn.judge.shown import ShownCounts
from bestofn.llm.capabilities import Capabilities
from bestofn.llm.letters import LetterScore, State
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

    def answered() -> Iterator[Request]:
        for round in range(asking.rounds):
            for group in asking.groups(round, task_runs(load_pool(pool))):
                for request in group:
                    yield request
                    for method_answer in asking._open.pop(request.id),:  # noqa: B909
                        method_answer(_agreeable(request))

    return list(answered())
