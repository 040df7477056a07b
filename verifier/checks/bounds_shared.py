"""Every access to shared memory lies inside its object, axis by axis for declared arrays."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.symex.claims import Claims, Obligation
from verifier.symex.memory_claims import bounds, has_space
from verifier.symex.summary import Summary

ID = "bounds-shared"
SUMMARY = "every access to shared memory lies inside its object"


def applies(s: Summary) -> bool:
    """Whether the kernel touches shared memory."""
    return has_space(s, "shared")


def claims(c: Claims) -> Iterator[Obligation]:
    """One obligation an access."""
    return bounds(c, ID, "shared")
