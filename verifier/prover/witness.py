"""From an obligation that fails to a concrete launch: symbols, grid, block, threads, integer contents.

The obligation is instantiated with small sizes first (then the problem's, then whatever the solver picks), which makes
it linear; a model gives the threads. The witness is only a candidate until the simulator has replayed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from specs import clauses
from specs.contract import Contract
from specs.location import Span
from specs.results import ThreadAccess, Witness
from verifier.prover.discharge import Discharger
from verifier.smt.smtlib import gather, script
from verifier.smt.terms import Term, atoms
from verifier.symex.claims import Claims, Obligation
from verifier.symex.summary import Operation, Summary
from verifier.symex.symbols import pinned

Triple = tuple[int, int, int]


def candidates(
    c: Claims, d: Discharger, o: Obligation, assignments: Iterable[Mapping[str, int]], general: bool = True
) -> Iterable[Witness]:
    """Witness candidates, smallest launches first."""
    for values in assignments:
        found = _model(c, d, o, values, 0.4)
        if found is not None:
            yield found
    if general:
        found = _model(c, d, o, {}, 1.0)
        if found is not None:
            yield found


def _model(
    c: Claims, d: Discharger, o: Obligation, values: Mapping[str, int], scale: float
) -> Witness | None:
    with c.s.t.unrecorded():
        return _modelled(c, d, o, values, scale)


def _modelled(
    c: Claims, d: Discharger, o: Obligation, values: Mapping[str, int], scale: float
) -> Witness | None:
    s, t = c.s, c.s.t
    pins = pinned(s.symbols, values, t)
    memo: dict[Term, Term] = {}

    def at(term: Term) -> Term:
        return t.rebuild(term, pins.get, memo)

    assertions = [at(x) for x in (*o.facts, *o.hyps)] + [t.not_(at(o.goal))]
    if any(a is t.false for a in assertions):
        return None
    level = 2 if o.same_block else 1
    wants: list[Term] = []
    g = s.geometry
    for suffix in o.threads:
        for axis in (*g.block_index, *g.thread):
            wants.append(at(c.rename(axis, suffix, level) if suffix else axis))
    wants += [at(x) for x in (*g.grid, *g.block)]
    names = list(s.symbols)
    wants += [at(s.symbols[n]) for n in names]
    told = {x.param for x in s.contract.scalars if x.value is not None}
    free = [n for n, term in s.scalars.items() if n not in told and not term.is_bool]
    wants += [at(s.scalars[n]) for n in free]
    reads: list[tuple[str, Term, Term]] = []
    for atom in o.data:
        buffer, index = s.reads[atom]
        for suffix in o.threads:
            value = at(c.rename(atom, suffix, level) if suffix else atom)
            where = at(c.rename(index, suffix, level) if suffix else index)
            reads.append((buffer, where, value))
    for _, where, value in reads:
        wants += [where, value]
    offsets = []
    for i, access in enumerate(o.accesses[:2]):
        suffix = o.threads[min(i, len(o.threads) - 1)]
        offsets.append(at(c.rename(access.offset, suffix, level) if suffix else access.offset))
    wants += offsets
    facts = gather(t, [*assertions, *wants], s.facts if len(o.threads) == 1 else {})
    facts = [at(f) for f in facts]
    answer = d.pool.check(script(t, [*facts, *assertions], wants), "i" * len(wants), scale)
    if answer.status != "sat":
        return None
    v = list(answer.values)
    return _witness(c, o, names, free, v, [r[0] for r in reads], len(offsets), values)


def sizes_against(
    c: Claims, d: Discharger, o: Obligation, around: Mapping[str, int] | None = None
) -> Iterable[dict[str, int]]:
    """Symbol values at which a claim about the launch itself fails; no tensor is empty there.

    First near the problem's sizes: all but those that the claim names keep their value, which makes it mostly linear.
    ``around``: only near these.
    """
    s, t = c.s, c.s.t
    extents = [x.extent for x in s.objects.values() if x.extent is not None and x.buffer is not None]
    goal = s.plain(o.goal)
    known = [*o.facts, *o.hyps, *(t.le(t.one, e) for e in extents)]
    for name, (
        what,
        _,
    ) in s.definitions.items():  # facts that the names' intervals settle do not say them any more
        known += [t.le(t.const(name.lo), what)] if name.lo is not None else []
        known += [t.le(what, t.const(name.hi))] if name.hi is not None else []
    assertions = [*map(s.plain, known), t.not_(goal)]
    wants = list(s.symbols.values())
    named = atoms([goal])
    problem = (
        {x.name: x.value for x in s.contract.symbols if x.value is not None} if around is None else around
    )
    near = {a: v for a, v in pinned(s.symbols, problem, t).items() if a not in named}
    for pins in (near, {}) if near and around is None else (near,):
        memo: dict[Term, Term] = {}
        with t.unrecorded():
            at = [t.rebuild(x, pins.get, memo) for x in (*assertions, *wants)]
            facts = [t.rebuild(f, pins.get, memo) for f in gather(t, at, {})]
        claims, values = at[: len(assertions)], at[len(assertions) :]
        if t.false in claims:
            continue
        answer = d.pool.check(script(t, [*facts, *claims], values), "i" * len(values), 1.0)
        if answer.status == "sat":
            yield dict(zip(s.symbols, answer.values, strict=True))


def wrapping_sizes(
    modular: Claims, d: Discharger, o: Obligation, op: Operation, near: Iterable[Mapping[str, int]]
) -> Iterable[dict[str, int]]:
    """Symbol values at which a conversion of the host does not keep its value, as the host computes: modulo its types.

    ``modular``: the host's side with every conversion modular; all but what the conversion is made of keeps a value
    of ``near``.
    """
    fits = modular.s.unfitted.get(op.key)
    if fits is None:
        return
    claim = replace(o, facts=tuple(modular.s.requires), goal=fits)
    for values in (*near, {}):
        yield from sizes_against(modular, d, claim, values)


def reachable(c: Claims, d: Discharger, launches: Iterable[Mapping[str, int]]) -> bool:
    """Whether one of these launches makes some thread access memory (else proofs say nothing).

    Of a kernel without accesses or assertions: reach a barrier, or be launched at all.
    """
    t = c.s.t
    places = [(a.guard, a.span) for a in c.s.accesses[:3]]
    if not places and not c.s.asserts:
        places = [(b.guard, b.span) for b in c.s.barriers[:3]] or [(t.true, c.s.kernel.span)]
    for values in launches:
        for guard, span in places:
            o = c.single("vacuity", span, "the access is reachable", (guard,), t.false)
            if satisfiable(c, d, o, values):
                return True
    return False


def satisfiable(c: Claims, d: Discharger, o: Obligation, values: Mapping[str, int]) -> bool:
    """Whether the obligation's hypotheses (and the negation of its goal) have a model with these symbol values."""
    return _model(c, d, o, values, 0.5) is not None


