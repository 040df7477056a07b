"""Symbolic values of host code: exact integers as clause text with their C type and interval, tensors, pointers.

An :class:`Int` is a term of the clause language (specs/clauses.py). Arithmetic at a C type is written out: the sum of
two ``int`` is ``i32(a + b)``. The conversion is left out only where interval arithmetic shows that it cannot change the
value, with every tensor extent taken to lie in ``0 .. 2**40`` (so never for ``i32(n)`` of a dim).

Invariant: a value's text means, for every assignment of the symbols, exactly what the C expression computes, with
C++'s undefined signed overflow taken as wrapping (``i32`` wraps, and is an obligation for the prover).

Example::

    n = symbol("n", 0, DIM_MAX, "i64")
    convert(n, "i32").text        # 'i32(n)'
    arith("+", convert(n, "i32"), const(255, "i32"), "i32").text   # 'i32(i32(n) + 255)'
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from specs.clauses import INT_TYPES, int_range, trunc_div, wrap

DIM_MAX = 1 << 40
PY = "py"
"""The type of a Python int: unbounded."""
C_INTS = {
    "bool": "bool",
    "char": "i8",
    "signed char": "i8",
    "unsigned char": "u8",
    "short": "i16",
    "unsigned short": "u16",
    "int": "i32",
    "unsigned int": "u32",
    "long": "i64",
    "unsigned long": "u64",
    "long long": "i64",
    "unsigned long long": "u64",
    "wchar_t": "i32",
    "char8_t": "u8",
    "char16_t": "u16",
    "char32_t": "u32",
}
NOT_FOLLOWED = frozenset(
    ("__int128", "unsigned __int128", "_Float16", "__fp16", "__bf16", "__float128", "_Bool")
)
"""Scalar types of which there are no values."""
_C_FLOATS = {
    "float": "f32",
    "double": "f64",
    "long double": "f64",
    "c10::Half": "f16",
    "__half": "f16",
    "c10::BFloat16": "bf16",
    "__nv_bfloat16": "bf16",
}
_VECTORS = {
    "float": "f32",
    "double": "f64",
    "int": "i32",
    "uint": "u32",
    "short": "i16",
    "char": "i8",
    "uchar": "u8",
}
SIZES = {"bool": 1, "f16": 2, "bf16": 2, "f32": 4, "f64": 8} | {
    t: bits // 8 for t, (bits, _) in INT_TYPES.items()
}


@lru_cache(maxsize=1024)
def dtype_of(c_type: str) -> str | None:
    """The dtype of a C scalar type, or None: ``const unsigned int`` -> u32."""
    text = c_type.removeprefix("const ").removeprefix("volatile ").strip()
    return C_INTS.get(text) or _C_FLOATS.get(text)


@lru_cache(maxsize=1024)
def element_of(c_type: str) -> tuple[str, int] | None:
    """(dtype, lanes) of what a pointer of this type points to: ``const float4 *`` -> (f32, 4)."""
    if not c_type.endswith("*"):
        return None
    text = c_type[:-1].replace("const", "").replace("volatile", "").strip()
    dtype = dtype_of(text)
    if dtype is not None:
        return dtype, 1
    if text in ("__half2", "__nv_bfloat162"):
        return ("f16" if text == "__half2" else "bf16"), 2
    if text[:-1] in _VECTORS and text[-1:] in "1234":
        return _VECTORS[text[:-1]], int(text[-1])
    return None


# --- integers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Int:
    """``lo``/``hi``: None is unbounded. ``taint``: names of program constants that the value was made of."""

    text: str
    lo: int | None
    hi: int | None
    type: str = "i64"
    taint: frozenset[str] = frozenset()

    @property
    def value(self) -> int | None:
        """The one value it can have, or None."""
        return self.lo if self.lo is not None and self.lo == self.hi else None


def const(value: int, type_: str = "i64", taint: frozenset[str] = frozenset()) -> Int:
    return Int(str(value) if value >= 0 else f"({value})", value, value, type_, taint)


def symbol(name: str, lo: int | None, hi: int | None, type_: str = "i64") -> Int:
    return Int(name, lo, hi, type_)


def limits(type_: str) -> tuple[int | None, int | None]:
    if type_ == PY:
        return None, None
    if type_ == "bool":
        return 0, 1
    return int_range(*INT_TYPES[type_])


def convert(value: Int, type_: str) -> Int:
    """The C conversion to an integer type."""
    if type_ == value.type:
        return value
    if type_ == "bool":
        return as_int(compare("!=", value, const(0, value.type)), "bool")
    if fits(value, type_):
        return Int(value.text, value.lo, value.hi, type_, value.taint)
    if type_ == PY:
        return Int(value.text, value.lo, value.hi, PY, value.taint)
    if value.value is not None and value.text.lstrip("(-").rstrip(")").isdigit():
        return const(wrap(value.value, *INT_TYPES[type_]), type_, value.taint)
    lo, hi = limits(type_)
    return Int(f"{type_}({value.text})", lo, hi, type_, value.taint)


def fits(value: Int, type_: str) -> bool:
    lo, hi = limits(type_)
    return (lo is None or (value.lo is not None and value.lo >= lo)) and (
        hi is None or (value.hi is not None and value.hi <= hi)
    )


def common(a: str, b: str) -> str:
    """The usual arithmetic conversions (integer part)."""
    if PY in (a, b):
        return PY
    bits_a, signed_a = _promoted(a)
    bits_b, signed_b = _promoted(b)
    bits = max(bits_a, bits_b)
    unsigned = any(not s for n, s in ((bits_a, signed_a), (bits_b, signed_b)) if n == bits)
    return f"{'u' if unsigned else 'i'}{bits}"


def _promoted(type_: str) -> tuple[int, bool]:
    if type_ == "bool":
        return 32, True
    bits, signed = INT_TYPES[type_]
    return (32, True) if bits < 32 else (bits, signed)


def arith(op: str, a: Int, b: Int, type_: str) -> Int | None:
    """``a op b`` computed exactly, then converted to ``type_``. None where the clause language has no such operation.

    The operands must already have been converted.
    """
    taint = a.taint | b.taint
    exact = _exact(op, a, b)
    if exact is None:
        return None
    text, lo, hi = exact
    raw = Int(text, lo, hi, PY, taint)
    if fits(raw, type_):
        return Int(text, lo, hi, type_, taint)
    if raw.value is not None and a.text.isdigit() and b.text.isdigit():
        return const(wrap(raw.value, *INT_TYPES[type_]), type_, taint)
    low, high = limits(type_)
    return Int(f"{type_}({text})", low, high, type_, taint)


def _exact(op: str, a: Int, b: Int) -> tuple[str, int | None, int | None] | None:
    both = _literal(a), _literal(b)
    if both[0] is not None and both[1] is not None:
        folded = _fold(op, both[0], both[1])
        if folded is not None:
            return (str(folded) if folded >= 0 else f"({folded})"), folded, folded
    match op:
        case "+":
            if both[0] == 0:
                return b.text, b.lo, b.hi
            if both[1] is not None:
                return _shifted(a.text, both[1]), _add(a.lo, b.lo), _add(a.hi, b.hi)
            return f"({a.text} + {b.text})", _add(a.lo, b.lo), _add(a.hi, b.hi)
        case "-":
            if both[1] is not None:
                return _shifted(a.text, -both[1]), _sub(a.lo, b.hi), _sub(a.hi, b.lo)
            if a.text == b.text:
                return "0", 0, 0
            return f"({a.text} - {b.text})", _sub(a.lo, b.hi), _sub(a.hi, b.lo)
        case "*":
            if both[1] == 1:
                return a.text, a.lo, a.hi
            if both[0] == 1:
                return b.text, b.lo, b.hi
            if both[0] == 0 or both[1] == 0:
                return "0", 0, 0
            return f"({a.text} * {b.text})", *_product(a, b)
        case "/":
            if both[1] == 1:
                return a.text, a.lo, a.hi
            divisor = both[1]
            if divisor and (whole := exact_quotient(a.text, divisor)) is not None:
                return whole, *_quotient(a, divisor)
            if divisor:
                return f"({a.text} // {b.text})", *_quotient(a, divisor)
            if a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo >= 1:
                return f"({a.text} // {b.text})", 0, a.hi
            return f"({a.text} // {b.text})", _neg_abs(a), _max_abs(a)
        case "%":
            if b.lo is not None and b.lo >= 1:
                top = None if b.hi is None else b.hi - 1
                low = 0 if a.lo is not None and a.lo >= 0 else None if top is None else -top
                return f"({a.text} % {b.text})", low, top
            return f"({a.text} % {b.text})", _neg_abs(b), _max_abs(b)
        case "<<":
            if both[1] is not None and 0 <= both[1] < 63 and a.lo is not None and a.lo >= 0:
                return _exact("*", a, const(1 << both[1]))
        case ">>":
            if both[1] is not None and 0 <= both[1] < 63:
                if a.lo is not None and a.lo >= 0:
                    return _exact("/", a, const(1 << both[1]))
                step = 1 << both[1]
                text = f"(({a.text} - {_residue(a.text, step)}) // {step})"
                return (
                    text,
                    None if a.lo is None else a.lo >> both[1],
                    None if a.hi is None else a.hi >> both[1],
                )
        case "&":
            return _mask(a, b) or _mask(b, a)
        case "min" | "max":
            pick = min if op == "min" else max
            one_lo = [v for v in (a.lo, b.lo) if v is not None]
            one_hi = [v for v in (a.hi, b.hi) if v is not None]
            lo = pick(one_lo) if len(one_lo) == 2 or (one_lo and op == "max") else None
            hi = pick(one_hi) if len(one_hi) == 2 or (one_hi and op == "min") else None
            return f"{op}({a.text}, {b.text})", lo, hi
    return None


def _shifted(text: str, by: int) -> str:
    """``text + by`` in exact arithmetic, constants at its end folded: ``(n + 256)`` and -1 give ``(n + 255)``."""
    text, more = base_and_offset(text)
    by += more
    if by == 0:
        return text
    return f"({text} + {by})" if by > 0 else f"({text} - {-by})"


_TAIL = re.compile(r"\((?P<head>.+) (?P<sign>[+-]) (?P<count>\d+)\)")


def _balanced(text: str) -> bool:
    """Whether the parentheses of a prefix close again, so that what follows it stands at the top."""
    depth = 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth < 0:
            return False
    return depth == 0 and (text.startswith("(") or not _LOOSE.search(text))


_LOOSE = re.compile(r" (?:if|else|and|or|not|[<>=!]=?|==) ")


def base_and_offset(text: str) -> tuple[str, int]:
    """``(n + 3)`` is n and 3; any other text is itself and 0."""
    found = _TAIL.fullmatch(text)
    if found is not None and _balanced(found["head"]):
        return found["head"], int(found["count"]) if found["sign"] == "+" else -int(found["count"])
    return text, 0


def _residue(text: str, modulus: int) -> str:
    """The low bits of a two's complement value that may be negative: its residue in ``0 .. modulus - 1``."""
    return f"(({text} % {modulus} + {modulus}) % {modulus})"


