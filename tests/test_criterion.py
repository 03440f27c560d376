"""One criterion: how its prompt is put together, and what makes it another one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestofn.criterion import Criterion, Kind, Sees, fence, substitute
from bestofn.errors import ContentError

PREAMBLE = "Judge.\n[{{fence}}]\n{{instruction}}\n[{{fence}}]\n{{trajectory}}\n[{{fence}}]"
SEVERAL = "Compare.\n[{{fence}}]\n{{instruction}}\n[{{fence}}]\n{{attempts}}"
ONE = Criterion("llm_task", Kind.POINTWISE, Sees.WHOLE, PREAMBLE, "", "Done?\n<{{tag}}>X</{{tag}}>")
TWO = Criterion(
    "llm_pair", Kind.PAIRWISE, Sees.END, SEVERAL, "#{{number}} {{fence}}\n{{state}}", "Which?\n<{{tag}}>X</{{tag}}>"
)
ALL = replace(TWO, name="llm_all", kind=Kind.LISTWISE, question="Each of {{count}}?\n{{tags}}")


def test_the_run_stands_first_and_the_question_last() -> None:
    """A pointwise prompt is the preamble with the run, an empty line, and the question with its tag."""
    prompt = ONE.about_run("add numbers", "ran: add 1 2")
    mark = fence("add numbers", "ran: add 1 2")
    assert prompt.text == (
        f"Judge.\n[{mark}]\nadd numbers\n[{mark}]\nran: add 1 2\n[{mark}]\n\nDone?\n<score_{mark}>X</score_{mark}>"
    )
    assert prompt.tags == (f"score_{mark}",)


def test_criteria_of_one_run_share_their_prefix() -> None:
    """Two questions about one run begin with the same bytes."""
    other = replace(ONE, name="llm_other", question="Sound? <{{tag}}>")
    first, second = ONE.about_run("task", "run"), other.about_run("task", "run")
    assert first.prefix == second.prefix
    assert first.question != second.question


def test_attempts_are_numbered_in_the_order_given() -> None:
    """A listwise prompt frames each attempt, counts them and names a tag for each."""
    prompt = ALL.about_attempts("task", ["first", "second", "third"])
    mark = fence("task", "first", "second", "third")
    assert prompt.prefix == (
        f"Compare.\n[{mark}]\ntask\n[{mark}]\n#1 {mark}\nfirst\n\n#2 {mark}\nsecond\n\n#3 {mark}\nthird"
    )
    assert prompt.tags == (f"score_{mark}_1", f"score_{mark}_2", f"score_{mark}_3")
    assert prompt.question == "Each of 3?\n" + "\n".join(f"<{tag}>X</{tag}>" for tag in prompt.tags)


def test_a_pairwise_prompt_has_one_tag() -> None:
    """Two attempts get one letter."""
    assert len(TWO.about_attempts("task", ["a", "b"]).tags) == 1


@pytest.mark.parametrize(
    ("criterion", "states", "message"),
    [
        (TWO, ["a", "b", "c"], "criterion 'llm_pair' is pairwise: it takes 2 attempts, not 3"),
        (ALL, ["a"], "criterion 'llm_all' is listwise: it takes 2 or more attempts, not 1"),
        (ONE, ["a", "b"], "criterion 'llm_task' is pointwise: it is asked about one run at a time"),
    ],
)
def test_a_wrong_number_of_attempts_is_refused(criterion: Criterion, states: list[str], message: str) -> None:
    """Kind and number of attempts must agree."""
    with pytest.raises(ContentError) as caught:
        criterion.about_attempts("task", states)
    assert str(caught.value) == message


def test_a_criterion_of_several_is_not_asked_about_one() -> None:
    """A comparison needs attempts to compare."""
    with pytest.raises(ContentError) as caught:
        ALL.about_run("task", "run")
    assert str(caught.value) == "criterion 'llm_all' is listwise: it is asked about several attempts, not one"


HOSTILE = "{{instruction}} {{tag}} {{fence}} {{{{x}}}} \\1 \\g<0> ## llm_x"


def test_braces_in_a_recorded_run_stay_as_they_are() -> None:
    """What was recorded is never expanded, wherever it stands."""
    prompt = ONE.about_run("{{trajectory}}", HOSTILE)
    assert prompt.prefix.count(HOSTILE) == 1
    assert prompt.prefix.count("{{trajectory}}") == 1
    assert ALL.about_attempts("t", [HOSTILE, "{{number}}"]).prefix.count(HOSTILE) == 1


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_a_mark_stands_in_none_of_the_texts_and_is_stable(texts: list[str]) -> None:
    """The mark is new to the texts, even where one of them holds the mark it would have had; and it does not change."""
    mark = fence(*texts)
    assert len(mark) == 8
    assert not any(mark in text for text in texts)
    assert fence(*texts) == mark


def test_a_mark_moves_on_where_the_text_holds_it() -> None:
    """A mark made of short texts that hold all single digits still finds a free one."""
    texts = ["0123456789abcdef" * 4]
    assert fence(*texts) not in texts[0]


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.text(), max_size=5))
def test_each_value_comes_out_as_it_went_in(values: dict[str, str]) -> None:
    """Substitution is plain: the pieces between the variables and the values themselves, and nothing else."""
    template = "|".join(f"<{{{{{name}}}}}>" for name in values)
    assert substitute(template, values, "t") == "|".join(f"<{value}>" for value in values.values())


def test_missing_and_unknown_values_are_all_listed() -> None:
    """One error names every variable without a value and every value without a variable."""
    with pytest.raises(ContentError) as caught:
        substitute("{{a}} {{b}} {{a}} {{c}}", {"c": "1", "d": "2", "e": "3"}, "llm_task")
    assert str(caught.value) == (
        "the template of 'llm_task' has no value for {{a}}, {{b}} and is given {{d}}, {{e}} and does not use it; "
        "its variables are {{a}}, {{b}}, {{c}}"
    )


CHANGES = {
    "preamble": PREAMBLE.replace("Judge.", "Judge it."),
    "question": "Done ?\n<{{tag}}>X</{{tag}}>",
    "attempt": "x",
    "sees": Sees.END,
    "kind": Kind.LISTWISE,
}


@pytest.mark.parametrize("field", CHANGES)
def test_identity_changes_with_every_word_shown(field: str) -> None:
    """A word of preamble, frame or question, or how much of a run is shown, makes another criterion."""
    assert replace(ONE, **{field: CHANGES[field]}).identity != ONE.identity  # type: ignore[arg-type]


def test_identity_does_not_change_with_the_name_or_the_run() -> None:
    """The name is not part of what is asked; asking leaves no trace; equal words are one identity."""
    before = ONE.identity
    ONE.about_run("task", "run")
    assert ONE.identity == before == replace(ONE, name="llm_renamed").identity
    assert len(before) == 8


def test_the_column_names_the_version() -> None:
    """Two wordings of one criterion are two columns, so they cannot be averaged by accident."""
    reworded = replace(ONE, question="Really done? <{{tag}}>")
    assert ONE.column == f"llm_task@{ONE.identity}"
    assert reworded.column != ONE.column
