"""The answers of all runs in one SQLite file, safe for several processes and for a kill at any moment."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from bestofn.errors import ModelError
from bestofn.llm.answer import Completion, Source
from bestofn.llm.capabilities import Capabilities

CACHE_VARIABLE = "BESTOFN_CACHE"
"""Environment variable: the folder that holds the cache."""
FILE_NAME = "answers.sqlite"
IN_MEMORY = Path(":memory:")
"""The path of a cache that is gone with the process."""
IMPORTED = "batch"
"""The server identity under which imported answers stand."""
IMPORTED_MODE = "any"
"""The mode under which imported answers stand: whoever answered decided about log-probabilities."""
_VERSION = 1
_BUSY_SECONDS = 60.0
_SCHEMA = """
create table if not exists answers (
    key text primary key,        -- request hash, server and mode together
    request_hash text not null,  -- messages, tags, output limit, model and sampling
    model text not null,
    server text not null,        -- host, port and path, or 'batch' for imported answers
    mode text not null,          -- how log-probabilities were asked for
    criterion text not null,     -- for reading the file by hand; no part of the key
    completion text not null,    -- JSON, as answer.Completion.to_json gives it
    input_tokens integer, cached_tokens integer, output_tokens integer,
    created real not null        -- seconds since 1970, UTC
);
create index if not exists answers_by_request on answers (request_hash);
create table if not exists capabilities (
    server text not null, model text not null, settings text not null, learned text not null, created real not null,
    primary key (server, model, settings)
);
create table if not exists exports (
    request_hash text primary key, model text not null, criterion text not null, tags text not null,
    created real not null
);
"""


class StoredAnswer(NamedTuple):
    """One row of the cache, as it is written."""

    key: str
    request_hash: str
    model: str
    server: str
    mode: str
    criterion: str
    completion: Completion


class Export(NamedTuple):
    """A request that was written to a batch file."""

    request_hash: str
    model: str
    criterion: str
    tags: tuple[str, ...]


def default_path() -> Path:
    """Where the cache lies: in $BESTOFN_CACHE, else in the user's cache folder of this platform."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given) / FILE_NAME
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "bestofn" / FILE_NAME


