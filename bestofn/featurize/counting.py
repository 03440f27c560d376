"""Computes regex features: which patterns look at which texts of a run, and what their matches come to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from bestofn.featurize.feature import Feature, Value, Where
from bestofn.featurize.patterns import Matcher, encode
from bestofn.featurize.reading import Reading, Text
from bestofn.trajectory import Channel


@dataclass
class Tally:
    """What one pattern's matches come to over the texts it looks at."""

    matches: int = 0
    """Matches that do not overlap; counted only where the feature asks for a count."""
    texts: int = 0
    """Texts with a match."""
    last: Text | None = None
    """The last of them."""


@dataclass(frozen=True)
class Counting:
    """Regex features that are computed together, so that each text is gone through once for all of them."""

    features: tuple[Feature, ...]

    def values(self, reading: Reading) -> list[float]:
        """The features of one run, in their order; NaN where the recording cannot tell."""
        out = [math.nan] * len(self.features)
        for channel, group in self._groups.items():
            if reading.covers(channel):
                for index, value in zip(group.indices, group.values(reading), strict=True):
                    out[index] = value
        return out

    @cached_property
    def _groups(self) -> dict[Channel, Group]:
        channels = sorted({feature.channel for feature in self.features if feature.channel is not None})
        return {channel: self._group(channel) for channel in channels}

    def _group(self, channel: Channel) -> Group:
        indices = [index for index, feature in enumerate(self.features) if feature.channel is channel]
        features = tuple(self.features[index] for index in indices)
        return Group(channel, tuple(indices), features, Matcher(tuple(feature.pattern for feature in features)))


@dataclass(frozen=True)
class Group:
    """The features that look at one channel."""

    channel: Channel
    indices: tuple[int, ...]
    """Where each stands among all features."""
    features: tuple[Feature, ...]
    matcher: Matcher

    def values(self, reading: Reading) -> list[float]:
        """The features of one run that has this channel."""
        parts = {where: reading.within(self.channel, where) for where in {f.where for f in self.features}}
        tallies = self._tallies(reading, parts)
        whole = reading.trajectory.coverage.whole_texts
        return [
            _value(feature.value, tally, parts[feature.where], whole)
            for feature, tally in zip(self.features, tallies, strict=True)
        ]

    def _tallies(self, reading: Reading, parts: dict[Where, tuple[Text, ...] | None]) -> list[Tally]:
        """One pass over the channel's texts. Texts are told apart by identity: two may well be equal."""
        members = {where: {id(text) for text in part or ()} for where, part in parts.items()}
        inside = [members[feature.where] for feature in self.features]
        wanted = set().union(*members.values())
        tallies = [Tally() for _ in self.features]
        for text in reading.texts(self.channel):
            if id(text) not in wanted:
                continue
            raw = encode(text.text)
            for index in self.matcher.found(raw):
                if id(text) in inside[index]:
                    tally = tallies[index]
                    tally.texts += 1
                    tally.last = text
                    if self.features[index].value is Value.COUNT:
                        tally.matches += self.matcher.count(index, raw)
        return tallies


def _value(value: Value, tally: Tally, part: tuple[Text, ...] | None, whole: bool) -> float:
    """A feature's number. In a recording that cut its texts a match is a match, and its absence says nothing."""
    if part is None:
        return math.nan
    if value is Value.PRESENT:
        return 1.0 if tally.texts else (0.0 if whole else math.nan)
    if value is Value.COUNT:
        return float(tally.matches) if whole else math.nan
    if value is Value.RATE:
        return tally.texts / len(part) if part and whole else math.nan
    if not part:
        return 0.0
    return 1.0 if tally.last is part[-1] else (0.0 if whole else math.nan)
