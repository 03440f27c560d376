"""One tool call as a command: the shell line where the arguments hold a single obvious one, else their text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from bestofn.readers.document import parse_json
from bestofn.readers.text import clean
from bestofn.readers.values import json_text
from bestofn.trajectory import Command

LINE_KEYS = ("command", "cmd", "bash", "script", "code", "keystrokes", "commands")
"""Arguments that hold what is run."""
_ASIDE = frozenset({
    "cwd", "workdir", "working_dir", "working_directory", "directory", "dir", "shell", "env",
    "timeout", "timeout_ms", "timeout_seconds", "duration", "wait", "block", "blocking", "background",
    "is_background", "run_in_background", "is_input", "login", "session", "session_id", "security_risk",
    "description", "explanation", "reason", "justification", "purpose", "thought", "thoughts", "summary",
})  # fmt: skip
"""Arguments that only say where, how long or why something is run."""
_SHELL_TOOL = re.compile(
    r"(?i)(?:.*[_.:/-])?(?:bash|shell|sh|zsh|terminal)|(?:run|exec|execute)_(?:command|bash|shell)"
)
_INTERPRETER = re.compile(r"(?:.*/)?(?:ba|z|da|k)?sh")


def command_of(tool: str, arguments: Any) -> Command:
    """The command for a call of a tool.

    Parameters
    ----------
    tool
        The tool's name as recorded.
    arguments
        JSON text, as the OpenAI format has it, or an object, or whatever a harness left there. Text that is no
        object is kept as it is; only an object becomes `Command.arguments`.
    """
    text, parsed = _taken_apart(arguments)
    line = shell_line(tool, parsed) if parsed else None
    return Command(clean(text if line is None else line), tool, parsed)


def _taken_apart(arguments: Any) -> tuple[str, dict[str, Any] | None]:
    """The arguments as text, and as an object where they are one."""
    if isinstance(arguments, str):
        if arguments.lstrip().startswith("{"):
            try:
                value = parse_json(arguments.encode("utf-8", errors="replace"))
            except ValueError:
                return arguments, None
            return arguments, value if isinstance(value, dict) else None
        return arguments, None
    if arguments is None:
        return "", None
    return json_text(arguments), arguments if isinstance(arguments, dict) else None


def shell_line(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """The line or code that a call runs, where its arguments hold exactly one and nothing else that matters.

    An editor's `command` (view, create, ...) stands beside a path, so it is no shell line.
    """
    keys = [key for key in LINE_KEYS if key in arguments]
    if len(keys) != 1:
        return None
    others = (value for key, value in arguments.items() if key != keys[0] and key not in _ASIDE)
    if not _SHELL_TOOL.fullmatch(tool) and any(isinstance(value, str | list | dict) for value in others):
        return None
    return _as_line(keys[0], arguments[keys[0]])


def _as_line(key: str, value: Any) -> str | None:
    """One text of a command that is text or a list of words."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        return None
    if key == "commands":
        return "\n".join(value)
    if key == "keystrokes":
        return " ".join(value)
    if len(value) == 3 and _INTERPRETER.fullmatch(value[0]) and re.fullmatch(r"-[a-z]*c", value[1]):
        return str(value[2])
    return shlex.join(value)
