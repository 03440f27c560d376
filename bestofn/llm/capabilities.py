"""What a server accepts for a model: found out once by asking, learned again from every refusal, and remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from bestofn.llm.answer import Completion, Reason
from bestofn.llm.fault import Fault
from bestofn.llm.form import body_of
from bestofn.llm.request import LETTERS, Message, Request, Sampling

TOP_LOGPROBS = 20
"""Alternatives asked for a token: what OpenAI, vLLM and others allow at most by default."""
_FALLBACK_TOPS = (20, 10, 5, 2)
_LIMIT_FIELDS = ("max_tokens", "max_completion_tokens", "")
_REFUSABLE = frozenset({400, 403, 404, 422, 500, 501})
"""Statuses with which servers refuse a parameter."""
_UNSUPPORTED = re.compile(
    r"not (?:be )?(?:allowed|supported|permitted|enabled)|(?:un|not )support|"
    r"unrecogni[sz]ed|unknown|unexpected|extra|instead"
)
_PROBE = Request((Message("user", "Reply with the letter A."),), tags=("probe",), max_output_tokens=256)

Send = Callable[[dict[str, Any]], Completion]
"""Sends a request body and gives the completion, or raises Fault."""


@dataclass(frozen=True)
class Capabilities:
    """What a (server, model) takes. The default is what is tried first."""

    logprobs: bool = True
    top_logprobs: int = TOP_LOGPROBS
    limit_field: str = "max_tokens"
    """The field that limits the answer: `max_tokens`, `max_completion_tokens`, or '' where neither is taken."""
    temperature: bool = True
    """True where a temperature may be sent."""
    effort: bool = True
    """True where a reasoning effort may be sent."""
    forced_effort: str = ""
    """A reasoning effort sent because only with it the server gives log-probabilities."""
    notes: tuple[str, ...] = ()
    """What was found out and matters to a reader of the scores."""

    @property
    def mode(self) -> str:
        """How log-probabilities are asked for. Scores of different modes differ, so it is part of the cache key."""
        effort = f",effort:{self.forced_effort}" if self.forced_effort else ""
        return (f"logprobs:{self.top_logprobs}" if self.logprobs else "letters") + effort

    def body(self, request: Request, model: str, sampling: Sampling) -> dict[str, Any]:
        """The request body for this server."""
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": role, "content": text} for role, text in request.messages],
        }
        if self.limit_field:
            body[self.limit_field] = request.max_output_tokens
        if self.temperature:
            body["temperature"] = sampling.temperature
        effort = sampling.reasoning_effort or self.forced_effort
        if effort and self.effort:
            body["reasoning_effort"] = effort
        if self.logprobs:
            body["logprobs"] = True
            body["top_logprobs"] = self.top_logprobs
        return {**body, **body_of(sampling.held_by, request.tags, LETTERS, request.words), **sampling.extra}

    def noting(self, note: str) -> Capabilities:
        """The same with one more note."""
        return self if note in self.notes else replace(self, notes=(*self.notes, note))

    def to_json(self) -> dict[str, Any]:
        """Plain data for the cache."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Capabilities:
        """What `to_json` gave; fields of other versions are left out."""
        known = {name: value for name, value in stored.items() if name in cls.__dataclass_fields__}
        return cls(**{**known, "notes": tuple(known.get("notes", ()))})


def adapt(known: Capabilities, fault: Fault, body: Mapping[str, Any]) -> Capabilities | None:
    """What to try after a refusal that names a parameter of the body; None where it names none.

    Parameters
    ----------
    known
        What the refused body was built from.
    fault
        The refusal.
    body
        The refused body: only parameters in it can be at fault.
    """
    if fault.status not in _REFUSABLE or fault.reason in (Reason.OVERFLOW, Reason.CUT_OFF):
        return None
    said = f"{fault.parameter} {fault.message}".lower()
    if "top_logprobs" in body and re.search(r"log[ _]?prob", said):
        return _fewer_logprobs(known, fault, said)
    if "reasoning_effort" in body and re.search(r"reasoning|effort|thinking", said):
        note = f"the server refuses reasoning_effort '{body['reasoning_effort']}'; it is not sent"
        return replace(known, effort=False, forced_effort="").noting(note)
    if "temperature" in body and "temperature" in said:
        note = f"the server refuses temperature {body['temperature']}; its own default applies"
        return replace(known, temperature=False).noting(note)
    if known.limit_field and known.limit_field in body and re.search(r"max_(?:completion_)?tokens", said):
        return _other_limit(known, said)
    return None


