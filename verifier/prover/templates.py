"""Clauses that could make one claim hold, most likely first. View x Obligation -> tuples of clause texts.

The main template is computed: what bounds the claim from above in sizes alone (``smt.upper``) has to be at most 0. The
others are shapes of launches: an axis of one thread or block, whole warps, a block as large as an array of the kernel.
Nothing here is known to be true; each proposal is tried by the prover.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

from specs.clauses import ClauseError, ClauseUndefined, evaluate, names
from specs.contract import Clause
from verifier.ir import nodes as ir
from verifier.prover.bare import Bare
from verifier.prover.clause_texts import at_most_zero
from verifier.prover.given import bounds, of_memory
from verifier.smt.definitions import conjuncts
from verifier.smt.term import MAX_MONOMIALS
from verifier.smt.terms import Poly, Term, atoms, divide_mono
from verifier.smt.upper import Uppers
from verifier.symex.claims import Claims, Obligation
from verifier.symex.launch import ClauseLowering
from verifier.symex.memory_claims import alignment_of
from verifier.symex.summary import Summary
from verifier.symex.symbols import texts

MAX_COMBINATIONS = 12
MAX_BLOCKS = 6
Proposal = tuple[str, ...]


@dataclass(slots=True)
class View:
    """The summary's atoms and their names in clauses."""

    c: Claims
    bare: Bare
    symbol_of: dict[Term, str] = field(default_factory=dict)
    launch: frozenset[Term] = frozenset()
    samples: list[dict[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        s = self.c.s
        self.symbol_of = texts(s.symbols)
        axes = (s.symbols[n] for n in (*self.bare.grid, *self.bare.block))
        self.launch = frozenset(a for a in axes if a.op == "app")
        self.samples = list(ordinary_launches(self.bare))

    def shunned(self, o: Obligation) -> frozenset[Term]:
        """What a bound had better not mention: grid and block, or for arrays of fixed size all but the block."""
        if o.property not in ("bounds-shared", "bounds-local"):
            return self.launch
        block = {self.c.s.symbols[n] for n in self.bare.block}
        return frozenset(a for a in self.symbol_of if a not in block)

    def at_most_zero(self, term: Term) -> str | None:
        plain = written_out(self.c.s, term)
        return at_most_zero(self.c.s.t, plain, self.symbol_of, frozenset(self.bare.lengths.values()))


def written_out(s: Summary, term: Term) -> Term:
    """The term without the names that sizes have, those that the kernel computes among them."""
    names_ = {name: what for name, (what, _) in s.definitions.items()} | dict(_computed(s))
    for _ in range(8 if names_ else 0):
        plain = s.t.rebuild(term, names_.get, {})
        if plain is term:
            break
        term = plain
    return term


def _computed(s: Summary) -> Iterator[tuple[Term, Term]]:
    """Names of sizes that a fact equates with what they are."""
    for atom, facts in s.facts.items():
        if atom.op == "app" and atom.level == 0 and atom.name.startswith("size@"):
            for p in (s.t.poly(f.args[0]) for f in facts if f.op == "eq0"):
                if p.get((atom,)) in (1, -1) and sum(atom in m for m in p) == 1:
                    sign = -p[(atom,)]
                    yield atom, s.t.from_poly({m: sign * c for m, c in p.items() if m != (atom,)})


def proposals(v: View, o: Obligation, small: bool = True) -> Iterator[Proposal]:
    """Sets of clauses, each of which may be enough; ones that keep an argument ``small`` come last, for fixed arrays alone."""
    late: list[Proposal] = []
    for found in _proposals(v, o):
        if any(_keeps_small(v, text) for text in found):
            late.append(found)
        else:
            yield found
    if small and o.property in ("bounds-shared", "bounds-local"):
        yield from late


def _keeps_small(v: View, text: str) -> bool:
    """Whether an argument or the grid would have to be below a number: rarely meant."""
    left, _, right = text.partition(" <= ")
    if not right.lstrip("-").isdigit():
        return False
    if any(name in left for name in v.bare.grid):
        return int(right) < 1 << 12
    return int(right) < 1 << 20 and not any(name in left for name in v.bare.block)


def _proposals(v: View, o: Obligation) -> Iterator[Proposal]:
    if o.note.startswith("disjoint("):
        yield (o.note,)
        return
    if o.note:
        return
    if o.property == "uninitialized" and o.accesses and o.accesses[0].obj.buffer is not None:
        yield (f"written({o.accesses[0].obj.name})",)
        return
    base: Proposal = ()
    if o.property == "alignment":
        base = _base(v, o)
        if base:
            yield base
        yield from _multiples(v, o, base)
    if len(o.threads) == 2:
        yield from _apart(v, o)
        yield from _blocks(v, o)
        return
    if o.property == "barrier-divergence":
        yield from _blocks(v, o)
    if o.property == "arithmetic":  # each factor of a divisor is a size
        factors = [v.symbol_of[a] for a in atoms([o.goal]) if a in v.symbol_of and (a.lo is None or a.lo < 1)]
        if factors:
            yield tuple(f"{name} >= 1" for name in factors)
        yield from _divisors(v, o)
    yield from _ranges(v, o)
    yield from _corner(v, o, ())
    signs = _signs(v, o)
    for least in (0, 1):
        told = tuple(f"{v.symbol_of[a]} >= {least}" for a in signs)
        if told:
            yield from _corner(v, o, told)
    if o.property == "uninitialized":
        yield from _blocks(v, o)
    if o.property.startswith("bounds"):
        yield from _long_enough(v, o)


def _divisors(v: View, o: Obligation) -> Iterator[Proposal]:
    """A divisor that is computed from sizes (``(w + 2*p - k) / stride + 1``) is at least 1, each factor of a product."""
    t = v.c.s.t
    for p in (a.args[0] for a in atoms([o.goal]) if a.op == "eq0" and a.args[0].level == 0):
        poly = t.poly(p)
        whole = next(iter(poly)) if len(poly) == 1 else ()
        for least in (1, 2):
            open_ = [x for x in whole or (p,) if x.lo is None or x.lo < least]
            told = [v.at_most_zero(t.sub(t.const(least), x)) for x in open_]
            if told and None not in told:
                yield tuple(text for text in told if text is not None)


# --- bounds from above -----------------------------------------------------------------------------------------------


def _corner(v: View, o: Obligation, told: Proposal) -> Iterator[Proposal]:
    """For each part of the claim that is not shown: what bounds it from above is at most 0."""
    t = v.c.s.t
    signs = [f for text in told if of_memory(text) is None for f in _sign(v, text)]
    facts = [*signs, *_contents(v, o, told), *o.hyps, *o.facts]
    uppers = Uppers(t, facts, v.shunned(o))
    choices: list[list[str]] = []
    for part in conjuncts([o.goal]):
        if uppers.prove(part):
            continue
        texts_ = _sufficient(v, uppers, part)
        if not texts_:
            return
        choices.append(texts_)
    found = [tuple(dict.fromkeys((*told, *x))) for x in islice(product(*choices), MAX_COMBINATIONS)]
    yield from sorted(found, key=lambda clauses: -allowed(v, clauses))


def structural(text: str) -> bool:
    """Whether the clause is one on memory, which no term says."""
    return of_memory(text) is not None


def allowed(v: View, clauses: Proposal) -> int:
    """How many of some ordinary launches the clauses on grid, block and arguments allow: the more, the better."""
    lengths = set(v.bare.lengths.values())
    texts_ = [x for x in clauses if not structural(x) and not names(x) & lengths]
    count = 0
    for values in v.samples if texts_ else ():
        with contextlib.suppress(ClauseError, ClauseUndefined):
            count += all(evaluate(x, values) for x in texts_)
    return count


def _sufficient(v: View, uppers: Uppers, part: Term) -> list[str]:
    t = v.c.s.t
    match part.op:
        case "le0":
            wanted = [part.args[0]]
        case "not" if part.args[0].op == "eq0":
            p = part.args[0].args[0]
            wanted = [t.add(p, t.one), t.sub(t.one, p)]
        case "or":
            return [x for p in part.args for x in _sufficient(v, uppers, p)]
        case _:
            return []
    out: dict[str, None] = {}
    for term in wanted:
        if len(t.poly(term)) > MAX_MONOMIALS:
            continue
        for bound in uppers.above(term):
            text = v.at_most_zero(bound) if bound.op != "const" else None
            if text is not None:
                out[text] = None
    return sorted(out, key=lambda text: not text.endswith(">= 1"))


def _long_enough(v: View, o: Obligation) -> Iterator[Proposal]:
    """The memory holds as many elements as an argument, or a product of two, says: where no bound could be computed."""
    obj = o.accesses[0].obj if o.accesses else None
    name = v.bare.lengths.get(obj.name) if obj is not None else None
    if name is None:
        return
    sizes = [v.symbol_of[a] for a in atoms([*o.hyps, o.goal, *o.facts]) if a in v.symbol_of]
    sizes = [n for n in dict.fromkeys(sizes) if n in v.bare.names.values()][:5]
    for size in sizes:
        yield (f"{name} >= {size}",)
    for i, size in enumerate(sizes):
        for other in sizes[i + 1 :]:
            yield (f"{name} >= {size} * {other}",)


# --- contents --------------------------------------------------------------------------------------------------------


def _ranges(v: View, o: Obligation) -> Iterator[Proposal]:
    """The integers that the place is computed from are indices: below an argument, or the size of an array."""
    s = v.c.s
    read = dict.fromkeys(s.reads[x][0] for x in v.c.data((o.goal,)))
    read = {name: None for name in read if name in v.bare.lengths and not _bytes(s.kernel, name)}
    if not read:
        return
    used = atoms([*o.hyps, o.goal, *(a.obj.extent for a in o.accesses if a.obj.extent is not None)])
    arguments = [v.symbol_of[a] for a in used if v.symbol_of.get(a) in v.bare.names.values()]
    counts = [
        a.obj.extent.lo // max(a.obj.elem, 1)
        for a in o.accesses
        if a.obj.extent is not None and a.obj.extent.lo
    ]
    ranges: list[Proposal] = []
    for size in dict.fromkeys([*reversed(arguments), *map(str, counts)]):
        high = str(int(size) - 1) if size.isdigit() else f"{size} - 1"
        ranges.append(tuple(f"content({name}, 0, {high})" for name in read))
    signs = tuple(f"{v.symbol_of[a]} >= 0" for a in _signs(v, o))
    yield from ranges
    yield from ((*told, *signs) for told in ranges if signs)
    found = [x for told in ranges for x in _corner(v, o, (*told, *signs))]
    yield from sorted(found, key=lambda texts_: sum(map(len, texts_)))  # plain bounds are meant mostly


def _bytes(kernel: ir.Kernel, name: str) -> bool:
    """Whether the elements are bytes, which may be anything."""
    types = (p.type for p in kernel.params if p.name == name)
    return any(isinstance(x, ir.Pointer) and isinstance(x.elem, ir.Int) and x.elem.bits == 8 for x in types)


def _contents(v: View, o: Obligation, told: Proposal) -> Iterator[Term]:
    """What ranges of contents among the clauses say of the values that were read."""
    for text in told:
        match = of_memory(text)
        if match is not None and match[0] == "content":
            yield from contents(v.c, o, match[1], match[2])


def contents(c: Claims, o: Obligation, buffer: str, rest: str) -> Iterator[Term]:
    """``content(buffer, low, high)`` of each value that the claim speaks of."""
    lowering = ClauseLowering(c.s.t, dict(c.s.symbols), lambda exact, *_: exact)
    low, high = (lowering.int(text) for text in bounds(rest))
    for x in c.data((*o.hyps, o.goal)):
        if c.s.reads[x][0] == buffer:
            yield c.s.t.le(low, x)
            yield c.s.t.le(x, high)


def _signs(v: View, o: Obligation, least: int = 0) -> list[Term]:
    """Sizes of which nothing says that they are ``least`` or more."""
    return [a for a in atoms([*o.hyps, o.goal]) if a in v.symbol_of and (a.lo is None or a.lo < least)]


def _sign(v: View, text: str) -> Iterator[Term]:
    t = v.c.s.t
    name, _, least = text.rpartition(" >= ")
    yield from (t.le(t.const(int(least)), a) for a, n in v.symbol_of.items() if n == name)


# --- alignment -------------------------------------------------------------------------------------------------------


def _base(v: View, o: Obligation) -> Proposal:
    obj, need = o.accesses[0].obj, alignment_of(o.accesses[0])
    if obj.buffer is None or obj.align % need == 0:
        return ()
    return (f"aligned({obj.name}, {need})",)


def _multiples(v: View, o: Obligation, base: Proposal) -> Iterator[Proposal]:
    """Sizes in the offset are multiples of what the access needs."""
    need = alignment_of(o.accesses[0])
    t = v.c.s.t
    names: dict[str, int] = {}
    for mono, coef in t.poly(o.accesses[0].offset).items():
        if coef % need:
            for a in mono:
                if a in v.symbol_of and a not in v.launch:
                    names[v.symbol_of[a]] = max(names.get(v.symbol_of[a], 1), need // _common(coef, need))
    for name, by in names.items():
        yield (*base, f"{name} % {by} == 0")
    if len(names) > 1:
        yield (*base, *(f"{name} % {by} == 0" for name, by in names.items()))


def _common(coef: int, need: int) -> int:
    while coef % need:
        need //= 2
    return need


# --- two threads -----------------------------------------------------------------------------------------------------


def _apart(v: View, o: Obligation) -> Iterator[Proposal]:
    """Axes along which the address does not change have one thread; the others do not reach into each other."""
    single = _single_axes(v, o)
    if single:
        yield single
    s, t = v.c.s, v.c.s.t
    ones = [f for text in single for f in _equal(v, text)]
    uppers = Uppers(t, [*ones, *o.hyps, *o.facts], v.launch)
    arguments = set(v.bare.names.values())
    positive = tuple(f"{v.symbol_of[a]} >= 1" for a in _signs(v, o, 1) if v.symbol_of[a] in arguments)
    more = Uppers(t, [*(f for x in positive for f in _sign(v, x)), *ones, *o.hyps, *o.facts], v.launch)
    found: dict[Proposal, None] = {}
    for hyp in conjuncts(o.hyps):
        if hyp.op in ("eq0", "le0"):
            found |= {(*single, *x): None for x in _separated(v, uppers, hyp.args[0], 4)}
            if positive:
                found |= {(*single, *positive, *x): None for x in _separated(v, more, hyp.args[0], 4)}
    yield from sorted(found, key=lambda clauses: (-allowed(v, clauses), len(clauses)))[:MAX_COMBINATIONS]
    x = s.symbols[v.bare.grid[0]]
    if x.op == "app" and not o.same_block:
        yield (*single, f"{v.symbol_of[x]} == 1")
    x = s.symbols[v.bare.block[0]]
    if x.op == "app" and o.same_block and "threadIdx.x" not in builtins(s.kernel):
        yield (*single, f"{v.symbol_of[x]} == 1")


def _single_axes(v: View, o: Obligation) -> Proposal:
    """The axes of which no accessed address depends on the index (x last, where nothing else is left)."""
    s, g = v.c.s, v.c.s.geometry
    indices, sizes = (g.thread, v.bare.block) if o.same_block else (g.block_index, v.bare.grid)
    used = atoms(
        [a.offset for a in o.accesses]
        + [a.guard for a in o.accesses]
        + ([o.barrier.guard] if o.barrier is not None else [])
    )
    idle = [
        n
        for i, n in zip(indices, sizes, strict=True)
        if i.op == "app" and i not in used and s.symbols[n].op == "app"
    ]
    return tuple(f"{n} == 1" for n in idle if n != sizes[0])


def _equal(v: View, text: str) -> Iterator[Term]:
    t = v.c.s.t
    name, _, value = text.rpartition(" == ")
    yield from (t.eq(a, t.const(int(value))) for a, n in v.symbol_of.items() if n == name)


def _separated(v: View, uppers: Uppers, d: Term, depth: int) -> Iterator[Proposal]:
    """From ``W*X + Y == 0``: clauses by which ``-W < Y < W``, so that X and Y are 0, and so on for them."""
    t = v.c.s.t
    poly = t.poly(d)
    if depth == 0 or not any(a.level for m in poly for a in m):
        yield ()
        return
    found = False
    factors: dict[tuple[Term, ...], None] = {}
    for mono, coef in poly.items():
        uniform = tuple(
            a for a in mono if (a.level == 0 and (a.lo or 0) >= 1) or uppers.prove(t.le(t.one, a))
        )
        uniform = tuple(a for a in uniform if a.level == 0)
        if uniform:
            factors[uniform] = None
            factors |= {(a,): None for a in uniform}
        if abs(coef) > 1:
            factors.setdefault((t.const(abs(coef)),), None)
    for factor in sorted(factors, key=lambda f: (-len(f), [a.id for a in f])):
        w = t.product(factor)
        ((wm, wc),) = t.poly(w).items()
        x: Poly = {}
        y: Poly = {}
        for mono, coef in poly.items():
            rest = divide_mono(mono, wm)
            if rest is not None and coef % wc == 0:
                x[rest] = x.get(rest, 0) + coef // wc
            else:
                y[mono] = coef
        if not any(m for m in x):
            continue
        tx, ty = t.from_poly(x), t.from_poly(y)
        wanted: list[list[str]] = []
        for side in (ty, t.neg(ty)):
            if uppers.prove(t.lt(side, w)):
                continue
            texts_ = [
                text
                for bound in uppers.above(t.add(t.sub(side, w), t.one))
                if bound.op != "const" and (text := v.at_most_zero(bound)) is not None
            ]
            if not texts_:
                break
            wanted.append(texts_[:2])
        else:
            for more in _separated(v, uppers, tx, depth - 1):
                for others in _separated(v, uppers, ty, depth - 1):
                    found = True
                    for first in product(*wanted):
                        yield tuple(dict.fromkeys((*first, *more, *others)))
                    break
                break
    if not found:
        yield ()


def ordinary_launches(bare: Bare) -> Iterator[dict[str, int]]:
    """Grids and blocks as people launch them, with arguments of a few sizes."""
    for block in ((32, 1, 1), (64, 1, 1), (128, 1, 1), (256, 1, 1), (512, 1, 1), (1024, 1, 1), (16, 16, 1), (32, 8, 1),
                  (32, 32, 1), (8, 8, 8)):  # fmt: skip
        for grid in ((2, 1, 1), (64, 1, 1), (100, 3, 1), (4096, 1, 1), (8, 8, 4)):
            for size in (7, 200, 1000, 20_000):
                values = dict.fromkeys(bare.names.values(), size)
                values |= dict(zip(bare.grid, grid, strict=True)) | dict(zip(bare.block, block, strict=True))
                yield values | ({bare.shared: 16384} if bare.shared else {})


# --- shapes of blocks ------------------------------------------------------------------------------------------------


def _blocks(v: View, o: Obligation) -> Iterator[Proposal]:
    """Whole warps, one row of threads, a block of a size that the kernel names."""
    s = v.c.s
    idle = tuple(
        f"{n} == 1" for n in v.bare.block[1:] if n not in _used_sizes(v) and s.symbols[n].op == "app"
    )
    x = v.bare.block[0]
    if idle:
        yield idle
    if s.symbols[x].op != "app":
        return
    if o.property == "barrier-divergence" or any(b.kind == "warp" for b in s.barriers):
        yield (*idle, f"{x} % 32 == 0")
    yield (*idle, f"pow2({x})")
    for size in named_sizes(s.kernel)[:MAX_BLOCKS]:
        yield (*idle, f"{x} == {size}")


def _used_sizes(v: View) -> set[str]:
    """Block axes whose index the kernel asks for."""
    used = builtins(v.c.s.kernel)
    return {n for n, axis in zip(v.bare.block, "xyz", strict=True) if f"threadIdx.{axis}" in used}


def fixed_blocks(kernel: ir.Kernel, bare: Bare) -> list[tuple[Clause, ...]]:
    """Blocks of the sizes that the kernel names: what is tried when no clause for every block was found."""
    used = builtins(kernel)
    sizes = named_sizes(kernel)
    ones = [
        f"{n} == 1"
        for n, a in zip(bare.block, "xyz", strict=True)
        if f"threadIdx.{a}" not in used and a != "x"
    ]
    x, y = bare.block[:2]
    row = [f"{n} == 1" for n in bare.block[1:]]
    shapes: list[list[str]] = [row] if set(row) - set(ones) else []
    if "threadIdx.y" in used:
        shapes += [[f"{x} == {a}", f"{y} == {a}"] for a in sizes]
        shapes += [[f"{x} == {a}", f"{y} == {b}"] for a in sizes for b in sizes if a != b and a * b <= 1024]
    else:
        shapes += [[f"{x} == {a}"] for a in sizes]
    found = (dict.fromkeys((*ones, *shape)) for shape in shapes[:MAX_BLOCKS])
    return [tuple(Clause(text, "assumed") for text in texts_) for texts_ in found]


def sizes(kernel: ir.Kernel, bare: Bare) -> list[str]:
    """Integer arguments that may be negative as far as their type goes, though sizes never are."""
    signed = (p.name for p in kernel.params if isinstance(p.type, ir.Int) and p.type.signed)
    return [bare.names[name] for name in signed if name in bare.names]


def named_sizes(kernel: ir.Kernel) -> list[int]:
    """Counts that a block may have, out of the kernel's text: launch bounds, shared arrays, other constants."""
    found = dict.fromkeys(kernel.launch_bounds[:1])
    for o in kernel.objects:
        base = o.type
        while isinstance(base, ir.Array):
            if o.space == "shared":
                found.setdefault(base.count)
            base = base.elem
    for node in walk(kernel.body):
        if isinstance(node, ir.IntConst):
            found.setdefault(node.value)
    return [n for n in found if (8 <= n <= 1024 and n & (n - 1) == 0) or n in kernel.launch_bounds[:1]]


def builtins(kernel: ir.Kernel) -> set[str]:
    """The builtin variables that the kernel reads."""
    return {n.name for n in walk(kernel.body) if isinstance(n, ir.Builtin)}


def walk(node: Any) -> Iterator[Any]:
    """Every node of a piece of IR."""
    todo = [node]
    while todo:
        here = todo.pop()
        if isinstance(here, tuple):
            todo.extend(here)
        elif hasattr(here, "__dataclass_fields__"):
            yield here
            todo.extend(getattr(here, f) for f in here.__dataclass_fields__ if f != "span")
