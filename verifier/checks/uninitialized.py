"""No read of shared memory before a write that reaches it.

The writer is found by inverting a store's index map (see ``writer_claims``): for the element that is read, a thread and
iteration of an earlier store are computed, and it is proved that this store was executed and ordered before the read.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.symex.claims import Claims, Obligation
from verifier.symex.summary import Summary
from verifier.symex.writer_claims import alternatives

ID = "uninitialized"
SUMMARY = "no read of shared memory before a write that reaches it"


def applies(s: Summary) -> bool:
    """Whether shared memory is read."""
    return any(a.obj.space == "shared" and a.kind != "write" for a in s.accesses)


def claims(c: Claims) -> Iterator[tuple[Obligation, ...]]:
    """For each read, alternatives one of which must be proved."""
    for a in c.s.accesses:
        if a.obj.space == "shared" and a.kind != "write":
            yield alternatives(c, ID, a)
