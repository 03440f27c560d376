"""The runs of the MAST collection: AG2 chats with inverted roles, peer review, and two kinds of logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings import pooled, single, survives, texts, written

from bestofn.featurize.answer import final_answer
from bestofn.readers import ag2
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.trajectory import Actor, Command, EndingState, LabelKind, Observation, Step

GOLD = "GOLD-1234"
PROBLEM = "A pen costs 3 coins. What do 4 pens cost?"
OTHER = {"correct": True, "answer": GOLD, "given": GOLD, "seed_question": GOLD, "seed_solution": f"#### {GOLD}"}
NOTE = {"text": [GOLD], "options": {"Step repetition": GOLD}}


def say(name: str, *lines: str, role: str = "user") -> dict[str, Any]:
    """An entry of a trajectory."""
    return {"content": list(lines), "role": role, "name": name}


CODE = say("Agent_Code_Executor", "I compute it.", "```python", "print(3 * 4)", "```", "Let us see.")
GROUP = [
    say("Agent_Verifier", PROBLEM, role="assistant"),
    say("chat_manager", "Hello everyone. In attendance are:", "Agent_Code_Executor"),
    say("Agent_Problem_Solver", "Multiply 3 by 4."),
    CODE,
    say("Agent_Verifier", "exitcode: 0 (execution succeeded)", "Code output: 12", "", role="assistant"),
    say("Agent_Verifier", "Both agree.", "SOLUTION_FOUND: 12", role="assistant"),
]
MATH = [
    say("mathproxyagent", "Let's use Python.", "Problem:", PROBLEM, role="assistant"),
    say("assistant", "First I think."),
    say("mathproxyagent", "Continue. Please keep solving the problem until you need to query.", role="assistant"),
    say("assistant", "```python", "print(3 * 4)", "```"),
    say("mathproxyagent", "12", role="assistant"),
    say("assistant", "The answer is \\boxed{12}."),
]


def record(trajectory: Any, **more: Any) -> dict[str, Any]:
    return {
        "instance_id": "i-1",
        "problem_statement": [PROBLEM],
        "other_data": OTHER,
        "trajectory": trajectory,
        "note": NOTE,
        **more,
    }


def read(tmp_path: Path, trajectory: Any, **more: Any) -> Any:
    """The attempt of a record with this trajectory."""
    return single(written(tmp_path / "i-1.json", record(trajectory, **more)))


def test_a_group_chat(tmp_path: Path) -> None:
    """The one who poses the problem is the user, the manager the system; code and its execution are one step."""
    attempt = read(tmp_path, GROUP)
    code = Command("print(3 * 4)", "python")
    assert attempt.steps == (
        Step(Actor.USER, PROBLEM, name="Agent_Verifier"),
        Step(Actor.SYSTEM, "Hello everyone. In attendance are:\nAgent_Code_Executor", name="chat_manager"),
        Step(Actor.AGENT, "Multiply 3 by 4.", name="Agent_Problem_Solver"),
        Step(
            Actor.AGENT,
            "I compute it.\nLet us see.",
            commands=(code,),
            observations=(Observation("12\n", 0, 0),),
            name="Agent_Code_Executor",
        ),
        Step(Actor.AGENT, "Both agree.\nSOLUTION_FOUND: 12", name="Agent_Verifier"),
    )
    assert attempt.instruction == PROBLEM
    assert attempt.task == "i-1"
    assert attempt.label.kind is LabelKind.PASS
    assert attempt.ending.state is EndingState.FINISHED
    assert attempt.coverage.exit_codes
    assert final_answer(attempt.steps) == "12"


def test_a_proxy_that_runs_code(tmp_path: Path) -> None:
    """What the proxy says after code is its output, what it says to go on is the user's; the model is the agent."""
    attempt = read(tmp_path, MATH)
    assert [(step.actor, step.name) for step in attempt.steps] == [
        (Actor.USER, "mathproxyagent"),
        (Actor.AGENT, "assistant"),
        (Actor.USER, "mathproxyagent"),
        (Actor.AGENT, "assistant"),
        (Actor.AGENT, "assistant"),
    ]
    assert attempt.steps[3].commands == (Command("print(3 * 4)", "python"),)
    assert attempt.steps[3].observations == (Observation("12", 0),)
    assert not attempt.coverage.exit_codes
    assert final_answer(attempt.steps) == "12"


