"""Renders one recorded run for a judge: the task whole if it can be, the beginning in brief, and above all the end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestofn.rendering.entries import Entry, entries, instruction
from bestofn.rendering.page import Frame, Run, compose
from bestofn.rendering.rendered import Rendered
from bestofn.rendering.tokens import tokenizer_for
from bestofn.rendering.words import Words, load_words
from bestofn.trajectory import EndingState, Trajectory

_LAST = 8
"""Last texts that have more than full weight, the very last one twice as much."""
_DECAY = 12.0
"""Texts before those after which the weight has halved."""
_FIRST = 2
"""First texts that are kept as long as the end has room for a few."""
_FIRST_SIZE = 0.5
"""Share of the room of a text at the end that they get."""
_OPENING = 0.3
"""Weight of the texts after these, falling."""
_OPENING_DECAY = 3.0


def render(
    trajectory: Trajectory,
    budget_tokens: int,
    *,
    model: str | None = None,
    reasoning: bool = False,
    redact: bool = True,
    key: bytes = b"",
) -> Rendered:
    """The run as a judge reads it. What is asked of the judge is to follow it.

    The same run gives the same text, and a greater budget never shows less of the run.

    Parameters
    ----------
    budget_tokens
        Most tokens of the whole text, frame included.
    model
        The judge, for its token table; see `tokens.tokenizer_for` for how exact that is.
    reasoning
        Also show what the agent thought. Off: a judge is to grade what was done and left behind, and thinking is
        long, is not recorded by most harnesses, and persuades. A note says how much was left out.
    redact
        Take secrets out. Turn it off only where the judge runs on this machine.
    key
        Secret that makes the nonce unforeseeable, of up to 64 bytes. The text changes with it.

    Raises UsageError where the budget is too small to show anything.
    """
    words = load_words()
    task, found, thought = texts_of(trajectory, words, reasoning=reasoning)
    run = whole_run(trajectory, found, thought, words)
    tokens = tokenizer_for(model)
    return compose(Frame(words.preface_run, task), [run], budget_tokens, tokens, words, redact=redact, key=key)


def texts_of(trajectory: Trajectory, words: Words, *, reasoning: bool) -> tuple[str, list[Entry], int]:
    """The task, the run's texts without it, and the characters of reasoning left out."""
    found, thought = entries(trajectory, words, reasoning=reasoning)
    task, index = instruction(trajectory, found)
    if index is not None:
        found = found[:index] + found[index + 1 :]
    return task, found, thought


def whole_run(trajectory: Trajectory, found: Sequence[Entry], thought: int, words: Words, label: str = "") -> Run:
    """The run with weights: full for the last texts, falling towards the middle, a little at the start."""
    place = np.arange(len(found), dtype=np.float64)
    from_end = place[::-1]
    ending = np.where(
        from_end < _LAST, 2.0 - from_end / _LAST, 1.0 / (1.0 + np.maximum(from_end - _LAST, 0.0) / _DECAY)
    )
    weights = np.maximum(ending, _OPENING / (1.0 + place / _OPENING_DECAY))
    first = (place < _FIRST) & (weights < 1.0)
    return Run(
        found,
        np.where(first, 1.0, weights),
        np.where(first, _FIRST_SIZE, 1.0),
        label,
        before=notes_before(trajectory, words, thought),
        after=notes_after(trajectory, words),
        thought=thought,
    )


def notes_before(trajectory: Trajectory, words: Words, thought: int) -> list[str]:
    """What a judge must know of the recording: what it cannot hold, and what is left out by choice."""
    coverage, notes = trajectory.coverage, []
    if not coverage.whole_texts:
        notes.append(words.notes["partial_texts"])
    if not coverage.messages:
        notes.append(words.notes["no_messages"])
    if not coverage.commands:
        notes.append(words.notes["no_commands"])
    if not coverage.observations:
        notes.append(words.notes["no_observations"])
    if thought:
        notes.append(words.notes["reasoning"].format(characters=f"{thought:,}"))
    return notes


def notes_after(trajectory: Trajectory, words: Words) -> list[str]:
    """How the run ended, where the recording tells."""
    state = trajectory.ending.state
    return [] if state is EndingState.UNKNOWN else [words.notes[state.name.lower()]]