class Cache:
    """Answers and what was learned about servers. Safe to use from several threads and processes.

    Every write is one transaction in WAL mode with full synchronisation: what was written is there after a kill.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open or make the cache.

        Parameters
        ----------
        path
            The file; None for `default_path()`.

        Raises ModelError where it cannot be opened or was made by a newer version.
        """
        self.path = path or default_path()
        self._lock = threading.RLock()
        self._owner = os.getpid()
        self._connection = self._open()

    def get(self, key: str, source: Source = Source.CACHE) -> Completion | None:
        """The answer under a key, None where there is none."""
        rows = self._read("select completion from answers where key = ?", key)
        return self._completion(rows[0][0], source) if rows else None

    def put(self, answer: StoredAnswer) -> None:
        """Store one answer. It is on disk when this returns."""
        self.put_many((answer,))

    def put_many(self, answers: Iterable[StoredAnswer]) -> None:
        """Store several answers in one transaction; one under a key that is there replaces it."""
        self._write("answers", (_row(answer) for answer in answers))

    def by_request(self, request_hash: str, server: str | None = None) -> Completion | None:
        """The newest answer to a request, whoever gave it; one of `server` goes before others."""
        rows = self._read(
            "select completion from answers where request_hash = ? order by server = ? desc, created desc limit 1",
            request_hash,
            server,
        )
        return self._completion(rows[0][0], Source.CACHE) if rows else None

    def count(self) -> int:
        """Number of stored answers."""
        return int(self._read("select count(*) from answers")[0][0])

    def capabilities(self, server: str, model: str, settings: str = "") -> Capabilities | None:
        """What was learned about a model on a server; None where it was never asked.

        `settings` names what else was sent along (the sampling): another setting may be refused.
        """
        rows = self._read(
            "select learned from capabilities where server = ? and model = ? and settings = ?", server, model, settings
        )
        return Capabilities.from_json(orjson.loads(rows[0][0])) if rows else None

    def learn(self, server: str, model: str, learned: Capabilities, settings: str = "") -> None:
        """Remember what a model on a server takes."""
        row = (server, model, settings, orjson.dumps(learned.to_json()).decode(), time.time())
        self._write("capabilities", (row,))

    def forget(self, server: str, model: str) -> None:
        """Drop what was learned about a model on a server, so that it is asked again."""
        self._read("delete from capabilities where server = ? and model = ?", server, model)

    def add_exports(self, exports: Iterable[Export]) -> None:
        """Remember what was written to a batch file."""
        now = time.time()
        rows = ((e.request_hash, e.model, e.criterion, orjson.dumps(e.tags).decode(), now) for e in exports)
        self._write("exports", rows)

    def export(self, request_hash: str) -> Export | None:
        """The exported request of this hash; None where it was not exported from here."""
        rows = self._read(
            "select request_hash, model, criterion, tags from exports where request_hash = ?", request_hash
        )
        if not rows:
            return None
        hashed, model, criterion, tags = rows[0]
        return Export(hashed, model, criterion, tuple(orjson.loads(tags)))

    def unanswered_exports(self) -> int:
        """Number of exported requests that have no imported answer yet."""
        query = """select count(*) from exports e where not exists
                   (select 1 from answers a where a.request_hash = e.request_hash and a.server = ?)"""
        return int(self._read(query, IMPORTED)[0][0])

    def close(self) -> None:
        """Close the file; what was written stays."""
        with self._lock:
            self._connection.close()

    def _open(self) -> sqlite3.Connection:
        """A connection with the schema in place."""
        try:
            if self.path != IN_MEMORY:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._prepare(connection)
        except (sqlite3.Error, OSError) as error:
            raise ModelError(
                f"the answer cache {self.path} cannot be opened ({error}): delete or move it, or set {CACHE_VARIABLE} "
                "to another folder"
            ) from error
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Set the journal mode and make the tables, also where several processes start together."""
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:  # switching to WAL does not wait for locks by itself
            try:
                connection.execute("pragma journal_mode = wal")
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        connection.execute("pragma synchronous = full")
        version = connection.execute("pragma user_version").fetchone()[0]
        if version > _VERSION:
            raise ModelError(
                f"the answer cache {self.path} has format {version}, and this version of bestofn knows up to "
                f"{_VERSION}: upgrade bestofn, or set {CACHE_VARIABLE} to another folder"
            )
        if version < _VERSION:
            connection.executescript(f"begin immediate; {_SCHEMA} pragma user_version = {_VERSION}; commit;")

    def _read(self, query: str, *values: str | None) -> list[tuple[Any, ...]]:
        """The rows of one statement, which is a transaction by itself."""
        with self._guarded() as connection:
            return connection.execute(query, values).fetchall()

    def _write(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Insert or replace rows, all of them or none."""
        prepared = list(rows)
        if not prepared:
            return
        places = ",".join("?" * len(prepared[0]))
        with self._guarded() as connection:
            connection.execute("begin immediate")
            try:
                connection.executemany(f"insert or replace into {table} values ({places})", prepared)
                connection.execute("commit")
            finally:
                if connection.in_transaction:
                    connection.execute("rollback")

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        """The connection, held by this thread, with SQLite's errors made sentences."""
        with self._lock:
            if self._owner != os.getpid():  # a forked child must not use its parent's connection
                self._owner = os.getpid()
                self._connection = self._open()
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise ModelError(
                    f"the answer cache {self.path} failed ({error}): free its disk, or set {CACHE_VARIABLE} to another "
                    "folder; what was stored before is kept"
                ) from error

    def _completion(self, stored: str, source: Source) -> Completion:
        """A stored completion."""
        try:
            return Completion.from_json(orjson.loads(stored), source)
        except ValueError as error:
            raise ModelError(
                f"the answer cache {self.path} holds a row that is no answer ({error}): delete it"
            ) from error


def _row(answer: StoredAnswer) -> tuple[Any, ...]:
    """An answer as the table holds it."""
    completion = orjson.dumps(answer.completion.to_json()).decode()
    return (*answer[:6], completion, *answer.completion.tokens, time.time())
