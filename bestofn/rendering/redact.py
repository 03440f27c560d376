"""Takes secrets out of text before anything leaves the machine, and leaves a numbered placeholder in their place.

The rules are content (`data/redaction.toml`). Equal secrets get equal placeholders within one `Redactor`, so a judge
still sees that the key written in step 3 is the key read in step 40. Linear in the text: keywords first, RE2 after.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import re2

from bestofn.content import content_root
from bestofn.errors import ContentError
from bestofn.rendering.fence import HIDDEN

_RULE_KEYS = frozenset({"name", "why", "keywords", "pattern", "skip", "minimum", "mixed", "matches"})
_FILE_KEYS = frozenset({"placeholder", "code", "misses", "rule"})
_SKIPS = ("", "variable", "placeholder", "code")
_VARIABLE = re2.compile(r"\$.+|<.*>|\{.*\}|%\(?\w+\)?s?|\*+")
"""What stands for a value to be filled in, where even a weak password counts as one."""
_OPENING = "[REDACTED:"
_LONGEST = 80
"""Characters of the longest placeholder."""
_REST = 4
"""Fewer characters than this behind a placeholder are no secret."""
_BARE = "bare"
"""Groups of values without quotes, where a name in a program looks the same."""
_CALL = "call"
"""Group of what follows a value and shows that it is a call or an index, so no value."""


@dataclass(frozen=True)
class Rule:
    """One kind of secret."""

    name: str
    """The kind, as the placeholder says it."""
    keywords: tuple[str, ...]
    """Lower-case words of which one must stand in the text."""
    pattern: Any
    """Compiled RE2 pattern."""
    groups: tuple[str, ...]
    """Named groups that hold the secret; empty where the whole match is it."""
    skip: str = ""
    minimum: int = 1
    mixed: bool = False
    matches: tuple[tuple[str, str], ...] = ()
    """(text, secret) pairs for the test."""


@dataclass(frozen=True)
class Rules:
    """All rules, and what they leave alone."""

    rules: tuple[Rule, ...]
    placeholder: Any
    code: Any
    misses: tuple[str, ...]
    anything: Any
    """One pattern that finds whether any keyword stands in a lower-case text."""


class Found(NamedTuple):
    """One secret in a text."""

    start: int
    end: int
    kind: str


def secrets(text: str, rules: Rules) -> Iterator[Found]:
    """The secrets of a text in order, none overlapping; where two rules claim one place, the earlier rule has it."""
    lowered = text.lower()
    if not rules.anything.search(lowered):
        return
    claimed: list[Found] = []
    for rule in rules.rules:
        if not any(word in lowered for word in rule.keywords):
            continue
        for match in rule.pattern.finditer(text):
            found = _secret(match, rule, rules)
            if found is not None:
                claimed.append(found)
    position = 0
    ranked = sorted(enumerate(claimed), key=lambda item: (item[1].start, item[0]))
    for _, found in ranked:
        if found.start >= position:
            yield found
            position = found.end
        elif found.end > position:
            # The rest of a secret that another rule saw from further left.
            yield Found(position, found.end, found.kind)
            position = found.end


def _secret(match: Any, rule: Rule, rules: Rules) -> Found | None:
    """Where the secret of a match stands, None where the match only looks like one."""
    group = next((name for name in rule.groups if match.group(name)), "")
    start, end = match.span(rule.pattern.groupindex[group] if group else 0)
    # A key may follow an underscore, which belongs to the name before it.
    start += not group and match.string.startswith("_", start)
    value = match.string[start:end]
    if len(value) < rule.minimum or _is_placeholder(match.string, start, end):
        return None
    if rule.mixed and not (any(c.isdigit() for c in value) and any(c.isalpha() for c in value)):
        return None
    if rule.skip and _VARIABLE.fullmatch(value):
        return None
    if rule.skip in ("placeholder", "code") and rules.placeholder.fullmatch(value):
        return None
    if rule.skip == "code" and group.startswith(_BARE) and rules.code.fullmatch(value):
        return None
    if _CALL in rule.pattern.groupindex and match.group(_CALL):
        return None
    return Found(start, end, rule.name)


def _is_placeholder(text: str, start: int, end: int) -> bool:
    """True where a part of a text is one of our own placeholders, or lies in one, but for a character or two."""
    begin = text.rfind(_OPENING, max(start - _LONGEST, 0), start + len(_OPENING))
    if begin < 0 or begin > start:
        return False
    closing = text.find("]", begin, begin + _LONGEST)
    return closing >= 0 and end - closing - 1 < _REST


@lru_cache(maxsize=1)
def load_rules() -> Rules:
    """The built-in rules."""
    return read_rules(content_root("data") / "redaction.toml")


def read_rules(path: Path) -> Rules:
    """The rules of a file. Raises ContentError naming the place for whatever does not hold to the schema."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ContentError(f"{path}: not readable as TOML: {error}") from error
    strange = sorted(set(content) - _FILE_KEYS)
    if strange:
        raise ContentError(f"{path}: unknown key {', '.join(strange)}: a file has {', '.join(sorted(_FILE_KEYS))}")
    rules = tuple(_rule(entry, f"{path.name}, rule {number}") for number, entry in enumerate(content["rule"], start=1))
    words = sorted({word for rule in rules for word in rule.keywords})
    return Rules(
        rules=rules,
        placeholder=_compiled(content["placeholder"], f"{path.name}, placeholder"),
        code=_compiled(content["code"], f"{path.name}, code"),
        misses=tuple(content["misses"]),
        anything=re2.compile("|".join(re2.escape(word) for word in words)),
    )


