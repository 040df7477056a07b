"""The kinds of defect that NVIDIA's compute-sanitizer samples show, each in a kernel of our own.

Out of the simulator's reach, since no kernel shows them: leaks, failed or impossible allocations, and what a program
declares through NVTX (its own memory pools, names, permissions).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

CASES: dict[str, tuple[Any, ...]] = {
    "memcheck: a word of a device variable, one byte off": (
        """__device__ unsigned int word;
__global__ void f() {
  char* bytes = reinterpret_cast<char*>(&word);
  *reinterpret_cast<unsigned int*>(bytes + 3) = 7u;  //! alignment
}
""", [], (1, 1, 1), (1, 1, 1),
    ),
    "memcheck: a store to a number, in a function of its own": (
        """__device__ void poke() {
  *reinterpret_cast<float*>(0x7f001230ull) = 1.0f;  //! bounds-global
}
__global__ void f() { poke(); }
""", [], (1, 1, 1), (1, 1, 1),
    ),
    "racecheck: one thread adds up what others are storing": (
        """__shared__ float cells[96];
__global__ void f(const float* x, float* y) {
  cells[threadIdx.x] = x[threadIdx.x] * 2.0f;  //! race-shared
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int k = 0; k < 96; k++) sum += cells[k];  //! race-shared uninitialized
    y[0] = sum;
  }
}
""", ["x f32 96", "y f32 1 empty"], (1, 1, 1), (96, 1, 1),
    ),
    "racecheck: the first lane of each warp adds up its warp": (
        """__shared__ int lanes[96], warps[3];
__global__ void f(const int* x, int* y) {
  int t = threadIdx.x, w = t / 32;
  lanes[t] = x[t];  //! race-shared
  if (t % 32 == 0) {
    int sum = 0;
    for (int k = 0; k < 32; k++) sum += lanes[32 * w + k];  //! race-shared uninitialized
    warps[w] = sum;
  }
  __syncthreads();
  if (t == 0) y[0] = warps[0] + warps[1] + warps[2];
}
""", ["x i32 96", "y i32 1 empty"], (1, 1, 1), (96, 1, 1),
    ),
    "synccheck: the last round's barrier is for some threads only": (
        """__shared__ int sums[64];
__global__ void f(const int* x, int* y, int n) {
  int t = threadIdx.x;
  sums[t] = 0;
  __syncthreads();
  for (int at = t; at - t < n; at += 64) {
    if (at < n) {
      sums[t] += x[at];
      __syncthreads();  //! barrier-divergence
    }
  }
  y[t] = sums[t];
}
""", ["x i32 100", "y i32 64 empty", "n i32= 100"], (1, 1, 1), (64, 1, 1),
    ),
    "synccheck: a lane that is not in the mask it waits with": (
        """__global__ void f(int* y) {
  __shared__ int s[32];
  int t = threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffffu, t < 20);
  if (t < 21) {
    s[t] = t;
    __syncwarp(mask);  //! barrier-divergence
    y[t] = s[t];
  }
}
""", ["y i32 32 empty"],
    ),
    "initcheck: memory that the program has not filled": (
        """__global__ void f(int* v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  v[i] += i;  //! uninitialized
}
""", ["v i32 64 empty"], (2, 1, 1), (32, 1, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_vendor_samples(name: str, make_case: Any, check: Callable[..., None]) -> None:
    check(make_case(name, *CASES[name]))