def test_an_execution_without_code_is_words(tmp_path: Path) -> None:
    """A model that only plays an execution, with no code before it, has said so and run nothing."""
    talk = [*GROUP[:3], say("Agent_Verifier", "exitcode: 0 (execution succeeded)", "Code output: 12", role="assistant")]
    last = read(tmp_path, talk).steps[-1]
    assert (last.actor, last.observations) == (Actor.AGENT, ())
    assert last.message.startswith("exitcode: 0")


def test_a_failing_execution_has_its_code(tmp_path: Path) -> None:
    """The exit code is the reported one; of several blocks none is said to be the one that failed."""
    two = say("Agent_Code_Executor", "```python", "a = 1", "```", "and", "``` Python", "b", "```")
    failed = say("Agent_Verifier", "exitcode: 1 (execution failed)", "Code output: NameError: b", role="assistant")
    step = read(tmp_path, [*GROUP[:3], two, failed]).steps[-1]
    assert step.commands == (Command("a = 1", "python"), Command("b", "python"))
    assert step.observations == (Observation("NameError: b", None, 1),)
    assert step.message == "and"


def test_blocks_without_a_language_are_code_where_they_were_run(tmp_path: Path) -> None:
    """A bare block is a command if an execution follows, else it stays in the message."""
    bare = say("Agent_Code_Executor", "```", "print(12)", "```")
    assert read(tmp_path, [*GROUP[:3], bare, GROUP[4]]).steps[-1].commands == (Command("print(12)", "python"),)
    assert read(tmp_path, [*GROUP[:3], bare, GROUP[5]]).steps[-2].commands == ()


@pytest.mark.parametrize(
    ("trajectory", "state"),
    [
        (GROUP, EndingState.FINISHED),
        (GROUP[:5], EndingState.UNFINISHED),
        (MATH, EndingState.FINISHED),
        (MATH[:5], EndingState.UNFINISHED),
        ([say("user", PROBLEM), say("solver", "12. TERMINATE")], EndingState.FINISHED),
        ([say("user", PROBLEM), say("solver", "12")], EndingState.UNKNOWN),
    ],
)
def test_endings(tmp_path: Path, trajectory: list[Any], state: EndingState) -> None:
    """A topology with a mark of its own finishes with it; without a known mark the ending is unknown."""
    assert read(tmp_path, trajectory).ending.state is state


@pytest.mark.parametrize(
    ("correct", "kind"),
    [
        (True, LabelKind.PASS),
        (False, LabelKind.FAIL),
        ("correct", LabelKind.PASS),
        ("wrong", LabelKind.FAIL),
        (["wrong", "wrong"], LabelKind.FAIL),
        (["wrong", "correct"], LabelKind.UNKNOWN),
        ([], LabelKind.UNKNOWN),
        (None, LabelKind.UNKNOWN),
        ("perhaps", LabelKind.UNKNOWN),
    ],
)
def test_labels(tmp_path: Path, correct: Any, kind: LabelKind) -> None:
    """The label is `correct`; several agents' verdicts count only where they agree."""
    label = read(tmp_path, GROUP, other_data={**OTHER, "correct": correct}).label
    assert label.kind is kind
    assert bool(label.reason) == (kind is LabelKind.UNKNOWN)


def test_names_tell_nothing_then_roles_do(tmp_path: Path) -> None:
    """Without names the role of the first speaker is the proxy's, because roles are inverted."""
    talk = [
        {"content": PROBLEM, "role": "assistant"},
        {"content": "12", "role": "user"},
        {"content": "Go on", "role": "assistant"},
    ]
    assert [step.actor for step in read(tmp_path, talk).steps] == [Actor.USER, Actor.AGENT, Actor.USER]


def test_attempts_are_told_apart_by_their_folder(tmp_path: Path) -> None:
    """One folder an attempt: the task is the instance, the id the path."""
    for seed in (42, 43):
        written(tmp_path / f"seed_{seed}" / "i-1.json", record(GROUP, note={"seed": seed}))
    attempts, _ = pooled(tmp_path)
    assert [(a.task, a.id) for a in attempts] == [("i-1", "seed_42/i-1"), ("i-1", "seed_43/i-1")]


