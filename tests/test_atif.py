"""ATIF trajectories, bare and wrapped, of the harnesses that are known to write them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from recordings import pooled, single, survives, texts, written

from bestofn.readers import atif
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.trajectory import Actor, Command, Coverage, EndingState, LabelKind, Observation, Step, Usage

GOLD = "GOLD-1234"


def call(tool: str, arguments: Any, call_id: str = "c1") -> dict[str, Any]:
    return {"tool_call_id": call_id, "function_name": tool, "arguments": arguments}


def turn(message: str = "", *calls: dict[str, Any], results: Any = None, **fields: Any) -> dict[str, Any]:
    """A step of the agent."""
    step: dict[str, Any] = {"step_id": 2, "source": "agent", "message": message, **fields}
    if calls:
        step["tool_calls"] = list(calls)
    if results is not None:
        step["observation"] = {"results": results}
    return step


def trajectory(*steps: dict[str, Any], agent: str = "my-agent", **fields: Any) -> dict[str, Any]:
    asked = {"step_id": 1, "source": "user", "message": "Make f.txt."}
    return {"schema_version": "ATIF-v1.6", "agent": {"name": agent, "version": "1"}, "steps": [asked, *steps], **fields}


def wrapped(inner: Any, **fields: Any) -> dict[str, Any]:
    return {
        "trial_id": "7f",
        "trial_name": "make-f__Ab1",
        "task_name": "make-f",
        "reward": 1,
        "n_input_tokens": None,
        "duration_seconds": 12.5,
        "cost_cents": 25,
        "trajectory": inner,
        **fields,
    }


LS = turn("I look.", call("bash", {"command": "ls"}), results=[{"source_call_id": "c1", "content": "a.c\n"}])
PLAIN = trajectory(LS, turn("Done."))


def steps_of(tmp_path: Path, *steps: dict[str, Any], agent: str = "my-agent", **fields: Any) -> list[Step]:
    """The steps of a file after the user's."""
    return list(single(written(tmp_path / "t.json", trajectory(*steps, agent=agent, **fields))).steps[1:])


def test_a_wrapped_trajectory_has_names_label_and_usage_of_its_wrapper(tmp_path: Path) -> None:
    """Task, id, label and totals come from the record around the trajectory, the text from inside it."""
    written(tmp_path / "make-f" / "make-f__Ab1_trajectory.json", wrapped(PLAIN))
    found = single(tmp_path)
    assert (found.task, found.id, found.instruction) == ("make-f", "make-f__Ab1", "Make f.txt.")
    assert found.label.kind is LabelKind.PASS
    assert found.usage == Usage(cost_usd=0.25, seconds=12.5)
    assert found.origin.path == "make-f/make-f__Ab1_trajectory.json"
    assert found.steps == (
        Step(Actor.USER, "Make f.txt."),
        Step(Actor.AGENT, "I look.", "", (Command("ls", "bash", {"command": "ls"}),), (Observation("a.c\n", 0),)),
        Step(Actor.AGENT, "Done."),
    )


def test_a_bare_trajectory_has_no_label(tmp_path: Path) -> None:
    """Its task is the folder, or what stands before `__` in the folder's name."""
    written(tmp_path / "make-f__Ab1" / "trajectory.json", PLAIN)
    written(tmp_path / "other" / "run1.json", trajectory(turn("No.")))
    attempts, problems = pooled(tmp_path)
    assert [(t.task, t.id) for t in attempts] == [("make-f", "make-f__Ab1/trajectory"), ("other", "run1")]
    assert {problem.kind for problem in problems} == {ProblemKind.UNKNOWN_LABEL}
    assert attempts[0].label.reason == "a bare trajectory holds no label"


@pytest.mark.parametrize(
    ("reward", "kind"),
    [(1, LabelKind.PASS), (0.0, LabelKind.FAIL), (0.5, LabelKind.SCORE), ("1.0", LabelKind.PASS), (None, None),
     ("", None), ([1], None), (float("nan"), None)],
)  # fmt: skip
def test_a_reward_that_is_no_number_is_an_unknown_label(tmp_path: Path, reward: Any, kind: LabelKind | None) -> None:
    """A missing or broken reward never becomes 0."""
    written(tmp_path / "a_trajectory.json", wrapped(PLAIN, reward=reward))
    assert single(tmp_path).label.kind is (kind or LabelKind.UNKNOWN)


