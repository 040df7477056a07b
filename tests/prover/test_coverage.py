"""Which outputs are written whole: every bad kernel here leaves an element alone at some size, its good twin none."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

import pytest

from specs.contract import Buffer, Clause, Contract, Launch, Scalar, Symbol
from specs.location import NOWHERE
from specs.results import PropertyResult, Reason, Verdict
from verifier.frontend import parse_device
from verifier.ir.nodes import Kernel
from verifier.isolation.sandbox import Sandbox
from verifier.prover.verify import Settings, verify
from verifier.smt.solver import SolverPool
from verifier.source.device_text import DeviceText

TEXT = """
#define ARGS const float* x, const int* z, float* y, int n, int m
#define ID (blockIdx.x * blockDim.x + threadIdx.x)
//! good
__global__ void each(ARGS) { int i = ID; if (i < n) y[i] = x[i]; }
//! bad
__global__ void all_but_last(ARGS) { int i = ID; if (i < n - 1) y[i] = x[i]; }
//! bad
__global__ void not_first(ARGS) { int i = ID + 1; if (i < n) y[i] = x[i]; }
//! bad
__global__ void even(ARGS) { int i = 2 * ID; if (i < n) y[i] = x[i]; }
//! bad
__global__ void positive(ARGS) { int i = ID; if (i < n && x[i] > 0.0f) y[i] = x[i]; }
//! bad
__global__ void chosen(ARGS) { int i = ID; if (i < n && z[i] > 0) y[i] = x[i]; }
//! bad
__global__ void scattered(ARGS) { int i = ID; if (i < n && z[i] >= 0 && z[i] < n) y[z[i]] = x[i]; }
//! bad
__global__ void lane(ARGS) { int i = ID; if (i < n && threadIdx.x % 32 == 0) y[i] = x[i]; }
//! bad
__global__ void not_block_one(ARGS) { int i = ID; if (blockIdx.x == 1) return; if (i < n) y[i] = x[i]; }
//! good
__global__ void stride(ARGS) { for (int i = ID; i < n; i += blockDim.x * gridDim.x) y[i] = x[i]; }
//! bad
__global__ void one_block_only(ARGS) { for (int i = threadIdx.x; i < n && i < 256; i += blockDim.x) y[i] = x[i]; }
//! bad
__global__ void wrong_stride(ARGS) { for (int i = ID; i < n; i += 2 * blockDim.x * gridDim.x) y[i] = x[i]; }
//! bad
__global__ void leaves(ARGS) { for (int i = ID; i < n; i += blockDim.x * gridDim.x) { y[i] = x[i]; if (x[i] > 1.0f) break; } }
//! bad
__global__ void skips(ARGS) { for (int i = ID; i < n; i += blockDim.x * gridDim.x) { if (i % 7 == 3) continue; y[i] = x[i]; } }
//! bad
__global__ void waits(ARGS) { int i = ID; while (z[0] > 0) { m++; } if (i < n) y[i] = x[i]; }
//! good
__global__ void both_ways(ARGS) { int i = ID; if (i >= n) return; if (x[i] > 0.0f) y[i] = x[i]; else y[i] = 0.0f; }
//! bad
__global__ void one_way(ARGS) { int i = ID; if (i >= n) return; if (x[i] > 0.0f) y[i] = x[i]; else if (x[i] < 0.0f) y[i] = 0.0f; }
//! good
__global__ void backwards(ARGS) { int i = ID; if (i < n) y[n - 1 - i] = x[i]; }
//! bad
__global__ void added(ARGS) { int i = ID; if (i < n) atomicAdd(&y[i], x[i]); }
//! bad
__global__ void quads(ARGS) { int i = ID; if (4 * i + 3 < n) for (int j = 0; j < 4; j++) y[4 * i + j] = x[i]; }
"""
CASES = re.findall(r"//! (good|bad)\n__global__ void (\w+)", TEXT)
OPEN = {"backwards"}
"""Right, and not proved yet: an index that falls."""


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    device = DeviceText(TEXT, digest, tuple((n, NOWHERE) for _, n in CASES))
    module = parse_device(device, [], sandbox=Sandbox("none"))
    assert not module.diagnostics
    return {k.name: k for k in module.kernels}


@pytest.fixture(scope="module")
def pool() -> Iterator[SolverPool]:
    with SolverPool() as made:
        yield made


def judged(
    kernel: Kernel, pool: SolverPool, grid: str = "ceil_div(n,256)", initialized: bool = False
) -> PropertyResult:
    contract = Contract(
        kernel.name, (), Launch(kernel.name, (), (grid, "1", "1"), ("256", "1", "1")),
        (Symbol("n", "dim", low=1), Symbol("m", "dim", low=1)),
        (
            Buffer("x", "f32", "n"), Buffer("z", "i32", "n"),
            Buffer("y", "f32", "n", fresh=True, initialized=initialized),
        ),
        (Scalar("n", "i32(n)"), Scalar("m", "i32(m)")),
        (Clause("n <= 1073741824", "enforced"), Clause("m <= 1073741824", "enforced")), "lifted",
    )  # fmt: skip
    asked = ("coverage", "launch", "barrier-divergence", "assert")
    found = verify(kernel, contract, Settings(pool, asked, 1 << 30)).properties
    return next(p for p in found if p.id == "coverage")


@pytest.mark.parametrize("kind,name", CASES, ids=[n for _, n in CASES])
def test_written_whole(kind: str, name: str, kernels: dict[str, Kernel], pool: SolverPool) -> None:
    found = judged(kernels[name], pool)
    assert found.verdict is not Verdict.REFUTED  # another launch may write the rest
    assert (found.verdict is Verdict.PROVED) == (kind == "good" and name not in OPEN), found.detail


def test_one_block_short(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    for grid in ("n // 256", "ceil_div(n, 256) - 1", "ceil_div(n, 512)"):
        assert judged(kernels["each"], pool, grid).verdict is Verdict.UNKNOWN, grid
    assert judged(kernels["each"], pool, "ceil_div(n, 256) + 3").verdict is Verdict.PROVED


def test_a_grid_that_may_be_empty_covers_nothing(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    found = judged(kernels["stride"], pool, "n // 256")
    assert (
        found.verdict is Verdict.UNKNOWN and found.reason is Reason.DEPENDS and found.depends == ("launch",)
    )


def test_outputs_with_contents_are_left_alone(kernels: dict[str, Kernel], pool: SolverPool) -> None:
    assert judged(kernels["even"], pool, initialized=True).verdict is Verdict.NOT_APPLICABLE
