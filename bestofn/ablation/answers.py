"""A model's answers to several variants of criteria, asked together, and each variant's own view of the pool."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from bestofn.ablation.arm import Lacking
from bestofn.ablation.asking import Judge
from bestofn.ablation.comparison import Comparison
from bestofn.ablation.recipe import Made, Recipe, both, forward, llm, mean_rank
from bestofn.ablation.subject import Subject
from bestofn.ablation.together import methods_together, with_accounts
from bestofn.ablation.variant import OWN, Part, Variant
from bestofn.errors import PoolError
from bestofn.judge.score import NOT_ASKED, Column
from bestofn.llm.answer import Reason
from bestofn.llm.letters import State
from bestofn.pool import Pool
from bestofn.trajectory import Task

if TYPE_CHECKING:
    from bestofn.ablation.setting import Setting
    from bestofn.criteria import CriteriaSet
    from bestofn.judge.judging import Judgement

WAYS = ("judge alone, no labels", "forward selection, nested", "forward selection, as published")
"""How each variant's columns are used: their mean rank; among all features, selection redone without each task; the
same, reported on the tasks that it was selected on."""


@dataclass(frozen=True)
class SomeTasks(Pool):
    """A pool of which only some tasks are asked about."""

    whole: Pool | None = None
    chosen: frozenset[str] = frozenset()

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The chosen ones, in the whole pool's order."""
        assert self.whole is not None
        return tuple(task for task in self.whole.tasks if task.name in self.chosen)


@dataclass
class Answers:
    """What came of asking some variants about one pool."""

    views: dict[str, Subject] = field(default_factory=dict[str, Subject])
    """By variant: the pool with the heuristic columns and the variant's own."""
    lacking: dict[str, Lacking] = field(default_factory=dict[str, Lacking])
    """By variant: why there is none."""
    judgements: dict[str, Judgement] = field(default_factory=dict[str, "Judgement"])
    """By variant: its columns, with the state of every score, and the account of what they took."""

    def view(self, name: str) -> Subject:
        """The pool as one variant shows it. Raises Lacking where it has no answers."""
        if name in self.lacking:
            raise self.lacking[name]
        return self.views[name]


def ask(setting: Setting, subject: Subject, variants: Sequence[Variant], *, judge: Judge | None = None) -> Answers:
    """Ask a model all variants together, what they share once.

    A variant is lacking where nobody answers, where `--with arms=` leaves it out, or where a recording holds no answer
    at all to one of its criteria; it is then not asked, and counts in no account of missing scores.

    Parameters
    ----------
    judge
        Who answers; the setting's own judge by default.
    """
    answers = Answers()
    wanted = []
    for variant in variants:
        try:
            _check_chosen(variant, setting, variants)
            if variant.lacking is not None:
                raise variant.lacking
            if variant.name == OWN and judge is None and (subject.llm or subject.pool is None):
                answers.views[variant.name] = setting.with_llm(subject)
            else:
                _ = judge or setting.asking
                wanted.append(variant)
        except Lacking as reason:
            answers.lacking[variant.name] = reason
    if not wanted:
        return answers
    asked = judge or setting.asking
    try:
        columns = _ask(asked, subject, wanted)
    except Lacking as reason:
        answers.lacking |= dict.fromkeys((variant.name for variant in wanted), reason)
        return answers
    heard = {column.name for _, judgement in columns for column in judgement.columns if not unrecorded(column)}
    left = [variant for variant in wanted if all(heard.intersection(names) for names in variant.questions().values())]
    if len(left) < len(wanted):
        del asked.judgements[-len(columns) :]
        for variant in wanted:
            if variant not in left:
                answers.lacking[variant.name] = not_recorded(setting)
        columns = _ask(asked, subject, left) if left else []
    for variant in left:
        try:
            judgement = _own(variant, columns)
        except Lacking as reason:
            answers.lacking[variant.name] = reason
            continue
        answers.judgements[variant.name] = judgement
        bare = subject.table.only(subject.heuristics)
        answers.views[variant.name] = subject.with_table(judgement.onto(bare))
    return answers


def not_recorded(setting: Setting) -> Lacking:
    """The reason of an arm whose questions no recording answers; the same for all, so that they stand together."""
    return Lacking("no answer to its questions is recorded", f"{setting.command} --model MODEL")


def unrecorded(column: Column) -> bool:
    """True where every score that was asked for is missing since no answer to it was recorded."""
    asked = [score for score in column.scores.values() if score.reason not in NOT_ASKED]
    word = str(Reason.NOT_RECORDED)
    return bool(asked) and all(s.state is State.MISSING and word in f"{s.reason} {s.detail}" for s in asked)


