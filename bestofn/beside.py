"""Does some work in processes that start as copies of this one, at once and with all it has imported.

For work of a second or so, where starting workers and importing everything in them would cost more than they save; and
for work that leaves much behind in memory, which ends with the copies.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from bestofn.errors import UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")


def possible() -> bool:
    """Whether this process can be copied safely, and there is a second core to run the copy on."""
    if not hasattr(os, "fork") or sys.platform == "darwin" or threading.active_count() > 1:
        return False
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return usable > 1


def by_two(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The function's result for every item, in order, computed by two copies of this process in turn.

    What the function raises there is raised here. Results must be picklable.
    """
    copies: list[_Copy] = []
    results: list[Any] = [None] * len(items)
    raised: list[BaseException] = []
    try:
        with _no_interrupt():
            copies.extend(_start(function, part) for part in (items[::2], items[1::2]) if part)
        for place, copy in enumerate(copies):
            with os.fdopen(copy.reading, "rb") as pipe:
                answer = pipe.read()
            told: Any
            done, told = pickle.loads(answer) if answer else (False, _died())
            if done:
                results[place::2] = list(told)
            else:
                raised.append(told)
    except BaseException:
        for copy in copies:
            os.kill(copy.process, signal.SIGKILL)
        raise
    finally:
        for copy in copies:
            os.waitpid(copy.process, 0)
    if raised:
        raise raised[0]
    return results


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Holds an interrupt back until every copy that was started is known, so that none is left behind.

    One that arrives within the fork itself would besides be told by the interpreter, with a traceback, and be lost.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Copy(NamedTuple):
    """A copy at work."""

    process: int
    reading: int
    """Where its answer comes from."""


def _start(function: Callable[[Item], Result], items: Sequence[Item]) -> _Copy:
    """Let a copy of this process do some items."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # The threads that are told of belong to numpy's algebra, which has its own way through a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        # An interrupt is told by the process that was copied; a copy ends without a word.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.close(reading)
        _answer(writing, function, items)
    os.close(writing)
    return _Copy(process, reading)


def _died() -> UsageError:
    return UsageError(
        "a process that did part of the work was ended from outside, for want of memory perhaps: try --jobs 1"
    )


def _portable(error: BaseException) -> BaseException:
    """The error itself where it arrives as it was, else one of ours that names it."""
    try:
        arrived = pickle.loads(pickle.dumps(error))
    except Exception:
        arrived = None
    if type(arrived) is type(error):
        return error
    return UsageError(f"{type(error).__name__}: {error}; --jobs 1 shows where it comes from")


def _answer(writing: int, function: Callable[[Item], Result], items: Sequence[Item]) -> None:
    """In the copy: write the results, or what was raised, and end without what else a process does at its end."""
    code = 1
    try:
        try:
            answer = pickle.dumps((True, [function(item) for item in items]), protocol=pickle.HIGHEST_PROTOCOL)
        except BaseException as error:
            answer = pickle.dumps((False, _portable(error)))
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
        code = 0
    finally:
        os._exit(code)
