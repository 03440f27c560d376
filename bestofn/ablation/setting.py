"""What an experiment runs on: pools, who answers, further inputs, and where random draws start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from bestofn.ablation.arm import Arm, Lacking
from bestofn.ablation.asking import Judge, with_columns
from bestofn.ablation.comparison import Comparison, compare
from bestofn.ablation.recipe import Recipe
from bestofn.ablation.subject import Subject
from bestofn.errors import UsageError
from bestofn.scoring import OnProgress

Item = TypeVar("Item")
Watch = Callable[[str], AbstractContextManager[OnProgress | None]]
"""Shows that something takes its time."""


def _unwatched(_: str) -> AbstractContextManager[OnProgress | None]:
    return nullcontext()


@dataclass(frozen=True)
class Setting:
    """Everything that shapes a finding. The same setting gives the same finding, to the last bit."""

    subjects: tuple[Subject, ...]
    """The pools, in the order in which they were given."""
    judge: Judge | None = None
    """None where no model answers."""
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further inputs, by the names that the experiment declares."""
    second: Callable[[str], Judge] | None = None
    """Makes another judge of a model's name or a file of recorded answers, with the same criteria and showing."""
    seed: int = 0
    resamples: int = 10_000
    """Of the bootstrap."""
    permutations: int = 200
    """Of label shuffles and draws of noise."""
    max_features: int = 10
    """Most columns that forward selection adds."""
    command: str = "bestofn ablate NAME --pool POOL"
    """The command that runs this, to say how to get what lacks."""
    beside: Path | None = None
    """A folder of files that inputs may name, beside those where the command runs."""
    watch: Watch = field(default=_unwatched, compare=False)
    _judged: dict[str, Subject] = field(default_factory=dict[str, Subject], init=False, repr=False, compare=False)

    @property
    def subject(self) -> Subject:
        """The pool of an experiment that looks at one. Raises UsageError where there are several."""
        if len(self.subjects) != 1:
            raise UsageError(f"this experiment looks at one pool, and {len(self.subjects)} were given")
        return self.subjects[0]

    @property
    def asking(self) -> Judge:
        """Who answers. Raises Lacking, with the command to give, where nobody does."""
        if self.judge is None:
            raise Lacking(
                "no scores of a model",
                f"{self.command} --model MODEL, or --replay FILE with recorded answers",
            )
        return self.judge

    def with_llm(self, subject: Subject) -> Subject:
        """The pool with a model's columns: those that its table came with, or those of the judge's criteria.

        Raises Lacking where there is neither.
        """
        if subject.llm:
            return subject
        if subject.name not in self._judged:
            self._judged[subject.name] = with_columns(subject, self.asking.ask(subject))
        return self._judged[subject.name]

    def given(self, name: str, what: str) -> str:
        """A further input. Raises Lacking, with the option to give, where it was not given."""
        if name not in self.inputs:
            raise Lacking(f"needs {what}", f"{self.command} --with {name}=...")
        return self.inputs[name]

    def place(self, name: str) -> Path:
        """The file or folder that an input names: as given where it is there, else in the folder `beside`."""
        given = Path(self.inputs[name])
        kept = self.beside / given if self.beside is not None else given
        return kept if kept.exists() and not given.exists() else given

    def compare(self, subject: Subject, arms: Sequence[Arm | Recipe], *, reference: str, title: str = "") -> Comparison:
        """Arms, measured or still to make, beside one of them."""
        made = [arm if isinstance(arm, Arm) else arm.arm(self, subject) for arm in self.each(arms, "measuring arms")]
        return compare(subject, made, reference=reference, title=title, seed=self.seed, resamples=self.resamples)

    def each(self, items: Sequence[Item], what: str) -> Iterator[Item]:
        """The items one by one, telling how many are done."""
        with self.watch(what) as step:
            for done, item in enumerate(items, start=1):
                yield item
                if step is not None:
                    step(done, len(items))

    def only(self, subject: Subject) -> Setting:
        """The same setting for one pool."""
        return replace(self, subjects=(subject,))
