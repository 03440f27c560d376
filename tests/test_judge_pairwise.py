"""Comparisons: a failed one is no tie, a verdict must survive the swap, and the place in the prompt is measured."""

from __future__ import annotations

import json
import math
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest

from bestofn.judge.pairwise import SOME_FAILED, TOO_FEW, measure_bias, verdicts
from bestofn.judge.score import Column
from bestofn.llm.answer import Completion, Missing, Outcome, Reason
from bestofn.llm.letters import LetterScore, State, read_scores
from bestofn.metrics import accuracy_by_task
from bestofn.selector import Selector, Term
from bestofn.table import FeatureTable

GONE = LetterScore(State.MISSING, reason=Reason.GONE, detail="503")


def surely(score: float) -> LetterScore:
    """A comparison that was answered."""
    return LetterScore(State.OK, score, letter="A")


def every(n: int, score: dict[tuple[int, int], float]) -> dict[tuple[int, int], LetterScore]:
    """All comparisons of n attempts, in both orders."""
    return {pair: surely(score[pair]) for pair in permutations(range(n), 2)}


def test_a_value_is_the_mean_chance_over_both_orders() -> None:
    """Computed a second way: the mean over all ordered comparisons of an attempt's own side."""
    rng = np.random.default_rng(0)
    scores = {pair: float(rng.random()) for pair in permutations(range(5), 2)}
    found = verdicts(every(5, scores), 5)
    for i in range(5):
        own = [scores[(i, j)] for j in range(5) if j != i] + [1 - scores[(j, i)] for j in range(5) if j != i]
        assert found.scores[i].value == pytest.approx(sum(own) / len(own), abs=1e-11)
        assert found.scores[i].state is State.OK
    assert (found.valid, found.pairs) == (10, 10)


def test_a_failed_comparison_counts_for_nobody() -> None:
    """The pair is dropped with both its orders; the values come from the other pairs, and say how many those are."""
    scores = {pair: 0.9 if pair[0] < pair[1] else 0.1 for pair in permutations(range(3), 2)}
    answers = {**every(3, scores), (0, 1): GONE}
    found = verdicts(answers, 3)
    assert [s.value for s in found.scores] == pytest.approx([0.9, 0.9, 0.1])
    assert [(s.state, s.reason) for s in found.scores[:2]] == [(State.DEGRADED, SOME_FAILED)] * 2
    assert found.scores[0].detail == "1 of 2 comparisons hold (1 server gone)"
    assert found.scores[2].state is State.OK


def test_below_half_of_the_pairs_a_task_gets_no_verdict() -> None:
    """With 1 of 3 pairs left, all attempts are missing, those of the answered pair too."""
    answers = {(0, 1): surely(1.0), (1, 0): surely(0.0), (0, 2): GONE, (2, 0): GONE, (1, 2): GONE, (2, 1): GONE}
    found = verdicts(answers, 3)
    assert [(s.state, s.reason) for s in found.scores] == [(State.MISSING, TOO_FEW)] * 3
    assert found.scores[0].detail == "1 of 3 pairs of the task answer in both orders (4 server gone)"
    assert all(math.isnan(s.value) for s in found.scores)


def test_an_attempt_below_half_of_its_own_pairs_gets_no_value() -> None:
    """With 3 of 6 pairs left, those with at least 2 of their 3 comparisons have a value."""
    scores = {pair: 0.7 if pair[0] < pair[1] else 0.3 for pair in permutations(range(4), 2)}
    answers = every(4, scores)
    for i in range(3):
        answers[(i, 3)] = GONE
    found = verdicts(answers, 4)
    assert [s.state for s in found.scores] == [State.DEGRADED] * 3 + [State.MISSING]
    assert found.scores[3].detail == "0 of 3 comparisons hold (3 server gone)"


def test_a_comparison_that_was_never_answered_is_a_failed_one() -> None:
    """An order without any answer drops its pair."""
    assert verdicts({(0, 1): surely(1.0)}, 2).scores[0].reason == TOO_FEW


def test_a_judge_that_always_prefers_the_first_place_prefers_nobody() -> None:
    """Its values are exactly one half, and the bias is told in full."""
    answers = every(4, dict.fromkeys(permutations(range(4), 2), 1.0))
    assert {s.value for s in verdicts(answers, 4).scores} == {0.5}
    bias = measure_bias([answers])
    assert (bias.pairs, bias.mean, bias.disagreement, bias.reversed) == (6, 1.0, 1.0, 1.0)
    assert str(bias) == (
        "position bias over 6 pairs: the first place gains +1.00, both orders differ by 1.00 on average, "
        "100% of the winners change with the order"
    )


@pytest.mark.parametrize("letter", [k / 19 for k in range(20)])
def test_a_constant_judge_ties_to_the_last_bit(letter: float) -> None:
    """Whatever one letter says every time, all attempts get one and the same value."""
    answers = every(5, dict.fromkeys(permutations(range(5), 2), letter))
    assert len({s.value for s in verdicts(answers, 5).scores}) == 1


