"""What tokens cost: the user's own prices, or a short built-in list that must be checked before relying on it."""

from __future__ import annotations

import re
import tomllib
from typing import NamedTuple

from bestofn.content import find
from bestofn.errors import ContentError, UsageError
from bestofn.llm.answer import Tokens

PER = 1_000_000
"""Prices are in US dollars per this many tokens."""
_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$")


class Price(NamedTuple):
    """Prices of one model."""

    input: float
    """US dollars per million input tokens."""
    output: float
    """US dollars per million output tokens, reasoning included."""
    cached: float | None = None
    """US dollars per million input tokens served from the prefix cache; None where no discount is known."""
    origin: str = "given"
    """Where the prices come from, for reports."""

    def cost(self, tokens: Tokens) -> float | None:
        """US dollars for what a call consumed; None where the server did not count it."""
        if tokens.input is None or tokens.output is None:
            return None
        cached = min(tokens.cached or 0, tokens.input)
        cheap = self.input if self.cached is None else self.cached
        return ((tokens.input - cached) * self.input + cached * cheap + tokens.output * self.output) / PER


def price_for(
    model: str,
    *,
    price_in: float | None = None,
    price_out: float | None = None,
    price_cached: float | None = None,
) -> Price | None:
    """The prices of a model; None where they are not known, which is not free.

    Parameters
    ----------
    model
        The model's name; a provider before a slash and a date at the end are overlooked.
    price_in, price_out, price_cached
        The user's own prices, US dollars per million tokens. They go before the built-in list; with none in the
        list, `price_in` and `price_out` must both be given. 0 is a price: a server that costs nothing.

    Raises UsageError for a price that is negative or stands alone, ContentError for a broken list.
    """
    given = {"--price-in": price_in, "--price-out": price_out, "--price-cached": price_cached}
    wrong = [name for name, value in given.items() if value is not None and not value >= 0]
    if wrong:
        raise UsageError(f"{wrong[0]} is {given[wrong[0]]}: prices are US dollars per million tokens, 0 or more")
    listed = _listed(model)
    if all(value is None for value in given.values()):
        return listed
    first = price_in if price_in is not None else listed and listed.input
    last = price_out if price_out is not None else listed and listed.output
    if first is None or last is None:
        raise UsageError(f"no list price for model '{model}': give both --price-in and --price-out")
    cached = price_cached if price_cached is not None else (listed.cached if listed and price_in is None else None)
    return Price(first, last, cached)


def _listed(model: str) -> Price | None:
    """The built-in price of a model."""
    path = find("data", "prices", ".toml")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        origin = f"{content['source']}, {content['as_of']}"
        prices = {
            name: Price(p["input"], p["output"], p.get("cached"), origin) for name, p in content["models"].items()
        }
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ContentError(
            f'{path}: needs as_of, source and [models."NAME"] with input and output ({type(error).__name__}: {error})'
        ) from error
    bare = model.rsplit("/", 1)[-1]
    names = (model, bare, _DATE.sub("", bare))
    return next((prices[name] for name in names if name in prices), None)
