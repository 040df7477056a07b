"""A launch is followed by a check of its error."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "unchecked-launch"
SEVERITY = Severity.NOTE
SUMMARY = "a launch is followed by a check of its error"
WHY = "A launch that fails is silent: the output keeps its old contents."
FIX = "add C10_CUDA_KERNEL_LAUNCH_CHECK(); or check cudaGetLastError()"
_CHECKS = frozenset(
    (
        *("cudaGetLastError", "cudaPeekAtLastError", "C10_CUDA_KERNEL_LAUNCH_CHECK", "cudaDeviceSynchronize"),
        *("cudaStreamSynchronize", "AT_CUDA_CHECK", "C10_CUDA_CHECK"),
    )
)


def check(reading: Reading) -> Iterator[Hit]:
    for function in reading.host_functions:
        if function.device:
            continue
        texts = [w.text for w in function.body]
        launches = [i for i in range(len(texts) - 2) if texts[i : i + 3] == ["<", "<", "<"]]
        if launches and not _CHECKS.intersection(texts[launches[-1] :]):
            word = function.body[launches[-1] - 1]
            yield Hit(word.span, f"the launch in {function.name} is not checked for errors")
