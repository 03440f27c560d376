"""Banks of regex features: TOML files that a person writes and that prove themselves.

A bank is checked whole whenever it is loaded, and everything wrong with it is told at once.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bestofn import content
from bestofn.errors import ContentError
from bestofn.featurize.feature import NAME, Feature, Kind, Value, Where
from bestofn.featurize.patterns import compile_pattern, empty_match, encode
from bestofn.featurize.sibling import SIBLING
from bestofn.featurize.structural import STRUCTURAL
from bestofn.table import RESERVED
from bestofn.trajectory import Channel

SUFFIX = ".toml"
EXAMPLES = 3
"""Different strings that a pattern must match, and that it must miss, at the least."""
BANK_KEYS = ("description", "functions", "feature")
FEATURE_KEYS = (
    "name", "pattern", "channel", "where", "value", "direction", "codes", "why", "matches", "misses",
)  # fmt: skip
"""The keys of one [[feature]], all of them required."""
_SHOWN = 80
"""Characters of a value that an error repeats."""


@dataclass(frozen=True)
class Bank:
    """A bank that proved itself."""

    name: str
    """The file's name without `.toml`."""
    path: Path
    description: str
    features: tuple[Feature, ...]
    """Its regex features, in file order."""
    functions: tuple[str, ...]
    """Names of the built-in functions that belong to it."""
    hash: str
    """First 16 hex digits of the file's SHA-256."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all its columns: functions first, then regex features."""
        return (*self.functions, *(feature.name for feature in self.features))


def builtin_banks() -> list[str]:
    """The names of the built-in banks."""
    return content.builtin_names("features", SUFFIX)


def load(name: str | Path) -> Bank:
    """A built-in bank by its name, or a user's own by its path.

    Raises ContentError with every problem of the bank, one a line.
    """
    path = content.find("features", str(name), SUFFIX)
    bank, found = _read(path)
    if found:
        raise ContentError("\n".join(found))
    assert bank is not None
    return bank


def problems(path: str | Path) -> list[str]:
    """Everything wrong with a bank, one sentence each with file, feature and string; empty where it proves itself.

    Raises ContentError where there is no such file.
    """
    return _read(content.find("features", str(path), SUFFIX))[1]


def function_names() -> tuple[str, ...]:
    """The built-in functions that a bank may name."""
    return (*STRUCTURAL, *SIBLING)


def _read(path: Path) -> tuple[Bank | None, list[str]]:
    """The bank, where nothing is wrong with it, and all that is."""
    place = _place(path)
    try:
        raw = path.read_bytes()
        table = tomllib.loads(raw.decode("utf-8"))
    except OSError as error:
        return None, [f"{place}: cannot be read: {error.strerror}"]
    except UnicodeDecodeError as error:
        return None, [f"{place}: not UTF-8 at byte {error.start}: save it as UTF-8"]
    except tomllib.TOMLDecodeError as error:
        return None, [f"{place}: not TOML: {error}; write patterns in '''three single quotes'''"]
    found = [f"{place}: {problem}" for problem in _bank_problems(table)]
    entries = table.get("feature", [])
    features: list[Feature] = []
    names: set[str] = set()
    for number, entry in enumerate(entries if isinstance(entries, list) else [], start=1):
        if not isinstance(entry, dict):
            found.append(f"{place}, feature {number}: not a table; write [[feature]] above its keys")
            continue
        name = entry.get("name")
        where = f"{place}, feature '{name}'" if isinstance(name, str) else f"{place}, feature {number}"
        wrong = list(_feature_problems(entry, names))
        found.extend(f"{where}: {problem}" for problem in wrong)
        if isinstance(name, str):
            names.add(name)
        if not wrong:
            features.append(_feature(entry, path.stem))
    if found:
        return None, found
    digest = hashlib.sha256(raw).hexdigest()[:16]
    functions = tuple(table.get("functions", ()))
    return Bank(path.stem, path, table["description"], tuple(features), functions, digest), []


def _place(path: Path) -> str:
    """The file as an error names it: built-in banks from the project's root, others as they were given."""
    root = content.content_root("features")
    return f"features/{path.relative_to(root).as_posix()}" if path.is_relative_to(root) else str(path)


