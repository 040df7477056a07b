"""IR expressions -> symbolic values.

Integers are exact (unbounded); each operation that might leave its C type records an :class:`Operation` and its result
carries that operation's bit in ``deps``. An operation listed in ``wrapped`` (its obligation was not proved before) has
modular meaning instead. Floats are opaque. Pointers are (condition, object, byte offset) alternatives.

Invariant: the value returned denotes the C value on every execution on which all operations in ``deps`` kept their
type.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from specs.location import NOWHERE, Span
from verifier.ir import nodes as ir
from verifier.smt.definitions import conjuncts
from verifier.smt.terms import Const, Term, TooLarge
from verifier.symex import bits, calls, pointers
from verifier.symex.floats import range_of
from verifier.symex.summary import Access, Epoch, Gap, MemoryObject, Operation, Sink, Summary
from verifier.symex.values import Ptr, Val, Value, int_range, type_name

if TYPE_CHECKING:
    from verifier.symex.cells import Cell


class Unmodelled(Exception):
    """An expression without a meaning here; the statement becomes a Gap."""

    def __init__(self, construct: str, detail: str, span: Span = NOWHERE) -> None:
        super().__init__(f"{construct}: {detail}")
        self.construct, self.detail, self.span = construct, detail, span


@dataclass(slots=True)
class State:
    """Where symbolic execution stands: locals, path condition, last barriers."""

    env: dict[str, Value]
    guard: Term
    gdeps: int
    block: tuple[Epoch, ...]
    warp: tuple[Epoch, ...]
    grid: tuple[Epoch, ...]
    copies: tuple[tuple[Access, int], ...] = ()
    """Asynchronous accesses in flight, each with the number of its group; -1: its group is not ended."""
    cells: tuple[Cell, ...] = ()
    """What was read or written lately, and cannot have changed since without a race."""
    groups: int | None = 0
    """How many groups the thread has ended; None if that differs by path."""

    def copy(self) -> State:
        return replace(self, env=dict(self.env))


class Evaluator:
    """Expression evaluation over the current state; statements are in ``execute``."""

    def __init__(self, summary: Summary, wrapped: frozenset[object], node_budget: int) -> None:
        self.s = summary
        self.t = summary.t
        self.wrapped = wrapped
        self.state: State = State({}, self.t.true, 0, (), (), ())
        self.iters: tuple[Term, ...] = ()
        self.path = ""
        self.budget = node_budget
        self.changed: list[str] = []
        self.dropped: frozenset[object] = frozenset()
        self.null = MemoryObject("the null pointer", "global", self.t.zero, 1)

    # --- bookkeeping ------------------------------------------------------------------------------------------------

    def spend(self) -> None:
        self.budget -= 1
        if self.budget <= 0:
            raise TooLarge("the kernel is larger than the symbolic execution's budget")

    def fresh(self, stem: str, flevel: int, lo: int | None, hi: int | None) -> Term:
        """An unknown of this program point and these loop iterations."""
        return self.t.app(self.t.fresh_name(stem), self.iters, flevel, lo, hi)

    def fresh_float(self, stem: str, flevel: int = 2) -> Term:
        return self.t.float(self.t.fresh_name(stem), self.iters, flevel)

    def fresh_bool(self, stem: str, flevel: int = 2) -> Term:
        return self.t.bapp(self.t.fresh_name(stem), self.iters, flevel)

    def fresh_of(self, type_: ir.Type, stem: str, flevel: int = 2) -> Value:
        match type_:
            case ir.Int(bits=bits, signed=signed):
                lo, hi = int_range(bits, signed)
                return Val(self.fresh(stem, flevel, lo, hi))
            case ir.Bool():
                return Val(self.fresh_bool(stem, flevel))
            case ir.Float():
                return Val(self.fresh_float(stem, flevel))
            case ir.Pointer():
                return Ptr(((self.t.true, None, self.t.zero),))
            case _:
                raise Unmodelled("value", f"a value of type {type_}")

    def sink(self, deps: int, span: Span, what: str) -> None:
        if deps:
            self.s.sinks.append(Sink(self.state.guard, deps, span, what))

    def gap(self, construct: str, detail: str, span: Span) -> None:
        self.s.gaps.append(Gap(construct, detail, span, self.state.guard))

    def operation(
        self,
        key: object,
        property_: str,
        holds: Term,
        span: Span,
        what: str,
        deps: int,
        fault: bool,
        value: Term | None,
    ) -> int:
        """Record an obligation on the current path; returns its bit (0 when it holds at once)."""
        if holds is self.t.true or key in self.wrapped:
            return 0
        bit = 1 << len(self.s.operations)
        self.s.operations.append(
            Operation(
                bit,
                key,
                property_,
                self.state.guard,
                holds,
                span,
                what,
                deps | self.state.gdeps,
                fault,
                value=value,
            )
        )
        return bit

    def fit(
        self, exact: Term, type_: ir.Int, key: object, span: Span, what: str, deps: int, fault: bool
    ) -> Val:
        """The value of an exact result at its C type."""
        lo, hi = int_range(type_.bits, type_.signed)
        if exact.lo is not None and exact.hi is not None and lo <= exact.lo and exact.hi <= hi:
            self.t.record("within", exact, lo, hi)
            return Val(exact, deps)
        t = self.t
        if key in self.wrapped:
            return Val(t.wrap(exact, type_.bits, type_.signed), deps)
        holds = t.and_(t.le(t.const(lo), exact), t.le(exact, t.const(hi)))
        return Val(exact, deps | self.operation(key, "overflow", holds, span, what, deps, fault, exact))

    # --- expressions ------------------------------------------------------------------------------------------------

    def value(self, e: ir.Expr) -> Val:
        v = self.eval(e)
        if isinstance(v, Ptr):
            raise Unmodelled("pointer", "a pointer used as a number")
        return v

    def eval(self, e: ir.Expr) -> Value:
        self.spend()
        t = self.t
        match e:
            case ir.IntConst(value=number):
                return Val(t.const(number))
            case ir.BoolConst(value=b):
                return Val(t.true if b else t.false)
            case ir.FloatConst(value=f, type=ty):
                return Val(t.float(f"const:{f!r}:{ty.name}", (), 0))
            case ir.Read(name=name, type=ty):
                found = self.state.env.get(name)
                if found is None:
                    found = self.state.env[name] = self.fresh_of(ty, f"uninit:{name}")
                return found
            case ir.Builtin(name=name):
                return Val(self.builtin(name))
            case ir.Unary():
                return self._unary(e)
            case ir.Binary():
                return self.known(self._binary(e))
            case ir.Compare():
                return self._compare(e)
            case ir.Not(operand=a):
                v = self.value(a)
                return Val(t.not_(v.term), v.deps)
            case ir.And(left=a, right=b):
                x = self.value(a)
                y = self.under(x.term, x.deps, b)
                return Val(t.and_(x.term, y.term), x.deps | y.deps)
            case ir.Or(left=a, right=b):
                x = self.value(a)
                y = self.under(t.not_(x.term), x.deps, b)
                return Val(t.or_(x.term, y.term), x.deps | y.deps)
            case ir.Select():
                return self._select(e)
            case ir.Convert():
                return self._convert(e)
            case ir.Call():
                return calls.call(self, e)
            case ir.AddressOf(place=place):
                return self.pointer(place)[0]
            case ir.PtrAdd(pointer=p, index=i, type=ty):
                return self._advance(self.ptr(p), self.value(i), ir.size_of(ty.elem))
            case ir.PtrDiff(left=a, right=b):
                return self._difference(self.ptr(a), self.ptr(b), e)
            case ir.Undef(type=ty, why=why, span=span):
                if why:
                    self.s.approximations.append((why, span))
                return self.fresh_of(ty, "undef")
            case _:
                assert_never(e)

    def under(self, cond: Term, deps: int, e: ir.Expr) -> Val:
        """Evaluate ``e`` as C does when ``cond`` decided to evaluate it at all."""
        saved = self.state.guard, self.state.gdeps
        self.state.guard = self.t.and_(saved[0], cond)
        self.state.gdeps |= deps
        try:
            return self.value(e)
        finally:
            self.state.guard, self.state.gdeps = saved

    def builtin(self, name: str) -> Term:
        g = self.s.geometry
        if name == "warpSize":
            return self.t.const(32)
        base, _, axis = name.partition(".")
        table = {"threadIdx": g.thread, "blockIdx": g.block_index, "blockDim": g.block, "gridDim": g.grid}
        if base not in table or axis not in ("x", "y", "z"):
            raise Unmodelled("builtin", name)
        return table[base]["xyz".index(axis)]

    def _unary(self, e: ir.Unary) -> Val:
        v = self.value(e.operand)
        t = self.t
        match e.type:
            case ir.Int(bits=bits, signed=signed):
                if e.op == "bitnot":
                    flipped = t.sub(t.const(-1) if signed else t.const((1 << bits) - 1), v.term)
                    return Val(flipped, v.deps)
                return self.fit(t.neg(v.term), e.type, id(e), e.span, "negation", v.deps, signed)
            case ir.Float():
                return Val(t.float("neg", (v.term,), 0), v.deps)
            case _:
                raise Unmodelled("operator", f"{e.op} on {e.type}", e.span)

    def known(self, value: Val) -> Val:
        """What the executor calls a size."""
        return value

    def _binary(self, e: ir.Binary) -> Val:
        a, b = self.value(e.left), self.value(e.right)
        deps = a.deps | b.deps
        t = self.t
        if isinstance(e.type, ir.Float):
            return Val(t.float(e.op, (a.term, b.term), 0), deps)
        if not isinstance(e.type, ir.Int):
            raise Unmodelled("operator", f"{e.op} on {e.type}", e.span)
        ty, x, y = e.type, a.term, b.term
        names = {"add": "sum", "sub": "difference", "mul": "product"}
        match e.op:
            case "add":
                exact = t.add(x, y)
            case "sub":
                exact = t.sub(x, y)
            case "mul":
                exact = t.mul(x, y)
            case "div" | "rem":
                return self._division(e, ty, x, y, deps)
            case "shl" | "shr":
                return bits.shift(self, e, ty, x, y, deps)
            case "and" | "or" | "xor":
                return bits.bitwise(self, e, ty, x, y, deps)
        return self.fit(exact, ty, id(e), e.span, f"{names[e.op]} of {type_name(ty)}", deps, ty.signed)

    def _division(self, e: ir.Binary, ty: ir.Int, x: Term, y: Term, deps: int) -> Val:
        t = self.t
        bit = self.operation(
            (id(e), "zero"), "arithmetic", t.ne(y, t.zero), e.span, "division by zero", deps, True, y
        )
        if ty.signed:
            low = int_range(ty.bits, True)[0]
            extreme = t.and_(t.eq(x, t.const(low)), t.eq(y, t.const(-1)))
            bit |= self.operation(
                (id(e), "min"),
                "arithmetic",
                t.not_(extreme),
                e.span,
                "quotient of the lowest value by -1",
                deps,
                True,
                x,
            )
        return Val(t.quot(x, y) if e.op == "div" else t.rem(x, y), deps | bit)

    def _compare(self, e: ir.Compare) -> Val:
        a, b = self.eval(e.left), self.eval(e.right)
        t = self.t
        if isinstance(a, Ptr) or isinstance(b, Ptr):
            return pointers.compare(self, e, a, b)
        deps = a.deps | b.deps
        if a.term.op == "float" or b.term.op == "float":
            return Val(t.bapp(f"flt:{e.op}", (a.term, b.term), 0), deps)
        if a.term.is_bool:
            same = t.iff(a.term, b.term)
            return Val(same if e.op == "eq" else t.not_(same), deps)
        x, y = a.term, b.term
        match e.op:
            case "lt":
                out = t.lt(x, y)
            case "le":
                out = t.le(x, y)
            case "gt":
                out = t.lt(y, x)
            case "ge":
                out = t.le(y, x)
            case "eq":
                out = t.eq(x, y)
            case "ne":
                out = t.ne(x, y)
            case _:
                assert_never(e.op)
        return Val(out, deps)

    def _select(self, e: ir.Select) -> Value:
        c = self.value(e.cond)
        saved = self.state.guard, self.state.gdeps
        self.state.guard = self.t.and_(saved[0], c.term)
        self.state.gdeps |= c.deps
        a = self.eval(e.then)
        self.state.guard = self.t.and_(saved[0], self.t.not_(c.term))
        b = self.eval(e.other)
        self.state.guard, self.state.gdeps = saved
        return self.choose(c.term, c.deps, a, b)

    def choose(self, cond: Term, deps: int, a: Value, b: Value) -> Value:
        """``cond ? a : b``."""
        t = self.t
        if isinstance(a, Ptr) and isinstance(b, Ptr):
            if a == b:
                return a
            alts = [(t.and_(cond, c), o, x) for c, o, x in a.alts]
            alts += [(t.and_(t.not_(cond), c), o, x) for c, o, x in b.alts]
            grouped: dict[tuple[str, int], tuple[Term, MemoryObject | None, Term]] = {}
            for c, o, x in alts:
                if c is t.false:
                    continue
                key = (o.name if o else "", x.id)
                grouped[key] = (t.or_(grouped[key][0], c), o, x) if key in grouped else (c, o, x)
            if len(grouped) > 8:
                raise Unmodelled("pointer", "a pointer with more than eight possible targets")
            return Ptr(tuple(grouped.values()), deps | a.deps | b.deps)
        if isinstance(a, Ptr) or isinstance(b, Ptr):
            raise Unmodelled("pointer", "a choice between a pointer and a number")
        if a.term is b.term:
            return Val(a.term, a.deps | b.deps)
        both = deps | a.deps | b.deps
        if a.term.is_bool and b.term.is_bool:
            return Val(t.bite(cond, a.term, b.term), both)
        if a.term.op == "float" or b.term.op == "float":
            return Val(t.float("ite", (self._as_float(cond), a.term, b.term), 0), both)
        return Val(t.ite(cond, a.term, b.term), both)

    def _as_float(self, cond: Term) -> Term:
        return self.t.float(f"cond:{cond.id}", (), cond.level)

    def _convert(self, e: ir.Convert) -> Value:
        v = self.eval(e.operand)
        t = self.t
        source = e.operand.type
        match source, e.type:
            case ir.Pointer(), ir.Pointer():
                return v
            case (ir.Pointer(), ir.Bool()):
                return pointers.compare(
                    self, ir.Compare("ne", e.operand, e.operand), v, Ptr(((t.true, self.null, t.zero),))
                )
            case (ir.Pointer(), _) | (_, ir.Pointer()):
                if isinstance(v, Ptr):
                    return pointers.address(self, v, e, e.span)
                if isinstance(v.term, Const) and v.term.value == 0:
                    return Ptr(((t.true, self.null, t.zero),))
                return pointers.pointer_at(self, v, e.span)
        assert isinstance(v, Val)
        match source, e.type:
            case ir.Int(), ir.Int(bits=bits, signed=signed) if isinstance(source, ir.Int):
                narrowing = bits < source.bits or (bits == source.bits and signed and not source.signed)
                what = f"conversion from {type_name(source)} to {type_name(e.type)}"
                return self.fit(v.term, e.type, id(e), e.span, what, v.deps, narrowing)
            case ir.Bool(), ir.Int():
                return Val(t.int_of(v.term), v.deps)
            case ir.Int(), ir.Bool():
                return Val(t.ne(v.term, t.zero), v.deps)
            case ir.Float(), ir.Float():
                return Val(t.float(f"cvt:{e.type.name}", (v.term,), 0), v.deps)
            case ir.Int(), ir.Float():
                return Val(t.float(f"i2f:{e.type.name}", (v.term,), 0), v.deps)
            case ir.Bool(), ir.Float():
                return Val(t.float("b2f", (self._as_float(v.term),), 0), v.deps)
            case ir.Float(), ir.Bool():
                return Val(t.bapp("flt:nonzero", (v.term,), 0), v.deps)
            case ir.Float(), ir.Int():
                return self._float_to_int(e, v)
            case ir.Bool(), ir.Bool():
                return v
        raise Unmodelled("conversion", f"{source} to {e.type}", e.span)

    def _float_to_int(self, e: ir.Convert, v: Val) -> Val:
        assert isinstance(e.type, ir.Int)
        lo, hi = int_range(e.type.bits, e.type.signed)
        if isinstance(e.operand, ir.FloatConst) and lo <= int(e.operand.value) <= hi:
            return Val(self.t.const(int(e.operand.value)))
        known = range_of(v.term, conjuncts((self.state.guard,)))
        fits = not known.nan and lo - 1 < known.low <= known.high < hi + 1
        if fits:
            lo, hi = math.trunc(known.low), math.trunc(known.high)
        name = f"f2i:{e.type.bits}:{v.term.id}" + (f":{lo}:{hi}" if fits else "")
        out = self.t.app(name, (), v.term.level, lo, hi)
        if fits:
            return Val(out, v.deps)
        inside = self.t.bapp(f"f2i-inside:{v.term.id}", (), v.term.level)
        bit = self.operation(
            (id(e), "f2i"),
            "arithmetic",
            inside,
            e.span,
            "conversion of a float to an integer",
            v.deps,
            False,
            None,
        )
        return Val(out, v.deps | bit)

    # --- pointers and places ----------------------------------------------------------------------------------------

    def ptr(self, e: ir.Expr) -> Ptr:
        v = self.eval(e)
        if isinstance(v, Val):
            raise Unmodelled("pointer", "a number used as a pointer")
        return v

    def _advance(self, p: Ptr, index: Val, size: int) -> Ptr:
        step = self.t.mul(index.term, self.t.const(size))
        return Ptr(tuple((c, o, self.t.add(x, step)) for c, o, x in p.alts), p.deps | index.deps)

    def _difference(self, a: Ptr, b: Ptr, e: ir.PtrDiff) -> Val:
        if len(a.alts) == len(b.alts) == 1 and a.alts[0][1] is b.alts[0][1] and a.alts[0][1] is not None:
            ty = e.left.type
            size = ir.size_of(ty.elem) if isinstance(ty, ir.Pointer) else 1
            d = self.t.sub(a.alts[0][2], b.alts[0][2])
            return Val(self.t.quot(d, self.t.const(size)), a.deps | b.deps)
        raise Unmodelled("pointer difference", "pointers into different objects")

    def pointer(self, place: ir.Place) -> tuple[Ptr, tuple[tuple[Term, int], ...]]:
        """Where a place lies, and its (index, count) for each indexed array axis (negative count: unsized)."""
        t = self.t
        match place:
            case ir.Deref(pointer=p):
                return self.ptr(p), ()
            case ir.Object(name=name):
                obj = self.s.objects.get(name)
                if obj is None:
                    raise Unmodelled("object", name)
                return Ptr(((t.true, obj, t.zero),)), ()
            case ir.Elem(array=array, index=i, type=ty):
                base, rows = self.pointer(array)
                index = self.value(i)
                moved = self._advance(base, index, ir.size_of(ty))
                count = array.type.count if isinstance(array.type, ir.Array) else 0
                return moved, (*rows, (index.term, count)) if count else rows
            case ir.Member(struct=s, field=f):
                base, rows = self.pointer(s)
                return self._advance(base, Val(t.const(f.offset)), 1), rows
            case _:
                assert_never(place)
