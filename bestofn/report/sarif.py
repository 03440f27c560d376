"""Verdicts as SARIF 2.1.0: a result a fired code, at its file and line; the rules are the codes of the taxonomies."""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from bestofn.report.html_text import one_line, visible
from bestofn.report.junit import NAME
from bestofn.verdict import Answer, Fired, ScoreReport, Verdict

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
VERSION = "2.1.0"


def sarif(report: ScoreReport) -> dict[str, Any]:
    """The SARIF log of a report, as JSON-ready data.

    A code is an error where the verdict is fail, a warning where it is unsure, a note where the attempt passes anyway.
    """
    from bestofn import __version__

    fired = [(result, code) for result in report.results for code in result.codes]
    rules = {code.rule: code for _, code in fired}
    index = {rule: number for number, rule in enumerate(rules)}
    notifications = [{"level": "error", "message": {"text": visible(problem)}} for problem in report.problems]
    notifications += [{"level": "note", "message": {"text": visible(note)}} for note in report.notes]
    return {
        "$schema": SCHEMA,
        "version": VERSION,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "bestofn",
                        "version": __version__,
                        "rules": [_rule(code) for code in rules.values()],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {"executionSuccessful": not report.problems, "toolExecutionNotifications": notifications}
                ],
                "results": [_result(result, code, index[code.rule]) for result, code in fired],
                "properties": {
                    "selector": report.selector.get("name", ""),
                    "verdicts": [
                        {
                            "file": visible(r.file),
                            "trajectory": one_line(r.trajectory, NAME),
                            "verdict": str(r.verdict),
                            r.score_name: r.score,
                        }
                        for r in report.results
                    ],
                },
            }
        ],
    }


def _rule(code: Fired) -> dict[str, Any]:
    described = code.description or f"The failure mode '{code.name}'."
    return {
        "id": code.rule,
        "name": "".join(word.capitalize() for word in code.name.replace("_", " ").replace("-", " ").split())
        or code.rule,
        "shortDescription": {"text": code.name.replace("_", " ") or code.rule},
        "fullDescription": {"text": described},
        "defaultConfiguration": {"level": "warning"},
    }


def _result(result: Verdict, code: Fired, index: int) -> dict[str, Any]:
    level = {Answer.FAIL: "error", Answer.UNSURE: "warning", Answer.PASS: "note"}[result.verdict]
    said = f"{code.name.replace('_', ' ')}: told by {', '.join(code.features)} in {one_line(result.key, NAME)}"
    region: dict[str, Any] = {"startLine": 1}
    file = result.file
    if code.quote is not None:
        words = visible(code.quote.text)
        said += f"; step {code.quote.step}: \u201c{words}\u201d"
        file, region = code.quote.file, {"startLine": code.quote.line, "snippet": {"text": words}}
    elif code.unquoted:
        said += f" ({code.unquoted})"
    return {
        "ruleId": code.rule,
        "ruleIndex": index,
        "level": level,
        "message": {"text": said},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(file)}, "region": region}}],
        "partialFingerprints": {"bestofnAttempt/v1": _fingerprint(f"{result.key}:{code.rule}")},
        "properties": {"effect": code.effect, "verdict": str(result.verdict), result.score_name: result.score},
    }


def _fingerprint(text: str) -> str:
    """What is the same for one code of one attempt in every run, whatever its names hold."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def uri(file: str) -> str:
    """A path as SARIF names it: percent-encoded, forward slashes; absolute paths as file URIs."""
    path = PurePosixPath(file.replace("\\", "/"))
    encoded = quote(path.as_posix(), safe="/", errors="replace")
    return f"file://{encoded}" if path.is_absolute() else encoded