def test_a_broken_trial_has_no_label(tmp_path: Path) -> None:
    """An exception beside the trajectory takes the reward away, a timeout of the agent leaves it."""
    broken = {"exception_type": "InternalServerError"}
    written(tmp_path / "a_trajectory.json", wrapped(PLAIN, exception_info=broken))
    written(tmp_path / "b_trajectory.json", wrapped(PLAIN, exception_info={"exception_type": "AgentTimeoutError"}))
    (a, b), _ = pooled(tmp_path)
    assert (a.label.reason, a.ending.state) == ("infra: InternalServerError", EndingState.CRASHED)
    assert (b.label.kind, b.ending.state) == (LabelKind.PASS, EndingState.TIMED_OUT)


def test_several_records_in_a_file_are_told_apart(tmp_path: Path) -> None:
    """A list, and JSON lines, hold one attempt a record; a record that is none is named."""
    records = [wrapped(PLAIN), wrapped(PLAIN, trial_name="make-f__Cd2", reward=0), {"x": 1}]
    written(tmp_path / "list.json", records)
    attempts, problems = pooled(tmp_path)
    assert [(t.id, t.origin.record) for t in attempts] == [("make-f__Ab1", 0), ("make-f__Cd2", 1)]
    assert problems == [
        Problem(
            ProblemKind.BAD_LINE,
            "list.json, record 2",
            "no ATIF trajectory: it has no list of steps beside an agent",
        )
    ]
    written(tmp_path / "lines" / "all.jsonl", records[:2])
    assert [t.label.value for t in pooled(tmp_path / "lines")[0]] == [1.0, 0.0]


def test_a_file_without_a_known_turn_is_a_problem_and_no_attempt(tmp_path: Path) -> None:
    """Steps of unknown sources are another format, never an empty attempt."""
    written(tmp_path / "a.json", {"agent": {}, "steps": [{"source": "robot", "message": "hi"}, 5]})
    attempts, problems = pooled(tmp_path)
    assert attempts == []
    assert problems == [Problem(ProblemKind.NO_TURNS, "a.json", "it has steps, but none with a known source")]


@pytest.mark.parametrize("inner", [None, {"agent": {"name": "x"}, "steps": []}])
def test_a_trial_without_steps_is_an_empty_attempt(tmp_path: Path, inner: Any) -> None:
    """The attempt exists with its label, and is named as empty."""
    written(tmp_path / "a_trajectory.json", wrapped(inner))
    attempts, problems = pooled(tmp_path)
    assert (attempts[0].label.kind, attempts[0].steps) == (LabelKind.PASS, ())
    assert [problem.kind for problem in problems] == [ProblemKind.EMPTY]


def test_the_harness_own_list_of_trials_is_passed_over(tmp_path: Path) -> None:
    """trials_metadata.json repeats the rewards and is neither an attempt nor a problem."""
    written(tmp_path / "a" / "a__1_trajectory.json", wrapped(PLAIN))
    written(tmp_path / "a" / "trials_metadata.json", [{"trialId": "7f", "trialName": "a__1", "reward": 1}])
    attempts, problems = pooled(tmp_path)
    assert len(attempts) == 1
    assert problems == []


def test_steps_keep_the_order_of_the_file(tmp_path: Path) -> None:
    """Timestamps that contradict the order are not followed, and give no duration."""
    times = ["2026-03-07T07:48:30Z", "07:48:38", "23:59:59", "2026-03-07T09:48:45"]
    steps = [turn(f"step {index}", timestamp=time, step_id=index) for index, time in enumerate(times)]
    found = single(written(tmp_path / "t.json", trajectory(*steps)))
    assert [step.message for step in found.agent_steps] == ["step 0", "step 1", "step 2", "step 3"]
    assert found.usage.seconds is None


