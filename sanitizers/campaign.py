"""Several small launches of one contract under several schedules: what was seen, and what the contract may lack.

Findings of the fast build are seen again without optimisation, which gives their exact lines. Invariant: ``complete``
counts only runs in which every chosen block ran to its end under watch.

Example::

    campaign = explore(device, kernel, contract, Plan(), sandbox=probe())
    campaign.faults, campaign.runs      # a fault with .missing goes away under that clause: the contract's gap
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sanitizers.contents import Contents, fill, open_buffers
from sanitizers.gaps import explain
from sanitizers.performance import predict
from sanitizers.sampling import small_launches
from sanitizers.simulator import SCHEDULES, Schedule, Session, SimFinding, SimResult
from sanitizers.simulator.build import BLOCKS
from specs.clauses import ClauseError, ClauseUndefined, instantiate
from specs.contract import ConcreteLaunch, Contract
from specs.location import Span
from verifier.ir import nodes as ir
from verifier.isolation import Sandbox
from verifier.source.device_text import DeviceText

MOST_BLOCKS = 64
"""Of a launch that is always large, so many blocks run: the first, the last, and some between."""


@dataclass(frozen=True, slots=True)
class Plan:
    """``launches`` sizes, each under every kind of schedule ``rounds`` times."""

    launches: int = 5
    rounds: int = 1
    max_threads: int = 4096
    seed: int = 0
    deadline: float = float("inf")
    archs: tuple[str, ...] = ()
    """Predict the speed for these; none: do not."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A finding with what shows it. ``scalars``: as passed, those that the launch leaves open too.

    ``missing``: a clause that the contract lacks and that the fault goes away with, or "".
    """

    finding: SimFinding
    launch: ConcreteLaunch
    schedule: Schedule
    contents: Contents
    scalars: dict[str, int | float | None]
    missing: str = ""


@dataclass(slots=True)
class Campaign:
    """``limits``: what cut runs short. ``stopped``: the deadline came first. ``predicted``: of the speed on a GPU.

    ``lines``: where the kernel's basic blocks begin, ``not_run``: those that no run came to, ``reached``: the blocks' addresses.
    """

    faults: list[Fault] = field(default_factory=list)
    launches: list[dict[str, int]] = field(default_factory=list)
    runs: int = 0
    complete: int = 0
    blocks_run: int = 0
    blocks_launched: int = 0
    accesses: int = 0
    unsupported: str = ""
    limits: list[str] = field(default_factory=list)
    stopped: bool = False
    predicted: dict[str, object] = field(default_factory=dict)
    lines: frozenset[Span] = frozenset()
    not_run: frozenset[Span] = frozenset()
    reached: set[int] = field(default_factory=set)


class Runner:
    """Launches of one contract in one session; knows which blocks of a launch to run and what its buffers hold."""

    def __init__(self, session: Session, contract: Contract, plan: Plan) -> None:
        self.session, self.contract, self.plan = session, contract, plan

    def concrete(self, symbols: Mapping[str, int]) -> ConcreteLaunch | None:
        """The launch for these sizes, or None where a quantity has no value."""
        try:
            return instantiate(self.contract, symbols)
        except (ClauseError, ClauseUndefined):
            return None

    def run(self, launch: ConcreteLaunch, schedule: Schedule, contents: Contents = "random") -> SimResult:
        """One run, without its outputs."""
        inputs = fill(launch, contents, self.plan.seed)
        return self.session.run(launch, inputs, schedule, blocks=chosen_blocks(launch), outputs=False)

    def launches(self, contract: Contract, count: int, seed: int) -> list[ConcreteLaunch]:
        """Small launches of a (narrowed) contract."""
        found = small_launches(contract, count=count, seed=seed, max_threads=self.plan.max_threads)
        return [launch for s in found if (launch := self.concrete(s)) is not None]

    @property
    def late(self) -> bool:
        return time.monotonic() > self.plan.deadline


def chosen_blocks(launch: ConcreteLaunch) -> list[int] | None:
    """None for all of them."""
    gx, gy, gz = launch.grid
    total = gx * gy * gz
    if total * launch.block[0] * launch.block[1] * launch.block[2] <= 1 << 16:
        return None
    step = max(1, total // MOST_BLOCKS)
    return sorted({*range(0, total, step), 1, gx - 1, total - 1} & set(range(total)))[: MOST_BLOCKS + 3]


def explore(
    device: DeviceText,
    kernel: ir.Kernel,
    contract: Contract,
    plan: Plan,
    *,
    sandbox: Sandbox,
    cache: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Campaign:
    """Run the plan. Raises SimulatorMissing without a g++."""
    campaign = Campaign()
    sizes = small_launches(
        contract, count=plan.launches, seed=plan.seed, max_threads=plan.max_threads, edges=True
    )
    if not sizes:
        return campaign
    with Session(device, kernel, opt=f"O1{BLOCKS}", sandbox=sandbox, cache=cache) as session:
        if session.unsupported is not None:
            campaign.unsupported = session.unsupported
            return campaign
        runner = Runner(session, contract, plan)
        for symbols in sizes:
            _launch(runner, symbols, campaign, progress)
            if campaign.stopped or campaign.unsupported:
                break
        _cover(session, campaign)
        if not campaign.faults and not campaign.unsupported:
            campaign.predicted = _predicted(runner, campaign.launches)
    if campaign.faults:
        with Session(device, kernel, opt="O0", sandbox=sandbox, cache=cache) as session:
            if session.unsupported is None:
                _sharpen(Runner(session, contract, plan), campaign)
    return campaign


def _cover(session: Session, campaign: Campaign) -> None:
    known = session.blocks() if campaign.runs else {}
    campaign.lines = frozenset(known.values())
    campaign.not_run = campaign.lines - {known[b] for b in campaign.reached if b in known}


def _predicted(runner: Runner, sizes: Sequence[dict[str, int]]) -> dict[str, object]:
    """For the launch of most threads."""
    launches = [launch for s in sizes if (launch := runner.concrete(s)) is not None]
    if not launches or not runner.plan.archs or runner.late:
        return {}
    largest = max(launches, key=lambda launch: math.prod(launch.grid) * math.prod(launch.block))
    if chosen_blocks(largest) is not None:
        return {}
    found = predict(runner.session, largest, runner.plan.archs)
    threads = f"<<<{tuple(largest.grid)}, {tuple(largest.block)}>>>"
    return {} if found is None else {**found.facts(), "launch": threads, "sizes": dict(largest.symbols)}


def _launch(
    runner: Runner, symbols: dict[str, int], campaign: Campaign, progress: Callable[[str], None]
) -> None:
    """One launch under every schedule; where the contract leaves integer contents open, with several of them."""
    launch = runner.concrete(symbols)
    if launch is None:
        return
    campaign.launches.append(symbols)
    modes: tuple[Contents, ...] = ("zeros", "counting", "random") if open_buffers(launch) else ("random",)
    for turn in range(runner.plan.rounds):
        for kind in SCHEDULES:
            for contents in modes:
                if turn > 0 and kind in ("forward", "reverse"):
                    continue  # these two do not depend on the seed
                if runner.late:
                    campaign.stopped = True
                    return
                schedule = Schedule(kind, runner.plan.seed + turn)
                result = runner.run(launch, schedule, contents)
                _count(campaign, result, launch)
                scalars = runner.session.scalars(launch)
                _keep(campaign, [Fault(f, launch, schedule, contents, scalars) for f in result.findings])
                progress(f"{campaign.runs} runs")
                if result.unsupported is not None:
                    return


def _count(campaign: Campaign, result: SimResult, launch: ConcreteLaunch) -> None:
    blocks = chosen_blocks(launch)
    campaign.runs += 1
    campaign.blocks_run += result.blocks_run
    campaign.blocks_launched += result.blocks_launched
    campaign.accesses += result.accesses
    campaign.reached |= result.blocks
    wanted = result.blocks_launched if blocks is None else len(blocks)
    campaign.complete += result.complete and result.blocks_run == wanted
    campaign.unsupported = campaign.unsupported or result.unsupported or ""
    if result.error is not None and result.error not in campaign.limits:
        campaign.limits.append(result.error)


def _keep(campaign: Campaign, faults: Sequence[Fault]) -> None:
    known = {(f.finding.property, f.finding.span) for f in campaign.faults}
    for fault in faults:
        if (fault.finding.property, fault.finding.span) not in known:
            known.add((fault.finding.property, fault.finding.span))
            campaign.faults.append(fault)


def _sharpen(runner: Runner, campaign: Campaign) -> None:
    """See each fault again in the unoptimised build: exact places, and what the contract may lack."""
    sharp: dict[tuple[str, object], Fault] = {}
    for fault in campaign.faults:
        again = runner.run(fault.launch, fault.schedule, fault.contents) if not runner.late else SimResult()
        same = [f for f in again.findings if f.property == fault.finding.property] or [fault.finding]
        for finding in same:
            sharp.setdefault((finding.property, finding.span), replace(fault, finding=finding))
    campaign.faults = [
        replace(f, missing=explain(runner, f)) for f in _without_consequences(list(sharp.values()))
    ]


def _without_consequences(faults: list[Fault]) -> list[Fault]:
    """A racing read may come before the write: that it then finds nothing written is no fault of its own."""
    racing = {
        (f.finding.buffer, span)
        for f in faults
        if f.finding.property.startswith("race")
        for span in (f.finding.span, f.finding.other.span if f.finding.other is not None else f.finding.span)
    }
    return [
        f
        for f in faults
        if f.finding.property != "uninitialized" or (f.finding.buffer, f.finding.span) not in racing
    ]
