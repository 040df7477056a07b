"""The few instructions of inline assembler that the simulator knows: values, faults, and that nothing else passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sanitizers.simulator.text import prepare

ASYNC = """__global__ void f(const float* x, float* y) {
  __shared__ float s[128];
  unsigned to = __cvta_generic_to_shared(&s[threadIdx.x * 4]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;\\n" :: "r"(to), "l"(x + threadIdx.x * 4), "n"(16));
  asm volatile("cp.async.commit_group;\\n" ::);
  asm volatile("cp.async.wait_group %0;\\n" ::"n"(0));
  __syncthreads();
  for (int k = 0; k < 4; k++) y[threadIdx.x + 32 * k] = s[127 - threadIdx.x - 32 * k];
}
"""
PRODUCT = """__global__ void f(const __half* a, const __half* b, float* c) {
  __shared__ __half s[16 * 16], t[16 * 8];
  for (int i = threadIdx.x; i < 256; i += 32) s[i] = a[i];
  for (int i = threadIdx.x; i < 128; i += 32) t[i] = b[i];
  __syncthreads();
  int lane = threadIdx.x;
  unsigned ra[4], rb[2];
  unsigned pa = static_cast<unsigned>(__cvta_generic_to_shared(s + (lane % 16) * 16 + (lane / 16) * 8));
  unsigned pb = static_cast<unsigned>(__cvta_generic_to_shared(t + (lane % 16) * 8));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\\n"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
               : "r"(pa));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
  float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\\n"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]),
        "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]));
  int row = lane / 4, column = lane % 4 * 2;
  c[row * 8 + column] = d[0];
  c[row * 8 + column + 1] = d[1];
  c[(row + 8) * 8 + column] = d[2];
  c[(row + 8) * 8 + column + 1] = d[3];
}
"""
SLOW = ["x f32 128", "y f32 128 empty"]
CASES = {
    "an asynchronous copy": (ASYNC, SLOW),
    "its source is too short": (ASYNC.replace('"n"(16));', '"n"(16));  //! bounds-global'), ["x f32 127", "y f32 128 empty"]),
    "its target is too far": (ASYNC.replace("&s[threadIdx.x * 4]", "&s[threadIdx.x * 4 + 4]").replace('"n"(16));', '"n"(16));  //! bounds-shared').replace("s[127 - threadIdx.x - 32 * k]", "s[threadIdx.x + 4 > 127 ? 127 : threadIdx.x + 4]"), SLOW),
    "no barrier after it": (ASYNC.replace("  __syncthreads();\n", "").replace('"n"(16));', '"n"(16));  //! race-shared').replace("- 32 * k];\n}", "- 32 * k];  //! race-shared uninitialized\n}"), SLOW),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_copies(name: str, make_case: Any, check: Callable[..., None]) -> None:
    check(make_case(name, *CASES[name]))


@pytest.mark.parametrize("opt", ["O1", "O0"])
def test_a_product_of_registers(opt: str, make_case: Any, run_case: Callable[..., Any]) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(-4, 5, (16, 16)), rng.integers(-4, 5, (16, 8))
    inputs = {"a": a.astype("<f2").tobytes(), "b": b.astype("<f2").tobytes()}
    case = make_case("", PRODUCT, ["a f16 256", "b f16 128", "c f32 128 empty"], inputs=inputs)
    result = run_case(case, opt=opt)
    assert result.complete and not result.findings, (result.unsupported, result.error, result.findings)
    assert (np.frombuffer(result.outputs["c"], "<f4").reshape(16, 8) == a @ b).all()


@pytest.mark.parametrize(
    "statement",
    [
        'asm("syscall");',
        'asm volatile(".incbin \\"/etc/passwd\\"");',
        'asm volatile("cp.async.commit_group;\\n.incbin \\"/etc/passwd\\";" ::);',
        'asm volatile("cp.async.cg.shared.global [%0], [%1], 16; syscall;" :: "r"(1), "l"(x));',
        'asm volatile("cp.async.cg.shared.global [%0], [%7], 16;" :: "r"(1), "l"(x));',
        'asm volatile("cp.async.wait_all;" :::) + 1;',
        'asm goto ("" :::: out);',
        'register float r asm("rsp");',
        'asm volatile("st.global.u32 [%0], %1;" :: "l"(x), "r"(1));',
    ],
)
def test_other_assembler_is_refused(statement: str) -> None:
    found = prepare(f"__global__ void f(float* x) {{ {statement} }}")
    assert found.unsupported is not None and "inline assembler" in found.unsupported
