"""What the tasks share: the shell they run in, the moves of a policy, and a few file helpers."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Move:
    """One step of a policy: a command for bash, and what the policy says or thinks beside it."""

    command: str
    say: str | None = None
    """The visible message; None when the policy calls the tool without a word."""
    think: str | None = None
    """The reasoning; None when there is none."""


@dataclass(frozen=True)
class Seen:
    """What one command left behind."""

    output: str
    """Standard output and standard error, merged."""
    exit_code: int
    """124 where the time limit for one command struck."""


Run = Generator[Move, Seen, str | None]
"""A policy at work: yields moves, is sent what was seen, returns its closing message or None."""

Policy = Callable[[], Run]


def run(command: str, say: str | None = None, think: str | None = None) -> Move:
    """Short for `Move`, so that a policy reads as a script."""
    return Move(command.strip("\n"), say, think)


def make_room(root: Path) -> Path:
    """Make the folders of one attempt below `root` and return the working directory.

    `bin` holds only python3, so that every attempt runs the interpreter that records.
    """
    for name in ("app", "home", "tmp", "bin"):
        (root / name).mkdir()
    (root / "bin" / "python3").symlink_to(os.path.realpath(sys.executable))
    return root / "app"


def environment(work: Path) -> dict[str, str]:
    """The environment of setup, commands and checker: one language, zone and date everywhere."""
    root = work.parent
    date = "2024-05-06T07:08:09+0000"
    return {
        "PATH": f"{root / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(root / "home"),
        "TMPDIR": str(root / "tmp"),
        "LC_ALL": "C",
        "TZ": "UTC",
        "TERM": "dumb",
        "PAGER": "cat",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(root),
        "GIT_AUTHOR_NAME": "Agent",
        "GIT_AUTHOR_EMAIL": "agent@example.org",
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": "Agent",
        "GIT_COMMITTER_EMAIL": "agent@example.org",
        "GIT_COMMITTER_DATE": date,
    }


def bash(work: Path, command: str, seconds: float = 10.0) -> Seen:
    """Run `command` in a fresh bash in `work`; after `seconds` end it and all that it started."""
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=work,
        env=environment(work),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        umask=0o022,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += f"\n[command ended: no result within {seconds:g} s]".encode()
        code = 124
    return Seen(output.decode("utf-8", "replace"), code)


def must(work: Path, command: str) -> str:
    """Run a command of a setup, which must succeed, and return its output."""
    seen = bash(work, command, 60.0)
    if seen.exit_code:
        raise RuntimeError(f"exit code {seen.exit_code} in a setup: {command}\n{seen.output}")
    return seen.output


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """Write `text` exactly as it is, with its parent folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    path.chmod(mode)


def text_of(path: Path) -> str | None:
    """The text of a file without any change of line ends, or None where there is no such file."""
    return path.read_bytes().decode("utf-8", "replace") if path.is_file() else None
