"""A ``<<<…>>>`` as it is reached on a path.

Example: ``k<<<grid, 256>>>(x.data_ptr<float>(), n)`` is recorded with everything the path knows at that point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verifier.contracts import streams, tensors
from verifier.contracts.effects import order_matters
from verifier.contracts.lvalues import plain
from verifier.contracts.objects import (
    Address,
    Dim3,
    Function,
    Items,
    Optional,
    Pointer,
    Record,
    Tensor,
    Unknown,
    Value,
    pointers_in,
)
from verifier.contracts.run import Refused
from verifier.contracts.values import (
    Int,
    const,
    dtype_of,
)
from verifier.frontend.host import Node

if TYPE_CHECKING:
    from verifier.contracts.evaluate import Evaluator


def is_launch(node: Node) -> bool:
    """``cudaLaunchKernel(f, grid, block, args, …)`` and the cooperative one."""
    return node["name"] in ("cudaLaunchKernel", "cudaLaunchCooperativeKernel") and len(node["args"]) >= 4


def called_kernel(node: Node) -> str:
    """The kernel's name in such a call, or the text that stands for it."""
    target = plain(node["args"][0])
    while target["k"] == "un" and target["op"] == "&":
        target = plain(target["a"])
    return str(target.get("name", target["k"])).split("::")[-1]


def call(host: Evaluator, node: Node) -> None:
    """Such a call as a launch: the arguments are read through the addresses in the array."""
    span, nodes = host.span(node), node["args"]
    target, array = host.eval(nodes[0]), host.eval(nodes[3])
    found = [k for k in host.code.kernels if isinstance(target, Function) and k["name"] == target.kernel]
    if isinstance(array, Address) and array.path and array.path[-1] == 0:
        array = host.load(Address(array.cell, array.path[:-1]))
    if not isinstance(target, Function) or len(found) != 1 or not isinstance(array, Items):
        raise Refused(f"{span}: {node['name']} of something that is not followed")
    types = target.params or tuple(p["type"] for p in found[0]["params"])
    if len(array.items) != len(types) or len(types) != len(found[0]["params"]):
        raise Refused(f"{span}: {node['name']} with another number of arguments than parameters")
    args = tuple(host.load(a) if isinstance(a, Address) else Unknown("an argument") for a in array.items)
    params = tuple((p["name"], t) for p, t in zip(found[0]["params"], types, strict=True))
    which = (target.kernel, target.targs, params)
    together = node["name"] == "cudaLaunchCooperativeKernel"
    _record(host, node, [nodes[1], nodes[2], *nodes[4:]], args, which, together)


def launch(host: Evaluator, node: Node) -> None:
    """Record a ``<<<>>>``."""
    if order_matters(host, [*node["config"], *node["args"]]):
        raise Refused(
            f"{host.span(node)}: what is launched depends on the order in which the arguments are evaluated"
        )
    args = [host.eval(a) for a in node["args"]]
    for argument, value in zip(node["args"], args, strict=True):
        while argument["k"] == "cast":
            argument = argument["a"]
        if argument["k"] == "var" and isinstance(value, Pointer) and _outlives(host, value):
            storage = host.run.storages[value.storage]
            storage.gap = storage.gap or f"{argument['name']} may point into a tensor that is gone"
    _record(host, node, node["config"], tuple(args), _kernel(host, node))


def _outlives(host: Evaluator, pointer: Pointer) -> bool:
    """Whether nothing holds the tensor of the memory any more: the allocator may have given it to another one."""
    run = host.run
    root = run.root(pointer.storage)
    if root not in run.storages or run.storages[root].how != "fresh":
        return False

    def holds(value: Value) -> bool:
        match value:
            case Tensor(storage=storage):
                return run.root(storage) == root
            case Items(items=items):
                return any(map(holds, items))
            case Record(fields=fields):
                return any(map(holds, fields.values()))
            case Optional(value=inner):
                return holds(inner)
            case Function(captured=dict(captured)):
                return any(map(holds, captured.values()))
        return False

    return not any(map(holds, host.cells.values()))


def _record(
    host: Evaluator,
    node: Node,
    config: list[Node],
    args: tuple[Value, ...],
    which: tuple[str, tuple[str, ...] | None, tuple[tuple[str, str], ...]],
    cooperative: bool = False,
) -> None:
    """The kernel may write through each pointer to non-const from here on."""
    run, span = host.run, host.span(node)
    grid = host.eval(config[0]) if config else Unknown("")
    block = host.eval(config[1]) if len(config) > 1 else Unknown("")
    shared: Value = const(0, "u64")
    if len(config) > 2 and config[2]["k"] != "default":
        shared = host.coerce(host.eval(config[2]), "unsigned long")
    stream = ""
    if len(config) > 3 and config[3]["k"] != "default":
        stream = streams.name(host, config[3])
    gaps: list[str] = []
    sizes = [_as_dim3(host, v, f"{span}: the {w} size", gaps) for v, w in ((grid, "grid"), (block, "block"))]
    if not isinstance(shared, Int):
        gaps.append(f"{span}: the dynamic shared memory size is not followed")
        shared = const(0, "u64")
    kernel, targs, params = which
    if targs is None:
        gaps.append(f"{span}: the template arguments of {kernel} are not followed")
    streams.launched(host, [p for value in args for p in pointers_in(value)], stream, span)
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
        cooperative=cooperative,
    )
    run.gaps = saved
    for value, (_, type_) in zip(args, params, strict=False):
        if isinstance(value, Pointer) and not type_.startswith("const "):
            storage = run.storages.get(value.storage)
            if storage is not None:
                run.write(value.storage, by_launch=True)
                tensors.written(run, value.storage)
        elif isinstance(value, Record | Items):  # which of them it only reads is not told by the type
            for pointer in pointers_in(value):
                run.write(pointer.storage, by_launch=True)
        elif isinstance(value, Unknown) and dtype_of(type_) is None:  # perhaps a pointer
            run.write_anywhere()


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
