"""Results: the simulator computes what CUDA computes, for every element type and the functions that kernels use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

F16_FROM_BITS = np.arange(1 << 16, dtype=np.uint16)


def test_every_half_survives_a_round_trip(make_case: Any, run_case: Callable[..., Any]) -> None:
    source = """__global__ void f(const __half* x, float* y, __half* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __half2float(x[i]);
  z[i] = __float2half(y[i]);
}
"""
    case = make_case(
        "", source, ["x f16 65536", "y f32 65536 empty", "z f16 65536 empty"], (64, 1, 1), (1024, 1, 1),
        inputs={"x": F16_FROM_BITS.tobytes()},
    )  # fmt: skip
    outputs = run_case(case).outputs
    floats = F16_FROM_BITS.view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(np.frombuffer(outputs["y"], np.float32), floats)
    back = np.frombuffer(outputs["z"], np.float16)
    np.testing.assert_array_equal(back[~np.isnan(floats)], F16_FROM_BITS.view(np.float16)[~np.isnan(floats)])


def test_float_to_half_rounds_to_nearest_even(make_case: Any, run_case: Callable[..., Any]) -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 1 << 32, 65536, dtype=np.uint64).astype(np.uint32)
    near = rng.uniform(-70000, 70000, 32768).astype(np.float32)
    tiny = rng.uniform(-1e-4, 1e-4, 32768).astype(np.float32)
    values = np.concatenate([bits.view(np.float32), near, tiny])
    case = make_case(
        "", "__global__ void f(const float* x, __half* y) { int i = blockIdx.x * 1024 + threadIdx.x; y[i] = __float2half(x[i]); }",
        ["x f32 131072", "y f16 131072 empty"], (128, 1, 1), (1024, 1, 1), inputs={"x": values.tobytes()},
    )  # fmt: skip
    got = np.frombuffer(run_case(case).outputs["y"], np.float16)
    with np.errstate(over="ignore"):
        want = values.astype(np.float16)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("dtype", "cuda"),
    [("f32", "float"), ("f64", "double"), ("i8", "signed char"), ("u8", "unsigned char"), ("i16", "short"),
     ("u16", "unsigned short"), ("i32", "int"), ("u32", "unsigned"), ("i64", "long long"), ("u64", "unsigned long long"),
     ("f16", "__half"), ("bf16", "__nv_bfloat16"), ("f16", "at::Half"), ("bf16", "c10::BFloat16")],
)  # fmt: skip
def test_a_template_over_every_type(
    dtype: str, cuda: str, make_case: Any, check: Callable[..., None]
) -> None:
    source = """template <typename T, int N>
