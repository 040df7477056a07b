"""Operators of a Python caller: arithmetic, comparisons, tensors and lists.

Python's ints are exact (type ``py``); its floor division is followed only where nothing is negative. An operator changes nothing:
objects whose class could say otherwise are refused.

Example: ``x.shape[0] * self.heads`` is a term over the symbols of both.
"""

from __future__ import annotations

import ast
from typing import Any, NoReturn

from verifier.contracts import tensors, torch_ops
from verifier.contracts.objects import (
    Dtype,
    Float,
    Items,
    Null,
    Sizes,
    Tensor,
    Text,
    Unknown,
)
from verifier.contracts.python_decisions import Decisions
from verifier.contracts.python_values import PyList, reaches
from verifier.contracts.run import Refused
from verifier.contracts.values import (
    PY,
    Bool,
    Int,
    arith,
    as_int,
    compare,
    const,
    convert,
    lnot,
    truth,
)

_SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class Operators(Decisions):
    """Of values that are known already."""

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        raise Refused(f"{self.span(node)}: {what} is not followed")

    def unary(self, op: ast.unaryop, value: Any, node: ast.expr) -> Any:
        match op, value:
            case ast.Not(), _:
                return lnot(self.condition(value, node))
            case ast.USub(), Int():
                return arith("-", const(0, PY), convert(value, PY), PY)
            case ast.USub(), Float(value=number, pins=pins):
                return Float(None if number is None else -number, pins=pins)
            case ast.USub(), Tensor():
                return torch_ops.call_function(self.run, "neg", [value], {}, self.span(node))
            case ast.UAdd(), Int() | Float():
                return value
        if reaches(value):
            self.refuse(node, "an operator of an object")
        return Unknown("a unary operator")

    def compared(self, op: ast.cmpop, a: Any, b: Any, node: ast.expr) -> Any:
        match op:
            case ast.Is() | ast.IsNot():
                if isinstance(b, Null):
                    present = self.not_none(a)
                    if present is not None:
                        return present if isinstance(op, ast.IsNot) else lnot(present)
                return Unknown("is")
            case ast.In() | ast.NotIn():
                items = self.sequence(b)
                if items is not None and isinstance(a, Text) and all(isinstance(i, Text) for i in items):
                    found = truth(any(i.value == a.value for i in items))
                    return found if isinstance(op, ast.In) else lnot(found)
                return Unknown("in")
        sign = _SIGNS[type(op)]
        match a, b:
            case Int(), Int():
                for one, other in ((a, b), (b, a)):
                    shape = tensors.rank_symbol(one, self.run)
                    if shape and other.value is not None and sign in ("==", "!="):
                        same = Bool(fact=("rank", shape, other.value))
                        return same if sign == "==" else lnot(same)
                return compare(sign, convert(a, PY), convert(b, PY))
            case Bool(), Bool() if a.plain and b.plain:
                return compare(sign, as_int(a), as_int(b))
            case Text(value=x), Text(value=y) if sign in ("==", "!="):
                return truth((x == y) == (sign == "=="))
            case Sizes(tensor=x), Sizes(tensor=y) if sign in ("==", "!="):
                same = tensors.equal_shapes(self.run, x, y)
                return same if sign == "==" else lnot(same)
            case Dtype(), Dtype() if sign in ("==", "!="):
                same = tensors.same_dtype(self.run, a, b)
                return same if sign == "==" else lnot(same)
            case ((Float() | Int()), (Float() | Int())):
                (p, left), (q, right) = self.number(a), self.number(b)
                if p is not None and q is not None:
                    self.pin(left | right, node)
                    return truth(
                        {"==": p == q, "!=": p != q, "<": p < q, "<=": p <= q, ">": p > q, ">=": p >= q}[sign]
                    )
        return Unknown(f"{self.span(node)}: a comparison")

    def binary(self, op: ast.operator, a: Any, b: Any, node: ast.AST) -> Any:
        if isinstance(a, Bool) and a.plain:
            a = as_int(a, PY)
        if isinstance(b, Bool) and b.plain and isinstance(a, Int):
            b = as_int(b, PY)
        if isinstance(a, PyList) or isinstance(b, PyList):
            one, other = (Items(tuple(v.items)) if isinstance(v, PyList) else v for v in (a, b))
            joined = self.binary(op, one, other, node)
            return PyList(list(joined.items)) if isinstance(joined, Items) else joined
        signs = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}
        match a, b:
            case Int(), Int():
                return self.int_binary(op, convert(a, PY), convert(b, PY), node)
            case (Tensor(), _) | (_, Tensor()):
                names = {
                    ast.Add: "add",
                    ast.Sub: "sub",
                    ast.Mult: "mul",
                    ast.Div: "div",
                    ast.Pow: "pow",
                    ast.MatMult: "matmul",
                }
                return torch_ops.call_function(
                    self.run, names.get(type(op), "unknown"), [a, b], {}, self.span(node)
                )
            case Text(value=x), Text(value=y) if isinstance(op, ast.Add):
                return Text(x + y)
            case Items(items=x), Items(items=y) if isinstance(op, ast.Add):
                return Items((*x, *y))
            case (Sizes(), Items()) | (Items(), Sizes()) | (Sizes(), Sizes()) if isinstance(op, ast.Add):
                left, right = self.sequence(a), self.sequence(b)
                return (
                    Items((*left, *right)) if left is not None and right is not None else Unknown("a shape")
                )
            case Items(items=x), Int() if (
                isinstance(op, ast.Mult) and b.value is not None and 0 <= b.value <= 64
            ):
                return Items(x * b.value)
            case (Float() | Int(), Float() | Int()) if type(op) in signs or isinstance(op, ast.Div | ast.Pow):
                return self.float_math(op, a, b)
        if reaches(a) or reaches(b):
            self.refuse(node, "an operator of an object")
        return Unknown(f"{self.span(node)}: an operator")

    def int_binary(self, op: ast.operator, a: Int, b: Int, node: ast.AST) -> Any:
        match op:
            case ast.Add():
                return arith("+", a, b, PY)
            case ast.Sub():
                return arith("-", a, b, PY)
            case ast.Mult():
                return arith("*", a, b, PY)
            case ast.FloorDiv() | ast.Mod():
                # Python floors, the clause language truncates: equal only where nothing is negative
                if a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo >= 0:
                    if b.lo < 1:
                        self.run.assume(compare(">=", b, const(1, PY)), self.span(node))
                        b = Int(b.text, 1, b.hi, PY, b.taint)
                    return arith("/" if isinstance(op, ast.FloorDiv) else "%", a, b, PY)
                if a.value is not None and b.value:
                    return const(
                        a.value // b.value if isinstance(op, ast.FloorDiv) else a.value % b.value, PY
                    )
                return Unknown("a division of what may be negative")
            case ast.Div():
                return self.float_math(op, a, b)
            case ast.Pow():
                if a.value is not None and b.value is not None and 0 <= b.value <= 64:
                    return const(a.value**b.value, PY)
                if b.value == 2:
                    return arith("*", a, a, PY)
        return Unknown("an operator")

    def float_math(self, op: ast.operator, a: Any, b: Any) -> Float:
        (x, left), (y, right) = self.number(a), self.number(b)
        if x is None or y is None:
            return Float()
        try:
            match op:
                case ast.Add():
                    result = x + y
                case ast.Sub():
                    result = x - y
                case ast.Mult():
                    result = x * y
                case ast.Div():
                    result = x / y
                case ast.Pow():
                    result = x**y
                case ast.FloorDiv():
                    result = x // y
                case _:
                    return Float()
        except (ArithmeticError, ValueError):
            return Float()
        return Float(float(result), pins=left | right) if isinstance(result, int | float) else Float()
