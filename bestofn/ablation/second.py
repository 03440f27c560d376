"""The same questions to other judges: a second one, the same by its letters alone, the same shown less of each run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from bestofn.ablation.agreement import agreement, outcome
from bestofn.ablation.answers import Answers, ask
from bestofn.ablation.arm import Lacking
from bestofn.ablation.asking import Judge
from bestofn.ablation.finding import Cell, Sheet, rounded, share
from bestofn.ablation.subject import Subject
from bestofn.ablation.variant import OWN, Part, Variant, criteria_of
from bestofn.criterion import Kind
from bestofn.errors import UsageError
from bestofn.llm.accounts import Accounts
from bestofn.llm.answer import Completion, Outcome
from bestofn.llm.client import Answerer
from bestofn.llm.request import Group, Request

if TYPE_CHECKING:
    from bestofn.ablation.setting import Setting
    from bestofn.criteria import CriteriaSet

LETTERS = "its letters alone"
SECOND, SECOND_LETTERS = "second judge", "second judge, letters alone"
FEWER = "shown fewer tokens"
INPUTS = {
    "second": "another judge: the name of a model, or a file of its recorded answers",
    "tokens": "tokens of the record for the arm that is shown less of each run",
    "comparisons": "'no' leaves comparisons of several runs out of every arm, and asks about single runs alone",
}
"""What `--with` gives an experiment with two judges."""


@dataclass(frozen=True)
class LettersOnly:
    """The same answers as if the server had given no log-probabilities. Nothing is asked again."""

    answerer: Answerer

    @property
    def model(self) -> str:
        """The model's name."""
        return str(getattr(self.answerer, "model", ""))

    @property
    def accounts(self) -> Accounts:
        """Those of whoever answers."""
        return self.answerer.accounts

    @property
    def notes(self) -> tuple[str, ...]:
        """That log-probabilities are left out, and what else is to be known."""
        return (*self.answerer.notes, "scores of letters alone: log-probabilities are left out on purpose")

    def answer(self, groups: Iterable[Group], *, total: int | None = None) -> Iterator[tuple[Request, Outcome]]:
        """Each request with its outcome, without log-probabilities."""
        for request, found in self.answerer.answer(groups, total=total):
            yield request, replace(found, logprobs=()) if isinstance(found, Completion) else found


class Bench(NamedTuple):
    """Several judges, each with what it says of one pool."""

    seats: list[Variant]
    """The judges by name; the first is the one that the others are compared with."""
    answers: Answers
    """By name of the seat."""


def letters_only(judge: Judge) -> Judge:
    """The same judge by its letters alone."""
    return replace(judge, answerer=LettersOnly(judge.answerer))


def judge_of(setting: Setting) -> Judge | None:
    """The judge that `--with letters=yes` makes of the setting's own; None where that is not asked for."""
    said = setting.inputs.get("letters", "no")
    if said not in ("yes", "no"):
        raise UsageError(f"--with letters= is '{said}': say yes or no")
    return letters_only(setting.judge) if said == "yes" and setting.judge is not None else None


def bench(setting: Setting, subject: Subject) -> Bench:
    """All judges of an experiment with two, asked about one pool."""
    sets = _asked(setting)
    seats, answers = [], Answers()
    second = cache(lambda: _second(setting))
    for name, what, make in (
        (OWN, "the judge as it is", _first),
        (LETTERS, "the same answers read as if no log-probabilities were there", _letters),
        (FEWER, "the same judge, shown less of each run", _fewer),
        (SECOND, "another judge, the same questions", lambda _: second()),
        (SECOND_LETTERS, "the other judge by its letters alone", lambda _: letters_only(second())),
    ):
        seat = Variant(name, what, (Part(sets),), {})
        seats.append(seat)
        try:
            mine = ask(_all(setting), subject, [seat], judge=make(setting))
        except Lacking as reason:
            answers.lacking[name] = reason
            continue
        answers.views |= mine.views
        answers.lacking |= mine.lacking
        answers.judgements |= mine.judgements
    return Bench(seats, answers)


