"""Warp matrix functions: values against a plain product, and what goes wrong around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

PRODUCT = """using namespace nvcuda;
__global__ void f(const @T@* a, const @T@* b, @C@* c) {
  wmma::fragment<wmma::matrix_a, @M@, @N@, @K@, @T@, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, @M@, @N@, @K@, @T@, wmma::@L@> y;
  wmma::fragment<wmma::accumulator, @M@, @N@, @K@, @C@> sum;
  wmma::fill_fragment(sum, @C@(0));
  for (int k = 0; k < 2 * @K@; k += @K@) {
    wmma::load_matrix_sync(x, a + k, 2 * @K@);
    wmma::load_matrix_sync(y, b + k * @S@, @LD@);
    wmma::mma_sync(sum, x, y, sum);
  }
  for (int e = 0; e < sum.num_elements; e++) sum.x[e] = sum.x[e] + @C@(1);
  wmma::store_matrix_sync(c, sum, @N@, wmma::mem_row_major);
}
"""


def product(m: int, n: int, k: int, type_: str, sum_: str, layout: str) -> str:
    by_row = layout == "row_major"
    slots = {
        "M": m,
        "N": n,
        "K": k,
        "T": type_,
        "C": sum_,
        "L": layout,
        "S": n if by_row else 1,
        "LD": n if by_row else 2 * k,
    }
    text = PRODUCT
    for name, value in slots.items():
        text = text.replace(f"@{name}@", str(value))
    return text


@pytest.mark.parametrize(
    ("shape", "type_", "dtype", "sum_", "layout"),
    [
        ((16, 16, 16), "__half", "f16", "float", "row_major"),
        ((16, 16, 16), "__half", "f16", "float", "col_major"),
        ((32, 8, 16), "__half", "f16", "float", "row_major"),
        ((8, 32, 16), "signed char", "i8", "int", "col_major"),
        ((8, 8, 4), "double", "f64", "double", "row_major"),
    ],
)
def test_products(
    shape: tuple[int, int, int], type_: str, dtype: str, sum_: str, layout: str, make_case: Any, run_case: Any
) -> None:
    m, n, k = shape
    rng = np.random.default_rng(3)
    kind = {"f16": "<f2", "i8": "i1", "f64": "<f8"}[dtype]
    a, b = rng.integers(-4, 5, (m, 2 * k)), rng.integers(-4, 5, (2 * k, n))
    out = {"float": ("f32", "<f4"), "int": ("i32", "<i4"), "double": ("f64", "<f8")}[sum_]
    given = b if layout == "row_major" else b.T
    case = make_case(
        "", product(m, n, k, type_, sum_, layout),
        [f"a {dtype} {a.size}", f"b {dtype} {b.size}", f"c {out[0]} {m * n} empty"],
        inputs={"a": a.astype(kind).tobytes(), "b": np.ascontiguousarray(given).astype(kind).tobytes()},
    )  # fmt: skip
    result = run_case(case)
    assert result.complete and not result.findings, (result.unsupported, result.error, result.findings)
    assert (np.frombuffer(result.outputs["c"], out[1]).reshape(m, n) == a @ b + 1).all()


GOOD = product(16, 16, 16, "__half", "float", "row_major")
PARAMS = ["a f16 512", "b f16 512", "c f32 256 empty"]
HALF = GOOD.replace("  wmma::fill_fragment", "  if (threadIdx.x >= 16) return;\n  wmma::fill_fragment")
for call in ("a + k, 2 * 16);", "b + k * 16, 16);", "sum, x, y, sum);", "wmma::mem_row_major);"):
    HALF = HALF.replace(call, f"{call}  //! barrier-divergence")
CASES = {
    "the right one": (GOOD, PARAMS, 32),
    "half a warp": (HALF, PARAMS, 32),
    "rows too far apart": (GOOD.replace("a + k, 2 * 16);", "a + k, 64);  //! bounds-global"), PARAMS, 32),
    "two warps, one tile": (GOOD.replace("wmma::mem_row_major);", "wmma::mem_row_major);  //! race-global"), PARAMS, 64),
    "an index outside the fragment": (GOOD.replace("e < sum.num_elements; e++) sum.x[e] = sum.x[e] + float(1);", "e <= sum.num_elements; e++) sum.x[e] = 1.0f;  //! bounds-local"), PARAMS, 32),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_faults(name: str, make_case: Any, check: Callable[..., None]) -> None:
    source, params, threads = CASES[name]
    check(make_case(name, source, params, (1, 1, 1), (threads, 1, 1)))
