"""Every access to local memory lies inside its object, axis by axis for declared arrays."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.symex.claims import Claims, Obligation
from verifier.symex.memory_claims import bounds, has_space
from verifier.symex.summary import Summary

ID = "bounds-local"
SUMMARY = "every access to local memory lies inside its object"


def applies(s: Summary) -> bool:
    """Whether the kernel touches local memory."""
    return has_space(s, "local")


def claims(c: Claims) -> Iterator[Obligation]:
    """One obligation an access."""
    return bounds(c, ID, "local")
