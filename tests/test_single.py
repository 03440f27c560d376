"""Scoring one trajectory: its verdict, what moved it, its codes and their quotes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from scored_runs import bad, good, run_record, write

import bestofn
from bestofn.errors import FormatError, UsageError
from bestofn.judge.score import Column, Score
from bestofn.llm.letters import State
from bestofn.single import open_selector, score
from bestofn.verdict import Answer, ScoreReport, Verdict


def one(report: ScoreReport) -> Verdict:
    """The only verdict."""
    return report.only


def test_a_run_in_trouble_fails_and_a_smooth_one_is_likelier(tmp_path: Path) -> None:
    """Broken off, long and full of errors is a fail at the default error rate; short and finished is above it."""
    failing = one(score(write(tmp_path / "bad.json", bad())))
    smooth = one(score(write(tmp_path / "good.json", good())))
    assert failing.verdict is Answer.FAIL
    assert failing.probability is not None
    assert smooth.probability is not None
    assert failing.probability < 0.2 < 0.9 < smooth.probability
    assert {m.feature for m in failing.features} >= {"finished", "n_error", "n_test_failure"}


def test_every_quote_stands_in_the_file_at_its_line(tmp_path: Path) -> None:
    """Quotes are looked up by another way: the JSON string on that very line holds the words."""
    file = write(tmp_path / "bad.json", bad(), indent=1)
    lines = file.read_text().split("\n")
    found = one(score(file))
    quotes = [m.quote for m in found.features if m.quote] + [c.quote for c in found.codes if c.quote]
    assert len(quotes) >= 4
    for quote in quotes:
        said = lines[quote.line - 1].partition(": ")[2].rstrip(",")
        assert quote.text in json.loads(said) or quote.text in json.loads(json.loads(said))["command"]
        assert len(quote.text) <= 200


def test_codes_come_from_signs_of_trouble_with_names_of_the_taxonomies(tmp_path: Path) -> None:
    """A missing end mark speaks for premature termination; length alone fires nothing."""
    found = one(score(write(tmp_path / "bad.json", bad())))
    codes = {code.rule: code for code in found.codes}
    assert codes["terminal-bench/A.1"].name == "Premature_Termination"
    assert "finished" in codes["terminal-bench/A.1"].features
    assert "n_characters" not in {feature for code in found.codes for feature in code.features}
    assert [code.effect for code in found.codes] == sorted(code.effect or 0.0 for code in found.codes)


def test_the_label_changes_nothing_and_is_shown_only_on_request(tmp_path: Path) -> None:
    """Equal runs with opposite rewards get equal verdicts; the JSON holds no outcome unless asked for."""
    told = []
    for reward in (0, 1):
        file = write(tmp_path / "run.json", {**good(), "reward": reward})
        told.append(json.dumps(score(file).as_dict()))
        assert '"label"' not in told[-1]
    assert told[0] == told[1]
    assert one(score(file, show_label=True)).label == "pass"


def test_the_bar_decides_below_it_and_the_error_rate_above(tmp_path: Path) -> None:
    """Below the bar fails with 1; at or above it, what cannot be told is unsure, by policy 0 or 3."""
    file = write(tmp_path / "good.json", good())
    probability = score(file).probability
    assert probability is not None
    assert score(file, fail_under=probability).exit_code == 0
    above = score(file, fail_under=min(1.0, probability + 0.001))
    assert (above.verdict, above.exit_code) == (Answer.FAIL, 1)
    strict = {
        policy: score(file, fail_under=0.5, error_rate=0.01, unsure=policy) for policy in ("fail", "warn", "pass")
    }
    assert {policy: (str(r.verdict), r.exit_code) for policy, r in strict.items()} == {
        "fail": ("unsure", 3),
        "warn": ("unsure", 0),
        "pass": ("unsure", 0),
    }


def test_another_kind_of_run_never_passes(tmp_path: Path) -> None:
    """A run of two commands, and a dialogue, are unsure with the reason, however well they look."""
    short = one(score(write(tmp_path / "short.json", run_record(commands=2)), error_rate=0.3))
    assert short.verdict is Answer.UNSURE
    assert any("n_commands is 2, and was" in reason for reason in short.reasons)
    talk = run_record(commands=14)
    talk["messages"][5:5] = [{"role": "user", "content": "And then?"}]
    dialogue = one(score(write(tmp_path / "talk.json", talk), error_rate=0.3))
    assert dialogue.verdict is Answer.UNSURE
    assert any("n_user_turns is 2, and was 1 to 1" in reason for reason in dialogue.reasons)


def test_a_recording_without_a_turn_has_no_probability(tmp_path: Path) -> None:
    """It is unsure, and below any bar."""
    file = write(tmp_path / "empty.json", {"task": "t", "id": "a", "messages": []})
    found = one(score(file))
    assert (found.verdict, found.probability, found.features) == (Answer.UNSURE, None, ())
    assert score(file, fail_under=0.0).exit_code == 1


def test_a_selector_without_probability_gives_a_rank_score_and_refuses_a_bar(tmp_path: Path) -> None:
    """The score is named a rank score; the error names the selector and the way out."""
    file = write(tmp_path / "good.json", good())
    found = score(file, selector="gate-shortest")
    assert (one(found).score_name, found.probability, found.verdict) == ("rank score", None, Answer.UNSURE)
    with pytest.raises(UsageError, match="selector 'gate-shortest' holds no calibrated probability, only a rank score"):
        score(file, selector="gate-shortest", fail_under=0.5)
    for name in ("shortest", "gate", "random"):
        assert score(file, selector=name).verdict is Answer.UNSURE


def test_several_trajectories_in_a_file_get_one_result_each(tmp_path: Path) -> None:
    """JSON lines: each with its own quotes on its own line; `only` refuses to choose."""
    report = bestofn.score(write(tmp_path / "runs.jsonl", good(), bad()))
    assert [result.trajectory for result in report.results] == ["good", "bad"]
    for number, result in enumerate(report.results, start=1):
        assert {m.quote.line for m in result.features if m.quote} == {number}
    assert report.exit_code == 1
    with pytest.raises(UsageError, match="2 trajectories were scored"):
        _ = report.probability


def test_what_cannot_be_read_is_never_passed_over(tmp_path: Path) -> None:
    """One bad file of two raises with its name, or is a problem beside the other's result, with exit code 2."""
    fine, broken = write(tmp_path / "good.json", good()), tmp_path / "broken.json"
    broken.write_text('{"messages": [')
    with pytest.raises(FormatError, match=r"broken\.json cannot be scored"):
        score([fine, broken])
    report = score([fine, broken, tmp_path / "none.json"], keep_going=True)
    assert (len(report.results), len(report.problems), report.exit_code) == (1, 2, 2)
    torn = tmp_path / "torn.jsonl"
    torn.write_text(json.dumps(good()) + "\n" + json.dumps(bad())[:300])
    assert score(torn, keep_going=True).exit_code == 2


