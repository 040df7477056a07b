"""Asynchronous copies from their start to the wait that ends them.

Statement ``CopyGroup``, async accesses, barriers -> further accesses of the summary. A copy may take place in every
barrier interval from its start to its wait: it is recorded once in each of them (agent ``engine``), and at the wait as an
access of the thread itself, which is what a later reader may rest on.

Invariant: a copy that some thread may not have waited for where it is followed is in ``open_copies``; it keeps agent
``async`` (any later moment). Argument: docs/soundness.md.

Example: ``cp.async s[t]; commit; __syncthreads(); wait 0`` -> engine in two intervals, then a store of the thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from specs.location import NOWHERE
from verifier.ir import nodes as ir
from verifier.smt.terms import Term
from verifier.symex.expressions import Evaluator, State
from verifier.symex.summary import Access, Epoch, Summary

if TYPE_CHECKING:
    _Base = Evaluator
else:
    _Base = object


_CARRIED = -2
"""Origin of the stand-in for whatever is in flight at the head of a loop's iteration."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a stand-in may take place, or ends."""

    item: Access
    agent: Literal["thread", "engine"]
    guard: Term
    deps: int
    block: tuple[Epoch, ...]
    warp: tuple[Epoch, ...]
    grid: tuple[Epoch, ...]
    number: int


class CopyRules(_Base):
    """The part of the executor for the copy engine (mixed into it)."""

    moments: list[Moment]
    rounds: dict[Term, Carried]

    def start_copies(self, made: tuple[Access, ...]) -> None:
        """The accesses that an asynchronous load or store made are in flight from here."""
        for a in made:
            started = replace(a, origin=a.number, instance=a.iters)
            self.s.accesses[a.number] = started
            self.state.copies += ((started, -1),)

    def copy_group(self, s: ir.CopyGroup) -> None:
        state = self.state
        match s.op:
            case "commit":
                number = 0
                if state.groups is not None:
                    number = state.groups = state.groups + 1
                state.copies = tuple((a, number if g < 0 else g) for a, g in state.copies)
            case "wait_all":
                self._end([True] * len(state.copies))
            case "wait" if s.left == 0:
                self._end([g >= 0 for _, g in state.copies])
            case "wait":
                groups = state.groups
                self._end([groups is not None and 0 < g <= groups - s.left for _, g in state.copies])

    def _end(self, done: list[bool]) -> None:
        state = self.state
        for (a, _), over in zip(state.copies, done, strict=True):
            if over:
                self._moment(a, "thread")
        state.copies = tuple(c for c, over in zip(state.copies, done, strict=True) if not over)

    def _moment(self, a: Access, agent: Literal["thread", "engine"]) -> None:
        """The same access now."""
        state = self.state
        if a.origin == _CARRIED:
            moment = Moment(
                a, agent, state.guard, state.gdeps, state.block, state.warp, state.grid, len(self.s.accesses)
            )
            self.moments.append(moment)
            return
        later = replace(
            a,
            number=len(self.s.accesses),
            guard=self.t.and_(a.guard, state.guard),
            deps=a.deps | state.gdeps,
            block_epochs=state.block,
            warp_epochs=state.warp,
            grid_epochs=state.grid,
            agent=agent,
        )
        self.s.accesses.append(later)

    def copies_in_flight(self) -> None:
        """After a barrier: what is in flight may take place in the new interval."""
        for a, _ in self.state.copies:
            self._moment(a, "engine")

    exits: dict[str, list[State]]

    def abandon(self, state: State) -> None:
        """Nothing more is concluded of what is in flight in the state."""
        self.s.open_copies += [a.number for a, _ in state.copies if a.origin != _CARRIED]
        state.copies = ()


def merged(a: State, b: State) -> tuple[tuple[tuple[Access, int], ...], int | None]:
    """What may be in flight after a branch, and how many groups were ended."""
    if a.copies == b.copies and a.groups == b.groups:
        return a.copies, a.groups
    if not a.copies and not b.copies:
        return (), a.groups if a.groups == b.groups else None
    same = a.groups == b.groups
    groups: dict[Access, int] = {}
    for access, group in (*a.copies, *b.copies):
        kept = group if same or group < 0 else 0
        groups[access] = min(kept, groups.get(access, kept)) if access in groups else kept
    return tuple(groups.items()), a.groups if same else None


def settle(s: Summary) -> None:
    """At the end: copies that every thread waited for are in flight up to there only."""
    still = set(s.open_copies)
    for number, a in enumerate(s.accesses):
        if a.agent == "async" and a.number not in still:
            s.accesses[number] = replace(a, agent="engine")


