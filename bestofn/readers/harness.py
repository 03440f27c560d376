"""Harnesses whose recordings have ways of their own, by the many spellings of their names."""

from __future__ import annotations

import re
from typing import Any

from bestofn.readers.values import mapping, name

FORGE = "forge"
TERMINUS = "terminus"
TERMINUS_2 = "terminus-2"
MINI_SWE_AGENT = "mini-swe-agent"
OPENHANDS = "openhands"
CLAUDE_CODE = "claude-code"

_NAMES = (
    (re.compile(r"forge(?:-?code)?"), FORGE),
    (re.compile(r"terminus-?2.*"), TERMINUS_2),
    (re.compile(r"terminus.*"), TERMINUS),
    (re.compile(r"mini-swe.*|swe-agent-mini.*"), MINI_SWE_AGENT),
    (re.compile(r"open-?hands.*"), OPENHANDS),
    (re.compile(r"claude-?code.*"), CLAUDE_CODE),
)
_GAPS = re.compile(r"[\s_]+")


def harness_of(trajectory: Any) -> str:
    """The harness that a trajectory names as its agent: one of the names above, or its own in small letters."""
    agent = mapping(trajectory).get("agent")
    own = _GAPS.sub("-", (name(mapping(agent).get("name")) or name(agent)).lower())
    return next((harness for pattern, harness in _NAMES if pattern.fullmatch(own)), own)
