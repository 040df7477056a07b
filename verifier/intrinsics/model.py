"""What an intrinsic is, and the compact notation in which the families declare them.

Input -> output: lines of C++ declarations plus what they mean -> Intrinsic entries; the front end's shim is generated
from the same entries, so a declared function always has an entry and an entry is always declared.

Invariant: an entry claims nothing that it does not state. Float results are opaque (only their arguments matter);
an integer result has a meaning only through ``int_meaning``, which is out of :data:`INT_MEANINGS`; without it the
result is any value of its type.

``int_meaning`` (``w`` = width of the operand type, signedness as in the operand type):

======== ===================================================================================================
min max  of two values of one type
abs      absolute value; of the type's minimum it is not representable (an overflow)
popc     number of one bits, 0 … w, result i32
clz      number of leading zero bits, 0 … w (w for 0), result i32
ffs      1 + index of the lowest one bit, 0 for 0, result i32
brev     bits reversed
mul24    product of the low 24 bits (sign-extended if signed), low 32 bits of it
mulhi    the high w bits of the full product
sad      abs(a - b) + c, with a and b of one type, result u32
hadd     floor((a + b) / 2) without intermediate overflow
rhadd    floor((a + b + 1) / 2) without intermediate overflow
funnel_l high word of ((hi:lo) << (shift & 31)); arguments (lo, hi, shift)
funnel_r low word of ((hi:lo) >> (shift & 31)); arguments (lo, hi, shift)
======== ===================================================================================================

Example::

    declare("math", "pure-int", "popc", "int __popc(unsigned)")
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "pure-float",  # no effect; an opaque float (or a bool or int of floats: isnan, float -> int)
    "pure-int",  # no effect; integer result with int_meaning; on floats of the same name opaque (min, max, abs)
    "convert",  # a C conversion of its one argument to the result type
    "binary",  # a C operator on its two float arguments (field by field): ``meaning`` is the IR operator
    "compare",  # a C comparison of its two arguments: ``meaning`` is the IR operator
    "constant",  # a compile-time constant that the parser evaluates
    "vector",  # makes a struct out of its arguments, in field order
    "atomic",  # ``meaning`` is the IR operation
    "warp",  # a collective of the lanes of its mask: ``meaning`` is the IR operation
    "barrier",  # ``meaning``: block, warp, grid, count, and, or
    "fence",  # ``meaning``: block, device, system
    "load",  # a load through its pointer argument: ``meaning`` readonly, volatile or plain
    "store",  # a store through its pointer argument
    "address",  # its pointer argument as a number
    "copy-group",  # ``meaning``: commit or wait (for all but so many groups)
    "async-copy",  # (to, from, bytes, bytes of them that are zero)
    "results",  # float results through trailing pointers: ``meaning`` names the functions, comma-separated
    "nothing",  # no effect on values or memory that the IR has (printf, prefetch, nanosleep)
    "opaque",  # any value of its type (clock)
    "trap",  # ends the kernel
    "assert",
    "unknown",  # declared so that the text parses; a call is Unsupported by name
    "asm",  # becomes Unsupported: inline assembly and what is modelled instruction by instruction elsewhere
]

INT_MEANINGS = frozenset("min max abs popc clz ffs brev mul24 mulhi sad hadd rhadd funnel_l funnel_r".split())


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """One name with all its overloads. ``declarations`` hold the argument and result types as C++ text."""

    name: str
    family: str
    kind: Kind
    meaning: str
    declarations: tuple[str, ...]
    common: bool = False
    """Every argument is converted to the result type first (``max(int, unsigned)``)."""
    scope: Literal["block", "device", "system"] = "device"

    @property
    def int_meaning(self) -> str | None:
        return self.meaning if self.kind == "pure-int" and self.meaning else None


_NAME = re.compile(r"(operator\s*\S+?|[A-Za-z_]\w*)\s*\(")


def name_of(declaration: str) -> str:
    match = _NAME.search(declaration)
    assert match, declaration
    return match.group(1)


def declare(
    family: str,
    kind: Kind,
    meaning: str,
    *declarations: str,
    common: bool = False,
    scope: Literal["block", "device", "system"] = "device",
) -> Iterator[Intrinsic]:
    """One entry for each name among the declarations, which are separated by ``;``."""
    grouped: dict[str, list[str]] = {}
    for text in declarations:
        for declaration in filter(None, (part.strip() for part in text.split(";"))):
            grouped.setdefault(name_of(declaration), []).append(declaration)
    for name, group in grouped.items():
        yield Intrinsic(name, family, kind, meaning, tuple(group), common, scope)
