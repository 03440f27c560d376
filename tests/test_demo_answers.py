"""The recorded answers that ship with the demo pool: a real model's, and of the questions that are asked today."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from bestofn.catalogue import recorded_answers
from bestofn.cli import run
from bestofn.content import content_root
from bestofn.criteria import load
from bestofn.llm.replay import settings_of

ANSWERS = content_root("data") / "answers" / "demo.jsonl.gz"


@pytest.fixture(autouse=True)
def nobody_to_ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No server is there, and no cache."""
    monkeypatch.setenv("BESTOFN_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("BESTOFN_CACHE", str(tmp_path / "cache"))


def test_the_recording_says_who_answered_and_how_it_was_asked() -> None:
    """The model's name, its sampling and what was shown stand in the first line; no path or server stands anywhere."""
    settings = settings_of(ANSWERS)
    assert settings["model"] == "smollm2-135m-instruct"
    assert settings["sampling"]["held_by"] == "grammar"
    assert settings["showing"]["tokens"] == 1200
    text = gzip.decompress(ANSWERS.read_bytes()).decode()
    assert not any(trace in text for trace in ("127.0.0.1", "localhost", "/home", "/root", "/tmp/"))
    assert ANSWERS.stat().st_size < 1_000_000


def test_they_answer_what_the_default_criteria_ask_today(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every score of the demo pool is there. Where this fails a criterion was reworded: record the answers again."""
    table = tmp_path / "table.csv"
    assert run(["features", "--pool", "demo", "--replay", "demo", "-o", str(table)]) == 0
    told = capsys.readouterr().err
    assert "520 scores: " in told
    assert ", 0 missing" in told
    assert "answers of smollm2-135m-instruct, replayed from demo.jsonl.gz" in told
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for column in (criterion.column for criterion in load("terminal").criteria):
        assert len({row[column] for row in rows} - {""}) > 1, column


def test_most_of_them_are_degraded_and_say_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model that had to be held to the form gives its letters little probability, which is said and not hidden."""
    run(["judge", "run", "--pool", "demo", "--replay", "demo", "-o", str(tmp_path / "t.csv")])
    assert "degraded, little probability captured: letters hold " in capsys.readouterr().err


def test_all_ways_of_asking_replay(capsys: pytest.CaptureFixture[str]) -> None:
    """The judge, both tournaments and min-codes stand in one table, without a score missing."""
    assert run(["judge", "compare", "--pool", "demo", "--replay", "demo", "--json"]) == 0
    out, err = capsys.readouterr()
    shown = {row["selector"]: row["accuracy"] for row in json.loads(out)["rows"]}
    for name in ("judge", "verifier-round-robin", "verifier-pivot", "min-codes"):
        assert shown[name] is not None
    assert ", 0 missing" in err


def test_the_judged_arms_of_an_experiment_have_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """`ablate` takes the recording by itself, and a remark says whose answers they are."""
    assert run(["ablate", "headline", "--pool", "demo", "-q"]) == 0
    out = capsys.readouterr().out
    lines = {line.partition("  ")[0]: line for line in reversed(out.splitlines())}
    for arm in ("LLM-as-a-Verifier", "fewest codes", "MAST-14, nested", "AdaMAST-Judge, nested"):
        assert "no figure" not in lines[arm]
    # The figures of experiments/README.md.
    for arm, accuracy in (
        ("random", "50.0%"),
        ("heuristics, forward", "76.9%"),
        ("AdaMAST-Judge, no labels", "53.8%"),
        ("AdaMAST-Judge, nested", "76.9%"),
        ("AdaMAST-Judge, as published", "92.3%"),
        ("oracle", "92.3%"),
    ):
        assert lines[arm].removeprefix(arm).split()[0] == accuracy
    assert "come from the recorded answers that ship with this pool" in out


@pytest.mark.parametrize("name", ["audit", "cheaper_verifier", "cross_verifier", "top_k",
                                  "token_matched", "wrong_domain"])  # fmt: skip
def test_every_arm_of_the_judged_experiments_is_answered(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No arm lacks its answers. Those of one task only are scores of it, and no difference is claimed from them."""
    assert run(["ablate", name, "--pool", "demo", "--json", "-q", "--resamples", "100"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["lacking"] == []
    arms = [row for comparison in found["comparisons"] for row in comparison["rows"] if row["asked"]]
    assert len(arms) >= 5
    for row in arms:
        assert row["missing"] < row["asked"], row["arm"]
        if row["missing"] and row["difference"] is not None:
            assert row["verdict"] == "partial", row["arm"]


def test_other_names_have_no_recording() -> None:
    """Only built-in pools come with answers; a file of that name goes first."""
    assert recorded_answers("demo") == ANSWERS
    assert recorded_answers("tb2/forgecode") is None
    assert run(["judge", "run", "--pool", "demo", "--replay", "tb2/forgecode"]) == 2
