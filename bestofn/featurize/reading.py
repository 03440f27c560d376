"""A trajectory as features look at it: its texts by channel, its commands with their results, its last edit.

Everything is found when first asked for and only then, so that a column that needs lengths does not pay for
classifying commands. The label is taken off before anything here can see it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from bestofn.featurize.activity import Activity, activities, is_shell, prose
from bestofn.featurize.feature import Span, Where
from bestofn.trajectory import Actor, Channel, Command, Label, Observation, Step, Trajectory


class Place(NamedTuple):
    """A point in a run, in order. Messages and thoughts of a step stand before its commands."""

    step: int
    command: int = -1


class Text(NamedTuple):
    """One text of a channel and where it stands."""

    place: Place
    text: str


class Call(NamedTuple):
    """One command and where it stands."""

    place: Place
    command: Command


@dataclass(frozen=True)
class Reading:
    """One trajectory, read once. Make it with `Reading.of`."""

    trajectory: Trajectory
    """With its steps in memory and without its label."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> Reading:
        """The reading of a trajectory, whose steps are read from the file where they are not in memory."""
        hidden = Label.unknown("hidden from features")
        return cls(replace(trajectory, label=hidden, body=trajectory.steps))

    @property
    def steps(self) -> tuple[Step, ...]:
        """All turns, in file order."""
        return self.trajectory.body or ()

    @cached_property
    def agent_steps(self) -> tuple[int, ...]:
        """Indices of the agent's own turns."""
        return tuple(index for index, step in enumerate(self.steps) if step.actor is Actor.AGENT)

    @property
    def empty(self) -> bool:
        """True where the recording holds no turn of the agent, so that nothing of its content is known."""
        return not self.agent_steps

    @property
    def knows_commands(self) -> bool:
        """True where the recording can hold commands, so that none means none."""
        return not self.empty and self.trajectory.coverage.commands

    @property
    def knows_acts(self) -> bool:
        """True where it can be told what commands were for, which a text that was cut does not tell."""
        return self.knows_commands and self.trajectory.coverage.whole_texts

    def texts(self, channel: Channel) -> tuple[Text, ...]:
        """The texts of a channel in order, empty ones left out. Observations count whoever's turn they stand in."""
        if channel not in self._texts:
            self._texts[channel] = tuple(text for text in self._of_channel(channel) if text.text)
        return self._texts[channel]

    @cached_property
    def _texts(self) -> dict[Channel, tuple[Text, ...]]:
        """The channels that were asked for so far."""
        return {}

    def _of_channel(self, channel: Channel) -> Iterator[Text]:
        if channel == Channel.COMMAND:
            return (Text(call.place, shown(call.command)) for call in self.calls)
        if channel == Channel.OBSERVATION:
            return (
                Text(Place(index, _answered(step, observation)), observation.text)
                for index, step in enumerate(self.steps)
                for observation in step.observations
            )
        if channel == Channel.MESSAGE:
            return (Text(Place(index), self.steps[index].message) for index in self.agent_steps)
        return (Text(Place(index), self.steps[index].reasoning) for index in self.agent_steps)

    def covers(self, channel: Channel) -> bool:
        """True where this recording can hold texts of the channel at all."""
        coverage = self.trajectory.coverage
        if self.empty:
            return False
        if channel == Channel.COMMAND:
            return coverage.commands
        if channel == Channel.OBSERVATION:
            return coverage.observations
        if channel == Channel.MESSAGE:
            return coverage.messages
        return bool(self.texts(Channel.REASONING))

    def within(self, channel: Channel, where: Where) -> tuple[Text, ...] | None:
        """The texts of a channel in a part of the run, in order; None where no such part is known."""
        texts = self.texts(channel)
        if where.span is Span.LAST_STEPS:
            steps = sorted({text.place.step for text in texts})[-where.steps :]
            return tuple(text for text in texts if text.place.step in steps)
        if where.span is Span.AFTER_LAST_EDIT:
            return self._after_last_edit(channel)
        return texts

    def _after_last_edit(self, channel: Channel) -> tuple[Text, ...] | None:
        edit, after = self.last_edit, self.acts_after_edit
        if not self.knows_acts or edit is None or after is None:
            return None
        # A command that edits and then goes on to run something shows in its own output what that came to.
        goes_on = channel == Channel.OBSERVATION and bool(after) and after[0][0] == edit
        return tuple(text for text in self.texts(channel) if text.place > edit or (goes_on and text.place == edit))

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The agent's commands in order."""
        return tuple(
            Call(Place(index, number), command)
            for index in self.agent_steps
            for number, command in enumerate(self.steps[index].commands)
        )

    @cached_property
    def answered(self) -> frozenset[Place]:
        """The commands of which a result came back; one that names no command answers all of its step."""
        found: set[Place] = set()
        for index in self.agent_steps:
            step = self.steps[index]
            named = {observation.command for observation in step.observations}
            numbers = range(len(step.commands)) if None in named else (n for n in named if n is not None)
            found.update(Place(index, number) for number in numbers)
        return frozenset(found)

    @cached_property
    def acts(self) -> tuple[tuple[Place, Activity], ...]:
        """All that the agent did, in order; one command may do several things, and a step of prose one."""
        done = [(call.place, activity) for call in self.calls for activity in activities(call.command)]
        for index in self.agent_steps:
            told = prose(self.steps[index])
            if told is not None:
                done.append((Place(index), told))
        return tuple(sorted(done, key=lambda act: act[0]))

    @cached_property
    def last_edit(self) -> Place | None:
        """Where the agent last changed something; None where it never did."""
        return next((place for place, activity in reversed(self.acts) if activity is Activity.EDIT), None)

    @cached_property
    def acts_after_edit(self) -> tuple[tuple[Place, Activity], ...] | None:
        """All that the agent did after its last change; None where it changed nothing."""
        edits = [index for index, (_, activity) in enumerate(self.acts) if activity is Activity.EDIT]
        return self.acts[edits[-1] + 1 :] if edits else None

    @cached_property
    def final_message(self) -> str | None:
        """What the agent said to end the run: the message of its last turn, if that only hands in or takes notes.

        None where its last turn was a command, as in a run that was broken off.
        """
        for index in reversed(self.agent_steps):
            step = self.steps[index]
            if not (step.message.strip() or step.commands or step.reasoning.strip()):
                continue
            ends = all({Activity.END, Activity.NOTE} & {*activities(command)} for command in step.commands)
            return step.message if ends and step.message.strip() and prose(step) is None else None
        return None


def shown(command: Command) -> str:
    """A command as patterns see it: the shell line, or the tool's name on a line above its arguments."""
    if is_shell(command.tool):
        return command.text
    return f"{command.tool}\n{command.text}" if command.text else command.tool


def _answered(step: Step, observation: Observation) -> int:
    """The command an observation answers; one that names none stands behind all of its step."""
    return len(step.commands) - 1 if observation.command is None else observation.command
