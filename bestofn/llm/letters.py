"""Turns an answer into a score: finds the letter behind each tag and reads its distribution.

The letter is found by offset in the text that the logprob tokens spell, never by counting tokens: servers fuse
tokens (`>A`), split tags, put spaces between, and move the answer into a reasoning field. The score is

    sum over letters of p(letter) * (19 - index) / 19,    A = 1.0 ... T = 0.0,

with p renormalised over the letters that the server's alternatives show, all spellings of a letter summed.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple

from bestofn.llm.answer import Alternative, Completion, Missing, Outcome, Reason, Token
from bestofn.llm.request import LETTERS

MASS_FLOOR = 0.5
"""Captured probability under which a score is `degraded`: the letters seen would be less than half of the answer."""
CERTAIN = 0.99
"""A single letter that holds this much needs no alternatives: what they could add cannot move the score."""

_SPACE_MARKERS = re.compile("▁|Ġ|Ċ".encode())
"""What stands for a space or line break in raw tokenizer vocabularies, which some servers return undecoded."""
_OPENING = b" \t\r\n\"'`*_(["
"""Whitespace and marks that may stand before a letter, such as **A** or "A"."""
_LETTER = re.compile(b"[" + re.escape(_OPENING) + b"]*([A-Za-z])")
_THOUGHT_END = re.compile(rb"</think(?:ing)?>", re.IGNORECASE)
_THOUGHT_START = re.compile(rb"<think(?:ing)?>", re.IGNORECASE)


class State(StrEnum):
    """What a score is worth."""

    OK = "ok"
    """An expectation over the letters' probabilities."""
    DEGRADED = "degraded"
    """The letter alone, or an expectation over little captured probability."""
    MISSING = "missing"
    """No score: NaN."""


@dataclass(frozen=True)
class LetterScore:
    """The score behind one tag."""

    state: State
    score: float = math.nan
    """0 to 1, higher is better; NaN where missing."""
    letter: str = ""
    """The letter the model wrote, '' where missing."""
    mass: float = math.nan
    """Probability that the captured alternatives put on letters of the scale; NaN without logprobs."""
    distribution: tuple[float, ...] = ()
    """(20,) probabilities of A to T, renormalised; () without logprobs."""
    reason: Reason | None = None
    """Why it is degraded or missing; None where ok."""
    detail: str = ""


class Place(NamedTuple):
    """Where a letter stands in a text."""

    offset: int
    letter: str


def letter_value(letter: str) -> float:
    """1.0 for A down to 0.0 for T."""
    return (len(LETTERS) - 1 - LETTERS.index(letter)) / (len(LETTERS) - 1)


def read_scores(outcome: Outcome, tags: Sequence[str]) -> dict[str, LetterScore]:
    """The score behind each tag of an answer, or the reason why there is none."""
    if isinstance(outcome, Missing):
        return {tag: LetterScore(State.MISSING, reason=outcome.reason, detail=outcome.detail) for tag in tags}
    return {tag: read_score(outcome, tag) for tag in tags}


def read_score(completion: Completion, tag: str) -> LetterScore:
    """The score behind one tag.

    Looked for in the logprob stream first; the last place where a letter of the scale stands alone behind the tag
    counts. Text that the model only thought counts where there is no other text.
    """
    withheld = _withheld(completion)
    if withheld:
        return withheld
    content = _bytes(completion.content)
    reasoning = _bytes(completion.reasoning)
    stream = [_SPACE_MARKERS.sub(b" ", token.token) for token in completion.logprobs]
    spelled = b"".join(stream)
    written = content if content.strip() else reasoning
    cut = completion.finish_reason == "length"
    in_text = _find(written, tag, cut=cut)
    in_stream = _find(spelled, tag, cut=cut)
    only_thought = in_text is None and written is content and _find(reasoning, tag, cut=cut) is not None
    cut_in_thought = cut and not content.strip() and bool(reasoning.strip())
    if cut_in_thought or only_thought or (in_text is None and in_stream is None):
        return _absent(completion, tag, written or spelled, only_thought=only_thought)
    if in_stream is None or (in_text is not None and in_text.letter != in_stream.letter):
        assert in_text is not None
        if not completion.logprobs:
            return _letter_alone(in_text.letter, Reason.NO_LOGPROBS, "the server gave no log-probabilities")
        return _letter_alone(in_text.letter, Reason.ELSEWHERE, "the log-probabilities do not spell the answer")
    return _expectation(completion.logprobs, stream, in_stream)


