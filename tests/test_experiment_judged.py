"""The judged experiments over real sockets: what is planted is found, what is not is not, and nothing leaks."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from judged_pool import TAG, answer, honest, letters_for, write_pool
from scripted_server import Reply, Script, ScriptedServer, chat
from test_judge_leaks import SENTINELS
from test_judge_leaks import write as write_sentinels

from bestofn.ablation import Setting
from bestofn.ablation.asking import Judge
from bestofn.ablation.experiment import load
from bestofn.ablation.finding import Finding
from bestofn.ablation.subject import Subject
from bestofn.ablation.variant import OWN
from bestofn.catalogue import load_pool
from bestofn.cli import run
from bestofn.criteria import load as criteria
from bestofn.judge.showing import Showing
from bestofn.llm.answer import Completion
from bestofn.llm.cache import Cache
from bestofn.llm.client import Client
from bestofn.llm.replay import Replay, record
from bestofn.llm.request import LETTERS, Request
from bestofn.llm.run import Patience
from bestofn.scoring import score_pool

JUDGED = (
    "fired_codes", "wrong_domain", "cheaper_verifier", "cross_verifier", "top_k", "token_matched", "held_out_taxonomy",
    "audit",
)  # fmt: skip
INDUCE = """
import json, pathlib, sys
code = {"id": "A.1", "name": "Made_Code", "category": "A", "description": "made of the train folds"}
document = {"schema_version": 1, "status": "accepted", "display_name": "m", "domain": "d", "summary": "s"}
pathlib.Path(sys.argv[2], "taxonomy.json").write_text(json.dumps({**document, "codes": [code]}))
"""
CONTEXT = re.compile(r"(?s)--- what is known ---.*?--- end of what is known ---")
QUALITIES = {f"t{n:02}": "BT" if n % 2 else "TB" for n in range(14)}
"""Every task has a passing and a failing attempt: whoever reads them takes the right one, whoever does not, either."""


class Noting:
    """An answerer that keeps what was asked and answered."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.model = client.model
        self.asked: dict[bytes, Request] = {}

    @property
    def accounts(self) -> Any:
        return self.client.accounts

    @property
    def notes(self) -> tuple[str, ...]:
        return self.client.notes

    def answer(self, groups: Any, *, total: int | None = None) -> Iterator[Any]:
        for request, outcome in self.client.answer(groups, total=total):
            if isinstance(outcome, Completion):
                self.asked[request.canonical] = request
            yield request, outcome


Ask = Callable[..., Finding]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An answer cache of the test's own."""
    return Cache(tmp_path / "cache" / "answers.sqlite")


def judge_of(server: ScriptedServer, cache: Cache, **showing: Any) -> Judge:
    """A judge that keeps what it was asked."""
    client = Client("judge-1", cache=cache, base_url=server.url, patience=Patience(1, 5.0, 0.01), timeout=5.0)
    return Judge(Noting(client), (criteria("terminal"),), Showing(**showing))


def subject_of(folder: Path) -> Subject:
    """The pool as an experiment has it."""
    pool = load_pool(folder)
    return Subject.of("p", score_pool(pool, jobs=1).table, pool)


def measure(name: str, subject: Subject, judge: Judge | None, **inputs: str) -> Finding:
    """An experiment on one pool."""
    setting = Setting((subject,), judge, inputs, seed=0, resamples=500, permutations=5)
    return load(name).measure(setting)


def reads_with(sign: str) -> Script:
    """A judge that reads qualities where a sign stands in the question, and else has no opinion."""

    def script(body: dict[str, Any], number: int) -> Reply:
        text = body["messages"][-1]["content"]
        if not TAG.search(text):
            return answer({"probe": "A"}, logprobs=bool(body.get("logprobs")))
        letters = letters_for(CONTEXT.sub("", text))
        tags = dict.fromkeys(TAG.findall(text))
        told = letters if sign in text else {}
        return answer({tag: told.get(tag) or next(iter(told.values()), "J") for tag in tags}, logprobs=True)

    return script


def lists_codes(body: dict[str, Any], number: int) -> Reply:
    """A judge that names three codes more for bad runs."""
    text = body["messages"][-1]["content"]
    if "with the ids or none" not in text:
        return honest(body, number)
    [tag] = dict.fromkeys(TAG.findall(text))
    bad = letters_for(text)[tag] > "K"
    return Reply(chat(f"<{tag}>{'A.1, A.2, B.7, C.3' if bad else 'A.3'}</{tag}>"))


