"""The recipes for pipelines run: the steps of action.yml, and the GitLab snippet of the docs, as written."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from scored_runs import bad, good, run_record, write

from bestofn import write_selector
from bestofn.single import open_selector

TOP = Path(__file__).resolve().parents[1]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with runs, and `bestofn` and `python` as commands of this very installation."""
    (tmp_path / "runs" / "deep").mkdir(parents=True)
    write(tmp_path / "runs" / "good one.json", good())
    write(tmp_path / "runs" / "deep" / "bad.json", bad(), indent=1)
    write(tmp_path / "odd.json", run_record("odd", commands=2))
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, words in (("bestofn", '-m bestofn "$@"'), ("python", '-c "import sys; print(sys.argv[1:])" "$@"')):
        script = commands / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}\n')
        script.chmod(script.stat().st_mode | stat.S_IEXEC)
    return tmp_path


def recipe(name: str) -> str:
    """A file of the checkout, which the tests of an installed wheel do not have."""
    if not (TOP / name).is_file():
        pytest.skip(f"needs the checkout's {name}, which an installed wheel does not bring")
    return (TOP / name).read_text(encoding="utf-8")


def step(action: str, name: str) -> str:
    """The script of one step."""
    part = action.split(f"- name: {name}\n")[1]
    return textwrap.dedent(re.split(r"\n    - name:|\nbranding:", part.split("run: |\n")[1])[0])


def run_action(work: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str], str]:
    """Run the scoring step as a runner does; gives the process, its outputs and the job summary."""
    action = recipe("action.yml")
    defaults = dict(re.findall(r"(?m)^  ([a-z-]+):\n    description: .*\n    default: (.*)$", action))
    values = {key: value.strip('"') for key, value in defaults.items()} | inputs
    names = dict(re.findall(r"(?m)^        ([A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\}$", action))
    environment = {name: values.get(key, "") for name, key in names.items()}
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        (work / name).write_text("")
        environment[name] = str(work / name)
    environment |= {"PATH": f"{work / 'bin'}:{os.environ['PATH']}", "GITHUB_ACTIONS": "true", "HOME": str(work)}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(action, "Score")],
        cwd=work, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    outputs = dict(line.split("=", 1) for line in (work / "GITHUB_OUTPUT").read_text().splitlines())
    return done, outputs, (work / "GITHUB_STEP_SUMMARY").read_text()


def test_the_action_scores_patterns_and_writes_everything(work: Path) -> None:
    """Names with spaces and ** work; exit code, reports, summary and annotations are there."""
    done, outputs, summary = run_action(work, files="runs/**/*.json\n", **{"fail-under": "0.5"})
    assert done.returncode == 1, done.stderr
    assert outputs == {"exit-code": "1", "folder": "bestofn-verdict"}
    assert {p.name for p in (work / "bestofn-verdict").iterdir()} == {
        "verdict.json", "verdict.xml", "verdict.sarif", "verdict.md",
    }  # fmt: skip
    content = json.loads((work / "bestofn-verdict" / "verdict.json").read_text())
    assert sorted(r["file"] for r in content["results"]) == ["runs/deep/bad.json", "runs/good one.json"]
    assert "### bestofn score: " in summary
    assert "::error file=runs/deep/bad.json" in done.stderr


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"files": "runs/good one.json", "fail-under": "0.5"}, "0"),
        ({"files": "odd.json", "unsure": "fail"}, "3"),
        ({"files": "none/*.json"}, "2"),
        ({"files": "$(touch owned)\n`touch owned`; touch owned"}, "2"),
    ],
)
def test_the_action_passes_the_exit_code_on(work: Path, inputs: dict[str, str], code: str) -> None:
    """A pattern that finds nothing is an error, and an input runs nothing."""
    done, outputs, _ = run_action(work, **inputs)
    assert (str(done.returncode), outputs["exit-code"]) == (code, code), done.stderr
    assert not (work / "owned").exists()


def test_the_action_compares_with_a_baseline_where_there_is_one(work: Path) -> None:
    """The first run has none, and the second finds the first's JSON."""
    file = {"files": "runs/good one.json", "baseline": "bestofn-verdict/verdict.json"}
    assert run_action(work, **file)[0].returncode == 0
    _, _, summary = run_action(work, **file)
    assert "**Against `bestofn-verdict/verdict.json`**" in summary


def test_the_install_step_takes_this_checkout_by_default(work: Path) -> None:
    """pip gets the action's own folder, or the package that is named."""
    script = step(recipe("action.yml"), "Install")
    for package, expected in (("", "/the action"), ("bestofn==9", "bestofn==9")):
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script],
            env={"PATH": f"{work / 'bin'}:{os.environ['PATH']}", "PACKAGE": package, "HERE": "/the action"},
            capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        assert f"'install', '--quiet', '{expected}'" in done.stdout


def test_the_gitlab_job_runs_as_written(work: Path) -> None:
    """Its script lines run in a shell, in order, and leave the reports that its artifacts name."""
    snippet = recipe("docs/ci.md").split("## GitLab")[1].split("```yaml\n")[1].split("```")[0]
    lines = re.findall(r"(?m)^    - (.*)$", snippet.split("script:")[1].split("allow_failure")[0])
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(lines)],
        cwd=work, env={**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {p.name for p in (work / "verdict").iterdir()} == {"verdict.json", "verdict.xml", "verdict.md"}
    assert "verdict/verdict.xml" in snippet


def test_the_commands_and_the_python_of_the_guide_work(work: Path) -> None:
    """Every `bestofn score` line of the guide is accepted, and its Python runs."""
    guide = recipe("docs/ci.md")
    write(work / "run.json", good())
    write_selector(open_selector("terminal"), work / "mine.toml")  # in the place of one that `bestofn fit` writes
    commands = re.findall(r"(?m)^(bestofn score run\.json[^#\n]*)", guide)
    assert len(commands) >= 6
    environment = {**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}"}
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command], cwd=work, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
    program = guide.split("```python\n")[1].split("```")[0]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=work, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "finished" in done.stdout
