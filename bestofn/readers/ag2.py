"""Reads the annotated runs of the MAST collection: AG2 group chats, peer review, HyperAgent and MetaGPT logs.

An AG2 record is `{instance_id, problem_statement, other_data, trajectory: [{content, role, name}], note}`. Its roles
are inverted: a model speaks as `user`, and `assistant` is whoever began the chat, often a proxy that only passes the
problem on and runs code. So names tell who is who, and where there are none, the first speaker's role is the proxy's.

The label is `other_data.correct`. All else in `other_data` (the answer, what was taken for the run's answer, the seed
solution, a gold patch), the annotators' `note` and what an unknown key holds reach nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import re2

from bestofn.readers import mast_logs
from bestofn.readers.blocks import without
from bestofn.readers.document import Document, digest
from bestofn.readers.draft import Draft, Source
from bestofn.readers.places import bare, own_name, task_name
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.text import clean, text_of
from bestofn.readers.values import items, mapping, name, record_digest, reward_label, string
from bestofn.trajectory import Actor, Command, Coverage, Ending, EndingState, Label, Observation, Step

NAME = "ag2"
SUMMARY = "AG2 (AutoGen) group chats and the other annotated runs of the MAST collection, one record an attempt"

_EXECUTED = re.compile(r"\Aexitcode: (-?\d{1,9}) \(execution (?:succeeded|failed)\)\s*?\nCode output:[ \n]?", re.DOTALL)
"""How AG2 reports that it ran the code of the message before."""
_BLOCK = re2.compile(r"(?s)```[ \t]*(\w*)[ \t]*\n(.*?)\n[ \t]*```[ \t]*\n?")
"""A block of code that AG2 would run: its language and text."""
_LANGUAGES = {"python": "python", "py": "python", "sh": "sh", "shell": "sh", "bash": "bash"}
"""Languages of blocks that are code to run, and the tool that runs them."""
_PROXY = re.compile(r"(?i).*proxy.*|user|admin|human|computer_?terminal")
"""Names of speakers that are no model."""
_MATH_PROXY = "mathproxy"
"""How the name of AG2's MathChat proxy begins: it returns what code printed as it is, and stops at a boxed answer."""
_MANAGER = "chat_manager"
_PROMPTING = re.compile(r"Continue\. Please keep solving|Please revisit the problem|Reply \"?TERMINATE|\Z")
"""How a proxy asks the model to go on; whatever else it says after code is the code's output."""
_MARKS = re.compile(r"\bSOLUTION_FOUND\b|\bTERMINATE\b")
_BOXED = "\\boxed"
_CORRECT = {"correct": True, "right": True, "true": True, "wrong": False, "incorrect": False, "false": False}


def claims(document: Document) -> bool:
    """True for records with a trajectory beside a problem statement or `other_data`, and for MetaGPT logs."""
    return any(_is_record(value) or mast_logs.is_metagpt(value) for value in _values(document)[:20])


def read(document: Document, source: Source) -> Iterator[Draft | Problem]:
    """The attempts of a file, in its order."""
    values = _values(document)
    single = document.lines is None and not isinstance(document.value, list)
    for index, record in enumerate(values):
        where = source.relative if single else f"{source.relative}, record {index}"
        if document.lines is not None:
            known = digest(document.lines[index].raw)
        else:
            known = document.digest if single else record_digest(record)
        if not isinstance(record, dict) or not (_is_record(record) or mast_logs.is_metagpt(record)):
            kind = ProblemKind.NO_TURNS if single else ProblemKind.BAD_LINE
            yield Problem(kind, where, "no record with a trajectory and a problem statement")
            continue
        yield from _attempt(record, None if single else index, known, where, source)


def _values(document: Document) -> list[Any]:
    """The file's records."""
    if document.lines is not None:
        return [line.value for line in document.lines]
    return document.value if isinstance(document.value, list) else [document.value]


def _is_record(value: Any) -> bool:
    """True for a record of AG2, peer review or HyperAgent. A trajectory with `steps` is another format's."""
    if not isinstance(value, dict) or "trajectory" not in value:
        return False
    trajectory = value["trajectory"]
    if isinstance(trajectory, dict) and "steps" in trajectory:
        return False
    return "problem_statement" in value or "other_data" in value


def _attempt(
    record: dict[str, Any], number: int | None, known: str, where: str, source: Source
) -> Iterator[Draft | Problem]:
    """The attempt of one record, and what is wrong with it."""
    problem = _lines(record.get("problem_statement"))
    found = mast_logs.metagpt(record) if mast_logs.is_metagpt(record) else _recorded(record["trajectory"], problem)
    trajectory = record.get("trajectory", record.get("content"))
    if not found.steps and trajectory:
        yield Problem(ProblemKind.NO_TURNS, where, "nothing in its trajectory is a turn")
        return
    if found.skipped:
        yield Problem(ProblemKind.BAD_LINE, where, f"{found.skipped} items of its trajectory are no turns, left out")
    yield Draft(
        task=name(record.get("instance_id")) or found.task or task_name(source),
        name=own_name(source) if number is None else f"{bare(source.path.name)}#{number}",
        steps=found.steps,
        label=_label(mapping(record.get("other_data"))),
        ending=found.ending,
        coverage=found.coverage,
        instruction=found.instruction or problem,
        usage=found.usage,
        digest=known,
        record=number,
    )


def _recorded(trajectory: Any, problem: str) -> mast_logs.Recorded:
    """The turns of any form of `trajectory`: a chat, a chat for each agent, or the lines of a log."""
    if isinstance(trajectory, dict):
        return _peers(trajectory)
    entries = items(trajectory)
    if sum(isinstance(entry, str) for entry in entries) * 2 > len(entries):
        return mast_logs.hyperagent([entry for entry in entries if isinstance(entry, str)])
    return _chat(entries, problem)


