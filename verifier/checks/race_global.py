"""No two threads conflict on global memory without an ordering barrier between them."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.symex.claims import Claims
from verifier.symex.race_claims import Claim, conflicts, has_writes
from verifier.symex.summary import Summary

ID = "race-global"
SUMMARY = "no two threads conflict on global memory without an ordering barrier"


def applies(s: Summary) -> bool:
    """Whether the kernel touches global memory."""
    return has_writes(s, "global")


def claims(c: Claims) -> Iterator[Claim]:
    """One claim a conflicting pair of accesses."""
    return conflicts(c, ID, "global")
