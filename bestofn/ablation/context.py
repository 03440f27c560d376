"""What is known of failures in so many tokens: a taxonomy, a prose summary, or excerpts of runs at other tasks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from bestofn import taxonomy
from bestofn.ablation.arm import Lacking
from bestofn.ablation.folds import folds
from bestofn.ablation.proportion import interleaved
from bestofn.ablation.subject import Subject
from bestofn.ablation.variant import Part, Variant, criteria_of, slug, unprosecuted
from bestofn.ablation.wording import (
    in_margin,
    lists_of,
    preamble_of,
    text_of,
    with_context,
)
from bestofn.compiler import describe
from bestofn.content import content_root
from bestofn.criteria import CriteriaSet, load, parse
from bestofn.criterion import Sees
from bestofn.errors import UsageError
from bestofn.judge.question import task_runs
from bestofn.judge.showing import Showing, fingerprint, render_run
from bestofn.pool import Pool
from bestofn.rendering.tokens import tokenizer
from bestofn.trajectory import Trajectory

if TYPE_CHECKING:
    from bestofn.ablation.setting import Setting

BASE = "context"
"""The built-in criteria file whose question the texts stand in."""
BUDGETS = (100, 500, 2000)
TAXONOMY, PROSE, EXCERPTS = "taxonomy", "prose", "excerpts"
KINDS = {
    TAXONOMY: "codes with their guidance, A, B and C in turn",
    PROSE: "a prose summary of how such runs fail",
    EXCERPTS: "the ends of attempts at other tasks, drawn without a look at outcomes",
}
NOTHING = "no context"
LINE = "---"
"""In a file of prose, the line below which the text begins."""
EXCERPT = 250
"""Tokens of one excerpt, at most."""
HEAD = "From a run at another task:"
"""What stands above each excerpt."""


class Text(NamedTuple):
    """A context as it stands in a prompt."""

    text: str
    tokens: int
    """Counted exactly, in cl100k_base."""


class Given(NamedTuple):
    """What a file of contexts holds."""

    prose: str = ""
    excerpts: tuple[str, ...] = ()


def nothing(setting: Setting) -> Variant:
    """The judge's criteria without the prosecutors."""
    return Variant(NOTHING, "health checks and comparisons alone", (Part(unprosecuted(setting)),), {})


def variant(setting: Setting, subject: Subject, kind: str, budget: int) -> tuple[Variant, int]:
    """One context of one size, and how many tokens it has; 0 where there is no such text, and the variant says why."""
    name = f"{kind} {budget}"
    try:
        return _variant(setting, subject, kind, budget, name)
    except Lacking as reason:
        return Variant(name, KINDS[kind], (), {}, lacking=reason), 0


def _variant(setting: Setting, subject: Subject, kind: str, budget: int, name: str) -> tuple[Variant, int]:
    parts, texts, counts = [], dict[str, str](), []
    for number, (tasks, cut) in enumerate(_contexts(setting, subject, kind, budget), start=1):
        file = slug(name) if tasks is None else f"{slug(name)}-half-{number}"
        texts[file] = _criteria(setting, cut.text, f"A context of {budget} tokens: {KINDS[kind]}")
        parts.append(Part((parse(texts[file], file), *unprosecuted(setting)), tasks))
        counts.append(cut.tokens)
    return Variant(name, KINDS[kind], tuple(parts), texts), max(counts)


def cut_to(text: str, tokens: int) -> Text:
    """The beginning of a text that takes so many tokens in a prompt, its margin counted; all of a shorter one."""
    table = tokenizer()
    cut = table.head(in_margin(text), tokens).rstrip()
    return Text(cut, table.count(cut))


def read(path: Path) -> Given:
    """A file of contexts: JSON with `prose` and `excerpts`, or a text, of which what stands below a line `---` counts.

    Raises UsageError where it cannot be read as either.
    """
    try:
        raw = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as text: {error}") from error
    if path.suffix != ".json":
        head, line, rest = raw.partition(f"\n{LINE}\n")
        return Given((rest if line else head).strip())
    try:
        content = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}") from error
    fields = content if isinstance(content, dict) else {"prose": None}
    prose, excerpts = fields.get("prose", ""), fields.get("excerpts", [])
    if not isinstance(prose, str) or not isinstance(excerpts, list) or not all(isinstance(e, str) for e in excerpts):
        raise UsageError(f"{path}: must be an object with `prose`, a text, and `excerpts`, a list of texts")
    return Given(prose.strip(), tuple(excerpts))


