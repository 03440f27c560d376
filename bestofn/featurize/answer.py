"""Finds the final answer that a run states in words, in a form in which equal answers are equal texts.

Only marks that people and prompts use for an answer count: a box, `SOLUTION_FOUND`, `FINAL ANSWER`, `#### 5`, answer
tags, a call that submits an answer, and, failing these, "the answer is". A run that states none has no answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import re2

from bestofn.featurize.activity import Activity, activities, is_shell
from bestofn.trajectory import Actor, Step

LONGEST = 200
"""Characters after a mark that may belong to an answer."""
MOST_MARKS = 20
"""Marks at the end of a message that are looked at; one message states one answer, seldom a few."""
SHORT = 5
"""Characters of a word that may follow "the answer is": yes, no, true, false, none, a letter."""

_MARK = re2.compile(
    r"\\(?:f?box|boxed)\s*[{\[]|\bSOLUTION_FOUND\b|\b(?:FINAL|Final|final) (?:ANSWER|Answer|answer)(?:\s+is|\s*[:=])"
    r"|(?m:^)####\s|<(?:ANSWER|answer)>"
)
_WEAK_MARK = re2.compile(
    r"(?i)\banswer(?:\s+to\s+[^.\n]{1,80}?)?(?:\s+(?:is|was|would be|should be|remains)\b|\s*[:=])"
)
_EDGES = " \t\r\n*_`'\"\u201c\u201d\u2018\u2019.,:;!?()[]{}<>\u27f9\u2192\u2395=|\\~"
_SENTENCE = re2.compile(r"\.(?:\s|$)|\n")
_TEX = re2.compile(r"\\(?:text|mathrm|mathbf|textbf|mbox)\s*\{([^{}]*)\}")
_TEX_FRACTION = re2.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_TEX_SPACES = re2.compile(r"\\[,;:! ]|\\(?:left|right)\b|~")
_NAMED = re2.compile(r"\A[A-Za-z]\w?\s*=\s*")
_NUMBER = re2.compile(r"[-+\x{2212}]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s*/\s*\d+)?|[-+\x{2212}]?\.\d+")
_QUANTITY = re2.compile(
    r"\A(?:about |approximately |\x{2248}\s*|~\s*)?([-+\x{2212}]?)\s*(?:US)?[$€£¥₹]?\s*"
    r"([-+\x{2212}]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:\s*/\s*\d+)?)"
    r"\s*(?:%|°|[$€£¥₹])?(?:\s*[A-Za-z°²³/-]+){0,3}\z"
)
_NOTHING = frozenset({
    "none", "n/a", "na", "null", "nan", "unknown", "undetermined", "indeterminate", "undefined", "unsolvable",
    "not solvable", "no solution", "no answer", "cannot be determined", "can't be determined", "can not be determined",
    "not enough information", "insufficient information", "insufficient data",
})  # fmt: skip
"""Ways to say that there is no answer, which is an answer."""
_PLACEHOLDERS = frozenset({
    "", "x", "answer", "your answer", "final answer", "the answer", "solution", "your solution", "solution_value",
    "solution value", "solution_value_here", "result", "value", "number",
})  # fmt: skip
"""What stands behind a mark where a prompt or a plan only shows the form of an answer."""


def final_answer(steps: Sequence[Step]) -> str | None:
    """The last answer that the agent states, normalised; None where it states none."""
    turns = [step for step in reversed(steps) if step.actor is Actor.AGENT and (step.message or step.commands)]
    for step in turns:
        for stated in (*_submitted(step), *_stated(step.message, _MARK)):
            answer = normalised(stated)
            if answer not in _PLACEHOLDERS:
                return answer
    for step in turns:
        for stated in _stated(step.message, _WEAK_MARK):
            answer = normalised(stated)
            # "The answer is consistent with ..." speaks of an answer and states none.
            if answer not in _PLACEHOLDERS and (len(answer) <= SHORT or any(c.isdigit() for c in answer)):
                return answer
    return None


def normalised(stated: str) -> str:
    """An answer as stated, in a form in which equal answers are equal.

    Numbers lose their currency, thousands separators, trailing zeros and unit words: `$1,000.00` and `1000 apples` are
    `1000`. A sentence with exactly one number is that number. All ways to say that there is no answer are `none`.
    Other texts are compared without case, space and punctuation at their ends.
    """
    text = _TEX_FRACTION.sub(r"\1/\2", _TEX.sub(r"\1", stated[:LONGEST]))
    text = _TEX_SPACES.sub(" ", text).replace("\\$", "$").replace("\\%", "%").replace("{,}", ",")
    text = _trimmed(_NAMED.sub("", _trimmed(text)))
    quantity = _QUANTITY.match(text)
    if quantity is not None and any(c.isdigit() for c in quantity.group(2)):
        return _number(quantity.group(1) + quantity.group(2))
    folded = " ".join(text.casefold().strip(_EDGES).split())
    if folded in _NOTHING:
        return "none"
    numbers = _NUMBER.findall(text)
    if len(numbers) == 1 and " " in folded:
        return _number(numbers[0])
    return folded


def _submitted(step: Step) -> Iterator[str]:
    """The answers that the step hands in through a tool."""
    for command in step.commands:
        if command.arguments and not is_shell(command.tool) and Activity.END in activities(command):
            for key in ("answer", "final_answer", "result"):
                value = command.arguments.get(key)
                if isinstance(value, str | int | float):
                    yield str(value)


def _stated(message: str, mark: Any) -> Iterator[str]:
    """What stands behind each mark of a message, the last first."""
    ends = [(match.group(), match.end()) for match in mark.finditer(message)]
    for found, end in ends[: -MOST_MARKS - 1 : -1]:
        rest = message[end : end + LONGEST]
        if found.startswith("\\"):
            yield _braced(rest)
        elif found.startswith("<"):
            yield rest.partition("</")[0]
        else:
            yield _first_sentence(rest)


def _braced(text: str) -> str:
    """The text up to the brace that closes the one just opened."""
    depth = 1
    for index, character in enumerate(text):
        depth += (character in "{[") - (character in "}]")
        if depth == 0:
            return text[:index]
    return text.partition("\n")[0]


def _first_sentence(text: str) -> str:
    """Up to the first full stop or line end after something was said."""
    text = _trimmed(text)
    end = _SENTENCE.search(text)
    return text[: end.start()] if end else text


def _trimmed(text: str) -> str:
    """Without marks and space at its ends; the point of `.5` is no such mark."""
    bare = text.lstrip(_EDGES)
    point = bare[:1].isdigit() and text[: len(text) - len(bare)].endswith(".")
    return ("." if point else "") + bare.rstrip(_EDGES)


def _number(text: str) -> str:
    """A number in one spelling: no separators, no trailing zeros, fractions divided out; 12 digits."""
    plain = text.replace(",", "").replace("\u2212", "-").replace(" ", "")
    try:
        return f"{float(Fraction(plain)):.12g}"
    except (ValueError, ZeroDivisionError, OverflowError):
        return plain
