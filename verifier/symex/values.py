"""Symbolic values of locals, and the ranges and names of C's integer types.

Example: ``Val(t.const(3))``; ``int_range(8, True)`` is ``(-128, 127)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from verifier.ir import nodes as ir
from verifier.smt.terms import Term
from verifier.symex.summary import MemoryObject


@dataclass(frozen=True, slots=True)
class Val:
    """An integer, boolean or opaque float."""

    term: Term
    deps: int = 0


@dataclass(frozen=True, slots=True)
class Ptr:
    """A pointer: exactly one alternative's condition holds. ``obj`` None is an unknown pointer."""

    alts: tuple[tuple[Term, MemoryObject | None, Term], ...]
    deps: int = 0


Value = Val | Ptr


def int_range(bits: int, signed: bool) -> tuple[int, int]:
    """Inclusive range of a C integer type."""
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


def shifted(value: int, bits: int) -> str:
    """The function of n whose value is ``value << n`` in an unsigned type."""
    return f"shl:{value}:{bits}"


def type_name(ty: ir.Int) -> str:
    """C's name of an integer type, for messages."""
    base = {8: "char", 16: "short", 32: "int", 64: "long long"}[ty.bits]
    if ty.bits == 32:
        return "int" if ty.signed else "unsigned int"
    return base if ty.signed else f"unsigned {base}"
