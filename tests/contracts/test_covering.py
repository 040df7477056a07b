"""Which contract covers which: the one that knows less, in every part that it has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specs.contract import Buffer, Clause, Contract
from tests.contracts.lifting import one
from verifier.contracts.covering import covers, without_covered

BASE = one(
    "auto y = torch::empty_like(x); k<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());"
)


def known(contract: Contract, **changes: object) -> Contract:
    first, *rest = contract.buffers
    return replace(contract, buffers=(replace(first, **changes), *rest))  # type: ignore[arg-type]


MORE = {
    "a clause": replace(BASE, requires=(*BASE.requires, Clause("x_numel >= 7", "enforced"))),
    "an assumption": replace(BASE, assumptions=(*BASE.assumptions, Clause("written(y)", "assumed"))),
    "two that do not overlap": replace(BASE, no_alias=(Clause("disjoint(x, y)", "derived"),)),
    "content": known(BASE, content=("0", "0"), content_origin="enforced"),
}


@pytest.mark.parametrize("which", MORE)
def test_less_covers_more_and_never_the_other_way(which: str) -> None:
    more = MORE[which]
    assert covers(BASE, more) and not covers(more, BASE)
    assert without_covered([more, BASE]) == [BASE] and without_covered([BASE, more]) == [BASE]


def test_undefined_memory_covers_defined() -> None:
    undefined = known(BASE, initialized=False)
    assert covers(undefined, BASE) and not covers(BASE, undefined)


def test_neither_of_two_that_know_different_things() -> None:
    a, b = MORE["a clause"], MORE["an assumption"]
    assert without_covered([a, b]) == [a, b]
    low, high = (known(BASE, content=("0", top), content_origin="enforced") for top in ("1", "2"))
    assert without_covered([low, high]) == [low, high]
    undefined = replace(known(BASE, initialized=False), requires=MORE["a clause"].requires)
    assert without_covered([undefined, BASE]) == [undefined, BASE]


def test_of_equal_ones_the_first_stays() -> None:
    again = replace(BASE, launch=replace(BASE.launch, order=3))
    (left,) = without_covered([BASE, again])
    assert left is BASE


@pytest.mark.parametrize(
    "change",
    [
        {"extent": "7"},
        {"align": 4},
        {"fresh": True},
        {"storage": "z"},
        {"dtype": "f64"},
        {"source": "argument 3"},
    ],
)
def test_other_memory_is_another_launch(change: dict[str, object]) -> None:
    other = known(BASE, **change)
    assert isinstance(other.buffers[0], Buffer)
    assert without_covered([BASE, other]) == [BASE, other]


def test_gaps_are_kept() -> None:
    other = replace(MORE["a clause"], gaps=("t.cu:1: not followed",))
    assert without_covered([BASE, other]) == [BASE, other]
