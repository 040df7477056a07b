"""Python callers: what reaches the launchers from ModelNew and the problem, and what must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from specs.contract import Contract
from tests.contracts.lifting import KERNEL, assumed, python_submission, read, texts
from verifier.contracts.assembly import lift_python
from verifier.contracts.entries import Lifted
from verifier.contracts.problem import Problem, load
from verifier.isolation.sandbox import Sandbox

UNBOXED = Sandbox("none")
HOST = (
    KERNEL + "torch::Tensor scale(torch::Tensor x, torch::Tensor w, int64_t m) {"
    " int n = x.numel(); auto y = torch::empty_like(x);"
    " k<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), m);"
    " k<<<1, 32>>>(w.data_ptr<float>(), y.data_ptr<float>(), w.numel()); return y; }\n"
)
PYTHON = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline
ops = load_inline(name="ops", cpp_sources="", cuda_sources="", functions=["scale"])

class ModelNew(nn.Module):
    def __init__(self, features, depth=2):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))
        {init}

    def forward(self, x):
        {forward}
"""
PROBLEM = """
import torch
import torch.nn as nn

class Model(nn.Module):
    pass

batch = 16
features = 64
{constants}

def get_inputs():
    return [{inputs}]

def get_init_inputs():
    return [{init}]
"""


LOADED: dict[str, Problem] = {}
"""Each text is run once."""


def problem(
    tmp_path: Path, inputs: str = "torch.rand(batch, features)", init: str = "features", constants: str = ""
) -> Problem:
    text = PROBLEM.format(inputs=inputs, init=init, constants=constants)
    if text not in LOADED:
        path = tmp_path / "problem.py"
        path.write_text(text)
        LOADED[text] = load(path, sandbox=UNBOXED)
    return LOADED[text]


def lift(forward: str, found: Problem | None, init: str = "pass", host: str = HOST) -> Lifted:
    source = PYTHON.format(forward=forward.replace("\n", "\n        "), init=init.replace("\n", "\n        "))
    return lift_python(python_submission(host, source), read(host), found, 1 << 30)


def first(lifted: Lifted) -> Contract:
    assert not lifted.problems, lifted.problems
    return lifted.contracts[0]


def test_shapes_and_values_come_from_the_problem(tmp_path: Path) -> None:
    c, second = lift("return ops.scale(x, self.weight, x.size(1))", problem(tmp_path)).contracts
    assert c.buffer("x").shape == ("batch", "features")  # type: ignore[union-attr]
    assert {(s.name, s.kind, s.value) for s in c.symbols} == {("batch", "dim", 16), ("features", "dim", 64)}
    assert c.scalar("n").value == "i32(features)"  # type: ignore[union-attr]
    assert second.buffer("x").extent == "features"  # type: ignore[union-attr]
    assert second.buffer("x").source == "parameter weight"  # type: ignore[union-attr]
    assert c.buffer("x").source == "argument 0"  # type: ignore[union-attr]
    assert second.result == "y" and c.result == ""


def test_equal_numbers_are_not_equated(tmp_path: Path) -> None:
    found = problem(tmp_path, inputs="torch.rand(batch, width)", constants="width = 64")
    c, second = lift("return ops.scale(x, self.weight, 1)", found).contracts
    assert c.buffer("x").extent == "batch * width"  # type: ignore[union-attr]
    assert second.buffer("x").extent == "features"  # type: ignore[union-attr]
    assert not any("width == features" in t for t in texts(second))


def test_literal_sizes_become_symbols_of_their_own(tmp_path: Path) -> None:
    found = problem(tmp_path, inputs="torch.rand(64, 64, 1)")
    assert found.inputs[0].shape == ("input0_0", "input0_1", "1")


def test_ints_that_are_no_sizes_are_fixed(tmp_path: Path) -> None:
    found = problem(tmp_path, init="features, depth", constants="depth = 3")
    c = first(lift("return ops.scale(x, self.weight, self.depth)", found, "self.depth = depth"))
    depth = next(s for s in c.symbols if s.name == "depth")
    assert (depth.kind, depth.low, depth.high, depth.value) == ("scalar", 3, 3, 3)