def rows(finding: Finding, number: int = 0) -> dict[str, Any]:
    """The arms of one comparison."""
    return {row.arm: row for row in finding.comparisons[number].rows}


@pytest.fixture
def swing(tmp_path: Path) -> Subject:
    """A pool of 14 swing tasks."""
    return subject_of(write_pool(tmp_path / "pool", QUALITIES))


def test_codes_that_only_the_matched_taxonomy_has_are_found(swing: Subject, serve: Any, cache: Cache) -> None:
    """A judge that sees failures only when told of this domain's: every other domain loses half, resolved."""
    judge = judge_of(serve(reads_with("A.1 Premature_Termination: the run stops")), cache)
    finding = measure("wrong_domain", swing, judge, arms="mast-14,frontier-cs")
    found = rows(finding)
    assert found[OWN].accuracy == 1.0
    for name in ("mast-14", "frontier-cs"):
        assert (found[name].accuracy, found[name].difference, found[name].moved) == (0.5, -0.5, 14)
        assert found[name].verdict == "resolved"
    assert found["drop"].why == "left out by --with arms="
    assert found["drop"].how == "name it there too: --with arms='mast-14,frontier-cs,drop'"
    [change, relation] = finding.sheets
    way, domains, mean, low, high, p, on_swing = change.rows[0]
    assert (way, domains, mean, low, high, on_swing) == ("judge alone, no labels", 2, -0.5, -0.5, -0.5, -0.5)
    assert p == pytest.approx(2 * 2.0**-14)
    correlations = {row[:2]: row[3] for row in relation.rows}
    assert correlations[OWN, "mast-14"] is None  # what never differs agrees with nothing
    assert set(correlations) == {(OWN, "frontier-cs"), (OWN, "mast-14"), ("frontier-cs", "mast-14")}


def test_codes_that_make_no_difference_are_tied(swing: Subject, serve: Any, cache: Cache) -> None:
    """A judge that reads right whatever it is told of: no task moves, scores correlate fully, health is asked once."""
    server = serve(honest)
    finding = measure("wrong_domain", swing, judge_of(server, cache), arms="mast-14,theoremqa")
    for row in (rows(finding)["mast-14"], rows(finding)["theoremqa"]):
        assert (row.accuracy, row.difference, row.moved, row.verdict) == (1.0, 0.0, 0, "tied")
    assert all(row[3] == 1.0 for row in finding.sheets[1].rows)
    # 28 attempts: six own criteria, three of MAST, two of TheoremQA; two orders of 14 pairs; 14 lists.
    assert len(server.questions) == 28 * (6 + 3 + 2) + 28 + 14


def test_other_domains_are_read_by_their_letters_where_asked(swing: Subject, serve: Any, cache: Cache) -> None:
    """`--with letters=yes` sends nothing more, and gives every letter its own value, as section D.5 has it."""
    server = serve(honest)
    judge = judge_of(server, cache)
    plain = measure("wrong_domain", swing, judge, arms="mast-14")
    sent = len(server.questions)
    letters = measure("wrong_domain", swing, judge, arms="mast-14", letters="yes")
    assert len(server.questions) == sent
    assert letters.as_dict()["comparisons"] == plain.as_dict()["comparisons"]
    assert judge.judgements[-1].summary.states["ok"] == 0
    assert judge.judgements[-1].summary.states["degraded"] == judge.judgements[0].summary.states["ok"]


def test_fewest_codes_find_what_the_judge_lists(swing: Subject, serve: Any, cache: Cache) -> None:
    """Bad runs have four codes and good ones one: medians, histogram, the selector and both p-values say so."""
    finding = measure("fired_codes", swing, judge_of(serve(lists_codes), cache))
    arm = rows(finding)["fewest codes"]
    assert (arm.accuracy, arm.verdict, arm.asked, arm.missing) == (1.0, "resolved", 28, 0)
    figures, histogram, codes = finding.sheets
    assert [row[1:4] for row in figures.rows[:2]] == [(14, 1.0, 1.0), (14, 4.0, 4.0)]
    assert [row[5] for row in figures.rows[4:]] == [1 / 10_001, 1 / 10_001]
    assert {row[0]: row[1:3] for row in histogram.rows} == {0: (0, 0), 1: (14, 0), 2: (0, 0), 3: (0, 0), 4: (0, 14)}
    assert codes.rows[0] == ("A.1", 0, 14)
    assert codes.rows[-1] == ("A.3", 14, 0)


