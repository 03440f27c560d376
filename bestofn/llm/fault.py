"""Names what went wrong with a call: the reason, whether another try can help, and how long the server asks to wait."""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bestofn.llm.answer import Missing, Reason

RETRYABLE = frozenset({Reason.GONE, Reason.TIMED_OUT, Reason.RATE_LIMITED, Reason.SERVER_ERROR, Reason.BROKEN})
"""Faults that another try may mend."""
_RETRY_STATUS = {408: Reason.TIMED_OUT, 409: Reason.SERVER_ERROR, 425: Reason.SERVER_ERROR, 429: Reason.RATE_LIMITED}
_DENIED_STATUS = frozenset({401, 402, 403, 404, 407})
_OVERFLOW = re.compile(
    "|".join(
        (
            r"context[ _](?:length|window|size)",
            r"maximum context|max_model_len|n_ctx\b|reduce the length|string_above_max",
            r"too many (?:input )?tokens",
            r"(?:prompt|input|request)(?: text| length)?(?: is|'s)? too (?:long|large)",
            r"maximum (?:input|prompt) (?:length|tokens)",
            r"(?:input|prompt)[^.]{0,40} exceeds? (?:the )?(?:maximum|limit|model|available)",
            r"max_tokens must be at least 1, got -",
        )
    ),
    re.IGNORECASE,
)
_CUT_OFF = re.compile(r"output limit was reached|could not finish the message", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient[_ ]quota|exceeded your current quota|billing|credit balance|payment", re.IGNORECASE)
_FILTER = re.compile(r"content[_ ](?:filter|policy|management)|ResponsibleAI", re.IGNORECASE)


@dataclass
class Fault(Exception):
    """A call that brought no completion."""

    reason: Reason
    message: str
    """What the server said, or what happened to the connection."""
    status: int | None = None
    retry_after: float | None = None
    """Seconds the server asks to wait; None where it does not say."""
    parameter: str = ""
    """The parameter a rejection names in its `param` field."""

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"

    @property
    def retryable(self) -> bool:
        """True where another try may help."""
        return self.reason in RETRYABLE

    @property
    def crowded(self) -> bool:
        """True where the server is asked too much at once, so that fewer calls should be under way."""
        return self.reason in (Reason.RATE_LIMITED, Reason.TIMED_OUT) or self.status in (503, 529)

    def missing(self) -> Missing:
        """What the request comes to when it is given up."""
        return Missing(self.reason, self.message)


def from_status(status: int, body: Any, headers: Mapping[str, str]) -> Fault:
    """The fault behind an error response.

    Parameters
    ----------
    status
        HTTP status, or the code inside an error object that came with status 200.
    body
        The parsed body, or its text where it is no JSON.
    headers
        Response headers; `Retry-After` is read in seconds, as an HTTP date, or as `retry-after-ms`.
    """
    message, code, parameter = _error_parts(body)
    said = f"{code} {message}"
    text = f"HTTP {status}: {message}" if message else f"HTTP {status}"
    if status == 429 and _QUOTA.search(said):
        reason = Reason.DENIED
    elif status == 413 or (status != 429 and _OVERFLOW.search(said)):
        reason = Reason.OVERFLOW
    elif status == 400 and _CUT_OFF.search(said):
        reason = Reason.CUT_OFF
    elif status in _RETRY_STATUS:
        reason = _RETRY_STATUS[status]
    elif status in (400, 422) and _FILTER.search(said):
        reason = Reason.FILTERED
    elif status in _DENIED_STATUS:
        reason = Reason.DENIED
        text += _way_out(status)
    elif status in (501, 505):
        reason = Reason.REJECTED
    elif status >= 500:
        reason = Reason.SERVER_ERROR
    else:
        reason = Reason.REJECTED
    return Fault(reason, text, status, retry_after(headers), parameter)


def from_exception(error: Exception) -> Fault | None:
    """The fault behind an exception of the HTTP layer; None for an exception that is none of its.

    Classes are told by name, as the openai package builds on different HTTP libraries in its versions.
    """
    names = {cls.__name__ for link in _chain(error) for cls in type(link).__mro__}
    if not names & {"APIConnectionError", "RequestError", "TransportError", "StreamError"}:
        return None
    cause = str(_chain(error)[-1]) or type(error).__name__
    if "ConnectTimeout" in names:
        return Fault(Reason.GONE, "no connection: the server did not answer in time")
    if names & {"APITimeoutError", "TimeoutException"}:
        return Fault(Reason.TIMED_OUT, "no answer in the time allowed")
    if "ConnectError" in names:
        return Fault(Reason.GONE, f"no connection: {cause}")
    return Fault(Reason.BROKEN, f"the connection broke before the answer was whole: {cause}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds a response asks to wait, never negative; None where it does not say or is not readable."""
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after", "")
    seconds = _seconds(given)
    if seconds is not None:
        return seconds
    parsed = email.utils.parsedate_tz(given)
    if parsed is None:
        return None
    try:
        return max(0.0, email.utils.mktime_tz(parsed) - time.time())
    except (ValueError, OverflowError):
        return None


def _seconds(text: str) -> float | None:
    """A plain number of seconds."""
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _error_parts(body: Any) -> tuple[str, str, str]:
    """Message, code and parameter of an error body, in the shapes that servers give it."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping):
        message = error.get("message") or error.get("detail") or error.get("msg") or ""
        if isinstance(message, list):
            message = "; ".join(_field_error(entry) for entry in message)
        code = " ".join(str(error[key]) for key in ("code", "type") if error.get(key) is not None)
        parameter = error.get("param")
        return _line(message), code, parameter if isinstance(parameter, str) else ""
    return _line(error), "", ""


def _field_error(entry: Any) -> str:
    """One error of a validating server, without the input that it repeats: a parameter named there is not at fault."""
    if not isinstance(entry, Mapping):
        return str(entry)
    place = entry.get("loc")
    where = ".".join(str(part) for part in place) if isinstance(place, list) else ""
    return f"{where}: {entry.get('msg', '')}".removeprefix(": ")


def _line(value: Any, limit: int = 300) -> str:
    """A value as one line of bounded length."""
    text = " ".join(str(value or "").split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _way_out(status: int) -> str:
    """What to do about a refused call."""
    return {
        401: " (the key was not accepted: check BESTOFN_API_KEY or OPENAI_API_KEY)",
        404: " (no such model or path: check the model's name, and whether the base URL should end in /v1)",
    }.get(status, "")


def _chain(error: BaseException) -> list[BaseException]:
    """The exception and what caused it, down to the first cause."""
    links = [error]
    while links[-1].__cause__ is not None and len(links) < 10:
        links.append(links[-1].__cause__)
    return links