class Carried:
    """Copies over the rounds of a loop whose every round waits for what the round before left in flight.

    At the head of round k these are the copies of the loop's entry (k = 0) or those that round k-1 left. A stand-in
    shows where in the round they may take place and where they end; if it does not end in each round, or a group is not
    ended, nothing is concluded.
    """

    def __init__(self, x: CopyRules, stmts: tuple[ir.Stmt, ...], entry: State, k: Term) -> None:
        self.x, self.k, self.entry = x, k, entry
        self.starts, self.waits = copies_in(stmts)
        self.before = entry.copies
        self.after: tuple[tuple[Access, int], ...] = ()
        self.first = len(x.moments)
        t, null = x.t, x.null
        self.item = Access(-1, "read", null, t.zero, 0, t.true, 0, NOWHERE, (), (), (), (k,), origin=_CARRIED)
        self.lost = False
        x.rounds[k] = self
        if self.starts or self.waits:
            self._give_up_outer()
        self.followed = self.waits and all(group >= 0 for _, group in self.before)
        if self.starts:
            entry.groups = None
        if not self.followed and (self.starts or self.waits):
            x.abandon(entry)
            self.before = ()

    def _give_up_outer(self) -> None:
        """A stand-in of a loop around this one does not go through a loop with copies of its own."""
        for a, _ in self.before:
            if a.origin == _CARRIED:
                self.x.rounds[a.iters[0]].lost = True
        self.before = self.entry.copies = tuple(c for c in self.before if c[0].origin != _CARRIED)

    def head(self, state: State) -> None:
        """What is in flight belongs to group 1 or an earlier one; the groups of this round are 2, 3, …"""
        if self.followed:
            state.copies, state.groups = ((self.item, 1),), 1

    def close(self, end: State, label: str, plain: bool) -> None:
        """After the round. ``plain``: the loop has no barrier and is left at its test only."""
        x, t = self.x, self.x.t
        if not (self.starts or self.waits):
            return
        for early in x.exits.get(label, ()):
            self._drop(early)
        left = [(a, g) for a, g in end.copies if a is not self.item]
        if not self.followed:
            if self.waits or not plain or end.guard is t.false:
                x.abandon(end)
            self.after = end.copies
            return
        others = [state for states in x.exits.values() for state in states]
        lost = self.lost or any(a is self.item for state in (end, *others) for a, _ in state.copies)
        if lost or any(group < 0 for _, group in left):
            for state in (end, *others, self.entry):
                self._drop(state)
            x.s.open_copies += [a.number for a, _ in self.before]
            self.before = ()
            self.entry.copies = ()
            return
        self.after = tuple(left) if end.guard is not t.false else ()
        for m in x.moments[self.first :]:
            if m.item is self.item:
                x.s.accesses += [self._now(a, m) for a, _ in self._at(self.k)]

    def _drop(self, state: State) -> None:
        state.copies = tuple(c for c in state.copies if c[0] is not self.item)
        self.x.abandon(state)

    def _at(self, count: Term) -> tuple[tuple[Access, int], ...]:
        """What is in flight at the head of round ``count``."""
        t = self.x.t
        first = t.eq(count, t.zero)
        found = [(replace(a, guard=t.and_(a.guard, first)), g) for a, g in self.before]
        back, later = {self.k: t.sub(count, t.one)}, t.le(t.one, count)
        for a, _ in self.after:
            shifted = replace(
                a,
                offset=t.substitute(a.offset, back),
                guard=t.and_(t.substitute(a.guard, back), later),
                rows=tuple((t.substitute(index, back), size) for index, size in a.rows),
                instance=tuple(t.substitute(i, back) for i in a.instance),
            )
            found.append((shifted, 0))
        return tuple(found)

    def _now(self, a: Access, m: Moment) -> Access:
        return replace(
            a,
            number=m.number - 1,
            guard=self.x.t.and_(a.guard, m.guard),
            deps=a.deps | m.deps,
            block_epochs=m.block,
            warp_epochs=m.warp,
            grid_epochs=m.grid,
            iters=self.x.iters,
            agent=m.agent,
        )

    def leave(self, state: State, count: Term) -> None:
        """After the loop."""
        if self.followed:
            state.copies = self._at(count)
        else:
            state.copies += self.after


def copies_in(stmts: tuple[ir.Stmt, ...]) -> tuple[bool, bool]:
    """(whether copies are started or groups ended, whether they are waited for) within the statements."""
    starts = waits = False
    for s in stmts:
        match s:
            case ir.Load(agent="async") | ir.Store(agent="async") | ir.CopyGroup(op="commit"):
                starts = True
            case ir.CopyGroup():
                waits = True
            case ir.If(then=a, other=b):
                inner = [copies_in(a), copies_in(b)]
                starts, waits = starts or any(i[0] for i in inner), waits or any(i[1] for i in inner)
            case ir.Loop(head=h, body=b, step=st):
                inner = [copies_in(part) for part in (h, b, st)]
                starts, waits = starts or any(i[0] for i in inner), waits or any(i[1] for i in inner)
            case ir.Scope(body=b):
                inner = [copies_in(b)]
                starts, waits = starts or inner[0][0], waits or inner[0][1]
    return starts, waits
