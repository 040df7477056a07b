"""Where the tensors of a Python caller lie: what is on the CPU, has elements in one place or is made of such a tensor is a gap.

A tensor of which nothing is known is assumed to be contiguous and on the device, which may not be said of what the program makes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from specs.contract import Contract
from tests.contracts.lifting import KERNEL, launcher, python_submission, read
from tests.contracts.test_caller_holes import HOST, lift
from tests.contracts.test_callers import problem
from verifier.contracts.assembly import lift_python

ONE = "self.w = nn.Parameter(torch.zeros(4))"
WIDE = "self.w.expand(4096, 4)"
OVERLAPPING = {
    "pieces": f"y, z = {WIDE}.chunk(2)",
    "pieces by a function": f"y, z = torch.split({WIDE}, 2048)",
    "unbound": f"y = {WIDE}.unbind(0)[0]",
    "all of it": f"y = {WIDE}[..., :]",
    "a step": f"y = {WIDE}[::2]",
    "a part": f"y = {WIDE}[:4000]",
    "moved by a function": f"y = torch.movedim({WIDE}, 0, 1)",
    "swapped": f"y = {WIDE}.swapdims(0, 1)",
    "the real part": f"y = {WIDE}.real",
    "a method that is not called": f"y = {WIDE}.mH",
    "a sum that is a view": f"y = torch.einsum('ij->ji', {WIDE})",
    "a layer that is a view": f"y = self.u({WIDE})",
    "a diagonal": "y = torch.diagonal(self.w.expand(64, 4096, 4), 0, 0, 1)",
    "one column of a slice": "y = x[:, :1].expand(-1, 4096)[..., :]",
    "strides of zero": "y = torch.empty_strided((4096, 4), (0, 0), device=x.device)",
    "new strides of zero": "y = x.new_empty_strided(x.shape, (0, 0))",
    "one of two": f"y = (x, {WIDE})[int(x.argmax())]",
    "windows": "y = x.unfold(0, 3, 1)[..., :]",
}
AWAY = {
    "torch.Tensor": "y = torch.Tensor(16, 64)",
    "FloatTensor": "y = torch.FloatTensor(16, 64)",
    "numbers": "y = torch.as_tensor([1.0, 2.0])",
    "a window": "y = torch.hann_window(4096)",
    "computed": "y = torch.zeros(x.shape) + 1",
    "by a method": "y = torch.zeros(x.shape).exp()",
    "made like it": "y = torch.zeros_like(torch.ones(x.shape))",
    "made like a copy": "y = torch.empty_like(x.cpu())",
    "new of a copy": "y = x.cpu().new_empty(x.shape)",
    "a row": "y = torch.zeros(4, 64)[0]",
    "joined": "y = torch.cat([torch.zeros(4, 64), torch.ones(3, 64)])",
    "halves": "y, z = torch.zeros(8, 64).chunk(2)",
}
HELD = {
    "plain attribute": ("y = self.t", "self.t = torch.zeros(16, 64)", ""),
    "computed attribute": ("y = self.t", "self.t = torch.ones(16, 64) * 2", ""),
    "module": ("y = T", "", "T = torch.zeros(16, 64)"),
}
THERE = {
    "parameter": ("y = self.t", "self.t = nn.Parameter(torch.ones(16, 64) * 2)"),
    "buffer": ("y = self.t", "self.register_buffer('t', torch.ones(16, 64) * 2)"),
    "moved in time": ("y = self.t.to(x.device)", "self.t = torch.zeros(16, 64)"),
    "made there": ("y = self.t", "self.t = torch.zeros(16, 64, device='cuda')"),
    "made like x": ("y = torch.zeros_like(x) + 1", "pass"),
    "copied": (f"y = {WIDE}.contiguous()", ONE),
    "a number from the CPU": ("y = x * torch.tensor(2.0)", "pass"),
    "like one on the CPU": ("y = torch.zeros_like(torch.zeros(x.shape), device=x.device)", "pass"),
}


def gaps(contracts: list[Contract]) -> list[str]:
    return [g for c in contracts for g in c.gaps]


@pytest.mark.parametrize("which", OVERLAPPING)
def test_elements_in_one_place_stay_so(tmp_path: Path, which: str) -> None:
    init = f"{ONE}\nself.u = nn.Unflatten(1, (2, 2))"
    found = lift(tmp_path, f"{OVERLAPPING[which]}\nn = y.numel()", init=init)
    assert found.contracts and all("fewer elements" in g for g in gaps(found.contracts))
    assert all(c.gaps for c in found.contracts), found.notes


@pytest.mark.parametrize("which", AWAY)
def test_what_is_made_of_cpu_tensors_is_one(tmp_path: Path, which: str) -> None:
    found = lift(tmp_path, f"{AWAY[which]}\nn = y.numel()")
    assert found.contracts and all("CPU" in g for g in gaps(found.contracts))
    assert all(c.gaps for c in found.contracts), found.notes


@pytest.mark.parametrize("which", HELD)
def test_what_no_module_registers_is_not_moved(tmp_path: Path, which: str) -> None:
    forward, init, module = HELD[which]
    found = lift(tmp_path, forward, init=init, module=module)
    assert found.contracts and all(c.gaps for c in found.contracts), found.notes


@pytest.mark.parametrize("which", THERE)
def test_other_tensors_are_where_they_are_used(tmp_path: Path, which: str) -> None:
    forward, init = THERE[which]
    found = lift(tmp_path, f"{forward}\nn = y.numel()", init=init)
    assert found.contracts and not gaps(found.contracts) and not found.notes


@pytest.mark.parametrize(
    "made",
    [
        "x.new_empty_strided({4096, 4}, {0, 0})",
        "w.expand({4096, 4}).index({Slice()})",
        "torch::zeros({16}) + 1",
        "x.cpu().exp()",
    ],
)
def test_so_it_is_in_host_code(made: str) -> None:
    body = f"auto w = torch::zeros({{4}}, x.options()); auto y = {made}; k<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), 4);"
    found = launcher(f"using torch::indexing::Slice; {body} return y;")
    assert found and all(c.gaps for c in found)


def test_a_condition_alone_gives_lists_of_indices(tmp_path: Path) -> None:
    found = lift(tmp_path, "y = torch.where(x)[0]\nn = y.numel()")
    assert found.contracts
    assert all(b.extent != "features" for c in found.contracts for b in c.buffers if b.param == "y")


TAKE = KERNEL.replace("float* x", "int* x") + (
    "void take(torch::Tensor i, torch::Tensor o) {"
    " k<<<1, 32>>>(i.data_ptr<int>(), o.data_ptr<float>(), i.numel()); }\n"
)


@pytest.mark.parametrize(
    ("high", "kept"),
    [("batch", True), ("100", True), ("1 << 31", True), ("1 << 33", False), ("batch << 40", False)],
)
def test_a_range_that_an_int32_does_not_hold_is_lost(tmp_path: Path, high: str, kept: bool) -> None:
    inputs = f"torch.rand(batch, features), torch.randint(0, {high}, (batch,))"
    source = (
        "import torch\nimport torch.nn as nn\nfrom torch.utils.cpp_extension import load_inline\n"
        "ops = load_inline(name='ops', cpp_sources='', cuda_sources='', functions=['take'])\n"
        "class ModelNew(nn.Module):\n    def forward(self, x, i):\n        ops.take(i.int(), x)\n        return x\n"
    )
    found = lift_python(
        python_submission(TAKE, source), read(TAKE), problem(tmp_path, inputs, init=""), 1 << 30
    )
    buffers = [c.buffer("x") for c in found.contracts]
    assert buffers and all(b is not None and (b.content is not None) == kept for b in buffers)


def test_the_naive_caller_has_no_gap(tmp_path: Path) -> None:
    assert not gaps(lift(tmp_path, host=HOST).contracts)
