"""Expressions of a Python caller: syntax tree -> values.

Python's ints are exact (type ``py``); its floor division is followed only where nothing is negative.

Example: ``x.shape[0] * self.heads`` is a term over the symbols of both.
"""

from __future__ import annotations

import ast
from typing import Any

from verifier.contracts import tensors, torch_ops, views
from verifier.contracts.layers import Layer
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
from verifier.contracts.python_values import (
    BoundMethod,
    CppFunction,
    Dotted,
    Extension,
    PyClass,
    PyDict,
    PyFunction,
    PyList,
    PyObject,
    Scope,
    Super,
    constant,
    dotted,
    holds_code,
    plain,
)
from verifier.contracts.run import Dead, NotSimple, Refused
from verifier.contracts.values import (
    FALSE,
    PY,
    TRUE,
    Bool,
    Int,
    arith,
    as_int,
    choose,
    compare,
    const,
    convert,
    land,
    lnot,
    lor,
    truth,
)

_MAX_LOOP = 64


class Expressions(Decisions):
    """Calls, classes and assignments are left to the subclasses."""

    def call(self, node: ast.Call, scope: Scope, hint: str) -> Any:
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        raise NotImplementedError

    def find_method(self, cls: PyClass, name: str) -> PyFunction | None:
        raise NotImplementedError

    def class_attribute(self, cls: PyClass, name: str) -> Any:
        raise NotImplementedError

    def evaluate(self, node: ast.expr, scope: Scope, hint: str = "") -> Any:
        self.run.step()
        match node:
            case ast.Constant(value=value):
                return constant(value)
            case ast.Name(id=name):
                found = scope.find(name)
                return found if found is not None else Dotted(f"builtins.{name}")
            case ast.Attribute(value=base, attr=name):
                return self.attribute(self.evaluate(base, scope), name, node)
            case ast.Call():
                return self.call(node, scope, hint)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.evaluate(left, scope), self.evaluate(right, scope), node)
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(op, self.evaluate(operand, scope), node)
            case ast.BoolOp(op=op, values=values):
                return self._boolean(op, values, scope, node)
            case ast.Compare():
                return self._comparison(node, scope)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                condition = self.condition(self.evaluate(test, scope), node)
                known = self.run.evaluate(condition)
                if known is None and condition.plain:
                    a, b = self._try(body, scope), self._try(orelse, scope)
                    if isinstance(a, Int) and isinstance(b, Int):
                        return choose(condition, convert(a, PY), convert(b, PY))
                answer = self.decide(condition, node) if known is None else known
                return self.evaluate(body if answer else orelse, scope, hint)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                out: list[Any] = []
                for part in parts:
                    if isinstance(part, ast.Starred):
                        inner = self.sequence(self.evaluate(part.value, scope))
                        if inner is None:
                            return Unknown("a starred element")
                        out += inner
                    else:
                        out.append(self.evaluate(part, scope))
                return PyList(out) if isinstance(node, ast.List) else Items(tuple(out))
            case ast.Dict(keys=keys, values=values):
                table: dict[Any, Any] = {}
                for key, entry in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant):
                        table[key.value] = self.evaluate(entry, scope)
                return PyDict(table)
            case ast.Subscript(value=base, slice=index):
                return self._subscript(self.evaluate(base, scope), index, scope, node)
            case ast.Lambda():
                return PyFunction(node, scope)
            case (
                ast.ListComp(elt=element, generators=[generator])
                | ast.GeneratorExp(elt=element, generators=[generator])
            ):
                return self._comprehension(element, generator, scope)
            case ast.JoinedStr():
                return Text()
        return Unknown(f"{self.span(node)}: {type(node).__name__.lower()}")

    def _try(self, node: ast.expr, scope: Scope) -> Any:
        self.run.speculative += 1
        try:
            return self.evaluate(node, scope)
        except (NotSimple, Dead, Refused):
            return None
        finally:
            self.run.speculative -= 1

    def _comprehension(self, element: ast.expr, generator: ast.comprehension, scope: Scope) -> Any:
        items = self.sequence(self.evaluate(generator.iter, scope))
        if items is None or len(items) > _MAX_LOOP:
            return Unknown("a comprehension")
        out: list[Any] = []
        for item in items:
            inner = Scope({}, scope)
            self.assign(generator.target, item, inner)
            if all(self.decide(self.evaluate(t, inner), t) for t in generator.ifs):
                out.append(self.evaluate(element, inner))
        return PyList(out)

    def _unary(self, op: ast.unaryop, value: Any, node: ast.expr) -> Any:
        match op, value:
            case ast.Not(), _:
                return lnot(self.condition(value, node))
            case ast.USub(), Int():
                return arith("-", const(0, PY), convert(value, PY), PY)
            case ast.USub(), Float(value=number):
                return Float(None if number is None else -number)
            case ast.USub(), Tensor():
                return torch_ops.call_function(self.run, "neg", [value], {}, self.span(node))
            case ast.UAdd(), _:
                return value
        return Unknown("a unary operator")

    def _boolean(self, op: ast.boolop, values: list[ast.expr], scope: Scope, node: ast.expr) -> Any:
        """``and``/``or`` of conditions; of other values, the operand that Python would return."""
        stop = isinstance(op, ast.Or)
        out: Bool | None = None
        for index, part in enumerate(values):
            value = self.evaluate(part, scope) if out is None else self._try(part, scope)
            if value is None and out is not None:  # evaluating it would assume or change something
                if self.decide(out, node) == stop:
                    return truth(stop)
                out, value = None, self.evaluate(part, scope)
            condition = self.condition(value, node)
            known = self.run.evaluate(condition)
            if not isinstance(value, Bool):
                if (
                    index == len(values) - 1
                    or (known if known is not None else self.decide(condition, node)) == stop
                ):
                    return value
                continue
            if known is not None:
                if known == stop:
                    return truth(stop) if out is None else (lor(out, TRUE) if stop else land(out, FALSE))
                continue
            out = condition if out is None else (lor(out, condition) if stop else land(out, condition))
        return out if out is not None else truth(not stop)

    def _comparison(self, node: ast.Compare, scope: Scope) -> Any:
        left = self.evaluate(node.left, scope)
        out = TRUE
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(right_node, scope)
            one = self._compare(op, left, right, node)
            if not isinstance(one, Bool):
                return one
            out = land(out, one)
            left = right
        return out

    def _compare(self, op: ast.cmpop, a: Any, b: Any, node: ast.expr) -> Any:
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
        sign = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}[
            type(op)
        ]
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
            joined = self.binary(op, plain(a), plain(b), node)
            return PyList(list(joined.items)) if isinstance(joined, Items) else joined
        signs = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}
        match a, b:
            case Int(), Int():
                return self._int_binary(op, convert(a, PY), convert(b, PY), node)
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
                return self._float_math(op, a, b)
        return Unknown(f"{self.span(node)}: an operator")

    def _int_binary(self, op: ast.operator, a: Int, b: Int, node: ast.AST) -> Any:
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
                return self._float_math(op, a, b)
            case ast.Pow():
                if a.value is not None and b.value is not None and 0 <= b.value <= 64:
                    return const(a.value**b.value, PY)
                if b.value == 2:
                    return arith("*", a, a, PY)
        return Unknown("an operator")

    def _slice(self, base: Tensor, parts: list[ast.expr], scope: Scope, node: ast.expr) -> Any:
        """``x[a:b, :, i]``: a part of the memory, with gaps in it unless ``contiguous()`` copies it."""
        dims = tensors.dims_of(self.run, base)
        hint = f"{base.host_name}_slice"
        if dims is None or len(parts) > len(dims):
            return tensors.opaque(self.run, hint, "a slice", base.dtype)
        out: list[Int] = []
        for part, dim in zip(parts, dims, strict=False):
            if isinstance(part, ast.Slice):
                ends = [None if p is None else self.evaluate(p, scope) for p in (part.lower, part.upper)]
                size = self._slice_size(dim, ends[0], ends[1]) if part.step is None else None
                if size is None:
                    return tensors.opaque(self.run, hint, "a slice", base.dtype)
                out.append(size)
            elif not isinstance(self.evaluate(part, scope), Int):
                return tensors.opaque(self.run, hint, "a slice", base.dtype)
        return views.part(self.run, base, (*out, *dims[len(parts) :]), hint)

    def _slice_size(self, dim: Int, low: Any, high: Any) -> Int | None:
        """Elements of ``low:high`` along a dim; Python clips both ends to the dim."""
        if low is None and high is None:
            return dim
        zero = const(0, PY)
        first = zero if low is None else low
        last = dim if high is None else high
        if not isinstance(first, Int) or not isinstance(last, Int):
            return None
        ends: list[Int] = []
        for end in (first, last):
            if end.value == 0 or end is dim:
                ends.append(convert(end, PY))
                continue
            if end.lo is None or (end.lo < 0 and end.value is None):
                return None
            from_end = arith("+", dim, convert(end, PY), PY) if end.lo < 0 else convert(end, PY)
            clipped = (
                arith("min", from_end, convert(dim, PY), PY)
                if from_end is not None and from_end.text != dim.text
                else dim
            )
            inside = (
                arith("max", clipped, zero, PY)
                if clipped is not None and (clipped.lo is None or clipped.lo < 0)
                else clipped
            )
            if inside is None:
                return None
            ends.append(convert(inside, PY))
        size = arith("-", ends[1], ends[0], PY)
        if size is None or (size.lo is not None and size.lo >= 0):
            return size
        if last is dim:  # the start was clipped to it
            return Int(size.text, 0, size.hi, PY, size.taint)
        return arith("max", size, zero, PY)

    def _float_math(self, op: ast.operator, a: Any, b: Any) -> Float:
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

    def _subscript(self, base: Any, index: ast.expr, scope: Scope, node: ast.expr) -> Any:
        if isinstance(index, ast.Slice):
            items = self.sequence(base)
            bounds = [
                None if p is None else self.evaluate(p, scope) for p in (index.lower, index.upper, index.step)
            ]
            if items is not None and all(
                b is None or (isinstance(b, Int) and b.value is not None) for b in bounds
            ):
                return Items(tuple(items[slice(*(None if b is None else b.value for b in bounds))]))
            if isinstance(base, Tensor):
                return self._slice(base, [index], scope, node)
            return Unknown("a slice")
        if isinstance(base, Tensor) and isinstance(index, ast.Tuple):
            return self._slice(base, index.elts, scope, node)
        key = self.evaluate(index, scope)
        match base:
            case Sizes(tensor=tensor):
                return tensors.size(self.run, tensor, key)
            case Items(items=held) | PyList(items=held) if isinstance(key, Int) and key.value is not None:
                return (
                    held[key.value]
                    if -len(held) <= key.value < len(held)
                    else Unknown("an index out of range")
                )
            case PyDict(items=table):
                found = key.value if isinstance(key, Text | Int) else None
                return table.get(found, Unknown("a missing key"))
            case Tensor():
                return views.row(self.run, base, key, self.span(node), f"{base.host_name}_row")
            case Layer(kind="Sequential" | "ModuleList", attributes=attributes) if (
                isinstance(key, Int) and key.value is not None
            ):
                parts = [v for k, v in attributes.items() if k.startswith("_")]
                return parts[key.value] if -len(parts) <= key.value < len(parts) else Unknown("a layer")
        if holds_code(base):
            raise Refused(f"{self.span(node)}: which part of the model this is, is not followed")
        return Unknown(f"{self.span(node)}: an element")

    def attribute(self, owner: Any, name: str, node: ast.AST) -> Any:
        match owner:
            case Dotted(name=base):
                return dotted(f"{base}.{name}")
            case Extension():
                return CppFunction(name)
            case PyObject():
                if self.running and (id(owner), name) not in self.assigned:
                    self.read_first.add((id(owner), name))
                if name in owner.attributes:
                    return owner.attributes[name]
                method = self.find_method(owner.cls, name)
                if method is not None:
                    static = any(
                        ast.unparse(d) == "staticmethod" for d in getattr(method.node, "decorator_list", ())
                    )
                    return PyFunction(method.node, method.scope, None if static else owner)
                return self.training() if name == "training" else BoundMethod(owner, name)
            case PyClass():
                method = self.find_method(owner, name)
                return method or self.class_attribute(owner, name) or BoundMethod(owner, name)
            case Layer():
                if name in owner.attributes:
                    return owner.attributes[name]
                return BoundMethod(owner, name)
            case Tensor():
                match name:
                    case "shape":
                        return Sizes(owner)
                    case "dtype":
                        return Dtype(tensors.dtype_name(self.run, owner), owner)
                    case "device":
                        return Unknown("device")
                    case "is_cuda":
                        return Bool(fact=("cuda", owner.key, None))
                    case "T" | "mT" | "data" | "ndim":
                        return torch_ops.call_method(self.run, owner, name, [], {}, self.span(node))
                return BoundMethod(owner, name)
            case Super(object=instance, cls=cls):
                for parent in cls.node.bases:
                    found = self.evaluate(parent, cls.scope)
                    if isinstance(found, PyClass):
                        method = self.find_method(found, name)
                        if method is not None:
                            return PyFunction(method.node, method.scope, instance)
                return BoundMethod(owner, name)
        return BoundMethod(owner, name)
