"""Formats that are not read yet: what a refusal calls them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from recordings import pooled, written

from bestofn.readers.foreign import FOREIGN, SIMPLE_FORMAT, looks_like, name_of
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.registry import FILE_READERS, SUFFIXES

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
INPUTS: list[tuple[str, str, Any]] = [
    (
        "a Claude Code session",
        "s.jsonl",
        [
            {"type": "file-history-snapshot", "messageId": "m"},
            {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": "hi"}},
        ],
    ),
    ("a Claude Code session", "s.json", {"loglines": [{"type": "user", "message": {"role": "user", "content": "hi"}}]}),
    (
        "Claude Code's stream of JSON lines",
        "o.jsonl",
        [{"type": "system", "subtype": "init", "session_id": "s"}, {"type": "result", "subtype": "success"}],
    ),
    ("a Codex rollout", "r.jsonl", [{"timestamp": "2026", "type": "session_meta", "payload": {"id": "s"}}] * 2),
    (
        "a Codex rollout",
        "old.jsonl",
        [{"id": "s", "timestamp": "2025", "instructions": None}, {"record_type": "state"}],
    ),
    ("a Codex rollout", "e.jsonl", [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}]),
    ("a Who&When record", "w.json", {"is_correct": False, "ground_truth": "x", "mistake_step": "1", "history": TALK}),
    (
        "a SWE-agent trajectory",
        "i.traj",
        {"environment": "main", "trajectory": [{"action": "ls", "observation": "a"}], "history": [], "info": {}},
    ),
    ("a SWE-agent trajectory", "demo.traj", {"history": [{"role": "system", "content": "S", "agent": "main"}]}),
    ("OpenHands events", "v1.json", [{"kind": "MessageEvent", "source": "user", "llm_message": TALK[0]}]),
    ("OpenHands events", "output.jsonl", [{"instance_id": "i", "history": [{"source": "user", "action": "message"}]}]),
    ("an Inspect log", "log.json", {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": []}),
    ("an Inspect log", "sample.json", {"id": 1, "epoch": 1, "input": "q", "target": "4", "messages": TALK}),
    ("tau2-bench results", "tau2.json", {"timestamp": "2026", "info": {}, "tasks": [], "simulations": []}),
    (
        "tau2-bench results",
        "sim.json",
        {"id": "s", "task_id": "4", "trial": 0, "termination_reason": "user_stop", "messages": TALK},
    ),
    ("a Gemini CLI session", "g.json", {"sessionId": "s", "projectHash": "h", "messages": [{"type": "user"}]}),
    ("an OpenCode export", "oc.json", {"info": {"id": "s"}, "messages": [{"info": {"role": "user"}, "parts": []}]}),
    ("LangSmith runs", "ls.jsonl", [{"id": "r", "run_type": "llm", "dotted_order": "2026", "inputs": {}}] * 2),
    ("OTLP traces", "otlp.json", {"resourceSpans": [{"scopeSpans": []}]}),
    ("Aider's benchmark results", "aider.json", {"instance_id": "i", "model_patch": "", "all_results": []}),
]


@pytest.mark.parametrize(("name", "file", "value"), INPUTS)
def test_a_refusal_says_what_the_file_looks_like_and_what_to_do(
    tmp_path: Path, name: str, file: str, value: Any
) -> None:
    """The format is named as not read yet, in one sentence with the way to those that are."""
    attempts, problems = pooled(written(tmp_path / file, value))
    assert attempts == []
    what = f"it looks like {name}, a format that is not read yet; {SIMPLE_FORMAT}"
    assert problems == [Problem(ProblemKind.UNRECOGNISED, file, what)]


@pytest.mark.parametrize("format_name", [reader.NAME for reader in FILE_READERS])
@pytest.mark.parametrize(("name", "file", "value"), INPUTS)
def test_a_named_format_makes_no_empty_attempt_of_a_foreign_file(
    tmp_path: Path, name: str, file: str, value: Any, format_name: str
) -> None:
    """Where no turn is recognised, the file is an error that says what it looks like; never an attempt."""
    attempts, problems = pooled(written(tmp_path / file, value), format_name)
    assert all(attempt.steps for attempt in attempts)
    if not attempts:
        what = f"holds records, but none is a turn of this format; it looks like {name}"
        assert problems == [Problem(ProblemKind.NO_TURNS, file, what)]


def test_every_name_is_tested() -> None:
    """Each format of the table has an input above."""
    assert {name for name, _, _ in INPUTS} == {foreign.name for foreign in FOREIGN}


def test_what_looks_like_nothing_has_no_name(tmp_path: Path) -> None:
    """A file of no shape that is known is refused without a guess."""
    shapeless: list[Any] = [None, 7, "x", [], {}, {"history": None}, {"eval": 1, "samples": []}]
    assert set(map(name_of, shapeless)) == {""}
    _, problems = pooled(written(tmp_path / "a.json", {"hello": 1}))
    assert problems == [
        Problem(ProblemKind.UNRECOGNISED, "a.json", f"no known format claims it; {SIMPLE_FORMAT}"),
    ]


def test_files_that_are_no_json_are_named_where_their_beginning_tells(tmp_path: Path) -> None:
    """Aider's chat history and Inspect's own log files are no JSON; a compressed file has to be unpacked."""
    history = written(tmp_path / ".aider.chat.history.md", "\n# aider chat started at 2026-01-01 10:00:00\n\n#### hi\n")
    log, packed = tmp_path / "log.eval", tmp_path / "packed.json"
    log.write_bytes(b"PK\x03\x04rest")
    packed.write_bytes(gzip.compress(b"{}"))
    whats = [pooled(file)[1][0].what for file in (history, log, packed)]
    assert whats[0].startswith("it looks like an Aider chat history, a format that is not read yet")
    assert whats[1].startswith("it looks like an Inspect log, a format that is not read yet")
    assert whats[2] == "compressed: unpack it first"


@pytest.mark.shared
def test_real_files_are_named(shared: Path) -> None:
    """Each real recording of a format that is not read is called by its name, by content alone."""
    from bestofn.readers.document import load_document

    expected = {
        "aider": {"Aider's benchmark results", ""},
        "autogen-whowhen": {"a Who&When record"},
        "claude-code": {"a Claude Code session"},
        "claude-stream-json": {"Claude Code's stream of JSON lines"},
        "codex": {"a Codex rollout"},
        "gemini-cli": {"a Gemini CLI session"},
        "inspect-eval": {"an Inspect log"},
        "langsmith": {"LangSmith runs"},
        "opencode": {"an OpenCode export"},
        "openhands": {"OpenHands events"},
        "otel-genai": {"OTLP traces"},
        "swe-agent-traj": {"a SWE-agent trajectory", ""},
        "mini-swe-agent": {""},
        "tau-bench": {""},
        "mast-ag2": {""},
        "mast-metagpt-etc": {""},
    }
    for folder, names in expected.items():
        files = [file for file in (shared / "samples" / folder).iterdir() if file.suffix in SUFFIXES]
        assert {looks_like(load_document(file)) for file in files} == names, folder


@pytest.mark.shared
def test_no_real_file_gives_an_empty_attempt_under_a_wrong_format(shared: Path) -> None:
    """With `chat` asked for, the folders of other formats give errors and no attempt."""
    for folder in ("inspect-eval", "autogen-whowhen", "claude-code", "codex", "tau-bench", "atif-harbor"):
        attempts, problems = pooled(shared / "samples" / folder, "chat")
        assert attempts == []
        assert {problem.kind for problem in problems} == {ProblemKind.NO_TURNS}, folder
