"""Pointers into the middle of memory: how many elements are left, and where that is not known."""

from __future__ import annotations

import pytest

from specs.clauses import evaluate
from tests.contracts.lifting import one
from verifier.contracts.starts import not_negative, rest
from verifier.contracts.values import PY, symbol


@pytest.mark.parametrize(
    ("pointer", "extent", "numbers", "count"),
    [
        ("p + m", None, {"x_numel": 10, "m": 3}, 7),
        ("p + m", None, {"x_numel": 10, "m": -3}, 0),
        ("p + m * 2 + 1", None, {"x_numel": 10, "m": 2}, 5),
        ("p + m * 2 + 1", None, {"x_numel": 10, "m": -1}, 0),
        ("p + 4", "x_numel - 4", {}, 0),
    ],
)
def test_elements_that_are_left(
    pointer: str, extent: str | None, numbers: dict[str, int], count: int
) -> None:
    body = f"auto p = x.data_ptr<float>(); k<<<1, 32>>>({pointer}, nullptr, 1); return x;"
    buffer = one(body, "torch::Tensor x, int64_t m").buffer("x")
    assert buffer is not None
    if extent is not None:
        assert buffer.extent == extent
    else:
        assert evaluate(buffer.extent, numbers) == count


@pytest.mark.parametrize(
    "pointer", ["p - 1", "(const float*)((const char*)p + m)", "(const float*)((const char*)p + 6)"]
)
def test_starts_that_are_not_known(pointer: str) -> None:
    body = f"auto p = x.data_ptr<float>(); k<<<1, 32>>>({pointer}, nullptr, 1); return x;"
    assert any("start" in g for g in one(body, "torch::Tensor x, int64_t m").gaps)


def test_a_check_makes_the_start_plain() -> None:
    body = "TORCH_CHECK(m >= 0); k<<<1, 32>>>(x.data_ptr<float>() + m, nullptr, 1); return x;"
    buffer = one(body, "torch::Tensor x, int64_t m").buffer("x")
    assert buffer is not None and " if " not in buffer.extent
    assert not_negative("0 <= m") == not_negative("m > 0") == "m" and not not_negative("m > -1")


def test_multiples_by_form() -> None:
    for text, whole in (
        ("n * 4", True),
        ("n * 2 * 2", True),
        ("(n + 1) * 8 - 4", True),
        ("n * 2", False),
        ("n", False),
    ):
        offset = symbol("n", 0, 100, PY)
        offset = type(offset)(text, 0, 1000, PY, offset.taint)
        assert (rest("e", offset, 4, {"n"})[1] == "") is whole
