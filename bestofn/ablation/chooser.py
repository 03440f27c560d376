"""Selectors whose score of an attempt can be told again among any of its siblings, to be read on subsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from bestofn.ablation.arm import Lacking
from bestofn.ablation.subject import Subject
from bestofn.ablation.subsets import Scorer
from bestofn.criteria import load
from bestofn.criterion import Kind
from bestofn.featurize.sibling import SIBLING
from bestofn.metrics import Floats, Ints
from bestofn.ranks import rank_sum
from bestofn.selector import BASELINES, Selector, equal_terms, levels, task_ranks
from bestofn.table import FeatureTable

if TYPE_CHECKING:
    from bestofn.ablation.setting import Setting


class Chooser(NamedTuple):
    """A selector, as something that scores any attempts of a task."""

    score: Scorer
    columns: tuple[str, ...]
    """What it reads."""


def by_rule(name: str) -> Callable[[Setting, Subject], Chooser]:
    """A rule without labels."""

    def make(_: Setting, subject: Subject) -> Chooser:
        lacking = BASELINES[name].missing(subject.table)
        if lacking:
            raise Lacking(lacking, "read the pool itself (--pool), or a table with these columns")
        return Chooser(lambda table, _: BASELINES[name].scores(table), BASELINES[name].columns)

    return make


def by_reweight(_: Setting, subject: Subject) -> Chooser:
    """Weights from the other tasks, among features that look at one attempt alone."""
    columns = [name for name in subject.heuristics if name not in SIBLING]
    if not columns:
        raise Lacking("the table has no feature that looks at one attempt alone", "read the pool itself (--pool)")
    fit = subject.fits(columns).reweight

    def score(table: FeatureTable, tasks: Ints) -> Floats:
        return levels(table, gate=fit.selector.gate) + rank_sum(task_ranks(table, fit.columns), fit.held_out[tasks])

    return Chooser(score, fit.columns)


def by_judge(setting: Setting, subject: Subject) -> Chooser:
    """Mean rank over the judge's criteria about one attempt."""
    scored = setting.with_llm(subject)
    sets = setting.judge.criteria if setting.judge is not None else (load("terminal"),)
    alone = {c.column.partition("@")[0] for chosen in sets for c in chosen.of(Kind.POINTWISE)}
    columns = [name for name in scored.llm if name.partition("@")[0] in alone]
    if not columns:
        raise Lacking("the judge's columns all compare attempts with each other", "ask criteria about single attempts")
    selector = Selector("judge", terms=equal_terms(scored.table, columns))
    return Chooser(lambda table, _: selector.scores(table), selector.columns)
