"""Contexts of so many tokens: their exact length, and where excerpts come from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from judged_pool import record

from bestofn import taxonomy
from bestofn.ablation import Lacking, Setting, Subject
from bestofn.ablation.context import BUDGETS, KINDS, cut_to, nothing, read, variant
from bestofn.ablation.variant import Variant
from bestofn.ablation.wording import BEGIN, END
from bestofn.catalogue import load_pool
from bestofn.content import content_root
from bestofn.criteria import load
from bestofn.errors import UsageError
from bestofn.rendering.tokens import tokenizer
from bestofn.scoring import score_pool


def write(folder: Path, *, prefix: str = "task", **fields: Any) -> Path:
    """Eight tasks of two attempts whose outputs name their task's number."""
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(8):
        runs = [record(f"thing {n}", f"{prefix}{n}.{at}", quality, **fields) for at, quality in enumerate("BT")]
        for at, run in enumerate(runs):
            run["task"] = f"{prefix}{n}"
            run["messages"][2]["content"] = "words and more words " * 60 + f"SIGN{n} of attempt {at}."
            run.setdefault("reward", float(at == 0))
        (folder / f"{prefix}{n}.jsonl").write_text("\n".join(map(json.dumps, runs)) + "\n")
    return folder


def subject_of(folder: Path) -> Subject:
    """The pool as an experiment has it."""
    pool = load_pool(folder)
    return Subject.of("p", score_pool(pool).table, pool)


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    """The pool."""
    return subject_of(write(tmp_path / "pool"))


def contexts(made: Variant) -> Iterator[str]:
    """The texts as they stand in the variant's questions."""
    for part in made.parts:
        [criterion] = part.sets[0].criteria
        lines = criterion.question.split("\n")
        yield "\n".join(lines[lines.index(BEGIN) + 1 : lines.index(END)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_a_context_has_exactly_so_many_tokens(kind: str, budget: int, subject: Subject) -> None:
    """What stands between the lines of the question counts, its margin included; none is shorter."""
    made, told = variant(Setting((subject,)), subject, kind, budget)
    assert told == budget
    assert [tokenizer().count(text) for text in contexts(made)] == [budget] * len(made.parts)


def test_a_shorter_text_is_all_there_is_of_it() -> None:
    """Its own length is told, and nothing is made up to fill the budget."""
    cut = cut_to("One short line.", 100)
    assert cut.text == "| One short line."
    assert cut.tokens == tokenizer().count(cut.text) < 100


def test_no_task_is_judged_with_excerpts_of_itself(subject: Subject) -> None:
    """Two halves hold all tasks between them, and each sees the ends of the other half's attempts alone."""
    made, _ = variant(Setting((subject,)), subject, "excerpts", 2000)
    judged = [part.tasks or frozenset() for part in made.parts]
    assert sorted(name for tasks in judged for name in tasks) == [f"task{n}" for n in range(8)]
    for tasks, text in zip(judged, contexts(made), strict=True):
        seen = {f"task{n}" for n in range(8) if f"SIGN{n} " in text}
        assert seen
        assert not seen & tasks


def test_names_and_outcomes_change_no_excerpt(tmp_path: Path, subject: Subject) -> None:
    """The same runs under other names and with other rewards give the same questions to the same runs."""
    other = subject_of(write(tmp_path / "other", prefix="zz", reward=0.8642))
    for budget in BUDGETS:
        first, second = (
            {frozenset(name[-1] for name in part.tasks or ()): text
             for part, text in zip(made.parts, contexts(made), strict=True)}
            for made, _ in (variant(Setting((one,)), one, "excerpts", budget) for one in (subject, other))
        )  # fmt: skip
        assert first == second
        assert not any("0.8642" in text for text in second.values())


def test_a_file_gives_prose_and_excerpts(tmp_path: Path, subject: Subject) -> None:
    """Text below a line of dashes, or JSON; excerpts of a file are for all tasks."""
    (tmp_path / "prose.txt").write_text("# For the reader\n---\nFor the judge.\n")
    assert read(tmp_path / "prose.txt").prose == "For the judge."
    (tmp_path / "both.json").write_text(json.dumps({"prose": "P", "excerpts": ["one", "two"]}))
    assert read(tmp_path / "both.json") == ("P", ("one", "two"))
    (tmp_path / "wrong.json").write_text('{"prose": 3}')
    with pytest.raises(UsageError, match="must be an object with `prose`"):
        read(tmp_path / "wrong.json")
    setting = Setting((subject,), inputs={"context": str(tmp_path / "both.json")})
    made, _ = variant(setting, subject, "excerpts", 100)
    assert [part.tasks for part in made.parts] == [None]
    assert next(contexts(made)).split("\n") == ["| From a run at another task:", "| one", "|",
                                                "| From a run at another task:", "| two"]  # fmt: skip


@pytest.mark.parametrize("name", taxonomy.names())
def test_every_shipped_taxonomy_has_a_prose_with_its_origin(name: str) -> None:
    """It says above the line what it is and where it comes from, and has tokens for the smallest budget at least."""
    path = content_root("data") / "contexts" / f"{name}.md"
    head, _, _ = path.read_text(encoding="utf-8").partition("\n---\n")
    assert f"- taxonomy: {name}\n" in head
    assert "- origin: written from the published names of the taxonomy's codes; no recorded run was read for it" in head
    assert cut_to(read(path).prose, 10_000).tokens >= BUDGETS[0]


def test_the_default_taxonomys_prose_fills_the_largest_budget() -> None:
    """So that all three kinds of text are as long as each other."""
    path = content_root("data") / "contexts" / "terminal-bench.md"
    assert cut_to(read(path).prose, 10_000).tokens >= BUDGETS[-1]


def test_what_cannot_be_made_lacks_with_a_reason(subject: Subject) -> None:
    """A table has no runs, and a single task no others."""
    made, told = variant(Setting((subject,)), replace(subject, pool=None), "excerpts", 100)
    assert told == 0
    assert isinstance(made.lacking, Lacking)
    assert made.lacking.why == "a table holds no recordings to take excerpts of"


def test_nothing_but_the_prosecutors_is_left_out() -> None:
    """The reference asks the default's other questions, word for word."""
    own = load("terminal")
    assert nothing(Setting(())).columns() == tuple(c.column for c in own.criteria if "prosecutor" not in c.name)
