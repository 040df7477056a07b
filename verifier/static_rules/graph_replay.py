"""No recorded graph is replayed."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "graph-replay"
SEVERITY = Severity.ERROR
SUMMARY = "no recorded graph is replayed"
WHY = "A replayed graph reads the addresses of the recording, whatever the arguments of this call are."
FIX = "launch the kernel; the caller may record a graph"
SWITCHABLE = True
_CALLS = (
    "torch.cuda.CUDAGraph",
    "torch.cuda.graph",
    "torch.cuda.make_graphed_callables",
    "torch.cuda.graphs.",
)
_HOST = frozenset(("cudaGraphLaunch", "cudaStreamBeginCapture", "CUDAGraph", "cudaGraphInstantiate"))


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    for call in wrapper.calls(everywhere=True) if wrapper is not None else ():
        assert wrapper is not None
        if (name := wrapper.name(call.func)).startswith(_CALLS):
            yield Hit(wrapper.span(call), f"{name} records or replays launches")
    for word in reading.host:
        if word.text in _HOST:
            yield Hit(word.span, f"host code uses {word.text}")
