"""LLM-as-a-Verifier over our judge: the published arithmetic, computed a second way, and held over real sockets."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from judged_pool import answer, honest, letters_for, write_pool
from scripted_server import Reply, ScriptedServer, Serve

from bestofn.catalogue import load_pool
from bestofn.criteria import load
from bestofn.errors import UsageError
from bestofn.judge.pairwise import SOME_FAILED, TOO_FEW
from bestofn.judge.question import ask_all
from bestofn.judge.score import ALONE, Column
from bestofn.judge.showing import Showing
from bestofn.judge.shown import ShownCounts
from bestofn.llm.cache import IN_MEMORY, Cache
from bestofn.llm.client import Client
from bestofn.llm.letters import State, letter_value
from bestofn.llm.run import Patience
from bestofn.verifier.method import PivotTournament, RoundRobin, Tournament
from bestofn.verifier.tournament import (
    Rewards,
    Tally,
    against,
    leaders,
    pivot_meetings,
    preference,
    ring,
    round_robin,
    win,
)

QUICK = Patience(max_retries=0, longest_wait=5.0, first_wait=0.01)
CRITERIA = load("verifier").criteria


def hold(method: Tournament, pool: Path, server: ScriptedServer) -> Column:
    """The column of a tournament held over a pool."""
    ask_all([method], load_pool(pool), Client("j", cache=Cache(IN_MEMORY), base_url=server.url, patience=QUICK))
    [column] = method.columns()
    return column


def values(column: Column, task: str, n: int) -> list[float]:
    """Values of a task's attempts."""
    return [column.value((task, f"{task}.a{k}")) for k in range(1, n + 1)]


# The arithmetic


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_pivot_tournament_has_as_many_meetings_as_published(n: int, k: int) -> None:
    """N + k(N - k) + k(k - 1)/2, counted from the meetings themselves."""
    order = random.Random(n).sample(range(n), n)
    k = min(k, n)
    made = [*ring(order), *against(n, order[:k])]
    assert len(made) == pivot_meetings(n, k) == n + k * (n - k) + math.comb(k, 2)


def test_in_the_ring_everybody_stands_once_first_and_once_second() -> None:
    """So that a place's advantage cancels."""
    meetings = ring([3, 0, 4, 2, 1])
    assert Counter(a for a, _ in meetings) == Counter(b for _, b in meetings) == Counter(range(5))
    assert all((meetings[at][1] == meetings[(at + 1) % 5][0]) for at in range(5))
    assert ring([0]) == []


def test_everybody_else_meets_each_leader_and_leaders_meet_each_other() -> None:
    """Those who do not lead stand first."""
    assert against(4, [2, 0]) == [(1, 2), (1, 0), (3, 2), (3, 0), (0, 2)]


def test_a_preference_is_the_logistic_of_the_difference() -> None:
    """1 / (1 + exp(R_b - R_a)), which for rewards in 0 to 1 lies between 0.269 and 0.731."""
    assert preference(Rewards(1.0, 0.0)) == pytest.approx(math.e / (1 + math.e))
    assert preference(Rewards(0.3, 0.3)) == 0.5
    assert preference(Rewards(0.2, 0.9)) + preference(Rewards(0.9, 0.2)) == pytest.approx(1.0)


def test_a_win_is_whole_and_a_draw_half() -> None:
    """The round robin as first released counts wins."""
    assert [win(Rewards(0.6, 0.5)), win(Rewards(0.5, 0.6)), win(Rewards(0.5, 0.5))] == [1.0, 0.0, 0.5]


def test_leaders_are_those_with_the_most_wins_a_meeting_and_equal_ones_come_by_lot() -> None:
    """Of equal attempts the random order decides, never the place in a file; who met nobody does not lead."""
    tally = Tally(4)
    tally.add((0, 1), 0.5)
    tally.add((2, 0), 0.9)
    assert leaders(tally, 2, [1, 0, 2, 3]) == [2, 1]
    even = Tally(3)
    for meeting in ((0, 1), (1, 2), (2, 0)):
        even.add(meeting, 0.5)
    assert leaders(even, 2, [2, 0, 1]) == [2, 0]
    assert leaders(even, 2, [1, 2, 0]) == [1, 2]
    assert math.isnan(tally.mean(3))


# Over a server


