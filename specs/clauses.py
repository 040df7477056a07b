"""The clause language: Python expression syntax over mathematical integers.

Grammar: integer constants, symbols (identifiers), ``+ - *``, ``//`` and ``%`` (C's truncating division and remainder),
comparisons (chains allowed), ``and or not``, ``a if c else b``, and the functions

* ``i8 u8 i16 u16 i32 u32 i64 u64 (e)`` - conversion to the C type; out of range is an obligation (and wraps when run),
* ``min max abs (…)``, ``ceil_div(a, b)`` = ``(a + b - 1) // b``, ``pow2(e)`` (e is a power of two), ``disjoint(a, b)``.

Everything else is refused with :class:`ClauseError`. Text in -> checked ``ast`` out; concrete evaluation lives here,
lowering to terms in ``verifier.symex.clauses``.

Example::

    evaluate("ceil_div(i32(n), 256)", {"n": 1000})  # 4
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache

from specs.contract import ConcreteBuffer, ConcreteLaunch, Contract

INT_TYPES: dict[str, tuple[int, bool]] = {
    f"{'i' if signed else 'u'}{bits}": (bits, signed) for bits in (8, 16, 32, 64) for signed in (True, False)
}
FUNCTIONS = {
    **dict.fromkeys(INT_TYPES, 1),
    "abs": 1,
    "ceil_div": 2,
    "pow2": 1,
    "disjoint": 2,
    "min": -1,
    "max": -1,
}
_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_COMPARE = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


class ClauseError(ValueError):
    """A clause that is not in the language; the message says which part and what is allowed."""


class ClauseUndefined(ArithmeticError):
    """A clause whose value is not defined for these symbols (division by zero, unknown symbol)."""


def int_range(bits: int, signed: bool) -> tuple[int, int]:
    """Inclusive range of a C integer type."""
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


def wrap(value: int, bits: int, signed: bool) -> int:
    """``value`` reduced modulo 2**bits into the type's range."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def trunc_div(a: int, b: int) -> int:
    """C's integer division (rounds towards zero). Raises ClauseUndefined for b == 0."""
    if b == 0:
        raise ClauseUndefined("division by zero")
    q = abs(a) // abs(b)
    return q if (a >= 0) == (b > 0) else -q


