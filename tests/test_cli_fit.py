"""`bestofn fit --probability`: one command from labelled pools to a selector that scores one attempt on its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from judged_pool import honest, write_pool
from scored_runs import run_record, write
from scripted_server import ScriptedServer

from bestofn import read_selector
from bestofn.cli import run

CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("BESTOFN", "GITHUB", "OPENAI"))}


def bestofn(*arguments: str, at: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bestofn", *arguments],
        capture_output=True, text=True, env={**CLEAN, **environment}, timeout=300, check=False, cwd=at,
    )  # fmt: skip


def labelled(root: Path, seed: int = 0, tasks: int = 14) -> Path:
    """Runs of a terminal: those that broke off mostly failed, those that finished mostly passed."""
    root.mkdir()
    generator = np.random.default_rng(seed)
    for task in range(tasks):
        records = []
        for attempt in range(3):
            finished = bool(generator.random() < 0.6)
            passed = bool(generator.random() < (0.9 if finished else 0.1))
            commands = int(generator.integers(10, 40))
            last = "All is done: the tests pass." if finished else None
            ending = "finished" if finished else "timed_out"
            name = f"t{task}.{attempt}"
            records.append(run_record(name, ending=ending, commands=commands, last=last, reward=float(passed)))
        write(root / f"t{task}.jsonl", *[{**record, "task": f"t{task}"} for record in records])
    return root


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two labelled pools, and two runs without a label."""
    folder = tmp_path_factory.mktemp("pools")
    labelled(folder / "mine")
    labelled(folder / "theirs", seed=1)
    write(folder / "smooth.json", run_record("smooth", commands=14))
    write(folder / "broken_off.json", run_record("broken_off", ending="timed_out", commands=30, last=None))
    return folder


@pytest.mark.parametrize("calibration", ["beta", "isotonic"])
def test_one_command_makes_what_score_takes(pools: Path, calibration: str) -> None:
    """The file has calibration, reliability, Brier score and pools; `score --selector` takes it, and a bar."""
    made = bestofn(
        "fit", "--pool", "mine", "--probability", calibration, "--measure", "theirs", "-o", "s.toml", at=pools
    )
    assert made.returncode == 0, made.stderr
    assert f"probability of one attempt, {calibration} calibration, of 42 labelled attempts at 14 tasks" in made.stdout
    assert "measured on tasks left out of the fit: Brier 0." in made.stdout
    assert "measured on, not fitted" in made.stdout
    selector = read_selector(pools / "s.toml")
    found = selector.probability
    assert found is not None
    assert found.calibration.kind == calibration
    assert found.measured.brier < found.measured.brier_base_rate
    assert sum(row.rows for row in found.reliability) == 42
    assert [pool.pool for pool in selector.fitted_on] == ["mine"]
    assert [pool.pool for pool in found.elsewhere] == ["theirs"]
    assert selector.terms, "it ranks as well"
    command = f"bestofn fit --pool mine --kind reweight --probability {calibration} --measure theirs"
    assert f'created_by = "{command}"' in (pools / "s.toml").read_text()
    told = {}
    for name in ("smooth", "broken_off"):
        options = ("--selector", "s.toml", "--fail-under", "0.5", "--error-rate", "0.3", "--json")
        done = bestofn("score", f"{name}.json", *options, at=pools)
        content = json.loads(done.stdout)
        told[name] = content["results"][0]["probability"]
        assert content["results"][0]["score_name"] == "probability"
        assert content["selector"]["fitted_on"][0]["pool"] == "mine"
        assert content["selector"]["calibration"] == calibration
        assert done.returncode == (0 if name == "smooth" else 1), done.stdout
    assert told["broken_off"] < 0.5 < told["smooth"]


def test_a_rule_gets_a_probability_and_stays_the_rule(pools: Path) -> None:
    """The command behind the shipped selector: the rule's terms, a name and a note of one's own."""
    options = ("--kind", "gate-shortest", "--probability", "beta", "--name", "ours", "--note", "for us")
    made = bestofn("fit", "--pool", "mine", "--pool", "theirs", *options, "-o", "rule.toml", "--json", at=pools)
    assert made.returncode == 0, made.stderr
    selector = read_selector(pools / "rule.toml")
    assert (selector.name, selector.note, selector.gate) == ("ours", "for us", True)
    assert [(term.column, term.weight) for term in selector.terms] == [("n_characters", -1.0)]
    assert [(pool.pool, pool.tasks) for pool in selector.fitted_on] == [("mine", 14), ("theirs", 14)]
    assert selector.probability is not None
    assert selector.probability.measured.tasks == 14, "tasks of one name are one task"
    assert json.loads(made.stdout)["selector"]["probability"]["measured"]["tasks"] == 14


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pool", "mine", "--kind", "gate"), "'gate' is a rule and needs no fit: give --probability to fit"),
        (("--pool", "mine", "--measure", "theirs"), "--probability-columns and --measure are about a probability"),
        (("--pool", "mine", "--probability", "gamma"), "no calibration 'gamma': there are beta and isotonic"),
        ((), "say what to fit on: --pool POOL (such as --pool demo), or --table FILE"),
        (
            ("--pool", "mine", "--probability", "beta", "--probability-columns", "length_rank"),
            "'length_rank' cannot make the probability of one attempt: it needs other attempts",
        ),
        (
            ("--pool", "mine", "--probability", "beta", "--probability-columns", "finished,llm_x@1"),
            "'llm_x@1' cannot make the probability of one attempt: the tables tell no direction for it",
        ),
    ],
)
def test_what_cannot_be_fitted_is_said_in_one_line(pools: Path, arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, and no file."""
    done = bestofn("fit", *arguments, "-o", "no.toml", at=pools)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (pools / "no.toml").exists()


def test_a_judges_scores_count_in_a_selector_that_was_fitted_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From a judged table to a verdict by replay: the judge's column moves the probability the way it should."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BESTOFN_CACHE", str(tmp_path / "cache"))
    generator = np.random.default_rng(2)
    qualities = {f"t{n}": "".join(generator.choice(list("ACEGIKMOQS"), 3)) for n in range(14)}
    write_pool(tmp_path / "pool", qualities)
    write_pool(tmp_path / "new", {"good": "A", "bad": "S"}, {"none": 0.0})
    server = ScriptedServer(honest)
    judge = ["--base-url", server.url, "-q"]
    try:
        assert run(["features", "--pool", "pool", "--judge", "j", *judge, "-o", "t.csv"]) == 0
        for name in ("good", "bad"):
            pool = ["--pool", f"new/{name}.jsonl", "--model", "j", *judge]
            assert run(["judge", "run", *pool, "-o", "x.csv"]) == 0
            assert run(["judge", "record", *pool, "-o", f"{name}.answers"]) == 0
    finally:
        server.stop()
    column = next(c for c in Path("t.csv").read_text().split("\n", 1)[0].split(",") if c.startswith("llm_health_task"))
    options = ["--probability", "beta", "--probability-columns", f"finished,{column}"]
    assert run(["fit", "--table", "t.csv", *options, "-o", "s.toml"]) == 0
    capsys.readouterr()
    told = {}
    for name in ("good", "bad"):
        run(["score", f"new/{name}.jsonl", "--selector", "s.toml", "--replay", f"{name}.answers", "--json"])
        [result] = json.loads(capsys.readouterr().out)["results"]
        assert [moved["feature"] for moved in result["features"]] == [column]
        told[name] = result["probability"]
    assert told["bad"] < 0.3 < 0.7 < told["good"]
