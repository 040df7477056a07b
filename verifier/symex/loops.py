"""Loops: unrolled when every test is decided, else one symbolic iteration k.

A variable with one unconditional update ``v += c`` is ``init + k*c`` (its update's overflow obligation makes that
exact). Other modified variables are functions ``v@L(outer iterations, k)`` of which only inductive candidates, checked
as lemmas, are known. After the loop the same forms hold at the exit count K, where the test fails.

Barriers in a loop: at the head of iteration k the last barrier is the entry's (k = 0) or that of the end of iteration
k-1. Loop variables may be shared between the threads of a block only if they are functions of block-level terms; this
is checked on the executed body, and weakened and redone otherwise. The argument is in docs/soundness.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from specs.location import Span
from verifier.ir import nodes as ir
from verifier.ir.barriers import contains_barrier
from verifier.smt.terms import Const, Term
from verifier.symex import kept
from verifier.symex.bits import is_power
from verifier.symex.copies import Carried, CopyRules
from verifier.symex.endings import ending
from verifier.symex.expressions import State, Unmodelled
from verifier.symex.loop_epochs import after, expanded, previous
from verifier.symex.rounds import most_tests
from verifier.symex.summary import Epoch, Operation
from verifier.symex.syntax import (
    assigned,
    doubles_or_halves,
    leaves,
    plain_test,
    reads,
    strip_conversions,
    toggles,
    updates_of,
)
from verifier.symex.turns import turned, turns_of, without
from verifier.symex.values import Ptr, Val, Value, int_range

UNROLL_LIMIT = 40
REDO_LIMIT = 12

if TYPE_CHECKING:
    _Base = CopyRules
else:
    _Base = object


class LoopRules(_Base):
    """The loop part of the executor (mixed into it)."""

    exits: dict[str, list[State]]
    relevant: frozenset[str] = frozenset()
    masks: bool = False
    """Whether the kernel takes ``m - 1`` as a mask."""

    def run(self, body: tuple[ir.Stmt, ...]) -> None:
        raise NotImplementedError

    def gather(self, label: str, base: Term, fall: State) -> State:
        raise NotImplementedError

    def _event(self, kind: str, site: str, span: Span, what: str, mask: Val) -> None:
        raise NotImplementedError

    # --- transactions -----------------------------------------------------------------------------------------------

    def _lists(self) -> tuple[list[Any], ...]:
        s = self.s
        return (
            s.accesses,
            s.barriers,
            s.operations,
            s.sinks,
            s.gaps,
            s.asserts,
            s.approximations,
            s.open_copies,
            s.loops,
            s.declared,
            self.moments,
        )

    def _mark(self) -> tuple[tuple[int, ...], State, dict[str, list[State]]]:
        sizes = tuple(len(x) for x in self._lists())
        return sizes, self.state.copy(), {k: list(v) for k, v in self.exits.items()}

    def _rollback(self, mark: tuple[tuple[int, ...], State, dict[str, list[State]]]) -> None:
        for x, n in zip(self._lists(), mark[0], strict=True):
            del x[n:]
        self.state = mark[1].copy()
        self.exits = {k: list(v) for k, v in mark[2].items()}

    # --- the loop ---------------------------------------------------------------------------------------------------

    def loop(self, s: ir.Loop) -> None:
        """Execute a loop statement."""
        outer = self.exits.pop(s.label, None)
        everything = (*s.head, *s.body, *s.step)
        modified = [v for v in assigned(everything) if v in self.state.env]
        counted = [v for v in modified if v in self.relevant or isinstance(self.state.env[v], Ptr)]
        steps = {v: c for v in counted if (c := self._step_of(s, v, modified)) is not None}
        tested = reads(s.cond)
        for h in s.head:
            if isinstance(h, ir.Assign):
                tested.update(reads(h.value))
        odd = [v for v in modified if v in tested and v not in steps]
        if not (odd and self._unroll(s)):
            self._symbolic(s, modified, steps)
        if outer is not None:
            self.exits[s.label] = outer

    def _unroll(self, s: ir.Loop) -> bool:
        """Execute iteration by iteration as long as every test is decided; False (and nothing done) otherwise."""
        mark, path = self._mark(), self.path
        base = self.state.guard
        for i in range(UNROLL_LIMIT + 1):
            self.path = f"{path}/{s.label}:{i}"
            self.run(s.head)
            if self.state.guard is self.t.false:
                break
            cond = self.value(s.cond)
            self.sink(cond.deps, s.span, "a loop condition")
            if cond.term is self.t.false:
                break
            if cond.term is not self.t.true or i == UNROLL_LIMIT:
                self.path = path
                self._rollback(mark)
                return False
            self._body(s)
            if self.state.guard is self.t.false:
                break
        self.path = path
        self.state = self.gather(s.label, base, self.state)
        return True

    def _body(self, s: ir.Loop) -> None:
        base = self.state.guard
        self.run(s.body)
        self.state = self.gather(f"{s.label}.body", base, self.state)
        self.run(s.step)

    def _step_of(self, s: ir.Loop, name: str, modified: list[str]) -> Term | None:
        """The step c of ``name += c`` when that is the loop's only, unconditional update of it."""
        updates = updates_of((*s.head, *s.body, *s.step), name)
        if len(updates) != 1 or not updates[0][0] or updates[0][1] in s.head:
            return None
        stmt = updates[0][1]
        if not isinstance(stmt, ir.Assign):
            return None
        value = strip_conversions(stmt.value)
        own = ir.Read(name, self.s.kernel.locals[name])
        sign, scale = 1, 1
        match value:
            case ir.Binary(op="add" | "sub" as op, left=a, right=b) if isinstance(value.type, ir.Int):
                if strip_conversions(a) == own:
                    amount: ir.Expr = b
                elif op == "add" and strip_conversions(b) == own:
                    amount = a
                else:
                    return None
                sign = 1 if op == "add" else -1
            case ir.PtrAdd(pointer=p, index=amount) if strip_conversions(p) == own:
                scale = ir.size_of(value.type.elem)
            case _:
                return None
        if any(v in modified for v in reads(amount)):
            return None
        mark = self._mark()
        try:
            step = self.value(amount).term
        except Unmodelled:
            return None
        finally:
            self._rollback(mark)
        return self.t.mul(step, self.t.const(sign * scale))

    def _may_turn(self, v: str) -> bool:
        first = self.state.env[v]
        if isinstance(first, Ptr):
            return len(first.alts) <= 2 and all(o is not None for _, o, _ in first.alts)
        return v in self.relevant and first.term.op != "float"

    def _symbolic(self, s: ir.Loop, modified: list[str], steps: dict[str, Term]) -> None:
        everything = (*s.head, *s.body, *s.step)
        barrier, whole = contains_barrier(everything), contains_barrier(everything, grid=True)
        inner = frozenset((f"{s.label}.body",))
        left = leaves(everything, inner)
        breaks = s.label in left
        outward = [x for x in left if x != s.label]
        start = 0 if whole else 1 if barrier else 2
        turning = [v for v in modified if v not in steps and self._may_turn(v)]
        turns = turns_of(s, turning)
        assumed = _Assumed(steps, {}, dict.fromkeys(modified, start), min(start, 1), turns, frozenset())
        mark, path = self._mark(), self.path
        for attempt in range(REDO_LIMIT):
            trial = _Iteration(self, s, modified, assumed, barrier, bool(left), whole)
            redo = trial.execute()
            if redo is None:
                trial.leave(breaks, bool(outward))
                self.s.loops.append(ending(self.t, s, trial.steps, trial.entry, self.wrapped))
                self.path = path
                return
            assumed = redo
            self._rollback(mark)
            self.path = path
            if attempt == REDO_LIMIT - 2:
                assumed = _Assumed({}, {}, dict.fromkeys(modified, 2), 2, {}, kept.names(self.state))
        raise Unmodelled("loop", "its variables did not settle", s.span)


