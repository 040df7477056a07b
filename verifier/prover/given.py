"""A contract under more clauses, each where it belongs. Contract x Clause… -> Contract.

Clauses on sizes become preconditions; ``disjoint(x, y)``, ``aligned(x, 16)``, ``written(x)`` and ``content(x, low, high)``
speak of memory, which no condition on sizes says. Invariant: every launch that the result allows the contract allows too.

Example: ``given(contract, [Clause("n % 4 == 0", "assumed"), Clause("disjoint(x, y)", "assumed")])``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from specs.contract import Buffer, Clause, Contract

_OF_MEMORY = re.compile(r"(disjoint|aligned|written|content)\(([\w.]+)(?:, (.+))?\)")


def of_memory(text: str) -> tuple[str, str, str] | None:
    """(kind, buffer, the rest) of a clause on memory; None for one on sizes."""
    match = _OF_MEMORY.fullmatch(text)
    return (match[1], match[2], match[3] or "") if match else None


def given(contract: Contract, clauses: Iterable[Clause]) -> Contract:
    """The contract with all of the clauses."""
    clauses = list(clauses)
    sizes = [c for c in clauses if of_memory(c.text) is None]
    apart = [c for c in clauses if c.text.startswith("disjoint(")]
    told = [m for c in clauses if (m := of_memory(c.text)) is not None]
    buffers = tuple(_buffer(b, [m for m in told if m[1] == b.param]) for b in contract.buffers)
    return replace(
        contract,
        requires=(*contract.requires, *sizes),
        no_alias=(*contract.no_alias, *apart),
        buffers=buffers,
    )


def bounds(rest: str) -> tuple[str, str]:
    """Both ends of ``content(x, low, high)``, of which ``rest`` is ``low, high``; the high end may have commas."""
    low, _, high = rest.partition(", ")
    return low, high


def _buffer(b: Buffer, told: Iterable[tuple[str, str, str]]) -> Buffer:
    for kind, _, rest in told:
        match kind:
            case "aligned":
                b = replace(b, align=max(b.align, int(rest)))
            case "written":
                b = replace(b, initialized=True)
            case "content":
                b = replace(b, content=bounds(rest), content_origin="stated")
    return b
