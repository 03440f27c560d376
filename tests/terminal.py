"""Runs a command whose error stream is a terminal, to see what a person sees."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("BESTOFN", "GITHUB", "OPENAI"))}


class Terminal:
    """One run of `bestofn`."""

    def __init__(self, *arguments: str, cwd: Path, environment: Mapping[str, str] | None = None) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bestofn", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, cwd=cwd,
            env={**CLEAN, "TERM": "xterm-256color", "PYTHONPATH": os.pathsep.join(sys.path), **(environment or {})},
        )  # fmt: skip
        os.close(theirs)
        self.told = ""
        """All that the error stream said so far."""

    def wait_for(self, text: str, timeout: float = 60.0) -> bool:
        """Read until the text was said; False where the run ended, or the time, without it."""
        end = time.monotonic() + timeout
        while text not in self.told and time.monotonic() < end and self._read(0.1):
            pass
        return text in self.told

    def interrupt(self) -> None:
        """What Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)

    def finish(self, timeout: float = 120.0) -> tuple[int, str, str]:
        """(exit code, output, error stream) once it has ended."""
        end = time.monotonic() + timeout
        while time.monotonic() < end and self._read(0.1):
            pass
        output, _ = self.process.communicate(timeout=max(1.0, end - time.monotonic()))
        os.close(self._ours)
        return self.process.returncode, output.decode(), self.told

    def _read(self, wait: float) -> bool:
        """Take what was said; False at the end of it."""
        if not select.select([self._ours], [], [], wait)[0]:
            return True
        try:
            raw = os.read(self._ours, 65536)
        except OSError:  # the other end is closed
            return False
        self.told += raw.decode(errors="replace")
        return bool(raw)
