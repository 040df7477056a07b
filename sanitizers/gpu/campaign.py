"""One launch's contract on the GPU: the small launches that the simulator runs, under the four tools in order.

Memory errors come first; after one, or a hang, nothing more is run. Invariant: ``clean`` names only tools that reported their
own seeded fault in the process that launched the kernel with every input.

Example::

    campaign = explore(machine, device, kernel, contract, Plan())
    campaign.faults, campaign.clean, campaign.trouble     # (), ("memcheck", …), ""
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field

from sanitizers.campaign import Plan
from sanitizers.contents import Contents, fill, open_buffers
from sanitizers.gpu.compile import NotCompiled, compile_kernel
from sanitizers.gpu.job import Work, work
from sanitizers.gpu.records import TOOLS
from sanitizers.gpu.watch import Machine, Watched, watch
from sanitizers.sampling import small_launches
from sanitizers.simulator import SimFinding
from sanitizers.simulator.places import Lines
from sanitizers.simulator.wire import CannotEncode
from specs.clauses import ClauseError, ClauseUndefined, instantiate
from specs.contract import ConcreteLaunch, Contract
from verifier.ir import nodes as ir
from verifier.source.device_text import DeviceText

SECONDS = 60.0
"""Of one tool's process."""


@dataclass(frozen=True, slots=True)
class GpuFault:
    """``tool``: which of them saw it, or "" for the driver and the guards."""

    finding: SimFinding
    launch: ConcreteLaunch
    tool: str


@dataclass(slots=True)
class GpuCampaign:
    """``clean``: the tools that watched every launch and reported none. ``trouble``: why the others say nothing."""

    faults: list[GpuFault] = field(default_factory=list)
    launches: list[dict[str, int]] = field(default_factory=list)
    clean: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    made: int = 0
    trouble: str = ""
    broken: bool = False
    """The trouble is the tool's or the device's, not the kernel's."""


def explore(
    machine: Machine,
    device: DeviceText,
    kernel: ir.Kernel,
    contract: Contract,
    plan: Plan,
    *,
    tools: Sequence[str] = TOOLS,
    progress: Callable[[str], None] = lambda _: None,
) -> GpuCampaign:
    """Run the plan's launches under each tool."""
    sizes = small_launches(
        contract, count=plan.launches, seed=plan.seed, max_threads=plan.max_threads, edges=True
    )
    launches = []
    for symbols in sizes:
        try:
            launches.append(instantiate(contract, symbols))
        except (ClauseError, ClauseUndefined):
            continue
    return run(machine, device, kernel, launches, plan, tools=tools, progress=progress)


def run(
    machine: Machine,
    device: DeviceText,
    kernel: ir.Kernel,
    launches: Sequence[ConcreteLaunch],
    plan: Plan,
    *,
    tools: Sequence[str] = TOOLS,
    progress: Callable[[str], None] = lambda _: None,
) -> GpuCampaign:
    """These launches, with several contents where the contract leaves those of integer buffers open."""
    campaign = GpuCampaign(launches=[launch.symbols for launch in launches])
    assert machine.toolkit.nvcc is not None
    try:
        compiled = compile_kernel(
            machine.toolkit.nvcc,
            device,
            kernel,
            arch=machine.arch,
            sandbox=machine.sandbox,
            cache=machine.cache,
        )
        works = [
            work(compiled, kernel, launch, fill(launch, contents, plan.seed), plan.seed)
            for launch in launches
            for contents in _modes(launch)
        ]
    except (NotCompiled, CannotEncode) as error:
        campaign.trouble = str(error)
        return campaign
    if not works:
        campaign.trouble = "no small launch satisfies the contract"
        return campaign
    paths = Lines(device.text).paths
    for tool in tools:
        left = plan.deadline - time.monotonic()
        if left < 1:
            campaign.trouble = f"resources: the time for this file is over before {tool}"
            break
        progress(tool)
        seen = watch(machine, tool, works, paths=paths, seconds=min(SECONDS, left))
        campaign.seconds[tool] = round(seen.seconds, 3)
        campaign.made += len(seen.said.launches)
        _count(campaign, machine, works, seen, paths)
        if seen.trouble or (seen.findings and tool == "memcheck"):
            break
    return campaign


def _modes(launch: ConcreteLaunch) -> tuple[Contents, ...]:
    return ("zeros", "counting", "random") if open_buffers(launch) else ("random",)


def _count(
    campaign: GpuCampaign, machine: Machine, works: Sequence[Work], seen: Watched, paths: Set[str]
) -> None:
    if seen.trouble:
        campaign.trouble, campaign.broken = seen.trouble, seen.broken
    if not seen.findings:
        if not seen.trouble:
            campaign.clean.append(seen.tool)
        return
    guilty = works[seen.launch] if seen.launch is not None else _guilty(machine, works, seen, paths)
    campaign.faults += [GpuFault(f, guilty.launch, seen.tool) for f in seen.findings]


def _guilty(machine: Machine, works: Sequence[Work], seen: Watched, paths: Set[str]) -> Work:
    """The report does not say which launch a record is about: the first one that shows it alone."""
    for candidate in works[:-1]:
        again = watch(machine, seen.tool, [candidate], paths=paths, seconds=SECONDS)
        if {f.property for f in again.findings} & {f.property for f in seen.findings}:
            return candidate
    return works[-1]
