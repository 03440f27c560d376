"""A model's scores for an experiment: who answers, how runs are shown, and the columns that come of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bestofn.ablation.arm import Lacking
from bestofn.ablation.subject import Subject

if TYPE_CHECKING:
    from bestofn.criteria import CriteriaSet
    from bestofn.judge.judging import Judgement
    from bestofn.judge.question import Method
    from bestofn.judge.showing import Showing
    from bestofn.judge.shown import ShownCounts
    from bestofn.llm.client import Answerer

Methods = Callable[["Showing", "ShownCounts"], Sequence["Method"]]
"""What to ask, once it is known how runs are shown."""


@dataclass(frozen=True)
class Judge:
    """Who answers, and what is asked unless an experiment says otherwise."""

    answerer: Answerer
    """A `Client`, or a `Replay` of recorded answers."""
    criteria: tuple[CriteriaSet, ...]
    showing: Showing
    judgements: list[Judgement] = field(default_factory=list, compare=False)
    """Every run so far, for the account at the end."""

    @property
    def model(self) -> str:
        """The model's name."""
        return str(getattr(self.answerer, "model", ""))

    def ask(
        self,
        subject: Subject,
        methods: Methods | None = None,
        sets: Sequence[CriteriaSet] | None = None,
        showing: Showing | None = None,
    ) -> Judgement:
        """Ask about every attempt of a pool.

        Parameters
        ----------
        methods
            What to ask, such as a tournament; by default every criterion of `sets`.
        sets
            The criteria, for the record; this judge's own by default.
        showing
            How runs are shown; as this judge has it by default.

        Raises Lacking where only a table was given, and no recordings to ask about.
        """
        from bestofn.judge.judging import conclude
        from bestofn.judge.plan import methods_of
        from bestofn.judge.question import ask_all
        from bestofn.judge.shown import ShownCounts

        if subject.pool is None:
            raise Lacking("a table holds no recordings to ask about", "give the pool with --pool instead of --table")
        chosen, view, shown = tuple(sets or self.criteria), showing or self.showing, ShownCounts()
        asked = list(methods(view, shown)) if methods is not None else methods_of(chosen, view, shown)
        summary = ask_all(asked, subject.pool, self.answerer)
        judgement = conclude(asked, self.answerer, summary, shown, view, chosen)
        self.judgements.append(judgement)
        return judgement


def with_columns(subject: Subject, judgement: Judgement, *, alone: bool = False) -> Subject:
    """The pool with a judgement's columns.

    Parameters
    ----------
    alone
        Leave out what models gave before.
    """
    table = subject.table
    if alone:
        table = table.only(subject.heuristics)
    return subject.with_table(judgement.onto(table))
