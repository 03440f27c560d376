"""What a format's reader hands over: one attempt with its label already taken apart from its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from bestofn.readers.document import Document
from bestofn.readers.problem import Problem
from bestofn.trajectory import Coverage, Ending, Label, Step, Usage


@dataclass(frozen=True, slots=True)
class Draft:
    """One attempt as a reader found it. The pool gives it its unique id and its origin."""

    task: str
    """From the record or label file where it stands there, else from the path."""
    name: str
    """The trial's own name, or a path-like name; need not be unique."""
    steps: tuple[Step, ...]
    label: Label
    ending: Ending
    coverage: Coverage
    instruction: str = ""
    usage: Usage = Usage()
    digest: str = ""
    """Hash of the record's raw bytes."""
    record: int | None = None
    """0-based index in the file, None where the file holds one attempt."""


class Source(NamedTuple):
    """A file, or a directory that is one attempt, and where the pool's root is."""

    path: Path
    root: Path

    @property
    def relative(self) -> str:
        """The path under the pool's root, with forward slashes."""
        path, root = self.path.as_posix(), self.root.as_posix()
        if path == root:
            return self.path.name or self.path.resolve().name
        # A root of "." is no part of the paths below it.
        return path if root == "." else path.removeprefix(root).removeprefix("/")


class FileReader(Protocol):
    """A module that reads files of one format."""

    NAME: str
    """Short name for `--format`."""
    SUMMARY: str
    """One line for help and documentation."""

    def claims(self, document: Document) -> bool:
        """True where this document is of this format, judged by content."""
        ...

    def read(self, document: Document, source: Source) -> Iterator[Draft | Problem]:
        """The attempts in this document, in file order."""
        ...


class DirectoryReader(Protocol):
    """A module that reads directories, each of which is one attempt."""

    NAME: str
    SUMMARY: str

    def claims_directory(self, path: Path, names: frozenset[str]) -> bool:
        """True where the directory with these entries is one attempt of this format."""
        ...

    def read_directory(self, source: Source) -> Iterator[Draft | Problem]:
        """The attempt in this directory."""
        ...
