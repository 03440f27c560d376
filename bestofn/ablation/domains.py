"""The same questions with another domain's codes, and how much the scores of a run change with the codes."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from bestofn import taxonomy
from bestofn.ablation.agreement import correlation, within_tasks
from bestofn.ablation.answers import Answers
from bestofn.ablation.arm import Arm, Lacking
from bestofn.ablation.finding import Cell, Sheet, rounded
from bestofn.ablation.recipe import Made, Recipe
from bestofn.ablation.subject import Subject
from bestofn.ablation.variant import Variant, criteria_of, made, own
from bestofn.ablation.wording import PROSECUTOR, lists_from, lists_of, text_of, with_lists
from bestofn.judged import UNKNOWN
from bestofn.metrics import Floats

if TYPE_CHECKING:
    from bestofn.ablation.setting import Setting

RECOMPILED = "recompiled"
"""Suffix of the arm that has the matched taxonomy's codes in the words of its own file."""


def matched(setting: Setting) -> str:
    """Name of the taxonomy that the judge's criteria were compiled from; '' where their file does not say."""
    said = (chosen.about.get("taxonomy", "") for chosen in criteria_of(setting))
    return next((name.split()[0] for name in said if name.strip()), "")


def variants(setting: Setting) -> list[Variant]:
    """The judge's own criteria, then the same with the codes of every built-in taxonomy in the lists' place."""
    mine = matched(setting)
    others = [name for name in taxonomy.names() if name != mine]
    found = [own(setting, f"the judge's criteria, codes of {mine or 'their own taxonomy'}")]
    if mine in taxonomy.names():
        found.append(of(setting, mine, f"{mine} {RECOMPILED}", "the same codes as the taxonomy's file words them"))
    return [*found, *(of(setting, name) for name in others)]


def of(setting: Setting, name: str, called: str = "", what: str = "") -> Variant:
    """The judge's criteria with the codes of one taxonomy.

    Parameters
    ----------
    name
        A built-in taxonomy or a file.
    """
    chosen = taxonomy.load(name)
    lists = lists_from(chosen)
    named = f"{chosen.name} {chosen.digest}"
    texts = [
        with_lists(text_of(one), lists, title=f"{one.title}, codes of {chosen.title}", taxonomy=named)
        for one in criteria_of(setting)
        if any(criterion.name.startswith(PROSECUTOR) for criterion in one.criteria)
    ]
    if not texts:
        lists_of(text_of(criteria_of(setting)[0]))  # says what these criteria lack
    also = [one for one in criteria_of(setting) if not any(c.name.startswith(PROSECUTOR) for c in one.criteria)]
    sizes = ", ".join(f"{len(entries)} {axis}" for axis, entries in lists.items())
    return made(called or name, what or f"codes of {name} ({sizes})", texts, also=also)


def mean_of(name: str, arms: list[Arm]) -> Recipe:
    """One arm that is the mean over others: what the average one of them changes. Lacking where none has a figure."""

    def make(setting: Setting, subject: Subject) -> Made:
        told = [arm for arm in arms if not arm.why]
        if not told:
            raise Lacking("no other domain has a figure", arms[0].how if arms else "give other taxonomies")
        asked, missing = sum(arm.asked for arm in told), sum(arm.missing for arm in told)
        return Made(
            np.mean([arm.by_task for arm in told], axis=0),
            missing=missing,
            asked=asked,
            cost=UNKNOWN,
            optimistic=told[0].optimistic,
            note=f"over {len(told)} of {len(arms)} other domains",
        )

    return Recipe(name, "mean outcome over the other domains' codes", make)


def correlations(subject: Subject, answers: Answers, variants: list[Variant]) -> Sheet:
    """Pearson's correlation of each attempt's scores under one taxonomy with those under another."""
    scores: dict[str, Floats] = {}
    for variant in variants:
        try:
            scores[variant.name] = answers.view(variant.name).mean_score(PROSECUTOR)
        except Lacking:
            continue
    groups, swing = subject.table.groups, subject.swing[subject.table.groups]
    rows: list[tuple[Cell, ...]] = []
    for first, second in combinations(scores, 2):
        both = ~np.isnan(scores[first]) & ~np.isnan(scores[second])
        a, b = scores[first], scores[second]
        rows.append((
            first,
            second,
            int(both.sum()),
            rounded(correlation(a[both], b[both])),
            rounded(correlation(a[both & swing], b[both & swing])),
            rounded(correlation(within_tasks(a[both], groups[both]), within_tasks(b[both], groups[both]))),
        ))  # fmt: skip
    return Sheet(
        f"{subject.name}: correlation (Pearson) of attempts' scores between taxonomies",
        ("first", "second", "attempts", "all tasks", "swing tasks", "within tasks"),
        tuple(rows),
        "an attempt's score is the mean over its prosecutors; the health checks and comparisons are the same questions "
        f"and stay out. Within tasks: less the task's mean. {len(variants) - len(scores)} arms have no scores.",
    )
