"""The contract's symbols as terms: intervals and normal forms out of its clauses.

Contract -> symbol name -> term. What accepted clauses say of single symbols goes into the terms themselves: bounds into
intervals (``width != 0``), equalities into one atom (``k == m``), divisibility into products (``c % groups == 0`` makes
c ``groups * q``), so that sizes cancel.

Invariant: for every assignment that the clauses allow there are values of the atoms that give each symbol its value.

Example: ``h % 2 == 0`` makes h ``2*h/2``, and ``h // 2`` the atom ``h/2``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from math import lcm

from specs import clauses
from specs.contract import Contract
from verifier.smt.terms import Const, PolyTerm, Term, Terms

_EQUATION = re.compile(r"(\w+) == (\w+)")
_BIG = (1 << 63) - 1


def symbol_terms(
    t: Terms, contract: Contract, cap: int, least: Mapping[str, int] | None = None
) -> dict[str, Term]:
    """An atom for each symbol, with the bounds of the general domain; a scalar with a value is that constant."""
    out: dict[str, Term] = {}
    ranges: dict[str, tuple[int, int]] = {}
    for s in contract.symbols:
        if s.kind == "scalar" and s.value is not None:
            out[s.name] = t.const(s.value)
            continue
        low = s.low if s.low is not None else (1 if s.kind == "dim" else -(1 << 63))
        high = s.high if s.high is not None else (cap if s.kind == "dim" else (1 << 63) - 1)
        ranges[s.name] = (max(low, (least or {}).get(s.name, low)), high)
    _narrow(ranges, contract)
    for name, (low, high) in ranges.items():
        out[name] = t.app(name, (), 0, low, max(high, low))
    return out


def _comparisons(contract: Contract) -> Iterator[tuple[ast.expr, type[ast.cmpop], ast.expr]]:
    """The comparisons that hold at every launch: each accepted clause, through ``and``, ``not`` and ``or``."""
    pending = [(clauses.parse(c.text), True) for c in contract.requires if c.accepted and _parses(c.text)]
    while pending:
        node, holds = pending.pop()
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                pending.append((inner, not holds))
            case ast.BoolOp(op=op, values=parts) if isinstance(op, ast.And) == holds:
                pending.extend((part, holds) for part in parts)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _NEGATED:
                yield left, type(op) if holds else _NEGATED[type(op)], right


def _narrow(ranges: dict[str, tuple[int, int]], contract: Contract) -> None:
    """Tighten the intervals by clauses that compare a symbol, or a product of positive ones, with a number."""
    simple: list[tuple[list[str], type[ast.cmpop], int]] = []
    for left, kind, right in _comparisons(contract):
        if isinstance(right, ast.Constant) and isinstance(right.value, int):
            simple.append((_factors(left), kind, right.value))
        elif isinstance(left, ast.Constant) and isinstance(left.value, int):
            simple.append((_factors(right), _MIRRORED.get(kind, kind), left.value))
    for _ in range(2):  # a product bounds its factors once they are known to be positive
        for factors, kind, value in simple:
            if not all(name in ranges for name in factors):
                continue
            if len(factors) == 1:
                ranges[factors[0]] = _within(ranges[factors[0]], kind, value)
            elif kind in (ast.LtE, ast.Lt) and factors and all(ranges[name][0] >= 1 for name in factors):
                for name in factors:
                    ranges[name] = _within(ranges[name], kind, value)


_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}


def _parses(text: str) -> bool:
    try:
        clauses.parse(text)
    except clauses.ClauseError:
        return False
    return True


def _factors(node: ast.expr) -> list[str]:
    """The names of a product of names; empty for anything else."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            a, b = _factors(left), _factors(right)
            return a + b if a and b else []
        case _:
            return []


def _within(interval: tuple[int, int], kind: type[ast.cmpop], value: int) -> tuple[int, int]:
    low, high = interval
    if kind is ast.Lt:
        return low, min(high, value - 1)
    if kind is ast.LtE:
        return low, min(high, value)
    if kind is ast.Gt:
        return max(low, value + 1), high
    if kind is ast.GtE:
        return max(low, value), high
    if kind is ast.Eq:
        return max(low, value), min(high, value)
    return low + (low == value), high - (high == value)