def test_a_size_that_only_parameters_have_is_general(tmp_path: Path) -> None:
    found = problem(tmp_path, inputs="torch.rand(batch, batch)")
    second = lift("return ops.scale(x, self.weight, 1)", found).contracts[1]
    features = next(s for s in second.symbols if s.name == "features")
    assert (features.kind, features.low, features.high) == ("dim", 1, None)


def test_the_callers_objects_do_not_overlap_but_views_may(tmp_path: Path) -> None:
    host = KERNEL + (
        "void two(torch::Tensor a, torch::Tensor b) {"
        " k<<<1, 32>>>(a.data_ptr<float>(), b.data_ptr<float>(), a.numel()); }\n"
    )
    found = problem(tmp_path)
    apart = first(lift("ops.two(x, self.weight)\nreturn x", found, host=host))
    assert [c.text for c in apart.no_alias] == ["disjoint(x, y)"]
    for same in (
        "x",
        "x.view(-1)",
        "x[0]",
        "x[1:]",
        "x.cuda()",
        "x.contiguous()",
        "F.dropout(x, training=False)",
    ):
        c = first(lift(f"ops.two(x, {same})\nreturn x", found, host=host))
        assert not c.no_alias and not any(b.fresh for b in c.buffers), same


def test_contiguity_is_known_after_contiguous_only(tmp_path: Path) -> None:
    found = problem(tmp_path)
    plain = first(lift("return ops.scale(x, self.weight, 1)", found))
    assert "contiguous(x)" in assumed(plain)
    made = first(lift("return ops.scale(x.contiguous(), self.weight, 1)", found))
    assert "contiguous(x)" not in assumed(made)


def test_missing_checks_are_written_with_the_launchers_names(tmp_path: Path) -> None:
    _, second = lift("return ops.scale(x, self.weight, 1)", problem(tmp_path)).contracts
    fixes = {a.text: a.fix for a in second.assumptions}
    assert fixes["contiguous(x)"] == 'TORCH_CHECK(w.is_contiguous(), "w must be contiguous");'


def test_device_is_known_after_cuda(tmp_path: Path) -> None:
    c = first(lift("return ops.scale(x.cuda(), self.weight, 1)", problem(tmp_path)))
    assert "same_device(x)" not in assumed(c)


def test_index_ranges_come_from_randint(tmp_path: Path) -> None:
    host = (
        "__global__ void k(const long* x, float* y, int n) { }\n"
        "void pick(torch::Tensor i, torch::Tensor t) {"
        " k<<<1, 32>>>(i.data_ptr<long>(), t.data_ptr<float>(), i.numel()); }\n"
    )
    found = problem(tmp_path, inputs="torch.randint(0, features, (batch,))")
    c = first(lift("ops.pick(x, self.weight)\nreturn x", found, host=host))
    assert c.buffer("x").content == ("0", "features - 1")  # type: ignore[union-attr]
    assert c.buffer("x").content_origin == "derived"  # type: ignore[union-attr]
    changed = first(lift("y = x + 1\nops.pick(y, self.weight)\nreturn x", found, host=host))
    assert changed.buffer("x").content is None  # type: ignore[union-attr]
    in_place = first(lift("x.add_(1)\nops.pick(x, self.weight)\nreturn x", found, host=host))
    assert in_place.buffer("x").content is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        ("nn.Linear(features, 10)(x)", ("batch", "10")),
        ("F.relu(x)", ("batch", "features")),
        ("x.t().contiguous()", ("features", "batch")),
        ("x.view(batch_, 2, -1)", ("batch", "2", "features // 2")),
        ("x.unsqueeze(1)", ("batch", "features")),
        ("torch.matmul(x, x.t())", ("batch", "batch")),
        ("x.mean(1, keepdim=True)", ("batch", "1")),
    ],
)
def test_operations_between_are_followed(tmp_path: Path, layer: str, shape: tuple[str, ...]) -> None:
    setup = "self.lin = nn.Linear(features, 10)"
    text = layer.replace("nn.Linear(features, 10)(x)", "self.lin(x)").replace("batch_", "x.size(0)")
    c = first(lift(f"y = {text}\nreturn ops.scale(y, self.weight, 1)", problem(tmp_path), setup))
    found = c.buffer("x")
    assert found is not None
    if layer.startswith(("x.view", "x.unsqueeze")):  # a view: the memory is that of x
        assert found.extent == "batch * features"
    else:
        assert found.shape == shape