def _found(text: str, rules: Rules) -> Iterator[Found]:
    """The secrets of a text, also where characters that no one sees hold them apart."""
    if text.isascii() or not HIDDEN.search(text):
        yield from secrets(text, rules)
        return
    places = [index for index, character in enumerate(text) if not HIDDEN.match(character)]
    for start, end, kind in secrets("".join(text[index] for index in places), rules):
        yield Found(places[start], places[end - 1] + 1, kind)


@dataclass
class Redactor:
    """Redacts the texts of one prompt, numbering each distinct secret within its kind."""

    rules: Rules = field(default_factory=load_rules)
    counts: Counter[str] = field(default_factory=Counter[str])
    """Replacements made so far, by kind."""
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    _last: Counter[str] = field(default_factory=Counter[str])

    def redact(self, text: str) -> str:
        """The text with every secret replaced by `[REDACTED:kind#n]`."""
        found = list(_found(text, self.rules))
        if not found:
            return text
        parts: list[str] = []
        position = 0
        for start, end, kind in found:
            parts += [text[position:start], f"[REDACTED:{kind}#{self._number(kind, text[start:end])}]"]
            position = end
            self.counts[kind] += 1
        return "".join(parts) + text[position:]

    def _number(self, kind: str, secret: str) -> int:
        secret = HIDDEN.sub("", secret)
        if (kind, secret) not in self._numbers:
            self._last[kind] += 1
            self._numbers[kind, secret] = self._last[kind]
        return self._numbers[kind, secret]


def redact(text: str) -> tuple[str, Counter[str]]:
    """One text without its secrets, and how many of each kind were replaced."""
    redactor = Redactor()
    return redactor.redact(text), redactor.counts


def _rule(entry: Mapping[str, Any], where: str) -> Rule:
    """One rule, checked."""
    where = f"{where} '{entry.get('name', '?')}'"
    strange = sorted(set(entry) - _RULE_KEYS)
    lacking = sorted({"name", "why", "keywords", "pattern", "matches"} - set(entry))
    if strange or lacking:
        raise ContentError(
            f"{where}: unknown {', '.join(strange) or 'nothing'}, missing {', '.join(lacking) or 'nothing'}: "
            f"a rule has {', '.join(sorted(_RULE_KEYS))}"
        )
    if entry.get("skip", "") not in _SKIPS:
        raise ContentError(f"{where}: skip '{entry['skip']}' is none of {', '.join(_SKIPS[1:])}")
    loud = [word for word in entry["keywords"] if word != word.lower()]
    if loud:
        raise ContentError(f"{where}: keyword '{loud[0]}' never stands in a lowered text: write it in lower case")
    pattern = _compiled(entry["pattern"], where)
    return Rule(
        name=entry["name"],
        keywords=tuple(entry["keywords"]),
        pattern=pattern,
        groups=tuple(name for name in pattern.groupindex if name != _CALL),
        skip=entry.get("skip", ""),
        minimum=entry.get("minimum", 1),
        mixed=entry.get("mixed", False),
        matches=tuple((_joined(text), secret) for text, secret in entry["matches"]),
    )


def _joined(text: str) -> str:
    """An example with its pieces put together: `{AK}IA` is AKIA."""
    return str(re2.sub(r"\{([A-Za-z]{1,6})\}", r"\1", text))


def _compiled(pattern: str, where: str) -> Any:
    """A compiled RE2 pattern."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        what = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else error
        raise ContentError(f"{where}: not an RE2 pattern: {what}") from error
