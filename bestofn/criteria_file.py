"""Writes the text of a criteria file: a heading, where it comes from, and its sections."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bestofn import __version__
from bestofn.criteria import Section


def emit(parts: Iterable[Section], *, title: str, about: str, taxonomy: str) -> str:
    """The text of a criteria file.

    Parameters
    ----------
    title
        What stands behind the `#`.
    about
        What a reader is told before the sections.
    taxonomy
        Where its codes come from.
    """
    blocks = [
        f"# {one_line(title)}",
        about,
        f"- taxonomy: {one_line(taxonomy)}\n- compiled by: bestofn {__version__}",
    ]
    for part in parts:
        keys = "\n".join(f"- {key}: {value}" for key, value in part.keys)
        blocks += [f"## {part.name}", *([keys] if keys else []), part.template]
    return "\n\n".join(blocks) + "\n"


def one_line(text: str) -> str:
    """Someone's text as our files can hold it: one line, no control characters, no braces that mean something."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(re.sub(r"([{}])(?=\1)", r"\1 ", printable).split())
