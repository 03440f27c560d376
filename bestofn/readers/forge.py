"""ForgeCode's recordings: its console log cut into steps, each headed by the line that names what a tool did.

    Initialize <uuid>                        a mark of the harness, as is `Finished <uuid>`, the end mark
    Execute [/bin/sh] <first line>           a shell call; a here-document goes on in the output
    Read a.c:1-90, Search for ..., GET <url> tools that look
    Create a.c, Overwrite, Replace,          tools that change; a difference of the file may follow
      Multi-patch a.c (2 edits), Remove a.c
    Update Todos, Skill x, EXPLORER [Agent]  the agent's own matters
    ERROR: ...                               what the model's service said

Thoughts and words of the agent follow the line, or the output of a shell call, without any mark of their own. A thought
has a title that begins with a verb in -ing, an empty line, and a paragraph in the first person; only that is taken for
one. What the agent said right behind the output of a shell call stays in the output, since nothing tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from bestofn.trajectory import Actor, Command, Ending, EndingState, Observation, Step

SHELL = "execute_bash"
"""The tool name of shell calls."""
TOOLS = {
    "Read": "read",
    "Search": "search",
    "GET": "fetch",
    "Create": "write",
    "Overwrite": "write",
    "Replace": "patch",
    "Multi-patch": "multi_patch",
    "Remove": "rm",
    "Skill": "skill",
    "Update": "todo",
}
"""Tool names, as other harnesses have them, for the word that begins a step without a call."""

_CHANGING = ("write", "patch", "multi_patch")
_MARK = re.compile(r"(?:Initialize|Finished) [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DIFFERENCE = re.compile(r"(?:(?: *+\d++ ++\d*+ *+\|[^\n]*| *+\d++ *+\|[^\n]*|\.\.\.)(?:\n|\Z))+")
_TODOS = re.compile(r"Update Todos\n((?:\[[^\]\n]{0,2}\] [^\n]*(?:\n|\Z))+)")
_ERROR = "ERROR: "
_HEREDOC = re.compile(r"<<-?\s*[\"']?(\w+)[\"']?")

_TITLE = re.compile(r"[A-Z][a-z]+ing(?: [^\n.!?:|]{1,80})?")
_FIRST_PERSON = re.compile(r"\b(?:I|I['\u2019](?:m|d|ll|ve)|[Ww]e|[Ll]et['\u2019]s|my|me)\b")
_LONGEST_TITLE = 120
_GLUED_TITLE = re.compile(r"[.!?)\"'\u2019\u201d\u2026][A-Z][a-z\u2019']+ing(?: [^\n.!?:|]{1,80})?\Z")
"""The title of a further thought, glued to the last word of the one before."""
_GLUED_WORDS = re.compile(
    r"(?<=[a-z0-9)\]])(?=(?:I(?:['\u2019]| [a-z])|[A-Z][a-z]+ing |(?:Done|Now|Next|The|All|Both|This|No)\b))"
)
"""Where words begin that are glued to a todo item."""


class Said(NamedTuple):
    """What stands in a stretch of log behind a tool's line."""

    output: str
    reasoning: str
    message: str


def rewritten(steps: list[Step]) -> list[Step]:
    """The same steps with every tool's line as a command, and thoughts, words and marks told apart."""
    known = _known_items(steps)
    found: list[Step] = []
    for step in steps:
        if step.actor is not Actor.AGENT:
            found.append(step)
        elif step.commands:
            found.append(_shell(step))
        else:
            told = _told(step, known)
            if told is not None:
                found.append(told)
    return found


def ending_of(steps: Sequence[Step]) -> Ending:
    """Finished with the end mark, which `rewritten` leaves as the note of the last step; else unfinished."""
    if steps and steps[-1].note == FINISHED_NOTE:
        return Ending(EndingState.FINISHED)
    error = next((o.text for step in reversed(steps[-2:]) for o in step.observations if o.text.startswith(_ERROR)), "")
    return Ending(EndingState.UNFINISHED, reason=error.partition("\n")[0] or "no end mark")


FINISHED_NOTE = "finished"
"""The note on the step that stands for the end mark."""


def _shell(step: Step) -> Step:
    """A shell call: the here-document back into the command, a thought out of the output."""
    if len(step.commands) != 1 or len(step.observations) != 1:
        return step
    command, observation = step.commands[0], step.observations[0]
    text, output = _with_document(command.text, observation.text)
    said = _taken_apart(output)
    if said is None:
        if output is observation.text:
            return step
        return step._replace(commands=(command._replace(text=text),), observations=(Observation(output, 0),))
    if text is not command.text:
        command = command._replace(text=text)
    message = said.message if not step.message else step.message
    return Step(step.actor, message, said.reasoning, (command,), (Observation(said.output, 0),))


def _with_document(line: str, output: str) -> tuple[str, str]:
    """The whole command and its output: the log shows one line of it, and its here-document begins the output."""
    opened = _HEREDOC.search(line) if "<<" in line else None
    if opened is None:
        return line, output
    end = opened[1]
    if output.startswith(f"{end}\n") or output == end:
        at = len(end)
    elif (found := output.find(f"\n{end}\n")) >= 0:
        at = found + 1 + len(end)
    elif output.endswith(f"\n{end}"):
        at = len(output)
    else:
        return line, output
    return f"{line}\n{output[:at]}", output[at + 1 :]


