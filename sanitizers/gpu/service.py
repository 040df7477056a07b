"""One process on the GPU that takes launches until it is closed: works -> what each left in its buffers.

For the fuzzer, which has hundreds of launches for a kernel that is compiled once. The process is the child of ``watch.py``
(host.py), in the same sandbox and with the same guards; with ``watched`` it runs under memcheck from its first launch to its
last, the seeded fault, and ``finish`` says what the tool reported. Before every launch a NaN pattern is left in shared memory.
Invariant: an answer that is late, broken or of another request is no answer; after a failed launch, a hang or a damaged guard
the process is gone, and a hang is followed by a check of the device.

Example::

    with Service(machine, paths={"gelu.cu"}) as service:
        answer = service.run(work(compiled, kernel, launch, inputs, seed=0))
        answer.contents, answer.findings, answer.trouble
"""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import tempfile
import time
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sanitizers.gpu import job
from sanitizers.gpu.job import GUARD, Launched, Said, Work
from sanitizers.gpu.lines import Lines
from sanitizers.gpu.records import CONTROL
from sanitizers.gpu.watch import FAULTS, Machine, Watched, command, damaged, deadly, health, judge, wrapped
from sanitizers.simulator import SimFinding
from verifier.isolation import Limits, pipes
from verifier.isolation.service import start, stop

START_SECONDS = 60.0
SECONDS = 10.0
"""Of one launch, which is small."""
MOST = 1 << 28
TOOL = "memcheck"
_NONSENSE = (KeyError, TypeError, ValueError, AttributeError, IndexError)


@dataclass(frozen=True, slots=True)
class Answer:
    """``contents``: of every buffer of the work, after the launch. ``trouble``: why there are none.

    ``broken``: the trouble is the tool's or the device's, not the kernel's.
    """

    contents: tuple[bytes, ...] = ()
    findings: tuple[SimFinding, ...] = ()
    trouble: str = ""
    broken: bool = False


class Service:
    """``paths``: the user's files as the device text names them. ``seconds``: of one launch."""

    def __init__(
        self,
        machine: Machine,
        *,
        watched: bool = False,
        paths: Set[str] = frozenset(),
        seconds: float | None = None,
    ) -> None:
        self._machine, self._watched, self._paths = machine, watched, paths
        self._seconds = seconds or SECONDS
        self._process: _Process | None = None
        self._programs: dict[tuple[bytes, str], int] = {}
        self._last: Work | None = None
        self._launches: list[Launched] = []
        self.launches = 0
        """Made so far."""

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process. Safe to call twice."""
        if self._process is not None:
            self._process.close()
        self._process = None

    def run(self, work: Work, *, keep: bool = False) -> Answer:
        """One launch. ``keep``: device variables and addresses stay as the kernel's last launch left them."""
        if self._machine.quarantined:
            return Answer(trouble=self._machine.quarantined, broken=True)
        self._last = work
        try:
            process = self._process or self._open()
            said, blobs = self._launch(process, work, keep)
        except pipes.PipeError as error:
            return self._lost(str(error))
        self.launches += 1
        try:
            if "refused" in said:
                self.close()
                return Answer(trouble=str(said["refused"]))
            number, status = len(self._launches), int(said["status"])
            guards = tuple((int(b), int(at)) for b, at in said.get("guards", ()))
            done = Launched(number, status, str(said.get("error", ""))[:200], guards)
            named = [(work.names[b], at) for b, at in guards]
        except _NONSENSE:
            return self._lost("it sent something that is no answer")
        self._launches.append(done)
        if status:
            return self._failed(done)
        if guards:
            self.close()
            return Answer(findings=tuple(damaged(name, at) for name, at in named))
        if tuple(map(len, blobs)) != work.sizes:
            return self._lost("it sent buffers of other sizes")
        return Answer(contents=tuple(blobs))

    def finish(self) -> Watched:
        """What the tool reported of all launches; only for ``watched``. Ends the process."""
        process = self._process
        if process is None:
            return Watched(TOOL, trouble=f"{TOOL} watched no launch")
        control: int | None = None
        with contextlib.suppress(pipes.PipeError, *_NONSENSE):
            control = int(process.ask({"do": "control"}, [], self._seconds)[0]["status"])
        return self._judged(process, control)

    def _open(self) -> _Process:
        self._programs, self._launches = {}, []
        wrapper = wrapped(self._machine, TOOL) if self._watched else []
        self._process = _Process(self._machine, wrapper, 0 if self._watched else GUARD)
        return self._process

    def _launch(self, process: _Process, work: Work, keep: bool) -> tuple[dict[str, Any], list[bytes]]:
        key = (work.program, work.entry)
        if key not in self._programs:
            number = len(self._programs)
            process.ask({"do": "load", "program": number}, [work.program], self._seconds)
            self._programs[key] = number
        data = bytearray()
        told = job.described(work, self._programs[key], data)
        return process.ask({"do": "run", "work": told, "keep": keep}, [bytes(data)], self._seconds)

    def _lost(self, why: str) -> Answer:
        """No answer: the process is ended, and the device must show that it still works."""
        started = self._process is not None and self._process.ready
        self.close()
        sick = health(self._machine)
        late = "too slow" in why
        words = (
            f"resources: the launch does not end in {self._seconds:g} s"
            if late and started
            else f"the GPU's process gives no answer: {why}"
        )
        return Answer(trouble=sick or words, broken=bool(sick) or not started)

    def _failed(self, done: Launched) -> Answer:
        """The driver's own status says what the kernel did, or the tool's report does."""
        process = self._process
        assert process is not None
        if self._watched:
            seen = self._judged(process, None)
            return Answer(findings=seen.findings, trouble=seen.trouble, broken=seen.broken)
        self.close()
        if done.status in FAULTS:
            return Answer(findings=(deadly(done),))
        return Answer(trouble=f"the GPU does not run this launch: {done.error}")

    def _judged(self, process: _Process, control: int | None) -> Watched:
        returncode, report = process.end(START_SECONDS)
        self.close()
        said = Said(launches=tuple(self._launches), control=control)
        lines = Lines(self._last.program, self._last.entry) if self._last is not None else None
        return judge(TOOL, len(self._launches), said, returncode, report, self._paths, lines, 0.0)