def test_letters_alone_are_the_same_answers_without_a_new_call(swing: Subject, serve: Any, cache: Cache) -> None:
    """Nothing is asked again; every score is degraded, and a sure judge's verdicts are the same."""
    server = serve(honest)
    finding = measure("cross_verifier", swing, judge_of(server, cache))
    assert len(server.questions) == 28 * 6 + 28 + 14
    found = rows(finding)
    assert found["its letters alone"].difference == 0.0
    assert found["second judge"].why.startswith("needs another judge")
    assert found["shown fewer tokens"].how == "bestofn ablate NAME --pool POOL --with tokens=..."
    agreement, bias, outcomes = finding.sheets
    assert agreement.rows[-1][:3] == ("mean of all", 28, 1.0)
    assert agreement.rows[-1][5] == 1.0
    assert [row[2] for row in bias.rows] == [14, 14]
    states = {row[0]: row[6:] for row in outcomes.rows}
    assert states == {OWN: (224, 0, 0), "its letters alone": (0, 224, 0)}
    assert [row[2:6] for row in outcomes.rows] == [(1.0, 1.0, 1.0, 1.0)] * 2


def test_a_second_judge_that_errs_is_found_out(swing: Subject, serve: Any, cache: Cache, tmp_path: Path) -> None:
    """One that calls good bad and bad good: half the accuracy and more is lost, and kappa is -1."""

    def contrary(body: dict[str, Any], number: int) -> Reply:
        text = body["messages"][-1]["content"]
        tags = letters_for(text) if TAG.search(text) else {"probe": "T"}
        return answer({tag: LETTERS[19 - LETTERS.index(letter)] for tag, letter in tags.items()})

    first, second = judge_of(serve(honest), cache), judge_of(serve(contrary), Cache(tmp_path / "second.sqlite"))
    setting = Setting((swing,), first, {"second": "judge-2"}, lambda name: second, resamples=500)
    finding = load("cheaper_verifier").measure(setting)
    assert rows(finding)["second judge"].accuracy == 0.0
    assert rows(finding)["second judge"].verdict == "resolved"
    agreements = [
        sheet for sheet in load("cross_verifier").measure(setting).sheets if sheet.title.endswith("second judge")
    ]
    assert agreements[0].rows[-1][2] == -1.0
    assert agreements[0].rows[-1][5] == -1.0


def test_fewer_tokens_are_another_question(tmp_path: Path, serve: Any, cache: Cache) -> None:
    """The same judge is asked about single runs again, shown less; comparisons are left out where that is asked for."""
    qualities = {"t1": "BT", "t2": "TB"}
    folder = write_pool(tmp_path / "pool", qualities)
    for path in folder.iterdir():  # so long that it must be cut at either size
        path.write_text(path.read_text().replace("I check.", "I check. " + "many words of no weight " * 3000))
    server = serve(honest)
    finding = measure("cheaper_verifier", subject_of(folder), judge_of(server, cache, tokens=2000),
                      tokens="800", comparisons="no")  # fmt: skip
    assert rows(finding)["shown fewer tokens"].asked == 4 * 6
    sizes = [len(seen.body["messages"][-1]["content"]) for seen in server.questions]
    assert len(sizes) == 2 * 4 * 6
    assert max(sizes[24:]) < min(sizes[:24])


def test_codes_beyond_the_first_that_matter_are_found(swing: Subject, serve: Any, cache: Cache) -> None:
    """A judge that needs the third A code: one code and five are too few, ten and twenty do."""
    finding = measure("top_k", swing, judge_of(serve(reads_with("A.3 Runaway_Repetition: near-identical")), cache))
    accuracies = {name: row.accuracy for name, row in rows(finding).items()}
    assert accuracies == {OWN: 1.0, "K = 1": 0.5, "K = 5": 0.5, "K = 10": 1.0, "K = 20": 1.0}
    assert rows(finding)["K = 5"].verdict == "resolved"
    assert rows(finding)["K = 10"].verdict == "tied"
    chosen = dict(finding.sheets[0].rows)
    assert "llm_prosecutor_a" in str(chosen[OWN])


