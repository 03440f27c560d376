"""Answers, well-behaved and not, and the score or the reason that each comes to."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_server import chat, token

from bestofn.llm.answer import Completion, Missing, Reason, Source
from bestofn.llm.letters import LetterScore, State, letter_value, read_score, read_scores
from bestofn.llm.request import LETTERS

TAG = "verdict_3f9a2c81"
CUT_WAY_OUT = "allow more output tokens, or show less where the context was full"


def score(body: dict[str, Any], tag: str = TAG) -> LetterScore:
    """The score of a response body."""
    return read_score(Completion.from_api(body).trimmed((tag,)), tag)


def half(a: str, b: str) -> dict[str, float | None]:
    """Two tokens of equal probability."""
    return {a: math.log(0.5), b: math.log(0.5)}


def test_the_scale_falls_evenly_from_a_to_t() -> None:
    """A is 1, T is 0, and each step is one nineteenth."""
    values = [letter_value(letter) for letter in LETTERS]
    assert values[0] == 1.0
    assert values[-1] == 0.0
    assert len(values) == 20
    assert all(a - b == pytest.approx(1 / 19) for a, b in pairwise(values))


def test_score_is_the_expectation_over_letters() -> None:
    """The score is the mean letter value under the alternatives, renormalised."""
    top = {"A": math.log(0.6), "T": math.log(0.2), "maybe": math.log(0.1)}
    tokens = [token(f"<{TAG}>"), token("A", math.log(0.6), top), token(f"</{TAG}>")]
    found = score(chat(f"<{TAG}>A</{TAG}>", tokens=tokens))
    assert found.state is State.OK
    assert found.score == pytest.approx(0.75)
    assert found.mass == pytest.approx(0.8)
    assert found.letter == "A"
    assert found.distribution[0] == pytest.approx(0.75)
    assert sum(found.distribution) == pytest.approx(1.0)


def test_spellings_of_a_letter_are_summed() -> None:
    """Bare, spaced, lower-case and quoted spellings count for one letter, and words that begin with it do not."""
    top = {"A": 0.2, " A": 0.2, "a": 0.1, '"A': 0.1, "A<": 0.1, "And": 0.1, "AB": 0.1, "T": 0.1}
    logs = {spelling: math.log(p) for spelling, p in top.items()}
    found = score(chat(f"<{TAG}>A", tokens=[token(f"<{TAG}>"), token("A", logs["A"], logs)]))
    assert found.mass == pytest.approx(0.8)
    assert found.score == pytest.approx(0.7 / 0.8)


@pytest.mark.parametrize(
    ("before", "chosen", "other"),
    [
        ([f"<{TAG}>"], "A", "C"),
        ([f"<{TAG}>"], " A", " C"),
        ([f"<{TAG}>", " "], "A", "C"),
        ([f"<{TAG}>", " ", "\n\n"], "A", "C"),
        ([f"<{TAG}"], ">A", ">C"),
        ([f"<{TAG}"], "> A", ">C"),
        (["<", TAG[:-3]], f"{TAG[-3:]}>A", f"{TAG[-3:]}>C"),
        ([f"<{TAG}>", "**"], "A", "C"),
        ([f"<{TAG}>", "", ""], "A", "C"),
        ([f"<{TAG}>"], "A</", "C</"),
        ([f"<{TAG}>"], "ĠA", "ĠC"),
        ([f"<{TAG}>", "▁"], "A", "C"),
    ],
)
def test_the_letter_is_found_by_offset(before: list[str], chosen: str, other: str) -> None:
    """However the tokens are cut, the distribution of the letter's own token is read."""
    tokens = [token("I thought. ")] + [token(t) for t in before]
    tokens += [token(chosen, math.log(0.5), half(chosen, other)), token(" and on")]
    found = score(chat(f"I thought. <{TAG}>A", tokens=tokens))
    assert (found.state, found.letter) == (State.OK, "A")
    assert found.score == pytest.approx((1.0 + letter_value("C")) / 2)


