"""Return codes that a harness wrote, and none that a program talked of."""

from __future__ import annotations

from typing import Any

import pytest

from bestofn.readers.exit_code import Output, code_in, output_of


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Exit code 2\nno rule", 2),
        ("Exit code: 0\nWall time: 1 s\nOutput:\nok", 0),
        ("Chunk ID: 7f\nWall time: 0.1 s\nProcess exited with code 127\nOutput:\nno such", 127),
        ("<returncode>1</returncode>\n<output>\nx</output>", 1),
        ("out\n[exit_code] 3", 3),
        ("out\n[The command completed with exit code 0.]", 0),
        ("out\n[The command completed with exit code 1.]\n[Current working directory: /app]", 1),
        ("Output: x\nExit Code: 4\nSignal: 0", 4),
    ],
)
def test_marks_at_the_edges_count(text: str, code: int) -> None:
    """The harness writes its mark on a line of its own at the beginning or the end."""
    assert output_of(text) == Output(text, code)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the program failed with exit code 1",
        "assert result.returncode == 1",
        "The exit code: 1 means trouble",
        "Exit code 1 is returned when ...",
        "x\n" * 400 + "Exit code: 1\n" + "x\n" * 400,
        '{"returncode": "1", "output": "x"}',
        '{"returncode": 1, "output": ["x"]}',
        '{"returncode": 1, "output"',
        '{"x": "exit_code"}',
    ],
)
def test_talk_of_exit_codes_is_none(text: str) -> None:
    """Words inside an output, or an object of another shape, are left as they are."""
    assert output_of(text) == Output(text, None)


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ('{"returncode": 0, "output": "ok"}', Output("ok", 0)),
        ('{"returncode": 1, "output": "a", "stderr": "b"}', Output("a\nb", 1)),
        ('{"output": "ok", "metadata": {"exit_code": 2}}', Output("ok", 2)),
        ('{"returncode": -1, "output": "", "exception_info": "action was not executed"}',
         Output("action was not executed", None)),
        ('{"returncode": -1, "output": "", "exception_info": "timed out"}', Output("timed out", -1)),
    ],
)  # fmt: skip
def test_an_object_of_code_and_output_is_taken_apart(text: str, output: Output) -> None:
    """The output is the text; a code of -1 for a call that never ran is no code."""
    assert output_of(text) == output


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"exit_code": 1}, 1),
        ({"exitCode": 0}, 0),
        ({"metadata": {"returncode": 3}}, 3),
        ({"exit_code": True}, None),
        ({"exit_code": "1"}, None),
        ({"exit_code": None}, None),
        ([], None),
        (None, None),
    ],
)
def test_fields_of_a_record(fields: Any, code: int | None) -> None:
    """Only a whole number under a known name is a code."""
    assert code_in(fields) == code
