"""Does what the prover claims really happen? witness -> the same witness with what was seen, or None.

Built without optimisation, so that no access is merged, sunk or dropped; run on the blocks that matter; buffers of any
size are reserved, not touched. Invariant: a witness comes back only if a finding of the same property was seen on the
same line (of a race: on either side).

Example::

    replay(device, kernel, contract, witness, "bounds-global", span, sandbox=probe())
    # Witness(…, threads=(ThreadAccess((4, 0, 0), (0, 0, 0), "writes y[1024], …", span),), replayed=True)
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sanitizers.simulator import SCHEDULES, Schedule, Session, SimFinding, SimResult
from sanitizers.simulator.model import ScheduleKind
from sanitizers.simulator.session import impossible
from specs.clauses import ClauseError, ClauseUndefined, evaluate
from specs.contract import ConcreteBuffer, ConcreteLaunch, Contract
from specs.location import Span
from specs.results import ThreadAccess, Witness
from verifier.ir import nodes as ir
from verifier.ir.barriers import contains_barrier
from verifier.isolation import Limits, Sandbox
from verifier.source.device_text import DeviceText

LIMITS = Limits(cpu_seconds=60, memory_mb=0, wall_seconds=8.0, output_bytes=16 << 20)
STEPS = 1 << 24
"""Accesses of one run: a replay is short, or the witness is too large to be looked at."""
MOST_THREADS = 1 << 16
"""A launch of up to so many threads is run whole; of a larger one only the blocks that the witness names."""


def replay(
    device: DeviceText,
    kernel: ir.Kernel,
    contract: Contract,
    witness: Witness,
    property: str,
    span: Span,
    *,
    sandbox: Sandbox,
    cache: Path | None = None,
    deadline: float = math.inf,
) -> Witness | None:
    """Run the witness; see the module's invariant. No new run starts after ``deadline`` (``time.monotonic``).

    Raises SimulatorMissing without a g++.
    """
    launch = launch_of(contract, kernel, witness)
    refused = impossible(launch)
    if property == "launch" or refused is not None:
        return replace(witness, replayed=True) if property == "launch" and refused is not None else None
    session = Session(device, kernel, opt="O0", sandbox=sandbox, cache=cache, limits=LIMITS)
    together = contains_barrier(kernel.body, grid=True)
    seen = _run(session, launch, witness, property, span, deadline, together)
    if seen is None and property == "overflow" and span.line:  # unsigned wrap, narrowing
        session = Session(device, kernel, opt="O0", sandbox=sandbox, cache=cache, limits=LIMITS, checked=span)
        seen = _run(session, launch, witness, property, span, deadline, together)
    return None if seen is None else replace(witness, threads=seen, replayed=True)


def _run(
    session: Session,
    launch: ConcreteLaunch,
    witness: Witness,
    property: str,
    span: Span,
    deadline: float,
    together: bool,
) -> tuple[ThreadAccess, ...] | None:
    with session:
        if session.unsupported is not None:
            return None
        for tolerant in (False, True):
            parked = False
            for blocks, kind in _attempts(witness, property, together):
                if time.monotonic() > deadline:
                    return None
                schedule = Schedule(kind, 1, _first(witness, property))
                result = session.run(
                    launch, {}, schedule, blocks=blocks, outputs=False, steps=STEPS, tolerant=tolerant
                )
                if (seen := _seen(result, property, span)) is not None:
                    return seen
                if not result.findings and (result.error or "").startswith("resources"):
                    return None  # no other order ends sooner
                parked |= any(f.property.startswith("bounds") for f in result.findings)
            if not parked:
                break
    return None


def trial(
    device: DeviceText,
    kernel: ir.Kernel,
    contract: Contract,
    witness: Witness,
    *,
    sandbox: Sandbox,
    cache: Path | None = None,
) -> SimResult:
    """One run of the witness's blocks, whatever it shows: did it come to its end?"""
    launch = launch_of(contract, kernel, witness)
    with Session(device, kernel, opt="O0", sandbox=sandbox, cache=cache, limits=LIMITS) as session:
        blocks, kind = next(iter(_attempts(witness, "", False)))
        return session.run(launch, {}, Schedule(kind, 1), blocks=blocks, outputs=False, steps=STEPS)


