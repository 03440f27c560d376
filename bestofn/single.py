"""Scores single trajectories: no siblings, no labels, a probability with evidence for it.

The label that a recording may carry is never looked at; it is handed through only where it is asked for.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bestofn.conformal import ERROR_RATE, check_rate
from bestofn.content import find
from bestofn.errors import FormatError, PoolError, UsageError
from bestofn.featurize.extract import Extractor
from bestofn.featurize.reading import Reading
from bestofn.findings import Quoting, codes_of_judge, fired_codes, judged_scores, moved_by
from bestofn.judge.score import Column
from bestofn.judged import MODEL
from bestofn.pool import Pool
from bestofn.quotes import recorded_texts
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.selector import Selector
from bestofn.selector_file import read_selector
from bestofn.trajectory import Trajectory
from bestofn.verdict import (
    Answer,
    Rule,
    ScoreReport,
    UnsurePolicy,
    Verdict,
    check_bar,
)
from bestofn.weighing import Ranked, Weighed

DEFAULT_SELECTOR = "terminal"
"""The built-in selector, for agents in a terminal."""
MOST = 5
"""Features shown."""
TOO_SMALL = 0.02
"""Effects on the log-odds below this are not told."""
JudgeFunction = Callable[[Pool], Sequence[Column]]
"""Asks a model about a pool of one file."""
OnProgress = Callable[[int, int | None], None]
"""Told how many files are scored, and of how many."""
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
    banks: Sequence[str | Path] | None = None,
    on_progress: OnProgress | None = None,
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
    banks
        Feature banks in which the selector's columns are looked for before the built-in ones.
    on_progress
        Called with files done and files in all; with one file, with its attempts instead.

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
    scorer = _Scorer(named, Rule(fail_under, error_rate, policy), judge, show_label, banks)
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths:
        raise UsageError("no file to score: give at least one")
    results: list[Verdict] = []
    problems: list[str] = []
    tell = on_progress or (lambda done, total: None)
    for done, one in enumerate(paths):
        if len(paths) > 1:
            tell(done, len(paths))
        try:
            results.extend(scorer.file(Path(one), format, problems, tell if len(paths) == 1 else None))
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
    banks: Sequence[str | Path] | None = None

    @property
    def read(self) -> tuple[str, ...]:
        """Every column that the selector reads for one attempt."""
        found = self.selector.probability
        columns = self.selector.columns if found is None else (*found.columns, *(g.column for g in found.guards))
        return tuple(dict.fromkeys(columns))

    @property
    def read_of_model(self) -> tuple[str, ...]:
        """Those of them that a model scores."""
        return tuple(column for column in self.read if column.startswith(MODEL))

    @cached_property
    def extractor(self) -> Extractor:
        """Computes what the selector reads, less what a model scores."""
        if self.read_of_model and self.judge is None:
            lacking = ", ".join(sorted(self.read_of_model))
            raise UsageError(f"selector '{self.selector.name}' reads {lacking}: say who judges, --judge or --replay")
        return Extractor([column for column in self.read if column not in self.read_of_model], self.banks)

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

    def file(
        self, path: Path, format: str | None, problems: list[str], tell: OnProgress | None = None
    ) -> Iterable[Verdict]:
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
        verdicts = []
        for done, trajectory in enumerate(found):
            if tell is not None:
                tell(done, len(found))
            verdicts.append(self.one(path, trajectory, columns))
        return verdicts

    def one(self, path: Path, trajectory: Trajectory, columns: Sequence[Column]) -> Verdict:
        """One attempt's verdict."""
        # A directory may hold several attempts: each stands in its own file or folder.
        inside = path / trajectory.origin.path
        place = inside if inside.exists() else path
        reading = Reading.of(trajectory)
        judged = judged_scores(columns, trajectory, self.read_of_model, empty=reading.empty)
        row = self.extractor.row(reading.trajectory)
        values = dict(zip(self.extractor.columns, (float(v) for v in row.values), strict=True))
        values |= {score.column: math.nan if score.value is None else score.value for score in judged}
        weighed: Weighed | Ranked
        if self.selector.probability is None:
            weighed = Ranked(self.selector, values, reading.empty)
        else:
            weighed = Weighed(self.selector.probability, values, reading.empty)
        answer, reasons, p_values = weighed.answer(self.rule.error_rate)
        missing = [score.column for score in judged if score.asked and score.state == "missing"]
        if missing:
            reasons = [*reasons, f"scores of the judge are missing: {', '.join(missing)}"]
        verdict, told, code = self.rule.decide(
            weighed.probability, answer or Answer.UNSURE, reasons, judge_missing=bool(missing)
        )
        quoting = Quoting(reading, recorded_texts(place, trajectory))
        features = {feature.name: feature for feature in self.extractor.features}
        effects = {} if reading.empty else weighed.effects
        moved = [
            moved_by(features.get(name), name, values, weighed, quoting)
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
            codes=(*fired_codes(moved, features), *codes_of_judge(columns, trajectory)),
            judge=tuple(judged),
            remarks=tuple(weighed.remarks),
            exit_code=code,
            label=_label(trajectory) if self.show_label else "",
        )


def _label(trajectory: Trajectory) -> str:
    label = trajectory.label
    return f"{label.kind}" + (f" ({label.value:g})" if label.kind == "score" else "")
