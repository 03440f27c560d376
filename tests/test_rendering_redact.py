"""Secrets are found, and what only looks like one is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestofn.errors import ContentError
from bestofn.rendering.redact import Redactor, Rule, load_rules, read_rules, redact

RULES = load_rules().rules
EXAMPLES = [(rule, text, secret) for rule in RULES for text, secret in rule.matches]


@pytest.mark.parametrize(("rule", "text", "secret"), EXAMPLES, ids=lambda value: getattr(value, "name", None))
def test_every_example_of_a_rule_loses_its_secret(rule: Rule, text: str, secret: str) -> None:
    """Each `matches` string of the rules comes out without its secret, under the rule's own kind."""
    cleaned, counts = redact(text)
    assert secret in text
    assert secret not in cleaned
    assert f"[REDACTED:{rule.name}#1]" in cleaned
    assert counts[rule.name] >= 1


@pytest.mark.parametrize("text", load_rules().misses)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    """Each `misses` string of the file comes out unchanged under all rules together."""
    assert redact(text) == (text, {})


def test_every_rule_has_examples() -> None:
    """No rule stands without a string that it must match."""
    assert all(rule.matches for rule in RULES)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("google-key", "AI" + "za" + "SyB0123456789abcdefghijklmnopqrstuv"),
        ("aws-key", "AK" + "IA" + "ABCDEFGHIJKLMNOP"),
        ("aws-key", "AS" + "IA" + "ABCDEFGHIJKLMNOP"),
        ("openai-key", "sk-" + "proj-" + "A" * 48),
        ("anthropic-key", "sk-" + "ant-api03-" + "b" * 40),
        ("github-token", "gh" + "p_" + "0" * 36),
        ("slack-token", "xo" + "xp-" + "12345-67890-abcdef"),
        ("jwt", "ey" + "JhbGciOiJub25lIn0.ey" + "JhIjoxfQ."),
    ],
)
@pytest.mark.parametrize("around", ['"{}"', "key={}", "({})", "{}\n", "x {} y", "'{}',", "/{}/", "é{}é", ">{}<"])
def test_keys_are_found_whatever_stands_around_them(name: str, text: str, around: str) -> None:
    """A key of a known form is found in quotes, brackets, paths and beside letters of other scripts."""
    cleaned, _ = redact(around.format(text))
    assert text not in cleaned
    assert "[REDACTED:" in cleaned


def test_equal_secrets_get_equal_placeholders() -> None:
    """Within one redactor the same secret has one number, also in another text, and another secret has another."""
    redactor = Redactor()
    assert redactor.redact("DB_PASSWORD=hunter2") == "DB_PASSWORD=[REDACTED:password#1]"
    assert redactor.redact("DB_PASSWORD=hunter3") == "DB_PASSWORD=[REDACTED:password#2]"
    assert redactor.redact("psql postgres://a:hunter3@h/d") == "psql postgres://a:[REDACTED:url-password#1]@h/d"
    assert redactor.redact("DB_PASSWORD=hunter2") == "DB_PASSWORD=[REDACTED:password#1]"
    assert redactor.counts == {"password": 3, "url-password": 1}


def test_a_cut_off_private_key_is_redacted_to_its_last_line() -> None:
    """A PEM block without its end line loses every line of its body."""
    body = "\n".join("MIIEowIBAAKCAQEAx8Zr2bXn4cQ1VdT7q9LkWm3Yt5HsMIIEowIBAAKCAQEAx8Zr" for _ in range(20))
    cleaned, counts = redact("cat key.pem\n-----BEGIN RSA PRIV" + "ATE KEY-----\n" + body + "\n$ echo done")
    assert "MIIEow" not in cleaned
    assert counts == {"private-key": 1}
    assert cleaned.endswith("echo done")


@given(st.integers(0, len(EXAMPLES) - 1), st.text(max_size=60), st.text(max_size=60))
@settings(deadline=None, max_examples=200)
def test_redaction_is_stable(index: int, before: str, after: str) -> None:
    """A text that was redacted once does not change when it is redacted again."""
    once, _ = redact(f"{before} {EXAMPLES[index][1]} {after}")
    again, _ = redact(once)
    assert again == once


@pytest.mark.parametrize(
    "piece", ["a", "token ", "://", 'key="', "eyJ", "password: ", "-----BEGIN PRIVATE KEY-----", "curl "]
)
def test_a_megabyte_of_near_matches_is_read(piece: str) -> None:
    """A megabyte of what begins like a secret is redacted in linear time."""
    redact(piece * (1_000_000 // len(piece)))


def test_a_rule_that_does_not_hold_to_the_schema_is_named(tmp_path: Path) -> None:
    """The error names the file, the rule and the way out."""
    file = tmp_path / "rules.toml"
    head = (
        "placeholder='x'\ncode='x'\nmisses=[]\n[[rule]]\nname='a'\nwhy='b'\n"
        "keywords=['{k}']\npattern='{p}'\nmatches=[]\n"
    )
    file.write_text(head.format(k="A", p="x"))
    with pytest.raises(ContentError, match=r"rules.toml, rule 1 'a': keyword 'A' never stands in a lowered text"):
        read_rules(file)
    file.write_text(head.format(k="a", p="(x"))
    with pytest.raises(ContentError, match=r"rules.toml, rule 1 'a': not an RE2 pattern: missing \)"):
        read_rules(file)
    file.write_text(head.format(k="a", p="x") + "colour='red'\n")
    with pytest.raises(ContentError, match=r"rule 1 'a': unknown colour, missing nothing: a rule has code|keywords"):
        read_rules(file)
