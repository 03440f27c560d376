"""tau-bench results: dialogues, crashed rollouts, and what must stay hidden of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from recordings import pooled, single, survives, texts, written

from bestofn.readers import tau_bench
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.trajectory import Actor, Command, EndingState, Label, LabelKind, Observation

GOLD = "GOLD-1234"
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "# Shop policy"},
    {"role": "user", "content": "I want to return my lamp."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": "#W1"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "get_order", "content": '{"lamp": 1}'},
    {"role": "assistant", "content": "It is done."},
    {"role": "user", "content": "###STOP###"},
]
RECORD: dict[str, Any] = {
    "task_id": 3,
    "reward": 1.0,
    "info": {
        "task": {
            "user_id": GOLD,
            "instruction": f"You are mia and want {GOLD}.",
            "actions": [{"name": "return_item", "kwargs": {"id": GOLD}}],
            "outputs": [GOLD],
        },
        "source": GOLD,
        "user_cost": 0.25,
        "reward_info": {"reward": 1.0, "info": {"r_actions": 1.0, "gt_data_hash": GOLD}, "actions": [GOLD]},
    },
    "traj": TALK,
    "trial": 0,
}
CRASH: dict[str, Any] = {
    "task_id": 3,
    "reward": 0.0,
    "info": {"error": "rate limit\nhit", "traceback": GOLD},
    "traj": [],
}


def ended(*last: dict[str, Any]) -> list[dict[str, Any]]:
    """A dialogue that ends in these messages."""
    return [*TALK[:5], *last]


def test_a_record_is_a_dialogue(tmp_path: Path) -> None:
    """Policy, user and agent are told apart; the task is the id, the instruction the user's own first words."""
    attempt = single(written(tmp_path / "run.json", [RECORD]))
    assert (attempt.task, attempt.id, attempt.origin.record) == ("3", "run#0", 0)
    assert [step.actor for step in attempt.steps] == [Actor.SYSTEM, Actor.USER, Actor.AGENT, Actor.AGENT, Actor.USER]
    assert attempt.steps[2].commands == (Command('{"id": "#W1"}', "get_order", {"id": "#W1"}),)
    assert attempt.steps[2].observations == (Observation('{"lamp": 1}', 0),)
    assert attempt.instruction == "I want to return my lamp."
    assert attempt.label == Label(LabelKind.PASS, 1.0)
    assert attempt.ending.state is EndingState.FINISHED


def test_a_crash_is_named_and_no_ordinary_failure(tmp_path: Path) -> None:
    """A crashed rollout has no turns, an unknown label in spite of its reward 0, and is told twice with the error."""
    attempts, problems = pooled(written(tmp_path / "run.json", [CRASH]))
    assert attempts[0].steps == ()
    assert attempts[0].ending.state is EndingState.CRASHED
    assert attempts[0].ending.reason == "crashed: rate limit"
    assert attempts[0].label.kind is LabelKind.UNKNOWN
    assert [problem.kind for problem in problems] == [ProblemKind.UNKNOWN_LABEL, ProblemKind.EMPTY]
    assert problems[0].what == "crashed: rate limit; the recorded reward is 0.0"
    assert "crashed: rate limit" in problems[1].what


def test_a_crash_after_the_checker_ran_keeps_its_reward(tmp_path: Path) -> None:
    """Where the checker's own reward is there, an error beside it does not take it away."""
    info = {**RECORD["info"], "error": "late"}
    attempt = single(written(tmp_path / "run.json", [{**RECORD, "info": info}]))
    assert (attempt.label.kind, attempt.ending.state) == (LabelKind.PASS, EndingState.CRASHED)


def test_files_over_the_same_tasks_are_further_attempts(tmp_path: Path) -> None:
    """Records of several files and repeated trial numbers make attempts of their own; a copy is left out."""
    written(tmp_path / "a.json", [RECORD, {**RECORD, "reward": 0.0, "info": {}}])
    written(tmp_path / "b.json", [{**RECORD, "trial": 1}, RECORD])
    attempts, problems = pooled(tmp_path)
    assert [(a.task, a.id) for a in attempts] == [("3", "a#0"), ("3", "a#1"), ("3", "b#0")]
    assert [problem.kind for problem in problems] == [ProblemKind.DUPLICATE]


@pytest.mark.parametrize(
    ("traj", "state"),
    [
        (TALK, EndingState.FINISHED),
        (
            ended(
                {"role": "assistant", "tool_calls": [{"id": "t", "function": {"name": "transfer_to_human_agents"}}]},
                {"role": "tool", "tool_call_id": "t", "content": "Transfer successful"},
            ),
            EndingState.FINISHED,
        ),
        (ended({"role": "user", "content": "And my other order?"}), EndingState.UNFINISHED),
        (ended(), EndingState.UNFINISHED),
    ],
)
def test_endings(tmp_path: Path, traj: list[Any], state: EndingState) -> None:
    """The user's stop and a transfer end a dialogue; without either the limit of turns struck."""
    assert single(written(tmp_path / "run.json", [{**RECORD, "traj": traj}])).ending.state is state


