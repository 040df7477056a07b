"""Which store initialised what a read sees: candidate writers by inverting store index maps.

For a read of element e and an earlier store with index map m(thread, iterations), thread and iterations with m = e are
computed digit by digit; whatever the map does not fix is the reader's own. The claim to prove is then about the reader
alone: that writer exists, executed the store, and is the reader itself or has a barrier between.

Sound: the claim, if valid, names a concrete earlier write of the element for every execution of the read. Unknowns of
the writer that are not computed are renamed, so the claim has to hold for all their values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verifier.smt.definitions import conjuncts
from verifier.smt.terms import Term, atoms
from verifier.symex.claims import Claims, Obligation
from verifier.symex.summary import Access, Epoch

Equation = tuple[Term, Term]


def alternatives(c: Claims, property_: str, read: Access) -> tuple[Obligation, ...]:
    """Claims, any one of which shows the read initialised; the last joins them all (case by case another writer).

    With no candidate there is one claim that cannot be proved.
    """
    t = c.s.t
    claim = f"{read.obj.name} is written before it is read"
    goals: list[Term] = []
    now: list[Term] = []
    given = set(conjuncts([read.guard]))
    facts: dict[Term, None] = {}
    writers: tuple[str, ...] = ("itself",)
    if read.obj.space != "local":
        writers = (*writers, "open: itself", "open: 0")
        if _exits(read):
            writers = (*writers, "last: itself", "last: open: itself")
    if read.obj.space == "global" and any(b.kind == "grid" for b in c.s.barriers):
        writers = (*writers, "grid: 0")
    tried = [(group, back, who) for who in writers for group, back in _groups(c, read)]
    for group, back, who in tried:
        goal = _goal(c, read, group, back, who)
        if goal is not None:
            parts = goal.args if goal.op == "and" else (goal,)
            goal = t.and_(*(g for g in parts if g not in given))
        if goal is not None and goal is not t.false and goal not in goals:
            goals.append(goal)
            if back is None:
                now.append(goal)
            else:
                facts.update(dict.fromkeys(_shifted_facts(c, read, back)))
    joined = [t.or_(*now[:64]), t.or_(*goals[:64])]
    order = joined if read.obj.space == "local" else [*_tried(goals), t.or_(*goals[:8])]
    made = [c.single(property_, read.span, claim, (read.guard,), g, (read,)) for g in order]
    return tuple(replace(o, facts=(*o.facts, *facts)) for o in made)


def _tried(goals: list[Term]) -> list[Term]:
    """The latest stores, and those of the others that depend on least (arrays are filled early); small ones first.

    A writer that depends on data of its own can hardly be shown: such ones come last.
    """
    size: dict[Term, tuple[bool, int]] = {}
    for g in goals:
        parts = atoms([g])
        loaded = any(x.op in ("app", "bapp", "float") and x.name.endswith("!writer") for x in parts)
        size[g] = loaded, len(parts)
    chosen = [*goals[:12], *sorted(goals[12:], key=size.__getitem__)[:3]]
    return sorted(chosen, key=size.__getitem__)


def _groups(c: Claims, read: Access) -> Iterator[tuple[list[Access], Term | None]]:
    """Plain stores to the object, since it was declared, that precede the read; joined where their guards alone differ.

    With them the loop iteration symbol that is to be shifted: None for stores earlier in the program, k for stores of
    the previous iteration of the loop around both.
    """
    declared = [d for d in c.s.declared if d[0] == read.obj.name and d[1] <= read.number]
    _, since, inside = declared[-1] if declared else ("", 0, ())
    groups: dict[tuple[object, ...], list[Access]] = {}
    around: dict[tuple[object, ...], list[Access]] = {}
    for a in c.s.accesses:
        if a.obj is not read.obj or a.kind != "write" or a.agent in ("async", "engine"):
            continue  # what the copy engine writes arrives later than here
        if a.number < since:
            continue
        key = (a.offset, a.size, a.iters, a.block_epochs, a.grid_epochs, a.agent)
        if a.number < read.number:
            groups.setdefault(key, []).append(a)
        if any(k in read.iters for k in a.iters):
            around.setdefault(key, []).append(a)
    for group in reversed(list(groups.values())):
        yield group, None
    for group in reversed(list(around.values())):
        back = [k for k in group[0].iters if k in read.iters][-1]
        if back not in inside:
            yield group, back


def _shifted_facts(c: Claims, read: Access, k: Term) -> Iterator[Term]:
    """What holds of iteration k-1 where there is one: its test, and the registered facts with k-1 for k."""
    t = c.s.t
    for fact in (c.s.loop_tests[k][0], *c.facts_for((read.guard, read.offset))):
        moved = t.substitute(fact, {k: t.sub(k, t.one)})
        if moved is not fact:
            yield t.implies(t.le(t.one, k), moved)


def _goal(c: Claims, read: Access, group: list[Access], back: Term | None, who: str) -> Term | None:
    """The claim that a computed instance of the group's stores initialised what the read sees.

    ``who``: the writer is the reader itself, or a thread by its index, whose open coordinates are the reader's or 0;
    a thread of the reader's block, or (``grid``) of any; in its last round of a loop that the reader has left (``last``).
    """
    s, t = c.s, c.s.t
    grid = who.startswith("grid")
    last, who = who.startswith("last: "), who.removeprefix("last: ")
    level = 1 if grid else 2
    own_axes = (*s.geometry.thread, *s.geometry.block_index) if grid else s.geometry.thread
    extents = (*s.geometry.block, *s.geometry.grid) if grid else s.geometry.block
    store = group[0]
    if any(s.loop_tests[k][1] for k in store.iters):
        return None
    shared = {k: k for k in store.iters if k in read.iters}
    goals: list[Term] = []
    if back is not None:
        shared[back] = t.sub(back, t.one)
        goals.append(t.le(t.one, back))
    threads = () if who == "itself" else own_axes
    if last:
        ended = _last_rounds(c, read, store, shared, level if threads else 3)
        if not ended:
            return None
        shared.update(ended)
        goals += [t.le(t.zero, k) for k in ended.values()]
    own = dict.fromkeys([*threads, *(k for k in store.iters if k not in shared)])
    unknowns = {u: t.app(f"{u.name}:writer", (), 2, u.lo, u.hi) for u in own if u.op == "app"}
    known = {k: v for k, v in shared.items() if v is not k}
    parts = store.size // read.size
    part = t.app("part:writer", (), 2, 0, parts - 1) if parts > 1 else t.zero
    if store.size % read.size:
        return None  # a store of fewer bytes than are read initialises nothing whole
    if store.rows and len(store.rows) == len(read.rows):
        equations = [(t.substitute(w[0], known), r[0]) for w, r in zip(store.rows, read.rows, strict=True)]
    else:
        if parts > 1:
            unknowns[part] = part
        start = t.substitute(store.offset, known)
        equations = [(t.add(start, t.mul(t.const(read.size), part)), read.offset)]
    said = _said_by_guard(c, store.guard, known, unknowns)
    solved = solve(c, [*equations, *((p, t.zero) for p, movable in said if len(movable) == 1)], unknowns)
    if solved is None:
        solved = solve(c, equations, unknowns)
    if solved is None:
        return None
    _pin(c, said, unknowns, solved)
    for u in unknowns:
        solved.setdefault(u, u if u in s.geometry.thread and who == "open: itself" else t.zero)
    for u in own_axes:
        solved.setdefault(u, u)
    memo: dict[Term, Term] = {}

    def writer(term: Term) -> Term:
        def leaf(x: Term) -> Term | None:
            if x in solved:
                return solved[x]
            if x in shared:
                return shared[x]
            if x.level < level:
                return x
            if x.op in ("app", "bapp", "float") and x.flevel >= level:
                args = tuple(writer(a) for a in x.args)
                name = f"{x.name}!writer"
                if x.op == "app":
                    return t.app(name, args, x.flevel, x.lo, x.hi)
                return t.bapp(name, args, x.flevel) if x.op == "bapp" else t.float(name, args, x.flevel)
            return None

        return t.rebuild(term, leaf, memo)

    goals.append(t.or_(*(writer(a.guard) for a in group)))
    for coordinate, extent in zip(own_axes, extents, strict=True):
        if coordinate in solved:
            goals += [t.le(t.zero, solved[coordinate]), t.lt(solved[coordinate], extent)]
    for k in store.iters:
        if k in solved:
            goals.append(t.le(t.zero, solved[k]))
            if k.hi is not None:
                goals.append(t.le(solved[k], t.const(k.hi)))
            earlier = t.app(f"{k.name}:earlier", (), 2, 0, k.hi)
            solved[earlier] = earlier
            test = t.substitute(s.loop_tests[k][0], {k: earlier})
            goals.append(t.or_(t.le(solved[k], earlier), writer(test)))
    if store.rows and len(store.rows) == len(read.rows):
        goals += [t.eq(writer(w[0]), r[0]) for w, r in zip(store.rows, read.rows, strict=True)]
    begin = writer(store.offset)
    if parts == 1:
        goals.append(t.eq(begin, read.offset))
    else:
        end = t.add(begin, t.const(store.size))
        goals += [t.le(begin, read.offset), t.le(t.add(read.offset, t.const(read.size)), end)]
    itself = t.and_(*(t.eq(solved.get(x, x), x) for x in own_axes))
    theirs, mine = (store.grid_epochs, read.grid_epochs) if grid else (store.block_epochs, read.block_epochs)
    moved = (replace(e, cond=writer(e.cond), iters=tuple(writer(i) for i in e.iters)) for e in theirs)
    together = _same_interval_plain(c, tuple(moved), mine)
    goals.append(t.or_(itself if store.agent == "thread" else t.false, t.not_(together)))
    return t.and_(*goals)


def _exits(read: Access) -> dict[str, Term]:
    """The numbers of rounds that loops had made, on which the read depends."""
    parts = atoms([read.guard, read.offset])
    return {a.name.removesuffix(":exit"): a for a in parts if a.op == "app" and a.name.endswith(":exit")}


def _last_rounds(
    c: Claims, read: Access, store: Access, shared: dict[Term, Term], level: int
) -> dict[Term, Term]:
    """The last rounds of loops around the store that the reader has left, where the number of rounds is the writer's too:
    all of them were made."""
    t, exits = c.s.t, _exits(read)
    found: dict[Term, Term] = {}
    for i, k in enumerate(store.iters):
        count = exits.get(k.name)
        if count is None or k in shared or count.flevel >= level:
            continue
        if len(count.args) == i and all(
            a is o and o in shared for a, o in zip(count.args, store.iters, strict=False)
        ):
            found[k] = t.sub(count, t.one)
    return found


def _said_by_guard(
    c: Claims, guard: Term, known: dict[Term, Term], unknowns: dict[Term, Term]
) -> list[tuple[Term, list[Term]]]:
    """Sums that the store's condition says are 0 (``tid == k + 1``, ``tid % 32 == 31``), with their unknown atoms.

    They only choose which writer is tried.
    """
    t = c.s.t
    found = []
    for x in conjuncts([guard]):
        if x.op != "eq0":
            continue
        total = t.substitute(x.args[0], known)
        open_ = {m: k for m, k in t.poly(total).items() if any(_depends(a, unknowns) for a in m)}
        if open_ and all(len(m) == 1 and abs(k) == 1 for m, k in open_.items()):
            found.append((total if next(iter(open_.values())) > 0 else t.neg(total), [m[0] for m in open_]))
    return found


def _pin(
    c: Claims, said: list[tuple[Term, list[Term]]], unknowns: dict[Term, Term], solved: dict[Term, Term]
) -> None:
    """Values of what the index map leaves open, where the store's condition has it equal to something that is known."""
    t = c.s.t
    for total, movable in said:
        left = [a for a in movable if a not in solved]
        if len(left) != 1 or left[0] not in unknowns:
            continue
        coef = t.poly(total)[(left[0],)]
        rest = t.substitute(t.sub(total, t.mul(t.const(coef), left[0])), solved)
        solved[left[0]] = t.neg(rest) if coef == 1 else rest


