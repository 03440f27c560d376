"""What a recorded run is: steps in channels, a label kept apart, and what is known of its ending.

No I/O here. Readers make these, everything else reads them, and nothing changes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple


class Channel(StrEnum):
    """Which part of a step a text stands in."""

    COMMAND = "command"
    """What the agent ran or called."""
    OBSERVATION = "observation"
    """What came back."""
    MESSAGE = "message"
    """What the agent said."""
    REASONING = "reasoning"
    """What the agent thought, where the recording keeps it apart."""


class Actor(StrEnum):
    """Who produced a step."""

    AGENT = "agent"
    USER = "user"
    SYSTEM = "system"


class Command(NamedTuple):
    """One tool call or shell command."""

    text: str
    """What ran: the shell line where there is one, else the arguments as text, as recorded."""
    tool: str = ""
    """The tool's name, empty where the format has none."""
    arguments: Mapping[str, Any] | None = None
    """The parsed arguments, only where they are an object; `text` always keeps the raw text.

    A plain dict, so that an attempt can be copied and pickled, and shared with all who hold the attempt: never to be
    changed.
    """


class Observation(NamedTuple):
    """What came back from a command or from the environment."""

    text: str
    command: int | None = None
    """Index of the answered command in the same step; None where the recording does not say."""
    exit_code: int | None = None
    """None where the recording does not say, which is not 0."""
    cut: bool = False
    """True where the recording itself holds only part of the text."""


class Step(NamedTuple):
    """One turn, in file order. A command without an observation has no result recorded."""

    actor: Actor
    message: str = ""
    reasoning: str = ""
    commands: tuple[Command, ...] = ()
    observations: tuple[Observation, ...] = ()
    name: str = ""
    """The speaking agent's name in a recording of several agents."""
    note: str = ""
    """What a reader must say of this step, such as 'compaction'. Never shown to a judge."""


class LabelKind(StrEnum):
    """What is known of the outcome."""

    PASS = "pass"
    FAIL = "fail"
    SCORE = "score"
    UNKNOWN = "unknown"


class Label(NamedTuple):
    """The recorded outcome. It never reaches a feature, a prompt or a cache key."""

    kind: LabelKind
    value: float = math.nan
    """1.0 for pass, 0.0 for fail, the score itself, NaN for unknown. Unknown is never 0."""
    reason: str = ""
    """Why the label is unknown, or a remark such as 'reward.txt disagrees'."""

    @classmethod
    def from_reward(cls, reward: float, reason: str = "") -> Label:
        """A label from a number: 1 is pass, 0 is fail, other finite numbers are scores."""
        if not math.isfinite(reward):
            return cls.unknown(f"reward is {reward}")
        if reward == 1.0:
            return cls(LabelKind.PASS, 1.0, reason)
        if reward == 0.0:
            return cls(LabelKind.FAIL, 0.0, reason)
        return cls(LabelKind.SCORE, float(reward), reason)

    @classmethod
    def unknown(cls, reason: str) -> Label:
        """No outcome, and why."""
        return cls(LabelKind.UNKNOWN, math.nan, reason)


class EndingState(StrEnum):
    """How the run came to its end, as far as the recording tells."""

    FINISHED = "finished"
    """The harness's own end marker is there."""
    UNFINISHED = "unfinished"
    """This format marks finished runs, and this run has no such mark."""
    TIMED_OUT = "timed out"
    CRASHED = "crashed"
    """The harness or the model's service broke; the agent did not choose to stop."""
    UNKNOWN = "unknown"
    """The format has no end marker."""


class Ending(NamedTuple):
    """How the run ended, and whether its last word was a refusal."""

    state: EndingState = EndingState.UNKNOWN
    refused: bool | None = None
    """True where the last message declines the task; None where no message is recorded."""
    reason: str = ""


class Coverage(NamedTuple):
    """What this recording can tell at all. What it cannot tell is missing in every feature, not 0."""

    commands: bool = True
    observations: bool = True
    messages: bool = True
    exit_codes: bool = False
    """At least one observation carries a return code."""
    whole_texts: bool = True
    """False where the recording itself cut texts, so lengths and absent words mean nothing."""


class Usage(NamedTuple):
    """What the run consumed, as the harness counted it. None is not recorded; 0 totals are None."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None


class Origin(NamedTuple):
    """Where a trajectory was read from."""

    path: str
    """The file or directory, relative to the pool's root."""
    format: str
    """The reader's name, such as 'atif'."""
    record: int | None = None
    """0-based record inside the file, None where the file holds one trajectory."""

    def __str__(self) -> str:
        where = self.path if self.record is None else f"{self.path}, record {self.record}"
        return f"{where} ({self.format})"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One attempt of an agent at a task.

    While a pool streams, `steps` stands in memory. `released` drops it again and keeps a way to read it
    once more, so that a list of a hundred thousand trajectories stays light.
    """

    id: str
    """Unique in its pool, taken from the trial's own name where there is one."""
    task: str
    label: Label
    ending: Ending
    coverage: Coverage
    origin: Origin
    instruction: str = ""
    """The task as the agent was given it, where the recording holds it."""
    usage: Usage = Usage()
    digest: str = ""
    """Hash of the record's bytes: two equal ones under one task are copies of one attempt."""
    body: tuple[Step, ...] | None = field(default=None, repr=False, compare=False)
    reread: Callable[[], tuple[Step, ...]] | None = field(default=None, repr=False, compare=False)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The turns in file order; read again from the file where they were released."""
        if self.body is not None:
            return self.body
        return self.reread() if self.reread is not None else ()

    @property
    def agent_steps(self) -> Iterator[Step]:
        """The agent's own turns."""
        return (step for step in self.steps if step.actor is Actor.AGENT)

    def released(self, reread: Callable[[], tuple[Step, ...]]) -> Trajectory:
        """The same record without its text in memory."""
        return replace(self, body=None, reread=reread)


@dataclass(frozen=True, slots=True)
class Task:
    """All attempts at one task, in reading order."""

    name: str
    trajectories: tuple[Trajectory, ...]