def test_a_whitespace_alternative_takes_no_part() -> None:
    """A bare space that competes with the letter lowers the mass, and not the score."""
    top = {" ": math.log(0.3), "A": math.log(0.7)}
    found = score(chat(f"<{TAG}>A", tokens=[token(f"<{TAG}>"), token("A", math.log(0.7), top)]))
    assert (found.state, found.score) == (State.OK, 1.0)
    assert found.mass == pytest.approx(0.7)


def test_a_fused_alternative_must_share_what_stands_before_the_letter() -> None:
    """Where '>A' was chosen, '>C' is an alternative letter and a bare 'T' is not."""
    top = {">A": math.log(0.5), ">C": math.log(0.25), "T": math.log(0.25)}
    found = score(chat(f"<{TAG}>A", tokens=[token(f"<{TAG}"), token(">A", math.log(0.5), top)]))
    assert found.mass == pytest.approx(0.75)
    assert found.distribution[LETTERS.index("T")] == 0.0


def test_little_mass_is_degraded_and_still_an_expectation() -> None:
    """Under half of the probability on letters gives a degraded score with the mass stated."""
    top = {"A": math.log(0.2), "C": math.log(0.2), "Hmm": math.log(0.6)}
    found = score(chat(f"<{TAG}>A", tokens=[token(f"<{TAG}>"), token("A", math.log(0.2), top)]))
    assert (found.state, found.reason) == (State.DEGRADED, Reason.LOW_MASS)
    assert found.score == pytest.approx((1.0 + letter_value("C")) / 2)
    assert found.detail == "letters hold 0.40 of the probability, under 0.5"


def test_without_logprobs_the_letter_alone_counts() -> None:
    """An answer without log-probabilities is degraded, with the letter's own value."""
    found = score(chat(f"Well. <{TAG}>C</{TAG}>"))
    assert (found.state, found.reason, found.score) == (State.DEGRADED, Reason.NO_LOGPROBS, letter_value("C"))
    assert math.isnan(found.mass)
    assert found.distribution == ()


def test_an_empty_logprob_list_is_no_logprobs() -> None:
    """A server that returns an empty list gave none."""
    assert score(chat(f"<{TAG}>C</{TAG}>", tokens=[])).reason is Reason.NO_LOGPROBS


def test_fewer_alternatives_than_asked_are_enough() -> None:
    """Two alternatives of twenty asked give an expectation."""
    tokens = [token(f"<{TAG}>"), token("A", math.log(0.5), half("A", "C"))]
    assert score(chat(f"<{TAG}>A", tokens=tokens)).state is State.OK


def test_no_alternatives_is_degraded_unless_the_letter_is_certain() -> None:
    """The chosen letter alone says nothing about the others, unless nothing is left for them."""
    unsure = score(chat(f"<{TAG}>A", tokens=[token(f"<{TAG}>"), token("A", math.log(0.6))]))
    certain = score(chat(f"<{TAG}>A", tokens=[token(f"<{TAG}>"), token("A", -0.001)]))
    assert (unsure.state, unsure.reason, unsure.score) == (State.DEGRADED, Reason.NO_ALTERNATIVES, 1.0)
    assert certain.state is State.OK


@pytest.mark.parametrize("bad", [math.nan, None, 3.0, "x"])
def test_a_logprob_that_is_no_number_is_left_out(bad: Any) -> None:
    """NaN, null, a positive number and a text take no part; the other alternatives do."""
    top = {"A": bad, "C": math.log(0.9)}
    found = score(chat(f"<{TAG}>A", tokens=[token(f"<{TAG}>"), token("A", bad, top)]))
    assert found.score == pytest.approx(letter_value("C"))
    assert (found.letter, found.mass) == ("A", pytest.approx(0.9))


def test_logprobs_that_are_all_nan_leave_the_letter_alone() -> None:
    """With no usable number the letter itself counts, degraded."""
    found = score(chat(f"<{TAG}>C", tokens=[token(f"<{TAG}>"), token("C", math.nan, {"C": math.nan, "A": None})]))
    assert (found.state, found.reason, found.score) == (State.DEGRADED, Reason.NO_LOGPROBS, letter_value("C"))


