"""No read of shared memory, or of a buffer that nobody filled, before a write that reaches it.

The writer is found by inverting a store's index map (see ``writer_claims``): for the element that is read, a thread and
iteration of an earlier store are computed, and it is proved that this store was executed and ordered before the read.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.symex.claims import Claims, Obligation
from verifier.symex.summary import Access, Summary
from verifier.symex.writer_claims import alternatives

ID = "uninitialized"
SUMMARY = "no read of shared memory or of an unfilled buffer before a write that reaches it"


def applies(s: Summary) -> bool:
    """Whether memory is read that the launch does not define."""
    return any(_matters(a) for a in s.accesses)


def _matters(a: Access) -> bool:
    """A read of shared memory, or of a buffer whose contents the launch does not define (``torch::empty``)."""
    undefined = a.obj.buffer is not None and not a.obj.buffer.initialized
    return a.kind != "write" and (a.obj.space == "shared" or undefined)


def claims(c: Claims) -> Iterator[tuple[Obligation, ...]]:
    """For each read, alternatives one of which must be proved."""
    for a in c.s.accesses:
        if _matters(a):
            yield alternatives(c, ID, a)
