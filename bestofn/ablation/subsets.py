"""Best of n of N: the expected outcome of a selector that sees a random n of a task's attempts, computed exactly.

Two ways. Where a score does not depend on which other attempts are there, a closed form: of the tie groups of a task,
from the best down, the one that is the best of the subset gives the mean outcome of its members, since by symmetry
each of them is as likely to be there and to be picked. With a attempts above a group of g, and N in all, that happens
in C(N - a, n) - C(N - a - g, n) of the C(N, n) subsets. Where scores do depend on who else is there, as ranks and
gates do, every subset is laid out as a task of its own and scored as it would be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np

from bestofn.ablation.subject import Subject
from bestofn.metrics import Bools, Floats, Ints, accuracy_by_task, count_tasks, rows_by_task, task_sums
from bestofn.table import FeatureTable, texts

Scorer = Callable[[FeatureTable, Ints], Floats]
"""Scores of rows, given the table of subsets, and for each of its rows the task's index in the original table."""
MOST_ROWS = 3_000_000
"""Rows that the subsets of one size may come to, laid out."""


def best_of(scores: Floats, rewards: Floats, groups: Ints, n: int) -> Floats:
    """(tasks,) expected outcome of the top-scored of n random attempts, tied tops sharing the pick.

    A task with fewer than n attempts of known outcome is read with all it has. NaN where none is known.
    """
    n_tasks = count_tasks(groups)
    out = np.full(n_tasks, np.nan)
    known = ~np.isnan(rewards)
    for rows in rows_by_task(groups):
        mine = rows[known[rows]]
        if len(mine):
            out[groups[mine[0]]] = _best_of_one(scores[mine], rewards[mine], min(n, len(mine)))
    return out


def _best_of_one(scores: Floats, rewards: Floats, n: int) -> float:
    total = len(scores)
    above, parts = 0, []
    for value in np.unique(scores)[::-1].tolist():
        members = rewards[scores == value]
        size = len(members)
        chance = (math.comb(total - above, n) - math.comb(total - above - size, n)) / math.comb(total, n)
        parts.append(chance * math.fsum(members.tolist()) / size)
        above += size
    return math.fsum(parts)


def n_rows(subject: Subject, n: int) -> int:
    """Rows that all subsets of n come to."""
    sizes = np.bincount(subject.table.groups[~np.isnan(subject.table.rewards)]).tolist()
    return sum(math.comb(size, min(n, size)) * min(n, size) for size in sizes if size)


def best_of_subsets(subject: Subject, n: int, scorer: Scorer) -> Floats:
    """(tasks,) the same with every subset scored for itself."""
    table, groups = subject.table, subject.table.groups
    known: Bools = ~np.isnan(table.rewards)
    rows: list[int] = []
    names: list[str] = []
    of_task: list[int] = []  # one a subset
    for members in rows_by_task(groups):
        mine = members[known[members]].tolist()
        for chosen in combinations(mine, min(n, len(mine))):
            if chosen:
                rows += chosen
                names += [str(len(of_task))] * len(chosen)
                of_task.append(int(groups[chosen[0]]))
    laid = _renamed(table.rows(np.array(rows, dtype=np.intp)), names)
    owners = np.array(of_task, dtype=np.intp)
    outcome = accuracy_by_task(scorer(laid, owners[laid.groups]), laid.rewards, laid.groups)
    n_tasks = len(table.task_names)
    counts = task_sums(np.ones(len(owners)), owners, n_tasks)
    sums = task_sums(outcome, owners, n_tasks)
    out: Floats = np.divide(sums, counts, out=np.full(n_tasks, np.nan), where=counts > 0)
    return out


def _renamed(table: FeatureTable, tasks: list[str]) -> FeatureTable:
    from dataclasses import replace

    return replace(table, tasks=texts(tasks))
