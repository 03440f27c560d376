"""Verdicts as JUnit XML: a suite a file, a test case a trajectory, so that any pipeline shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as XML

from bestofn.report.html_text import one_line, visible
from bestofn.verdict import UNSURE, Answer, ScoreReport, Verdict

_ILLEGAL = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold in any spelling."""


def legal(text: str) -> str:
    """Text of a recording as XML can hold it: what hides or turns text stands as its number, the rest as U+FFFD."""
    return _ILLEGAL.sub("\ufffd", visible(text))


def junit(report: ScoreReport) -> str:
    """The XML of a report, a suite a file, in the form that strict readers such as Jenkins take.

    A fail is a failure; an unsure is a failure under the policy that makes it one, and else a skipped case that says
    why; a file that could not be read is an error.
    """
    by_file: dict[str, list[XML.Element]] = {}
    for result in report.results:
        by_file.setdefault(result.file, []).append(_case(result))
    # A file's name stands at its suite: a test case has no attribute for it that all readers take.
    suites = [_suite(report, file, cases, {"file": _name(file)}) for file, cases in by_file.items()]
    if report.problems:
        suites.append(_suite(report, UNREADABLE, [_unreadable(problem) for problem in report.problems], {}))
    cases = [case for suite in suites for case in suite.iter("testcase")]
    figures = _figures(cases)
    del figures["skipped"]
    root = XML.Element("testsuites", {"name": "bestofn score", **figures})
    root.extend(suites)
    XML.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + XML.tostring(root, encoding="unicode") + "\n"


UNREADABLE = "unreadable input"
NAME = 300
"""Characters of a name at most."""


def _name(text: str) -> str:
    """A name of a recording: on one line, and never empty, since readers refuse that."""
    return legal(one_line(text, NAME)) or "(no name)"


def _figures(cases: Sequence[XML.Element]) -> dict[str, str]:
    counts = {kind: sum(case.find(kind) is not None for case in cases) for kind in ("failure", "error", "skipped")}
    return {
        "tests": str(len(cases)),
        "failures": str(counts["failure"]),
        "errors": str(counts["error"]),
        "skipped": str(counts["skipped"]),
        "time": "0",
    }


def _suite(report: ScoreReport, name: str, cases: Sequence[XML.Element], where: dict[str, str]) -> XML.Element:
    suite = XML.Element("testsuite", {"name": _name(name), **where, **_figures(cases)})
    properties = XML.SubElement(suite, "properties")
    for key, value in (("selector", str(report.selector.get("name", ""))), *(("note", note) for note in report.notes)):
        XML.SubElement(properties, "property", {"name": key, "value": legal(value)})
    suite.extend(cases)
    return suite


def _case(result: Verdict) -> XML.Element:
    case = XML.Element(
        "testcase", {"classname": _name(result.task or "score"), "name": _name(result.trajectory), "time": "0"}
    )
    said = headline(result)
    if result.verdict is Answer.FAIL or result.exit_code == UNSURE:
        kind = "below the bar" if result.verdict is Answer.FAIL else "unsure"
        failure = XML.SubElement(case, "failure", {"message": legal(said), "type": kind})
        failure.text = legal(evidence_text(result))
    elif result.verdict is Answer.UNSURE:
        XML.SubElement(case, "skipped", {"message": legal(said)})
    if result.verdict is not Answer.FAIL and result.exit_code != UNSURE:
        XML.SubElement(case, "system-out").text = legal(evidence_text(result))
    return case


def _unreadable(problem: str) -> XML.Element:
    case = XML.Element("testcase", {"classname": UNREADABLE, "name": _name(problem), "time": "0"})
    XML.SubElement(case, "error", {"message": legal(problem), "type": UNREADABLE})
    return case


def headline(result: Verdict) -> str:
    """A verdict in a line, such as 'fail, probability 0.039: the probability is below the bar of 0.5'."""
    score = "none" if result.score is None else f"{result.score:.3f}"
    why = "; ".join(result.reasons)
    return f"{result.verdict}, {result.score_name} {score}" + (f": {why}" if why else "")


def evidence_text(result: Verdict) -> str:
    """What moved a score, a line each, with its quotes."""
    lines = [headline(result)]
    for moved in result.features:
        value = "unknown" if moved.value is None else f"{moved.value:g}"
        lines.append(f"{moved.effect:+.2f}  {moved.feature} = {value}")
        if moved.quote is not None:
            lines.append(
                f'       {moved.quote.file}:{moved.quote.line} (step {moved.quote.step}): "{moved.quote.text}"'
            )
    lines += [f"fired  {code.rule} {code.name} ({', '.join(code.features)})" for code in result.codes]
    lines += [
        f"judge  {s.column}: {s.state} {'' if s.value is None else f'{s.value:.3f}'} {s.reason}" for s in result.judge
    ]
    lines += [f"note   {remark}" for remark in result.remarks]
    return "\n".join(lines)
