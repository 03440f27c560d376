"""Reads which codes of a taxonomy a run shows, where a model is asked to list them: their number is the value.

A criterion whose name begins with `llm_codes` asks for ids behind its tag, such as `A.2, B.7`, or `none`. An answer
without either is no clean run but a missing one: a judge that fails must not look like a run without failures.
"""

from __future__ import annotations

import re

from bestofn.criterion import Criterion
from bestofn.llm.answer import Completion, Missing, Outcome, Reason
from bestofn.llm.letters import LetterScore, State

LISTING = "llm_codes"
"""Beginning of the names of criteria that ask for codes."""
NONE = "none"
"""What stands in place of ids where no code fires."""
ENTRY = re.compile(r"(?m)^- ([A-Za-z0-9][A-Za-z0-9._-]*) \S")
"""A code in a criterion's list: its id, then its name."""
_SEPARATORS = re.compile(r"[\s,;]+")


def is_listing(criterion: Criterion) -> bool:
    """True for a criterion that asks for codes."""
    return criterion.name.startswith(LISTING)


def listed_ids(criterion: Criterion) -> tuple[str, ...]:
    """The ids of the codes in a criterion's list, in its order."""
    return tuple(dict.fromkeys(ENTRY.findall(criterion.question)))


def read_codes(outcome: Outcome, tag: str, criterion: Criterion) -> dict[str, LetterScore]:
    """The number of codes behind the tag as a score under the tag, or why there is none."""
    return {tag: _read(outcome, tag, criterion)}


def fired_codes(completion: Completion, tag: str, criterion: Criterion) -> tuple[str, ...] | str:
    """The ids behind the last tag, each once; a sentence where what stands there is no list of the criterion's ids."""
    text = completion.content or completion.reasoning or ""
    pattern = rf"<\s*{re.escape(tag)}\s*>(.*?)<\s*/\s*{re.escape(tag)}\s*>"
    found = re.findall(pattern, text, re.IGNORECASE | re.DOTALL)
    if not found:
        return f"<{tag}> does not stand in the answer, or is not closed"
    words = [word for word in _SEPARATORS.split(found[-1].strip().strip(".")) if word]
    if [word.casefold() for word in words] == [NONE]:
        return ()
    known = {code.casefold(): code for code in listed_ids(criterion)}
    unknown = [word for word in words if word.casefold() not in known]
    if unknown or not words:
        return f"behind <{tag}> stands {' '.join(words)[:60]!r}, not ids of the list or '{NONE}'"
    return tuple(dict.fromkeys(known[word.casefold()] for word in words))


def _read(outcome: Outcome, tag: str, criterion: Criterion) -> LetterScore:
    if isinstance(outcome, Missing):
        return LetterScore(State.MISSING, reason=outcome.reason, detail=outcome.detail)
    if (outcome.refusal or "").strip():
        return LetterScore(State.MISSING, reason=Reason.REFUSED, detail="the model refused")
    if outcome.blank:
        cut = outcome.finish_reason == "length"
        reason = Reason.CUT_OFF if cut else Reason.EMPTY
        return LetterScore(State.MISSING, reason=reason, detail="the answer is empty")
    fired = fired_codes(outcome, tag, criterion)
    if isinstance(fired, str):
        reason = Reason.CUT_OFF if outcome.finish_reason == "length" else Reason.OFF_SCALE
        return LetterScore(State.MISSING, reason=reason, detail=fired)
    return LetterScore(State.OK, float(len(fired)), detail=", ".join(fired))
