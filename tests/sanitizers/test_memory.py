"""Bounds, alignment and initialisation of global, shared and local memory: each fault at its line, each twin clean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sanitizers.simulator import SimResult

GUARDED = """__global__ void f(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
"""
CASES: dict[str, tuple[Any, ...]] = {
    "guarded": (GUARDED, ["x f32 1000", "y f32 1000 empty", "n i32= 1000"], (4, 1, 1), (256, 1, 1)),
    "one past the end": (
        GUARDED.replace("i < n) y", "i <= n) y").replace("x[i];", "x[i];  //! bounds-global"),
        ["x f32 1000", "y f32 1000 empty", "n i32= 1000"], (4, 1, 1), (256, 1, 1),
    ),
    "a write past the end": (
        """__global__ void f(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 1.0f;  //! bounds-global
}
""", ["y f32 100 empty", "n i32= 100"], (2, 1, 1), (64, 1, 1),
    ),
    "before the start": (
        """__global__ void f(const float* x, float* y) {
  int i = threadIdx.x;
  float left = x[i - 1];  //! bounds-global
  y[i] = left;
}
""", ["x f32 32", "y f32 32 empty"],
    ),
    "an atomic past the end": (
        """__global__ void f(int* bins, const int* key) {
  atomicAdd(&bins[key[threadIdx.x]], 1);  //! bounds-global
}
""", ["bins i32 4", "key i32 32 4..4"],
    ),
    "a shared index too large": (
        """__device__ float twice(float* p, int i) {
  return 2.0f * p[i];  //! bounds-shared
}
__global__ void f(float* y) {
  __shared__ float a[32];
  __shared__ float b[32];
  int t = threadIdx.x;
  a[t] = t; b[t] = t;
  __syncthreads();
  y[t] = twice(a, t + 1) + b[t];
}
""", ["y f32 32 empty"],
    ),
    "a row overrun": (
        """__global__ void f(float* y) {
  __shared__ float tile[8][8];
  int t = threadIdx.x;
  if (t < 64) tile[t / 8][t % 8] = t;
  __syncthreads();
  y[t] = tile[0][t];  //! bounds-shared
}
""", ["y f32 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "a row within": (
        """__global__ void f(float* y) {
  __shared__ float tile[8][8];
  int t = threadIdx.x;
  tile[t / 8][t % 8] = t;
  __syncthreads();
  y[t] = tile[t % 8][t / 8];
}
""", ["y f32 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "dynamic shared memory too small": (
        """__global__ void f(float* y) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[t] = t;  //! bounds-shared
  __syncthreads();
  y[t] = s[t];
}
""", ["y f32 32 empty"], (1, 1, 1), (32, 1, 1), 64,
    ),
    "dynamic shared memory as two types": (
        """extern __shared__ unsigned char raw[];
