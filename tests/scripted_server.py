"""A chat server that misbehaves as told: real sockets, the OpenAI protocol, every request kept to look at."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What the server does with one request."""

    body: Any = None
    """Sent as JSON; bytes are sent as they are."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before anything is sent."""
    drop: bool = False
    """Close the connection without a word."""
    missing_bytes: int = 0
    """Announce so many bytes more than are sent, then close: a torn body."""
    trickle: float = 0.0
    """Seconds between single bytes of the body."""


@dataclass
class Seen:
    """One request that arrived."""

    body: dict[str, Any]
    headers: dict[str, str]
    """Names in lower case."""
    started: float
    finished: float = math.inf


Script = Callable[[dict[str, Any], int], Reply]
"""Request body and number of the request (from 0, the probe included) to the reply."""


class ScriptedServer:
    """Runs a script on a port of this machine, a free one by default."""

    def __init__(self, script: Script, port: int = 0) -> None:
        self.script = script
        self.seen: list[Seen] = []
        self.at_once = 0
        """Most requests that were under way together."""
        self._under_way = 0
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", port), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def questions(self) -> list[Seen]:
        """The requests that are no probe."""
        return [seen for seen in self.seen if "letter A." not in seen.body["messages"][-1]["content"]]

    def arrive(self, body: dict[str, Any], headers: dict[str, str]) -> tuple[Seen, int]:
        """Note a request."""
        with self._lock:
            self._under_way += 1
            self.at_once = max(self.at_once, self._under_way)
            self.seen.append(Seen(body, headers, time.monotonic()))
            return self.seen[-1], len(self.seen) - 1

    def leave(self, seen: Seen) -> None:
        """Note that a request was answered."""
        with self._lock:
            self._under_way -= 1
            seen.finished = time.monotonic()

    def stop(self) -> None:
        """Stop listening: further connections are refused."""
        self._http.shutdown()
        self._http.server_close()


Serve = Callable[[Script], ScriptedServer]
"""Starts a server for a test, which the fixture of this name stops after it."""


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the tests."""


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen, number = server.arrive(body, {name.lower(): value for name, value in self.headers.items()})
            try:
                self._reply(server.script(body, number), seen)
            finally:
                if seen.finished == math.inf:
                    server.leave(seen)

        def _reply(self, reply: Reply, seen: Seen) -> None:
            time.sleep(reply.delay)
            if reply.drop:
                self.close_connection = True
                return
            raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            server.leave(seen)  # before the client can see the answer, so that its next request is later
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw) + reply.missing_bytes))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if reply.trickle:
                for byte in raw:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(reply.trickle)
            else:
                self.wfile.write(raw)
            if reply.missing_bytes:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Tests read `seen`, not a log."""

    return Handler


def tag_of(body: dict[str, Any]) -> str:
    """The answer tag in the last message, `v` where there is none (the probe)."""
    text = body["messages"][-1]["content"]
    return text.split("<", 1)[1].split(">", 1)[0] if "<" in text else "v"


def token(text: str, logprob: float | None = -0.01, top: dict[str, float | None] | None = None) -> dict[str, Any]:
    """One entry of `logprobs.content`."""
    return {
        "token": text,
        "logprob": logprob,
        "bytes": list(text.encode()),
        "top_logprobs": [{"token": t, "logprob": p, "bytes": list(t.encode())} for t, p in (top or {}).items()],
    }


def chat(
    content: str | None,
    *,
    tokens: Sequence[dict[str, Any]] | None = None,
    finish: str = "stop",
    usage: dict[str, Any] | None = None,
    **message: Any,
) -> dict[str, Any]:
    """A Chat Completions response body."""
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish,
        "logprobs": None if tokens is None else {"content": list(tokens)},
    }
    counted = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110} if usage is None else usage
    return {"id": "c1", "object": "chat.completion", "model": "judge-1", "choices": [choice], "usage": counted}


def verdict(body: dict[str, Any], letter: str = "B", top: dict[str, float | None] | None = None) -> Reply:
    """A well-behaved answer to a request body, with log-probabilities where they were asked for."""
    tag = tag_of(body)
    spread = {letter: math.log(0.75), "D": math.log(0.25)} if top is None else top
    tokens = [token(f"<{tag}"), token(">"), token(letter, spread.get(letter, -0.1), spread), token(f"</{tag}>")]
    return Reply(chat(f"<{tag}>{letter}</{tag}>", tokens=tokens if body.get("logprobs") else None))


def refusal(message: str, status: int = 400, **fields: Any) -> Reply:
    """An error response."""
    return Reply({"error": {"message": message, "type": "invalid_request_error", **fields}}, status=status)