def published(rewards: list[float], order: tuple[int, ...], k: int) -> list[float]:
    """Mean preference of each attempt in the pivot tournament, written down once more from the paper's text, for a
    judge whose reward for an attempt is the same in every meeting."""
    n = len(rewards)

    def chance(a: int, b: int) -> float:
        return 1 / (1 + math.exp(rewards[b] - rewards[a]))

    mass, count = [0.0] * n, [0] * n

    def meet(a: int, b: int) -> None:
        mass[a] += chance(a, b)
        mass[b] += 1 - chance(a, b)
        count[a] += 1
        count[b] += 1

    for at in range(n):
        meet(order[at], order[(at + 1) % n])
    ranked = sorted(range(n), key=lambda i: (-mass[i] / count[i], order.index(i)))
    pivots = ranked[:k]
    for i in range(n):
        if i not in pivots:
            for p in pivots:
                meet(i, p)
    for a, b in combinations(sorted(pivots), 2):
        meet(a, b)
    return [mass[i] / count[i] for i in range(n)]


def test_a_pivot_tournament_comes_to_what_is_published(tmp_path: Path, serve: Serve) -> None:
    """Five attempts of known worth: the column is the mean preference computed from the paper's text."""
    letters = "TCAKF"
    pool = write_pool(tmp_path / "pool", {"t1": letters})
    method = PivotTournament(CRITERIA, Showing(), ShownCounts())
    column = hold(method, pool, serve(honest))
    state = method._tasks["t1"]
    worth = {("t1", f"t1.a{n}"): letter_value(letter) for n, letter in enumerate(letters, start=1)}
    expected = published([worth[attempt] for attempt in state.attempts], state.order, 2)
    found = [column.value(attempt) for attempt in state.attempts]
    assert found == pytest.approx(expected, abs=1e-9)
    assert max(values(column, "t1", 5)) == column.value(("t1", "t1.a3"))


def test_a_round_robin_counts_wins(tmp_path: Path, serve: Serve) -> None:
    """Each attempt's share of the four meetings it won; equals share theirs, and what is asked twice is sent once."""
    pool = write_pool(tmp_path / "pool", {"t1": "TCACF"})
    server = serve(honest)
    column = hold(RoundRobin(CRITERIA, Showing(), ShownCounts()), pool, server)
    assert values(column, "t1", 5) == [0.0, 2.5 / 4, 1.0, 2.5 / 4, 1 / 4]
    assert len(round_robin(5)) == 10
    assert len(server.questions) == 3 * 7  # two attempts are the same to the letter, and so are their meetings


def test_every_second_repeat_swaps_and_no_repeat_is_the_same_request(tmp_path: Path, serve: Serve) -> None:
    """Four repeats of one meeting are four prompts, two in each order, so that no cache answers for a repeat."""
    pool = write_pool(tmp_path / "pool", {"t1": "BS"})
    server = serve(honest)
    hold(RoundRobin(CRITERIA[:1], Showing(), ShownCounts(), repeats=4), pool, server)
    texts = [seen.body["messages"][-1]["content"] for seen in server.questions]
    assert len(texts) == len(set(texts)) == 4
    first = [next(iter(letters_for(text).values())) for text in texts]
    assert sorted(first) == ["B", "B", "S", "S"]


def test_repeats_cancel_a_place_that_is_preferred(tmp_path: Path, serve: Serve) -> None:
    """A judge that always gives the first place more finds a winner in one reading, and none in two."""

    def biased(body: dict[str, Any], n: int) -> Reply:
        text = body["messages"][-1]["content"]
        tags = list(letters_for(text)) if "QUALITY" in text else ["probe"]
        return answer(dict(zip(tags, "AT", strict=False)), logprobs=bool(body.get("logprobs")))

    pool = write_pool(tmp_path / "pool", {"t1": "BC"})
    once, twice = (
        hold(method, pool, serve(biased))
        for method in (
            RoundRobin(CRITERIA, Showing(), ShownCounts(), repeats=1),
            RoundRobin(CRITERIA, Showing(), ShownCounts(), repeats=2),
        )
    )
    assert sorted(values(once, "t1", 2)) == [0.0, 1.0]
    assert values(twice, "t1", 2) == [0.5, 0.5]
    method = RoundRobin(CRITERIA, Showing(), ShownCounts(), repeats=2)
    hold(method, pool, serve(biased))
    assert method.remarks()[1] == "verifier-round-robin: the first place in a prompt gains +1.000 on average"