def equate(symbols: dict[str, Term], contract: Contract, t: Terms) -> None:
    """Make symbols that an accepted clause equates one term (``k == m``, ``c == 3``), so that sizes cancel."""
    for clause in contract.requires:
        match = _EQUATION.fullmatch(clause.text.strip()) if clause.accepted else None
        if match is None:
            continue
        left, right = symbols.get(match[1]), symbols.get(match[2])
        if right is None and match[2].isdigit():
            right = t.const(int(match[2]))
        if left is None or right is None or isinstance(left, Const):
            continue
        for name, term in symbols.items():
            if term is left:
                symbols[name] = right


def divide(symbols: dict[str, Term], contract: Contract, t: Terms) -> None:
    """Make a symbol that an accepted clause divides (``c % 4 == 0``, ``c % groups == 0``) a product."""
    numbers: dict[str, int] = {}
    others: dict[str, str] = {}
    for left, kind, right in _comparisons(contract):
        match left, right:
            case (
                ast.BinOp(left=ast.Name(id=name), op=ast.Mod(), right=divisor),
                ast.Constant(value=0),
            ) if kind is ast.Eq:
                match divisor:
                    case ast.Constant(value=int(number)) if number > 1:
                        numbers[name] = lcm(numbers.get(name, 1), number)
                    case ast.Name(id=other):
                        others.setdefault(name, other)
    for name, number in numbers.items():
        _become(symbols, name, t.const(number), str(number), t)
    for name, other in others.items():
        divisor_term = symbols.get(other)
        if divisor_term is not None and divisor_term.op == "app" and (divisor_term.lo or 0) >= 1:
            _become(symbols, name, divisor_term, other, t)


def _become(symbols: dict[str, Term], name: str, divisor: Term, text: str, t: Terms) -> None:
    """Replace the symbol's atom, wherever a symbol is it, by ``divisor * quotient``."""
    old = symbols.get(name)
    if old is None or old.op != "app" or old is divisor or old.lo is None or old.lo < 0:
        return
    least = divisor.lo if isinstance(divisor, Const) and divisor.lo else 1
    low = -(-old.lo // least) if isinstance(divisor, Const) else min(old.lo, 1)
    high = (old.hi if old.hi is not None else _BIG) // least
    quotient = t.app(f"{name}/{text}", (), 0, low, max(low, high))
    product = t.mul(divisor, quotient)
    for other, term in symbols.items():
        if term is old:
            symbols[other] = product


def pinned(symbols: Mapping[str, Term], values: Mapping[str, int], t: Terms) -> dict[Term, Term]:
    """The atoms' values where the symbols have these values."""
    out: dict[Term, Term] = {}
    for name, term in symbols.items():
        if name in values and term.op == "app":
            out[term] = t.const(values[name])
    for name, term in symbols.items():
        if name in values and isinstance(term, PolyTerm) and len(term.monos) == 1:
            ((mono, factor),) = term.monos
            left = [a for a in mono if a not in out]
            for atom in mono:
                known = out.get(atom)
                factor *= known.value if isinstance(known, Const) else 1
            if len(left) == 1 and factor and values[name] % factor == 0:
                out[left[0]] = t.const(values[name] // factor)
    return out


def texts(symbols: Mapping[str, Term]) -> dict[Term, str]:
    """Clause text of each atom that symbols are made of."""
    out = {term: name for name, term in symbols.items() if term.op == "app"}
    for name, term in symbols.items():
        if isinstance(term, PolyTerm) and len(term.monos) == 1:
            ((mono, factor),) = term.monos
            left = [a for a in mono if a not in out]
            if len(left) == 1:
                divisor = " * ".join(
                    [*([str(factor)] if factor != 1 else []), *(out[a] for a in mono if a in out)]
                )
                out[left[0]] = f"({name} // {divisor})" if " " not in divisor else f"({name} // ({divisor}))"
    return out
