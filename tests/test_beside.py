"""Work in copies of this process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bestofn.beside import by_two, possible
from bestofn.errors import UsageError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot copy a process")


def test_results_come_in_order() -> None:
    """Whichever process computed them; an odd number of items, one and none as well."""
    for n in (0, 1, 2, 3, 8, 9):
        assert by_two(lambda item: item * item, range(n)) == [item * item for item in range(n)]


def test_the_copy_does_its_part() -> None:
    """Two processes in turn do the items, and this one none, so that it keeps nothing of the work in memory."""
    first, second, third, fourth = by_two(lambda item: os.getpid(), range(4))
    assert (first, second) == (third, fourth)
    assert len({first, second, os.getpid()}) == 3


def test_large_answers_pass() -> None:
    """More than a pipe holds at once."""
    assert [len(text) for text in by_two(lambda item: "x" * item, [3_000_000, 4_000_000])] == [3_000_000, 4_000_000]


@pytest.mark.parametrize("bad", [0, 1])
def test_what_is_raised_on_either_side_is_raised_here(bad: int) -> None:
    """An error in a copy is raised as it is, and no process is left behind."""

    def work(item: int) -> int:
        if item == bad:
            raise ValueError(f"item {item}")
        return item

    with pytest.raises(ValueError, match=f"item {bad}"):
        by_two(work, [0, 1])
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_copy_that_dies_is_told() -> None:
    """A killed copy gives no results, and the error names the way around."""

    def work(item: int) -> int:
        if item == 1:
            os.kill(os.getpid(), 9)
        return item

    with pytest.raises(UsageError, match="--jobs 1"):
        by_two(work, [0, 1])


def test_an_error_that_cannot_travel_is_named() -> None:
    """An exception that cannot be sent between processes keeps its name and words."""

    class LocalError(Exception):
        pass

    def work(item: int) -> int:
        raise LocalError(f"no item {item}")

    with pytest.raises(UsageError, match="LocalError: no item 0"):
        by_two(work, [0, 1])


def test_a_process_with_threads_is_not_copied() -> None:
    """A copy of a process with threads could wait for a lock for ever."""
    import threading

    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not possible()
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("when", ["before", "after_in_parent", "after_in_child"])
def test_an_interrupt_at_the_very_fork_is_not_lost_and_leaves_nobody(when: str) -> None:
    """The interpreter swallows what is raised within a fork; it has to wait until the copies are known."""
    script = f"""
import os, signal, time
from bestofn.beside import by_two

os.register_at_fork({when}=lambda: os.killpg(0, signal.SIGINT))
try:
    by_two(lambda item: time.sleep(60), range(2))
except KeyboardInterrupt:
    print("interrupted")
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("nobody left")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=50, start_new_session=True
    )
    assert done.stdout.split("\n") == ["interrupted", "nobody left", ""]
    assert done.stderr == ""