def test_a_duration_needs_dates_that_never_run_backwards(tmp_path: Path) -> None:
    """Seconds from the first step to the last, unknown where a date is missing, naive among others, or earlier."""

    def seconds(*times: str | None) -> float | None:
        record = trajectory(*(turn("x", timestamp=time) for time in times[1:]))
        record["steps"][0]["timestamp"] = times[0]
        return single(written(tmp_path / "t.json", record)).usage.seconds

    assert seconds("2026-01-01T00:00:00Z", "2026-01-01T00:00:10+00:00") == 10
    assert seconds("2026-01-01T00:00:00Z", "2026-01-01T00:00:10") is None
    assert seconds("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", "2026-01-01T00:00:10Z") is None
    assert seconds("2026-01-01T00:00:00Z", None) is None


def test_results_without_an_id_meet_calls_by_position_only_if_their_numbers_agree(tmp_path: Path) -> None:
    """Two results for two calls are theirs; one for two belongs to neither; a missing one stays missing."""
    two = [call("bash", {"command": "a"}, "c1"), call("bash", {"command": "b"}, "c2")]
    by_place, shared, by_id, silent = steps_of(
        tmp_path,
        turn("", *two, results=[{"content": "A"}, {"content": "B"}]),
        turn("", *two, results=[{"content": "AB"}]),
        turn("", *two, results=[{"source_call_id": "c2", "content": "B"}, {"source_call_id": "zz", "content": "?"}]),
        turn("", *two, results=[{"source_call_id": "c1", "content": None}]),
    )
    assert by_place.observations == (Observation("A", 0), Observation("B", 1))
    assert shared.observations == (Observation("AB"),)
    assert by_id.observations == (Observation("B", 1), Observation("?"))
    assert silent.observations == ()


def test_copied_context_and_sub_agents_are_left_out(tmp_path: Path) -> None:
    """Steps that repeat an earlier part, or were a sub-agent's, are no turns of this attempt."""
    steps = steps_of(
        tmp_path,
        turn("old", is_copied_context=True),
        turn("side", extra={"is_sidechain": True}),
        turn("main", extra={"is_sidechain": False}),
    )
    assert [step.message for step in steps] == ["main"]


def test_continuations_are_joined(tmp_path: Path) -> None:
    """The parts that a trajectory refers to follow it; they and sub-agents' files are no attempts of their own."""
    first = trajectory(turn("one"), continued_trajectory_ref="trajectory.cont-1.json")
    second = trajectory(turn("one", is_copied_context=True), turn("two"), final_metrics={"total_prompt_tokens": 9})
    written(tmp_path / "t" / "trajectory.json", first)
    written(tmp_path / "t" / "trajectory.cont-1.json", second)
    written(tmp_path / "t" / "trajectory.summarization-1-summary.json", trajectory(turn("summary")))
    found = single(tmp_path)
    assert [step.message for step in found.agent_steps] == ["one", "two"]
    assert found.usage.input_tokens == 9


@pytest.mark.parametrize("reference", ["trajectory.cont-1.json", "../../etc/passwd", "\0", "trajectory.json"])
def test_a_continuation_that_is_not_there_is_named(tmp_path: Path, reference: str) -> None:
    """What is there is read; a reference out of the folder or in a circle leads nowhere."""
    written(tmp_path / "t" / "trajectory.json", trajectory(turn("one"), continued_trajectory_ref=reference))
    attempts, problems = pooled(tmp_path)
    assert [step.message for step in attempts[0].agent_steps] == ["one"]
    missing = [problem for problem in problems if problem.kind is ProblemKind.TRUNCATED]
    assert len(missing) == (1 if reference in ("trajectory.cont-1.json", "../../etc/passwd") else 0)


def test_images_and_numbers_of_tokens_never_become_text(tmp_path: Path) -> None:
    """An image leaves a placeholder; token ids and log-probabilities are not looked at."""
    image = {"type": "image", "source": {"media_type": "image/png", "path": "shot.png"}}
    step = turn("see", results=[{"content": [{"type": "text", "text": "shot:"}, image]}])
    step["metrics"] = {"completion_token_ids": [424242] * 3, "logprobs": [-0.5]}
    [found] = steps_of(tmp_path, step)
    assert found.observations == (Observation("shot:\n[image at shot.png]"),)
    assert "424242" not in repr(found)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"command": "make"}, "make"),
        ({"cmd": ["bash", "-lc", "make"]}, "make"),
        ({"keystrokes": "make\n", "duration": 1.0}, "make"),
        ({"code": "print(1)"}, "print(1)"),
        ({"path": "a.py", "content": "x"}, '{"path":"a.py","content":"x"}'),
        ('{"command": "make"}', "make"),
        ("plain", "plain"),
        (None, ""),
    ],
)
def test_a_command_is_the_shell_line_or_the_arguments(tmp_path: Path, arguments: Any, text: str) -> None:
    """What runs where the arguments hold it, else the arguments as recorded; no call is ever dropped."""
    [found] = steps_of(tmp_path, turn("", call("tool", arguments)))
    assert [command.text for command in found.commands] == [text]


