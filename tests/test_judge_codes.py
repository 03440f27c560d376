"""Codes that a run shows: read from an answer, from a judgments file, and compiled as a question for any taxonomy."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bestofn import criteria, taxonomy
from bestofn.errors import ContentError
from bestofn.judge.codes import fired_codes, is_listing, listed_ids, read_codes
from bestofn.judge.diagnosis import JUDGE_ERROR, NO_DIAGNOSIS, Recorded, compile_diagnosis, read_judgments
from bestofn.judge.question import TaskRuns
from bestofn.llm.answer import Completion, Missing, Reason
from bestofn.llm.letters import State
from bestofn.trajectory import Actor, Origin, Step, Trajectory

CODES = criteria.load("diagnosis").criterion("llm_codes")
TAG = "score_0a1b2c3d"


def answered(text: str, **fields: Any) -> Completion:
    """An answer with a text behind the tag."""
    return Completion(content=f"<{TAG}>{text}</{TAG}>", **fields)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("A.1", ("A.1",)),
        ("A.1, B.10 ,C.2", ("A.1", "B.10", "C.2")),
        ("b.3; B.3\nA.2.", ("B.3", "A.2")),
        ("none", ()),
        (" None. ", ()),
    ],
)
def test_ids_of_the_list_are_read(text: str, codes: tuple[str, ...]) -> None:
    """Each id once, in the order said, however they are parted."""
    assert fired_codes(answered(text), TAG, CODES) == codes
    assert read_codes(answered(text), TAG, CODES)[TAG].score == len(codes)


@pytest.mark.parametrize("text", ["", "X", "D.1", "A.1, A.99", "none of these", "A"])
def test_what_is_no_list_of_its_ids_is_missing(text: str) -> None:
    """An answer that names nothing of the list is no clean run."""
    score = read_codes(answered(text), TAG, CODES)[TAG]
    assert (score.state, score.reason) == (State.MISSING, Reason.OFF_SCALE)
    assert math.isnan(score.score)


def test_answers_that_are_none_are_missing_with_their_reason() -> None:
    """An outage, a refusal, an empty answer and one that was cut off each keep their name."""
    outcomes = [
        (Missing(Reason.GONE, "503"), Reason.GONE),
        (Completion(refusal="I cannot."), Reason.REFUSED),
        (Completion(content=" "), Reason.EMPTY),
        (Completion(content=f"<{TAG}>A.1, A", finish_reason="length"), Reason.CUT_OFF),
    ]
    for outcome, reason in outcomes:
        score = read_codes(outcome, TAG, CODES)[TAG]
        assert (score.state, score.reason) == (State.MISSING, reason)


def test_the_last_list_counts() -> None:
    """A model that quotes the form before it answers is read at its end."""
    text = Completion(content=f"Form: <{TAG}>X</{TAG}>. So: <{TAG}>C.1</{TAG}>")
    assert fired_codes(text, TAG, CODES) == ("C.1",)


def test_the_shipped_question_lists_every_code_of_its_taxonomy() -> None:
    """Ids as in `terminal-bench`, and the header names the taxonomy as it is now."""
    read = taxonomy.load("terminal-bench")
    assert listed_ids(CODES) == tuple(code.id for code in read.codes)
    assert criteria.load("diagnosis").about["taxonomy"] == f"terminal-bench {read.digest}"
    assert is_listing(CODES)
    assert not any(is_listing(criterion) for criterion in criteria.load("terminal").criteria)


@pytest.mark.parametrize("name", taxonomy.names())
def test_a_question_is_compiled_for_every_taxonomy(name: str, tmp_path: Path) -> None:
    """The file is sound, lists all codes, and keeps the words of the shipped one."""
    read = taxonomy.load(name)
    path = tmp_path / "diagnosis.md"
    path.write_text(compile_diagnosis(read))
    assert criteria.problems(path) == []
    found = criteria.load(path).criterion("llm_codes")
    assert listed_ids(found) == tuple(code.id for code in read.codes)
    assert found.preamble == CODES.preamble
    assert found.question.split("\n\n")[0] == CODES.question.split("\n\n")[0]


# Judgments files


def judgments(path: Path, diagnoses: list[dict[str, Any]], **fields: Any) -> Path:
    """A judgments file of AdaMAST's second schema."""
    head = {"schema_version": 2, "mode": "default", "judge": {"provider": "p", "model": "m-1"}}
    path.write_text(json.dumps({**head, "trace_count": len(diagnoses), "diagnoses": diagnoses, **fields}))
    return path


