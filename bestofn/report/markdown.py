"""Verdicts as Markdown, for a job summary or a comment on a pull request.

Words of a recording are hostile: they stand in code spans that they cannot leave, without control characters, so that
no link, mention, image or HTML of theirs comes to life.
"""

from __future__ import annotations

import re

from bestofn.verdict import Answer, Fired, Moved, Quote, ScoreReport, Verdict

MOST = 50
"""Trajectories that are shown in full; the table counts all."""
LONGEST = 60_000
"""Characters of the whole: a comment on GitHub takes 65,536."""
WORD = 600
"""Characters of one name or sentence."""
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]+")
_MARKS = {Answer.PASS: "✅ pass", Answer.FAIL: "❌ fail", Answer.UNSURE: "❔ unsure"}


def _clipped(text: str) -> str:
    """A giant name is cut, with a word; a quote is never as long."""
    return text if len(text) <= WORD else f"{text[:WORD]}\u2026 (+{len(text) - WORD:,} characters)"


def code(text: str) -> str:
    """Text of a recording as a code span that also holds in a table."""
    plain = _UNSAFE.sub(" ", _clipped(text)).strip() or " "
    # Inside a table a bar ends the cell even within a code span.
    plain = plain.replace("|", "\u2502")
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def words(text: str) -> str:
    """Our own sentences, which may name things of a recording: nothing in them is markup."""
    plain = _UNSAFE.sub(" ", _clipped(text))
    return re.sub(r"([\\`*_{}\[\]<>()#!|~@&])", lambda m: f"&#{ord(m.group())};", plain)


def markdown(report: ScoreReport) -> str:
    """A report as Markdown: a table of verdicts, then what moved each of those that did not pass, then the rest."""
    counts = {answer: sum(r.verdict is answer for r in report.results) for answer in Answer}
    said = ", ".join(f"{n} {answer}" for answer, n in counts.items() if n)
    blocks = [f"### bestofn score: {said or 'nothing scored'}"]
    if report.problems:
        blocks.append("\n".join(f"- ❌ could not be read: {words(problem)}" for problem in report.problems))
    if report.results:
        rows = [_row(result) for result in report.results[: MOST * 4]]
        name = report.results[0].score_name
        blocks.append("\n".join([f"| | attempt | {name} | why |", "|---|---|---|---|", *rows]))
    if report.compared_with:
        blocks.append(_changes(report))
    order = sorted(report.results, key=lambda r: (Answer.FAIL, Answer.UNSURE, Answer.PASS).index(r.verdict))
    blocks += [_details(result) for result in order[:MOST]]
    if len(order) > MOST:
        blocks.append(f"{len(order) - MOST} more are in the JSON.")
    blocks += [f"<sub>{words(note)}</sub>" for note in report.notes]
    return _cut(blocks)


def _cut(blocks: list[str]) -> str:
    """As many blocks as fit, with a word on what is left out."""
    kept: list[str] = []
    size = 0
    for block in blocks:
        size += len(block) + 2
        if size > LONGEST:
            kept.append("More does not fit here; the JSON has all of it.")
            break
        kept.append(block)
    return "\n\n".join(kept) + "\n"


def _row(result: Verdict) -> str:
    score = "none" if result.score is None else f"{result.score:.3f}"
    why = words("; ".join(result.reasons)) or " "
    return f"| {_MARKS[result.verdict]} | {code(result.key)} | {score} | {why} |"


def _changes(report: ScoreReport) -> str:
    lines = [f"**Against {code(report.compared_with)}**", ""]
    for change in report.changes:
        lines += [f"- worse: {code(change.trajectory)}: {words(said)}" for said in change.worse]
        lines += [f"- {code(change.trajectory)}: {words(said)}" for said in change.better]
    if len(lines) == 2:
        lines.append("- nothing changed")
    return "\n".join(lines)


def _details(result: Verdict) -> str:
    summary = f"{result.verdict}: {words(result.key)}"
    body = ["| effect | feature | value | evidence |", "|---|---|---|---|", *(_moved(m) for m in result.features)]
    if result.codes:
        body += ["", "Codes that fired:", "", *(_fired(c) for c in result.codes)]
    if result.judge:
        body += ["", "| judge | state | score | |", "|---|---|---|---|"]
        body += [
            f"| {code(s.column)} | {s.state} | {'' if s.value is None else f'{s.value:.3f}'} | {words(s.reason)} |"
            for s in result.judge
        ]
    body += [f"\n{words(remark)}" for remark in result.remarks]
    return "\n".join([f"<details><summary>{summary}</summary>", "", *body, "", "</details>"])


def _moved(moved: Moved) -> str:
    value = "unknown" if moved.value is None else f"{moved.value:g}"
    effect = f"{moved.effect:+.2f}" if moved.points is None else f"{100 * moved.points:+.1f} points"
    return f"| {effect} | {code(moved.feature)} | {value} | {_quoted(moved.quote, moved.unquoted)} |"


def _fired(fired: Fired) -> str:
    return f"- {code(fired.rule)} {words(fired.name)}: {_quoted(fired.quote, fired.unquoted)}"


def _quoted(quote: Quote | None, unquoted: str) -> str:
    if quote is None:
        return words(unquoted)
    return f"line {quote.line}, step {quote.step}: {code(quote.text)}"
