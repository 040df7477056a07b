"""The launch is one the device accepts: block and grid limits, shared memory within the default limit of a block.

Limits are those of compute capability 7.0 to 12.0 (CUDA C++ Programming Guide, "Compute Capabilities"): 1024 threads a
block, 1024 x 1024 x 64 by axis, grid x below 2^31; 48 KiB of shared memory unless the host opts in to more. A kernel with
``__launch_bounds__(n)`` takes no larger block than n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verifier.smt.terms import Const
from verifier.symex.claims import Claims, Obligation
from verifier.symex.setup import MAX_BLOCK, MAX_GRID
from verifier.symex.summary import Summary

ID = "launch"
SUMMARY = "block, grid and shared memory of the launch are within the device's limits"
SHARED_DEFAULT = 48 * 1024


def applies(s: Summary) -> bool:
    """Every launch has limits."""
    return True


def claims(c: Claims) -> Iterator[Obligation | tuple[Obligation, ...]]:
    """Block axes, threads, grid axes, shared bytes.

    That an empty output makes an empty grid belongs to the edge domain: said as an assumption, no fault. So is that the y and z
    axes of the grid end at 65,535, which hardly any host code checks: beyond it nothing is launched.
    """
    s, t = c.s, c.s.t
    span = s.contract.launch.span
    grid, block = s.raw_grid, s.raw_block
    goals = [t.le(t.one, b) for b in block] + [
        t.le(b, t.const(m)) for b, m in zip(block, MAX_BLOCK, strict=True)
    ]
    yield c.single(ID, span, "each block axis is within its limit", (), t.and_(*goals))
    yield c.single(ID, span, "a block has at most 1024 threads", (), t.le(t.product(block), t.const(1024)))
    if bounds := s.kernel.launch_bounds:
        promised = t.le(t.product(block), t.const(bounds[0]))
        yield c.single(
            ID, span, f"a block has at most the {bounds[0]} threads of __launch_bounds__", (), promised
        )
    full = t.and_(*(t.le(t.one, g) for g in grid))
    filled = c.single(ID, span, "the grid is not empty", (), full)
    outputs = [o for name in s.outputs if (o := s.objects[name]).extent is not None]
    if outputs and len(outputs) == len(s.outputs):
        empty = [t.le0(o.extent) for o in outputs if o.extent is not None]
        moot = c.single(
            ID,
            span,
            "the grid is not empty where there is something to write",
            (),
            t.or_(full, t.and_(*empty)),
        )
        yield filled, replace(moot, assumes=tuple(f"nonempty({o.name})" for o in outputs))
    else:
        yield filled
    yield c.single(ID, span, "gridDim.x is below 2^31", (), t.lt(grid[0], t.const(1 << 31)))
    for axis, size in (("y", grid[1]), ("z", grid[2])):
        fits = c.single(ID, span, f"gridDim.{axis} is at most 65,535", (), t.le(size, t.const(MAX_GRID[1])))
        if isinstance(size, Const):
            yield fits
        else:
            yield fits, replace(fits, goal=t.true, assumes=(f"gridDim.{axis} <= {MAX_GRID[1]}",))
    shared = [o for o in dict.fromkeys(s.objects.values()) if o.space == "shared" and o.extent is not None]
    static = t.total(o.extent for o in shared if o.extent is not None and o.name != "dynamic shared memory")
    total = t.add(static, s.geometry.shared_bytes)
    yield c.single(
        ID, span, "shared memory is within 48 KiB a block", (), t.le(total, t.const(SHARED_DEFAULT))
    )
    yield c.single(
        ID, span, "the dynamic shared size is not negative", (), t.le(t.zero, s.geometry.shared_bytes)
    )
