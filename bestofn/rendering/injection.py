"""Plants the hostile texts of `data/injections` in recorded runs, to measure whether a judge falls for them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from bestofn.content import content_root
from bestofn.errors import ContentError
from bestofn.trajectory import Actor, Command, Observation, Step, Trajectory

GUESS = "bakitoru"
"""What stands for the nonce where the attacker knows its form and not its value."""
_REQUIRED = frozenset({"name", "hope", "where", "text"})
_KEYS = _REQUIRED | {"language"}


class Where(StrEnum):
    """Places in a run that an attacker may reach."""

    MESSAGE = "message"
    """The agent's last message."""
    OUTPUT = "output"
    """The last output."""
    MIDDLE = "middle"
    """An output half-way through the run."""
    COMMAND = "command"
    """The last command."""


@dataclass(frozen=True)
class Attack:
    """One hostile text."""

    name: str
    kind: str
    """Its class: the name of its file."""
    hope: str
    """What the attacker hopes that the judge does."""
    where: tuple[Where, ...]
    """Places in which it would stand in real life."""
    text: str
    language: str = "en"


@lru_cache(maxsize=1)
def load_attacks() -> tuple[Attack, ...]:
    """The built-in attacks, class by class."""
    files = sorted((content_root("data") / "injections").glob("*.toml"))
    return tuple(attack for file in files for attack in read_attacks(file))


def read_attacks(path: Path) -> Iterator[Attack]:
    """The attacks of a file. Raises ContentError naming the place for whatever does not hold to the schema."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ContentError(f"{path}: not readable as TOML: {error}") from error
    for number, entry in enumerate(content.get("attack", ()), start=1):
        where = f"{path.name}, attack {number} '{entry.get('name', '?')}'"
        if not _REQUIRED <= entry.keys() <= _KEYS:
            raise ContentError(
                f"{where}: has the keys {', '.join(sorted(entry))}; an attack has {', '.join(sorted(_REQUIRED))} "
                "and may have language"
            )
        try:
            places = tuple(Where(place) for place in entry["where"])
        except ValueError as error:
            raise ContentError(f"{where}: {error}: places are {', '.join(Where)}") from error
        yield Attack(entry["name"], path.stem, entry["hope"], places, entry["text"], entry.get("language", "en"))


def inject(trajectory: Trajectory, attack: Attack, where: Where, *, nonce: str = GUESS) -> Trajectory:
    """A copy of a run with the attack in it.

    Parameters
    ----------
    where
        The place; a run that has none like it gets a step of its own at the end.
    nonce
        What the attacker takes for the word in our marks. The hardest attacker has read the prompt of the clean run
        and gives that prompt's own nonce.

    The copy has the clean run's id, task and label, and no digest: it is no record of anything.
    """
    text = attack.text.replace("{nonce}", nonce)
    steps = list(trajectory.steps)
    if where is Where.MESSAGE:
        _into_message(steps, text)
    elif where is Where.COMMAND:
        _into_command(steps, text)
    else:
        _into_output(steps, text, last=where is Where.OUTPUT)
    return replace(trajectory, body=tuple(steps), reread=None, digest="")


def _into_message(steps: list[Step], text: str) -> None:
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        if step.actor is Actor.AGENT and step.message.strip():
            steps[index] = step._replace(message=f"{step.message}\n{text}")
            return
    steps.append(Step(Actor.AGENT, message=text))


def _into_command(steps: list[Step], text: str) -> None:
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        if step.commands:
            last = step.commands[-1]
            longer = Command(f"{last.text}\n{text}", last.tool, None)
            steps[index] = step._replace(commands=(*step.commands[:-1], longer))
            return
    steps.append(Step(Actor.AGENT, commands=(Command(text),)))


def _into_output(steps: list[Step], text: str, *, last: bool) -> None:
    places = _outputs(steps)
    if not places:
        steps.append(Step(Actor.AGENT, commands=(Command("cat NOTES"),), observations=(Observation(text, 0),)))
        return
    index, number = places[-1] if last else places[len(places) // 2]
    step = steps[index]
    seen = list(step.observations)
    seen[number] = seen[number]._replace(text=f"{seen[number].text}\n{text}")
    steps[index] = step._replace(observations=tuple(seen))


def _outputs(steps: Sequence[Step]) -> list[tuple[int, int]]:
    """(step, observation) of every output."""
    return [(index, number) for index, step in enumerate(steps) for number in range(len(step.observations))]