def test_convolutions(tmp_path: Path) -> None:
    found = problem(tmp_path, inputs="torch.rand(batch, features, height, 32)", constants="height = 32")
    setup = "self.conv = nn.Conv2d(features, 8, 3, stride=2, padding=1)"
    c = first(lift("return ops.scale(self.conv(x), self.weight, 1)", found, setup))
    assert c.buffer("x").shape == ("batch", "8", "(height - 1) // 2 + 1", "(input0_3 - 1) // 2 + 1")  # type: ignore[union-attr]


def test_what_is_not_followed_is_marked(tmp_path: Path) -> None:
    c = first(lift("return ops.scale(torch.fft.fft(x), self.weight, 1)", problem(tmp_path)))
    (size,) = [s for s in c.symbols if s.origin == "assumed"]
    assert c.buffer("x").extent == size.name  # type: ignore[union-attr]
    assert not c.buffer("x").fresh and not c.no_alias  # type: ignore[union-attr]


def test_promoted_dtypes_are_not_guessed(tmp_path: Path) -> None:
    found = problem(tmp_path, inputs="torch.randint(0, 4, (batch, features))")
    c = first(lift("return ops.scale(x * 0.5, self.weight, 1)", found))
    assert c.buffer("x").dtype == "f32"  # type: ignore[union-attr]


def test_branches_go_the_problems_way_and_say_so(tmp_path: Path) -> None:
    c = first(
        lift(
            "if x.size(0) > 8:\n    x = x.contiguous()\nreturn ops.scale(x, self.weight, 1)",
            problem(tmp_path),
        )
    )
    assert "batch > 8" in texts(c, "derived")


def test_sizes_computed_in_floats_are_pinned(tmp_path: Path) -> None:
    setup = "self.w = nn.Parameter(torch.zeros(int(features * 0.5)))"
    c = lift("return ops.scale(x, self.w, 1)", problem(tmp_path), setup).contracts[1]
    assert c.buffer("x").extent == "32"  # type: ignore[union-attr]
    assert "features == 64" in {t for one in lift("return ops.scale(x, self.w, 1)", problem(tmp_path), setup).contracts
                                for t in texts(one, "derived")}  # fmt: skip


def test_state_that_outlives_a_call_is_not_followed(tmp_path: Path) -> None:
    found = problem(tmp_path)
    bad = lift("y = self.cache if self.cache is not None else x\nself.cache = x\nreturn ops.scale(y, self.weight, 1)",
               found, "self.cache = None")  # fmt: skip
    assert any("earlier call" in n for n in bad.notes)
    assert any(c.buffer("x").extent == "n" for c in bad.contracts)  # type: ignore[union-attr]
    good = lift("self.cache = x\nreturn ops.scale(self.cache, self.weight, 1)", found, "self.cache = None")
    assert all(not c.gaps for c in good.contracts)


def test_a_loop_over_layers(tmp_path: Path) -> None:
    setup = "self.layers = nn.ModuleList([nn.Linear(features, features) for _ in range(depth)])"
    found = lift(
        "for layer in self.layers:\n    x = ops.scale(layer(x), self.weight, 1)\nreturn x",
        problem(tmp_path),
        setup,
    )
    assert not found.problems and all(c.buffer("x").extent for c in found.contracts)  # type: ignore[union-attr]


def test_lists_are_objects(tmp_path: Path) -> None:
    setup = "layers = []\nself.layers = layers\nlayers.append(nn.Linear(features, features))"
    found = lift(
        "for layer in self.layers:\n    x = ops.scale(layer(x), self.weight, 1)\nreturn x",
        problem(tmp_path),
        setup,
    )
    assert not found.problems and found.contracts


