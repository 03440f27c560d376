"""The formats there are, and which one a file or directory is of, judged by content."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from bestofn.errors import FormatError, PoolError, UsageError
from bestofn.readers import ag2, atif, chat, chat_shape, foreign, harbor, mini_swe_agent, tau_bench, terminal_bench
from bestofn.readers.document import LINE_SUFFIXES, Document, load_document
from bestofn.readers.draft import Draft, Source
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.text import expecting, possible_controls
from bestofn.readers.values import items, mapping

DIRECTORY_READERS: tuple[ModuleType, ...] = (harbor, terminal_bench)
"""Formats in which a directory is one attempt, asked before any file inside it."""
FILE_READERS: tuple[ModuleType, ...] = (atif, tau_bench, ag2, mini_swe_agent, chat)
"""Formats in which a file holds attempts, most particular first: the first that claims a document reads it."""
COMPANIONS = (
    atif.is_companion,
    harbor.is_companion,
    terminal_bench.is_companion,
    mini_swe_agent.is_companion,
)
"""Know the files that a harness writes beside its recordings, such as a run's settings: no recordings, no problem."""
SUFFIXES = frozenset({".json", ".traj", *LINE_SUFFIXES})
"""Endings of files that may hold a recording, in lower case; those of a folder's files count in any case."""


def names() -> list[str]:
    """The names `--format` takes."""
    return [reader.NAME for reader in (*DIRECTORY_READERS, *FILE_READERS)]


def by_name(name: str) -> ModuleType:
    """The reader of that name. Raises UsageError listing all."""
    for reader in (*DIRECTORY_READERS, *FILE_READERS):
        if name == reader.NAME:
            return reader
    raise UsageError(f"no format '{name}': there are {', '.join(names())}")


def sources(root: Path, format_name: str | None = None) -> Iterator[Source]:
    """The files and attempt directories under a root, in path order, without reading any recording.

    A named format narrows what is looked for: a directory format leaves single files out, a file format enters
    every directory.

    Raises PoolError where there is nothing at the root.
    """
    if root.is_file():
        yield Source(root, root)
    elif root.is_dir():
        yield from _Walk(root, _directory_readers(format_name), _reads_files(format_name)).sources(root)
    else:
        raise PoolError(
            f"nothing to read at {root}: {'not a file or a directory' if root.exists() else 'no such path'}"
        )


def read_source(source: Source, format_name: str | None = None) -> Iterator[tuple[str, Draft | Problem]]:
    """(format name, attempt or problem) for everything in one source.

    Raises FormatError only for `--format` naming a reader that cannot read this kind of source.
    """
    try:
        if os.path.isdir(source.path):
            yield from _read_directory(source, _directory_readers(format_name))
        else:
            yield from _read_file(source, format_name)
    except OSError as error:
        yield "", Problem(ProblemKind.UNREADABLE, source.relative, error.strerror or str(error))
    except RecursionError:
        yield "", Problem(ProblemKind.UNREADABLE, source.relative, "nested too deeply")


def _directory_readers(format_name: str | None) -> tuple[ModuleType, ...]:
    """The readers that may claim a directory."""
    if format_name is None:
        return DIRECTORY_READERS
    named = by_name(format_name)
    return tuple(reader for reader in DIRECTORY_READERS if reader is named)


def _reads_files(format_name: str | None) -> bool:
    return format_name is None or by_name(format_name) in FILE_READERS


class _Walk:
    """One walk through a pool's directories.

    Links are followed, each place once: a link into what the walk visits anyway, or in a circle, adds nothing.
    """

    def __init__(self, root: Path, readers: tuple[ModuleType, ...], files: bool) -> None:
        self.root = root
        self.readers = readers
        self.files = files
        self.visited = [root.resolve()]

    def sources(self, folder: Path) -> Iterator[Source]:
        """Sources under one folder; a directory that is one attempt is not entered, one that cannot be read is one."""
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            yield Source(folder, self.root)
            return
        if self.readers:
            entry_names = frozenset(entry.name for entry in entries)
            if any(reader.claims_directory(folder, entry_names) for reader in self.readers):
                yield Source(folder, self.root)
                return
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if self._enters(entry):
                yield from self.sources(Path(entry.path))
            elif self.files and may_be_recording(entry.name) and _is_file(entry):
                yield Source(Path(entry.path), self.root)

    def _enters(self, entry: os.DirEntry[str]) -> bool:
        """True for a directory, and for a link to one that lies outside of all that is visited."""
        if not entry.is_symlink():
            return entry.is_dir(follow_symlinks=False)
        try:
            if not entry.is_dir():
                return False
            target = Path(entry.path).resolve()
        except OSError:
            return False
        if any(target.is_relative_to(place) for place in self.visited):
            return False
        self.visited.append(target)
        return True