def _contexts(setting: Setting, subject: Subject, kind: str, budget: int) -> list[tuple[frozenset[str] | None, Text]]:
    """The texts with the tasks that each is for; None for all."""
    given = read(Path(setting.inputs["context"])) if "context" in setting.inputs else Given()
    if kind == TAXONOMY:
        return [(None, cut_to(_codes(setting), budget))]
    if kind == PROSE:
        return [(None, cut_to(given.prose or _shipped(setting), budget))]
    if given.excerpts:
        return [(None, cut_to(_joined(given.excerpts, budget), budget))]
    return _excerpts(setting, subject, budget)


def _excerpts(setting: Setting, subject: Subject, budget: int) -> list[tuple[frozenset[str] | None, Text]]:
    """The tasks in two halves, each shown the ends of attempts of the other half, one a task as far as there are.

    Halves and order are drawn from what happened in the runs: no task's name and no outcome changes an excerpt.
    """
    if subject.pool is None:
        raise Lacking("a table holds no recordings to take excerpts of", "give the pool with --pool instead of --table")
    runs = _in_order(subject.pool)
    keys = {task: "".join(name for name, _ in mine) for task, mine in runs.items()}
    halves = folds(runs, 2, seed=setting.seed, keys=keys)
    if len(halves) < 2:
        raise Lacking("the pool has one task, and excerpts come from others", "give --with context=FILE with excerpts")
    found: list[tuple[frozenset[str] | None, Text]] = []
    for mine, other in (halves, halves[::-1]):
        order = sorted(other, key=lambda name: keys[name])
        longest = max(len(runs[name]) for name in other)
        turns = (runs[name][turn][1] for turn in range(longest) for name in order if turn < len(runs[name]))
        found.append((mine, cut_to(_joined(map(_end, turns), budget), budget)))
    return found


@lru_cache(maxsize=1)
def _in_order(pool: Pool) -> dict[str, list[tuple[str, Trajectory]]]:
    """The attempts of each task under names made of what happened in them, in order of these, without their text."""
    light = {attempt.id: attempt for attempt in pool.trajectories}
    return {
        task.name: sorted(((fingerprint(run), light[run.id]) for run in task.runs), key=itemgetter(0))
        for task in task_runs(pool)
    }


def _end(run: Trajectory) -> str:
    """The last tokens of a run, as a judge would see it, secrets taken out and what could act on a judge altered."""
    return tokenizer().tail(render_run(replace(run, body=run.steps), Sees.WHOLE, Showing()).runs[0], EXCERPT)


def _joined(excerpts: Iterable[str], budget: int) -> str:
    """Excerpts below each other, as many as the budget takes, the last one beyond it."""
    table, found = tokenizer(), ""
    for text in excerpts:
        if table.count(in_margin(found)) > budget:
            break
        found += f"{HEAD}\n{text.strip()}\n\n"
    return found.rstrip()


def _codes(setting: Setting) -> str:
    """The codes of the judge's taxonomy, each with its guidance; as the criteria list them where it is no built-in."""
    from bestofn.ablation.domains import matched

    name = setting.inputs.get("taxonomy") or matched(setting)
    if "taxonomy" not in setting.inputs and name not in taxonomy.names():
        lists = lists_of(text_of(_prosecuting(setting)))
        return "\n".join(" ".join(entry.split()) for entry in interleaved(lists))
    codes = taxonomy.load(name).codes
    axes = {axis: [describe(code) for code in codes if code.axis == axis] for axis in taxonomy.AXES}
    return "\n".join(interleaved({axis: entries for axis, entries in axes.items() if entries}))


def _shipped(setting: Setting) -> str:
    """The prose that ships for the judge's taxonomy."""
    from bestofn.ablation.domains import matched

    name = matched(setting)
    path = content_root("data") / "contexts" / f"{name}.md"
    if not name or not path.is_file():
        raise Lacking(
            f"no prose summary ships for the taxonomy '{name}'", f"{setting.command} --with context=FILE with a summary"
        )
    return read(path).prose


def _criteria(setting: Setting, context: str, title: str) -> str:
    """The criteria file that holds a context."""
    preamble = preamble_of(text_of(criteria_of(setting)[0]))
    named = criteria_of(setting)[0].about.get("taxonomy", "unnamed")
    return with_context(text_of(load(BASE)), context, title=title, taxonomy=named, preamble=preamble)


def _prosecuting(setting: Setting) -> CriteriaSet:
    return criteria_of(setting)[0]
