"""JUnit and SARIF as their readers define them, and every output of `score` against recordings that attack."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from lxml import etree
from report_pool import ATTACKS, attempt
from scored_runs import NOISE, bad, good, run_record, write

from bestofn.report.junit import junit
from bestofn.report.sarif import sarif
from bestofn.single import score

SCHEMAS = Path(__file__).parent / "schemas"
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("BESTOFN", "GITHUB", "OPENAI"))}
PAINT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What would paint a terminal or turn text around."""


@pytest.fixture(scope="module")
def xsd() -> etree.XMLSchema:
    """The form of JUnit reports."""
    return etree.XMLSchema(etree.parse(SCHEMAS / "junit.xsd"))


@pytest.fixture(scope="module")
def sarif_schema() -> jsonschema.Draft202012Validator:
    """The form of SARIF logs."""
    content = json.loads((SCHEMAS / "sarif.json").read_text())
    jsonschema.Draft202012Validator.check_schema(content)
    return jsonschema.Draft202012Validator(content)


def errors(schema: jsonschema.Draft202012Validator, log: dict[str, Any]) -> list[str]:
    """What is wrong with a log."""
    return [f"{error.json_path}: {error.message[:200]}" for error in schema.iter_errors(log)]


@pytest.mark.parametrize("unsure", ["fail", "warn", "pass"])
def test_reports_keep_the_form_that_their_readers_demand(
    tmp_path: Path, xsd: etree.XMLSchema, sarif_schema: jsonschema.Draft202012Validator, unsure: str
) -> None:
    """Passes, fails, unsures, several runs in a file, unreadable files: valid JUnit and valid SARIF each time."""
    (tmp_path / "broken.json").write_text("{")
    files = [
        write(tmp_path / "good.json", good()),
        write(tmp_path / "both.jsonl", good(), bad()),
        write(tmp_path / "odd.json", run_record("odd", commands=2)),
        write(tmp_path / "empty.json", {"task": "t", "id": "a", "messages": []}),
        tmp_path / "broken.json",
    ]
    for chosen in (files, files[:1], files[-1:]):
        report = score(chosen, unsure=unsure, keep_going=True)
        xsd.assertValid(etree.fromstring(junit(report).encode()))
        assert errors(sarif_schema, json.loads(json.dumps(sarif(report)))) == []
    named = score(files[:1], selector="gate-shortest")
    xsd.assertValid(etree.fromstring(junit(named).encode()))
    assert errors(sarif_schema, sarif(named)) == []


def test_the_schemas_refuse_what_strict_readers_refuse(
    tmp_path: Path, xsd: etree.XMLSchema, sarif_schema: jsonschema.Draft202012Validator
) -> None:
    """An attribute that Jenkins does not know, a count that is none, a result without a message: each is an error."""
    report = score(write(tmp_path / "bad.json", bad()))
    root = etree.fromstring(junit(report).encode())
    for path, name, value in (
        ("testsuite/testcase", "file", "x"), (".", "skipped", "0"), ("testsuite", "tests", "one"),
        ("testsuite/testcase", "name", ""),
    ):  # fmt: skip
        other = copy.deepcopy(root)
        other.find(path).set(name, value)
        assert not xsd.validate(other), (path, name)
    log = sarif(report)
    assert errors(sarif_schema, log) == []
    for change in (
        lambda run: run["results"][0].pop("message"),
        lambda run: run["results"][0].update(severity="high"),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="a b"),
        lambda run: run["tool"]["driver"].pop("name"),
        lambda run: run["invocations"][0].pop("executionSuccessful"),
        lambda run: run["results"][0].update(level="fatal"),
    ):
        wrong = copy.deepcopy(log)
        change(wrong["runs"][0])
        assert errors(sarif_schema, wrong), change


