"""The words that a feature's value is told by: the line of the last match, cut to what may be quoted."""

from __future__ import annotations

from bestofn.evidence import passage
from bestofn.featurize.extract import catalogue
from bestofn.featurize.reading import Reading
from bestofn.quotes import LONGEST
from bestofn.report.html_evidence import Evidence
from bestofn.trajectory import Actor, Command, Coverage, Ending, Label, Observation, Origin, Step, Trajectory, Usage

FEATURES = catalogue()


def reading(*outputs: str, codes: tuple[int | None, ...] = ()) -> Reading:
    """A run whose commands show these outputs."""
    padded = (*codes, *[None] * len(outputs))
    steps = tuple(
        Step(Actor.AGENT, commands=(Command(f"make {n}"),), observations=(Observation(text, 0, padded[n]),))
        for n, text in enumerate(outputs)
    )
    run = Trajectory(
        "a", "t", Label.unknown("none"), Ending(), Coverage(), Origin("a.json", "bestofn", None), "", Usage(), "", steps
    )
    return Reading.of(run)


def quote(name: str, value: float, run: Reading) -> str | None:
    """The quote of a feature."""
    found = passage(FEATURES[name], value, run)
    return None if found is None else found.quote


def test_a_quote_is_the_line_of_the_last_match_word_for_word() -> None:
    """Other lines and earlier matches are left out."""
    run = reading(
        "first\nTraceback (most recent call last): one\nthird", "x\n  Traceback (most recent call last): two\ny"
    )
    found = passage(FEATURES["n_traceback"], 2.0, run)
    assert found is not None
    assert (found.quote, found.step) == ("Traceback (most recent call last): two", 2)


def test_a_long_line_is_cut_around_its_match() -> None:
    """The match stays in the quote, and the quote in the line."""
    line = "x" * 50_000 + " Traceback (most recent call last): " + "y" * 50_000
    said = quote("n_traceback", 1.0, reading(line))
    assert said is not None
    assert len(said) <= LONGEST
    assert "Traceback (most recent call last)" in said
    assert said in line


def test_what_is_counted_and_not_matched_has_its_place_too() -> None:
    """Failed commands are told by the last output with another code than 0."""
    run = reading("fine", "make: *** no rule", "fine again", codes=(0, 2, 0))
    assert quote("n_nonzero_exits", 1.0, run) == "make: *** no rule"


def test_what_never_came_and_what_others_did_has_no_words() -> None:
    """No error has no quote; nor has a rank among other attempts."""
    run = reading("fine")
    assert quote("n_traceback", 0.0, run) is None
    assert quote("length_rank", 1.0, run) is None
    assert passage(FEATURES["n_traceback"], 1.0, reading()) is None


def test_the_report_and_the_verdict_quote_the_same_words() -> None:
    """There is one way to find a quote: what a report shows is what `passage` gives."""
    run = reading("fine", "Traceback (most recent call last):", "make: *** no rule", codes=(0, 1, 2))
    names = ("n_traceback", "n_nonzero_exits")
    evidence = Evidence(tuple(FEATURES[name] for name in names))
    fired = {found.feature: found.quote for found in evidence.fired(run, [1.0, 2.0])}
    assert fired
    assert fired == {name: quote(name, 1.0, run) for name in fired}
