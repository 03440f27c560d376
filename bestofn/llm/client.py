"""Answers requests by asking a server, with everything that was ever answered taken from the cache."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from bestofn.llm.accounts import PROBE, Accounts
from bestofn.llm.answer import Completion, Missing, Outcome, Reason, Source
from bestofn.llm.budget import Budget, Need
from bestofn.llm.cache import IMPORTED, IMPORTED_MODE, Cache, StoredAnswer
from bestofn.llm.capabilities import Capabilities, adapt, probe
from bestofn.llm.estimate import CountTokens, input_tokens
from bestofn.llm.fault import Fault
from bestofn.llm.pace import Pace, backoff
from bestofn.llm.prices import Price
from bestofn.llm.progress import Meter, Progress
from bestofn.llm.request import Group, Request, Sampling, answer_key, request_hash
from bestofn.llm.run import Job, Patience, Run
from bestofn.llm.transport import Transport, find_key, locate

_PROBE_RETRIES = 2
"""Further tries of the first call where nothing answers: a wrong address should be told soon."""
_TICK_SECONDS = 0.5


class Answerer(Protocol):
    """Whatever answers requests: `Client` asks a server, `Replay` reads a recording."""

    @property
    def accounts(self) -> Accounts:
        """What was consumed so far."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the scores should know about how they were asked for."""
        ...

    def answer(self, groups: Iterable[Group], *, total: int | None = None) -> Iterator[tuple[Request, Outcome]]:
        """Each request once with its outcome, in the order in which answers come."""
        ...


