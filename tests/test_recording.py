"""One ATIF trajectory as steps, where the shapes of its parts vary."""

from __future__ import annotations

from typing import Any

import pytest

from bestofn.readers.recording import NOTHING_RECORDED, recording_of, seconds_between
from bestofn.trajectory import Actor, Coverage, EndingState, Observation


def record(*steps: dict[str, Any], agent: str = "x") -> dict[str, Any]:
    return {"agent": {"name": agent}, "steps": list(steps)}


@pytest.mark.parametrize("observed", [{"results": [{"content": "out"}]}, [{"content": "out"}], "out"])
def test_an_observation_may_be_an_object_a_list_or_a_text(observed: Any) -> None:
    """All three forms give the same result."""
    found = recording_of([record({"source": "agent", "message": "m", "observation": observed})])
    assert found is not None
    assert found.steps[0].observations == (Observation("out"),)


def test_two_results_for_one_call_leave_the_second_alone() -> None:
    """A call has one result; a second one under its id is kept without a call."""
    results = [{"source_call_id": "c1", "content": "a"}, {"source_call_id": "c1", "content": "b"}]
    call = {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls"}}
    step = {"source": "agent", "tool_calls": [call], "observation": {"results": results}}
    found = recording_of([record(step)])
    assert found is not None
    assert found.steps[0].observations == (Observation("a", 0), Observation("b"))


def test_without_a_turn_of_the_agent_nothing_can_be_told() -> None:
    """The user's message alone is a recording without any channel; no step at all is an empty one."""
    asked = recording_of([record({"source": "user", "message": "go"}, agent="mini-swe-agent")])
    assert asked is not None
    assert (asked.instruction, asked.coverage, asked.ending.state) == ("go", NOTHING_RECORDED, EndingState.UNKNOWN)
    empty = recording_of([record()])
    assert empty is not None
    assert empty.steps == ()


def test_other_sources_are_known_by_their_names() -> None:
    """An assistant is an agent, an environment the system; unknown sources are no turns."""
    sources = ["assistant", "environment", "robot"]
    found = recording_of([record(*({"source": source, "message": "m"} for source in sources))])
    assert found is not None
    assert [step.actor for step in found.steps] == [Actor.AGENT, Actor.SYSTEM]
    assert recording_of([record({"source": "robot"})]) is None


def test_coverage_tells_what_a_recording_has() -> None:
    """Outputs without any command mean that commands were not recorded; and the other way round."""
    seen = recording_of([record({"source": "agent", "message": "m", "observation": "out"})])
    done = recording_of([record({"source": "agent", "tool_calls": [{"name": "bash", "arguments": "ls"}]})])
    assert seen is not None
    assert done is not None
    assert seen.coverage == Coverage(commands=False)
    assert done.coverage == Coverage(observations=False, messages=False)


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (["2026-01-01T00:00:00Z", "2026-01-01T00:00:05.5Z"], 5.5),
        (["2026-01-01T00:00:00Z"], None),
        ([], None),
        (["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"], None),
        (["2026-01-01", "2026-01-02"], None),
        (["2026-01-01T00:00:00Z", 5], None),
        (["2026-13-01T00:00:00Z", "2026-01-01T00:00:05Z"], None),
    ],
)
def test_seconds_between_dates(times: list[Any], seconds: float | None) -> None:
    """Only whole dates count, and no time at all is not recorded."""
    assert seconds_between(times) == seconds
