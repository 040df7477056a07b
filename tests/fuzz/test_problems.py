"""A problem file's Model as the reference: what binds, what is right and wrong, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fuzz.binding import Binding, Unbound
from fuzz.case import Job
from fuzz.oracle import Oracle
from fuzz.problems import bind
from fuzz.runner import Budget, explore
from specs.contract import Scalar
from verifier.contracts import problem as problems
from verifier.isolation import probe
from verifier.source.device_text import DeviceText, Submission

F = np.float32
MATMUL = """
import torch
M, K, N = 1024, 4096, 2048
class Model(torch.nn.Module):
    def forward(self, A, B):
        return torch.matmul(A, B)
def get_inputs():
    return [torch.randn(M, K), torch.randn(K, N)]
def get_init_inputs():
    return []
"""
NORM = """
import torch
import torch.nn as nn
rows = 16
features = 512
class Model(nn.Module):
    def __init__(self, features, slope):
        super().__init__()
        self.ln = nn.LayerNorm(features)
        self.slope = slope
    def forward(self, x):
        return nn.functional.leaky_relu(self.ln(x), self.slope)
def get_inputs():
    return [torch.randn(rows, features)]
def get_init_inputs():
    return [features, 0.25]
"""
ONE_CALL = "class ModelNew:\n    def forward(self, x):\n        return ext.run(x.contiguous())\n"
MATRIX_POOL = ({"M": 1, "K": 1, "N": 1}, {"M": 3, "K": 5, "N": 2}, {"M": 2, "K": 17, "N": 9})
NORM_POOL = ({"rows": 1, "features": 3}, {"rows": 4, "features": 33}, {"rows": 7, "features": 2})


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], problems.Problem]:
    known: dict[str, problems.Problem] = {}

    def load(text: str) -> problems.Problem:
        if text not in known:
            path = tmp_path_factory.mktemp("problem") / "problem.py"
            path.write_text(text)
            known[text] = problems.load(path, sandbox=probe())
        return known[text]

    return load


@pytest.fixture
def job(make_kernel: Any, make_contract: Any, oracle: Oracle, read: Any) -> Callable[..., Job]:
    def make(
        text: str,
        pointers: Mapping[str, str],
        shapes: Mapping[str, Sequence[str]],
        pool: tuple[dict[str, int], ...],
        *,
        scalars: Mapping[str, str] | None = None,
        python: str = ONE_CALL,
        host: str = "",
        sources: Mapping[str, str] | None = None,
        result: str = "",
        reals: tuple[Scalar, ...] = (),
    ) -> Job:
        problem = read(text)
        kernel = make_kernel("k", pointers, scalars)
        contract = make_contract(kernel, shapes, list(pool[0]))
        if sources:
            named = tuple(replace(b, source=sources.get(b.param, "")) for b in contract.buffers)
            contract = replace(contract, buffers=named)
        buffer = contract.buffer(result)
        contract = replace(
            contract,
            result=result,
            result_shape=buffer.shape if buffer else None,
            scalars=reals or contract.scalars,
        )
        device = DeviceText("", "", ())
        units = (("cuda", 1, host),) if host else ()
        submission = Submission("k.py", "python", "", "", device, python=python, units=units)
        (binding,) = bind(kernel, contract, problem, submission, pool, oracle.describe).bindings
        return Job(kernel, contract, binding, pool)

    return make


ABC = {"A": "in f32", "B": "in f32", "C": "out f32"}
ABC_SHAPES = {"A": ["M", "K"], "B": ["K", "N"], "C": ["M", "N"]}


def test_matmul_by_order_and_shape(job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    made = job(MATMUL, ABC, ABC_SHAPES, MATRIX_POOL)
    assert [o.name for o, _ in made.binding.inputs] == ["argument 0", "argument 1"]
    assert explore(made, numpy_executor(lambda A, B: {"C": A @ B}), oracle, Budget(30)).fault is None
    wrong = numpy_executor(lambda A, B: {"C": A[:, 1:] @ B[1:]})
    assert explore(made, wrong, oracle, Budget(30)).fault is not None


def norm(x: Any, w: Any, b: Any, slope: float) -> dict[str, Any]:
    centred = x - x.mean(-1, keepdims=True)
    y = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + F(1e-5)) * w + b
    return {"y": np.where(y > 0, y, y * F(slope))}


def test_parameters_and_the_one_float(job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    pointers = {"x": "in f32", "w": "in f32", "b": "in f32", "y": "out f32"}
    shapes = {"x": ["rows", "features"], "w": ["features"], "b": ["features"], "y": ["rows", "features"]}
    made = job(NORM, pointers, shapes, NORM_POOL, scalars={"slope": "f32"})
    assert [o.name for o, _ in made.binding.inputs] == [
        "argument 0",
        "parameter ln.weight",
        "parameter ln.bias",
    ]
    assert made.binding.stated == {"slope": 0.25}
    right = numpy_executor(lambda x, w, b, slope: norm(x, w, b, slope))
    assert explore(made, right, oracle, Budget(40)).fault is None
    no_bias = numpy_executor(lambda x, w, b, slope: norm(x, w, 0 * b, slope))
    assert explore(made, no_bias, oracle, Budget(40)).fault is not None


def test_affine_parameters_left_out_are_found(job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    shapes = {"x": ["rows", "features"], "y": ["rows", "features"]}
    made = job(NORM, {"x": "in f32", "y": "out f32"}, shapes, NORM_POOL, scalars={"slope": "f32"})
    plain = numpy_executor(lambda x, slope: norm(x, F(1), F(0), slope))
    assert explore(made, plain, oracle, Budget(20)).fault is not None


def test_what_the_contract_says_of_sources_wins(job: Any) -> None:
    square = (
        MATMUL.replace("M, K, N = 1024, 4096, 2048", "N = 64").replace("M, K", "N, N").replace("K, N", "N, N")
    )
    shapes = {"B": ["N", "N"], "A": ["N", "N"], "C": ["N", "N"]}
    pointers = {"B": "in f32", "A": "in f32", "C": "out f32"}
    sources = {"A": "argument 0", "B": "argument 1"}
    made = job(square, pointers, shapes, ({"N": 3}, {"N": 8}), sources=sources, result="C")
    assert {p: o.name for o, p in made.binding.inputs} == {"B": "argument 1", "A": "argument 0"}


def test_symbols_of_a_plain_launcher_are_paired_by_place(
    job: Any, numpy_executor: Any, oracle: Oracle
) -> None:
    pool = tuple({"m": s["M"], "k": s["K"], "n": s["N"]} for s in MATRIX_POOL)
    shapes = {"A": ["m", "k"], "B": ["k", "n"], "C": ["m", "n"]}
    made = job(MATMUL, ABC, shapes, pool, python="")
    assert made.binding.reference.wire["sizes_from"] == {"M": "m", "K": "k", "N": "n"}
    assert explore(made, numpy_executor(lambda A, B: {"C": A @ B}), oracle, Budget(20)).fault is None
    with pytest.raises(Unbound, match="is both"):
        job(MATMUL, ABC, {"A": ["m", "k"], "B": ["n", "k"], "C": ["m", "n"]}, pool, python="")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"python": ONE_CALL.replace("x.contiguous())", "x) + 1")}, "computes something itself"),
        (
            {"python": ONE_CALL.replace("ext.run(", "torch.relu(ext.run(") + ")"},
            "cannot be read|calls torch.relu",
        ),
        ({"python": ONE_CALL.replace("ext.run(x.contiguous())", "ext.run(ext.prepare(x))")}, "makes 2 calls"),
        ({"python": "x = 1"}, "no single ModelNew.forward"),
        ({"host": "auto c = torch::matmul(a, b);"}, "uses matmul"),
        ({"host": "c.mul_(2);"}, "calls .mul_"),
        ({"host": "return C.view({-1});"}, "calls .view"),
        ({"python": ONE_CALL.replace("x.contiguous())", "x)[:1]")}, "computes something itself"),
        ({"python": ONE_CALL.replace("x.contiguous())", "x).to(torch.float16)")}, "makes 2 calls"),
    ],
)
def test_glue_that_computes_is_refused(job: Any, change: dict[str, str], words: str) -> None:
    with pytest.raises(Unbound, match=words):
        job(MATMUL, ABC, ABC_SHAPES, MATRIX_POOL, **change)


def test_host_code_that_only_allocates_is_fine(job: Any) -> None:
    host = """
    // torch::matmul in a comment
    torch::Tensor run(torch::Tensor A) {
        TORCH_CHECK(A.is_cuda(), "needs torch::matmul( on CUDA");
        auto C = torch::empty({A.size(0)}, A.options().dtype(torch::kFloat32));
        k<<<1, 1>>>(A.data_ptr<float>(), C.data_ptr<float>());
        return C;
    }"""
    assert isinstance(job(MATMUL, ABC, ABC_SHAPES, MATRIX_POOL, host=host).binding, Binding)


def test_shapes_that_do_not_fit_are_refused(job: Any) -> None:
    with pytest.raises(Unbound, match="do not match"):
        job(MATMUL, ABC, {"A": ["M", "K"], "B": ["N", "K"], "C": ["M", "N"]}, MATRIX_POOL)
    with pytest.raises(Unbound, match="do not match"):
        job(MATMUL, {"A": "in f32", "C": "out f32"}, {"A": ["M", "K"], "C": ["M", "N"]}, MATRIX_POOL)


def test_scalar_without_a_value_is_refused(job: Any) -> None:
    with pytest.raises(Unbound, match="which value of the problem the scalar"):
        job(MATMUL, ABC, ABC_SHAPES, MATRIX_POOL, scalars={"alpha": "f32"})


TRIANGULAR = MATMUL.replace("torch.randn(M, K), torch.randn(K, N)", "torch.triu(torch.randn(M, M))").replace(
    "def forward(self, A, B):\n        return torch.matmul(A, B)",
    "def forward(self, A):\n        return A * 2",
)


def test_structure_of_the_problems_inputs_is_part_of_its_domain(
    job: Any, numpy_executor: Any, oracle: Oracle
) -> None:
    pool = ({"M": 2}, {"M": 5})
    made = job(TRIANGULAR, {"A": "in f32", "C": "out f32"}, {"A": ["M", "M"], "C": ["M", "M"]}, pool)
    assert made.binding.structured
    upper_only = numpy_executor(lambda A: {"C": np.triu(A) * F(2)})
    found = explore(made, upper_only, oracle, Budget(20))
    assert found.fault is None and found.examples > 10
    lower_only = numpy_executor(lambda A: {"C": np.tril(A) * F(2)})
    assert explore(made, lower_only, oracle, Budget(20)).fault is not None
    assert not job(MATMUL, ABC, ABC_SHAPES, MATRIX_POOL).binding.structured


POOLING = """
import torch
n = 1024
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.max_pool1d(x, 4)
def get_inputs():
    return [torch.randn(2, n)]
