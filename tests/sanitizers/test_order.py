"""What orders two accesses and what does not: barriers, __syncwarp, atomics, fences, blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sanitizers.simulator import Schedule

REDUCE = """template <int SIZE>
__global__ void f(const float* x, float* y) {
  __shared__ float s[SIZE];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * SIZE + t];
  __syncthreads();
  for (int d = SIZE / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
"""
LAST_BLOCK = """__device__ unsigned int done = 0;
__global__ void f(const float* x, float* part, float* y, int n) {
  __shared__ float s[64];
  __shared__ bool last;
  int t = threadIdx.x;
  int i = blockIdx.x * 64 + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int d = 32; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) {
    part[blockIdx.x] = s[0];
    __threadfence();
    unsigned int ticket = atomicInc(&done, gridDim.x);
    last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    float sum = 0.0f;
    for (int b = t; b < gridDim.x; b += 64) sum += part[b];
    s[t] = sum;
    __syncthreads();
    if (t == 0) {
      for (int k = 1; k < 64; k++) sum += s[k];
      y[0] = sum;
      done = 0;
    }
  }
}
"""
FLAG = """__global__ void f(float* data, volatile int* flag, float* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); *flag = 1; }
  } else {
    if (threadIdx.x == 0) { while (*flag == 0) {} __threadfence(); }
    __syncthreads();
    y[threadIdx.x] = data[threadIdx.x];
  }
}
"""
NOT_FENCED = """__global__ void f(volatile int* flag, int* data, int* y) {
  if (blockIdx.x == WAITS) {
    if (threadIdx.x == 0) { while (*flag == 0) {} }
    __syncthreads();
    y[threadIdx.x] = data[threadIdx.x];  //! race-global
  } else {
    data[threadIdx.x] = threadIdx.x;  //! race-global
    __syncthreads();
    if (threadIdx.x == 0) *flag = 1;
  }
}
"""
CASES: dict[str, tuple[Any, ...]] = {
    "bytes of floats, each by its own thread": (
        """__global__ void f(float* x) {
  unsigned char* b = reinterpret_cast<unsigned char*>(x);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = b[i] + 1;
}
""",
        ["x f32 32"], (2, 1, 1), (64, 1, 1),
    ),
    "halves of floats, read whole by another thread": (
        """__global__ void f(float* x, float* y) {
  __half* h = reinterpret_cast<__half*>(x);
  h[threadIdx.x] = h[threadIdx.x] + __float2half(1.0f);  //! race-global
  y[threadIdx.x] = x[threadIdx.x / 2];  //! race-global
}
""",
        ["x f32 32", "y f32 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "tree reduction": (REDUCE, ["x f32 512", "y f32 4 empty"], (4, 1, 1), (128, 1, 1), 0, ("128",)),
    "tree reduction without its barrier": (
        REDUCE.replace("s[t + d];\n    __syncthreads();", "s[t + d];  //! race-shared\n"),
        ["x f32 512", "y f32 4 empty"], (4, 1, 1), (128, 1, 1), 0, ("128",),
    ),
    "reading before the barrier": (
        """__global__ void f(float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = t;  //! race-shared
  y[t] = s[63 - t];  //! race-shared uninitialized
}
""", ["y f32 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "a buffer that is filled again too early": (
        """__global__ void f(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) {
    s[t] = x[k * 64 + t];  //! race-shared
    __syncthreads();
    sum += s[63 - t];  //! race-shared
  }
  y[t] = sum;
}
""", ["x f32 256", "y f32 64 empty", "n i32= 4"], (1, 1, 1), (64, 1, 1),
    ),
    "two buffers in turn": (
        """__global__ void f(const float* x, float* y, int n) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  float sum = 0;
  int b = 0;
  for (int k = 0; k < n; k++) {
    s[b][t] = x[k * 64 + t];
    __syncthreads();
    sum += s[b][63 - t];
    b ^= 1;
  }
  y[t] = sum;
}
""", ["x f32 256", "y f32 64 empty", "n i32= 4"], (1, 1, 1), (64, 1, 1),
    ),
    "blocks that write one element": (
        """__global__ void f(float* y) {
  if (threadIdx.x == 0) y[0] = blockIdx.x;  //! race-global
}
""", ["y f32 1 empty"], (3, 1, 1),
    ),
    "blocks that add atomically": (
        """__global__ void f(float* y, int* n) {
  atomicAdd(y, 1.0f);
  atomicMax(n, int(threadIdx.x));
}
""", ["y f32 1", "n i32 1"], (3, 1, 1),
    ),
    "a block that reads what another wrote": (
        """__global__ void f(float* y, float* z) {
  int b = blockIdx.x;
  if (threadIdx.x == 0) y[b] = b;  //! race-global
  __syncthreads();
  z[b * 32 + threadIdx.x] = y[(b + 1) % gridDim.x];  //! race-global
}
""", ["y f32 3", "z f32 96 empty"], (3, 1, 1),
    ),
    "a read of another block, then a write of one's own": (
        """__global__ void f(float* x, float* z) {
  z[blockIdx.x] = x[0];  //! race-global
  if (blockIdx.x == 1) x[0] = 1.0f;  //! race-global
}
""", ["x f32 1", "z f32 3 empty"], (3, 1, 1), (1, 1, 1),
    ),
    "plain against atomic": (
        """__global__ void f(int* n) {
  if (threadIdx.x == 3) n[0] = 5;  //! race-global
  else atomicAdd(n, 1);  //! race-global
}
""", ["n i32 1"],
    ),
    "an atomic over one's own plain store": (
        """__global__ void f(int* y) {
  __shared__ int n;
  int t = threadIdx.x;
  if (t == 0) {
    n = 0;  //! race-shared
    atomicAdd(&n, 1);
  } else {
    atomicAdd(&n, 1);  //! race-shared uninitialized
  }
  __syncthreads();
  y[t] = n;
}
""", ["y i32 32 empty"],
    ),
    "a counter that is set before the barrier": (
        """__global__ void f(int* y) {
  __shared__ int n;
  int t = threadIdx.x;
  if (t == 0) n = 0;
  __syncthreads();
  atomicAdd(&n, 1);
  __syncthreads();
  y[t] = n;
}
""", ["y i32 32 empty"],
    ),
    "__syncwarp orders a warp": (
        """__global__ void f(float* y) {
  __shared__ float s[64];
  int t = threadIdx.x, w = t & ~31;
  s[t] = t;
  __syncwarp();
  float v = s[w + 31 - (t & 31)];
  __syncwarp();
  s[t] = v + s[w];
  __syncwarp();
  y[t] = s[w + ((t + 1) & 31)];
}
""".replace("v + s[w]", "v"), ["y f32 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "a warp reduction in shared memory": (
        """__global__ void f(const float* x, float* y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncwarp();
  for (int d = 16; d > 0; d >>= 1) {
    float v = s[t] + (t < d ? s[t + d] : 0.0f);
    __syncwarp();
    s[t] = v;
    __syncwarp();
  }
  y[t] = s[0];
}
""", ["x f32 32", "y f32 32 empty"],
    ),
    "a warp that trusts lockstep": (
        """__global__ void f(float* y) {
  __shared__ volatile float s[32];
  int t = threadIdx.x;
  s[t] = t;  //! race-shared
  y[t] = s[31 - t];  //! race-shared uninitialized
}
""", ["y f32 32 empty"],
    ),
    "__syncwarp does not order two warps": (
        """__global__ void f(float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = t;  //! race-shared
  __syncwarp();
  y[t] = s[63 - t];  //! race-shared
}
""", ["y f32 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "a shuffle does not order memory": (
        """__global__ void f(float* y) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = t;  //! race-shared
  int other = __shfl_xor_sync(0xffffffffu, t, 1);
  y[t] = s[other];  //! race-shared
}
""", ["y f32 32 empty"],
    ),
    "the last block sums up": (
        LAST_BLOCK, ["x f32 300", "part f32 5 empty", "y f32 1 empty", "n i32= 300"], (5, 1, 1), (64, 1, 1),
    ),
    "the last block without a fence": (
        LAST_BLOCK.replace("    __threadfence();\n", "")
        .replace("part[blockIdx.x] = s[0];", "part[blockIdx.x] = s[0];  //! race-global").replace("+= part[b];", "+= part[b];  //! race-global"),
        ["x f32 300", "part f32 5 empty", "y f32 1 empty", "n i32= 300"], (5, 1, 1), (64, 1, 1),
    ),
    "a flag between blocks": (
        FLAG, ["data f32 32 empty", "flag i32 1 0..0", "y f32 32 empty"], (2, 1, 1),
    ),
    "a flag without a fence": (
        FLAG.replace("    __threadfence();\n", "").replace("{ __threadfence(); *flag", "{ *flag")
        .replace("data[threadIdx.x] = threadIdx.x;", "data[threadIdx.x] = threadIdx.x;  //! race-global")
        .replace("= data[threadIdx.x];", "= data[threadIdx.x];  //! race-global"),
        ["data f32 32 empty", "flag i32 1 0..0", "y f32 32 empty"], (2, 1, 1),
    ),
    "two bytes of one word": (
        """__global__ void f(unsigned char* y) {
  __shared__ unsigned char s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  y[t] = s[63 - t];
}
""", ["y u8 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "a byte of another thread's word": (
        """__global__ void f(unsigned char* y) {
  extern __shared__ unsigned char s[];
  int t = threadIdx.x;
  s[t] = t;  //! race-shared
  if (t % 2 == 0) s[t + 1] = 0;  //! race-shared
  __syncthreads();
  y[t] = s[t];
}
""", ["y u8 64 empty"], (1, 1, 1), (64, 1, 1), 64,
    ),
    "halves of one word": (
        """__global__ void f(__half* y) {
  __shared__ __half s[64];
  int t = threadIdx.x;
  s[t] = __float2half(float(t));
  __syncthreads();
  y[t] = __hadd(s[63 - t], s[t]);
}
""", ["y f16 64 empty"], (1, 1, 1), (64, 1, 1),
    ),
    "a float of raw bytes against a byte of it": (
        """__global__ void f(float* y) {
  extern __shared__ unsigned char raw[];
  float* s = (float*)raw;
  int t = threadIdx.x;
  s[t] = t;  //! race-shared
  if (t == 5) raw[4 * 6 + 1] = 0;  //! race-shared
  __syncthreads();
  y[t] = s[t];
}
""", ["y f32 32 empty"], (1, 1, 1), (32, 1, 1), 128,
    ),
    "a grid barrier": (
        """namespace cg = cooperative_groups;