def arms(answers: Answers, variants: Sequence[Variant], way: str) -> list[Recipe]:
    """One arm a variant, its columns used in one of the `WAYS`."""

    def arm(variant: Variant) -> Recipe:
        def make(setting: Setting, _: Subject) -> Made:
            view = answers.view(variant.name)
            used = {
                WAYS[0]: mean_rank(variant.name, llm, asks=False),
                WAYS[1]: forward(variant.name, both),
                WAYS[2]: forward(variant.name, both, optimistic=True),
            }[way]
            found = used.make(setting, view)
            return replace(found, note="; ".join(part for part in (variant.note, found.note) if part))

        return Recipe(variant.name, variant.what, make)

    return [arm(variant) for variant in variants]


def compare_variants(
    setting: Setting, subject: Subject, answers: Answers, variants: Sequence[Variant], *, reference: str = OWN
) -> Iterator[Comparison]:
    """One comparison of all variants for each of the `WAYS`."""
    for way in WAYS:
        yield setting.compare(subject, arms(answers, variants, way), reference=reference, title=way)


def _check_chosen(variant: Variant, setting: Setting, variants: Sequence[Variant]) -> None:
    """Raise Lacking for a variant that `--with arms=` leaves out."""
    from bestofn.errors import UsageError

    chosen = [name.strip() for name in setting.inputs.get("arms", "").split(",") if name.strip()]
    known = [one.name for one in variants]
    if unknown := [name for name in chosen if name not in known]:
        raise UsageError(f"--with arms= names '{unknown[0]}', and the arms are {', '.join(known)}")
    if chosen and variant.name not in chosen and variant.name != OWN:
        raise Lacking(
            "left out by --with arms=", f"name it there too: --with arms='{','.join([*chosen, variant.name])}'"
        )


def _ask(judge: Judge, subject: Subject, variants: Sequence[Variant]) -> list[tuple[Part, Judgement]]:
    """Every part of every variant, the parts about the same tasks together."""
    groups: dict[frozenset[str] | None, list[CriteriaSet]] = {}
    for variant in variants:
        for part in variant.parts:
            groups.setdefault(part.tasks, []).extend(part.sets)
    found = []
    for tasks, sets in groups.items():
        if subject.pool is None or tasks is None:
            about = subject
        else:
            pool = subject.pool
            some = SomeTasks(pool.name, pool.root, format=pool.format, whole=pool, chosen=tasks)
            about = Subject(subject.name, subject.table, some)
        distinct = list({chosen.hash: chosen for chosen in sets}.values())

        try:
            judgement = judge.ask(about, methods=partial(methods_together, distinct), sets=distinct)
        except PoolError:
            if tasks is None:
                raise
            continue  # a fold of recordings without any turn of the agent: its scores stay unknown
        found.append((Part(tuple(distinct), tasks), with_accounts(judgement, judge.answerer.accounts.price)))
    return found


def _own(variant: Variant, asked: Sequence[tuple[Part, Judgement]]) -> Judgement:
    """A variant's own columns out of what was asked; columns that differ from part to part are put together."""
    pieces: dict[tuple[str, int], list[tuple[Column, Judgement]]] = {}
    used: list[Judgement] = []
    for part in variant.parts:
        judgement = next((found for one, found in asked if one.tasks == part.tasks), None)
        if judgement is None:
            continue
        used.append(judgement)
        by_name = {column.name: column for column in judgement.columns}
        for question, column in part.questions().items():
            pieces.setdefault(question, []).append((by_name[column], judgement))
    if not used:
        raise Lacking("no attempt has a turn of the agent", "give recordings with content")
    columns, costs = [], dict[str, Any]()
    for (name, _), found in pieces.items():
        names = list(dict.fromkeys(column.name for column, _ in found))
        called = names[0] if len(names) == 1 else f"{name}@{_digest(names)}"
        whole = Column(called, found[0][0].direction)
        for piece, _ in found:
            whole.scores.update(piece.scores)
        columns.append(whole)
        taken = [judgement.about["costs"]["columns"].get(column.name) for column, judgement in found]
        if all(part is not None for part in taken):
            costs[called] = _summed([part for part in taken if part is not None])
    first = used[0]
    about = {
        **first.about,
        "criteria": [{"name": s.name, "hash": s.hash, **s.about} for s in variant.sets],
        "states": {column.name: column.counts() for column in columns},
        "costs": {
            "price": first.about["costs"]["price"],
            "tasks": len({task for column in columns for task, _ in column.scores}),
            "columns": costs,
        },
    }
    return replace(first, columns=tuple(columns), about=about)


def _summed(taken: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Accounts put together; a figure that one of them does not know is not known."""
    return {
        key: None if any(part.get(key) is None for part in taken) else sum(part[key] for part in taken)
        for key in taken[0]
    }


def _digest(names: Sequence[str]) -> str:
    return hashlib.sha256("\x1f".join(names).encode()).hexdigest()[:8]
