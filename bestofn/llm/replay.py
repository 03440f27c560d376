"""Scores from recorded answers alone: no key, no network, the same outcome on every machine."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

import orjson

from bestofn.errors import ModelError
from bestofn.fresh_file import fresh_file
from bestofn.llm.accounts import Accounts
from bestofn.llm.answer import Completion, Missing, Outcome, Reason, Source
from bestofn.llm.batch import HEADER, UNREADABLE, hash_of, open_answers, read_answers
from bestofn.llm.cache import Cache
from bestofn.llm.request import Group, Request, Sampling, request_hash

DECIMALS = 5
"""Of recorded log-probabilities: the scores of a replay are those of the run to about as many."""


class Replay:
    """Recorded answers in the place of a server; what was not recorded is missing."""

    def __init__(self, path: Path, model: str | None = None, *, sampling: Sampling | None = None) -> None:
        """Read a recording.

        Parameters
        ----------
        path
            JSON lines as `record` writes them, or a batch endpoint's output.
        model
            The model whose answers count; None for the one that the recording names.
        sampling
            As it was when the answers were recorded; None for what the recording says of it.

        Raises ModelError where the file holds no answers, or several models and none is chosen.
        """
        self.accounts = Accounts()
        self.settings = settings_of(path)
        self._sampling = sampling or Sampling.from_json(self.settings.get("sampling") or {})
        self._answers, models = _load(path)
        if model is None and len(models) > 1:
            raise ModelError(f"{path} holds answers of {', '.join(sorted(models))}: choose one with --model")
        chosen = model or next(iter(models), None)
        if chosen is None:
            raise ModelError(f"{path} does not name the model that answered: give it with --model")
        self.model = chosen
        self.path = path

    @property
    def notes(self) -> tuple[str, ...]:
        """That these answers are recorded, and whose they are."""
        return (f"answers of {self.model}, replayed from {self.path.name}",)

    def answer(self, groups: Iterable[Group], *, total: int | None = None) -> Iterator[tuple[Request, Outcome]]:
        """Each request in order with its recorded answer, or missing as `not recorded`. `total` is not needed."""
        for group in groups:
            for request in group:
                completion = self._answers.get(request_hash(request, self.model, self._sampling))
                if completion is None:
                    yield request, Missing(Reason.NOT_RECORDED, f"{self.path.name} holds no answer to this request")
                else:
                    self.accounts.enter(request.criterion, completion)
                    yield request, completion


def record(
    requests: Iterable[Request],
    path: Path,
    *,
    model: str,
    cache: Cache,
    sampling: Sampling | None = None,
    server: str | None = None,
    settings: Mapping[str, Any] | None = None,
    add: bool = False,
) -> tuple[int, int]:
    """Write the cached answers to requests as a recording, and return how many were written and how many lack one.

    Parameters
    ----------
    requests
        What to record; equal requests are written once.
    path
        The file, replaced whole in one step.
    model, sampling
        As in the run that was answered.
    server
        The server identity whose answers go before others; the newest answer is taken otherwise.
    settings
        What else shaped the requests, such as how runs were shown: goes into the recording's first line, so that
        whoever replays it can ask the same.
    add
        Keep what a recording of this name holds, its first line among it, and write what it lacks behind that.

    Raises ModelError where the file cannot be written, or answers would be added to those of another model or of
    another sampling.
    """
    chosen = sampling or Sampling()
    written = lacking = 0
    header: Mapping[str, Any] = {"model": model, "sampling": chosen.to_json(), **(settings or {})}
    kept = _kept(path, header) if add else {}
    header = settings_of(path) if kept else header
    seen = set(kept)
    try:
        with fresh_file(path) as fresh, _writer(fresh, packed=path.suffix == ".gz") as file:
            file.write(orjson.dumps({HEADER: header}, option=orjson.OPT_APPEND_NEWLINE))
            file.writelines(kept.values())
            for request in requests:
                hashed = request_hash(request, model, chosen)
                if hashed in seen:
                    continue
                seen.add(hashed)
                completion = cache.by_request(hashed, server)
                if completion is None:
                    lacking += 1
                    continue
                file.write(_line(hashed, model, request.criterion, completion.trimmed(request.tags)))
                written += 1
    except OSError as error:
        raise ModelError(f"cannot write {path}: {error.strerror or error}") from error
    return written, lacking


def _kept(path: Path, header: Mapping[str, Any]) -> dict[str, bytes]:
    """The lines of a recording by request hash, to be added to; none where there is no file yet.

    Raises ModelError where it is no recording of the same model and sampling.
    """
    if not path.exists():
        return {}
    told = settings_of(path)
    for name in ("model", "sampling"):
        if told.get(name) != header[name]:
            raise ModelError(
                f"{path} was recorded with {name} {told.get(name, 'unknown')}, and this is {header[name]}: write to "
                "another file"
            )
    try:
        with open_answers(path) as file:
            return {str(orjson.loads(line)["request_hash"]): line for line in file.readlines()[1:]}
    except (*UNREADABLE, orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise ModelError(
            f"{path} cannot be added to, it is no whole recording ({error}): write to another file"
        ) from error


@contextmanager
def _writer(path: Path, *, packed: bool) -> Iterator[IO[bytes]]:
    """The file to write, packed where asked: without a name or time in it, so that equal answers make equal files."""
    with path.open("wb") as plain:
        if not packed:
            yield plain
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=plain, mtime=0) as file:
            yield cast(IO[bytes], file)


def _rounded(value: Any) -> Any:
    """Plain data with log-probabilities of `DECIMALS` decimals: their noise would be most of a recording."""
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return {name: _rounded(item) for name, item in value.items()} if isinstance(value, dict) else value


def settings_of(path: Path) -> Mapping[str, Any]:
    """How a recording's answers were asked for, as its first line says: `model`, `sampling`, `showing`; empty where it
    says nothing. Raises ModelError where it cannot be read."""
    try:
        with open_answers(path) as file:
            first = orjson.loads(file.readline() or b"null")
    except UNREADABLE as error:
        raise ModelError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    except orjson.JSONDecodeError:
        return {}
    told = first.get(HEADER) if isinstance(first, dict) else None
    return told if isinstance(told, dict) else {}


def _line(hashed: str, model: str, criterion: str, completion: Completion) -> bytes:
    """One recorded answer."""
    line: dict[str, Any] = {"request_hash": hashed, "model": model}
    if criterion:
        line["criterion"] = criterion
    line["completion"] = _rounded(completion.to_json())
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def _load(path: Path) -> tuple[dict[str, Completion], set[str]]:
    """Recorded answers by request hash, and the models that a recording names."""
    answers: dict[str, Completion] = {}
    models: set[str] = set()
    bad: list[str] = []
    for recorded in read_answers(path):
        hashed = hash_of(recorded.custom_id)
        if recorded.completion is None or hashed is None:
            bad.append(f"line {recorded.line}: {recorded.failure or 'unknown id ' + recorded.custom_id}")
            continue
        answers[hashed] = replace(recorded.completion, source=Source.REPLAY)
        if recorded.model:
            models.add(recorded.model)
    if not answers:
        raise ModelError(f"{path} holds no recorded answers ({bad[0] if bad else 'it is empty'})")
    return answers, models
