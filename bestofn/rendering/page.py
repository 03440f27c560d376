"""Composes the text that a judge reads from the texts of one or more runs, within an exact token budget.

The order of work keeps it safe: secrets go first, then hidden characters are shown and what could act on a judge is
altered, then a nonce is drawn that stands nowhere in all that, and only then anything is cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bestofn.errors import UsageError
from bestofn.rendering.entries import Entry, Kind, plain_name
from bestofn.rendering.fence import Neutraliser, nonce
from bestofn.rendering.fold import Folded, fold
from bestofn.rendering.redact import Redactor
from bestofn.rendering.rendered import Cut, CutKind, Rendered
from bestofn.rendering.room import Claims, Floats, Marker, Part, squeeze
from bestofn.rendering.tokens import Tokenizer
from bestofn.rendering.words import Words

INSTRUCTION_SHARE = 0.4
"""Most of the budget that the task's own words may take."""
_TRIES = 12
"""Times that a page found too long is composed again with less room."""
_LEAST_HEAD = 8
"""Tokens that any head line takes at least: a budget holds no more texts than such lines."""
_FACTORS = {Kind.OUTPUT: 0.7, Kind.REASONING: 0.5}
"""Share of a text by its kind: a token of output is worth less than one of the command above it."""
_FRONTS = {Kind.OUTPUT: 0.35, Kind.COMMAND: 0.6}
"""Share of a cut text that its head takes: outputs end with what matters."""
_TASK_FRONT = 0.7


@dataclass(frozen=True)
class Run:
    """One attempt's texts and how much each matters."""

    entries: Sequence[Entry]
    weights: Floats
    """(len(entries),) how late a text is dropped, and how much room it gets; 0 for one that is never shown."""
    sizes: Floats | None = None
    """(len(entries),) further share of the room of each, which does not decide whether it is dropped; 1 by default."""
    label: str = ""
    """Such as 'attempt 2', where there are several."""
    before: Sequence[str] = ()
    """Notes above the run."""
    after: Sequence[str] = ()
    """Notes below it."""
    thought: int = 0
    """Characters of reasoning left out by choice; a note says so."""


@dataclass(frozen=True)
class Frame:
    """What stands around the runs."""

    preface: str
    """Template with `{nonce}`."""
    instruction: str
    """The task, as recorded; '' where it is not."""


class _Piece(NamedTuple):
    """A text that may be shown, ready to be cut."""

    run: int
    place: int
    entry: Entry
    folded: Folded
    head: str
    whole: int
    """Tokens, or some number above the budget."""


def compose(
    frame: Frame,
    runs: Sequence[Run],
    budget: int,
    tokens: Tokenizer,
    words: Words,
    *,
    redact: bool = True,
    key: bytes = b"",
) -> Rendered:
    """The page, at the highest level of detail that fits.

    Raises UsageError where the budget does not hold even the frame.
    """
    redactor = Redactor() if redact else None
    return _Page(frame, runs, budget, tokens, words, redactor, key).fitted()