@pytest.mark.parametrize(
    "forward",
    [
        "while x.size(0) > 1:\n    x = ops.scale(x, self.weight, 1)\nreturn x",
        "try:\n    x = ops.scale(x, self.weight, 1)\nexcept Exception:\n    x = x[1:]\nreturn x",
        "for y in x:\n    ops.scale(y, self.weight, 1)\nreturn x",
    ],
)
def test_what_cannot_be_followed_falls_back_to_free_arguments(tmp_path: Path, forward: str) -> None:
    found = lift(forward, problem(tmp_path))
    assert found.notes and not found.problems
    free = [c for c in found.contracts if c.buffer("x").extent in ("n", "x_numel", "w_numel")]  # type: ignore[union-attr]
    assert free, "a launcher whose callers are not all followed is lifted on its own"


def test_without_a_problem_the_arguments_are_free() -> None:
    found = lift("return ops.scale(x, self.weight, x.size(1))", None)
    c = found.contracts[0]
    assert c.buffer("x").extent == "x_0 * x_1 * x_rest"  # type: ignore[union-attr]
    assert not c.no_alias


def test_unpacking_a_shape_tells_the_rank() -> None:
    c = lift("b, f = x.shape\nreturn ops.scale(x, self.weight, f)", None).contracts[0]
    assert c.buffer("x").extent == "b * f"  # type: ignore[union-attr]


def test_python_ints_are_checked_by_the_binding(tmp_path: Path) -> None:
    host = KERNEL + (
        "void two(torch::Tensor a, int m) { k<<<1, 32>>>(a.data_ptr<float>(), a.data_ptr<float>(), m); }\n"
    )
    c = first(lift("ops.two(x, x.size(0) * x.size(1))\nreturn x", problem(tmp_path), host=host))
    assert "batch * features <= 2147483647" in texts(c, "enforced")
    assert c.scalar("n").value == "batch * features"  # type: ignore[union-attr]


def test_bindings_may_rename(tmp_path: Path) -> None:
    host = HOST.replace("scale(", "scale_impl(") + (
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale_impl, "scales"); }\n'
    )
    c = first(lift("return ops.scale(x, self.weight, 1)", problem(tmp_path), host=host))
    assert c.buffer("x").extent == "batch * features"  # type: ignore[union-attr]


def test_float_arguments_have_their_value(tmp_path: Path) -> None:
    host = (
        "__global__ void k(float* x, float a, float b, float c) { }\n"
        "void go(torch::Tensor t, float a, float b) { k<<<1, 32>>>(t.data_ptr<float>(), a, b, 0.5f); }\n"
    )
    found = problem(tmp_path, init="features, 0.25", constants="")
    c = first(lift("ops.go(x, self.depth, -1.0)\nreturn x", found, "self.depth = depth", host))
    assert [(s.param, s.value, s.real) for s in c.scalars] == [
        ("a", None, 0.25),
        ("b", None, -1.0),
        ("c", None, 0.5),
    ]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("x", "argument 0"),
        ("x.contiguous()", "argument 0"),
        ("x.view(-1)", "argument 0"),
        ("x.t().contiguous()", ""),
        ("x.half().float()", "argument 0"),
        ("x[0]", ""),
        ("F.relu(x)", ""),
    ],
)
def test_sources(tmp_path: Path, text: str, source: str) -> None:
    c = first(lift(f"return ops.scale({text}, self.weight, 1)", problem(tmp_path)))
    if text != "x.half().float()":  # its values are rounded: not the argument any more
        assert c.buffer("x").source == source  # type: ignore[union-attr]
    else:
        assert c.buffer("x").source == ""  # type: ignore[union-attr]


ONE = (
    KERNEL + "torch::Tensor once(torch::Tensor x) { int n = x.numel(); BEFORE auto y = torch::empty_like(x);"
    " k<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); AFTER return y; }\n"
)


