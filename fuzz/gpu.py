"""The GPU behind the executor's interface: the kernels of one candidate, each compiled once, in one process on the device.

The launches, their bytes and their guards are those of the simulator's executor; what differs is who runs them, so
schedules mean nothing here. Invariant: after the first fault, hang or refusal nothing more of this candidate is launched, and
what a watched process saw counts only after ``finish``.

Example::

    with GpuProcess(machine, device, watched=False) as gpu:
        gpu.executor(kernel).execute(launch, {"x": raw, "y": poison}, ("forward", 0)).outputs["y"]
        gpu.finish().refusal or gpu.finish().seen
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fuzz.executor import Order, Ran, Seen
from sanitizers.gpu.campaign import GpuFault
from sanitizers.gpu.compile import Compiled, NotCompiled, compile_kernel
from sanitizers.gpu.job import work
from sanitizers.gpu.service import TOOL, Answer, Service
from sanitizers.gpu.watch import Machine
from sanitizers.simulator import SimFinding, wire
from sanitizers.simulator.places import Lines
from sanitizers.simulator.session import impossible
from specs.contract import ConcreteLaunch
from verifier.ir.nodes import Kernel
from verifier.source.device_text import DeviceText


class GpuProcess:
    """``watched``: everything runs under memcheck. ``broken``: the device's own trouble, after which nothing is known.

    ``faults``: what was seen of which kernel's launch, beside the numbers.
    """

    def __init__(self, machine: Machine, device: DeviceText, *, watched: bool = False) -> None:
        self._machine, self._device, self._watched = machine, device, watched
        self._by = TOOL if watched else "the GPU"
        self._service = Service(machine, watched=watched, paths=Lines(device.text).paths)
        self._over: Ran | None = None
        self._last: tuple[Kernel, ConcreteLaunch] | None = None
        self.broken = ""
        self.faults: list[tuple[Kernel, GpuFault]] = []

    def __enter__(self) -> GpuProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._service.close()

    @property
    def launches(self) -> int:
        return self._service.launches

    def executor(self, kernel: Kernel) -> GpuExecutor:
        """Compiles the kernel; what prevents it is the refusal of every run."""
        assert self._machine.toolkit.nvcc is not None
        try:
            compiled: Compiled | str = compile_kernel(
                self._machine.toolkit.nvcc,
                self._device,
                kernel,
                arch=self._machine.arch,
                sandbox=self._machine.sandbox,
                cache=self._machine.cache,
            )
        except NotCompiled as error:
            compiled = str(error)
        return GpuExecutor(self, kernel, compiled)

    def launch(
        self,
        kernel: Kernel,
        compiled: Compiled,
        launch: ConcreteLaunch,
        inputs: Mapping[str, bytes],
        keep: bool,
    ) -> Ran:
        if self._over is not None:
            return self._over
        refused = impossible(launch)
        if refused is not None:
            return Ran(refusal=refused)
        given = replace(launch, buffers=tuple(replace(b, initialized=True) for b in launch.buffers))
        try:
            made = work(compiled, kernel, given, inputs, seed=0)
        except wire.CannotEncode as error:
            return Ran(refusal=str(error))
        self._last = kernel, launch
        answer = self._service.run(made, keep=keep)
        if answer.findings or answer.trouble:
            self._over = self._ended(answer)
            return self._over
        return Ran(_outputs(launch, answer.contents))

    def finish(self) -> Ran:
        """What a watched process has to say at its end; nothing for any other, and after a fault."""
        if not self._watched or self._over is not None:
            return self._over or Ran()
        seen = self._service.finish()
        self._over = self._ended(Answer((), seen.findings, seen.trouble, seen.broken))
        return self._over

    def _ended(self, answer: Answer) -> Ran:
        if answer.broken:
            self.broken = answer.trouble
        if self._last is not None:
            kernel, launch = self._last
            tool = TOOL if self._watched else ""
            self.faults += [(kernel, GpuFault(f, launch, tool)) for f in answer.findings]
        seen = tuple(self._seen(f) for f in answer.findings)
        return Ran({}, seen, "" if seen else answer.trouble)

    def _seen(self, finding: SimFinding) -> Seen:
        return Seen(finding.property, finding.span, finding.message, self._by)


class GpuExecutor:
    """One kernel of a GpuProcess."""

    def __init__(self, process: GpuProcess, kernel: Kernel, compiled: Compiled | str) -> None:
        self._process, self._kernel, self._compiled = process, kernel, compiled

    def __enter__(self) -> GpuExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        """The process is closed by whoever opened it."""

    def execute(
        self, launch: ConcreteLaunch, inputs: Mapping[str, bytes], order: Order, keep: bool = False
    ) -> Ran:
        if isinstance(self._compiled, str):
            return Ran(refusal=self._compiled)
        return self._process.launch(self._kernel, self._compiled, launch, inputs, keep)


def _outputs(launch: ConcreteLaunch, contents: tuple[bytes, ...]) -> dict[str, bytes]:
    plan = wire.layout(launch)
    width = {b.param: b.numel * wire.DTYPE_BYTES[b.dtype] for b in launch.buffers}
    return {
        param: raw[: width[param]]
        for params, raw in zip(plan.params, contents, strict=True)
        for param in params
    }
