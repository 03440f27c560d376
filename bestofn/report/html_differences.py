"""Where the attempts at one task part ways: the first command that is not the same, last words, what only one did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from bestofn.featurize.reading import Reading, shown
from bestofn.report.html_text import clipped, one_line

COMMAND = 240
"""Characters of a command that are shown."""
WORDS = 700
"""Characters of last words that are shown."""
OWN = 3
"""Commands that only one attempt ran, shown for each."""


class Run(NamedTuple):
    """What is kept of a run to compare it: its commands in order and its last words."""

    commands: tuple[str, ...]
    """Each in one line, without what differs only in blanks."""
    last_words: str
    """Its last message; '' where it has none."""


class Parting(NamedTuple):
    """How the attempts at a task differ, one entry an attempt where there are several."""

    shared: int
    """Commands that all attempts begin with."""
    nexts: tuple[str, ...]
    """Each attempt's first command after those; '' where it ran no more."""
    own: tuple[tuple[str, ...], ...]
    """Commands that only this attempt ran."""
    own_more: tuple[int, ...]
    """How many more of them there are."""
    last_words: tuple[str, ...]


def run_of(reading: Reading) -> Run:
    """What `parting` needs of a run."""
    words = (reading.steps[index].message for index in reversed(reading.agent_steps))
    return Run(
        tuple(" ".join(shown(call.command).split())[:2000] for call in reading.calls),
        clipped(next((message for message in words if message.strip()), ""), WORDS),
    )


def parting(runs: Sequence[Run]) -> Parting:
    """How several runs differ."""
    shared = 0
    while all(shared < len(run.commands) for run in runs) and len({run.commands[shared] for run in runs}) == 1:
        shared += 1
    counted = Counter(command for run in runs for command in dict.fromkeys(run.commands))
    own = [[c for c in dict.fromkeys(run.commands[shared:]) if counted[c] == 1] for run in runs]
    return Parting(
        shared,
        tuple(one_line(run.commands[shared], COMMAND) if shared < len(run.commands) else "" for run in runs),
        tuple(tuple(one_line(command, COMMAND) for command in commands[:OWN]) for commands in own),
        tuple(max(0, len(commands) - OWN) for commands in own),
        tuple(run.last_words for run in runs),
    )
