"""Claims about integer operations: the value stays inside its C type, the divisor is not zero."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.smt.definitions import closure, quotient_bounds
from verifier.symex.claims import Claims, Obligation
from verifier.symex.summary import Operation, Summary


def relevant(s: Summary) -> int:
    """Bits of the operations that an address, branch, barrier, mask or launch quantity rests on, and all divisions."""
    mask = s.launch_deps
    for sink in s.sinks:
        mask |= sink.deps
    for op in s.operations:
        if op.property == "arithmetic" and op.fault:
            mask |= op.bit  # dividing by zero is undefined even where the quotient is only data
    changed = True
    while changed:
        changed = False
        for op in s.operations:
            if mask & op.bit and op.deps & ~mask:
                mask |= op.deps
                changed = True
    return mask


def claim_of(c: Claims, op: Operation) -> Obligation:
    """The obligation of one operation where it is computed."""
    text = f"{op.what} keeps its value" if op.property == "overflow" else f"no {op.what}"
    if op.lemma:
        text = op.what
    if op.host:
        return _host_claim(c, op, text)
    return c.single(op.property, op.span, text, (op.guard,), op.holds, links=False)


def _host_claim(c: Claims, op: Operation, text: str) -> Obligation:
    """A host conversion is exact: by preconditions that take only earlier conversions to be exact.

    ``u32(n * 4096) <= cap`` read without wrapping would show that nothing wraps; neither may the names of sizes be used,
    whose intervals are those of the converted values.
    """
    s = c.s
    clauses = [
        s.expand(r, op.bit)
        for r, ops in zip(s.requires, s.requires_ops, strict=True)
        if not ops & ~(op.bit - 1)
    ]
    goal = s.expand(op.holds, op.bit)
    facts = [*clauses, *closure(s.t, [goal, *clauses], s.facts)]
    lemmas = tuple(x for x in quotient_bounds(s.t, [goal, *facts]) if x not in facts)
    return Obligation(op.property, op.span, text, (), goal, (*facts, *lemmas), lemmas)


def claims_at_uses(c: Claims, op: Operation) -> Iterator[Obligation]:
    """The operation's obligation where its value is used (weaker: the use's path condition may exclude the fault)."""
    if op.property == "arithmetic" and op.fault:
        return
    for sink in c.s.sinks:
        if sink.deps & op.bit:
            yield c.single(
                op.property,
                op.span,
                f"{op.what} keeps its value at {sink.what}",
                (sink.guard,),
                op.holds,
                links=False,
            )


def operations(c: Claims, property_: str) -> Iterator[Obligation]:
    """Obligations of all relevant operations of a property."""
    mask = relevant(c.s)
    for op in c.s.operations:
        if op.property == property_ and op.bit & mask and not op.lemma:
            yield claim_of(c, op)
