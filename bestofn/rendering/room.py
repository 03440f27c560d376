"""Shares a token budget out among texts: one level for all, weighted, so that more room never shows less of any.

Every text may take `level * weight * factor` tokens. A text whose weighted share falls under a floor is dropped
whole, and neighbours that are dropped share one mark. The level is the highest at which all fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestofn.rendering.fold import Folded, Span
from bestofn.rendering.tokens import Tokenizer

FLOOR = 56
"""Tokens of weighted share under which a text is dropped whole: less than this tells a judge nothing."""
LEAST_PART = 40
"""Tokens under which a text that does not fit is shown as a mark alone."""
_SNAP = 0.06
"""Share of a part that may be given up to end or begin it at a line."""
_STEPS = 60
"""Halvings in the search for the level."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Claims:
    """What n texts would take. All arrays have shape (n,)."""

    heads: Ints
    """Tokens of each head line."""
    wholes: Ints
    """Tokens of each text when shown whole."""
    weights: Floats
    """How much each matters; falls below the floor first where it is small."""
    factors: Floats
    """Further share of a text by its kind, which does not decide whether it is dropped."""
    positions: Ints
    """Place of each in the list of all texts, those included that can never be shown."""
    groups: Ints
    """Run that each belongs to; runs do not share marks."""
    ends: dict[int, tuple[int, int]]
    """(first, behind last) position of each group."""
    mark: int
    """Most tokens that a mark takes. A text no longer than that is always shown whole."""

    def limits(self, level: float) -> Ints:
        """(n,) tokens each text may take, -1 where it is dropped."""
        if not np.isfinite(level):
            return np.where(self.weights > 0, np.iinfo(np.int64).max, -1)
        share = level * self.weights
        return np.where(share >= FLOOR, np.floor(share * self.factors).astype(np.int64), -1)

    def level(self, room: int) -> float:
        """The highest level at which everything fits into `room` tokens; infinite where all is shown whole."""
        everything = bool((self.weights > 0).all()) and len(self.positions) == sum(b - a for a, b in self.ends.values())
        if everything and int((self.heads + self.wholes).sum()) <= room:
            return float("inf")
        gaps = self._gaps()
        low, high = 0.0, 2.0 * max(room, 1) / float(self.weights.min(initial=1.0, where=self.weights > 0))
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if self._cost(middle, gaps) <= room:
                low = middle
            else:
                high = middle
        return low

    def _cost(self, level: float, gaps: Ints) -> int:
        """Tokens taken at a level. Never falls as the level rises."""
        limits = self.limits(level)
        kept = limits >= 0
        cut = np.where(limits >= LEAST_PART, limits, self.mark)
        costs = np.where(self.wholes <= np.maximum(limits, self.mark), self.wholes, cut)
        return int((self.heads + costs)[kept].sum()) + self.mark * int(gaps[int(kept.sum())])

    def _gaps(self) -> Ints:
        """(n + 1,) marks between texts when the k weightiest are kept, never fewer than for a smaller k.

        Taking the largest number so far wastes a mark or two and keeps the cost rising with the level.
        """
        kept = {group: set[int]() for group in self.ends}
        count = sum(1 for first, last in self.ends.values() if last > first)
        counts = [count]
        for index in np.argsort(-self.weights, kind="stable"):
            if self.weights[index] <= 0:
                counts.append(count)
                continue
            group, place = int(self.groups[index]), int(self.positions[index])
            first, last = self.ends[group]
            left = place > first and place - 1 not in kept[group]
            right = place + 1 < last and place + 1 not in kept[group]
            count += int(left) + int(right) - 1
            kept[group].add(place)
            counts.append(count)
        return np.maximum.accumulate(np.array(counts, dtype=np.int64))


@dataclass(frozen=True)
class Part:
    """A text as it is shown."""

    text: str
    """With a mark inside where it was cut; '' where it is not shown at all."""
    hidden: int = 0
    """Characters of the source that were cut here, those under folds that are shown not among them."""
    spans: tuple[Span, ...] = ()
    """The folds that are shown."""


class Marker(NamedTuple):
    """The mark of cut middles, and what marks take."""

    template: str
    """With `{characters}`."""
    tokens: int
    """Most tokens that this mark takes, its line ends included."""
    longest: int
    """Most tokens that any mark takes."""


def squeeze(folded: Folded, limit: int, whole: int, front: float, tokens: Tokenizer, mark: Marker) -> Part:
    """A text within its limit: whole, or its head and tail around a mark, or nothing.

    Parameters
    ----------
    limit
        Tokens it may take, mark included.
    whole
        Tokens of the whole text.
    front
        Share of the room that goes to its head, the rest going to its tail.
    """
    text = folded.text
    if whole <= max(limit, mark.longest):
        return Part(text, spans=folded.spans)
    if limit < LEAST_PART:
        return Part("", folded.characters)
    room = limit - mark.tokens
    head = _ended(tokens.head(text, int(room * front)))
    tail = _begun(tokens.tail(text, room - int(room * front)))
    end = folded.before(len(head))
    begin = folded.behind(max(len(text) - len(tail), end + 1))
    hidden = folded.source(end, begin)
    return Part(
        f"{text[:end]}\n{mark.template.format(characters=f'{hidden:,}')}\n{text[begin:]}",
        hidden,
        tuple(span for span in folded.spans if span.end <= end or span.start >= begin),
    )


def _ended(head: str) -> str:
    """A head that ends at a line's end, where one is near."""
    newline = head.rfind("\n", int(len(head) * (1 - _SNAP)))
    return head if newline < 0 else head[:newline]


def _begun(tail: str) -> str:
    """A tail that begins at a line's beginning, where one is near."""
    newline = tail.find("\n", 0, int(len(tail) * _SNAP) + 1)
    return tail if newline < 0 else tail[newline + 1 :]