def test_minus_infinity_is_no_probability() -> None:
    """A floor of -inf or -9999 counts as nothing."""
    top = {"A": math.log(0.9), "T": -math.inf, "S": -9999.0}
    found = score(chat(f"<{TAG}>A", tokens=[token(f"<{TAG}>"), token("A", math.log(0.9), top)]))
    assert found.score == 1.0


def test_twenty_letters_in_twenty_places() -> None:
    """A flat distribution over all letters scores one half."""
    top = {letter: math.log(0.05) for letter in LETTERS}
    found = score(chat(f"<{TAG}>J", tokens=[token(f"<{TAG}>"), token("J", math.log(0.05), top)]))
    assert found.score == pytest.approx(0.5)
    assert found.mass == pytest.approx(1.0)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize("content", [None, "", " \n"])
def test_an_answer_in_a_reasoning_field_is_read(field: str, content: str | None) -> None:
    """Where content is blank, the reasoning field holds the answer, and the logprobs score it."""
    tokens = [token(f"<{TAG}>"), token("A", math.log(0.5), half("A", "C"))]
    found = score(chat(content, tokens=tokens, **{field: f"<{TAG}>A"}))
    assert (found.state, found.letter) == (State.OK, "A")


def test_logprobs_alone_are_an_answer() -> None:
    """With no text in any field, the text that the logprob tokens spell is read."""
    tokens = [token(f"<{TAG}>"), token("A", math.log(0.5), half("A", "C"))]
    assert score(chat(None, tokens=tokens)).state is State.OK


def test_a_verdict_only_thought_is_none() -> None:
    """A tag in the reasoning does not count where the answer says something else."""
    tokens = [token(f"<{TAG}>"), token("A", -0.1), token("I cannot tell.")]
    found = score(chat("I cannot tell.", tokens=tokens, reasoning=f"perhaps <{TAG}>A"))
    assert (found.state, found.reason) == (State.MISSING, Reason.NO_TAG)
    assert found.detail == f"<{TAG}> stands in the reasoning but not in the answer"


def test_the_answer_stands_behind_inline_thinking() -> None:
    """Behind </think> the answer begins, in the text and in the logprob stream."""
    text = f"<think>first <{TAG}>T</{TAG}></think>so <{TAG}>A</{TAG}>"
    tokens = [token(f"<think>first <{TAG}>"), token("T"), token(f"</{TAG}></think>so <{TAG}>")]
    tokens += [token("A", math.log(0.5), half("A", "C"))]
    found = score(chat(text, tokens=tokens))
    assert (found.state, found.letter) == (State.OK, "A")


def test_logprobs_of_the_thinking_do_not_score_the_answer() -> None:
    """Where the logprob tokens spell another letter than the answer, the answer's letter counts, degraded."""
    tokens = [token(f"maybe <{TAG}>"), token("T", -0.1, half("T", "S"))]
    found = score(chat(f"<{TAG}>A</{TAG}>", tokens=tokens, reasoning=f"maybe <{TAG}>T"))
    assert (found.state, found.reason, found.score) == (State.DEGRADED, Reason.ELSEWHERE, 1.0)


def test_the_last_valid_tag_wins() -> None:
    """Of several tags the last that holds a letter of the scale counts."""
    text = f"<{TAG}>T</{TAG}> no: <{TAG}>B</{TAG}> or <{TAG}>Z</{TAG}> or <{TAG}>Well</{TAG}>"
    assert score(chat(text)).letter == "B"


def test_a_tag_with_another_nonce_is_ignored() -> None:
    """A tag echoed from a trajectory does not count, before or behind the real one."""
    text = f"<verdict_00000000>T</verdict_00000000> <{TAG}>B</{TAG}> <verdict>T</verdict>"
    assert score(chat(text)).letter == "B"
    alone = score(chat("<verdict_00000000>T</verdict_00000000>"))
    assert (alone.state, alone.reason) == (State.MISSING, Reason.NO_TAG)


