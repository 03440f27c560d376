"""terminal-bench's classic runs: labels, endings, what the terminal holds of the agent, and nothing of the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings import damaged, pooled, single, texts, written

from bestofn.readers import terminal_bench
from bestofn.readers.draft import Draft, Source
from bestofn.readers.problem import ProblemKind
from bestofn.trajectory import Actor, Command, EndingState, LabelKind, Observation, Step, Usage

GOLD = "GOLD-1234"
PROMPT = "root@c0ffee:/app# "
RESULTS: dict[str, Any] = {
    "id": "7f",
    "trial_name": "make-f.1-of-2.run",
    "task_id": "make-f",
    "instruction": "Make f.txt.",
    "is_resolved": True,
    "failure_mode": "unset",
    "parser_results": {"test_f": "passed"},
    "total_input_tokens": 120,
    "total_output_tokens": 0,
    "agent_started_at": "2026-01-01T00:00:00+00:00",
    "agent_ended_at": "2026-01-01T00:01:30+00:00",
}
START = [["asciinema rec --stdin /logs/agent.cast", "Enter"], ["clear", "Enter"]]
TESTS = [
    ["asciinema rec --stdin /logs/tests.cast", "Enter"],
    ["clear", "Enter"],
    ["bash ", "/tests/run-tests.sh", "Enter"],
]
INSTALL = [
    ["source /installed-agent/setup-env.sh", "Enter"],
    ["source /installed-agent/install-agent.sh && echo 'INSTALL_SUCCESS'", "Enter"],
]


def trial(
    folder: Path, results: Any = RESULTS, *, commands: Any = (), pane: str = "", log: str = "", cast: Any = None
) -> Path:
    """A trial directory with what a run leaves in it."""
    if results is not None:
        written(folder / "results.json", results)
    written(folder / "commands.txt", "".join(f"{keys!r}\n" for keys in [*START, *commands, *TESTS]))
    written(folder / "panes" / "post-agent.txt", pane or f"{PROMPT}\n\n\n")
    if log:
        written(folder / "sessions" / "agent.log", log)
    if cast is not None:
        header = {"version": 2, "width": 80, "height": 24}
        written(folder / "sessions" / "agent.cast", "".join(json.dumps(line) + "\n" for line in [header, *cast]))
    return folder


def test_a_trial_is_one_attempt(tmp_path: Path) -> None:
    """Names, label, instruction and totals from results.json; a total of 0 tokens is not recorded."""
    trial(tmp_path / "run" / "make-f" / "make-f.1-of-2.run")
    written(tmp_path / "run" / "results.json", {"results": [RESULTS], "n_resolved": 1})
    written(tmp_path / "run" / "run_metadata.json", {"run_id": "run", "accuracy": 1.0})
    attempts, problems = pooled(tmp_path)
    [found] = attempts
    assert (found.task, found.id, found.instruction) == ("make-f", "make-f.1-of-2.run", "Make f.txt.")
    assert found.usage == Usage(input_tokens=120, seconds=90.0)
    assert found.label.kind is LabelKind.PASS
    assert [problem.kind for problem in problems] == [ProblemKind.EMPTY]


@pytest.mark.parametrize("place", ["ts/t/t.1-of-5", "a/b/run/t/t.2-of-2.run", "core:0.1.1/t/t.1-of-1.x"])
def test_runs_may_lie_at_any_depth(tmp_path: Path, place: str) -> None:
    """Nested run folders and names with a colon are entered like any other."""
    trial(tmp_path / place)
    assert single(tmp_path).origin.path == place


@pytest.mark.parametrize(
    ("resolved", "mode", "kind", "reason", "state"),
    [
        (True, "agent_timeout", LabelKind.PASS, "", EndingState.TIMED_OUT),
        (False, "unset", LabelKind.FAIL, "", EndingState.UNKNOWN),
        (False, "agent_installation_failed", LabelKind.FAIL, "", EndingState.CRASHED),
        (None, "parse_error", LabelKind.UNKNOWN, "parse_error", EndingState.UNKNOWN),
        (None, "test_timeout", LabelKind.UNKNOWN, "test_timeout", EndingState.UNKNOWN),
        (None, None, LabelKind.UNKNOWN, "no is_resolved", EndingState.UNKNOWN),
        (1, "unset", LabelKind.UNKNOWN, "unset", EndingState.UNKNOWN),
    ],
)
def test_label_and_ending(
    tmp_path: Path, resolved: Any, mode: Any, kind: LabelKind, reason: str, state: EndingState
) -> None:
    """null is unknown with the failure mode as its reason; only the agent's own failure modes are an ending."""
    trial(tmp_path / "t.1-of-1", {**RESULTS, "is_resolved": resolved, "failure_mode": mode})
    found = single(tmp_path)
    assert (found.label.kind, found.label.reason, found.ending.state) == (kind, reason, state)
    assert found.ending.reason in ("", "agent_timeout", "agent_installation_failed")


