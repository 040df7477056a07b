"""The child that launches a kernel on the GPU: FOLDER with job.json -> FOLDER/events.jsonl. The driver API through ctypes.

Run as a script (``python -I -S -B host.py FOLDER``), alone or under compute-sanitizer; it knows nothing of this project, so
that it starts at once and anywhere. Every event is written before the next step, so a killed run still tells how far it
came. Every allocation is its own and exactly as large as the buffer; with ``guard`` it has that many known bytes before and
behind it instead, which are compared afterwards. With ``serve`` behind FOLDER it takes launches from FOLDER/requests until
that ends, one frame each (verifier/isolation/pipes.py), and gives the contents of every buffer back through FOLDER/answers.
Invariant: it says what happened, never whether that is good.

Example of the events::

    {"device": "NVIDIA H200", "arch": "sm_90", "driver": 13000}
    {"started": 0}
    {"launch": 0, "status": 719, "error": "CUDA_ERROR_LAUNCH_FAILED", "guards": []}
    {"control": 719}
"""

from __future__ import annotations

import ctypes
import json
import struct
import sys
from collections.abc import Callable
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import IO, Any

_GUARD_BYTE = 0xA5
_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_PROCESSORS, _MAJOR, _MINOR, _LARGEST_SHARED = 16, 75, 76, 97  # CU_DEVICE_ATTRIBUTE_…
_SPOILT = 0xFFFFFFFF  # a NaN in every format, -1 as an integer
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
        major, minor = self.attribute(_MAJOR), self.attribute(_MINOR)
        return {
            "device": name.value.decode(errors="replace"),
            "arch": f"sm_{major}{minor}",
            "driver": version.value,
        }

    def attribute(self, number: int) -> int:
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

    def __init__(self, driver: Driver, size: int, guard: int) -> None:
        self.driver, self.size, self.guard = driver, size, guard
        self.start = c_uint64()
        self.base = 0
        if size:
            driver.call("cuMemAlloc_v2", byref(self.start), c_size_t(size + 2 * guard))
            self.base = self.start.value + guard

    def fill(self, data: bytes | None, zero: bool) -> None:
        if self.size == 0:
            return
        for place in (self.start.value, self.base + self.size) if self.guard else ():
            self.driver.call("cuMemsetD8_v2", c_uint64(place), _GUARD_BYTE, c_size_t(self.guard))
        if data is not None:
            self.driver.call("cuMemcpyHtoD_v2", c_uint64(self.base), data, c_size_t(len(data)))
        elif zero:
            self.driver.call("cuMemsetD8_v2", c_uint64(self.base), 0, c_size_t(self.size))

    def content(self, offset: int, size: int) -> bytes:
        seen = ctypes.create_string_buffer(size)
        if size:
            self.driver.call("cuMemcpyDtoH_v2", seen, c_uint64(self.base + offset), c_size_t(size))
        return seen.raw

    def damage(self) -> int | None:
        """Offset from the buffer's start of the first guard byte that is not what it was."""
        if not self.guard or self.size == 0:
            return None
        for offset in (-self.guard, self.size):
            seen = self.content(offset, self.guard)
            if seen != bytes([_GUARD_BYTE]) * self.guard:
                return offset + next(i for i, byte in enumerate(seen) if byte != _GUARD_BYTE)
        return None

    def free(self) -> None:
        if self.start.value:
            self.driver.call("cuMemFree_v2", self.start)


class Loaded:
    """A module of its own (so its device variables are new) with the buffers of its last launch."""

    def __init__(self, driver: Driver, program: bytes, kernel: str) -> None:
        self.driver = driver
        self.module, self.function = c_void_p(), c_void_p()
        self.memories: list[Memory] = []
        driver.call("cuModuleLoadData", byref(self.module), program)
        driver.call("cuModuleGetFunction", byref(self.function), self.module, kernel.encode())

    def prepare(self, work: dict[str, Any], data: bytes, guard: int) -> None:
        """Buffers with their contents, where they were if they have the sizes that they had."""
        wanted = [(buffer["size"], guard) for buffer in work["buffers"]]
        if wanted != [(m.size, m.guard) for m in self.memories]:
            self._free()
            self.memories = [Memory(self.driver, size, guard) for size, _ in wanted]
        for memory, buffer in zip(self.memories, work["buffers"], strict=True):
            begin, length = buffer["data"] or (0, 0)
            memory.fill(data[begin : begin + length] if buffer["data"] else None, buffer["zero"])

    def launch(self, work: dict[str, Any]) -> list[list[int]]:
        """The damaged guards."""
        driver, function = self.driver, self.function
        sizes = [driver.size(function, i) for i in range(len(work["params"]))]
        arguments = _arguments(work["params"], self.memories, sizes)
        pointers = (c_void_p * len(arguments))(*(ctypes.addressof(a) for a in arguments))
        if work["shared"] > 48 << 10:
            driver.call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, work["shared"])
        shape = (*work["grid"], *work["block"], work["shared"])
        if work["cooperative"]:
            driver.call("cuLaunchCooperativeKernel", function, *shape, None, pointers)
        else:
            driver.call("cuLaunchKernel", function, *shape, None, pointers, None)
        driver.call("cuCtxSynchronize")
        return [[i, at] for i, m in enumerate(self.memories) if (at := m.damage()) is not None]

    def close(self) -> None:
        self._free()
        self.driver.call("cuModuleUnload", self.module)

    def _free(self) -> None:
        for memory in self.memories:
            memory.free()
        self.memories = []


