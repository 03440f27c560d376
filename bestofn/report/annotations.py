"""Verdicts as GitHub workflow commands, which a runner shows beside the files.

A workflow command is a line that begins with `::`; a recording must not write lines of its own, so that all that comes
from one is escaped, and the lines that people are shown beside these never begin with `::`.
"""

from __future__ import annotations

from bestofn.report.html_text import one_line
from bestofn.report.junit import headline
from bestofn.verdict import Answer, ScoreReport, Verdict

MOST = 10
"""Annotations of one kind that GitHub shows for a step."""
TITLE = 200
"""Characters of a title."""


def data(text: str) -> str:
    """Text in a command's message."""
    cleaned = "".join(c if c.isprintable() or c in "\r\n" else "\ufffd" for c in text)
    return cleaned.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def property_value(text: str) -> str:
    """Text in a command's property."""
    return data(text).replace(":", "%3A").replace(",", "%2C")


def workflow_commands(report: ScoreReport) -> list[str]:
    """The lines, the gravest first: what could not be read, fails, unsures, what got worse."""
    lines = [f"::error title=bestofn score::{data(problem)}" for problem in report.problems]
    for answer, level in ((Answer.FAIL, "error"), (Answer.UNSURE, "warning")):
        found = [result for result in report.results if result.verdict is answer]
        lines += [_annotation(result, level) for result in found[:MOST]]
    lines += [
        f"::warning title={_title(f'worse: {change.trajectory}')}::{data('; '.join(change.worse))}"
        for change in report.changes
        if change.worse
    ]
    return lines


def _annotation(result: Verdict, level: str) -> str:
    quotes = [code.quote for code in result.codes if code.quote] + [m.quote for m in result.features if m.quote]
    said = headline(result)
    place = result.file, 1
    if quotes:
        place = quotes[0].file, quotes[0].line
        said += f"\nstep {quotes[0].step}: {quotes[0].text}"
    title = _title(f"{result.verdict}: {result.key}")
    return f"::{level} file={property_value(place[0])},line={place[1]},title={title}::{data(said)}"


def _title(text: str) -> str:
    return property_value(one_line(text, TITLE))
