"""The HTML report of a pool: one file, no network, that shows how good picking is and why each attempt was picked.

Two passes over the recordings: the first makes the feature table, the second keeps, of one trajectory at a time, what
the page shows. Everything that comes from a recording is escaped by the template or stands as inert JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bestofn.errors import UsageError
from bestofn.evaluation import Evaluation
from bestofn.evaluation import evaluate as measure
from bestofn.featurize.extract import Extractor, catalogue
from bestofn.featurize.feature import Feature, Kind
from bestofn.featurize.reading import Reading
from bestofn.judged import Cost, judge_selectors, selector_costs
from bestofn.pool import Pool
from bestofn.report.html_bodies import Body, Kept, fitted, kept
from bestofn.report.html_codes import CodeFigures, code_figures
from bestofn.report.html_differences import run_of
from bestofn.report.html_evidence import Evidence
from bestofn.report.html_page import render
from bestofn.report.html_tasks import Seen, TaskView, task_views, within_tasks
from bestofn.report.html_text import one_line, visible
from bestofn.report.plots import Plot, codes_plot, null_plot, within_plot
from bestofn.report.plots_cost import cost_plot, gap_plot
from bestofn.scoring import OnProgress, Scoring, score_pool
from bestofn.selection import Selection, select
from bestofn.selector import Selector
from bestofn.table import FeatureTable
from bestofn.trajectory import EndingState

LIMIT = 25_000_000
"""Bytes of a report at most."""
BODIES = 20_000_000
"""Bytes that all trajectories together get at most; the rest of LIMIT is for tables, plots and quotes."""
STATIC = 1_000_000
"""Bytes that a page takes at most without tasks."""
ATTEMPT = 9_000
"""Bytes that an attempt takes beside its trajectory: features, reasons, quotes, last words."""
SPARE = 8
"""Fair shares that one trajectory may take until the sizes of all are known."""


@dataclass(frozen=True)
class Report:
    """All that a report is made of. Nothing is drawn or rendered before it is asked for."""

    pool: str
    table: FeatureTable
    selection: Selection
    evaluation: Evaluation | None
    """None without labels."""
    codes: CodeFigures
    tasks: tuple[TaskView, ...]
    bodies: Mapping[str, Body]
    """By the id that an attempt's view names."""
    labels: bool
    """Whether outcomes are known and shown."""
    problems: Mapping[str, int]
    costs: Mapping[str, Cost]
    """What the scores that each row of the evaluation reads take of a model; empty where no model was asked."""
    about: Mapping[str, Any]
    """What the foot of the page says: version, hashes, seed."""

    @cached_property
    def plots(self) -> tuple[Plot, ...]:
        """The plots that this pool allows."""
        if self.evaluation is None:
            return ()
        drawn = (
            gap_plot(self.evaluation, self.costs),
            cost_plot(self.evaluation, self.costs),
            null_plot(self.evaluation),
            within_plot(within_tasks(self.table, self.selection), self.selection.selector),
            codes_plot(self.codes),
        )
        return tuple(plot for plot in drawn if plot is not None)

    def html(self) -> str:
        """The page. Raises UsageError where even without trajectories it would be larger than LIMIT."""
        page = render(self)
        if len(page.encode("utf-8", "replace")) > LIMIT:
            raise UsageError(
                f"a report of {len(self.table):,} attempts would be larger than {LIMIT // 10**6} MB: show some tasks "
                "only with --task GLOB"
            )
        return page


def report(
    pool: Pool,
    *,
    selector: str | Selector = "policy",
    labels: bool = True,
    null: int = 200,
    seed: int = 0,
    task: str | None = None,
    table: FeatureTable | None = None,
    banks: Sequence[str | Path] | None = None,
    jobs: int | None = None,
    strict: bool = False,
    keep_going: bool = False,
    pass_at: float | None = None,
    unknown_as_fail: bool = False,
    on_progress: OnProgress | None = None,
) -> Report:
    """Read a pool, evaluate it where it has labels, and gather what a report shows.

    Parameters
    ----------
    selector
        As `bestofn.selection.select` takes it.
    labels
        False to leave all recorded outcomes aside: they are neither shown nor learned from.
    null, seed
        Of the evaluation.
    task
        A glob: only these tasks are shown; figures and plots are of the whole pool.
    table
        The pool's feature table where there is one already, with model scores for instance.
    banks, jobs, strict, keep_going, on_progress
        See `bestofn.scoring.score_pool`.
    pass_at, unknown_as_fail
        How rewards are read, see `FeatureTable.threshold` and `FeatureTable.unknown_as_fail`.

    Raises what these raise, and UsageError where the table is not of this pool.
    """
    scoring = (
        score_pool(pool, banks=banks, jobs=jobs, strict=strict, keep_going=keep_going, on_progress=on_progress)
        if table is None
        else Scoring(table, ())
    )
    rows = scoring.table
    if pass_at is not None:
        rows = rows.threshold(pass_at)
    if unknown_as_fail:
        rows = rows.unknown_as_fail()
    if not labels:
        rows = replace(rows, rewards=np.full(len(rows), np.nan))
    labelled = bool((~np.isnan(rows.rewards)).any())
    features = _features(rows, banks)
    selection = select(rows, selector)
    shown = selection.only(task) if task is not None else selection
    judges = judge_selectors(rows)
    extra = (*judges, *((selector,) if isinstance(selector, Selector) else ()))
    evaluation = measure(rows, null=null, seed=seed, extra=extra, on_progress=on_progress) if labelled else None
    found = _second_pass(pool, rows, features, {pick.task for pick in shown.tasks}, on_progress)
    fired = [_by_code(found.seen[str(t), str(a)]) for t, a in zip(rows.tasks, rows.trajectories, strict=True)]
    directions = {feature.name: feature.direction for feature in features}
    return Report(
        pool=pool.name,
        table=rows,
        selection=shown,
        evaluation=evaluation,
        codes=code_figures(rows, fired, seed=seed),
        tasks=task_views(rows, shown, found.seen, directions, _learned(selector, evaluation), labels=labelled),
        bodies=found.bodies,
        labels=labelled,
        problems=scoring.counts,
        costs=selector_costs(rows, evaluation, extra) if evaluation is not None and judges else {},
        about=_about(rows, seed, labels),
    )


