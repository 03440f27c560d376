"""Orders in which attempts are shown, so that no place in the prompt favours one: seeded, balanced, mapped back.

An order is a tuple `order` with `order[k]` the index of the attempt shown in place k.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

Order = tuple[int, ...]
T = TypeVar("T")


def shuffled(names: Sequence[str], seed: int, *salt: str) -> Order:
    """A random order of the attempts with these names.

    It depends on the names, the seed and the salt (such as the task) alone: attempts that are listed otherwise, or
    read on another machine, stand in the same places. Equal names keep the order in which they are listed.
    """

    def draw(index: int) -> bytes:
        parts = (str(seed), *salt, names[index])
        return hashlib.blake2b("\0".join(parts).encode("utf-8", errors="surrogatepass"), digest_size=16).digest()

    return tuple(sorted(range(len(names)), key=draw))


def rotations(names: Sequence[str], rounds: int, seed: int, *salt: str) -> tuple[Order, ...]:
    """As many orders as asked for, in which every attempt stands in every place about equally often.

    Each block of `len(names)` rounds turns one random order round, so every attempt stands once in every place; the
    next block starts from another random order. With fewer rounds the turns are spread over the places.
    """
    count = len(names)
    orders: list[Order] = []
    for number in range(rounds):
        block, turn = divmod(number, max(count, 1))
        first = shuffled(names, seed, *salt, str(block))
        shift = turn * max(count // max(min(rounds, count), 1), 1) % count if count else 0
        orders.append(first[shift:] + first[:shift])
    return tuple(orders)


def both_orders(first: int, second: int) -> tuple[Order, Order]:
    """The two orders of a pair."""
    return (first, second), (second, first)


def restored(shown: Sequence[T], order: Order) -> list[T]:
    """What was answered place by place, in the order in which the attempts are listed."""
    assert len(shown) == len(order), f"{len(shown)} answers for {len(order)} attempts"
    listed: dict[int, T] = dict(zip(order, shown, strict=True))
    return [listed[index] for index in sorted(listed)]
