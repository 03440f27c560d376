"""Arms of other ways of asking: the verifier's tournaments, and the attempt with the fewest failure codes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bestofn.ablation.answers import not_recorded, unrecorded
from bestofn.ablation.arm import Lacking
from bestofn.ablation.asking import with_columns
from bestofn.ablation.fired import fired
from bestofn.ablation.recipe import Made, Recipe, mean_rank, named
from bestofn.ablation.subject import Subject
from bestofn.criteria import load
from bestofn.judge.comparing import MIN_CODES, PIVOT, ROUND_ROBIN, Ways
from bestofn.judge.diagnosis import BASE
from bestofn.judge.question import Method
from bestofn.judge.showing import Showing
from bestofn.judge.shown import ShownCounts

if TYPE_CHECKING:
    from bestofn.ablation.setting import Setting

VERIFIER = "verifier"
"""The built-in criteria of the tournaments."""
WHAT = {PIVOT: "the verifier's pivot tournament, two attempts a prompt", ROUND_ROBIN: "the verifier, every pair once"}


def verifier(name: str, way: str = PIVOT, *, what: str = "") -> Recipe:
    """LLM-as-a-Verifier: who wins most of a tournament of readings, two attempts at a time.

    Parameters
    ----------
    way
        `verifier-pivot`, as published, or `verifier-round-robin`.
    """

    def make(setting: Setting, subject: Subject) -> Made:
        column = f"llm_{way.replace('-', '_')}"
        there = [one for one in subject.llm if one.startswith(column)]
        if there:
            return mean_rank(name, named(*there), asks=False).make(setting, subject)
        judge = setting.asking
        ways = Ways(judge.criteria, load(VERIFIER), load(BASE))

        def methods(showing: Showing, shown: ShownCounts) -> list[Method]:
            return ways.methods([way], showing, shown)[way]

        judgement = judge.ask(subject, methods=methods, sets=ways.sets([way]))
        [made] = judgement.columns
        if unrecorded(made):
            judge.judgements.pop()
            raise not_recorded(setting)
        view = with_columns(subject, judgement, alone=True)
        return mean_rank(name, named(made.name), asks=False).make(setting, view)

    return Recipe(name, what or WHAT[way], make)


def min_codes(name: str = MIN_CODES) -> Recipe:
    """The attempt that shows the fewest failure codes."""

    def make(setting: Setting, subject: Subject) -> Made:
        if subject.pool is None:
            there = [one for one in subject.llm if one.startswith(("llm_codes", "llm_n_codes"))]
            if not there:
                raise Lacking("the table does not tell which codes fired", "give the pool with --pool")
            return mean_rank(name, named(there[0]), asks=False).make(setting, subject)
        found = fired(replace(setting, inputs={}), subject)
        return mean_rank(name, named(found.column), asks=False).make(setting, found.subject)

    return Recipe(name, "the attempt that shows the fewest failure codes", make)


def another_taxonomy(name: str, taxonomy: str, *, optimistic: bool = False) -> Recipe:
    """The judge with another taxonomy's codes and all else the same, in forward selection among all features.

    Parameters
    ----------
    taxonomy
        A built-in taxonomy or a file.
    """

    def make(setting: Setting, subject: Subject) -> Made:
        from bestofn.ablation.answers import ask
        from bestofn.ablation.domains import of
        from bestofn.ablation.recipe import both, forward

        plain = replace(setting, inputs={})
        view = ask(plain, subject, [of(plain, taxonomy)]).view(taxonomy)
        return forward(name, both, optimistic=optimistic).make(plain, view)

    how = "as published" if optimistic else "nested"
    return Recipe(name, f"the judge told of the codes of {taxonomy}, {how}", make)
