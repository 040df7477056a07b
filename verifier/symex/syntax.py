"""Syntactic questions about IR statements: what they assign, read, leave, and whether they contain barriers."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from verifier.ir import nodes as ir


def assigned(stmts: Iterable[ir.Stmt]) -> dict[str, None]:
    """Locals assigned anywhere in the statements."""
    out: dict[str, None] = {}
    for s in stmts:
        match s:
            case ir.Assign(var=v) | ir.BarrierReduce(var=v) | ir.WarpOp(var=v) | ir.Atomic(var=v):
                if v:
                    out[v] = None
            case ir.Load(var=v, parts=parts):
                if v:
                    out[v] = None
                out.update((p, None) for p, _ in parts)
            case ir.If(then=a, other=b):
                out.update(assigned(a))
                out.update(assigned(b))
            case ir.Loop(head=h, body=b, step=st):
                for part in (h, b, st):
                    out.update(assigned(part))
            case ir.Scope(body=b):
                out.update(assigned(b))
    return out


def leaves(stmts: Iterable[ir.Stmt], inside: frozenset[str] = frozenset()) -> dict[str, None]:
    """Labels that are left from within the statements to outside of them."""
    out: dict[str, None] = {}
    for s in stmts:
        match s:
            case ir.Leave(label=label):
                if label not in inside:
                    out[label] = None
            case ir.If(then=a, other=b):
                out.update(leaves(a, inside))
                out.update(leaves(b, inside))
            case ir.Loop(label=label, head=h, body=b, step=st):
                inner = inside | {label, f"{label}.body"}
                for part in (h, b, st):
                    out.update(leaves(part, inner))
            case ir.Scope(label=label, body=b):
                out.update(leaves(b, inside | {label}))
    return out


def reads(e: ir.Expr) -> dict[str, None]:
    """Locals an expression reads."""
    return {x.name: None for x in parts(e) if isinstance(x, ir.Read)}


def parts(e: ir.Expr) -> Iterator[ir.Expr]:
    """An expression and all that it is made of."""
    stack = [e]
    while stack:
        x = stack.pop()
        yield x
        match x:
            case ir.Unary(operand=a) | ir.Not(operand=a) | ir.Convert(operand=a):
                stack.append(a)
            case (
                ir.Binary(left=a, right=b)
                | ir.Compare(left=a, right=b)
                | ir.And(left=a, right=b)
                | ir.Or(left=a, right=b)
                | ir.PtrDiff(left=a, right=b)
                | ir.PtrAdd(pointer=a, index=b)
            ):
                stack += [a, b]
            case ir.Select(cond=c, then=a, other=b):
                stack += [c, a, b]
            case ir.Call(args=args):
                stack += args
            case ir.AddressOf(place=p):
                stack += place_expressions(p)


def place_expressions(place: ir.Place) -> list[ir.Expr]:
    """The expressions a place is computed from."""
    match place:
        case ir.Deref(pointer=p):
            return [p]
        case ir.Elem(array=a, index=i):
            return [*place_expressions(a), i]
        case ir.Member(struct=s):
            return place_expressions(s)
        case _:
            return []


def strip_conversions(e: ir.Expr) -> ir.Expr:
    """The expression under its conversions from integer to integer, and from pointer to pointer."""
    while isinstance(e, ir.Convert):
        kinds = e.type, e.operand.type
        if not all(isinstance(k, ir.Int) for k in kinds) and not all(
            isinstance(k, ir.Pointer) for k in kinds
        ):
            break
        e = e.operand
    return e


def unconverted(e: ir.Expr, wrapped: Container[object]) -> ir.Expr:
    """The expression under integer conversions that keep its value: those that do not are in ``wrapped``, by identity."""
    while (
        isinstance(e, ir.Convert)
        and isinstance(e.type, ir.Int)
        and isinstance(e.operand.type, ir.Int)
        and id(e) not in wrapped
    ):
        e = e.operand
    return e


def updates_of(stmts: Iterable[ir.Stmt], name: str) -> list[tuple[bool, ir.Stmt]]:
    """Statements that assign the local: (at top level, statement)."""
    out: list[tuple[bool, ir.Stmt]] = []
    for s in stmts:
        match s:
            case ir.If() | ir.Loop() | ir.Scope():
                out += [(False, s)] if name in assigned((s,)) else []
            case _:
                if name in assigned((s,)):
                    out.append((True, s))
    return out


def _holds_all(wide: ir.Int, narrow: ir.Int) -> bool:
    """Whether a type has every value of the other one."""
    if wide.signed == narrow.signed:
        return wide.bits >= narrow.bits
    return wide.signed and wide.bits > narrow.bits


def plain_test(test: ir.Expr) -> bool:
    """Whether a test computes nothing that could fail or wrap: comparisons of variables and constants, widened at most."""
    match test:
        case ir.Compare(left=a, right=b) | ir.And(left=a, right=b) | ir.Or(left=a, right=b):
            return plain_test(a) and plain_test(b)
        case ir.Convert(operand=a, type=ir.Int() as wide) if isinstance(a.type, ir.Int):
            return _holds_all(wide, a.type) and plain_test(a)
        case _:
            return isinstance(test, ir.Read | ir.IntConst | ir.BoolConst | ir.Builtin)


def toggles(loop: ir.Loop, v: str) -> bool:
    """Whether the loop updates the variable by ``^ 1``, ``1 - v``, ``% 2`` or ``& 1`` (a double-buffer index)."""
    for _, stmt in updates_of((*loop.head, *loop.body, *loop.step), v):
        if isinstance(stmt, ir.Assign):
            match strip_conversions(stmt.value):
                case ir.Binary(op="xor" | "and", right=ir.IntConst(value=1)):
                    return True
                case ir.Binary(op="sub", left=ir.IntConst(value=1)):
                    return True
                case ir.Binary(op="rem", right=ir.IntConst(value=2)):
                    return True
    return False


def doubles_or_halves(loop: ir.Loop, v: str) -> bool:
    """Whether all that the loop does to the variable is ``* 2``, ``/ 2`` or a shift by 1."""
    updates = updates_of((*loop.head, *loop.body, *loop.step), v)
    for _, stmt in updates:
        match strip_conversions(stmt.value) if isinstance(stmt, ir.Assign) else None:
            case ir.Binary(op="shl" | "shr", left=own, right=by) if _is(by, 1):
                pass
            case ir.Binary(op="mul" | "div", left=own, right=by) if _is(by, 2):
                pass
            case _:
                return False
        source = strip_conversions(own)
        if not isinstance(source, ir.Read) or source.name != v:
            return False
    return bool(updates)


def _is(e: ir.Expr, number: int) -> bool:
    e = strip_conversions(e)
    return isinstance(e, ir.IntConst) and e.value == number


def masks_below(stmts: Iterable[ir.Stmt]) -> bool:
    """Whether ``x & (m - 1)`` occurs in an assignment, where m is no constant."""
    for s in stmts:
        match s:
            case ir.Assign(value=value):
                for e in parts(value):
                    if isinstance(e, ir.Binary) and e.op == "and":
                        for side in map(strip_conversions, (e.left, e.right)):
                            if isinstance(side, ir.Binary) and side.op == "sub" and _is(side.right, 1):
                                return True
            case ir.If(then=a, other=b):
                if masks_below(a) or masks_below(b):
                    return True
            case ir.Loop(head=h, body=b, step=st):
                if any(map(masks_below, (h, b, st))):
                    return True
            case ir.Scope(body=b):
                if masks_below(b):
                    return True
    return False
