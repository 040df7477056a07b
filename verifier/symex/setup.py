"""Before the first statement: geometry, symbols, scalars, buffers and preconditions of the launch as terms.

Kernel x Contract -> initial Summary and locals. Host quantities obey the same rule as device integers: each conversion
written in the contract is an Operation (host=True) unless its interval settles it.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from specs.clauses import INT_TYPES, ClauseError, ClauseUndefined, evaluate
from specs.contract import Buffer, Contract
from specs.location import NOWHERE
from verifier.ir import nodes as ir
from verifier.smt.bounds import Bounds
from verifier.smt.radix import Note
from verifier.smt.terms import Const, PolyTerm, Term, Terms, atoms
from verifier.symex.launch import ClauseLowering, composite, dtype_bytes
from verifier.symex.summary import Gap, Geometry, MemoryObject, Operation, Summary
from verifier.symex.symbols import divide, equate, symbol_terms
from verifier.symex.values import Ptr, Val, Value, int_range

_FIXED = re.compile(r"\((.*)\) == (\d+)")
MAX_GRID = ((1 << 31) - 1, 65535, 65535)
MAX_BLOCK = (1024, 1024, 64)


@dataclass(slots=True)
class Setup:
    """``env``: parameters' initial values; ``contents``: bounds on integer contents that count."""

    summary: Summary
    env: dict[str, Value]
    contents: dict[str, tuple[Term, Term]]
    aliases: dict[Term, Term]
    """Composite size -> its name."""

    def with_aliases(self, names: set[str]) -> set[str]:
        """Buffers that may be written: those written by name, their storage mates and what may overlap them."""
        objects = self.summary.objects
        out = set(names)
        for a in objects.values():
            if a.buffer is None or a.name not in names:
                continue
            out |= {
                b.name for b in objects.values() if b.buffer is not None and may_alias(self.summary, a, b)
            }
        return out


def may_alias(s: Summary, a: MemoryObject, b: MemoryObject) -> bool:
    """Whether two global buffers can share memory under the contract.

    A texture may be any global memory, what the launcher allocated too; a surface is none, but may be a texture."""
    if a is b:
        return True
    spaces = {a.space, b.space}
    if "surface" in spaces:
        return "global" not in spaces
    if "texture" not in spaces:
        if a.buffer is None or b.buffer is None:
            return False
        if a.buffer.storage and a.buffer.storage == b.buffer.storage:
            return True
        if a.buffer.fresh or b.buffer.fresh:
            return False
    wanted = {f"disjoint({a.name},{b.name})", f"disjoint({b.name},{a.name})"}
    clauses = [*s.contract.no_alias, *s.contract.requires]
    return not any(c.text.replace(" ", "") in wanted and c.accepted for c in clauses)


def prepare(
    kernel: ir.Kernel,
    contract: Contract,
    cap: int,
    wrapped: frozenset[object],
    fixed: dict[str, int],
    least: Mapping[str, int] | None = None,
    record: bool = False,
    order: frozenset[Note] = frozenset(),
) -> Setup:
    """The initial summary. Quantities the contract does not know become unknowns of their type.

    ``least``: further lower bounds of sizes, by name (see :func:`least_sizes`).
    """
    t = Terms(record, order)
    cap = max(cap, largest_size(contract))
    symbols = symbol_terms(t, contract, cap, least or {})
    for name, value in fixed.items():
        symbols[name] = t.const(value)
    equate(symbols, contract, t)
    divide(symbols, contract, t)
    placeholder = Geometry((t.zero,) * 3, (t.zero,) * 3, (t.one,) * 3, (t.one,) * 3, t.zero)
    summary = Summary(t, kernel, contract, placeholder, symbols, {}, [], {})
    builder = _Builder(summary, wrapped, cap, least or {})
    builder.build()
    return Setup(summary, builder.env, builder.contents, builder.lower.aliases)


