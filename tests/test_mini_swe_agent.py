"""mini-swe-agent's trajectories of both versions, bare lists of messages, and labels from a report beside them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from recordings import pooled, single, survives, texts, written

from bestofn.readers import mini_swe_agent
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.trajectory import Actor, Command, EndingState, LabelKind, Observation, Step, Usage

GOLD = "GOLD-1234"
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
TASK = (
    "<pr_description>\nConsider the following PR description:\nAdd a colon.\n</pr_description>\n\n"
    f"To finish, run `{SUBMIT}`."
)


def said(text: str, command: str, fence: str = "bash") -> dict[str, Any]:
    """A turn of version 1: a thought and a block."""
    return {"role": "assistant", "content": f"THOUGHT: {text}\n\n```{fence}\n{command}\n```"}


def shown(output: str, code: int = 0) -> dict[str, Any]:
    """An output of version 1."""
    return {"role": "user", "content": f"<returncode>{code}</returncode>\n<output>\n{output}</output>"}


START = [{"role": "system", "content": "You work in a shell."}, {"role": "user", "content": TASK}]
V1: list[dict[str, Any]] = [
    *START,
    said("look", "ls"),
    shown("a.py\n"),
    said("run", "python a.py"),
    shown("SyntaxError\n", 1),
    said("hand in", SUBMIT),
    {"role": "user", "content": "diff --git a/a.py"},
]


def called(*commands: str, text: str = "I go on.", first_id: int = 0) -> dict[str, Any]:
    """A turn of version 2: tool calls, and the actions made of them."""
    ids = [f"c{first_id + index}" for index in range(len(commands))]
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [
            {"id": i, "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": c})}}
            for i, c in zip(ids, commands, strict=True)
        ],
        "extra": {
            "actions": [{"command": c, "tool_call_id": i} for i, c in zip(ids, commands, strict=True)],
            "response": {
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 60}}
            },
            "cost": 0.01,
        },
    }


def result(call_id: str, output: str, code: int = 0, exception: str = "") -> dict[str, Any]:
    """An output of version 2."""
    broke = f"<exception>{exception}</exception>\n" if exception else ""
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "content": f"{broke}<returncode>{code}</returncode>\n<output>\n{output}</output>",
        "extra": {"raw_output": output, "returncode": code, "exception_info": exception},
    }


V2: dict[str, Any] = {
    "info": {
        "model_stats": {"instance_cost": 0.25, "api_calls": 2},
        "config": {"agent": {"step_limit": 250}},
        "mini_version": "2.3.0",
        "exit_status": "Submitted",
        "submission": "diff --git a/a.py\n",
    },
    "messages": [
        *START,
        called("ls", "cat a.py"),
        result("c0", "a.py\n"),
        result("c1", "cat: a.py: denied\n", 1),
        called(SUBMIT, first_id=2),
        {
            "role": "exit",
            "content": "diff --git a/a.py\n",
            "extra": {"exit_status": "Submitted", "submission": "diff --git a/a.py\n"},
        },
    ],
    "trajectory_format": "mini-swe-agent-1.1",
    "instance_id": "org__repo-1",
}


def changed(**info: Any) -> dict[str, Any]:
    """A version 2 record with another `info`."""
    record = copy.deepcopy(V2)
    record["info"].update(info)
    return record


def read(tmp_path: Path, value: Any) -> Any:
    """The attempt of a file."""
    return single(written(tmp_path / "org__repo-1.traj.json", value))


def test_version_2(tmp_path: Path) -> None:
    """Calls have their outputs and return codes; the submission is what the submitting command gave."""
    attempt = read(tmp_path, V2)
    assert attempt.steps[2:] == (
        Step(
            Actor.AGENT,
            "I go on.",
            commands=(Command("ls", "bash", {"command": "ls"}), Command("cat a.py", "bash", {"command": "cat a.py"})),
            observations=(Observation("a.py", 0, 0), Observation("cat: a.py: denied", 1, 1)),
        ),
        Step(
            Actor.AGENT,
            "I go on.",
            commands=(Command(SUBMIT, "bash", {"command": SUBMIT}),),
            observations=(Observation("diff --git a/a.py\n", 0),),
        ),
    )
    assert [step.actor for step in attempt.steps[:2]] == [Actor.SYSTEM, Actor.USER]
    assert (attempt.task, attempt.id, attempt.instruction) == ("org__repo-1", "org__repo-1", "Add a colon.")
    assert attempt.ending.state is EndingState.FINISHED
    assert attempt.usage == Usage(200, 20, 120, 0.25)
    assert attempt.label.kind is LabelKind.UNKNOWN


def test_version_1_and_its_bare_messages(tmp_path: Path) -> None:
    """The one block of a message is the command, the user's next message its output; a bare list gives the same."""
    attempt = read(tmp_path, {"info": {"exit_status": "Submitted", "submission": "diff --git a/a.py"}, "messages": V1})
    assert attempt.steps[2:] == (
        Step(Actor.AGENT, "THOUGHT: look", commands=(Command("ls"),), observations=(Observation("a.py", 0, 0),)),
        Step(
            Actor.AGENT,
            "THOUGHT: run",
            commands=(Command("python a.py"),),
            observations=(Observation("SyntaxError", 0, 1),),
        ),
        Step(
            Actor.AGENT,
            "THOUGHT: hand in",
            commands=(Command(SUBMIT),),
            observations=(Observation("diff --git a/a.py", 0),),
        ),
    )
    bare = single(written(tmp_path / "bare" / "x.traj.json", V1))
    assert bare.steps == attempt.steps
    assert bare.ending.state is EndingState.FINISHED
    assert bare.origin.format == "mini-swe-agent"