class _Process:
    """A started child, after its first word. Raises PipeError."""

    def __init__(self, machine: Machine, wrapper: Sequence[str], guard: int) -> None:
        tools = machine.toolkit
        assert tools.driver is not None
        self.ready = False
        self._folder = tempfile.TemporaryDirectory(prefix="gpu-")
        self._sink: IO[bytes] | None = None
        folder = Path(self._folder.name)
        job.write(folder, tools.driver, [], (machine.controls, CONTROL + TOOL), guard)
        for name in ("requests", "answers"):
            os.mkfifo(folder / name)
        self._source = os.open(folder / "answers", os.O_RDONLY | os.O_NONBLOCK)
        held = os.open(folder / "requests", os.O_RDWR)  # so that neither side waits for the other to open it
        argv, readable = command(tools, folder, wrapper, ["serve"])
        self._child = start(
            argv,
            sandbox=machine.sandbox,
            limits=Limits(cpu_seconds=0, memory_mb=0),
            readable=readable,
            writable=[folder],
            devices=tools.devices,
        )
        try:
            hello = self._read(START_SECONDS)[0]
            if "failed" in hello:
                raise pipes.PipeError(str(hello["failed"])[:200])
            self._sink = (folder / "requests").open("wb")
        except (pipes.PipeError, OSError):
            self.close()
            raise
        finally:
            os.close(held)
        self.ready = True

    def ask(
        self, header: dict[str, Any], blobs: Sequence[bytes], seconds: float
    ) -> tuple[dict[str, Any], list[bytes]]:
        nonce = secrets.randbits(62)
        assert self._sink is not None
        pipes.write(self._sink, {**header, "nonce": nonce}, blobs)
        said, data = self._read(seconds)
        if said.get("nonce") != nonce:
            raise pipes.PipeError("the other process answered something else")
        return said, data

    def _read(self, seconds: float) -> tuple[dict[str, Any], list[bytes]]:
        """The first word may never come, from a process that ended before it opened its end."""
        deadline = time.monotonic() + seconds
        while not self.ready and not pipes.waiting(self._source, 0.05):
            if self._child.poll() is not None and not pipes.waiting(self._source, 0.0):
                raise pipes.PipeError("the other process has ended")
            if time.monotonic() > deadline:
                raise pipes.PipeError("the other process was too slow")
        return pipes.read(self._source, max(0.0, deadline - time.monotonic()), MOST)

    def end(self, seconds: float) -> tuple[int, bytes]:
        """Let it end by itself: its exit status and the report in its folder."""
        if self._sink is not None:
            with contextlib.suppress(OSError):
                self._sink.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(seconds)
        returncode = self._child.poll()
        report = Path(self._folder.name) / "report.xml"
        text = report.read_bytes() if report.is_file() and returncode is not None else b""
        return -1 if returncode is None else returncode, text

    def close(self) -> None:
        stop(self._child)
        for close in (self._sink.close if self._sink else None, self._close_source):
            with contextlib.suppress(OSError):
                if close is not None:
                    close()
        self._folder.cleanup()

    def _close_source(self) -> None:
        if self._source >= 0:
            os.close(self._source)
            self._source = -1
