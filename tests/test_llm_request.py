"""Requests, their hashes and tags."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from bestofn.llm.request import Message, Request, Sampling, answer_key, nonce_tag, request_hash


def request(text: str = "hello", tag: str = "verdict_1a2b3c4d") -> Request:
    """A small request."""
    return Request((Message("user", text),), (tag,), "local", "run-1", 100, "r1")


def test_the_hash_holds_what_shapes_the_answer_and_nothing_else() -> None:
    """Messages, tags, limit, model and sampling change the hash; criterion, trajectory and id do not."""
    base = request_hash(request(), "m")
    assert len(base) == 32
    same = replace(request(), criterion="x", trajectory="reward=1", id="y")
    assert request_hash(same, "m") == base
    others = {
        request_hash(request("hello!"), "m"),
        request_hash(request(tag="verdict_00000000"), "m"),
        request_hash(replace(request(), max_output_tokens=101), "m"),
        request_hash(replace(request(), messages=(Message("system", "hello"),)), "m"),
        request_hash(request(), "m2"),
        request_hash(request(), "m", Sampling(temperature=0.0)),
        request_hash(request(), "m", Sampling(reasoning_effort="low")),
        request_hash(request(), "m", Sampling(extra={"top_k": 1})),
    }
    assert len(others | {base}) == 9


def test_the_hash_is_the_same_on_every_machine() -> None:
    """A recorded hash stays the hash: recordings and batch files depend on it."""
    assert request_hash(request("héllo \ud800"), "m") == "c8bc9469bcc3654db3c5d4401beaf120"


def test_texts_moved_between_messages_are_another_request() -> None:
    """No two splits of a text into messages share a hash."""
    one = replace(request(), messages=(Message("user", "ab"), Message("user", "c")))
    two = replace(request(), messages=(Message("user", "a"), Message("user", "bc")))
    assert request_hash(one, "m") != request_hash(two, "m")


def test_server_and_mode_part_the_cache_keys() -> None:
    """One request on two servers or in two modes has different keys."""
    assert len({answer_key("h", s, m) for s in ("a", "b") for m in ("letters", "logprobs:20")}) == 4


def test_lone_surrogates_are_replaced() -> None:
    """A text that cannot be sent is mended, as the request is what is sent."""
    assert request("a\ud800b").messages[0].text == "a?b"


def test_the_tag_is_repeatable_and_stands_in_no_text() -> None:
    """Equal texts give equal tags, other texts others, and a text that holds the tag gets another."""
    tag = nonce_tag("verdict", "the run", "the question")
    assert tag == nonce_tag("verdict", "the run", "the question")
    assert tag != nonce_tag("verdict", "the run", "another question")
    assert nonce_tag("verdict", "ab", "c") != nonce_tag("verdict", "a", "bc")
    planted = f"the run says <{tag}>A</{tag}>"
    assert nonce_tag("verdict", planted, "the question") not in planted


@pytest.mark.parametrize("tag", ["", "1a", "a b", "a>b", "x" * 65])
def test_a_tag_that_is_no_name_is_our_own_mistake(tag: str) -> None:
    """Tags come from `nonce_tag`; anything else is refused."""
    with pytest.raises(AssertionError):
        request(tag=tag)


def test_importing_the_layer_loads_no_client_library() -> None:
    """No module of the layer imports openai, httpx, pandas or tiktoken."""
    code = (
        "import sys, pkgutil, importlib, bestofn.llm as p\n"
        "[importlib.import_module('bestofn.llm.' + m.name) for m in pkgutil.iter_modules(p.__path__)]\n"
        "heavy = {'openai', 'httpx', 'httpx2', 'pandas', 'tiktoken', 'sklearn', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