def test_a_harness_own_naming_of_the_call_is_no_message(tmp_path: Path) -> None:
    """Nobody said what only repeats the call; a real message stays."""
    steps = steps_of(
        tmp_path,
        turn("Executed Bash c1", call("Bash", {"command": "ls"})),
        turn("Running command: ls", call("execute_bash", {"command": "ls", "is_input": "false"})),
        turn("Reading file: /a.py", call("str_replace_editor", {"command": "view", "path": "/a.py"})),
        turn("Executed it all", call("Bash", {"command": "ls"})),
    )
    assert [step.message for step in steps] == ["", "", "", "Executed it all"]


def test_a_message_repeated_as_reasoning_counts_once(tmp_path: Path) -> None:
    """A converter that writes one text into both channels doubles nothing."""
    [found] = steps_of(tmp_path, turn("I look.", call("bash", {"command": "ls"}), reasoning_content="I look."))
    assert (found.message, found.reasoning) == ("I look.", "")


def test_claude_code_outputs_lose_their_second_copy(tmp_path: Path) -> None:
    """The converter appends stdout and metadata to the output it repeats; a shell output without a code succeeded."""
    bash = call("Bash", {"command": "make"})
    copy_of = 'ok\n\n[stdout]\nok\n[metadata] {"noOutputExpected": false}'
    failed = "Exit code 2\nno rule\n\n[error] tool reported failure"
    read = call("Read", {"file_path": "/a.py"})
    good, bad, file = steps_of(
        tmp_path,
        turn("", bash, results=[{"source_call_id": "c1", "content": copy_of}]),
        turn("", bash, results=[{"source_call_id": "c1", "content": failed}]),
        turn("", read, results=[{"source_call_id": "c1", "content": "1 x"}]),
        agent="claude-code",
    )
    assert good.observations == (Observation("ok", 0, 0),)
    assert bad.observations == (Observation(failed, 0, 2),)
    assert file.observations == (Observation("1 x", 0, None),)


def test_mini_swe_agent_outputs_are_taken_apart(tmp_path: Path) -> None:
    """Return codes come out of the JSON; -1 with "action was not executed" is no code; the mark ends the run."""
    submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    not_run = {"returncode": -1, "output": "", "exception_info": "action was not executed"}
    record = trajectory(
        turn("T", call("bash", {"command": "x"}), results=[{"content": '{"returncode": 1, "output": "no"}'}]),
        turn("T", call("bash", {"command": submit}), results=[{"content": json.dumps(not_run)}]),
        agent="mini-swe-agent",
    )
    found = single(written(tmp_path / "t.json", record))
    first, last = found.agent_steps
    assert first.observations == (Observation("no", 0, 1),)
    assert [observation.exit_code for observation in last.observations] == [None]
    assert found.ending.state is EndingState.FINISHED
    assert found.coverage.exit_codes
    del record["steps"][-1]
    cut = single(written(tmp_path / "t.json", record))
    assert (cut.ending.state, cut.ending.reason) == (
        EndingState.UNFINISHED,
        "no COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT in the last turn",
    )


def test_a_converted_recording_that_cut_every_text_says_so(tmp_path: Path) -> None:
    """Cut texts, no messages and no end mark are unknown: lengths mean nothing, and unfinished is not guessed."""
    steps = [
        {
            "source": "agent",
            "tool_calls": [{"tool_name": "bash", "arguments": {"keystrokes": "cat a.txt...(+57 chars)"}}],
            "observation": {"results": [{"content": "abc...(+157 chars)"}]},
        }
    ]
    found = single(written(tmp_path / "t.json", {"schema_version": "capy-converted-1.0", "agent": {}, "steps": steps}))
    assert found.steps[0].commands[0].tool == "bash"
    assert found.steps[0].observations == (Observation("abc...(+157 chars)", 0, None, True),)
    assert found.coverage == Coverage(messages=False, whole_texts=False)
    assert (found.ending.state, found.ending.refused) == (EndingState.UNKNOWN, None)


