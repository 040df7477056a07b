"""Symbolic execution of a kernel body for one generic thread.

Kernel x Contract -> Summary. Structured control flow is executed once with path conditions; after a branch the locals
are joined with conditionals; loops follow ``loops``. The executor never decides anything: it records accesses,
barriers, integer operations and what it could not model (gaps).

Invariant: for every launch the contract allows and every thread, each real access is an instance of a recorded access
(for some values of the level-2 symbols), unless a gap lies on its path.

Example::

    summary = summarize(kernel, contract, cap=1 << 30)
    [(a.kind, a.obj.name) for a in summary.accesses]  # [("read", "x"), ("write", "y")]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from specs.contract import Contract
from specs.location import NOWHERE, Span
from verifier.ir import nodes as ir
from verifier.smt.radix import Note
from verifier.smt.terms import Term, TooLarge
from verifier.symex import cells, kept
from verifier.symex.copies import CopyRules, merged, settle
from verifier.symex.expressions import Evaluator, State, Unmodelled
from verifier.symex.launch import composite
from verifier.symex.loops import LoopRules
from verifier.symex.pointers import address_of, is_address, one_place
from verifier.symex.relevance import relevant_locals
from verifier.symex.setup import prepare
from verifier.symex.stores import written_objects
from verifier.symex.summary import Access, BarrierEvent, Epoch, MemoryObject, Summary
from verifier.symex.syntax import assigned, masks_below
from verifier.symex.values import Ptr, Val, Value, int_range

NODE_BUDGET = 400_000


@dataclass(frozen=True, slots=True)
class Exit:
    """A state that left a scope or loop early."""

    state: State


class Executor(LoopRules, CopyRules, Evaluator):
    """Statements. Expressions are in ``expressions``, loops in ``loops``."""

    def __init__(
        self,
        summary: Summary,
        wrapped: frozenset[object],
        dropped: frozenset[object],
        node_budget: int = NODE_BUDGET,
    ) -> None:
        super().__init__(summary, wrapped, node_budget)
        self.dropped = dropped
        self.exits: dict[str, list[State]] = {}
        self.written: frozenset[str] = frozenset()
        self.moments = []
        self.rounds = {}

    # --- control ----------------------------------------------------------------------------------------------------

    def run(self, body: tuple[ir.Stmt, ...]) -> None:
        """Execute statements from the current state; a dead state executes nothing."""
        for stmt in body:
            if self.state.guard is self.t.false:
                return
            try:
                self.spend()
                self._statement(stmt)
            except Unmodelled as gap:
                span = gap.span if gap.span is not NOWHERE else getattr(stmt, "span", NOWHERE)
                self.gap(gap.construct, gap.detail, span)
                self._forget(stmt)

    def _forget(self, stmt: ir.Stmt) -> None:
        """After a statement that could not be modelled, what it assigns is unknown."""
        for name in assigned((stmt,)):
            self.state.env.pop(name, None)

    def _statement(self, s: ir.Stmt) -> None:
        t = self.t
        match s:
            case ir.Assign(var=var, value=value):
                self.state.env[var] = self.named(self.eval(value))
            case ir.Load():
                self._load(s)
            case ir.Store():
                self._store(s)
            case ir.Atomic():
                self._atomic(s)
            case ir.If():
                self._if(s)
            case ir.Loop():
                self.loop(s)
            case ir.Scope(label=label, body=body):
                self._scope(label, body)
            case ir.Leave(label=label):
                self.exits.setdefault(label, []).append(self.state.copy())
                self.state.guard = t.false
            case ir.Barrier():
                self._barrier(s)
            case ir.BarrierReduce(var=var, pred=pred, site=site, span=span):
                self.value(pred)
                self._block_barrier(site, span, "__syncthreads reduction")
                self.state.env[var] = Val(self.fresh("vote", 1, *int_range(32, True)))
            case ir.WarpOp():
                self._warp(s)
            case ir.Fence():
                cells.forget(self.state)
            case ir.CopyGroup():
                cells.forget(self.state)
                self.copy_group(s)
            case ir.Declare(name=name):
                kept.forget(self, self.s.objects.get(name))
                self.s.declared.append((name, len(self.s.accesses), self.iters))
            case ir.Assert(cond=cond, text=text, span=span):
                v = self.value(cond)
                self.s.asserts.append((self.state.guard, v.term, span, text))
            case ir.Trap(kind=kind, span=span):
                self.s.asserts.append((self.state.guard, t.false, span, kind))
                self.state.guard = t.false
            case ir.Unsupported(construct=ir.BODILESS, detail=name) if self.s.pure_externs:
                self.s.externs[name] = None
            case ir.Unsupported(construct=construct, detail=detail, span=span):
                self.gap(construct, detail, span)
            case _:
                assert_never(s)

    def named(self, value: Value) -> Value:
        """A size the kernel computes itself, under the name that the contract gave it or a name of its own."""
        if isinstance(value, Ptr) or value.term.is_bool or value.term.op == "float" or value.term.level:
            return value
        term = value.term
        known = self.aliases.get(term)
        if known is None and term.op == "poly" and composite(term) and not is_address(self.t, term):
            known = self.t.app(self.t.fresh_name("size"), (), 0, term.lo, term.hi)
            if known.op == "app":
                self.t.record("within", term, term.lo, term.hi)
                self.s.fact(known, self.t.eq(known, term))
                self.aliases[term] = known
        return Val(known, value.deps) if known is not None else value

    def known(self, value: Val) -> Val:
        """A size in the middle of an expression, under the name that it has already."""
        name = self.aliases.get(value.term)
        return value if name is None else Val(name, value.deps)

    def _if(self, s: ir.If) -> None:
        c = self.value(s.cond)
        self.sink(c.deps, s.span, "a branch")
        base = self.state
        then, other = base.copy(), base.copy()
        then.guard = self.t.and_(base.guard, c.term)
        other.guard = self.t.and_(base.guard, self.t.not_(c.term))
        then.gdeps = other.gdeps = base.gdeps | c.deps
        want_then, want_other = then.guard, other.guard
        self.state = then
        self.run(s.then)
        then = self.state
        self.state = other
        self.run(s.other)
        other = self.state
        if then.guard is want_then and other.guard is want_other and want_then is not self.t.false:
            if want_other is self.t.false:
                self.state = then
                return
            joined = self.join(c.term, c.deps, then, other)
            joined.guard, joined.gdeps = base.guard, base.gdeps
            self.state = joined
            return
        if then.guard is self.t.false:
            self.state = other
        elif other.guard is self.t.false:
            self.state = then
        else:
            joined = self.join(c.term, c.deps, then, other)
            joined.guard = self.t.or_(then.guard, other.guard)
            self.state = joined

    def join(self, cond: Term, deps: int, a: State, b: State) -> State:
        """The state that is ``a`` where ``cond`` holds and ``b`` elsewhere (guard left to the caller)."""
        env: dict[str, Value] = {}
        for name, va in a.env.items():
            vb = b.env.get(name)
            if vb is None:
                continue
            if va is vb:
                env[name] = va
                continue
            try:
                env[name] = self.choose(cond, deps, va, vb)
            except Unmodelled:
                continue
        no = self.t.not_(cond)
        copies, groups = merged(a, b)
        return State(
            env,
            self.t.or_(a.guard, b.guard),
            a.gdeps | b.gdeps,
            join_epochs(self, cond, no, a.block, b.block),
            join_epochs(self, cond, no, a.warp, b.warp),
            join_epochs(self, cond, no, a.grid, b.grid),
            copies,
            cells.kept(a, b),
            groups,
        )

    def relative(self, guard: Term, base: Term) -> Term:
        """``guard`` without the conjuncts of ``base``: enough to tell apart states that both satisfy ``base``."""
        if guard.op != "and":
            return self.t.true if guard is base else guard
        known = set(base.args) if base.op == "and" else {base}
        return self.t.and_(*(g for g in guard.args if g not in known))

    def _scope(self, label: str, body: tuple[ir.Stmt, ...]) -> None:
        outer = self.exits.pop(label, None)
        base = self.state.guard
        self.run(body)
        self.state = self.gather(label, base, self.state)
        if outer is not None:
            self.exits[label] = outer

    def gather(self, label: str, base: Term, fall: State) -> State:
        """Join the states that left ``label`` with the one that fell through."""
        state = fall
        for early in reversed(self.exits.pop(label, [])):
            if early.guard is self.t.false:
                continue
            if state.guard is self.t.false:
                state = early
                continue
            cond = self.relative(early.guard, base)
            guard = self.t.or_(early.guard, state.guard)
            gdeps = early.gdeps | state.gdeps
            state = self.join(cond, early.gdeps, early, state)
            state.guard, state.gdeps = guard, gdeps
        return state

    # --- memory -----------------------------------------------------------------------------------------------------

    def access(
        self,
        kind: str,
        place: ir.Place,
        size: int,
        span: Span,
        value: Term | None = None,
        scope: str = "device",
        vector: bool = False,
        volatile: bool = False,
        agent: ir.Agent = "thread",
        adds: Term | None = None,
    ) -> tuple[Ptr, tuple[Access, ...]]:
        """Record an access through every alternative of the place's pointer."""
        pointer, rows = self.pointer(place)
        self.sink(pointer.deps, span, "an address")
        made = []
        for cond, obj, offset in pointer.alts:
            if obj is None:
                raise Unmodelled("pointer", "a pointer whose target is not known", span)
            if kind != "read" and obj.space == "constant":
                self.gap("write to constant memory", f"device code may not write {obj.name}", span)
            if kind != "read" and obj.space == "local":
                kept.forget(self, obj, offset, size)
            made.append(
                Access(
                    len(self.s.accesses),
                    kind,  # type: ignore[arg-type]
                    obj,
                    self.t.rejoined(offset),
                    size,
                    self.t.and_(self.state.guard, cond),
                    pointer.deps | self.state.gdeps,
                    span,
                    self.state.block,
                    self.state.warp,
                    self.state.grid,
                    self.iters,
                    rows,
                    value,
                    scope,
                    vector,
                    place.type.align if isinstance(place.type, ir.Struct) else 0,
                    volatile,
                    agent,
                    adds=adds,
                )
            )
            self.s.accesses.append(made[-1])
        return pointer, tuple(made)

    def _load(self, s: ir.Load) -> None:
        size = ir.size_of(s.place.type)
        pointer, made = self.access(
            "read", s.place, size, s.span, vector=bool(s.parts), volatile=s.volatile, agent=s.agent
        )
        if s.agent == "async":
            self.start_copies(made)
        if s.readonly and any(a.obj.name in self.written for a in made):
            self.gap(
                "read-only load",
                f"a load through the read-only path of {made[0].obj.name}, which is written",
                s.span,
            )
        if s.parts:
            for local, field in s.parts:
                moved = Ptr(
                    tuple((c, o, self.t.add(x, self.t.const(field.offset))) for c, o, x in pointer.alts)
                )
                self.state.env[local] = self.loaded(moved, field.type, pointer.deps)
            return
        plain = not s.volatile and s.agent == "thread"
        value = self.loaded(pointer, s.place.type, pointer.deps, s.var if plain else "")
        self.state.env[s.var] = value
        if plain and not (isinstance(value, Val) and value.term in self.s.common_loads):
            cells.note_load(self, pointer, s.place.type, value, s.span)

    def loaded(self, pointer: Ptr, type_: ir.Type, deps: int, var: str = "") -> Value:
        """What a load yields: the launch's contents of a buffer nobody writes, else unknown.

        Unknown, but one value for the block where its threads read one place of shared memory (into ``var``).
        """
        if len(pointer.alts) == 1:
            _, obj, offset = pointer.alts[0]
            if obj is not None and obj.name not in self.written and obj.space in ("global", "constant"):
                return self._content(obj, offset, type_, deps)
        common = var in self.relevant and one_place(self.t, pointer, self.iters)
        found = kept.load(self, pointer) if isinstance(type_, ir.Pointer) else None
        value = found or self.fresh_of(type_, "load", 1 if common else 2)
        if not isinstance(value, Val):
            return value
        if common:
            self.s.common_loads[value.term] = None
        return Val(value.term, deps)

    def _content(self, obj: MemoryObject, offset: Term, type_: ir.Type, deps: int) -> Value:
        t = self.t
        name = f"read:{obj.name}"
        match type_:
            case ir.Int(bits=bits, signed=signed):
                lo, hi = int_range(bits, signed)
                natural = obj.integer and obj.elem == bits // 8
                index = t.quot(offset, t.const(obj.elem)) if natural else offset
                out = t.app(f"{name}:{bits}{'s' if signed else 'u'}", (index,), 0, lo, hi)
                if natural:
                    self.s.reads[out] = (obj.name, index)
                    bounds = self.content_bounds(obj.name)
                    if bounds is not None and out not in self.s.facts:
                        self.s.fact(out, t.le(bounds[0], out), t.le(out, bounds[1]))
                return Val(out, deps)
            case ir.Bool():
                return Val(t.ne(t.app(f"{name}:8u", (offset,), 0, 0, 1), t.zero), deps)
            case ir.Float():
                return Val(t.float(f"{name}:{type_.name}:{offset.id}", (), offset.level), deps)
            case _:
                raise Unmodelled("load", f"a load of type {type(type_).__name__.lower()}")

    def content_bounds(self, name: str) -> tuple[Term, Term] | None:
        """The contract's bounds on a buffer's integer contents, if it has any that count."""
        return self.contents.get(name)

    contents: dict[str, tuple[Term, Term]]
    aliases: dict[Term, Term]

    def _store(self, s: ir.Store) -> None:
        size = ir.size_of(s.place.type)
        v = self.eval(s.value) if s.value is not None else None
        value = v.term if isinstance(v, Val) else None  # a pointer that is read from memory is any pointer
        if v is not None and self.s.same_value:
            self.sink(v.deps, s.span, "a stored value")
            match v:
                case Ptr(alts=((_, MemoryObject() as obj, offset),)):
                    value = self.t.add(address_of(self.t, obj), offset)
        fields = [(field.offset, self.eval(part)) for field, part in s.parts]
        pointer, made = self.access(
            "write", s.place, size, s.span, value, vector=bool(s.parts), volatile=s.volatile, agent=s.agent
        )
        for at, part in ((0, v), *fields):
            kept.note_store(self, pointer, part, at)
        plain = s.agent == "thread" and not s.parts and not s.volatile
        cells.note_store(self, pointer, s.place.type, v if plain else None)
        if s.agent == "async":
            self.start_copies(made)

    def _atomic(self, s: ir.Atomic) -> None:
        args = [self.eval(a) for a in s.args]
        cells.forget(self.state)
        amount: Term | None = None
        if s.op == "add" and isinstance(s.place.type, ir.Int) and isinstance(args[0], Val):
            amount = args[0].term
            self.sink(args[0].deps, s.span, "what a counter is raised by")
        size = ir.size_of(s.place.type)
        _, made = self.access("atomic", s.place, size, s.span, scope=s.scope, adds=amount)
        if s.var:
            result = self.state.env[s.var] = self.fresh_of(s.place.type, "atomic")
            if amount is not None and len(made) == 1 and isinstance(result, Val):
                self.s.tickets[result.term] = made[0].number

    # --- synchronisation --------------------------------------------------------------------------------------------

    def _barrier(self, s: ir.Barrier) -> None:
        cells.forget(self.state)
        match s.kind:
            case "block":
                self._block_barrier(s.site, s.span, "__syncthreads")
            case "warp":
                mask = self.value(s.mask) if s.mask is not None else Val(self.t.const(0xFFFFFFFF))
                self.sink(mask.deps, s.span, "a mask")
                self._event("warp", s.site, s.span, "__syncwarp", mask)
                if mask.term is self.t.const(0xFFFFFFFF):
                    self.state.warp = (Epoch(self.t.true, f"{s.site}{self.path}", self.iters),)
                    self.copies_in_flight()
            case "grid":
                self._event("grid", s.site, s.span, "grid.sync()", Val(self.t.zero))
                self.state.grid = (Epoch(self.t.true, f"{s.site}{self.path}", self.iters),)
                self._block_barrier(s.site, s.span, "grid.sync()")
            case _:
                assert_never(s.kind)

    def _event(self, kind: str, site: str, span: Span, what: str, mask: Val) -> None:
        self.sink(self.state.gdeps, span, "a barrier")
        self.s.barriers.append(
            BarrierEvent(
                kind,
                f"{site}{self.path}",
                self.state.guard,
                self.iters,
                span,
                self.state.gdeps,
                mask.term,
                what,
            )
        )

    def _block_barrier(self, site: str, span: Span, what: str) -> None:
        cells.forget(self.state)
        self._event("block", site, span, what, Val(self.t.zero))
        epoch = (Epoch(self.t.true, f"{site}{self.path}", self.iters),)
        self.state.block = epoch
        self.state.warp = epoch
        self.copies_in_flight()

    def _warp(self, s: ir.WarpOp) -> None:
        for a in s.args:
            self.eval(a)
        if s.mask is not None:
            mask = self.value(s.mask)
            self.sink(mask.deps, s.span, "a mask")
            self._event("warp", s.site, s.span, s.op, mask)
        if s.var:
            self.state.env[s.var] = self.fresh_of(s.type, s.op)


