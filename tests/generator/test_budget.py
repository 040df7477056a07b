"""Prices and limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.budget import (
    SHORTEST_ANSWER,
    Exhausted,
    Limits,
    Spent,
    cost,
    default_model,
    next_answer,
    parse_price,
    price_of,
    worst_usage,
)
from generator.model import Usage


def test_the_default_model_has_a_price_and_dated_names_share_it() -> None:
    assert price_of(default_model()) is not None
    assert price_of("claude-haiku-4-5-20251001") == price_of("claude-haiku-4-5")
    assert price_of("unheard-of") is None


def test_cost_counts_each_kind_of_token() -> None:
    usage = Usage(input_tokens=10**6, output_tokens=10**6, cache_write_tokens=10**6, cache_read_tokens=10**6)
    price = parse_price("3/15")
    assert cost(usage, price) == pytest.approx(3 + 15 + 3.75 + 3)
    assert cost(Usage(usd=0.25, output_tokens=10**6), price) == 0.25
    assert cost(usage, None) == 0


def test_long_prompts_have_their_own_price() -> None:
    price = price_of("claude-haiku-5-5")
    assert cost(Usage(input_tokens=100_000), price) == pytest.approx(0.01)
    assert cost(Usage(input_tokens=100_001), price) == pytest.approx(0.0500005)


@pytest.mark.parametrize("text", ["3", "3/", "a/b", "-1/2", "3/15/2", "1e9/2"])
def test_a_price_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="INPUT/OUTPUT"):
        parse_price(text)


@given(
    usd=st.floats(0, 20),
    spent=st.floats(0, 20),
    tokens=st.integers(0, 10**6),
    used=st.integers(0, 10**6),
    size=st.integers(0, 10**6),
)
def test_the_worst_case_of_the_next_call_fits_the_budget(
    usd: float, spent: float, tokens: int, used: int, size: int
) -> None:
    price = parse_price("4/20")
    allowed = next_answer(
        Limits(usd=usd, tokens=tokens), Spent(1, used, spent), price, prompt_bytes=size, wanted=32_000
    )
    if isinstance(allowed, Exhausted):
        least = worst_usage(size, SHORTEST_ANSWER)
        assert used + least.tokens > tokens or spent + cost(least, price) > usd - 1e-4
    else:
        worst = worst_usage(size, allowed)
        assert SHORTEST_ANSWER <= allowed <= 32_000
        assert used + worst.tokens <= tokens and spent + cost(worst, price) <= usd + 1e-9


def test_without_a_price_only_reported_money_counts() -> None:
    assert next_answer(Limits(usd=1.0), Spent(usd=0.5), None, prompt_bytes=0, wanted=9000) == 9000
    assert next_answer(Limits(usd=1.0), Spent(usd=1.0), None, prompt_bytes=0, wanted=9000) == Exhausted(
        "money"
    )
