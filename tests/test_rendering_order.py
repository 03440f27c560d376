"""Orders of attempts."""

from __future__ import annotations

import itertools

from bestofn.rendering.order import both_orders, restored, rotations, shuffled


def test_an_order_depends_on_names_and_seed_and_not_on_the_listing() -> None:
    """Attempts listed otherwise stand in the same places; another seed or task gives another order."""
    names = [f"run-{n}" for n in range(8)]
    first = [names[i] for i in shuffled(names, 1, "task")]
    turned = names[::-1]
    assert [turned[i] for i in shuffled(turned, 1, "task")] == first
    assert sorted(first) == names
    assert len({tuple(names[i] for i in shuffled(names, seed, task)) for seed in (1, 2) for task in ("a", "b")}) == 4


def test_a_block_of_rotations_puts_every_attempt_in_every_place() -> None:
    """Over as many rounds as attempts each attempt stands once in each place, over twice as many twice."""
    names = ["a", "b", "c", "d", "e"]
    orders = rotations(names, 10, seed=3)
    for rounds, times in ((orders[:5], 1), (orders, 2)):
        for place, attempt in itertools.product(range(5), range(5)):
            assert sum(order[place] == attempt for order in rounds) == times
    assert orders[0] != orders[5]


def test_few_rounds_spread_over_the_places() -> None:
    """With two rounds of four attempts no attempt stands twice in the same half."""
    first, second = rotations(["a", "b", "c", "d"], 2, seed=1)
    assert set(first[:2]) == set(second[2:])


def test_no_attempts_have_one_empty_order_a_round() -> None:
    """Rounds over nothing are empty orders."""
    assert rotations([], 2, seed=1) == ((), ())


def test_answers_find_back_to_their_attempts() -> None:
    """What was answered place by place comes back in listing order, for lists and for pairs."""
    order = (2, 0, 1)
    assert restored(["C", "A", "B"], order) == ["A", "B", "C"]
    for pair in both_orders(3, 7):
        answers = ["three" if index == 3 else "seven" for index in pair]
        assert restored(answers, pair) == ["three", "seven"]
