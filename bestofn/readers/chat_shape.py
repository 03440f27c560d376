"""Tells records and messages of the chat format from those of formats that hold messages as well."""

from __future__ import annotations

from typing import Any

from bestofn.readers import foreign
from bestofn.readers.document import Document
from bestofn.readers.messages import is_message
from bestofn.readers.values import items, mapping, string

TASK_KEYS = ("task", "task_id", "task_name", "instance_id")
"""Where a record may name its task; the first usable one counts."""
_OWN_KEYS = frozenset({*TASK_KEYS, "reward", "label", "ending", "instruction"})
"""Keys by which a record without a readable message is still known for one."""
_ALL_KEYS = _OWN_KEYS | {"messages", "id", "usage", "label_reason", "metadata"}
_FOREIGN_MESSAGE_KEYS = frozenset({"parts", "uuid", "parentUuid", "turn_idx", "requestor", "payload"})
_FOREIGN_PARTS = frozenset({"input_text", "output_text"})
"""Content of OpenAI's Responses items, as Codex sessions hold it."""


def claims(document: Document) -> bool:
    """True for a record, records or messages in OpenAI's shape that carry no mark of another format."""
    values = _values(document)
    return _are_messages(values) or any(_is_record(value) for value in values[:20])


def is_ours(document: Document) -> bool:
    """True for records that name a `task` beside messages of ours, which no other format's do: whatever other keys
    they have, they are not asked about."""
    return any(map(_is_certain, _values(document)[:20]))


def _is_certain(value: Any) -> bool:
    if not isinstance(value, dict) or "task" not in value or "messages" not in value or _is_mini_swe_agent(value):
        return False
    messages = items(value["messages"])
    return 2 * sum(map(is_message, messages)) > len(messages)


def _is_mini_swe_agent(value: dict[str, Any]) -> bool:
    """True for a record by the format's name, or with an `info` and no label: there, none stands inside."""
    if string(value.get("trajectory_format")).startswith("mini-swe-agent"):
        return True
    return isinstance(value.get("info"), dict) and "reward" not in value and "label" not in value


def _is_record(value: Any) -> bool:
    """True for an object whose messages are ours, or that has keys of ours, and that is of no other format's shape.

    A key alone does not make a record another format's.
    """
    if not isinstance(value, dict) or "messages" not in value:
        return False
    if string(value.get("trajectory_format")).startswith("mini-swe-agent"):
        return False
    if _is_certain(value):
        return True
    messages = items(value["messages"])
    if any(map(_is_foreign, messages)):
        return False
    known = _are_messages(messages) or not _OWN_KEYS.isdisjoint(value) or value.keys() <= _ALL_KEYS
    return known and not foreign.name_of(value)


def _are_messages(values: list[Any]) -> bool:
    """True where the list begins with a message of ours and most of it is."""
    return bool(values) and _is_ours(values[0]) and 2 * sum(map(_is_ours, values)) > len(values)


def _is_ours(item: Any) -> bool:
    """True for a chat message without marks of another format."""
    return is_message(item) and not _is_foreign(item)


def _is_foreign(item: Any) -> bool:
    """True for a message that another format writes."""
    message = mapping(item)
    parts = items(message.get("content"))
    return not _FOREIGN_MESSAGE_KEYS.isdisjoint(message) or any(
        string(mapping(part).get("type")) in _FOREIGN_PARTS for part in parts
    )


def _values(document: Document) -> list[Any]:
    """The file's records, or its messages."""
    if document.lines is not None:
        return [line.value for line in document.lines]
    return document.value if isinstance(document.value, list) else [document.value]