def test_a_judge_without_bias_is_told_so() -> None:
    """Two orders that mirror each other differ by nothing."""
    scores = {pair: 0.8 if pair[0] < pair[1] else 0.2 for pair in permutations(range(3), 2)}
    bias = measure_bias([every(3, scores)])
    assert (bias.pairs, bias.reversed) == (3, 0.0)
    assert bias.mean == pytest.approx(0.0)
    assert str(measure_bias([])) == "position bias unknown: no pair answered in both orders"


def outage(lines: list[dict[str, str]]) -> dict[tuple[int, int], LetterScore]:
    """The answers of a log of comparisons: a bracketed error or any text, as a server would have given them."""
    places = {name: at for at, name in enumerate(sorted({line[side] for line in lines for side in "ab"}))}
    answers: dict[tuple[int, int], LetterScore] = {}
    for line in lines:
        key = (places[line["a"]], places[line["b"]])
        said = line["verdict"]
        outcome: Outcome = Completion(content=f"<v_0a1b2c3d>{said}</v_0a1b2c3d>" if len(said) == 1 else said)
        if said.startswith("error"):
            outcome = Missing(Reason.SERVER_ERROR, said)
        order = key if line["order"] == "ab" else key[::-1]
        answers[order] = read_scores(outcome, ["v_0a1b2c3d"])["v_0a1b2c3d"]
    return answers


OUTAGE = [
    {"a": "u", "b": "w", "order": "ba", "verdict": "C"},
    {"a": "u", "b": "w", "order": "ab", "verdict": "C"},
    {"a": "u", "b": "v", "order": "ab", "verdict": "error: connection reset"},
    {"a": "v", "b": "w", "order": "ab", "verdict": "The second one is better (8 of 10)."},
    {"a": "u", "b": "v", "order": "ba", "verdict": "error: 502"},
    {"a": "v", "b": "w", "order": "ba", "verdict": ""},
]


def check_outage(lines: list[dict[str, str]]) -> None:
    """An outage gives no verdict, and a verdict that does not survive the swap prefers nobody."""
    answers = outage(lines)
    missing = [score for score in answers.values() if score.state is State.MISSING]
    assert len(missing) == 4
    assert all(math.isnan(score.score) for score in missing)
    assert all(score.reason == TOO_FEW for score in verdicts(answers, 3).scores)
    pair = {key: score for key, score in answers.items() if set(key) == {0, 2}}
    kept = {(min(1, i), min(1, j)): score for (i, j), score in pair.items()}
    assert [score.value for score in verdicts(kept, 2).scores] == [0.5, 0.5]
    assert measure_bias([answers]).reversed == 1.0


def test_an_outage_is_not_a_tie() -> None:
    """Of three pairs one is answered, and in contradiction: no attempt gets a value, least of all one half."""
    check_outage(OUTAGE)


@pytest.mark.shared
def test_a_recorded_outage_is_not_a_tie(shared: Path) -> None:
    """The recorded log gives no verdict, and its constant scores pick no attempt by its place in the file."""
    folder = shared / "cases" / "30-judge-outage-is-not-a-tie"
    logs = sorted(folder.glob("*.jsonl"))
    assert logs
    for log in logs:
        check_outage([json.loads(line) for line in log.read_text().splitlines() if line.strip()])
    tied = next(
        content for path in sorted(folder.glob("*.json")) if "attempts" in (content := json.loads(path.read_text()))
    )
    scores, labels = ([float(a[key]) for a in tied["attempts"]] for key in ("score", "label"))
    for order in (range(4), range(3, -1, -1)):
        accuracy = picked([scores[i] for i in order], [labels[i] for i in order])
        assert accuracy == sum(labels) / len(labels)


def picked(scores: list[float], labels: list[float]) -> float:
    """Expected label of the pick of one task by a column of these scores."""
    rows = [
        ("x", f"t{n}", [score], label, False, "") for n, (score, label) in enumerate(zip(scores, labels, strict=True))
    ]
    table = FeatureTable.build(rows, ["llm_x"])
    selector = Selector("x", terms=(Term("llm_x", 1.0),))
    return float(accuracy_by_task(selector.scores(table), table.rewards, table.groups)[0])


def test_equal_scores_share_the_pick_whatever_the_order() -> None:
    """A constant column is worth exactly Pass@1."""
    assert picked([5.0] * 4, [1.0, 0.0, 0.0, 0.0]) == picked([5.0] * 4, [0.0, 0.0, 0.0, 1.0]) == 0.25


def test_a_column_counts_its_states() -> None:
    """What was not asked stands apart from what is missing."""
    column = Column("llm_compare@0")
    for n, score in enumerate(
        verdicts(every(2, dict.fromkeys(combinations(range(2), 2), 0.5) | {(1, 0): 0.5}), 2).scores
    ):
        column.scores[("t", str(n))] = score
    assert column.counts() == {"ok": 2}
    assert math.isnan(column.value(("t", "unknown")))