def test_peer_review(tmp_path: Path) -> None:
    """Agents that review each other speak round by round; what they are asked is the user's, code is not run."""
    chat = [{"role": "user", "content": f"Solve: {PROBLEM}"}, {"role": "assistant", "content": "```python\n12\n```"}]
    asked = {"role": "user", "content": "Here is a solution from another agent: 13"}
    attempt = read(tmp_path, {"0": [*chat, asked], "1": chat}, other_data={**OTHER, "correct": ["wrong", "wrong"]})
    assert [(step.actor, step.name) for step in attempt.steps] == [
        (Actor.USER, "agent 0"),
        (Actor.USER, "agent 1"),
        (Actor.AGENT, "agent 0"),
        (Actor.AGENT, "agent 1"),
        (Actor.USER, "agent 0"),
    ]
    assert attempt.steps[2].message == "```python\n12\n```"
    assert not attempt.coverage.commands
    assert attempt.label.kind is LabelKind.FAIL


HYPER = [
    "HyperAgent_i-1 - INFO - Initialized tools",
    "HyperAgent_i-1 - INFO - Planner's Response: Find it.",
    "Subgoal: look",
    "HyperAgent_i-1 - INFO - Inner-Navigator-Assistant's Response: Thought: I look.",
    "",
    "Action:",
    "```python",
    "result = open_file._run('a.py')",
    "```",
    "HyperAgent_i-1 - INFO - Navigator->Planner: It is in a.py.",
    "HyperAgent_i-1 - INFO - Planner's Response: Final Answer: mended.",
]


def test_hyperagent_log(tmp_path: Path) -> None:
    """The lines of a log are turns of its agents with the code they had run; a gold patch reaches nothing."""
    attempt = read(tmp_path, HYPER, other_data={"patch": GOLD, "hints_text": [GOLD]})
    assert [(step.actor, step.name) for step in attempt.steps] == [
        (Actor.SYSTEM, ""),
        (Actor.AGENT, "Planner"),
        (Actor.AGENT, "Inner-Navigator-Assistant"),
        (Actor.AGENT, "Navigator to Planner"),
        (Actor.AGENT, "Planner"),
    ]
    assert attempt.steps[1].message == "Find it.\nSubgoal: look"
    assert attempt.steps[2] == Step(
        Actor.AGENT,
        "Thought: I look.",
        commands=(Command("result = open_file._run('a.py')", "python"),),
        name="Inner-Navigator-Assistant",
    )
    assert attempt.label.reason == "the record says nothing of correct or wrong"
    assert attempt.ending.state is EndingState.FINISHED
    assert not attempt.coverage.observations
    assert GOLD not in texts(attempt)


META = {
    "run_id": 1,
    "prompt": "write a game",
    "content": "2025-01-12 14:37:42.009 | INFO     | metagpt.roles.role:_act:391 - Ann(Coder): to do Write(Write)\n"
    "```python\nrun()\n```\n2025-01-12 14:38:04.829 | INFO | __main__:_act:85 - Bob(Tester): to do Test(Test)\n",
    "timestamp": "2025-01-12 14:37:42",
    "cost": 0.5,
    "log_file": "logs/1.txt",
    "score": GOLD,
}


def test_metagpt_log(tmp_path: Path) -> None:
    """A log of actions is one turn an action; the prompt is instruction and task."""
    attempt = single(written(tmp_path / "run_1.json", META))
    assert attempt.steps == (
        Step(Actor.AGENT, "```python\nrun()\n```", name="Ann(Coder)"),
        Step(Actor.AGENT, "Bob(Tester): to do Test(Test)", name="Bob(Tester)"),
    )
    assert (attempt.task, attempt.instruction, attempt.usage.cost_usd) == ("write a game", "write a game", 0.5)
    assert attempt.label.kind is LabelKind.UNKNOWN
    assert GOLD not in texts(attempt)


def test_no_answer_and_no_note_reaches_anything(tmp_path: Path) -> None:
    """Nothing of `other_data`, `note` or unknown keys stands in any text; with another label all stays equal."""
    trajectory = [{**entry, "score": GOLD, "annotation": GOLD} for entry in GROUP]
    attempt = read(tmp_path, trajectory, answer=GOLD, mast_annotation=GOLD)
    assert GOLD not in texts(attempt)
    assert texts(read(tmp_path / "x", trajectory, other_data={**OTHER, "correct": False})) == texts(attempt)


