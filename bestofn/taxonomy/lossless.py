"""JSON text of which a few values change while every other byte stays as it was written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

MAX_DEPTH = 100
"""Nesting beyond this is refused: no file that a person wrote goes so deep."""

_SPACE = re.compile(r"[ \t\n\r]*")


class Edit(NamedTuple):
    """One piece of text to put in the place of another."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Node:
    """One JSON value and where it stands in the text."""

    start: int
    end: int
    value: Any
    """dict of key to Node, list of Node, or a scalar."""
    keys: tuple[int, ...] = ()
    """Where each key of an object starts, in the order of `value`."""

    def plain(self) -> Any:
        """The value as plain Python data."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value


def parse(text: str) -> Node:
    """The tree of a JSON text; a byte order mark in front is skipped.

    Raises ValueError, one clause with line and column, for what is no JSON, for NaN and Infinity, and for a key that
    stands twice in one object, since then nobody can say which of the two is meant.
    """
    at = 1 if text.startswith("\ufeff") else 0
    node = _value(text, _skip(text, at), 0)
    rest = _skip(text, node.end)
    if rest != len(text):
        _fail(text, rest, "there is more text after the end of the value")
    return node


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made. Edits must not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def set_value(text: str, node: Node, key: str, value: Any) -> Edit:
    """The edit that gives a key of an object another value; a new key goes to the end, spaced like the first."""
    if key in node.value:
        old = node.value[key]
        return Edit(old.start, old.end, dump(value))
    member = f"{dump(key)}: {dump(value)}"
    if not node.value:
        return Edit(node.start, node.end, "{" + member + "}")
    lead = text[node.start + 1 : node.keys[0]]
    last = list(node.value.values())[-1].end
    return Edit(last, last, f",{lead or ' '}{member}")


def set_items(text: str, node: Node, items: Sequence[str]) -> Edit:
    """The edit that gives an array other items, each a JSON text, spaced like the items it had."""
    old: list[Node] = node.value
    if not old or not items:
        return Edit(node.start, node.end, "[" + ", ".join(items) + "]")
    lead = text[node.start + 1 : old[0].start]
    tail = text[old[-1].end : node.end - 1]
    between = text[old[0].end : old[1].start] if len(old) > 1 else f",{lead or ' '}"
    return Edit(node.start, node.end, f"[{lead}{between.join(items)}{tail}]")


def indent_of(text: str, node: Node) -> str | None:
    """The white space in front of a node that starts its own line; None where other text stands in front of it."""
    before = text[text.rfind("\n", 0, node.start) + 1 : node.start]
    return before if before.strip() == "" and "\n" in text[: node.start] else None


def dump(value: Any) -> str:
    """One value as JSON text, letters of all scripts as they are."""
    return json.dumps(value, ensure_ascii=False)


def dump_indented(value: Any, indent: str | None) -> str:
    """One value as JSON text over several lines, all but the first moved in by `indent`; on one line for None."""
    if indent is None:
        return dump(value)
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n" + indent)


def _value(text: str, at: int, depth: int) -> Node:
    if depth > MAX_DEPTH:
        _fail(text, at, f"values are nested more than {MAX_DEPTH} deep")
    if text[at : at + 1] == "{":
        return _object(text, at, depth)
    if text[at : at + 1] == "[":
        items = [node for _, node in _members(text, at, "]", depth)]
        end = items[-1].end if items else at + 1
        return Node(at, _skip(text, end) + 1, items)
    return _scalar(text, at)


def _object(text: str, at: int, depth: int) -> Node:
    children: dict[str, Node] = {}
    keys: list[int] = []
    for key, child in _members(text, at, "}", depth):
        assert key is not None
        name = str(key.value)
        if name in children:
            _fail(text, key.start, f"the key {dump(name)} stands twice in one object")
        children[name] = child
        keys.append(key.start)
    end = list(children.values())[-1].end if children else at + 1
    return Node(at, _skip(text, end) + 1, children, tuple(keys))


def _members(text: str, at: int, close: str, depth: int) -> Iterator[tuple[Node | None, Node]]:
    """(key, value) of each member of an object, (None, value) of each item of an array."""
    at = _skip(text, at + 1)
    if text[at : at + 1] == close:
        return
    while True:
        key = None
        if close == "}":
            if text[at : at + 1] != '"':
                _fail(text, at, "a key in double quotes must stand here")
            key = _scalar(text, at)
            at = _skip(text, key.end)
            if text[at : at + 1] != ":":
                _fail(text, at, "a colon must stand between key and value")
            at = _skip(text, at + 1)
        node = _value(text, at, depth + 1)
        yield key, node
        at = _skip(text, node.end)
        if text[at : at + 1] == close:
            return
        if text[at : at + 1] != ",":
            _fail(text, at, f"a comma or '{close}' must stand here")
        at = _skip(text, at + 1)


def _scalar(text: str, at: int) -> Node:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        _fail(text, error.pos, error.msg)
    except _NotANumberError as error:
        _fail(text, at, f"{error} is no JSON")
    return Node(at, end, value)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _fail(text: str, at: int, what: str) -> NoReturn:
    line = text.count("\n", 0, at) + 1
    raise ValueError(f"line {line}, column {at - text.rfind(chr(10), 0, at)}: {what}")


class _NotANumberError(Exception):
    """NaN or an infinity in the text."""


def _refuse(name: str) -> NoReturn:
    raise _NotANumberError(name)


def _whole(digits: str) -> int | float:
    """A number without a point; what Python will not turn into an integer, for its length, becomes a float."""
    return int(digits) if len(digits) <= 400 else float(digits)


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=_whole)
