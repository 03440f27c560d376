"""A trajectory as the page holds it: its texts in order, trimmed to a share of the room that is fair to all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from bestofn.featurize.reading import shown
from bestofn.report.html_text import visible
from bestofn.trajectory import Actor, Step

OVERHEAD = 24
"""Bytes that a text takes beside itself."""
LEAST = 200
"""Characters that a trimmed text keeps at least; where even that is too much, steps in the middle are left out."""
GAP = "gap"
"""Kind of the mark for steps that are left out."""
HEAD = 0.6
"""Share of a trimmed text's room that its beginning gets; its end gets the rest."""


class Part(NamedTuple):
    """One text of a step."""

    step: int
    """Counted from 1."""
    actor: str
    """Who speaks: the agent (by name where it has one), the user, the system."""
    kind: str
    """'said', 'thought', 'ran' or 'output'."""
    text: str
    note: str = ""
    """Such as an exit code that is not 0."""
    cut: int = 0
    """Characters left out of the text."""


class Kept(NamedTuple):
    """A trajectory's texts, whole or shortened."""

    parts: tuple[Part, ...]
    steps: int
    characters: int
    """Of the whole recording."""
    left_out: int
    """Characters left out."""

    @property
    def size(self) -> int:
        """Bytes that the texts take, near enough."""
        return sum(weight(part.text) for part in self.parts)


class Body(NamedTuple):
    """One trajectory for the page."""

    json: str
    """The texts, as JSON that can stand in a script element: no '<' in it."""
    steps: int
    characters: int
    """Of the whole recording."""
    trimmed: int
    """Characters that are left out here."""


def parts_of(steps: Sequence[Step]) -> list[Part]:
    """Every text of a trajectory in the order in which it stands there."""
    parts: list[Part] = []
    for number, step in enumerate(steps, 1):
        actor = step.name or str(step.actor)
        if step.reasoning.strip():
            parts.append(Part(number, actor, "thought", step.reasoning))
        if step.message.strip():
            parts.append(Part(number, actor, "said", step.message, step.note))
        answered: set[int] = set()
        for index, command in enumerate(step.commands):
            parts.append(Part(number, actor, "ran", shown(command)))
            for place, observation in enumerate(step.observations):
                if observation.command == index:
                    answered.add(place)
                    parts.append(Part(number, actor, "output", observation.text, _note(observation)))
        for place, observation in enumerate(step.observations):
            if place not in answered:
                who = actor if step.actor is Actor.AGENT else str(step.actor)
                parts.append(Part(number, who, "output", observation.text, _note(observation)))
    return parts


def _note(observation: Any) -> str:
    notes = []
    if observation.exit_code is not None and observation.exit_code != 0:
        notes.append(f"exit code {observation.exit_code}")
    if observation.cut:
        notes.append("cut in the recording itself")
    return ", ".join(notes)


def weight(text: str) -> int:
    """Bytes that a text takes on the page, near enough: '<' is written as six bytes."""
    return len(text.encode("utf-8", "replace")) + text.count("\n") + text.count('"') + 5 * text.count("<") + OVERHEAD


def fair(sizes: Sequence[int], budget: int) -> int:
    """The cap under which sizes sum to the budget at most: all that are smaller stay whole.

    Returns the largest size where all of them fit.
    """
    if sum(sizes) <= budget:
        return max(sizes, default=0)
    left, rest = budget, len(sizes)
    for size in sorted(sizes):
        if size * rest > left:
            return max(0, left // rest)
        left -= size
        rest -= 1
    return max(sizes, default=0)


def kept(steps: Sequence[Step], most: int) -> Kept:
    """A trajectory's texts in at most about `most` bytes."""
    parts = parts_of(steps)
    return shortened(Kept(tuple(parts), len(steps), sum(len(part.text) for part in parts), 0), most)


def shortened(whole: Kept, room: int) -> Kept:
    """The trajectory in about `room` bytes: its longest texts are trimmed first, then steps in its middle go."""
    if whole.size <= room:
        return whole
    parts, left_out = _ends(whole.parts, room)
    sizes = [weight(part.text) for part in parts]
    cap = fair(sizes, room)
    out: list[Part] = []
    for part, size in zip(parts, sizes, strict=True):
        text, cut = part.text, 0
        if size > cap and part.kind != GAP:
            text, cut = trimmed(text, max(LEAST, len(text) * cap // size))
        left_out += cut
        out.append(part._replace(text=text, cut=part.cut + cut))
    return Kept(tuple(out), whole.steps, whole.characters, whole.left_out + left_out)


def fitted(trajectories: Mapping[str, Kept], budget: int) -> dict[str, Body]:
    """Every trajectory in its fair share of the room: what is smaller than the share stays whole."""
    cap = fair([one.size for one in trajectories.values()], budget)
    while True:
        bodies = {name: _body(shortened(one, cap)) for name, one in trajectories.items()}
        if cap < LEAST or sum(len(made.json.encode()) for made in bodies.values()) <= budget:
            return bodies
        cap = cap * 15 // 16  # characters that take more room than they seemed to, as those that are written as numbers


def _body(one: Kept) -> Body:
    rows = [
        [part.step, visible(part.actor), part.kind, visible(part.text), visible(part.note), part.cut]
        for part in one.parts
    ]
    encoded = orjson.dumps({"steps": one.steps, "rows": rows}).decode().replace("<", "\\u003c")
    return Body(encoded, one.steps, one.characters, one.left_out)


def _ends(parts: Sequence[Part], room: int) -> tuple[Sequence[Part], int]:
    """All texts, or where there are too many even when trimmed, the first and the last; and the characters left out."""
    most = max(4, room // (LEAST + 2 * OVERHEAD))
    if len(parts) <= most:
        return parts, 0
    head = most // 2
    tail = len(parts) - (most - head)
    between = parts[head:tail]
    words = f"the {len(between):,} texts between these steps are left out here"
    gap = Part(parts[head].step, "", GAP, words)
    return [*parts[:head], gap, *parts[tail:]], sum(len(part.text) for part in between)


def trimmed(text: str, most: int) -> tuple[str, int]:
    """Beginning and end of a text with a mark between, and how many characters are left out."""
    if len(text) <= most:
        return text, 0
    head = int(most * HEAD)
    tail = most - head
    cut = len(text) - most
    return f"{text[:head]}\n\u2026 {cut:,} characters are left out here \u2026\n{text[-tail:]}", cut
