"""Terms over sizes as text of the clause language. Term -> text, or None if it speaks of anything else.

Example: ``4*M*K - 4*len_x <= 0`` is ``len_x >= M * K``.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from verifier.smt.terms import Const, Poly, PolyTerm, Term, Terms


def text_of(term: Term, symbol_of: Mapping[Term, str]) -> str | None:
    """An integer term."""
    if isinstance(term, Const):
        return str(term.value)
    if term in symbol_of:
        return symbol_of[term]
    match term.op:
        case "quot" | "rem":
            parts = [text_of(a, symbol_of) for a in term.args]
            if None in parts:
                return None
            rounded = _rounded_up(term, symbol_of) if term.op == "quot" else None
            top, bottom = (_grouped(str(p)) for p in parts)
            return rounded or f"({top} {'//' if term.op == 'quot' else '%'} {bottom})"
        case "min" | "max":
            parts = [text_of(a, symbol_of) for a in term.args]
            return None if None in parts else f"{term.op}({', '.join(map(str, parts))})"
    if isinstance(term, PolyTerm):
        return _sum(dict(term.monos), symbol_of)
    return None


def _rounded_up(term: Term, symbol_of: Mapping[Term, str]) -> str | None:
    """``(a + b - 1) / b`` is ``ceil_div(a, b)``."""
    top, bottom = term.args
    if not isinstance(top, PolyTerm):
        return None
    rest = dict(top.monos)
    for mono, coef in dict(bottom.monos).items() if isinstance(bottom, PolyTerm) else [((bottom,), 1)]:
        if isinstance(bottom, Const):
            mono, coef = (), bottom.value
        rest[mono] = rest.get(mono, 0) - coef
    rest[()] = rest.get((), 0) + 1
    rest = {m: c for m, c in rest.items() if c}
    if not rest or any(c < 0 for c in rest.values()):
        return None
    a, b = _sum(rest, symbol_of), text_of(bottom, symbol_of)
    return None if a is None or b is None else f"ceil_div({a}, {b})"


def _sum(poly: Poly, symbol_of: Mapping[Term, str]) -> str | None:
    out = ""
    for mono, coef in sorted(poly.items(), key=lambda mc: (-len(mc[0]), mc[1] < 0)):
        factors = [text_of(a, symbol_of) for a in mono]
        if None in factors:
            return None
        size = abs(coef)
        parts = [*([str(size)] if size != 1 or not mono else []), *(_grouped(str(f)) for f in factors)]
        out += (" - " if out else "-") if coef < 0 else (" + " if out else "")
        out += " * ".join(parts)
    return out or "0"


def _grouped(text: str) -> str:
    """In parentheses, if it is a sum."""
    depth = 0
    for i, ch in enumerate(text):
        depth += (ch == "(") - (ch == ")")
        if ch == " " and not depth and text[i + 1 : i + 2] in ("+", "-", "/", "%"):
            return f"({text})"
    return f"({text})" if text.startswith("-") else text


def at_most_zero(t: Terms, term: Term, symbol_of: Mapping[Term, str], left: frozenset[str]) -> str | None:
    """``term <= 0`` as a comparison; a symbol of ``left`` (a length) stands alone on the left."""
    poly = t.poly(term)
    whole = gcd(*(abs(c) for m, c in poly.items() if m)) if any(poly) else 1
    if whole > 1:  # k*p + c <= 0 holds for integers where p + ceil(c / k) <= 0
        poly = {m: c // whole if m else -(-c // whole) for m, c in poly.items()}
        poly = {m: c for m, c in poly.items() if c}
    more = {m: c for m, c in poly.items() if c > 0}
    less = {m: -c for m, c in poly.items() if c < 0}
    if any(len(m) == 1 and symbol_of.get(m[0]) in left for m in less):
        for m in [m for m in less if not (len(m) == 1 and symbol_of.get(m[0]) in left)]:
            more[m] = -less.pop(m)
        a, b, sign = less, more, ">="
    else:
        if () in more and any(more.keys() - {()}):
            less[()] = less.get((), 0) - more.pop(())
        a, b, sign = more, less, "<="
        if not any(a):
            a, b, sign = b, a, ">="
    first, second = (
        _sum({m: c for m, c in a.items() if c}, symbol_of),
        _sum({m: c for m, c in b.items() if c}, symbol_of),
    )
    return None if first is None or second is None else f"{first} {sign} {second}"