__global__ void f(const T* x, T* y, int n) {
  __shared__ T s[N];
  int t = threadIdx.x, i = blockIdx.x * N + t;
  s[t] = i < n ? x[i] : T(0);
  __syncthreads();
  T sum = s[t] + s[N - 1 - t];
  if (i < n) y[i] = sum * T(2);
}
"""
    check(
        make_case(
            "",
            source,
            [f"x {dtype} 100", f"y {dtype} 100 empty", "n i32= 100"],
            (2, 1, 1),
            (64, 1, 1),
            0,
            (cuda, "64"),
        )
    )


def test_a_3d_launch(make_case: Any, run_case: Callable[..., Any]) -> None:
    source = """__global__ void f(int* y, dim3 size) {
}
"""
    source = """__global__ void f(int* y, int w, int h, int d) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < w && r < h && z < d) y[(z * h + r) * w + x] = x + 100 * r + 10000 * z;
}
"""
    case = make_case(
        "", source, ["y i32 210 empty", "w i32= 5", "h i32= 7", "d i32= 6"], (2, 3, 4), (4, 3, 2)
    )
    result = run_case(case)
    z, r, x = np.meshgrid(np.arange(6), np.arange(7), np.arange(5), indexing="ij")
    np.testing.assert_array_equal(
        np.frombuffer(result.outputs["y"], np.int32).reshape(6, 7, 5), x + 100 * r + 10000 * z
    )
    assert not result.findings and result.blocks_run == result.blocks_launched == 24


MATH = {
    "expf(x)": np.exp, "__expf(x)": np.exp, "logf(fabsf(x) + 1.0f)": lambda x: np.log(np.abs(x) + 1),
    "rsqrtf(fabsf(x) + 1.0f)": lambda x: 1 / np.sqrt(np.abs(x) + 1), "fmaxf(x, 0.5f)": lambda x: np.maximum(x, 0.5),
    "tanhf(x)": np.tanh, "__fdividef(x, 3.0f)": lambda x: x / 3, "sinpif(x)": lambda x: np.sin(np.pi * x),
    "exp(x)": np.exp, "std::max(x, 0.0f)": lambda x: np.maximum(x, 0), "max(x, 0.0f)": lambda x: np.maximum(x, 0),
    "__saturatef(x)": lambda x: np.clip(x, 0, 1), "fmaf(x, x, 1.0f)": lambda x: x * x + 1,
    "float(__float2int_rn(x * 4.0f))": lambda x: np.rint(x * 4), "__int_as_float(__float_as_int(x))": lambda x: x,
    "normcdff(x)": lambda x: np.vectorize(lambda v: 0.5 * __import__("math").erfc(-v / 2**0.5))(x),
    "abs(x)": np.abs, "powf(fabsf(x), 1.5f)": lambda x: np.abs(x) ** 1.5, "exp10f(x)": lambda x: 10.0**x,
    "erff(erfinvf(x * 0.4f))": lambda x: x * 0.4, "min(int(x), 1) * 1.0f": lambda x: np.minimum(np.trunc(x), 1),
    "roundf(x)": lambda x: np.where(x < 0, np.ceil(x - 0.5), np.floor(x + 0.5)),
}  # fmt: skip


def test_math(make_case: Any, run_case: Callable[..., Any]) -> None:
    body = "\n".join(f"  y[{k} * 64 + t] = {text};" for k, text in enumerate(MATH))
    source = f"__global__ void f(const float* v, float* y) {{\n  int t = threadIdx.x; float x = v[t];\n{body}\n}}\n"
    values = np.linspace(-2, 2, 64, dtype=np.float32)
    case = make_case(
        "",
        source,
        ["v f32 64", f"y f32 {64 * len(MATH)} empty"],
        (1, 1, 1),
        (64, 1, 1),
        inputs={"v": values.tobytes()},
    )
    result = run_case(case)
    assert not result.findings and result.unsupported is None
    got = np.frombuffer(result.outputs["y"], np.float32).reshape(len(MATH), 64)
    for row, (text, function) in zip(got, MATH.items(), strict=True):
        np.testing.assert_allclose(
            row, function(values.astype(np.float64)), rtol=3e-6, atol=3e-7, err_msg=text
        )


INTEGERS = {
    "__popc(x)": lambda x: bin(x).count("1"), "__clz(x)": lambda x: 32 - x.bit_length(),
    "__ffs(x)": lambda x: (x & -x).bit_length(), "__brev(x)": lambda x: int(f"{x:032b}"[::-1], 2),
    "__umulhi(x, 2654435761u)": lambda x: x * 2654435761 >> 32, "__byte_perm(x, 0x44332211u, 0x5410)":
    lambda x: int.from_bytes([(x & 255), (x >> 8 & 255), 0x11, 0x22], "little"),
    "__funnelshift_l(x, x, 7)": lambda x: (x << 7 | x >> 25) & 0xFFFFFFFF, "min(x, 77u)": lambda x: min(x, 77),
    "__dp4a(x, 0x01010101u, 5u)": lambda x: sum(x.to_bytes(4, "little")) + 5, "__umul24(x, 3u)":
    lambda x: (x & 0xFFFFFF) * 3 & 0xFFFFFFFF,
}  # fmt: skip


def test_integer_functions(make_case: Any, run_case: Callable[..., Any]) -> None:
    body = "\n".join(f"  y[{k} * 64 + t] = {text};" for k, text in enumerate(INTEGERS))
    source = f"__global__ void f(const unsigned* v, unsigned* y) {{\n  int t = threadIdx.x; unsigned x = v[t];\n{body}\n}}\n"
    values = np.random.default_rng(3).integers(0, 1 << 32, 64, dtype=np.uint64).astype(np.uint32)
    values[:3] = 0, 1, 0xFFFFFFFF
    case = make_case(
        "",
        source,
        ["v u32 64", f"y u32 {64 * len(INTEGERS)} empty"],
        (1, 1, 1),
        (64, 1, 1),
        inputs={"v": values.tobytes()},
    )
    result = run_case(case)
    assert not result.findings and result.unsupported is None
    got = np.frombuffer(result.outputs["y"], np.uint32).reshape(len(INTEGERS), 64)
    for row, (text, function) in zip(got, INTEGERS.items(), strict=True):
        assert row.tolist() == [function(int(v)) for v in values], text


def test_shuffles_and_votes_have_the_right_values(make_case: Any, run_case: Callable[..., Any]) -> None:
    source = """__global__ void f(int* y) {
  int t = threadIdx.x;
  const unsigned all = 0xffffffffu;
  y[t] = __shfl_sync(all, t, 5);
  y[32 + t] = __shfl_up_sync(all, t, 3);
  y[64 + t] = __shfl_down_sync(all, t, 3, 8);
  y[96 + t] = __shfl_xor_sync(all, t, 9);
  y[128 + t] = int(__ballot_sync(all, t % 5 == 0));
  y[160 + t] = int(__match_any_sync(all, t % 3));
  y[192 + t] = __reduce_max_sync(all, t * 7 % 32);
}
"""
    result = run_case(make_case("", source, ["y i32 224 empty"]))
    assert not result.findings
    got = np.frombuffer(result.outputs["y"], np.int32).reshape(7, 32)
    lane = np.arange(32)
    want = [
        np.full(32, 5), np.where(lane >= 3, lane - 3, lane), np.where(lane % 8 + 3 < 8, lane + 3, lane), lane ^ 9,
        np.full(32, sum(1 << k for k in range(0, 32, 5))), [sum(1 << k for k in range(32) if k % 3 == i % 3) for i in lane],
        np.full(32, 31),
    ]  # fmt: skip
    np.testing.assert_array_equal(got.astype(np.uint32), np.array(want).astype(np.uint32))


def test_atomics_have_the_right_values(make_case: Any, run_case: Callable[..., Any]) -> None:
    source = """__global__ void f(int* i, unsigned* u, float* x, double* d, unsigned long long* w, __half* h) {
  int t = threadIdx.x;
  atomicAdd(&i[0], t); atomicSub(&i[1], t); atomicMin(&i[2], t - 20); atomicMax(&i[3], t * 3);
  atomicAnd(&i[4], ~(1 << t)); atomicOr(&i[5], 1 << t); atomicXor(&i[6], t);
  atomicInc(&u[0], 9u); atomicDec(&u[1], 9u);
  atomicAdd(x, 0.5f); atomicAdd(d, 0.25); atomicAdd(w, 1ull << 40); atomicAdd(h, __float2half(1.0f));
  atomicCAS(&u[2], unsigned(t), unsigned(t + 1));
}
"""
    zero = {"i": np.array([0, 0, 0, 0, -1, 0, 0], np.int32).tobytes(), "u": bytes(12), "x": bytes(4), "d": bytes(8), "w": bytes(8), "h": bytes(2)}  # fmt: skip
    case = make_case(
        "", source, ["i i32 7", "u u32 3", "x f32 1", "d f64 1", "w u64 1", "h f16 1"], inputs=zero
    )
    result = run_case(case)
    assert not result.findings and result.unsupported is None
    out = result.outputs
    assert np.frombuffer(out["i"], np.int32).tolist() == [496, -496, -20, 93, 0, -1, 0]
    assert np.frombuffer(out["u"], np.uint32).tolist() == [2, 8, 32]
    assert np.frombuffer(out["x"], np.float32)[0] == 16 and np.frombuffer(out["d"], np.float64)[0] == 8
    assert np.frombuffer(out["w"], np.uint64)[0] == 32 << 40 and np.frombuffer(out["h"], np.float16)[0] == 32


def test_the_same_seed_gives_the_same_run(make_case: Any, run_case: Callable[..., Any]) -> None:
    from sanitizers.simulator import Schedule

    source = """__global__ void f(int* ticket, int* y) { y[blockIdx.x * 32 + threadIdx.x] = atomicAdd(ticket, 1); }"""
    case = make_case("", source, ["ticket i32 1 0..0", "y i32 128 empty"], (4, 1, 1))
    runs = {
        (kind, seed): run_case(case, Schedule(kind, seed)).outputs["y"]
        for kind in ("forward", "reverse", "random", "interleaved")
        for seed in (1, 1, 2)
    }
    assert run_case(case, Schedule("random", 1)).outputs["y"] == runs["random", 1]
    assert runs["random", 1] != runs["random", 2] and runs["forward", 1] != runs["reverse", 1]
    assert len({*runs.values()}) >= 5


def test_classes_by_value_are_put_together_again(make_case: Any, run_case: Callable[..., Any]) -> None:
    source = """struct Options { char first; double scale; int dims[2]; float* extra; };
