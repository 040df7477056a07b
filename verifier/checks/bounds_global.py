"""Every access to global memory lies inside its object, axis by axis for declared arrays."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.symex.claims import Claims, Obligation
from verifier.symex.memory_claims import bounds, has_space
from verifier.symex.summary import Summary

ID = "bounds-global"
SUMMARY = "every access to global memory lies inside its object"


def applies(s: Summary) -> bool:
    """Whether the kernel touches global memory."""
    return has_space(s, "global")


def claims(c: Claims) -> Iterator[Obligation]:
    """One obligation an access."""
    return bounds(c, ID, "global")
