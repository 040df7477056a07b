"""A kernel for large blocks says so with __launch_bounds__."""

from __future__ import annotations

import math
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "missing-launch-bounds"
SEVERITY = Severity.NOTE
SUMMARY = "a kernel for large blocks says so with __launch_bounds__"
WHY = "The compiler may use so many registers that a launch with this block fails."
FIX = "add __launch_bounds__ with the block size"
_LARGE = 512


def check(reading: Reading) -> Iterator[Hit]:
    kernels = {k.name: k for k in reading.module.kernels}
    seen: set[str] = set()
    for contract in reading.contracts:
        launch, kernel = contract.launch, kernels.get(contract.kernel)
        if (
            kernel is None
            or kernel.launch_bounds
            or kernel.name in seen
            or not all(d.isdigit() for d in launch.block)
        ):
            continue
        threads = math.prod(map(int, launch.block))
        if threads >= _LARGE:
            seen.add(kernel.name)
            fix = f"add __launch_bounds__({threads}) to {kernel.name}"
            yield Hit(launch.span, f"{kernel.name} runs with {threads} threads a block", kernel.name, fix)
