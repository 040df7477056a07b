"""Every vector or cast access is aligned to its size."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.symex.claims import Claims, Obligation
from verifier.symex.memory_claims import aligned, may_be_odd
from verifier.symex.summary import Summary

ID = "alignment"
SUMMARY = "every vector or cast access is aligned to its size"


def applies(s: Summary) -> bool:
    """Whether an access is wider than its object's element, or at an odd offset in bytes."""
    return any(may_be_odd(s.t, a) for a in s.accesses)


def claims(c: Claims) -> Iterator[Obligation]:
    """One obligation a wide access."""
    return aligned(c, ID)
