"""The block of a launch is one that the hardware runs."""

from __future__ import annotations

import math
from collections.abc import Iterator

from specs.architectures import BLOCK_DIMS, THREADS_PER_BLOCK
from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "arch-block-size"
SEVERITY = Severity.ERROR
SUMMARY = "the block of a launch is one that the hardware runs"
WHY = "The launch fails with an invalid configuration, and the output keeps its old contents."
FIX = "use at most 1024 threads, at most 64 in z, and no more than the kernel's __launch_bounds__"


def check(reading: Reading) -> Iterator[Hit]:
    bounds = {
        (k.name, k.instantiation): k.launch_bounds[0] for k in reading.module.kernels if k.launch_bounds
    }
    for contract in reading.contracts:
        launch = contract.launch
        if not all(d.isdigit() for d in launch.block):
            continue
        block = tuple(map(int, launch.block))
        threads = math.prod(block)
        most = bounds.get((launch.kernel, contract.instantiation), THREADS_PER_BLOCK)
        if any(d > limit for d, limit in zip(block, BLOCK_DIMS, strict=True)) or threads > THREADS_PER_BLOCK:
            yield Hit(launch.span, f"a block of {block} has too many threads", launch.kernel)
        elif threads > most:
            message = (
                f"{threads} threads a block, but {launch.kernel} promises at most {most} (__launch_bounds__)"
            )
            yield Hit(launch.span, message, launch.kernel)
