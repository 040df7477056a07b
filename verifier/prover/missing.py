"""The clause without which a proof fails: never assumed, always said.

Obligation -> one sentence with a ready clause, or "". Templates: two buffers do not overlap; integer contents are valid
indices; two sizes are equal (``b.size(0) == a.size(1)``).
"""

from __future__ import annotations

from dataclasses import replace

from verifier.prover.discharge import Discharger
from verifier.smt.terms import Const, Term, atoms
from verifier.symex.claims import Claims, Obligation

MAX_PAIRS = 10


def missing_clause(c: Claims, d: Discharger, o: Obligation) -> str:
    """What a person or the host code would have to promise for the obligation to hold; "" if no template does."""
    if o.note.startswith("disjoint("):
        a, b = o.note.removeprefix("disjoint(").removesuffix(")").split(", ")
        return f"nothing says that {a} and {b} are different memory; add the clause {o.note}"
    if o.data and o.property.startswith("bounds"):
        names = sorted({c.s.reads[x][0] for x in o.data})
        return f"the indices read from {', '.join(names)} are not known to be in range; add a content clause for it"
    if not o.property.startswith("bounds") or len(o.threads) != 1:
        return ""
    pair = _equal_sizes(c, d, o)
    return (
        f"needs {pair[0]} == {pair[1]}, which nothing checks; add the clause or a host check" if pair else ""
    )


def _equal_sizes(c: Claims, d: Discharger, o: Obligation) -> tuple[str, str] | None:
    t = c.s.t
    dims = {s.name for s in c.s.contract.symbols if s.kind == "dim"}
    by_atom = {
        atom: name for name, atom in c.s.symbols.items() if name in dims and not isinstance(atom, Const)
    }
    used: list[Term] = [x for x in atoms([*o.hyps, o.goal]) if x in by_atom]
    if not o.accesses or o.accesses[0].obj.extent is None:
        return None
    extent = [x for x in atoms([o.accesses[0].obj.extent]) if x in by_atom]
    tried = 0
    for a in extent:
        for b in used:
            if a is b or b in extent or tried >= MAX_PAIRS:
                continue
            tried += 1
            same = {a: b}
            moved = replace(
                o,
                hyps=tuple(t.substitute(h, same) for h in o.hyps),
                goal=t.substitute(o.goal, same),
                facts=tuple(t.substitute(f, same) for f in o.facts),
            )
            if t.and_(*moved.hyps) is not t.false and d.decide(moved, 0.2).status == "proved":
                return by_atom[a], by_atom[b]
    return None
