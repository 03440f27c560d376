"""The command line as a person meets it: real processes, real files."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("BESTOFN")}, "NO_COLOR": "1"}


def bestofn(*arguments: str, home: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, away from the checkout."""
    env = {**ENVIRONMENT, **environment}
    if home is not None:
        env["XDG_CONFIG_HOME"] = str(home)
    return subprocess.run(
        [sys.executable, "-m", "bestofn", *arguments], capture_output=True, text=True, env=env, timeout=120, check=False
    )


def attempt(task: str, name: str, reward: float | None, words: str = "ok", commands: int = 3) -> dict[str, object]:
    """One small recording in the project's own format."""
    messages: list[dict[str, object]] = [{"role": "user", "content": f"Do {task}."}]
    for number in range(commands):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": words, "exit_code": 0})
    messages.append({"role": "assistant", "content": "Done."})
    record: dict[str, object] = {"task": task, "id": name, "ending": "finished", "messages": messages}
    if reward is not None:
        record["reward"] = reward
    return record


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """Three tasks: in each the shorter of two attempts passes."""
    root = tmp_path / "mine"
    root.mkdir()
    for task in ("a", "b", "c"):
        records = [attempt(task, f"{task}.long", 0.0, "x" * 500), attempt(task, f"{task}.short", 1.0, "x")]
        (root / f"{task}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return root


def test_select_prints_the_json_shape_that_is_documented(pool: Path) -> None:
    """`select --json` has pool, selector, policy, tasks with pick and ranking, and a summary."""
    done = bestofn("select", "--pool", str(pool), "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(result) == {"pool", "selector", "policy", "tasks", "summary"}
    first = result["tasks"][0]
    assert first["task"] == "a"
    assert first["pick"] == ["a.short"]
    assert [entry["trajectory"] for entry in first["ranking"]] == ["a.short", "a.long"]
    assert set(first["ranking"][0]) == {"trajectory", "score", "rank", "reasons"}
    assert result["summary"]["accuracy"] == 1.0
    assert result["summary"]["pass_at_1"] == 0.5


def test_select_says_why_in_words(pool: Path) -> None:
    """The table names what moved the pick, and the policy line says why this selector."""
    done = bestofn("select", "--pool", str(pool))
    assert "fewest characters" in done.stdout
    assert "policy  gate" in done.stdout
    assert "100.0% of picks pass; Pass@1 50.0%" in done.stdout


def test_select_csv_has_a_row_an_attempt(pool: Path) -> None:
    """`--csv` writes every attempt with its rank and whether it was picked."""
    rows = list(csv.DictReader(io.StringIO(bestofn("select", "--pool", str(pool), "--csv").stdout)))
    assert len(rows) == 6
    assert [row["trajectory"] for row in rows if row["picked"] == "1"] == ["a.short", "b.short", "c.short"]


def test_equal_attempts_share_the_pick(tmp_path: Path) -> None:
    """Two attempts that differ in nothing that is looked at are both the pick, with rank 1 each."""
    records = [attempt("t", "one", 1.0, "aa"), attempt("t", "two", 0.0, "bb")]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    result = json.loads(bestofn("select", "--pool", str(tmp_path), "--json").stdout)
    assert result["tasks"][0]["pick"] == ["one", "two"]
    assert [entry["rank"] for entry in result["tasks"][0]["ranking"]] == [1, 1]
    assert result["summary"]["accuracy"] == 0.5


def test_a_pool_without_labels_is_ranked_all_the_same(tmp_path: Path) -> None:
    """Without any label there is a pick and no accuracy."""
    records = [attempt("t", "one", None, "aaaa"), attempt("t", "two", None, "b")]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    result = json.loads(bestofn("select", "--pool", str(tmp_path), "--json").stdout)
    assert result["tasks"][0]["pick"] == ["two"]
    assert result["summary"]["accuracy"] is None
    evaluated = bestofn("evaluate", "--pool", str(tmp_path))
    assert evaluated.returncode == 2
    assert "no attempt with a known outcome" in evaluated.stderr


def test_one_task_can_be_asked_for(pool: Path) -> None:
    """`--task` takes a glob, and one that fits nothing names what there is."""
    assert [
        t["task"] for t in json.loads(bestofn("select", "-p", str(pool), "-t", "[ab]", "--json").stdout)["tasks"]
    ] == [
        "a",
        "b",
    ]
    none = bestofn("select", "-p", str(pool), "-t", "z*")
    assert none.returncode == 2
    assert none.stderr == "error: no task fits 'z*': the pool has 3 tasks, such as a, b, c\n"


def test_an_unknown_pool_lists_what_there_is_and_how_to_add_one() -> None:
    """The error names the demo pool, the command and the place of published submissions."""
    done = bestofn("select", "--pool", "tb2/nothing")
    assert done.returncode == 2
    assert "no pool 'tb2/nothing'" in done.stderr
    assert "demo" in done.stderr
    assert "bestofn pools add" in done.stderr
    assert "terminal-bench-2-leaderboard" in done.stderr


def test_pools_can_be_added_listed_and_removed(pool: Path, tmp_path: Path) -> None:
    """A registered name works like a path, and is forgotten on request."""
    home = tmp_path / "config"
    assert bestofn("pools", "add", "team/mine", str(pool), home=home).returncode == 0
    listed = json.loads(bestofn("pools", "--json", home=home).stdout)
    mine = next(entry for entry in listed if entry["name"] == "team/mine")
    assert (mine["tasks"], mine["attempts"], mine["labels"], mine["n_swing"]) == (3, 6, 6, 3)
    assert (mine["pass_at_1"], mine["oracle"]) == (0.5, 1.0)
    assert bestofn("select", "--pool", "team/mine", home=home).returncode == 0
    assert bestofn("pools", "remove", "team/mine", home=home).returncode == 0
    assert bestofn("select", "--pool", "team/mine", home=home).returncode == 2


def test_folders_of_pools_are_looked_up_by_group_and_name(pool: Path, tmp_path: Path) -> None:
    """A folder in BESTOFN_POOLS makes `group/name` a pool."""
    group = tmp_path / "pools" / "group"
    group.mkdir(parents=True)
    (group / "name").symlink_to(pool, target_is_directory=True)
    done = bestofn("select", "--pool", "group/name", "--json", BESTOFN_POOLS=str(tmp_path / "pools"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pool"] == "group/name"


def test_evaluate_prints_the_json_shape_that_is_documented(pool: Path) -> None:
    """`evaluate --json` has the figures, a row a selector, and the null of `forward`."""
    done = bestofn("evaluate", "--pool", str(pool), "--null", "20", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert {"pool", "n_tasks", "n_swing", "n_unknown", "pass_at_1", "oracle", "rows", "null"} <= set(result)
    row = result["rows"][0]
    assert {
        "selector",
        "accuracy",
        "swing_accuracy",
        "gap_recovered",
        "ci_vs_pass1",
        "ci_vs_gate_shortest",
        "optimistic",
    } <= set(row)
    assert {"selector", "mean", "p95", "p_value", "permutations"} <= set(result["null"])
    assert {row["selector"]: row["accuracy"] for row in result["rows"]}["gate-shortest"] == 1.0


def test_evaluate_fails_below_the_asked_bar(pool: Path) -> None:
    """Exit code 1 is for a result below the bar, 0 for one above it."""
    asked = ("evaluate", "-p", str(pool), "--selectors", "longest", "--null", "0", "--min-accuracy")
    assert bestofn(*asked, "0.5").returncode == 1
    assert bestofn(*asked, "0.0").returncode == 0


def test_a_table_gives_the_same_picks_as_its_pool(pool: Path, tmp_path: Path) -> None:
    """CSV and Parquet tables written by `features` are read back by `select` and `evaluate` without loss."""
    straight = json.loads(bestofn("select", "-p", str(pool), "-s", "gate-shortest", "--json").stdout)["tasks"]
    for ending in ("csv", "parquet"):
        path = str(tmp_path / f"table.{ending}")
        assert bestofn("features", "-p", str(pool), "-o", path).returncode == 0
        again = json.loads(bestofn("select", "--table", path, "-s", "gate-shortest", "--json").stdout)["tasks"]
        assert again == straight
        assert bestofn("evaluate", "--table", path, "--null", "0").returncode == 0


def test_a_fitted_selector_is_used_from_its_file(pool: Path, tmp_path: Path) -> None:
    """`fit` writes a file that `select` takes, and its accuracy on the same rows is called optimistic."""
    path = str(tmp_path / "selector.toml")
    done = bestofn("fit", "-p", str(pool), "-o", path)
    assert done.returncode == 0, done.stderr
    shown = bestofn("select", "-p", str(pool), "-s", path)
    assert shown.returncode == 0, shown.stderr
    assert "optimistic" in shown.stdout


def test_jobs_change_nothing(pool: Path) -> None:
    """Two processes read the same table as one."""
    one, two = (bestofn("features", "-p", str(pool), "-j", n).stdout for n in ("1", "2"))
    assert one == two
    assert one.count("\n") == 7


def test_bad_use_exits_with_2_and_one_line() -> None:
    """Unknown options, selectors, formats and missing options are told in a line, without a traceback."""
    for arguments in (
        ("select",),
        ("select", "--pool", "demo", "--selector", "best"),
        ("select", "--pool", "demo", "--format", "xml"),
        ("select", "--pool", "demo", "--json", "--csv"),
        ("select", "--pool", "demo", "--table", "t.csv"),
        ("select", "--pool", "demo", "--features", "nosuch"),
        ("select", "--pool", "demo", "--jobs", "0"),
        ("select", "--pool", "demo", "--jobs", "-5"),
        ("evaluate", "--pool", "demo", "--selectors", ""),
        ("select", "--pool", "demo", "--nonsense"),
        ("evaluate", "--pool", "demo", "--selectors", "best"),
        ("features", "--pool", "demo", "-o", "table.xlsx"),
        ("fit", "--pool", "demo", "-o", "selector.json"),
        ("check", "no-such-file.toml"),
        ("nonsense",),
    ):
        done = bestofn(*arguments)
        assert done.returncode == 2, arguments
        assert "Traceback" not in done.stderr, arguments
        assert done.stderr.strip(), arguments


def test_strict_makes_trouble_an_error(pool: Path) -> None:
    """An unknown label is a remark, and with --strict an error."""
    (pool / "d.jsonl").write_text(json.dumps(attempt("d", "d.one", None)) + "\n")
    loose = bestofn("select", "--pool", str(pool))
    assert loose.returncode == 0
    assert "1 x unknown label: d.jsonl" in loose.stderr
    strict = bestofn("select", "--pool", str(pool), "--strict")
    assert strict.returncode == 2
    assert "--strict was given (1 unknown label)" in strict.stderr


def test_names_of_recordings_cannot_paint_the_screen(tmp_path: Path) -> None:
    """Control sequences and direction marks in task and trial names come out replaced."""
    records = [attempt("t\x1b[31m", "one\u202e", 1.0), attempt("t\x1b[31m", "two\r", 0.0, "longer")]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    done = bestofn("select", "--pool", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert not set("\x1b\u202e\r") & set(done.stdout)


def test_the_demo_pool_runs_without_anything_else() -> None:
    """The main job on the built-in pool: every task gets a pick, with no network, key or setting."""
    done = bestofn("select", "--pool", "demo", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert len(result["tasks"]) >= 12
    assert all(task["pick"] for task in result["tasks"])


def test_check_reports_every_error_of_a_bank(tmp_path: Path) -> None:
    """`check` names file, feature and string of each error and exits with 2; the built-in banks hold."""
    bank = tmp_path / "mine.toml"
    bank.write_text(
        "description = \"mine\"\n[[feature]]\nname = \"n_oops\"\npattern = '''oops'''\nchannel = \"observation\"\n"
        'where = "anywhere"\nvalue = "count"\ndirection = -1\ncodes = ["1.3"]\nwhy = "an oops"\n'
        'matches = ["oops", "nothing", "oops!"]\nmisses = ["an oops", "fine", "ok"]\n'
    )
    done = bestofn("check", str(bank))
    assert done.returncode == 2
    assert "mine.toml" in done.stderr
    assert "'nothing'" in done.stderr
    assert "'an oops'" in done.stderr
    assert bestofn("check", "default", "signals").returncode == 0


def test_every_command_teaches_with_an_example() -> None:
    """The help of each command holds an example that starts with its own name."""
    for command in ("select", "evaluate", "fit", "features", "check", "pools"):
        shown = bestofn(command, "--help")
        assert shown.returncode == 0
        assert f"Example: bestofn {command}" in " ".join(shown.stdout.split())


def test_a_closed_pipe_is_not_an_error() -> None:
    """`bestofn ... | head -1` ends quietly."""
    done = subprocess.run(
        f"{sys.executable} -m bestofn features --pool demo | head -1",
        shell=True,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.startswith("task,trajectory,")


def test_help_imports_nothing_heavy() -> None:
    """Help comes at once: no numpy, pandas, scikit-learn, scipy or rich is imported for it."""
    code = "import sys\nfrom bestofn.cli import run\nrun(['--help'])\nprint(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, check=True)
    for heavy in ("numpy", "pandas", "sklearn", "scipy", "joblib", "openai", "pyarrow"):
        assert f"'{heavy}'" not in done.stdout


def test_a_file_is_written_whole_or_not_at_all(pool: Path, tmp_path: Path) -> None:
    """Where the disk is full midway, the old file stays as it was, no half file is left, and the exit code is 2."""
    kept = tmp_path / "kept.csv"
    for arguments in (("features",), ("select", "--json")):
        kept.write_text("old")
        line = f"ulimit -f 1; {sys.executable} -m bestofn {' '.join(arguments)} -p demo -o {kept}"
        done = subprocess.run(
            ["bash", "-c", f"trap '' XFSZ; {line}"],
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
            timeout=120,
            check=False,
        )
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        assert kept.read_text() == "old"
        assert [p.name for p in tmp_path.iterdir() if "kept" in p.name] == ["kept.csv"]


@pytest.mark.parametrize("redirection", [">&-", "> /dev/full"])
def test_an_output_that_cannot_be_written_is_an_input_error(pool: Path, redirection: str) -> None:
    """A closed or full output ends with 2, never with 1 or a traceback."""
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m bestofn select -p {pool} {redirection}"],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_interrupt_ends_with_one_line_and_leaves_no_process(pool: Path) -> None:
    """Ctrl-C while copies read: exit code 130, a word, and nobody left behind."""
    for n in range(300):
        records = [attempt(f"t{n}", f"{n}.{k}", 1.0, "x" * 200_000) for k in range(2)]
        (pool / f"more{n}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    process = subprocess.Popen(
        [sys.executable, "-m", "bestofn", "select", "-p", str(pool)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    copies = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not copies.exists():
        process.kill()
        pytest.skip("needs a kernel that lists the children of a process")
    while process.poll() is None and not copies.read_text().strip():
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint.strip() == "interrupted"
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_a_narrow_locale_shows_numbers_for_characters(tmp_path: Path) -> None:
    """Names beyond ASCII do not break a terminal that knows only ASCII."""
    (tmp_path / "t.jsonl").write_text(json.dumps(attempt("tâche", "один", 1.0)) + "\n")
    done = bestofn("select", "-p", str(tmp_path), "--csv", PYTHONUTF8="0", LC_ALL="C", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "t\\xe2che" in done.stdout


def test_a_name_cannot_forge_lines_of_the_output(tmp_path: Path) -> None:
    """Newlines in a task's name stay inside its cell."""
    forged = "zz\n\npolicy  all good\nresult  100.0% of picks pass"
    (tmp_path / "t.jsonl").write_text(json.dumps(attempt(forged, "one", 0.0)) + "\n")
    done = bestofn("select", "-p", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert sum(line.startswith(("policy", "result")) for line in done.stdout.splitlines()) == 2
    assert "100.0%" not in done.stdout.splitlines()[-1]


def test_rewards_beyond_0_to_1_ask_for_a_bar(tmp_path: Path) -> None:
    """`select` refuses them like `evaluate`, and --pass-at makes passes and fails of them."""
    records = [attempt("t", "one", 5.0, "a"), attempt("t", "two", -1.0, "bb")]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    refused = bestofn("select", "-p", str(tmp_path))
    assert refused.returncode == 2
    assert "--pass-at" in refused.stderr
    done = bestofn("select", "-p", str(tmp_path), "--pass-at", "4", "--json")
    assert json.loads(done.stdout)["summary"]["oracle"] == 1.0


def test_nothing_to_learn_is_no_fit(pool: Path, tmp_path: Path) -> None:
    """A fit needs a swing task, and pools that differ."""
    same = tmp_path / "same"
    same.mkdir()
    (same / "t.jsonl").write_text("".join(json.dumps(attempt("t", n, 1.0, n)) + "\n" for n in ("one", "two")))
    none = bestofn("fit", "-p", str(same), "-o", str(tmp_path / "s.toml"))
    assert none.returncode == 2
    assert "nothing to learn" in none.stderr
    twice = bestofn("fit", "-p", str(pool), "-p", f"{pool}/", "-o", str(tmp_path / "s.toml"))
    assert twice.returncode == 2
    assert not (tmp_path / "s.toml").exists()


def test_problems_are_counted_for_machines_and_named_on_request(pool: Path) -> None:
    """JSON has the counts, --problems names each one."""
    (pool / "d.jsonl").write_text("".join(json.dumps(attempt("d", n, None, n)) + "\n" for n in ("one", "two")))
    done = bestofn("select", "-p", str(pool), "--json", "--problems")
    assert json.loads(done.stdout)["summary"]["problems"] == {"unknown label": 2}
    assert done.stderr.count("unknown label") == 2


def test_a_filtered_selection_says_that_its_figures_are_of_the_whole(pool: Path) -> None:
    """With --task, the summary below is still that of the pool."""
    shown = bestofn("select", "-p", str(pool), "-t", "a").stdout
    assert "shown   1 of 3 tasks; the rest of this is of the whole pool" in shown