def probe(send: Send, model: str, sampling: Sampling) -> Capabilities:
    """Find out what a server takes, with one short call where it takes everything.

    Raises Fault where it takes no request at all.
    """
    known, completion = _negotiate(send, model, sampling, Capabilities())
    if known.logprobs and not completion.logprobs and not completion.blank:
        known = replace(known, logprobs=False).noting("the server accepts logprobs but returns none")
    if not known.logprobs and not sampling.reasoning_effort:
        known = _without_thinking(send, model, sampling, known)
    return known


def _negotiate(send: Send, model: str, sampling: Sampling, known: Capabilities) -> tuple[Capabilities, Completion]:
    """Send the probe, giving up what is refused, until it is answered."""
    for _ in range(12):
        body = known.body(_PROBE, model, sampling)
        try:
            return known, send(body)
        except Fault as fault:
            if fault.reason is Reason.CUT_OFF:  # taken, and the model only thought
                return known, Completion(finish_reason="length")
            changed = adapt(known, fault, body) or _blind(send, model, sampling, known, fault)
            if changed is None or changed == known:
                raise
            known = changed
    raise Fault(Reason.REJECTED, "the server refuses every form of the request that was tried")


def _blind(send: Send, model: str, sampling: Sampling, known: Capabilities, fault: Fault) -> Capabilities | None:
    """What to give up after a refusal that names nothing: the first single parameter without which it is answered.

    Servers that cannot give log-probabilities fail with a bare 400 or 500 as well, so those stand first.
    """
    if fault.reason is not Reason.REJECTED and fault.status not in (500, 501):
        return None
    bare = replace(known, logprobs=False).noting("the server fails when logprobs are asked for")
    without_temperature = replace(known, temperature=False).noting("the server fails when a temperature is sent")
    other_field = replace(known, limit_field="max_completion_tokens")
    bare_other = replace(bare, limit_field="max_completion_tokens")
    nothing = replace(bare, temperature=False, limit_field="", effort=False)
    for candidate in (bare, without_temperature, other_field, bare_other, replace(bare, temperature=False), nothing):
        try:
            send(candidate.body(_PROBE, model, sampling))
        except Fault as refusal:
            if refusal.reason not in (Reason.REJECTED, Reason.SERVER_ERROR):
                return None
        else:
            return candidate
    return None


def _without_thinking(send: Send, model: str, sampling: Sampling, known: Capabilities) -> Capabilities:
    """With reasoning switched off, where only that brings log-probabilities; else as known."""
    if not known.effort:
        return known
    tried = replace(known, logprobs=True, top_logprobs=TOP_LOGPROBS, forced_effort="none")
    for _ in range(len(_FALLBACK_TOPS)):
        body = tried.body(_PROBE, model, sampling)
        try:
            completion = send(body)
        except Fault as fault:
            changed = adapt(tried, fault, body)
            if changed is None or not changed.logprobs or not changed.forced_effort:
                return known
            tried = changed
        else:
            if not completion.logprobs:
                return known
            kept = tuple(note for note in known.notes if "logprobs" not in note)
            return replace(tried, notes=kept).noting(
                "log-probabilities come only with reasoning_effort 'none', which is sent; "
                "ask for another effort to let the model reason and answer by letter alone"
            )
    return known


def _fewer_logprobs(known: Capabilities, fault: Fault, said: str) -> Capabilities:
    """Fewer alternatives where the refusal is about their number, else none."""
    numbers = [int(n) for n in re.findall(r"(?<![\w.-])\d+\b", said.replace(f"http {fault.status}", ""))]
    below = [n for n in numbers if 0 < n < known.top_logprobs]
    about_number = re.search(r"top_logprobs|at most|less than|greater than|maximum|max allowed|more than|between", said)
    if about_number and below:
        return replace(known, top_logprobs=max(below))
    if about_number and not _UNSUPPORTED.search(said):
        lower = [n for n in _FALLBACK_TOPS if n < known.top_logprobs]
        if lower:
            return replace(known, top_logprobs=lower[0])
    return replace(known, logprobs=False).noting("the server refuses logprobs")


def _other_limit(known: Capabilities, said: str) -> Capabilities | None:
    """The next field for the output limit; None where the refusal is about its size."""
    about_size = re.search(r"too (?:large|big|high|small)|at most|at least|less than|greater than|must be|exceed", said)
    if about_size and not _UNSUPPORTED.search(said):
        return None
    position = _LIMIT_FIELDS.index(known.limit_field)
    changed = replace(known, limit_field=_LIMIT_FIELDS[position + 1])
    return changed if changed.limit_field else changed.noting("the server takes no output limit")