class Client:
    """A model on a server. Nothing is sent before the first request that no cache can answer."""

    def __init__(
        self,
        model: str,
        *,
        cache: Cache,
        base_url: str | None = None,
        sampling: Sampling | None = None,
        price: Price | None = None,
        budget: Budget | None = None,
        timeout: float = 300.0,
        concurrency: int = 32,
        patience: Patience | None = None,
        progress: Callable[[Progress], None] | None = None,
        count_tokens: CountTokens | None = None,
        offline: bool = False,
    ) -> None:
        """Prepare a client.

        Parameters
        ----------
        model
            The model's name as the server knows it.
        cache
            Where answers and what was learned about servers are kept.
        base_url
            The server; None for $BESTOFN_BASE_URL, $OPENAI_BASE_URL or OpenAI. The key comes from
            $BESTOFN_API_KEY or $OPENAI_API_KEY; local servers need none.
        sampling
            Temperature and reasoning effort.
        price
            For the accounts; None leaves the dollars unknown.
        budget
            A ceiling; when it is reached, what was not sent is missing with the reason `budget spent`.
        timeout
            Seconds for one call, from sending to the last byte.
        concurrency
            Calls under way at most; the client uses fewer where the server cannot keep up.
        patience
            How often and how long a failing request is tried.
        progress
            Called from the consumer's thread after each answer and at least twice a second.
        count_tokens
            Counts the tokens of a text, for budgets; by default four characters make a token, corrected by what
            the server reports.
        offline
            Send nothing: answer from the cache and imported files only.

        Raises UsageError for a base URL that is none.
        """
        self.model = model
        self.server = locate(base_url)
        self.accounts = Accounts(price)
        self._cache = cache
        self._sampling = sampling or Sampling()
        self._settings = json.dumps(list(self._sampling.to_json().values()), sort_keys=True)
        self._budget = budget or Budget()
        self._timeout = timeout
        self._concurrency = concurrency
        self._patience = patience or Patience()
        self._progress = progress
        self._count = count_tokens
        self._offline = offline
        self._lock = threading.Lock()
        self._known = cache.capabilities(self.server.identity, model, self._settings)
        self._transport: Transport | None = None
        self._refused: Missing | None = None  # why this run cannot send anything

    @property
    def capabilities(self) -> Capabilities | None:
        """What is known of the server; None before it was first asked."""
        return self._known

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found out about the server and matters to a reader of the scores."""
        known = self._known.notes if self._known else ()
        imported = self.accounts.total().imported
        return (*known, *((f"{imported} answers come from imported batch files",) if imported else ()))

    def answer(self, groups: Iterable[Group], *, total: int | None = None) -> Iterator[tuple[Request, Outcome]]:
        """Each request once with its outcome, in the order in which answers come.

        Parameters
        ----------
        groups
            Requests that share a prefix, group by group; read as they are needed. Of each group the first request
            that the cache cannot answer completes before the rest start, so that the server's prefix cache
            serves them.
        total
            Number of requests, for the progress; counted where `groups` is a list or tuple.

        Finished answers are stored before they are yielded. An interrupted or stopped run goes on from there when
        it is started again. Raises UsageError where a key is needed and there is none, ModelError where the cache
        cannot be written.
        """
        if total is None and isinstance(groups, list | tuple):
            total = sum(len(group) for group in groups)
        self._refused = None
        pace = Pace(max(1, self._concurrency))
        run = Run(
            self._ask,
            pace=pace,
            budget=self._budget,
            patience=self._patience,
            on_retry=lambda request: self.accounts.retried(request.criterion),
        )
        meter = Meter(total, self.accounts, pace)
        twins: dict[str, list[Request]] = {}
        try:
            for pair in self._drive(iter(groups), run, twins):
                if pair is not None:
                    request, outcome = pair
                    if isinstance(outcome, Completion):
                        self.accounts.enter(request.criterion, outcome)
                    meter.count(outcome)
                if self._progress is not None:
                    self._progress(meter.read())
                if pair is not None:
                    yield pair
        finally:
            run.stop()

    def is_answered(self, request: Request) -> bool:
        """True where the cache holds an answer, so that asking costs nothing."""
        return self._stored(request_hash(request, self.model, self._sampling)) is not None

    def close(self) -> None:
        """Drop the connections."""
        if self._transport is not None:
            self._transport.close()

    def _drive(
        self, groups: Iterator[Group], run: Run, twins: dict[str, list[Request]]
    ) -> Iterator[tuple[Request, Outcome] | None]:
        """Outcomes as they come; None where half a second passed without one."""
        numbers = itertools.count()
        more = True
        while more or run.outstanding:
            while more and run.hungry:
                group = next(groups, None)
                if group is None:
                    more = False
                    break
                jobs: list[Job] = []
                number = next(numbers)
                for request in group:
                    hashed = request_hash(request, self.model, self._sampling)
                    outcome = self._without_asking(hashed)
                    if outcome is not None:
                        yield request, outcome
                    elif hashed in twins:
                        twins[hashed].append(request)
                    else:
                        twins[hashed] = []
                        jobs.append(Job(request, self._need(request), number))
                run.submit(jobs)
            if not run.outstanding:
                continue
            done = run.take(_TICK_SECONDS)
            if done is None:
                yield None
                continue
            job, result = done
            yield job.request, result
            for twin in twins.pop(request_hash(job.request, self.model, self._sampling), ()):
                yield twin, (replace(result, source=Source.CACHE) if isinstance(result, Completion) else result)

    def _without_asking(self, hashed: str) -> Outcome | None:
        """The outcome of a request that need not or cannot be sent."""
        stored = self._stored(hashed)
        if stored is not None:
            return stored
        if self._offline:
            return Missing(Reason.NOT_RECORDED, "neither cached nor imported, and nothing is sent offline")
        if self._known is None and self._refused is None:
            try:
                self._find_out()
            except Fault as fault:
                self._refused = fault.missing()
            return self._refused or self._stored(hashed)
        if self._refused is None:
            self._connection()  # a key that is wanting is told here, before anything is sent
        return self._refused

    def _stored(self, hashed: str) -> Completion | None:
        """The cached answer of this server, else an imported one."""
        if self._known is not None:
            own = self._cache.get(answer_key(hashed, self.server.identity, self._known.mode))
            if own is not None:
                return own
        return self._cache.get(answer_key(hashed, IMPORTED, IMPORTED_MODE), Source.IMPORT)

    def _connection(self) -> Transport:
        """The connection, made when first needed."""
        with self._lock:
            if self._transport is None:
                self._transport = Transport(self.server, find_key(self.server), self._timeout)
            return self._transport

    def _find_out(self) -> None:
        """Ask the server what it takes, and remember it."""
        connection = self._connection()

        def send(body: dict[str, object]) -> Completion:
            for attempt in itertools.count(1):
                try:
                    completion = connection.send(body)
                    break
                except Fault as fault:
                    silent = fault.reason in (Reason.GONE, Reason.TIMED_OUT)
                    tries = min(_PROBE_RETRIES, self._patience.max_retries) if silent else self._patience.max_retries
                    wait = backoff(attempt, fault.retry_after, first=self._patience.first_wait)
                    if not fault.retryable or attempt > tries or wait > self._patience.longest_wait:
                        raise
                    time.sleep(wait)
            self.accounts.enter(PROBE, completion)
            self._budget.spent += self._budget.cost(completion.tokens)
            return completion

        self._learn(probe(send, self.model, self._sampling))

    def _learn(self, known: Capabilities) -> None:
        self._known = known
        self._cache.learn(self.server.identity, self.model, known, self._settings)

    def _ask(self, request: Request) -> Completion:
        """Send one request, giving up what the server turns out to refuse, and store the answer."""
        connection = self._connection()
        while True:
            known = self._known
            assert known is not None
            body = known.body(request, self.model, self._sampling)
            try:
                completion = connection.send(body)
                break
            except Fault as fault:
                with self._lock:
                    if self._known != known:
                        continue  # another thread learned something since this body was built
                    changed = adapt(known, fault, body)
                    if changed is None or changed == known:
                        raise
                    self._learn(changed)
        completion = completion.trimmed(request.tags)
        hashed = request_hash(request, self.model, self._sampling)
        if not completion.blank or completion.finish_reason == "length":  # a blank answer is asked for again next time
            key = answer_key(hashed, self.server.identity, known.mode)
            self._cache.put(
                StoredAnswer(key, hashed, self.model, self.server.identity, known.mode, request.criterion, completion)
            )
        return completion

    def _need(self, request: Request) -> Need:
        """What a request may take; counted only where a ceiling asks for it."""
        size = input_tokens(request, self._count) if self._budget.limited else 0
        return Need(size, request.max_output_tokens)