@pytest.mark.parametrize(
    ("forward", "before", "after", "shape"),
    [
        ("return ops.once(x)", "", "", ("batch", "features")),
        ("return ops.once(x).view(-1)", "", "", ("batch * features",)),
        ("x.mul_(1.001)\n        return ops.once(x)", "", "", None),
        ("x[0] = 0\n        return ops.once(x)", "", "", None),
        ("return ops.once(x * 1.001)", "", "", None),
        ("return ops.once(x)", "x.mul_(1.001);", "", None),
        ("return ops.once(x)", "x = x * 1.001;", "", None),
        ("return ops.once(x).half()", "", "", None),
        ("return ops.once(x).half().float()", "", "", None),
        ("return ops.once(x)[:1]", "", "", None),
        ("y = ops.once(x)\n        y *= 1.001\n        return y", "", "", None),
        ("y = ops.once(x)\n        y.view(-1).mul_(1.001)\n        return y", "", "", None),
        ("y = ops.once(x)\n        return x", "", "", None),
        ("return ops.once(x)", "", "y.mul_(1.001);", None),
        ("return ops.once(x)", "", "y += 1e-3;", None),
    ],
)
def test_what_is_passed_and_what_comes_back(
    tmp_path: Path, forward: str, before: str, after: str, shape: tuple[str, ...] | None
) -> None:
    """``shape``: of what is returned, where the launch alone makes it from the argument."""
    host = ONE.replace("BEFORE", before).replace("AFTER", after)
    c = first(lift(forward, problem(tmp_path), host=host))
    alone = c.result == "y" and c.buffer("x").source == "argument 0"  # type: ignore[union-attr]
    assert (c.result_shape if alone else None) == shape


def test_an_extension_is_paired_with_the_problem_by_position(tmp_path: Path) -> None:
    from specs.location import Span
    from verifier.contracts.assembly import lift as lift_any
    from verifier.source.device_text import DeviceText, Submission

    host = (
        KERNEL + "torch::Tensor go(torch::Tensor a, torch::Tensor b) { int n = a.numel();"
        " k<<<(n + 31) / 32, 32>>>(a.data_ptr<float>(), b.data_ptr<float>(), n); return b; }\n"
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &go, "go"); }\n'
    )
    device = DeviceText(host, "0" * 64, (("k", Span("t.cu", 1)),))
    submission = Submission("t.cu", "extension", "", host, device, host=host)
    two = problem(tmp_path, inputs="torch.rand(batch, features), torch.rand(batch, features)")
    found = lift_any(submission, read(host), problem=two, cap=1 << 30)
    (c,) = found.contracts
    assert c.buffer("x").extent == c.buffer("y").extent == "batch * features"  # type: ignore[union-attr]
    assert c.result == "y" and c.buffer("y").source == "argument 1"  # type: ignore[union-attr]
    assert any("paired" in n for n in found.notes)
    other = problem(tmp_path, inputs="torch.rand(batch, features)")
    (free,) = lift_any(submission, read(host), problem=other, cap=1 << 30).contracts
    assert free.buffer("x").extent == "n" and free.buffer("y").extent == "b_numel"  # type: ignore[union-attr]


def two(tmp_path: Path, inputs: str) -> Contract:
    host = KERNEL + (
        "void two(torch::Tensor a, torch::Tensor b) {"
        " k<<<1, 32>>>(a.data_ptr<float>(), b.data_ptr<float>(), a.numel()); }\n"
    )
    source = PYTHON.format(forward="ops.two(x, y)\n        return x", init="pass").replace(
        "forward(self, x)", "forward(self, x, y)"
    )
    found = problem(tmp_path, inputs=inputs, constants="t = torch.rand(batch, features)")
    return first(lift_python(python_submission(host, source), read(host), found, 1 << 30))


def test_inputs_that_share_memory_are_not_disjoint(tmp_path: Path) -> None:
    apart = two(tmp_path, "torch.rand(batch), torch.rand(batch)")
    assert [c.text for c in apart.no_alias] == ["disjoint(x, y)"]
    for shared in ("t, t", "t, t.view(features, batch)", "t, t.t()", "t.detach(), t", "t, t[0]"):
        assert not two(tmp_path, shared).no_alias, shared


@pytest.mark.parametrize(
    "forward",
    [
        "return torch.utils.checkpoint.checkpoint(lambda v: ops.scale(v, self.weight, 1), x)",
        "y = ops.scale(x, self.weight, 1)\nreturn torch.fx.wrap(ops.scale)(y[0], self.weight, 1)",
        "y = ops.scale(x, self.weight, 1)\nreturn self.unknown.thing(y)",
        "y = ops.scale(x, self.weight, 1)\nreturn list(map(lambda v: ops.scale(v, self.weight, 1), [y[0]]))[0]",
    ],
)
def test_functions_that_are_passed_on_are_lifted_on_their_own(tmp_path: Path, forward: str) -> None:
    found = lift(forward, problem(tmp_path))
    assert any(c.buffer("x").extent in ("n", "x_numel") for c in found.contracts)  # type: ignore[union-attr]


