"""What all tests share: where the recordings that are not part of the project lie."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bestofn.trajectory import Coverage, Ending, Label, Origin, Step, Trajectory

# A shell lets what it starts in the background ignore an interrupt, and every child inherits that: the tests of
# interrupts would then wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.append(str(Path(__file__).parent))  # helper modules beside the tests, in importlib mode as well

from browser import Browser, binaries, chromium  # noqa: E402 - found by the line above
from scripted_server import Script, ScriptedServer, Serve  # noqa: E402


def shared_root() -> Path | None:
    """The shared recordings: BESTOFN_SHARED, or `shared` beside the checkout; None where there are none."""
    given = os.environ.get("BESTOFN_SHARED")
    root = Path(given) if given else Path(__file__).resolve().parents[2] / "shared"
    return root if (root / "pools").is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared recordings; without them the test is skipped, by name."""
    root = shared_root()
    if root is None:
        pytest.skip("needs the shared recordings: set BESTOFN_SHARED to the folder that holds pools/, samples/, cases/")
    return root


@pytest.fixture(scope="session")
def attempt() -> Callable[..., Trajectory]:
    """Makes a trajectory of the given steps; fields that a test does not name have a plain value."""

    def make(*steps: Step, **fields: Any) -> Trajectory:
        plain: dict[str, Any] = {
            "id": "a1",
            "task": "t1",
            "label": Label.unknown("not run"),
            "ending": Ending(),
            "coverage": Coverage(),
            "origin": Origin("a1.json", "test"),
        }
        return Trajectory(**{**plain, **fields}, body=steps)

    return make


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Serve]:
    """Starts scripted servers and stops them after the test; a cache of the test's own, no key and no server named."""
    for name in ("BESTOFN_API_KEY", "OPENAI_API_KEY", "BESTOFN_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BESTOFN_CACHE", str(tmp_path / "cache"))
    running: list[ScriptedServer] = []

    def start(script: Script) -> ScriptedServer:
        running.append(ScriptedServer(script))
        return running[-1]

    yield start
    for server in running:
        with suppress(OSError):
            server.stop()


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """Starts a browser with a fresh profile; without one the test is skipped, by name."""
    if binaries() is None:
        pytest.skip("needs chromium and chromedriver on the path (Debian: apt-get install chromium chromium-driver)")
    count = iter(range(100))
    return lambda **options: chromium(tmp_path / f"profile{next(count)}", **options)
