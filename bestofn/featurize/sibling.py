"""Features of an attempt among the other attempts at its task: equal answers, shared numbers, outputs and commands.

While a pool streams, each attempt leaves a digest of at most a few kilobytes and none of its text. Similarity of two
sets is estimated from the smallest hashes of each (bottom-k sketches, Broder 1997), which does not depend on order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
import re2
from numpy.typing import NDArray

from bestofn.featurize.answer import final_answer
from bestofn.featurize.feature import Feature, Kind
from bestofn.featurize.patterns import encode
from bestofn.featurize.reading import Reading
from bestofn.featurize.structural import n_characters
from bestofn.trajectory import Channel

Sketch = NDArray[np.uint32]

SKETCH_SIZE = 128
"""Hashes kept of each set: a similarity is known to within about 0.05."""
TAIL = 16_384
"""Characters at the end of a text that are looked at for numbers and lines."""
LAST_OUTPUTS = 3
"""Outputs at the end of a run that its output agreement compares."""
_NUMBER = re2.compile(r"\d+(?:\.\d+)?")


class Digest(NamedTuple):
    """What an attempt leaves behind to be compared with its siblings; None where it was not asked for or not known."""

    answer: str | None = None
    """The final answer; empty where the run states none."""
    length: float = math.nan
    numbers: Sketch | None = None
    outputs: Sketch | None = None
    commands: Sketch | None = None


Take = Callable[[Reading], object]
Compare = Callable[[Sequence[Digest]], list[float]]


class Sibling(NamedTuple):
    """A feature, the part of the digest it needs, and the comparison of all digests of a task."""

    feature: Feature
    part: str
    compare: Compare


def digest(reading: Reading, parts: Iterable[str]) -> Digest:
    """The asked parts of an attempt's digest; nothing of its content where the recording is empty."""
    if reading.empty:
        return Digest()
    return Digest(**{part: _TAKE[part](reading) for part in parts})  # type: ignore[arg-type]  # each part has its type


# What is taken from a run.


def _answer(reading: Reading) -> str | None:
    """The final answer; that there is none is known only of whole messages."""
    known = reading.covers(Channel.MESSAGE) and reading.trajectory.coverage.whole_texts
    return final_answer(reading.steps) or ("" if known else None)


def _numbers(reading: Reading) -> Sketch | None:
    """The numbers of the last message and of the last output."""
    ends = [reading.texts(channel)[-1:] for channel in (Channel.MESSAGE, Channel.OBSERVATION)]
    found = {number for texts in ends for text in texts for number in _NUMBER.findall(encode(text.text[-TAIL:]))}
    return _sketch(f"{float(number):.9g}" for number in found)


def _outputs(reading: Reading) -> Sketch | None:
    """The lines of the last outputs, runs of space as one."""
    lines = {
        " ".join(line.split())
        for text in reading.texts(Channel.OBSERVATION)[-LAST_OUTPUTS:]
        for line in text.text[-TAIL:].split("\n")
    }
    return _sketch(lines - {""})


def _commands(reading: Reading) -> Sketch | None:
    """The commands, runs of space as one."""
    return _sketch({" ".join(text.text[:TAIL].split()) for text in reading.texts(Channel.COMMAND)})


def _whole(take: Take) -> Take:
    """Nothing where the recording cut its texts: what is left of two texts may be equal where they were not."""
    return lambda reading: take(reading) if reading.trajectory.coverage.whole_texts else None


def _sketch(texts: Iterable[str]) -> Sketch | None:
    """The smallest hashes of a set of texts, sorted; None for no text at all."""
    hashes = sorted({crc32(encode(text)) for text in texts})[:SKETCH_SIZE]
    return np.array(hashes, dtype=np.uint32) if hashes else None


_TAKE: dict[str, Take] = {
    "answer": _answer,
    "length": n_characters,
    "numbers": _whole(_numbers),
    "outputs": _whole(_outputs),
    "commands": _whole(_commands),
}


# What is made of a task's digests.