def get_init_inputs():
    return []
"""


def test_sizes_that_the_model_refuses_do_not_count(job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    pool = (
        {"n": 1, "input0_0": 2},
        {"n": 3, "input0_0": 2},
        {"n": 9, "input0_0": 1},
        {"n": 32, "input0_0": 2},
    )
    shapes = {"x": ["input0_0", "n"], "y": ["input0_0", "n // 4"]}
    made = job(POOLING, {"x": "in f32", "y": "out f32"}, shapes, pool)

    def pooled(x: Any) -> dict[str, Any]:
        n = x.shape[1] // 4
        return {"y": x[:, : n * 4].reshape(x.shape[0], n, 4).max(-1) if n else x[:, :0]}

    found = explore(made, numpy_executor(pooled), oracle, Budget(40))
    assert found.fault is None and found.unfit and found.examples > 5
    assert all(s["n"] >= 4 for s in found.sizes)


def test_index_of_the_largest_as_the_models_output(job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    text = POOLING.replace("torch.nn.functional.max_pool1d(x, 4)", "torch.argmax(x, dim=1)")
    pool = ({"n": 1, "input0_0": 2}, {"n": 7, "input0_0": 3})
    shapes = {"x": ["input0_0", "n"], "y": ["input0_0"]}
    made = job(text, {"x": "in f32", "y": "out i64"}, shapes, pool)
    last = numpy_executor(lambda x: {"y": x.shape[1] - 1 - np.argmax(x[:, ::-1], axis=1)})
    assert explore(made, last, oracle, Budget(40)).fault is None
    smallest = numpy_executor(lambda x: {"y": np.argmin(x, axis=1)})
    assert explore(made, smallest, oracle, Budget(40)).fault is not None


def test_value_that_the_caller_passes_is_the_value(
    job: Any, make_contract: Any, numpy_executor: Any, oracle: Oracle
) -> None:
    shapes = {"x": ["rows", "features"], "y": ["rows", "features"]}
    pointers = {"x": "in f32", "y": "out f32"}
    text = NORM.replace("self.ln(x), self.slope", "x, 0.01")
    reals = (Scalar("low", None, real=0.01), Scalar("high", None, real=1.0))
    made = job(text, pointers, shapes, NORM_POOL, scalars={"low": "f32", "high": "f32"}, reals=reals)
    assert made.binding.stated == {"low": float(F(0.01)), "high": 1.0}
    right = numpy_executor(lambda x, low, high: {"y": np.where(x > 0, x * F(high), x * F(low))})
    assert explore(made, right, oracle, Budget(20)).fault is None
    off = (Scalar("low", None, real=0.02), Scalar("high", None, real=1.0))
    made = job(text, pointers, shapes, NORM_POOL, scalars={"low": "f32", "high": "f32"}, reals=off)
    assert explore(made, right, oracle, Budget(20)).fault is not None


def test_in_place_on_the_models_argument(job: Any, numpy_executor: Any, oracle: Oracle) -> None:
    text = NORM.replace("self.ln(x), self.slope", "x, 0.5")
    pointers, shapes = {"x": "inout f32"}, {"x": ["rows", "features"]}
    made = job(text, pointers, shapes, NORM_POOL, sources={"x": "argument 0"}, result="x")
    assert made.binding.outputs == ("x",) and made.binding.inputs[0][1] == "x"
    right = numpy_executor(lambda x: {"x": np.where(x > 0, x, x * F(0.5))})
    assert explore(made, right, oracle, Budget(20)).fault is None


def test_reference_that_is_infinite_for_finite_inputs_is_the_edge_domain(
    job: Any, numpy_executor: Any, oracle: Oracle
) -> None:
    text = NORM.replace("nn.functional.leaky_relu(self.ln(x), self.slope)", "torch.log(x.abs())")
    shapes = {"x": ["rows", "features"], "y": ["rows", "features"]}
    made = job(text, {"x": "in f32", "y": "out f32"}, shapes, NORM_POOL)
    guarded = numpy_executor(lambda x: {"y": np.log(np.where(x == 0, F(2**-149), np.abs(x)))})
    found = explore(made, guarded, oracle, Budget(60))
    assert found.fault is None and found.edge is not None
