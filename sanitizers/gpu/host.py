"""The child that launches a kernel on the GPU: FOLDER with job.json -> FOLDER/events.jsonl. The driver API through ctypes.

Run as a script (``python -I -S -B host.py FOLDER``), alone or under compute-sanitizer; it knows nothing of this project, so
that it starts at once and anywhere. Every event is written before the next step, so a killed run still tells how far it
came. Every allocation is its own and exactly as large as the buffer; with ``guard`` it has that many known bytes before and
behind it instead, which are compared afterwards. Invariant: it says what happened, never whether that is good.

Example of the events::

    {"device": "NVIDIA H200", "arch": "sm_90", "driver": 13000}
    {"started": 0}
    {"launch": 0, "status": 719, "error": "CUDA_ERROR_LAUNCH_FAILED", "guards": []}
    {"control": 719}
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any

_GUARD_BYTE = 0xA5
_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_LARGEST_ARGUMENT = 4096


class CudaError(Exception):
    def __init__(self, call: str, status: int, name: str) -> None:
        super().__init__(f"{call}: {name}")
        self.status, self.name = status, name


class Refused(Exception):
    """A launch that would not be the one that was asked for."""


class Driver:
    """``call`` raises CudaError."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)
        self.call("cuInit", 0)
        device, context = c_int(), c_void_p()
        self.call("cuDeviceGet", byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.device = device

    def call(self, name: str, *arguments: Any) -> None:
        status = int(getattr(self._library, name)(*arguments))
        if status:
            text = c_char_p()
            self._library.cuGetErrorName(status, byref(text))
            raise CudaError(name, status, (text.value or b"unknown error").decode())

    def facts(self) -> dict[str, Any]:
        name, version = ctypes.create_string_buffer(200), c_int()
        self.call("cuDeviceGetName", name, 200, self.device)
        self.call("cuDriverGetVersion", byref(version))
        major, minor = self._attribute(75), self._attribute(76)
        return {
            "device": name.value.decode(errors="replace"),
            "arch": f"sm_{major}{minor}",
            "driver": version.value,
        }

    def _attribute(self, number: int) -> int:
        value = c_int()
        self.call("cuDeviceGetAttribute", byref(value), number, self.device)
        return value.value

    def size(self, function: c_void_p, parameter: int) -> int | None:
        """The bytes of a parameter as it was compiled; None where the driver is too old to tell."""
        if not hasattr(self._library, "cuFuncGetParamInfo"):
            return None
        offset, size = c_size_t(), c_size_t()
        self.call("cuFuncGetParamInfo", function, c_size_t(parameter), byref(offset), byref(size))
        return size.value


class Memory:
    """One buffer on the device. ``base`` of an empty one is null, as PyTorch's is."""

    def __init__(self, driver: Driver, size: int, data: bytes | None, zero: bool, guard: int) -> None:
        self.driver, self.size, self.guard = driver, size, guard
        self.start = c_uint64()
        if size == 0:
            self.base = 0
            return
        driver.call("cuMemAlloc_v2", byref(self.start), c_size_t(size + 2 * guard))
        self.base = self.start.value + guard
        for place in (self.start.value, self.base + size) if guard else ():
            driver.call("cuMemsetD8_v2", c_uint64(place), _GUARD_BYTE, c_size_t(guard))
        if data is not None:
            driver.call("cuMemcpyHtoD_v2", c_uint64(self.base), data, c_size_t(len(data)))
        elif zero:
            driver.call("cuMemsetD8_v2", c_uint64(self.base), 0, c_size_t(size))

    def damage(self) -> int | None:
        """Offset from the buffer's start of the first guard byte that is not what it was."""
        if not self.guard or self.size == 0:
            return None
        seen = ctypes.create_string_buffer(self.guard)
        for offset in (-self.guard, self.size):
            self.driver.call("cuMemcpyDtoH_v2", seen, c_uint64(self.base + offset), c_size_t(self.guard))
            for i, byte in enumerate(seen.raw):
                if byte != _GUARD_BYTE:
                    return offset + i
        return None

    def free(self) -> None:
        if self.start.value:
            self.driver.call("cuMemFree_v2", self.start)


def launch(driver: Driver, program: bytes, work: dict[str, Any], data: bytes, guard: int) -> list[list[int]]:
    """One launch with a module, buffers and arguments of its own; the damaged guards."""
    module, function = c_void_p(), c_void_p()
    driver.call("cuModuleLoadData", byref(module), program)
    driver.call("cuModuleGetFunction", byref(function), module, work["kernel"].encode())
    memories = []
    for buffer in work["buffers"]:
        begin, length = buffer["data"] or (0, 0)
        content = data[begin : begin + length] if buffer["data"] else None
        memories.append(Memory(driver, buffer["size"], content, buffer["zero"], guard))
    sizes = [driver.size(function, i) for i in range(len(work["params"]))]
    arguments = _arguments(work["params"], memories, sizes)
    pointers = (c_void_p * len(arguments))(*(ctypes.addressof(a) for a in arguments))
    if work["shared"] > 48 << 10:
        driver.call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, work["shared"])
    shape = (*work["grid"], *work["block"], work["shared"])
    if work["cooperative"]:
        driver.call("cuLaunchCooperativeKernel", function, *shape, None, pointers)
    else:
        driver.call("cuLaunchKernel", function, *shape, None, pointers, None)
    driver.call("cuCtxSynchronize")
    damaged = [[i, at] for i, m in enumerate(memories) if (at := m.damage()) is not None]
    for memory in memories:
        memory.free()
    driver.call("cuModuleUnload", module)
    return damaged


def _arguments(params: list[dict[str, Any]], memories: list[Memory], sizes: list[int | None]) -> list[Any]:
    found = []
    for i, (param, size) in enumerate(zip(params, sizes, strict=True)):
        raw = bytearray.fromhex(param["data"])
        if size is not None and not len(raw) <= size < len(raw) + 16:
            raise Refused(f"parameter {i} has {size} bytes as compiled, {len(raw)} by the contract")
        for offset, buffer in param["pointers"]:
            raw[offset : offset + 8] = memories[buffer].base.to_bytes(8, "little")
        found.append(ctypes.create_string_buffer(bytes(raw), _LARGEST_ARGUMENT))
    return found


def run(folder: Path, say: Callable[..., None]) -> None:
    """All launches in order; after them the control, whose fault the tool must report."""
    job = json.loads((folder / "job.json").read_text())
    driver = Driver(job["library"])
    say(**driver.facts())
    for number, work in enumerate(job["launches"]):
        say(started=number)
        program = (folder / work["program"]).read_bytes()
        data = (folder / "data.bin").read_bytes()
        try:
            damaged = launch(driver, program, work, data, job["guard"])
            say(launch=number, status=0, error="", guards=damaged)
        except CudaError as error:
            say(launch=number, status=error.status, error=str(error), guards=[])
            return
        except Refused as error:
            say(refused=str(error))
            return
    if job["control"] is not None:
        work = job["control"]
        try:
            launch(driver, (folder / work["program"]).read_bytes(), work, b"", 0)
            say(control=0)
        except CudaError as error:
            say(control=error.status)


def main(folder: Path) -> None:
    with (folder / "events.jsonl").open("w") as events:

        def say(**fact: Any) -> None:
            events.write(json.dumps(fact) + "\n")
            events.flush()

        try:
            run(folder, say)
        except (CudaError, OSError) as error:
            say(failed=str(error))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
