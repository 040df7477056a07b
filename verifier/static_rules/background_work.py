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
FIX = "do it on the caller's thread and the current stream, or wait for it"
SWITCHABLE = True
_MODULES = (
    *("threading.", "_thread.", "multiprocessing.", "concurrent.", "asyncio.", "subprocess."),
    "torch.multiprocessing.",
)
_CALLS = frozenset(
    (
        *("torch.jit.fork", "torch.futures.Future", "os.fork", "os.system", "os.popen", "os.posix_spawn"),
        *("atexit.register", "signal.signal", "weakref.finalize"),
    )
)
_STREAMS = frozenset(
    ("torch.cuda.Stream", "torch.cuda.ExternalStream", "torch.cuda.stream", "torch.cuda.set_stream")
)
_WAITS = frozenset((".wait_stream", ".synchronize", ".wait_event", "torch.cuda.synchronize"))
_HOST = frozenset(("pthread_create", "cudaLaunchHostFunc", "cudaStreamAddCallback", "jthread"))
_HOST_STREAMS = frozenset(
    (
        *("cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority"),
        *("getStreamFromPool", "setCurrentCUDAStream"),
    )
)
_HOST_WAITS = frozenset(
    (
        *("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaStreamWaitEvent", "cudaEventSynchronize"),
        *("synchronize", "block", "cudaStreamQuery"),
    )
)


def check(reading: Reading) -> Iterator[Hit]:
    yield from _python(reading)
    words = reading.host
    waits = any(w.text in _HOST_WAITS for w in words)
    for index, word in enumerate(words):
        qualified = [w.text for w in words[max(0, index - 2) : index]] == ["std", "::"]
        if word.text in _HOST or (qualified and word.text in ("thread", "async")):
            yield Hit(word.span, f"host code uses {word.text}")
        elif word.text in _HOST_STREAMS and not waits:
            yield Hit(word.span, f"host code uses {word.text}, and nothing waits for it")


def _python(reading: Reading) -> Iterator[Hit]:
    wrapper = reading.wrapper
    if wrapper is None:
        return
    calls = [(n, wrapper.name(n.func)) for n in ast.walk(wrapper.tree) if isinstance(n, ast.Call)]
    waits = any(name in _WAITS for _, name in calls)
    for call, name in calls:
        if name in _CALLS or name.startswith(_MODULES):
            yield Hit(wrapper.span(call), f"{name} starts work beside the caller's")
        elif name in _STREAMS and not waits:
            yield Hit(wrapper.span(call), f"{name} is used, and nothing waits for it")
