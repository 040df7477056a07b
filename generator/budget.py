"""What a run may cost: limits, prices, what was spent -> how many tokens the next answer may have, or why none.

Invariant: no call is started whose worst case (longest answer, no cache hit) would pass a limit; a call that broke off
counts with its worst case.

Example::

    price = price_of("claude-opus-5-5")
    next_answer(Limits(usd=1.0), Spent(usd=0.9), price, prompt_bytes=9000, wanted=16000)  # 2625 tokens, or an Exhausted
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from generator.model import Usage

SHORTEST_ANSWER = 2048
"""Tokens; less does not hold a kernel file, so the run ends instead."""


@dataclass(frozen=True, slots=True)
class Limits:
    """None: no limit of that kind."""

    attempts: int = 8
    tokens: int | None = 1_000_000
    usd: float | None = 5.0
    minutes: float | None = 60.0


@dataclass(frozen=True, slots=True)
class Spent:
    attempts: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Rate:
    """US dollars per million tokens."""

    input: float
    output: float
    cache_write: float
    cache_read: float


@dataclass(frozen=True, slots=True)
class Price:
    """``long`` holds for a call whose prompt is longer than ``above`` tokens."""

    rate: Rate
    long: Rate | None = None
    above: int = 0

    def at(self, prompt_tokens: int) -> Rate:
        return self.long if self.long is not None and prompt_tokens > self.above else self.rate


@dataclass(frozen=True, slots=True)
class Exhausted:
    """``what``: attempts | tokens | money | minutes."""

    what: str


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(
        resources.files("generator").joinpath("data/prices.toml").read_text(encoding="utf-8")
    )


def default_model() -> str:
    return str(_table()["default"])


def _rate(row: dict[str, Any]) -> Rate:
    return Rate(row["input"], row["output"], row["cache-write"], row["cache-read"])


def price_of(model: str) -> Price | None:
    """The listed price of a model; None when it is not listed."""
    row = _table()["models"].get(re.sub(r"-\d{8}$", "", model))
    if row is None:
        return None
    long = row.get("long")
    return Price(_rate(row), _rate(long), long["above"]) if long else Price(_rate(row))


def parse_price(text: str) -> Price:
    """``INPUT/OUTPUT`` in dollars per million tokens; caching is counted at the input price and a quarter more."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)\s*", text)
    if match is None:
        raise ValueError(
            f"--price {text!r}: expected INPUT/OUTPUT in US dollars per million tokens, e.g. 3/15"
        )
    paid_in, paid_out = float(match[1]), float(match[2])
    return Price(Rate(paid_in, paid_out, paid_in * 1.25, paid_in))


def cost(usage: Usage, price: Price | None) -> float:
    """What a call cost, in US dollars; 0 when nobody knows a price."""
    if usage.usd is not None:
        return usage.usd
    if price is None:
        return 0.0
    rate = price.at(usage.prompt_tokens)
    return (
        usage.input_tokens * rate.input
        + usage.output_tokens * rate.output
        + usage.cache_write_tokens * rate.cache_write
        + usage.cache_read_tokens * rate.cache_read
    ) / 1e6


def worst_prompt_tokens(prompt_bytes: int) -> int:
    """An upper bound for source text and prose (about 3 to 4 bytes a token), tool definition included."""
    return prompt_bytes // 2 + 1000


def worst_usage(prompt_bytes: int, max_tokens: int) -> Usage:
    """The most that one call can use: nothing read from the cache, everything written to it."""
    return Usage(
        cache_write_tokens=worst_prompt_tokens(prompt_bytes), output_tokens=max_tokens, estimated=True
    )


def next_answer(
    limits: Limits, spent: Spent, price: Price | None, *, prompt_bytes: int, wanted: int
) -> int | Exhausted:
    """``max_tokens`` of the next call."""
    if spent.attempts >= limits.attempts:
        return Exhausted("attempts")
    if limits.minutes is not None and spent.seconds >= limits.minutes * 60:
        return Exhausted("minutes")
    allowed = wanted
    prompt = worst_prompt_tokens(prompt_bytes)
    if limits.tokens is not None:
        allowed = min(allowed, limits.tokens - spent.tokens - prompt)
        if allowed < SHORTEST_ANSWER:
            return Exhausted("tokens")
    if limits.usd is not None and price is not None:
        left = limits.usd - spent.usd - cost(worst_usage(prompt_bytes, 0), price)
        rate = price.at(prompt)
        if rate.output > 0:
            allowed = min(allowed, math.floor(left * 1e6 / rate.output))
        if left < 0 or allowed < SHORTEST_ANSWER:
            return Exhausted("money")
    elif limits.usd is not None and spent.usd >= limits.usd:
        return Exhausted("money")
    return allowed
