"""Counts the tokens of prompts that share a beginning without counting that again and again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from bestofn.llm.request import Request


class PrefixCounter:
    """Counts tokens of texts, the beginning that a group of requests shares only once.

    A count is a few tokens off where a token would span the end of the shared beginning.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._prefix = ""
        self._tokens = 0

    def watch(self, groups: Iterable[list[Request]]) -> Iterator[list[Request]]:
        """The same groups; the beginning of the one given out last is known."""
        for group in groups:
            texts = [message.text for request in group for message in request.messages]
            self._prefix = os.path.commonprefix(texts) if len(texts) > 1 else ""  # noqa: RUF071 - characters are meant
            self._tokens = self._count(self._prefix)
            yield group

    def __call__(self, text: str) -> int:
        """Tokens of a text."""
        if self._prefix and text.startswith(self._prefix):
            return self._tokens + self._count(text[len(self._prefix) :])
        return self._count(text)
