"""The contract as terms: symbols, scalars, buffers, grid and block, preconditions.

Contract -> the launch part of a Summary. A composite size (``(H + 2*p - k) / s + 1``) that is the value of a scalar
parameter or an axis of a buffer gets a name (an alias atom with its definition as a fact), so that kernel terms stay
monomials over names and equal sizes are one atom wherever they occur.

Invariant: every interval given to an atom here follows from the contract: symbol bounds, the size cap, what is not empty.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from specs import clauses
from verifier.ir import nodes as ir
from verifier.smt.terms import Const, Term, Terms

Fit = Callable[[Term, int, bool, ast.expr | str], Term]
_DTYPE_BYTES = {
    "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "bool": 1,
    "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8,
}  # fmt: skip


def dtype_bytes(dtype: str) -> int:
    """Size of a contract dtype in bytes. Raises KeyError for an unknown name."""
    return _DTYPE_BYTES[dtype]


class ClauseLowering:
    """Clause text -> terms over the contract's symbols. ``fit`` decides what a conversion means (see expressions)."""

    def __init__(self, t: Terms, symbols: dict[str, Term], fit: Fit) -> None:
        self.t, self.symbols, self.fit = t, symbols, fit
        self.aliases: dict[Term, Term] = {}
        self.undefined: list[str] = []

    def int(self, text: str) -> Term:
        """An integer clause. Raises ClauseError; unknown symbols become unknowns of their own."""
        return self._int(clauses.parse(text), text)

    def bool(self, text: str) -> Term:
        """A boolean clause."""
        return self._bool(clauses.parse(text), text)

    def _int(self, node: ast.expr, text: str) -> Term:
        value = self._raw(node, text)
        return self.aliases.get(value, value)

    def _raw(self, node: ast.expr, text: str) -> Term:
        t = self.t
        match node:
            case ast.Constant(value=v) if isinstance(v, int):
                return t.const(int(v))
            case ast.Name(id=name):
                if name not in self.symbols:
                    self.undefined.append(name)
                    self.symbols[name] = t.app(name, (), 0, -(1 << 63), (1 << 63) - 1)
                return self.symbols[name]
            case ast.BinOp(left=a, op=op, right=b):
                x, y = self._int(a, text), self._int(b, text)
                match op:
                    case ast.Add():
                        return t.add(x, y)
                    case ast.Sub():
                        return t.sub(x, y)
                    case ast.Mult():
                        return t.mul(x, y)
                    case ast.FloorDiv():
                        return t.quot(x, y)
                    case _:
                        return t.rem(x, y)
            case ast.UnaryOp(op=ast.USub(), operand=a):
                return t.neg(self._int(a, text))
            case ast.UnaryOp(op=ast.UAdd(), operand=a):
                return self._int(a, text)
            case ast.IfExp(test=c, body=a, orelse=b):
                return t.ite(self._bool(c, text), self._int(a, text), self._int(b, text))
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._call(name, [self._int(a, text) for a in args], node, text)
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp():
                return t.int_of(self._bool(node, text))
        raise clauses.ClauseError(f"not an integer clause: {text!r}")

    def _call(self, name: str, args: list[Term], node: ast.Call, text: str) -> Term:
        t = self.t
        if name in clauses.INT_TYPES:
            bits, signed = clauses.INT_TYPES[name]
            return self.fit(args[0], bits, signed, node.args[0])
        match name:
            case "min" | "max":
                out = args[0]
                for a in args[1:]:
                    out = t.minimum(out, a) if name == "min" else t.maximum(out, a)
                return out
            case "abs":
                return t.maximum(args[0], t.neg(args[0]))
            case "ceil_div":
                return t.quot(t.sub(t.add(args[0], args[1]), t.one), args[1])
            case _:
                return t.int_of(self._bool(node, text))

    def _bool(self, node: ast.expr, text: str) -> Term:
        t = self.t
        match node:
            case ast.Constant(value=v):
                return t.true if v else t.false
            case ast.BoolOp(op=op, values=values):
                parts = [self._bool(v, text) for v in values]
                return t.or_(*parts) if isinstance(op, ast.Or) else t.and_(*parts)
            case ast.UnaryOp(op=ast.Not(), operand=a):
                return t.not_(self._bool(a, text))
            case ast.Compare(left=a, ops=ops, comparators=rest):
                left = self._int(a, text)
                parts = []
                for o, r in zip(ops, rest, strict=True):
                    right = self._int(r, text)
                    parts.append(_comparison(t, o, left, right))
                    left = right
                return t.and_(*parts)
            case ast.Call(func=ast.Name(id="disjoint")):
                return t.true
            case ast.Call(func=ast.Name(id="pow2"), args=[a]):
                x = self._int(a, text)
                return t.or_(*(t.eq(x, t.const(1 << i)) for i in range(64) if x.hi is None or 1 << i <= x.hi))
            case ast.IfExp(test=c, body=a, orelse=b):
                return t.bite(self._bool(c, text), self._bool(a, text), self._bool(b, text))
            case _:
                return t.ne(self._int(node, text), t.zero)


def _comparison(t: Terms, op: ast.cmpop, a: Term, b: Term) -> Term:
    match op:
        case ast.Lt():
            return t.lt(a, b)
        case ast.LtE():
            return t.le(a, b)
        case ast.Gt():
            return t.lt(b, a)
        case ast.GtE():
            return t.le(b, a)
        case ast.Eq():
            return t.eq(a, b)
        case _:
            return t.ne(a, b)


def composite(term: Term) -> bool:
    """Whether a size deserves a name: anything but a constant, a symbol or a product of symbols."""
    if isinstance(term, Const) or term.op == "app":
        return False
    monos = getattr(term, "monos", None)
    if monos is not None and len(monos) == 1:
        ((mono, _),) = monos
        return any(a.op != "app" for a in mono)
    return True


def int_kind(type_: ir.Type) -> tuple[int, bool] | None:
    """(bits, signed) of an integer type, else None."""
    return (type_.bits, type_.signed) if isinstance(type_, ir.Int) else None