def test_calls_of_text_only_agents_are_found(tmp_path: Path) -> None:
    """An agent that writes `Action:` with JSON called a tool, or spoke to the user; `API output:` is the result."""
    traj = [
        {"role": "system", "content": "# Shop policy"},
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": 'Thought:\nI look.\nAction:\n{"name": "get_order", "arguments": {"id": "#W1"}}',
        },
        {"role": "user", "content": "API output: one lamp"},
        {"role": "assistant", "content": 'Action:\n{"name": "respond", "arguments": {"content": "One lamp."}}'},
        {"role": "user", "content": "###STOP###"},
    ]
    steps = single(written(tmp_path / "run.json", [{**RECORD, "traj": traj}])).steps
    assert [step.actor for step in steps] == [Actor.SYSTEM, Actor.USER, Actor.AGENT, Actor.AGENT, Actor.USER]
    assert (steps[2].reasoning, steps[2].message) == ("Thought:\nI look.", "")
    assert steps[2].commands == (Command('{"id":"#W1"}', "get_order", {"id": "#W1"}),)
    assert steps[2].observations == (Observation("one lamp", 0),)
    assert (steps[3].message, steps[3].commands) == ("One lamp.", ())


@pytest.mark.parametrize("reward", [None, math.nan, "none", {}])
def test_a_reward_that_says_nothing_is_unknown(tmp_path: Path, reward: Any) -> None:
    """No unusable reward becomes a 0."""
    label = single(written(tmp_path / "run.json", [{**RECORD, "reward": reward}])).label
    assert label.kind is LabelKind.UNKNOWN
    assert label.reason.startswith("reward is ")


def test_two_rewards_that_disagree_are_named(tmp_path: Path) -> None:
    """The record's own reward counts before the one in the checker's report."""
    attempts, problems = pooled(written(tmp_path / "run.json", [{**RECORD, "reward": 0.0}]))
    assert attempts[0].label.kind is LabelKind.FAIL
    what = "reward is 0 and reward_info has 1; the reward was taken"
    assert problems == [Problem(ProblemKind.LABEL_CONFLICT, "run.json, record 0", what)]


def test_a_traj_without_messages_is_an_error(tmp_path: Path) -> None:
    """Items that are no messages give an error and no attempt; a record that is none is named, and the rest is read."""
    attempts, problems = pooled(written(tmp_path / "run.json", [{**RECORD, "traj": [{"speaker": "x"}]}, None, RECORD]))
    assert [attempt.origin.record for attempt in attempts] == [2]
    assert [(problem.kind, problem.where) for problem in problems] == [
        (ProblemKind.NO_TURNS, "run.json, record 0"),
        (ProblemKind.BAD_LINE, "run.json, record 1"),
    ]


def test_no_expected_action_and_no_report_reaches_anything(tmp_path: Path) -> None:
    """Nothing of `info`, of a traceback or of unknown keys stands in any text; with another label all stays equal."""
    record = {**RECORD, "records": GOLD, "answer": GOLD, "traj": [{**message, "score": GOLD} for message in TALK]}
    attempt = single(written(tmp_path / "run.json", [record]))
    assert GOLD not in texts(attempt)
    failed = {**record, "reward": 0.0, "info": {**record["info"], "reward_info": {"reward": 0.0}}}
    assert texts(single(written(tmp_path / "x" / "run.json", [failed]))) == texts(attempt)
    assert GOLD not in texts(single(written(tmp_path / "crash.json", [CRASH])))


@pytest.mark.parametrize(
    "foreign",
    [
        {"timestamp": "t", "info": {}, "tasks": [], "simulations": [{"id": "s", "task_id": "0", "messages": TALK}]},
        [{"task_id": 0, "reward": 1.0, "messages": TALK}],
        {"trajectory": [], "reward": 1},
        TALK,
        7,
    ],
)
def test_other_formats_are_not_claimed(tmp_path: Path, foreign: Any) -> None:
    """tau2's simulations and plain messages are no tau-bench records."""
    from bestofn.readers.document import load_document

    assert not tau_bench.claims(load_document(written(tmp_path / "a.json", foreign)))


def test_damaged_records_give_an_attempt_or_a_problem(tmp_path: Path) -> None:
    """Whatever stands in any place of a record, or is missing there, reading it does not fail."""
    assert survives(tau_bench, [RECORD, CRASH], tmp_path / "run.json") > 500


@pytest.mark.shared
def test_crashed_records_case(shared: Path) -> None:
    """Case 26: two files over one task pool as attempts, and the crash is named."""
    attempts, problems = pooled(shared / "cases" / "26-tau-crashed-records")
    assert [(a.task, a.id, a.ending.state is EndingState.CRASHED) for a in attempts] == [
        ("0", "runA#0", False),
        ("1", "runA#1", True),
        ("1", "runB#0", False),
    ]
    assert [problem.kind for problem in problems] == [ProblemKind.UNKNOWN_LABEL, ProblemKind.EMPTY]


@pytest.mark.shared
def test_the_airline_pool(shared: Path) -> None:
    """200 dialogues, of which only those at the limit of turns are unfinished; every call has its result."""
    attempts, problems = pooled(shared / "pools" / "tau" / "airline-gpt4o")
    assert problems == []
    unfinished = [a for a in attempts if a.ending.state is EndingState.UNFINISHED]
    assert len(unfinished) == 5
    assert {a.ending.state for a in attempts} == {EndingState.FINISHED, EndingState.UNFINISHED}
    for attempt in attempts:
        for step in attempt.agent_steps:
            assert [o.command for o in step.observations] == list(range(len(step.commands)))
