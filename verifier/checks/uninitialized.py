"""No read of shared memory, a local array or variable, or a buffer that nobody filled, before a write that reaches it.

The writer is found by inverting a store's index map (see ``writer_claims``): for the element that is read, a thread and
iteration of an earlier store are computed, and it is proved that this store was executed and ordered before the read.
Variables have a value where every path to the read assigns one (``definite``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verifier.symex.claims import Claims, Obligation
from verifier.symex.definite import unassigned_reads
from verifier.symex.summary import Access, Summary
from verifier.symex.writer_claims import alternatives

ID = "uninitialized"
SUMMARY = "no read of shared or local memory, or of an unfilled buffer, before a write that reaches it"


def applies(s: Summary) -> bool:
    """Whether memory is read that the launch does not define."""
    return any(_matters(a) for a in s.accesses) or bool(unassigned_reads(s.kernel))


def _matters(a: Access) -> bool:
    """A read of shared or local memory, or of a buffer whose contents the launch does not define (``torch::empty``)."""
    undefined = a.obj.buffer is not None and not a.obj.buffer.initialized
    return a.kind != "write" and (a.obj.space in ("shared", "local") or undefined)


def claims(c: Claims) -> Iterator[tuple[Obligation, ...]]:
    """For each read, alternatives one of which must be proved."""
    for name, span in unassigned_reads(c.s.kernel):
        bare = c.single(ID, span, f"{name} has a value where it is read", (), c.s.t.false)
        yield (replace(bare, note=f"unsupported: not every path to it assigns {name}"),)
    for a in c.s.accesses:
        if _matters(a):
            for part in _parts(c, a) if a.obj.space == "local" else (a,):
                yield alternatives(c, ID, part)


def _parts(c: Claims, read: Access) -> Iterator[Access]:
    """A local object may be written field by field and read as a whole: the read in pieces of its smallest store."""
    unit = min((a.size for a in c.s.accesses if a.obj is read.obj and a.kind == "write"), default=read.size)
    if unit >= read.size or read.size % unit:
        yield read
        return
    t = c.s.t
    for start in range(0, read.size, unit):
        yield replace(read, offset=t.add(read.offset, t.const(start)), size=unit, rows=())
