"""The README of the experiments keeps its word: its commands are real, and its figures are what they print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from bestofn.ablation import Finding, Setting, Subject
from bestofn.ablation.experiment import builtin, load
from bestofn.catalogue import load_pool
from bestofn.cli.app import app
from bestofn.cli.output import percent
from bestofn.content import content_root
from bestofn.scoring import score_pool

README = content_root("experiments") / "README.md"
POOLS = {"ForgeCode": "tb2/forgecode", "tau": "tau/airline-gpt4o", "GSM-Plus": "ag2/gsmplus-gpt4"}


def commands() -> list[list[str]]:
    """Every command of the README, without its comment."""
    blocks = re.findall(r"```\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [shlex.split(line, comments=True) for block in blocks for line in block.splitlines() if line.strip()]


def section(name: str) -> str:
    """The text under an experiment's heading."""
    return README.read_text(encoding="utf-8").split(f"\n### {name}:")[1].split("\n### ")[0].split("\n## ")[0]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_a_command_is_real(words: list[str]) -> None:
    """It parses, and the experiment that it names is built in."""
    if words[0] == "python":
        path = Path(words[1])
        assert path.parent.name == "experiments"
        words = ["bestofn", "ablate", path.stem, *words[2:]]
    assert words[:2] == ["bestofn", "ablate"]
    command: Any = typer.main.get_command(app)
    context = command.commands["ablate"].make_context("ablate", words[2:])
    name = context.params["name"]
    if name and name != "./mine.py":
        assert load(name).name == name


