"""The command of a tool call: a shell line where there is a single obvious one, else the arguments' text."""

from __future__ import annotations

from typing import Any

import pytest

from bestofn.readers.calls import command_of


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("bash", {"command": "ls -la"}, "ls -la"),
        ("bash", '{"command": "ls -la", "timeout": 5}', "ls -la"),
        ("run", {"cmd": "ls", "workdir": "/app", "description": "look"}, "ls"),
        ("shell", {"command": ["bash", "-lc", "cd x && ls"]}, "cd x && ls"),
        ("shell", {"command": ["/bin/sh", "-c", "ls"]}, "ls"),
        ("shell", {"command": ["ls", "a b"]}, "ls 'a b'"),
        ("terminal", {"keystrokes": "ls\n", "duration": 0.1}, "ls\n"),
        ("terminal", {"commands": ["cd x", "ls"]}, "cd x\nls"),
        ("python", {"code": "print(1)"}, "print(1)"),
        ("str_replace_editor", '{"command": "view", "path": "/a"}', '{"command": "view", "path": "/a"}'),
        ("deploy", {"script": "a.sh", "args": ["x"]}, '{"script":"a.sh","args":["x"]}'),
        ("bash", {"command": "ls", "cmd": "pwd"}, '{"command":"ls","cmd":"pwd"}'),
        ("bash", {"command": 7}, '{"command":7}'),
        ("bash", {"command": []}, '{"command":[]}'),
        ("get", '{"city": "Os', '{"city": "Os'),
        ("get", "", ""),
        ("get", None, ""),
        ("get", ["Oslo"], '["Oslo"]'),
        ("get", 10**30, "1" + "0" * 30),
    ],
)
def test_the_text_of_a_command(tool: str, arguments: Any, text: str) -> None:
    """What ran, as a person would type it, or the arguments as they were recorded."""
    assert command_of(tool, arguments).text == text


def test_only_objects_are_parsed() -> None:
    """`arguments` is the object, whether it came parsed or as text, and None for all else."""
    assert command_of("get", '{"a": 1}').arguments == {"a": 1}
    assert command_of("get", {"a": 1}).arguments == {"a": 1}
    assert all(command_of("get", raw).arguments is None for raw in ("[1]", "null", '"a"', "", "{", None, [1], 7))


def test_arguments_nested_beyond_reason_are_kept_as_text() -> None:
    """Text that no parser takes is text."""
    deep = '{"a":' * 100_000
    assert command_of("get", deep).text == deep
