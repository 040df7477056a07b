"""Launches under compute-sanitizer, one process a tool, with a watchdog: works -> ``Watched``.

Each process launches the kernel with every input, then the tool's seeded fault; its report counts only if it has that fault.
Invariant: ``findings`` may be trusted whenever they are there; their absence counts only if ``trouble`` is empty.

Example::

    machine = find(sandbox=probe(), cache=folder)
    seen = watch(machine, "memcheck", works, paths={"saxpy.cu"})
    seen.findings, seen.trouble, seen.control
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from sanitizers.gpu import toolkit as toolkits
from sanitizers.gpu.compile import NotCompiled, compile_controls
from sanitizers.gpu.job import GUARD, Launched, Said, Work, read, write
from sanitizers.gpu.lines import Lines
from sanitizers.gpu.records import CONTROL, BadXml, parse
from sanitizers.gpu.toolkit import Toolkit
from sanitizers.simulator import SimFinding
from specs.location import NOWHERE
from verifier.isolation import Completed, Limits, Sandbox, run

HOST = Path(__file__).with_name("host.py")

FOUND = 9
"""The exit status that compute-sanitizer is asked for when it reports something; the seeded fault makes that every run."""
_OPTIONS = {
    "memcheck": ["--padding", "4096"],
    "racecheck": ["--racecheck-report", "analysis"],
    "initcheck": ["--initcheck-address-space", "all"],  # shared memory too, from 2026 on
    "synccheck": [],
}
FAULTS = {
    700: "bounds-global",
    710: "assert",
    716: "alignment",
    717: "bounds-global",
    718: "bounds-global",
}
"""Sticky errors of the driver that say what the kernel did, where the tool itself reported nothing."""


class GpuMissing(Exception):
    """No usable GPU; the message says what is missing and how to install it."""


@dataclass(slots=True)
class Machine:
    """``quarantined``: why nothing more is run on this device, or ""."""

    toolkit: Toolkit
    sandbox: Sandbox
    cache: Path | None
    device: str
    arch: str
    driver: int
    controls: bytes = field(repr=False, default=b"")
    quarantined: str = ""

    def versions(self) -> dict[str, str]:
        assert self.toolkit.nvcc is not None and self.toolkit.sanitizer is not None
        return {
            "device": self.device,
            "arch": self.arch,
            "driver": f"{self.driver // 1000}.{self.driver % 1000 // 10}",
            "nvcc": toolkits.version(self.toolkit.nvcc),
            "compute-sanitizer": toolkits.version(self.toolkit.sanitizer),
        }


@dataclass(frozen=True, slots=True)
class Watched:
    """What one tool saw. ``launch``: number of the launch each finding belongs to, or None where that is not known."""

    tool: str
    findings: tuple[SimFinding, ...] = ()
    launch: int | None = None
    trouble: str = ""
    broken: bool = False
    """The trouble is the tool's or the device's, not the kernel's."""
    said: Said = Said()  # noqa: RUF009 - frozen
    seconds: float = 0.0
    control: bool = False
    exit: int = 0
    xml: bytes = field(default=b"", repr=False)


def find(*, sandbox: Sandbox, cache: Path | None, toolkit: Toolkit | None = None) -> Machine:
    """The GPU of this machine with everything it needs, after one clean launch. Raises GpuMissing."""
    tools = toolkit or toolkits.look()
    lacking = toolkits.missing(tools)
    if lacking:
        raise GpuMissing("; ".join(lacking))
    assert tools.nvcc is not None and tools.sanitizer is not None
    machine = Machine(tools, sandbox, cache, "", "", 0)
    said, done = _child(machine, [], None, guard=0, wrapper=(), seconds=30.0)[:2]
    if not said.device:
        why = said.trouble or done.stderr.decode(errors="replace").strip()[-200:] or "no answer"
        if sandbox.kind == "landlock":
            why += (
                "; a GPU is not reached under Landlock: apt-get install bubblewrap  (or pass --sandbox none)"
            )
        raise GpuMissing(f"the GPU does not answer: {why}")
    machine.device, machine.arch, machine.driver = said.device, said.arch, said.driver
    try:
        machine.controls = compile_controls(tools.nvcc, arch=said.arch, sandbox=sandbox, cache=cache)
    except NotCompiled as error:
        raise GpuMissing(f"the controls cannot be compiled: {error}") from error
    if trouble := health(machine):
        raise GpuMissing(trouble)
    return machine


def health(machine: Machine, seconds: float = 30.0) -> str:
    """Whether a small right kernel still runs: "" or why not. Marks the machine, so that nothing more is run on it."""
    control = (machine.controls, f"{CONTROL}clean")
    said, done, _ = _child(machine, [], control, guard=0, wrapper=(), seconds=seconds)
    if said.control != 0:
        how = "it hangs" if done.timed_out else said.trouble or f"status {said.control}"
        machine.quarantined = f"the GPU does not run a right kernel any more ({how}); restart it"
    return machine.quarantined


