"""The built-in banks prove themselves, and say what the project says of them."""

from __future__ import annotations

import re

import pytest

from bestofn.content import content_root
from bestofn.featurize.bank import FEATURE_KEYS, builtin_banks, function_names, load, problems
from bestofn.featurize.extract import DEFAULT_BANKS, catalogue
from bestofn.featurize.feature import Kind
from bestofn.featurize.patterns import Matcher, encode
from bestofn.trajectory import Channel


@pytest.mark.parametrize("name", builtin_banks())
def test_every_built_in_bank_proves_itself(name: str) -> None:
    """No built-in bank has a problem."""
    assert problems(name) == []


def test_the_default_bank_has_twenty_regex_features_with_the_published_names() -> None:
    """Twenty regex features, no functions, and those named in the paper are among them."""
    bank = load("default")
    assert len(bank.features) == 20
    assert bank.functions == ()
    assert {"n_success", "n_error", "n_killed", "n_retry", "trace_length"} <= set(bank.columns)


def test_the_default_bank_speaks_for_each_published_criterion() -> None:
    """Every representative code of the Terminal-Bench taxonomy has a feature."""
    codes = {code for feature in load("default").features for code in feature.codes}
    assert codes >= {
        "Premature_Termination", "Defensive_Pivoting", "Training_Stall_Detection", "Service_State_Verification",
        "Output_Format_Alignment", "1.3", "3.1", "3.2", "3.3",
    }  # fmt: skip


def test_the_signals_bank_names_every_built_in_function() -> None:
    """A function that no bank names would never be computed by default."""
    assert set(load("signals").functions) == set(function_names())


def test_no_two_built_in_features_share_a_name() -> None:
    """The catalogue holds as many features as banks and functions do."""
    regexes = sum(len(load(name).features) for name in builtin_banks())
    assert len(catalogue()) == len(function_names()) + regexes


def test_every_built_in_feature_says_why_and_for_which_codes() -> None:
    """All metadata is there for every kind of feature."""
    for name, feature in catalogue().items():
        assert feature.name == name
        assert feature.why.strip()
        assert feature.codes
        assert feature.direction in (-1, 0, 1)
        assert (feature.kind is Kind.REGEX) == bool(feature.pattern)


@pytest.mark.parametrize("name", builtin_banks())
def test_re2_and_re_find_the_same_in_all_examples(name: str) -> None:
    """Counts in every example of every bank are those of Python's own `re`."""
    features = load(name).features
    examples = [text for feature in features for text in (*feature.matches, *feature.misses)]
    matcher = Matcher(tuple(feature.pattern for feature in features))
    for index, feature in enumerate(features):
        own = re.compile(feature.pattern)
        for text in [*examples, "\n".join(examples)]:
            assert matcher.count(index, encode(text)) == len(list(own.finditer(text))), (feature.name, text)


@pytest.mark.parametrize("channel", [Channel.COMMAND, Channel.OBSERVATION, Channel.MESSAGE])
def test_the_patterns_of_a_channel_stay_fast_together(channel: Channel) -> None:
    """One set of all patterns of a channel meets no text that makes its automaton grow without end.

    Wide classes with large bounds, such as `\\S{1,80}`, do: a set that holds one is about thirty times slower. The
    bound here is loose enough for a busy machine and tight enough for that.
    """
    import time

    patterns = [f.pattern for name in DEFAULT_BANKS for f in load(name).features if f.channel is channel]
    matcher = Matcher(tuple(patterns))
    text = encode(
        "".join(f"unit {n} expected: column w{n} job for files_{n} and at main ({n}:{n % 7})\n" for n in range(40_000))
    )
    matcher.found(text[:1000])
    start = time.process_time()
    matcher.found(text)
    assert time.process_time() - start < 60.0  # a hang takes hours: this is no stopwatch


def test_the_readme_names_every_key_of_a_feature() -> None:
    """The schema table in features/README.md has the keys that the loader accepts, in its order."""
    readme = (content_root("features") / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", readme, re.MULTILINE)
    assert tuple(rows) == FEATURE_KEYS


def test_the_readme_lists_every_built_in_function() -> None:
    """A stranger finds each function name that a bank may hold."""
    readme = (content_root("features") / "README.md").read_text(encoding="utf-8")
    assert [name for name in function_names() if f"`{name}`" not in readme] == []


def test_the_example_in_the_readme_is_a_bank(tmp_path) -> None:
    """The bank shown in features/README.md proves itself as it stands there."""
    readme = (content_root("features") / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", readme, re.DOTALL)
    mine = tmp_path / "mine.toml"
    mine.write_text(example, encoding="utf-8")
    assert problems(mine) == []