def _withheld(completion: Completion) -> LetterScore | None:
    """Answers that are none, whatever text came along."""
    if (completion.refusal or "").strip():
        return _missing(Reason.REFUSED, f"the model refused: {_short(completion.refusal or '')}")
    if completion.finish_reason == "content_filter":
        return _missing(Reason.FILTERED, "the server's content filter stopped the answer")
    if completion.blank and not completion.logprobs:
        if completion.finish_reason == "length":
            return _cut_off(completion, "any text")
        return _missing(Reason.EMPTY, f"the answer is empty (finish reason {completion.finish_reason or 'none'})")
    return None


def _absent(completion: Completion, tag: str, written: bytes, *, only_thought: bool) -> LetterScore:
    """Why no letter was found."""
    if completion.finish_reason == "length":
        return _cut_off(completion, f"<{tag}>")
    if only_thought:
        return _missing(Reason.NO_TAG, f"<{tag}> stands in the reasoning but not in the answer")
    opening = list(_opening(tag).finditer(written))
    if opening:
        behind = written[opening[-1].end() :].decode("utf-8", errors="replace").strip()
        return _missing(Reason.OFF_SCALE, f"behind <{tag}> stands {_short(behind)}, not one letter A to {LETTERS[-1]}")
    text = written.decode("utf-8", errors="replace")
    if _declines(text):
        return _missing(Reason.REFUSED, f"the model refused: {_short(text)}")
    if not text.strip():
        return _missing(Reason.EMPTY, f"the answer is empty (finish reason {completion.finish_reason or 'none'})")
    return _missing(Reason.NO_TAG, f"<{tag}> does not stand in the answer, which begins {_short(text)}")


def _find(text: bytes, tag: str, *, cut: bool) -> Place | None:
    """The last letter of the scale that stands alone behind the tag; None where there is none."""
    start = _answer_start(text, cut=cut)
    for match in reversed(list(_opening(tag).finditer(text, start))):
        letter = _LETTER.match(text, match.end())
        if letter is None or not _ends_there(text[letter.end() : letter.end() + 4]):
            continue
        upper = letter[1].decode().upper()
        if upper in LETTERS:
            return Place(letter.start(1), upper)
    return None


def _answer_start(text: bytes, *, cut: bool) -> int:
    """Where the answer begins in a text that holds its own thinking.

    Where nothing stands behind the thinking, the thinking is all there is and counts, unless it was cut off.
    """
    ends = [match.end() for match in _THOUGHT_END.finditer(text)]
    if ends and text[ends[-1] :].strip():
        return ends[-1]
    thinks = bool(ends) or _THOUGHT_START.match(text.lstrip()) is not None
    return len(text) if thinks and cut else 0


def _opening(tag: str) -> re.Pattern[bytes]:
    """The opening tag as models write it. Python caches compiled patterns."""
    return re.compile(rb"<\s*" + re.escape(tag.encode()) + rb"\s*>", re.IGNORECASE)


def _ends_there(rest: bytes) -> bool:
    """True where a letter before these bytes is not the beginning of a word."""
    following = rest.decode("utf-8", errors="replace")[:1]
    return not following.isalnum() and following not in ("'", "\u2019")


