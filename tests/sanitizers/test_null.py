"""A pointer that the host passes as null is null in the simulator, and a kernel that follows it is caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sanitizers.simulator import simulate
from specs.contract import NULL_STORAGE

KERNEL = """__global__ void f(const float* bias, float* y) {
  y[threadIdx.x] = bias != nullptr ? bias[threadIdx.x] : 1.0f;
}
"""


def test_a_null_pointer_is_null(make_case: Any, sandbox: Any, simulator_cache: Any) -> None:
    case = make_case("null", KERNEL, ["bias f32 0", "y f32 32 empty"])
    absent = replace(case.launch, buffers=tuple(
        replace(b, storage=NULL_STORAGE) if b.param == "bias" else b for b in case.launch.buffers))  # fmt: skip
    run: Callable[..., Any] = simulate
    with_null = run(case.device, case.kernel, absent, sandbox=sandbox, cache=simulator_cache)
    assert with_null.error is None and not with_null.findings
    empty = run(case.device, case.kernel, case.launch, sandbox=sandbox, cache=simulator_cache)
    assert {f.property for f in empty.findings} == {"bounds-global"}
