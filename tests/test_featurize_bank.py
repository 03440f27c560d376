"""A bank that is wrong says everything that is wrong with it, with file, feature and string."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bestofn.errors import ContentError
from bestofn.featurize.bank import function_names, load, problems
from bestofn.featurize.feature import Span, Value, Where
from bestofn.trajectory import Channel

GOOD = """
name = "test_failure"
pattern = '''(?m)^[1-9]\\d* failed'''
channel = "observation"
where = "last 5 steps"
value = "count"
direction = -1
codes = ["3.2"]
why = "A test runner counts failures."
matches = ["3 failed", "12 failed, 1 passed", "1 failed"]
misses = ["0 failed", "none failed", "failed"]
"""


def write(folder: Path, *features: str, head: str = 'description = "Mine."') -> Path:
    """A bank file of these features."""
    path = folder / "mine.toml"
    path.write_text("\n".join([head, *(f"[[feature]]{feature}" for feature in features)]), encoding="utf-8")
    return path


def changed(old: str, new: str) -> str:
    """The good feature with one thing changed."""
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_good_bank_is_loaded_with_all_that_it_says(tmp_path: Path) -> None:
    """Name, place, value, codes and examples come from the file; the hash is that of its bytes."""
    path = write(tmp_path, GOOD)
    bank = load(path)
    (feature,) = bank.features
    assert (bank.name, bank.columns) == ("mine", ("test_failure",))
    assert bank.hash == hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    assert feature.bank == "mine"
    assert feature.channel is Channel.OBSERVATION
    assert feature.where == Where(Span.LAST_STEPS, 5)
    assert feature.value is Value.COUNT
    assert feature.codes == ("3.2",)
    assert feature.misses == ("0 failed", "none failed", "failed")
    assert problems(path) == []


ONE_FEATURE = [
    ('"0 failed", "none', '"0 failed", "4 failed", "none', "example 2 in `misses` matches: '4 failed'"),
    ('"1 failed"]', '"one failed"]', "example 3 in `matches` does not match: 'one failed'"),
    ('"1 failed"]', '"3 failed"]', "`matches` has 2 different examples; it takes at least 3"),
    (
        'misses = ["0 failed", "none failed", "failed"]',
        "misses = []",
        "`misses` has 0 different examples; it takes at least 3",
    ),
    (
        'misses = ["0',
        'misses = [0, "0',
        "`misses` is [0, '0 failed', 'none failed', 'failed']; it must be a list of texts",
    ),
    (
        'value = "count"',
        'value = "count"\nweight = 2',
        "unknown key 'weight'; a feature has name, pattern, channel, where, value, direction, codes, why, matches, "
        "misses",
    ),
    ('codes = ["3.2"]\nwhy = "A test runner counts failures."\n', "", "missing `codes`, `why`"),
    (
        '"observation"',
        '"output"',
        "`channel` is 'output'; it must be one of command, observation, message, reasoning",
    ),
    ('"count"', '"sum"', "`value` is 'sum'; it must be one of present, count, rate, last"),
    (
        '"last 5 steps"',
        '"last five steps"',
        "`where` is 'last five steps'; it must be 'anywhere', 'last 5 steps' (any number from 1 to 9999) or "
        "'after the last edit'",
    ),
    ('"last 5 steps"', "5", "`where` is 5; it must be a text such as 'anywhere'"),
    (
        "direction = -1",
        "direction = -2",
        "`direction` is -2; it must be 1, -1, or 0 where the sign depends on the pool",
    ),
    (
        "direction = -1",
        "direction = true",
        "`direction` is True; it must be 1, -1, or 0 where the sign depends on the pool",
    ),
    (
        '["3.2"]',
        '["no check"]',
        "`codes` is ['no check']; it must be a list of failure codes without spaces, such as ['3.2']",
    ),
    ('["3.2"]', "[]", "`codes` is []; it must be a list of failure codes without spaces, such as ['3.2']"),
    (
        '"A test runner counts failures."',
        '" "',
        "`why` is empty; say in a sentence what this sees and why that should matter",
    ),
    (
        '"test_failure"',
        '"Test-Failure"',
        "`name` is 'Test-Failure'; it must be lower-case letters, digits and _, and begin with a letter",
    ),
    (
        '"test_failure"',
        '"reward"',
        "`name` is 'reward', which every table has already; reserved are task, trajectory, empty, reward, label, "
        "label_reason",
    ),
    ('"test_failure"', '"n_steps"', "`name` is 'n_steps', which is a built-in function; give it another name"),
    ("(?m)^[1-9]", "(?m^[1-9]", "`pattern` is not valid RE2: invalid perl operator: (?m^"),
    (
        "(?m)^[1-9]\\d* failed",
        "(?<!no )failed",
        "`pattern` is not valid RE2: invalid perl operator: (?<!; RE2 has no lookaround: match the words that must "
        "stand there, and prove the rest in `misses`",
    ),
    (
        "(?m)^[1-9]\\d* failed",
        "([1-9]) failed \\1",
        "`pattern` is not valid RE2: invalid escape sequence: \\1; RE2 has no backreferences: write the repeated "
        "part out",
    ),
    ("'''(?m)^[1-9]\\d* failed'''", "7", "`pattern` is 7; it must be a text in '''three single quotes'''"),
]


@pytest.mark.parametrize(("old", "new", "said"), ONE_FEATURE)
def test_each_mistake_in_a_feature_is_one_sentence(tmp_path: Path, old: str, new: str, said: str) -> None:
    """File, feature, what is wrong, and what may stand there."""
    path = write(tmp_path, changed(old, new))
    name = "test_failure" if '"test_failure"' not in old else new.strip('"')
    assert problems(path) == [f"{path}, feature '{name}': {said}"]


def test_a_pattern_that_matches_nothing_at_all_is_an_error(tmp_path: Path) -> None:
    """`x*` is found in every text, between any two characters."""
    path = write(tmp_path, changed("(?m)^[1-9]\\d* failed", "(?:[1-9]\\d* failed)?"))
    said = problems(path)
    assert f"{path}, feature 'test_failure': example 1 in `misses` matches: '0 failed'" in said
    assert said[-1] == (
        f"{path}, feature 'test_failure': `pattern` matches the empty text within '', without end: ask for a character"
    )


def test_a_pattern_that_is_empty_only_in_some_texts_is_an_error(tmp_path: Path) -> None:
    """A word boundary alone is no match to count, though it is not found in the empty text."""
    path = write(tmp_path, changed("(?m)^[1-9]\\d* failed", "\\b|[1-9] failed"))
    assert problems(path)[-1].endswith("`pattern` matches the empty text within 'a', without end: ask for a character")


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    """Two features with three mistakes and one in the head are four sentences, and `load` raises them together."""
    wrong = changed("direction = -1", "direction = 5").replace('"observation"', '"stdout"')
    path = write(tmp_path, wrong, GOOD, GOOD, head='descripton = "Mine."')
    said = problems(path)
    feature = f"{path}, feature 'test_failure'"
    assert said == [
        f"{path}: unknown key 'descripton'; a bank has description, functions, feature",
        f"{path}: `description` is missing; say in a sentence what this bank is for",
        f"{feature}: `channel` is 'stdout'; it must be one of command, observation, message, reasoning",
        f"{feature}: `direction` is 5; it must be 1, -1, or 0 where the sign depends on the pool",
        f"{feature}: stands twice in this bank; give one of them another name",
        f"{feature}: stands twice in this bank; give one of them another name",
    ]
    with pytest.raises(ContentError) as caught:
        load(path)
    assert str(caught.value) == "\n".join(said)


def test_a_feature_without_a_name_is_told_by_its_number(tmp_path: Path) -> None:
    """The second feature of the file is feature 2."""
    path = write(tmp_path, GOOD, changed('name = "test_failure"\n', ""))
    assert problems(path) == [f"{path}, feature 2: missing `name`"]


def test_functions_are_looked_up(tmp_path: Path) -> None:
    """A bank may name built-in functions; a name that is none is told with those there are."""
    path = write(tmp_path, GOOD, head='description = "Mine."\nfunctions = ["n_steps", "n_stops", "n_steps"]')
    assert problems(path) == [
        f"{path}: `functions` names 'n_steps' twice",
        f"{path}: `functions` names 'n_stops', which is not built in; there are {', '.join(function_names())}",
        f"{path}: `functions` names 'n_steps' twice",
    ]
    bank = load(write(tmp_path, GOOD, head='description = "Mine."\nfunctions = ["n_steps"]'))
    assert bank.columns == ("n_steps", "test_failure")


def test_a_bank_of_nothing_is_an_error(tmp_path: Path) -> None:
    """Neither features nor functions: the consequence is told."""
    path = write(tmp_path)
    assert problems(path) == [f"{path}: no [[feature]] and no `functions`: this bank would have no effect"]


def test_one_bracket_instead_of_two_is_told(tmp_path: Path) -> None:
    """A single [feature] table is not a list of features."""
    path = tmp_path / "mine.toml"
    path.write_text(f'description = "Mine."\n[feature]{GOOD}', encoding="utf-8")
    assert problems(path) == [f"{path}: `feature` is one table; write [[feature]] with two brackets"]


def test_broken_toml_is_told_with_its_line(tmp_path: Path) -> None:
    """The TOML parser's own place is kept, and what to write is added."""
    path = tmp_path / "mine.toml"
    path.write_text('description = "Mine."\npattern = "\\d+"\n', encoding="utf-8")
    (said,) = problems(path)
    assert said.startswith(f"{path}: not TOML: ")
    assert "(at line 2, column " in said
    assert said.endswith("; write patterns in '''three single quotes'''")


def test_bytes_that_are_no_utf8_are_told(tmp_path: Path) -> None:
    """A bank in another encoding is an error, not a guess."""
    path = tmp_path / "mine.toml"
    path.write_bytes(b'description = "\xe9"\n')
    assert problems(path) == [f"{path}: not UTF-8 at byte 15: save it as UTF-8"]


def test_an_unknown_bank_lists_those_built_in() -> None:
    """A bare name that is no built-in bank is told with those there are."""
    with pytest.raises(ContentError, match=r"no features file 'termnal': .*built in are default, signals"):
        load("termnal")


def test_long_values_are_shortened_in_errors(tmp_path: Path) -> None:
    """An example of a megabyte does not become an error of a megabyte."""
    path = write(tmp_path, changed('"0 failed", "none', f'"0 failed", "4 failed {"x" * 10_000}", "none'))
    (said,) = problems(path)
    assert said.endswith("xxx...")
    assert len(said) < len(str(path)) + 200