class _Page:
    """One page: everything about it that stays the same however much is cut."""

    def __init__(
        self,
        frame: Frame,
        runs: Sequence[Run],
        budget: int,
        tokens: Tokenizer,
        words: Words,
        redactor: Redactor | None,
        key: bytes,
    ) -> None:
        self._frame, self._runs, self._budget, self._tokens, self._words = frame, runs, budget, tokens, words
        self._redactor = redactor
        self._neutraliser = Neutraliser()
        task = self._safe(frame.instruction)
        chosen = _candidates(runs, budget // _LEAST_HEAD + 1)
        safe = [self._safe(runs[run].entries[place].text) for run, place in chosen]
        raw = (entry.text for run in runs for entry in run.entries)
        self._nonce = nonce([frame.instruction, task, *raw, *safe], key=key)
        self._legend = words.legend.strip().format(nonce=self._nonce) + "\n"
        middle = f"[{self._nonce} {words.marks['middle']}]"
        self._spare = tokens.count(self._dropped(12_345, 67_890, 123_456_789, partly=True))
        # Two line ends of its own, and one that the head before it may not share.
        taken = tokens.count(middle.format(characters="123,456,789") + "\n") + 2
        self._middle = Marker(middle, taken, self._spare)
        self._task = fold(task, self._mark)
        self._pieces = [self._piece(run, place, text) for (run, place), text in zip(chosen, safe, strict=True)]
        self._claims = self._claimed()

    def fitted(self) -> Rendered:
        """The page at the highest level that fits."""
        task, task_cuts = self._tasked()
        fixed = self._tokens.count(self._framed(task, [self._noted(run, "") for run in self._runs]))
        least = fixed + self._spare * len(self._runs)
        if self._budget < least:
            raise UsageError(
                f"a budget of {self._budget} tokens does not hold the frame of the record, which takes {least}: "
                f"give at least {least + 500}"
            )
        room = self._budget - fixed
        for _ in range(_TRIES):
            bodies, cuts = self._bodies(room)
            text = self._framed(task, bodies)
            count = self._tokens.count(text)
            if count <= self._budget:
                return self._rendered(text, count, task, bodies, [*task_cuts, *cuts])
            room -= count - self._budget
        raise UsageError(f"a budget of {self._budget} tokens holds no part of this record: give at least {least + 500}")

    def _rendered(self, text: str, count: int, task: str, bodies: Sequence[str], cuts: list[Cut]) -> Rendered:
        known = {(piece.run, piece.place): piece.folded.characters for piece in self._pieces}
        thought = [Cut(run.label or "the run", CutKind.REASONING, run.thought) for run in self._runs if run.thought]
        return Rendered(
            text=text,
            tokens=count,
            budget=self._budget,
            encoding=self._tokens.name,
            nonce=self._nonce,
            legend=self._legend,
            task=task,
            runs=tuple(bodies),
            characters=self._task.characters
            + sum(run.thought for run in self._runs)
            + sum(
                known.get((index, place), len(entry.text))
                for index, run in enumerate(self._runs)
                for place, entry in enumerate(run.entries)
            ),
            cuts=(*cuts, *thought),
            redactions=dict(self._redactor.counts) if self._redactor else {},
            neutralised=dict(self._neutraliser.counts),
        )

    def _safe(self, text: str) -> str:
        """Recorded text as it may leave the machine: nothing hidden, no secret, nothing that acts."""
        if self._redactor is not None:
            text = self._redactor.redact(text)
        return self._neutraliser.neutralise(self._neutraliser.reveal(text)).strip()

    def _line(self, template: str, **values: object) -> str:
        return f"[{self._nonce} {template.format(**values)}]\n"

    def _mark(self, kind: str, amount: int) -> str:
        name = "lines" if kind in ("blank", "repeated") else "characters"
        return self._line(self._words.marks[kind], **{name: f"{amount:,}"}).rstrip()

    def _dropped(self, first: int, last: int, characters: int, *, partly: bool) -> str:
        """The mark for texts of these steps."""
        name = ("part_of_" if partly else "") + ("step" if first == last else "steps")
        steps = self._words.marks[name].format(first=first, last=last, count=f"{last - first + 1:,}")
        return self._line(self._words.marks["dropped"], steps=steps, characters=f"{characters:,}")

    def _piece(self, run: int, place: int, text: str) -> _Piece:
        entry, label = self._runs[run].entries[place], self._runs[run].label
        folded = fold(text, self._mark)
        title = entry.title.format(*(plain_name(self._safe(name)) for name in entry.names))
        remark = ", ".join(part for part in (entry.remark, "" if text else self._words.notes["empty"]) if part)
        head = (
            f"[{self._nonce} {label + ' ' if label else ''}step {entry.step}] {title}:{' ' if remark else ''}{remark}\n"
        )
        whole = self._tokens.count_up_to(folded.text + "\n", self._budget) if text else 0
        return _Piece(run, place, entry, folded, head, whole)

    def _claimed(self) -> Claims:
        """What each text would take."""
        pieces = self._pieces
        starts = np.cumsum([0, *(len(run.entries) for run in self._runs)])
        return Claims(
            heads=np.array([self._tokens.count(piece.head) for piece in pieces], dtype=np.int64),
            wholes=np.array([piece.whole for piece in pieces], dtype=np.int64),
            weights=np.array([self._runs[p.run].weights[p.place] for p in pieces], dtype=np.float64),
            factors=np.array([self._factor(p) for p in pieces], dtype=np.float64),
            positions=np.array([starts[p.run] + p.place for p in pieces], dtype=np.int64),
            groups=np.array([p.run for p in pieces], dtype=np.int64),
            ends={index: (int(starts[index]), int(starts[index + 1])) for index in range(len(self._runs))},
            mark=self._spare,
        )

    def _factor(self, piece: _Piece) -> float:
        sizes = self._runs[piece.run].sizes
        return _FACTORS.get(piece.entry.kind, 1.0) * (1.0 if sizes is None else float(sizes[piece.place]))

    def _tasked(self) -> tuple[str, list[Cut]]:
        """The task's own words, cut where they would take too much of the budget."""
        if not self._task.text:
            return self._line(self._words.notes["no_instruction"]), []
        limit = int(self._budget * INSTRUCTION_SHARE)
        whole = self._tokens.count_up_to(self._task.text + "\n", limit)
        part = squeeze(self._task, limit, whole, _TASK_FRONT, self._tokens, self._middle)
        head = f"[{self._nonce} task] {self._words.titles['instruction']}:\n"
        return f"{head}{part.text}\n", list(_cuts("task", part))

    def _framed(self, task: str, bodies: Sequence[str]) -> str:
        """Everything around the bodies of the runs, and these."""
        parts = [self._frame.preface.strip().format(nonce=self._nonce), "\n", self._legend]
        parts += [self._line("===== record begins ====="), task]
        for run, body in zip(self._runs, bodies, strict=True):
            parts.append(self._line(f"===== {run.label} begins =====") if run.label else "")
            parts.append(body)
            parts.append(self._line(f"===== {run.label} ends =====") if run.label else "")
        return "".join([*parts, self._line("===== record ends =====")])

    def _bodies(self, room: int) -> tuple[list[str], list[Cut]]:
        """The texts of each run at the level for this room, and what was cut."""
        limits = self._claims.limits(self._claims.level(room))
        kept: list[dict[int, tuple[_Piece, int]]] = [{} for _ in self._runs]
        lengths: list[dict[int, int]] = [{} for _ in self._runs]
        for piece, limit in zip(self._pieces, limits, strict=True):
            lengths[piece.run][piece.place] = piece.folded.characters
            if limit >= 0:
                kept[piece.run][piece.place] = (piece, int(limit))
        cuts: list[Cut] = []
        bodies = [
            self._noted(run, "".join(self._texts(run, shown, known, cuts)))
            for run, shown, known in zip(self._runs, kept, lengths, strict=True)
        ]
        return bodies, cuts

    def _noted(self, run: Run, body: str) -> str:
        """A run's texts between the notes on it."""
        return "".join([*map(self._line, run.before), body, *map(self._line, run.after)])

    def _texts(
        self, run: Run, shown: Mapping[int, tuple[_Piece, int]], lengths: Mapping[int, int], cuts: list[Cut]
    ) -> Iterator[str]:
        """One run's texts, with a mark for each row of dropped ones."""
        begin = 0
        for place in [*sorted(shown), len(run.entries)]:
            if place > begin:
                characters = sum(lengths.get(at, len(run.entries[at].text)) for at in range(begin, place))
                yield self._gap(run, begin, place, characters, cuts)
            if place < len(run.entries):
                yield self._text(*shown[place], cuts)
            begin = place + 1

    def _gap(self, run: Run, begin: int, end: int, characters: int, cuts: list[Cut]) -> str:
        """The mark for the texts from `begin` up to `end`."""
        first, last = run.entries[begin].step, run.entries[end - 1].step
        partly = (begin > 0 and run.entries[begin - 1].step == first) or (
            end < len(run.entries) and run.entries[end].step == last
        )
        where = f"{run.label} steps {first} to {last}".lstrip()
        cuts.append(Cut(where, CutKind.DROPPED, characters, last - first + 1))
        return self._dropped(first, last, characters, partly=partly)

    def _text(self, piece: _Piece, limit: int, cuts: list[Cut]) -> str:
        """One text under its head line."""
        if not piece.folded.text:
            return piece.head
        front = _FRONTS.get(piece.entry.kind, 0.5)
        part = squeeze(piece.folded, limit, piece.whole, front, self._tokens, self._middle)
        where = f"{self._runs[piece.run].label} step {piece.entry.step}, {piece.entry.kind}".lstrip()
        cuts.extend(_cuts(where, part))
        if not part.text:
            return piece.head + self._line(self._words.marks["unshown"], characters=f"{part.hidden:,}")
        return f"{piece.head}{part.text}\n"


def _cuts(where: str, part: Part) -> Iterator[Cut]:
    """What is cut in one text: the folds that are shown, and what lies under its own mark."""
    for span in part.spans:
        yield Cut(where, CutKind(span.kind), span.hidden)
    if part.hidden:
        yield Cut(where, CutKind.MIDDLE if part.text else CutKind.UNSHOWN, part.hidden)


def _candidates(runs: Sequence[Run], most: int) -> list[tuple[int, int]]:
    """(run, place) of the weightiest texts, in order: no more than could be shown, so that long runs stay cheap."""
    places = [(run, int(place)) for run, texts in enumerate(runs) for place in np.flatnonzero(texts.weights > 0)]
    if len(places) <= most:
        return places
    weights = np.concatenate([texts.weights[texts.weights > 0] for texts in runs])
    chosen = np.sort(np.argsort(-weights, kind="stable")[:most])
    return [places[index] for index in chosen]
