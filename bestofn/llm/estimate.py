"""Says what a run would take before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from bestofn.llm.answer import Tokens
from bestofn.llm.prices import Price
from bestofn.llm.request import Group, Request

CountTokens = Callable[[str], int]
"""Counts the tokens of a text."""
CHARACTERS_PER_TOKEN = 4
MESSAGE_TOKENS = 4
"""Tokens that a chat format adds to each message."""


class Estimate(NamedTuple):
    """What a run would take. Token counts are estimates even with a tokenizer: each server has its own."""

    calls: int
    """Requests that would be sent."""
    answered: int
    """Requests that the cache answers for nothing."""
    input_tokens: int
    shared_tokens: int
    """Input tokens of shared prefixes, which a server with a prefix cache reads once: part of `input_tokens`."""
    output_tokens: int
    """At most: every answer as long as allowed."""
    usd_most: float | None
    """No prefix cache, every answer as long as allowed; None where the price is not known."""
    usd_least: float | None
    """Shared prefixes at the cached price, answers of no length."""
    counted: bool
    """True where a tokenizer counted, False where four characters were taken for a token."""


def input_tokens(request: Request, count: CountTokens | None = None) -> int:
    """Input tokens of a request, with a tokenizer where one is given."""
    sizes = (count(text) if count else -(-len(text) // CHARACTERS_PER_TOKEN) for _, text in request.messages)
    return sum(sizes) + MESSAGE_TOKENS * len(request.messages)


def estimate(
    groups: Iterable[Group],
    price: Price | None = None,
    *,
    count: CountTokens | None = None,
    answered: Callable[[Request], bool] | None = None,
) -> Estimate:
    """What asking all requests would take.

    Parameters
    ----------
    groups
        Requests that share a prefix, group by group.
    price
        None leaves the dollars unknown.
    count
        A tokenizer's count; without one four characters are taken for a token.
    answered
        Tells which requests cost nothing, such as `Client.is_answered`.
    """
    calls = free = tokens = shared = output = 0
    for group in groups:
        first: Request | None = None
        for request in group:
            if answered is not None and answered(request):
                free += 1
                continue
            size = input_tokens(request, count)
            calls += 1
            tokens += size
            output += request.max_output_tokens
            if first is None:
                first = request
            else:
                shared += int(size * _shared_share(first, request))
    most = price.cost(Tokens(tokens, 0, output)) if price else None
    least = price.cost(Tokens(tokens, shared, 0)) if price else None
    return Estimate(calls, free, tokens, shared, output, most, least, count is not None)


def _shared_share(first: Request, other: Request) -> float:
    """Share of the other request's characters that stand at the beginning of both."""
    shared = 0
    for mine, yours in zip(first.messages, other.messages, strict=False):
        if mine == yours:
            shared += len(yours.text)
            continue
        if mine.role == yours.role:
            shared += _common(mine.text, yours.text)
        break
    return shared / other.characters if other.characters else 0.0


def _common(one: str, two: str) -> int:
    """Characters at the beginning of both, by halving: texts are long and slices compare fast."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
