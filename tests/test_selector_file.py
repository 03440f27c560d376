"""`selector.toml`, there and back, and what it refuses."""

from __future__ import annotations

import math
import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestofn.errors import ContentError
from bestofn.selector import FittedOn, PathStep, Selector, Term
from bestofn.selector_file import read_selector, write_selector

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = TEXT.filter(lambda t: t not in ("", "task", "trajectory", "empty", "reward", "label", "label_reason"))
COUNT = st.integers(0, 10**6)
SELECTORS = st.builds(
    Selector,
    name=TEXT.filter(bool),
    gate=st.booleans(),
    terms=st.lists(
        st.builds(Term, NAMES, FINITE, st.sampled_from(["middle", "last"])), max_size=4, unique_by=lambda t: t.column
    ).map(tuple),
    path=st.lists(st.builds(PathStep, NAMES, FINITE, FINITE), max_size=3).map(tuple),
    fitted_on=st.lists(st.builds(FittedOn, TEXT, TEXT, COUNT, COUNT, COUNT), max_size=2).map(tuple),
    note=TEXT,
)

GOOD = """\
format = 1
name = "mine"
gate = true

[[terms]]
column = "n_error"
weight = -1
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "selector.toml"
    path.write_text(text, encoding="utf-8")
    return path


@settings(max_examples=100, deadline=None)
@given(SELECTORS)
def test_a_selector_comes_back_as_it_was(selector):
    """Every name, and every bit of every weight."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "selector.toml"
        write_selector(selector, path)
        assert read_selector(path) == selector


def test_a_selector_written_by_hand(tmp_path):
    """Format, name, gate and terms are enough."""
    assert read_selector(written(tmp_path, GOOD)) == Selector("mine", True, (Term("n_error", -1.0),))


def test_the_file_is_readable(tmp_path):
    """It says what made it, and its terms come before how they were found."""
    path = tmp_path / "selector.toml"
    selector = Selector(
        "forward", False, (Term("a", 0.5),), (PathStep("a", 0.8, 0.3),), (FittedOn("tb2/x", "sha256:1", 89, 445, 17),)
    )
    write_selector(selector, path, created_by="bestofn fit --pool tb2/x")
    text = path.read_text()
    assert tomllib.loads(text)["created_by"] == "bestofn fit --pool tb2/x"
    assert '    { column = "a", weight = 0.5 },\n' in text
    assert text.index("terms =") < text.index("path =") < text.index("fitted_on")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("gate", "gates"), "unknown key 'gates'; the keys are format, bestofn, created_by, name, gate, note, terms"),
        (("weight", "wieght"), ", terms 1: unknown key 'wieght'; the keys are column, weight, missing"),
        (('name = "mine"\n', ""), "name is missing"),
        (("weight = -1\n", ""), ", terms 1: weight is missing"),
        (('"mine"', '""'), "name is empty: every selector has one"),
        (("format = 1", "format = 2"), "format = 2, but this bestofn reads format 1: use the version that wrote it"),
        (("format = 1", "format = true"), "format = True, but it must be a whole number"),
        (("gate = true", "gate = 1"), "gate = 1, but it must be true or false"),
        (("-1", "nan"), ", terms 1: weight = nan, but it must be a finite number"),
        (("-1", "inf"), ", terms 1: weight = inf, but it must be a finite number"),
        (("-1", '"-1"'), ", terms 1: weight = '-1', but it must be a number"),
        (('"n_error"', '"reward"'), "column = 'reward', but it must be the name of a feature; task, trajectory, empty"),
        (('"n_error"', "3"), "column = 3, but it must be the name of a feature"),
        (("[[terms]]", "[terms]"), "but it must be a list of tables"),
        (("weight = -1", 'weight = -1\n[[terms]]\ncolumn = "n_error"\nweight = 2'), "terms name n_error twice"),
        (("weight = -1", 'weight = -1\nmissing = "first"'), "missing = 'first', but it must be 'middle' or 'last'"),
        (("format = 1", "format ="), "is not readable as TOML: "),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(tmp_path, change, message):
    """No slip of the pen becomes another ranking."""
    path = written(tmp_path, GOOD.replace(*change))
    with pytest.raises(ContentError) as told:
        read_selector(path)
    assert message in str(told.value)
    assert str(path) in str(told.value)


def test_what_could_not_be_read_again_is_not_written(tmp_path):
    """A weight that is not finite is refused when writing, and no file is left."""
    path = tmp_path / "selector.toml"
    with pytest.raises(ContentError, match="weight = nan, but it must be a finite number"):
        write_selector(Selector("x", terms=(Term("a", math.nan),)), path)
    assert not path.exists()
    with pytest.raises(ContentError, match=r"cannot write '.*': No such file or directory"):
        write_selector(Selector("x"), tmp_path / "nowhere" / "selector.toml")


def test_a_missing_file_says_how_to_make_one(tmp_path):
    """The error names the command."""
    with pytest.raises(ContentError, match=r"write one with `bestofn fit --pool POOL -o "):
        read_selector(tmp_path / "selector.toml")
