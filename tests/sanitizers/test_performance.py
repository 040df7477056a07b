"""Predictions: coalescing, bank conflicts, lanes, occupancy, on kernels whose figures can be worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sanitizers.performance import Prediction, occupied, predict
from sanitizers.simulator import Session
from verifier.isolation import Sandbox

COPY = "__global__ void f(const float* x, float* y) { int i = blockIdx.x * 64 + threadIdx.x; y[i] = x[@]; }\n"
SHARED = """__global__ void f(const float* x, float* y) {
  __shared__ float s[32][@];
  int c = threadIdx.x % 32, r = threadIdx.x / 32;
  for (int k = r; k < 32; k += 2) s[k][c] = x[k * 32 + c];
  __syncthreads();
  for (int k = r; k < 32; k += 2) y[k * 32 + c] = s[c][k];
}
"""
PARAMS = ["x f32 8192", "y f32 1024 empty"]


@pytest.fixture
def predicted(make_case: Any, sandbox: Sandbox, simulator_cache: Path) -> Any:
    def run(source: str, grid: int = 2) -> Prediction:
        case = make_case("", source, PARAMS, (grid, 1, 1), (64, 1, 1))
        with Session(case.device, case.kernel, sandbox=sandbox, cache=simulator_cache) as session:
            found = predict(session, case.launch, ("sm_80", "sm_90"))
        assert found is not None
        return found

    return run


@pytest.mark.parametrize(
    ("index", "sectors"),
    [("i", 4), ("i + 1", 5), ("2 * i", 8), ("i * 8", 32), ("0", 1), ("63 - threadIdx.x", 4)],
)
def test_coalescing(index: str, sectors: int, predicted: Any) -> None:
    found = predicted(COPY.replace("@", index))
    load, store = sorted(found.places, key=lambda p: p.action)
    assert (load.action, load.buffer, load.requests, load.lanes, load.sectors) == (
        "load",
        "x",
        4,
        128,
        4 * sectors,
    )
    assert (store.action, store.sectors, store.least_sectors) == ("store", 16, 16)
    assert bool(found.advice) is (sectors >= 8)
    assert found.global_bytes == 32 * 4 * (sectors + 4) and found.lanes_per_request == 32.0


@pytest.mark.parametrize(("width", "rounds"), [(32, 32), (33, 1), (34, 2), (36, 4)])
def test_bank_conflicts(width: int, rounds: int, predicted: Any) -> None:
    found = predicted(SHARED.replace("@", str(width)), grid=1)
    loads = [p for p in found.places if p.shared and p.action == "load"]
    assert [(p.requests, p.wavefronts, p.least_wavefronts) for p in loads] == [(32, 32 * rounds, 32)]
    assert found.bank_conflicts == 32 * (rounds - 1) and found.coalescing == 1.0
    assert any("bank conflicts" in text for text in found.advice) is (rounds > 1)


def test_wide_accesses_and_divergence(predicted: Any) -> None:
    wide = "__global__ void f(const float* x, float* y) { ((float4*)y)[threadIdx.x] = ((const float4*)x)[threadIdx.x]; }\n"
    found = predicted(wide, grid=1)
    assert {p.size for p in found.places} <= {16, 4} and found.coalescing == 1.0
    few = "__global__ void f(const float* x, float* y) { if (threadIdx.x % 8 == 0) for (int k = 0; k < 9; k++) y[threadIdx.x * 9 + k] = x[k]; }\n"
    found = predicted(few, grid=1)
    assert found.lanes_per_request == 4.0 and any("4.0 lanes" in text for text in found.advice)


def test_faulty_runs_predict_nothing(make_case: Any, sandbox: Sandbox, simulator_cache: Path) -> None:
    case = make_case("", COPY.replace("@", "i + 9999"), PARAMS, (2, 1, 1), (64, 1, 1))
    with Session(case.device, case.kernel, sandbox=sandbox, cache=simulator_cache) as session:
        assert predict(session, case.launch, ("sm_80",)) is None


def test_occupancy() -> None:
    assert occupied((256, 1, 1), 0, "sm_80") == 1.0
    assert occupied((32, 1, 1), 0, "sm_80") == 0.5  # 32 blocks of one warp
    assert occupied((33, 1, 1), 0, "sm_80") == 1.0  # 32 blocks of two warps
    assert occupied((1024, 1, 1), 0, "sm_86") == pytest.approx(2 / 3)
    assert occupied((256, 1, 1), 48 << 10, "sm_80") == 0.375
    assert occupied((256, 1, 1), 200 << 10, "sm_80") == 0.0