def may_be_recording(file_name: str) -> bool:
    """True for a file that is looked at where it lies in a folder: by its ending in any case, also where it is
    compressed, since that has to be told."""
    stem, ending = os.path.splitext(file_name.lower())
    return ending in SUFFIXES or (ending in foreign.COMPRESSED and os.path.splitext(stem)[1] in SUFFIXES)


def _is_file(entry: os.DirEntry[str]) -> bool:
    """True for a file that can be opened and read to its end; a link that leads nowhere is left to the reader."""
    try:
        return entry.is_file() or (entry.is_symlink() and not os.path.exists(entry.path))
    except OSError:
        return True


def _read_directory(source: Source, readers: tuple[ModuleType, ...]) -> Iterator[tuple[str, Draft | Problem]]:
    """The attempt in a directory."""
    entry_names = frozenset(os.listdir(source.path))
    for reader in readers:
        if reader.claims_directory(source.path, entry_names):
            for found in reader.read_directory(source):
                yield reader.NAME, found
            return
    yield (
        "",
        Problem(
            ProblemKind.UNRECOGNISED, source.relative, f"no known format claims this directory; {foreign.SIMPLE_FORMAT}"
        ),
    )


def _read_file(source: Source, format_name: str | None) -> Iterator[tuple[str, Draft | Problem]]:
    """The attempts in a file."""
    named = by_name(format_name) if format_name is not None else None
    if named is not None and named not in FILE_READERS:
        raise FormatError(f"{source.relative} is a file, and format '{format_name}' reads directories")
    if source.path.suffix.lower() in foreign.COMPRESSED:
        yield "", foreign.compressed(source)
        return
    try:
        document = load_document(source.path)
    except ValueError as error:
        yield "", foreign.no_json(source, str(error))
        return
    if not document.value and not document.lines:
        yield "", Problem(ProblemKind.UNRECOGNISED, source.relative, "it holds no record")
        return
    reader = _claimant(document) if named is None else named if named.claims(document) else None
    if reader is not None:
        yield from _attempts(reader, document, source)
    elif not _is_companion(document):
        if named is not None:
            yield from _unclaimed(named, document, source)
        else:
            yield "", Problem(ProblemKind.UNRECOGNISED, source.relative, foreign.refusal(foreign.looks_like(document)))


def _attempts(reader: ModuleType, document: Document, source: Source) -> Iterator[tuple[str, Draft | Problem]]:
    """What a reader finds in a document."""
    for problem in document.trouble(source.relative):
        yield reader.NAME, problem
    possible = possible_controls(document.raw)
    attempts = reader.read(document, source)
    while True:
        # Only while the reader works: between two attempts other files may be read.
        with expecting(possible):
            found = next(attempts, None)
        if found is None:
            return
        yield reader.NAME, found


def _unclaimed(named: ModuleType, document: Document, source: Source) -> Iterator[tuple[str, Draft | Problem]]:
    """What a reader that was asked for finds in a document which it would not claim: where that is no turn, the
    document is of another format, and its attempts are none."""
    found = list(_attempts(named, document, source))
    if any(isinstance(item, Draft) and item.steps for _, item in found):
        yield from found
        return
    reader = _claimant(document)
    other = f"format '{reader.NAME}'" if reader is not None else foreign.looks_like(document)
    what = "holds records, but none is a turn of this format" + (f"; it looks like {other}" if other else "")
    yield named.NAME, Problem(ProblemKind.NO_TURNS, source.relative, what)


def _is_companion(document: Document) -> bool:
    """True for what a harness writes beside its recordings. A record with messages is never that."""
    values = [document.value, *items(document.value)[:20], *(line.value for line in (document.lines or ())[:20])]
    if any(isinstance(mapping(value).get("messages"), list) for value in values):
        return False
    return any(is_companion(document) for is_companion in COMPANIONS)


def _claimant(document: Document) -> ModuleType | None:
    """The first reader that claims a document; what surely is our own format's is not offered to others."""
    if chat_shape.is_ours(document):
        return chat
    return next((reader for reader in FILE_READERS if reader.claims(document)), None)