def _witness(
    c: Claims,
    o: Obligation,
    names: list[str],
    free: list[str],
    v: list[int],
    reads: list[str],
    offsets: int,
    values: Mapping[str, int],
) -> Witness | None:
    s = c.s
    threads: list[tuple[Triple, Triple]] = []
    pos = 0
    for _ in o.threads:
        threads.append(((v[pos], v[pos + 1], v[pos + 2]), (v[pos + 3], v[pos + 4], v[pos + 5])))
        pos += 6
    grid, block = (v[pos], v[pos + 1], v[pos + 2]), (v[pos + 3], v[pos + 4], v[pos + 5])
    pos += 6
    symbols = dict(zip(names, v[pos : pos + len(names)], strict=True))
    pos += len(names)
    scalars = dict(zip(free, v[pos : pos + len(free)], strict=True))
    pos += len(free)
    data: dict[str, dict[int, int]] = {}
    for buffer in reads:
        data.setdefault(buffer, {})[v[pos]] = v[pos + 1]
        pos += 2
    where = v[pos : pos + offsets]
    try:
        launch = clauses.instantiate(s.contract, symbols)
    except (clauses.ClauseError, clauses.ClauseUndefined):
        return None
    accesses = []
    for i, (b, th) in enumerate(threads):
        action, span = o.claim, o.span
        if o.accesses:
            a = o.accesses[min(i, len(o.accesses) - 1)]
            off = where[min(i, len(where) - 1)]
            elem = a.obj.elem or 1
            verb = {"read": "reads", "write": "writes", "atomic": "updates"}[a.kind]
            action, span = f"{verb} {a.obj.name}[{off // elem}]", a.span
        accesses.append(ThreadAccess(b, th, action, span))
    return Witness(
        grid=launch.grid if all(launch.grid) else grid,
        block=launch.block if all(launch.block) else block,
        shared_bytes=launch.shared_bytes,
        symbols=symbols,
        scalars={**launch.scalars, **scalars},
        buffers={b.param: b.numel for b in launch.buffers},
        threads=tuple(accesses),
        data=data,
        domain="problem" if is_problem(s.contract, symbols) else "general",
    )


def is_problem(contract: Contract, symbols: Mapping[str, int]) -> bool:
    """Whether these are the problem file's own sizes."""
    known = {x.name: x.value for x in contract.symbols if x.value is not None}
    return bool(known) and all(symbols.get(n) == v for n, v in known.items())


def summary_of(c: Claims) -> Summary:
    """The summary behind the claims."""
    return c.s


__all__ = ["Span", "candidates", "summary_of"]
