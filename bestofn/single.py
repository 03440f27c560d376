"""Scores single trajectories: no siblings, no labels, a probability with evidence for it.

The label that a recording may carry is never looked at; it is handed through only where it is asked for.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bestofn.conformal import ERROR_RATE, check_rate
from bestofn.content import find
from bestofn.errors import FormatError, PoolError, UsageError
from bestofn.evidence import passage
from bestofn.failure_modes import failure_mode
from bestofn.featurize.extract import Extractor
from bestofn.featurize.feature import Feature
from bestofn.featurize.reading import Reading
from bestofn.judge.score import NOT_ASKED, Column
from bestofn.metrics import Floats
from bestofn.pool import Pool
from bestofn.probability import Probability
from bestofn.quotes import RecordedText, recorded_texts
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.selector import DROPPED, EMPTY, Selector
from bestofn.selector_file import read_selector
from bestofn.table import FeatureTable
from bestofn.trajectory import Trajectory
from bestofn.verdict import (
    Answer,
    Fired,
    Judged,
    Moved,
    Quote,
    Rule,
    ScoreReport,
    UnsurePolicy,
    Verdict,
    check_bar,
)

DEFAULT_SELECTOR = "terminal"
"""The built-in selector, for agents in a terminal."""
MOST = 5
"""Features shown."""
SIZES = frozenset({"n_characters", "n_output_tokens", "cost_usd", "seconds"})
"""What only measures size is above 0 in every run: it moves the score, and fires no code."""
TOO_SMALL = 0.02
"""Effects on the log-odds below this are not told."""
KNOWN = 0.5
"""Share of the model's weight that must be known for an answer other than unsure."""
JudgeFunction = Callable[[Pool], Sequence[Column]]
"""Asks a model about a pool of one file."""
_HARMLESS = frozenset(
    {
        ProblemKind.UNKNOWN_LABEL,
        ProblemKind.LABEL_CONFLICT,
        ProblemKind.DUPLICATE,
        ProblemKind.EMPTY,
        ProblemKind.SAME_NAME,
    }
)


def score(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    selector: str | os.PathLike[str] | Selector = DEFAULT_SELECTOR,
    fail_under: float | None = None,
    error_rate: float = ERROR_RATE,
    unsure: str | None = None,
    judge: JudgeFunction | None = None,
    baseline: str | os.PathLike[str] | None = None,
    format: str | None = None,
    show_label: bool = False,
    keep_going: bool = False,
) -> ScoreReport:
    """Score the trajectories in one or several files, each on its own.

    Parameters
    ----------
    path
        A file, a directory that is one attempt, or several of these.
    selector
        A built-in name, the path of a `selector.toml`, or a Selector. One without a probability gives a rank score.
    fail_under
        The bar: a probability below it fails.
    error_rate
        Share of passing attempts that may be told 'fail', and of failing ones that may be told 'pass'.
    unsure
        What an unsure does to the exit code: 'fail', 'warn' or 'pass'. By default 'warn', and 'fail' where scores of
        the judge are missing.
    judge
        Asks a model about one file's attempts and returns its columns.
    baseline
        An earlier JSON of the same command, to compare with.
    format
        The reader to use; by default content decides.
    show_label
        Hand the recorded outcome through.
    keep_going
        Report what cannot be read under `problems` instead of raising.

    Raises UsageError for a bar without a probability, FormatError where nothing in a file can be read.
    """
    check_rate(error_rate)
    check_bar(fail_under)
    policy = _policy(unsure)
    named = selector if isinstance(selector, Selector) else open_selector(selector)
    if fail_under is not None and named.probability is None:
        raise UsageError(
            f"selector '{named.name}' holds no calibrated probability, only a rank score, and a rank score has no bar: "
            "leave --fail-under out, or take a selector with a [probability] table (such as the built-in 'terminal')"
        )
    scorer = _Scorer(named, Rule(fail_under, error_rate, policy), judge, show_label)
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths:
        raise UsageError("no file to score: give at least one")
    results: list[Verdict] = []
    problems: list[str] = []
    for one in paths:
        try:
            results.extend(scorer.file(Path(one), format, problems))
        except (FormatError, PoolError) as error:
            problems.append(str(error))
    if problems and not keep_going:
        raise FormatError("; ".join(problems))
    report = ScoreReport(
        tuple(results),
        tuple(problems),
        _about(named, selector),
        {"fail_under": fail_under, "error_rate": error_rate, "unsure": unsure or "default"},
        notes=scorer.notes,
    )
    if baseline is not None:
        from bestofn.baseline import against

        return against(report, Path(baseline))
    return report


