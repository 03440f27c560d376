"""Sends requests from several threads: of each group the first alone, retries after waits, and a clean stop."""

from __future__ import annotations

import heapq
import itertools
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bestofn.llm.answer import Completion, Missing, Outcome, Reason
from bestofn.llm.budget import Budget, BudgetSpent, Load, Need
from bestofn.llm.fault import Fault
from bestofn.llm.pace import FIRST_WAIT, Pace, backoff
from bestofn.llm.request import Request

TIMEOUT_RETRIES = 2
"""A request that timed out is sent again at most so often: each try may cost the whole answer."""
GROUPS_TO_CLOSE = 3
"""Groups given up in a row because the server is gone, refuses or is always busy, after which nothing more is sent."""
FAILED_GROUPS_TO_CLOSE = 10
"""The same for server errors, broken answers and time-outs, which may lie in a few long requests."""
_SERVER_WIDE = frozenset({Reason.GONE, Reason.RATE_LIMITED, Reason.DENIED})

_MOST_DONE = 64
"""Results that may wait for the consumer before it must take some."""


@dataclass(frozen=True)
class Patience:
    """How long a failing request is tried."""

    max_retries: int = 6
    """Further tries after the first. A 429 costs one only where no other request was answered meanwhile."""
    longest_wait: float = 300.0
    """Seconds: a server that asks to wait longer gets no further try."""
    first_wait: float = FIRST_WAIT
    """Seconds before the first retry."""


@dataclass
class Job:
    """One request on its way."""

    request: Request
    need: Need
    group: int
    followers: list[Job] = field(default_factory=list)
    """Jobs that start when this one is done."""
    tries: int = 0
    timeouts: int = 0
    answers_seen: int = 0
    """Answers the run had when this job failed last."""
    reserved: Load = field(default_factory=Load)
    """What the budget set aside for the call under way."""


