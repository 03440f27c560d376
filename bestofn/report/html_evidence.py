"""Which failure codes an attempt's features speak for, each with the words of the recording that made them fire.

A code fires where a feature that is expected to be higher in failing runs (direction -1) found something. What only
measures size, such as characters or seconds, is above 0 in every run and fires nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from bestofn.failure_modes import failure_mode
from bestofn.featurize.feature import Feature, Kind
from bestofn.featurize.patterns import Matcher, encode
from bestofn.featurize.reading import Reading

SIZES = frozenset({"n_characters", "n_output_tokens", "cost_usd", "seconds", "length_rank"})
"""Measures of size, which no failure needs to have caused."""
QUOTE = 220
"""Characters of a quote at most; a match stands in its middle."""


class Fired(NamedTuple):
    """One feature that speaks for failure in one attempt."""

    feature: str
    value: float
    codes: tuple[str, ...]
    """As the feature names them."""
    why: str
    quote: str
    """A passage of the recording, word for word, with the last match in it; '' for what is counted, not matched."""
    step: int | None
    """The step it stands in, counted from 1."""


class CodeName(NamedTuple):
    """How a code is shown."""

    key: str
    """As features name it."""
    title: str
    description: str


def code_name(key: str) -> CodeName:
    """A code by what a feature calls it; the key itself where no taxonomy here has it."""
    mode = failure_mode(key)
    return CodeName(key, f"{mode.id} {mode.name.replace('_', ' ')}".strip(), mode.description)


@dataclass(frozen=True)
class Evidence:
    """Finds what fired, for the features of one table."""

    features: tuple[Feature, ...]

    @cached_property
    def speaking(self) -> tuple[int, ...]:
        """Indices of the features that can fire a code."""
        return tuple(
            index
            for index, feature in enumerate(self.features)
            if feature.direction < 0 and feature.codes and feature.name not in SIZES
        )

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Every code that a feature speaks for, in order of name."""
        return tuple(sorted({code for index in self.speaking for code in self.features[index].codes}))

    @cached_property
    def _matchers(self) -> Mapping[int, Matcher]:
        return {i: Matcher((self.features[i].pattern,)) for i in self.speaking if self.features[i].kind is Kind.REGEX}

    def fired(self, reading: Reading, values: Sequence[float]) -> tuple[Fired, ...]:
        """What fired in one attempt, given its row of the table."""
        found = []
        for index in self.speaking:
            if not values[index] > 0:  # NaN is not known, and fires nothing
                continue
            feature = self.features[index]
            quote, step = self._quote(index, reading)
            found.append(Fired(feature.name, float(values[index]), feature.codes, feature.why, quote, step))
        return tuple(found)

    def _quote(self, index: int, reading: Reading) -> tuple[str, int | None]:
        """The last passage that the feature's pattern matches, and its step."""
        feature = self.features[index]
        if index not in self._matchers or feature.channel is None:
            return "", None
        matcher = self._matchers[index]
        for text in reversed(reading.within(feature.channel, feature.where) or ()):
            raw = encode(text.text)
            spans = matcher.spans(0, raw)
            if spans:
                return passage(raw, *spans[-1]), text.place.step + 1
        return "", None


def passage(raw: bytes, start: int, end: int) -> str:
    """The line around a match, cut to QUOTE characters; a match over several lines keeps the first of them."""
    begin = raw.rfind(b"\n", 0, start + 1 if raw[start : start + 1] != b"\n" else start) + 1
    close = raw.find(b"\n", max(start + 1, begin))
    line_end = close if close >= 0 else len(raw)
    end = min(end, line_end)
    room = max(0, QUOTE - (end - start)) // 2
    left, right = max(begin, start - room), min(line_end, end + room)
    return raw[left : min(right, left + QUOTE)].decode("utf-8", "ignore").strip()