def _label(other_data: dict[str, Any]) -> Label:
    """The label; several agents' verdicts count where they agree."""
    if "correct" not in other_data:
        return Label.unknown("the record says nothing of correct or wrong")
    verdict = other_data["correct"]
    if not isinstance(verdict, list):
        return _verdict(verdict)
    labels = {(label.kind, label.value): label for label in map(_verdict, verdict)}
    if len(labels) == 1:
        return next(iter(labels.values()))
    return Label.unknown(
        f"the {len(verdict)} agents' answers differ in outcome" if verdict else "correct is an empty list"
    )


def _verdict(value: Any) -> Label:
    """One verdict: a truth value or a word for it."""
    word = string(value).strip().lower()
    return reward_label(_CORRECT.get(word, value), "correct")


def _lines(content: Any) -> str:
    """A content that is a text, or a list of its lines."""
    if isinstance(content, list) and all(isinstance(line, str) for line in content):
        return clean("\n".join(content))
    return text_of(content)


def _is_turn(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and "content" in entry
        and (bool(name(entry.get("role"))) or bool(name(entry.get("name"))))
    )


def _chat(entries: list[Any], problem: str, *, runs_code: bool = True) -> mast_logs.Recorded:
    """The turns of one chat; `runs_code` says that blocks of code in it are run."""
    spoken = [entry for entry in entries if _is_turn(entry)]
    texts = [_lines(entry["content"]) for entry in spoken]
    steps: list[Step] = []
    for index, (entry, text) in enumerate(zip(spoken, texts, strict=True)):
        speaker = name(entry.get("name"))
        actor = _actor(entry, spoken[0], index == 0 and _flat(problem) in _flat(text))
        output = _output(text, speaker, steps[-1] if steps else None)
        if output is not None:
            steps[-1] = steps[-1]._replace(observations=(output,))
        elif actor is Actor.AGENT and runs_code:
            steps.append(_spoken(text, speaker, any(map(_EXECUTED.match, texts[index + 1 : index + 2]))))
        else:
            steps.append(Step(actor, text, name=speaker))
    exit_codes = any(observation.exit_code is not None for step in steps for observation in step.observations)
    coverage = Coverage(commands=runs_code, observations=runs_code, exit_codes=exit_codes)
    ending = _ending(steps, {name(entry.get("name")) for entry in spoken})
    return mast_logs.Recorded(tuple(steps), ending, coverage, skipped=len(entries) - len(spoken))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _actor(entry: dict[str, Any], first: dict[str, Any], poses: bool) -> Actor:
    """Who speaks: a model, the proxy that stands for the user, or the manager of the chat."""
    speaker = name(entry.get("name"))
    if speaker == _MANAGER:
        return Actor.SYSTEM
    if poses or _PROXY.fullmatch(speaker):
        return Actor.USER
    if name(entry.get("role")) == "system":
        return Actor.SYSTEM
    if not speaker and entry.get("role") == first.get("role"):
        return Actor.USER
    return Actor.AGENT


def _output(text: str, speaker: str, before: Step | None) -> Observation | None:
    """What running the code of the step before gave; None for a message.

    A report of an execution that follows no code is the words of a model that only plays one.
    """
    if before is None or not before.commands or before.observations:
        return None
    command = 0 if len(before.commands) == 1 else None
    executed = _EXECUTED.match(text)
    if executed is not None:
        return Observation(text[executed.end() :], command, int(executed[1]))
    if speaker.lower().startswith(_MATH_PROXY) and not _PROMPTING.match(text):
        return Observation(text, command)
    return None


def _spoken(text: str, speaker: str, ran: bool) -> Step:
    """A model's turn: its blocks of code are commands, the rest is what it said.

    `ran` says that an execution follows, so that blocks without a known language were code as well.
    """
    blocks = [block for block in _BLOCK.finditer(text) if block[1].lower() in _LANGUAGES or ran]
    commands = tuple(Command(block[2], _LANGUAGES.get(block[1].lower(), "python")) for block in blocks)
    return Step(Actor.AGENT, without(text, blocks), commands=commands, name=speaker)


def _ending(steps: Sequence[Step], names: set[str]) -> Ending:
    """Finished where the last turn of a model has the topology's mark; unknown where the topology has none."""
    last = next((step.message for step in reversed(steps) if step.actor is Actor.AGENT), None)
    if last is None:
        return Ending()
    mark = _MARKS.search(last)
    if mark is not None:
        return Ending(EndingState.FINISHED, reason=f"{mark[0]} in the last turn")
    boxes = any(speaker.lower().startswith(_MATH_PROXY) for speaker in names)
    if boxes and _BOXED in last:
        return Ending(EndingState.FINISHED, reason="a boxed answer in the last turn")
    if boxes or _MANAGER in names:
        return Ending(EndingState.UNFINISHED, reason="the last turn has no mark of a solution")
    return Ending()


def _peers(trajectory: dict[str, Any]) -> mast_logs.Recorded:
    """The turns of agents that solve apart and review each other, round by round."""
    chats = {agent: _chat(items(chat), "", runs_code=False) for agent, chat in trajectory.items()}
    rounds = zip_longest(*([(agent, step) for step in chat.steps] for agent, chat in chats.items()))
    steps = tuple(turn[1]._replace(name=f"agent {turn[0]}") for turns in rounds for turn in turns if turn is not None)
    skipped = sum(chat.skipped for chat in chats.values()) + sum(not isinstance(c, list) for c in trajectory.values())
    return mast_logs.Recorded(steps, Ending(), Coverage(commands=False, observations=False), skipped=skipped)
