"""Features of one run's shape: its ending, its length, its exit codes, its repeats, its checks after the last edit.

Each is a function of a reading that gives NaN where the recording cannot tell. What a feature is and why it is there
stands beside the function, once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from bestofn.featurize.activity import Activity
from bestofn.featurize.feature import Feature, Kind
from bestofn.featurize.reading import Reading
from bestofn.trajectory import Actor, EndingState

Measure = Callable[[Reading], float]


class Structural(NamedTuple):
    """A feature and the function that computes it."""

    feature: Feature
    measure: Measure


STRUCTURAL: dict[str, Structural] = {}
"""All structural features by name, in the order of this module."""


def structural(direction: int, codes: str, why: str) -> Callable[[Measure], Measure]:
    """Enter a function under its own name, with the sign it expects and the failure modes it speaks for."""

    def enter(measure: Measure) -> Measure:
        name = measure.__name__
        feature = Feature(name, Kind.STRUCTURAL, direction, tuple(codes.split()), why)
        STRUCTURAL[name] = Structural(feature, measure)
        return measure

    return enter


# Endings: known of an empty recording too, since the harness tells them.


@structural(+1, "Premature_Termination 3.1 1.5", "the harness's own end marker is there: the agent chose to stop")
def finished(reading: Reading) -> float:
    state = reading.trajectory.ending.state
    return math.nan if state is EndingState.UNKNOWN else float(state is EndingState.FINISHED)


@structural(-1, "Training_Stall_Detection 1.5", "the harness stopped the run for time, so the work may be half done")
def timed_out(reading: Reading) -> float:
    state = reading.trajectory.ending.state
    # A run that merely lacks its end marker may have been stopped for time: that is not known either way.
    if state in (EndingState.UNKNOWN, EndingState.UNFINISHED):
        return math.nan
    return float(state is EndingState.TIMED_OUT)


@structural(-1, "Defensive_Pivoting 1.1", "the last word declines the task")
def refused(reading: Reading) -> float:
    answer = reading.trajectory.ending.refused
    return math.nan if answer is None or reading.empty else float(answer)


@structural(+1, "Premature_Termination 3.1", "the run ends in a message to the user, not in the middle of a command")
def has_final_message(reading: Reading) -> float:
    if reading.empty or not reading.trajectory.coverage.messages:
        return math.nan
    return float(reading.final_message is not None)


# Length.


@structural(
    0, "Premature_Termination 1.3 3.1", "turns: very few are a run given up, very many a run that goes in circles"
)
def n_steps(reading: Reading) -> float:
    return math.nan if reading.empty else float(len(reading.agent_steps))


@structural(0, "2.2", "times that the user spoke: more than once is a dialogue, where shorter is not better")
def n_user_turns(reading: Reading) -> float:
    if reading.empty:
        return math.nan
    begun = reading.agent_steps[0]
    later = reading.steps[begun + 1 :]
    return 1.0 + sum(step.actor is Actor.USER and bool(step.message.strip()) for step in later)


@structural(0, "Premature_Termination 1.3 3.1", "commands: as with turns, at most one is a run that hardly tried")
def n_commands(reading: Reading) -> float:
    return float(len(reading.calls)) if reading.knows_commands else math.nan


@structural(
    -1, "1.3 1.5", "all that was said, run and shown: among runs of a strong agent, trouble makes the longer one"
)
def n_characters(reading: Reading) -> float:
    if reading.empty or not reading.trajectory.coverage.whole_texts:
        return math.nan
    total = 0
    for step in reading.steps:
        total += sum(len(observation.text) for observation in step.observations)
        if step.actor is Actor.AGENT:
            total += len(step.message) + len(step.reasoning) + sum(len(command.text) for command in step.commands)
    return float(total)


@structural(0, "Premature_Termination 3.1", "how much the agent has to say at its end; 0 where it ends in a command")
def n_final_characters(reading: Reading) -> float:
    coverage = reading.trajectory.coverage
    if reading.empty or not coverage.messages or not coverage.whole_texts:
        return math.nan
    return float(len(reading.final_message or ""))


# What the commands were for.


@structural(0, "1.3 2.6", "commands that change a file or a record: many are rework, none is work not done")
def n_edits(reading: Reading) -> float:
    return _count_acts(reading, Activity.EDIT)


@structural(+1, "3.2", "commands that run tests, a compiler, a comparison or the program itself")
def n_checks(reading: Reading) -> float:
    return _count_acts(reading, Activity.CHECK)


@structural(
    +1, "3.2 Service_State_Verification", "checks after the last change: only these saw the work as it was left"
)
def checks_after_edit(reading: Reading) -> float:
    return _count_after_edit(reading, (Activity.CHECK,))


@structural(+1, "3.2 Output_Format_Alignment", "checks of, or looks at, the work after the last change")
def looks_after_edit(reading: Reading) -> float:
    return _count_after_edit(reading, (Activity.CHECK, Activity.READ))


# Repeats.


@structural(-1, "1.3 1.5", "commands that repeat the one just before word for word: a loop")
def consecutive_repeats(reading: Reading) -> float:
    if not reading.knows_acts:
        return math.nan
    lines = _lines(reading)
    return float(sum(line == before for before, line in pairwise(lines)))


@structural(+1, "1.3", "share of commands that were not run before, 0 to 1")
def distinct_share(reading: Reading) -> float:
    if not reading.knows_acts or not reading.calls:
        return math.nan
    return len(set(_lines(reading))) / len(reading.calls)


# Results.


@structural(-1, "2.6 3.3", "commands that came back with a code other than 0")
def n_nonzero_exits(reading: Reading) -> float:
    codes = _exit_codes(reading)
    return math.nan if codes is None else float(sum(code != 0 for code in codes))


@structural(-1, "3.1 3.2", "commands among the last five with a code other than 0: trouble that was left standing")
def nonzero_exits_last5(reading: Reading) -> float:
    codes = _exit_codes(reading)
    return math.nan if codes is None else float(sum(code != 0 for code in codes[-5:]))


@structural(-1, "Premature_Termination Training_Stall_Detection", "commands of which no result came back")
def n_unanswered(reading: Reading) -> float:
    if not reading.knows_commands or not reading.trajectory.coverage.observations:
        return math.nan
    # Some recordings hold the results of some tools only: those of a tool that is never answered are not missed.
    tools = {call.command.tool for call in reading.calls if call.place in reading.answered}
    return float(sum(call.command.tool in tools and call.place not in reading.answered for call in reading.calls))


# What the harness counted: known of an empty recording too.


@structural(0, "1.5", "tokens the model read, as the harness counted them")
def n_input_tokens(reading: Reading) -> float:
    return _recorded(reading.trajectory.usage.input_tokens)


@structural(-1, "1.5", "tokens the model wrote, as the harness counted them")
def n_output_tokens(reading: Reading) -> float:
    return _recorded(reading.trajectory.usage.output_tokens)


@structural(-1, "1.5", "dollars the run cost, as the harness counted them")
def cost_usd(reading: Reading) -> float:
    return _recorded(reading.trajectory.usage.cost_usd)


@structural(-1, "1.5 Training_Stall_Detection", "seconds the run took, as the harness counted them")
def seconds(reading: Reading) -> float:
    return _recorded(reading.trajectory.usage.seconds)


def _recorded(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _count_acts(reading: Reading, wanted: Activity) -> float:
    """Commands (or steps of prose) that do the wanted thing at least once."""
    if not reading.knows_acts:
        return math.nan
    return float(len({place for place, activity in reading.acts if activity is wanted}))


def _count_after_edit(reading: Reading, wanted: tuple[Activity, ...]) -> float:
    """Commands after the last edit that do one of the wanted things; NaN in a run that changed nothing."""
    if not reading.knows_acts or reading.acts_after_edit is None:
        return math.nan
    return float(len({place for place, activity in reading.acts_after_edit if activity in wanted}))


def _lines(reading: Reading) -> list[tuple[str, str]]:
    """Each command as (tool, text), space around it left out."""
    return [(call.command.tool, call.command.text.strip()) for call in reading.calls]


def _exit_codes(reading: Reading) -> list[int] | None:
    """The recorded exit codes in order; None where the recording holds none."""
    if reading.empty or not reading.trajectory.coverage.exit_codes:
        return None
    return [o.exit_code for step in reading.steps for o in step.observations if o.exit_code is not None]