def open_selector(name: str | os.PathLike[str]) -> Selector:
    """A selector by the name of a built-in one, a rule's name, or a file's path."""
    from bestofn.selector import BASELINES

    given = os.fspath(name)
    if given in BASELINES:
        return BASELINES[given]
    return read_selector(find("data", given, ".toml", "selectors"))


def _policy(unsure: str | None) -> UnsurePolicy | None:
    if unsure is None:
        return None
    try:
        return UnsurePolicy(unsure)
    except ValueError:
        raise UsageError(f"no policy '{unsure}' for unsure: there are fail, warn and pass") from None


def _about(selector: Selector, given: str | os.PathLike[str] | Selector) -> dict[str, Any]:
    """What a report says of the selector."""
    from bestofn.selector import BASELINES

    about: dict[str, Any] = {"name": selector.name}
    if not isinstance(given, Selector) and os.fspath(given) not in BASELINES:
        file = find("data", os.fspath(given), ".toml", "selectors")
        about["file"] = "built in" if not Path(given).is_file() else os.fspath(given)
        about["digest"] = f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
    about["fitted_on"] = [pool._asdict() for pool in selector.fitted_on]
    found = selector.probability
    about["calibrated"] = found is not None
    if found is not None:
        about["calibration"] = found.calibration.kind
        about["measured"] = found.measured._asdict()
        about["caveat"] = found.caveat()
    return about


