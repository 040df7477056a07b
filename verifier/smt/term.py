"""The nodes of terms, and walks over them. See ``terms`` for the store that makes them.

Example: ``show(node)`` is readable text; ``atoms([a, b])`` are all subterms, children first.
"""

from __future__ import annotations

from collections.abc import Iterable

Mono = tuple["Term", ...]
Poly = dict[Mono, int]
MAX_MONOMIALS = 160


class TooLarge(Exception):
    """A term grew past its budget; the caller gives up on the construct (UNKNOWN), never on soundness."""


class Term:
    """One node. ``op``: const app quot rem ite min max wrap bv poly | true false le0 eq0 not and or bapp | float."""

    __slots__ = ("args", "flevel", "hi", "id", "level", "lo", "name", "op")

    def __init__(
        self,
        op: str,
        name: str,
        args: tuple[Term, ...],
        level: int,
        flevel: int,
        lo: int | None,
        hi: int | None,
        id_: int,
    ) -> None:
        self.op, self.name, self.args, self.level, self.flevel, self.lo, self.hi, self.id = (
            op,
            name,
            args,
            level,
            flevel,
            lo,
            hi,
            id_,
        )

    def __repr__(self) -> str:
        return show(self)

    @property
    def is_bool(self) -> bool:
        return self.op in _BOOL_OPS


_BOOL_OPS = frozenset(("true", "false", "le0", "eq0", "not", "and", "or", "bapp"))


class Const(Term):
    __slots__ = ("value",)
    value: int


class PolyTerm(Term):
    __slots__ = ("monos",)
    monos: tuple[tuple[Mono, int], ...]


def children(term: Term) -> Iterable[Term]:
    """Direct subterms."""
    if isinstance(term, PolyTerm):
        for mono, _ in term.monos:
            yield from mono
    else:
        yield from term.args


def atoms(roots: Iterable[Term]) -> dict[Term, None]:
    """Every subterm of the roots, each once, children first."""
    seen: dict[Term, None] = {}
    stack = [(r, False) for r in roots]
    while stack:
        term, done = stack.pop()
        if done:
            seen[term] = None
        elif term not in seen:
            stack.append((term, True))
            stack.extend((c, False) for c in children(term) if c not in seen)
    return seen


def divide_mono(mono: Mono, by: Mono) -> Mono | None:
    """``mono / by`` when it divides, else None."""
    rest = list(mono)
    for a in by:
        if a not in rest:
            return None
        rest.remove(a)
    return tuple(rest)


def show(term: Term, depth: int = 6) -> str:
    """Readable text, for messages and debugging."""
    if depth == 0:
        return "…"
    d = depth - 1
    if isinstance(term, Const):
        return str(term.value)
    if isinstance(term, PolyTerm):
        parts = []
        for mono, coef in term.monos:
            factors = [show(a, d) for a in mono]
            if not mono or abs(coef) != 1:
                factors.insert(0, str(abs(coef)))
            parts.append(("- " if coef < 0 else "+ ") + "*".join(factors))
        text = " ".join(parts)
        return "(" + (text[2:] if text.startswith("+ ") else text) + ")"
    a = [show(x, d) for x in term.args]
    match term.op:
        case "le0":
            return f"{a[0]} <= 0"
        case "eq0":
            return f"{a[0]} == 0"
        case "quot":
            return f"({a[0]} / {a[1]})"
        case "rem":
            return f"({a[0]} % {a[1]})"
        case "and" | "or":
            return "(" + f" {term.op} ".join(a) + ")"
        case "app" | "bapp" | "float":
            return term.name + (f"({', '.join(a)})" if a else "")
        case "true" | "false":
            return term.op
        case _:
            return f"{term.op}{term.name}({', '.join(a)})"


def sum_limit(a: int | None, b: int | None) -> int | None:
    """The end of a sum's interval; None is unbounded."""
    return None if a is None or b is None else a + b


def product_limits(
    a: tuple[int | None, int | None], b: tuple[int | None, int | None]
) -> tuple[int | None, int | None]:
    """Interval product; None is unbounded."""
    (al, ah), (bl, bh) = a, b
    if al is not None and al >= 0 and bl is not None and bl >= 0:
        return al * bl, None if ah is None or bh is None else ah * bh
    if al is None or ah is None or bl is None or bh is None:
        return None, None
    products = (al * bl, al * bh, ah * bl, ah * bh)
    return min(products), max(products)
