"""The answer cache: several processes at once, a kill in the middle, files that are none."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from scripted_server import Reply, ScriptedServer, chat, tag_of

from bestofn.errors import ModelError
from bestofn.llm.answer import Completion, Source, Tokens
from bestofn.llm.cache import IMPORTED, Cache, Export, StoredAnswer, default_path
from bestofn.llm.capabilities import Capabilities
from bestofn.llm.client import Client
from bestofn.llm.request import Message, Request, answer_key, request_hash

WRITER = """
import sys
from pathlib import Path
from bestofn.llm.answer import Completion
from bestofn.llm.cache import Cache, StoredAnswer
cache = Cache(Path(sys.argv[1]))
for i in range(int(sys.argv[3])):
    key = f"{sys.argv[2]}-{i}"
    cache.put(StoredAnswer(key, key, "m", "s", "letters", "c", Completion(content=key * 200)))
    print(key, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    """A process that stores answers and says each key once it is stored."""
    code = [sys.executable, "-c", WRITER, str(path), name, str(count)]
    return subprocess.Popen(code, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stored(key: str, content: str = "x", server: str = "s", hashed: str = "h") -> StoredAnswer:
    """One row."""
    return StoredAnswer(key, hashed, "m", server, "letters", "c", Completion(content=content))


def test_an_answer_comes_back_as_it_was(tmp_path: Path) -> None:
    """Text, tokens and source are those that were put, also for another opening of the file."""
    completion = Completion(
        content="<v>A", reasoning="hm", finish_reason="stop", tokens=Tokens(10, None, 2), model="m1"
    )
    Cache(tmp_path / "c.sqlite").put(StoredAnswer("k", "h", "m", "s", "letters", "c", completion))
    found = Cache(tmp_path / "c.sqlite").get("k")
    assert found is not None
    assert found.source is Source.CACHE
    assert found == Completion(**{**vars(completion), "source": Source.CACHE})
    assert Cache(tmp_path / "c.sqlite").get("other") is None


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    """Four processes that make and fill one cache together lose no row."""
    path = tmp_path / "deep" / "c.sqlite"
    processes = [writer(path, f"w{i}", 60) for i in range(4)]
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, errors
    assert Cache(path).count() == 240


def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    """After kill -9 the file is whole and holds every answer that was said to be stored."""
    path = tmp_path / "c.sqlite"
    process = writer(path, "w", 100_000)
    assert process.stdout is not None
    said = [process.stdout.readline().strip() for _ in range(40)]
    os.kill(process.pid, signal.SIGKILL)
    said += process.stdout.read().split()
    process.wait(timeout=10)
    cache = Cache(path)
    assert len(said) >= 40
    assert all(cache.get(key) is not None for key in said[:-1])  # the last may be half said
    with sqlite3.connect(path) as connection:
        assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    cache.put(stored("after"))
    assert cache.get("after") is not None


def test_the_newest_answer_to_a_request_is_found_whoever_gave_it(tmp_path: Path) -> None:
    """By request alone the newest counts, and a named server goes before the others."""
    cache = Cache(tmp_path / "c.sqlite")
    for server in ("one", "two"):
        cache.put(stored(answer_key("h", server, "letters"), content=server, server=server))
        time.sleep(0.01)
    newest, named = cache.by_request("h"), cache.by_request("h", "one")
    assert newest is not None
    assert named is not None
    assert (newest.content, named.content) == ("two", "one")
    assert cache.by_request("other") is None


def test_what_was_learned_is_kept_per_server_model_and_sampling(tmp_path: Path) -> None:
    """Capabilities are found under exactly what they were learned for, and can be forgotten."""
    cache = Cache(tmp_path / "c.sqlite")
    known = Capabilities(logprobs=False, notes=("no",))
    cache.learn("s", "m", known, "t=1")
    assert cache.capabilities("s", "m", "t=1") == known
    assert cache.capabilities("s", "m") is None
    assert cache.capabilities("s2", "m", "t=1") is None
    cache.forget("s", "m")
    assert cache.capabilities("s", "m", "t=1") is None


def test_exports_are_open_until_their_answer_is_imported(tmp_path: Path) -> None:
    """An exported request counts as open while no imported answer stands under its hash."""
    cache = Cache(tmp_path / "c.sqlite")
    cache.add_exports([Export("h1", "m", "c", ("v",)), Export("h2", "m", "c", ("v", "w"))])
    cache.put(stored("k", hashed="h1", server="elsewhere"))
    assert cache.unanswered_exports() == 2
    cache.put(stored("k2", hashed="h1", server=IMPORTED))
    assert cache.unanswered_exports() == 1
    assert cache.export("h2") == Export("h2", "m", "c", ("v", "w"))
    assert cache.export("h3") is None


def test_a_file_that_is_no_cache_is_told(tmp_path: Path) -> None:
    """A file of something else is named, with the way out."""
    path = tmp_path / "c.sqlite"
    path.write_bytes(b"this is no database at all" * 100)
    with pytest.raises(ModelError, match=r"c\.sqlite cannot be opened \(file is not a database\): delete or move it"):
        Cache(path)


def test_a_cache_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    """A file with a later format is not touched."""
    path = tmp_path / "c.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("pragma user_version = 99")
    with pytest.raises(ModelError, match=r"has format 99, and this version of bestofn knows up to 1: upgrade bestofn"):
        Cache(path)


def test_a_row_that_is_no_answer_is_told(tmp_path: Path) -> None:
    """A row that was tampered with is an error with the file's name, not a score."""
    cache = Cache(tmp_path / "c.sqlite")
    cache.put(stored("k"))
    with sqlite3.connect(cache.path) as connection:
        connection.execute("update answers set completion = '{\"content\": 1'")
    with pytest.raises(ModelError, match=r"c\.sqlite holds a row that is no answer"):
        cache.get("k")


def test_the_cache_lies_where_the_platform_or_the_user_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """BESTOFN_CACHE names the folder; without it the user's cache folder is taken."""
    monkeypatch.setenv("BESTOFN_CACHE", "/somewhere")
    assert default_path() == Path("/somewhere/answers.sqlite")
    monkeypatch.delenv("BESTOFN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    monkeypatch.setattr(sys, "platform", "linux")
    assert default_path() == Path("/cache/bestofn/answers.sqlite")


def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """A scoring process killed in the middle leaves its answers; the next run asks only for the rest."""

    def script(body: dict[str, object], n: int) -> Reply:
        time.sleep(0.02)
        return Reply(chat(f"<{tag_of(body)}>A"))

    server = ScriptedServer(script)
    try:
        code = f"""
from pathlib import Path
from bestofn.llm.cache import Cache
from bestofn.llm.client import Client
from bestofn.llm.request import Message, Request
client = Client("m", cache=Cache(Path({str(tmp_path / "c.sqlite")!r})), base_url={server.url!r}, concurrency=2)
for _ in client.answer([[Request((Message("user", f"run {{i}} <v>"),), ("v",))] for i in range(60)]):
    print("one", flush=True)
"""
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(10):
            process.stdout.readline()
        process.kill()
        process.wait(timeout=10)
        cache = Cache(tmp_path / "c.sqlite")
        requests = [Request((Message("user", f"run {i} <v>"),), ("v",)) for i in range(60)]
        kept = [r.messages[0].text for r in requests if cache.by_request(request_hash(r, "m")) is not None]
        assert 10 <= len(kept) < 60
        client = Client("m", cache=cache, base_url=server.url, concurrency=8)
        answers = list(client.answer([[r] for r in requests]))
        assert all(isinstance(outcome, Completion) for _, outcome in answers)
        asked = [seen.body["messages"][0]["content"] for seen in server.questions]
        assert [asked.count(text) for text in kept] == [1] * len(kept)
        assert len(set(asked)) == 60
    finally:
        server.stop()


def test_put_many_is_all_or_nothing(tmp_path: Path) -> None:
    """A failing row undoes the rows before it."""
    cache = Cache(tmp_path / "c.sqlite")
    bad: Sequence[StoredAnswer] = [stored("k1"), stored("k2")._replace(server=None)]  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ModelError, match="NOT NULL"):
        cache.put_many(bad)
    assert cache.count() == 0