@dataclass(frozen=True)
class _Scorer:
    """One selector and rule for all files."""

    selector: Selector
    rule: Rule
    judge: JudgeFunction | None
    show_label: bool

    @cached_property
    def extractor(self) -> Extractor:
        """Computes what the selector reads, less what a model scores."""
        found = self.selector.probability
        columns = self.selector.columns if found is None else (*found.columns, *(g.column for g in found.guards))
        wanted = [column for column in dict.fromkeys(columns) if not column.startswith("llm_")]
        if len(wanted) < len(set(columns)) and self.judge is None:
            lacking = ", ".join(sorted(set(columns) - set(wanted)))
            raise UsageError(f"selector '{self.selector.name}' reads {lacking}: say who judges, --judge or --replay")
        return Extractor(wanted)

    @property
    def notes(self) -> tuple[str, ...]:
        """What holds for all results."""
        found = self.selector.probability
        if found is None:
            return (
                f"selector '{self.selector.name}' holds no calibrated probability: its score only ranks attempts of "
                "one task, and of a single attempt it says next to nothing",
            )
        notes = [found.caveat()]
        now = {bank.name: bank.hash for bank in self.extractor.banks}
        other = [name for name, hash in now.items() if found.banks.get(name, hash) != hash]
        if other:
            notes.append(
                f"feature bank {', '.join(other)} has changed since '{self.selector.name}' was fitted: fit again"
            )
        if self.rule.error_rate < found.conformal.finest:
            notes.append(
                f"an error rate of {self.rule.error_rate:g} needs more labels than '{self.selector.name}' has: below "
                f" {found.conformal.finest:.3g} one answer can never be ruled out"
            )
        return tuple(notes)

    def file(self, path: Path, format: str | None, problems: list[str]) -> Iterable[Verdict]:
        """The verdicts of one file. Raises PoolError or FormatError where it holds no attempt."""
        pool = Pool(path.as_posix(), path, format)
        trouble: list[Problem] = []
        found = list(pool.stream(trouble.append))
        lost = [problem for problem in trouble if problem.kind not in _HARMLESS]
        if not found:
            said = "; ".join(str(problem) for problem in lost[:5]) or "it holds no recorded attempt"
            raise FormatError(f"{path.as_posix()} cannot be scored: {said}")
        problems.extend(f"{path.as_posix()}: {problem}" for problem in lost)
        columns = self.judge(pool) if self.judge is not None else ()
        return [self.one(path, trajectory, columns) for trajectory in found]

    def one(self, path: Path, trajectory: Trajectory, columns: Sequence[Column]) -> Verdict:
        """One attempt's verdict."""
        # A directory may hold several attempts: each stands in its own file or folder.
        inside = path / trajectory.origin.path
        place = inside if inside.exists() else path
        reading = Reading.of(trajectory)
        judged = _judged(columns, trajectory)
        row = self.extractor.row(reading.trajectory)
        values = dict(zip(self.extractor.columns, (float(v) for v in row.values), strict=True))
        values |= {score.column: math.nan if score.value is None else score.value for score in judged}
        weighed: _Weighed | _Ranked
        if self.selector.probability is None:
            weighed = _Ranked(self.selector, values, reading.empty)
        else:
            weighed = _Weighed(self.selector.probability, values, reading.empty)
        answer, reasons, p_values = weighed.answer(self.rule.error_rate)
        missing = [score.column for score in judged if score.asked and score.state == "missing"]
        if missing:
            reasons = [*reasons, f"scores of the judge are missing: {', '.join(missing)}"]
        verdict, told, code = self.rule.decide(
            weighed.probability, answer or Answer.UNSURE, reasons, judge_missing=bool(missing)
        )
        quoting = _Quoting(reading, recorded_texts(place, trajectory))
        features = {feature.name: feature for feature in self.extractor.features}
        effects = {} if reading.empty else weighed.effects
        moved = [
            _moved(features.get(name), name, values, weighed, quoting)
            for name in sorted(effects, key=lambda n: -abs(effects[n]))
            if abs(effects[name]) >= TOO_SMALL
        ]
        return Verdict(
            file=place.as_posix(),
            task=trajectory.task,
            trajectory=trajectory.id,
            format=trajectory.origin.format,
            verdict=verdict,
            reasons=told,
            score_name="probability" if self.selector.probability is not None else "rank score",
            score=weighed.score,
            answer=answer,
            p_pass=round(p_values[0], 4) if p_values else None,
            p_fail=round(p_values[1], 4) if p_values else None,
            features=tuple(moved[:MOST]),
            codes=(*_fired(moved, features), *_fired_by_judge(columns, trajectory)),
            judge=tuple(judged),
            remarks=tuple(weighed.remarks),
            exit_code=code,
            label=_label(trajectory) if self.show_label else "",
        )


def _label(trajectory: Trajectory) -> str:
    label = trajectory.label
    return f"{label.kind}" + (f" ({label.value:g})" if label.kind == "score" else "")