NUL = "main.c:1:5: error: \x00\x00 nul\x00"


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with recordings whose every text, name and file name attacks."""
    folder = tmp_path_factory.mktemp("attacked")
    for number, hostile in enumerate((*ATTACKS, NUL, "", " ", "\n::error::owned\n", "a" * 1_000_000)):
        outputs = [f"main.c:1:5: error: {hostile}", hostile, f"Traceback {hostile}", f"FAILED {hostile}\n{NOISE}"]
        record = run_record(hostile, ending="timed_out", commands=30, outputs=outputs, last=f"I failed. {hostile}")
        write(folder / f"{number}.json", {**record, "task": hostile.strip() or "t"})
    record = attempt("t <b>", "a\u202eb", None, ATTACKS)
    write(folder / "x`|<img src=x onerror=alert(1)>\u202e %0A::error::#&.json", record)
    return folder


def test_no_output_carries_an_attack(
    attacked: Path, xsd: etree.XMLSchema, sarif_schema: jsonschema.Draft202012Validator
) -> None:
    """JSON, JUnit, SARIF, Markdown and annotations of hostile runs: all are scored, all valid, nothing is painted."""
    files = sorted(path.name for path in attacked.glob("*.json"))
    options = ["--junit", "v.xml", "--sarif", "v.sarif", "--markdown", "v.md"]
    done = subprocess.run(
        [sys.executable, "-m", "bestofn", "score", *options, "--json", "-o", "v.out", "--", *files],
        capture_output=True, cwd=attacked, env={**CLEAN, "GITHUB_ACTIONS": "true"}, timeout=300, check=False,
    )  # fmt: skip
    told = done.stderr.decode()
    assert done.returncode in (0, 1), told[-2000:]
    content = json.loads((attacked / "v.out").read_text())
    assert len(content["results"]) == len(files)
    assert content["problems"] == []
    for line in told.splitlines():
        assert re.match(r"::(?:error|warning) ", line)
        assert len(line) < 8000
    assert not PAINT.search(told.replace("\n", ""))

    raw = (attacked / "v.xml").read_bytes()
    root = etree.fromstring(raw)
    xsd.assertValid(root)
    assert len(root.findall("testsuite/testcase")) == len(files)
    assert not PAINT.search(raw.decode().replace("\n", ""))
    assert {element.tag for element in root.iter()} <= {
        "testsuites", "testsuite", "testcase", "properties", "property", "failure", "skipped", "system-out",
    }  # fmt: skip

    log = json.loads((attacked / "v.sarif").read_text())
    assert errors(sarif_schema, log) == []
    assert log["runs"][0]["results"]

    def texts(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for pair in value.items() for part in pair for text in texts(part)]
        return [text for part in value for text in texts(part)] if isinstance(value, list) else [str(value)]

    assert not PAINT.search("".join(texts(log)).replace("\n", ""))

    shown = (attacked / "v.md").read_text()
    assert not PAINT.search(shown.replace("\n", ""))
    assert len(shown) < 62_000
    bare = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", shown)
    assert set(re.findall(r"</?([a-z]+)", bare)) <= {"details", "summary", "sub"}
    assert "\n::error" not in shown


def test_the_screen_stays_what_we_painted(attacked: Path) -> None:
    """Whether a terminal or a file reads it: no control or turning character, and no line without an end."""
    files = sorted(path.name for path in attacked.glob("*.json"))
    for file in files:
        done = subprocess.run(
            [sys.executable, "-m", "bestofn", "score", "--", file],
            capture_output=True, cwd=attacked, env=CLEAN, timeout=120, check=False,
        )  # fmt: skip
        said = (done.stdout + done.stderr).decode()
        assert done.returncode in (0, 1), said[-2000:]
        assert "Traceback (most" not in done.stderr.decode()
        assert not PAINT.search(said.replace("\n", "")), file
        assert max(map(len, said.splitlines())) < 2500
        assert not any(line.startswith("::") for line in said.splitlines())


def test_a_quote_of_a_hostile_run_is_still_proven(attacked: Path) -> None:
    """What the JSON quotes stands in the file word for word; what cannot be found again says so."""
    proven = 0
    for file in sorted(attacked.glob("*.json")):
        record = json.loads(file.read_text())
        # Half a character cannot be written: readers and quotes alike give the sign for what is lost.
        words = re.sub("[\ud800-\udfff]", "\ufffd", json.dumps(record["messages"], ensure_ascii=False))
        [result] = score(file).results
        for moved in result.features:
            if moved.quote is not None:
                proven += 1
                assert json.dumps(moved.quote.text, ensure_ascii=False)[1:-1] in words
            else:
                assert moved.unquoted
    assert proven > 40
