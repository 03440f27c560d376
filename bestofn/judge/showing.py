"""Puts recorded runs into a criterion's prompt: redacted, fenced, cut to a budget, in an order drawn from content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bestofn.criterion import Criterion, Prompt, Sees
from bestofn.judge.codes import is_listing, listed_ids
from bestofn.llm.request import Message, Request
from bestofn.rendering.rendered import Rendered
from bestofn.trajectory import Trajectory

ROOMY = 1000
"""Tokens a run, and for the task and the words around twice that, with which every record has room: it takes some 100
tokens a run to say what was left out."""


@dataclass(frozen=True)
class Showing:
    """How runs are shown and how long an answer may be. All of it shapes the prompts, and so the cached answers."""

    tokens: int = 24_000
    """Most tokens of the record in one prompt, all attempts in it together; the criterion's words come on top.

    Counted in cl100k_base whatever the model, so that every machine builds the same prompt and finds its answer.
    """
    answer_tokens: int = 1024
    """Most tokens of an answer, reasoning included."""
    seed: int = 0
    """Where random orders start."""
    reasoning: bool = False
    """Whether the agent's thinking is shown."""
    redact: bool = True
    """Whether secrets are taken out."""

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Showing:
        """What `dataclasses.asdict` gave; fields of other versions are left out."""
        return cls(**{name: value for name, value in stored.items() if name in cls.__dataclass_fields__})


class Shown(NamedTuple):
    """A prompt about recorded runs, and what had to be done to show them."""

    prompt: Prompt
    record: Rendered


def fingerprint(trajectory: Trajectory) -> str:
    """A name made of what happened in a run alone: no id, no path, no outcome.

    Random orders are drawn from it, so that a renamed file or another label changes no prompt.
    """
    content = (trajectory.instruction, *trajectory.steps)
    return hashlib.blake2b(repr(content).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def render_run(trajectory: Trajectory, sees: Sees, showing: Showing) -> Rendered:
    """One run, as much of it as a criterion sees."""
    from bestofn.rendering.final_state import final_state
    from bestofn.rendering.transcript import render

    draw = final_state if sees is Sees.END else render
    return draw(
        trajectory,
        showing.tokens,
        reasoning=showing.reasoning,
        redact=showing.redact,
    )


def render_several(
    trajectories: Sequence[Trajectory], order: Sequence[int], sees: Sees, showing: Showing, *, salt: str = ""
) -> Rendered:
    """Several runs of one task side by side, in the order asked. Another salt gives the same prompt in other marks."""
    from bestofn.rendering.attempts import View, side_by_side

    return side_by_side(
        trajectories,
        showing.tokens,
        order=order,
        view=View.FINAL if sees is Sees.END else View.RUN,
        reasoning=showing.reasoning,
        redact=showing.redact,
        key=salt.encode(),
    )


@dataclass(frozen=True)
class Room:
    """What a prompt must show within its budget."""

    runs: int
    """How many runs stand in it."""
    sees: Sees
    showing: Showing

    @property
    def tight(self) -> bool:
        """Whether the budget may be too small."""
        return self.showing.tokens < ROOMY * (self.runs + 2)

    def check(self, runs: Sequence[Trajectory]) -> None:
        """Compose the record of the first runs of a task; what must be shown hardly differs between them.

        Raises UsageError where it does not fit.
        """
        shown = runs[: self.runs]
        if self.runs == 1:
            render_run(shown[0], self.sees, self.showing)
        else:
            render_several(shown, range(self.runs), self.sees, self.showing)


def rooms(criteria: Sequence[Criterion], runs: int, showing: Showing) -> list[Room]:
    """What the prompts of criteria about so many runs must show, one for each way of seeing a run."""
    return [Room(runs, sees, showing) for sees in dict.fromkeys(criterion.sees for criterion in criteria)]


def ask_run(criterion: Criterion, record: Rendered) -> Shown:
    """The prompt of a criterion about one run."""
    return Shown(_headed(criterion.about_run(record.task, record.runs[0]), record), record)


def ask_several(criterion: Criterion, record: Rendered) -> Shown:
    """The prompt of a criterion about the runs of a record, numbered as they stand in it."""
    return Shown(_headed(criterion.about_attempts(record.task, record.runs), record), record)


def to_request(shown: Shown, criterion: Criterion, showing: Showing, about: str = "") -> Request:
    """The request for a prompt. `about` is for reports and reaches neither the model nor the cache key."""
    return Request(
        (Message("user", shown.prompt.text),),
        shown.prompt.tags,
        criterion=criterion.name,
        trajectory=about,
        max_output_tokens=showing.answer_tokens,
        words=listed_ids(criterion) if is_listing(criterion) else (),
    )


def _headed(prompt: Prompt, record: Rendered) -> Prompt:
    """The prompt with the reading aid to the record's marks above it."""
    return prompt._replace(prefix=f"{record.legend.strip()}\n\n{prompt.prefix}")