def test_a_trial_without_results_is_unfinished(tmp_path: Path) -> None:
    """Its recordings make it an attempt; its task comes from the folder's name."""
    trial(tmp_path / "make-f.3-of-5", None)
    found = single(tmp_path)
    assert (found.task, found.label.reason, found.ending.state) == ("make-f", "no results.json", EndingState.UNFINISHED)


def test_a_run_without_agent_content_has_no_step(tmp_path: Path) -> None:
    """What the harness types and prints in every run is nothing of the agent's."""
    log = (
        f"\x1b[?2004h{PROMPT}asciinema rec --stdin /logs/agent.cast\r\n"
        f"\x1b[0;32masciinema: recording\x1b[0m\r\n{PROMPT}clear\r\n\x1b[H\x1b[J\x1b[3J{PROMPT}\r\nexit\r\n"
    )
    cast = [
        [0.1, "o", PROMPT],
        [0.2, "i", "clear\r"],
        [0.3, "o", f"clear\r\n{PROMPT}"],
        [9.0, "i", "\x04"],
        [9.1, "o", "exit\r\n"],
    ]
    trial(tmp_path / "t.1-of-1", log=log, cast=cast)
    attempts, problems = pooled(tmp_path)
    assert attempts[0].steps == ()
    assert not attempts[0].coverage.commands
    assert [problem.kind for problem in problems] == [ProblemKind.EMPTY]


def test_typed_lines_and_their_output_come_from_the_cast(tmp_path: Path) -> None:
    """Each line that the agent typed is a step with what was printed until the next; the tests end the run."""
    cast = [
        [0.1, "o", PROMPT],
        [0.2, "i", "clear\r"],
        [0.3, "o", f"clear\r\n{PROMPT}"],
        [1.0, "i", "ls\r"],
        [1.1, "o", f"ls\r\na.c\r\n{PROMPT}"],
        [2.0, "i", "m"],
        [2.1, "o", "m"],
        [2.2, "i", "ake\r"],
        [2.3, "o", f"ake\r\n\x1b[31mno rule\x1b[m\r\n{PROMPT}"],
        [2.4, "i", "\x03"],
        [3.0, "i", "bash /tests/run-tests.sh; tmux wait -S done\r"],
        [3.1, "o", f"{GOLD}\r\n"],
        [4.0, "i", "echo later\r"],
    ]
    trial(tmp_path / "t.1-of-1", cast=cast, commands=[["ls", "Enter"], ["make", "Enter"]])
    found = single(tmp_path)
    assert found.steps == (
        Step(Actor.AGENT, commands=(Command("ls"),), observations=(Observation("ls\na.c", 0),)),
        Step(Actor.AGENT, commands=(Command("make"),), observations=(Observation("make\nno rule", 0),)),
    )
    assert (found.coverage.commands, found.coverage.messages, found.ending.refused) == (True, False, None)