def test_the_length_of_a_context_is_what_decides(swing: Subject, serve: Any, cache: Cache) -> None:
    """A judge that needs a word that the prose comes to only after 100 tokens: 100 are too few, 500 and 2000 do."""
    finding = measure("token_matched", swing, judge_of(serve(reads_with("| Stopping too soon. The plainest")), cache))
    accuracies = {name: row.accuracy for name, row in rows(finding).items()}
    right = {"prose 500", "prose 2000"}
    assert {name for name, accuracy in accuracies.items() if accuracy == 1.0} == right
    assert all(accuracies[name] == 0.5 for name in accuracies if name not in right)
    lengths = {f"{row[0]} {row[1]}": row[2] for row in finding.sheets[-1].rows}
    assert {name: n for name, n in lengths.items() if name != "excerpts 2000"} == {
        f"{kind} {n}": n for kind in ("taxonomy", "prose", "excerpts") for n in (100, 500, 2000)
        if (kind, n) != ("excerpts", 2000)
    }  # fmt: skip
    assert 500 < int(str(lengths["excerpts 2000"])) < 2000  # all that seven tasks of the other half hold


def test_an_audit_that_finds_fault_everywhere_loses_pass_recall(swing: Subject, serve: Any, cache: Cache) -> None:
    """The prosecutors' ranking stays and their verdicts on passing attempts do not, as the paper has it."""

    def stern(body: dict[str, Any], number: int) -> Reply:
        text = body["messages"][-1]["content"]
        if "Go through the list entry by entry" not in text:
            return honest(body, number)
        return answer({tag: "P" if letter < "K" else "T" for tag, letter in letters_for(text).items()})

    finding = measure("audit", swing, judge_of(serve(stern), cache))
    outcomes = {row[0]: row for row in finding.sheets[0].rows}
    assert outcomes[OWN][2:5] == (1.0, 1.0, 1.0)
    assert outcomes["audit"][2:5] == (0.5, 0.0, 1.0)
    assert rows(finding)["audit"].difference == 0.0
    assert any("an audit takes about 300 tokens" in remark for remark in
               measure("audit", swing, judge_of(serve(stern), cache, answer_tokens=120)).remarks)  # fmt: skip


def test_each_fold_is_asked_what_the_others_taught(swing: Subject, serve: Any, cache: Cache, tmp_path: Path) -> None:
    """A command is run for each fold, its codes are asked about that fold's runs alone, and kept for the next time."""
    program = tmp_path / "induce.py"
    program.write_text(INDUCE)
    server, kept = serve(reads_with("Made_Code")), tmp_path / "kept"
    given = {"taxonomies": str(kept), "command": f"{sys.executable} {program} {{traces}} {{output}}"}
    finding = measure("held_out_taxonomy", swing, judge_of(server, cache), **given)
    assert sorted(path.name for path in kept.iterdir()) == ["all.json", *(f"fold-{n}.json" for n in range(1, 6))]
    found = rows(finding)
    assert [found[name].accuracy for name in (OWN, "held out", "same pool")] == [0.5, 1.0, 1.0]
    assert found["held out"].asked == found["same pool"].asked
    again = measure("held_out_taxonomy", swing, judge_of(server, cache), taxonomies=str(kept))
    assert again.as_dict()["comparisons"] == finding.as_dict()["comparisons"]
    for name in ("fold-2.json", "all.json"):
        (kept / name).unlink()
    lacking = rows(measure("held_out_taxonomy", swing, judge_of(server, cache), taxonomies=str(kept)))
    assert lacking["held out"].why == f"no fold-2.json in {kept}"
    assert "--with command='... {traces} ... {output}'" in lacking["held out"].how


def test_folds_with_codes_of_their_own_share_one_column(
    swing: Subject, serve: Any, cache: Cache, tmp_path: Path
) -> None:
    """Each fold's codes differ, so its criterion does; scores stand in one column, and its cost is all folds' cost."""
    for number, name in enumerate(("fold-1", "fold-2", "fold-3", "fold-4", "fold-5")):
        code = {"id": "A.1", "name": f"Code_{number}", "category": "A", "description": "d"}
        document = {"schema_version": 1, "status": "accepted", "display_name": "m", "domain": "d", "summary": "s"}
        (tmp_path / f"{name}.json").write_text(json.dumps({**document, "codes": [code]}))
    server = serve(honest)
    finding = measure("held_out_taxonomy", swing, judge_of(server, cache), taxonomies=str(tmp_path))
    arm = rows(finding)["held out"]
    # one prosecutor and three health checks a run, two orders of the pair, one list: 4 x 2 + 2 + 1 a task
    assert arm.cost.calls == 11.0
    assert (arm.asked, arm.missing, arm.accuracy) == (28 * 6, 0, 1.0)
    for number in range(5):
        texts = [s.body["messages"][-1]["content"] for s in server.questions]
        assert sum(f"Code_{number}" in text for text in texts) in (4, 6)


