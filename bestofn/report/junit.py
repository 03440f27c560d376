"""Verdicts as JUnit XML: a test case a trajectory, so that any pipeline shows them."""

from __future__ import annotations

import re
from xml.etree import ElementTree as XML

from bestofn.verdict import UNSURE, Answer, ScoreReport, Verdict

_ILLEGAL = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold in any spelling."""


def legal(text: str) -> str:
    """Text of a recording as XML can hold it: a character that it cannot becomes U+FFFD."""
    return _ILLEGAL.sub("\ufffd", text)


def junit(report: ScoreReport) -> str:
    """The XML of a report.

    A fail is a failure; an unsure is a failure under the policy that makes it one, and else a skipped case that says
    why; a file that could not be read is an error.
    """
    cases = [_case(result) for result in report.results] + [_unreadable(problem) for problem in report.problems]
    counts = {kind: sum(case.find(kind) is not None for case in cases) for kind in ("failure", "error", "skipped")}
    figures = {
        "tests": str(len(cases)),
        "failures": str(counts["failure"]),
        "errors": str(counts["error"]),
        "skipped": str(counts["skipped"]),
        "time": "0",
    }
    root = XML.Element("testsuites", {"name": "bestofn score", **figures})
    suite = XML.SubElement(root, "testsuite", {"name": "bestofn score", **figures})
    properties = XML.SubElement(suite, "properties")
    for name, value in (("selector", str(report.selector.get("name", ""))), *(("note", note) for note in report.notes)):
        XML.SubElement(properties, "property", {"name": name, "value": legal(value)})
    suite.extend(cases)
    XML.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + XML.tostring(root, encoding="unicode") + "\n"


def _case(result: Verdict) -> XML.Element:
    case = XML.Element(
        "testcase",
        {"classname": legal(result.task or "score"), "name": legal(result.trajectory), "time": "0"},
    )
    case.set("file", legal(result.file))
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
    case = XML.Element("testcase", {"classname": "unreadable input", "name": legal(problem[:200]), "time": "0"})
    XML.SubElement(case, "error", {"message": legal(problem), "type": "unreadable input"})
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
