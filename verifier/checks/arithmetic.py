"""No division by zero, no shift out of range, no lowest value divided by -1 where it matters.

The executor records one operation for each integer computation that its interval does not settle; the prove gate
discharges them first, since every other proof rests on exact values.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.symex.claims import Claims, Obligation
from verifier.symex.operation_claims import operations
from verifier.symex.summary import Summary

ID = "arithmetic"
SUMMARY = "no division by zero, no shift out of range, no lowest value divided by -1 where it matters"


def applies(s: Summary) -> bool:
    """Every kernel computes integers."""
    return True


def claims(c: Claims) -> Iterator[Obligation]:
    """One obligation a relevant operation."""
    return operations(c, ID)