@lru_cache(maxsize=4096)
def parse(text: str) -> ast.expr:
    """The checked syntax tree of a clause. Raises ClauseError."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ClauseError(f"not an expression: {text!r}") from error
    _check(node, text)
    return node


def _check(node: ast.expr, text: str) -> None:
    match node:
        case ast.Constant(value=bool() | int()) | ast.Name():
            return
        case ast.BinOp(left=a, op=op, right=b) if isinstance(op, _BINARY):
            parts = [a, b]
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.UAdd(), operand=a):
            parts = [a]
        case ast.BoolOp(values=parts):
            pass
        case ast.Compare(left=a, ops=ops, comparators=rest) if all(isinstance(o, _COMPARE) for o in ops):
            parts = [a, *rest]
        case ast.IfExp(test=a, body=b, orelse=c):
            parts = [a, b, c]
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in FUNCTIONS:
            want = FUNCTIONS[name]
            if (want >= 0 and len(parts) != want) or not parts:
                raise ClauseError(
                    f"{name} takes {want if want >= 0 else 'one or more'} argument(s) in {text!r}"
                )
        case _:
            raise ClauseError(
                f"{ast.unparse(node)!r} is not part of the clause language in {text!r}; "
                f"use integers, symbols, + - * // %, comparisons, and/or/not and {', '.join(sorted(FUNCTIONS))}"
            )
    for part in parts:
        _check(part, text)


def names(text: str) -> set[str]:
    """The symbols a clause mentions."""
    return {n.id for n in ast.walk(parse(text)) if isinstance(n, ast.Name)} - set(FUNCTIONS)


def evaluate(
    text: str,
    symbols: Mapping[str, int],
    on_conversion: Callable[[str, int], None] | None = None,
) -> int:
    """The value of a clause (booleans as 0/1). Conversions wrap; ``on_conversion(type, exact)`` is told of each wrap.

    Raises ClauseError for text outside the language, ClauseUndefined where the value is not defined.
    """
    return _value(parse(text), symbols, on_conversion)


def _value(node: ast.expr, env: Mapping[str, int], told: Callable[[str, int], None] | None) -> int:
    match node:
        case ast.Constant(value=int(v)):
            return int(v)
        case ast.Name(id=name):
            if name not in env:
                raise ClauseUndefined(f"unknown symbol {name}")
            return env[name]
        case ast.BinOp(left=a, op=op, right=b):
            x, y = _value(a, env, told), _value(b, env, told)
            match op:
                case ast.Add():
                    return x + y
                case ast.Sub():
                    return x - y
                case ast.Mult():
                    return x * y
                case ast.FloorDiv():
                    return trunc_div(x, y)
                case _:
                    return x - y * trunc_div(x, y)
        case ast.UnaryOp(op=op, operand=a):
            x = _value(a, env, told)
            return int(not x) if isinstance(op, ast.Not) else -x if isinstance(op, ast.USub) else x
        case ast.BoolOp(op=op, values=values):
            want = isinstance(op, ast.Or)
            return int(next((want for v in values if bool(_value(v, env, told)) == want), not want))
        case ast.Compare(left=a, ops=ops, comparators=rest):
            left = _value(a, env, told)
            for o, r in zip(ops, rest, strict=True):
                right = _value(r, env, told)
                if not _compare(o, left, right):
                    return 0
                left = right
            return 1
        case ast.IfExp(test=c, body=a, orelse=b):
            return _value(a if _value(c, env, told) else b, env, told)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _apply(name, args, env, told)
    raise ClauseError(f"not in the clause language: {ast.unparse(node)}")


def _compare(op: ast.cmpop, a: int, b: int) -> bool:
    match op:
        case ast.Lt():
            return a < b
        case ast.LtE():
            return a <= b
        case ast.Gt():
            return a > b
        case ast.GtE():
            return a >= b
        case ast.Eq():
            return a == b
        case _:
            return a != b


def _apply(
    name: str, args: list[ast.expr], env: Mapping[str, int], told: Callable[[str, int], None] | None
) -> int:
    if name == "disjoint":
        return 1
    v = [_value(a, env, told) for a in args]
    if name in INT_TYPES:
        bits, signed = INT_TYPES[name]
        wrapped = wrap(v[0], bits, signed)
        if wrapped != v[0] and told is not None:
            told(name, v[0])
        return wrapped
    match name:
        case "min":
            return min(v)
        case "max":
            return max(v)
        case "abs":
            return abs(v[0])
        case "ceil_div":
            return trunc_div(v[0] + v[1] - 1, v[1])
        case _:
            return int(v[0] > 0 and v[0] & (v[0] - 1) == 0)


def holds(contract: Contract, symbols: Mapping[str, int]) -> bool:
    """Whether every precondition of the contract holds for these symbols (undefined counts as no)."""
    try:
        return all(evaluate(c.text, symbols) for c in contract.requires)
    except ClauseUndefined:
        return False


def instantiate(contract: Contract, symbols: Mapping[str, int]) -> ConcreteLaunch:
    """The launch for these symbol values. Raises ClauseUndefined / ClauseError where a quantity has no value."""

    def val(text: str) -> int:
        return evaluate(text, symbols)

    launch = contract.launch
    gx, gy, gz = (val(t) for t in launch.grid)
    bx, by, bz = (val(t) for t in launch.block)
    return ConcreteLaunch(
        kernel=contract.kernel,
        instantiation=contract.instantiation,
        grid=(gx, gy, gz),
        block=(bx, by, bz),
        shared_bytes=val(launch.shared_bytes),
        buffers=tuple(
            ConcreteBuffer(
                b.param,
                b.dtype,
                val(b.extent),
                tuple(val(t) for t in b.shape),
                b.initialized,
                b.storage,
                {},
                val(b.content[0]) if b.content else None,
                val(b.content[1]) if b.content else None,
            )
            for b in contract.buffers
        ),
        scalars={s.param: None if s.value is None else val(s.value) for s in contract.scalars},
        symbols=dict(symbols),
    )
