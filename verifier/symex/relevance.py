"""Locals whose values can reach an address, a condition, a mask or a loop bound (syntactic, over the whole kernel).

Only for these does the executor propose loop invariants; it is a saving, never a claim.
"""

from __future__ import annotations

from collections.abc import Iterable

from verifier.ir import nodes as ir
from verifier.symex.syntax import place_expressions, reads


def relevant_locals(body: Iterable[ir.Stmt]) -> frozenset[str]:
    """Backward closure from addresses, conditions and masks through assignments."""
    roots: dict[str, None] = {}
    flows: dict[str, dict[str, None]] = {}

    def use(e: ir.Expr | None) -> None:
        if e is not None:
            roots.update(reads(e))

    def flow(var: str, e: ir.Expr) -> None:
        flows.setdefault(var, {}).update(reads(e))

    def walk(stmts: Iterable[ir.Stmt]) -> None:
        for s in stmts:
            match s:
                case ir.Assign(var=var, value=value):
                    flow(var, value)
                case ir.Load(place=p) | ir.Store(place=p) | ir.Atomic(place=p):
                    for e in place_expressions(p):
                        use(e)
                case ir.If(cond=c, then=a, other=b):
                    use(c)
                    walk(a)
                    walk(b)
                case ir.Loop(head=h, cond=c, body=b, step=st):
                    use(c)
                    for part in (h, b, st):
                        walk(part)
                case ir.Scope(body=b):
                    walk(b)
                case ir.Barrier(mask=m) | ir.WarpOp(mask=m):
                    use(m)
                case ir.BarrierReduce(pred=p):
                    use(p)
                case ir.Assert(cond=c):
                    use(c)

    walk(body)
    todo = list(roots)
    while todo:
        for source in flows.get(todo.pop(), ()):
            if source not in roots:
                roots[source] = None
                todo.append(source)
    return frozenset(roots)