def least_sizes(s: Summary) -> dict[str, int]:
    """Lower bounds of sizes, by name, that hold wherever a thread runs: the grid and the block have no empty axis then.

    ``ceil_div(n * (w / 2), 256) >= 1`` gives ``n >= 1`` and ``w >= 2`` if no
    factor but one may be negative. Sound for claims about
    threads alone, once the host's conversions are shown exact (or wrap) without it.
    """
    return {atom.name: least for atom, least in at_least(s, [*s.raw_grid, *s.raw_block]).items()}


def early(s: Summary, bit: int, atom: Term) -> bool:
    """Whether a size, and all that it is made of, is named without the host's conversion ``bit`` and later ones."""
    what, ops = s.definitions.get(atom, (None, 0))
    return what is None or (not ops & ~(bit - 1) and all(early(s, bit, a) for a in atoms([what])))


def at_least(s: Summary, positive: Iterable[Term], bit: int = 0) -> dict[Term, int]:
    """Lower bounds of sizes that follow where these terms are at least 1.

    ``bit``: from what is known before this conversion of the host alone; 0: where all are exact.
    """
    requires = [
        r for r, ops in zip(s.requires, s.requires_ops, strict=True) if not bit or not ops & ~(bit - 1)
    ]
    t, out, known = s.t, dict[Term, int](), Bounds(s.t, requires)
    todo = [(term, 1) for term in positive]
    for _ in range(200):
        if not todo:
            break
        term, least = todo.pop()
        if term.op == "app":
            if bit and not early(s, bit, term):
                continue
            out[term] = max(least, out.get(term, least))
            if term in s.definitions:
                todo.append((s.definitions[term][0], least))
        elif term.op == "quot":
            a, b = term.args
            if isinstance(b, Const) and b.value >= 1:
                todo.append((a, least * b.value))  # a / b >= least >= 1 cuts off, so a >= least * b
            elif b.lo is not None and b.lo >= 1:
                todo.append((t.add(t.sub(a, b), t.one), 1))
        elif term.op == "min":
            todo += [(a, least) for a in term.args]
        elif isinstance(term, PolyTerm):
            poly = t.poly(term)
            rest = [(m, c) for m, c in poly.items() if m]
            wanted = least - poly.get((), 0)
            if len(rest) == 1 and wanted >= 1:
                ((mono, coef),) = rest
                if coef > 0 and len(mono) == 1:
                    todo.append((mono[0], -(-wanted // coef)))
                elif coef > 0 and sum(not known.nonneg(a) for a in mono) <= 1:
                    todo += [(a, 1) for a in mono]
    return out


def largest_size(contract: Contract) -> int:
    """The largest size at the problem's or program's own values: whatever the cap, these are in the domain."""
    values = {s.name: s.value for s in contract.symbols if s.value is not None}
    found = list(values.values())
    for text in (x for b in contract.buffers for x in (b.extent, *b.shape)):
        with contextlib.suppress(ClauseError, ClauseUndefined, OverflowError):
            found.append(evaluate(text, values))
    return max(found, default=0)


class _Builder:
    def __init__(self, s: Summary, wrapped: frozenset[object], cap: int, least: Mapping[str, int]) -> None:
        self.s, self.t, self.wrapped, self.cap, self.least = s, s.t, wrapped, cap, least
        self.lower = ClauseLowering(s.t, s.symbols, self._fit)
        self.used = 0
        self.env: dict[str, Value] = {}
        self.contents: dict[str, tuple[Term, Term]] = {}

    def _fit(self, exact: Term, bits: int, signed: bool, operand: ast.expr | str) -> Term:
        t = self.t
        lo, hi = int_range(bits, signed)
        for atom in atoms([exact]):
            if atom in self.s.definitions:
                self.used |= self.s.definitions[atom][1]
        if exact.lo is not None and exact.hi is not None and lo <= exact.lo and exact.hi <= hi:
            t.record("within", exact, lo, hi)
            return exact
        text = operand if isinstance(operand, str) else ast.unparse(operand)
        key = ("host", text, bits, signed)
        if key in self.wrapped:
            self.s.unfitted[key] = t.and_(t.le(t.const(lo), exact), t.le(exact, t.const(hi)))
            return t.wrap(exact, bits, signed)
        holds = t.and_(t.le(t.const(lo), exact), t.le(exact, t.const(hi)))
        if holds is t.true:
            return exact
        known = next((o for o in self.s.operations if o.key == key), None)
        bit = known.bit if known is not None else 1 << len(self.s.operations)
        if known is None:
            self.s.operations.append(
                Operation(
                    bit, key, "overflow", t.true, holds, self.s.contract.launch.span,
                    f"host value {text} at type {'i' if signed else 'u'}{bits}",
                    self.used if isinstance(operand, str) else self._inside(operand),
                    signed or bits <= 32, value=exact, host=True,
                )
            )  # fmt: skip
        self.s.launch_deps |= bit
        self.used |= bit
        return exact

    def _inside(self, operand: ast.expr) -> int:
        """The host's conversions that a clause's part takes to be exact."""
        keys = {
            ("host", ast.unparse(n.args[0]), *INT_TYPES[n.func.id])
            for n in ast.walk(operand)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in INT_TYPES
        }
        return sum(o.bit for o in self.s.operations if o.key in keys)

    def _alias(self, name: str, term: Term, low: int, high: int) -> Term:
        """Name a composite size: ``name == term`` becomes a fact."""
        t = self.t
        if term in self.lower.aliases:
            return self.lower.aliases[term]
        if not composite(term):
            return term
        low = max(low, self.least.get(f"{name}'", low), low if term.lo is None else term.lo)
        high = high if term.hi is None else min(high, term.hi)
        atom = t.app(f"{name}'", (), 0, low, max(low, high))
        self.lower.aliases[term] = atom
        self.s.definitions[atom] = (term, self.used)
        self.s.fact(atom, t.eq(atom, term))
        return atom

    def _gap(self, what: str, detail: str) -> None:
        self.s.gaps.append(Gap(f"contract:{what}", detail, self.s.contract.launch.span, self.t.true))

    def build(self) -> None:
        c = self.s.contract
        for gap in c.gaps:
            self._gap("host", gap)
        self._axes()
        params = {p.name: p for p in self.s.kernel.params}
        fixed = self._fixed_arguments()
        for scalar in c.scalars:
            if scalar.value is None or scalar.param not in params:
                continue
            type_ = params[scalar.param].type
            if not isinstance(type_, (ir.Int, ir.Bool)):
                continue
            self.used = 0
            try:
                term = self.lower.int(fixed.get(scalar.value, scalar.value))
            except ClauseError as error:
                self._gap("scalar", str(error))
                continue
            if isinstance(type_, ir.Int):
                term = self._fit(term, type_.bits, type_.signed, f"argument {scalar.param}")
                lo, hi = int_range(type_.bits, type_.signed)
                term = self._alias(scalar.param, term, lo, hi)
            self.s.scalars[scalar.param] = term
        self._geometry()
        for p in self.s.kernel.params:
            self._parameter(p)
        for o in self.s.kernel.objects:
            self._declared(o)
        for clause in c.requires:
            if not clause.accepted:
                continue
            self.used = 0
            try:
                self.s.requires.append(self.lower.bool(clause.text))
                self.s.requires_ops.append(self.used)
            except ClauseError as error:
                self._gap("clause", str(error))
        for name in self.lower.undefined:
            self._gap("symbol", f"{name} is not a symbol of the contract")

    def _fixed_arguments(self) -> dict[str, str]:
        """Argument expressions that an accepted clause ``(expression) == constant`` fixes."""
        matches = (_FIXED.fullmatch(c.text) for c in self.s.contract.requires if c.accepted)
        return {m[1]: m[2] for m in matches if m is not None}

    def _axes(self) -> None:
        """Lower buffer axes first, so that composite axes have a name wherever they occur later.

        Only axes of tensors that are said not to be empty are at least 1: ``torch::empty({n / 256})`` may well be empty.
        The cap on a whole tensor bounds an axis only where no other axis is 0: by what is said, or since a thread runs.
        """
        said = {c.text for c in self.s.contract.assumptions}
        for b in self.s.contract.buffers:
            full = f"nonempty({b.param})" in said
            axes: dict[str, Term] = {}
            for text in b.shape:
                with contextlib.suppress(ClauseError):
                    axes[text] = self.lower.int(text)
            short = {
                text
                for i, text in enumerate(b.shape)
                if not full and self._least_axis(b, i, axes.get(text)) < 1
            }
            for i, text in enumerate(b.shape):
                if text not in axes:
                    continue
                self.used = 0
                capped = not any(other != i for other, what in enumerate(b.shape) if what in short)
                most = self.cap if capped else (1 << 63) - 1
                self._alias(f"{b.param}.size{i}", self.lower.int(text), int(full), most)

    def _least_axis(self, b: Buffer, i: int, axis: Term | None) -> int:
        """A lower bound of an axis where a thread runs."""
        known = self.least.get(f"{b.param}.size{i}'", 0)
        return known if axis is None or axis.lo is None else max(known, axis.lo)

    def _launch_int(self, text: str, what: str, high: int) -> Term:
        try:
            return self.lower.int(text)
        except ClauseError as error:
            self._gap(what, str(error))
            return self.t.app(f"launch:{what}", (), 0, 1, high)

    def _geometry(self) -> None:
        t, launch = self.t, self.s.contract.launch
        axes = "xyz"
        grid, block, thread, index = [], [], [], []
        raw_grid: list[Term] = []
        raw_block: list[Term] = []
        for i in range(3):
            g = self._launch_int(launch.grid[i], f"gridDim.{axes[i]}", MAX_GRID[i])
            raw_grid.append(g)
            if not isinstance(g, Const) and not _inside(g, MAX_GRID[i]):
                atom = t.app(f"gridDim.{axes[i]}", (), 0, 1, MAX_GRID[i])
                self.s.fact(atom, t.eq(atom, g))
                g = atom
            grid.append(g)
            b = self._launch_int(launch.block[i], f"blockDim.{axes[i]}", MAX_BLOCK[i])
            raw_block.append(b)
            if not isinstance(b, Const) and not _inside(b, MAX_BLOCK[i]):
                atom = t.app(f"blockDim.{axes[i]}", (), 0, 1, MAX_BLOCK[i])
                self.s.fact(atom, t.eq(atom, b))
                b = atom
            block.append(b)
            index.append(self._index(f"blockIdx.{axes[i]}", g, 1, MAX_GRID[i]))
            thread.append(self._index(f"threadIdx.{axes[i]}", b, 2, MAX_BLOCK[i]))
        threads = t.product(block)
        if not isinstance(threads, Const):
            limit = t.le(threads, t.const(1024))
            for b in block:
                if not isinstance(b, Const):
                    self.s.fact(b, limit)
        self.s.raw_grid, self.s.raw_block = tuple(raw_grid), tuple(raw_block)
        shared = self._launch_int(launch.shared_bytes, "shared", 1 << 20)
        self.s.geometry = Geometry(
            (thread[0], thread[1], thread[2]), (index[0], index[1], index[2]),
            (block[0], block[1], block[2]), (grid[0], grid[1], grid[2]), shared,
        )  # fmt: skip

    def _index(self, name: str, extent: Term, level: int, high: int) -> Term:
        t = self.t
        top = high if extent.hi is None else min(high, extent.hi)
        atom = t.app(name, (), level, 0, max(top - 1, 0))
        if atom.op == "app":
            self.s.fact(atom, t.lt(atom, extent))
        return atom

    def _parameter(self, p: ir.Param) -> None:
        t, c = self.t, self.s.contract
        match p.type:
            case ir.Pointer(elem=elem):
                buffer = c.buffer(p.name)
                self.s.objects[p.name] = self._buffer(p, elem, buffer)
                self.env[p.name] = Ptr(((t.true, self.s.objects[p.name], t.zero),))
            case ir.Int(bits=bits, signed=signed):
                if p.name in self.s.scalars:
                    self.env[p.name] = Val(self.s.scalars[p.name])
                else:
                    lo, hi = int_range(bits, signed)
                    term = t.app(p.name, (), 0, lo, hi)
                    self.s.scalars[p.name] = term
                    self.env[p.name] = Val(term)
            case ir.Bool():
                known = self.s.scalars.get(p.name)
                self.env[p.name] = Val(t.ne(known, t.zero) if known is not None else t.bapp(p.name, (), 0))
            case ir.Float():
                self.env[p.name] = Val(t.float(f"param:{p.name}", (), 0))
            case _:
                self._gap("parameter", f"{p.name} of type {type(p.type).__name__.lower()}")

    def _buffer(self, p: ir.Param, elem: ir.Type, buffer: Buffer | None) -> MemoryObject:
        t = self.t
        size = ir.size_of(elem)
        integer = isinstance(elem, ir.Int)
        if buffer is None:
            self._gap("buffer", f"nothing is known of the memory behind parameter {p.name}")
            extent = t.mul(t.app(f"len:{p.name}", (), 0, 0, self.cap), t.const(size))
            return MemoryObject(p.name, "global", extent, size, None, size, p.span, integer)
        try:
            bytes_ = dtype_bytes(buffer.dtype)
            axes = [self.lower.int(x) for x in buffer.shape]
            count = t.product(axes) if axes else self.lower.int(buffer.extent)
            if axes:
                stated = self.lower.int(buffer.extent)
                if stated is not count and t.eq(stated, count) is not t.true:
                    count = stated
        except (ClauseError, KeyError) as error:
            self._gap("buffer", f"{p.name}: {error}")
            bytes_, count = size, t.app(f"len:{p.name}", (), 0, 0, self.cap)
        if buffer.content is not None and buffer.content_origin in ("enforced", "derived", "stated"):
            try:
                self.contents[p.name] = (self.lower.int(buffer.content[0]), self.lower.int(buffer.content[1]))
            except ClauseError as error:
                self._gap("content", str(error))
        align = buffer.align or bytes_
        return MemoryObject(
            p.name, "global", t.mul(count, t.const(bytes_)), bytes_, buffer, align, p.span, integer
        )

    def _declared(self, o: ir.ObjectDecl) -> None:
        t = self.t
        base = o.type
        while isinstance(base, ir.Array):
            base = base.elem
        elem = max(ir.size_of(base), 1)
        extent: Term | None = t.const(ir.size_of(o.type))
        name = o.name
        space: Literal["global", "shared", "local", "constant"] = "global" if o.space == "device" else o.space
        if o.dynamic:
            extent, name = self.s.geometry.shared_bytes, "dynamic shared memory"
            shared = self.s.objects.get(name)
            made = shared or MemoryObject(name, "shared", extent, 1, None, 16, o.span)
            self.s.objects[o.name] = self.s.objects[name] = made
            return
        self.s.objects[o.name] = MemoryObject(
            name,
            space,
            extent,
            elem,
            None,
            o.align or ir.align_of(o.type),
            o.span,
            isinstance(base, ir.Int),
        )


def _inside(size: Term, most: int) -> bool:
    """Whether an axis of the launch is a symbol (or so many times one) within the device's limits: it needs no other name."""
    plain = size.op == "app" or (isinstance(size, PolyTerm) and len(size.monos) == 1)
    return plain and size.lo is not None and size.lo >= 1 and size.hi is not None and size.hi <= most


def with_gap(s: Summary, construct: str, detail: str) -> None:
    """Add a gap that concerns the whole kernel."""
    s.gaps.append(Gap(construct, detail, s.kernel.span, s.t.true))


__all__ = ["NOWHERE", "Setup", "least_sizes", "may_alias", "prepare", "replace", "with_gap"]
