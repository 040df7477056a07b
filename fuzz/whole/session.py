"""ModelNew in its sandbox, with each kernel in the simulator: sizes, parameters, inputs -> outputs, as raw bytes.

The submission's process only says which launch it wants next; the kernel runs in a simulator of ours, which checks every
access. Invariant: a launch that was refused, or in which the simulator saw a fault, ends the run with a named
:class:`Stopped`, whatever the submission's process says afterwards.

Example::

    with Session(folder, submission, kernels, sandbox) as session:
        session.load(folder / "host.so")
        session.build(sizes, init, seed=0)
        session.run(state, arguments, tensors).outputs
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import dtypes, thresholds
from fuzz.dtypes import NAMES
from fuzz.executor import Order, Seen
from specs.contract import NULL_STORAGE, ConcreteBuffer, ConcreteLaunch
from verifier.ir import nodes as ir
from verifier.isolation import pipes
from verifier.isolation.child import Limits, python_argv
from verifier.isolation.sandbox import Sandbox
from verifier.isolation.service import start, stop
from verifier.source.device_text import Submission

LIMITS = Limits(cpu_seconds=600, memory_mb=16384, processes=64)
MOST = 256 << 20
"""Bytes of one answer of the submission's process."""
SECONDS = 60.0
"""For one answer of the submission's process, its launches included."""
LAUNCHES = 400
"""Launches that one run may make."""

_NONSENSE = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, struct.error)


class Stopped(RuntimeError):
    """A run without an answer. ``seen``: because the simulator saw a fault. ``raised``: the submission's own exception.

    ``unfit``: these sizes are too large for the simulator, or no device takes the launch.
    """

    def __init__(
        self, message: str, *, seen: Seen | None = None, raised: bool = False, unfit: bool = False
    ) -> None:
        super().__init__(message)
        self.seen = seen
        self.raised = raised
        self.unfit = unfit


@dataclass(frozen=True, slots=True)
class Array:
    """A tensor as bytes; ``dtype`` in torch's words."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


@dataclass(slots=True)
class Result:
    """``outputs``; ``inputs``: what the submission's process holds of its inputs afterwards. ``launched``: kernel -> launches."""

    outputs: list[Array]
    inputs: list[bytes]
    launched: dict[str, int] = field(default_factory=dict)


