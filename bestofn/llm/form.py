"""Holds an answer to its form: asks a server to let nothing through but the tags with what may stand in them.

Models too small to keep a form answer this way, and a letter's probabilities stay their own. A model held to the form
cannot think aloud before it, so this is not the default. Each server has its own field for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from bestofn.errors import UsageError

LISTED = 10
"""Most words in a list that is held to its form; a small model would otherwise list without end."""
_NONE = "none"


def regex(tags: tuple[str, ...], letters: str, words: tuple[str, ...]) -> str:
    """A regular expression for a whole answer: one line a tag.

    Parameters
    ----------
    tags
        Names of the tags.
    letters
        What may stand in a tag: one of these.
    words
        Where there are any, a list of these or `none` stands in the tag instead.
    """
    inside = f"[{letters}]"
    if words:
        word = f"({'|'.join(re.escape(word) for word in words)})"
        inside = f"({_NONE}|{word}(, {word}){{0,{LISTED - 1}}})"
    return "\\n".join(f"<{tag}>{inside}</{tag}>" for tag in tags)


def grammar(tags: tuple[str, ...], letters: str, words: tuple[str, ...]) -> str:
    """The same as a GBNF grammar, as llama.cpp reads it."""
    lines = ' "\\n" '.join(f'"<{tag}>" inside "</{tag}>"' for tag in tags)
    if not words:
        return f"root ::= {lines}\ninside ::= [{letters}]\n"
    word = " | ".join(f'"{word}"' for word in words)
    return f'root ::= {lines}\ninside ::= "{_NONE}" | word (", " word){{0,{LISTED - 1}}}\nword ::= {word}\n'


_Make = Callable[[tuple[str, ...], str, tuple[str, ...]], Any]

FIELDS: Mapping[str, _Make] = {
    "grammar": grammar,
    "structured_outputs": lambda *form: {"regex": regex(*form)},
    "guided_regex": regex,
    "regex": regex,
}
"""Fields by name: llama.cpp's `grammar`, vLLM's `structured_outputs` (`guided_regex` before 0.12), SGLang's `regex`."""


def check_field(name: str) -> str:
    """The name of a field. Raises UsageError for one that no known server has."""
    if name not in FIELDS:
        raise UsageError(f"no field '{name}' holds an answer to its form: there are {', '.join(FIELDS)}")
    return name


def body_of(name: str, tags: tuple[str, ...], letters: str, words: tuple[str, ...]) -> dict[str, Any]:
    """What to add to a request body; nothing where no field is named."""
    return {name: FIELDS[name](tags, letters, words)} if name else {}
