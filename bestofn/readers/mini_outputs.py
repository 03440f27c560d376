"""What mini-swe-agent shows its model after a command: the forms its templates give to output and return code."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import re2

from bestofn.readers.document import parse_json
from bestofn.readers.exit_code import output_of
from bestofn.readers.text import text_of
from bestofn.readers.values import mapping, number, return_code, string

_TAGGED = re.compile(
    r"\A\s*(?:<exception>(?P<exception>.*?)</exception>\s*)?<returncode>\s*(?P<code>-?\d{1,9})\s*</returncode>\s*",
    re.DOTALL,
)
_HEAD = re2.compile(r"(?s)<output_head>\n?(.*?)\n?</output_head>")
_TAIL = re2.compile(r"(?s)<output_tail>\n?(.*?)\n?</output_tail>")
_ELIDED = re.compile(r"<elided_chars>\s*(\d+)")
_TIMED_OUT = re.compile(r"\A\s*The last command <command>.*?</command> timed out", re.DOTALL)
_NOT_RUN = "action was not executed"
"""What stands beside a return code of -1 for a command that the end of the run kept from running."""


class Output(NamedTuple):
    """What one command gave."""

    text: str
    exit_code: int | None
    cut: bool = False
    """True where the model, and so the recording, was shown only its head and tail."""


def output(message: dict[str, Any]) -> Output | None:
    """The output that a message shows to the model, None where the message is no output."""
    text, extra = text_of(message.get("content", message.get("output"))), mapping(message.get("extra"))
    found = _tagged(text) or _from_json(text)
    if found is None:
        is_output = "returncode" in extra or "raw_output" in extra or message.get("role") == "tool"
        if not (is_output or message.get("type") == "function_call_output" or _TIMED_OUT.match(text)):
            return None
        found = Output(*output_of(text))
    if "returncode" in extra:
        found = found._replace(exit_code=return_code(extra["returncode"]))
    if found.exit_code == -1 and (_NOT_RUN in text or _NOT_RUN in string(extra.get("exception_info"))):
        found = found._replace(exit_code=None)
    return found


def _tagged(text: str) -> Output | None:
    """`<returncode>0</returncode><output>...</output>`, the usual form."""
    start = _TAGGED.match(text)
    if start is None:
        return None
    rest = text[start.end() :]
    head, tail, elided = _HEAD.search(rest), _TAIL.search(rest), _ELIDED.search(rest)
    if head is not None and tail is not None:
        return _of(_joined(head[1], tail[1], elided[1] if elided else ""), start["code"], start["exception"], cut=True)
    if rest.startswith("<output>"):
        rest = rest.removeprefix("<output>").removeprefix("\n")
        rest = rest.rpartition("</output>")[0].removesuffix("\n") if "</output>" in rest else rest
    return _of(rest, start["code"], start["exception"])


def _from_json(text: str) -> Output | None:
    """`{"returncode": 0, "output": "..."}`, or with `output_head` and `output_tail`."""
    if not text.lstrip().startswith("{") or '"returncode"' not in text:
        return None
    try:
        value = mapping(parse_json(text.encode("utf-8", errors="replace")))
    except ValueError:
        return None
    if "returncode" not in value:
        return None
    exception = string(value.get("exception_info"))
    if "output_head" in value or "output_tail" in value:
        elided = number(value.get("elided_chars"))
        shown = _joined(
            string(value.get("output_head")), string(value.get("output_tail")), f"{elided:.0f}" if elided else ""
        )
        return _of(shown, value["returncode"], exception, cut=True)
    return _of(text_of(value.get("output")), value["returncode"], exception)


def _of(text: str, code: Any, exception: str | None, *, cut: bool = False) -> Output:
    """An output with what the harness says of a command that broke."""
    return Output(f"{exception}\n{text}".strip("\n") if exception else text, return_code(code), cut)


def _joined(head: str, tail: str, elided: str) -> str:
    """Both ends of a long output."""
    return f"{head}\n[{elided or 'some'} characters not recorded]\n{tail}"