class Session:
    """One process of the submission, which sees ``folder``. ``opt`` is the simulator's build."""

    def __init__(
        self,
        folder: Path,
        submission: Submission,
        kernels: Sequence[ir.Kernel],
        sandbox: Sandbox,
        *,
        cache: Path | None = None,
        opt: str = "O1",
        deadline: float = float("inf"),
    ) -> None:
        self._submission, self._sandbox, self._cache, self._opt = submission, sandbox, cache, opt
        self._kernels = kernels
        self._deadline = deadline
        self._simulators: dict[str, Any] = {}
        self._launched: dict[str, int] = {}
        self._order: Order = ("forward", 0)
        self._garbage: str | None = None
        self._compares: dict[str, thresholds.Compares] = {}
        self.decided: set[tuple[str, int, bool]] = set()
        self._child = start(
            python_argv("fuzz.whole.child"), sandbox=sandbox, limits=LIMITS, readable=[folder]
        )

    def load(self, library: Path) -> None:
        """Load the launchers; the process was started before, since importing torch takes its time."""
        hello, _ = self._read(120.0)
        if "error" in hello:
            raise Stopped(str(hello["error"]))
        path = Path(self._submission.path).name
        text = self._submission.python
        self._ask({"do": "load", "library": str(library.absolute()), "text": text, "path": path})

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        stop(self._child)
        for simulator in self._simulators.values():
            simulator.close()
        self._simulators.clear()

    def build(self, sizes: dict[str, int], init: Any, seed: int) -> dict[str, Array]:
        """A fresh ModelNew; its parameters and buffers."""
        header, blobs = self._ask({"do": "build", "sizes": sizes, "init": init, "seed": seed})
        try:
            return {
                str(name): Array(str(dtype), tuple(map(int, shape)), data)
                for (name, shape, dtype), data in zip(header["done"], blobs, strict=True)
            }
        except _NONSENSE as error:
            raise Stopped("the submission's process sent something that is no answer") from error

    def run(
        self,
        state: dict[str, int],
        arguments: Sequence[dict[str, Any]],
        tensors: Sequence[Array],
        *,
        seed: int = 0,
        order: Order = ("forward", 0),
        garbage: str | None = None,
        keep: bool = False,
    ) -> Result:
        """One forward. ``state``: parameter -> index of its tensor. ``garbage``: what this kernel writes is spoilt.

        ``keep``: the inputs of the run before are filled with the new numbers and passed again.
        """
        self._launched, self._order, self._garbage = {}, order, garbage
        header, blobs = self._ask(
            {
                "do": "run",
                "state": state,
                "arguments": list(arguments),
                "tensors": [[t.dtype, list(t.shape)] for t in tensors],
                "seed": seed,
                "keep": keep,
            },
            [t.data for t in tensors],
        )
        try:
            shown, kept = header["done"], int(header["kept"])
            outputs = [
                Array(str(d), tuple(map(int, s)), b)
                for (d, s), b in zip(shown, blobs[: len(shown)], strict=True)
            ]
            if len(blobs) != len(shown) + kept or any(_short(o) for o in outputs):
                raise ValueError
        except _NONSENSE as error:
            raise Stopped("the submission's process sent something that is no answer") from error
        return Result(outputs, blobs[len(shown) :], dict(self._launched))

    def _read(self, seconds: float) -> tuple[dict[str, Any], list[bytes]]:
        assert self._child.stdout is not None
        try:
            return pipes.read(self._child.stdout.fileno(), seconds, MOST)
        except pipes.PipeError as error:
            self.close()
            raise Stopped(f"ModelNew could not be run: {error}") from error

    def _ask(self, header: dict[str, Any], blobs: Sequence[bytes] = ()) -> tuple[dict[str, Any], list[bytes]]:
        """Send a request and serve launches until the answer is there."""
        assert self._child.stdin is not None
        reason: Stopped | None = None
        deadline = min(time.monotonic() + SECONDS, self._deadline + 1.0)
        count = 0
        try:
            pipes.write(self._child.stdin, header, blobs)
            while True:
                answer, data = self._read(max(0.0, deadline - time.monotonic()))
                if "launch" not in answer:
                    break
                count += 1
                try:
                    if reason is not None:
                        raise reason
                    if count > LAUNCHES:
                        raise Stopped(f"more than {LAUNCHES} launches in one run")
                    changed = self._launch(answer["launch"], answer["bases"], data)
                    pipes.write(self._child.stdin, {"changed": list(changed)}, list(changed.values()))
                except Stopped as error:
                    reason = reason or error
                    pipes.write(self._child.stdin, {"stop": "the run is over"})
                except _NONSENSE as error:
                    reason = reason or Stopped(f"a launch that cannot be read ({error})")
                    pipes.write(self._child.stdin, {"stop": "the run is over"})
        except pipes.PipeError as error:
            self.close()
            raise Stopped(f"ModelNew could not be run: {error}") from error
        if reason is not None:
            raise reason
        if "error" in answer:
            raise Stopped(str(answer["error"])[:200], raised=not answer.get("stopped"))
        return answer, data

    def _launch(self, asked: dict[str, Any], bases: list[int], blobs: list[bytes]) -> dict[int, bytes]:
        """Run one launch. Which memories it changed, whole."""
        kernel = self._kernel(str(asked["launch"]), [str(t) for t in asked["targs"]])
        self._launched[kernel.label] = self._launched.get(kernel.label, 0) + 1
        if kernel.label not in self._compares:
            self._compares[kernel.label] = thresholds.compares(kernel)
        launch, data, places = concrete(kernel, asked, [int(b) for b in bases], blobs)
        self.decided |= {
            (kernel.label, i, v) for i, v in thresholds.decided(self._compares[kernel.label], launch)
        }
        from sanitizers import simulator

        if kernel.label not in self._simulators:
            self._simulators[kernel.label] = simulator.Session(
                self._submission.device, kernel, opt=self._opt, sandbox=self._sandbox, cache=self._cache
            )
        ran = self._simulators[kernel.label].run(launch, data, simulator.Schedule(*self._order))
        if ran.findings:
            first = ran.findings[0]
            raise Stopped(
                f"{kernel.label}: the simulator reports {first.property}: {first.message} (see sanitize)",
                seen=Seen(first.property, first.span, first.message),
            )
        refusal = ran.unsupported or ran.error
        if not refusal and ran.blocks_run != ran.blocks_launched:
            refusal = f"only {ran.blocks_run} of {ran.blocks_launched} blocks were run"
        if refusal:
            unfit = refusal.startswith(("resources", "the launch is impossible"))
            raise Stopped(f"{kernel.label}: {refusal}", unfit=unfit)
        return self._changed(kernel, launch, data, places, ran.outputs, blobs)

    def _changed(
        self,
        kernel: ir.Kernel,
        launch: ConcreteLaunch,
        data: dict[str, bytes],
        places: dict[str, tuple[int, int]],
        outputs: dict[str, bytes],
        blobs: list[bytes],
    ) -> dict[int, bytes]:
        changed: dict[int, bytes] = {}
        for buffer in launch.buffers:
            if buffer.storage == NULL_STORAGE:
                continue
            before, after = data[buffer.param], outputs.get(buffer.param)
            if after is None:
                raise Stopped(f"{kernel.label}: {buffer.param} is too large to come back")
            if after == before:
                continue
            index, offset = places[buffer.param]
            if any(i == index and at != offset for i, at in places.values()):
                raise Stopped(f"{kernel.label} writes memory that it has two pointers into")
            if self._garbage in (kernel.label, "*"):
                after = spoilt(before, after, buffer.dtype, seed=len(changed))
            whole = blobs[index]
            changed[index] = whole[:offset] + after + whole[offset + len(after) :]
        return changed

    def _kernel(self, name: str, targs: list[str]) -> ir.Kernel:
        found = [k for k in self._kernels if k.name == name and _same(targs, k.instantiation)]
        if len(found) != 1:
            label = f"{name}<{', '.join(targs)}>" if targs else name
            raise Stopped(f"{label} is launched, but could not be read")
        return found[0]


