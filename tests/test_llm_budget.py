"""Budgets, prices and estimates."""

from __future__ import annotations

import pytest

from bestofn.errors import UsageError
from bestofn.llm.answer import Tokens
from bestofn.llm.budget import Budget, BudgetSpent, Load, Need
from bestofn.llm.estimate import estimate, input_tokens
from bestofn.llm.prices import Price, price_for
from bestofn.llm.request import Message, Request


def request(text: str, ending: str = "", limit: int = 10) -> Request:
    """A request of one message."""
    return Request((Message("user", text + ending),), ("v",), max_output_tokens=limit)


def warm(**limits: float | Price) -> Budget:
    """A budget whose server has reported as many tokens as were estimated."""
    budget = Budget(**limits)  # type: ignore[arg-type]  # as named
    budget.settle(Load(), Need(1, 0), Tokens(0, 0, 0))
    return budget


def test_a_call_that_fits_only_later_waits() -> None:
    """While calls under way may give something back, the next one waits; then it is refused."""
    budget = warm(max_tokens=100)
    need = Need(40, 20)
    assert budget.reserve(need) == Load(60)
    assert budget.reserve(need) is None
    budget.settle(Load(60), need, Tokens(20, 0, 10))
    assert budget.reserve(need) == Load(60)
    budget.settle(Load(60), need, Tokens(40, 0, 10))
    with pytest.raises(BudgetSpent, match=r"^80 of 100 tokens spent, and the next call may take 60: raise the budget"):
        budget.reserve(need)


def test_a_call_that_never_fits_does_not_wait() -> None:
    """A call larger than all that is left stops the run, whatever is under way."""
    budget = warm(max_tokens=100)
    assert budget.reserve(Need(5, 5)) is not None
    with pytest.raises(BudgetSpent):
        budget.reserve(Need(100, 1))


def test_the_first_call_goes_alone_and_corrects_the_estimates() -> None:
    """Until the server has counted a call no second one starts; then the excess it reported holds for all."""
    budget = Budget(max_tokens=1000)
    assert budget.reserve(Need(10, 5)) == Load(15)
    assert budget.reserve(Need(10, 5)) is None
    budget.settle(Load(15), Need(10, 5), Tokens(30, 0, 5))
    assert budget.reserve(Need(10, 5)) == Load(35)
    assert budget.reserve(Need(100, 5)) == Load(305)


def test_an_uncounted_call_costs_what_was_reserved() -> None:
    """Where the server reports no tokens, the reservation counts, so that the ceiling holds."""
    budget = Budget(usd=1.0, price=Price(1.0, 1.0))
    need = Need(300_000, 100_000)
    for _ in range(2):
        load = budget.reserve(need)
        assert load == Load(400_000, pytest.approx(0.4))
        budget.settle(load, need, Tokens())
    with pytest.raises(BudgetSpent, match=r"^\$0\.8000 of \$1 spent, and the next call may take \$0\.4000"):
        budget.reserve(need)


def test_a_failed_call_gives_its_reservation_back() -> None:
    """What cost nothing leaves nothing behind."""
    budget = Budget(max_tokens=100)
    for _ in range(50):
        load = budget.reserve(Need(60, 40))
        assert load is not None
        budget.release(load)
    assert (budget.spent, budget.reserved) == (Load(), Load())


def test_a_budget_needs_sense() -> None:
    """Dollars without prices, and ceilings of nothing, are errors with the way out."""
    with pytest.raises(
        UsageError, match="--budget-usd needs prices, and none are known for this model: give --price-in"
    ):
        Budget(usd=1.0)
    with pytest.raises(UsageError, match="--budget-tokens is 0: give more than 0, or leave it out for no limit"):
        Budget(max_tokens=0)


def test_cached_input_has_its_own_price() -> None:
    """Cached tokens are part of the input and cost their own price; without one they cost the full price."""
    tokens = Tokens(1_000_000, 600_000, 100_000)
    assert Price(1.0, 10.0, 0.1).cost(tokens) == pytest.approx(0.4 + 0.06 + 1.0)
    assert Price(1.0, 10.0).cost(tokens) == pytest.approx(2.0)
    assert Price(1.0, 10.0).cost(Tokens(None, None, 5)) is None


def test_list_prices_are_found_by_name_and_say_where_they_come_from() -> None:
    """A provider before the name and a date behind it are overlooked; an unknown model has no price."""
    known = price_for("gpt-4o-mini")
    assert known is not None
    assert (known.input, known.cached, known.output) == (0.15, 0.075, 0.6)
    assert "2026-06" in known.origin
    assert price_for("openai/gpt-4o-mini-2024-07-18") == known
    assert price_for("gpt-4o-mini-audio") is None
    assert price_for("my-own-model") is None


def test_given_prices_go_before_the_list() -> None:
    """A given price replaces the listed one; an unlisted model needs both."""
    assert price_for("my-own", price_in=0.0, price_out=0.0) == Price(0.0, 0.0)
    mixed = price_for("gpt-4o-mini", price_out=9.0)
    assert mixed is not None
    assert (mixed.input, mixed.output, mixed.cached, mixed.origin) == (0.15, 9.0, 0.075, "given")
    with pytest.raises(UsageError, match="no list price for model 'my-own': give both --price-in and --price-out"):
        price_for("my-own", price_in=1.0)
    with pytest.raises(UsageError, match=r"--price-in is -1\.0: prices are US dollars per million tokens, 0 or more"):
        price_for("my-own", price_in=-1.0, price_out=1.0)


def test_an_estimate_counts_calls_tokens_and_the_span_of_dollars() -> None:
    """Shared prefixes, answered requests and the output limits make the least and the most."""
    prefix = "x" * 4000
    groups = [[request(prefix, end, 100) for end in ("aaaa", "bbbb", "cccc")], [request("y" * 400, limit=100)]]
    found = estimate(groups, Price(1.0, 10.0, 0.1), answered=lambda r: r.messages[0].text.endswith("cccc"))
    assert (found.calls, found.answered, found.counted) == (3, 1, False)
    assert found.input_tokens == 2 * (1001 + 4) + 104
    assert found.shared_tokens == int(1005 * 4000 / 4004)
    assert found.output_tokens == 300
    assert found.usd_most == pytest.approx((found.input_tokens * 1.0 + 300 * 10.0) / 1e6)
    assert found.usd_least == pytest.approx((found.input_tokens - found.shared_tokens * 0.9) / 1e6)


def test_an_estimate_without_prices_knows_no_dollars() -> None:
    """Unknown prices are None, and a tokenizer's count is used where one is given."""
    found = estimate([[request("a b c")]], count=lambda text: len(text.split()))
    assert (found.input_tokens, found.usd_most, found.usd_least, found.counted) == (7, None, None, True)
    assert input_tokens(request("abcde")) == 6
