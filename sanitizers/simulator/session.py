"""One kernel, compiled once, in one sandboxed process that runs any number of launches.

Invariant: the child only ever says what it saw; a missing, late or broken answer is an error, never a clean result.

Example::

    with Session(device, kernel, sandbox=probe()) as session:
        session.run(launch, {"x": data}).outputs["y"]
"""

from __future__ import annotations

import secrets
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from sanitizers.simulator import wire
from sanitizers.simulator.build import Program, build
from sanitizers.simulator.findings import read_findings, read_requests
from sanitizers.simulator.line import check_line
from sanitizers.simulator.model import Schedule, SimResult
from sanitizers.simulator.places import Lines, all_blocks
from sanitizers.simulator.text import Prepared, prepare
from specs.contract import ConcreteLaunch
from specs.location import Span
from verifier.ir import nodes as ir
from verifier.isolation import Limits, Sandbox
from verifier.isolation.service import start, stop
from verifier.source.device_text import DeviceText

LIMITS = Limits(cpu_seconds=120, memory_mb=0, wall_seconds=20.0, output_bytes=256 << 20)
COMPILE_LIMITS = Limits(cpu_seconds=30, memory_mb=4096, wall_seconds=45.0, output_bytes=4 << 20)
STEPS = 1 << 30
"""Checked accesses that one launch may make; beyond it is 'step budget', which says nothing about the kernel."""


class Session:
    """``program`` is built at construction; ``unsupported`` tells why it cannot be run, by name."""

    def __init__(
        self,
        device: DeviceText,
        kernel: ir.Kernel,
        *,
        opt: str = "O1",
        sandbox: Sandbox,
        limits: Limits | None = None,
        cache: Path | None = None,
        checked: Span | None = None,
    ) -> None:
        """``checked``: on this line unsigned wrap and narrowing conversions are seen too (for replays, opt="O0")."""
        self._kernel = kernel
        self._sandbox = sandbox
        self._limits = limits or LIMITS
        self._opt = opt
        self._child: subprocess.Popen[bytes] | None = None
        self._prepared = prepare(device.text)
        self.program: Program | None = None
        self.unsupported = self._prepared.unsupported
        if self.unsupported is None:
            text = self._prepared.text
            if checked is not None:
                text = check_line(text, checked.line, checked.path)
            text += driver(kernel)
            self.program = build(text, opt=opt, sandbox=sandbox, cache=cache, limits=COMPILE_LIMITS)
            self.unsupported = self.program.refused
        self._lines = Lines(self._prepared.text)

    @property
    def prepared(self) -> Prepared:
        return self._prepared

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child. Safe to call twice."""
        if self._child is not None:
            stop(self._child)
            self._child = None

    def blocks(self) -> dict[int, Span]:
        """Every basic block of the user's text, by address; nothing for a program that does not tell them."""
        return all_blocks(self.program.path, self._lines.paths, self._sandbox) if self.program else {}

    def scalars(self, launch: ConcreteLaunch) -> dict[str, int | float | None]:
        """The scalar arguments of the launch as they are passed: what it leaves open is 1."""
        known = {p.name: p.type for p in self._kernel.params}
        default = {n: 1.0 if isinstance(t, ir.Float) else 1 for n, t in known.items()}
        return {n: default.get(n) if v is None else v for n, v in launch.scalars.items()}

    def run(
        self,
        launch: ConcreteLaunch,
        inputs: Mapping[str, bytes] | None = None,
        schedule: Schedule = Schedule(),  # noqa: B008
        *,
        keep_globals: bool = False,
        tolerant: bool = False,
        blocks: Sequence[int] | None = None,
        outputs: bool = True,
        steps: int = STEPS,
        requests: bool = False,
    ) -> SimResult:
        """One launch. ``blocks``: linear indices of the blocks to run (all by default).

        ``tolerant``: a thread goes on after an access outside its buffer instead of stopping before it.
        ``keep_globals``: ``__device__`` variables stay as the last launch left them. ``requests``: record what the warps
        ask of memory (slow, and for threads that run one after another: ``forward``).
        """
        began = time.monotonic()
        if self.unsupported is not None or self.program is None:
            return SimResult(unsupported=self.unsupported or "not built")
        refused = impossible(launch)
        if refused is not None:
            return SimResult(error=refused)
        nonce = secrets.randbits(63)
        flags = (
            wire.KEEP_GLOBALS * keep_globals
            | wire.TOLERANT * tolerant
            | wire.REQUESTS * requests
            | wire.CALL_PATHS * (self._opt == "O0")
        )
        try:
            request = wire.encode(
                launch,
                self._kernel.params,
                inputs or {},
                schedule,
                nonce=nonce,
                budget=steps,
                flags=flags,
                blocks=blocks,
                outputs=outputs,
            )
        except wire.CannotEncode as error:
            return SimResult(unsupported=str(error))
        raw = self._exchange(request, began + self._limits.wall_seconds)
        reply = wire.decode(raw, nonce) if isinstance(raw, bytes) else raw
        if isinstance(reply, str):
            self.close()
            return SimResult(error=reply, seconds=time.monotonic() - began)
        return self._result(reply, launch, outputs, began)

    def _result(self, reply: wire.Reply, launch: ConcreteLaunch, outputs: bool, began: float) -> SimResult:
        facts = reply.facts
        findings = read_findings(
            facts, self.program.path if self.program else Path(), self._prepared, self._lines, self._sandbox
        )
        stopped, unsupported = _text(facts, "stopped"), _text(facts, "unsupported")
        return SimResult(
            findings=findings,
            outputs=_outputs(wire.layout(launch, outputs), launch, reply.raw),
            blocks_run=_count(facts, "blocks_run"),
            blocks_launched=_count(facts, "blocks_launched"),
            unsupported=unsupported or None,
            seconds=time.monotonic() - began,
            error=f"resources: {stopped}" if stopped else None,
            cpu_seconds=float(facts["cpu"]) if isinstance(facts.get("cpu"), float) else 0.0,
            accesses=_count(facts, "accesses"),
            switches=_count(facts, "switches"),
            unwritten=_unwritten(facts.get("unwritten")),
            blocks=_addresses(facts.get("blocks")),
            requests=read_requests(
                facts, self.program.path if self.program else Path(), self._lines, self._sandbox
            ),
        )

    def _exchange(self, request: bytes, deadline: float) -> bytes | str:
        """Send the request, read one whole reply. A string says why there is none."""
        if self._child is None or self._child.poll() is not None:
            self.close()
            assert self.program is not None
            self._child = start(
                [str(self.program.path)],
                sandbox=self._sandbox,
                limits=self._limits,
                readable=[self.program.path],
            )
        child = self._child
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdin.write(request)
            child.stdin.flush()
        except OSError:
            pass  # it may have left a word about why
        raw = bytearray()
        wanted = 32
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while len(raw) < wanted:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    return f"resources: the run takes more than {self._limits.wall_seconds:g} s"
                chunk = child.stdout.read1(1 << 20)  # type: ignore[attr-defined]
                if not chunk:
                    break
                raw += chunk
                if len(raw) >= 32:
                    wanted = wire.reply_size(bytes(raw[:32]))
                    if wanted > self._limits.output_bytes:
                        return "resources: the answer is too large"
        return bytes(raw)


