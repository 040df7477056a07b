"""Locals that may be read before they are written: definite assignment, as in Java (JLS 16), over the IR.

Kernel -> (name, place) of each such read. Only variables declared without a value count. Invariant: a read that is not
reported comes after a write on every path. A loop's body may run zero times, unless its counter starts at a constant
that passes the test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from specs.location import NOWHERE, Span
from verifier.ir import nodes as ir
from verifier.symex.syntax import parts, place_expressions
from verifier.symex.values import int_range

_RESULT = re.compile(r"t\.\d+")
"""What the front end calls the result of an operation, which may be any value (random numbers)."""
State = frozenset[str] | None
"""Variables that have a value; None where nothing comes."""


def unassigned_reads(kernel: ir.Kernel) -> tuple[tuple[str, Span], ...]:
    """Each variable that may be read without a value, with the first such place."""
    walk = _Walk()
    walk.run(kernel.body, frozenset())
    return tuple(walk.found.items())


class _Walk:
    def __init__(self) -> None:
        self.declared: set[str] = set()
        self.found: dict[str, Span] = {}
        self.exits: dict[str, list[State]] = {}
        self.numbers: dict[str, int] = {}

    def run(self, stmts: Iterable[ir.Stmt], state: State) -> State:
        for s in stmts:
            if state is None:
                return None
            state = self.step(s, state)
        return state

    def step(self, s: ir.Stmt, state: frozenset[str]) -> State:
        for e in _expressions(s):
            self.read(e, state, getattr(s, "span", NOWHERE))
        match s:
            case ir.Assign(var=var, value=ir.Undef(why="")) if not _RESULT.fullmatch(var):
                self.declared.add(var)
                self.numbers.pop(var, None)
                return state - {var}
            case ir.Assign(var=var, value=value):
                number = self.number(value)
                self.numbers.pop(var, None)
                if number is not None:
                    self.numbers[var] = number
                return state | {var}
            case ir.Load(var=var, parts=fields):
                return state | {var} | {name for name, _ in fields}
            case ir.Atomic(var=var) | ir.WarpOp(var=var) | ir.BarrierReduce(var=var):
                return state | {var} if var else state
            case ir.If(then=then, other=other):
                before = dict(self.numbers)
                a = self.run(then, state)
                self.numbers = dict(before)
                b = self.run(other, state)
                self.numbers = {}
                return _both(a, b)
            case ir.Scope(label=label, body=body):
                return self.gather(label, self.run(body, state))
            case ir.Leave(label=label):
                self.exits.setdefault(label, []).append(state)
                return None
            case ir.Loop():
                return self.loop(s, state)
            case ir.Trap():
                return None
            case _:
                return state

    def loop(self, s: ir.Loop, state: frozenset[str]) -> State:
        start = self.run(s.head, state)
        entered = self.passes(s.cond) and not s.head
        self.numbers = {}
        if start is not None:
            self.read(s.cond, start, s.span)
        body = self.gather(f"{s.label}.body", self.run(s.body, start))
        last = self.run(s.step, body)
        self.numbers = {}
        endless = isinstance(s.cond, ir.BoolConst) and s.cond.value
        after = None if endless else last if entered else start
        return self.gather(s.label, after)

    def gather(self, label: str, state: State) -> State:
        early_exits = self.exits.pop(label, [])
        if early_exits:
            self.numbers = {}  # those that left early may have other ones
        for early in early_exits:
            state = _both(state, early)
        return state

    def passes(self, test: ir.Expr) -> bool:
        """Whether the first test of a loop holds evidently."""
        if not isinstance(test, ir.Compare):
            return False
        a, b = self.number(test.left), self.number(test.right)
        if a is None or b is None:
            return False
        return {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "ne": a != b}.get(test.op, False)

    def number(self, e: ir.Expr) -> int | None:
        match e:
            case ir.IntConst(value=value):
                return value
            case ir.Read(name=name):
                return self.numbers.get(name)
            case ir.Convert(operand=operand, type=ir.Int(bits=bits, signed=signed)):
                value_ = self.number(operand)
                lo, hi = int_range(bits, signed)
                return value_ if value_ is not None and lo <= value_ <= hi else None
            case _:
                return None

    def read(self, e: ir.Expr, state: frozenset[str], span: Span) -> None:
        for x in parts(e):
            if isinstance(x, ir.Read) and x.name in self.declared and x.name not in state:
                self.found.setdefault(x.name, span)


def _both(a: State, b: State) -> State:
    if a is None or b is None:
        return a if b is None else b
    return a & b


def _expressions(s: ir.Stmt) -> Iterator[ir.Expr]:
    """What a statement itself evaluates (not the statements in it)."""
    match s:
        case ir.Assign(value=value):
            yield value
        case ir.Load(place=place):
            yield from place_expressions(place)
        case ir.Store(place=place, value=value, parts=fields):
            yield from place_expressions(place)
            yield from (v for v in (value, *(v for _, v in fields)) if v is not None)
        case ir.Atomic(place=place, args=args):
            yield from place_expressions(place)
            yield from args
        case ir.If(cond=c) | ir.Assert(cond=c):
            yield c
        case ir.WarpOp(mask=mask, args=args):
            yield from (v for v in (mask, *args) if v is not None)
        case ir.Barrier(mask=mask):
            if mask is not None:
                yield mask
        case ir.BarrierReduce(pred=pred):
            yield pred