def _expectation(tokens: Sequence[Token], stream: Sequence[bytes], place: Place) -> LetterScore:
    """The score from the alternatives of the token that holds the letter."""
    starts = [0, *accumulate(len(part) for part in stream)]
    index = bisect_right(starts, place.offset) - 1
    before = stream[index][: place.offset - starts[index]]
    core = before.rstrip(_OPENING)
    chosen = Alternative(tokens[index].token, tokens[index].logprob)
    mass_of = dict.fromkeys(LETTERS, 0.0)
    probabilities = _probabilities((*tokens[index].top, chosen))
    for token, probability in probabilities.items():
        letter = _letter_of(_SPACE_MARKERS.sub(b" ", token), core)
        if letter is not None:
            mass_of[letter] += probability
    mass = math.fsum(mass_of.values())
    if mass <= 0.0:
        return _letter_alone(place.letter, Reason.NO_LOGPROBS, "the log-probabilities of the letter are no numbers")
    distribution = tuple(mass_of[letter] / mass for letter in LETTERS)
    score = math.fsum(p * letter_value(letter) for p, letter in zip(distribution, LETTERS, strict=True))
    mass = min(mass, 1.0)
    reason, detail = None, ""
    if len(probabilities) == 1 and mass < CERTAIN:
        reason, detail = Reason.NO_ALTERNATIVES, "the server gave no alternatives to the letter it chose"
    elif mass < MASS_FLOOR:
        reason, detail = Reason.LOW_MASS, f"letters hold {mass:.2f} of the probability, under {MASS_FLOOR}"
    return LetterScore(
        state=State.DEGRADED if reason else State.OK,
        score=min(max(score, 0.0), 1.0),
        letter=place.letter,
        mass=mass,
        distribution=distribution,
        reason=reason,
        detail=detail,
    )


def _probabilities(alternatives: Iterable[Alternative]) -> dict[bytes, float]:
    """Each token once with its probability; a token listed twice keeps the larger, one without a number drops out."""
    best: dict[bytes, float] = {}
    for token, logprob in alternatives:
        if not math.isnan(logprob):
            best[token] = max(best.get(token, -math.inf), logprob)
    return {token: math.exp(logprob) for token, logprob in best.items()}


def _letter_of(token: bytes, core: bytes) -> str | None:
    """The letter an alternative token would have put in the place; None where it holds none of the scale.

    `core` is what stands before the letter in the chosen token, such as `>` of `>B`: an alternative must begin
    with it too. `AB` and `And` are no letters; `A<` is.
    """
    trimmed = token.lstrip() if not core else token
    if not trimmed.startswith(core):
        return None
    match = _LETTER.match(trimmed, len(core))
    if match is None or not _ends_there(trimmed[match.end() : match.end() + 4]):
        return None
    letter = match[1].decode().upper()
    return letter if letter in LETTERS else None


def _letter_alone(letter: str, reason: Reason, detail: str) -> LetterScore:
    """A degraded score from the letter itself."""
    return LetterScore(State.DEGRADED, score=letter_value(letter), letter=letter, reason=reason, detail=detail)


def _missing(reason: Reason, detail: str) -> LetterScore:
    return LetterScore(State.MISSING, reason=reason, detail=detail)


def _cut_off(completion: Completion, awaited: str) -> LetterScore:
    """An answer that ended too soon: at the output limit, or where the model's context was full.

    Servers tell both as `length`; the number of tokens shows which it was.
    """
    written = completion.tokens.output
    after = "" if written is None else f" after {written:,} token{'' if written == 1 else 's'}"
    way_out = "allow more output tokens, or show less where the context was full"
    return _missing(Reason.CUT_OFF, f"the answer was cut off{after}, before {awaited}: {way_out}")


def _declines(text: str) -> bool:
    """True where a text reads as a refusal."""
    from bestofn.readers.refusal import refused
    from bestofn.trajectory import Actor, Step

    return bool(refused([Step(Actor.AGENT, message=text)]))


def _bytes(text: str | None) -> bytes:
    return (text or "").encode("utf-8", errors="replace")


def _short(text: str, limit: int = 60) -> str:
    """A text as it can stand in a message: one line, quoted, cut."""
    line = " ".join(text.split())
    return repr(line if len(line) <= limit else line[: limit - 3] + "...")
