"""What scoring one trajectory comes to: a verdict with its evidence, as plain data that every report is made from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from bestofn.errors import UsageError

DONE, BELOW, UNUSABLE, UNSURE = 0, 1, 2, 3
"""Exit codes: at or above the bar; below it; unreadable input; unsure where that is to fail."""


class Answer(StrEnum):
    """The three answers."""

    PASS = "pass"
    FAIL = "fail"
    UNSURE = "unsure"


class UnsurePolicy(StrEnum):
    """What an `unsure` does to the exit code."""

    FAIL = "fail"
    """Exit code 3."""
    WARN = "warn"
    """Exit code 0 and a warning."""
    PASS = "pass"
    """Exit code 0."""


class Quote(NamedTuple):
    """Words that stand in the file, word for word: this was looked up."""

    text: str
    file: str
    """As given, with forward slashes; for a directory the file in it."""
    line: int
    """From 1."""
    step: int
    """From 1, in the order of the recording."""
    channel: str


class Moved(NamedTuple):
    """One feature and what it did to the score."""

    feature: str
    value: float | None
    """None where the recording cannot tell."""
    effect: float
    """Added to the log-odds of success, against an average run; for a rank score, added to the score."""
    points: float | None
    """The same as a difference in probability: with this value, less with an average one. None for a rank score."""
    why: str
    quote: Quote | None
    unquoted: str
    """Why there is no quote; '' where there is one."""


class Fired(NamedTuple):
    """One failure mode that the run shows signs of."""

    rule: str
    """Such as 'mast-14/3.2'."""
    name: str
    description: str
    features: tuple[str, ...]
    """What made it fire: features, or the judge's criterion."""
    effect: float | None
    """Sum of these features' effects, below 0; None for a judge's word."""
    quote: Quote | None
    unquoted: str


class Judged(NamedTuple):
    """One score of a model."""

    column: str
    state: str
    """'ok', 'degraded' or 'missing'."""
    value: float | None
    reason: str
    asked: bool
    """False for a question that one trajectory alone cannot be asked."""


@dataclass(frozen=True)
class Verdict:
    """One trajectory's verdict."""

    file: str
    task: str
    trajectory: str
    format: str
    verdict: Answer
    reasons: tuple[str, ...]
    """Why this verdict, in sentences."""
    score_name: str
    """'probability' or 'rank score'."""
    score: float | None
    """A probability of success from 0 to 1, or a rank score that means nothing on its own; None where untold."""
    answer: Answer | None
    """What the error rate allows to say, whatever the bar; None without a probability."""
    p_pass: float | None
    """How usual this probability is among attempts that passed, 0 to 1."""
    p_fail: float | None
    features: tuple[Moved, ...]
    """Those that moved it most, first."""
    codes: tuple[Fired, ...]
    """Those that fired, the weightiest first."""
    judge: tuple[Judged, ...] = ()
    remarks: tuple[str, ...] = ()
    exit_code: int = DONE
    label: str = ""
    """The recorded outcome; '' unless asked for. Never part of the score."""

    @property
    def probability(self) -> float | None:
        """The probability of success; None for a rank score."""
        return self.score if self.score_name == "probability" else None

    @property
    def judge_missing(self) -> tuple[str, ...]:
        """The columns of scores that were asked for and did not come."""
        return tuple(score.column for score in self.judge if score.asked and score.state == "missing")

    @property
    def key(self) -> str:
        """Its name among others."""
        return f"{self.task}/{self.trajectory}"

    def as_dict(self) -> dict[str, Any]:
        """As the JSON has it."""
        return {
            "file": self.file,
            "task": self.task,
            "trajectory": self.trajectory,
            "format": self.format,
            "verdict": str(self.verdict),
            "exit_code": self.exit_code,
            "reasons": list(self.reasons),
            "score_name": self.score_name,
            "score": self.score,
            "probability": self.probability,
            "conformal": {
                "answer": None if self.answer is None else str(self.answer),
                "p_pass": self.p_pass,
                "p_fail": self.p_fail,
            },
            "features": [_plain(moved) for moved in self.features],
            "codes": [_plain(code) for code in self.codes],
            "judge": [_plain(score) for score in self.judge],
            "remarks": list(self.remarks),
            **({"label": self.label} if self.label else {}),
        }


