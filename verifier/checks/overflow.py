"""Every integer operation and conversion that can reach an address, a branch, a barrier or the launch keeps its value.

The executor records one operation for each integer computation that its interval does not settle; the prove gate
discharges them first, since every other proof rests on exact values.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.symex.claims import Claims, Obligation
from verifier.symex.operation_claims import operations
from verifier.symex.summary import Summary

ID = "overflow"
SUMMARY = "every integer operation and conversion that can reach an address, branch, barrier or launch keeps its value"


def applies(s: Summary) -> bool:
    """Every kernel computes integers."""
    return True


def claims(c: Claims) -> Iterator[Obligation]:
    """One obligation a relevant operation."""
    return operations(c, ID)
