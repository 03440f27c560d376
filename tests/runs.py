"""Small recorded runs for the tests of rendering."""

from __future__ import annotations

from collections.abc import Sequence

from bestofn.trajectory import (
    Actor,
    Command,
    Coverage,
    Ending,
    EndingState,
    Label,
    Observation,
    Origin,
    Step,
    Trajectory,
)


def run(
    steps: Sequence[Step],
    *,
    instruction: str = "Write the sum of the numbers in data.txt to out.txt.",
    name: str = "run-1",
    state: EndingState = EndingState.FINISHED,
    coverage: Coverage | None = None,
) -> Trajectory:
    """A run with these steps. Its label is known, and no test may find it in a prompt."""
    return Trajectory(
        id=name,
        task="sum",
        label=Label.from_reward(1.0, "LABEL-REASON-7781"),
        ending=Ending(state, reason="ENDING-REASON-7781"),
        coverage=coverage or Coverage(),
        origin=Origin("ORIGIN-PATH-7781.json", "atif"),
        instruction=instruction,
        digest="DIGEST-7781",
        body=tuple(steps),
    )


def acted(command: str, output: str, *, message: str = "", code: int | None = None, tool: str = "bash") -> Step:
    """A turn with one command and its output."""
    return Step(
        Actor.AGENT, message=message, commands=(Command(command, tool),), observations=(Observation(output, 0, code),)
    )


def said(message: str) -> Step:
    """A turn of words alone."""
    return Step(Actor.AGENT, message=message)


def long_run(count: int, size: int = 40) -> Trajectory:
    """A run of many turns, each of which says its number."""
    steps = [
        acted(f"python step.py {n}", f"line of turn {n} " * size, message=f"Turn {n} begins.") for n in range(count)
    ]
    return run([*steps, said("All done: the sum is 42.")])
