"""Names the formats that are met often and not read yet, so that a refusal can say what a file looks like.

Nothing is read from such a file: each name stands beside one look at a record's keys.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bestofn.readers.document import Document
from bestofn.readers.draft import Source
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.values import items, mapping, string

Record = dict[str, Any]

_CODEX_LINES = frozenset({"session_meta", "turn_context", "event_msg", "response_item"})
_CLAUDE_LINES = frozenset({"user", "assistant"})
_OPENHANDS_EVENTS = ("MessageEvent", "ActionEvent", "ObservationEvent", "SystemPromptEvent")
_LOOKED_AT = 20
"""Records of a file that are looked at: sessions may begin with lines of another kind."""
_MAGIC = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"BZh", b"PK\x03\x04")
"""First bytes of gzip, zstd, xz, bzip2 and zip files."""
COMPRESSED = frozenset({".gz", ".zst", ".xz", ".bz2", ".zip"})
"""Endings of compressed files."""
SIMPLE_FORMAT = "`bestofn pools formats` lists what is read, and where the simple format to convert to is described"
"""The way out for a file that no reader claims."""


class Foreign(NamedTuple):
    """One format that is not read."""

    name: str
    """With its article, as a sentence needs it."""
    fits: Callable[[Record], bool]
    """True for a record of it: the value of the file, one of its list, or one of its lines."""


def _has(record: Record, *keys: str) -> bool:
    return all(key in record for key in keys)


def _first(record: Record, key: str) -> Record:
    """The first item of a list in a record, empty where it is no object."""
    return mapping(next(iter(items(record.get(key))), None))


def _is_claude_code(record: Record) -> bool:
    """A line of a session, or the whole session as the web exports it."""
    if _has(record, "loglines"):
        return True
    kind, ids = string(record.get("type")), ("uuid", "sessionId", "parentUuid", "session_id")
    return (kind in _CLAUDE_LINES and isinstance(record.get("message"), dict) and any(i in record for i in ids)) or (
        kind == "summary" and "leafUuid" in record
    )


def _is_claude_stream(record: Record) -> bool:
    return record.get("type") == "system" and record.get("subtype") == "init" and "session_id" in record


def _is_codex(record: Record) -> bool:
    """An envelope of a rollout, the first line of the older ones, or an item of a run's output."""
    return (
        (string(record.get("type")) in _CODEX_LINES and isinstance(record.get("payload"), dict))
        or (_has(record, "id", "timestamp", "instructions") and "messages" not in record)
        or (record.get("type") == "thread.started" and "thread_id" in record)
    )


def _is_swe_agent(record: Record) -> bool:
    """Turns of action and observation, or a history whose items name their kind or agent."""
    turn, said = _first(record, "trajectory"), _first(record, "history")
    return _has(turn, "action", "observation") or (
        "role" in said and ("message_type" in said or "agent" in said) and "ground_truth" not in record
    )


def _is_openhands(record: Record) -> bool:
    """An event of the SDK, or a record of the older output with its history of actions."""
    event = _first(record, "history")
    return (string(record.get("kind")) in _OPENHANDS_EVENTS and "source" in record) or (
        "source" in event and ("action" in event or "observation" in event)
    )


def _is_inspect(record: Record) -> bool:
    """A log, or one sample of it."""
    if isinstance(record.get("eval"), dict) and ("samples" in record or "plan" in record or "status" in record):
        return True
    return "epoch" in record and not {"input", "target", "scores"}.isdisjoint(record)


def _is_tau2(record: Record) -> bool:
    """A run's results, or one simulation of them."""
    return isinstance(record.get("simulations"), list) or (
        _has(record, "task_id", "termination_reason") and not {"trial", "seed", "reward_info"}.isdisjoint(record)
    )


def _is_whowhen(record: Record) -> bool:
    return "history" in record and not {"mistake_agent", "mistake_step", "is_correct", "is_corrected"}.isdisjoint(
        record
    )


def _is_opencode(record: Record) -> bool:
    message = _first(record, "messages")
    return isinstance(message.get("info"), dict) and isinstance(message.get("parts"), list)


FOREIGN: tuple[Foreign, ...] = (
    Foreign("a Claude Code session", _is_claude_code),
    Foreign("Claude Code's stream of JSON lines", _is_claude_stream),
    Foreign("a Codex rollout", _is_codex),
    Foreign("a Who&When record", _is_whowhen),
    Foreign("a SWE-agent trajectory", _is_swe_agent),
    Foreign("OpenHands events", _is_openhands),
    Foreign("an Inspect log", _is_inspect),
    Foreign("tau2-bench results", _is_tau2),
    Foreign("a Gemini CLI session", lambda record: _has(record, "sessionId", "projectHash")),
    Foreign("an OpenCode export", _is_opencode),
    Foreign(
        "LangSmith runs", lambda record: _has(record, "run_type") and ("dotted_order" in record or "trace_id" in record)
    ),
    Foreign("OTLP traces", lambda record: isinstance(record.get("resourceSpans"), list)),
    Foreign("Aider's benchmark results", lambda record: _has(record, "model_patch", "all_results")),
)
"""The formats, most particular first."""


def name_of(record: Any) -> str:
    """The format that a record looks like, with its article; empty where none fits."""
    if not isinstance(record, dict):
        return ""
    return next((foreign.name for foreign in FOREIGN if foreign.fits(record)), "")


def looks_like(document: Document) -> str:
    """The format that a document looks like, judged by its first records; empty where none fits."""
    if document.lines is not None:
        values = [line.value for line in document.lines[:_LOOKED_AT]]
    elif isinstance(document.value, list):
        values = document.value[:_LOOKED_AT]
    else:
        values = [document.value]
    return next(filter(None, map(name_of, values)), "")


def text_looks_like(path: Path) -> str:
    """The format of a file that is no JSON, by its first bytes; empty where none fits. Raises OSError."""
    with path.open("rb") as file:
        head = file.read(4096)
    if head.startswith(b"PK\x03\x04") and path.suffix.lower() == ".eval":
        return "an Inspect log"
    lines = islice(head.splitlines(), 20)
    return "an Aider chat history" if any(line.startswith(b"# aider chat started at ") for line in lines) else ""


def is_compressed(path: Path) -> bool:
    """True for a file that has to be unpacked first, by its first bytes. Raises OSError."""
    with path.open("rb") as file:
        return file.read(6).startswith(_MAGIC)


def refusal(looks_like: str) -> str:
    """Why a file is left out, and what to do."""
    if looks_like:
        return f"it looks like {looks_like}, a format that is not read yet; {SIMPLE_FORMAT}"
    return f"no known format claims it; {SIMPLE_FORMAT}"


def no_json(source: Source, error: str) -> Problem:
    """What to say of a file that holds no JSON."""
    looks_like = text_looks_like(source.path)
    if looks_like:
        return Problem(ProblemKind.UNRECOGNISED, source.relative, refusal(looks_like))
    if is_compressed(source.path):
        return compressed(source)
    return Problem(ProblemKind.UNREADABLE, source.relative, error)


def compressed(source: Source) -> Problem:
    """What to say of a packed file."""
    return Problem(ProblemKind.UNRECOGNISED, source.relative, "compressed: unpack it first")