def _bank_problems(table: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong above the features."""
    for key in table:
        if key not in BANK_KEYS:
            yield f"unknown key '{key}'; a bank has {', '.join(BANK_KEYS)}"
    if not isinstance(table.get("description"), str) or not table["description"].strip():
        yield "`description` is missing; say in a sentence what this bank is for"
    functions = table.get("functions", [])
    if not _is_texts(functions):
        yield f"`functions` is {_show(functions)}; it must be a list of names of built-in functions"
        functions = []
    for function in functions:
        if function not in function_names():
            yield f"`functions` names '{function}', which is not built in; there are {', '.join(function_names())}"
        elif functions.count(function) > 1:
            yield f"`functions` names '{function}' twice"
    entries = table.get("feature", [])
    if not isinstance(entries, list):
        yield "`feature` is one table; write [[feature]] with two brackets"
    elif not entries and not functions:
        yield "no [[feature]] and no `functions`: this bank would have no effect"


def _feature_problems(entry: Mapping[str, Any], names: set[str]) -> Iterator[str]:
    """What is wrong with one feature; `names` are those of the features above it."""
    for key in entry:
        if key not in FEATURE_KEYS:
            yield f"unknown key '{key}'; a feature has {', '.join(FEATURE_KEYS)}"
    missing = [key for key in FEATURE_KEYS if key not in entry]
    if missing:
        yield f"missing {', '.join(f'`{key}`' for key in missing)}"
    for key in FEATURE_KEYS:
        if key in entry and key not in ("pattern", "matches", "misses"):
            yield from _key_problems(key, entry[key], names)
    if "pattern" in entry:
        yield from _pattern_problems(entry)


def _key_problems(key: str, value: Any, names: set[str]) -> Iterator[str]:
    """What is wrong with one key that is neither pattern nor example."""
    if key == "name":
        yield from _name_problems(value, names)
    elif key == "channel" and value not in list(Channel):
        yield f"`channel` is {_show(value)}; it must be one of {', '.join(Channel)}"
    elif key == "value" and value not in list(Value):
        yield f"`value` is {_show(value)}; it must be one of {', '.join(Value)}"
    elif key == "where":
        try:
            Where.parse(value)
        except (ValueError, TypeError) as error:
            accepted = error if isinstance(value, str) else "a text such as 'anywhere'"
            yield f"`where` is {_show(value)}; it must be {accepted}"
    elif key == "direction" and (isinstance(value, bool) or value not in (-1, 0, 1)):
        yield f"`direction` is {_show(value)}; it must be 1, -1, or 0 where the sign depends on the pool"
    elif key == "codes" and not (_is_texts(value) and value and all(v and not any(map(str.isspace, v)) for v in value)):
        yield f"`codes` is {_show(value)}; it must be a list of failure codes without spaces, such as ['3.2']"
    elif key == "why" and (not isinstance(value, str) or not value.strip()):
        yield "`why` is empty; say in a sentence what this sees and why that should matter"


def _name_problems(value: Any, names: set[str]) -> Iterator[str]:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        yield f"`name` is {_show(value)}; it must be lower-case letters, digits and _, and begin with a letter"
    elif value in RESERVED:
        yield f"`name` is '{value}', which every table has already; reserved are {', '.join(RESERVED)}"
    elif value in function_names():
        yield f"`name` is '{value}', which is a built-in function; give it another name"
    elif value in names:
        yield "stands twice in this bank; give one of them another name"


def _pattern_problems(entry: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a pattern and its examples."""
    pattern = entry["pattern"]
    if not isinstance(pattern, str) or not pattern:
        yield f"`pattern` is {_show(pattern)}; it must be a text in '''three single quotes'''"
        return
    compiled: Any = None
    try:
        compiled = compile_pattern(pattern)
    except ValueError as error:
        yield f"`pattern` is not valid RE2: {error}"
    texts: list[str] = []
    for key, expected in (("matches", True), ("misses", False)):
        examples = entry.get(key, [])
        if not _is_texts(examples):
            yield f"`{key}` is {_show(examples)}; it must be a list of texts"
            continue
        texts += examples
        if key in entry and len(set(examples)) < EXAMPLES:
            yield f"`{key}` has {len(set(examples))} different examples; it takes at least {EXAMPLES}"
        for number, example in enumerate(examples, start=1):
            if compiled is not None and bool(compiled.search(encode(example))) is not expected:
                outcome = "does not match" if expected else "matches"
                yield f"example {number} in `{key}` {outcome}: {_show(example)}"
    if compiled is not None:
        nothing = empty_match(compiled, texts)
        if nothing is not None:
            yield f"`pattern` matches the empty text within {_show(nothing)}, without end: ask for a character"


def _feature(entry: Mapping[str, Any], bank: str) -> Feature:
    """The feature of an entry with nothing wrong."""
    return Feature(
        name=entry["name"],
        kind=Kind.REGEX,
        direction=entry["direction"],
        codes=tuple(entry["codes"]),
        why=entry["why"],
        bank=bank,
        pattern=entry["pattern"],
        channel=Channel(entry["channel"]),
        where=Where.parse(entry["where"]),
        value=Value(entry["value"]),
        matches=tuple(entry["matches"]),
        misses=tuple(entry["misses"]),
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _show(value: Any) -> str:
    """A value as an error repeats it, shortened."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
