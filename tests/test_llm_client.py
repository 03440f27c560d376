"""The client against a server that misbehaves: the right outcome, the right message, and no needless call."""

from __future__ import annotations

import email.utils
import math
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_server import Reply, ScriptedServer, Serve, chat, refusal, tag_of, token, verdict

from bestofn.errors import ModelError, UsageError
from bestofn.llm.accounts import PROBE
from bestofn.llm.answer import Completion, Missing, Outcome, Reason
from bestofn.llm.budget import Budget
from bestofn.llm.cache import IN_MEMORY, Cache
from bestofn.llm.client import Client
from bestofn.llm.letters import LetterScore, State, read_scores
from bestofn.llm.prices import Price
from bestofn.llm.progress import Progress
from bestofn.llm.request import Message, Request, Sampling, nonce_tag
from bestofn.llm.run import Patience

QUICK = Patience(max_retries=3, longest_wait=5.0, first_wait=0.01)


def request(text: str = "the run", criterion: str = "local", limit: int = 50) -> Request:
    """One question with its tag."""
    tag = nonce_tag("verdict", text, criterion)
    return Request(
        (Message("user", f"{text}\nIs it {criterion}? Answer <{tag}>LETTER</{tag}>"),), (tag,), criterion, text, limit
    )


def client(server: ScriptedServer, cache: Cache | None = None, **options: Any) -> Client:
    """A quick client of a server."""
    options = {"patience": QUICK, "timeout": 5.0, **options}
    return Client("judge-1", cache=cache or Cache(IN_MEMORY), base_url=server.url, **options)


def ask(asked: Client, *requests: Request) -> list[tuple[Request, Outcome]]:
    """All outcomes, each request a group of its own."""
    return list(asked.answer([[r] for r in requests]))


def only(server: ScriptedServer, **options: Any) -> LetterScore:
    """The score of the one question."""
    [(asked, outcome)] = ask(client(server, **options), request())
    return read_scores(outcome, asked.tags)[asked.tags[0]]


def test_an_answer_is_scored_by_its_logprobs(serve: Serve) -> None:
    """A server that gives log-probabilities gives an ok score, with one probe and one call."""
    server = serve(lambda body, n: verdict(body))
    found = only(server)
    assert found.state is State.OK
    assert found.score == pytest.approx(0.75 * 18 / 19 + 0.25 * 16 / 19)
    assert [set(seen.body) for seen in server.seen] == [
        {"model", "messages", "max_tokens", "temperature", "logprobs", "top_logprobs"}
    ] * 2
    assert server.seen[1].body["top_logprobs"] == 20


# What a server refuses is found out once.


def gpt5(body: dict[str, Any], n: int) -> Reply:
    """Refuses max_tokens, temperatures and logprobs, one at a time, as a reasoning model does."""
    if "max_tokens" in body:
        return refusal(
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            param="max_tokens",
            code="unsupported_parameter",
        )
    if body.get("temperature", 1) != 1:
        return refusal("Unsupported value: 'temperature' does not support 0.2 with this model.", param="temperature")
    if "logprobs" in body:
        return refusal("You are not allowed to request logprobs from this model", status=403, param="logprobs")
    return verdict(body)


def test_refused_parameters_are_negotiated_once_and_remembered(serve: Serve, tmp_path: Path) -> None:
    """Each refusal costs one probe call, and a second client with the same cache asks straight away."""
    server = serve(gpt5)
    cache = Cache(tmp_path / "c.sqlite")
    first = client(server, cache, sampling=Sampling(temperature=0.2))
    [(asked, outcome)] = ask(first, request())
    found = read_scores(outcome, asked.tags)[asked.tags[0]]
    assert (found.state, found.reason) == (State.DEGRADED, Reason.NO_LOGPROBS)
    assert first.capabilities is not None
    assert (first.capabilities.limit_field, first.capabilities.temperature) == ("max_completion_tokens", False)
    assert first.notes == ("the server refuses temperature 0.2; its own default applies", "the server refuses logprobs")
    probes = len(server.seen) - 1
    assert probes <= 6

    second = client(server, Cache(tmp_path / "c.sqlite"), sampling=Sampling(temperature=0.2))
    ask(second, request("another run"))
    assert len(server.seen) == probes + 2
    assert server.seen[-1].body.keys() == {"model", "messages", "max_completion_tokens"}


