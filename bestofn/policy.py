"""Which selector a task gets when nobody asks for one, and why, in one line.

What decides for a task are the other tasks only: how many of them are swing tasks, and how well their attempts do.

- From 50 swing tasks on, forward selection, redone without the task; from 20 on, re-weighting fitted without it.
- Else, or without labels, a rule: gate, then the shortest; or the gate alone where shorter is not known to be better:
  in a pool that looks weak, in a dialogue, and where the recordings do not tell lengths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bestofn.fitting import Fits
from bestofn.metrics import Floats, pass_rate, swing_tasks
from bestofn.ranks import RANK_BITS, snap
from bestofn.selector import BASELINES, gated
from bestofn.table import FeatureTable

SWING_FOR_REWEIGHT = 20
"""Swing tasks among the others from which re-weighting was seen to overtake what was expected."""
SWING_FOR_FORWARD = 50
"""Swing tasks among the others from which features are selected."""
WEAK_PASS_RATE = 0.6
"""Pass@1 of the other tasks below which 'shorter is better' is not trusted: half-way between the pools where it held
(78% and more) and where it was wrong (42%)."""
FEW_TASKS = 5
"""Labelled tasks among the others below which their Pass@1 says nothing."""
MANY_DROPPED = 1 / 3
"""Share of attempts dropped by the gate above which a pool without labels looks weak."""
DIALOGUE_TURNS = 1.5
"""Mean user turns an attempt above which a pool is a dialogue: with one turn, the user only gives the task."""
USER_TURNS = "n_user_turns"
"""Column with the number of user turns, where there is one."""


class Decision(NamedTuple):
    """What the policy gives every attempt of a table."""

    scores: Floats
    """(n,) scores, higher is better; comparable within a task."""
    selectors: tuple[str, ...]
    """(tasks,) the selector that each task got."""
    line: str
    """Which selectors, and why."""


class _Choice(NamedTuple):
    """A selector's name and why it is taken."""

    selector: str
    reason: str


def decide(
    table: FeatureTable,
    *,
    labels: bool = True,
    user_turns: float | None = None,
    directions: Mapping[str, float] | None = None,
    fits: Fits | None = None,
) -> Decision:
    """The scores of every attempt, each from a selector that its own task's outcomes had no part in.

    Parameters
    ----------
    labels
        False to leave all recorded outcomes aside.
    user_turns
        Mean number of user turns an attempt; by default that of the table's column `n_user_turns`, if it has one.
    directions
        See `fit_reweight`.
    fits
        The same table's fits, where the caller has them already.

    Raises TableError where rewards that would be learned from lie outside 0 to 1.
    """
    if not labels:
        table = replace(table, rewards=np.full(len(table), np.nan))
    if len(table) == 0 or table.empty.all():
        line = "no recording holds a turn of the agent, so nothing tells the attempts apart: all share the pick"
        return Decision(BASELINES["random"].scores(table), ("random",) * len(table.task_names), line)
    fits = fits if fits is not None and labels else Fits(table, directions)
    choices = _choices(table, _no_length(table, user_turns))
    scores = np.zeros(len(table))
    for name in dict.fromkeys(choice.selector for choice in choices):
        mine = np.array([choice.selector == name for choice in choices])[table.groups]
        scores[mine] = fits.scores(name)[mine]
    return Decision(scores, tuple(choice.selector for choice in choices), _line(choices))


def chosen_selectors(table: FeatureTable, *, user_turns: float | None = None) -> tuple[str, ...]:
    """(tasks,) the selector that `decide` gives each task; it takes labels and the rules' columns, and fits nothing."""
    if len(table) == 0 or table.empty.all():
        return ("random",) * len(table.task_names)
    return tuple(choice.selector for choice in _choices(table, _no_length(table, user_turns)))


def _choices(table: FeatureTable, no_length: str) -> list[_Choice]:
    """What each task gets, by what the other tasks are."""
    rates = pass_rate(table.rewards, table.groups)
    labelled, swing = ~np.isnan(rates), swing_tasks(table.rewards, table.groups)
    # On the grid, the total less a task's own rate is the sum over the others to the last bit.
    known = snap(np.where(labelled, rates, 0.0), RANK_BITS)
    n_others, sums, n_swing = labelled.sum() - labelled, known.sum() - known, swing.sum() - swing
    unseen = _looks_weak(table)
    choices = []
    for others, rate_sum, swings in zip(n_others.tolist(), sums.tolist(), n_swing.tolist(), strict=True):
        if swings >= SWING_FOR_FORWARD:
            choices.append(_Choice("forward", _learned("selected", swings, SWING_FOR_FORWARD)))
        elif swings >= SWING_FOR_REWEIGHT:
            choices.append(_Choice("reweight", _learned("weighted", swings, SWING_FOR_REWEIGHT)))
        else:
            few = _too_few(swings) if others else _nothing_to_learn(table)
            weak = _weak(rate_sum / others) if others >= FEW_TASKS else unseen
            choices.append(_rule(table, few, no_length or weak))
    return choices


def _nothing_to_learn(table: FeatureTable) -> str:
    if len(table.task_names) == 1:
        return "there is no other task to learn from"
    return "there are no labels to learn from"


def _learned(done: str, swings: int, needed: int) -> str:
    return f"features {done} for each task on the other tasks, {swings} of them swing tasks ({needed} or more)"


def _too_few(swings: int) -> str:
    return f"of the other tasks {swings} are swing tasks, too few to learn from ({SWING_FOR_REWEIGHT} are needed)"


def _rule(table: FeatureTable, few: str, no_length: str) -> _Choice:
    """Gate and shortest, without what this table cannot tell."""
    name = "gate" if no_length else "gate-shortest"
    if BASELINES["gate"].missing(table):
        name = "random" if no_length else "shortest"
    return _Choice(name, f"{few}, and {no_length}" if no_length else few)


def _no_length(table: FeatureTable, user_turns: float | None) -> str:
    """Why the shortest is not taken whatever the labels say; '' where nothing speaks against it."""
    if "n_characters" not in table.columns or np.isnan(table.column("n_characters")).all():
        return "the recordings do not tell lengths"
    if user_turns is None and USER_TURNS in table.columns:
        turns = table.column(USER_TURNS)
        user_turns = float(np.nanmean(turns)) if not np.isnan(turns).all() else None
    if user_turns is not None and user_turns > DIALOGUE_TURNS:
        return f"in a dialogue ({user_turns:.1f} user turns an attempt) shorter is not better"
    return ""


def _weak(rate: float) -> str:
    """Why a pool is weak by the Pass@1 of the other tasks; '' where it is not."""
    return f"where Pass@1 is below {WEAK_PASS_RATE:.0%} shorter is not better" if rate < WEAK_PASS_RATE else ""


def _looks_weak(table: FeatureTable) -> str:
    """Why a pool looks weak without labels; '' where it does not."""
    share = float(gated(table)[~table.empty].mean())
    return f"the gate drops {share:.0%} of the attempts, so the pool looks weak" if share > MANY_DROPPED else ""


def _line(choices: list[_Choice]) -> str:
    """The choices in one line: each selector with the reason of most of its tasks, the commonest first."""
    parts = []
    names = [choice.selector for choice in choices]
    for name in sorted(set(names), key=lambda n: (-names.count(n), n)):
        reasons = [choice.reason for choice in choices if choice.selector == name]
        share = "" if len(reasons) == len(choices) else f" for {len(reasons)} of {len(choices)} tasks"
        parts.append(f"{name}{share}: {max(sorted(set(reasons)), key=reasons.count)}")
    return "; ".join(parts)