@dataclass(frozen=True, slots=True)
class _Assumed:
    """What an iteration takes for granted and then checks: counters' steps (``cycles``: those that wrap at their type),
    the level of each variable, and of whether a thread is still in the loop, variables that change places, pointers in the
    thread's own memory that the loop may change."""

    steps: dict[str, Term]
    cycles: dict[str, Term]
    levels: dict[str, int]
    alive: int
    turns: dict[str, str]
    lost: frozenset[str]


class _Iteration:
    """One symbolic iteration under assumptions on steps and levels, and the state after the loop."""

    def __init__(
        self,
        x: LoopRules,
        s: ir.Loop,
        modified: list[str],
        assumed: _Assumed,
        barrier: bool,
        can_leave: bool,
        whole: bool,
    ) -> None:
        self.x, self.s, self.t = x, s, x.t
        self.modified, self.steps, self.cycles = modified, dict(assumed.steps), dict(assumed.cycles)
        self.levels, self.alive = dict(assumed.levels), assumed.alive
        self.turns, self.lost = assumed.turns, assumed.lost
        self.barrier, self.can_leave, self.whole = barrier, can_leave, whole
        self.entry = x.state.copy()
        for name in self.lost:
            self.entry.env.pop(name, None)
        self.outer = x.iters
        self.names = {v: self.t.fresh_name(f"{v}@") for v in modified}
        self.limit = most_tests(x, s, self.steps, modified, self.entry)
        last = self.limit
        if last is not None and not s.head and plain_test(s.cond):
            last = max(0, last - 1)  # nothing happens at the test that fails, so k counts rounds of the body
        self.k = self.t.app(self.t.fresh_name("k"), (), 2, 0, last)
        self.cond: Term = self.t.true
        self.end: State = self.entry
        self.carried: Carried
        self.head_env: dict[str, Value] = {}

    def at(self, count: Term) -> dict[str, Value]:
        """The modified locals at the head of iteration ``count``."""
        t = self.t
        out: dict[str, Value] = {}
        for v in self.modified:
            init = self.entry.env[v]
            if v in self.steps:
                moved = t.mul(count, self.steps[v])
                if isinstance(init, Ptr):
                    out[v] = Ptr(tuple((c, o, t.add(off, moved)) for c, o, off in init.alts), init.deps)
                else:
                    out[v] = Val(t.add(init.term, moved), init.deps)
            elif v in self.cycles and isinstance(init, Val):
                exact = t.add(init.term, t.mul(count, self.cycles[v]))
                out[v] = Val(self._wrapped(v, exact), init.deps)
            elif v in self.turns:
                out[v] = turned(self.x, self.entry.env, self.turns, v, count)
            elif isinstance(init, Ptr):
                continue
            else:
                out[v] = Val(self._unknown(v, init.term, (*self.outer, count)))
        return out

    def _wrapped(self, v: str, exact: Term) -> Term:
        type_ = self.x.s.kernel.locals[v]
        assert isinstance(type_, ir.Int)
        return self.t.wrap(exact, type_.bits, type_.signed)

    def _unknown(self, v: str, init: Term, args: tuple[Term, ...]) -> Term:
        t, name = self.t, self.names[v]
        if init.op == "float":
            return t.float(name, args, 2)
        if init.is_bool:
            return t.bapp(name, args, self.levels[v])
        type_ = self.x.s.kernel.locals.get(v)
        lo, hi = int_range(type_.bits, type_.signed) if isinstance(type_, ir.Int) else (None, None)
        kept = [c for c, _ in self._candidates(v, init, init) if (id(self.s), v, c) not in self.x.dropped]
        if "nonneg" in kept:
            lo = 0
        if "bit" in kept:
            hi = 1
        atom = t.app(name, args, self.levels[v], lo, hi)
        if atom not in self.x.s.facts:
            self.x.s.fact(atom, t.implies(t.and_(self.entry.guard, t.eq(args[-1], t.zero)), t.eq(atom, init)))
            for candidate, holds in self._candidates(v, atom, init):
                if candidate in kept:
                    self.x.s.fact(atom, t.implies(self.entry.guard, holds))
            self.x.s.facts.setdefault(atom, [])
        return atom

    def _link_steps(self) -> None:
        """Tie consecutive heads: where an iteration completes, the next head has the body's final value."""
        t = self.t
        for v in self.modified:
            head, end = self.head_env.get(v), self.end.env.get(v)
            if (
                v in self.steps
                or v in self.cycles
                or v in self.turns
                or v not in self.x.relevant
                or not isinstance(head, Val)
                or not isinstance(end, Val)
            ):
                continue
            atom = head.term
            if atom.op != "app" or end.term.op == "float" or end.term.is_bool:
                continue
            following = t.app(atom.name, (*self.outer, t.add(self.k, t.one)), atom.flevel, atom.lo, atom.hi)
            self.x.state = self.end
            self.x.sink(end.deps, self.s.span, "a loop variable")
            self.x.s.links.setdefault(atom, []).append(t.implies(self.end.guard, t.eq(following, end.term)))

    def _candidates(self, v: str, value: Term, init: Term) -> list[tuple[str, Term]]:
        t = self.t
        if v not in self.x.relevant or init.op == "float" or init.is_bool:
            return []
        out = []
        if t.le(t.zero, init) is not t.false:
            out.append(("nonneg", t.le(t.zero, value)))
        if isinstance(init, Const) and init.value in (0, 1) and toggles(self.s, v):
            return [*out, ("bit", t.le(value, t.one))]
        type_ = self.x.s.kernel.locals.get(v)
        if self.x.masks and isinstance(type_, ir.Int) and doubles_or_halves(self.s, v):
            out.append(("power", is_power(t, value, type_.bits - type_.signed, zero=True)))
        out.append(("ge_init", t.le(init, value)))
        out.append(("le_init", t.le(value, init)))
        return out

    def execute(self) -> _Assumed | None:
        """Run head, test, body and step once; None when the assumptions held, else weaker ones for a new attempt."""
        x, t, s = self.x, self.t, self.s
        x.iters = (*self.outer, self.k)
        self.carried = Carried(x, (*s.head, *s.body, *s.step), self.entry, self.k)
        x.state = self.entry.copy()
        x.state.cells = ()
        self.carried.head(x.state)
        for v in self.modified:
            x.state.env.pop(v, None)
        for v in self.modified:
            init = self.entry.env[v]
            if v in x.relevant and isinstance(init, Val):
                x.sink(init.deps, s.span, "a loop variable")
        self.head_env = self.at(self.k)
        x.state.env.update(self.head_env)
        first_access, first_barrier = len(x.s.accesses), len(x.s.barriers)
        first_change = len(x.changed)
        place: tuple[Epoch, ...] = ()
        if self.barrier:
            place = (Epoch(t.true, f"previous:{self.k.name}", (self.k,)),)
            x.state.block = x.state.warp = place
            if self.whole:
                x.state.grid = place
            if self.can_leave:
                x.state.guard = t.and_(x.state.guard, t.bapp(f"alive:{self.k.name}", x.iters, self.alive))
        x.run(s.head)
        cond = x.value(s.cond)
        self.cond, self.cond_deps = cond.term, cond.deps
        x.sink(cond.deps, s.span, "a loop condition")
        x.state.guard = t.and_(x.state.guard, cond.term)
        x.state.gdeps |= cond.deps
        x.s.loop_tests[self.k] = (cond.term, self.can_leave and not self.barrier)
        if self.barrier:
            x._event("block", f"test:{s.label}", s.span, "the loop around a barrier", Val(t.zero))
        if self.whole:
            x._event("grid", f"test:{s.label}", s.span, "the loop around a grid.sync()", Val(t.zero))
        x._body(s)
        self.end = x.state
        self.carried.close(self.end, s.label, not self.barrier and not self.can_leave)
        x.iters = self.outer
        redo = self._check(self.lost | (kept.names(self.entry) & {*x.changed[first_change:]}))
        if redo is not None:
            return redo
        self._lemmas()
        self._link_steps()
        if self.barrier:
            self._link_epochs(place, first_access, first_barrier)
        return None

    def _check(self, lost: frozenset[str]) -> _Assumed | None:
        t = self.t
        steps, cycles, levels, alive = dict(self.steps), dict(self.cycles), dict(self.levels), self.alive
        turns = self.turns
        if self.end.guard is not t.false:
            for v in self.modified:
                head, end = self.head_env.get(v), self.end.env.get(v)
                if v in steps:
                    if not self._advanced(head, end, steps[v]):
                        step = steps.pop(v)
                        if isinstance(end, Val) and isinstance(self.x.s.kernel.locals[v], ir.Int):
                            cycles[v] = step
                    elif isinstance(end, Val):
                        self.x.state = self.end
                        self.x.sink(end.deps, self.s.span, "a loop counter")
                elif v in cycles:
                    if (
                        not isinstance(head, Val)
                        or not isinstance(end, Val)
                        or end.term is not self._wrapped(v, t.add(head.term, cycles[v]))
                    ):
                        del cycles[v]
                    else:
                        self.x.state = self.end
                        self.x.sink(end.deps, self.s.span, "a loop counter")
                elif v in turns:
                    if end is None or not _same(end, self.head_env[turns[v]]):
                        turns = without(turns, v)
                    else:
                        self.x.state = self.end
                        self.x.sink(end.deps, self.s.span, "variables that change places")
                elif isinstance(end, Val):
                    levels[v] = max(levels[v], self._level(end.term))
                if v not in steps and v not in cycles and isinstance(self.entry.env[v], Val):
                    init = self.entry.env[v]
                    if isinstance(init, Val):
                        levels[v] = max(levels[v], self._level(init.term))
        if self.barrier and self.can_leave and alive < 2:
            labels = leaves((*self.s.head, *self.s.body, *self.s.step), frozenset((f"{self.s.label}.body",)))
            guards = [st.guard for label in labels for st in self.x.exits.get(label, ())]
            alive = max(alive, *map(self._level, guards), 0)
        found = _Assumed(steps, cycles, levels, alive, turns, lost)
        assumed = _Assumed(self.steps, self.cycles, self.levels, self.alive, self.turns, self.lost)
        return None if found == assumed else found

    def _advanced(self, head: Value | None, end: Value | None, step: Term) -> bool:
        t = self.t
        if isinstance(head, Val) and isinstance(end, Val):
            return not head.term.is_bool and end.term is t.add(head.term, step)
        if isinstance(head, Ptr) and isinstance(end, Ptr) and len(head.alts) == len(end.alts):
            return all(
                a[0] is b[0] and a[1] is b[1] and b[2] is t.add(a[2], step)
                for a, b in zip(head.alts, end.alts, strict=True)
            )
        return False

    def _level(self, term: Term) -> int:
        """The level of a term for threads that are in the same iteration of this loop and of those around it."""
        same = {
            k: self.t.app(f"same-iteration:{i}", (), 0, 0, None) for i, k in enumerate((*self.outer, self.k))
        }
        return self.t.substitute(term, same).level

    def _lemmas(self) -> None:
        """Base case and step of each candidate that the head assumed."""
        x, t = self.x, self.t
        for v in self.modified:
            init, end = self.entry.env[v], self.end.env.get(v)
            if v in self.steps or v in self.cycles or v in self.turns:
                continue
            if not isinstance(init, Val) or not isinstance(end, Val):
                continue
            for (candidate, base), (_, step) in zip(
                self._candidates(v, init.term, init.term),
                self._candidates(v, end.term, init.term),
                strict=True,
            ):
                key = (id(self.s), v, candidate)
                if key in x.dropped:
                    continue
                for state, holds, deps in ((self.entry, base, init.deps), (self.end, step, end.deps)):
                    if holds is t.true or state.guard is t.false:
                        continue
                    bit = 1 << len(x.s.operations)
                    what = f"{v} {candidate} is kept by the loop"
                    x.s.operations.append(
                        Operation(bit, key, "lemma", state.guard, holds, self.s.span, what, deps, False, True)
                    )
                    saved, x.state = x.state, state
                    x.sink(deps | bit, self.s.span, "a loop lemma")
                    x.state = saved

    # --- barriers in loops ------------------------------------------------------------------------------------------

    def _link_epochs(self, place: tuple[Epoch, ...], first_access: int, first_barrier: int) -> None:
        x, t = self.x, self.t
        self.previous_block = previous(t, self.k, self.entry.block, self.end.block, place, self.cond)
        self.previous_warp = previous(t, self.k, self.entry.warp, self.end.warp, place, self.cond)
        self.previous_grid = (
            previous(t, self.k, self.entry.grid, self.end.grid, place, self.cond) if self.whole else ()
        )
        for i in range(first_access, len(x.s.accesses)):
            a = x.s.accesses[i]
            x.s.accesses[i] = replace(
                a,
                block_epochs=expanded(t, a.block_epochs, place, self.previous_block),
                warp_epochs=expanded(t, a.warp_epochs, place, self.previous_warp),
                grid_epochs=expanded(t, a.grid_epochs, place, self.previous_grid),
            )
        for states in x.exits.values():
            for st in states:
                st.block = expanded(t, st.block, place, self.previous_block)
                st.warp = expanded(t, st.warp, place, self.previous_warp)
                st.grid = expanded(t, st.grid, place, self.previous_grid)
        self.place = place

    # --- after the loop ---------------------------------------------------------------------------------------------

    def leave(self, breaks: bool, outward: bool) -> None:
        """Set the executor's state to the one after the loop."""
        x, t, s = self.x, self.t, self.s
        broke = x.exits.pop(s.label, [])
        level = self._level(self.cond)
        if breaks or outward:
            level = max(level, *(self._level(st.guard) for st in broke), 0) if broke else level
            if outward:
                level = 2
        for v in self.modified:
            init = self.entry.env[v]
            if v in self.steps and isinstance(init, Val):
                level = max(level, self.steps[v].level)
            elif v in self.cycles:
                level = max(level, self.cycles[v].level)
        count = t.app(self.k.name + ":exit", self.outer, level, 0, self.limit)
        x.state = self.entry.copy()
        x.state.cells = ()
        self.carried.leave(x.state, count)
        for v in self.modified:
            x.state.env.pop(v, None)
        at_exit = self.at(count)
        if breaks:
            stable = set(self.steps) - set(assigned((*s.head, *s.body)))
            for v in list(at_exit):
                if v not in stable:
                    type_ = x.s.kernel.locals.get(v)
                    if (
                        isinstance(at_exit[v], Val)
                        and type_ is not None
                        and not isinstance(type_, ir.Pointer)
                    ):
                        at_exit[v] = x.fresh_of(type_, v)
                    else:
                        del at_exit[v]
        x.state.env.update(at_exit)
        before = t.substitute(self.cond, {self.k: t.sub(count, t.one)})
        facts = [t.or_(t.eq(count, t.zero), before)]
        if not breaks:
            mark = x._mark()
            x.run(s.head)
            test = x.value(s.cond).term
            env = x.state.env
            x._rollback(mark)
            x.state.env = dict(env)
            facts.append(t.not_(test))
        if count.op == "app":
            x.s.fact(count, *(t.implies(self.entry.guard, f) for f in facts))
        x.state.gdeps |= self.cond_deps
        if outward:
            x.state.guard = t.and_(x.state.guard, x.fresh_bool("stayed"))
        if self.barrier:
            x.state.block = after(t, self.k, self.previous_block, count, [st.block for st in broke])
            x.state.warp = after(t, self.k, self.previous_warp, count, [st.warp for st in broke])
        if self.whole:
            x.state.grid = after(t, self.k, self.previous_grid, count, [st.grid for st in broke])


def _same(a: Value, b: Value) -> bool:
    """Whether two values are one term, or one list of targets."""
    if isinstance(a, Ptr) and isinstance(b, Ptr):
        return a.alts == b.alts
    return isinstance(a, Val) and isinstance(b, Val) and a.term is b.term
