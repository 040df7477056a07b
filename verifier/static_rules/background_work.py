"""Forward is over when it returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Reading
from verifier.static_rules.hit import Hit

ID = "background-work"
SEVERITY = Severity.ERROR
SUMMARY = "forward is over when it returns"
WHY = "Work on another thread, process or stream goes on after the clock was stopped, and may change what was compared."
FIX = "do it on the caller's thread and the current stream"
SWITCHABLE = True
_MODULES = (
    "threading.",
    "_thread.",
    "multiprocessing.",
    "concurrent.",
    "asyncio.",
    "subprocess.",
    "torch.multiprocessing.",
)
_CALLS = frozenset(
    (
        *("torch.cuda.Stream", "torch.cuda.ExternalStream", "torch.cuda.stream", "torch.cuda.set_stream"),
        *(
            "torch.jit.fork",
            "torch.futures.Future",
            "os.fork",
            "os.system",
            "os.popen",
            "os.spawnl",
            "os.posix_spawn",
        ),
        *("atexit.register", "signal.signal", "weakref.finalize"),
    )
)
_HOST = frozenset(
    (
        *("pthread_create", "cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority"),
        *(
            "getStreamFromPool",
            "cudaLaunchHostFunc",
            "cudaStreamAddCallback",
            "jthread",
            "setCurrentCUDAStream",
        ),
    )
)


def check(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    for node in ast.walk(wrapper.tree) if wrapper is not None else ():
        assert wrapper is not None
        if isinstance(node, ast.Call):
            name = wrapper.name(node.func)
            if name in _CALLS or name.startswith(_MODULES):
                yield Hit(wrapper.span(node), f"{name} starts work beside the caller's")
    words = reading.host
    for index, word in enumerate(words):
        qualified = [w.text for w in words[max(0, index - 2) : index]] == ["std", "::"]
        if word.text in _HOST or (qualified and word.text in ("thread", "async")):
            yield Hit(word.span, f"host code uses {word.text}")
