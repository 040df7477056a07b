"""Sizes of a model's parameters that are made of arguments of ``__init__`` of which nothing is known: any size, and no more.

Each good caller has twins for which a more generous reading (one dim, the same argument, the same number) would be wrong.
"""

from __future__ import annotations

import pytest

from specs.clauses import names
from specs.contract import Buffer, Contract
from tests.contracts.lifting import KERNEL, assumed, python_submission, read
from verifier.contracts.assembly import lift_python
from verifier.contracts.entries import Lifted

HOST = KERNEL + (
    "void both(torch::Tensor a, torch::Tensor b, int64_t n) {"
    " k<<<1, 32>>>(a.data_ptr<float>(), b.data_ptr<float>(), n); }\n"
    "void pair(torch::Tensor a, torch::Tensor b, std::tuple<int, int> s) {"
    " k<<<1, 32>>>(a.data_ptr<float>(), b.data_ptr<float>(), std::get<0>(s) * std::get<1>(s)); }\n"
)
MODEL = """
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline
ops = load_inline(name="ops", cpp_sources="", cuda_sources="", functions=["both", "pair"])

class ModelNew(nn.Module):
    def __init__(self, {arguments}):
        super().__init__()
        {init}

    def forward(self, {inputs}):
        {forward}
"""


def lift(
    init: str, arguments: str = "n, m", forward: str = "ops.both(self.w, self.b, self.n)", inputs: str = "x"
) -> Lifted:
    init = "\n        ".join([*init.split("\n"), "self.n = 1" if "self.n" not in init else "pass"])
    source = MODEL.format(init=init, arguments=arguments, forward=forward, inputs=inputs)
    return lift_python(python_submission(HOST, source), read(HOST), None, 1 << 30)


def only(found: Lifted, launcher: str = "both") -> Contract:
    assert not found.problems and not found.notes, (found.problems, found.notes)
    (contract,) = [c for c in found.contracts if c.launch.launcher == launcher]
    return contract


def buffers(contract: Contract) -> tuple[Buffer, Buffer]:
    a, b = contract.buffer("x"), contract.buffer("y")
    assert a is not None and b is not None, contract.gaps
    return a, b


def test_several_sizes_are_ints_and_the_same_argument_is_the_same_int() -> None:
    c = only(
        lift("self.w = nn.Parameter(torch.randn(n, m))\nself.b = nn.Parameter(torch.zeros(m))\nself.n = m")
    )
    assert not c.gaps
    a, b = buffers(c)
    assert (a.extent, a.shape, b.extent) == ("n * m", ("n", "m"), "m")
    assert c.scalar("n").value == "i32(m)" or c.scalar("n").value == "m"  # type: ignore[union-attr]
    assert {"integer(n)", "integer(m)"} <= assumed(c)
    assert {s.origin for s in c.symbols} <= {"derived"}


@pytest.mark.parametrize(
    "init",
    [
        "self.w = nn.Parameter(torch.randn(n))\nself.b = nn.Parameter(torch.ones(m, device='cuda'))",
        "self.w = nn.Parameter(torch.empty(size=n))\nself.b = nn.Parameter(torch.randn(4, *m))",
        "self.register_buffer('w', torch.zeros(n))\nself.register_parameter('b', nn.Parameter(torch.ones(m)))",
        # the same argument: as a list it may have grown meanwhile
        "self.w = nn.Parameter(torch.randn(n))\nn.append(2)\nself.b = nn.Parameter(torch.randn(n))",
    ],
)
def test_a_size_alone_is_any_shape(init: str) -> None:
    c = only(lift(init))
    assert not c.gaps
    a, b = buffers(c)
    assert a.extent.isidentifier() and a.extent != b.extent, (a.extent, b.extent)
    assert {a.extent, *names(b.extent)} <= {s.name for s in c.symbols}
    assert not any(t.startswith("integer") for t in assumed(c))
    assert {"nonempty(x)", "nonempty(y)"} <= assumed(c)


FAULTY = {
    "changed between": "self.w = nn.Parameter(torch.randn(n, 2))\nn += 1\nself.b = nn.Parameter(torch.randn(n, 2))",
    "another value of the name": "self.w = nn.Parameter(torch.randn(n, 2))\nn = m\nself.b = nn.Parameter(torch.randn(n, 2))",
    "a part of it": "self.w = nn.Parameter(torch.randn(n[0], 2))\nself.b = nn.Parameter(torch.randn(n[1], 2))",
    "computed": "self.w = nn.Parameter(torch.randn(n, 2))\nself.b = nn.Parameter(torch.randn(n + 1, 2))",
    "halved": "self.w = nn.Parameter(torch.randn(n, 2))\nself.b = nn.Parameter(torch.randn(n // m, 2))",
    "starred": "self.w = nn.Parameter(torch.randn(*n, 2))\nself.b = nn.Parameter(torch.randn(*n))",
    "a list of one": "self.w = nn.Parameter(torch.randn(n, 2))\nself.b = nn.Parameter(torch.randn([m, m]))",
    "a fill": "self.w = nn.Parameter(torch.randn(n, 2))\nself.b = nn.Parameter(torch.full((m, 2), n))",
    "a random number's bound": "self.w = nn.Parameter(torch.randn(n, 2))\nself.b = torch.randint(0, n, (m, 2)).float()",
}  # fmt: skip


@pytest.mark.parametrize("which", FAULTY)
def test_what_is_not_the_same_size_is_no_such_size(which: str) -> None:
    for c in (c for c in lift(FAULTY[which]).contracts if c.launch.launcher == "both"):
        a, b = c.buffer("x"), c.buffer("y")
        assert a is None or b is None or a.extent != b.extent, (a.extent, c.gaps)


def test_an_argument_of_forward_is_not_the_one_of_init_with_its_name() -> None:
    found = lift(
        "self.w = nn.Parameter(torch.randn(n, 2))\nself.b = nn.Parameter(torch.randn(m, 2))",
        inputs="n: 'size'=None",
        forward="ops.both(self.w, self.b, 3 if n is None else n.size(0))",
    )
    for c in found.contracts:
        a, value = c.buffer("x"), c.scalar("n")
        assert a is not None and (value is None or not names(value.value or "") & names(a.extent))


def test_elements_of_a_tuple_are_any_ints() -> None:
    c = only(
        lift(
            "self.w = nn.Parameter(torch.randn(n))\nself.b = nn.Parameter(torch.randn(n))\nself.s = m",
            forward="ops.pair(self.w, self.b, self.s)",
            arguments="n, m=(1, 1)",
        ),
        "pair",
    )
    assert not c.gaps
    (value,) = [s.value for s in c.scalars if s.param == "n"]
    assert value is not None
    used = names(value)
    assert len(used) == 2
    bounds = {s.name: (s.low, s.high) for s in c.symbols}
    assert all(bounds[n] == (-(1 << 31), (1 << 31) - 1) for n in used)


def test_a_tuple_of_references_is_not_followed() -> None:
    text = KERNEL + (
        "void run(torch::Tensor a, std::tuple<int&, int&> s) {"
        " k<<<1, 32>>>(a.data_ptr<float>(), a.data_ptr<float>(), std::get<0>(s)); }\n"
    )
    from tests.contracts.lifting import lift as lift_host

    assert all(c.gaps for c in lift_host(text).contracts)
