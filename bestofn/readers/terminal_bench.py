"""Reads terminal-bench's classic run directories: results.json for the outcome, the terminal for the steps.

    <run>/<task>/<task>.<i>-of-<n>.<run>/{results.json, commands.txt, panes/, sessions/}

The steps come from the first of these that holds any: sessions/agent.cast (what was typed and printed),
sessions/agent.log (what was printed), panes/post-agent.txt (the screen after the agent and before the tests, with the
keys of commands.txt). The harness's own lines are left out, and all that follows once it starts the tests; tests.cast,
tests.log and the post-test pane are never opened. Many runs hold nothing of the agent at all: then there is no step.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bestofn.readers import console
from bestofn.readers.asciicast import exchanges
from bestofn.readers.document import Document, digest, parse_json
from bestofn.readers.draft import Draft, Source
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.readers.recording import seconds_between
from bestofn.readers.text import clean
from bestofn.readers.values import count, items, mapping, name, string
from bestofn.trajectory import Actor, Command, Coverage, Ending, EndingState, Label, Observation, Step, Usage

NAME = "terminal-bench"
SUMMARY = "terminal-bench classic run directories: one trial directory an attempt (results.json, sessions/, panes/)"

_TRIAL_KEYS = frozenset({"is_resolved", "failure_mode", "parser_results"})
_RECORDINGS = frozenset({"sessions", "panes", "commands.txt"})
_RUN_KEYS = frozenset({"results", "run_id", "n_resolved", "accuracy", "pass_at_k"})
_AGENT_ENDINGS = {
    "agent_timeout": EndingState.TIMED_OUT,
    "agent_installation_failed": EndingState.CRASHED,
    "unknown_agent_error": EndingState.CRASHED,
}
"""Failure modes of the agent's. All others are the checker's, and tell nothing that may be used."""
_TESTS = re.compile(r"run-tests\.sh|/tests/\S*\.sh|tests\.cast")
"""Where the harness starts the tests: nothing from there on is the agent's."""
_INSTALLED = "/installed-agent/"
_LAUNCHED = ("INSTALL_SUCCESS", _INSTALLED)
"""Stand in the harness's lines before it starts an agent that it installed."""
_WAIT = re.compile(r"; tmux wait(?:-for)? -S \w+\s*$")
_PROMPT = re.compile(r"^(?:\([\w.-]+\) )?\S{1,64}@\S{1,64}:[^\n#$]{0,200}[#$] ?")
_HARNESS_LINE = re.compile(r"(?:asciinema\b.*|clear|exit|C-d|tmux wait\b.*)?\s*$")


class Terminal(NamedTuple):
    """What the terminal's recordings hold of the agent."""

    steps: tuple[Step, ...]
    coverage: Coverage


_NOTHING = Terminal((), Coverage(commands=False, observations=False, messages=False))


def claims_directory(path: Path, names: frozenset[str]) -> bool:
    """True for a trial: a results.json with a verdict, which a run's own has not, or a terminal's recordings."""
    if "results.json" in names:
        try:
            results = _results(path)
        except (OSError, ValueError):
            return not names.isdisjoint(_RECORDINGS)
        return not _TRIAL_KEYS.isdisjoint(mapping(results)) and not isinstance(mapping(results).get("messages"), list)
    return len(_RECORDINGS & names) > 1


def is_companion(document: Document) -> bool:
    """True for a run's own results.json and run_metadata.json."""
    value = mapping(document.value)
    return document.path.name in ("results.json", "run_metadata.json") and not _RUN_KEYS.isdisjoint(value)


def read_directory(source: Source) -> Iterator[Draft | Problem]:
    """The attempt in a trial directory."""
    folder = source.path
    results: dict[str, Any] | None = None
    try:
        results = mapping(_results(folder))
    except ValueError as error:
        yield Problem(ProblemKind.UNREADABLE, f"{source.relative}/results.json", f"not JSON: {error}")
    except FileNotFoundError:
        pass
    stated = results or {}
    own_name = folder.resolve().name
    mode = string(stated.get("failure_mode"))
    terminal = _terminal(folder)
    yield Draft(
        task=name(stated.get("task_id")) or _task_from_name(own_name),
        name=name(stated.get("trial_name")) or own_name,
        steps=terminal.steps,
        label=_label(results, mode),
        ending=_ending(results, mode),
        coverage=terminal.coverage,
        instruction=clean(string(stated.get("instruction"))),
        usage=Usage(
            count(stated.get("total_input_tokens")),
            count(stated.get("total_output_tokens")),
            seconds=seconds_between([stated.get("agent_started_at"), stated.get("agent_ended_at")]),
        ),
        digest=digest(_bytes(folder / "results.json"), b"\0", *(_bytes(path) for path in _agent_files(folder))),
    )


def _results(folder: Path) -> Any:
    """The trial's results. Raises FileNotFoundError, OSError or ValueError."""
    path = folder / "results.json"
    if not path.is_file():
        raise FileNotFoundError(path)
    return parse_json(path.read_bytes())


def _task_from_name(folder: str) -> str:
    """The task in a trial's folder name: `<task>.<i>-of-<n>...`."""
    return re.sub(r"\.\d+-of-\d+.*\Z", "", folder)