def similarity(one: Sketch, other: Sketch) -> float:
    """Estimated share of two sets' union that is in both, 0 to 1; exact for sets of at most SKETCH_SIZE."""
    union = np.union1d(one, other)
    # Only where both sketches reach does the union's sample tell what is in both.
    reach = min(one[-1] if len(one) == SKETCH_SIZE else _TOP, other[-1] if len(other) == SKETCH_SIZE else _TOP)
    union = union[union <= reach]
    both = np.intersect1d(one, other, assume_unique=True)
    return float((both <= reach).sum() / len(union))


_TOP = np.uint32(0xFFFFFFFF)


def answer_votes(digests: Sequence[Digest]) -> list[float]:
    """Share of the attempts with an answer that give this one's answer, itself among them; NaN without an answer."""
    counts = Counter(d.answer for d in digests if d.answer)
    n = counts.total()
    return [counts[d.answer] / n if d.answer else math.nan for d in digests]


def states_answer(digests: Sequence[Digest]) -> list[float]:
    """1 for an attempt with an answer, 0 for one without; NaN where unknown, or where most attempts have none.

    A task that asks for no answer is not one that all but a chance wording left unanswered.
    """
    known = [d.answer for d in digests if d.answer is not None]
    if not any(known) or 2 * sum(answer != "" for answer in known) < len(known):
        return [math.nan] * len(digests)
    return [math.nan if d.answer is None else float(d.answer != "") for d in digests]


def length_rank(digests: Sequence[Digest]) -> list[float]:
    """0 for the shortest attempt, 1 for the longest, equal ones in the middle of their ranks; NaN where alone."""
    known = [d.length for d in digests if not math.isnan(d.length)]
    if len(known) < 2:
        return [math.nan] * len(digests)

    def rank(length: float) -> float:
        below, equal = sum(k < length for k in known), sum(k == length for k in known)
        return (below + (equal - 1) / 2) / (len(known) - 1)

    return [math.nan if math.isnan(d.length) else rank(d.length) for d in digests]


def agreement(sketches: Sequence[Sketch | None]) -> list[float]:
    """Mean similarity to the other attempts that have such a set; NaN without one, or without another."""
    known = [(index, sketch) for index, sketch in enumerate(sketches) if sketch is not None]
    out = [math.nan] * len(sketches)
    if len(known) < 2:
        return out
    pairs = {(i, j): similarity(a, b) for i, a in known for j, b in known if i < j}
    for i, _ in known:
        # fsum: the same to the last bit in whatever order the attempts come.
        out[i] = math.fsum(pairs[min(i, j), max(i, j)] for j, _ in known if j != i) / (len(known) - 1)
    return out


def _sibling(name: str, direction: int, codes: str, why: str, part: str, compare: Compare) -> Sibling:
    return Sibling(Feature(name, Kind.SIBLING, direction, tuple(codes.split()), why), part, compare)


SIBLING: dict[str, Sibling] = {
    sibling.feature.name: sibling
    for sibling in (
        _sibling(
            "answer_votes", +1, "3.3", "share of the attempts that end in the same answer", "answer", answer_votes
        ),
        _sibling(
            "states_answer",
            +1,
            "Premature_Termination 3.1",
            "the run states a final answer, where at least half of the attempts do",
            "answer",
            states_answer,
        ),
        _sibling("length_rank", -1, "1.3 1.5", "where the run stands from short to long", "length", length_rank),
        _sibling(
            "numbers_agreement",
            +1,
            "3.3",
            "how far the numbers in the last message and output are those of the other attempts",
            "numbers",
            lambda digests: agreement([d.numbers for d in digests]),
        ),
        _sibling(
            "output_agreement",
            +1,
            "3.3",
            "how far the lines of the last outputs are those of the other attempts",
            "outputs",
            lambda digests: agreement([d.outputs for d in digests]),
        ),
        _sibling(
            "command_agreement",
            0,
            "2.3",
            "how far the commands are those of the other attempts",
            "commands",
            lambda digests: agreement([d.commands for d in digests]),
        ),
    )
}
"""All sibling features by name."""
