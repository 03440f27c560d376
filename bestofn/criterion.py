"""One criterion: a question to an LLM about recorded runs, and how it is put into words.

Templates know variables, `{{name}}`, and nothing else: no logic, and one pass, so that `{{...}}` inside a value stays
as it is. What was recorded stands between lines with a mark that the recording cannot hold.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from bestofn.errors import ContentError

VARIABLE = re.compile(r"\{\{([a-z_]+)\}\}")
"""A variable in a template."""
_MARK_DIGITS = 8


class Kind(StrEnum):
    """How many runs a criterion shows at once."""

    POINTWISE = "pointwise"
    """One run, one letter."""
    PAIRWISE = "pairwise"
    """Two runs of one task, one letter: A the first is better, T the second."""
    LISTWISE = "listwise"
    """All runs of one task, a letter each."""


class Sees(StrEnum):
    """How much of a run a criterion shows."""

    WHOLE = "whole"
    """All of it, cut where it does not fit."""
    END = "end"
    """Its end: last steps, final message, last files and checks."""


class Prompt(NamedTuple):
    """What a model is sent, in two pieces, and where its answer will stand."""

    prefix: str
    """The same, byte for byte, for all pointwise criteria that see the same of a run, so that servers can cache it."""
    question: str
    """What is asked; the end of the prompt."""
    tags: tuple[str, ...]
    """Names of the tags, without brackets, that will hold a letter each: one, or one an attempt in the order shown."""

    @property
    def text(self) -> str:
        """The whole prompt."""
        return f"{self.prefix}\n\n{self.question}"


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question, with all the text around it. The letter A is best everywhere, and T is worst."""

    name: str
    """Begins with `llm_`."""
    kind: Kind
    sees: Sees
    preamble: str
    """Template of what stands before the question."""
    attempt: str
    """Template around each of several attempts; empty for pointwise criteria."""
    question: str
    """Template of the question, the answer format in its place."""

    @property
    def identity(self) -> str:
        """8 hex digits: the hash of every word that a model is shown beside the run itself, and of how much it sees."""
        parts = (self.kind, self.sees, self.preamble, self.attempt, self.question)
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:8]

    @property
    def column(self) -> str:
        """The name of its column, such as `llm_health_task@3f2a91c0`: a reworded criterion is another column."""
        return f"{self.name}@{self.identity}"

    def about_run(self, instruction: str, trajectory: str) -> Prompt:
        """The prompt of a pointwise criterion: the run first, the question last.

        Parameters
        ----------
        instruction, trajectory
            The task and the run as text, as much of it as the criterion `sees`.
        """
        if self.kind is not Kind.POINTWISE:
            raise ContentError(f"criterion '{self.name}' is {self.kind}: it is asked about several attempts, not one")
        mark = fence(instruction, trajectory)
        tag = f"score_{mark}"
        values = {"fence": mark, "instruction": instruction, "trajectory": trajectory, "tag": tag}
        return self._prompt(values, (tag,))

    def about_attempts(self, instruction: str, states: Sequence[str]) -> Prompt:
        """The prompt of a pairwise or listwise criterion. The order is the caller's to shuffle.

        Parameters
        ----------
        instruction
            The task as text.
        states
            Each attempt as text, as much of it as the criterion `sees`: 2 for pairwise, 2 or more for listwise. They
            are numbered from 1 in this order.
        """
        if self.kind is Kind.POINTWISE:
            raise ContentError(f"criterion '{self.name}' is {self.kind}: it is asked about one run at a time")
        if len(states) < 2 or (self.kind is Kind.PAIRWISE and len(states) > 2):
            wanted = "2" if self.kind is Kind.PAIRWISE else "2 or more"
            raise ContentError(f"criterion '{self.name}' is {self.kind}: it takes {wanted} attempts, not {len(states)}")
        mark = fence(instruction, *states)
        frames = [
            substitute(self.attempt, {"fence": mark, "number": str(number), "state": state}, self.name)
            for number, state in enumerate(states, 1)
        ]
        tag = f"score_{mark}"
        tags = (tag,) if self.kind is Kind.PAIRWISE else tuple(f"{tag}_{n}" for n in range(1, len(states) + 1))
        values = {
            "fence": mark,
            "instruction": instruction,
            "attempts": "\n\n".join(frames),
            "count": str(len(states)),
            "tag": tag,
            "tags": "\n".join(f"<{name}>X</{name}>" for name in tags),
        }
        return self._prompt(values, tags)

    def _prompt(self, values: Mapping[str, str], tags: tuple[str, ...]) -> Prompt:
        pieces = []
        for template in (self.preamble, self.question):
            wanted = variables(template)
            pieces.append(substitute(template, {n: v for n, v in values.items() if n in wanted}, self.name))
        return Prompt(pieces[0], pieces[1], tags)


def fence(*texts: str) -> str:
    """A mark of 8 hex digits that stands in none of the texts, the same for the same texts.

    It is made of the texts themselves, so whoever wrote into them could not foresee it.
    """
    digits = hashlib.sha256("\x1f".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    while any(digits[:_MARK_DIGITS] in text for text in texts):
        digits = hashlib.sha256(digits.encode()).hexdigest()
    return digits[:_MARK_DIGITS]


def variables(template: str) -> list[str]:
    """Names of the variables of a template, each once, in order of appearance."""
    return list(dict.fromkeys(VARIABLE.findall(template)))


def substitute(template: str, values: Mapping[str, str], where: str) -> str:
    """The template with each `{{name}}` replaced, in one pass: braces inside a value stay as they are.

    Raises ContentError that lists all variables without a value and all values without a variable.
    """
    wanted = variables(template)
    missing = [name for name in wanted if name not in values]
    unused = [name for name in values if name not in wanted]
    if missing or unused:
        clauses = [f"has no value for {listed(missing)}"] if missing else []
        clauses += [f"is given {listed(unused)} and does not use it"] if unused else []
        raise ContentError(f"the template of '{where}' {' and '.join(clauses)}; its variables are {listed(wanted)}")
    return VARIABLE.sub(lambda match: values[match[1]], template)


def listed(names: Sequence[str]) -> str:
    """Variables as an error shows them."""
    return ", ".join(f"{{{{{name}}}}}" for name in names) or "none"