@pytest.mark.parametrize("kind", [RoundRobin, PivotTournament])
def test_a_constant_judge_ties_everybody(kind: type[Tournament], tmp_path: Path, serve: Serve) -> None:
    """One value for all attempts, to the last bit."""

    def constant(body: dict[str, Any], n: int) -> Reply:
        text = body["messages"][-1]["content"]
        tags = letters_for(text) if "QUALITY" in text else ["probe"]
        return answer(dict.fromkeys(tags, "G"), logprobs=bool(body.get("logprobs")))

    pool = write_pool(tmp_path / "pool", {"t1": "ABCDE"})
    column = hold(kind(CRITERIA, Showing(), ShownCounts()), pool, serve(constant))
    assert set(values(column, "t1", 5)) == {0.5}


def test_failed_readings_are_dropped_and_not_drawn(tmp_path: Path, serve: Serve) -> None:
    """Where one attempt breaks the judge, the others' meetings alone count, and say so; it has no value itself."""

    def script(body: dict[str, Any], n: int) -> Reply:
        text = body["messages"][-1]["content"]
        return Reply({"error": {"message": "bad"}}, status=400) if "QUALITY F" in text else honest(body, n)

    pool = write_pool(tmp_path / "pool", {"t1": "TCAF"})
    method = RoundRobin(CRITERIA, Showing(), ShownCounts())
    column = hold(method, pool, serve(script))
    scores = [column.scores[("t1", f"t1.a{n}")] for n in range(1, 5)]
    assert [s.value for s in scores[:3]] == [0.0, 0.5, 1.0]
    assert {(s.state, s.reason) for s in scores[:3]} == {(State.DEGRADED, SOME_FAILED)}
    assert (scores[3].state, scores[3].reason) == (State.MISSING, TOO_FEW)
    assert method.remarks()[0] == "verifier-round-robin: 3 meetings hold, 3 failed and count for nobody"


def test_without_enough_meetings_there_is_no_second_round_and_no_verdict(tmp_path: Path, serve: Serve) -> None:
    """A ring that failed knows no leaders: nothing more is asked, and every attempt is missing."""

    def script(body: dict[str, Any], n: int) -> Reply:
        text = body["messages"][-1]["content"]
        return Reply({"error": {"message": "bad"}}, status=400) if "QUALITY" in text else honest(body, n)

    pool = write_pool(tmp_path / "pool", {"t1": "TCAF"})
    server = serve(script)
    column = hold(PivotTournament(CRITERIA, Showing(), ShownCounts()), pool, server)
    assert {score.reason for score in column.scores.values()} == {TOO_FEW}
    assert len(server.questions) == 4 * 3


def test_an_only_attempt_meets_nobody(tmp_path: Path, serve: Serve) -> None:
    """It is missing, and nothing is asked."""
    server = serve(honest)
    column = hold(
        PivotTournament(CRITERIA, Showing(), ShownCounts()), write_pool(tmp_path / "pool", {"t1": "A"}), server
    )
    assert column.scores[("t1", "t1.a1")].reason == ALONE
    assert server.questions == []


def test_what_shapes_a_tournament_shapes_its_column() -> None:
    """Other criteria, repeats or leaders are another column."""
    one = PivotTournament(CRITERIA, Showing(), ShownCounts())
    names = {
        one.column,
        PivotTournament(CRITERIA[:2], Showing(), ShownCounts()).column,
        PivotTournament(CRITERIA, Showing(), ShownCounts(), repeats=2).column,
        PivotTournament(CRITERIA, Showing(), ShownCounts(), pivots=3).column,
        PivotTournament(CRITERIA, Showing(seed=1), ShownCounts()).column,
    }
    assert len(names) == 5
    assert all(name.startswith("llm_verifier_pivot@") for name in names)


def test_criteria_that_ask_about_one_run_are_refused() -> None:
    """The message names what does not fit, and a set that does."""
    with pytest.raises(UsageError, match="llm_health_task is none: take the built-in set 'verifier'"):
        RoundRobin([load("terminal").criterion("llm_health_task")], Showing(), ShownCounts())
    with pytest.raises(UsageError, match="--repeats is 0"):
        RoundRobin(CRITERIA, Showing(), ShownCounts(), repeats=0)
    with pytest.raises(UsageError, match="--pivots is 0"):
        PivotTournament(CRITERIA, Showing(), ShownCounts(), pivots=0)
    assert replace(RoundRobin(CRITERIA, Showing(), ShownCounts())).calls(0, 5) == 30
