"""Locals whose values can reach an address, a condition, a mask, a divisor or a loop bound (syntactic, whole kernel).

Only for these does the executor propose loop invariants and closed forms; it is a saving, never a claim.
"""

from __future__ import annotations

from collections.abc import Iterable

from verifier.ir import nodes as ir
from verifier.symex.syntax import parts, place_expressions, reads


def relevant_locals(body: Iterable[ir.Stmt]) -> frozenset[str]:
    """Backward closure from addresses, conditions, masks and divisors through assignments."""
    roots: dict[str, None] = {}
    flows: dict[str, dict[str, None]] = {}

    def use(e: ir.Expr | None) -> None:
        if e is not None:
            roots.update(reads(e))

    def flow(var: str, e: ir.Expr) -> None:
        flows.setdefault(var, {}).update(reads(e))
        for x in parts(e):
            match x:
                case ir.Binary(op="div" | "rem", right=divisor, type=ir.Int()):
                    use(divisor)
                case ir.Select(cond=c):
                    use(c)

    def walk(stmts: Iterable[ir.Stmt]) -> None:
        for s in stmts:
            match s:
                case ir.Assign(var=var, value=value):
                    flow(var, value)
                case ir.Store(place=p, value=v, parts=fields):
                    for e in place_expressions(p):
                        use(e)
                    for stored in (v, *(e for _, e in fields)):
                        if stored is not None and isinstance(stored.type, ir.Pointer):
                            use(stored)
                case ir.Load(place=p) | ir.Atomic(place=p):
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
                case ir.WarpOp(var=var, mask=m, args=args):
                    use(m)
                    for e in args:
                        flow(var, e)
                case ir.Barrier(mask=m):
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