def _features(table: FeatureTable, banks: Sequence[str | Path] | None) -> tuple[Feature, ...]:
    """What is known of every column, in order; a column of another origin, such as a model's, speaks for no code."""
    known = {**catalogue(), **{f.name: f for f in (Extractor(banks=banks).features if banks else ())}}
    return tuple(known.get(name, Feature(name, Kind.USER, 0, (), "")) for name in table.columns)


class _Pass(NamedTuple):
    """What the second pass over the recordings gives."""

    seen: dict[tuple[str, str], Seen]
    """By task and trajectory."""
    bodies: dict[str, Body]
    """Of the tasks that are shown."""


def _second_pass(
    pool: Pool, table: FeatureTable, features: tuple[Feature, ...], shown: set[str], on_progress: OnProgress | None
) -> _Pass:
    """What the page shows of each attempt. Raises UsageError where the table has attempts that the pool has not."""
    row_of = {(str(t), str(a)): row for row, (t, a) in enumerate(zip(table.tasks, table.trajectories, strict=True))}
    evidence = Evidence(features)
    n_shown = sum(task in shown for task in table.tasks)
    room = min(BODIES, max(LIMIT // 10, LIMIT - STATIC - ATTEMPT * n_shown))
    share = SPARE * room // max(n_shown, 1)
    seen: dict[tuple[str, str], Seen] = {}
    texts: dict[str, Kept] = {}
    for trajectory in pool.stream():
        row = row_of.get((trajectory.task, trajectory.id))
        if row is None:
            continue
        seen[trajectory.task, trajectory.id] = _seen(Reading.of(trajectory), evidence, table.values[row].tolist())
        if trajectory.task in shown:
            texts[f"body-{row}"] = kept(trajectory.steps, share)
        if on_progress is not None:
            on_progress(len(seen), len(row_of))
    lacking = [key for key in row_of if key not in seen]
    if lacking:
        raise UsageError(
            f"the table has {len(lacking)} attempts that pool '{pool.name}' does not hold, such as {lacking[0][1]} of "
            f"task {lacking[0][0]}: give the pool that the table was made of"
        )
    return _Pass(seen, fitted(texts, room))


def _seen(reading: Reading, evidence: Evidence, values: Sequence[float]) -> Seen:
    ending = reading.trajectory.ending
    words = "not recorded" if ending.state is EndingState.UNKNOWN else str(ending.state)
    fired = () if reading.empty else evidence.fired(reading, values)
    return Seen(
        tuple(found._replace(quote=visible(found.quote)) for found in fired),
        run_of(reading),
        reading.trajectory.instruction,
        f"{words}; refuses the task" if ending.refused else words,
        one_line(str(reading.trajectory.origin), 300),
    )


def _by_code(seen: Seen) -> dict[str, list[str]]:
    """The codes that fired, each with the features that made it fire."""
    codes: dict[str, list[str]] = {}
    for fired in seen.fired:
        for code in fired.codes:
            codes.setdefault(code, []).append(fired.feature)
    return codes


def _learned(selector: str | Selector, evaluation: Evaluation | None) -> tuple[str, ...]:
    """The columns that a fitted selector reads."""
    if isinstance(selector, Selector):
        return selector.columns
    return evaluation.selected if evaluation is not None else ()


def _about(table: FeatureTable, seed: int, labels: bool) -> dict[str, str]:
    from bestofn import __version__

    banks = table.about.get("banks", {})
    made = {
        "version": f"bestofn {__version__}",
        "feature table": table.digest,
        "feature banks": ", ".join(f"{name} {digest}" for name, digest in banks.items()),
        "seed": str(seed),
        "outcomes": "as recorded" if labels else "left aside (--no-labels)",
    }
    return {name: visible(value) for name, value in made.items() if value}
