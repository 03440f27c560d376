"""`bestofn ablate`: what it prints and writes, that it prints it again, and how it fails."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ablation_tables import shuffled, table
from judged_pool import honest, write_pool
from scripted_server import ScriptedServer
from test_ablation_experiment import OWN

from bestofn import load_pool, score_pool
from bestofn.cli import run
from bestofn.content import content_root
from bestofn.evaluation import evaluate
from bestofn.llm.answer import Completion
from bestofn.metrics import accuracy_by_task
from bestofn.selector import Selector, Term
from bestofn.table import FeatureTable

ALONE = ("features", "protocol", "learning_curve", "n", "cost", "headline")
"""Built-in experiments that look at one pool and ask nobody."""


def ablate(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, output and error output."""
    code = run(["ablate", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def found(*arguments: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The finding as JSON."""
    code, out, err = ablate(*arguments, "--json", "-q", capsys=capsys)
    assert code == 0, err
    content: dict[str, Any] = json.loads(out)
    return content


def row(content: dict[str, Any], arm: str, number: int = 0) -> dict[str, Any]:
    """One arm of one comparison."""
    return next(r for r in content["comparisons"][number]["rows"] if r["arm"] == arm)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with a planted column."""
    path = tmp_path_factory.mktemp("tables") / "small.parquet"
    table(24, planted=["good"]).write(path)
    return path


def test_without_a_name_they_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Every built-in experiment with its question and source, as text and as JSON."""
    code, out, _ = ablate(capsys=capsys)
    assert code == 0
    content = found(capsys=capsys)
    names = [entry["name"] for entry in content]
    assert sorted(names) == names
    assert {*ALONE, "transfer"} <= set(names)
    for entry in content:
        assert entry["question"] in out
        assert entry["source"] in out
    assert out.splitlines()[-1] == "Run one with: bestofn ablate NAME --pool POOL (such as --pool demo)"


@pytest.mark.parametrize("name", ALONE)
def test_a_rerun_prints_the_same_bytes(name: str, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same command gives the same JSON and the same text."""
    common = (name, "--table", str(small), "--permutations", "5", "-q")
    for form in ((), ("--json",)):
        assert ablate(*common, *form, capsys=capsys) == ablate(*common, *form, capsys=capsys)


@pytest.mark.parametrize("name", ALONE)
def test_the_order_of_attempts_changes_no_byte(
    name: str, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tasks and attempts in another order in the table give the same JSON."""
    path, findings = tmp_path / "same.parquet", []
    rows = FeatureTable.read(small)
    for order in (rows, shuffled(rows)):
        order.write(path)
        findings.append(ablate(name, "--table", str(path), "--permutations", "5", "--json", "-q", capsys=capsys))
    assert findings[0] == findings[1]


@pytest.mark.parametrize("name", ALONE)
def test_every_table_says_what_it_resolves(name: str, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Intervals, p-values with their correction, swing tasks and the smallest difference stand in every finding."""
    code, out, _ = ablate(name, "--table", str(small), "--permutations", "5", "-q", capsys=capsys)
    assert code == 0
    content = found(name, "--table", str(small), "--permutations", "5", capsys=capsys)
    for comparison in content["comparisons"]:
        assert comparison["n_swing"] <= comparison["n_tasks"] == 24
        assert comparison["smallest_resolvable"]["tasks"] == 6
        for arm in comparison["rows"]:
            if arm["accuracy"] is None:
                assert arm["why"]
            elif arm["arm"] != comparison["reference"]:
                assert arm["interval"][0] <= arm["difference"] + 1e-9
                assert arm["interval"][1] >= arm["difference"] - 1e-9
                assert (arm["p"] is None) == arm["optimistic"]
                assert arm["verdict"] in ("tied", "open", "resolved") or arm["optimistic"]
    assert "24 tasks, " in out
    assert "the smallest difference it can resolve is 25.0 points (6 tasks, all one way: p = 2 x 2^-6)" in out
    for word in ("tied:", "open:", "resolved:", "Holm:"):
        assert word in out


def test_arms_that_lack_scores_say_how_to_get_them(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They stand in the table, and the command that gets them below it."""
    _, out, _ = ablate("headline", "--table", str(small), "-q", capsys=capsys)
    assert "AdaMAST-Judge, nested" in out
    assert "no figure: no scores of a model" in out
    assert "to get it: bestofn ablate headline --table " in out
    content = found("headline", "--table", str(small), capsys=capsys)
    assert {entry["arm"] for entry in content["lacking"]} >= {"AdaMAST-Judge, nested", "LLM-as-a-Verifier", "majority"}


def test_columns_of_a_model_fill_the_arms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table with a model's columns needs no model, and a planted one is resolved where heuristics are noise."""
    path = tmp_path / "judged.parquet"
    table(40, llm=["llm_good@00000000"]).write(path)
    content = found("features", "--table", str(path), capsys=capsys)
    assert row(content, "LLM, reweight")["verdict"] == "resolved"
    assert row(content, "heuristics, reweight")["verdict"] == "tied"
    assert row(content, "without llm_good@00000000", 1)["verdict"] == "resolved"
    assert row(content, "without noise0", 1)["verdict"] == "tied"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ScriptedServer]:
    """A judge that reads qualities rightly, with a cache of the test's own."""
    for name in ("BESTOFN_API_KEY", "OPENAI_API_KEY", "BESTOFN_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BESTOFN_CACHE", str(tmp_path / "cache"))
    running = ScriptedServer(honest)
    yield running
    running.stop()


QUALITIES = {f"t{number}": letters for number, letters in enumerate(("TCA", "BSD", "SAT", "CTS", "TBD", "KLA"))}


def test_a_judge_is_asked_and_fills_the_arms(
    server: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A judge that reads qualities rightly reaches the oracle, costs what it took, and a rerun asks nothing more."""
    pool = str(write_pool(tmp_path / "pool", QUALITIES))
    asked = ("--model", "j", "--base-url", server.url, "--price-in", "1", "--price-out", "2")
    content = found("cost", "--pool", pool, *asked, capsys=capsys)
    judge, free = row(content, "judge"), row(content, "gate-shortest")
    assert judge["accuracy"] == row(content, "judge where unsure, 100% of tasks")["accuracy"] == 1.0
    assert judge["cost"]["calls"] == 6 * 3 + 3 * 2 + 1
    assert judge["cost"]["usd"] > 0.0
    assert free["cost"]["calls"] == 0.0
    assert judge["asked"] == 8 * 18
    assert content["lacking"] == [
        {"pool": pool, "arm": "majority", "why": "no attempt gives a final answer", "how": ""}
    ]
    frontier = [cells[1] for cells in content["tables"][0]["rows"] if cells[0] == "usd"]
    assert {"judge", "judge where unsure, 100% of tasks", "both, reweight"} <= set(frontier)
    sent = len(server.questions)
    assert found("cost", "--pool", pool, *asked, capsys=capsys) == content
    assert len(server.questions) == sent


def test_a_recording_gives_the_same_bytes(
    server: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Recorded answers give the figures that the judge gave, again and again, whatever the seed of the draws."""
    pool, recording = str(write_pool(tmp_path / "pool", QUALITIES)), tmp_path / "answers.jsonl"
    asked = ("--model", "j", "--base-url", server.url, "--seed", "3", "-q")
    live = found("cost", "--pool", pool, *asked, capsys=capsys)
    assert run(["judge", "record", "--pool", pool, *asked, "-o", str(recording)]) == 0
    server.stop()
    capsys.readouterr()
    replayed = ("cost", "--pool", pool, "--replay", str(recording), "--json", "-q")
    first = ablate(*replayed, "--seed", "9", capsys=capsys)
    assert first == ablate(*replayed, "--seed", "9", capsys=capsys)
    assert first[0] == 0
    again = json.loads(first[1])
    for name in ("judge", "both, reweight"):
        assert row(again, name)["missing"] == 0
        assert row(again, name)["accuracy"] == row(live, name)["accuracy"]
    assert again["settings"]["seed"] == 9


def test_scores_that_are_missing_fail_the_bar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a recording answers nothing, the table stands with what is missing, and the run ends with 1."""
    pool = write_pool(tmp_path / "pool", QUALITIES)
    recording = tmp_path / "answers.jsonl"
    line = {"request_hash": "0" * 32, "model": "m", "completion": Completion("A").to_json()}
    recording.write_text(json.dumps(line) + "\n")
    code, out, err = ablate("headline", "--pool", str(pool), "--replay", str(recording), "-q", capsys=capsys)
    assert code == 1
    assert "100.0% of the scores are missing" in err
    assert "144 of 144" in out
    assert ablate("headline", "--pool", str(pool), "--replay", str(recording), "--max-missing", "1", "-q",
                  capsys=capsys)[0] == 0  # fmt: skip


def test_a_pool_comes_with_recorded_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording beside the built-in pool answers unless another judge is named, and a remark says so."""
    recording = tmp_path / "answers.jsonl"
    line = {"request_hash": "0" * 32, "model": "m", "completion": Completion("A").to_json()}
    recording.write_text(json.dumps(line) + "\n")
    monkeypatch.setattr("bestofn.ablation.recorded.catalogue.recorded_answers", lambda name: recording)
    _, out, _ = ablate("headline", "--pool", "demo", "--max-missing", "1", "-q", capsys=capsys)
    said = "a model's scores come from the recorded answers that ship with this pool (answers.jsonl)"
    assert said in out
    assert said not in ablate("protocol", "--pool", "demo", "--permutations", "2", "-q", capsys=capsys)[1]


def test_only_some_tasks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--task takes the tasks of a pool whose name fits, and is an error with a table."""
    pool = write_pool(tmp_path / "pool", QUALITIES)
    _, out, _ = ablate("headline", "--pool", str(pool), "--task", "t[0-2]", "-q", capsys=capsys)
    assert "3 tasks, " in out
    code, _, err = ablate("headline", "--table", "x.csv", "--task", "t1", capsys=capsys)
    assert (code, err) == (2, "error: --task chooses among the tasks of a pool: a --table is taken whole\n")


def test_features_counts_what_evaluate_counts(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """How often each feature is chosen, and the nested figure, are those of `bestofn evaluate`."""
    result = evaluate(FeatureTable.read(small), null=0)
    content = found("features", "--table", str(small), capsys=capsys)
    assert {name: n for name, n, _ in content["tables"][0]["rows"]} == dict(result.chosen)
    theirs = next(r for r in result.rows if r.selector == "forward")
    assert row(content, "heuristics, forward")["accuracy"] == pytest.approx(theirs.accuracy)


def test_dropping_a_feature_is_fitting_without_it(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The arm without a column is `bestofn evaluate` on a table that never had it."""
    rows = FeatureTable.read(small)
    kept = [name for name in rows.columns if name != "good"]
    from dataclasses import replace

    result = evaluate(replace(rows, columns=tuple(kept), values=rows.take(kept)), selectors=["reweight"], null=0)
    content = found("features", "--table", str(small), capsys=capsys)
    assert row(content, "without good", 1)["accuracy"] == pytest.approx(result.rows[0].accuracy)
    assert row(content, "without good", 1)["verdict"] == "resolved"


def test_protocol_shuffles_as_evaluate_does(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Null and p-value of the published and the nested figure are those of `bestofn evaluate --null`."""
    result = evaluate(FeatureTable.read(small), null=30)
    content = found("protocol", "--table", str(small), "--permutations", "30", capsys=capsys)
    rows = {cells[0]: cells for cells in content["tables"][0]["rows"]}
    for what, null in (("as published", result.null), ("nested", result.null_nested)):
        assert null is not None
        cells = rows[f"all heuristics, {what}"]
        assert cells[3:] == pytest.approx([null.mean, null.p95, null.p_value])
    assert row(content, "the default bank, nested")["why"].startswith("the table has none of n_")
    assert content["tables"][0]["rows"][0][0].startswith("the default bank: the table has none of n_")


def test_n_ends_where_evaluate_is(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Best of 1 is Pass@1 for every selector, and best of all is what `bestofn evaluate` gives."""
    rows = FeatureTable.read(small)
    result = {r.selector: r.accuracy for r in evaluate(rows, null=0).rows}
    content = found("n", "--table", str(small), capsys=capsys)
    curves = {cells[0]: cells[1:] for cells in content["tables"][0]["rows"]}
    for name in ("gate", "gate-shortest", "shortest", "reweight"):
        assert curves[name][0] == pytest.approx(result["random"])
        assert curves[name][-1] == pytest.approx(result[name])
    assert curves["reweight"] == sorted(curves["reweight"])
    chances = [1 - np.prod([(4 - k - i) / (4 - i) for i in range(2)]) for k in range(5)]
    passes = np.bincount(rows.groups, weights=rows.rewards).astype(int)
    assert curves["oracle"][1] == pytest.approx(np.mean([max(0.0, min(1.0, chances[k])) for k in passes]))


def test_n_judges_each_subset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A judge's curve is over its criteria about single attempts, and ends where its mean rank over all of them is."""
    path, names = tmp_path / "judged.parquet", ["llm_health_task@0", "llm_health_local@0", "llm_compare@0"]
    table(20, llm=names).write(path)
    rows = FeatureTable.read(path).canonical()
    content = found("n", "--table", str(path), capsys=capsys)
    curve = next(cells[1:] for cells in content["tables"][0]["rows"] if cells[0] == "judge")
    judge = Selector("judge", terms=tuple(Term(name, 1.0) for name in names[:2]))
    by_task = accuracy_by_task(judge.scores(rows), rows.rewards, rows.groups)
    assert curve[-1] == pytest.approx(by_task.mean())
    assert curve == sorted(curve)
    assert row(content, "judge")["asked"] == 2 * len(rows)
    assert row(content, "judge")["cost"]["calls"] is None


def test_a_learning_curve_ends_nested(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its last point is the leave-one-task-out figure, and more tasks teach more about a planted column."""
    result = {r.selector: r.accuracy for r in evaluate(FeatureTable.read(small), null=0).rows}
    content = found("learning_curve", "--table", str(small), capsys=capsys)
    assert row(content, "forward, 23 tasks")["accuracy"] == pytest.approx(result["forward"])
    assert row(content, "reweight, 23 tasks")["accuracy"] == pytest.approx(result["reweight"])
    assert row(content, "forward, 5 tasks")["accuracy"] <= row(content, "forward, 10 tasks")["accuracy"]
    assert row(content, "forward, 10 tasks")["p"] < 0.01
    assert row(content, "prior, forward")["why"] == "no other pool to learn from"


def test_transfer_finds_what_pools_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A column that tells outcomes in every pool carries over, and the mean over pools is that of their figures."""
    tables = []
    for number in range(3):
        rows = table(30, planted=["good"], seed=number)
        rows.tasks[:] = [f"{number}{task}" for task in rows.tasks]
        tables.append(tmp_path / f"pool{number}.parquet")
        from dataclasses import replace

        replace(rows, about={**rows.about, "pool": f"pool{number}"}).write(tables[-1])
    arguments = [part for path in tables for part in ("--table", str(path))]
    content = found("transfer", *arguments, capsys=capsys)
    together = {cells[0]: cells for cells in content["tables"][0]["rows"]}
    for number in range(3):
        assert row(content, "prior, reweight", number)["verdict"] != "tied"
    mean = np.mean([row(content, "prior, reweight", n)["difference"] for n in range(3)])
    assert together["prior, reweight"][4] == pytest.approx(mean)
    assert together["prior, reweight"][5] < 0.001
    code, _, err = ablate("transfer", "--table", str(tables[0]), capsys=capsys)
    assert (code, err) == (2, "error: 'transfer' needs 2 pools or more: give --pool several times\n")


def test_cost_puts_the_free_arms_on_the_frontier(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nobody is asked, the most accurate arm alone stands on every frontier, and no chart is drawn."""
    content = found("cost", "--table", str(small), capsys=capsys)
    best = max(r["accuracy"] for r in content["comparisons"][0]["rows"] if r["accuracy"] is not None)
    for kind, _, cost, accuracy, _ in content["tables"][0]["rows"]:
        assert kind in ("calls", "tokens", "usd")
        assert (cost, accuracy) == (0.0, best)
    assert content["charts"] == []


@pytest.mark.parametrize("name", ALONE)
def test_everything_is_written(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """-o writes JSON, text and figures, twice the same bytes, on the demo pool."""
    written = []
    for turn in ("one", "two"):
        folder = tmp_path / turn
        code, out, err = ablate(name, "--pool", "demo", "--permutations", "5", "-o", str(folder), capsys=capsys)
        assert code == 0
        assert f"{folder}: {name}.json, {name}.txt and figures" in err
        assert (folder / f"{name}.txt").read_text() == out
        assert json.loads((folder / f"{name}.json").read_text())["experiment"] == name
        assert list(folder.glob(f"{name}*.svg"))
        assert list(folder.glob(f"{name}*.png"))
        written.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert written[0] == written[1]


def test_a_file_runs_as_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`python experiments/NAME.py` prints what `bestofn ablate NAME` does."""
    file = content_root("experiments") / "headline.py"
    done = subprocess.run(
        [sys.executable, str(file), "--pool", "demo", "-q"], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    _, out, _ = ablate("headline", "--pool", "demo", "-q", capsys=capsys)
    assert done.stdout == out


def test_a_file_of_ones_own_runs(tmp_path: Path, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A Python file that declares an experiment is run like a built-in one."""
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    content = found(str(file), "--table", str(small), capsys=capsys)
    assert content["experiment"] == "own"
    assert content["question"] == "Is it?"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["features"], "say what to run 'features' on: --pool POOL (such as --pool demo), or --table FILE"),
        (["nonsense", "--pool", "demo"], "no experiment 'nonsense': built in are "),
        (["features", "--pool", "demo", "--with", "x"], "--with takes NAME=VALUE, got 'x'"),
        (["features", "--pool", "demo", "--with", "x=1"], "'features' takes no input 'x': those of --with are none"),
        (["transfer", "--pool", "nowhere"], "'transfer' needs 2 pools or more: give --pool several times"),
        (["features", "-p", "demo", "-p", "demo"], "every pool is given once, and these have one name: demo, demo"),
        (["features", "--pool", "nowhere"], "no pool 'nowhere'"),
    ],
)
def test_wrong_use_is_told(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each wrong command ends with 2 and a sentence."""
    code, _, err = ablate(*arguments, capsys=capsys)
    assert code == 2
    assert err.startswith("error: ")
    assert said in err


def test_unknown_labels_are_counted_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An attempt without outcome changes no figure, and stands in the pool's line."""
    pool = write_pool(tmp_path / "pool", {"t1": "ATB", "t2": "TSB"})
    line = json.loads((pool / "t2.jsonl").read_text().splitlines()[0])
    del line["reward"]
    (pool / "t2.jsonl").write_text((pool / "t2.jsonl").read_text() + json.dumps({**line, "id": "t2.x"}) + "\n")
    _, out, _ = ablate("headline", "--pool", str(pool), "-q", capsys=capsys)
    assert "7 attempts, 1 attempts with unknown label (counted nowhere)" in out
    rows = score_pool(load_pool(str(pool))).table
    assert int(np.isnan(rows.rewards).sum()) == 1


def test_recorded_answers_come_with_the_inputs_they_were_asked_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of inputs beside the recording speaks for the user, who may say otherwise; files lie beside it."""
    line = {"request_hash": "0" * 32, "model": "m", "completion": Completion("A").to_json()}
    for name in ("demo", "other"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    (tmp_path / "demo.toml").write_text('[with]\nsecond = "other.jsonl"\ntokens = "900"\ntaxonomies = "folds"\n')
    monkeypatch.setattr("bestofn.ablation.recorded.catalogue.recorded_answers", lambda name: tmp_path / "demo.jsonl")

    def ran(*given: str) -> dict[str, Any]:
        options = ["--with", "comparisons=no", "--resamples", "100", "--json", "-q"]
        code, out, err = ablate("cheaper_verifier", "--pool", "demo", *options, *given, capsys=capsys)
        assert code == 0, err
        return dict(json.loads(out))

    found = ran()
    assert found["settings"]["inputs"] == {"comparisons": "no", "second": "other.jsonl", "tokens": "900"}
    assert {row["why"] for row in found["lacking"]} == {"no answer to its questions is recorded"}
    assert ran("--with", "tokens=800")["settings"]["inputs"]["tokens"] == "800"
    for wrong in ("[with]\ntokens = 900\n", 'tokens = "900"\n', "[with\n"):
        (tmp_path / "demo.toml").write_text(wrong)
        code, _, err = ablate("cheaper_verifier", "--pool", "demo", "-q", capsys=capsys)
        assert code == 2
        assert "demo.toml" in err
