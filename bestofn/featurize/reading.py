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
    """One command, what it was for and what came back."""

    place: Place
    command: Command
    activities: tuple[Activity, ...]


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

    def texts(self, channel: Channel) -> tuple[Text, ...]:
        """The texts of a channel in order, empty ones left out. Observations count whoever's turn they stand in."""
        return self._texts[channel]

    @cached_property
    def _texts(self) -> dict[Channel, tuple[Text, ...]]:
        found: dict[Channel, list[Text]] = {channel: [] for channel in Channel}
        for index, step in enumerate(self.steps):
            found[Channel.OBSERVATION].extend(_observations(index, step))
            if step.actor is Actor.AGENT:
                found[Channel.MESSAGE].append(Text(Place(index), step.message))
                found[Channel.REASONING].append(Text(Place(index), step.reasoning))
                for number, command in enumerate(step.commands):
                    found[Channel.COMMAND].append(Text(Place(index, number), shown(command)))
        return {channel: tuple(text for text in texts if text.text) for channel, texts in found.items()}

    def covers(self, channel: Channel) -> bool:
        """True where this recording can hold texts of the channel at all."""
        coverage = self.trajectory.coverage
        if self.empty:
            return False
        if channel is Channel.COMMAND:
            return coverage.commands
        if channel is Channel.OBSERVATION:
            return coverage.observations
        if channel is Channel.MESSAGE:
            return coverage.messages
        return bool(self.texts(Channel.REASONING))

    def within(self, channel: Channel, where: Where) -> tuple[Text, ...] | None:
        """The texts of a channel in a part of the run; None where the run has no such part."""
        texts = self.texts(channel)
        if where.span is Span.LAST_STEPS:
            steps = sorted({text.place.step for text in texts})[-where.steps :]
            return tuple(text for text in texts if text.place.step in steps)
        if where.span is Span.AFTER_LAST_EDIT:
            return self._after_last_edit(channel)
        return texts

    def _after_last_edit(self, channel: Channel) -> tuple[Text, ...] | None:
        edit, after = self.last_edit, self.acts_after_edit
        if edit is None or after is None:
            return None
        # A command that edits and then goes on to run something shows in its own output what that came to.
        goes_on = channel is Channel.OBSERVATION and bool(after) and after[0][0] == edit
        return tuple(text for text in self.texts(channel) if text.place > edit or (goes_on and text.place == edit))

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The agent's commands in order, each with what it was for."""
        return tuple(
            Call(Place(index, number), command, activities(command))
            for index in self.agent_steps
            for number, command in enumerate(self.steps[index].commands)
        )

    @cached_property
    def acts(self) -> tuple[tuple[Place, Activity], ...]:
        """All that the agent did, in order; one command may do several things, and a step of prose one."""
        done = [(call.place, activity) for call in self.calls for activity in call.activities]
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
        """What the agent said to end the run: the message of its last turn, if that does nothing but hand in.

        None where its last turn was a command, as in a run that was broken off.
        """
        for index in reversed(self.agent_steps):
            step = self.steps[index]
            if not (step.message.strip() or step.commands or step.reasoning.strip()):
                continue
            ends = all(Activity.END in activities(command) for command in step.commands)
            return step.message if ends and step.message.strip() and prose(step) is None else None
        return None


def shown(command: Command) -> str:
    """A command as patterns see it: the shell line, or the tool's name on a line above its arguments."""
    if is_shell(command.tool):
        return command.text
    return f"{command.tool}\n{command.text}" if command.text else command.tool


def _observations(index: int, step: Step) -> Iterator[Text]:
    """What came back in one step; an observation that names no command stands behind all of them."""
    for observation in step.observations:
        yield Text(Place(index, _answered(step, observation)), observation.text)


def _answered(step: Step, observation: Observation) -> int:
    return len(step.commands) - 1 if observation.command is None else observation.command
