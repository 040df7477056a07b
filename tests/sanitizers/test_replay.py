"""A witness is confirmed only by a fault of its own kind on its own line; huge buffers cost nothing."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sanitizers.replay import replay
from sanitizers.simulator import Schedule, Session
from sanitizers.simulator.wire import RESERVE_ABOVE, CannotEncode, encode
from specs.contract import Buffer, ConcreteBuffer, ConcreteLaunch, Contract, Launch, Scalar, Symbol
from specs.location import Span
from specs.results import ThreadAccess, Witness
from verifier.ir import nodes as ir
from verifier.isolation import Sandbox
from verifier.source.device_text import DeviceText

SOURCE = """__global__ void f(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  if (i < n) y[i] = v;
}
"""
GUARDED = SOURCE.replace("float v = x[i];\n  if (i < n)", "if (i >= n) return;\n  float v = x[i];\n ")
ROWS = """__global__ void f(const float* x, float* y, int n) {
  int row = blockIdx.x;
  int at = row * n;
  if (threadIdx.x == 0) y[row] = x[at];
}
"""
KERNEL = ir.Kernel(
    "f",
    (),
    (ir.Param("x", ir.Pointer(ir.F32)), ir.Param("y", ir.Pointer(ir.F32)), ir.Param("n", ir.I32)),
    (),
    {},
    (),
)


def contract(block: str = "256", extent: str = "n") -> Contract:
    return Contract(
        "f", (), Launch("f", (), (f"ceil_div(n, {block})", "1", "1"), (block, "1", "1")), (Symbol("n", "dim", low=1),),
        (Buffer("x", "f32", extent), Buffer("y", "f32", extent, fresh=True, initialized=False)), (Scalar("n", "n"),), (), "stated",
    )  # fmt: skip


def device(source: str) -> DeviceText:
    return DeviceText('# 1 "k.cu"\n' + source, hashlib.sha256(source.encode()).hexdigest(), ())


def witness(n: int, grid: int, block: int, *threads: tuple[int, int]) -> Witness:
    accesses = tuple(ThreadAccess((b, 0, 0), (t, 0, 0), "") for b, t in threads)
    return Witness((grid, 1, 1), (block, 1, 1), 0, {"n": n}, {"n": n}, {"x": n, "y": n}, accesses)


@pytest.fixture
def rerun(sandbox: Sandbox, simulator_cache: Path) -> Any:
    def run(
        source: str, claim: Witness, property_: str, line: int, made: Contract | None = None
    ) -> Witness | None:
        return replay(
            device(source),
            KERNEL,
            made or contract(),
            claim,
            property_,
            Span("k.cu", line),
            sandbox=sandbox,
            cache=simulator_cache,
        )

    run.sandbox, run.cache = sandbox, simulator_cache  # type: ignore[attr-defined]
    return run


def test_a_load_that_an_optimiser_would_sink_is_replayed(rerun: Any) -> None:
    seen = rerun(SOURCE, witness(1000, 4, 256, (3, 232)), "bounds-global", 3)
    assert seen is not None and seen.replayed
    assert seen.threads[0].action == "reads x[1000], which has 1000 elements"
    assert (seen.threads[0].block, seen.threads[0].thread) == ((3, 0, 0), (232, 0, 0))


def test_other_lines_other_properties_and_clean_kernels_do_not_confirm(rerun: Any) -> None:
    claim = witness(1000, 4, 256, (3, 232))
    assert rerun(SOURCE, claim, "bounds-global", 4) is None
    assert rerun(SOURCE, claim, "race-global", 3) is None
    assert rerun(GUARDED, claim, "bounds-global", 4) is None


def test_a_witness_of_two_billion_elements_takes_a_moment(rerun: Any) -> None:
    n = (1 << 31) - 100
    claim = Witness((1 << 23, 1, 1), (256, 1, 1), 0, {"n": n}, {"n": n}, {"x": n, "y": n},
                    (ThreadAccess(((1 << 23) - 1, 0, 0), (255, 0, 0), ""),))  # fmt: skip
    rerun(SOURCE, witness(1, 1, 256), "bounds-global", 3)  # compiled
    start = time.monotonic()
    seen = rerun(SOURCE, claim, "bounds-global", 3)
    assert seen is not None and seen.threads[0].action.startswith("reads x[2147483647]")
    assert time.monotonic() - start < 5


def test_an_overflow_in_the_middle_of_a_large_grid(rerun: Any) -> None:
    made = contract("1", "n * 70000")
    claim = Witness((70000, 1, 1), (1, 1, 1), 0, {"n": 40000}, {"n": 40000}, {"x": 1, "y": 70000},
                    (ThreadAccess((60000, 0, 0), (0, 0, 0), ""),))  # fmt: skip
    seen = rerun(ROWS, claim, "overflow", 3, made)
    assert seen is not None and seen.threads[0].block == (60000, 0, 0)


def test_a_second_fault_behind_a_first_one(rerun: Any) -> None:
    source = """__global__ void f(const float* x, float* y, int n) {
  int i = threadIdx.x;
  float v = x[i + 1];
  y[i + 1] = v;
}
"""
    claim = witness(32, 1, 32, (0, 31))
    assert rerun(source, claim, "bounds-global", 3) is not None
    seen = rerun(source, claim, "bounds-global", 4)
    assert seen is not None and seen.threads[0].action.startswith("writes y[32]")


def test_a_race_is_confirmed_from_either_side(rerun: Any) -> None:
    source = """__global__ void f(const float* x, float* y, int n) {
  y[threadIdx.x] = x[0];
  __syncwarp();
  if (threadIdx.x == 40) y[0] = 1.0f;
}
"""
    claim = witness(64, 1, 64, (0, 0), (0, 40))
    for line in (2, 4):
        seen = rerun(source, claim, "race-global", line)
        assert seen is not None and {t.span.line for t in seen.threads} == {2, 4}
    assert rerun(source, claim, "race-global", 3) is None


def test_what_nobody_writes(rerun: Any) -> None:
    source = "__global__ void f(const float* x, float* y, int n) {\n  if (threadIdx.x < n - 1) y[threadIdx.x] = x[0];\n}\n"
    seen = rerun(source, witness(32, 1, 32), "coverage", 2)
    assert seen is not None and seen.threads[0].action == "no thread writes y[31]"
    assert rerun(source.replace("n - 1", "n"), witness(32, 1, 32), "coverage", 2) is None


def test_an_impossible_launch(rerun: Any) -> None:
    assert rerun(SOURCE, witness(10, 1, 2048), "launch", 0) is not None
    assert rerun(SOURCE, witness(10, 1, 32), "launch", 0) is None


LOST = {
    "int k = i * sizeof(float);": 1 << 30,
    "int k = (long long)i * 4;": 1 << 30,
    "unsigned k = blockDim.x * gridDim.x * 16777216u;": 100,
    "unsigned k = threadIdx.x - 1;": 100,
    "short k = n;": 40000,
    "unsigned k = 7; k += n * 40000u;": 1 << 20,
    "size_t k = (size_t)(i - 1);": 100,
    "if (blockIdx.x * 65536u * n < 5u) y[0] = 1.0f;": 1 << 17,
    "y[unsigned(n) * 8u] = 0.0f;": 1 << 29,
    "unsigned char k = threadIdx.x * 9;": 100,
}


@pytest.mark.parametrize("statement", LOST)
def test_unsigned_wrap_and_narrowing_are_seen_on_their_line(statement: str, rerun: Any) -> None:
    source = f"""__global__ void f(const float* x, float* y, int n) {{
  int i = n;
  if (threadIdx.x == 99) return;
  {statement}
  if (i == -5) y[0] = x[0];
}}
"""
    n = LOST[statement]
    claim = Witness((4, 1, 1), (128, 1, 1), 0, {"n": n}, {"n": n}, {"x": 10, "y": 10}, ())
    if statement.startswith("size_t"):
        source = source.replace("int i = n;", "int i = threadIdx.x;")
    seen = rerun(source, claim, "overflow", 4)
    assert seen is not None and "does not fit" in seen.threads[0].action
    small = replace(claim, scalars={"n": 1}, symbols={"n": 1}, grid=(1, 1, 1), block=(8, 1, 1))
    if "threadIdx.x - 1" not in statement and "i - 1" not in statement:
        assert rerun(source, small, "overflow", 4) is None


@pytest.mark.parametrize(
    "statement",
    ["float4 v = make_float4(1, 2, 3, 4); y[0] = v.x * n;", "y[n & 7] = n ? 1.0f : 0.0f;", "for (int k = 0; k < n; k++) y[k & 3] = k;",
     "y[0] = fmaxf(n * 0.5f, float(n)) + min(n, 3);", "const int k = n / 3 + (n << 2) % 5; y[0] = k;", "y[0] += x[0] * n; i -= 2;"],
)  # fmt: skip
def test_a_line_without_a_loss_stays_clean(statement: str, rerun: Any) -> None:
    source = f"__global__ void f(const float* x, float* y, int n) {{\n  int i = n;\n  {statement}\n}}\n"
    claim = Witness((1, 1, 1), (1, 1, 1), 0, {"n": 9}, {"n": 9}, {"x": 10, "y": 10}, ())
    assert rerun(source, claim, "overflow", 3) is None
    session = Session(
        device(source), KERNEL, opt="O0", sandbox=rerun.sandbox, cache=rerun.cache, checked=Span("k.cu", 3)
    )
    assert session.unsupported is None  # the checked line compiles


LONG_ROWS = """__global__ void f(const float* x, float* y, int n) {
  int i = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += x[i * n + k];
  y[i] = sum;
}
"""


def test_the_thread_at_fault_starts_first(rerun: Any) -> None:
    """Sixteen threads before it would read 2^27 elements each, more than a replay may."""
    n = (1 << 27) - 1
    claim = replace(witness(n, 1, 32, (0, 17)), buffers={"x": 1 << 31, "y": 32})
    seen = rerun(LONG_ROWS, claim, "overflow", 4)
    assert seen is not None and seen.threads[0].thread == (17, 0, 0)


@pytest.mark.parametrize(("content", "fits"), [(None, True), (("0", "9"), True), (("3", "9"), False)])
def test_what_is_too_large_to_be_filled_is_zero_only_where_zero_is_allowed(
    content: tuple[str, str] | None, fits: bool
) -> None:
    low, high = (int(t) for t in content or ("0", "0"))
    bounds = (low, high) if content else (None, None)
    buffer = ConcreteBuffer("x", "i32", RESERVE_ABOVE, (), True, "", {}, *bounds)
    made = ConcreteLaunch("f", (), (1, 1, 1), (1, 1, 1), 0, (buffer,), {"n": 1}, {})
    params = (ir.Param("x", ir.Pointer(ir.I32)), ir.Param("n", ir.I32))
    if fits:
        assert len(encode(made, params, {}, Schedule(), nonce=1, budget=1)) < 4096
    else:
        with pytest.raises(CannotEncode, match="0 is none of its values"):
            encode(made, params, {}, Schedule(), nonce=1, budget=1)
