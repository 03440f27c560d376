"""What a command was for is read off its words."""

from __future__ import annotations

import time
from typing import Any

import pytest

from bestofn.featurize.activity import activities, is_shell, prose
from bestofn.trajectory import Actor, Command, Step

SHELL = [
    ("cat > a.py <<'EOF'\nimport pytest\nmake test\nEOF", "edit"),
    ("cat > a.py <<'EOF'\nprint(1)\nEOF\npython3 a.py", "edit check"),
    ("python3 - <<'PY'\nimport json\nPY", "check"),
    ("python3 - <<'PY'\nopen('a.txt', 'w').write('x')\nPY", "check edit"),
    ("sed -i 's/a/b/' conf", "edit"),
    ("sed 's/a/b/' conf", "other"),
    ("sed -n 1,5p conf", "read"),
    ("echo hi >> notes.md", "edit"),
    ("echo hi | tee /etc/motd", "edit"),
    ("make 2>&1 | tee /dev/null", "check"),
    ("apply_patch <<'EOF'\n*** Begin Patch\nEOF", "edit"),
    ("git commit -am x && git status", "edit read"),
    ("git -C /app checkout main", "edit"),
    ("ls -la && cat x", "read read"),
    ("awk '$1 > 5' f", "read"),
    ("python3 -c 'print(1 > 0)'", "check"),
    ("./run > /dev/null 2>&1", "check"),
    ("./run > out.txt", "check edit"),
    ("./run > /tmp/x.txt", "check"),
    ("FOO=1 timeout 60 pytest -q", "check"),
    ("cd /app && cargo test --release", "check"),
    ("bash -lc 'make check'", "check"),
    ("curl -s http://localhost:8080/", "check"),
    ("curl -O https://example.org/x.tgz", "other"),
    ("pip install pytest", "other"),
    ("rm -rf build", "other"),
    ("echo make test", "other"),
    ("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "end"),
    ("exit", "end"),
    ("", "other"),
]


@pytest.mark.parametrize(("line", "expected"), SHELL)
def test_shell_lines(line: str, expected: str) -> None:
    """A shell line does what its commands do, in their order."""
    assert " ".join(activities(Command(line))) == expected
    assert " ".join(activities(Command(line, "execute_bash"))) == expected


TOOLS: list[tuple[str, dict[str, Any], str]] = [
    ("Write", {}, "edit"),
    ("apply_patch", {}, "edit"),
    ("replace", {}, "edit"),
    ("str_replace_editor", {"command": "str_replace"}, "edit"),
    ("str_replace_editor", {"command": "view"}, "read"),
    ("update_reservation_flights", {}, "edit"),
    ("mcp__files__read_file", {}, "read"),
    ("Grep", {}, "read"),
    ("get_user_details", {}, "read"),
    ("run_tests", {}, "check"),
    ("ipython", {}, "check"),
    ("submit", {}, "end"),
    ("mark_task_complete", {}, "end"),
    ("attempt_completion", {}, "end"),
    ("TodoWrite", {}, "note"),
    ("update_plan", {}, "note"),
    ("think", {}, "note"),
    ("skill", {}, "other"),
    ("transfer_to_human_agents", {}, "other"),
    ("frobnicate", {}, "other"),
]


@pytest.mark.parametrize(("tool", "arguments", "expected"), TOOLS)
def test_tool_names(tool: str, arguments: dict[str, Any], expected: str) -> None:
    """A tool does what the first telling word of its name says; an unknown one is no check."""
    assert " ".join(activities(Command("{}", tool, arguments))) == expected


@pytest.mark.parametrize(
    "tool", ["", "bash", "Bash", "execute_bash", "run_shell_command", "container.exec", "terminal"]
)
def test_shell_tools_are_known(tool: str) -> None:
    """Their text is a shell line."""
    assert is_shell(tool)


@pytest.mark.parametrize("tool", ["Read", "bashful", "python", "exchange_items", "shellfish"])
def test_other_tools_are_no_shell(tool: str) -> None:
    """Their text is not read as a shell line."""
    assert not is_shell(tool)


PROSE = [
    ("Create main.py", "edit"),
    ("Multi-patch main.py (2 edits)\n1 1 | x", "edit"),
    ("Read main.py:1-20", "read"),
    ("Search for 'x' in '*.py'", "read"),
    ("Remove out.txt", "other"),
    ("I will create main.py now.", None),
]


@pytest.mark.parametrize(("message", "expected"), PROSE)
def test_steps_of_prose(message: str, expected: str | None) -> None:
    """A step without commands whose first line reports a tool's work did that work."""
    assert prose(Step(Actor.AGENT, message)) == expected


def test_a_step_with_a_command_is_no_prose() -> None:
    """Its command says what it did."""
    assert prose(Step(Actor.AGENT, "Create main.py", commands=(Command("ls"),))) is None


@pytest.mark.parametrize("text", ["sh " * 300_000 + "<<", "<<A\n" * 200_000, "'" * 1_000_000 + ">", "; sudo" * 150_000])
def test_hostile_commands_are_read_in_linear_time(text: str) -> None:
    """A megabyte of near misses is classified in a moment."""
    start = time.process_time()
    assert activities(Command(text))
    assert time.process_time() - start < 60.0  # a hang takes hours: this is no stopwatch
