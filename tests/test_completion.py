"""Shell completion: scripts for three shells, and what they complete."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A home folder of the test's own, and a `bestofn` on the path."""
    tools = tmp_path / "bin"
    tools.mkdir()
    program = tools / "bestofn"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path[:0] = {sys.path!r}\nfrom bestofn.cli import main\nmain()\n"
    )
    program.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("BESTOFN", "_TYPER", "XDG"))}
    return {**kept, "HOME": str(tmp_path), "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}


def bestofn(home: dict[str, str], *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bestofn", *arguments], capture_output=True, text=True, env={**home, **environment}, timeout=60, check=False
    )


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_shown_and_installed_for_each_shell(home: dict[str, str], shell: str) -> None:
    """`--show-completion` prints it, `--install-completion` puts it where the shell finds it, in the user's home."""
    # The shell is told by the process that asks; here it is named instead.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = bestofn(home, "--show-completion", shell, **named)
    assert shown.returncode == 0, shown.stderr
    assert f"_BESTOFN_COMPLETE=complete_{shell}" in shown.stdout
    installed = bestofn(home, "--install-completion", shell, **named)
    assert installed.returncode == 0, installed.stderr
    found = [p for p in Path(home["HOME"]).rglob("*bestofn*") if p.is_file() and p.parent.name != "bin"]
    assert len(found) == 1
    assert f"complete_{shell}" in found[0].read_text()


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_and_options_are_completed(home: dict[str, str], shell: str) -> None:
    """Asked as the shell's own script asks: a command's beginning, and an option's."""
    for typed, wanted in (("bestofn sc", "score"), ("bestofn score --jun", "--junit"), ("bestofn judge exp", "export")):
        words = typed.split(" ")
        done = bestofn(
            home,
            _BESTOFN_COMPLETE=f"complete_{shell}", _TYPER_COMPLETE_ARGS=typed, _TYPER_COMPLETE_FISH_ACTION="get-args",
            COMP_WORDS=typed, COMP_CWORD=str(len(words) - 1),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert wanted in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_with_the_script(home: dict[str, str]) -> None:
    """The script runs in a real shell, and gives the one command that fits."""
    script = (
        'eval "$(bestofn --show-completion bash)"; COMP_WORDS=(bestofn eval); COMP_CWORD=1; '
        '_bestofn_completion bestofn; echo "${COMPREPLY[*]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, env=home, timeout=60, check=False
    )
    assert done.stdout.split() == ["evaluate"], done.stderr