LEAKS = wrapped(
    trajectory(
        LS,
        turn("Done.", extra={"score": GOLD}, metrics={"extra": {"reward": GOLD}}),
        notes=GOLD,
        extra={"reward": GOLD},
        final_metrics={"total_prompt_tokens": 5, "extra": {"reward": GOLD}},
        subagent_trajectories=[trajectory(turn(GOLD))],
    ),
    reward=GOLD,
    rewards={"reward": GOLD},
    verifier_result={"rewards": {GOLD: 1}},
    answer=GOLD,
    solution=GOLD,
    metadata={"gold": GOLD},
)


def test_nothing_beside_the_trajectory_reaches_a_channel(tmp_path: Path) -> None:
    """Sentinels in every field that is no turn are in no step, instruction, id or usage."""
    written(tmp_path / "make-f" / "a_trajectory.json", LEAKS)
    written(tmp_path / "make-f" / "trials_metadata.json", [{"trialName": GOLD, "reward": GOLD}])
    found = single(tmp_path)
    assert len(found.steps) == 3
    assert GOLD not in texts(found)


@pytest.mark.parametrize(
    "form",
    [
        wrapped(trajectory(LS, turn("Done.", reasoning_content="r"), final_metrics={"total_prompt_tokens": 5})),
        trajectory(
            turn("x", call("bash", {"keystrokes": "a"}), call("bash", {"keystrokes": "b"}), results=[{"content": "y"}]),
            agent="terminus-2",
            continued_trajectory_ref="trajectory.cont-1.json",
        ),
        trajectory(LS, agent="claude-code"),
        trajectory(LS, turn("```bash\nls\n```", results=[{"content": "x"}]), agent="mini-swe-agent"),
        trajectory(LS, turn("", call("finish", {"message": "m"})), agent="openhands"),
        trajectory(
            turn("Read a.c"), turn("Execute [/bin/sh] ls", call("execute_bash", {"command": "ls"})), agent="forge"
        ),
    ],
    ids=["wrapped", "terminus", "claude", "mini", "openhands", "forge"],
)
def test_every_wrong_type_anywhere_gives_an_attempt_or_a_problem(tmp_path: Path, form: dict[str, Any]) -> None:
    """Each value replaced by every other kind of value, and taken away: never another exception."""
    assert survives(atif, copy.deepcopy(form), tmp_path / "make-f__Ab1_trajectory.json") > 200


@pytest.mark.shared
def test_case_22_keeps_file_order_and_has_no_duration(shared: Path) -> None:
    """Mixed timestamps are neither sorted by nor turned into a duration; step ids may start at 0."""
    found = single(shared / "cases" / "22-atif-non-iso-and-mixed-timestamps")
    messages = [step.message for step in found.agent_steps]
    assert messages == ["Execute ls", "Wait", "Next day", "naive local", "no timestamp"]
    assert found.usage.seconds is None


@pytest.mark.shared
def test_forgecode_pool_reads_whole(shared: Path) -> None:
    """445 attempts, 46 of them without the end mark, no problem of any kind; reasoning and commands told apart."""
    attempts, problems = pooled(shared / "pools" / "tb2" / "forgecode")
    assert (len(attempts), len({t.task for t in attempts}), problems) == (445, 89, [])
    states = [t.ending.state for t in attempts]
    assert (states.count(EndingState.FINISHED), states.count(EndingState.UNFINISHED)) == (399, 46)
    tools = [command.tool for t in attempts for step in t.agent_steps for command in step.commands]
    assert (tools.count("execute_bash"), tools.count("read"), tools.count("write")) == (7326, 2568, 437)
    shell = [s for t in attempts for s in t.agent_steps if s.commands and s.commands[0].tool == "execute_bash"]
    assert sum(not step.observations for step in shell) == 486
    assert not any(
        step.message.startswith(("Execute [", "Initialize ", "Finished ")) for t in attempts for step in t.steps
    )