def test_another_sampling_is_probed_for_itself(serve: Serve, tmp_path: Path) -> None:
    """What one temperature was refused for does not hold for another."""
    server = serve(gpt5)
    cache = Cache(tmp_path / "c.sqlite")
    ask(client(server, cache, sampling=Sampling(temperature=0.2)), request())
    plain = client(server, cache)
    ask(plain, request())
    assert plain.capabilities is not None
    assert plain.capabilities.temperature


def test_fewer_alternatives_are_asked_where_the_server_caps_them(serve: Serve) -> None:
    """A cap named in the refusal is what is asked from then on."""

    def script(body: dict[str, Any], n: int) -> Reply:
        if body.get("top_logprobs", 0) > 5:
            return refusal("Requested sample logprobs of 20, which is greater than max allowed: 5")
        return verdict(body)

    server = serve(script)
    assert only(server).state is State.OK
    assert [seen.body["top_logprobs"] for seen in server.seen] == [20, 5, 5]


def test_logprobs_that_need_reasoning_off_are_found(serve: Serve) -> None:
    """Where only reasoning_effort 'none' brings log-probabilities, it is sent, and a note says so."""

    def script(body: dict[str, Any], n: int) -> Reply:
        if "logprobs" in body and body.get("reasoning_effort") != "none":
            return refusal("logprobs is not supported with this reasoning effort", param="logprobs")
        return verdict(body)

    server = serve(script)
    asked = client(server)
    [(_, outcome)] = ask(asked, request())
    assert isinstance(outcome, Completion)
    assert outcome.logprobs
    assert server.seen[-1].body["reasoning_effort"] == "none"
    assert asked.notes == (
        "log-probabilities come only with reasoning_effort 'none', which is sent; "
        "ask for another effort to let the model reason and answer by letter alone",
    )


def test_a_refused_effort_is_left_out(serve: Serve) -> None:
    """An effort that the server refuses is not sent, and a note says so."""

    def script(body: dict[str, Any], n: int) -> Reply:
        if "reasoning_effort" in body:
            return refusal("Unrecognized request argument supplied: reasoning_effort")
        return verdict(body)

    asked = client(serve(script), sampling=Sampling(reasoning_effort="high"))
    [(_, outcome)] = ask(asked, request())
    assert isinstance(outcome, Completion)
    assert asked.notes == ("the server refuses reasoning_effort 'high'; it is not sent",)


def test_a_server_that_fails_on_logprobs_without_saying_so_is_asked_for_letters(serve: Serve) -> None:
    """A bare 500 that goes away without logprobs means letters only."""

    def script(body: dict[str, Any], n: int) -> Reply:
        return Reply({"detail": "Internal Server Error"}, status=500) if "logprobs" in body else verdict(body)

    asked = client(serve(script), patience=Patience(max_retries=1, first_wait=0.01))
    [(_, outcome)] = ask(asked, request())
    assert isinstance(outcome, Completion)
    assert asked.notes == ("the server fails when logprobs are asked for",)


def test_logprobs_accepted_and_not_returned_are_not_asked_again(serve: Serve) -> None:
    """A server that takes the parameter and ignores it is asked for letters."""
    server = serve(lambda body, n: Reply(chat(f"<{tag_of(body)}>B")))
    asked = client(server)
    [(r, outcome)] = ask(asked, request())
    assert read_scores(outcome, r.tags)[r.tags[0]].state is State.DEGRADED
    assert "logprobs" not in server.seen[-1].body
    assert asked.notes == ("the server accepts logprobs but returns none",)