__global__ void f(torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> a, Options p, float* y) {
  int t = threadIdx.x;
  if (t < p.dims[0] * p.dims[1]) y[t] = a[t / a.size(1)][t % a.size(1)] * p.scale + p.extra[0] + p.first;
}
"""
    params = [
        "a.data f32 12", "a.size0 i32= 3", "a.size1 i32= 4", "a.stride0 i32= 4", "a.stride1 i32= 1", "p.first i8= 7",
        "p.scale f64= 0.5", "p.dims[0] i32= 3", "p.dims[1] i32= 4", "p.extra f32 1", "y f32 12 empty",
    ]  # fmt: skip
    data = np.arange(12, dtype=np.float32)
    case = make_case(
        "", source, params, inputs={"a.data": data.tobytes(), "p.extra": np.float32(100).tobytes()}
    )
    result = run_case(case)
    assert not result.findings and result.unsupported is None
    np.testing.assert_array_equal(np.frombuffer(result.outputs["y"], np.float32), data * 0.5 + 107)


def test_scans_and_matches_of_groups(make_case: Any, run_case: Callable[..., Any]) -> None:
    source = """namespace cg = cooperative_groups;
__global__ void f(const int* x, int* up, int* before, unsigned* same, int* copied) {
  __shared__ int s[64];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int t = cg::thread_block::thread_rank(), all;
  up[t] = cg::inclusive_scan(tile, x[t]);
  before[t] = cg::exclusive_scan(tile, x[t], cg::greater<int>());
  same[t] = tile.match_any(x[t]) + 256 * tile.match_all(x[t] >= 0, all);
  cg::memcpy_async(block, s, x, sizeof s);
  cg::wait(block);
  copied[t] = s[63 - t] + all;
}
"""
    x = np.random.default_rng(3).integers(0, 5, 64, dtype=np.int32)
    out = [
        f"{n} {t} 64 empty" for n, t in (("up", "i32"), ("before", "i32"), ("same", "u32"), ("copied", "i32"))
    ]
    case = make_case("", source, ["x i32 64", *out], (1, 1, 1), (64, 1, 1), inputs={"x": x.tobytes()})
    result = run_case(case)
    assert result.complete and not result.findings
    got = {n: np.frombuffer(raw, np.int32).reshape(8, 8) for n, raw in result.outputs.items()}
    tiles = x.reshape(8, 8)
    np.testing.assert_array_equal(got["up"], np.cumsum(tiles, axis=1))
    np.testing.assert_array_equal(got["before"][:, 1:], np.maximum.accumulate(tiles, axis=1)[:, :-1])
    matches = [[sum(1 << k for k in range(8) if row[k] == v) for v in row] for row in tiles]
    np.testing.assert_array_equal(got["same"], np.array(matches) + 256 * 255)
    np.testing.assert_array_equal(got["copied"].ravel(), x[::-1] + 1)


def test_a_copy_that_is_read_before_the_wait(make_case: Any, check: Callable[..., None]) -> None:
    source = """namespace cg = cooperative_groups;
__global__ void f(const int* x, int* y) {
  __shared__ int s[64];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x, sizeof s);  //! race-shared
  y[threadIdx.x] = s[63 - threadIdx.x];  //! race-shared uninitialized
  cg::wait(block);
}
"""
    check(make_case("", source, ["x i32 64", "y i32 64 empty"], (1, 1, 1), (64, 1, 1)))
