"""What a judge's answers came to: one score an attempt and column, each with its state, and the columns they make."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bestofn.llm.letters import LetterScore, State

Attempt = tuple[str, str]
"""An attempt of a pool: its task's name and its id."""

EMPTY = "nothing recorded"
"""Reason of a missing score: the recording holds no turn of the agent, so nothing was asked."""
ALONE = "the only attempt"
"""Reason of a missing score: a comparison needs a second attempt, so nothing was asked."""
NOT_ASKED = frozenset({EMPTY, ALONE})
"""Reasons for which no model is to blame."""
_DIGITS = 12


class Score(NamedTuple):
    """One attempt's score in one column."""

    state: State
    value: float = math.nan
    """NaN where missing."""
    reason: str = ""
    """Why it is degraded or missing, in a word or two for counting; '' where ok."""
    detail: str = ""
    """The same as a sentence."""
    letter: str = ""
    """What the model wrote, where one letter is the whole answer."""
    mass: float = math.nan
    """Probability that the answer's alternatives put on letters; NaN without log-probabilities."""

    @classmethod
    def of(cls, letter: LetterScore) -> Score:
        """The score of one letter."""
        reason = str(letter.reason) if letter.reason else ""
        return cls(letter.state, letter.score, reason, letter.detail, letter.letter, letter.mass)

    @classmethod
    def missing(cls, reason: str, detail: str = "") -> Score:
        """No score, and why."""
        return cls(State.MISSING, reason=reason, detail=detail)


@dataclass
class Column:
    """One column of scores, filled as answers come."""

    name: str
    direction: int = 1
    """+1 where a higher value is expected of better attempts, -1 where a lower one is."""
    scores: dict[Attempt, Score] = field(default_factory=dict[Attempt, Score])

    def value(self, attempt: Attempt) -> float:
        """The attempt's value; NaN where it has none."""
        score = self.scores.get(attempt)
        return math.nan if score is None else score.value

    def counts(self) -> dict[str, int]:
        """Scores by state, and those not asked apart."""
        found = Counter(
            "not asked" if score.reason in NOT_ASKED else str(score.state) for score in self.scores.values()
        )
        return {name: found[name] for name in (*map(str, State), "not asked") if found[name]}


def share_missing(columns: Iterable[Column]) -> float:
    """Share of the scores that a model was asked for and that are missing; 0 where nothing was asked."""
    asked = missing = 0
    for column in columns:
        for score in column.scores.values():
            if score.reason not in NOT_ASKED:
                asked += 1
                missing += score.state is State.MISSING
    return missing / asked if asked else 0.0


def rounded(value: float) -> float:
    """A mean without the noise of the order in which it was summed: equal evidence gives equal values."""
    return round(value, _DIGITS)


def worst(scores: Sequence[Score] | Iterable[LetterScore]) -> State:
    """The state of what is made of several scores that hold: degraded where one of them is."""
    return State.DEGRADED if any(score.state is State.DEGRADED for score in scores) else State.OK


def reasons(outcomes: Iterable[LetterScore]) -> str:
    """Reasons with their counts, such as '2 server gone, 1 refusal'."""
    counted = Counter(str(score.reason) for score in outcomes if score.reason is not None)
    return ", ".join(f"{n} {reason}" for reason, n in counted.most_common())


STATE_HEADER = ("task", "trajectory", "column", "state", "value", "letter", "mass", "reason", "detail")
"""Columns of a states file."""


def state_rows(columns: Sequence[Column], attempts: Iterable[Attempt]) -> Iterable[tuple[object, ...]]:
    """One row an attempt and column, for a states file; what cannot be told is None."""
    for attempt in attempts:
        for column in columns:
            score = column.scores.get(attempt)
            if score is not None:
                value, mass = (None if math.isnan(x) else x for x in (score.value, score.mass))
                yield (*attempt, column.name, str(score.state), value, score.letter, mass, score.reason, score.detail)


def about_columns(columns: Iterable[Column]) -> Mapping[str, Mapping[str, int]]:
    """Counts by state of each column, for a table's `about`."""
    return {column.name: column.counts() for column in columns}
