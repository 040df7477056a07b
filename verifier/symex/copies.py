"""Asynchronous copies from their start to the wait that ends them.

Statement ``CopyGroup``, async accesses, barriers -> further accesses of the summary. A copy may take place in every
barrier interval from its start to its wait: it is recorded once in each of them (agent ``engine``), and at the wait as an
access of the thread itself, which is what a later reader may rest on.

Invariant: a copy that some thread may not have waited for where it is followed is in ``open_copies``; it keeps agent
``async`` (any later moment). Argument: docs/soundness.md.

Example: ``cp.async s[t]; commit; __syncthreads(); wait 0`` -> engine in two intervals, then a store of the thread.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from verifier.ir import nodes as ir
from verifier.symex.expressions import Evaluator, State
from verifier.symex.summary import Access, Summary

if TYPE_CHECKING:
    _Base = Evaluator
else:
    _Base = object


class CopyRules(_Base):
    """The part of the executor for the copy engine (mixed into it)."""

    def start_copies(self, made: tuple[Access, ...]) -> None:
        """The accesses that an asynchronous load or store made are in flight from here."""
        for a in made:
            started = replace(a, origin=a.number)
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
        later = replace(
            a,
            number=len(self.s.accesses),
            guard=self.t.and_(a.guard, state.guard),
            deps=a.deps | state.gdeps,
            block_epochs=state.block,
            warp_epochs=state.warp,
            agent=agent,
        )
        self.s.accesses.append(later)

    def copies_in_flight(self) -> None:
        """After a barrier: what is in flight may take place in the new interval."""
        for a, _ in self.state.copies:
            self._moment(a, "engine")

    def abandon(self, state: State) -> None:
        """Nothing more is concluded of what is in flight in the state."""
        self.s.open_copies += [a.number for a, _ in state.copies]
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
