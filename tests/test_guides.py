"""The guides keep their word: what they tell to run runs, and prints what they show."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from bestofn.cli.app import app

DOCS = Path(__file__).resolve().parents[1] / "docs"
GUIDES = ("select", "evaluate", "judge", "format", "criterion")
RECORDS = """{"task": "fix-build", "reward": 0, "messages": [{"role": "assistant", "content": "It cannot be built."}]}
{"task": "fix-build", "label": "pass", "messages": [{"role": "assistant", "content": "The build passes."}]}
"""


class Command(NamedTuple):
    """A command of a guide, and what is shown below it."""

    line: str
    shown: list[str]


@pytest.fixture
def guide(request: pytest.FixtureRequest) -> str:
    """A guide's text, which the tests of an installed wheel do not have."""
    path = DOCS / f"{request.param}.md"
    if not path.is_file():
        pytest.skip(f"needs the checkout's docs/{path.name}, which an installed wheel does not bring")
    return path.read_text(encoding="utf-8")


def blocks(guide: str, kind: str) -> Iterator[str]:
    """The fenced blocks of a kind."""
    yield from re.findall(rf"^```{kind}\n(.*?)^```$", guide, flags=re.DOTALL | re.MULTILINE)


def commands(guide: str) -> Iterator[Command]:
    """The commands of all consoles, in order."""
    for block in blocks(guide, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *shown = part.rstrip("\n").split("\n")
            yield Command(line, shown)


def holds(shown: list[str], printed: list[str]) -> bool:
    """Whether the printed lines are those shown, where a line of three dots stands for any lines, or for the rest of
    a line at its end."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(holds(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    if not printed:
        return False
    first, wanted = re.sub(r" +", " ", printed[0].rstrip()), re.sub(r" +", " ", shown[0].rstrip())
    same = first.startswith(wanted[:-3]) if wanted.endswith("...") else first == wanted
    return same and holds(shown[1:], printed[1:])


@pytest.mark.parametrize("guide", GUIDES, indirect=True)
def test_what_a_guide_runs_prints_what_it_shows(guide: str, tmp_path: Path) -> None:
    """Command after command in one folder, as a reader would; a shown exit code is the one that comes."""
    (tmp_path / "my.jsonl").write_text(RECORDS)
    (tmp_path / "runs").mkdir()
    record = {"task": "a", "reward": 1, "messages": [{"role": "assistant", "content": "done"}]}
    (tmp_path / "runs" / "a.jsonl").write_text("".join(json.dumps({**record, "id": f"a{n}"}) + "\n" for n in range(2)))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("BESTOFN_", "OPENAI_"))},
        **{name: str(tmp_path / "home") for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME")},
    }
    ran = 0
    for line, shown in commands(guide):
        program, *rest = shlex.split(line, comments=True)
        wanted = 0
        if shown and (code := re.fullmatch(r"\[exit (\d)\]", shown[-1])):
            wanted, shown = int(code[1]), shown[:-1]
        words = [sys.executable, "-m", "bestofn", *rest] if program == "bestofn" else [program, *rest]
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        assert done.returncode == wanted, f"{line}\n{done.stdout}"
        if shown:
            assert holds(shown, done.stdout.rstrip("\n").split("\n")), f"{line}\n{done.stdout}"
        ran += 1
    assert ran


@pytest.mark.parametrize("guide", GUIDES, indirect=True)
def test_what_needs_a_server_is_at_least_a_command(guide: str) -> None:
    """Commands that are not run parse, with all their options."""
    root: Any = typer.main.get_command(app)
    for block in blocks(guide, "sh"):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words[0] == "bestofn":
                command: Any = root
                words = words[1:]
                while hasattr(command, "commands"):
                    command, words = command.commands[words[0]], words[1:]
                command.make_context(command.name, words)
            else:
                assert words[0] == "export"


@pytest.mark.parametrize("guide", GUIDES, indirect=True)
def test_links_lead_somewhere(guide: str) -> None:
    """Every file that a guide points to is there."""
    for target in re.findall(r"\]\(([^)#]+)\)", guide):
        assert (DOCS / target).exists(), target


def test_output_that_differs_is_seen() -> None:
    """What compares shown and printed lines tells a wrong figure, a missing line and a line too many."""
    assert holds(["a", "...", "c 1"], ["a", "b", "c 1"])
    assert holds(["a: ..."], ["a: 7"])
    assert not holds(["a", "...", "c 2"], ["a", "b", "c 1"])
    assert not holds(["a"], ["a", "b"])
    assert not holds(["a", "b"], ["a"])
