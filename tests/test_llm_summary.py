"""The end of a run: states, reasons, accounts, and whether it counts as failed."""

from __future__ import annotations

from bestofn.llm.accounts import Account
from bestofn.llm.answer import Completion, Missing, Reason
from bestofn.llm.letters import State, read_scores
from bestofn.llm.request import Message, Request
from bestofn.llm.summary import RunSummary, describe


def request(criterion: str, *tags: str) -> Request:
    """A question with the given tags."""
    return Request((Message("user", "x"),), tags or ("v",), criterion)


def test_states_and_reasons_are_counted_per_score() -> None:
    """Each tag of an answer counts; reasons stand with their number and one example."""
    summary = RunSummary()
    two = request("list", "a", "b")
    summary.add(two, read_scores(Completion(content="<a>A"), two.tags))
    for _ in range(2):
        summary.add(request("local"), read_scores(Missing(Reason.GONE, "no connection: refused"), ("v",)))
    assert (summary.total, summary.states[State.MISSING], summary.share_missing) == (4, 3, 0.75)
    assert summary.lines(notes=["the server refuses logprobs"]) == [
        "4 scores: 0 ok, 1 degraded, 3 missing",
        "  1 degraded, no logprobs: the server gave no log-probabilities",
        "  2 missing, server gone: no connection: refused",
        "  1 missing, no answer tag: <b> does not stand in the answer, which begins '<a>A'",
        "  note: the server refuses logprobs",
    ]


def test_more_than_the_set_share_fails() -> None:
    """Exactly the share passes, more fails; a run that asked nothing passes."""
    summary = RunSummary()
    assert not summary.exceeds(0.0)
    for i in range(10):
        outcome = Missing(Reason.GONE) if i == 0 else Completion(content="<v>A")
        summary.add(request("c"), read_scores(outcome, ("v",)))
    assert not summary.exceeds(0.1)
    assert summary.exceeds(0.09)


def test_a_criterion_that_always_gets_one_letter_is_named() -> None:
    """Twenty times the same letter is worth a line; two letters, or few answers, are not."""
    summary = RunSummary()
    for i in range(20):
        summary.add(request("always"), read_scores(Completion(content="<v>A"), ("v",)))
        summary.add(request("varied"), read_scores(Completion(content="<v>A" if i else "<v>C"), ("v",)))
    summary.add(request("rare"), read_scores(Completion(content="<v>A"), ("v",)))
    assert summary.constant() == {"always": "A"}
    assert "  criterion 'always' got A every time: it tells no attempt from another" in summary.lines()


def test_accounts_are_told_in_words() -> None:
    """Calls, tokens with the cached apart, dollars or 'cost unknown', and what came free."""
    paid = Account(
        calls=2, retries=1, from_cache=3, input_tokens=2000, cached_tokens=1600, output_tokens=20, usd=0.0123
    )
    assert describe(paid) == "2 calls, 1 retries, 2,000 tokens in (1,600 cached), 20 out, $0.0123, 3 from the cache"
    unknown = Account(calls=1, uncounted=1, imported=2, usd=None)
    assert describe(unknown) == ("1 calls, 0 tokens in, 0 out, cost unknown, 1 calls without a token count, 2 imported")
    assert RunSummary().lines({"c": Account(replayed=4)})[-1] == "  c: 0 calls, 4 replayed"
