"""Barriers, warp collectives and termination: who has to be there, and who never comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

BUTTERFLY = """__global__ void f(const float* x, float* y) {
  int t = threadIdx.x;
  float v = x[t];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  y[t] = v;
}
"""
CASES: dict[str, tuple[Any, ...]] = {
    "a barrier in a divergent branch": (
        """__global__ void f(float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t < n) {
    __syncthreads();  //! barrier-divergence
  }
  y[t] = s[t];
}
""", ["y f32 64 empty", "n i32= 48"], (1, 1, 1), (64, 1, 1),
    ),
    "a barrier in a uniform branch": (
        """__global__ void f(float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (blockIdx.x < n) {
    __syncthreads();
    y[blockIdx.x * 64 + t] = s[63 - t];
  }
}
""", ["y f32 128 empty", "n i32= 1"], (2, 1, 1), (64, 1, 1),
    ),
    "leaving before a barrier": (
        """__global__ void f(float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = t;
  __syncthreads();  //! barrier-divergence
  y[t] = s[n - 1 - t];
}
""", ["y f32 64 empty", "n i32= 40"], (1, 1, 1), (64, 1, 1),
    ),
    "two barriers on two paths": (
        """__global__ void f(float* y) {
  int t = threadIdx.x;
  if (t & 1) {
    __syncthreads();  //! barrier-divergence
  } else {
    __syncthreads();  //! barrier-divergence
  }
  y[t] = t;
}
""", ["y f32 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "a loop with a different number of barriers": (
        """__global__ void f(float* y) {
  int t = threadIdx.x;
  for (int i = 0; i < t / 32 + 1; i++) __syncthreads();  //! barrier-divergence
  y[t] = t;
}
""", ["y f32 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "counting at a barrier": (
        """__global__ void f(int* y) {
  int t = threadIdx.x;
  int n = __syncthreads_count(t % 3 == 0);
  int any = __syncthreads_or(t == 5);
  int all = __syncthreads_and(t < 64);
  y[t] = 100 * n + 10 * any + all;
}
""", ["y i32 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "a barrier against a warp barrier": (
        """__global__ void f(float* y) {
  int t = threadIdx.x;
  if (t < 16) __syncthreads();  //! barrier-divergence
  else __syncwarp();  //! barrier-divergence
  y[t] = t;
}
""", ["y f32 32 empty"],
    ),
    "a butterfly": (BUTTERFLY, ["x f32 64", "y f32 64 empty"], (1, 1, 1), (64, 1, 1)),
    "a butterfly in half a warp": (
        BUTTERFLY.replace("v, d);", "v, d);  //! barrier-divergence"), ["x f32 64", "y f32 64 empty"], (1, 1, 1), (48, 1, 1),
    ),
    "a mask that names lanes of another branch": (
        """__global__ void f(float* y) {
  int t = threadIdx.x;
  float v = t;
  if (t < 16) v += __shfl_down_sync(0xffffffffu, v, 8);  //! barrier-divergence
  y[t] = v;
}
""", ["y f32 32 empty"],
    ),
    "the right mask for a branch": (
        """__global__ void f(float* y) {
  int t = threadIdx.x;
  float v = t;
  if (t < 16) v += __shfl_down_sync(0x0000ffffu, v, 8, 16);
  y[t] = v;
}
""", ["y f32 32 empty"],
    ),
    "a caller outside its mask": (
        """__global__ void f(float* y) {
  int t = threadIdx.x;
  unsigned m = 0x0000ffffu;
  y[t] = __shfl_sync(m, float(t), 0);  //! barrier-divergence
}
""", ["y f32 32 empty"],
    ),
    "a shuffle that reads a lane outside its mask": (
        """__global__ void f(float* y) {
  int t = threadIdx.x;
  float v = t;
  if (t < 16) v = __shfl_sync(0x0000ffffu, v, 20);  //! barrier-divergence
  y[t] = v;
}
""", ["y f32 32 empty"],
    ),
    "votes": (
        """__global__ void f(unsigned* y) {
  int t = threadIdx.x;
  unsigned b = __ballot_sync(0xffffffffu, t & 1);
  bool any = __any_sync(0xffffffffu, t == 40), all = __all_sync(0xffffffffu, t < 32);
  unsigned same = __match_any_sync(0xffffffffu, t / 8);
  y[t] = __popc(b) + any + 2 * all + __popc(same) + __reduce_add_sync(0xffffffffu, 1u);
}
""", ["y u32 32 empty"],
    ),
    "lanes that come together": (
        """__global__ void f(int* count, int* y) {
  int t = threadIdx.x;
  y[t] = 0;
  if (t % 3 == 0) {
    unsigned m = __activemask();
    int leader = __ffs(m) - 1;
    int base = 0;
    if (t == leader) base = atomicAdd(count, __popc(m));
    base = __shfl_sync(m, base, leader);
    y[t] = base + __popc(m & ((1u << t) - 1));
  }
}
""", ["count i32 1 0..0", "y i32 32 empty"],
    ),
    "cooperative groups": (
        """namespace cg = cooperative_groups;
