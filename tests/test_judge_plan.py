"""How many calls a criteria set takes: never more than 6N + N^2 a task of N attempts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from judged_pool import write_pool

from bestofn import compiler, criteria, taxonomy
from bestofn.catalogue import load_pool
from bestofn.criteria import CriteriaSet
from bestofn.errors import UsageError
from bestofn.judge.plan import check_calls, methods_of
from bestofn.judge.question import Asking, calls, task_runs
from bestofn.judge.showing import Showing
from bestofn.judge.shown import ShownCounts


def asked(chosen: CriteriaSet, pool: Path) -> tuple[int, int]:
    """Requests that a set really asks about a pool, and how many were announced."""
    methods = methods_of([chosen], Showing(), ShownCounts())
    opened = load_pool(pool)
    groups = list(Asking(methods).groups(0, task_runs(opened)))
    return sum(map(len, groups)), calls(methods, opened)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("name", [name for name in criteria.names() if name != "verifier"])
def test_a_shipped_set_stays_within_the_bound(name: str, n: int, tmp_path: Path) -> None:
    """The requests made, as announced, are 6N + N^2 at most for any N."""
    made, announced = asked(criteria.load(name), write_pool(tmp_path / "pool", {"t1": "ABCDEFGH"[:n]}))
    assert made == announced
    assert made <= 6 * n + n * n


def test_the_default_set_takes_six_letters_a_run_every_pair_twice_and_one_list(tmp_path: Path) -> None:
    """6N + N(N - 1) + 1: for five attempts 51 calls, of the 55 allowed."""
    made, _ = asked(criteria.load("terminal"), write_pool(tmp_path / "pool", {"t1": "ABCDE"}))
    assert made == 30 + 20 + 1


@pytest.mark.parametrize("name", taxonomy.names())
def test_a_compiled_set_stays_within_the_bound(name: str, tmp_path: Path) -> None:
    """Whatever taxonomy it comes from, a compiled set asks no more."""
    compiler.write(compiler.compile(taxonomy.load(name)), tmp_path)
    check_calls(criteria.load(tmp_path / "criteria.md"))


def test_the_verifiers_set_is_for_its_tournaments() -> None:
    """Its three questions about several runs at once are refused as a set of the judge's own."""
    with pytest.raises(UsageError, match="3 listwise"):
        check_calls(criteria.load("verifier"))


def test_a_set_beyond_the_bound_is_refused() -> None:
    """The message counts what is too much, and says what to do."""
    default = criteria.load("terminal")
    more = replace(default, criteria=(*default.criteria, *default.criteria))
    with pytest.raises(UsageError) as caught:
        check_calls(more)
    assert str(caught.value) == (
        "criteria 'terminal' hold 12 pointwise (at most 6) and 2 pairwise (at most 1) and 2 listwise (at most 1), more "
        "than 6N + N^2 calls a task: split the file in several, and give --criteria several times"
    )
