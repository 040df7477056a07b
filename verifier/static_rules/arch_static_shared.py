"""Static shared memory fits into a block of every target."""

from __future__ import annotations

from collections.abc import Iterator

from specs.architectures import STATIC_SHARED
from specs.results import Severity
from verifier.ir.nodes import size_of
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "arch-static-shared"
SEVERITY = Severity.ERROR
SUMMARY = "static shared memory fits into a block of every target"
WHY = "More than 48 KiB of static __shared__ does not compile or launch on any architecture."
FIX = "use extern __shared__ memory and cudaFuncSetAttribute"


def check(reading: Reading) -> Iterator[Hit]:
    for kernel in reading.module.kernels:
        objects = [o for o in kernel.objects if o.space == "shared" and not o.dynamic]
        used = sum(size_of(o.type) for o in objects)
        if used > STATIC_SHARED:
            largest = max(objects, key=lambda o: size_of(o.type))
            message = (
                f"{kernel.label} declares {used} bytes of static shared memory; {STATIC_SHARED} is the limit"
            )
            yield Hit(largest.span, message, kernel.name)
