"""Every element of every output that has no contents before the launch is written, by a thread that can be named.

The writer is found by inverting a store's index map over the whole grid (see ``symex.coverage_claims``); the loops of the
kernel must end, or the store may never come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verifier.checks import termination
from verifier.symex.claims import Claims, Obligation
from verifier.symex.coverage_claims import covered, outputs
from verifier.symex.summary import Summary

ID = "coverage"
SUMMARY = "every element of every output is written"


def applies(s: Summary) -> bool:
    """Whether the kernel writes a buffer that nobody filled (``torch::empty``)."""
    return bool(outputs(s))


def claims(c: Claims) -> Iterator[tuple[Obligation, ...]]:
    """For each output, alternatives one of which must be proved; for each loop, that it ends."""
    for obj in outputs(c.s):
        yield covered(c, ID, obj)
    for loop in termination.claims(c):
        yield (replace(loop, property=ID),)
