"""`bestofn pools`: what its commands refuse and print."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from bestofn.cli import run
from bestofn.content import content_root


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No folder of pools, and a registry of this test's own."""
    monkeypatch.delenv("BESTOFN_POOLS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def bestofn(*arguments: str) -> tuple[int, str, str]:
    """(return code, output, error stream) of one command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(arguments))
    return code, out.getvalue(), err.getvalue()


def test_a_name_is_moved_only_with_replace(tmp_path: Path) -> None:
    """Adding over a registered name is refused with the way out; `--replace` does it."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    assert bestofn("pools", "add", "mine", str(tmp_path / "old"))[0] == 0
    code, _, err = bestofn("pools", "add", "mine", str(tmp_path / "new"))
    assert code == 2
    assert "give --replace" in err
    code, out, _ = bestofn("pools", "add", "mine", str(tmp_path / "new"), "--replace")
    assert code == 0
    assert out.startswith(f"mine is {tmp_path / 'new'} (remembered in ")


def test_formats_say_where_the_simple_one_is_described() -> None:
    """The list of formats ends with the place of FORMAT.md, which is there."""
    code, out, err = bestofn("pools", "formats")
    assert code == 0
    assert {line.split()[0] for line in out.splitlines()[1:]} >= {"harbor", "terminal-bench", "atif", "chat"}
    assert f"can be written as `chat`, which {content_root('data') / 'FORMAT.md'} describes" in err
    assert (content_root("data") / "FORMAT.md").is_file()
