"""What came back: a completion as plain data, or nothing and why. The cache, batch import and replay keep this form."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from typing import Any, NamedTuple

KEPT_TOKENS = 12
"""Tokens from a tag's end whose alternatives are stored; elsewhere only the chosen token is."""
_LETTER = re.compile(rb"[A-Za-z]")


class Reason(StrEnum):
    """Why a score is missing or degraded: one word or two for counting, the sentence stands in `detail`."""

    EMPTY = "no content"
    REFUSED = "refusal"
    FILTERED = "content filter"
    CUT_OFF = "cut off"
    NO_TAG = "no answer tag"
    OFF_SCALE = "off scale"
    OVERFLOW = "context overflow"
    GONE = "server gone"
    TIMED_OUT = "timed out"
    RATE_LIMITED = "rate limited"
    SERVER_ERROR = "server error"
    BROKEN = "broken answer"
    REJECTED = "request rejected"
    DENIED = "access denied"
    BUDGET = "budget spent"
    NOT_RECORDED = "not recorded"
    # The ones below degrade a score and do not remove it.
    NO_LOGPROBS = "no logprobs"
    NO_ALTERNATIVES = "no alternatives"
    LOW_MASS = "little probability captured"
    ELSEWHERE = "logprobs of other text"


class Source(StrEnum):
    """Where an answer came from."""

    SERVER = "server"
    CACHE = "cache"
    IMPORT = "import"
    """A batch file that was imported."""
    REPLAY = "replay"


@dataclass(frozen=True)
class Missing:
    """No answer, and why."""

    reason: Reason
    detail: str = ""
    """A sentence with what the server said, if it said anything."""


class Alternative(NamedTuple):
    """One token that could have stood in a place."""

    token: bytes
    """UTF-8 bytes of the token's text."""
    logprob: float
    """NaN where the server gave no usable number."""


class Token(NamedTuple):
    """One generated token."""

    token: bytes
    logprob: float
    top: tuple[Alternative, ...] = ()
    """The most likely tokens in its place, as many as the server gave and the store kept."""


class Tokens(NamedTuple):
    """What a call consumed, as the server counted it. None is not reported, which is not 0."""

    input: int | None = None
    """All input tokens, the cached ones included."""
    cached: int | None = None
    """Input tokens that the server's prefix cache served."""
    output: int | None = None
    """Output tokens, reasoning included."""


_UNCOUNTED = Tokens()


@dataclass(frozen=True)
class Completion:
    """One answer of a model."""

    content: str | None = None
    reasoning: str | None = None
    """What the server put under `reasoning` or `reasoning_content`."""
    refusal: str | None = None
    finish_reason: str | None = None
    logprobs: tuple[Token, ...] = ()
    """The generated tokens in order; () where the server gave none."""
    tokens: Tokens = _UNCOUNTED
    model: str | None = None
    """The model's name as the server states it."""
    fingerprint: str | None = None
    """`system_fingerprint`: the server's build, where it states one."""
    source: Source = Source.SERVER
    """Where this copy came from; not stored."""

    @classmethod
    def from_api(cls, body: Any) -> Completion:
        """The completion in a Chat Completions response body. Raises ValueError where there is none."""
        if not isinstance(body, Mapping):
            raise ValueError("the answer is no JSON object")
        choices = body.get("choices")
        if not isinstance(choices, Sequence) or not choices or not isinstance(choices[0], Mapping):
            raise ValueError("the answer holds no choices")
        choice = choices[0]
        message = choice.get("message")
        if not isinstance(message, Mapping):
            message = {"content": choice.get("text")} if isinstance(choice.get("text"), str) else {}
        content, thought = _texts(message.get("content"))
        reasoning = _first_text(message.get("reasoning"), message.get("reasoning_content")) or thought
        return cls(
            content=content,
            reasoning=reasoning,
            refusal=_first_text(message.get("refusal")),
            finish_reason=_first_text(choice.get("finish_reason")),
            logprobs=_logprobs(choice.get("logprobs")),
            tokens=_tokens(body.get("usage")),
            model=_first_text(body.get("model")),
            fingerprint=_first_text(body.get("system_fingerprint")),
        )

    @property
    def blank(self) -> bool:
        """True where the answer holds no text at all."""
        return not any((text or "").strip() for text in (self.content, self.reasoning, self.refusal))

    def trimmed(self, tags: Iterable[str]) -> Completion:
        """The same answer with alternatives kept only where a letter may stand.

        Twenty alternatives for every token of a long answer would fill the cache with what no score reads. Kept
        are the tokens from the end of each opening tag to the first that holds a letter, `KEPT_TOKENS` at most, or the
        last ones where no tag stands.
        """
        stream = b"".join(token.token for token in self.logprobs)
        ends = list(accumulate(len(token.token) for token in self.logprobs))
        keep: set[int] = set()
        for tag in tags:
            for match in re.finditer(rb"(?i)(?<!/)" + re.escape(tag.encode()) + rb"\s*>", stream):
                closing = bisect_left(ends, match.end())
                letter = _LETTER.search(stream, match.end())
                last = bisect_right(ends, letter.start()) if letter else len(ends)
                keep.update(range(closing, min(last + 1, closing + KEPT_TOKENS)))
        if not keep:
            keep.update(range(len(ends) - KEPT_TOKENS, len(ends)))
        kept = tuple(t if i in keep else t._replace(top=()) for i, t in enumerate(self.logprobs))
        return replace(self, logprobs=kept)

    def to_json(self) -> dict[str, Any]:
        """Plain data for storing; `from_json` reads it back."""
        out: dict[str, Any] = {"content": self.content, "finish_reason": self.finish_reason}
        for name in ("reasoning", "refusal", "model", "fingerprint"):
            if getattr(self, name) is not None:
                out[name] = getattr(self, name)
        usage = {name: value for name, value in self.tokens._asdict().items() if value is not None}
        if usage:
            out["tokens"] = usage
        if self.logprobs:
            out["logprobs"] = [
                [_stored(t.token), _number(t.logprob), [[_stored(a.token), _number(a.logprob)] for a in t.top]]
                for t in self.logprobs
            ]
        return out

    @classmethod
    def from_json(cls, stored: Any, source: Source) -> Completion:
        """A stored completion. Raises ValueError where it is none."""
        try:
            return cls(
                content=stored["content"],
                finish_reason=stored["finish_reason"],
                reasoning=stored.get("reasoning"),
                refusal=stored.get("refusal"),
                model=stored.get("model"),
                fingerprint=stored.get("fingerprint"),
                tokens=Tokens(**stored.get("tokens", {})),
                logprobs=tuple(
                    Token(_restored(t), _logprob(lp), tuple(Alternative(_restored(a), _logprob(p)) for a, p in top))
                    for t, lp, top in stored.get("logprobs", ())
                ),
                source=source,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"not a stored answer ({type(error).__name__}: {error})") from error