def mode(code: str) -> dict[str, str]:
    """One failure mode of a diagnosis."""
    return {"code": code, "name": "N", "evidence": "e", "confidence": "high", "severity": "major"}


@pytest.fixture
def run(attempt: Callable[..., Trajectory]) -> Callable[..., Trajectory]:
    """Makes a run with an id."""
    return lambda name, **fields: attempt(Step(Actor.AGENT, message="x"), id=name, **fields)


def test_a_judgments_file_gives_the_number_of_codes(tmp_path: Path, run: Callable[..., Trajectory]) -> None:
    """Each code once; none only where the file says so; else it is the judge's error, and no clean run."""
    path = judgments(
        tmp_path / "judgments.json",
        [
            {"trace_id": "r1", "failure_modes": [mode("A.1"), mode("B.2"), mode("A.1")], "none_apply": False},
            {"trace_id": "r2", "failure_modes": [], "none_apply": True},
            {"trace_id": "r3", "failure_modes": [], "none_apply": False},
            {"trace_id": "elsewhere", "failure_modes": [mode("A.1")]},
        ],
    )
    method = Recorded(read_judgments(path))
    task = TaskRuns("t1", (run("r1"), run("r2"), run("r3"), run("r4")))
    assert list(method.groups(0, task)) == []
    [column] = method.columns()
    found = [column.scores[("t1", f"r{n}")] for n in range(1, 5)]
    assert [(s.state, s.reason) for s in found] == [
        (State.OK, ""),
        (State.OK, ""),
        (State.MISSING, JUDGE_ERROR),
        (State.MISSING, NO_DIAGNOSIS),
    ]
    assert [s.value for s in found[:2]] == [2.0, 0.0]
    assert found[0].detail == "A.1, B.2"
    assert column.direction == -1
    assert method.remarks() == [
        "codes of 3 attempts from judgments.json, diagnosed by m-1",
        "1 traces of judgments.json belong to no attempt of the pool, such as 'elsewhere'",
    ]


def test_single_mode_has_one_code_a_diagnosis(tmp_path: Path, run: Callable[..., Trajectory]) -> None:
    """Several diagnoses of one trace add up; `none` fires nothing."""
    entries = [{"trace_id": "r1", "code": "A.1"}, {"trace_id": "r1", "code": "C.2"}, {"trace_id": "r2", "code": "none"}]
    read = read_judgments(judgments(tmp_path / "j.json", entries, mode="single"))
    assert read.by_trace["r1"].codes == ("A.1", "C.2")
    assert read.by_trace["r2"] == ((), "")


def test_a_trace_is_found_by_the_file_of_its_attempt(tmp_path: Path, run: Callable[..., Trajectory]) -> None:
    """Where the file is named instead of the attempt, its path, name or stem will do."""
    path = judgments(tmp_path / "j.json", [{"trace_id": "run7", "failure_modes": [mode("A.1")]}])
    method = Recorded(read_judgments(path))
    one = run("other-name", origin=Origin("deep/run7.json", "test"))
    list(method.groups(0, TaskRuns("t1", (one,))))
    assert method.columns()[0].scores[("t1", "other-name")].value == 1.0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "holds no list 'diagnoses'"),
        ('{"diagnoses": [], "schema_version": 1}', "field 'schema_version': is 1, and 2 is what can be read"),
        ('{"diagnoses": [], "schema_version": 2, "mode": "x"}', "field 'mode': is 'x'; there are default and single"),
        ('{"diagnoses": [{}], "schema_version": 2}', "diagnosis 1: has no 'trace_id'"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: str, message: str) -> None:
    """The error names the file and the place."""
    path = tmp_path / "j.json"
    path.write_text(content)
    with pytest.raises(ContentError, match=message):
        read_judgments(path)
