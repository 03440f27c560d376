"""Verdicts as JUnit, SARIF, Markdown and annotations: valid, and safe whatever a recording holds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as XML

import pytest
from scored_runs import NOISE, bad, good, run_record, write

from bestofn.report.annotations import workflow_commands
from bestofn.report.junit import junit
from bestofn.report.markdown import LONGEST, code, markdown
from bestofn.report.sarif import sarif
from bestofn.single import score
from bestofn.verdict import ScoreReport

HOSTILE = "x`|<script>alert(1)</script> ]]> \x00\x08\x1b[31m @everyone ![i](http://x/y.png) ::error::boo \u202e"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ScoreReport:
    """One passing kind of run, one failing, one file that cannot be read, one run full of attack strings."""
    folder = tmp_path_factory.mktemp("runs")
    outputs = [f"main.c:1:5: error: {HOSTILE}\n{NOISE}"]
    attack = run_record(f"a\n::error::owned {HOSTILE}", ending="timed_out", commands=40, outputs=outputs, last=None)
    attack["task"] = f"t {HOSTILE}"
    (folder / "broken.json").write_text("{")
    files = [
        write(folder / "good.json", good()),
        write(folder / "bad.json", bad(), indent=1),
        write(folder / "a b#%.json", attack),
        folder / "broken.json",
    ]
    return score(files, fail_under=0.5, keep_going=True)


def test_junit_counts_what_it_holds_and_is_legal_xml(report: ScoreReport) -> None:
    """Every file is a suite, every result a test case; unreadable files are errors; control characters are gone."""
    text = junit(report)
    root = XML.fromstring(text)
    cases = root.findall("testsuite/testcase")
    assert len(cases) == int(root.attrib["tests"]) == 4
    assert len(root.findall("testsuite/testcase/failure")) == int(root.attrib["failures"]) == 2
    assert len(root.findall("testsuite/testcase/error")) == int(root.attrib["errors"]) == 1
    for suite in root:
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
    assert [suite.attrib.get("file", "").rsplit("/", 1)[-1] for suite in root] == [
        "good.json", "bad.json", "a b#%.json", "",
    ]  # fmt: skip
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", text)
    failure = cases[1].find("failure")
    assert failure is not None
    assert "finished = 0" in (failure.text or "")
    assert "bad.json:" in (failure.text or "")


def test_an_unsure_is_a_failure_or_skipped_as_the_policy_says(tmp_path: Path) -> None:
    """Under `fail` it fails the pipeline, under `warn` it is a skipped case with the reason."""
    file = write(tmp_path / "short.json", run_record(commands=2))
    found = {policy: XML.fromstring(junit(score(file, unsure=policy))) for policy in ("fail", "warn")}
    failure, skipped = found["fail"].find(".//failure"), found["warn"].find(".//skipped")
    assert failure is not None
    assert failure.attrib["type"] == "unsure"
    assert skipped is not None
    assert "another kind of run" in skipped.attrib["message"]


def test_sarif_has_a_result_a_fired_code_at_its_line(report: ScoreReport) -> None:
    """Rules are the codes, each result names its rule by id and index, lines count from 1, URIs are encoded."""
    log = json.loads(json.dumps(sarif(report)))
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert len(run["results"]) == sum(len(result.codes) for result in report.results)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        [location] = result["locations"]
        place = location["physicalLocation"]
        assert place["region"]["startLine"] >= 1
        assert not re.search(r"[ #]|%(?![0-9A-F]{2})", place["artifactLocation"]["uri"])
    assert any("a%20b%23%25.json" in json.dumps(result) for result in run["results"])
    lines = {r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in run["results"]}
    assert max(lines) > 1
    assert run["invocations"][0]["executionSuccessful"] is False


def test_markdown_keeps_hostile_words_in_code_spans(report: ScoreReport) -> None:
    """Outside of code spans there is no markup of a recording: no tag, link, image or mention."""
    text = markdown(report)
    bare = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text)
    assert "<script" not in bare
    assert "@everyone" not in bare
    assert "](http" not in bare
    assert "\u202e" not in text
    assert "\x00" not in text
    tags = set(re.findall(r"</?([a-z]+)", bare))
    assert tags <= {"details", "summary", "sub"}
    table = [line for line in text.splitlines() if line.startswith("| ❌")]
    assert len(table) == 2
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in table)


def test_a_code_span_cannot_be_left() -> None:
    """Backticks inside are fenced by more of them, bars cannot end a cell."""
    assert code("a`b``c") == "```a`b``c```"
    assert code("`") == "`` ` ``"
    assert "|" not in code("a|b")
    assert "\n" not in code("a\nb")


def test_markdown_fits_a_comment(tmp_path: Path) -> None:
    """Many results are cut with a word, under GitHub's limit."""
    records = [{**bad(), "id": f"bad{n}"} for n in range(70)]
    text = markdown(score(write(tmp_path / "many.jsonl", *records)))
    assert len(text) <= LONGEST + 200
    assert "the JSON" in text.splitlines()[-1] + text.splitlines()[-3]


def test_annotations_are_one_line_each_whatever_a_name_holds(report: ScoreReport) -> None:
    """A recording cannot write a workflow command of its own."""
    lines = workflow_commands(report)
    assert lines[0].startswith("::error title=bestofn score::")
    for line in lines:
        assert "\n" not in line
        assert "\r" not in line
        assert re.match(r"::(?:error|warning) ", line)
        properties = line[2:].partition("::")[0]
        assert len(re.findall(r"(?:file|line|title)=", properties)) <= 3
    attack = next(line for line in lines if "owned" in line)
    assert "%3A%3Aerror" in attack
    assert attack.count("::") == 2


def test_the_json_is_plain_and_repeats_exactly(report: ScoreReport) -> None:
    """What --json prints is JSON without NaN, with one entry a trajectory and the figures of the selector."""
    text = json.dumps(report.as_dict(), allow_nan=False)
    content = json.loads(text)
    assert [r["trajectory"] for r in content["results"]][:2] == ["good", "bad"]
    assert content["selector"]["name"] == "terminal"
    assert content["selector"]["digest"].startswith("sha256:")
    assert content["selector"]["measured"]["rows"] == 445
    assert content["exit_code"] == 2