def test_calls_in_methods_that_forward_does_not_reach_count_too(tmp_path: Path) -> None:
    host = HOST
    source = PYTHON.format(forward="return ops.scale(x, self.weight, 1)", init="pass") + (
        "\n    def backward(self, grad):\n        return ops.scale(grad[:, 1:], self.weight, 1)\n"
    )
    found = lift_python(python_submission(host, source), read(host), problem(tmp_path), 1 << 30)
    assert any(c.buffer("x").extent == "n" for c in found.contracts)  # type: ignore[union-attr]
    guarded = PYTHON.format(forward="return ops.scale(x, self.weight, 1)", init="pass") + (
        "\nif __name__ == '__main__':\n    ops.scale(torch.rand(3), torch.rand(4), 1)\n"
    )
    only = lift_python(python_submission(host, guarded), read(host), problem(tmp_path), 1 << 30)
    assert all(c.buffer("x").extent != "n" for c in only.contracts)  # type: ignore[union-attr]


def test_the_callers_own_tensors_are_where_they_were_made(tmp_path: Path) -> None:
    cpu, there = (
        lift(
            "return ops.scale(x, self.table, 1)", problem(tmp_path), f"self.table = torch.ones(features{on})"
        )
        for on in ("", ", device=torch.device('cuda')")
    )
    assert any("CPU" in gap for gap in cpu.contracts[1].gaps)
    assert "same_device(x)" in assumed(there.contracts[1]) and not there.contracts[1].gaps


def test_a_parameter_made_of_another_shares_its_memory(tmp_path: Path) -> None:
    host = KERNEL + (
        "void two(torch::Tensor a, torch::Tensor b) {"
        " k<<<1, 32>>>(a.data_ptr<float>(), b.data_ptr<float>(), a.numel()); }\n"
    )
    tied = first(
        lift(
            "ops.two(self.weight, self.other)\nreturn x",
            problem(tmp_path),
            "self.other = nn.Parameter(self.weight.data)",
            host,
        )
    )
    assert not tied.no_alias
    apart = first(
        lift(
            "ops.two(self.weight, self.other)\nreturn x",
            problem(tmp_path),
            "self.other = nn.Parameter(torch.rand(features))",
            host,
        )
    )
    assert [c.text for c in apart.no_alias] == ["disjoint(x, y)"]


def test_slices_are_gaps_until_they_are_copied(tmp_path: Path) -> None:
    found = problem(tmp_path)
    bad = first(lift("return ops.scale(x[:, 1:], self.weight, 1)", found))
    assert any("slice" in g for g in bad.gaps)
    good = first(lift("return ops.scale(x[:, 1:].contiguous(), self.weight, 1)", found))
    assert not good.gaps and good.buffer("x").shape == ("batch", "features - min(1, features)")  # type: ignore[union-attr]


def test_pooling_with_ceil_mode_is_not_guessed(tmp_path: Path) -> None:
    found = problem(tmp_path, inputs="torch.rand(batch, 8, features, features)")
    plain = first(lift("return ops.scale(self.p(x), self.weight, 1)", found, "self.p = nn.MaxPool2d(3, 2)"))
    assert plain.buffer("x").shape[2] == "(features - 3) // 2 + 1"  # type: ignore[union-attr]
    ceil = first(
        lift(
            "return ops.scale(self.p(x), self.weight, 1)",
            found,
            "self.p = nn.MaxPool2d(3, 2, ceil_mode=True)",
        )
    )
    assert any(s.origin == "assumed" for s in ceil.symbols)


def test_cat_adds_up_one_dim(tmp_path: Path) -> None:
    c = first(lift("return ops.scale(torch.cat([x, x, self.extra], dim=1), self.weight, 1)", problem(tmp_path),
                   "self.extra = nn.Parameter(torch.zeros(16, 3))"))  # fmt: skip
    assert c.buffer("x").shape == ("batch", "features + features + 3")  # type: ignore[union-attr]
