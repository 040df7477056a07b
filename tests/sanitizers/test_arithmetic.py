"""Overflow, shifts and divisions: what the compiler's own checks see, and what they must leave alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

CASES: dict[str, tuple[Any, ...]] = {
    "an index product that overflows": (
        """__global__ void f(const float* x, float* y, int rows, int ld) {
  int i = threadIdx.x;
  int at = (rows - 1) * ld + i;  //! overflow
  if (at < 0) return;
  y[i] = x[at];
}
""", ["x f32 32", "y f32 32 empty", "rows i32= 70000", "ld i32= 40000"],
    ),
    "the same product in 64 bits": (
        """__global__ void f(const float* x, float* y, int rows, int ld, long long n) {
  int i = threadIdx.x;
  long long at = (long long)(rows - 1) * ld + i;
  if (at >= n) return;
  y[i] = x[at];
}
""", ["x f32 32", "y f32 32", "rows i32= 70000", "ld i32= 40000", "n i64= 32"],
    ),
    "a sum that overflows": (
        """__global__ void f(int* y, int n) {
  y[threadIdx.x] = n + int(threadIdx.x);  //! overflow
}
""", ["y i32 32 empty", "n i32= 2147483640"],
    ),
    "negating the smallest": (
        """__global__ void f(int* y, int n) {
  y[threadIdx.x] = -n;  //! overflow
}
""", ["y i32 32 empty", "n i32= -2147483648"],
    ),
    "unsigned wrap is meant": (
        """__global__ void f(unsigned* y, unsigned n) {
  y[threadIdx.x] = n * 2654435761u + threadIdx.x - 5u;
}
""", ["y u32 32 empty", "n u32= 4000000000"],
    ),
    "division by zero": (
        """__global__ void f(int* y, int n) {
  int t = threadIdx.x;
  y[t] = t / n;  //! arithmetic
}
""", ["y i32 32 empty", "n i32= 0"],
    ),
    "remainder by zero": (
        """__global__ void f(unsigned* y, unsigned n) {
  unsigned t = threadIdx.x;
  y[t] = t % n;  //! arithmetic
}
""", ["y u32 32 empty", "n u32= 0"],
    ),
    "INT_MIN / -1": (
        """__global__ void f(int* y, int a, int b) {
  y[threadIdx.x] = a / b;  //! arithmetic
}
""", ["y i32 32 empty", "a i32= -2147483648", "b i32= -1"],
    ),
    "a shift that is too far": (
        """__global__ void f(unsigned* y, int n) {
  y[threadIdx.x] = 1u << (n + threadIdx.x);  //! arithmetic
}
""", ["y u32 32 empty", "n i32= 4"],
    ),
    "a shift into the sign is a mask": (
        """__global__ void f(unsigned* y) {
  y[threadIdx.x] = (1 << threadIdx.x) | unsigned(-2 << 1);
}
""", ["y u32 32 empty"],
    ),
    "a shift that loses bits": (
        """__global__ void f(int* y, int n) {
  y[threadIdx.x] = n << 8;  //! overflow
}
""", ["y i32 32 empty", "n i32= 50000000"],
    ),
    "division by zero of floats is a value": (
        """__global__ void f(float* y, float a) {
  y[threadIdx.x] = 1.0f / (a - a);
}
""", ["y f32 32 empty", "a f32= 1.0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("opt", ["O1", "O0"])
def test_arithmetic(name: str, opt: str, make_case: Any, check: Callable[..., None]) -> None:
    check(make_case(name, *CASES[name]), opt=opt)


def test_the_message_has_the_values(make_case: Any, run_case: Callable[..., Any]) -> None:
    (finding,) = run_case(make_case("", *CASES["an index product that overflows"])).findings
    assert finding.message == "signed overflow: 69999 * 40000 does not fit 'int'"
    assert finding.span.column > 0
