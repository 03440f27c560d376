"""Endings by the marks that harnesses are known to leave."""

from __future__ import annotations

import pytest

from bestofn.readers.ending import ending_of
from bestofn.readers.terminus import COMPLETE
from bestofn.trajectory import Actor, Command, EndingState, Observation, Step

LS = Step(Actor.AGENT, "I look.", commands=(Command("ls", "bash"),), observations=(Observation("a", 0),))
WORD = Step(Actor.AGENT, "All done.")
ASKED = Step(Actor.AGENT, observations=(Observation("Are you sure you want to mark the task as complete?"),))


def calls(tool: str, text: str = "") -> Step:
    return Step(Actor.AGENT, commands=(Command(text, tool),))


@pytest.mark.parametrize(
    ("harness", "steps", "state"),
    [
        ("openhands", [LS, calls("finish")], EndingState.FINISHED),
        ("openhands", [LS, Step(Actor.SYSTEM, "Setting agent state to AgentState.FINISHED")], EndingState.FINISHED),
        ("openhands", [LS, Step(Actor.SYSTEM, '{"agent_state": "finished"}')], EndingState.FINISHED),
        ("openhands", [calls("finish"), LS], EndingState.UNFINISHED),
        ("openhands", [LS, WORD], EndingState.UNKNOWN),
        ("mini-swe-agent", [LS, calls("bash", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")], EndingState.FINISHED),
        ("mini-swe-agent", [calls("bash", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"), LS], EndingState.UNFINISHED),
        ("terminus-2", [LS, ASKED, calls(COMPLETE)], EndingState.FINISHED),
        ("terminus-2", [LS], EndingState.UNFINISHED),
        ("terminus-2", [WORD], EndingState.UNKNOWN),
        ("terminus", [LS], EndingState.UNKNOWN),
        ("claude-code", [LS, WORD], EndingState.UNKNOWN),
        ("codex", [LS], EndingState.UNKNOWN),
        ("my-agent", [LS, calls("submit")], EndingState.FINISHED),
        ("my-agent", [LS, calls("bash", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")], EndingState.FINISHED),
        ("my-agent", [LS], EndingState.UNKNOWN),
        ("", [], EndingState.UNKNOWN),
        ("mini-swe-agent", [Step(Actor.USER, "go")], EndingState.UNKNOWN),
    ],
)
def test_only_a_harness_that_marks_its_ends_leaves_a_run_unfinished(
    harness: str, steps: list[Step], state: EndingState
) -> None:
    """A mark is evidence in any harness; a missing one only where every finished run has it."""
    assert ending_of(harness, steps).state is state