def join_epochs(
    x: Executor, cond: Term, no: Term, a: tuple[Epoch, ...], b: tuple[Epoch, ...]
) -> tuple[Epoch, ...]:
    """Possible last barriers after a branch."""
    if a == b:
        return a
    merged: dict[tuple[str, tuple[Term, ...]], Term] = {}
    for side, epochs in ((cond, a), (no, b)):
        for e in epochs:
            key = (e.site, e.iters)
            c = x.t.and_(side, e.cond)
            merged[key] = x.t.or_(merged[key], c) if key in merged else c
    return tuple(Epoch(c, site, iters) for (site, iters), c in merged.items())


def launch_side(
    kernel: ir.Kernel, contract: Contract, *, cap: int, wrapped: frozenset[object] = frozenset(), record: bool = False
) -> Summary:  # fmt: skip
    """What the host does, for every size of the domain: its conversions, the launch, no statement of the kernel."""
    setup = prepare(kernel, contract, cap, wrapped, {}, record=record)
    names, complete = written_objects(kernel.body)
    if complete:
        names = setup.with_aliases(names)
        setup.summary.outputs = tuple(p.name for p in kernel.params if p.name in names)
    return setup.summary


def summarize(
    kernel: ir.Kernel,
    contract: Contract,
    *,
    cap: int,
    wrapped: frozenset[object] = frozenset(),
    dropped: frozenset[object] = frozenset(),
    fixed: dict[str, int] | None = None,
    least: Mapping[str, int] | None = None,
    same_value: bool = False,
    pure_externs: bool = False,
    record: bool = False,
    order: frozenset[Note] = frozenset(),
) -> Summary:
    """Execute the kernel once under the contract. ``fixed`` pins symbols to values (problem domain).

    ``least``: what :func:`verifier.symex.setup.least_sizes` says of the host's side of this launch.
    ``same_value``: stores of equal values do not race, so what is stored matters. ``pure_externs``: functions without a
    body only return a value. ``record``: for evidence, see ``verifier.smt.terms``. ``order``: that of the divisions of an
    earlier execution, see ``verifier.smt.radix``; if it turns out to matter, the kernel is executed once more.
    """
    setup = prepare(kernel, contract, cap, wrapped, fixed or {}, least, record, order)
    setup.summary.same_value, setup.summary.pure_externs = same_value, pure_externs
    x = Executor(setup.summary, wrapped, dropped)
    x.contents = setup.contents
    x.aliases = dict(setup.aliases)
    names, complete = written_objects(kernel.body)
    if not complete:
        names |= {o.name for o in setup.summary.objects.values()}
    x.written = frozenset(setup.with_aliases(names))
    x.relevant = relevant_locals(kernel.body)
    x.masks = masks_below(kernel.body)
    start = (Epoch(x.t.true, "entry", ()),)
    x.state = State(setup.env, x.t.true, 0, start, start, start)
    try:
        x.run(kernel.body)
    except (TooLarge, RecursionError) as error:
        x.gap("size", str(error) or "the kernel nests too deeply", kernel.span)
        x.s.gaps[-1] = type(x.s.gaps[-1])("size", str(error), kernel.span, x.t.true)
    if x.t.radices.crossed and not order:
        return summarize(
            kernel, contract, cap=cap, wrapped=wrapped, dropped=dropped, fixed=fixed, least=least,
            same_value=same_value, pure_externs=pure_externs, record=record, order=frozenset(x.t.radices.seen),
        )  # fmt: skip
    settle(x.s)
    return x.s
