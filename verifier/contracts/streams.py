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
    from verifier.contracts.run import Run, Storage

NOT_FOLLOWED = "?"
"""In the name of a stream that may be another one each time: it is ordered with nothing, not even with itself."""
POOL = "pool "
NONBLOCKING = "nonblocking "
"""In the name of a stream that does not wait for the default stream."""
_LEGACY = "(legacy)"
"""Work of a call without a stream: every stream but those waits for it, and it for them."""
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


def made(run: Run, label: str) -> str:
    """The name of a stream that a call makes: each call another one, and so in each round of a loop that is not told apart."""
    return f"{NOT_FOLLOWED + ' ' if run.loops else ''}{label} {run.unique('stream')}"


def filled(host: Evaluator, call: str, nodes: list[Node], key: str) -> None:
    """A copy or fill of ``key`` that may still run when the call has returned."""
    if call in _STREAM_AT:
        given = nodes[_STREAM_AT[call] :]
        stream = name(host, given[0]) if given and given[0]["k"] != "default" else ""
    else:
        stream = _LEGACY
    storage = _ends_use(host, nodes[0], key, stream, "filled")
    copied = call == "cudaMemcpy" and any(n.get("name") == "cudaMemcpyHostToDevice" for n in nodes)
    storage.filled_on = None if copied else stream


def allocated(host: Evaluator, call: str, nodes: list[Node], key: str) -> None:
    """``cudaMallocAsync``: the memory is there for its stream."""
    if call == "cudaMallocAsync" and len(nodes) > 2 and nodes[2]["k"] != "default":
        host.run.storages[key].filled_on = name(host, nodes[2])


def freed(host: Evaluator, call: str, nodes: list[Node], key: str) -> None:
    """``cudaFreeAsync`` on another stream than that of a launch does not wait for it."""
    if call == "cudaFreeAsync" and len(nodes) > 1 and nodes[1]["k"] != "default":
        _ends_use(host, nodes[0], key, name(host, nodes[1]), "freed")


def _ends_use(host: Evaluator, node: Node, key: str, stream: str, how: str) -> Storage:
    """Launches that may still use the memory are not ordered with what happens to it on ``stream``."""
    root = host.run.root(key)
    storage = host.run.storages[root]
    if storage.used_on is not None and _apart(storage.used_on, stream):
        why = f"it is {how} on another stream ({host.span(node)}), and nothing orders the two"
        _doubt(host.run, root, why)
    return storage


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
        legacy = storage.filled_on == _LEGACY and only != ""
        if only is None or not (legacy or _apart(storage.filled_on or "", only)):
            storage.filled_on = None
        if only is None or not _apart(storage.used_on or "", only):
            storage.used_on = None


def _apart(one: str, other: str) -> bool:
    if _LEGACY in (one, other):
        return any(s.startswith((POOL, NONBLOCKING)) or NOT_FOLLOWED in s for s in (one, other))
    return one != other or NOT_FOLLOWED in one
