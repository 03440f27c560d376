"""JSON and JSON lines as people's tools leave them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestofn.readers.document import digest, load_document, parse_json
from bestofn.readers.problem import Problem, ProblemKind

GOOD = b'{"a": 1}'


def lines(path: Path, raw: bytes) -> tuple[list[Any], list[tuple[ProblemKind, int]]]:
    """Values of the lines of a file, and (kind, line) of what is wrong with it."""
    path.write_bytes(raw)
    document = load_document(path)
    return [line.value for line in document.lines or ()], [(kind, number) for kind, number, _ in document.problems]


def test_a_torn_line_is_named_and_what_is_whole_on_it_is_kept(tmp_path: Path) -> None:
    """A write that was cut and joined by the next loses only itself; every good line after it is read."""
    path = tmp_path / "a.jsonl"
    found, problems = lines(path, GOOD + b'\n{"type":"x","nu{"b": 2}\n' + GOOD + b"\n")
    assert found == [{"a": 1}, {"b": 2}, {"a": 1}]
    assert problems == [(ProblemKind.BAD_LINE, 2)]
    [problem] = load_document(path).trouble("a.jsonl")
    assert problem.where == "a.jsonl, line 2"
    assert problem.what.endswith("; 1 whole record on it kept")


def test_two_records_on_one_line_are_two_records(tmp_path: Path) -> None:
    """Records without a newline between them are both read, and the line is named."""
    found, problems = lines(tmp_path / "a.jsonl", b'{"a": 1}{"b": 2} {"c": 3\n{"d": 4}\n')
    assert found == [{"a": 1}, {"b": 2}, {"d": 4}]
    assert problems == [(ProblemKind.BAD_LINE, 1)]


def test_a_file_that_stops_in_a_record_is_truncated(tmp_path: Path) -> None:
    """All complete lines are read, and the last one is named as cut."""
    path = tmp_path / "a.jsonl"
    found, problems = lines(path, GOOD + b'\n{"a": ')
    assert found == [{"a": 1}]
    assert problems == [(ProblemKind.TRUNCATED, 2)]
    assert list(load_document(path).trouble("a.jsonl")) == [
        Problem(ProblemKind.TRUNCATED, "a.jsonl, line 2", "the file stops in the middle of this record")
    ]


def test_lines_have_no_longest_length(tmp_path: Path) -> None:
    """A line of two megabytes, such as an image makes, is read like any other."""
    found, problems = lines(tmp_path / "a.jsonl", GOOD + b'\n{"data": "' + b"A" * 2_000_000 + b'"}\n')
    assert len(found[1]["data"]) == 2_000_000
    assert problems == []


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"x": NaN}', {"x": math.nan}),
        (b"[Infinity, -Infinity]", [math.inf, -math.inf]),
        (b'"\\ud83d cut \\udcb2"', "\ufffd cut \ufffd"),
        (b'{"k\\ud83d": NaN}', {"k\ufffd": math.nan}),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ('{"a": "é"}'.encode("utf-16"), {"a": "é"}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        (b"12345678901234567890123", 1.2345678901234568e22),
    ],
)
def test_what_strict_parsers_refuse_is_read(raw: bytes, value: Any) -> None:
    """NaN, lone surrogates, byte order marks and stray bytes are accepted; what cannot be written is replaced."""
    assert repr(parse_json(raw)) == repr(value) or parse_json(raw) == value


@pytest.mark.parametrize(
    "raw", [b"[" * 100_000, b'{"a":' * 5000 + b"1" + b"}" * 5000, b"", b"hello", b"1" * 5000 + b"x"]
)
def test_what_is_no_json_is_a_value_error(raw: bytes) -> None:
    """Neither depth nor length breaks the parser; the error is always the same one."""
    with pytest.raises(ValueError, match=r".+"):
        parse_json(raw)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_a_value_error(raw: bytes) -> None:
    """No file's content raises anything else."""
    try:
        value = parse_json(raw)
    except ValueError:
        return
    json.dumps(value, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("a.json", b" \n", "the file is empty"),
        ("a.jsonl", b"hello\nyou\n", "no line of it is JSON"),
        ("a.jsonl", b"\x00" * 50, "no line of it is JSON"),
        ("a.jsonl", b"5\n", None),
        ("a.json", b'{\n"a": [\n1,\n2', "not JSON: Expecting ',' delimiter: line 4 column 2 (char 13)"),
    ],
)
def test_a_file_with_nothing_to_read_says_why(tmp_path: Path, name: str, raw: bytes, message: str | None) -> None:
    """Empty files and files that are no JSON are told apart; a single value is a value."""
    (tmp_path / name).write_bytes(raw)
    if message is None:
        assert load_document(tmp_path / name).value == 5
    else:
        with pytest.raises(ValueError, match=r".+") as error:
            load_document(tmp_path / name)
        assert str(error.value) == message


def test_the_ending_does_not_decide_alone(tmp_path: Path) -> None:
    """Lines under .json, and a value over many lines under .jsonl, are read as what they are."""
    (tmp_path / "a.json").write_bytes(GOOD + b"\n" + GOOD + b'\n{"a"')
    (tmp_path / "b.jsonl").write_bytes(b'{\n  "a": [\n    1\n  ]\n}\n')
    assert len(load_document(tmp_path / "a.json").lines or ()) == 2
    assert load_document(tmp_path / "b.jsonl").value == {"a": [1]}


def test_a_digest_tells_bytes_apart() -> None:
    """Length and two checksums; parts count as one text."""
    assert digest(b"abc") == "3-352441c2024d0127"
    assert digest(b"ab", b"c") == digest(b"a", b"bc") != digest(b"abd")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("case", "count", "problems"),
    [
        ("01-jsonl-torn-line-midfile", 4, [(ProblemKind.BAD_LINE, 3)]),
        ("02-jsonl-truncated-tail", 3, [(ProblemKind.TRUNCATED, 4)]),
        ("10-base64-image-huge-line", 3, []),
        ("11-lone-surrogate", 2, []),
    ],
)
def test_broken_sessions_lose_only_what_is_broken(
    shared: Path, case: str, count: int, problems: list[tuple[ProblemKind, int]]
) -> None:
    """Cases 01, 02, 10 and 11: torn, cut and huge lines and lone surrogates."""
    document = load_document(shared / "cases" / case / "session.jsonl")
    assert len(document.lines or ()) == count
    assert [(kind, number) for kind, number, _ in document.problems] == problems
    json.dumps([line.value for line in document.lines or ()], ensure_ascii=False).encode("utf-8")


@pytest.mark.shared
def test_case_18_is_read_with_its_nan(shared: Path) -> None:
    """Bare NaN and -Infinity do not stop the reading."""
    samples = load_document(shared / "cases" / "18-nan-and-infinity" / "log.json").value["samples"]
    assert [math.isfinite(sample["scores"]["s"]["value"]) for sample in samples[:2]] == [False, False]
