"""Batch files: requests out in the OpenAI Batch format, answers in from a batch endpoint, a person or another tool."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import orjson

from bestofn.errors import ModelError
from bestofn.fresh_file import fresh_file
from bestofn.llm.answer import Completion, Source
from bestofn.llm.cache import IMPORTED, IMPORTED_MODE, Cache, Export, StoredAnswer
from bestofn.llm.capabilities import Capabilities
from bestofn.llm.request import LETTERS, Group, Sampling, answer_key, request_hash

PREFIX = "bestofn-"
"""Begins each custom_id; the request's hash follows. 40 characters, of the 64 that batch endpoints allow."""
BATCH_DEFAULT = Capabilities(limit_field="max_completion_tokens")
"""What batch endpoints take: OpenAI's knows this field for every chat model."""
LINES_LIMIT = 50_000
BYTES_LIMIT = 200_000_000
"""OpenAI's limits of one batch file."""
HEADER = "recorded_with"
"""Key of a recording's first line, which says how its answers were asked for."""
UNREADABLE = (OSError, EOFError, zlib.error)
"""What reading a file of answers may raise; the latter two where a packed one is torn or broken."""
_HEX = frozenset("0123456789abcdef")
_AT_ONCE = 500
_NAMED = 5


@dataclass
class Exported:
    """What an export wrote."""

    written: int = 0
    """Requests in the file."""
    answered: int = 0
    """Requests left out because an answer is there already."""
    copies: int = 0
    """Requests left out because the same request stands in the file."""
    size: int = 0
    """Bytes."""

    @property
    def too_large(self) -> bool:
        """True where OpenAI's batch endpoint would refuse the file."""
        return self.written > LINES_LIMIT or self.size > BYTES_LIMIT


@dataclass
class Imported:
    """What an import found."""

    imported: int = 0
    """Answers now in the cache."""
    repeated: int = 0
    """Lines that a later line with the same custom_id replaced."""
    failed: Counter[str] = field(default_factory=Counter)
    """Requests that the batch endpoint could not answer, by what it said."""
    unknown: list[str] = field(default_factory=list)
    """custom_ids that are none of ours."""
    foreign: int = 0
    """Answers stored for requests that were not exported with this cache."""
    unreadable: list[str] = field(default_factory=list)
    """Lines that hold no answer, with the reason."""
    open: int = 0
    """Exported requests that still have no imported answer."""

    def lines(self) -> list[str]:
        """The same as sentences."""
        out = [f"{self.imported} answers imported, {self.open} exported requests still open"]
        if self.repeated:
            out.append(f"{self.repeated} custom_ids came more than once; the last answer counts")
        out.extend(f"{n} failed: {what}" for what, n in self.failed.most_common())
        if self.unknown:
            rest = f" and {len(self.unknown) - _NAMED} more" if len(self.unknown) > _NAMED else ""
            out.append(f"{len(self.unknown)} unknown custom_ids: {', '.join(self.unknown[:_NAMED])}{rest}")
        if self.foreign:
            out.append(f"{self.foreign} answers belong to requests that were not exported with this cache")
        out.extend(self.unreadable[:_NAMED])
        if len(self.unreadable) > _NAMED:
            out.append(f"{len(self.unreadable) - _NAMED} more lines that hold no answer")
        return out


class RecordedAnswer(NamedTuple):
    """One line of a file of answers."""

    line: int
    """1-based."""
    custom_id: str = ""
    completion: Completion | None = None
    plain: bool = False
    """True for a bare text, which may be the letter alone."""
    failure: str = ""
    """Why there is no completion."""
    model: str = ""
    """The model that was asked, where a recording of ours names it."""


def custom_id(hashed: str) -> str:
    """The batch id of a request hash."""
    return PREFIX + hashed


def hash_of(given: str) -> str | None:
    """The request hash in a batch id; None where it is none of ours."""
    hashed = given.removeprefix(PREFIX)
    return hashed if len(hashed) == 32 and _HEX.issuperset(hashed) else None


def export_requests(
    groups: Iterable[Group],
    path: Path,
    *,
    model: str,
    cache: Cache,
    sampling: Sampling | None = None,
    capabilities: Capabilities = BATCH_DEFAULT,
) -> Exported:
    """Write requests as lines for a batch endpoint.

    Parameters
    ----------
    groups
        Requests, in any grouping; equal ones are written once, those with an imported answer not at all.
    path
        The file to write, replaced whole.
    model
        The model that will answer; a scoring run finds the answers under this name.
    cache
        Remembers what was exported, for the import to report against.
    sampling
        As in the scoring run.
    capabilities
        What the endpoint takes, such as `Client.capabilities`, or with `logprobs=False` for models that refuse them.

    Raises ModelError where the file cannot be written.
    """
    chosen = sampling or Sampling()
    report = Exported()
    seen: set[str] = set()
    exports: list[Export] = []
    try:
        with fresh_file(path) as fresh, fresh.open("wb") as file:
            for request in (request for group in groups for request in group):
                hashed = request_hash(request, model, chosen)
                if hashed in seen:
                    report.copies += 1
                    continue
                seen.add(hashed)
                if cache.get(answer_key(hashed, IMPORTED, IMPORTED_MODE)) is not None:
                    report.answered += 1
                    continue
                line = _batch_line(hashed, capabilities.body(request, model, chosen))
                file.write(line)
                report.written += 1
                report.size += len(line)
                exports.append(Export(hashed, model, request.criterion, request.tags))
    except OSError as error:
        raise ModelError(f"cannot write {path}: {error.strerror or error}") from error
    cache.add_exports(exports)
    return report


