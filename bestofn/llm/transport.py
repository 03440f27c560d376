"""One call to a chat server through the openai package: a body in, a completion or a fault out."""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bestofn.errors import ModelError, UsageError
from bestofn.llm.answer import Completion, Reason
from bestofn.llm.fault import Fault, from_exception, from_status

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLES = ("BESTOFN_API_KEY", "OPENAI_API_KEY")
"""Environment variables that hold the key, first found wins."""
URL_VARIABLES = ("BESTOFN_BASE_URL", "OPENAI_BASE_URL")
"""Environment variables that name the server where no base URL is given."""
CONNECT_SECONDS = 10.0
_MAX_BYTES = 64 * 1024 * 1024
"""An answer larger than this is no answer."""


class Server(NamedTuple):
    """Where requests go."""

    url: str
    """The base URL, usually ending in /v1."""
    identity: str
    """Host, port and path: what names the server in cache keys. No scheme, user or query."""
    local: bool
    """True for this machine and private networks, which need no key."""
    loopback: bool
    """True for this machine, which is reached past any proxy."""


def locate(base_url: str | None = None) -> Server:
    """The server at a base URL; without one, what the environment names, else OpenAI.

    Raises UsageError for what is no URL.
    """
    named = next((os.environ[name] for name in URL_VARIABLES if os.environ.get(name)), OPENAI_URL)
    url = (base_url or named).strip().rstrip("/")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"base URL '{url}' cannot be read ({error}): give one such as {OPENAI_URL}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"base URL '{url}' does not begin with http:// or https://: give one such as {OPENAI_URL}")
    where = parts.hostname + (f":{port}" if port else "")
    host = parts.hostname
    return Server(url, where + parts.path.rstrip("/"), _is_local(host), _is_loopback(host))


def find_key(server: Server) -> str:
    """The key from the environment; a placeholder for a server that needs none.

    Raises UsageError where a public server has no key.
    """
    for name in KEY_VARIABLES:
        key = os.environ.get(name, "").strip()
        if key:
            return key
    if server.local:
        return "none"
    raise UsageError(f"no key for {server.identity}: set {' or '.join(KEY_VARIABLES)}")


class Transport:
    """A connection to one server. Safe to use from several threads."""

    def __init__(self, server: Server, key: str, timeout: float) -> None:
        try:
            import openai
        except ImportError as error:
            raise ModelError("asking a model needs the package 'openai': pip install openai") from error

        self._timeout = timeout
        self._key = key
        self._client = openai.OpenAI(
            api_key=key,
            base_url=server.url,
            timeout=openai.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)),
            max_retries=0,  # the client above paces its own
            # no proxy stands between this machine and itself, whatever the environment says
            http_client=openai.DefaultHttpxClient(trust_env=False) if server.loopback else None,
        )

    def send(self, body: Mapping[str, Any]) -> Completion:
        """The completion for a request body. Raises Fault for whatever else comes back."""
        try:
            raw = self._post(body)
        except Fault as fault:
            fault.message = self._without_key(fault.message)
            raise
        return _completion(raw)

    def close(self) -> None:
        """Drop all connections; calls under way end with a fault."""
        self._client.close()

    def _post(self, body: Mapping[str, Any]) -> bytes:
        """The raw bytes of a successful response.

        The body is read piece by piece against a deadline: a server that trickles would otherwise never time out.
        """
        import openai

        rest = {name: value for name, value in body.items() if name not in ("model", "messages")}
        deadline = time.monotonic() + self._timeout
        pieces: list[bytes] = []
        size = 0
        try:
            with self._client.chat.completions.with_streaming_response.create(
                model=body["model"], messages=body["messages"], extra_body=rest
            ) as response:
                for piece in response.iter_bytes():
                    pieces.append(piece)
                    size += len(piece)
                    if size > _MAX_BYTES:
                        raise Fault(Reason.BROKEN, f"the answer is larger than {_MAX_BYTES >> 20} MB")
                    if time.monotonic() > deadline:
                        raise Fault(Reason.TIMED_OUT, f"the answer was not whole after {self._timeout:g} s")
        except openai.APIStatusError as error:
            raise from_status(error.status_code, error.body or error.message, error.response.headers) from error
        except Fault:
            raise
        except Exception as error:
            fault = from_exception(error)
            if fault is None:
                raise
            raise fault from error
        return b"".join(pieces)

    def _without_key(self, message: str) -> str:
        """Servers may repeat the key in an error; it must not reach a log."""
        return message.replace(self._key, "***") if len(self._key) >= 8 else message


def _completion(raw: bytes) -> Completion:
    """The completion in a response body; error objects that came with status 200 are faults like others."""
    from bestofn.readers.document import parse_json

    try:
        body = parse_json(raw)
    except ValueError as error:
        start = raw[:60].decode("utf-8", errors="replace")
        raise Fault(Reason.BROKEN, f"the answer is not JSON ({error}); it begins {start!r}") from error
    if isinstance(body, Mapping) and body.get("error") and not body.get("choices"):
        raise _error_in_answer(body)
    try:
        completion = Completion.from_api(body)
    except ValueError as error:
        raise Fault(Reason.BROKEN, str(error)) from error
    if completion.finish_reason == "error":
        raise Fault(Reason.SERVER_ERROR, "the server ended the answer with an error")
    return completion


def _error_in_answer(body: Mapping[str, Any]) -> Fault:
    """The fault in an error object that came with status 200; its code is a status where it is a number of one."""
    error = body["error"]
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, int) and 400 <= code < 600:
        return from_status(code, body, {})
    fault = from_status(500, body, {})
    fault.message = fault.message.replace("HTTP 500", "the server answered with an error")
    fault.status = 200
    return fault


def _is_loopback(host: str) -> bool:
    """True for this machine."""
    return host in ("localhost", "::1") or host.endswith(".localhost") or host.startswith("127.")


def _is_local(host: str) -> bool:
    """True for this machine, private addresses, and names without a dot, as container networks give them."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host
    return address.is_private or address.is_loopback or address.is_unspecified