def launch_of(contract: Contract, kernel: ir.Kernel, witness: Witness) -> ConcreteLaunch:
    """The witness as a launch; what it leaves open (types, aliasing, content bounds) comes from the contract."""
    buffers: list[ConcreteBuffer] = []
    for buffer in contract.buffers:
        low, high = (_bound(t, witness) for t in buffer.content or ("", ""))
        numel = witness.buffers.get(buffer.param, _bound(buffer.extent, witness) or 0)
        data = witness.data.get(buffer.param, {})
        buffers.append(
            ConcreteBuffer(
                buffer.param, buffer.dtype, numel, (), buffer.initialized, buffer.storage, data, low, high
            )
        )
    scalars = {
        s.param: witness.scalars.get(s.param, _bound(s.value or "", witness)) for s in contract.scalars
    }
    return ConcreteLaunch(
        kernel.name, kernel.instantiation, witness.grid, witness.block, witness.shared_bytes, tuple(buffers),
        {**scalars, **witness.scalars}, witness.symbols,
    )  # fmt: skip


def _bound(text: str, witness: Witness) -> int | None:
    try:
        return evaluate(text, witness.symbols) if text else None
    except (ClauseError, ClauseUndefined):
        return None


def _attempts(
    witness: Witness, property: str, together: bool
) -> Iterable[tuple[Sequence[int] | None, ScheduleKind]]:
    """Which blocks run, in which order. ``together``: the blocks wait for each other, so that all have to be there."""
    gx, gy, gz = witness.grid
    threads = gx * gy * gz * witness.block[0] * witness.block[1] * witness.block[2]
    named = sorted({b[0] + gx * (b[1] + gy * b[2]) for b in (t.block for t in witness.threads)})
    named = [n for n in named if 0 <= n < gx * gy * gz]
    ordered = property.startswith(("race", "barrier", "uninitialized", "bounds"))  # what a schedule can hide
    kinds = SCHEDULES if ordered else SCHEDULES[:1]
    if named and not together:
        yield from ((named, kind) for kind in kinds)
    if threads <= MOST_THREADS or property == "coverage":
        yield from ((None, kind) for kind in kinds)
    elif not named and not together:
        yield from (([0, gx * gy * gz - 1], kind) for kind in kinds)


def _first(witness: Witness, property: str) -> int | None:
    """The thread that does it: before others use up what a replay may take. Where two matter the order stays."""
    if property.startswith(("race", "barrier", "coverage")) or len(witness.threads) != 1:
        return None
    (x, y, z), (bx, by, _) = witness.threads[0].thread, witness.block
    return x + bx * (y + by * z)


def _seen(result: SimResult, property: str, span: Span) -> tuple[ThreadAccess, ...] | None:
    if property == "coverage":
        complete = result.complete and result.blocks_run == result.blocks_launched and not result.findings
        missed = next(iter(result.unwritten.items()), None)
        if not complete or missed is None:
            return None
        return (ThreadAccess((0, 0, 0), (0, 0, 0), f"no thread writes {missed[0]}[{missed[1][1]}]", span),)
    match = next((f for f in result.findings if _same(f, property, span)), None)
    if match is None:
        return None
    own = ThreadAccess(match.block, match.thread, match.action or match.message, match.span)
    return (own, match.other) if match.other is not None else (own,)


def _same(finding: SimFinding, property: str, span: Span) -> bool:
    family = "bounds" if property.startswith("bounds") else property
    if not (finding.property == property or (family == "bounds" and finding.property.startswith("bounds"))):
        return False
    places = [finding.span, *([finding.other.span] if finding.other is not None else [])]
    return span.line == 0 or any((p.path, p.line) == (span.path, span.line) for p in places)
