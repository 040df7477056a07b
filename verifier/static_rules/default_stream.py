"""A PyTorch extension launches on the current stream."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "default-stream"
SEVERITY = Severity.NOTE
SUMMARY = "a PyTorch extension launches on the current stream"
WHY = "On the default stream the kernel is not ordered with the work of a caller that uses another stream."
FIX = "pass at::cuda::getCurrentCUDAStream() as the fourth launch argument"


def check(reading: Reading) -> Iterator[Hit]:
    texts = {w.text for w in reading.host}
    if reading.submission.kind == "cu" or texts & {
        "getCurrentCUDAStream",
        "getDefaultCUDAStream",
        "CUDAStreamGuard",
    }:
        return
    for function in reading.host_functions:
        if function.device or any(w.text == "cudaStream_t" for w in (*function.head, *function.body)):
            continue
        words = function.body
        for index in range(1, len(words) - 2):
            if [w.text for w in words[index : index + 3]] == ["<", "<", "<"]:
                yield Hit(words[index - 1].span, f"{function.name} launches on the default stream")
                break
