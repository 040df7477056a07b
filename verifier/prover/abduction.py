"""What a launch has to promise for a kernel to be safe: the kernel alone -> clauses under which every proof goes through.

Starts with the contract of any launch (``bare``) and goes through the claims of each property: for one that is not
shown, the weakest clause on sizes is computed that makes it hold (what bounds the claim from above, in sizes alone),
or a template is tried (an axis of one thread, a fixed block, whole warps, different memory). What is found is verified
like any contract. Invariant: it is a proposal; nothing here makes a kernel pass.

Example: ``if (i < n) y[i] = x[i]`` needs ``len_x >= n``, ``len_y >= n``, ``disjoint(y, x)``, one row of threads.
"""

from __future__ import annotations

import contextlib
import random
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from specs.clauses import ClauseError, ClauseUndefined, holds
from specs.contract import Clause, Contract
from specs.results import PropertyResult, Verdict
from verifier import checks
from verifier.ir.nodes import Kernel
from verifier.prover import templates
from verifier.prover.bare import SHARED_LIMIT, Bare, bare
from verifier.prover.discharge import Discharger
from verifier.prover.given import given, of_memory
from verifier.prover.verify import Settings, verify
from verifier.prover.witness import satisfiable
from verifier.smt.smtlib import gather, script
from verifier.smt.terms import Term, TooLarge
from verifier.symex.claims import Claims, Obligation
from verifier.symex.execute import summarize
from verifier.symex.launch import ClauseLowering
from verifier.symex.operation_claims import claim_of, claims_at_uses, relevant
from verifier.symex.summary import Operation, Summary