def launch(driver: Driver, program: bytes, work: dict[str, Any], data: bytes, guard: int) -> list[list[int]]:
    """One launch with a module, buffers and arguments of its own; the damaged guards."""
    loaded = Loaded(driver, program, work["kernel"])
    loaded.prepare(work, data, guard)
    damaged = loaded.launch(work)
    loaded.close()
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


class Server:
    """Answers requests. ``load``: a program by number; ``run``: a launch of one; ``control``: the seeded fault, then the end."""

    def __init__(self, folder: Path, job: dict[str, Any]) -> None:
        self.folder, self.job = folder, job
        self.driver = Driver(job["library"])
        self.programs: dict[int, bytes] = {}
        self.kept: dict[int, Loaded] = {}
        self.over = False
        cubin = (folder / job["control"]["program"]).read_bytes()
        self.spoiler = Loaded(self.driver, cubin, "vk_control_spoil")
        self.shared = self.driver.attribute(_LARGEST_SHARED)
        self.blocks = self.driver.attribute(_PROCESSORS)
        self.driver.call("cuFuncSetAttribute", self.spoiler.function, _MAX_DYNAMIC_SHARED, self.shared)

    def answer(self, asked: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        if asked["do"] == "load":
            self.programs[asked["program"]] = blobs[0]
            return {}, []
        try:
            if asked["do"] == "run":
                return self._run(asked["work"], blobs[0], asked["keep"])
            self.over = True
            work = self.job["control"]
            launch(self.driver, (self.folder / work["program"]).read_bytes(), work, b"", 0)
            return {"status": 0}, []
        except CudaError as error:
            self.over = True  # what is left of the context is not to be trusted
            return {"status": error.status, "error": str(error)}, []
        except Refused as error:
            return {"refused": str(error)}, []

    def _run(self, work: dict[str, Any], data: bytes, keep: bool) -> tuple[dict[str, Any], list[bytes]]:
        """``keep``: in the module and the buffers of the run before. Otherwise both are new, and the buffers lie elsewhere."""
        number = work["program"]
        before = loaded = self.kept.get(number)
        if loaded is None or not keep:
            loaded = self.kept[number] = Loaded(self.driver, self.programs[number], work["kernel"])
        loaded.prepare(work, data, self.job["guard"])
        if before is not None and before is not loaded:
            before.close()
        self._spoil()
        damaged = loaded.launch(work)
        return {"status": 0, "guards": damaged}, [m.content(0, m.size) for m in loaded.memories]

    def _spoil(self) -> None:
        """Leave NaN patterns in the shared memory of every multiprocessor. Nothing waits for it, so that no other process comes
        between it and the kernel: the hardware clears shared memory then."""
        arguments = (c_uint(_SPOILT), c_uint(self.shared // 4))
        pointers = (c_void_p * 2)(*(ctypes.addressof(a) for a in arguments))
        shape = (self.blocks, 1, 1, 1024, 1, 1, self.shared)
        self.driver.call("cuLaunchKernel", self.spoiler.function, *shape, None, pointers, None)


def serve(folder: Path) -> None:
    with (folder / "requests").open("rb") as requests, (folder / "answers").open("wb") as answers:
        try:
            server = Server(folder, json.loads((folder / "job.json").read_text()))
        except (CudaError, OSError) as error:
            _send(answers, {"failed": str(error)}, [])
            return
        _send(answers, server.driver.facts(), [])
        while not server.over and (head := requests.read(8)):
            asked = json.loads(requests.read(struct.unpack("<Q", head)[0]))
            said, blobs = server.answer(asked, [requests.read(size) for size in asked["blobs"]])
            _send(answers, {**said, "nonce": asked["nonce"]}, blobs)


def _send(stream: IO[bytes], header: dict[str, Any], blobs: list[bytes]) -> None:
    text = json.dumps({**header, "blobs": [len(b) for b in blobs]}).encode()
    for part in (struct.pack("<Q", len(text)), text, *blobs):
        stream.write(part)
    stream.flush()


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
    (serve if sys.argv[2:] == ["serve"] else main)(Path(sys.argv[1]))
