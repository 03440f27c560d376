"""Renders several attempts at one task side by side: the task once, then each attempt under a neutral label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from bestofn.rendering.entries import Entry
from bestofn.rendering.final_state import final_run
from bestofn.rendering.page import Frame, Run, compose
from bestofn.rendering.rendered import Rendered
from bestofn.rendering.tokens import tokenizer_for
from bestofn.rendering.transcript import texts_of, whole_run
from bestofn.rendering.words import Words, load_words
from bestofn.trajectory import Trajectory


class View(StrEnum):
    """How much of each attempt is shown."""

    RUN = "run"
    """The whole run, cut as `transcript.render` cuts it."""
    FINAL = "final"
    """What it left behind, as `final_state` shows it."""


def side_by_side(
    trajectories: Sequence[Trajectory],
    budget_tokens: int,
    *,
    order: Sequence[int] | None = None,
    view: View = View.FINAL,
    model: str | None = None,
    reasoning: bool = False,
    redact: bool = True,
    key: bytes = b"",
) -> Rendered:
    """The task and the attempts in the order asked, for a comparison.

    The attempt that stands in place k (from 0) is `trajectories[order[k]]` and is called `attempt k+1`, nothing else:
    no id and no path of it is shown. All attempts are cut at one level, so that none gets more detail than another.

    Parameters
    ----------
    order
        A permutation of the indices, such as `order.rotations` gives; as listed by default.
    view
        For each attempt its final state, or the run.

    Other parameters and errors as for `transcript.render`.
    """
    places = list(range(len(trajectories))) if order is None else list(order)
    assert sorted(places) == list(range(len(trajectories))), f"no permutation of {len(trajectories)} attempts: {places}"
    words = load_words()
    tasks: Counter[str] = Counter()
    runs: list[Run] = []
    for number, place in enumerate(places, start=1):
        task, found, thought = texts_of(trajectories[place], words, reasoning=reasoning)
        tasks[task] += 1
        runs.append(_run(trajectories[place], found, thought, view, words, f"attempt {number}"))
    preface = words.preface_attempts.replace("{count}", str(len(runs))).replace("{view}", words.views[view])
    # The same task in every order: the one that most attempts were given, and of equals the longest.
    task = max(tasks, key=lambda text: (bool(text), tasks[text], len(text), text))
    tokens = tokenizer_for(model)
    return compose(Frame(preface, task), runs, budget_tokens, tokens, words, redact=redact, key=key)


def _run(trajectory: Trajectory, found: Sequence[Entry], thought: int, view: View, words: Words, label: str) -> Run:
    """One attempt with its weights and notes."""
    if view is View.FINAL:
        return final_run(trajectory, found, thought, words, label)
    return whole_run(trajectory, found, thought, words, label)