def _same_interval_plain(c: Claims, store: tuple[Epoch, ...], read: tuple[Epoch, ...]) -> Term:
    t = c.s.t
    parts = []
    for x in store:
        for y in read:
            if x.site == y.site and len(x.iters) == len(y.iters):
                parts.append(
                    t.and_(x.cond, y.cond, *(t.eq(i, j) for i, j in zip(x.iters, y.iters, strict=True)))
                )
    return t.or_(*parts)


def solve(c: Claims, equations: list[Equation], unknowns: dict[Term, Term]) -> dict[Term, Term] | None:
    """Values of the unknowns for which every left side equals its right side, digit by digit; None if not found."""
    t = c.s.t
    solved: dict[Term, Term] = {}
    digits: dict[Term, dict[str, tuple[Term, Term]]] = {}
    for left, right in equations:
        rest = right
        poly = t.poly(left)
        terms = []
        for mono, coef in poly.items():
            movable = [a for a in mono if _depends(a, unknowns)]
            if not movable:
                rest = t.sub(rest, t.from_poly({mono: coef}))
                continue
            if len(movable) != 1:
                return None
            factor = list(mono)
            factor.remove(movable[0])
            terms.append((movable[0], t.from_poly({tuple(factor): coef})))
        if not terms:
            continue
        terms.sort(key=lambda p: (p[1].hi if p[1].hi is not None else 1 << 62, len(t.poly(p[1])), p[1].id))
        left_over = t.quot(rest, terms[0][1])
        for i, (atom, weight) in enumerate(terms):
            digit = left_over
            if i + 1 < len(terms):
                step = t.quot(terms[i + 1][1], weight)
                digit, left_over = t.rem(left_over, step), t.quot(left_over, step)
            if not _assign(t, atom, digit, unknowns, solved, digits):
                return None
    for x, parts in digits.items():
        q, r = parts.get("quot"), parts.get("rem")
        base = (q or r)[1] if (q or r) else t.one  # type: ignore[index]
        value = t.zero
        if q is not None:
            value = t.mul(q[0], base)
        if r is not None:
            value = t.add(value, r[0])
        if x in solved:
            return None
        if x in unknowns:
            solved[x] = value
        else:
            inner = solve(c, [(x, value)], unknowns)
            if inner is None or any(k in solved for k in inner):
                return None
            solved.update(inner)
    return solved


def _assign(
    t: object, atom: Term, value: Term, unknowns: dict[Term, Term], solved: dict[Term, Term],
    digits: dict[Term, dict[str, tuple[Term, Term]]],
) -> bool:  # fmt: skip
    if atom in unknowns:
        if atom in solved:
            return False
        solved[atom] = value
        return True
    if atom.op in ("quot", "rem") and not _depends(atom.args[1], unknowns):
        entry = digits.setdefault(atom.args[0], {})
        if atom.op in entry or any(v[1] is not atom.args[1] for v in entry.values()):
            return False
        entry[atom.op] = (value, atom.args[1])
        return True
    return False


def _depends(term: Term, unknowns: dict[Term, Term]) -> bool:
    return any(a in unknowns for a in atoms([term]))


__all__ = ["Equation", "alternatives", "solve"]
