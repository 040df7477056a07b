"""What a symbolic execution of one kernel under one contract found: accesses, barriers, integer obligations, facts.

Produced by ``execute.summarize``; read by every check. All terms speak of one symbolic thread; level-2 symbols are the
thread's own, level-1 the block's, level-0 the grid's (see ``verifier.smt.terms``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from specs.contract import Buffer, Contract
from specs.location import NOWHERE, Span
from verifier.ir.nodes import Agent, Kernel
from verifier.smt.terms import Term, Terms


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """A buffer, shared array, local array or global. ``extent``: bytes; ``elem``: bytes of the natural element.

    ``texture`` and ``surface``: what a handle stands for; a texture may be any global memory."""

    name: str
    space: Literal["global", "shared", "local", "constant", "texture", "surface"]
    extent: Term | None
    elem: int
    buffer: Buffer | None = None
    align: int = 0
    span: Span = NOWHERE
    integer: bool = False


@dataclass(frozen=True, slots=True)
class Epoch:
    """One possible last barrier before a point: under ``cond``, barrier ``site`` in iterations ``iters``."""

    cond: Term
    site: str
    iters: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Access:
    """One access site in one symbolic iteration. ``offset`` in bytes; ``rows``: (index, count) of inner array axes."""

    number: int
    kind: Literal["read", "write", "atomic"]
    obj: MemoryObject
    offset: Term
    size: int
    guard: Term
    deps: int
    span: Span
    block_epochs: tuple[Epoch, ...]
    warp_epochs: tuple[Epoch, ...]
    grid_epochs: tuple[Epoch, ...]
    iters: tuple[Term, ...]
    rows: tuple[tuple[Term, int], ...] = ()
    value: Term | None = None
    scope: str = "device"
    vector: bool = False
    align: int = 0
    """What the accessed type needs (a class of two floats is copied float by float); 0: its size."""
    volatile: bool = False
    agent: Agent | Literal["engine"] = "thread"
    """``engine``: the copy engine, in this interval or a later one; what comes later is recorded as well."""
    origin: int = -1
    """The number of the asynchronous access that this is a later moment of; its own at the start."""
    instance: tuple[Term, ...] = ()
    """The iterations in which that access was started."""
    adds: Term | None = None
    """What an atomic addition of integers adds."""


@dataclass(frozen=True, slots=True)
class BarrierEvent:
    """A barrier or warp collective reached under ``guard``. ``kind``: block, warp, grid."""

    kind: str
    site: str
    guard: Term
    iters: tuple[Term, ...]
    span: Span
    deps: int
    mask: Term | None = None
    what: str = "__syncthreads"


@dataclass(frozen=True, slots=True)
class Operation:
    """An integer operation whose exact value was used: sound only if ``holds`` under ``guard`` (obligation ``bit``).

    ``fault``: failing it is a fault of the kernel (else the value is merely modular). ``key`` identifies the operation
    over several executions. ``lemma``: an inductive candidate of ours, dropped when not shown.
    """

    bit: int
    key: object
    property: str
    guard: Term
    holds: Term
    span: Span
    what: str
    deps: int
    fault: bool
    lemma: bool = False
    value: Term | None = None
    host: bool = False


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """A loop under ``guard``; it ends if ``moves`` holds. None: nothing says that it does."""

    span: Span
    guard: Term
    moves: Term | None


@dataclass(frozen=True, slots=True)
class Sink:
    """A place where integer values matter (address, branch, barrier, mask): ``deps`` are the operations it rests on."""

    guard: Term
    deps: int
    span: Span
    what: str


@dataclass(frozen=True, slots=True)
class Gap:
    """Something without a meaning here: every verdict it may touch is UNKNOWN."""

    construct: str
    detail: str
    span: Span
    guard: Term


@dataclass(frozen=True, slots=True)
class Geometry:
    """Terms of the launch."""

    thread: tuple[Term, Term, Term]
    block_index: tuple[Term, Term, Term]
    block: tuple[Term, Term, Term]
    grid: tuple[Term, Term, Term]
    shared_bytes: Term


@dataclass(slots=True)
class Summary:
    """Everything the checks need. Lists are in execution order."""

    t: Terms
    kernel: Kernel
    contract: Contract
    geometry: Geometry
    symbols: dict[str, Term]
    scalars: dict[str, Term]
    requires: list[Term]
    objects: dict[str, MemoryObject]
    requires_ops: list[int] = field(default_factory=list)
    """For each precondition the host conversions (operation bits) that it takes to be exact."""
    definitions: dict[Term, tuple[Term, int]] = field(default_factory=dict)
    """Name of a composite size -> what it is, and the host conversions that its interval takes to be exact."""
    facts: dict[Term, list[Term]] = field(default_factory=dict)
    links: dict[Term, list[Term]] = field(default_factory=dict)
    """Loop variable at iteration k -> what it is at k+1. Holds only where operations and lemmas do, so that these are
    shown without it (the interval of the value at k+1 would show them)."""
    tickets: dict[Term, int] = field(default_factory=dict)
    """Result of an atomic addition -> the number of its access."""
    congruent: dict[Term, list[Term]] = field(default_factory=dict)
    """Loaded value -> when it equals what the thread read or wrote before; holds up to the first race."""
    common_loads: dict[Term, None] = field(default_factory=dict)
    """Loaded from shared memory, and taken for one value of the block; holds up to the first race in shared memory."""
    accesses: list[Access] = field(default_factory=list)
    barriers: list[BarrierEvent] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    sinks: list[Sink] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    asserts: list[tuple[Term, Term, Span, str]] = field(default_factory=list)
    approximations: list[tuple[str, Span]] = field(default_factory=list)
    loops: list[LoopEnd] = field(default_factory=list)
    """Loops that were not taken apart (those end)."""
    declared: list[tuple[str, int, tuple[Term, ...]]] = field(default_factory=list)
    """Local objects, each where it is declared: before which access, in which iterations. Older contents end there."""
    open_copies: list[int] = field(default_factory=list)
    """Asynchronous accesses (their numbers) that some thread may never wait for, or not where it is followed."""
    size_limited: list[str] = field(default_factory=list)
    reads: dict[Term, tuple[str, Term]] = field(default_factory=dict)
    """read atom -> (parameter, element index): integer contents a witness must choose."""
    loop_tests: dict[Term, tuple[Term, bool]] = field(default_factory=dict)
    """iteration symbol -> (the loop's test at it, whether the loop can be left elsewhere untracked)."""
    launch_deps: int = 0
    raw_grid: tuple[Term, ...] = ()
    raw_block: tuple[Term, ...] = ()
    """Grid and block as the host computes them, before they are named and limited."""
    pure_externs: bool = False
    """Whether functions without a body are taken to return any value and do nothing else; ``externs``: which there are."""
    externs: dict[str, None] = field(default_factory=dict)
    same_value: bool = False
    """Whether stores of provably equal values to one place are no race (a choice of the policy)."""
    outputs: tuple[str, ...] = ()
    """The parameters that the kernel may write through; empty where that is not known."""
    unfitted: dict[object, Term] = field(default_factory=dict)
    """Host conversion taken modulo its type (its key) -> whether it keeps its value."""

    def fact(self, atom: Term, *facts: Term) -> None:
        """Register facts that hold of an atom for every thread."""
        self.facts.setdefault(atom, []).extend(f for f in facts if f is not self.t.true)

    def known(self, congruent: bool = False) -> dict[Term, list[Term]]:
        """Facts and links of each atom; for claims about races also what repeated reads have in common."""
        out = {atom: list(facts) for atom, facts in self.facts.items()}
        for more in (self.links, self.congruent) if congruent else (self.links,):
            for atom, facts in more.items():
                out.setdefault(atom, []).extend(facts)
        return out

    def expand(self, term: Term, bit: int = 1) -> Term:
        """The term without the names of sizes that rest on the conversion ``bit`` or later ones (all that rest on any)."""
        return self._without(
            term, {name: what for name, (what, ops) in self.definitions.items() if ops & ~(bit - 1)}
        )

    def plain(self, term: Term) -> Term:
        """The term without any name of a size."""
        return self._without(term, {name: what for name, (what, _) in self.definitions.items()})

    def _without(self, term: Term, late: Mapping[Term, Term]) -> Term:
        memo: dict[Term, Term] = {}
        while late:
            plain = self.t.rebuild(term, late.get, memo)
            if plain is term:
                break
            term, memo = plain, {}
        return term