_FORM = re.compile(r"(\w+) (?:% (\d+) )?== (\d+)")
ROUNDS = 24
EFFORT = 0.08
MAX_OPTIONS = 6
MAX_PROPOSALS = 40
_SHARE = 0.4
"""Of the time that is left, for one hypothesis."""
ORDER = (
    "arithmetic", "bounds-shared", "bounds-local", "bounds-global", "alignment", "overflow", "launch",
    "barrier-divergence", "race-shared", "race-global", "uninitialized", "termination", "assert",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Precondition:
    """``clauses``: on sizes, ``disjoint`` included. ``verdicts``: what the kernel is worth under them.

    ``contract``: the launch with all of them. ``open``: why not everything is proved under them, "" if it is.
    """

    bare: Bare
    clauses: tuple[Clause, ...]
    contract: Contract
    verdicts: tuple[PropertyResult, ...]
    open: str = ""
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        return not self.open


@dataclass(slots=True)
class _Search:
    kernel: Kernel
    settings: Settings
    bare: Bare
    contract: Contract
    found: dict[str, Clause] = field(default_factory=dict)
    tried: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """Claims for which nothing was found, when so many clauses were known."""
    stuck: dict[str, None] = field(default_factory=dict)
    strict: bool = False
    """Whether to stop at the first claim for which nothing is found."""

    def late(self) -> bool:
        return time.monotonic() > self.settings.deadline


def precondition(kernel: Kernel, settings: Settings) -> Precondition:
    """Clauses for every launch of the kernel; ``open`` where none were found for something.

    Tried in turn: any launch, blocks of the sizes that the kernel names, arguments that are sizes, and last whatever
    helps. The first that is proved under its clauses is the answer, else the one that leaves least open.
    """
    start = time.monotonic()
    made = bare(kernel)
    best: Precondition | None = None
    for hypothesis, strict in _hypotheses(kernel, made):
        now = time.monotonic()
        left = settings.deadline - now
        if best is not None and left <= 0:
            break
        share = now + left * (_SHARE if strict else 1)
        search = _Search(kernel, replace(settings, deadline=share), made, made.contract, strict=strict)
        found = _attempt(search, hypothesis, start)
        if best is None or found.complete or not strict:
            best = found
        if found.complete:
            break
    assert best is not None
    return best


def _hypotheses(kernel: Kernel, made: Bare) -> Iterator[tuple[tuple[Clause, ...], bool]]:
    """(clauses to begin with, whether to stop at the first claim that nothing is found for)."""
    sizes = tuple(Clause(f"{name} >= 0", "assumed") for name in templates.sizes(kernel, made))
    yield (), True
    yield from ((h, True) for h in templates.fixed_blocks(kernel, made))
    if sizes:
        yield sizes, True
        yield from (((*h, *sizes), True) for h in templates.fixed_blocks(kernel, made)[:2])
    yield (), False


def _attempt(search: _Search, hypothesis: tuple[Clause, ...], start: float) -> Precondition:
    """What is found from here, verified."""

    def told(verdicts: tuple[PropertyResult, ...], why: str) -> Precondition:
        seconds = time.monotonic() - start
        return Precondition(
            search.bare, tuple(search.found.values()), search.contract, verdicts, why, seconds
        )

    if hypothesis:
        _add(search, hypothesis)
    try:
        _run(search)
    except (TooLarge, RecursionError) as error:
        search.stuck[f"too large to execute symbolically: {error}"] = None
    if search.stuck and (search.strict or search.late()):
        return told((), next(iter(search.stuck)))
    _minimise(search)
    if search.late():
        return told((), next(iter(search.stuck), "the time is up"))
    sizes = tuple(launches(search.contract, search.bare))
    quiet = replace(search.settings, replay=None, assignments=lambda: sizes)
    verdicts = verify(search.kernel, search.contract, quiet).properties
    left = [p for p in verdicts if p.verdict not in (Verdict.PROVED, Verdict.NOT_APPLICABLE)]
    return told(verdicts, f"{left[0].id}: {left[0].detail}" if left else "")


def _run(search: _Search) -> None:
    """Rounds: one property's clauses at a time, since each changes how the kernel is read."""
    for _ in range(ROUNDS):
        if search.late():
            search.stuck["the time is up"] = None
            return
        search.stuck.clear()
        s = _summary(search)
        if s.gaps:
            search.stuck[s.gaps[0].detail] = None
            return
        if filled := _inputs(s) - set(search.found):
            _add(search, [Clause(text, "assumed") for text in sorted(filled)])
            continue
        c = Claims(s)
        d = Discharger(s.t, search.settings.pool)
        if not any(_of_property(search, c, d, p) for p in ORDER if p in search.settings.properties):
            return
        if search.strict and search.stuck:
            return


def _inputs(s: Summary) -> set[str]:
    """Memory that is read and that the kernel itself does not write is defined, and what it writes is no other memory."""
    used = [name for name, obj in s.objects.items() if obj.buffer is not None]
    written = {a.obj.name for a in s.accesses if a.kind != "read"}
    read = {a.obj.name for a in s.accesses if a.kind != "write"}
    used = [name for name in used if name in written | read]
    filled = {f"written({name})" for name in used if name in read - written}
    pairs = ((a, b) for i, a in enumerate(used) for b in used[i + 1 :] if written & {a, b})
    return filled | {f"disjoint({a}, {b})" for a, b in pairs}


def _summary(search: _Search) -> Summary:
    """The kernel under what is known so far, without the loop invariants that cannot be shown."""
    dropped: frozenset[object] = frozenset()
    for _ in range(5):
        s = summarize(search.kernel, search.contract, cap=search.settings.cap, dropped=dropped)
        c, d = Claims(s), Discharger(s.t, search.settings.pool)
        lost = {op.key for op in s.operations if op.lemma and d.decide(claim_of(c, op)).status != "proved"}
        if not lost:
            break
        dropped |= lost
    return s


def _of_property(search: _Search, c: Claims, d: Discharger, property_: str) -> bool:
    """Whether clauses were found for the property's claims."""
    before = len(search.found)
    for options, op in _claims(c, property_):
        if search.late():
            break
        if _shown(c, d, options, op):
            continue
        key = (property_, str(options[0].span), options[0].claim)
        if search.tried.get(key) == before:
            search.stuck[f"{options[0].claim} ({options[0].span})"] = None
            continue
        clauses = _lacking(search, c, d, options)
        if clauses is None:
            search.tried[key] = before
            search.stuck[f"{options[0].claim} ({options[0].span})"] = None
            continue
        for clause in clauses:
            _add(search, (clause,))
            if (term := _lowered(c.s, clause)) is not None:
                c.s.requires.append(term)
                c.s.requires_ops.append(0)
        if any(_FORM.fullmatch(x.text) or x.text.startswith("content(") for x in clauses):
            break  # what it fixes, divides or bounds changes all terms
        c = Claims(c.s)
    return len(search.found) > before


def _claims(c: Claims, property_: str) -> Iterator[tuple[tuple[Obligation, ...], Operation | None]]:
    if property_ in ("overflow", "arithmetic"):
        mask = relevant(c.s)
        for op in c.s.operations:
            if op.bit & mask and op.property == property_ and not op.lemma:
                yield (claim_of(c, op),), op
        return
    check = checks.find()[property_]
    if not check.applies(c.s):
        return
    for item in check.claims(c):
        yield item if isinstance(item, tuple) else (item,), None


def _shown(c: Claims, d: Discharger, options: tuple[Obligation, ...], op: Operation | None) -> bool:
    """Whether one of the claims holds; with little effort, since what is found is verified in full later."""
    if any(d.decide(_now(c, o), EFFORT).status == "proved" for o in options):
        return True
    uses = list(claims_at_uses(c, op)) if op is not None else []
    return 0 < len(uses) <= 20 and all(d.decide(u, 0).status == "proved" for u in uses)


def _now(c: Claims, o: Obligation) -> Obligation:
    """With the clauses that were found since the claims were listed."""
    known = set(o.facts)
    more = [r for r in c.s.requires if r not in known]
    return replace(o, facts=(*more, *o.facts)) if more else o


def _lacking(
    search: _Search, c: Claims, d: Discharger, options: tuple[Obligation, ...]
) -> tuple[Clause, ...] | None:
    """Clauses under which one of the claims holds and which some launch meets."""
    view = templates.View(c, search.bare)
    pairs: Iterator[tuple[Obligation, templates.Proposal]] = (
        (o, x)
        for o in (_now(c, y) for y in options[:MAX_OPTIONS])
        for x in templates.proposals(view, o, small=not search.strict)
    )
    if len(options) > 1:
        pairs = iter(sorted(pairs, key=lambda pair: -templates.allowed(view, pair[1])))
    for o, texts in islice(pairs, MAX_PROPOSALS):
        if search.late():
            return None
        new = tuple(t for t in texts if t not in search.found)
        if not new and _structural(texts):
            return ()  # found in this round, which the claims do not know yet
        clauses = tuple(Clause(t, "assumed") for t in new)
        if new and _structural(new):
            return clauses
        sized = [x for x in clauses if not templates.structural(x.text)]
        facts = [f for x in sized if (f := _lowered(c.s, x)) is not None]
        if not new or len(facts) < len(sized):
            continue
        for clause in clauses:
            match = of_memory(clause.text)
            if match is not None and match[0] == "content":
                facts += templates.contents(c, o, match[1], match[2])
        more = _with(c.s, o, facts, new)
        shown = d.decide(more, EFFORT).status == "proved"
        if not shown and (plain := _written_out(c.s, more)).goal is not more.goal:
            shown = d.decide(plain, 0).status == "proved"
        if shown and _possible(c, d, more):
            return clauses
    return None


def _written_out(s: Summary, o: Obligation) -> Obligation:
    """The claim without the names that sizes have."""

    def at(terms: Iterable[Term]) -> tuple[Term, ...]:
        return tuple(templates.written_out(s, x) for x in terms)

    return replace(o, hyps=at(o.hyps), goal=at((o.goal,))[0], facts=at(o.facts))


def _structural(texts: tuple[str, ...]) -> bool:
    """Whether nothing is to be tried: such clauses count from the next round on."""
    return all(templates.structural(x) and not x.startswith("content(") for x in texts)


def _with(s: Summary, o: Obligation, facts: list[Term], texts: tuple[str, ...]) -> Obligation:
    """The obligation under clauses; a size that they fix or divide is written so, as it is in the next round."""
    t = s.t
    mapping: dict[Term, Term] = {}
    for text in texts:
        match = _FORM.fullmatch(text)
        symbol = s.symbols.get(match[1]) if match else None
        if match is None or symbol is None or symbol.op != "app":
            continue
        if match[2] is None:
            mapping[symbol] = t.const(int(match[3]))
        elif symbol.lo is not None and symbol.lo >= 0 and symbol.hi is not None:
            by = int(match[2])
            least = -(-symbol.lo // by)
            mapping[symbol] = t.mul(
                t.const(by), t.app(f"{match[1]}/{by}", (), 0, least, max(least, symbol.hi // by))
            )
    if not mapping:
        return replace(o, facts=(*facts, *o.facts))
    memo: dict[Term, Term] = {}

    def at(x: Term) -> Term:
        return t.rebuild(x, mapping.get, memo)

    known = dict.fromkeys(map(at, (*facts, *o.facts)))
    roots = [*known, *map(at, o.hyps), at(o.goal)]
    known.update(dict.fromkeys(gather(t, roots, {})))
    return replace(o, hyps=tuple(map(at, o.hyps)), goal=at(o.goal), facts=tuple(known))


def _lowered(s: Summary, clause: Clause) -> Term | None:
    if templates.structural(clause.text):
        return None
    return ClauseLowering(s.t, dict(s.symbols), lambda exact, *_: exact).bool(clause.text)


def _possible(c: Claims, d: Discharger, o: Obligation) -> bool:
    """Whether a launch of two blocks under the clauses gets there: what excludes the place explains nothing."""
    t, g = c.s.t, c.s.geometry
    reached = o.hyps if len(o.threads) == 1 else ()
    roots = [*o.facts, *reached, t.le(t.const(2), t.product(g.grid))]
    return d.pool.check(script(c.s.t, [*gather(c.s.t, roots, {}), *roots]), scale=0.05).status != "unsat"


def _add(search: _Search, clauses: Iterable[Clause]) -> None:
    for clause in clauses:
        search.found.setdefault(clause.text, clause)
    _rebuild(search)


def _rebuild(search: _Search) -> None:
    """The contract with what was found so far."""
    search.contract = given(search.bare.contract, search.found.values())


def _minimise(search: _Search) -> None:
    """Drop each clause that the others imply."""
    s = summarize(search.kernel, search.bare.contract, cap=search.settings.cap)
    c, d = Claims(s), Discharger(s.t, search.settings.pool)
    for text in list(search.found):
        if search.late() or not (goal := _lowered(s, search.found[text])):
            continue
        others = [
            f
            for other in search.found.values()
            if other.text != text and (f := _lowered(s, other)) is not None
        ]
        o = c.single("launch", search.kernel.span, text, (), goal)
        if d.decide(replace(o, facts=(*others, *o.facts)), 0).status == "proved":
            del search.found[text]
    _rebuild(search)


def launches(contract: Contract, made: Bare, most: int = 3, seed: int = 0) -> list[dict[str, int]]:
    """Ordinary launches of two or more blocks that the clauses allow."""
    rng = random.Random(seed)
    fixed = dict.fromkeys(made.lengths.values(), 1 << 20)
    blocks = [
        (256, 1, 1),
        (128, 1, 1),
        (32, 1, 1),
        (16, 16, 1),
        (32, 8, 1),
        (32, 32, 1),
        (512, 1, 1),
        (1024, 1, 1),
    ]
    grids = [(2, 1, 1), (2, 2, 1), (4, 1, 1), (1, 2, 1), (2, 2, 2), (3, 1, 2)]
    found: dict[tuple[int, ...], dict[str, int]] = {}
    for attempt in range(1500):
        size = rng.choice((1, 2, 3, 4, 7, 8, 16, 32, 64, 100, 256))
        values = dict(fixed)
        for s in contract.symbols:
            if s.name not in values:
                number = size if attempt % 3 else rng.choice((0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 512))
                values[s.name] = max(s.low or 0, min(number, s.high if s.high is not None else number))
        values |= dict(zip(made.grid, rng.choice(grids), strict=True))
        values |= dict(zip(made.block, rng.choice(blocks), strict=True))
        if made.shared:
            values[made.shared] = SHARED_LIMIT if attempt % 2 else 16384
        with contextlib.suppress(ClauseError, ClauseUndefined, OverflowError):
            if holds(contract, values):
                found[tuple(values.values())] = values
        if len(found) >= 4 * most:
            break
    return sorted(found.values(), key=lambda v: -min(v[name] for name in made.names.values() or made.grid))[
        :most
    ]


def two_blocks(found: Precondition, kernel: Kernel, settings: Settings) -> bool:
    """Whether a launch of at least two blocks meets the clauses and reaches an access (or is there at all)."""
    s = summarize(kernel, found.contract, cap=settings.cap)
    c, d = Claims(s), Discharger(s.t, settings.pool)
    places = [(a.guard, a.span) for a in s.accesses[:3]] or [(s.t.true, kernel.span)]
    for values in launches(found.contract, found.bare, 4):
        for guard, span in places:
            if satisfiable(
                c, d, c.single("vacuity", span, "the access is reachable", (guard,), s.t.false), values
            ):
                return True
    more = s.t.le(s.t.const(2), s.t.product(s.geometry.grid))
    return any(
        satisfiable(c, d, c.single("vacuity", span, "the access is reachable", (guard, more), s.t.false), {})
        for guard, span in places
    )