__global__ void f(const float* x, float* y) {
  __shared__ float s[8];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  float v = x[block.thread_rank()];
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  if (tile.thread_rank() == 0) s[tile.meta_group_rank()] = v;
  block.sync();
  float sum = cg::reduce(tile, s[tile.thread_rank() & 7], cg::plus<float>());
  y[block.thread_rank()] = sum;
}
""", ["x f32 128", "y f32 128 empty"], (1, 1, 1), (128, 1, 1),
    ),
    "groups by their common class": (
        """namespace cg = cooperative_groups;
__device__ int sum(cg::thread_group g, int* s, int v) {
  int rank = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    s[rank] = v;
    g.sync();
    if (rank < i) v += s[rank + i];
    g.sync();
  }
  return v;
}
__global__ void f(const int* x, int* y) {
  __shared__ int s[40];
  auto block = cg::this_thread_block();
  cg::thread_group tile = cg::tiled_partition(block, 16);
  cg::thread_group half = cg::tiled_partition(tile, 8);
  int t = block.thread_rank();
  int v = sum(tile, s + t / 16 * 16, x[t]);
  assert(tile.size() == (t < 32 ? 16 : 8) && half.size() == 8 && half.thread_rank() == t % 8);
  assert(tile.thread_rank() == t % 16 && cg::thread_group(block).num_threads() == 40);
  y[t] = sum(half, s + t / 8 * 8, v);
}
""", ["x i32 40", "y i32 40 empty"], (1, 1, 1), (40, 1, 1),
    ),
    "lanes of one label": (
        """namespace cg = cooperative_groups;