def driver(kernel: ir.Kernel) -> str:
    """The text after the kernel: the one function that the runtime calls for each thread."""
    arguments = ", ".join(kernel.instantiation)
    name = f"{kernel.name}<{arguments}>" if arguments else kernel.name
    aliases = "".join(f"namespace {n} = simt_{n};" for n in ("at", "c10", "torch") if f"{n}::" in arguments)
    entry = (
        f'extern "C" void simt_entry(void* const* arguments) {{ simt::invoke<&{name}>(&{name}, arguments); }}'
    )
    return f'\n# 1 "simt-driver"\n{aliases}\n{entry}\n'


def simulate(
    device: DeviceText,
    kernel: ir.Kernel,
    launch: ConcreteLaunch,
    *,
    inputs: Mapping[str, bytes] | None = None,
    schedule: Schedule = Schedule("forward", 0),  # noqa: B008
    opt: str = "O1",
    sandbox: Sandbox,
    limits: Limits | None = None,
    cache: Path | None = None,
    blocks: Sequence[int] | None = None,
) -> SimResult:
    """Compile (or take from the cache) and run one launch. Raises SimulatorMissing without a g++."""
    with Session(device, kernel, opt=opt, sandbox=sandbox, limits=limits, cache=cache) as session:
        return session.run(launch, inputs, schedule, blocks=blocks)


def impossible(launch: ConcreteLaunch) -> str | None:
    """Why no device takes this launch, or None."""
    x, y, z = launch.block
    if min(launch.block) < 1 or x > 1024 or y > 1024 or z > 64 or x * y * z > 1024:
        return f"the launch is impossible: blocks of {x} x {y} x {z} threads"
    if min(launch.grid) < 1 or launch.grid[0] > 2**31 - 1 or max(launch.grid[1:]) > 65535:
        return f"the launch is impossible: a grid of {' x '.join(map(str, launch.grid))} blocks"
    if not 0 <= launch.shared_bytes <= 232448:
        return f"the launch is impossible: {launch.shared_bytes} bytes of shared memory"
    return next((f"the buffer {b.param} has {b.numel} elements" for b in launch.buffers if b.numel < 0), None)


def _addresses(told: object) -> frozenset[int]:
    return frozenset(a for a in told if isinstance(a, int)) if isinstance(told, list) else frozenset()


def _text(facts: Mapping[str, Any], key: str) -> str:
    value = facts.get(key)
    return value[:300] if isinstance(value, str) else "an answer without sense"


def _count(facts: Mapping[str, Any], key: str) -> int:
    value = facts.get(key)
    return value if isinstance(value, int) else 0


def _unwritten(facts: object) -> dict[str, tuple[int, int]]:
    items = facts.items() if isinstance(facts, dict) else ()
    return {
        k: (v[0], v[1])
        for k, v in items
        if isinstance(v, list) and len(v) == 2 and all(isinstance(n, int) for n in v)
    }


def _outputs(plan: wire.Layout, launch: ConcreteLaunch, raw: bytes) -> dict[str, bytes]:
    outputs: dict[str, bytes] = {}
    width = {b.param: b.numel * wire.DTYPE_BYTES[b.dtype] for b in launch.buffers}
    offset = 0
    for index in plan.wanted:
        size = plan.sizes[index]
        if offset + size <= len(raw):
            for param in plan.params[index]:
                outputs[param] = raw[offset : offset + width[param]]
        offset += size
    return outputs
