"""Which stream work is on: a copy or fill and a launch on two streams are ordered only by a wait between them.

Example: after ``cudaMemsetAsync(p, 0, bytes, a)`` a launch on ``b`` knows nothing of ``p``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from specs.location import Span
from verifier.contracts.objects import Null, Pointer, Text
from verifier.contracts.values import Int
from verifier.frontend.host import Node

if TYPE_CHECKING:
    from verifier.contracts.evaluate import Evaluator
    from verifier.contracts.run import Run

NOT_FOLLOWED = "?"
"""In the name of a stream that may be another one each time: it is ordered with nothing, not even with itself."""
POOL = "pool "
_STREAM_AT = {"cudaMemcpyAsync": 4, "cudaMemsetAsync": 3}


def name(host: Evaluator, node: Node) -> str:
    """Two streams with one name are the same; the default stream has none."""
    while node["k"] == "cast":
        node = node["a"]
    value = host.eval(node)
    if isinstance(value, Text):
        return value.value
    if isinstance(value, Null) or (isinstance(value, Int) and value.value == 0):
        return ""
    if node["k"] in ("index", "cond"):
        return f"{NOT_FOLLOWED} {host.span(node)}"
    return f"{node.get('name') or node['k']}"


def filled(host: Evaluator, call: str, nodes: list[Node], key: str) -> None:
    """A copy or fill of ``key`` that may still run when the call has returned."""
    if call not in _STREAM_AT:
        return
    given = nodes[_STREAM_AT[call] :]
    stream = name(host, given[0]) if given and given[0]["k"] != "default" else ""
    root = host.run.root(key)
    storage = host.run.storages[root]
    if storage.used_on is not None and _apart(storage.used_on, stream):
        _doubt(
            host.run,
            root,
            f"it is filled on another stream ({host.span(nodes[0])}), and nothing orders the two",
        )
    storage.filled_on = stream


def stored(run: Run, key: str) -> None:
    """The host itself stores to memory that it shares with the device: launches that may still run see it too."""
    root = run.root(key)
    if root in run.storages and run.storages[root].used_on is not None:
        _doubt(run, root, "the host stores to it while a launch may still run")


def _doubt(run: Run, root: str, gap: str) -> None:
    """What earlier launches took for the contents of some memory may have been others."""
    for seen in run.launches:
        for name_, held in seen.storages.items():
            if run.root(name_) == root:
                held.gap = gap


def launched(host: Evaluator, pointers: Iterable[Pointer], stream: str, span: Span) -> None:
    """A launch that is handed ``pointers`` is about to be recorded."""
    for pointer in pointers:
        given, storage = (host.run.storages.get(k) for k in (pointer.storage, host.run.root(pointer.storage)))
        if given is None or storage is None:
            continue
        if storage.filled_on is not None and _apart(storage.filled_on, stream):
            given.gap = f"it is filled on another stream, and nothing orders the two ({span})"
        elif stream.startswith(POOL):
            given.gap = f"nothing orders a stream of the pool after the current one ({span})"
        storage.used_on = stream


def synchronised(host: Evaluator, call: str, nodes: list[Node]) -> None:
    """The host waits for all work, or for that of one stream."""
    if call not in ("cudaDeviceSynchronize", "device_synchronize", "cudaStreamSynchronize"):
        return
    only = name(host, nodes[0]) if call == "cudaStreamSynchronize" and nodes else None
    for storage in host.run.storages.values():
        if only is None or not _apart(storage.filled_on or "", only):
            storage.filled_on = None
        if only is None or not _apart(storage.used_on or "", only):
            storage.used_on = None


def _apart(one: str, other: str) -> bool:
    return one != other or NOT_FOLLOWED in one