def test_a_parameter_refused_later_is_given_up_then(serve: Serve, tmp_path: Path) -> None:
    """A refusal in the middle of a run is negotiated like one of the probe, and the run goes on."""

    def script(body: dict[str, Any], n: int) -> Reply:
        if n >= 2 and "temperature" in body:
            return refusal("temperature is no longer supported", param="temperature")
        return verdict(body)

    server = serve(script)
    asked = client(server, Cache(tmp_path / "c.sqlite"), concurrency=1)
    outcomes = ask(asked, request("one"), request("two"), request("three"))
    assert all(isinstance(outcome, Completion) for _, outcome in outcomes)
    assert len(server.seen) == 1 + 1 + 2 + 1
    assert asked.capabilities is not None
    assert not asked.capabilities.temperature


def test_a_probe_that_only_thinks_counts_as_accepted(serve: Serve) -> None:
    """A 400 because the probe's output limit was reached says nothing against max_tokens."""

    def script(body: dict[str, Any], n: int) -> Reply:
        if n == 0:
            return refusal("Could not finish the message because max_tokens or model output limit was reached.")
        return verdict(body)

    server = serve(script)
    assert only(server).state is State.OK
    assert "max_tokens" in server.seen[-1].body


# Each fault ends in the right state with the right message.


@pytest.mark.parametrize(
    ("reply", "reason", "detail"),
    [
        (
            refusal("This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
            Reason.OVERFLOW,
            "HTTP 400: This model's maximum context length is 8192 tokens.",
        ),
        (
            refusal("the request exceeds the available context size", status=500),
            Reason.OVERFLOW,
            "HTTP 500: the request exceeds the available context size",
        ),
        (
            refusal("max_tokens must be at least 1, got -2048."),
            Reason.OVERFLOW,
            "HTTP 400: max_tokens must be at least 1, got -2048.",
        ),
        (Reply(b"too big", status=413), Reason.OVERFLOW, "HTTP 413: too big"),
        (
            refusal("The response was filtered due to the prompt triggering ...", code="content_filter"),
            Reason.FILTERED,
            "HTTP 400: The response was filtered due to the prompt triggering ...",
        ),
        (refusal("no such field 'foo'"), Reason.REJECTED, "HTTP 400: no such field 'foo'"),
        (
            refusal("max_tokens is too large: 50. This model supports at most 16."),
            Reason.REJECTED,
            "HTTP 400: max_tokens is too large: 50. This model supports at most 16.",
        ),
        (Reply({"error": {"message": "overloaded"}}, status=503), Reason.SERVER_ERROR, "HTTP 503: overloaded"),
        (Reply({"error": {"message": "slow down", "code": 429}}), Reason.RATE_LIMITED, "HTTP 429: slow down"),
        (
            Reply({"error": "no model loaded"}),
            Reason.SERVER_ERROR,
            "the server answered with an error: no model loaded",
        ),
        (Reply({"choices": []}), Reason.BROKEN, "the answer holds no choices"),
        (Reply([1]), Reason.BROKEN, "the answer is no JSON object"),
        (Reply(chat("x", finish="error")), Reason.SERVER_ERROR, "the server ended the answer with an error"),
    ],
)
def test_a_refused_or_broken_answer_is_missing(serve: Serve, reply: Reply, reason: Reason, detail: str) -> None:
    """What the server says instead of an answer is the reason and the detail."""
    server = serve(lambda body, n: verdict(body) if n == 0 else reply)
    found = only(server)
    assert (found.state, found.reason, found.detail) == (State.MISSING, reason, detail)
    assert math.isnan(found.score)
    retried = reason in (Reason.SERVER_ERROR, Reason.RATE_LIMITED, Reason.BROKEN)
    assert len(server.questions) == (1 + QUICK.max_retries if retried else 1)


def test_a_truncated_body_is_broken_and_tried_again(serve: Serve) -> None:
    """JSON that stops in the middle is no answer; a further try brings one."""
    server = serve(lambda body, n: Reply(b'{"choices": [{"mess') if n == 1 else verdict(body))
    assert only(server).state is State.OK
    always = serve(lambda body, n: Reply(b'{"choices": [{"mess') if n else verdict(body))
    found = only(always)
    assert found.reason is Reason.BROKEN
    assert found.detail.startswith("the answer is not JSON (")
    assert found.detail.endswith("""; it begins '{"choices": [{"mess'""")


@pytest.mark.parametrize("fault", [Reply(drop=True), Reply({"a": 1}, missing_bytes=50)])
def test_a_broken_connection_is_tried_again(serve: Serve, fault: Reply) -> None:
    """A connection that closes before the answer is whole is tried again, then missing."""
    assert only(serve(lambda body, n: fault if n in (1, 2) else verdict(body))).state is State.OK
    found = only(serve(lambda body, n: fault if n else verdict(body)))
    assert (found.state, found.reason) == (State.MISSING, Reason.BROKEN)
    assert found.detail.startswith("the connection broke before the answer was whole: ")


def test_a_slow_answer_times_out(serve: Serve) -> None:
    """No byte in time is a time-out, tried again twice at most."""
    server = serve(lambda body, n: Reply(chat("x"), delay=0.6) if n else verdict(body))
    found = only(server, timeout=0.2)
    assert (found.reason, found.detail) == (Reason.TIMED_OUT, "no answer in the time allowed")
    assert len(server.questions) == 3


def test_a_trickling_answer_times_out(serve: Serve) -> None:
    """A body that comes byte by byte meets the same deadline, though no single byte is late."""
    server = serve(lambda body, n: Reply(chat("x" * 200), trickle=0.01) if n else verdict(body))
    found = only(server, timeout=0.25, patience=Patience(max_retries=0))
    assert (found.reason, found.detail) == (Reason.TIMED_OUT, "the answer was not whole after 0.25 s")


def test_nan_in_the_body_is_read(serve: Serve) -> None:
    """NaN and Infinity, which JSON does not have, do not break the answer."""

    def script(body: dict[str, Any], n: int) -> Reply:
        tag = tag_of(body)
        tokens = [token(f"<{tag}>", math.nan), token("A", -0.1, {"A": -0.1, "B": math.nan, "T": -math.inf})]
        return Reply(chat(f"<{tag}>A", tokens=tokens))

    found = only(serve(script))
    assert (found.state, found.score) == (State.OK, 1.0)


def test_a_server_that_was_never_there_is_gone(serve: Serve) -> None:
    """A refused connection makes everything missing as 'server gone', after few tries."""
    server = serve(lambda body, n: verdict(body))
    server.stop()
    outcomes = ask(client(server), *(request(f"run {i}") for i in range(50)))
    assert {outcome.reason for _, outcome in outcomes if isinstance(outcome, Missing)} == {Reason.GONE}
    assert len(outcomes) == 50
    assert isinstance(outcomes[0][1], Missing)
    assert outcomes[0][1].detail.startswith("no connection: ")


def test_a_server_gone_midway_leaves_the_rest_missing(serve: Serve) -> None:
    """What was answered stays, the rest is 'server gone', and not every request is tried to the end."""
    servers: list[ScriptedServer] = []

    def script(body: dict[str, Any], n: int) -> Reply:
        if n == 4:
            servers[0].stop()
        return Reply(verdict(body).body, headers={"Connection": "close"})

    servers.append(serve(script))
    outcomes = ask(client(servers[0], concurrency=1), *(request(f"run {i}") for i in range(200)))
    states = [o.reason if isinstance(o, Missing) else "answered" for _, o in outcomes]
    assert len(states) == 200
    assert states.count("answered") >= 4
    assert set(states[5:]) == {Reason.GONE}
    last = outcomes[-1][1]
    assert isinstance(last, Missing)
    assert last.detail.startswith("not sent, as others before failed: no connection: ")


def test_a_wrong_key_stops_at_once_and_is_never_shown(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused key is told with the way out; no request follows, and the key is struck from the message."""
    monkeypatch.setenv("BESTOFN_API_KEY", "sk-very-secret-123")
    server = serve(lambda body, n: refusal("Incorrect API key provided: sk-very-secret-123", status=401))
    outcomes = ask(client(server), *(request(f"run {i}") for i in range(20)))
    assert len(server.seen) == 1
    assert server.seen[0].headers["authorization"] == "Bearer sk-very-secret-123"
    assert {o for _, o in outcomes} == {
        Missing(
            Reason.DENIED,
            "HTTP 401: Incorrect API key provided: *** "
            "(the key was not accepted: check BESTOFN_API_KEY or OPENAI_API_KEY)",
        )
    }


def test_a_spent_quota_is_no_rate_limit(serve: Serve) -> None:
    """A 429 for want of money is not tried again, and stops the run."""
    quota = refusal("You exceeded your current quota, please check your plan", status=429, code="insufficient_quota")
    server = serve(lambda body, n: quota if n else verdict(body))
    outcomes = ask(client(server, concurrency=1), *(request(f"run {i}") for i in range(20)))
    assert len(server.questions) == 1
    assert all(isinstance(o, Missing) and o.reason is Reason.DENIED for _, o in outcomes)


def test_no_key_for_a_public_server_is_an_error_before_anything_is_sent(serve: Serve) -> None:
    """Without a key a public server cannot be asked, and the message names the variables."""
    asked = Client("judge-1", cache=Cache(IN_MEMORY), base_url="https://judge.example.com/v1")
    with pytest.raises(UsageError, match=r"no key for judge\.example\.com/v1: set BESTOFN_API_KEY or OPENAI_API_KEY"):
        ask(asked, request())


def test_a_few_poisoned_requests_do_not_stop_the_run(serve: Serve) -> None:
    """Server errors in some groups leave the others to be answered; ten groups in a row do not."""
    some = serve(lambda body, n: refusal("no", status=500) if "bad" in str(body["messages"]) else verdict(body))
    quick = Patience(max_retries=0)
    outcomes = ask(
        client(some, concurrency=1, patience=quick), *(request(f"bad {i}") for i in range(8)), request("good")
    )
    assert isinstance(outcomes[-1][1], Completion)
    all_bad = serve(lambda body, n: refusal("no", status=500) if n else verdict(body))
    outcomes = ask(client(all_bad, concurrency=1, patience=quick), *(request(f"run {i}") for i in range(30)))
    assert len(all_bad.questions) == 10
    assert outcomes[-1][1] == Missing(Reason.SERVER_ERROR, "not sent, as others before failed: HTTP 500: no")


def test_this_machine_is_reached_past_any_proxy(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment is not asked for a server on this machine."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert only(serve(lambda body, n: verdict(body))).state is State.OK


# Waiting and pacing.


@pytest.mark.parametrize("kind", ["seconds", "date", "milliseconds"])
def test_retry_after_is_honoured(serve: Serve, kind: str) -> None:
    """No try comes before the time the server asks for, in seconds, as a date or in milliseconds."""

    def script(body: dict[str, Any], n: int) -> Reply:
        if n != 1:
            return verdict(body)
        when = email.utils.formatdate(time.time() + 2.0, usegmt=True)  # whole seconds: 1 to 2 s from now
        header = {
            "seconds": ("Retry-After", "0.7"),
            "date": ("Retry-After", when),
            "milliseconds": ("retry-after-ms", "700"),
        }
        return Reply({"error": {"message": "slow"}}, status=429, headers=dict([header[kind]]))

    server = serve(script)
    assert only(server).state is State.OK
    waited = server.seen[2].started - server.seen[1].finished
    assert waited >= (0.9 if kind == "date" else 0.69)
    assert waited < 4.0


def test_a_wait_beyond_patience_is_not_waited(serve: Serve) -> None:
    """A server that asks for an hour gets no second try."""
    busy = Reply({"error": {"message": "come back later"}}, status=429, headers={"Retry-After": "3600"})
    server = serve(lambda body, n: busy if n else verdict(body))
    assert only(server).reason is Reason.RATE_LIMITED
    assert len(server.questions) == 1


def test_a_storm_of_429_lowers_concurrency_and_loses_nothing(serve: Serve) -> None:
    """Where more than two at once are refused, fewer are sent at once, and every request is answered."""
    lock = threading.Lock()
    under_way = 0

    def script(body: dict[str, Any], n: int) -> Reply:
        nonlocal under_way
        with lock:
            under_way += 1
            crowded = under_way > 2
        time.sleep(0.01)
        with lock:
            under_way -= 1
        return Reply({"error": {"message": "slow"}}, status=429) if crowded else verdict(body)

    server = serve(script)
    seen: list[Progress] = []
    asked = client(server, concurrency=16, progress=seen.append)
    outcomes = ask(asked, *(request(f"run {i}") for i in range(80)))
    assert all(isinstance(outcome, Completion) for _, outcome in outcomes)
    assert len(outcomes) == 80
    limits = [p.concurrency for p in seen]
    assert max(limits) > 2
    assert min(limits[limits.index(max(limits)) :]) < max(limits)
    assert asked.accounts.total().retries > 0


def test_concurrency_grows_while_the_server_keeps_up(serve: Serve) -> None:
    """Without refusals the calls under way rise to the ceiling and never above it."""

    def script(body: dict[str, Any], n: int) -> Reply:
        time.sleep(0.02)
        return verdict(body)

    server = serve(script)
    ask(client(server, concurrency=8), *(request(f"run {i}") for i in range(60)))
    assert 4 < server.at_once <= 8


def test_the_first_of_a_group_completes_before_the_rest_start(serve: Serve) -> None:
    """Of each group one request is answered before another is sent, also where the first had to be retried."""
    failed: set[str] = set()
    lock = threading.Lock()

    def script(body: dict[str, Any], n: int) -> Reply:
        text = body["messages"][-1]["content"]
        with lock:
            fail = n > 0 and "criterion 0" in text and text not in failed
            failed.add(text)
        time.sleep(0.01)
        return Reply({"error": {}}, status=500) if fail else verdict(body)

    server = serve(script)
    groups = [[request(f"run {g}", f"criterion {c}") for c in range(5)] for g in range(8)]
    outcomes = list(client(server, concurrency=8).answer(groups))
    assert len(outcomes) == 40
    for g in range(8):
        mine = [s for s in server.questions if f"run {g}\n" in s.body["messages"][-1]["content"]]
        heads = [s for s in mine if "criterion 0" in s.body["messages"][-1]["content"]]
        rest = [s for s in mine if s not in heads]
        assert (len(heads), len(rest)) == (2, 4)
        assert max(s.finished for s in heads) <= min(s.started for s in rest)
    assert server.at_once > 1


def test_groups_are_read_as_they_are_needed(serve: Serve) -> None:
    """A long stream of groups is not read ahead of the calls."""
    server = serve(lambda body, n: verdict(body))
    read = 0

    def groups() -> Iterator[list[Request]]:
        nonlocal read
        for i in range(10_000):
            read += 1
            yield [request(f"run {i}")]

    answers = client(server, concurrency=2).answer(groups())
    for _ in range(5):
        next(answers)
    answers.close()  # type: ignore[attr-defined]  # a generator
    assert read < 200


def test_equal_requests_are_sent_once(serve: Serve) -> None:
    """Copies of a request share one call, and each gets its outcome."""
    server = serve(lambda body, n: verdict(body))
    asked = client(server)
    outcomes = list(asked.answer([[request(), request()], [request()]]))
    assert len(outcomes) == 3
    assert len(server.questions) == 1
    assert asked.accounts.by_criterion()["local"].from_cache == 2


# Cache, budget, accounts.


def test_a_second_run_asks_nothing(serve: Serve, tmp_path: Path) -> None:
    """What was answered comes from the cache, for other trajectory names and criteria ids as well."""
    server = serve(lambda body, n: verdict(body))
    ask(client(server, Cache(tmp_path / "c.sqlite")), request())
    calls = len(server.seen)
    same = request()
    renamed = Request(same.messages, same.tags, "renamed", "elsewhere", same.max_output_tokens)
    again = client(server, Cache(tmp_path / "c.sqlite"))
    [(_, outcome)] = ask(again, renamed)
    assert isinstance(outcome, Completion)
    assert len(server.seen) == calls
    assert again.accounts.by_criterion()["renamed"].from_cache == 1
    assert again.is_answered(same)


def test_what_shapes_the_answer_parts_the_cache(serve: Serve, tmp_path: Path) -> None:
    """Another output limit, sampling, server or model is another answer."""
    server, other = serve(lambda body, n: verdict(body)), serve(lambda body, n: verdict(body))
    cache = Cache(tmp_path / "c.sqlite")
    ask(client(server, cache), request())
    ask(client(server, cache), request(limit=60))
    ask(client(server, cache, sampling=Sampling(temperature=0.0)), request())
    ask(client(other, cache), request())
    ask(Client("judge-2", cache=cache, base_url=server.url), request())
    assert (len(server.questions), len(other.questions)) == (4, 1)
    assert cache.count() == 5


def test_missing_answers_are_asked_again_and_cut_ones_are_not(serve: Serve, tmp_path: Path) -> None:
    """A fault and an empty answer are not kept; an answer that was cut off is one."""
    replies = {"fault": Reply(status=400, body={}), "empty": Reply(chat("")), "cut": Reply(chat("x", finish="length"))}
    server = serve(
        lambda body, n: next((r for k, r in replies.items() if k in body["messages"][-1]["content"]), verdict(body))
    )
    requests = [request(kind) for kind in replies]
    for _ in range(2):
        ask(client(server, Cache(tmp_path / "c.sqlite")), *requests)
    asked = [s.body["messages"][-1]["content"].split("\n")[0] for s in server.questions]
    assert {kind: asked.count(kind) for kind in replies} == {"fault": 2, "empty": 2, "cut": 1}


def test_a_budget_stops_and_the_next_run_goes_on(serve: Serve, tmp_path: Path) -> None:
    """The run stops below its ceiling, the rest is 'budget spent', and later runs pay only for the rest."""
    server = serve(lambda body, n: verdict(body))
    requests = [request(f"run {i}", limit=20) for i in range(30)]
    done: set[str] = set()
    for _ in range(4):
        asked = client(server, Cache(tmp_path / "c.sqlite"), budget=Budget(max_tokens=1200), concurrency=4)
        outcomes = ask(asked, *requests)
        fresh = {r.trajectory for r, o in outcomes if isinstance(o, Completion)}
        missing = [o for _, o in outcomes if isinstance(o, Missing)]
        assert done <= fresh
        assert {o.reason for o in missing} <= {Reason.BUDGET}
        spent = asked.accounts.by_criterion().get("local")
        assert spent is None or spent.input_tokens + spent.output_tokens <= 1200
        if missing:
            assert "of 1,200 tokens spent, and the next call may take" in missing[0].detail
        done = fresh
    assert len(done) == 30
    assert len(server.questions) == 30


def test_a_budget_in_dollars_is_kept(serve: Serve) -> None:
    """Dollars stop the run as tokens do, at the prices given."""
    server = serve(lambda body, n: verdict(body))
    price = Price(input=10.0, output=100.0)
    asked = client(server, price=price, budget=Budget(usd=0.02, price=price), concurrency=4)
    outcomes = ask(asked, *(request(f"run {i}", limit=20) for i in range(30)))
    answered = sum(isinstance(o, Completion) for _, o in outcomes)
    account = asked.accounts.by_criterion()["local"]
    assert 5 <= answered < 30
    assert account.usd == pytest.approx(answered * 0.002)
    assert account.usd <= 0.02


def test_accounts_keep_cached_input_apart(serve: Serve) -> None:
    """Per criterion: calls, input, cached input, output, dollars at the cached price; the probe stands for itself."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 800}}

    def script(body: dict[str, Any], n: int) -> Reply:
        return Reply({**verdict(body).body, "usage": usage})

    asked = client(serve(script), price=Price(input=1.0, output=10.0, cached=0.1))
    list(asked.answer([[request("a", "one"), request("a", "two")], [request("b", "two")]]))
    accounts = asked.accounts.by_criterion()
    two = accounts["two"]
    assert (two.calls, two.input_tokens, two.cached_tokens, two.output_tokens) == (2, 2000, 1600, 20)
    assert two.usd == pytest.approx(2 * (200 * 1.0 + 800 * 0.1 + 10 * 10.0) / 1e6)
    assert set(accounts) == {PROBE, "one", "two"}


def test_unknown_prices_and_counts_stay_unknown(serve: Serve) -> None:
    """Without prices the dollars are None, and a call without a token count is counted as such."""
    asked = client(serve(lambda body, n: Reply({**verdict(body).body, "usage": None})))
    ask(asked, request())
    account = asked.accounts.by_criterion()["local"]
    assert account.usd is None
    assert (account.calls, account.uncounted) == (1, 1)


def test_progress_tells_done_cost_and_time_left(serve: Serve) -> None:
    """The callback sees every answer, the cost so far, and at the end nothing left to wait for."""
    seen: list[Progress] = []
    asked = client(serve(lambda body, n: verdict(body)), price=Price(1.0, 1.0), progress=seen.append)
    ask(asked, *(request(f"run {i}") for i in range(5)))
    assert [p.done for p in seen if p.done] == sorted(p.done for p in seen if p.done)
    last = seen[-1]
    assert (last.done, last.total, last.missing, last.seconds_left) == (5, 5, 0, 0.0)
    assert last.usd == pytest.approx(6 * 110 / 1e6)
    assert last.tokens == 660


def test_an_interrupted_run_keeps_what_it_answered(serve: Serve, tmp_path: Path) -> None:
    """Ctrl-C while waiting for answers loses none that came before."""
    server = serve(lambda body, n: verdict(body))

    def interrupt(progress: Progress) -> None:
        if progress.done >= 10:
            raise KeyboardInterrupt

    asked = client(server, Cache(tmp_path / "c.sqlite"), concurrency=2, progress=interrupt)
    requests = [request(f"run {i}") for i in range(40)]
    taken: list[Outcome] = []
    with pytest.raises(KeyboardInterrupt):
        taken.extend(outcome for _, outcome in asked.answer([[r] for r in requests]))
    assert Cache(tmp_path / "c.sqlite").count() >= 10
    time.sleep(0.1)
    before = len(server.questions)
    again = client(server, Cache(tmp_path / "c.sqlite"))
    assert len(ask(again, *requests)) == 40
    assert len(server.questions) <= before + 30


def test_a_cache_that_fails_stops_the_run(serve: Serve, tmp_path: Path) -> None:
    """An answer that cannot be stored is an error of the run, raised where the answers are taken."""
    cache = Cache(tmp_path / "c.sqlite")

    def script(body: dict[str, Any], n: int) -> Reply:
        if n == 1:
            cache.close()
        return verdict(body)

    with pytest.raises(ModelError, match=r"the answer cache .*c\.sqlite failed"):
        ask(client(serve(script), cache), request())


def test_offline_sends_nothing(serve: Serve) -> None:
    """Offline, what is not cached is 'not recorded'."""
    server = serve(lambda body, n: verdict(body))
    [(_, outcome)] = ask(client(server, offline=True), request())
    assert outcome == Missing(Reason.NOT_RECORDED, "neither cached nor imported, and nothing is sent offline")
    assert server.seen == []