class Change(NamedTuple):
    """One trajectory against the earlier JSON."""

    file: str
    trajectory: str
    worse: tuple[str, ...]
    """What got worse, in sentences."""
    better: tuple[str, ...]


@dataclass(frozen=True)
class ScoreReport:
    """Everything that one run of `score` came to."""

    results: tuple[Verdict, ...]
    problems: tuple[str, ...]
    """What could not be read, in sentences; the exit code is 2 then."""
    selector: dict[str, Any]
    """Its name, where it was found, its digest, and what is known of its probabilities."""
    settings: dict[str, Any]
    """The bar, the error rate and the policy."""
    changes: tuple[Change, ...] = ()
    compared_with: str = ""
    """The earlier JSON; '' for none."""
    notes: tuple[str, ...] = field(default=())
    """What a reader of all results should know."""

    @property
    def exit_code(self) -> int:
        """2 where anything could not be read, else 1 where one is below the bar, else 3 or 0."""
        codes = [result.exit_code for result in self.results]
        for code in (BELOW, UNSURE):
            if code in codes and not self.problems:
                return code
        return UNUSABLE if self.problems else DONE

    @property
    def only(self) -> Verdict:
        """The verdict of the one trajectory. Raises UsageError where there are several."""
        if len(self.results) != 1:
            raise UsageError(f"{len(self.results)} trajectories were scored: take one of `results`")
        return self.results[0]

    @property
    def verdict(self) -> Answer:
        """The verdict of the one trajectory."""
        return self.only.verdict

    @property
    def probability(self) -> float | None:
        """The probability of the one trajectory."""
        return self.only.probability

    def as_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        from bestofn import __version__

        return {
            "format": 1,
            "bestofn": __version__,
            "exit_code": self.exit_code,
            "selector": self.selector,
            "settings": self.settings,
            "notes": list(self.notes),
            "problems": list(self.problems),
            "results": [result.as_dict() for result in self.results],
            "baseline": {"file": self.compared_with, "changes": [change._asdict() for change in self.changes]}
            if self.compared_with
            else None,
        }


class Rule(NamedTuple):
    """How a verdict is reached."""

    fail_under: float | None = None
    error_rate: float = 0.1
    unsure: UnsurePolicy | None = None
    """None for WARN, and FAIL where a judge's scores are missing."""

    def decide(
        self, probability: float | None, answer: Answer, reasons: Sequence[str], *, judge_missing: bool
    ) -> tuple[Answer, tuple[str, ...], int]:
        """(verdict, reasons, exit code).

        With a bar, below it fails; at or above it an attempt passes where the error rate allows to say so, and is
        unsure otherwise. Without one, the answer at the error rate is the verdict.
        """
        told = list(reasons)
        if self.fail_under is not None and probability is None:
            told.append(f"there is no probability that could be at or above the bar of {self.fail_under:g}")
            return Answer.FAIL, tuple(told), BELOW
        if self.fail_under is not None and probability is not None and probability < self.fail_under:
            told.insert(0, f"the probability {probability:.3f} is below the bar of {self.fail_under:g}")
            return Answer.FAIL, tuple(told), BELOW
        if self.fail_under is not None and answer is Answer.FAIL:
            told.append("it is at or above the bar, and yet as unlikely as failing attempts are")
        verdict = Answer.UNSURE if self.fail_under is not None and answer is Answer.FAIL else answer
        if judge_missing:
            verdict = Answer.UNSURE if verdict is Answer.PASS else verdict
        if verdict is Answer.UNSURE:
            policy = self.unsure or (UnsurePolicy.FAIL if judge_missing else UnsurePolicy.WARN)
            return verdict, tuple(told), UNSURE if policy is UnsurePolicy.FAIL else DONE
        return verdict, tuple(told), DONE if verdict is Answer.PASS else BELOW


def check_bar(fail_under: float | None) -> None:
    """Raise UsageError for a bar that is no probability."""
    if fail_under is not None and not (math.isfinite(fail_under) and 0.0 <= fail_under <= 1.0):
        raise UsageError(f"a bar of {fail_under:g} is no probability: give a number from 0 to 1")


def _plain(row: Any) -> dict[str, Any]:
    """A row as JSON can hold it."""
    content: dict[str, Any] = row._asdict()
    quote = content.get("quote")
    if quote is not None:
        content["quote"] = quote._asdict()
    return {key: list(value) if isinstance(value, tuple) else value for key, value in content.items()}