class Run:
    """One pass over requests. The consumer submits and takes; threads of the run call."""

    def __init__(
        self,
        call: Callable[[Request], Completion],
        *,
        pace: Pace,
        budget: Budget,
        patience: Patience,
        on_retry: Callable[[Request], None],
    ) -> None:
        self.pace = pace
        self.outstanding = 0
        """Jobs submitted and not yet taken. Only the consumer touches it."""
        self._call = call
        self._budget = budget
        self._patience = patience
        self._on_retry = on_retry
        self._changed = threading.Condition()
        self._waiting: list[tuple[float, int, Job]] = []  # heap of (earliest start, order, job)
        self._order = itertools.count()
        self._active = 0
        self._answers = 0
        self._failed_groups: set[int] = set()
        self._closed: Missing | None = None
        self._stopped = False
        self._threads: list[threading.Thread] = []
        self._done: queue.SimpleQueue[tuple[Job, Outcome] | BaseException] = queue.SimpleQueue()

    @property
    def hungry(self) -> bool:
        """True where more groups should be submitted to keep all calls busy."""
        with self._changed:
            return len(self._waiting) < self.pace.limit and self._done.qsize() < _MOST_DONE

    def submit(self, jobs: Sequence[Job]) -> None:
        """Add the jobs of one group; the first is answered before the others start."""
        if not jobs:
            return
        first = jobs[0]
        first.followers = list(jobs[1:])
        self.outstanding += len(jobs)
        with self._changed:
            if self._closed is not None:
                self._deliver(first, self._closed)
            else:
                self._push(first, time.monotonic())
        while len(self._threads) < min(self.pace.ceiling, self.outstanding):
            thread = threading.Thread(target=self._work, name=f"bestofn-llm-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def take(self, timeout: float) -> tuple[Job, Outcome] | None:
        """The next job that is done; None after `timeout` seconds without one. Raises what broke a thread."""
        try:
            done = self._done.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(done, BaseException):
            raise done
        self.outstanding -= 1
        return done

    def stop(self) -> None:
        """Start nothing more. Calls under way end by themselves, and what they bring is still stored."""
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()

    def _work(self) -> None:
        """What each thread does."""
        while (job := self._next()) is not None:
            started = time.monotonic()
            try:
                completion = self._call(job.request)
            except Fault as fault:
                self._failed(job, fault, started)
            except BaseException as error:  # the consumer's thread raises it
                self._done.put(error)
                return
            else:
                self._answered(job, completion)

    def _next(self) -> Job | None:
        """The next job that may start, once it may; None when the run stops."""
        with self._changed:
            while not self._stopped:
                now = time.monotonic()
                wait: float | None = None
                if self._waiting and self._active < self.pace.limit:
                    wait = max(self._waiting[0][0], self.pace.paused_until) - now
                    if wait <= 0:
                        try:
                            reserved = self._budget.reserve(self._waiting[0][2].need)
                        except BudgetSpent as spent:
                            self._close(Missing(Reason.BUDGET, str(spent)))
                            continue
                        if reserved is not None:
                            self._active += 1
                            job = heapq.heappop(self._waiting)[2]
                            job.reserved = reserved
                            return job
                        wait = None
                self._changed.wait(wait)
        return None

    def _answered(self, job: Job, completion: Completion) -> None:
        with self._changed:
            self._active -= 1
            self._answers += 1
            self._failed_groups.clear()
            self._budget.settle(job.reserved, job.need, completion.tokens)
            self.pace.succeeded()
            self._deliver(job, completion)

    def _failed(self, job: Job, fault: Fault, started: float) -> None:
        """Send again later, or give up."""
        with self._changed:
            self._active -= 1
            self._budget.release(job.reserved)
            if fault.crowded:
                self.pace.slowed(started, fault.retry_after)
            if not (fault.reason is Reason.RATE_LIMITED and self._answers > job.answers_seen):
                job.tries += 1
            job.answers_seen = self._answers
            job.timeouts += fault.reason is Reason.TIMED_OUT
            if self._stopped or self._closed is not None or self._hopeless(job, fault):
                self._give_up(job, fault)
                return
            self._on_retry(job.request)
            wait = backoff(max(job.tries, 1), fault.retry_after, first=self._patience.first_wait)
            self._push(job, time.monotonic() + wait)

    def _hopeless(self, job: Job, fault: Fault) -> bool:
        """True where a further try makes no sense."""
        return (
            not fault.retryable
            or job.tries > self._patience.max_retries
            or job.timeouts > TIMEOUT_RETRIES
            or (fault.retry_after or 0.0) > self._patience.longest_wait
        )

    def _give_up(self, job: Job, fault: Fault) -> None:
        """Deliver a fault, and stop sending where it will meet the others too."""
        closing = fault.reason is Reason.DENIED and fault.status not in (403, 404)
        if fault.retryable or fault.reason is Reason.DENIED:
            self._failed_groups.add(job.group)
            enough = GROUPS_TO_CLOSE if fault.reason in _SERVER_WIDE else FAILED_GROUPS_TO_CLOSE
            closing = closing or len(self._failed_groups) >= enough
        self._deliver(job, fault.missing())
        if closing and self._closed is None:
            self._close(Missing(fault.reason, f"not sent, as others before failed: {fault.message}"))

    def _close(self, missing: Missing) -> None:
        """Give all that waits, and all that comes, the same outcome."""
        self._closed = missing
        waiting, self._waiting = self._waiting, []
        for _, _, job in waiting:
            self._deliver(job, missing)

    def _deliver(self, job: Job, outcome: Outcome) -> None:
        """Hand a job to the consumer and let its followers start."""
        self._done.put((job, outcome))
        followers, job.followers = job.followers, []
        for follower in followers:
            if self._closed is not None:
                self._deliver(follower, self._closed)
            elif not self._stopped:
                self._push(follower, 0.0)  # before other groups, while the server still holds the prefix
        self._changed.notify_all()

    def _push(self, job: Job, start: float) -> None:
        heapq.heappush(self._waiting, (start, next(self._order), job))
        self._changed.notify_all()