def test_a_lower_case_letter_counts() -> None:
    """A lower-case letter is the letter."""
    found = score(chat(f"<{TAG}>b", tokens=[token(f"<{TAG}>"), token("b", math.log(0.5), half("b", "B"))]))
    assert (found.letter, found.mass) == ("B", pytest.approx(1.0))


@pytest.mark.parametrize(
    ("answer", "stands"),
    [("Z", "'Z'"), ("AB", "'AB'"), ("Although", "'Although'"), ("7", "'7'"), ("É", "'É'"), ("", "''")],
)
def test_what_is_no_letter_of_the_scale_is_off_scale(answer: str, stands: str) -> None:
    """Another letter, a word, a number or nothing behind the tag is missing, and quoted."""
    found = score(chat(f"<{TAG}>{answer}"))
    assert (found.state, found.reason) == (State.MISSING, Reason.OFF_SCALE)
    assert found.detail == f"behind <{TAG}> stands {stands}, not one letter A to T"
    assert math.isnan(found.score)


@pytest.mark.parametrize(
    ("body", "reason", "detail"),
    [
        (chat(None), Reason.EMPTY, "the answer is empty (finish reason stop)"),
        (chat("  \n"), Reason.EMPTY, "the answer is empty (finish reason stop)"),
        (chat(None, finish="tool_calls"), Reason.EMPTY, "the answer is empty (finish reason tool_calls)"),
        (chat(None, refusal="No."), Reason.REFUSED, "the model refused: 'No.'"),
        (chat(f"<{TAG}>A", refusal="No."), Reason.REFUSED, "the model refused: 'No.'"),
        (
            chat("I'm sorry, but I can't assist with that."),
            Reason.REFUSED,
            "the model refused: \"I'm sorry, but I can't assist with that.\"",
        ),
        (chat(None, finish="content_filter"), Reason.FILTERED, "the server's content filter stopped the answer"),
        (chat(f"<{TAG}>A", finish="content_filter"), Reason.FILTERED, "the server's content filter stopped the answer"),
        (
            chat(None, finish="length"),
            Reason.CUT_OFF,
            f"the answer was cut off after 10 tokens, before any text: {CUT_WAY_OUT}",
        ),
        (
            chat("So I wonder", finish="length"),
            Reason.CUT_OFF,
            f"the answer was cut off after 10 tokens, before <{TAG}>: {CUT_WAY_OUT}",
        ),
        (
            chat(None, finish="length", reasoning=f"perhaps <{TAG}>A"),
            Reason.CUT_OFF,
            f"the answer was cut off after 10 tokens, before <{TAG}>: {CUT_WAY_OUT}",
        ),
        (
            chat(f"<think>perhaps <{TAG}>A, or", finish="length"),
            Reason.CUT_OFF,
            f"the answer was cut off after 10 tokens, before <{TAG}>: {CUT_WAY_OUT}",
        ),
        (
            chat("It is fine."),
            Reason.NO_TAG,
            f"<{TAG}> does not stand in the answer, which begins 'It is fine.'",
        ),
    ],
)
def test_no_answer_is_missing_with_its_reason(body: dict[str, Any], reason: Reason, detail: str) -> None:
    """Each kind of answer that is none ends as missing with its own reason and sentence."""
    found = score(body)
    assert (found.state, found.reason, found.detail) == (State.MISSING, reason, detail)
    assert math.isnan(found.score)


def test_an_answer_cut_off_behind_its_letter_counts() -> None:
    """The limit that is reached behind the letter does no harm."""
    assert score(chat(f"<{TAG}>A", finish="length")).letter == "A"


def test_thinking_that_never_closes_still_answers() -> None:
    """Where a model ends inside its thinking, the verdict there is all it said."""
    assert score(chat(f"<think>so <{TAG}>A</{TAG}>")).letter == "A"


def test_each_tag_has_its_own_score() -> None:
    """A listwise answer gives one score a tag, and a tag that was left out is missing alone."""
    body = chat("<a_11111111>A</a_11111111> <b_22222222>T</b_22222222>")
    found = read_scores(Completion.from_api(body), ("a_11111111", "b_22222222", "c_33333333"))
    assert [s.letter for s in found.values()] == ["A", "T", ""]
    assert found["c_33333333"].reason is Reason.NO_TAG