def test_a_log_is_cut_where_the_tests_start(tmp_path: Path) -> None:
    """Some runs test in the agent's own session: all from the start of the tests on is left out."""
    log = f"{PROMPT}echo hi\r\nhi\r\n{PROMPT}bash /tests/run-tests.sh; tmux wait -S done\r\n{GOLD} FAILED\r\n"
    trial(tmp_path / "t.1-of-1", log=log, commands=[["echo hi", "Enter"]])
    [step] = single(tmp_path).steps
    assert step.commands == (Command("echo hi"),)
    assert step.observations == (Observation(f"{PROMPT}echo hi\nhi"),)


def test_a_log_alone_is_shown_as_the_terminal_left_it(tmp_path: Path) -> None:
    """Without a cast the log is the recording: redrawn lines hold what stood there last, in no other bytes."""
    raw = (
        f"\x1b[?2004h{PROMPT}make\r\n\x1b[?2004l\rWorking\rWorking.\rWorking..\rWorking... done\r\n"
        "\x1b]0;title\x07 10%\r 55%\r100%\r\n"
    ).encode() + b"caf\xe9\r\n"
    folder = trial(tmp_path / "t.1-of-1", log="x", commands=[["make", "Enter"]])
    (folder / "sessions" / "agent.log").write_bytes(raw)
    [step] = single(tmp_path).steps
    assert step.observations == (Observation(f"{PROMPT}make\nWorking... done\n100%\ncaf\ufffd"),)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("files", "line"),
    [(("agent.log",), "Working... done"), (("agent.cast",), "a.txt"), (("agent.cast", "agent.log"), "a.txt")],
)
def test_case_24_reads_as_on_a_screen(shared: Path, tmp_path: Path, files: tuple[str, ...], line: str) -> None:
    """Case 24: a log alone shows the redrawn line's last state; where there is a cast, that is the recording."""
    case = next((shared / "cases").glob("24-*"))
    folder = trial(tmp_path / "t.1-of-1", log="x")
    (folder / "sessions" / "agent.log").unlink()
    for file in files:
        (folder / "sessions" / file).write_bytes((case / file).read_bytes())
    shown = "\n".join(o.text for step in single(tmp_path).steps for o in step.observations)
    assert line in shown.split("\n")
    assert not {"\x1b", "\r", "\x07"} & set(shown)


def test_of_an_installed_agent_only_the_screen_is_the_agents(tmp_path: Path) -> None:
    """The harness installs and starts it, so that no line is the agent's; its screen begins behind the installation."""
    launch = "agent --task 'Make f.txt.'"
    pane = (
        f"{PROMPT}source /installed-agent/install-agent.sh && echo 'INSTALL_SUCCESS'; tmux wait -S done\n"
        f"Get:1 deb\nINSTALL_SUCCESS\n{PROMPT}{launch}; tmux wait -S done\nI made f.txt.\n{PROMPT}\n"
    )
    trial(tmp_path / "t.1-of-1", pane=pane, commands=[*INSTALL, [launch, "Enter"]])
    found = single(tmp_path)
    [step] = found.steps
    assert step.commands == ()
    assert step.observations == (Observation(f"{PROMPT}{launch}; tmux wait -S done\nI made f.txt."),)
    assert not found.coverage.commands


def test_nothing_of_the_tests_reaches_a_channel(tmp_path: Path) -> None:
    """Sentinels in the parser's results, the verdict's fields and all recordings of the tests reach nothing."""
    folder = trial(
        tmp_path / "t.1-of-1",
        {**RESULTS, "is_resolved": None, "failure_mode": GOLD, "parser_results": {GOLD: GOLD}, "score": GOLD},
        log=f"{PROMPT}ls\r\na.c\r\n{PROMPT}bash /tests/run-tests.sh\r\n{GOLD}\r\n",
        commands=[["ls", "Enter"]],
    )
    written(folder / "panes" / "post-test.txt", GOLD)
    written(folder / "sessions" / "tests.log", GOLD)
    written(folder / "sessions" / "tests.cast", GOLD)
    written(tmp_path / "results.json", {"results": [{"task_id": GOLD}]})
    found = single(tmp_path)
    assert len(found.steps) == 1
    assert found.label.reason == GOLD
    assert GOLD not in texts(found)