def test_its_own_fence_makes_others_prose(tmp_path: Path) -> None:
    """Where blocks are marked with the harness's own name, a bash block is only shown."""
    own = said("as `ls` in\n```bash\nls\n```\nshows", "pwd", "mswea_bash_command")
    step = read(tmp_path, [*START, own, shown("/\n"), said("hand in", SUBMIT, "mswea_bash_command")]).steps[2]
    assert [command.text for command in step.commands] == ["pwd"]
    assert "```bash" in step.message


def test_a_message_without_exactly_one_block_ran_nothing(tmp_path: Path) -> None:
    """Several blocks without an output are a format error, which the harness answers as the system."""
    two = {"role": "assistant", "content": "```bash\nls\n```\nor\n```bash\npwd\n```"}
    complaint = {"role": "user", "content": "Please always provide EXACTLY ONE action in triple backticks."}
    marked = {"role": "user", "content": "One action, please.", "extra": {"interrupt_type": "FormatError"}}
    steps = read(tmp_path, [*START, two, complaint, two, marked, said("hand in", SUBMIT)]).steps
    assert [step.actor for step in steps[2:6]] == [Actor.AGENT, Actor.SYSTEM, Actor.AGENT, Actor.SYSTEM]
    assert steps[2].commands == ()
    assert "pwd" in steps[2].message


def test_whole_responses_are_turns(tmp_path: Path) -> None:
    """Turns recorded as objects of the Responses interface have their text, thought, calls and outputs."""
    response = {
        "object": "response",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "f1", "name": "bash", "arguments": '{"command": "ls"}'},
        ],
        "usage": {"input_tokens": 7, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 2}},
        "extra": {"actions": [{"command": "ls", "tool_call_id": "f1"}]},
    }
    output = {"type": "function_call_output", "call_id": "f1", "output": "a.py", "extra": {"returncode": 0}}
    attempt = read(tmp_path, {**V2, "messages": [*START, response, output]})
    assert attempt.steps[2] == Step(
        Actor.AGENT,
        "I look.",
        "hm",
        (Command("ls", "bash", {"command": "ls"}),),
        (Observation("a.py", 0, 0),),
    )
    assert attempt.usage == Usage(7, 3, 2, 0.25)


@pytest.mark.parametrize(
    ("content", "text", "code", "cut"),
    [
        ('{"returncode": 2, "output": "no\\n"}', "no\n", 2, False),
        (
            '{"returncode": 0, "output_head": "a", "output_tail": "z", "elided_chars": 90, "warning": "Long."}',
            "a\n[90 characters not recorded]\nz",
            0,
            True,
        ),
        (
            "<returncode>0</returncode>\n<warning>\nToo long.\n</warning><output_head>\na\n</output_head>\n"
            "<elided_chars>\n90 characters elided\n</elided_chars>\n<output_tail>\nz\n</output_tail>",
            "a\n[90 characters not recorded]\nz",
            0,
            True,
        ),
        (
            "<exception>timed out after 60 s</exception>\n<returncode>-1</returncode>\n<output>\n</output>",
            "timed out after 60 s",
            -1,
            False,
        ),
        (
            "<exception>action was not executed</exception>\n<returncode>-1</returncode>\n<output>\n</output>",
            "action was not executed",
            None,
            False,
        ),
        (
            '{"returncode": -1, "output": "", "exception_info": "action was not executed"}',
            "action was not executed",
            None,
            False,
        ),
        ("The last command <command>sleep 99</command> timed out and has been killed.", None, None, False),
        (
            "<returncode>0</returncode>\n<output>\n<output>nested</output>\n</output>",
            "<output>nested</output>",
            0,
            False,
        ),
        ("<returncode>0</returncode>\n<output>\n[exit code 3]\n</output>", "[exit code 3]", 0, False),
    ],
)
def test_forms_of_outputs(tmp_path: Path, content: str, text: str | None, code: int | None, cut: bool) -> None:
    """Tags and JSON are taken off; a command that was not run has no return code, a killed one keeps its words."""
    messages = [*START, said("go", "x"), {"role": "user", "content": content}, said("hand in", SUBMIT)]
    observation = read(tmp_path, messages).steps[2].observations[0]
    assert observation == Observation(content if text is None else text, 0, code, cut)


