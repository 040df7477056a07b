"""Whether a real launch keeps what an abduced precondition asks for. Precondition x Contract -> the clauses that it does not.

The symbols of the precondition are read as what the launch makes of them (``n`` is the argument n, ``len_x`` the elements
behind x, ``gridDim_x`` the grid), and each clause is an obligation over the launch's own contract. Invariant: a clause
that is left out of the answer holds at every launch of the contract in which a thread runs, given that the host's
conversions keep their values.
"""

from __future__ import annotations

from specs.clauses import ClauseError
from specs.contract import Contract
from verifier.ir.nodes import Kernel
from verifier.prover.abduction import Precondition
from verifier.prover.discharge import Discharger
from verifier.prover.engine import Settings
from verifier.prover.given import bounds, of_memory
from verifier.smt.definitions import closure, quotient_bounds
from verifier.smt.terms import Term, Terms
from verifier.symex.claims import Obligation
from verifier.symex.execute import launch_side
from verifier.symex.launch import ClauseLowering, dtype_bytes
from verifier.symex.setup import least_sizes, may_alias, prepare
from verifier.symex.summary import Summary


def not_implied(found: Precondition, kernel: Kernel, real: Contract, settings: Settings) -> tuple[str, ...]:
    """Clauses of the precondition, its limits on sizes among them, that the launch does not keep."""
    least = least_sizes(launch_side(kernel, real, cap=settings.cap))
    made = prepare(kernel, real, settings.cap, frozenset(), {}, least)
    s = made.summary
    view = _view(found, s)
    if isinstance(view, str):
        return (view,)
    d = Discharger(s.t, settings.pool)
    lowering = ClauseLowering(s.t, view, lambda exact, *_: exact)
    missed = []
    for text in (*(c.text for c in found.clauses), *_domain(found)):
        match = of_memory(text)
        if match is not None and match[0] == "content":
            range_ = made.contents.get(match[1])
            goals = _within(s.t, lowering, match[2], range_) if range_ is not None else None
            holds = goals is not None and all(_holds(s, d, goal, text) for goal in goals)
        elif match is not None:
            holds = _structural(s, *match)
        else:
            try:
                holds = _holds(s, d, lowering.bool(text), text)
            except ClauseError:
                holds = False
        if not holds:
            missed.append(text)
    return tuple(missed)


def _holds(s: Summary, d: Discharger, goal: Term, text: str) -> bool:
    return any(d.decide(_claim(s, goal, text, out)).status == "proved" for out in (False, True))


def _within(
    t: Terms, lowering: ClauseLowering, rest: str, real: tuple[Term, Term]
) -> tuple[Term, ...] | None:
    """That the launch's range of contents lies in ``low, high``."""
    try:
        low, high = (lowering.int(text) for text in bounds(rest))
    except ClauseError:
        return None
    return t.le(low, real[0]), t.le(real[1], high)


def _view(found: Precondition, s: Summary) -> dict[str, Term] | str:
    """The precondition's symbols in terms of the launch; or why there is none."""
    bare, t = found.bare, s.t
    out: dict[str, Term] = {}
    for param, name in bare.names.items():
        if param not in s.scalars:
            return f"nothing is known of the argument {param}"
        out[name] = s.scalars[param]
    for param, name in bare.lengths.items():
        buffer = found.contract.buffer(param)
        obj = s.objects.get(param)
        if buffer is None or obj is None or obj.extent is None or obj.buffer is None:
            return f"nothing is known of the memory behind {param}"
        size = dtype_bytes(buffer.dtype)
        lanes = int(buffer.extent.split(" * ")[0]) if " * " in buffer.extent else 1
        out[name] = t.quot(obj.extent, t.const(size * lanes))
    g = s.geometry
    for names, terms in ((bare.grid, g.grid), (bare.block, g.block)):
        out |= dict(zip(names, terms, strict=True))
    if bare.shared:
        out[bare.shared] = g.shared_bytes
    return out


def _domain(found: Precondition) -> list[str]:
    """The limits of the precondition's own symbols that a launch might not keep."""
    return [f"{name} <= {1 << 30}" for name in found.bare.lengths.values()]


def _structural(s: Summary, kind: str, first: str, second: str) -> bool:
    a = s.objects.get(first)
    if a is None or a.buffer is None:
        return False
    match kind:
        case "disjoint":
            b = s.objects.get(second)
            return b is not None and not may_alias(s, a, b)
        case "aligned":
            return a.align % int(second) == 0
        case _:
            return a.buffer.initialized


def _claim(s: Summary, goal: Term, text: str, written_out: bool) -> Obligation:
    """The clause at the launch; ``written_out``: without the names that sizes have there."""
    t = s.t
    names = {name: what for name, (what, _) in s.definitions.items()}
    axes = {
        name: raw
        for name, raw in zip((*s.geometry.grid, *s.geometry.block), (*s.raw_grid, *s.raw_block), strict=True)
        if name is not raw
    }
    known = [*s.requires, *(t.le(t.one, raw) for raw in axes.values())]
    if written_out:
        names |= axes

        def plain(term: Term) -> Term:
            for _ in range(8):
                made = t.rebuild(term, names.get, {})
                if made is term:
                    break
                term = made
            return term

        goal = plain(goal)
        known = list(map(plain, known))
        known += [f for name, what in names.items() if (f := _interval(s, name, plain(what))) is not t.true]
    facts = dict.fromkeys([*known, *closure(t, [goal, *known], {} if written_out else s.facts)])
    facts.update(dict.fromkeys(quotient_bounds(t, [goal, *facts])))
    return Obligation("launch", s.contract.launch.span, text, (), goal, tuple(facts))


def _interval(s: Summary, name: Term, what: Term) -> Term:
    """What the name of a size is known to be within, of the size itself."""
    t = s.t
    low = t.true if name.lo is None else t.le(t.const(name.lo), what)
    high = t.true if name.hi is None else t.le(what, t.const(name.hi))
    return t.and_(low, high)