def _label(results: dict[str, Any] | None, mode: str) -> Label:
    """is_resolved; where that is null, the failure mode says why."""
    if results is None:
        return Label.unknown("no results.json")
    resolved = results.get("is_resolved")
    if resolved is True or resolved is False:
        return Label.from_reward(float(resolved))
    return Label.unknown(mode or ("no is_resolved" if resolved is None else "is_resolved is neither true nor false"))


def _ending(results: dict[str, Any] | None, mode: str) -> Ending:
    """What the failure mode tells of the agent; a trial without results was interrupted."""
    if results is None:
        return Ending(EndingState.UNFINISHED, reason="no results.json")
    return Ending(_AGENT_ENDINGS[mode], reason=mode) if mode in _AGENT_ENDINGS else Ending()


def _agent_files(folder: Path) -> tuple[Path, Path, Path]:
    """The files that hold what the agent did, the best first."""
    return folder / "sessions" / "agent.cast", folder / "sessions" / "agent.log", folder / "panes" / "post-agent.txt"


def _terminal(folder: Path) -> Terminal:
    """The agent's steps from the best file that holds any."""
    keys = _keys(_bytes(folder / "commands.txt"))
    installed = any(_INSTALLED in line for line in keys)
    cast, *texts = _agent_files(folder)
    found = _from_cast(_bytes(cast), installed)
    if found is not None:
        return found
    typed = [line for line in keys if not _is_harness(line)]
    for path in texts:
        screen = _agent_part(clean(_bytes(path).decode("utf-8", errors="replace")), installed)
        if screen:
            return _on_screen(screen, [] if installed else typed)
    return _NOTHING


def _from_cast(raw: bytes, installed: bool) -> Terminal | None:
    """The exchanges of the recording, None where it holds none of the agent's.

    The harness types for an agent that it installed, so that only what was printed is the agent's.
    """
    steps: list[Step] = []
    printed: list[str] = []
    launched = not installed
    for exchange in exchanges(raw):
        if _TESTS.search(exchange.typed):
            break
        before, tests, _ = _partition(_TESTS, exchange.printed)
        typed = _WAIT.sub("", clean(exchange.typed)).strip()
        if installed:
            if launched and _INSTALLED not in typed:
                printed.append(before)
            launched = launched or _INSTALLED in typed
        elif typed and not _is_harness(typed):
            output = Observation(_agent_part(clean(before), installed=False), 0)
            steps.append(Step(Actor.AGENT, commands=(Command(typed),), observations=(output,)))
        if tests:
            break
    if installed:
        screen = _agent_part(clean("".join(printed)), installed=False)
        return _on_screen(screen, []) if screen else None
    return Terminal(tuple(steps), Coverage(messages=False)) if steps else None


def _on_screen(screen: str, typed: Sequence[str]) -> Terminal:
    """The turns that an agent printed as such; else one step with all that was typed and printed, since nothing
    tells which output answers which line."""
    printed = console.turns(screen)
    if printed:
        codes = any(observation.exit_code is not None for turn in printed for observation in turn.observations)
        return Terminal(printed, Coverage(commands=any(turn.commands for turn in printed), exit_codes=codes))
    step = Step(Actor.AGENT, commands=tuple(map(Command, typed)), observations=(Observation(screen),))
    return Terminal((step,), Coverage(commands=bool(typed), messages=False))


def _agent_part(screen: str, installed: bool) -> str:
    """A cleaned screen without the harness's own lines, and without all that stands before an installed agent's start
    and behind the start of the tests."""
    lines = _partition(_TESTS, screen)[0].split("\n")
    if _partition(_TESTS, screen)[1]:
        # The line in which the tests are started is the harness's.
        lines.pop()
    if installed:
        last = max((i for i, line in enumerate(lines) if any(mark in line for mark in _LAUNCHED)), default=-1)
        lines = lines[last + 1 :]
    kept = [line for line in lines if not _is_harness(_WAIT.sub("", _PROMPT.sub("", line)))]
    return "\n".join(kept).strip("\n")


def _is_harness(line: str) -> bool:
    """True for a line that the harness types or prints in every run, and for an empty one."""
    return _INSTALLED in line or _HARNESS_LINE.match(line) is not None


def _partition(pattern: re.Pattern[str], text: str) -> tuple[str, bool, str]:
    """The text before and after the first match, and whether there is one."""
    match = pattern.search(text)
    return (text, False, "") if match is None else (text[: match.start()], True, text[match.end() :])


def _keys(raw: bytes) -> list[str]:
    """The lines that the harness sent to the terminal before the tests; each of the file's is a Python list of keys."""
    lines: list[str] = []
    for recorded in raw.decode("utf-8", errors="replace").splitlines():
        try:
            keys = ast.literal_eval(recorded.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        texts = [key for key in items(keys) if isinstance(key, str)]
        line = "".join(texts[:-1] if texts[-1:] == ["Enter"] else texts)
        if _TESTS.search(line):
            break
        lines.append(clean(line))
    return lines


def _bytes(path: Path) -> bytes:
    """A file's bytes, none where there is no such file."""
    return path.read_bytes() if path.is_file() else b""