def test_words_that_a_reader_changed_are_named_not_verifiable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quote that is not found in the file is dropped, and the report says so."""
    from bestofn.quotes import RecordedText

    monkeypatch.setattr(RecordedText, "locate", lambda *_: None)
    found = one(score(write(tmp_path / "bad.json", bad())))
    assert all(m.quote is None for m in found.features)
    assert any(m.unquoted.startswith("not verifiable") for m in found.features)


def judge_of(**scores: Score):
    """A judge that gives every attempt these scores."""

    def ask(pool: bestofn.Pool) -> list[Column]:
        attempts = [(t.task, t.id) for t in pool.trajectories]
        return [Column(name, scores=dict.fromkeys(attempts, s)) for name, s in scores.items()]

    return ask


def test_missing_judge_scores_turn_a_pass_into_unsure(tmp_path: Path) -> None:
    """They exit with 3 unless the policy says otherwise; what could not be asked of one run is not missing."""
    file = write(tmp_path / "good.json", good())
    selector = open_selector("terminal")
    assert selector.probability is not None
    wide = replace(selector.probability.conformal, fails=(0.01,) * 99)
    sure = replace(selector, probability=replace(selector.probability, conformal=wide))
    assert score(file, selector=sure).exit_code == 0
    assert score(file, selector=sure).verdict is Answer.PASS
    gone = judge_of(llm_a=Score.missing("server gone", "connection refused"))
    report = score(file, selector=sure, judge=gone)
    assert (report.verdict, report.exit_code, one(report).judge_missing) == (Answer.UNSURE, 3, ("llm_a",))
    assert score(file, selector=sure, judge=gone, unsure="warn").exit_code == 0
    alone = judge_of(llm_pair=Score.missing("the only attempt"), llm_a=Score(State.OK, 0.8))
    assert score(file, selector=sure, judge=alone).verdict is Answer.PASS


def test_codes_that_a_model_lists_stand_beside_the_others(tmp_path: Path) -> None:
    """They have the model's criterion as their source and no quote."""
    listing = judge_of(llm_codes_x=Score(State.OK, 2.0, detail="A.2, B.7"))
    found = one(score(write(tmp_path / "good.json", good()), judge=listing))
    told = {code.rule: code for code in found.codes if code.effect is None}
    assert set(told) == {"terminal-bench/A.2", "terminal-bench/B.7"}
    assert told["terminal-bench/A.2"].unquoted == "a model's word, without a quote"


def test_the_baseline_says_what_got_worse(tmp_path: Path) -> None:
    """Verdict, probability and newly fired codes; nothing where nothing changed."""
    before = tmp_path / "before.json"
    before.write_text(json.dumps(score(write(tmp_path / "run.json", good())).as_dict()))
    same = score(tmp_path / "run.json", baseline=before)
    assert same.changes[0].worse == ()
    worse = score(write(tmp_path / "run.json", {**bad(), "id": "good"}), baseline=before).changes[0].worse
    assert any(said.startswith("verdict") and said.endswith("fail now") for said in worse)
    assert any(said.startswith("probability 0.9") for said in worse)
    assert "terminal-bench/A.1 Premature_Termination fires now" in worse
    broken = tmp_path / "no.json"
    broken.write_text("[]")
    with pytest.raises(FormatError, match="is no JSON of `bestofn score`: it holds no list 'results'"):
        score(tmp_path / "run.json", baseline=broken)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fail_under": 1.5}, "a bar of 1.5 is no probability: give a number from 0 to 1"),
        ({"error_rate": 0.7}, "an error rate of 0.7 cannot be kept"),
        ({"unsure": "ignore"}, "no policy 'ignore' for unsure: there are fail, warn and pass"),
    ],
)
def test_wrong_options_are_told(tmp_path: Path, options: dict[str, float], message: str) -> None:
    """Each error has the value and the way out."""
    with pytest.raises(UsageError, match=message):
        score(write(tmp_path / "good.json", good()), **options)  # type: ignore[arg-type]  # wrong on purpose
