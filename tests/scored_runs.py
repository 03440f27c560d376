"""Recordings to score: one of the kind that the built-in selector knows, in the project's own format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NOISE = "compiling module\n" * 60


def run_record(
    name: str = "a1",
    *,
    ending: str = "finished",
    commands: int = 14,
    outputs: Sequence[str] = (),
    last: str | None = "All is done: the tests pass and the task is complete.",
    **fields: Any,
) -> dict[str, Any]:
    """A run of some commands; `outputs` are the first of their outputs."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Make it work."}]
    for number in range(commands):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps({"command": f"make step{number}"})},
        }
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        shown = outputs[number] if number < len(outputs) else NOISE
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": shown})
    if last is not None:
        messages.append({"role": "assistant", "content": last})
    return {"task": "build", "id": name, "ending": ending, "messages": messages, **fields}


ERRORS = [f"main.c:{n}:5: error: expected ';' before 'x'\n" + NOISE for n in range(1, 9)]


def good() -> dict[str, Any]:
    """Short, finished, claims success."""
    return run_record("good", commands=12)


def bad() -> dict[str, Any]:
    """Long, broken off, full of errors and failed tests."""
    outputs = [*ERRORS, "FAILED tests/test_a.py::test_one - AssertionError\n3 failed, 1 passed in 0.2s"]
    return run_record("bad", ending="timed_out", commands=120, outputs=outputs, last=None)


def write(path: Path, *records: dict[str, Any], indent: int | None = None) -> Path:
    """One record as JSON, several as JSON lines."""
    if len(records) == 1 and path.suffix == ".json":
        path.write_text(json.dumps(records[0], indent=indent), encoding="utf-8")
    else:
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