def _mask(a: Int, mask: Int) -> tuple[str, int | None, int | None] | None:
    """``a & (2**k - 1)`` and ``a & ~(2**k - 1)``."""
    bits = _literal(mask)
    if bits is None:
        return None
    nonnegative = a.lo is not None and a.lo >= 0
    if bits >= 0 and bits & (bits + 1) == 0:
        return (f"({a.text} % {bits + 1})" if nonnegative else _residue(a.text, bits + 1)), 0, bits
    width = 32 if 0 <= bits < 1 << 32 else 64
    low = ~bits & ((1 << width) - 1)
    if low & (low + 1) == 0 and (bits < 0 or (nonnegative and a.hi is not None and a.hi < 1 << width)):
        residue = f"{a.text} % {low + 1}" if nonnegative else _residue(a.text, low + 1)
        return f"({a.text} - {residue})", None if a.lo is None else a.lo & ~low, a.hi
    return None


def exact_quotient(text: str, divisor: int) -> str | None:
    """``(n * 4)`` by 4 is ``n``; None where the text is not a product with a multiple of the divisor."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    match node:
        case ast.Constant(value=int(v)) if v % divisor == 0:
            return str(v // divisor)
        case ast.BinOp(left=a, op=ast.Mult(), right=ast.Constant(value=int(v))) if v % divisor == 0 and v > 0:
            rest = v // divisor
            return f"({ast.unparse(a)})" if rest == 1 else f"(({ast.unparse(a)}) * {rest})"
        case ast.BinOp(left=ast.Constant(value=int(v)), op=ast.Mult(), right=a) if v % divisor == 0 and v > 0:
            rest = v // divisor
            return f"({ast.unparse(a)})" if rest == 1 else f"(({ast.unparse(a)}) * {rest})"
        case ast.BinOp(left=a, op=ast.Mult(), right=b):
            for one, other in ((a, b), (b, a)):
                part = exact_quotient(ast.unparse(one), divisor)
                if part is not None:
                    return f"({part} * ({ast.unparse(other)}))"
        case ast.BinOp(left=a, op=ast.Add(), right=b):
            parts = exact_quotient(ast.unparse(a), divisor), exact_quotient(ast.unparse(b), divisor)
            if None not in parts:
                return f"({parts[0]} + {parts[1]})"
    return None


def _literal(value: Int) -> int | None:
    text = value.text.strip("()")
    return int(text) if text.removeprefix("-").isdigit() else None


def _fold(op: str, a: int, b: int) -> int | None:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" if b:
            return trunc_div(a, b)
        case "%" if b:
            return a - b * trunc_div(a, b)
        case "<<" if 0 <= b < 64:
            return a << b
        case ">>" if 0 <= b < 64:
            return a >> b
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
    return None


def _add(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _sub(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a - b


def _product(a: Int, b: Int) -> tuple[int | None, int | None]:
    if None not in (a.lo, a.hi, b.lo, b.hi):
        ends = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi) if x is not None and y is not None]
        return min(ends), max(ends)
    nonnegative = a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo >= 0
    return (0, None) if nonnegative else (None, None)


def _quotient(a: Int, divisor: int) -> tuple[int | None, int | None]:
    ends = [None if v is None else trunc_div(v, divisor) for v in (a.lo, a.hi)]
    return (ends[0], ends[1]) if divisor > 0 else (ends[1], ends[0])


def _max_abs(a: Int) -> int | None:
    return None if a.lo is None or a.hi is None else max(abs(a.lo), abs(a.hi))


def _neg_abs(a: Int) -> int | None:
    top = _max_abs(a)
    return None if top is None else -top


def negate(a: Int, type_: str) -> Int | None:
    return arith("-", const(0, type_), a, type_)


# --- conditions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bool:
    """A condition: ``text`` in the clause language; or ``fact`` about a tensor (kind, subject, argument); or a tree."""

    text: str = ""
    fact: tuple[str, Any, Any] | None = None
    op: Literal["", "and", "or", "not"] = ""
    parts: tuple[Bool, ...] = ()
    sides: tuple[str, Int, Int] | None = field(default=None, compare=False, repr=False)
    """(operator, left, right) of a comparison, for intervals."""
    both: tuple[Bool, ...] = field(default=(), compare=False, repr=False)
    """The parts of a conjunction that is one text."""

    @property
    def plain(self) -> bool:
        """Whether it is wholly text."""
        return all(p.plain for p in self.parts) if self.op else self.fact is None

    @property
    def value(self) -> bool | None:
        return {"True": True, "False": False}.get(self.text)


TRUE, FALSE = Bool("True"), Bool("False")


def truth(value: bool) -> Bool:
    return TRUE if value else FALSE


def compare(op: str, a: Int, b: Int) -> Bool:
    """The comparison of the exact values (operands already converted)."""
    known = _compare_intervals(op, a, b)
    if known is not None:
        return truth(known)
    return Bool(f"({a.text} {op} {b.text})", sides=(op, a, b))


def _compare_intervals(op: str, a: Int, b: Int) -> bool | None:
    if a.text == b.text:
        return op in ("==", "<=", ">=")
    match op:
        case "<":
            if a.hi is not None and b.lo is not None and a.hi < b.lo:
                return True
            if a.lo is not None and b.hi is not None and a.lo >= b.hi:
                return False
        case "<=":
            found = _compare_intervals("<", b, a) if a.text != b.text else None
            return None if found is None else not found
        case ">":
            return _compare_intervals("<", b, a)
        case ">=":
            found = _compare_intervals("<", a, b)
            return None if found is None else not found
        case "==":
            if a.value is not None and a.value == b.value:
                return True
            if _compare_intervals("<", a, b) or _compare_intervals("<", b, a):
                return False
        case "!=":
            found = _compare_intervals("==", a, b)
            return None if found is None else not found
    return None


def land(a: Bool, b: Bool) -> Bool:
    if a.value is False or b.value is True:
        return a
    if b.value is False or a.value is True:
        return b
    if a.plain and b.plain:
        return Bool(f"({a.text} and {b.text})", both=(a, b))
    return Bool(op="and", parts=(a, b))


def lor(a: Bool, b: Bool) -> Bool:
    if a.value is True or b.value is False:
        return a
    if b.value is True or a.value is False:
        return b
    if a.plain and b.plain:
        return Bool(f"({a.text} or {b.text})")
    return Bool(op="or", parts=(a, b))


_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def lnot(a: Bool) -> Bool:
    if a.value is not None:
        return truth(not a.value)
    if a.op == "not":
        return a.parts[0]
    if a.plain:
        sides = None if a.sides is None else (_OPPOSITE[a.sides[0]], a.sides[1], a.sides[2])
        return Bool(_negated(a.text), sides=sides)
    return Bool(op="not", parts=(a,))


_OPPOSITE_NODE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
}  # fmt: skip


@lru_cache(maxsize=4096)
def _negated(text: str) -> str:
    node = ast.parse(text, mode="eval").body
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"({ast.unparse(node.operand)})"
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        opposite = ast.Compare(node.left, [_OPPOSITE_NODE[type(node.ops[0])]()], node.comparators)
        return f"({ast.unparse(opposite)})"
    return f"(not {text})"


def as_int(value: Bool, type_: str = "i32") -> Int:
    """A C bool (or what was promoted from one) as 0 or 1. The condition must be plain."""
    if value.value is not None:
        return const(int(value.value), type_)
    return Int(f"(1 if {value.text} else 0)", 0, 1, type_)


def as_bool(value: Int) -> Bool:
    node = ast.parse(value.text, mode="eval").body
    match node:
        case ast.IfExp(test=test, body=ast.Constant(value=1), orelse=ast.Constant(value=0)):
            return Bool(f"({ast.unparse(test)})")
    return compare("!=", value, const(0, value.type))


def choose(condition: Bool, a: Int, b: Int) -> Int:
    """``condition ? a : b`` of two values of one type."""
    if condition.value is not None:
        return a if condition.value else b
    if a.text == b.text:
        return a
    a, b = _narrowed(a, condition, True), _narrowed(b, condition, False)
    lo = None if a.lo is None or b.lo is None else min(a.lo, b.lo)
    hi = None if a.hi is None or b.hi is None else max(a.hi, b.hi)
    return Int(f"({a.text} if {condition.text} else {b.text})", lo, hi, a.type, a.taint | b.taint)


def known_int_range(symbols: dict[str, Any], name: str, low: int, high: int, meaning: str) -> Int:
    """An ``int`` symbol of known range that nobody may rename, made on first use."""
    from verifier.contracts.run import SymbolInfo

    if name not in symbols:
        symbols[name] = SymbolInfo("scalar", meaning, low=low, high=high, prefer=name)
    return symbol(name, low, high, "i32")


def _narrowed(value: Int, condition: Bool, holds: bool) -> Int:
    """The value with the interval it has where ``value < constant`` (or the like) holds or does not."""
    if condition.sides is None:
        return value
    op, left, right = condition.sides
    if value.text == right.text and left.value is not None:
        op, left, right = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op), right, left
    if value.text != left.text or right.value is None:
        return value
    if not holds:
        op = _OPPOSITE[op]
    lo, hi, bound = value.lo, value.hi, right.value
    if op in ("<", "<="):
        top = bound - (op == "<")
        hi = top if hi is None else min(hi, top)
    elif op in (">", ">="):
        low = bound + (op == ">")
        lo = low if lo is None else max(lo, low)
    return Int(value.text, lo, hi, value.type, value.taint)