__global__ void f(int* count, int* y) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int t = threadIdx.x;
  auto odd = cg::binary_partition(tile, t % 3 == 0);
  assert(odd.size() == (t % 3 == 0 ? 11 : 21) && odd.thread_rank() == (t % 3 == 0 ? t / 3 : t - t / 3 - 1));
  if (t < 20) {
    auto same = cg::labeled_partition(cg::coalesced_threads(), t & 3);
    int base = same.thread_rank() == 0 ? atomicAdd(&count[t & 3], same.size()) : 0;
    y[same.shfl(base, 0) + same.thread_rank() + (t & 3) * 5] = t;
    same.sync();
  }
}
""", ["count i32 4 0..0", "y i32 20 empty"], (1, 1, 1), (32, 1, 1),
    ),
    "readers that have waited more or less often": (
        """__global__ void f(int* y) {
  __shared__ int s[2];
  int t = threadIdx.x;
  if (t < 2) s[t] = t;
  __syncwarp();
  if (t < 16) { __syncwarp(0xffffu); __syncwarp(0xffffu); __syncwarp(0xffffu); }
  int v = s[0] + s[1];
  __syncwarp();
  if (t == 31) s[0] = v;
  if (t == 0) s[1] = v;
  y[t] = v;
}
""", ["y i32 32 empty"], (1, 1, 1), (32, 1, 1),
    ),
    "lanes of a 2-D block": (
        """__global__ void f(const float* x, float* y) {
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  float v = x[t];
  v += __shfl_down_sync(0xffffffffu, v, 8);
  y[t] = v;
}
""", ["x f32 64", "y f32 64 empty"], (1, 1, 1), (8, 8, 1),
    ),
    "a spin that nobody ends": (
        """__global__ void f(volatile int* flag, int* y) {
  while (*flag == 0) {}  //! termination
  y[threadIdx.x] = 1;
}
""", ["flag i32 1 0..0", "y i32 32 empty"],
    ),
    "a lock that is never given back": (
        """__global__ void f(int* lock, int* y) {
  while (atomicCAS(lock, 0, 1) != 0) {}  //! termination
  y[threadIdx.x] = 1;
}
""", ["lock i32 1 0..0", "y i32 32 empty"],
    ),
    "blocks that wait for each other": (
        """__global__ void f(int* turn, int* y) {
  if (threadIdx.x == 0) {
    while (atomicAdd(turn, 0) != gridDim.x - 1 - blockIdx.x) {}
    __threadfence();
    y[blockIdx.x] = 1;
    __threadfence();
    atomicAdd(turn, 1);
  }
}
""", ["turn i32 1 0..0", "y i32 6 empty"], (6, 1, 1), (32, 1, 1),
    ),
    "a block that waits for a later one": (
        """__global__ void f(int* turn, int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = blockIdx.x;
  if (threadIdx.x == 0) {
    while (atomicAdd(turn, 0) != gridDim.x - 1 - blockIdx.x) {}
    __threadfence();
    atomicAdd(turn, 1);
  }
  __syncthreads();
  y[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
}
""", ["turn i32 1 0..0", "y i32 96 empty"], (3, 1, 1), (32, 1, 1),
    ),
    "a long loop that only reads": (
        """__global__ void f(const int* x, int* y, int n) {
  int sum = 0;
  for (int k = 0; k < n; k++) sum ^= x[k & 7] + k;
  y[threadIdx.x] = sum;
}
""", ["x i32 8", "y i32 4 empty", "n i32= 100000"], (1, 1, 1), (4, 1, 1),
    ),
    "an assertion": (
        """__global__ void f(const int* x, int* y) {
  assert(x[threadIdx.x] < 8);
  assert(threadIdx.x < 20);  //! assert
  y[threadIdx.x] = 1;
}
""", ["x i32 32 0..7", "y i32 32 empty"],
    ),
    "a trap": (
        """__global__ void f(int* y) {
  if (threadIdx.x == 31) __trap();  //! assert
  y[threadIdx.x] = 1;
}
""", ["y i32 32 empty"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_threads(name: str, make_case: Any, check: Callable[..., None]) -> None:
    check(make_case(name, *CASES[name]))


def test_call_paths_tell_two_barriers_of_one_helper_apart(
    make_case: Any, run_case: Callable[..., Any]
) -> None:
    source = """__device__ void meet() {
  __syncthreads();
}
__global__ void f(float* y) {
  if (threadIdx.x < 32) meet();
  else meet();
  y[threadIdx.x] = 1.0f;
}
"""
    result = run_case(make_case("", source, ["y f32 64 empty"], (1, 1, 1), (64, 1, 1)), opt="O0")
    assert [(f.property, f.span.line) for f in result.findings] == [("barrier-divergence", 2)]


def test_who_left_and_who_waits(make_case: Any, run_case: Callable[..., Any]) -> None:
    (finding,) = run_case(make_case("", *CASES["leaving before a barrier"])).findings
    assert finding.other is not None
    assert finding.thread == (0, 0, 0) and finding.other.thread == (40, 0, 0)
    assert finding.other.action == "has left the kernel"


@pytest.mark.parametrize(
    ("call", "action"),
    [
        ("__shfl_down_sync(m, x[t], 1)", "reads lane 3, which does not take part: the value is undefined"),
        ("__shfl_sync(~1u, x[t], t)", "calls a warp operation with a mask that leaves out its own lane"),
        ("__shfl_sync(~0u, x[t], t)", "names lane 1 in its mask, which never takes part"),
    ],
)
def test_what_is_wrong_with_a_shuffle(
    call: str, action: str, make_case: Any, run_case: Callable[..., Any]
) -> None:
    """Not a word about a barrier."""
    source = f"""__global__ void f(const int* x, int* y) {{
  int t = threadIdx.x;
  bool even = t % 2 == 0;
  unsigned m = __ballot_sync(0xffffffffu, even || t == 1);
  if (even || (t == 1 && {int("(m" in call)})) y[t] = {call};
}}
"""
    (finding,) = run_case(make_case("", source, ["x i32 32", "y i32 32"])).findings
    assert (finding.property, finding.span.line) == ("barrier-divergence", 5)
    assert finding.action == action
