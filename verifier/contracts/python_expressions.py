"""Expressions of a Python caller: syntax tree -> values.

Python's ints are exact (type ``py``); its floor division is followed only where nothing is negative.

Example: ``x.shape[0] * self.heads`` is a term over the symbols of both.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from verifier.contracts import tensors, views
from verifier.contracts.layers import Layer, births
from verifier.contracts.objects import (
    Items,
    Null,
    Sizes,
    Tensor,
    Text,
    Unknown,
)
from verifier.contracts.python_operators import Operators
from verifier.contracts.python_state import Purity
from verifier.contracts.python_values import (
    BUILTINS,
    Dotted,
    Hidden,
    PyDict,
    PyFunction,
    PyIterator,
    PyList,
    Scope,
    constant,
    key_of,
    reaches,
)
from verifier.contracts.run import Dead, NotSimple, Refused
from verifier.contracts.values import (
    FALSE,
    PY,
    TRUE,
    Bool,
    Int,
    arith,
    choose,
    const,
    convert,
    land,
    lor,
    truth,
)

MAX_LOOP = 64


class Expressions(Operators):
    """Calls, classes and assignments are left to the subclasses.

    Every kind of expression is followed or refused by name; one that gives an Unknown has changed nothing.
    """

    def call(self, node: ast.Call, scope: Scope, hint: str) -> Any:
        raise NotImplementedError

    def attribute(self, owner: Any, name: str, node: ast.AST) -> Any:
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        raise NotImplementedError

    def function(self, node: ast.FunctionDef | ast.Lambda, scope: Scope) -> PyFunction:
        raise NotImplementedError

    def purity(self, scope: Scope) -> Purity:
        def dotted(node: ast.expr) -> str:
            match node:
                case ast.Name(id=name):
                    found = scope.find(name)
                    return found.name if isinstance(found, Dotted) else ""
                case ast.Attribute(value=base, attr=name):
                    inner = dotted(base)
                    return f"{inner}.{name}" if inner else ""
            return ""

        return Purity(self.own_names, lambda name: scope.find(name) is not None, dotted)

    def evaluate(self, node: ast.expr, scope: Scope, hint: str = "") -> Any:
        self.run.step()
        match node:
            case ast.Constant(value=value):
                return constant(value)
            case ast.Name(id=name):
                return self.name(node, name, scope)
            case ast.Attribute(value=base, attr=name):
                return self.attribute(self.evaluate(base, scope), name, node)
            case ast.Call():
                return self.call(node, scope, hint)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.evaluate(left, scope), self.evaluate(right, scope), node)
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(op, self.evaluate(operand, scope), node)
            case ast.BoolOp(op=op, values=values):
                return self._boolean(op, values, scope, node)
            case ast.Compare():
                return self._comparison(node, scope)
            case ast.IfExp():
                return self._choice(node, scope, hint)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                out = self.elements(parts, scope)
                if out is None:
                    return Unknown("a starred element")
                return PyList(out) if isinstance(node, ast.List) else Items(tuple(out))
            case ast.Set(elts=parts):
                held = self.elements(parts, scope)
                if held is not None and any(reaches(v) for v in held):
                    self.refuse(node, "a set of objects")
                return Unknown("a set")
            case ast.Dict(keys=keys, values=values):
                return self._dictionary(node, keys, values, scope)
            case ast.Subscript(value=base, slice=index):
                return self._subscript(self.evaluate(base, scope), index, scope, node)
            case ast.Lambda():
                return self.function(node, scope)
            case ast.NamedExpr(target=target, value=value):
                if scope.kind == "comprehension" or self.run.speculative:
                    self.refuse(node, "an assignment inside of this expression")
                found = self.evaluate(value, scope, target.id)
                self.assign(target, found, scope)
                return found
            case ast.ListComp(elt=element, generators=generators):
                return self.comprehension(element, generators, scope, node)
            case ast.GeneratorExp():
                self.refuse(node, "a generator that is kept")
            case ast.JoinedStr(values=values):
                return self._text(values, scope)
            case (
                ast.SetComp() | ast.DictComp() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.FormattedValue()
                | ast.Starred() | ast.Slice()
            ):  # fmt: skip
                self.refuse(node, type(node).__name__.lower())
            case _:
                self.refuse(node, type(node).__name__.lower())

    def name(self, node: ast.AST, name: str, scope: Scope) -> Any:
        owner = scope.owner(name)
        if owner is None:
            if name not in BUILTINS:
                if name in self.set_somewhere:
                    raise Dead  # all that binds names is followed, so Python raises a NameError here
                self.refuse(node, f"the name {name}, which is not set here,")
            return Dotted(f"builtins.{name}")
        value = owner.names[name]
        if isinstance(value, Hidden):
            self.refuse(node, value.why)
        return self.recall(owner, name, self.kept.shared, value, node) if owner.kind == "module" else value

    def elements(self, parts: Sequence[ast.expr], scope: Scope) -> list[Any] | None:
        """The values of a list; None where a starred part is not followed."""
        out: list[Any] = []
        whole = True
        for part in parts:
            if not isinstance(part, ast.Starred):
                out.append(self.kept_value(self.evaluate(part, scope), part))
                continue
            value = self._whole(part.value, scope)
            inner = self.sequence(value)
            if inner is None and reaches(value):
                self.refuse(part, "what is starred here")
            whole = whole and inner is not None
            out += inner or []
        if not whole and any(reaches(v) for v in out):
            self.refuse(parts[0], "a list of objects with a starred part")
        return out if whole else None

    def _whole(self, node: ast.expr, scope: Scope) -> Any:
        """A value that is gone through at once, so that a generator is a list."""
        if isinstance(node, ast.GeneratorExp):
            return self.comprehension(node.elt, node.generators, scope, node)
        return self.evaluate(node, scope)

    def kept_value(self, value: Any, node: ast.AST) -> Any:
        """A value that is put somewhere: an iterator would be used up there."""
        if isinstance(value, PyIterator):
            self.refuse(node, "an iterator that is kept")
        return value

    def _dictionary(
        self, node: ast.AST, keys: Sequence[ast.expr | None], values: Sequence[ast.expr], scope: Scope
    ) -> PyDict:
        table: dict[Any, Any] = {}
        for key, entry in zip(keys, values, strict=True):
            if key is None:
                more = self.evaluate(entry, scope)
                if not isinstance(more, PyDict):
                    self.refuse(entry, "what is starred here")
                table |= more.items
                continue
            found = key_of(self.evaluate(key, scope))
            if found is None:
                self.refuse(key, "a key that is no known text or number")
            table[found] = self.kept_value(self.evaluate(entry, scope), entry)
        return PyDict(table)

    def _text(self, values: Sequence[ast.expr], scope: Scope) -> Any:
        """An f-string: known where each part is a known text or number without a format."""
        out: str | None = ""
        for part in values:
            match part:
                case ast.Constant(value=str(text)):
                    out = None if out is None else out + text
                case ast.FormattedValue(value=inner, conversion=conversion, format_spec=spec):
                    value = self.evaluate(inner, scope)
                    if reaches(value):
                        self.refuse(part, "the text of an object")
                    if isinstance(spec, ast.JoinedStr):
                        self._text(spec.values, scope)
                    known = key_of(value)
                    plain_part = known is not None and conversion == -1 and spec is None
                    out = f"{out}{known}" if out is not None and plain_part else None
                case _:
                    self.refuse(part, "a part of a text")
        return Unknown("a text") if out is None else Text(out)

    def _choice(self, node: ast.IfExp, scope: Scope, hint: str) -> Any:
        condition = self.condition(self.evaluate(node.test, scope), node)
        known = self.run.evaluate(condition)
        if known is None and condition.plain:
            a, b = self._try(node.body, scope), self._try(node.orelse, scope)
            if isinstance(a, Int) and isinstance(b, Int):
                return choose(condition, convert(a, PY), convert(b, PY))
        answer = self.decide(condition, node) if known is None else known
        return self.evaluate(node.body if answer else node.orelse, scope, hint)

    def _try(self, node: ast.expr, scope: Scope) -> Any:
        """The value, or None where finding it would assume or change something."""
        before = self.tried
        if not self.run.speculative:
            self.tried = births()
        self.run.speculative += 1
        try:
            return self.evaluate(node, scope)
        except (NotSimple, Dead, Refused):
            return None
        finally:
            self.run.speculative -= 1
            self.tried = before

    def comprehension(
        self, element: ast.expr, generators: Sequence[ast.comprehension], scope: Scope, node: ast.expr
    ) -> Any:
        if len(generators) != 1 or generators[0].is_async:
            self.refuse(node, "a comprehension with several loops")
        (generator,) = generators
        source = self._whole(generator.iter, scope)
        items = self.sequence(source)
        if items is None:
            pure = self.purity(scope)
            if all(pure.expression(e) for e in (element, *generator.ifs)):
                return (
                    Hidden("a comprehension over objects") if reaches(source) else Unknown("a comprehension")
                )
            self.refuse(node, "a comprehension over something that is not known")
        if len(items) > MAX_LOOP:
            self.refuse(node, "a long comprehension")
        out: list[Any] = []
        inner = Scope({}, scope.around(), kind="comprehension")
        with self.going_through(source):
            for item in items:
                self.assign(generator.target, item, inner)
                if all(self.decide(self.evaluate(t, inner), t) for t in generator.ifs):
                    out.append(self.kept_value(self.evaluate(element, inner), element))
        return PyList(out)

    def _boolean(self, op: ast.boolop, values: list[ast.expr], scope: Scope, node: ast.expr) -> Any:
        """``and``/``or`` of conditions; of other values, the operand that Python would return."""
        stop = isinstance(op, ast.Or)
        out: Bool | None = None
        for index, part in enumerate(values):
            value = self.evaluate(part, scope) if out is None else self._try(part, scope)
            if out is not None and not isinstance(
                value, Bool
            ):  # it counts, or is evaluated, only if the others do not decide
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
        if len(node.ops) > 1 and not self.purity(scope).expression(node):
            self.refuse(node, "a chain of comparisons with calls")
        left = self.evaluate(node.left, scope)
        out = TRUE
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(right_node, scope)
            one = self.compared(op, left, right, node)
            if not isinstance(one, Bool):
                return one
            out = land(out, one)
            left = right
        return out

    def _slice(self, base: Tensor, parts: list[ast.expr], scope: Scope, node: ast.expr) -> Any:
        """``x[a:b, :, i]``: a part of the memory, with gaps in it unless ``contiguous()`` copies it."""
        ends: list[Any] = []
        for part in parts:
            if isinstance(part, ast.Slice):
                low, high, step = (
                    None if p is None else self.evaluate(p, scope)
                    for p in (part.lower, part.upper, part.step)
                )
                ends.append((low, high, step))
            else:
                ends.append(self.evaluate(part, scope))
        dims = tensors.dims_of(self.run, base)
        hint = f"{base.host_name}_slice"
        if dims is None or len(parts) > len(dims):
            return tensors.opaque(self.run, hint, "a slice", base.dtype, [base])
        out: list[Int] = []
        for end, dim in zip(ends, dims, strict=False):
            if isinstance(end, tuple):
                size = self._slice_size(dim, end[0], end[1]) if end[2] is None else None
                if size is None:
                    return tensors.opaque(self.run, hint, "a slice", base.dtype, [base])
                out.append(size)
            elif not isinstance(end, Int):
                return tensors.opaque(self.run, hint, "a slice", base.dtype, [base])
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

    def _subscript(self, base: Any, index: ast.expr, scope: Scope, node: ast.expr) -> Any:
        if isinstance(index, ast.Slice):
            bounds = [
                None if p is None else self.evaluate(p, scope) for p in (index.lower, index.upper, index.step)
            ]
            items = self.sequence(base) if isinstance(base, Items | PyList | Sizes) else None
            if items is not None and all(
                b is None or (isinstance(b, Int) and b.value is not None) for b in bounds
            ):
                part = items[slice(*(None if b is None else b.value for b in bounds))]
                return PyList(part) if isinstance(base, PyList) else Items(tuple(part))
            if isinstance(base, Tensor):
                return self._slice(base, [index], scope, node)
            if reaches(base):
                self.refuse(node, "a part of a list")
            return Unknown("a slice")
        if isinstance(base, Tensor) and isinstance(index, ast.Tuple):
            return self._slice(base, index.elts, scope, node)
        key = self.index(index, scope)
        match base:
            case Sizes(tensor=tensor):
                return tensors.size(self.run, tensor, key)
            case Items(items=held) | PyList(items=held) if isinstance(key, Int) and key.value is not None:
                if not -len(held) <= key.value < len(held):
                    self.refuse(node, "an index out of range")
                return held[key.value]
            case PyDict(items=table):
                found = key_of(key)
                if found is None or found not in table:
                    self.refuse(node, "a key that is not there, or not known,")
                return table[found]
            case Tensor():
                return views.row(self.run, base, key, self.span(node), f"{base.host_name}_row")
            case Layer(kind="Sequential" | "ModuleList") if isinstance(key, Int) and key.value is not None:
                parts = self.sequence(base) or []
                if not -len(parts) <= key.value < len(parts):
                    self.refuse(node, "an index out of range")
                return parts[key.value]
            case Dotted(name=name) if name.startswith(
                ("typing.", "builtins.", "os.environ", "collections.abc.")
            ):
                return Unknown(name)
        if isinstance(base, Items | PyList):
            self.dissolve(base.items)
        if reaches(base) or isinstance(base, Dotted | Null):
            self.refuse(node, "which part of the model this is,")
        return Unknown(f"{self.span(node)}: an element")

    def index(self, node: ast.expr, scope: Scope) -> Any:
        """What stands in brackets; slices among several indices are evaluated and not followed."""
        match node:
            case ast.Slice(lower=low, upper=high, step=step):
                for part in (low, high, step):
                    if part is not None:
                        self.evaluate(part, scope)
                return Unknown("a slice")
            case ast.Tuple(elts=parts) if any(isinstance(p, ast.Slice) for p in parts):
                for part in parts:
                    self.index(part, scope)
                return Unknown("several indices")
        return self.evaluate(node, scope)
