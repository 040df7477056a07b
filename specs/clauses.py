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
    try:
        return _function(text)(symbols, on_conversion)
    except KeyError as error:
        raise ClauseUndefined(f"unknown symbol {error.args[0]}") from None


_Told = Callable[[str, int], None] | None


@lru_cache(maxsize=1 << 14)
def _function(text: str) -> Callable[[Mapping[str, int], _Told], int]:
    """The clause as a Python function of (symbols, told): sampling evaluates the same texts many thousand times.

    Only what :func:`parse` let through is compiled, and its names are keys of the symbols, never Python names.
    """
    arguments = ast.arguments([], [ast.arg("symbols"), ast.arg("told")], None, [], [], None, [])
    whole = ast.Expression(ast.Lambda(arguments, _python(parse(text))))
    code = compile(ast.fix_missing_locations(whole), "<clause>", "eval")
    function: Callable[[Mapping[str, int], _Told], int] = eval(code, _GLOBALS)
    return function


def _python(node: ast.expr) -> ast.expr:
    match node:
        case ast.Constant(value=int(v)):
            return ast.Constant(int(v))
        case ast.Name(id=name):
            return ast.Subscript(_name("symbols"), ast.Constant(name), ast.Load())
        case ast.BinOp(left=a, op=ast.FloorDiv(), right=b):
            return _call("trunc_div", _python(a), _python(b))
        case ast.BinOp(left=a, op=ast.Mod(), right=b):
            return _call("remainder", _python(a), _python(b))
        case ast.BinOp(left=a, op=op, right=b):
            return ast.BinOp(_python(a), op, _python(b))
        case ast.UnaryOp(op=ast.UAdd(), operand=a):
            return _python(a)
        case ast.UnaryOp(op=ast.USub(), operand=a):
            return ast.UnaryOp(ast.USub(), _python(a))
        case ast.UnaryOp(operand=a):
            return ast.IfExp(_python(a), ast.Constant(0), ast.Constant(1))
        case ast.BoolOp(op=op, values=values):
            return _number(ast.BoolOp(op, [_python(v) for v in values]))
        case ast.Compare(left=a, ops=ops, comparators=rest):
            return _number(ast.Compare(_python(a), ops, [_python(r) for r in rest]))
        case ast.IfExp(test=c, body=a, orelse=b):
            return ast.IfExp(_python(c), _python(a), _python(b))
        case ast.Call(func=ast.Name(id="disjoint")):
            return ast.Constant(1)
        case ast.Call(func=ast.Name(id=("min" | "max") as name), args=args):
            return _call(name, ast.Tuple([_python(a) for a in args], ast.Load()))
        case ast.Call(func=ast.Name(id=name), args=args):
            more = [_name("told")] if name in INT_TYPES else []
            return _call(name, *(_python(a) for a in args), *more)
    raise ClauseError(f"not in the clause language: {ast.unparse(node)}")


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(_name(name), list(arguments), [])


def _number(truth: ast.expr) -> ast.expr:
    return ast.IfExp(truth, ast.Constant(1), ast.Constant(0))


def _conversion(name: str) -> Callable[[int, _Told], int]:
    bits, signed = INT_TYPES[name]
    low, high = int_range(bits, signed)

    def convert(value: int, told: _Told) -> int:
        if low <= value <= high:
            return value
        if told is not None:
            told(name, value)
        return wrap(value, bits, signed)

    return convert


_GLOBALS: dict[str, object] = {
    "__builtins__": {},
    **{name: _conversion(name) for name in INT_TYPES},
    "min": min,
    "max": max,
    "abs": abs,
    "ceil_div": lambda a, b: trunc_div(a + b - 1, b),
    "pow2": lambda a: int(a > 0 and a & (a - 1) == 0),
    "trunc_div": trunc_div,
    "remainder": lambda a, b: a - b * trunc_div(a, b),
}


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
