"""User assertions hold and traps are unreachable."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.symex.claims import Claims, Obligation
from verifier.symex.summary import Summary

ID = "assert"
SUMMARY = "user assertions hold and traps are unreachable"


def applies(s: Summary) -> bool:
    """Whether the kernel asserts or traps."""
    return bool(s.asserts)


def claims(c: Claims) -> Iterator[Obligation]:
    """One obligation an assertion."""
    for guard, cond, span, text in c.s.asserts:
        yield c.single(ID, span, f"assertion {text}", (guard,), cond)
