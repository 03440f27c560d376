"""Writes a file whole or not at all: a run that stops midway leaves what was there before."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def fresh_file(path: Path) -> Iterator[Path]:
    """A place beside `path` to write to, which takes its place when all went well.

    What is no regular file, such as a pipe or /dev/stdout, is written directly. Raises OSError where that cannot be.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    target = path.resolve()
    fresh = target.with_name(f".{zlib.crc32(target.name.encode('utf-8', 'replace')):08x}.{os.getpid()}.new")
    try:
        yield fresh
        if target.exists():
            fresh.chmod(target.stat().st_mode & 0o777)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