def test_a_long_output_that_the_model_saw_cut_leaves_lengths_known(tmp_path: Path) -> None:
    """Only the recording's own cuts make lengths unknown; here the model was shown no more."""
    assert read(
        tmp_path,
        [
            *START,
            said("go", "x"),
            {"role": "user", "content": '{"returncode": 0, "output_head": "a", "output_tail": "z"}'},
        ],
    ).coverage.whole_texts


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("Submitted", EndingState.FINISHED),
        ("submitted", EndingState.FINISHED),
        ("LimitsExceeded", EndingState.TIMED_OUT),
        ("TimeExceeded", EndingState.TIMED_OUT),
        ("RateLimitError", EndingState.CRASHED),
        ("", EndingState.FINISHED),
        (None, EndingState.FINISHED),
    ],
)
def test_endings(tmp_path: Path, status: Any, state: EndingState) -> None:
    """The exit status tells; without one the last command does."""
    record = changed(exit_status=status)
    record["messages"][-1]["extra"]["exit_status"] = status
    assert read(tmp_path, record).ending.state is state


def test_a_run_without_status_that_does_not_submit_is_unfinished(tmp_path: Path) -> None:
    """Every finished run submits."""
    record = changed(exit_status="")
    record["messages"] = record["messages"][:5]
    assert read(tmp_path, record).ending.state is EndingState.UNFINISHED


def test_the_status_of_the_exit_message_counts_too(tmp_path: Path) -> None:
    """A crash told by the last message alone is a crash, with its words, and no output of a command."""
    record = changed(exit_status="")
    record["messages"][-1] = {"role": "exit", "content": "no answer\nat all", "extra": {"exit_status": "APIError"}}
    attempt = read(tmp_path, record)
    assert (attempt.ending.state, attempt.ending.reason) == (EndingState.CRASHED, "APIError: no answer")
    assert "at all" not in repr(attempt.steps)


def test_a_crash_before_the_first_turn_is_an_empty_recording(tmp_path: Path) -> None:
    """No messages make an attempt without turns, named with the exit status."""
    record = {
        "info": {"exit_status": "CalledProcessError", "submission": ""},
        "instance_id": "org__repo-1",
        "messages": [],
    }
    attempts, problems = pooled(written(tmp_path / "a.traj.json", record))
    assert attempts[0].ending.state is EndingState.CRASHED
    assert problems[-1].kind is ProblemKind.EMPTY
    assert "CalledProcessError" in problems[-1].what


@pytest.mark.parametrize(
    ("place", "task"),
    [
        ("org__repo-7.traj.json", "org__repo-7"),
        ("run1/org__repo-7.traj.json", "org__repo-7"),
        ("run1/org__repo-7/org__repo-7.traj.json", "org__repo-7"),
        ("org__repo-7/attempt_2.traj.json", "org__repo-7"),
        ("fix-build/3.traj.json", "fix-build"),
        ("trajectory.traj.json", "trajectory"),
    ],
)
def test_the_task_of_a_record_without_an_instance(tmp_path: Path, place: str, task: str) -> None:
    """The file's name is the task, or its folder's where the file's says nothing."""
    written(tmp_path / place, V1)
    assert single(tmp_path).task == task


