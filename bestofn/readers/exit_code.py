"""Finds the return code that a harness wrote into a tool's output, and only where it wrote it by rule.

A program's own talk of exit codes is not one: the marks count at the edges of the output, on lines of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

EDGE = 400
"""Characters at each end of an output in which a mark may stand."""

_CODE = r"(-?\d{1,10})"
_AT_START = re.compile(
    rf"\s*(?:<returncode>{_CODE}</returncode>|(?:Error: )?Exit code:? {_CODE}(?:\n|\Z)"
    rf"|(?:[A-Z][A-Za-z ]{{0,20}}: [^\n]{{0,80}}\n){{0,3}}Process exited with code {_CODE}(?:\n|\Z))"
)
_AT_END = re.compile(
    rf"(?:^|\n)(?:\[exit_code\] {_CODE}|\[(?:The c|C)ommand (?:completed|finished) with exit code {_CODE}\.?\]"
    rf"|\(?[Ee]xit [Cc]ode: {_CODE}\)?)(?=\n|\Z)"
)
_FIELDS = ("exit_code", "exitCode", "returncode", "return_code")
_NOT_RUN = "action was not executed"
"""What a harness says of the last call of a run, beside a return code of -1 that means nothing."""


class Output(NamedTuple):
    """What a call printed, and its return code where the recording tells."""

    text: str
    code: int | None


def output_of(text: str) -> Output:
    """An output as recorded, taken apart where it is a JSON object of a return code and an output."""
    if text.startswith("{"):
        found = _from_json(text)
        if found is not None:
            return found
    start = _AT_START.match(text[:EDGE])
    if start is not None:
        return Output(text, _number(start))
    # The last mark is the harness's own: what stands before it is the program's.
    ends = list(_AT_END.finditer(text[-EDGE:]))
    return Output(text, _number(ends[-1]) if ends else None)


def code_in(fields: Any) -> int | None:
    """The return code among a record's fields, None where there is none."""
    if not isinstance(fields, Mapping):
        return None
    for key in _FIELDS:
        value = fields.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    for key in ("metadata", "tool_use_result"):
        if isinstance(fields.get(key), Mapping):
            return code_in(fields[key])
    return None


def _from_json(text: str) -> Output | None:
    """An object such as {"returncode": 0, "output": "..."}, None for any other text."""
    if not any(f'"{key}"' in text for key in _FIELDS):
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict):
        return None
    code = code_in(value)
    output = value.get("output", value.get("stdout"))
    if code is None or not isinstance(output, str):
        return None
    said = [value.get(key) for key in ("stderr", "exception_info", "error")]
    rest = "\n".join(part for part in said if isinstance(part, str) and part)
    if code == -1 and _NOT_RUN in f"{output}{rest}":
        return Output(rest or output, None)
    return Output(f"{output}\n{rest}" if output and rest else output or rest, code)


def _number(match: re.Match[str]) -> int:
    """The one group that matched."""
    return int(next(group for group in match.groups() if group is not None))
