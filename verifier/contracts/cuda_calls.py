"""What the calls of the CUDA runtime mean. They are taken to succeed.

Example: ``cudaMalloc(&p, n * sizeof(float))`` makes ``p`` a pointer to fresh, uninitialised storage of that many bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verifier.contracts import launches, streams, tensors
from verifier.contracts.objects import (
    Address,
    Pointer,
    Record,
    Text,
    Unknown,
    Value,
)
from verifier.contracts.run import Refused, Run, Storage
from verifier.contracts.values import (
    PY,
    SIZES,
    Int,
    arith,
    const,
    element_of,
    known_int_range,
)
from verifier.frontend.host import Node

if TYPE_CHECKING:
    from verifier.contracts.evaluate import Evaluator

_HARMLESS = frozenset(
    "cudaGetLastError cudaPeekAtLastError cudaDeviceSynchronize cudaDeviceReset cudaStreamSynchronize cudaStreamDestroy "
    "cudaEventRecord cudaEventSynchronize cudaEventDestroy cudaFree cudaFreeHost cudaFreeAsync cudaSetDevice "
    "cudaFuncSetAttribute cudaFuncSetCacheConfig cudaStreamWaitEvent printf fprintf puts fflush free srand device_synchronize "
    "checkAllSameGPU fclose".split()
)

_HANDLES = frozenset(
    "cudaEventCreate cudaEventCreateWithFlags cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority".split()
)

_DEVICE = {
    "multiProcessorCount": (1, 1024), "maxThreadsPerBlock": (1024, 1024), "warpSize": (32, 32),
    "maxThreadsPerMultiProcessor": (1024, 2048), "sharedMemPerBlock": (49152, 49152),
    "sharedMemPerBlockOptin": (49152, 1 << 20), "sharedMemPerMultiprocessor": (49152, 1 << 20),
}  # fmt: skip

_ATTRIBUTES = {16: "multiProcessorCount", 1: "maxThreadsPerBlock", 8: "sharedMemPerBlock", 97: "sharedMemPerBlockOptin",
               39: "maxThreadsPerMultiProcessor", 10: "warpSize"}  # fmt: skip


def device_property(run: Run, type_: str, name: str) -> Value:
    """A device property: the same value wherever it is asked for, within what GPUs have."""
    if type_ != "cudaDeviceProp" or name not in _DEVICE:
        return Unknown(f"member {name}")
    low, high = _DEVICE[name]
    if low == high:
        return const(low, "i32")
    return known_int_range(run.symbols, name, low, high, "the device's " + name)


def cuda_call(host: Evaluator, name: str, nodes: list[Node], node: Node) -> Value:
    """Runtime calls return cudaSuccess: what happens after a failed call is outside every domain."""
    run, success = host.run, const(0, "i32")
    if name in ("cudaMalloc", "cudaMallocManaged", "cudaMallocAsync"):
        _malloc(host, nodes, node, name)
        return success
    if name in ("cudaMemcpy", "cudaMemcpyAsync", "cudaMemset", "cudaMemsetAsync"):
        target, amount = host.eval(nodes[0]), host.eval(nodes[2])
        if isinstance(target, Pointer):
            storage = run.storages.get(target.storage)
            if storage is not None:
                whole = (
                    isinstance(amount, Int)
                    and storage.bytes is not None
                    and amount.text == storage.bytes.text
                )
                value = host.eval(nodes[1])
                whole = whole and target.offset is not None and target.offset.value == 0
                storage.initialized = storage.initialized or whole
                run.write(target.storage)
                streams.filled(host, name, nodes, target.storage)
                storage.zero = whole and "Memset" in name and isinstance(value, Int) and value.value == 0
        elif target is not None:
            host.overwrite(target, f"{host.span(node)}: {name}()")
        host.eval(nodes[1])
        return success
    if name in ("cudaFree", "cudaFreeAsync"):
        freed = host.eval(nodes[0])
        if isinstance(freed, Pointer) and freed.storage in run.storages:
            run.write(freed.storage)
            streams.freed(host, name, nodes, freed.storage)
            run.storages[freed.storage].gap = f"{host.span(node)}: it was freed"
        return success
    if name in ("cudaMallocHost", "cudaHostAlloc"):
        place = host.eval(nodes[0])
        if isinstance(place, Address):
            host.store(place, Unknown("host memory"))
        return success
    if name == "cudaGetDevice" or name in _HANDLES:
        place = host.eval(nodes[0])
        if isinstance(place, Address):
            label = f"{place.cell}{list(place.path)} {host.span(node)}"
            flags = host.eval(nodes[1]) if name.startswith("cudaStreamCreateWith") else const(0, "i32")
            if name.startswith("cudaStream"):
                label = streams.made(run, label)
            if not isinstance(flags, Int) or flags.value != 0:
                label = streams.NONBLOCKING + label
            host.store(place, Unknown("the current device") if name == "cudaGetDevice" else Text(label))
        return success
    if name == "cudaGetDeviceProperties":
        place = host.eval(nodes[0])
        if isinstance(place, Address):
            host.store(place, Record("cudaDeviceProp", {}))
        return success
    if name == "cudaDeviceGetAttribute":
        place, which = host.eval(nodes[0]), host.eval(nodes[1])
        label_ = _ATTRIBUTES.get(which.value or -1) if isinstance(which, Int) else None
        if isinstance(place, Address):
            host.store(
                place,
                device_property(run, "cudaDeviceProp", label_) if label_ else Unknown("a device attribute"),
            )
        return success
    if name.startswith("cudaOccupancy"):
        for argument in nodes[:2] if name.endswith("BlockSize") else nodes[:1]:
            place = host.eval(argument)
            if isinstance(place, Address):
                host.store(
                    place,
                    known_int_range(run.symbols, run.unique("occupancy"), 1, 1 << 16, "an occupancy query"),
                )
        return success
    if (
        name == "cudaFuncSetAttribute"
    ):  # programs look whether the device has as much, and launch another kernel if not
        for argument in nodes:
            host.eval(argument)
        return Unknown(f"{host.span(node)}: {name}()")
    if launches.is_launch(node):
        launches.call(host, node)
        return success
    if name in ("cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cudaLaunchKernelExC"):
        raise Refused(f"{host.span(node)}: {name} is not followed")
    if name in ("cudaMemcpyToSymbol", "cudaMemcpyFromSymbol", "cudaEventElapsedTime"):
        host.overwrite(host.eval(nodes[0]), f"{host.span(node)}: {name}()")
        return success
    if name in ("cudaDeviceReset", "cudaSetDevice"):
        _other_device(host, name, nodes, node)
        return success
    streams.synchronised(host, name, nodes)
    for argument in nodes:
        if name in _HARMLESS or name.startswith(("cudaGetError", "cudaEvent")):
            host.eval(argument)
        else:
            host.havoc_node(argument)
    return success


def _other_device(host: Evaluator, name: str, nodes: list[Node], node: Node) -> None:
    """The memory that was allocated before is gone, or another device's."""
    run, which = host.run, host.eval(nodes[0]) if nodes else None
    device = which.text if isinstance(which, Int) else f"{host.span(node)}"
    if name == "cudaDeviceReset" or device != run.chosen_device:
        for storage in run.storages.values():
            if storage.how == "cuda" or (isinstance(which, Int) and which.value):
                storage.gap = storage.gap or f"{host.span(node)}: {name}() after it was allocated"
    if name == "cudaSetDevice":
        run.chosen_device = device


def _malloc(host: Evaluator, nodes: list[Node], node: Node, name: str) -> None:
    run = host.run
    place, amount = host.eval(nodes[0]), host.eval(nodes[1])
    if not isinstance(place, Address):
        return
    label = (
        str(place.path[-1]) if place.path and isinstance(place.path[-1], str) else place.cell.split("@")[0]
    )
    key = run.unique(label)
    pointee = (node.get("params") or [""])[0].removesuffix("*").strip()
    found = element_of(pointee) if pointee.endswith("*") else None
    dtype, lanes = found or (None, 1)
    storage = Storage(
        dtype, None, (), how="cuda", initialized=False, align=tensors.DEVICE_ALIGN, host_name=label
    )
    if isinstance(amount, Int):
        storage.bytes = amount
        if dtype is not None:
            storage.extent = arith("/", amount, const(SIZES[dtype], amount.type), PY)
    else:
        storage.gap = f"{host.span(node)}: the size of {label} is not followed"
    run.add_storage(key, storage)
    streams.allocated(host, name, nodes, key)
    size = SIZES[dtype] * lanes if dtype else (1 if "void" in pointee else 0)
    host.store(place, Pointer(key, const(0, PY), dtype, lanes, size))