def test_labels_come_from_the_report_beside_the_recordings(tmp_path: Path) -> None:
    """Resolved is a pass, unresolved a fail, an error unknown, and an instance that no list has is unknown."""
    for number in range(1, 5):
        name = f"org__repo-{number}"
        written(tmp_path / "pool" / name / f"{name}.traj.json", {**V2, "instance_id": name})
    report = {
        "resolved_ids": ["org__repo-1"],
        "unresolved_ids": ["org__repo-2"],
        "error_ids": ["org__repo-3"],
        "completed_ids": ["org__repo-1", "org__repo-2"],
    }
    written(tmp_path / "pool" / "results.json", report)
    written(tmp_path / "pool" / "preds.json", {"org__repo-1": {"instance_id": "org__repo-1", "model_patch": GOLD}})
    attempts, problems = pooled(tmp_path / "pool")
    assert [attempt.label.kind.value for attempt in attempts] == ["pass", "fail", "unknown", "unknown"]
    assert attempts[2].label.reason == "the evaluation ended as 'error'"
    assert {problem.kind for problem in problems} == {ProblemKind.UNKNOWN_LABEL}
    assert GOLD not in "".join(map(texts, attempts))


def test_no_check_and_no_report_reaches_anything(tmp_path: Path) -> None:
    """Nothing else of `info`, of extras or of unknown keys stands in any text; with another label all stays equal."""
    record = changed(patch_repair={"trace": GOLD}, gold_patch=GOLD, resolved=True, config={"answer": GOLD})
    record.update(report=GOLD, resolved=GOLD, gold=GOLD, test_patch=GOLD)
    for message in record["messages"]:
        message["extra"] = {**message.get("extra", {}), "verdict": GOLD, "score": GOLD}
    attempts = {}
    for verdict in ("resolved", "unresolved"):
        folder = tmp_path / verdict
        written(folder / "report.json", {"resolved_ids": [], "unresolved_ids": [], f"{verdict}_ids": ["org__repo-1"]})
        written(folder / "org__repo-1.traj.json", record)
        attempts[verdict] = single(folder)
    assert attempts["resolved"].label.value == 1.0
    assert attempts["unresolved"].label.value == 0.0
    assert texts(attempts["resolved"]) == texts(attempts["unresolved"])
    assert GOLD not in texts(attempts["resolved"])


def test_messages_that_are_none_are_an_error(tmp_path: Path) -> None:
    """A record whose messages are none gives an error and no attempt; single ones are named and left out."""
    written(tmp_path / "a.traj.json", {**V2, "messages": [{"speaker": "x"}]})
    written(tmp_path / "b.traj.json", {**V2, "messages": [*V2["messages"], 7]})
    attempts, problems = pooled(tmp_path)
    assert len(attempts) == 1
    assert problems[:2] == [
        Problem(ProblemKind.NO_TURNS, "a.traj.json", "none of its messages has a role and a content"),
        Problem(ProblemKind.BAD_LINE, "b.traj.json", "1 items of its messages are no messages, left out"),
    ]


@pytest.mark.parametrize(
    "foreign",
    [
        [{"role": "user", "content": "weather?"}, {"role": "assistant", "content": "cold"}],
        {"environment": "e", "trajectory": [], "history": [], "info": {"exit_status": "submitted", "submission": ""}},
        {"info": {"id": "ses"}, "messages": [{"info": {"role": "user"}, "parts": []}]},
        {"task": "t", "messages": [{"role": "user", "content": "hi"}]},
        {"resolved_ids": ["a"]},
        7,
    ],
)
def test_other_formats_are_not_claimed(tmp_path: Path, foreign: Any) -> None:
    """Plain chat, SWE-agent's and OpenCode's files, and reports are no trajectories of this harness."""
    from bestofn.readers.document import load_document

    assert not mini_swe_agent.claims(load_document(written(tmp_path / "a.json", foreign)))


@pytest.mark.parametrize("form", [V2, V1, {"info": {"exit_status": "x"}, "messages": V1}, [V2]])
def test_damaged_records_give_an_attempt_or_a_problem(tmp_path: Path, form: Any) -> None:
    """Whatever stands in any place of a record, or is missing there, reading it does not fail."""
    assert survives(mini_swe_agent, form, tmp_path / "org__repo-1.traj.json") > 200


@pytest.mark.shared
def test_the_samples_are_read(shared: Path) -> None:
    """Every command of the samples has its output, and both runs submit."""
    attempts, problems = pooled(shared / "samples" / "mini-swe-agent")
    assert [attempt.id for attempt in attempts] == ["github_issue", "local"]
    assert {problem.kind for problem in problems} == {ProblemKind.UNKNOWN_LABEL}
    for attempt in attempts:
        assert attempt.ending.state is EndingState.FINISHED
        for step in attempt.agent_steps:
            assert (len(step.commands), len(step.observations)) == (1, 1)
