"""Dynamic shared memory fits into a block of every target."""

from __future__ import annotations

from collections.abc import Iterator

from specs.architectures import STATIC_SHARED, architecture
from specs.results import Severity
from verifier.ir.nodes import size_of
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "arch-dynamic-shared"
SEVERITY = Severity.ERROR
SUMMARY = "dynamic shared memory fits into a block of every target"
WHY = "The launch fails with an invalid argument, and the output keeps its old contents."
FIX = "use smaller tiles, or opt in: cudaFuncAttributeMaxDynamicSharedMemorySize with cudaFuncSetAttribute"


def check(reading: Reading) -> Iterator[Hit]:
    opted = any(w.text == "cudaFuncAttributeMaxDynamicSharedMemorySize" for w in reading.host)
    static = {
        k.label: sum(size_of(o.type) for o in k.objects if o.space == "shared" and not o.dynamic)
        for k in reading.module.kernels
    }
    for contract in reading.contracts:
        launch = contract.launch
        if not launch.shared_bytes.isdigit():
            continue
        label = (
            f"{launch.kernel}<{', '.join(launch.instantiation)}>" if launch.instantiation else launch.kernel
        )
        used = int(launch.shared_bytes) + static.get(label, 0)
        for arch in filter(None, map(architecture, reading.archs)):
            if used > arch.shared_optin:
                message = f"{used} bytes of shared memory; a block of {arch.name} has {arch.shared_optin}"
                yield Hit(launch.span, message, launch.kernel, "use smaller tiles")
                break
        else:
            if used > STATIC_SHARED and not opted:
                yield Hit(launch.span, f"{used} bytes of shared memory without opting in", launch.kernel)
