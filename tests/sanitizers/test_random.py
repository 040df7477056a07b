"""cuRAND in the simulator: numbers in the documented range, states that are watched; textures are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

GOOD = {
    "a state for each thread": """__global__ void k(float *y) { __shared__ curandState s[64];
        curand_init(7, threadIdx.x, 0, &s[threadIdx.x]); y[threadIdx.x] = curand_uniform(&s[threadIdx.x]); }""",
    "a state that is passed on": """__global__ void k(float *y) {
        __shared__ curandStatePhilox4_32_10_t s; if (threadIdx.x == 0) curand_init(1, 2, 3, &s); __syncthreads();
        curandStatePhilox4_32_10_t mine = s; skipahead_sequence(threadIdx.x, &mine); y[threadIdx.x] = curand_normal(&mine); }""",
}
BAD = {
    "one state for two threads": """__global__ void k(float *y) { __shared__ curandState s[64];
        curand_init(7, threadIdx.x, 0, &s[threadIdx.x]);
        __syncthreads();
        y[threadIdx.x] = curand_uniform(&s[threadIdx.x / 2]); //! race-shared
        }""",
    "a state behind the last": """__global__ void k(float *y) { __shared__ curandStateMRG32k3a s[64];
        curand_init(7, threadIdx.x, 0, &s[threadIdx.x + 1]); //! bounds-shared
        y[threadIdx.x] = 0; }""",
    "an index that the number 1 makes": """__global__ void k(float *y) { __shared__ float table[64];
        table[threadIdx.x] = 0; __syncthreads(); curandState s; curand_init(7, threadIdx.x, 0, &s); float sum = 0;
        for (int i = 0; i < 64; i++) {
            sum += table[int(curand_uniform(&s) * 64)]; //! bounds-shared
        }
        y[threadIdx.x] = sum; }""",
}


@pytest.mark.parametrize("name", GOOD)
def test_good(name: str, make_case: Any, check: Callable[..., None]) -> None:
    check(make_case("k", GOOD[name], ["y f32 64 empty"], block=(64, 1, 1)))


@pytest.mark.parametrize("name", BAD)
def test_bad(name: str, make_case: Any, check: Callable[..., None]) -> None:
    check(make_case("k", BAD[name], ["y f32 64 empty"], block=(64, 1, 1)))


def test_numbers_are_in_range_and_states_give_different_ones(
    make_case: Any, run_case: Callable[..., Any]
) -> None:
    text = """__global__ void k(double *y) { curandState a, b; curandStateMRG32k3a m;
        curand_init(7, threadIdx.x, 0, &a); curand_init(7, threadIdx.x, 5, &b); curand_init(9, threadIdx.x, 0, &m);
        double *mine = y + 8 * threadIdx.x; mine[0] = curand_uniform(&a); mine[1] = curand_uniform_double(&m);
        mine[2] = curand_normal(&a); mine[3] = curand(&a); skipahead(2, &a); mine[4] = curand(&a); mine[5] = curand(&b);
        mine[6] = curand_poisson(&m, 4.0); mine[7] = curand_log_normal(&m, 0.0f, 1.0f); }"""
    result = run_case(make_case("k", text, ["y f64 4096 empty"], block=(512, 1, 1)))
    assert result.unsupported is None and not result.findings
    y = np.frombuffer(result.outputs["y"], np.float64).reshape(512, 8)
    for column in (0, 1):
        assert (y[:, column] > 0).all() and (y[:, column] <= 1).all() and 0.4 < y[:, column].mean() < 0.6
    assert abs(y[:, 2].mean()) < 0.3 and 0.8 < y[:, 2].std() < 1.2
    assert len(set(y[:, 3])) > 500 and (y[:, 6] >= 0).all() and (y[:, 7] > 0).all()
    assert (y[:, 4] != y[:, 5]).all()  # two bits of a, a normal number and two skipped ones were drawn before


def test_every_random_function_has_a_body(make_case: Any, run_case: Callable[..., Any]) -> None:
    text = """__global__ void k(float *y) { unsigned d[32] = {}; unsigned long long e[64] = {}; curandStatePhilox4_32_10_t p;
        curandStateSobol32 a; curandStateScrambledSobol32 b; curandStateSobol64 f; curandStateScrambledSobol64 g;
        curandStateMRG32k3a m; curand_init(1, 2, 3, &p); curand_init(1, 2, 3, &m); skipahead_subsequence(2, &m);
        curand_init(d, 1, &a); curand_init(d, 3u, 1, &b); curand_init(e, 1, &f); curand_init(e, 3ull, 1, &g);
        y[0] = curand(&a) + curand(&b) + curand(&f) + curand(&g) + curand4(&p).x + curand_poisson4(&p, 2.0).y;
        y[1] = curand_uniform4(&p).x + curand_uniform2_double(&p).x + curand_uniform4_double(&p).w;
        y[2] = curand_normal2(&p).x + curand_normal2_double(&p).x + curand_normal4(&p).x + curand_normal4_double(&p).x;
        y[3] = curand_log_normal2(&p, 0, 1).x + curand_log_normal2_double(&p, 0, 1).x + curand_log_normal4(&p, 0, 1).x;
        y[4] = curand_log_normal4_double(&p, 0, 1).x + curand_log_normal_double(&p, 0, 1) + curand_normal_double(&b);
        skipahead(1, &a); skipahead(1, &g); y[5] = sizeof(p) + sizeof(a) + sizeof(f) + sizeof(m) + alignof(curandState); }"""
    result = run_case(make_case("k", text, ["y f32 8"]))
    assert result.unsupported is None and result.error is None
    assert np.frombuffer(result.outputs["y"], np.float32)[5] == 64 + 140 + 536 + 48 + 8


def test_textures_and_surfaces_are_refused_by_name(make_case: Any, run_case: Callable[..., Any]) -> None:
    for call, name in (
        ("y[0] = tex2D<float>(h, 0.5f, 0.5f)", "tex2D"),
        ("surf2Dwrite(1.0f, h, 0, 0)", "surf2Dwrite"),
    ):
        text = f"__global__ void k(cudaTextureObject_t h, float *y) {{ {call}; }}"
        result = run_case(make_case("k", text, ["h u64= 0", "y f32 8"]))
        assert result.unsupported is not None and name in result.unsupported
