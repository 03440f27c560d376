"""Diagnoses: which codes each run shows, compiled as a question for a model, or read from an AdaMAST judgments file."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from bestofn.content import find
from bestofn.criteria import SUFFIX, sections
from bestofn.criteria_file import emit
from bestofn.errors import ContentError
from bestofn.judge.codes import ENTRY
from bestofn.judge.question import Question, TaskRuns
from bestofn.judge.score import EMPTY, Column, Score
from bestofn.judge.showing import Room
from bestofn.llm.letters import State
from bestofn.taxonomy import Taxonomy
from bestofn.trajectory import Trajectory

BASE = "diagnosis"
"""The built-in criteria file whose words are used."""
FILE = "diagnosis.md"
SCHEMA_VERSION = 2
"""The version of judgments files that is read."""
NO_DIAGNOSIS = "no diagnosis"
"""Reason of a missing score: the file holds nothing about the attempt."""
JUDGE_ERROR = "judge error"
"""Reason of a missing score: the diagnosis lists no code and does not say that none applies."""


def compile_diagnosis(taxonomy: Taxonomy) -> str:
    """The criteria file that asks which of a taxonomy's codes a run shows. Nothing is written."""
    from bestofn.compiler import describe

    header, parts = sections(find("criteria", BASE, SUFFIX).read_text(encoding="utf-8"))
    listed = "\n".join(f"- {describe(code)}" for code in taxonomy.codes)
    return emit(
        (part._replace(template=_with_list(part.template, listed)) if part.keys else part for part in parts),
        title=f"Codes of {taxonomy.title}",
        about="\n".join(header).split("\n\n")[1],
        taxonomy=f"{taxonomy.name} {taxonomy.digest}",
    )


class Diagnosis(NamedTuple):
    """What a judgments file says of one trace."""

    codes: tuple[str, ...]
    """Ids of the codes that fired, each once."""
    error: str = ""
    """Why this is no diagnosis; '' where it is one."""


@dataclass(frozen=True)
class Judgments:
    """A judgments file."""

    path: Path
    mode: str
    """`default` (all codes of a trace) or `single` (one code a diagnosis)."""
    judge: str
    """The model that diagnosed, as the file says."""
    by_trace: Mapping[str, Diagnosis]
    hash: str
    """First 8 hex digits of the file's SHA-256."""


def read_judgments(path: Path) -> Judgments:
    """AdaMAST's `judgments.json`, schema_version 2.

    A diagnosis without codes that does not say that none applies is an error of the judge, no clean run.

    Raises ContentError for a file that cannot be read as one.
    """
    try:
        raw = path.read_bytes()
        content = orjson.loads(raw)
    except (OSError, orjson.JSONDecodeError) as error:
        raise ContentError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("diagnoses"), list):
        raise ContentError(f"{path}: holds no list 'diagnoses': give a judgments.json as AdaMAST writes it")
    version = content.get("schema_version")
    if version != SCHEMA_VERSION:
        raise ContentError(f"{path}, field 'schema_version': is {version!r}, and {SCHEMA_VERSION} is what can be read")
    mode = content.get("mode", "default")
    if mode not in ("default", "single"):
        raise ContentError(f"{path}, field 'mode': is {mode!r}; there are default and single")
    by_trace: dict[str, Diagnosis] = {}
    for number, entry in enumerate(content["diagnoses"], start=1):
        trace = entry.get("trace_id") if isinstance(entry, dict) else None
        if not isinstance(trace, str | int):
            raise ContentError(f"{path}, diagnosis {number}: has no 'trace_id'")
        found = _single(entry) if mode == "single" else _default(entry)
        known = by_trace.get(str(trace), Diagnosis(()))
        by_trace[str(trace)] = Diagnosis(tuple(dict.fromkeys((*known.codes, *found.codes))), known.error or found.error)
    judge = content.get("judge")
    named = str(judge.get("model", "")) if isinstance(judge, dict) else ""
    return Judgments(path, mode, named, by_trace, hashlib.sha256(raw).hexdigest()[:8])


@dataclass
class Recorded:
    """Gives every attempt the number of codes that a judgments file lists for it; asks nobody anything.

    A trace belongs to the attempt of that id, else to the one whose file has that path, name or stem.
    """

    judgments: Judgments
    rounds: int = field(default=1, init=False)
    _column: Column = field(init=False)
    _used: Counter[str] = field(default_factory=Counter[str], init=False)

    def __post_init__(self) -> None:
        self._column = Column(f"llm_n_codes@{self.judgments.hash}", direction=-1)

    def groups(self, round: int, task: TaskRuns) -> Iterator[list[Question]]:
        """No questions."""
        for run in task.empty:
            self._column.scores[task.attempt(run)] = Score.missing(EMPTY, "the recording holds no turn of the agent")
        for run in task.runs:
            self._column.scores[task.attempt(run)] = self._score(run)
        return iter(())

    def calls(self, round: int, n: int) -> int:
        """None."""
        return 0

    def rooms(self, n: int) -> list[Room]:
        """There is no prompt."""
        return []

    def columns(self) -> list[Column]:
        """One column: the number of fired codes."""
        return [self._column]

    def remarks(self) -> list[str]:
        """Traces that belong to no attempt."""
        file, left = self.judgments.path.name, [t for t in self.judgments.by_trace if not self._used[t]]
        out = [f"codes of {len(self._used)} attempts from {file}, diagnosed by {self.judgments.judge or 'unknown'}"]
        if left:
            out.append(f"{len(left)} traces of {file} belong to no attempt of the pool, such as '{left[0]}'")
        return out

    def _score(self, run: Trajectory) -> Score:
        name = Path(run.origin.path)
        names = (
            run.id,
            f"{run.task}/{run.id}",
            *((run.origin.path, name.name, name.stem) if run.origin.record is None else ()),
        )
        trace = next((name for name in names if name in self.judgments.by_trace), None)
        if trace is None:
            return Score.missing(NO_DIAGNOSIS, f"{self.judgments.path.name} holds nothing about it")
        self._used[trace] += 1
        found = self.judgments.by_trace[trace]
        if found.error:
            return Score.missing(JUDGE_ERROR, found.error)
        return Score(State.OK, float(len(found.codes)), detail=", ".join(found.codes))


def _default(entry: Mapping[str, Any]) -> Diagnosis:
    modes = entry.get("failure_modes")
    codes = [mode.get("code") for mode in modes if isinstance(mode, dict)] if isinstance(modes, list) else []
    named = tuple(dict.fromkeys(str(code) for code in codes if code))
    if not named and entry.get("none_apply") is not True:
        return Diagnosis((), "it lists no failure mode and does not say that none applies")
    return Diagnosis(named)


def _single(entry: Mapping[str, Any]) -> Diagnosis:
    code = entry.get("code")
    if not isinstance(code, str) or not code.strip():
        return Diagnosis((), "it names no code")
    return Diagnosis(() if code.strip().casefold() in ("none", "n/a") else (code.strip(),))


def _with_list(template: str, listed: str) -> str:
    """The template with its list of codes exchanged."""
    lines = template.split("\n")
    entries = [at for at, line in enumerate(lines) if ENTRY.match(line)]
    end = entries[-1] + 1
    while end < len(lines) and lines[end].startswith("  "):
        end += 1
    return "\n".join([*lines[: entries[0]], listed, *lines[end:]])
