"""How a run ended, told by the end mark that its harness is known to leave.

Only a harness that marks every finished run can leave one unfinished; of any other, a missing mark says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bestofn.readers import forge, terminus
from bestofn.readers.harness import FORGE, MINI_SWE_AGENT, OPENHANDS, TERMINUS_2
from bestofn.trajectory import Actor, Ending, EndingState, Step

FINISHED = Ending(EndingState.FINISHED)
UNKNOWN = Ending(EndingState.UNKNOWN)
SUBMIT_MARK = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What mini-swe-agent prints to hand its work in."""
END_TOOLS = frozenset({
    "finish", "submit", "mark_task_complete", "task_complete", "complete_task", "attempt_completion", "final_answer",
})  # fmt: skip
"""Tools that end a run in any harness that has them."""
_OPENHANDS_FINISHED = re.compile(
    r"AgentState\.FINISHED|agent_state[\"']?\s*[:=]\s*[\"']?(?:AgentState\.)?finished\b", re.I
)


def ending_of(harness: str, steps: Sequence[Step]) -> Ending:
    """The ending of a run of that harness, one of `harness`'s names or any other.

    A recording without any turn of the agent has no ending that could be told.
    """
    turns = [step for step in steps if step.actor is Actor.AGENT]
    if harness == FORGE:
        return forge.ending_of(steps)
    if not turns:
        return UNKNOWN
    return _HARNESSES.get(harness, _by_mark)(turns, steps)


def unfinished(mark: str) -> Ending:
    """An ending without the mark that the harness leaves on every finished run."""
    return Ending(EndingState.UNFINISHED, reason=f"no {mark}")


def _by_mark(turns: Sequence[Step], steps: Sequence[Step]) -> Ending:
    """Finished where the last turn calls a tool that ends runs, or submits; else nothing is known."""
    last = turns[-1].commands
    return FINISHED if any(c.tool.lower() in END_TOOLS or SUBMIT_MARK in c.text for c in last) else UNKNOWN


def _terminus(turns: Sequence[Step], steps: Sequence[Step]) -> Ending:
    if not any(step.observations for step in turns):
        return UNKNOWN
    return FINISHED if terminus.confirmed(turns) else unfinished("confirmed completion of the task")


def _mini_swe_agent(turns: Sequence[Step], steps: Sequence[Step]) -> Ending:
    """Submitting is the only way out, so every finished run shows it in its last turn."""
    last = turns[-1]
    if any(SUBMIT_MARK in text for text in (last.message, *(command.text for command in last.commands))):
        return FINISHED
    return unfinished(f"{SUBMIT_MARK} in the last turn")


def _openhands(turns: Sequence[Step], steps: Sequence[Step]) -> Ending:
    """A call of `finish` or the state FINISHED ends a run; a last word without a call may do so too."""
    if _by_mark(turns, steps) == FINISHED:
        return FINISHED
    tail = [text for step in steps[-3:] for text in (step.message, *(o.text for o in step.observations))]
    if any(_OPENHANDS_FINISHED.search(text[-2000:]) for text in tail):
        return FINISHED
    return unfinished("call of finish") if turns[-1].commands else UNKNOWN


_HARNESSES: dict[str, Callable[[Sequence[Step], Sequence[Step]], Ending]] = {
    TERMINUS_2: _terminus,
    MINI_SWE_AGENT: _mini_swe_agent,
    OPENHANDS: _openhands,
}