def _short(array: Array) -> bool:
    count = 1
    for n in array.shape:
        count *= n
    return array.dtype not in NAMES or len(array.data) != count * dtypes.size(NAMES[array.dtype])


def _same(told: list[str], own: tuple[str, ...]) -> bool:
    """Whether two spellings of template arguments are the same."""

    def plain(text: str) -> str:
        text = re.sub(r"\s+|[uUlL]+$", "", text)
        text = {"true": "1", "false": "0"}.get(text, text)
        text = re.sub(r"^\((?:[\w:]+)\)(?=-?\d)", "", text)
        return {"unsignedlong": "size_t", "at::Half": "c10::Half", "at::BFloat16": "c10::BFloat16"}.get(
            text, text
        )

    same = all(t in ("?", o) or plain(t) == plain(o) for t, o in zip(told, own, strict=False))
    return same and len(told) >= len(own)


def _element(type_: ir.Type) -> str:
    match type_:
        case ir.Float(name=name):
            return name
        case ir.Int(bits=bits, signed=signed):
            return f"{'i' if signed else 'u'}{bits}"
        case ir.Bool():
            return "bool"
        case ir.Array(elem=elem):
            return _element(elem)
        case _:
            return "u8"


def concrete(
    kernel: ir.Kernel, asked: dict[str, Any], bases: list[int], blobs: list[bytes]
) -> tuple[ConcreteLaunch, dict[str, bytes], dict[str, tuple[int, int]]]:
    """The launch with numbers, the contents of its buffers, and where these lie: (memory, offset)."""
    arguments = {str(n).partition(".")[0]: bytes.fromhex(h) for n, h in asked["args"].items()}
    groups: dict[str, list[ir.Param]] = {}
    for param in kernel.params:
        groups.setdefault(param.name.partition(".")[0], []).append(param)
    buffers: list[ConcreteBuffer] = []
    data: dict[str, bytes] = {}
    places: dict[str, tuple[int, int]] = {}
    scalars: dict[str, int | float | None] = {}
    for name, group in groups.items():
        raw, at = arguments[name], 0
        for param in group:
            size = ir.size_of(param.type)
            at += -at % size
            word = raw[at : at + size]
            if len(word) != size:
                raise Stopped(f"the argument {name} of {kernel.label} is laid out in a way that is not known")
            at += size
            if not isinstance(param.type, ir.Pointer):
                scalars[param.name] = _number(param.type, word)
                continue
            address = int.from_bytes(word, "little")
            dtype = _element(param.type.elem)
            if address == 0:
                buffers.append(ConcreteBuffer(param.name, dtype, 0, storage=NULL_STORAGE))
                continue
            index = next((i for i, b in enumerate(bases) if b <= address < b + len(blobs[i])), None)
            if index is None:
                raise Stopped(f"{param.name} of {kernel.label} points into no memory that is known")
            offset = address - bases[index]
            numel = (len(blobs[index]) - offset) // dtypes.size(dtype)
            storage = f"memory {index} at {offset}"
            buffers.append(ConcreteBuffer(param.name, dtype, numel, storage=storage))
            data[param.name] = blobs[index][offset : offset + numel * dtypes.size(dtype)]
            places[param.name] = index, offset
    launch = ConcreteLaunch(
        kernel.name,
        kernel.instantiation,
        _three(asked["grid"]),
        _three(asked["block"]),
        int(asked["shared"]),
        tuple(buffers),
        scalars,
    )
    return launch, data, places


