"""A ``<<<…>>>`` as it is reached on a path.

Example: ``k<<<grid, 256>>>(x.data_ptr<float>(), n)`` is recorded with everything the path knows at that point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verifier.contracts.objects import (
    Dim3,
    Function,
    Null,
    Pointer,
    Text,
    Unknown,
    Value,
)
from verifier.contracts.run import Refused
from verifier.contracts.values import (
    Int,
    const,
)
from verifier.frontend.host import Node

if TYPE_CHECKING:
    from verifier.contracts.evaluate import Evaluator


def launch(host: Evaluator, node: Node) -> None:
    """Record a ``<<<>>>``; the kernel may write through each pointer to non-const from here on."""
    run, span = host.run, host.span(node)
    config = node["config"]
    grid = host.eval(config[0]) if config else Unknown("")
    block = host.eval(config[1]) if len(config) > 1 else Unknown("")
    shared: Value = const(0, "u64")
    if len(config) > 2 and config[2]["k"] != "default":
        shared = host.coerce(host.eval(config[2]), "unsigned long")
    stream = ""
    if len(config) > 3 and config[3]["k"] != "default":
        stream = _stream(host, config[3])
    gaps: list[str] = []
    sizes = [_as_dim3(host, v, f"{span}: the {w} size", gaps) for v, w in ((grid, "grid"), (block, "block"))]
    if not isinstance(shared, Int):
        gaps.append(f"{span}: the dynamic shared memory size is not followed")
        shared = const(0, "u64")
    args = tuple(host.eval(a) for a in node["args"])
    kernel, targs, params = _kernel(host, node)
    if targs is None:
        gaps.append(f"{span}: the template arguments of {kernel} are not followed")
    saved = list(run.gaps)
    run.gaps += gaps
    run.launch(
        kernel=kernel,
        targs=targs,
        grid=sizes[0],
        block=sizes[1],
        shared=shared,
        stream=stream,
        args=args,
        params=params,
        span=span,
        launcher=host.launcher,
    )
    run.gaps = saved
    for value, (_, type_) in zip(args, params, strict=False):
        if isinstance(value, Pointer) and not type_.startswith("const "):
            storage = run.storages.get(value.storage)
            if storage is not None:
                run.write(value.storage)
                storage.initialized = True


def _kernel(host: Evaluator, node: Node) -> tuple[str, tuple[str, ...] | None, tuple[tuple[str, str], ...]]:
    """Name, template arguments and parameters; also through a variable that holds a kernel."""
    params = tuple((p["name"], p["type"]) for p in node["params"])
    if node["known"]:
        return node["kernel"], None if node["targs"] is None else tuple(node["targs"]), params
    value = host.eval(node["callee"])
    found = [k for k in host.code.kernels if isinstance(value, Function) and k["name"] == value.kernel]
    if not isinstance(value, Function) or len(found) != 1 or len(found[0]["params"]) != len(params):
        raise Refused(f"{host.span(node)}: which kernel is launched is not followed")
    names = (p["name"] for p in found[0]["params"])
    return value.kernel, value.targs, tuple((n, t) for n, (_, t) in zip(names, params, strict=True))


def _as_dim3(host: Evaluator, value: Value, what: str, gaps: list[str]) -> Dim3:
    if isinstance(value, Int):
        value = host.coerce(value, "dim3")
    if isinstance(value, Dim3):
        return value
    gaps.append(f"{what} is not followed")
    one = const(1, "u32")
    return Dim3(one, one, one)


def _stream(host: Evaluator, node: Node) -> str:
    while node["k"] == "cast":
        node = node["a"]
    value = host.eval(node)
    if isinstance(value, Text):
        return value.value
    if isinstance(value, Null) or (isinstance(value, Int) and value.value == 0):
        return ""
    return f"{node.get('name') or node['k']}"