def test_every_wrong_type_in_the_results_gives_an_attempt(tmp_path: Path) -> None:
    """Each value of results.json replaced by every other kind of value, and taken away."""
    folder = trial(tmp_path / "make-f.1-of-2", log=f"{PROMPT}ls\r\na.c\r\n")
    for place, form in damaged(RESULTS):
        written(folder / "results.json", form if not isinstance(form, str) else json.dumps(form))
        drafts = [one for one in terminal_bench.read_directory(Source(folder, tmp_path)) if isinstance(one, Draft)]
        assert len(drafts) == 1, place
        assert drafts[0].task, place
        assert drafts[0].name, place


@pytest.mark.parametrize("damage", ["not a list", "['unclosed", "[" * 5000, "5", "", "\x00\xff"])
def test_commands_that_are_no_lists_of_keys_are_left_out(tmp_path: Path, damage: str) -> None:
    """A broken line of commands.txt takes nothing else away."""
    folder = trial(tmp_path / "t.1-of-1", log=f"{PROMPT}ls\r\na.c\r\n")
    written(folder / "commands.txt", f"{damage}\n['ls', 'Enter']\n")
    assert single(tmp_path).steps[0].commands == (Command("ls"),)


@pytest.mark.shared
def test_case_25_null_is_unknown_and_a_timeout_may_pass(shared: Path) -> None:
    """parse_error leaves no label; agent_timeout with true is a pass; the run's own results.json is no trial."""
    attempts, _ = pooled(shared / "cases" / "25-tb-classic-null-label")
    assert [(t.label.kind, t.label.reason, t.ending.state) for t in attempts] == [
        (LabelKind.UNKNOWN, "parse_error", EndingState.UNKNOWN),
        (LabelKind.PASS, "", EndingState.TIMED_OUT),
    ]


@pytest.mark.shared
def test_the_orchestrator_pool_holds_labels_only(shared: Path) -> None:
    """All 392 attempts are read and named as empty, ten of whose logs hold the tests' own output."""
    attempts, problems = pooled(shared / "pools" / "tbcore" / "orchestrator-qwen3")
    assert (len(attempts), len({t.task for t in attempts})) == (392, 80)
    assert not any(t.steps for t in attempts)
    kinds = [problem.kind for problem in problems]
    assert (kinds.count(ProblemKind.EMPTY), kinds.count(ProblemKind.UNKNOWN_LABEL), len(kinds)) == (392, 34, 426)
    assert sum(t.ending.state is EndingState.TIMED_OUT for t in attempts) == 172


@pytest.mark.shared
def test_real_samples_give_what_they_record(shared: Path) -> None:
    """One agent's screen is read from its start on, another prints its turns, the orchestrator's holds nothing."""
    attempts, _ = pooled(shared / "samples" / "terminal-bench-classic")
    openhands, orchestrator, mini = sorted(attempts, key=lambda attempt: attempt.origin.path)
    assert "AgentState.RUNNING to AgentState.FINISHED" in openhands.steps[0].observations[0].text
    assert orchestrator.steps == ()
    assert [command.text for step in mini.steps for command in step.commands] == [
        'echo "Hello, world!" > hello.txt',
        "cat hello.txt",
        "ls -la hello.txt",
        "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
    ]
    assert mini.coverage.exit_codes
    whole = repr([attempt.steps for attempt in attempts])
    assert not any(word in whole for word in ("INSTALL_SUCCESS", "test_hello_file", "run-tests"))
