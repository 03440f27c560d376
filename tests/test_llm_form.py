"""Answers that a server holds to their form."""

from __future__ import annotations

import re

import pytest
from scripted_server import ScriptedServer, verdict

from bestofn.errors import UsageError
from bestofn.llm.cache import IN_MEMORY, Cache
from bestofn.llm.capabilities import Capabilities
from bestofn.llm.client import Client
from bestofn.llm.form import FIELDS, LISTED, check_field, grammar, regex
from bestofn.llm.request import LETTERS, Message, Request, Sampling, request_hash

ONE = ("score_1",)
TWO = ("score_1_1", "score_1_2")
CODES = ("A.1", "B.10")


def test_a_regex_lets_one_letter_a_tag_through() -> None:
    """One line a tag, a letter of the scale in each, and nothing around it."""
    form = re.compile(regex(TWO, LETTERS, ()))
    assert form.fullmatch("<score_1_1>A</score_1_1>\n<score_1_2>T</score_1_2>")
    for bad in ("<score_1_1>A</score_1_1>", "<score_1_1>U</score_1_1>\n<score_1_2>T</score_1_2>", "well: A"):
        assert not form.fullmatch(bad)


def test_a_regex_for_codes_lets_a_list_or_none_through() -> None:
    """Ids are taken literally, so that the point of A.1 stands for itself; a list has an end."""
    form = re.compile(regex(ONE, LETTERS, CODES))
    for good in ("none", "A.1", "B.10, A.1", ", ".join(["A.1"] * LISTED)):
        assert form.fullmatch(f"<score_1>{good}</score_1>")
    for bad in ("", "Ax1", "A.1 B.10", "none, A.1", ", ".join(["A.1"] * (LISTED + 1))):
        assert not form.fullmatch(f"<score_1>{bad}</score_1>")


def test_a_grammar_says_the_same_in_gbnf() -> None:
    """The rules as llama.cpp reads them; a real server takes them in test_local_model."""
    assert grammar(TWO, "AT", ()) == (
        'root ::= "<score_1_1>" inside "</score_1_1>" "\\n" "<score_1_2>" inside "</score_1_2>"\ninside ::= [AT]\n'
    )
    assert grammar(ONE, "AT", CODES) == (
        'root ::= "<score_1>" inside "</score_1>"\ninside ::= "none" | word (", " word){0,9}\nword ::= "A.1" | "B.10"\n'
    )


def request() -> Request:
    """A question with one tag."""
    return Request((Message("user", "Is it good? <score_1>X</score_1>"),), ONE)


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_goes_into_the_body_and_the_hash(name: str) -> None:
    """A held answer is another answer, so it has another key; nothing is added where nothing is asked."""
    held = Sampling(held_by=name)
    assert name in Capabilities().body(request(), "m", held)
    assert name not in Capabilities().body(request(), "m", Sampling())
    assert request_hash(request(), "m", held) != request_hash(request(), "m")


def test_the_hash_of_a_free_answer_is_what_it_was() -> None:
    """Answers recorded before forms could be held are found again."""
    assert request_hash(request(), "m") == "753436bfec48b5a3a4412f607eb0311a"


def test_sampling_survives_a_recording() -> None:
    """What goes into a recording's first line gives the same requests again."""
    for sampling in (Sampling(), Sampling(0.2, "low", {"top_k": 1}, "grammar")):
        assert Sampling.from_json(sampling.to_json()) == sampling


def test_a_probe_is_held_as_well() -> None:
    """A server that refuses the field says so at the first call, before anything is spent."""
    server = ScriptedServer(lambda body, n: verdict(body))
    try:
        client = Client("m", cache=Cache(IN_MEMORY), base_url=server.url, sampling=Sampling(held_by="regex"))
        list(client.answer([[request()]]))
    finally:
        server.stop()
    assert [seen.body["regex"] for seen in server.seen] == [
        f"<probe>[{LETTERS}]</probe>",
        f"<score_1>[{LETTERS}]</score_1>",
    ]


def test_an_unknown_field_is_told() -> None:
    """With those that there are."""
    with pytest.raises(UsageError, match="no field 'gbnf' holds an answer to its form: there are grammar, structured"):
        check_field("gbnf")