@pytest.mark.parametrize("name", JUDGED)
def test_no_prompt_tells_a_name_or_an_outcome(name: str, tmp_path: Path, serve: Any, cache: Cache) -> None:
    """Tasks, ids, files, folders, reasons, gold answers and rewards stand in no request of any experiment."""
    folder = write_sentinels(
        tmp_path / "FOLDER", task="TASKNAME", name="ATTEMPTID", file="FILENAME", reward=0.8642,
        label_reason="LABELREASON", gold="GOLDANSWER",
    )  # fmt: skip
    program = tmp_path / "induce.py"
    program.write_text(INDUCE)
    inputs = {"held_out_taxonomy": {"taxonomies": str(tmp_path / "kept"),
                                    "command": f"{sys.executable} {program} {{traces}} {{output}}"},
              "token_matched": {"arms": "taxonomy 100,prose 100,excerpts 100,excerpts 2000"}}.get(name, {})  # fmt: skip
    server = serve(lists_codes if name == "fired_codes" else honest)
    measure(name, subject_of(folder), judge_of(server, cache), **inputs)
    sent = [json.dumps(seen.body) for seen in server.questions]
    assert len(sent) >= 6
    for text in sent:
        assert not [word for word in SENTINELS if word in text]


@pytest.mark.parametrize("name", JUDGED)
def test_recorded_answers_give_the_same_finding(
    name: str, swing: Subject, serve: Any, cache: Cache, tmp_path: Path
) -> None:
    """To the last byte, without a server, twice; arms whose questions are not in the recording lack, and say so."""
    live = judge_of(serve(lists_codes), cache)
    inputs = {"wrong_domain": {"arms": "mast-14"}, "token_matched": {"arms": "prose 100,excerpts 100"}}.get(name, {})
    first = measure(name, swing, live, **inputs)
    path = tmp_path / "answers.jsonl"
    assert isinstance(live.answerer, Noting)
    written, lacking = record(live.answerer.asked.values(), path, model="judge-1", cache=cache)
    assert (written > 0, lacking) == (True, 0)

    def replayed(**given: str) -> Finding:
        judge = Judge(Replay(path), (criteria("terminal"),), Showing())
        finding = measure(name, swing, judge, **given)
        assert all(judgement.share_missing == 0.0 for judgement in judge.judgements)
        return finding

    same = replayed(**inputs)
    assert without_model(same) == without_model(first)
    assert json.dumps(same.as_dict()) == json.dumps(replayed(**inputs).as_dict())
    if name == "wrong_domain":
        found = rows(replayed())
        assert found["mast-14"].why == ""
        assert found["swe-bench"].why == "no answer to its questions is recorded"
        assert found["swe-bench"].how == "bestofn ablate NAME --pool POOL --model MODEL"


def test_a_recording_of_one_half_answers_the_arm_in_part(
    swing: Subject, serve: Any, cache: Cache, tmp_path: Path
) -> None:
    """Excerpts have other words for each half of the tasks: answers about one half are scores, the rest is missing."""
    live = judge_of(serve(lists_codes), cache)
    measure("token_matched", swing, live, arms="excerpts 100")
    assert isinstance(live.answerer, Noting)
    asked = list(live.answerer.asked.values())
    _, other = dict.fromkeys(r.criterion for r in asked if r.criterion.startswith("llm_context"))
    half = [request for request in asked if request.criterion != other]
    path = tmp_path / "answers.jsonl"
    record(half, path, model="judge-1", cache=cache)
    finding = measure("token_matched", swing, Judge(Replay(path), (criteria("terminal"),), Showing()))
    found = rows(finding)["excerpts 100"]
    assert found.why == ""
    assert 0 < found.missing < found.asked
    assert found.verdict == "partial"
    assert rows(finding)["prose 100"].why == "no answer to its questions is recorded"


def without_model(finding: Finding) -> dict[str, Any]:
    """A finding as data, all of it but the remarks on where answers came from."""
    return {**finding.as_dict(), "remarks": []}