Outcome = Completion | Missing
"""What a request comes to."""


def _first_text(*values: Any) -> str | None:
    """The first value that is a text with something in it."""
    return next((value for value in values if isinstance(value, str) and value), None)


def _texts(content: Any) -> tuple[str | None, str | None]:
    """Content and thought of a message's `content`, which some servers give as a list of parts."""
    if isinstance(content, str):
        return content, None
    if not isinstance(content, list):
        return None, None
    said: list[str] = []
    thought: list[str] = []
    for part in content:
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, Mapping):
            if part.get("type") in ("thinking", "reasoning"):
                inner = part.get("thinking") or part.get("reasoning") or part.get("text")
                text, deeper = _texts(inner)
                thought.append(text or deeper or "")
            elif isinstance(part.get("text"), str):
                said.append(part["text"])
    return ("".join(said) or None), ("".join(thought) or None)


def _logprobs(given: Any) -> tuple[Token, ...]:
    """The tokens of a choice's `logprobs`: the chat form, or the older one of parallel lists."""
    if not isinstance(given, Mapping):
        return ()
    entries = given.get("content")
    if isinstance(entries, list):
        return tuple(_token(entry) for entry in entries)
    texts, numbers, tops = given.get("tokens"), given.get("token_logprobs"), given.get("top_logprobs")
    if not isinstance(texts, list) or not isinstance(numbers, list) or not isinstance(tops, list):
        return ()
    return tuple(
        _token(
            {
                "token": text,
                "logprob": number,
                "top_logprobs": [{"token": t, "logprob": p} for t, p in top.items()]
                if isinstance(top, Mapping)
                else [],
            }
        )
        for text, number, top in zip(texts, numbers, tops, strict=False)
    )


def _token(entry: Any) -> Token:
    """A token of the `logprobs.content` list; what is no token becomes an empty one, so that offsets hold."""
    if not isinstance(entry, Mapping):
        return Token(b"", math.nan)
    top = entry.get("top_logprobs")
    alternatives = (
        tuple(Alternative(_bytes(a), _logprob(a.get("logprob"))) for a in top if isinstance(a, Mapping))
        if isinstance(top, list)
        else ()
    )
    return Token(_bytes(entry), _logprob(entry.get("logprob")), alternatives)


def _bytes(entry: Mapping[str, Any]) -> bytes:
    """A token's UTF-8 bytes: as stated, else of its text."""
    stated = entry.get("bytes")
    if isinstance(stated, list) and stated and all(isinstance(b, int) and 0 <= b < 256 for b in stated):
        return bytes(stated)
    text = entry.get("token")
    return text.encode("utf-8", errors="replace") if isinstance(text, str) else b""


def _logprob(value: Any) -> float:
    """A log-probability; NaN where it is no number or cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value) or value > 0.01:
        return math.nan
    return min(float(value), 0.0)


def _number(value: float) -> float | None:
    """A number that JSON can hold."""
    if math.isnan(value):
        return None
    return max(value, -9999.0)


def _stored(token: bytes) -> str | list[int]:
    """Token bytes as text where they are UTF-8, else as numbers."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return list(token)


def _restored(stored: str | list[int]) -> bytes:
    """The bytes that `_stored` was given."""
    return stored.encode() if isinstance(stored, str) else bytes(stored)


def _tokens(usage: Any) -> Tokens:
    """Token counts of a response's `usage`."""
    if not isinstance(usage, Mapping):
        return Tokens()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    if cached is None:
        cached = usage.get("prompt_cache_hit_tokens")  # DeepSeek's own name
    return Tokens(_count(usage.get("prompt_tokens")), _count(cached), _count(usage.get("completion_tokens")))


def _count(value: Any) -> int | None:
    """A token count, None where there is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
