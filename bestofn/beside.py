"""Does half of some work in a second process that starts as a copy of this one, at once and with all it has imported.

For work of a second or so, where starting workers and importing everything in them would cost more than they save.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def possible() -> bool:
    """Whether this process can be copied safely, and there is a second core to run the copy on."""
    if not hasattr(os, "fork") or sys.platform == "darwin" or threading.active_count() > 1:
        return False
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return usable > 1


def by_two(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The function's result for every item, in order; every other one is computed by the copy.

    What the function raises there is raised here. Results must be picklable.
    """
    mine, others = items[::2], items[1::2]
    if not others:
        return [function(item) for item in mine]
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # The threads that are told of belong to numpy's algebra, which has its own way through a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(writing, function, others)
    os.close(writing)
    try:
        results: list[Any] = [None] * len(items)
        results[::2] = [function(item) for item in mine]
        with os.fdopen(reading, "rb") as pipe:
            answer = pipe.read()
    except BaseException:
        os.kill(child, 9)
        raise
    finally:
        os.waitpid(child, 0)
    if not answer:
        raise RuntimeError("the process that did half of the work ended without an answer; try again with --jobs 1")
    done, told = pickle.loads(answer)
    if not done:
        raise told
    results[1::2] = told
    return results


def _answer(writing: int, function: Callable[[Item], Result], items: Sequence[Item]) -> None:
    """In the copy: write the results, or what was raised, and end without what else a process does at its end."""
    code = 1
    try:
        try:
            answer = pickle.dumps((True, [function(item) for item in items]), protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            answer = pickle.dumps((False, error))
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
        code = 0
    finally:
        os._exit(code)