def agreements(subject: Subject, found: Bench) -> Iterator[Sheet]:
    """How far each judge agrees with the first, criterion by criterion, where both have scores."""
    there = [seat for seat in found.seats if seat.name not in found.answers.lacking]
    if not there or there[0].name != found.seats[0].name:
        return
    base = found.answers.view(there[0].name)
    for seat in there[1:]:
        view = found.answers.view(seat.name)
        columns = [column for column in base.llm if column in view.llm]
        rows: list[tuple[Cell, ...]] = []
        for column in [*columns, ""]:
            first, second = (
                (one.table.column(column) for one in (base, view)) if column else (base.mean_score(), view.mean_score())
            )
            told = agreement(first, second, subject.table.groups)
            name = column.partition("@")[0] or "mean of all"
            rows.append((name, told.n, *(rounded(value) for value in told[1:])))
        yield Sheet(
            f"{subject.name}: {there[0].name} and {seat.name}",
            ("criterion", "attempts", "rank corr.", "within tasks", "Pearson", "kappa"),
            tuple(rows),
            "rank corr.: Spearman over all attempts; within tasks: of ranks among a task's attempts; kappa: Cohen's, "
            "of the verdicts at 0.5 (passed from there on). '-': scores that never differ",
        )


def outcomes(subject: Subject, seats: Sequence[Variant], answers: Answers, title: str = "", *, stem: str = "") -> Sheet:
    """What the mean over each arm's columns, those alone that begin with `stem`, says of outcomes."""
    rows: list[tuple[Cell, ...]] = []
    for seat in seats:
        if seat.name in answers.lacking:
            continue
        view = answers.view(seat.name)
        told = outcome(view.mean_score(stem), subject.table.rewards, subject.table.groups)
        judgement = answers.judgements.get(seat.name)
        states = (
            []
            if judgement is None
            else [column.counts() for column in judgement.columns if column.name.startswith(stem)]
        )
        counts = {name: sum(one.get(name, 0) for one in states) for name in ("ok", "degraded", "missing")}
        rows.append((
            seat.name, told.n, share(told.balanced), share(told.pass_recall), rounded(told.auc), rounded(told.within),
            *(counts.values() if states else (None, None, None)),
        ))  # fmt: skip
    return Sheet(
        f"{subject.name}: {title or 'what the scores say of outcomes'}",
        ("arm", "attempts", "balanced", "pass recall", "AUC", "within tasks", "ok", "degraded", "missing"),
        tuple(rows),
        "the mean of an arm's scores from 0 to 1, verdict at 0.5. balanced: mean of the shares of passing and of "
        "failing attempts that it calls so; AUC: chance that a passing attempt scores above a failing one, over all "
        "attempts and over those of one task",
    )


def biases(subject: Subject, found: Bench) -> Sheet:
    """What the place in a prompt does to each judge's comparisons."""
    rows: list[tuple[Cell, ...]] = []
    for seat in found.seats:
        judgement = found.answers.judgements.get(seat.name)
        for column, bias in (judgement.about["position_bias"] if judgement is not None else {}).items():
            rows.append((seat.name, column.partition("@")[0], bias["pairs"], *(bias[key] for key in BIAS)))
    return Sheet(
        f"{subject.name}: position bias",
        ("judge", "criterion", "pairs", "first gains", "disagree", "reversed"),
        tuple(rows),
        "over pairs that answer in both orders. first gains: what standing first adds, -1 to 1; disagree: distance of "
        "the two orders' verdicts, 0 to 1; reversed: share of pairs whose winner changes",
    )


BIAS = ("mean", "disagreement", "reversed")


def _asked(setting: Setting) -> tuple[CriteriaSet, ...]:
    """The judge's criteria, without comparisons where they are not wanted."""
    said = setting.inputs.get("comparisons", "yes")
    if said not in ("yes", "no"):
        raise UsageError(f"--with comparisons= is '{said}': say yes or no")
    sets = criteria_of(setting)
    return sets if said == "yes" else tuple(replace(chosen, criteria=chosen.of(Kind.POINTWISE)) for chosen in sets)


def _all(setting: Setting) -> Setting:
    """The setting without a choice of arms: the seats are chosen by what is given."""
    return replace(setting, inputs={name: value for name, value in setting.inputs.items() if name != "arms"})


def _first(setting: Setting) -> Judge | None:
    return setting.judge


def _letters(setting: Setting) -> Judge:
    return letters_only(setting.asking)


def _fewer(setting: Setting) -> Judge:
    judge = setting.asking
    said = setting.given("tokens", "a number of tokens smaller than the judge is shown")
    if not said.isdecimal() or not 200 <= int(said) < judge.showing.tokens:
        raise UsageError(f"--with tokens= is '{said}': give a whole number from 200 to {judge.showing.tokens - 1}")
    return replace(judge, showing=replace(judge.showing, tokens=int(said)))


def _second(setting: Setting) -> Judge:
    name = setting.given("second", INPUTS["second"])
    if setting.second is None:
        raise Lacking("no way to reach another judge", f"{setting.command} --with second=MODEL or FILE")
    place = setting.place("second")
    return setting.second(str(place) if place.is_file() else name)