def _three(values: Sequence[Any]) -> tuple[int, int, int]:
    x, y, z = (int(v) for v in values)
    return x, y, z


def _number(type_: ir.Type, word: bytes) -> int | float:
    match type_:
        case ir.Float(name=name):
            return float(dtypes.decode(word, name)[0])
        case ir.Int(signed=signed):
            return int.from_bytes(word, "little", signed=signed)
        case ir.Bool():
            return word[0]
        case _:
            raise Stopped("an argument that is no number")


def spoilt(before: bytes, after: bytes, dtype: str, seed: int) -> bytes:
    """What a kernel wrote, with other finite numbers in its place."""
    rng = np.random.default_rng([seed, len(after)])
    width = dtypes.size(dtype)
    old = np.frombuffer(before, dtype=np.uint8).reshape(-1, width)
    new = np.frombuffer(after, dtype=np.uint8).reshape(-1, width)
    written = (old != new).any(axis=1)
    values = dtypes.decode(after, dtype)
    if dtype in dtypes.FLOATS:
        finite = np.isfinite(values)
        size = max(float(np.abs(values[finite]).max()) if finite.any() else 1.0, 1e-3)
        shift = rng.choice([-1.0, 1.0], values.size) * rng.uniform(0.25, 1.0, values.size) * size
        other = np.where(finite, values, 0.0) * rng.uniform(0.5, 1.5, values.size) + shift
    else:
        other = np.where(values == 0, 1, 0)
    encoded = np.frombuffer(dtypes.encode(other, dtype), dtype=np.uint8).reshape(-1, width)
    return np.where(written[:, None], encoded, new).astype(np.uint8).tobytes()