__global__ void f(float* y, int n) {
  float* a = reinterpret_cast<float*>(raw);
  int* b = reinterpret_cast<int*>(a + n);
  int t = threadIdx.x;
  a[t] = t; b[t] = n - t;
  __syncthreads();
  y[t] = a[n - 1 - t] + b[t];
}
""", ["y f32 32 empty", "n i32= 32"], (1, 1, 1), (32, 1, 1), 256,
    ),
    "a local array too small": (
        """__global__ void f(float* y, int k) {
  float a[4];
  for (int i = 0; i < 4; i++) a[i] = i;
  y[threadIdx.x] = a[(threadIdx.x + k) & 7];  //! bounds-local
}
""", ["y f32 32 empty", "k i32= 0"],
    ),
    "a null pointer": (
        """__global__ void f(float* y) {
  float* p = nullptr;
  y[threadIdx.x] = p[threadIdx.x];  //! bounds-global
}
""", ["y f32 32 empty"],
    ),
    "a wild pointer": (
        """__global__ void f(float* y, long long at) {
  y[threadIdx.x] = *reinterpret_cast<float*>(at);  //! bounds-global
}
""", ["y f32 32 empty", "at i64= 81985529216486896"],
    ),
    "float4 that fits": (
        """__global__ void f(const float* x, float* y, int off) {
  int t = threadIdx.x;
  float4 v = *reinterpret_cast<const float4*>(x + 4 * t + off);
  *reinterpret_cast<float4*>(y + 4 * t) = v;
}
""", ["x f32 132", "y f32 128 empty", "off i32= 4"],
    ),
    "float4 that is misaligned": (
        """__global__ void f(const float* x, float* y, int off) {
  int t = threadIdx.x;
  float4 v = *reinterpret_cast<const float4*>(x + 4 * t + off);  //! alignment
  *reinterpret_cast<float4*>(y + 4 * t) = v;
}
""", ["x f32 132", "y f32 128 empty", "off i32= 1"],
    ),
    "float4 across the end": (
        """__global__ void f(const float* x, float* y) {
  int t = threadIdx.x;
  float4 v = reinterpret_cast<const float4*>(x)[t];  //! bounds-global
  y[t] = v.x + v.w;
}
""", ["x f32 126", "y f32 32 empty"],
    ),
    "uninitialised shared memory": (
        """__global__ void f(float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 32) s[t] = t;
  __syncthreads();
  y[t] = s[t];  //! uninitialized
}
""", ["y f32 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "shared memory does not survive a block": (
        """__global__ void f(float* y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  if (blockIdx.x == 0) s[t] = t;
  __syncthreads();
  y[blockIdx.x * 32 + t] = s[t];  //! uninitialized
}
""", ["y f32 64 empty"], (2, 1, 1),
    ),
    "reading an output before it is written": (
        """__global__ void f(float* y) {
  y[threadIdx.x] += 1.0f;  //! uninitialized
}
""", ["y f32 32 empty"],
    ),
    "an output that is read after it is written": (
        """__global__ void f(float* y) {
  y[threadIdx.x] = 1.0f;
  y[threadIdx.x] += 1.0f;
}
""", ["y f32 32 empty"],
    ),
    "memset past the end": (
        """__global__ void f(unsigned char* y) {
  if (threadIdx.x == 0) memset(y, 0, 33);  //! bounds-global
}
""", ["y u8 32 empty"],
    ),
    "a device table": (
        """__device__ int table[4] = {1, 2, 3, 4};
__constant__ float weights[2] = {0.5f, 0.25f};
__device__ const float scale[] = {1.0f, 2.0f};
__global__ void f(float* y) {
  int t = threadIdx.x;
  y[t] = table[t & 3] * weights[t & 1] + scale[t & 1];
}
""", ["y f32 32 empty"],
    ),
    "a device table too small": (
        """__device__ int table[4];
__device__ int at(const int* p, int i) {
  return p[i];  //! bounds-global
}
__global__ void f(int* y) {
  y[threadIdx.x] = at(table, threadIdx.x);
}
""", ["y i32 32 empty"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("opt", ["O1", "O0"])
def test_memory(name: str, opt: str, make_case: Any, run_case: Callable[..., SimResult]) -> None:
    case = make_case(name, *CASES[name])
    result = run_case(case, opt=opt)
    assert result.unsupported is None and result.error is None
    assert {(f.property, f.span.line) for f in result.findings} == case.expected
    assert result.blocks_launched == case.grid[0]


def test_a_finding_names_buffer_index_and_threads(make_case: Any, run_case: Callable[..., SimResult]) -> None:
    result = run_case(make_case("", *CASES["a write past the end"]))
    (finding,) = result.findings
    assert (finding.buffer, finding.index, finding.extent) == ("y", 100, 100)
    assert finding.action == "writes y[100], which has 100 elements"
    assert (finding.block, finding.thread, finding.span.path) == ((1, 0, 0), (36, 0, 0), "k.cu")
    assert finding.count == 28


def test_the_access_does_not_happen(make_case: Any, run_case: Callable[..., SimResult]) -> None:
    """The thread is parked before a faulty write, so memory holds what the others wrote."""
    result = run_case(make_case("", *CASES["a write past the end"]))
    assert result.outputs["y"] == b"\x00\x00\x80\x3f" * 100


def test_two_parameters_of_one_storage_are_one_memory(
    make_case: Any, run_case: Callable[..., SimResult]
) -> None:
    case = make_case(
        "aliased", "__global__ void f(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] + 1.0f; }",
        ["x f32 32 @a", "y f32 32 @a"],
        inputs={"x": b"\x00\x00\x80\x3f" * 32},
    )  # fmt: skip
    result = run_case(case)
    assert not result.findings
    assert result.outputs["x"] == result.outputs["y"] == b"\x00\x00\x00\x40" * 32