__global__ void f(float* x, float* y) {
  int i = blockIdx.x * 32 + threadIdx.x;
  x[i] = i;
  cg::this_grid().sync();
  y[i] = x[(i + 40) % 96];
}
""", ["x f32 96 empty", "y f32 96 empty"], (3, 1, 1),
    ),
    "a spin lock": (
        """__device__ int lock = 0;
__device__ int total = 0;
__global__ void f(int* y) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    total = total + 1;
    __threadfence();
    atomicExch(&lock, 0);
  }
  y[blockIdx.x * 32 + threadIdx.x] = 1;
}
""", ["y i32 128 empty"], (4, 1, 1),
    ),
    "places taken from an atomic counter": (
        """__global__ void f(unsigned* taken, int* y) { y[atomicAdd(taken, 1u)] = threadIdx.x; }
""", ["taken u32 1 0..0", "y i32 256 empty"], (2, 1, 1), (128, 1, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_order(name: str, make_case: Any, check: Callable[..., None]) -> None:
    check(make_case(name, *CASES[name]))


@pytest.mark.parametrize(
    "name",
    [
        "tree reduction",
        "the last block sums up",
        "a warp reduction in shared memory",
        "places taken from an atomic counter",
    ],
)
def test_order_without_optimisation(name: str, make_case: Any, check: Callable[..., None]) -> None:
    check(make_case(name, *CASES[name]), opt="O0")


def test_a_race_names_both_threads(make_case: Any, run_case: Callable[..., Any]) -> None:
    result = run_case(make_case("", *CASES["a block that reads what another wrote"]))
    finding = next(f for f in result.findings if f.property == "race-global")
    assert finding.other is not None
    assert {finding.span.line, finding.other.span.line} == {3, 5}
    assert finding.block != finding.other.block
    assert finding.action.endswith(f"y[{finding.index}]") and finding.other.action.endswith(
        f"y[{finding.index}]"
    )


@pytest.mark.parametrize(("kind", "waits"), [("forward", 0), ("reverse", 1)])
def test_a_block_that_waited_for_another(
    kind: str, waits: int, make_case: Any, run_case: Callable[..., Any]
) -> None:
    """The block that waits starts first and has barriers before and after the other one runs."""
    params = ["flag i32 1 0..0", "data i32 64", "y i32 64 empty"]
    case = make_case("", NOT_FENCED.replace("WAITS", str(waits)), params, (2, 1, 1), (64, 1, 1))
    result = run_case(case, schedule=Schedule(kind))
    assert {(f.property, f.span.line) for f in result.findings} == {("race-global", 5)}


def test_a_read_of_a_part_and_then_of_the_whole(make_case: Any, run_case: Callable[..., Any]) -> None:
    source = """__global__ void f(int* x, int* y) {
  if (threadIdx.x == 0) y[0] = reinterpret_cast<const signed char*>(x)[0] + x[0];
  if (threadIdx.x == 40) reinterpret_cast<signed char*>(x)[2] = 5;
}
"""
    case = make_case("", source, ["x i32 4 0..9", "y i32 1 empty"], (1, 1, 1), (64, 1, 1))
    result = run_case(case, schedule=Schedule("forward"))
    assert {(f.property, f.span.line) for f in result.findings} == {("race-global", 3)}