def test_a_missing_outcome_is_missing_behind_every_tag() -> None:
    """A request without an answer gives every tag its reason."""
    found = read_scores(Missing(Reason.GONE, "no connection"), ("a", "b"))
    assert {s.reason for s in found.values()} == {Reason.GONE}


def test_content_in_parts_is_joined() -> None:
    """Servers that give content as a list of parts are read as if it were one text."""
    body = chat(None)
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": f"<{TAG}>B"}]
    body["choices"][0]["message"]["content"] = parts
    completion = Completion.from_api(body)
    assert (completion.content, completion.reasoning) == (f"<{TAG}>B", "hm")


def test_the_older_form_of_logprobs_is_read() -> None:
    """Parallel lists of tokens and log-probabilities, as some servers give them, score like the chat form."""
    body = chat(f"<{TAG}>A")
    body["choices"][0]["logprobs"] = {
        "tokens": [f"<{TAG}>", "A"],
        "token_logprobs": [-0.1, math.log(0.5)],
        "top_logprobs": [None, half("A", "C")],
    }
    found = score(body)
    assert (found.state, found.score) == (State.OK, pytest.approx((1.0 + letter_value("C")) / 2))


def test_a_letter_split_from_a_multibyte_character_is_found() -> None:
    """Tokens that hold parts of a character do not shift the offsets."""
    snow = "☃".encode()
    parts = [{"token": "\ufffd", "bytes": [b], "logprob": -0.1, "top_logprobs": []} for b in snow]
    tokens = [*parts, token(f"<{TAG}>"), token("A", math.log(0.5), half("A", "C"))]
    assert score(chat(f"☃<{TAG}>A", tokens=tokens)).state is State.OK


@given(
    st.lists(
        st.sampled_from(
            [f"<{TAG}", ">", f"<{TAG}>", "A", "t", " ", "Z", "word ", f"</{TAG}>", "<think>", "</think>", "☃"]
        ),
        max_size=12,
    ),
    st.sampled_from(["stop", "length", None]),
)
def test_no_answer_breaks_the_reading(pieces: list[str], finish: str | None) -> None:
    """Whatever is spelled, the state, the score and the reason agree with each other."""
    tokens = [token(p, math.log(0.5), half(p, "C")) for p in pieces]
    found = score(chat("".join(pieces), tokens=tokens, finish=finish or ""))
    assert math.isnan(found.score) == (found.state is State.MISSING) == (found.letter == "")
    assert (found.reason is None) == (found.state is State.OK)
    assert found.state is State.MISSING or 0.0 <= found.score <= 1.0


def test_a_stored_answer_scores_as_the_fresh_one() -> None:
    """Storing keeps what scores read, NaN and odd bytes included, and drops alternatives far from the tags."""
    tokens = [token(f"word{i} ", -0.1, {"x": -1.0}) for i in range(40)]
    tokens += [token(f"<{TAG}>"), token("A", math.log(0.5), half("A", "C")), token("", math.nan)]
    tokens.append({"token": "\ufffd", "bytes": [0xE2], "logprob": -0.1, "top_logprobs": []})
    fresh = Completion.from_api(chat(f"<{TAG}>A", tokens=tokens))
    stored = Completion.from_json(fresh.trimmed((TAG,)).to_json(), Source.CACHE)
    assert read_score(stored, TAG) == read_score(fresh, TAG)
    assert not any(t.top for t in stored.logprobs[:40])
    assert stored.logprobs[-1].token == b"\xe2"
    assert stored.tokens == fresh.tokens


@pytest.mark.parametrize(
    "stored", [None, [], {}, {"content": None}, {"content": "", "finish_reason": "", "logprobs": [1]}]
)
def test_what_is_no_stored_answer_is_told(stored: Any) -> None:
    """A line that holds no stored completion raises ValueError and nothing else."""
    with pytest.raises(ValueError, match="not a stored answer"):
        Completion.from_json(stored, Source.CACHE)