def _told(step: Step, known: frozenset[str]) -> Step | None:
    """A step without a call, None where it holds nothing but the mark of the beginning."""
    text = step.message
    line, _, rest = text.partition("\n")
    word, _, argument = line.partition(" ")
    tool = TOOLS.get(word)
    if tool == "todo":
        todos = _TODOS.match(text)
        if todos is None:
            # The list was emptied.
            return _with_words(step, Command("", tool), rest)
        listed, rest = _unglued(todos[1], text[todos.end() :], known)
        return _with_words(step, Command(listed, tool), rest)
    if tool is not None and argument:
        if tool == "search":
            argument = argument.removeprefix("for ")
        elif tool in _CHANGING and (difference := _DIFFERENCE.match(rest)) is not None:
            argument = f"{argument}\n{difference[0].rstrip()}"
            rest = rest[difference.end() :]
        return _with_words(step, Command(argument, tool), rest)
    if _MARK.fullmatch(line):
        said = _words(rest)
        if word == "Finished":
            return Step(Actor.AGENT if said.message else Actor.SYSTEM, said.message, said.reasoning, note=FINISHED_NOTE)
        return Step(Actor.AGENT, said.message, said.reasoning) if said.message or said.reasoning else None
    if text.startswith(_ERROR):
        return Step(Actor.AGENT, observations=(*step.observations, Observation(text)))
    if argument.startswith("[Agent] ") and word.isupper():
        return _with_words(step, Command(argument.removeprefix("[Agent] "), "task"), rest)
    return step


def _with_words(step: Step, command: Command, rest: str) -> Step:
    said = _words(rest)
    return Step(Actor.AGENT, said.message, said.reasoning, (command,), step.observations)


def _words(text: str) -> Said:
    """Thought and message in a text that holds no output."""
    said = _taken_apart(text) if text else None
    if said is None:
        return Said("", "", text.strip("\n"))
    return Said("", said.reasoning, "\n".join(part for part in (said.output.strip("\n"), said.message) if part))


def _taken_apart(text: str) -> Said | None:
    """Output, thought and message: a thought begins at the last title that stands on a line of its own.

    None where there is no thought.
    """
    gap = text.rfind("\n\n")
    while gap >= 0 and (begin := _title_before(text, gap)) < 0:
        gap = text.rfind("\n\n", 0, gap)
    if gap < 0:
        return None
    end = _paragraphs_end(text, gap + 2)
    # A list inside a thought ends its paragraphs too early; the title of a further thought tells.
    gap = text.find("\n\n", end)
    while gap >= 0:
        if _GLUED_TITLE.search(text, max(end, gap - _LONGEST_TITLE), gap):
            end = _paragraphs_end(text, gap + 2)
        gap = text.find("\n\n", max(end, gap + 2))
    return Said(text[:begin].removesuffix("\n"), text[begin:end], text[end:].strip("\n"))


def _title_before(text: str, gap: int) -> int:
    """Where the title of a thought begins that an empty line ends, -1 where what stands there is none."""
    begin = text.rfind("\n", max(0, gap - _LONGEST_TITLE), gap) + 1
    if not "A" <= text[begin : begin + 1] <= "Z" or not _TITLE.fullmatch(text, begin, gap):
        return -1
    end = text.find("\n", gap + 2)
    return begin if _FIRST_PERSON.search(text, gap + 2, len(text) if end < 0 else end) else -1


def _paragraphs_end(text: str, begin: int) -> int:
    """Where the paragraphs end that begin there: empty lines part them, a single newline ends the last one."""
    end = text.find("\n", begin)
    while end >= 0 and text.startswith("\n", end + 1):
        end = text.find("\n", end + 2)
    return len(text) if end < 0 else end


def _known_items(steps: Sequence[Step]) -> frozenset[str]:
    """The todo items of the whole run, to tell an item from the words glued to it elsewhere."""
    lists = (step.message for step in steps if step.message.startswith("Update Todos\n"))
    boxes = (line.partition("] ") for text in lists for line in text.split("\n") if line.startswith("["))
    return frozenset(item for _, _, item in boxes if item)


def _unglued(listed: str, rest: str, known: frozenset[str]) -> tuple[str, str]:
    """The todo list, and what the agent said: its first line is glued to the last item."""
    head, newline, last = listed.rstrip("\n").rpartition("\n")
    box, _, item = last.partition("] ")
    # What goes on in the middle of a sentence is a longer item, not words glued to a shorter one.
    shorter = [other for other in known if item.startswith(other) and not _goes_on(item[len(other) :])]
    glued = _GLUED_WORDS.search(item) if not shorter else None
    if not shorter and glued is None:
        return listed.rstrip("\n"), rest
    length = max(map(len, shorter)) if glued is None else glued.start()
    said = item[length:]
    return f"{head}{newline}{box}] {item[:length]}", f"{said}\n{rest}" if rest else said


def _goes_on(rest: str) -> bool:
    """True for the rest of a sentence, as far as its first character and its last one tell."""
    return not rest or rest[0].isspace() or rest[0] in ",;:-/.'" or (rest[0].islower() and not rest.endswith("."))