@pytest.mark.parametrize("name", JUDGED)
def test_without_a_model_every_arm_stands_and_says_how_to_get_it(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the command line, on a pool without recorded answers: exit code 0, each arm with what it needs."""
    folder = write_pool(tmp_path / "pool", {"t1": "BT", "t2": "TB"})
    questions = tmp_path / "questions"
    writes = "write" in load(name).inputs
    options = ["--with", f"write={questions}"] if writes else []
    assert run(["ablate", name, "--pool", str(folder), "--json", "-q", *options]) == 0
    content = json.loads(capsys.readouterr().out)
    rows = [row for comparison in content["comparisons"] for row in comparison["rows"]]
    told = {"random", "gate-shortest", "oracle"}
    assert all(bool(row["why"]) == (row["arm"] not in told) for row in rows)
    assert all(row["how"] for row in rows if row["why"])
    if name not in ("held_out_taxonomy",) and writes:
        assert [path for path in questions.glob("*.md") if run(["check", str(path)])] == []


def test_written_questions_are_those_that_are_asked(swing: Subject, serve: Any, cache: Cache, tmp_path: Path) -> None:
    """A file of `--with write=` asks the very questions of its arm: given as criteria, nothing new is sent."""
    server = serve(honest)
    measure("top_k", swing, judge_of(server, cache), arms="K = 5", write=str(tmp_path / "made"))
    before = len(server.questions)
    made = criteria(tmp_path / "made" / "K-5.md")
    client = Client("judge-1", cache=cache, base_url=server.url, offline=True)
    judge = Judge(client, (made,), Showing())
    judgement = judge.ask(swing)
    assert judgement.share_missing == 0.0
    assert len(server.questions) == before
    assert re.findall(r"(?m)^- ([ABC]\.\d+) ", made.criterion("llm_prosecutor_b").question) == ["B.1", "B.2"]


def test_headline_has_the_verifier_mast_and_fewest_codes(swing: Subject, serve: Any, cache: Cache) -> None:
    """All arms of Table 4 have a figure where a model answers, and a judge that reads right reaches the oracle."""
    finding = measure("headline", swing, judge_of(serve(lists_codes), cache))
    found = rows(finding)
    other = ("LLM-as-a-Verifier, every pair", "fewest codes", "MAST-14, nested", "AdaMAST-Judge, nested")
    for name in ("LLM-as-a-Verifier", *other):
        assert found[name].accuracy == found["oracle"].accuracy == 1.0, name
    assert [name for name, row in found.items() if row.why] == ["majority"]
    assert found["LLM-as-a-Verifier, every pair"].cost.calls == 3.0


def test_two_sets_with_criteria_of_one_name_keep_their_columns(swing: Subject, serve: Any, cache: Cache) -> None:
    """A judge of two sets, each with its own prosecutor A, has both as columns of every arm."""
    from bestofn.ablation.answers import ask
    from bestofn.ablation.variant import own

    first = criteria("terminal")
    second = replace(criteria("audit"), criteria=criteria("audit").criteria[:1])
    judge = replace(judge_of(serve(honest), cache), criteria=(first, second))
    setting = Setting((swing,), judge)
    view = ask(setting, swing, [own(setting)]).view(OWN)
    assert set(view.llm) == {c.column for chosen in (first, second) for c in chosen.criteria}
    assert not any(math.isnan(value) for value in view.table.take(view.llm).ravel())


def test_a_fold_without_any_turn_of_an_agent_is_left_unknown(tmp_path: Path, serve: Any, cache: Cache) -> None:
    """Its scores are missing, those of the other folds stand."""
    folder = write_pool(tmp_path / "pool", {"t1": "BT", "t2": "TB"})
    lines = [json.loads(line) for line in (folder / "t2.jsonl").read_text().splitlines()]
    for line in lines:
        line["messages"] = line["messages"][:1]
    (folder / "t2.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    for name in ("fold-1", "fold-2"):
        code = {"id": "A.1", "name": "Stops", "category": "A", "description": name}
        document = {"schema_version": 1, "status": "accepted", "display_name": "m", "domain": "d", "summary": "s"}
        (tmp_path / f"{name}.json").write_text(json.dumps({**document, "codes": [code]}))
    finding = measure("held_out_taxonomy", subject_of(folder), judge_of(serve(honest), cache), taxonomies=str(tmp_path))
    arm = rows(finding)["held out"]
    assert (arm.asked, arm.missing, arm.accuracy) == (24, 12, 0.75)