def import_answers(path: Path, cache: Cache) -> Imported:
    """Take answers into the cache, where a scoring run with any server and the same model finds them.

    Lines are Batch output ({custom_id, response, error}) or plain ({custom_id, text} or {custom_id, content}); a
    plain text may be the letter alone. Of several lines with one custom_id the last with an answer counts.

    Raises ModelError where the file cannot be read.
    """
    report = Imported()
    stored: set[str] = set()
    pending: dict[str, StoredAnswer] = {}
    for answer in read_answers(path):
        hashed = hash_of(answer.custom_id)
        if answer.completion is None and not answer.custom_id:
            report.unreadable.append(f"{path}, line {answer.line}: {answer.failure}")
        elif hashed is None:
            report.unknown.append(answer.custom_id)
        elif answer.completion is None:
            report.failed[answer.failure] += 1
        else:
            export = cache.export(hashed)
            report.foreign += export is None
            report.repeated += hashed in stored
            stored.add(hashed)
            pending[hashed] = _stored_answer(hashed, answer, answer.completion, export)
            if len(pending) >= _AT_ONCE:
                cache.put_many(pending.values())
                pending.clear()
    cache.put_many(pending.values())
    report.imported = len(stored)
    report.open = cache.unanswered_exports()
    return report


def read_answers(path: Path) -> Iterator[RecordedAnswer]:
    """The lines of a file of answers. Raises ModelError where it cannot be read."""
    from bestofn.readers.document import parse_json

    try:
        with open_answers(path) as file:
            for number, raw in enumerate(file, start=1):
                text = raw.strip().removeprefix(b"\xef\xbb\xbf")
                if not text:
                    continue
                try:
                    line = parse_json(text)
                    if not (isinstance(line, Mapping) and HEADER in line):
                        yield _recorded(number, line)
                except ValueError as error:
                    yield RecordedAnswer(number, failure=f"not JSON ({error})")
    except UNREADABLE as error:
        raise ModelError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error


def open_answers(path: Path) -> BinaryIO:
    """A file of answers, unpacked where its name ends in .gz. Raises OSError."""
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _batch_line(hashed: str, body: Mapping[str, Any]) -> bytes:
    """One request as the Batch format has it."""
    line = {"custom_id": custom_id(hashed), "method": "POST", "url": "/v1/chat/completions", "body": body}
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def _recorded(number: int, line: Any) -> RecordedAnswer:
    """One line: Batch output, a plain text, or a stored completion."""
    given = line.get("custom_id") or line.get("request_hash") if isinstance(line, Mapping) else None
    if not isinstance(given, str):
        return RecordedAnswer(number, failure="no custom_id")
    try:
        if isinstance(line.get("completion"), Mapping):
            completion = Completion.from_json(line["completion"], Source.IMPORT)
            return RecordedAnswer(number, given, completion, model=str(line.get("model") or ""))
        plain = line.get("text", line.get("content"))
        if isinstance(plain, str):
            return RecordedAnswer(number, given, Completion(content=plain), plain=True)
        return _batch_output(number, given, line)
    except ValueError as error:
        return RecordedAnswer(number, given, failure=str(error))


def _batch_output(number: int, given: str, line: Mapping[str, Any]) -> RecordedAnswer:
    """A line of a batch endpoint's output or error file. Raises ValueError where the body is no completion."""
    response = line.get("response")
    body = response.get("body") if isinstance(response, Mapping) else None
    status = response.get("status_code", 200) if isinstance(response, Mapping) else None
    error = line.get("error") or (body.get("error") if isinstance(body, Mapping) else None)
    if error or status != 200:
        message = error.get("message") or error.get("code") if isinstance(error, Mapping) else error
        said = " ".join(str(message or "no response").split())[:200]
        return RecordedAnswer(number, given, failure=said if status in (None, 200) else f"HTTP {status}: {said}")
    return RecordedAnswer(number, given, Completion.from_api(body))


def _stored_answer(hashed: str, answer: RecordedAnswer, completion: Completion, export: Export | None) -> StoredAnswer:
    """An imported answer as the cache keeps it."""
    if export is not None:
        if answer.plain:
            completion = _tagged(completion, export.tags)
        completion = completion.trimmed(export.tags)
    key = answer_key(hashed, IMPORTED, IMPORTED_MODE)
    model = export.model if export else completion.model or ""
    return StoredAnswer(key, hashed, model, IMPORTED, IMPORTED_MODE, export.criterion if export else "", completion)


def _tagged(completion: Completion, tags: tuple[str, ...]) -> Completion:
    """A letter that stands alone, put behind the tag that it can only mean."""
    letter = (completion.content or "").strip().upper()
    if len(tags) == 1 and len(letter) == 1 and letter in LETTERS:
        return Completion(content=f"<{tags[0]}>{letter}</{tags[0]}>")
    return completion
