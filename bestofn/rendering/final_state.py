"""Renders what a run left behind: the files last written, the last checks, the last steps and the last message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bestofn.featurize.activity import Activity, activities, is_shell, prose
from bestofn.rendering.entries import Entry, Kind
from bestofn.rendering.page import Frame, Run, compose
from bestofn.rendering.rendered import Rendered
from bestofn.rendering.room import Floats
from bestofn.rendering.tokens import tokenizer_for
from bestofn.rendering.transcript import notes_after, notes_before, texts_of
from bestofn.rendering.words import Words, load_words
from bestofn.trajectory import Actor, Step, Trajectory

LAST_TEXTS = 6
"""Texts at the end that are shown whatever they are."""
MORE_TEXTS = 40
"""Texts at the end that are shown as far as there is room left."""
LAST_CHECKS = 4
"""Checks that are shown with their outputs."""
LAST_WRITES = 10
"""Writes that are shown: for every file the last one that wrote it whole, and the changes since."""

LOOK_BACK = 4000
"""Texts from the end among which checks and writes are looked for."""

_PATH_NAMES = (
    "path", "file_path", "filepath", "filePath", "filename", "file", "target_file", "targetFile", "notebook_path",
)  # fmt: skip
_WHOLE_NAMES = ("content", "contents", "file_text", "fileText", "text", "body", "code")
_HEREDOC_PATH = re.compile(
    r"(?:\bcat\b[^\n|;&<>]*|\btee\b\s+(?:-a\s+)?)>{0,2}\s*([^\s;&|<>'\"]+)[^\n]*<<|<<[^\n]*?>\s*([^\s;&|<>'\"]+)"
)
_REDIRECT_PATH = re.compile(r"(?<![0-9&<>=-])>\s*(?!/dev/|/tmp/)([^\s;&|<>()'\"]+)")
_APPEND = re.compile(r">>|\btee\s+-a\b")
_IN_PLACE_PATH = re.compile(r"\b(?:sed|perl)\b[^\n;&|]*?-[a-zA-Z0-9]*i[^\n;&|]*\s([^\s;&|<>'\"]+)\s*(?:$|[\n;&|])")
_PROSE_PATH = re.compile(r"(Create|Overwrite|Replace|Multi-patch|Patch) ([^\s]+)")


def final_state(
    trajectory: Trajectory,
    budget_tokens: int,
    *,
    model: str | None = None,
    reasoning: bool = False,
    redact: bool = True,
    key: bytes = b"",
) -> Rendered:
    """What the run left behind, as a judge reads it. Parameters and errors as for `transcript.render`."""
    words = load_words()
    task, found, thought = texts_of(trajectory, words, reasoning=reasoning)
    run = final_run(trajectory, found, thought, words)
    run = replace(run, before=[words.notes["final"], *run.before])
    tokens = tokenizer_for(model)
    return compose(Frame(words.preface_run, task), [run], budget_tokens, tokens, words, redact=redact, key=key)


def final_run(trajectory: Trajectory, found: Sequence[Entry], thought: int, words: Words, label: str = "") -> Run:
    """The run with weights on what tells its final state, and none on the rest."""
    return Run(
        found,
        final_weights(found),
        label=label,
        before=notes_before(trajectory, words, thought),
        after=notes_after(trajectory, words),
        thought=thought,
    )


def final_weights(found: Sequence[Entry]) -> Floats:
    """(len(found),) weights: the end above all, then the last checks, then what was last written."""
    weights = np.zeros(len(found))
    recent = range(len(found) - 1, max(len(found) - LOOK_BACK, 0) - 1, -1)
    done = {place: _activity(found[place]) for place in recent}
    for rank, place in enumerate(_last_writes(found, done)):
        weights[place] = 0.8 / (1.0 + rank / 6.0)
    checks = [place for place in recent if Activity.CHECK in done[place]][:LAST_CHECKS]
    for rank, place in enumerate(checks):
        for at in (place, *_outputs(found, place)):
            weights[at] = max(weights[at], 1.0 / (1.0 + rank / 4.0))
    for from_end in range(min(MORE_TEXTS, len(found))):
        place = len(found) - 1 - from_end
        late = 2.0 - from_end / LAST_TEXTS if from_end < LAST_TEXTS else 0.3 / (1.0 + (from_end - LAST_TEXTS) / 8.0)
        weights[place] = max(weights[place], late)
    said = next((place for place in recent if found[place].kind is Kind.MESSAGE and not done[place]), None)
    if said is not None:
        weights[said] = 2.0
    return weights


def _activity(entry: Entry) -> tuple[Activity, ...]:
    """What a text did, where it is a command or a tool's report in prose."""
    if entry.command is not None:
        return activities(entry.command)
    told = prose(Step(Actor.AGENT, message=entry.text)) if entry.kind is Kind.MESSAGE else None
    return () if told is None else (told,)


def _outputs(found: Sequence[Entry], place: int) -> list[int]:
    """Places of what came back from the command at a place."""
    outputs: list[int] = []
    for at in range(place + 1, len(found)):
        if found[at].kind is not Kind.OUTPUT or found[at].step != found[place].step:
            break
        outputs.append(at)
    return outputs


def _last_writes(found: Sequence[Entry], done: Mapping[int, tuple[Activity, ...]]) -> list[int]:
    """Places of the writes that made the files what they are, latest first as `done` is."""
    settled: set[str] = set()
    places: list[int] = []
    for place, activity in done.items():
        if Activity.EDIT not in activity:
            continue
        path, whole = written(found[place])
        if path in settled or not (path or _holds_content(found[place])):
            continue
        places.append(place)
        if whole and path:
            settled.add(path)
        if len(places) == LAST_WRITES:
            break
    return places


def _holds_content(entry: Entry) -> bool:
    """True where an edit of an unknown file shows what it wrote: a tool's call or a here-document, no mere `mv`."""
    return entry.command is not None and (not is_shell(entry.command.tool) or "<<" in entry.command.text)


def written(entry: Entry) -> tuple[str, bool]:
    """The file that an edit wrote, '' where it cannot be told, and whether it wrote the file whole."""
    if entry.command is None:
        line = _PROSE_PATH.match(entry.text)
        return (line[2], line[1] in ("Create", "Overwrite")) if line else ("", False)
    if not is_shell(entry.command.tool):
        return _argued(entry.command.arguments or {})
    text = entry.command.text
    for pattern, whole in ((_HEREDOC_PATH, True), (_IN_PLACE_PATH, False), (_REDIRECT_PATH, True)):
        match = pattern.search(text)
        if match:
            path = next(group for group in match.groups() if group)
            return path, whole and not _APPEND.search(text)
    return "", False


def _argued(arguments: Mapping[str, object]) -> tuple[str, bool]:
    """The same for a tool call, by the names of its arguments."""
    path = next((value for name in _PATH_NAMES if isinstance(value := arguments.get(name), str)), "")
    return path, any(isinstance(arguments.get(name), str) for name in _WHOLE_NAMES)
