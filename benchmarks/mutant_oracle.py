"""What is wrong with a kernel, seen by running it: file -> the faults of its launches in the simulator, built at -O0.

Small launches under three schedules each. A mutant that loses values is also run at full size: launches large enough
for its type to wrap, on the blocks at the ends and some between (buffers are reserved, not touched), with the
conversions of the changed line checked. Invariant: what is not seen is not claimed; a run that was cut off is a note.

Example::

    watch(Path("saxpy.cu"), Watch("none", None))["faults"]    # [{"contract": 0, "property": "bounds-global", "line": 9}]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sanitizers.sampling import large_launches, small_launches
from sanitizers.simulator import Schedule, Session, SimFinding, SimResult
from specs.clauses import instantiate
from specs.contract import ConcreteLaunch, Contract
from specs.location import Span
from specs.policy import default_policy
from verifier import contracts, frontend, source
from verifier.ir import nodes as ir
from verifier.isolation import Limits
from verifier.isolation import sandbox as sandboxes
from verifier.source.device_text import Submission

LIMITS = Limits(cpu_seconds=60, memory_mb=0, wall_seconds=6.0, output_bytes=64 << 20)
STEPS = 1 << 25
SCHEDULES = (Schedule("forward", 0), Schedule("reverse", 0), Schedule("interleaved", 1))
WIDE_CAP = 7 << 30
"""Elements of a buffer at most where 64-bit sizes are the question."""
_CUT_OFF = 2
"""So many runs of a kernel that do not come to their end are enough: the next ones would not either."""


@dataclass(frozen=True, slots=True)
class Watch:
    """``line``: where values may get lost; ``wraps``: the types that may lose them, by their largest values."""

    sandbox: str
    cache: Path | None
    line: int = 0
    wraps: tuple[int, ...] = ()
    count: int = 5
    max_threads: int = 2048

    @property
    def cap(self) -> int:
        """Elements of a buffer up to which launches are right or wrong."""
        return WIDE_CAP if any(w > 1 << 30 for w in self.wraps) else default_policy().size_cap


def watch(path: Path, what: Watch) -> dict[str, Any]:
    """``{"faults": [{"contract", "property", "line"}], "runs", "notes"}``."""
    sandbox = sandboxes.probe(what.sandbox)
    submission = source.load(path, root=None, sandbox=sandbox)
    derived = contracts.derive(
        submission,
        contract_file=None,
        problem=None,
        lock=None,
        sandbox=sandbox,
        cap=what.cap,
        cache=what.cache,
    )
    module = frontend.parse_device(submission.device, derived.instantiations, sandbox=sandbox)
    faults: set[tuple[int, str, int]] = set()
    notes: set[str] = set()
    runs = 0
    for number, contract in enumerate(derived.contracts):
        names = (contract.kernel, contract.instantiation)
        kernel = next((k for k in module.kernels if (k.name, k.instantiation) == names), None)
        if kernel is None:
            notes.add(f"{contract.kernel}: not read")
            continue
        cut_off = 0
        for result in _results(submission, kernel, contract, what, sandbox):
            runs += 1
            notes |= {n for n in (result.unsupported, result.error) if n}
            seen = [f for f in result.findings if not _meant(f)]
            faults |= {(number, f.property, f.span.line) for f in seen}
            faults |= {(number, f.property, f.other.span.line) for f in seen if f.other}
            cut_off += result.error is not None
            if cut_off >= _CUT_OFF:
                break
    return {
        "faults": [{"contract": c, "property": p, "line": line} for c, p, line in sorted(faults)],
        "runs": runs,
        "notes": sorted(notes),
    }


def _meant(finding: SimFinding) -> bool:
    """Unsigned arithmetic wraps by definition: what it leads to may be a fault, not the wrap (seen on checked lines)."""
    return (
        finding.property == "overflow" and re.search(r"does not fit .?unsigned", finding.message) is not None
    )


def _results(
    submission: Submission, kernel: ir.Kernel, contract: Contract, what: Watch, sandbox: sandboxes.Sandbox
) -> Iterator[SimResult]:
    small = [
        instantiate(contract, symbols)
        for symbols in small_launches(contract, count=what.count, seed=1, max_threads=what.max_threads)
    ]
    full = [
        instantiate(contract, symbols)
        for wrap in what.wraps
        for symbols in large_launches(contract, count=3, seed=1, least=wrap + 1)
    ]
    changed = Span(kernel.span.path, what.line)
    for place in (None, changed) if what.wraps and what.line else (None,):
        with Session(
            submission.device,
            kernel,
            opt="O0",
            sandbox=sandbox,
            cache=what.cache,
            limits=LIMITS,
            checked=place,
        ) as session:
            for launch in small:
                for schedule in SCHEDULES:
                    yield session.run(launch, schedule=schedule, outputs=False, steps=STEPS)
            for launch in full:
                blocks = ends(launch)
                yield session.run(launch, schedule=SCHEDULES[0], outputs=False, steps=STEPS, blocks=blocks)


def ends(launch: ConcreteLaunch, some: int = 8) -> Sequence[int] | None:
    """The first and last blocks of each axis and some between; None for all of a few."""
    gx, gy, gz = launch.grid
    total = gx * gy * gz
    if total <= 2 * some:
        return None
    corners = {x + gx * (y + gy * z) for x in (0, gx - 1) for y in (0, gy - 1) for z in (0, gz - 1)}
    return sorted({*corners, 1, total - 2, *(total * i // some for i in range(some))})