def watch(
    machine: Machine, tool: str, works: Sequence[Work], *, paths: Set[str], seconds: float = 60.0
) -> Watched:
    """All launches under one tool, in a process of its own."""
    if machine.quarantined:
        return Watched(tool, trouble=machine.quarantined, broken=True)
    wrapper = wrapped(machine, tool)
    guard = 0 if tool == "memcheck" else GUARD
    control = (machine.controls, CONTROL + tool)
    said, done, xml = _child(machine, works, control, guard=guard, wrapper=wrapper, seconds=seconds)
    if done.timed_out:
        sick = health(machine)
        ran = f"launch {said.started - 1} does not end" if said.started > len(said.launches) else "it hangs"
        trouble = sick or f"resources: {tool} is not done after {seconds:g} s ({ran})"
        return Watched(tool, (), None, trouble, bool(sick), said, done.seconds, exit=done.returncode, xml=xml)
    lines = Lines(works[0].program, works[0].entry) if works else None
    return judge(tool, len(works), said, done.returncode, xml, paths, lines, done.seconds)


def wrapped(machine: Machine, tool: str) -> list[str]:
    """The tool's command before the child's."""
    assert machine.toolkit.sanitizer is not None
    options = _OPTIONS[tool]
    known = not options or options[0] in toolkits.options(machine.toolkit.sanitizer)
    words = [str(machine.toolkit.sanitizer), "--tool", tool, *(options if known else [])]
    words += ["--xml", "--save", "report.xml", "--error-exitcode", str(FOUND), "--print-limit", "0"]
    words += ["--show-backtrace", "device", "--strip-paths", "no", "--demangle", "no"]
    return words


def judge(
    tool: str,
    wanted: int,
    said: Said,
    returncode: int,
    xml: bytes,
    paths: Set[str],
    lines: Lines | None,
    seconds: float,
) -> Watched:
    """What a finished run means; every way in which a tool can be silent without having looked is trouble."""
    result = Watched(tool, said=said, seconds=seconds, exit=returncode, xml=xml)
    if not xml:
        words = f"{tool} wrote no report (exit status {returncode}): it did not watch"
        return replace(result, trouble=words, broken=True)
    try:
        records = parse(xml, tool, paths, lines)
    except BadXml as error:
        return replace(result, trouble=f"{tool} wrote a report that cannot be read: {error}", broken=True)
    result = replace(result, control=records.controls > 0)
    findings = [*records.findings, *(damaged(str(b), at) for f in said.launches for b, at in f.damaged)]
    failed = next((f for f in said.launches if f.status), None)
    if failed is not None and not findings and failed.status in FAULTS:
        findings = [deadly(failed)]
    if findings:
        launch = failed.number if failed is not None else 0 if wanted == 1 else None
        return replace(result, findings=tuple(findings), launch=launch)
    if failed is not None:
        return replace(result, trouble=f"{tool}: launch {failed.number} fails: {failed.error}")
    if said.trouble:
        return replace(result, trouble=f"{tool}: {said.trouble}")
    if len(said.launches) != wanted:
        words = f"{tool}: {len(said.launches)} of {wanted} launches were made"
    elif said.control is None or not result.control:
        words = f"{tool} does not report its seeded fault on this machine: it does not watch"
    elif returncode != FOUND:
        words = f"{tool} ended with {returncode} instead of {FOUND}"
    else:
        return result
    return replace(result, trouble=words, broken=True)


def _child(
    machine: Machine,
    works: Sequence[Work],
    control: tuple[bytes, str] | None,
    *,
    guard: int,
    wrapper: Sequence[str],
    seconds: float,
) -> tuple[Said, Completed, bytes]:
    tools = machine.toolkit
    assert tools.driver is not None
    limits = Limits(
        cpu_seconds=int(seconds) * 4 + 8, memory_mb=0, wall_seconds=seconds, output_bytes=16 << 20
    )
    with tempfile.TemporaryDirectory(prefix="gpu-") as name:
        folder = Path(name)
        write(folder, tools.driver, works, control, guard)
        argv, readable = command(tools, folder, wrapper)
        done = run(
            argv,
            sandbox=machine.sandbox,
            limits=limits,
            readable=readable,
            writable=[folder],
            devices=tools.devices,
        )
        report = folder / "report.xml"
        return read(folder), done, report.read_bytes() if report.is_file() else b""


def command(
    tools: Toolkit, folder: Path, wrapper: Sequence[str] = (), words: Sequence[str] = ()
) -> tuple[list[str], list[Path]]:
    """How the child is started in its folder, and what it must be able to read. It says nothing on its own stdout."""
    assert tools.driver is not None
    (folder / "host.py").write_bytes(HOST.read_bytes())
    child = [*wrapper, sys.executable, "-I", "-S", "-B", "host.py", ".", *words]
    script = 'cd "$1" && shift && export LD_LIBRARY_PATH="$1" TMPDIR=. && shift && exec "$@" >/dev/null'
    readable = [tools.driver.resolve().parent]
    if tools.sanitizer is not None:
        readable.append(tools.sanitizer.resolve().parents[1])
    return ["/bin/sh", "-c", script, "sh", str(folder), str(tools.driver.parent), *child], readable


def damaged(buffer: str, at: int) -> SimFinding:
    """A guard byte, ``at`` bytes from the buffer's start, that is not what it was."""
    message = f"something wrote outside buffer {buffer}, at byte {at} from its start (canary)"
    return SimFinding("bounds-global", NOWHERE, (0, 0, 0), (0, 0, 0), message)


def deadly(failed: Launched) -> SimFinding:
    """A launch that ended with one of ``FAULTS``."""
    message = f"the kernel ends with {failed.error}"
    return SimFinding(FAULTS[failed.status], NOWHERE, (0, 0, 0), (0, 0, 0), message)
