"""What speaks for a verdict: the features that moved it, the codes they fire, a judge's scores; each with its proof."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bestofn.evidence import SIZES, passage
from bestofn.failure_modes import failure_mode
from bestofn.featurize.feature import Feature
from bestofn.featurize.reading import Reading
from bestofn.judge.score import NOT_ASKED, Column
from bestofn.quotes import RecordedText
from bestofn.trajectory import Trajectory
from bestofn.verdict import Fired, Judged, Moved, Quote
from bestofn.weighing import Ranked, Weighed


@dataclass(frozen=True)
class Quoting:
    """Finds and proves quotes of one attempt."""

    reading: Reading
    texts: Sequence[RecordedText]

    def quote(self, feature: Feature | None, value: float) -> tuple[Quote | None, str]:
        """The quote for a value, or why there is none."""
        if feature is None:
            return None, "a model's score"
        found = passage(feature, value, self.reading)
        if found is None or not found.quote:
            return None, "nothing to quote: it is about what is not there"
        for text in self.texts:
            place = text.locate(found.quote, found.text, found.earlier)
            if place is not None:
                return Quote(place.quote, place.file.as_posix(), place.line, found.step, str(found.channel)), ""
        return None, f"not verifiable: the words at step {found.step} were not found in the file as they are"


def moved_by(
    feature: Feature | None, name: str, values: Mapping[str, float], weighed: Weighed | Ranked, quoting: Quoting
) -> Moved:
    value = values[name]
    quote, unquoted = quoting.quote(feature, value)
    why = feature.why if feature is not None else "a model's answer"
    shown = None if math.isnan(value) else value
    points = weighed.points(name)
    rounded = None if points is None else round(points, 4)
    return Moved(name, shown, round(weighed.effects[name], 4), rounded, why, quote, unquoted)


def fired_codes(moved: Sequence[Moved], features: Mapping[str, Feature]) -> list[Fired]:
    """The failure modes behind what speaks against success: a bad sign that is there, or a good one that is not."""
    behind: dict[str, list[Moved]] = {}
    for one in moved:
        feature = features.get(one.feature)
        if feature is None or feature.name in SIZES or one.effect >= 0.0 or one.value is None:
            continue
        there = one.value > 0.0
        if there is (feature.direction < 0):
            for code in feature.codes:
                behind.setdefault(failure_mode(code).rule, []).append(one)
    names = {failure_mode(code).rule: failure_mode(code) for f in features.values() for code in f.codes}
    fired = []
    for rule, signs in behind.items():
        first = next((sign for sign in signs if sign.quote is not None), signs[0])
        mode = names[rule]
        fired.append(
            Fired(
                rule,
                mode.name,
                mode.description,
                tuple(sign.feature for sign in signs),
                round(sum(sign.effect for sign in signs), 4),
                first.quote,
                first.unquoted,
            )
        )
    return sorted(fired, key=lambda code: (code.effect or 0.0, code.rule))


def judged_scores(
    columns: Sequence[Column], trajectory: Trajectory, read: Sequence[str] = (), *, empty: bool = False
) -> list[Judged]:
    """The model's scores of one attempt; a column without one is missing.

    Parameters
    ----------
    read
        Columns of a model that the selector reads: one that nobody was asked for is missing too.
    empty
        True where the recording holds no turn, so that nothing can be asked about it.
    """
    out = []
    for column in columns:
        found = column.scores.get((trajectory.task, trajectory.id))
        if found is None:
            out.append(Judged(column.name, "missing", None, "no answer came", True))
            continue
        value = None if math.isnan(found.value) else found.value
        reason = f"{found.reason}: {found.detail}" if found.detail and found.reason else found.reason or found.detail
        out.append(Judged(column.name, str(found.state), value, reason, found.reason not in NOT_ASKED))
    known = {column.name for column in columns}
    why = "nothing is recorded to ask about" if empty else "the selector reads it, and no criterion here asks for it"
    return out + [Judged(name, "missing", None, why, not empty) for name in read if name not in known]


def codes_of_judge(columns: Sequence[Column], trajectory: Trajectory) -> list[Fired]:
    """The codes that a model lists, where it was asked for a list."""
    from bestofn.judge.codes import LISTING

    out = []
    for column in columns:
        found = column.scores.get((trajectory.task, trajectory.id))
        if found is None or not column.name.startswith(LISTING) or math.isnan(found.value):
            continue
        for code in (word.strip() for word in found.detail.split(",") if word.strip()):
            mode = failure_mode(code)
            said = "a model's word, without a quote"
            out.append(Fired(mode.rule, mode.name, mode.description, (column.name,), None, None, said))
    return out