def test_every_experiment_without_a_model_has_a_section() -> None:
    """Each heading is an experiment, and its command runs that experiment."""
    found = re.findall(r"^### (\w+):", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(found) <= {experiment.name for experiment in builtin()}
    assert {"features", "protocol", "learning_curve", "transfer", "n", "cost", "headline"} <= set(found)
    for name in found:
        assert f"bestofn ablate {name} --pool " in section(name)


@pytest.fixture(scope="module")
def subjects(shared: Path) -> dict[str, Subject]:
    """The three pools of the tables."""
    pools = {name: load_pool(shared / "pools" / path) for name, path in POOLS.items()}
    return {name: Subject.of(POOLS[name], score_pool(pool).table, pool) for name, pool in pools.items()}


def lines(name: str) -> dict[str, list[str]]:
    """The rows of a section's table by their first cell."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section(name).splitlines() if line[:1] == "|"
    ]
    return {row[0]: row[1:] for row in rows}


def said(finding: Finding, arm: str, number: int = 0, *, verdict: bool = True) -> str:
    """An arm's accuracy with what it is, as the tables write it."""
    row = finding.comparisons[number].row(arm)
    return f"{percent(row.accuracy)}, {row.verdict}" if verdict else percent(row.accuracy)


@pytest.mark.shared
def test_the_headline_is_what_the_command_prints(subjects: dict[str, Subject]) -> None:
    """Every accuracy and verdict of the table is the one that `bestofn ablate headline` gives now."""
    arms = {
        "gate": "gate",
        "gate-shortest": "gate-shortest",
        "majority of final answers": "majority",
        "heuristics, reweight": "heuristics, reweight",
        "heuristics, forward (nested)": "heuristics, forward",
        "20 regex features, forward (nested)": "20 regex features, forward",
    }
    table = lines("headline")
    for place, subject in enumerate(subjects.values()):
        finding = load("headline").measure(Setting((subject,)))
        for told, arm in arms.items():
            if table[told][place]:
                assert table[told][place] == said(finding, arm)
        assert table["Pass@1"][place] == said(finding, "random", verdict=False)
        assert table["oracle"][place] == said(finding, "oracle", verdict=False)
        published = said(finding, "20 regex features, as published", verdict=False)
        assert table["20 regex features, as published"][place] == f"{published}, optimistic"


@pytest.mark.shared
def test_best_of_n_is_what_the_command_prints(subjects: dict[str, Subject]) -> None:
    """Every figure of the table is the one that `bestofn ablate n` gives now."""
    for told, cells in lines("n").items():
        name, _, selector = told.partition(", ")
        if name not in subjects:
            continue
        sheet = load("n").measure(Setting((subjects[name],))).sheets[0]
        row = next(row for row in sheet.rows if row[0] == selector)
        assert [cell for cell in cells if cell] == [percent(float(value)) for value in row[1:] if value is not None]


@pytest.mark.shared
def test_transfer_is_what_the_command_prints(subjects: dict[str, Subject]) -> None:
    """Every figure of the table is the one that `bestofn ablate transfer` gives now."""
    sheet = load("transfer").measure(Setting(tuple(subjects.values()))).sheets[0]
    rows = {str(row[0]): row for row in sheet.rows}
    for arm, cells in lines("transfer").items():
        if arm in rows:
            *accuracies, mean, p, _ = rows[arm][1:]
            assert cells[:3] == [percent(float(value)) for value in accuracies if value is not None]
            assert cells[3] == ("" if p is None else f"{100 * float(mean or 0.0):+.1f}, {float(p):.3f}")


@pytest.mark.shared
def test_the_learning_curve_is_what_the_command_prints(subjects: dict[str, Subject]) -> None:
    """Every figure of the table is the one that `bestofn ablate learning_curve` gives now."""
    finding = load("learning_curve").measure(Setting(tuple(subjects.values())))
    table = lines("learning_curve")
    for place, comparison in enumerate(finding.comparisons):
        last = comparison.n_tasks - 1
        for told, cells in table.items():
            size = last if told == "all but one" else int(told) if told.isdigit() else 0
            if not size or not cells[place]:
                continue
            rows = [comparison.row(f"{learner}, {size} tasks") for learner in ("reweight", "forward")]
            shown = " / ".join(percent(row.accuracy) for row in rows)
            assert cells[place] == shown + (", resolved" if rows[1].verdict == "resolved" else "")
            assert rows[0].verdict != "resolved"
        assert table["gate-shortest, no labels"][place] == percent(comparison.row("gate-shortest").accuracy)
        prior = [percent(comparison.row(f"prior, {kind}").accuracy) for kind in ("reweight", "forward")]
        assert table["prior of the two other pools, reweight / forward"][place] == " / ".join(prior)


@pytest.mark.shared
def test_features_is_what_the_command_prints(subjects: dict[str, Subject]) -> None:
    """The families, the largest change and the most frequent choice are those that `bestofn ablate features` gives."""
    table = lines("features")
    for place, subject in enumerate(subjects.values()):
        finding = load("features").measure(Setting((subject,)))
        assert table["gate-shortest"][place] == said(finding, "gate-shortest", verdict=False)
        reference = said(finding, "heuristics, forward", verdict=False)
        assert table["heuristics, forward (the reference)"][place] == reference
        assert table["heuristics, reweight"][place] == said(finding, "heuristics, reweight")
        dropped = [row for row in finding.comparisons[1].rows if row.difference is not None]
        largest = max(dropped, key=lambda row: abs(row.difference or 0.0))
        told = f"{100 * abs(largest.difference or 0.0):.1f} points, {largest.verdict}"
        assert table["largest change by leaving one feature out of reweight"][place] == told
        assert not any(row.verdict == "resolved" for row in dropped)
        chosen = finding.sheets[0].rows
        often = " and ".join(str(row[0]) for row in chosen if row[1] == chosen[0][1])
        folds = subject.figures.n_swing
        assert table["chosen most often in nested selections"][place] == f"{often}, {chosen[0][1]} of {folds}"


@pytest.mark.shared
def test_the_protocol_is_what_the_command_prints(subjects: dict[str, Subject]) -> None:
    """Published and nested figures are those that `bestofn ablate protocol` gives now; those of noise, on ForgeCode."""
    table = lines("protocol")
    experiment = load("protocol")
    for place, subject in enumerate(subjects.values()):
        setting = Setting((subject,))
        comparison = setting.compare(subject, experiment.arms, reference="random")
        for told, arm in (("20 regex features", "the default bank"), ("all 54 heuristics", "all heuristics")):
            rows = [comparison.row(f"{arm}, {what}") for what in ("as published", "nested")]
            assert table[f"{told}, as published / nested"][place] == " / ".join(percent(r.accuracy) for r in rows)
    sheet = experiment.measure(Setting((subjects["ForgeCode"],))).sheets[1]
    for size, published, _, _, nested, _ in sheet.rows:
        told = table[f"{size} columns of noise, as published / nested"][0]
        assert told == f"{percent(float(published or 0.0))} / {percent(float(nested or 0.0))}"
