"""What servers say when they refuse, and what is made of it."""

from __future__ import annotations

import email.utils
import time
from typing import Any

import pytest

from bestofn.errors import UsageError
from bestofn.llm.answer import Reason
from bestofn.llm.capabilities import Capabilities, adapt
from bestofn.llm.fault import from_status, retry_after
from bestofn.llm.pace import Pace, backoff
from bestofn.llm.request import Message, Request, Sampling
from bestofn.llm.transport import find_key, locate

ASKED = Request((Message("user", "hello"),), ("v",))
BODY = Capabilities().body(ASKED, "m", Sampling(reasoning_effort="low"))


@pytest.mark.parametrize(
    ("status", "message", "reason"),
    [
        (400, "This model's maximum context length is 4097 tokens, however you requested 5000", Reason.OVERFLOW),
        (400, "request (4390 tokens) exceeds the available context size (4096 tokens)", Reason.OVERFLOW),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", Reason.OVERFLOW),
        (400, "The input token count (1100000) exceeds the maximum number of tokens allowed", Reason.OVERFLOW),
        (400, "Requested tokens (2285) exceed context window of 2048", Reason.OVERFLOW),
        (422, "inputs tokens + max_new_tokens must be <= 4096; the input is too long", Reason.OVERFLOW),
        (500, "Context size has been exceeded.", Reason.OVERFLOW),
        (429, "Rate limit reached: too many tokens per minute", Reason.RATE_LIMITED),
        (429, "insufficient_quota", Reason.DENIED),
        (402, "Insufficient balance", Reason.DENIED),
        (404, "The model 'x' does not exist", Reason.DENIED),
        (408, "", Reason.TIMED_OUT),
        (409, "conflict", Reason.SERVER_ERROR),
        (502, "<html>Bad Gateway</html>", Reason.SERVER_ERROR),
        (529, "overloaded", Reason.SERVER_ERROR),
        (501, "not implemented", Reason.REJECTED),
        (400, "messages: field required", Reason.REJECTED),
    ],
)
def test_a_status_and_a_message_make_a_reason(status: int, message: str, reason: Reason) -> None:
    """Overflow, quota and refusals are told apart by what servers really write."""
    fault = from_status(status, {"error": {"message": message}}, {})
    assert fault.reason is reason
    assert fault.message.startswith(f"HTTP {status}")


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "no such thing"}},
        {"message": "no such thing"},
        {"detail": "no such thing"},
        {"detail": [{"msg": "no such thing", "input": {"temperature": 1.0, "logprobs": True}}]},
        {"error": "no such thing"},
        "no such\n thing",
    ],
)
def test_the_message_is_found_in_every_shape(body: Any) -> None:
    """Servers put the message under different names, or send bare text."""
    assert from_status(400, body, {}).message == "HTTP 400: no such thing"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, fractions, milliseconds and past dates are read; nonsense is nothing."""
    assert retry_after(headers) == seconds


def test_retry_after_reads_a_date() -> None:
    """A date ahead is the seconds until then."""
    when = email.utils.formatdate(time.time() + 100, usegmt=True)
    assert retry_after({"retry-after": when}) == pytest.approx(100, abs=2)


@pytest.mark.parametrize(
    ("status", "message", "changes"),
    [
        (400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_completion_tokens"),
        (422, "[{'loc': ['body', 'max_tokens'], 'msg': 'extra fields not permitted'}]", "max_completion_tokens"),
        (400, "max_tokens must be less than or equal to 16384", None),
        (400, "Unknown parameter: 'temperature'", "temperature"),
        (400, "Unrecognized request argument supplied: reasoning_effort", "effort"),
        (403, "You are not allowed to request logprobs from this model", "letters"),
        (400, "This model does not support logprobs", "letters"),
        (400, "Logprobs is not enabled for models/gemini-2.5-pro", "letters"),
        (400, "'top_logprobs' is not supported with gpt-5", "letters"),
        (400, "Cannot request more than 5 logprobs.", "logprobs:5"),
        (400, "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 8, got 20.", "logprobs:8"),
        (400, "top_logprobs is too large", "logprobs:10"),
        (400, "something else entirely", None),
        (429, "temperature too hot", None),
        (400, "maximum context length exceeded; reduce max_tokens", None),
    ],
)
def test_a_refusal_changes_what_is_sent(status: int, message: str, changes: str | None) -> None:
    """A refusal that names a parameter gives up that parameter and no other."""
    changed = adapt(Capabilities(), from_status(status, {"error": {"message": message}}, {}), BODY)
    if changes is None:
        assert changed is None
        return
    assert changed is not None
    now = changed.body(ASKED, "m", Sampling(reasoning_effort="low"))
    if changes == "max_completion_tokens":
        assert BODY.keys() ^ now.keys() == {"max_tokens", "max_completion_tokens"}
    elif changes == "temperature":
        assert BODY.keys() - now.keys() == {"temperature"}
    elif changes == "effort":
        assert BODY.keys() - now.keys() == {"reasoning_effort"}
    else:
        assert changed.mode == changes
        assert BODY.keys() - now.keys() == ({"logprobs", "top_logprobs"} if changes == "letters" else set())


def test_only_a_sent_parameter_can_be_at_fault() -> None:
    """A refusal that names what was not sent changes nothing."""
    known = Capabilities(logprobs=False, temperature=False)
    fault = from_status(400, {"error": {"message": "temperature and logprobs are not supported"}}, {})
    assert adapt(known, fault, known.body(ASKED, "m", Sampling())) is None


def test_capabilities_survive_storing() -> None:
    """What was learned reads back, and fields of other versions are left out."""
    known = Capabilities(False, 5, "", False, False, "none", ("a note",))
    assert Capabilities.from_json({**known.to_json(), "later": 1, "notes": ["a note"]}) == known


def test_the_wait_doubles_with_jitter_and_never_undercuts_the_server() -> None:
    """Half to all of a doubled wait, at most a minute; what the server asks for is the least."""
    for attempt in (1, 2, 3, 50):
        whole = min(60.0, 0.5 * 2 ** (attempt - 1))
        waits = [backoff(attempt, None) for _ in range(50)]
        assert all(whole / 2 <= wait <= whole for wait in waits)
        assert len(set(waits)) > 1
        assert all(7.0 <= backoff(attempt, 7.0) <= 8.0 for _ in range(50))


def test_a_burst_of_refusals_halves_the_limit_once() -> None:
    """Refusals of calls that were sent before the last decrease do not lower the limit again."""
    pace = Pace(ceiling=32, start=16)
    sent = time.monotonic()
    for _ in range(10):
        pace.slowed(sent, None)
    assert pace.limit == 8
    pace.slowed(time.monotonic(), None)
    assert pace.limit == 4
    for _ in range(100):
        pace.slowed(time.monotonic(), None)
    assert pace.limit == 1
    for _ in range(10_000):
        pace.succeeded()
    assert pace.limit == 32


@pytest.mark.parametrize(
    ("url", "identity", "local"),
    [
        ("https://api.openai.com/v1/", "api.openai.com/v1", False),
        ("http://user:secret@Example.com:8000/v1?x=1", "example.com:8000/v1", False),
        ("http://localhost:8000/v1", "localhost:8000/v1", True),
        ("http://192.168.1.5/v1", "192.168.1.5/v1", True),
        ("http://vllm:8000/v1", "vllm:8000/v1", True),
        ("http://[::1]:8000/v1", "::1:8000/v1", True),
        ("https://8.8.8.8/v1", "8.8.8.8/v1", False),
    ],
)
def test_a_server_is_named_by_host_port_and_path(url: str, identity: str, local: bool) -> None:
    """Scheme, user and query are no part of the name; private addresses are local."""
    server = locate(url)
    assert (server.identity, server.local) == (identity, local)


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://x/v1", "http://", "http://x:99999999/v1"])
def test_what_is_no_url_is_told_with_an_example(url: str) -> None:
    """A base URL that cannot be called is an error before anything is sent."""
    with pytest.raises(UsageError, match=r"give one such as https://api\.openai\.com/v1"):
        locate(url)


def test_the_environment_names_server_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own variables go before OpenAI's; a local server needs no key."""
    for name in ("BESTOFN_API_KEY", "OPENAI_API_KEY", "BESTOFN_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert locate(None).identity == "api.openai.com/v1"
    assert find_key(locate("http://localhost/v1")) == "none"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://two.example/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "two")
    assert (locate(None).identity, find_key(locate(None))) == ("two.example/v1", "two")
    monkeypatch.setenv("BESTOFN_BASE_URL", "https://one.example/v1")
    monkeypatch.setenv("BESTOFN_API_KEY", " one\n")
    assert (locate(None).identity, find_key(locate(None))) == ("one.example/v1", "one")
