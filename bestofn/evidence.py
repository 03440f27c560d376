"""Where in a run the words stand that gave a feature its value: the passage to quote."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from bestofn.featurize.activity import Activity
from bestofn.featurize.feature import Feature, Kind
from bestofn.featurize.patterns import Matcher, encode
from bestofn.featurize.reading import Place, Reading, Text
from bestofn.quotes import LONGEST
from bestofn.trajectory import Channel

SIZES = frozenset({"n_characters", "n_output_tokens", "cost_usd", "seconds", "length_rank"})
"""What only measures size is above 0 in every run: it may move a score, and no failure needs to have caused it."""


class Passage(NamedTuple):
    """Words of a run, and where they stand."""

    quote: str
    """At most one line, cut to `quotes.LONGEST` characters, word for word."""
    text: str
    """The whole text that the quote is from."""
    step: int
    """From 1, in the order of the recording."""
    channel: Channel
    earlier: int
    """How many equal texts of the channel stand before this one."""


Where = tuple[Channel, Text]


def passage(feature: Feature, value: float, reading: Reading) -> Passage | None:
    """What to quote for a feature's value; None where nothing stands for it, as for an error that never came."""
    if reading.empty or feature.kind is Kind.SIBLING:  # what other attempts did has no words in this one
        return None
    if feature.kind is Kind.REGEX:
        return _matched(feature, reading) or (_looked_at(feature, reading) if feature.direction > 0 else None)
    if value == 0.0 and feature.direction < 0:
        return None
    look = _LOOKS.get(feature.name, _last)
    found = look(reading)
    return None if found is None else _passage(*found, reading, *_last_line(found[1].text))


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> Matcher:
    """One pattern, made ready once for all attempts."""
    return Matcher((pattern,))


def _matched(feature: Feature, reading: Reading) -> Passage | None:
    """The line with the last match."""
    assert feature.channel is not None
    matcher = _matcher(feature.pattern)
    for text in reversed(reading.within(feature.channel, feature.where) or ()):
        raw = encode(text.text)
        spans = matcher.spans(0, raw)
        if spans:
            start, end = (len(raw[:byte].decode("utf-8", "ignore")) for byte in spans[-1])
            return _passage(feature.channel, text, reading, start, end)
    return None


def _looked_at(feature: Feature, reading: Reading) -> Passage | None:
    """The last text in which the pattern was looked for and not found; the run's last words where there is none."""
    assert feature.channel is not None
    texts = reading.within(feature.channel, feature.where)
    found = (feature.channel, texts[-1]) if texts else _last(reading)
    return None if found is None else _passage(*found, reading, *_last_line(found[1].text))


def _passage(channel: Channel, text: Text, reading: Reading, start: int, end: int) -> Passage:
    """The line around characters `start` to `end` of a text, cut to what may be quoted."""
    whole = text.text
    while start < end and whole[start] in "\r\n":
        start += 1
    begin = whole.rfind("\n", 0, start) + 1
    close = whole.find("\n", start)
    close = len(whole) if close < 0 else close
    if close - begin > LONGEST:
        begin = max(begin, min(start - LONGEST // 4, close - LONGEST))
        close = min(close, begin + LONGEST)
    earlier = sum(other.text == whole and other.place < text.place for other in reading.texts(channel))
    return Passage(whole[begin:close].strip(), whole, text.place.step + 1, channel, earlier)


def _last_line(text: str) -> tuple[int, int]:
    """Begin and end of the last line with anything on it."""
    end = len(text.rstrip())
    return text.rfind("\n", 0, end) + 1, end


def _every(reading: Reading) -> list[Where]:
    """All that the agent said, ran and was shown, in order."""
    channels = (Channel.MESSAGE, Channel.REASONING, Channel.COMMAND, Channel.OBSERVATION)
    texts = [(c, t) for c in channels for t in reading.texts(c) if t.text.strip()]
    return sorted(texts, key=lambda where: (where[1].place, channels.index(where[0])))


def _last(reading: Reading) -> Where | None:
    """The run's last words: what it said, ran or was shown last."""
    found = _every(reading)
    return found[-1] if found else None


def _longest(reading: Reading) -> Where | None:
    return max(_every(reading), key=lambda where: len(where[1].text), default=None)


def _commands(reading: Reading, wanted: Callable[[Place], bool]) -> Where | None:
    """The last command of some."""
    texts = [text for text in reading.texts(Channel.COMMAND) if wanted(text.place)]
    return (Channel.COMMAND, texts[-1]) if texts else None


def _acting(*wanted: Activity) -> Callable[[Reading], Where | None]:
    """The last command that does one of these, and failing these the last edit, which nobody checked."""

    def look(reading: Reading) -> Where | None:
        after = reading.acts_after_edit or ()
        places = {place for place, activity in after if activity in wanted}
        edits = {reading.last_edit} if reading.last_edit else set[Place]()
        return _commands(reading, lambda place: place in (places or edits))

    return look


def _repeated(reading: Reading) -> Where | None:
    """The last command that was run before."""
    seen: set[str] = set()
    again: Where | None = None
    for text in reading.texts(Channel.COMMAND):
        if text.text.strip() in seen:
            again = Channel.COMMAND, text
        seen.add(text.text.strip())
    return again


def _failed(reading: Reading) -> Where | None:
    """The last output with a code other than 0; the command behind it where nothing was shown."""
    places: list[tuple[str, int]] = [
        (o.text, index)
        for index, step in enumerate(reading.steps)
        for o in step.observations
        if o.exit_code is not None and o.exit_code != 0
    ]
    shown: Iterable[Text] = reversed(reading.texts(Channel.OBSERVATION))
    found = next((t for t in shown if t.text.strip() and (t.text, t.place.step) in places), None)
    return None if found is None else (Channel.OBSERVATION, found)


_LOOKS: dict[str, Callable[[Reading], Where | None]] = {
    "n_characters": _longest,
    "n_output_tokens": _longest,
    "consecutive_repeats": _repeated,
    "distinct_share": _repeated,
    "n_nonzero_exits": _failed,
    "nonzero_exits_last5": _failed,
    "checks_after_edit": _acting(Activity.CHECK),
    "looks_after_edit": _acting(Activity.CHECK, Activity.READ),
    "n_unanswered": lambda reading: _commands(reading, lambda place: place not in reading.answered),
}
"""Where to look for structural features; all others are told by the run's last words."""
