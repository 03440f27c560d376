"""What a model is asked: the messages, and the tags behind which its letters must stand."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

LETTERS = "ABCDEFGHIJKLMNOPQRST"
"""The scale: A is best (1.0), T is worst (0.0), evenly spaced between."""
_TAG = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_NONCE_DIGITS = 8
_FORMAT = 1
"""Goes into every hash; raised when the canonical form changes, which parts new answers from old ones."""


class Message(NamedTuple):
    """One message of a chat."""

    role: str
    """`system`, `user` or `assistant`."""
    text: str


class Sampling(NamedTuple):
    """How the model is asked to answer. It shapes the answer, so it is part of the request's hash."""

    temperature: float = 1.0
    """At 1 the reported probabilities are the model's own, on every server: some scale them by it, some do not."""
    reasoning_effort: str | None = None
    """None leaves it to the server; `none`, `low`, `medium`, `high` where the server knows them."""
    extra: Mapping[str, Any] = {}
    """Further body fields, sent as they stand, such as {"chat_template_kwargs": {"enable_thinking": False}}."""
    held_by: str = ""
    """The server's field that holds an answer to its form, one of `bestofn.llm.form.FIELDS`; '' to trust the model."""

    def to_json(self) -> dict[str, Any]:
        """Plain data: what goes into hashes and recordings. A field that came later stands in it only where it is
        used, so that earlier answers are found again."""
        told = {"temperature": self.temperature, "effort": self.reasoning_effort, "extra": dict(self.extra)}
        return {**told, **({"held_by": self.held_by} if self.held_by else {})}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Sampling:
        """What `to_json` gave."""
        return cls(
            float(stored.get("temperature", 1.0)),
            stored.get("effort"),
            stored.get("extra") or {},
            str(stored.get("held_by", "")),
        )


@dataclass(frozen=True)
class Request:
    """One question to a model, answered by one letter A to T behind each tag.

    Only the messages, the tags and the output limit reach the hash: a renamed criterion or another file name
    finds the same answer, and nothing about the outcome of a run can get in.
    """

    messages: tuple[Message, ...]
    """The chat. What many requests share stands first, so that a server's prefix cache serves it."""
    tags: tuple[str, ...]
    """Tag names without brackets, such as `verdict_3f9a2c81`; each must hold one letter in the answer."""
    criterion: str = ""
    """What is asked, for the accounting. Not in the hash."""
    trajectory: str = ""
    """What it is asked about, for reports. Not in the hash."""
    max_output_tokens: int = 1024
    """Upper limit of the answer, reasoning included."""
    words: tuple[str, ...] = field(default=(), compare=False)
    """Where a tag holds a list of words instead of a letter: which. The messages name them; not in the hash."""
    id: str = field(default="", compare=False)
    """The caller's own name for the request. Not in the hash."""

    def __post_init__(self) -> None:
        clean = tuple(Message(role, _clean(text)) for role, text in self.messages)
        object.__setattr__(self, "messages", clean)
        bad = [tag for tag in self.tags if not _TAG.fullmatch(tag)]
        assert self.tags, "a request needs at least one answer tag"
        assert not bad, f"no tag names: {bad}"
        assert self.max_output_tokens > 0, "a request needs room for an answer"

    @property
    def canonical(self) -> bytes:
        """The bytes that stand for what is asked, the same on every machine."""
        body = {
            "format": _FORMAT,
            "messages": [[role, text] for role, text in self.messages],
            "tags": list(self.tags),
            "max_output_tokens": self.max_output_tokens,
        }
        return json.dumps(body, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode("ascii")

    @cached_property
    def digest(self) -> bytes:
        """Hash of `canonical`, reckoned once: prompts are long."""
        return hashlib.blake2b(self.canonical, digest_size=32).digest()

    @property
    def characters(self) -> int:
        """Length of all messages."""
        return sum(len(text) for _, text in self.messages)


Group = Sequence[Request]
"""Requests that share a prefix, such as all criteria of one trajectory. The first is answered before the rest start."""


def request_hash(request: Request, model: str, sampling: Sampling | None = None) -> str:
    """32 hex digits for a request to a model, whichever server answers it.

    Recordings and batch files are keyed by it; the cache adds the server and the logprob mode (`answer_key`).
    """
    chosen = sampling or Sampling()
    settings = json.dumps(
        {"model": model, **chosen.to_json()}, ensure_ascii=True, separators=(",", ":"), sort_keys=True
    ).encode("ascii")
    return hashlib.blake2b(request.digest + settings, digest_size=16).hexdigest()


def answer_key(hashed: str, server: str, mode: str) -> str:
    """32 hex digits: the cache key of a request hash answered by one server in one logprob mode."""
    return hashlib.blake2b("\n".join((hashed, server, mode)).encode(), digest_size=16).hexdigest()


def nonce_tag(name: str, *texts: str) -> str:
    """A tag that stands nowhere in the texts, such as `verdict_3f9a2c81`.

    It is drawn from a hash of the texts, so a repeated run builds the same prompt and finds its cached answer, and
    a trajectory cannot hold its own tag: writing one into it changes it.
    """
    seed = hashlib.blake2b(digest_size=16)
    for text in texts:
        seed.update(_clean(text).encode())
        seed.update(b"\0")
    for attempt in range(1000):
        digits = hashlib.blake2b(seed.digest() + attempt.to_bytes(4, "big"), digest_size=16).hexdigest()
        tag = f"{name}_{digits[:_NONCE_DIGITS]}"
        if not any(tag in text for text in texts):
            return tag
    raise AssertionError("no free tag in a thousand draws")


def _clean(text: str) -> str:
    """The text with lone surrogates replaced: JSON over HTTP cannot carry them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", errors="replace").decode()
    return text
