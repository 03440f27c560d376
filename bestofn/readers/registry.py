"""The formats there are, and which one a file or directory is of, judged by content."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from bestofn.errors import FormatError, UsageError
from bestofn.readers import ag2, atif, chat, harbor, mini_swe_agent, tau_bench, terminal_bench
from bestofn.readers.document import LINE_SUFFIXES, load_document
from bestofn.readers.draft import Draft, Source
from bestofn.readers.problem import Problem, ProblemKind

DIRECTORY_READERS: tuple[ModuleType, ...] = (harbor, terminal_bench)
"""Formats in which a directory is one attempt, asked before any file inside it."""
FILE_READERS: tuple[ModuleType, ...] = (atif, tau_bench, ag2, mini_swe_agent, chat)
"""Formats in which a file holds attempts, most particular first: the first that claims a document reads it."""
SUFFIXES = frozenset({".json", ".traj", *LINE_SUFFIXES})
"""Endings of files that may hold a recording."""


def names() -> list[str]:
    """The names `--format` takes."""
    return [reader.NAME for reader in (*DIRECTORY_READERS, *FILE_READERS)]


def by_name(name: str) -> ModuleType:
    """The reader of that name. Raises UsageError listing all."""
    for reader in (*DIRECTORY_READERS, *FILE_READERS):
        if name == reader.NAME:
            return reader
    raise UsageError(f"no format '{name}': there are {', '.join(names())}")


def sources(root: Path) -> Iterator[Source]:
    """The files and attempt directories under a root, in path order, without reading any file."""
    if root.is_file():
        yield Source(root, root)
    else:
        yield from _sources_in(root, root)


def _sources_in(folder: Path, root: Path) -> Iterator[Source]:
    """Sources under one folder; a directory that is one attempt is not entered."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda e: e.name)
    entry_names = frozenset(e.name for e in entries)
    if any(reader.claims_directory(folder, entry_names) for reader in DIRECTORY_READERS):
        yield Source(folder, root)
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _sources_in(Path(entry.path), root)
        elif entry.is_file() and Path(entry.name).suffix in SUFFIXES:
            yield Source(Path(entry.path), root)


def read_source(source: Source, format_name: str | None = None) -> Iterator[tuple[str, Draft | Problem]]:
    """(format name, attempt or problem) for everything in one source.

    Raises FormatError only for `--format` naming a reader that cannot read this kind of source.
    """
    try:
        yield from _read_directory(source) if source.path.is_dir() else _read_file(source, format_name)
    except OSError as error:
        yield "", Problem(ProblemKind.UNREADABLE, source.relative, error.strerror or str(error))


def _read_directory(source: Source) -> Iterator[tuple[str, Draft | Problem]]:
    """The attempt in a directory."""
    entry_names = frozenset(os.listdir(source.path))
    for reader in DIRECTORY_READERS:
        if reader.claims_directory(source.path, entry_names):
            for found in reader.read_directory(source):
                yield reader.NAME, found
            return


def _read_file(source: Source, format_name: str | None) -> Iterator[tuple[str, Draft | Problem]]:
    """The attempts in a file."""
    try:
        document = load_document(source.path)
    except ValueError as error:
        kind = ProblemKind.UNREADABLE
        yield "", Problem(kind, source.relative, str(error))
        return
    if format_name is not None:
        reader = by_name(format_name)
        if reader not in FILE_READERS:
            raise FormatError(f"{source.relative} is a file, and format '{format_name}' reads directories")
    else:
        claimed = [reader for reader in FILE_READERS if reader.claims(document)]
        if not claimed:
            yield "", Problem(ProblemKind.UNRECOGNISED, source.relative, "no known format claims it")
            return
        reader = claimed[0]
    for problem in document.trouble(source.relative):
        yield reader.NAME, problem
    for found in reader.read(document, source):
        yield reader.NAME, found