def test_a_trajectory_without_turns_is_an_error(tmp_path: Path) -> None:
    """Entries that are no turns are an error; none at all are an empty recording; some are named and left out."""
    written(tmp_path / "a.json", record([{"speaker": "x"}, 7]))
    written(tmp_path / "b.json", record([], instance_id="i-2"))
    written(tmp_path / "c.json", record([*GROUP, 7], instance_id="i-3"))
    attempts, problems = pooled(tmp_path)
    assert [attempt.task for attempt in attempts] == ["i-2", "i-3"]
    assert problems == [
        Problem(ProblemKind.NO_TURNS, "a.json", "nothing in its trajectory is a turn"),
        Problem(ProblemKind.EMPTY, "b.json (ag2)", "no turn of the agent"),
        Problem(ProblemKind.BAD_LINE, "c.json", "1 items of its trajectory are no turns, left out"),
    ]


@pytest.mark.parametrize(
    "foreign",
    [
        {"trial_id": "t", "reward": 1, "trajectory": {"schema_version": "ATIF-v1.5", "steps": []}},
        {"environment": "e", "trajectory": [{"action": "ls", "observation": ""}], "history": [], "info": {}},
        {"history": [{"content": "x", "role": "user", "name": "a"}], "ground_truth": "g", "question": "q"},
        {"run_id": 1, "prompt": "p", "content": "no log"},
        7,
    ],
)
def test_other_formats_are_not_claimed(tmp_path: Path, foreign: Any) -> None:
    """A trajectory of another harness is left to its reader."""
    from bestofn.readers.document import load_document

    assert not ag2.claims(load_document(written(tmp_path / "a.json", foreign)))


@pytest.mark.parametrize(
    "form", [record(GROUP), record({"0": MATH[:3], "1": MATH[:2]}), record(HYPER), META, [record(GROUP[:2])]]
)
def test_damaged_records_give_an_attempt_or_a_problem(tmp_path: Path, form: Any) -> None:
    """Whatever stands in any place of a record, or is missing there, reading it does not fail."""
    assert survives(ag2, form, tmp_path / "a" / "i-1.json") > 80


@pytest.mark.shared
def test_leak_case(shared: Path) -> None:
    """Case 27: the label is read, and neither the gold answer nor the other format's file reaches an attempt."""
    attempts, problems = pooled(shared / "cases" / "27-label-leak-in-record")
    assert [attempt.label.kind for attempt in attempts] == [LabelKind.PASS]
    assert [step.message for step in attempts[0].steps] == ["Problem:\nWhat is 6*7?", "42"]
    assert GOLD not in texts(attempts[0])
    assert [(problem.kind, problem.where) for problem in problems] == [(ProblemKind.UNRECOGNISED, "whowhen.json")]


@pytest.mark.shared
def test_the_gsmplus_pool(shared: Path) -> None:
    """Six attempts at each of 200 problems; a run is unfinished exactly where the limit of turns struck."""
    attempts, problems = pooled(shared / "pools" / "ag2" / "gsmplus-gpt4")
    assert problems == []
    assert (len(attempts), len({a.task for a in attempts})) == (1199, 200)
    assert sum(a.ending.state is EndingState.UNFINISHED for a in attempts) == 86
    assert sum(a.ending.state is EndingState.FINISHED for a in attempts) == 1113
    finished = [a for a in attempts if a.ending.state is EndingState.FINISHED]
    assert sum(final_answer(a.steps) is not None for a in finished) > 0.98 * len(finished)
    assert sum(len(step.observations) for a in attempts for step in a.steps) == 1175


@pytest.mark.shared
def test_all_kinds_of_the_collection_are_read(shared: Path) -> None:
    """Every sample of the collection gives turns of an agent."""
    for folder in ("mast-ag2", "mast-metagpt-etc"):
        attempts, problems = pooled(shared / "samples" / folder)
        assert len(attempts) == {"mast-ag2": 4, "mast-metagpt-etc": 3}[folder]
        assert {problem.kind for problem in problems} <= {ProblemKind.UNKNOWN_LABEL, ProblemKind.DUPLICATE}
        assert all(any(attempt.agent_steps) for attempt in attempts)
