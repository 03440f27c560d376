"""The parts of the report that need no page: text, trimming, firings, where attempts part."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestofn.report.html_bodies import fair, fitted, kept, trimmed
from bestofn.report.html_codes import code_figures
from bestofn.report.html_differences import Run, parting
from bestofn.report.html_evidence import code_name
from bestofn.report.html_text import clipped, visible
from bestofn.table import FeatureTable
from bestofn.trajectory import Actor, Command, Observation, Step


def test_what_hides_or_turns_text_is_shown_as_its_number() -> None:
    """Directions, zero widths, controls and halves of characters; newline, tab and ordinary letters stay."""
    assert visible("a\u202eb\u200bc\x1bd\ud800") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩d⟨U+D800⟩"
    assert visible("héllo\n\tשלם 日本 👍🏽") == "héllo\n\tשלם 日本 👍🏽"


def test_piled_marks_are_counted() -> None:
    """Four marks on a letter stay, more of them would cover other lines."""
    assert visible("Z" + "\u0301" * 100) == "Z" + "\u0301" * 4 + "⟨96 more marks⟩"


@given(st.text())
def test_visible_text_can_be_written_and_read_as_json(text: str) -> None:
    """Whatever a recording holds, what is shown of it is valid UTF-8."""
    assert json.loads(json.dumps(visible(text)).encode().decode()) == visible(text)
    visible(text).encode("utf-8")


def test_clipped_text_says_how_much_more_there_is() -> None:
    """The count is of the characters left out."""
    assert clipped("a" * 1010, 10) == "a" * 10 + " … (+1,000 characters)"


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30), st.integers(0, 5000))
def test_the_fair_cap_fills_the_room_and_no_more(sizes: list[int], budget: int) -> None:
    """Capped sizes fit; where something is capped, the next larger cap would not."""
    cap = fair(sizes, budget)
    assert sum(min(size, cap) for size in sizes) <= budget or cap == 0
    if cap < max(sizes):
        assert sum(min(size, cap + 1) for size in sizes) > budget


def test_trimmed_text_keeps_both_ends() -> None:
    """And says how many characters are gone."""
    text, cut = trimmed("a" * 500 + "b" * 500, 100)
    assert cut == 900
    assert text == "a" * 60 + "\n… 900 characters are left out here …\n" + "b" * 40


def test_a_run_of_many_steps_loses_its_middle_and_counts_it() -> None:
    """Where even short texts are too many, steps between go, with a mark; what is left out adds up."""
    steps = [Step(Actor.AGENT, message=f"step {n}") for n in range(5000)]
    one = kept(steps, 20_000)
    assert one.parts[0].text == "step 0"
    assert one.parts[-1].text == "step 4999"
    assert [part.kind for part in one.parts].count("gap") == 1
    shown = sum(len(part.text) for part in one.parts if part.kind == "said")
    assert shown + one.left_out == one.characters == sum(len(step.message) for step in steps)


def test_a_body_holds_no_tag_and_reads_back() -> None:
    """`</script>` and `<!--` cannot end the element it stands in."""
    text = "</script><!-- <b> é"
    step = Step(Actor.AGENT, commands=(Command(text),), observations=(Observation(text, 0, 3),))
    body = fitted({"x": kept([step], 10_000)}, 10_000)["x"]
    assert "<" not in body.json
    rows = json.loads(body.json)["rows"]
    assert [row[2:5] for row in rows] == [["ran", text, ""], ["output", text, "exit code 3"]]


def test_text_that_grows_when_shown_still_fits_the_room() -> None:
    """A million turns of direction take four times their bytes when shown as numbers."""
    steps = [Step(Actor.AGENT, message="\u202e" * 200_000)]
    assert len(fitted({"x": kept(steps, 80_000)}, 10_000)["x"].json.encode()) <= 10_000


def test_codes_are_named_by_their_taxonomy() -> None:
    """MAST's ids and the names of terminal codes are found; an unknown one stands as it is."""
    assert code_name("Premature_Termination").title == "A.1 Premature Termination"
    assert code_name("3.2").title.startswith("3.2 ")
    assert code_name("My_Code").title == "My Code"


def table(rewards: list[list[float]]) -> FeatureTable:
    rows = [
        (f"t{t}", f"t{t}.{a}", [], reward, False, "") for t, task in enumerate(rewards) for a, reward in enumerate(task)
    ]
    return FeatureTable.build(rows, ())


def test_firings_are_counted_by_outcome_over_swing_tasks() -> None:
    """A task without a swing counts in all attempts only; an unknown outcome on neither side."""
    figures = code_figures(
        table([[1.0, 0.0, np.nan], [1.0, 1.0, 1.0]]),
        [{}, {"A": ["f", "g"]}, {"A": ["g"]}, {"A": ["g"]}, {}, {}],
        permutations=10,
    )
    (row,) = figures.rows
    assert (row.code, row.attempts, row.passing, row.failing, row.features) == ("A", 3, 0, 1, ("g", "f"))
    assert (row.share_passing, row.share_failing) == (0.0, 1.0)
    assert (figures.accuracy, figures.uniform) == (1.0, 0.5)


def test_the_p_value_is_that_of_all_permutations() -> None:
    """Against counting every arrangement of the outcomes by hand."""
    rewards = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
    counts = [[0, 1, 1], [2, 0, 3], [1, 1, 2]]
    codes = [{str(i): ["f"] for i in range(n)} for task in counts for n in task]
    figures = code_figures(table(rewards), codes, permutations=20_000)

    def accuracy(task: tuple[float, ...], fired: list[int]) -> float:
        top = [reward for reward, n in zip(task, fired, strict=True) if n == min(fired)]
        return sum(top) / len(top)

    observed = np.mean([accuracy(tuple(r), c) for r, c in zip(rewards, counts, strict=True)])
    every = [
        np.mean([accuracy(r, c) for r, c in zip(arranged, counts, strict=True)])
        for arranged in itertools.product(*(itertools.permutations(task) for task in rewards))
    ]
    exact = np.mean([value >= observed - 1e-9 for value in every])
    assert figures.accuracy == pytest.approx(observed)
    assert figures.p_value == pytest.approx(exact, abs=0.015)


def test_attempts_part_at_their_first_different_command() -> None:
    """What all begin with is counted, then each one's next, and what only it ran."""
    found = parting([Run(("ls", "make", "test"), "a"), Run(("ls", "make", "rm x", "test"), "b"), Run(("ls",), "")])
    assert found.shared == 1
    assert found.nexts == ("make", "make", "")
    assert found.own == ((), ("rm x",), ())
    assert found.last_words == ("a", "b", "")