class _Weighed:
    """A probability of one row."""

    def __init__(self, model: Probability, values: Mapping[str, float], empty: bool) -> None:
        self.model = model
        self.empty = empty
        row = np.array([[values.get(column, math.nan) for column in model.columns]])
        self.known = ~np.isnan(row[0])
        self._effects = model.effects(row)
        self.flattered = [c for c, beyond in zip(model.columns, model.flattered(row)[0], strict=True) if beyond]
        guarded = np.array([[values.get(guard.column, math.nan) for guard in model.guards]])
        self.foreign = [
            f"{guard.column} is {values[guard.column]:g}, and was {guard.low:g} to {guard.high:g}"
            for guard, outside in zip(model.guards, model.foreign(guarded)[0], strict=True)
            if outside
        ]
        self.score = None if empty else round(float(model.probabilities(self._effects)[0]), 6)
        self.probability = self.score
        self.effects = dict(zip(model.columns, (float(e) for e in self._effects[0]), strict=True))

    def points(self, column: str) -> float | None:
        """What the column's value changes in the probability, against an average value."""
        without = self._effects.copy()
        without[0, self.model.columns.index(column)] = 0.0
        assert self.score is not None
        return self.score - float(self.model.probabilities(without)[0])

    @property
    def remarks(self) -> list[str]:
        """What is unknown."""
        unknown = [c for c, known in zip(self.model.columns, self.known, strict=True) if not known]
        return [f"not told by this recording, and taken as average: {', '.join(unknown)}"] if unknown else []

    def answer(self, error_rate: float) -> tuple[Answer | None, list[str], tuple[float, float] | None]:
        """What the error rate allows to say, why it is no more, and how usual the probability is in either class."""
        if self.score is None:
            return None, ["no turn of the agent is recorded, so nothing is known"], None
        reference = self.model.conformal
        p_values = reference.p_values(self.score)
        answer = Answer(reference.answer(self.score, error_rate))
        reasons = []
        weights = np.abs([term.weight for term in self.model.terms])
        if weights[self.known].sum() < KNOWN * weights.sum():
            reasons.append("too little of what the probability is made of is known")
        if self.foreign:
            reasons.append(f"another kind of run than those it was fitted on: {'; '.join(self.foreign)}")
        if self.flattered and answer is not Answer.FAIL:
            reasons.append(
                f"better than almost all it was fitted on, which is no evidence: {', '.join(self.flattered)}"
            )
        if reasons and answer is not Answer.FAIL:
            return Answer.UNSURE, reasons, p_values
        if answer is Answer.UNSURE:
            both = p_values[0] > error_rate
            why = "passing and failing attempts look like this" if both else "neither passing nor failing ones look so"
            reasons.append(f"at an error rate of {error_rate:g} nothing can be said: {why}")
        else:
            other = "failing" if answer is Answer.PASS else "passing"
            chance = p_values[1] if answer is Answer.PASS else p_values[0]
            reasons.append(f"only {100 * chance:.1f}% of {other} attempts look this much like a {answer}")
        return answer, reasons, p_values


class _Ranked:
    """A rank score of one row, which has no siblings to be ranked among."""

    probability = None

    def __init__(self, selector: Selector, values: Mapping[str, float], empty: bool) -> None:
        names = [name for name in values if name in selector.columns]
        row: Floats = np.array([values[name] for name in names])
        table = FeatureTable.build([("task", "attempt", row, math.nan, empty, "")], names)
        self.score: float | None = float(selector.scores(table)[0])
        self.effects: dict[str, float] = {}
        self.remarks: list[str] = []

    def points(self, column: str) -> float | None:
        """A rank score has no probability."""
        return None

    def answer(self, error_rate: float) -> tuple[Answer | None, list[str], tuple[float, float] | None]:
        """Nothing can be answered."""
        said = {EMPTY: "no turn of the agent is recorded", DROPPED: "the gate drops it"}
        level = said.get(self.score or 0.0)
        return None, [f"a rank score is no probability{f'; {level}' if level else ''}"], None


@dataclass(frozen=True)
class _Quoting:
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


def _moved(
    feature: Feature | None, name: str, values: Mapping[str, float], weighed: _Weighed | _Ranked, quoting: _Quoting
) -> Moved:
    value = values[name]
    quote, unquoted = quoting.quote(feature, value)
    why = feature.why if feature is not None else "a model's answer"
    shown = None if math.isnan(value) else value
    points = weighed.points(name)
    rounded = None if points is None else round(points, 4)
    return Moved(name, shown, round(weighed.effects[name], 4), rounded, why, quote, unquoted)


def _fired(moved: Sequence[Moved], features: Mapping[str, Feature]) -> list[Fired]:
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


def _judged(columns: Sequence[Column], trajectory: Trajectory) -> list[Judged]:
    """The model's scores of one attempt; a column without one is missing."""
    out = []
    for column in columns:
        found = column.scores.get((trajectory.task, trajectory.id))
        if found is None:
            out.append(Judged(column.name, "missing", None, "no answer came", True))
            continue
        value = None if math.isnan(found.value) else found.value
        reason = f"{found.reason}: {found.detail}" if found.detail and found.reason else found.reason or found.detail
        out.append(Judged(column.name, str(found.state), value, reason, found.reason not in NOT_ASKED))
    return out


def _fired_by_judge(columns: Sequence[Column], trajectory: Trajectory) -> list[Fired]:
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
