"""The README keeps its word: its commands run, and its figures are what the commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bestofn import load_pool
from bestofn.cli.output import percent
from bestofn.evaluation import evaluate
from bestofn.scoring import score_pool

README = Path(__file__).resolve().parents[1] / "README.md"
COLUMNS = {
    "shortest": "shortest",
    "majority": "majority",
    "gate": "gate",
    "gate-shortest": "gate-shortest",
    "reweight": "reweight",
    "forward": "forward",
    "forward, optimistic": "forward-optimistic",
    "policy": "policy",
}


@pytest.fixture
def readme() -> str:
    """The README, which the tests of an installed wheel do not have."""
    if not README.is_file():
        pytest.skip("needs the checkout's README.md, which an installed wheel does not bring")
    return README.read_text(encoding="utf-8")


def table_rows(readme: str) -> dict[str, dict[str, str]]:
    """The figures table of the README by pool."""
    lines = [line for line in readme.splitlines() if line.startswith("| ")]
    header = next(i for i, line in enumerate(lines) if line.startswith("| pool | tasks"))
    names = [cell.strip() for cell in lines[header].strip("|").split("|")]
    rows = {}
    for line in lines[header + 1 :]:
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if len(cells) == len(names):
            rows[cells[0]] = dict(zip(names, cells, strict=True))
    return rows


@pytest.mark.shared
@pytest.mark.parametrize(
    "pool", ["tb2/forgecode", "tau/airline-gpt4o", "ag2/gsmplus-gpt4", "tbcore/orchestrator-qwen3"]
)
def test_the_figures_are_what_evaluate_prints(shared: Path, readme: str, pool: str) -> None:
    """Every figure of the README's table is the one that `bestofn evaluate` gives now."""
    told = table_rows(readme)[pool]
    result = evaluate(score_pool(load_pool(shared / "pools" / pool)).table, null=0)
    accuracies = {row.selector: percent(row.accuracy) for row in result.rows}
    seen = {
        "pool": pool,
        "tasks": str(result.figures.n_tasks),
        "swing": str(result.figures.n_swing),
        "Pass@1": percent(result.figures.pass_at_1),
        "oracle": percent(result.figures.oracle),
        **{column: accuracies[selector] for column, selector in COLUMNS.items()},
    }
    assert told == seen


def test_the_commands_for_ones_own_runs_work(readme: str, tmp_path: Path) -> None:
    """Each line of the block under 'Use it on your runs' runs as it stands, on the demo pool in place of `runs/`."""
    block = readme.split("## Use it on your runs")[1].split("```")[1]
    commands = [line.split("#")[0].strip() for line in block.splitlines() if line.startswith("bestofn")]
    assert len(commands) >= 7
    root = str(load_pool("demo").root)
    for command in commands:
        if "features/mine.toml" in command:
            command = command.replace("features/mine.toml", "default")
        arguments = [root if part == "runs/" else part for part in shlex.split(command)[1:]]
        done = subprocess.run(
            [sys.executable, "-m", "bestofn", *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_every_link_leads_somewhere(readme: str) -> None:
    """Relative links of the README name files that are there."""
    for target in re.findall(r"\]\(([^)#]+)\)", readme):
        if "://" not in target:
            assert (README.parent / target).exists(), target


def test_the_library_on_one_screen_runs(readme: str) -> None:
    """`experiments/hello.py` runs on the demo pool and prints picks and figures."""
    hello = README.parent / "experiments" / "hello.py"
    done = subprocess.run([sys.executable, str(hello)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "policy" in done.stdout
