"""What the tests of readers share: files read as a pool reads them, damaged records, all texts of a run."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from bestofn.pool import Pool
from bestofn.readers.document import Document
from bestofn.readers.draft import Draft, Source
from bestofn.readers.problem import Problem
from bestofn.trajectory import LabelKind, Trajectory

DAMAGE: tuple[Any, ...] = (None, 7, -1.5, True, "x", "", [], [None], ["x"], [[]], {}, {"a": 1}, math.nan)
"""What a value of a record is replaced by, one after the other."""


def written(path: Path, value: Any) -> Path:
    """A file with a value as JSON, or with one a line where its name ends in .jsonl; text is written as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(value, str):
        path.write_text(value, encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(line) + "\n" for line in value), encoding="utf-8")
    else:
        path.write_text(json.dumps(value), encoding="utf-8")
    return path


def pooled(root: Path, format_name: str | None = None) -> tuple[list[Trajectory], list[Problem]]:
    """All attempts of a pool and what went wrong."""
    problems: list[Problem] = []
    return list(Pool(root.name, root, format_name).stream(problems.append)), problems


def single(root: Path, format_name: str | None = None) -> Trajectory:
    """The one attempt of a pool."""
    attempts, problems = pooled(root, format_name)
    assert len(attempts) == 1, problems
    return attempts[0]


def texts(attempt: Draft | Trajectory) -> str:
    """Everything of an attempt but its label, as one text: what features, prompts and ids can be made of."""
    own_name = attempt.name if isinstance(attempt, Draft) else attempt.id
    known = [attempt.task, own_name, attempt.instruction, attempt.ending, attempt.coverage, attempt.usage]
    return repr([*known, attempt.steps])


def damaged(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """(place, copy of the value with that place damaged) for every place and every damage, and with it taken away."""
    for place in _places(value):
        for replacement in DAMAGE:
            yield place, _replaced(value, place, replacement)
        if place:
            yield place, _without(value, place)


def survives(reader: ModuleType, value: Any, file: Path) -> int:
    """Reads every damaged form of a file's value and checks what comes out; how many forms there were."""
    count = 0
    for place, form in damaged(value):
        count += 1
        document = Document(file, value=form, raw=json.dumps(form).encode())
        source = Source(file, file.parent)
        assert isinstance(reader.claims(document), bool), place
        for found in reader.read(document, source):
            assert isinstance(found, Draft | Problem), (place, found)
            if isinstance(found, Draft):
                _check(found, place)
    return count


def _check(draft: Draft, place: tuple[Any, ...]) -> None:
    """What holds for every attempt, whatever its record held."""
    assert all(isinstance(text, str) and text for text in (draft.task, draft.name)), place
    assert (draft.label.kind is LabelKind.UNKNOWN) == math.isnan(draft.label.value), place
    assert draft.label.kind is not LabelKind.UNKNOWN or draft.label.reason, place
    for step in draft.steps:
        assert all(isinstance(text, str) for text in (step.message, step.reasoning, step.name)), place
        for command in step.commands:
            assert all(isinstance(text, str) for text in (command.text, command.tool)), place
            assert command.arguments is None or isinstance(command.arguments, dict), place
        answered = [o.command for o in step.observations if o.command is not None]
        assert len(set(answered)) == len(answered), place
        assert all(0 <= command < len(step.commands) for command in answered), place
        for observation in step.observations:
            assert isinstance(observation.text, str), place
            assert observation.exit_code is None or type(observation.exit_code) is int, place


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value, the whole of it first."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, (*path, index))


def _replaced(value: Any, place: tuple[Any, ...], replacement: Any) -> Any:
    if not place:
        return replacement
    form = copy.deepcopy(value)
    _at(form, place[:-1])[place[-1]] = replacement
    return form


def _without(value: Any, place: tuple[Any, ...]) -> Any:
    form = copy.deepcopy(value)
    del _at(form, place[:-1])[place[-1]]
    return form


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value
