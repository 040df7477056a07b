"""Several small launches of one contract under several schedules: what was seen, and what one relation would explain.

Findings of the fast build are seen again without optimisation, which gives their exact lines. Invariant: ``complete``
counts only runs in which every launched block ran to its end under watch.

Example::

    campaign = explore(device, kernel, contract, plan, sandbox=probe())
    campaign.faults, campaign.runs, campaign.missing     # missing: "n == m" when only launches without it are faulty
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

from sanitizers.sampling import small_launches
from sanitizers.simulator import SCHEDULES, Schedule, Session, SimFinding, SimResult
from specs.clauses import ClauseError, ClauseUndefined, evaluate, holds, instantiate, names
from specs.contract import Clause, ConcreteLaunch, Contract
from verifier.ir import nodes as ir
from verifier.isolation import Sandbox
from verifier.source.device_text import DeviceText

MOST_BLOCKS = 64
"""Of a launch that is always large, so many blocks run: the first, the last, and some between."""


@dataclass(frozen=True, slots=True)
class Plan:
    """``launches`` sizes, each under every kind of schedule ``rounds`` times."""

    launches: int = 4
    rounds: int = 1
    max_threads: int = 4096
    seed: int = 0
    deadline: float = float("inf")


@dataclass(frozen=True, slots=True)
class Fault:
    """A finding with the launch and schedule that show it."""

    finding: SimFinding
    launch: ConcreteLaunch
    schedule: Schedule
    scalars: dict[str, int | float | None]
    """As they were passed, those that the launch leaves open too."""


@dataclass(slots=True)
class Campaign:
    """``missing``: a relation of two sizes that every clean launch has and no faulty one, or ""."""

    faults: list[Fault] = field(default_factory=list)
    launches: list[dict[str, int]] = field(default_factory=list)
    runs: int = 0
    complete: int = 0
    blocks_run: int = 0
    blocks_launched: int = 0
    accesses: int = 0
    unsupported: str = ""
    limits: list[str] = field(default_factory=list)
    missing: str = ""
    stopped: bool = False
    """The deadline came first."""


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
    launches = small_launches(contract, count=plan.launches, seed=plan.seed, max_threads=plan.max_threads)
    if not launches:
        return campaign
    with Session(device, kernel, sandbox=sandbox, cache=cache) as session:
        if session.unsupported is not None:
            campaign.unsupported = session.unsupported
            return campaign
        faulty: list[dict[str, int]] = []
        for symbols in launches:
            found = _launch(session, contract, symbols, plan, campaign, progress)
            if campaign.stopped or campaign.unsupported:
                break
            faulty += [symbols] if found else []
        if faulty and not campaign.unsupported:
            clean = [s for s in campaign.launches if s not in faulty]
            campaign.missing = _separating(session, contract, plan, clean, campaign)
    if campaign.faults:
        _sharpen(device, kernel, campaign, plan, sandbox, cache)
    return campaign


def _launch(
    session: Session,
    contract: Contract,
    symbols: dict[str, int],
    plan: Plan,
    campaign: Campaign,
    progress: Callable[[str], None],
) -> bool:
    """One launch under every schedule. True if a fault was seen."""
    launch = _concrete(contract, symbols)
    if launch is None:
        return False
    campaign.launches.append(symbols)
    blocks = _blocks(launch)
    found = False
    for turn in range(plan.rounds):
        for kind in SCHEDULES:
            if turn > 0 and kind in ("forward", "reverse"):
                continue  # these two do not depend on the seed
            if time.monotonic() > plan.deadline:
                campaign.stopped = True
                return found
            schedule = Schedule(kind, plan.seed + turn)
            result = session.run(launch, {}, schedule, blocks=blocks, outputs=False)
            _note(campaign, result, session, launch, schedule, blocks)
            progress(f"{campaign.runs} runs")
            found |= bool(result.findings)
            if result.unsupported is not None:
                return found
    return found


def _note(
    campaign: Campaign,
    result: SimResult,
    session: Session,
    launch: ConcreteLaunch,
    schedule: Schedule,
    blocks: Sequence[int] | None,
) -> None:
    campaign.runs += 1
    campaign.blocks_run += result.blocks_run
    campaign.blocks_launched += result.blocks_launched
    campaign.accesses += result.accesses
    wanted = len(blocks) if blocks is not None else result.blocks_launched
    campaign.complete += result.complete and result.blocks_run == wanted
    campaign.unsupported = campaign.unsupported or result.unsupported or ""
    if result.error is not None and result.error not in campaign.limits:
        campaign.limits.append(result.error)
    known = {(f.finding.property, f.finding.span) for f in campaign.faults}
    for finding in result.findings:
        if (finding.property, finding.span) not in known:
            known.add((finding.property, finding.span))
            campaign.faults.append(Fault(finding, launch, schedule, session.scalars(launch)))


def _concrete(contract: Contract, symbols: dict[str, int]) -> ConcreteLaunch | None:
    try:
        return instantiate(contract, symbols)
    except (ClauseError, ClauseUndefined):
        return None


def _blocks(launch: ConcreteLaunch) -> list[int] | None:
    gx, gy, gz = launch.grid
    total = gx * gy * gz
    if total * launch.block[0] * launch.block[1] * launch.block[2] <= 1 << 16:
        return None
    step = max(1, total // MOST_BLOCKS)
    return sorted({*range(0, total, step), 1, gx - 1, total - 1} & set(range(total)))[: MOST_BLOCKS + 3]


def _sharpen(
    device: DeviceText,
    kernel: ir.Kernel,
    campaign: Campaign,
    plan: Plan,
    sandbox: Sandbox,
    cache: Path | None,
) -> None:
    """See each fault again in the unoptimised build and take its places from there."""
    with Session(device, kernel, opt="O0", sandbox=sandbox, cache=cache) as session:
        if session.unsupported is not None:
            return
        sharp: dict[tuple[str, object], Fault] = {}
        for fault in campaign.faults:
            if time.monotonic() > plan.deadline:
                return
            again = session.run(fault.launch, {}, fault.schedule, blocks=_blocks(fault.launch), outputs=False)
            same = [f for f in again.findings if f.property == fault.finding.property] or [fault.finding]
            for finding in same:
                sharp.setdefault(
                    (finding.property, finding.span),
                    Fault(finding, fault.launch, fault.schedule, fault.scalars),
                )
    campaign.faults = _without_consequences(list(sharp.values()))


def _separating(
    session: Session, contract: Contract, plan: Plan, clean: list[dict[str, int]], campaign: Campaign
) -> str:
    """A relation ``a == b`` or ``a <= b`` of two sizes that all faulty launches break and that makes launches clean.

    Such a relation is a missing clause of the contract, not a fault of the kernel. Only accesses outside a launch
    buffer can be explained so, and only by the size of that buffer. It is tried on launches of its own, with several
    blocks where the contract allows it; one fault among them and it explains nothing.
    """
    faulty = [f.launch.symbols for f in campaign.faults]
    extents = [_extent_symbols(contract, f) for f in campaign.faults]
    if not all(extents):
        return ""
    free = [s.name for s in contract.symbols if not (s.kind == "scalar" and s.value is not None)]
    for a, b in combinations(free, 2):
        if not all({a, b} & e for e in extents):
            continue
        for text in (f"{a} == {b}", f"{a} <= {b}", f"{b} <= {a}"):
            if any(evaluate(text, s) for s in faulty) or (clean and not any(evaluate(text, s) for s in clean)):
                continue
            if _explains(session, contract, plan, text):
                return text
    return ""


def _extent_symbols(contract: Contract, fault: Fault) -> set[str]:
    """The sizes that the buffer of an access outside it is made of; none for any other fault."""
    if fault.finding.property != "bounds-global":
        return set()
    found: set[str] = set()
    for param in fault.finding.buffer.split("/"):
        buffer = contract.buffer(param)
        found |= names(buffer.extent) if buffer is not None else set()
    return found


def _explains(session: Session, contract: Contract, plan: Plan, text: str) -> bool:
    narrowed = replace(contract, requires=(*contract.requires, Clause(text, "assumed")))
    trials = small_launches(narrowed, count=4, seed=plan.seed + 1, max_threads=plan.max_threads)
    launches = [launch for s in trials if holds(narrowed, s) and (launch := _concrete(contract, s)) is not None]
    if len(launches) < 2 or time.monotonic() > plan.deadline:
        return False
    results = [
        session.run(launch, {}, Schedule(kind, plan.seed), blocks=_blocks(launch), outputs=False)
        for launch in launches
        for kind in SCHEDULES[:2]
    ]
    return all(r.complete and not r.findings for r in results)


def _without_consequences(faults: list[Fault]) -> list[Fault]:
    """A racing read may come before the write: that it then finds nothing written is no fault of its own."""
    racing = {
        (f.finding.buffer, span)
        for f in faults
        if f.finding.property.startswith("race")
        for span in (f.finding.span, f.finding.other.span if f.finding.other is not None else f.finding.span)
    }
    return [
        f for f in faults if f.finding.property != "uninitialized" or (f.finding.buffer, f.finding.span) not in racing
    ]
