"""The Python caller: an abstract interpreter over the syntax tree of a submission (``ModelNew``). Nothing is executed.

``ModelNew.__init__`` and ``forward`` are followed with the problem's arguments (or free ones); a call of a function of
a ``load_inline`` module executes the C++ launcher on the very tensors that reach it, so shapes and names carry over.

Invariant: what is not followed becomes Unknown; an Unknown that is passed as a tensor is a free tensor.

Example: ``return self.ops.scale(x.contiguous(), self.weight)`` runs ``scale`` on ``x`` (contiguous) and the parameter.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from specs.clauses import ClauseError, ClauseUndefined, evaluate, names
from specs.location import Span
from verifier.contracts import layers, tensors, torch_ops, views
from verifier.contracts.entries import bindings, free_argument
from verifier.contracts.layers import Layer
from verifier.contracts.lift import Host
from verifier.contracts.objects import (
    Dtype,
    Float,
    Items,
    Null,
    Optional,
    Shape,
    Sizes,
    Tensor,
    Text,
    Unknown,
    Value,
)
from verifier.contracts.problem import Argument, Problem
from verifier.contracts.run import Dead, Fact, NotSimple, Refused, Run, Storage, SymbolInfo
from verifier.contracts.values import (
    DIM_MAX,
    FALSE,
    PY,
    TRUE,
    Bool,
    Int,
    arith,
    as_bool,
    as_int,
    choose,
    compare,
    const,
    convert,
    dtype_of,
    land,
    limits,
    lnot,
    lor,
    symbol,
    truth,
)
from verifier.frontend.host import HostCode

_MAX_DEPTH = 30
_MAX_LOOP = 64


@dataclass(frozen=True, slots=True)
class Dotted:
    """A name of a library: ``torch.nn.functional``."""

    name: str


@dataclass(frozen=True, slots=True)
class Extension:
    """What ``load_inline`` returns."""


@dataclass(frozen=True, slots=True)
class CppFunction:
    name: str


@dataclass(slots=True, eq=False)
class PyFunction:
    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    self_: Any = None


@dataclass(slots=True, eq=False)
class PyClass:
    node: ast.ClassDef
    scope: Scope


@dataclass(slots=True, eq=False)
class PyObject:
    cls: PyClass
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Super:
    object: Any
    cls: PyClass


@dataclass(frozen=True, slots=True)
class BoundMethod:
    owner: Any
    name: str


@dataclass(slots=True)
class PyDict:
    items: dict[Any, Any]


@dataclass(slots=True, eq=False)
class PyList:
    """A list: an object, so that what another name sees is the same list."""

    items: list[Any]


@dataclass(slots=True)
class Scope:
    names: dict[str, Any]
    parent: Scope | None = None

    def find(self, name: str) -> Any:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class Caller:
    """One path through the caller."""

    def __init__(
        self,
        run: Run,
        source: str,
        path: str,
        code: HostCode,
        problem: Problem | None,
        sizes: frozenset[str] = frozenset(),
    ) -> None:
        """``sizes``: names of the problem that are sizes although no input has them."""
        self.run, self.path, self.code, self.problem, self.sizes = run, path, code, problem, sizes
        self.tree = ast.parse(source)
        self.module = Scope({})
        self.host = Host(run, code)
        self.depth = 0
        self.called: set[str] = set()
        self.running = False
        self.assigned: set[tuple[int, str]] = set()
        self.read_first: set[tuple[int, str]] = set()
        """Attributes that forward() assigns, and those that it reads before: state that outlives a call."""
        self.functions = _callable(code)

    def span(self, node: ast.AST) -> Span:
        return Span(self.path, getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1)

    # --- the module --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Run ``ModelNew(*init).forward(*inputs)``."""
        for statement in self.tree.body:
            if isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.Expr):
                continue
            self.statement(statement, self.module)
        model = self.module.find("ModelNew")
        if not isinstance(model, PyClass):
            raise Refused(f"{self.path}: no class ModelNew")
        self._problem_symbols()
        init = self._find_method(model, "__init__")
        forward = self._find_method(model, "forward")
        if forward is None:
            raise Refused(f"{self.path}: ModelNew has no forward()")
        args, kwargs = self._init_arguments(init.node if init else None)
        instance = self.instantiate(model, args, kwargs)
        self._name_parameters(instance, "", set())
        inputs = self._forward_arguments(forward.node)
        for index, value in enumerate(inputs):
            if isinstance(value, Tensor):
                self.run.storages[value.storage].source = f"argument {index}"
        self.running = True
        result = self.call_function(PyFunction(forward.node, self.module, instance), inputs, {})
        for _, name in self.read_first & self.assigned:
            self.run.gap_all(f"{self.path}: forward() reads self.{name}, which an earlier call of it set")
        if isinstance(result, Tensor) and result.layout != "other":
            self.run.returned = result.storage

    def _name_parameters(self, owner: Any, prefix: str, seen: set[int]) -> None:
        """Tensors that the model holds are its parameters, by the path of attributes that leads to them."""
        if id(owner) in seen or len(seen) > 2000:
            return
        seen.add(id(owner))
        for name, value in owner.attributes.items():
            nested = isinstance(owner, Layer) and owner.kind in ("Sequential", "ModuleList")
            label = name.removeprefix("_") if nested else name
            if isinstance(value, Tensor) and not self.run.storages[value.storage].source:
                self.run.storages[value.storage].source = f"parameter {prefix}{label}"
            elif isinstance(value, PyObject | Layer):
                self._name_parameters(value, f"{prefix}{label}.", seen)

    def _problem_symbols(self) -> None:
        """The problem's named sizes. A size of an input is a dim; other ints are scalars, fixed at their value."""
        if self.problem is None:
            return
        sizes = input_sizes(self.problem) | self.sizes
        for name, value in self.problem.values.items():
            kind = "dim" if name in sizes else "scalar"
            low = 1 if kind == "dim" else value
            high = None if kind == "dim" else value
            self.run.symbols[name] = SymbolInfo(
                kind, f"{name} of the problem", low, high, value, "derived", prefer=name
            )
            self.run.names[name] = 1

    def _term(self, text: str) -> Int:
        """A problem's clause text as a value."""
        assert self.problem is not None
        tree = ast.parse(text, mode="eval").body
        return self._term_node(tree)

    def _term_node(self, node: ast.expr) -> Int:
        match node:
            case ast.Constant(value=int(v)):
                return const(v, PY)
            case ast.Name(id=name):
                info = self.run.symbols[name]
                if info.kind == "scalar" and info.value is not None:
                    return symbol(name, info.value, info.value, PY)
                return symbol(name, 0, DIM_MAX, PY)
            case ast.UnaryOp(op=ast.USub(), operand=a):
                return arith("-", const(0, PY), self._term_node(a), PY) or const(0, PY)
            case ast.BinOp(left=a, op=op, right=b):
                sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}[type(op)]
                found = arith(sign, self._term_node(a), self._term_node(b), PY)
                assert found is not None
                return found
        raise Refused(f"{self.path}: a size of the problem that is not followed")

    def from_problem(self, argument: Argument, name: str) -> Any:
        """An argument of the problem as a value; tensors are objects of their own, allocated by the caller."""
        match argument.kind:
            case "tensor":
                return self._problem_tensor(argument, name)
            case "int":
                return self._term(argument.text)
            case "float":
                return Float(float(argument.value or 0.0), None)
            case "bool":
                return TRUE if argument.value else FALSE
            case "none":
                return Null()
            case "text":
                return Text(str(argument.value))
            case "list":
                return Items(tuple(self.from_problem(a, f"{name}_{i}") for i, a in enumerate(argument.items)))
            case _:
                return Unknown(f"argument {name} of the problem")

    def _problem_tensor(self, argument: Argument, name: str) -> Tensor:
        run = self.run
        if argument.shape is None:
            out = tensors.allocate_unknown(run, name, argument.dtype or None)
            return tensors.replace(out, layout="free")
        dims = tuple(self._term(t) for t in argument.shape)
        dims = tuple(Int(d.text, max(d.lo or 0, 0), d.hi, "i64", d.taint) for d in dims)
        key = run.unique(name)
        storage = Storage(
            argument.dtype, None, dims, how="argument", host_name=name, caller=True, align=tensors.DEVICE_ALIGN,
            content=argument.content, content_origin="derived",
        )  # fmt: skip
        run.add_storage(key, storage)
        run.caller_dims.append(dims)
        layout: Any = "free" if argument.layout == "contiguous" else "dense"
        return Tensor(key, dims, argument.dtype, key, layout, host_name=name)

    def _init_arguments(self, node: Any) -> tuple[list[Any], dict[str, Any]]:
        names = [a.arg for a in node.args.args[1:]] if node is not None else []
        if self.problem is not None:
            if self.problem.init_keys:
                pairs = zip(self.problem.init_keys, self.problem.init, strict=True)
                return [], {k: self.from_problem(a, k) for k, a in pairs}
            found = [
                self.from_problem(a, names[i] if i < len(names) else f"init{i}")
                for i, a in enumerate(self.problem.init)
            ]
            return found, {}
        if node is None:
            return [], {}
        required = len(names) - len(node.args.defaults)
        return [self._free_python(a, self.span(node)) for a in node.args.args[1 : 1 + required]], {}

    def _free_python(self, argument: ast.arg, span: Span) -> Any:
        """A constructor argument of which only the annotation is known."""
        annotation = ast.unparse(argument.annotation) if argument.annotation else ""
        if annotation == "int":
            return self.run.fresh(argument.arg, "scalar", PY, meaning=f"argument {argument.arg} of the model")
        if annotation == "float":
            return Float()
        return Unknown(f"argument {argument.arg} of the model")

    def _forward_arguments(self, node: Any) -> list[Any]:
        names = [a.arg for a in node.args.args[1:]]
        if self.problem is not None:
            return [
                self.from_problem(a, names[i] if i < len(names) else f"input{i}")
                for i, a in enumerate(self.problem.inputs)
            ]
        required = len(names) - len(node.args.defaults)
        out: list[Any] = []
        for index, name in enumerate(names):
            annotation = node.args.args[index + 1].annotation
            text = ast.unparse(annotation) if annotation else ""
            if index >= required:
                break
            if text in ("int", "float"):
                out.append(self._free_python(node.args.args[index + 1], self.span(node)))
            else:
                out.append(self.run.free_tensor(name))
        return out

    # --- classes and functions ---------------------------------------------------------------------------------------

    def _find_method(self, cls: PyClass, name: str) -> PyFunction | None:
        for statement in cls.node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == name:
                return PyFunction(statement, cls.scope)
        for base in cls.node.bases:
            found = self.evaluate(base, cls.scope)
            if isinstance(found, PyClass):
                return self._find_method(found, name)
        return None

    def _class_attribute(self, cls: PyClass, name: str) -> Any:
        for statement in cls.node.body:
            if isinstance(statement, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == name for t in statement.targets
            ):
                return self.evaluate(statement.value, cls.scope)
        for base in cls.node.bases:
            found = self.evaluate(base, cls.scope)
            if isinstance(found, PyClass):
                return self._class_attribute(found, name)
        return None

    def instantiate(self, cls: PyClass, args: Sequence[Any], kwargs: dict[str, Any]) -> PyObject:
        instance = PyObject(cls)
        for statement in cls.node.body:
            if (
                isinstance(statement, ast.Assign)
                and len(statement.targets) == 1
                and isinstance(statement.targets[0], ast.Name)
            ):
                instance.attributes[statement.targets[0].id] = self.evaluate(statement.value, cls.scope)
        init = self._find_method(cls, "__init__")
        if init is not None:
            self.call_function(PyFunction(init.node, init.scope, instance), args, kwargs)
        return instance

    def call_function(self, function: PyFunction, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        self.depth += 1
        try:
            if self.depth > _MAX_DEPTH:
                raise Refused(f"{self.span(function.node)}: calls nested too deep")
            node = function.node
            scope = Scope({}, function.scope)
            values = [function.self_, *args] if function.self_ is not None else list(args)
            names = [a.arg for a in node.args.args]
            scope.names |= dict(zip(names, values, strict=False))
            if node.args.vararg is not None:
                scope.names[node.args.vararg.arg] = Items(tuple(values[len(names) :]))
            elif len(values) > len(names):
                raise Refused(f"{self.span(node)}: more arguments than parameters")
            extra = {
                k: v for k, v in kwargs.items() if k not in (*names, *(a.arg for a in node.args.kwonlyargs))
            }
            scope.names |= {k: v for k, v in kwargs.items() if k not in extra}
            if node.args.kwarg is not None:
                scope.names[node.args.kwarg.arg] = PyDict(extra)
            for name, default in zip(reversed(names), reversed(node.args.defaults), strict=False):
                if name not in scope.names:
                    scope.names[name] = self.evaluate(default, function.scope)
            for argument, keyword_default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
                if argument.arg not in scope.names and keyword_default is not None:
                    scope.names[argument.arg] = self.evaluate(keyword_default, function.scope)
            for name in names:
                scope.names.setdefault(name, Unknown(f"argument {name}"))
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, scope)
            try:
                for statement in node.body:
                    self.statement(statement, scope)
            except _Return as result:
                return result.value
            return Null()
        finally:
            self.depth -= 1

    # --- statements --------------------------------------------------------------------------------------------------

    def statement(self, node: ast.stmt, scope: Scope) -> None:
        self.run.step()
        match node:
            case ast.Import(names=names):
                for alias in names:
                    scope.names[alias.asname or alias.name.split(".")[0]] = Dotted(
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            case ast.ImportFrom(module=module, names=names):
                for alias in names:
                    scope.names[alias.asname or alias.name] = Dotted(f"{module}.{alias.name}")
            case ast.FunctionDef():
                scope.names[node.name] = PyFunction(node, scope)
            case ast.ClassDef():
                scope.names[node.name] = PyClass(node, scope)
            case ast.Assign(targets=targets, value=value):
                found = self.evaluate(value, scope, _hint(targets[0]))
                for target in targets:
                    self.assign(target, found, scope)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.assign(target, self.evaluate(value, scope, _hint(target)), scope)
            case ast.AugAssign(target=target, op=op, value=value):
                old = self.evaluate(_loaded(target), scope)
                self.assign(target, self.binary(op, old, self.evaluate(value, scope), node), scope)
            case ast.Expr(value=value):
                self.evaluate(value, scope)
            case ast.Return(value=value):
                raise _Return(self.evaluate(value, scope) if value is not None else Null())
            case ast.If(test=test, body=body, orelse=orelse):
                branch = body if self.decide(self.evaluate(test, scope), node) else orelse
                for child in branch:
                    self.statement(child, scope)
            case ast.For():
                self._for(node, scope)
            case ast.With(body=body):
                for child in body:
                    self.statement(child, scope)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                if not all(_gives_up(h.body) for h in handlers):
                    raise Refused(f"{self.span(node)}: an exception handler that goes on is not followed")
                for child in (*body, *orelse, *final):
                    self.statement(child, scope)
            case ast.Assert(test=test):
                pass
            case ast.Raise():
                raise Dead
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case ast.Pass() | ast.Global() | ast.Delete():
                pass
            case _:
                raise Refused(f"{self.span(node)}: {type(node).__name__.lower()} is not followed")

    def _for(self, node: ast.For, scope: Scope) -> None:
        value = self.evaluate(node.iter, scope)
        items = self.sequence(value)
        if items is None and _only_initialises(node):
            return
        if items is None or len(items) > _MAX_LOOP:
            raise Refused(f"{self.span(node)}: a loop over something that is not followed")
        for item in items:
            self.assign(node.target, item, scope)
            try:
                for child in node.body:
                    self.statement(child, scope)
            except _Continue:
                continue
            except _Break:
                return
        for child in node.orelse:
            self.statement(child, scope)

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope.names[name] = value
                if isinstance(value, Int):
                    self.host.prefer(name, value)
            case ast.Attribute(value=base, attr=name):
                owner = self.evaluate(base, scope)
                if isinstance(owner, PyObject | Layer):
                    owner.attributes[name] = value
                    if self.running:
                        self.assigned.add((id(owner), name))
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                items = self.sequence(value)
                for index, part in enumerate(parts):
                    if isinstance(part, ast.Starred):
                        self.assign(part.value, Unknown("a starred target"), scope)
                        continue
                    if isinstance(value, Sizes):
                        found: Any = tensors.size(self.run, value.tensor, const(index))
                    else:
                        found = (
                            items[index] if items is not None and index < len(items) else Unknown("unpacking")
                        )
                    self.assign(part, found, scope)
                if isinstance(value, Sizes) and isinstance(value.tensor.dims, Shape):
                    # unpacking to n names throws unless the rank is n
                    self.run.assume(
                        Bool(fact=("rank", value.tensor.dims.name, len(parts))), self.span(target)
                    )
            case ast.Subscript(value=base, slice=index):
                owner, key = self.evaluate(base, scope), self.evaluate(index, scope)
                if isinstance(owner, PyDict) and isinstance(key, Text):
                    owner.items[key.value] = value
                elif isinstance(owner, Tensor):
                    self.run.write(owner.storage)
                elif isinstance(owner, PyList):
                    at = key.value if isinstance(key, Int) else None
                    if at is None or not -len(owner.items) <= at < len(owner.items):
                        raise Refused(f"{self.span(target)}: an element of a list that is not followed")
                    owner.items[at] = value

    def decide(self, value: Any, node: ast.AST) -> bool:
        """Which way the caller goes. Where the problem's sizes decide it, only that way, as a clause of the contract."""
        condition = self.condition(value, node)
        if self.run.evaluate(condition) is None and condition.plain:
            answer = self.value_of(condition.text)
            if answer is not None and not self.run.speculative:
                text = condition.text if answer else lnot(condition).text
                self.run.known[condition.text] = bool(answer)
                self.run.known[lnot(condition).text] = not answer
                self.run.path.append(
                    Fact(text, "derived", self.span(node), "the way the caller goes for the problem's sizes")
                )
                return bool(answer)
        return self.run.decide(condition, self.span(node))

    def value_of(self, text: str) -> int | None:
        """A clause's value for the problem's numbers, where all its symbols have one."""
        if self.problem is None:
            return None
        values = {n: i.value for n, i in self.run.symbols.items() if i.value is not None}
        try:
            return evaluate(text, values)
        except (ClauseUndefined, ClauseError):
            return None

    def number(self, value: Any) -> tuple[float | None, frozenset[str]]:
        """The number that a value has for the problem, and the terms that are thereby fixed."""
        match value:
            case Int():
                if value.value is not None:
                    return value.value, frozenset()
                found = self.value_of(value.text)
                return found, frozenset({value.text})
            case Float(value=number, pins=pins):
                return number, pins
        return None, frozenset()

    def pin(self, pins: frozenset[str], node: ast.AST) -> None:
        """A number made of the problem's sizes by float arithmetic holds for these sizes only."""
        for text in sorted(pins):
            found = self.value_of(text)
            if found is not None:
                fact = Fact(
                    f"({text} == {found})",
                    "derived",
                    self.span(node),
                    "the caller computes with this size in floats",
                )
                self.run.path.append(fact)

    def condition(self, value: Any, node: ast.AST) -> Bool:
        match value:
            case Bool():
                return value
            case Int():
                return as_bool(value)
            case Null():
                return FALSE
            case Optional():
                return tensors.defined(self.run, value)
            case Text(value=text):
                return truth(bool(text))
            case Items(items=items) | PyList(items=items):
                return truth(bool(items))
            case PyObject() | Layer() | PyFunction() | PyClass() | CppFunction() | Extension():
                return TRUE
            case Float(value=number) if number is not None:
                return truth(number != 0)
            case _:
                why = value.why if isinstance(value, Unknown) else "a condition"
                return self.run.unknown_condition(f"{self.span(node)}: {why}")

    # --- expressions -------------------------------------------------------------------------------------------------

    def sequence(self, value: Any) -> list[Any] | None:
        if isinstance(value, Items | PyList):
            return list(value.items)
        if isinstance(value, Layer) and value.kind in ("Sequential", "ModuleList"):
            return [v for k, v in value.attributes.items() if k.startswith("_")]
        if isinstance(value, Sizes):
            dims = tensors.dims_of(self.run, value.tensor)
            return None if dims is None else list(dims)
        return None

    def evaluate(self, node: ast.expr, scope: Scope, hint: str = "") -> Any:
        self.run.step()
        match node:
            case ast.Constant(value=value):
                return _constant(value)
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
            value = self.evaluate(part, scope)
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
                    present = self._not_none(a)
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
                from verifier.contracts.calls import same_dtype

                same = same_dtype(self.run, a, b)
                return same if sign == "==" else lnot(same)
            case ((Float() | Int()), (Float() | Int())):
                (p, left), (q, right) = self.number(a), self.number(b)
                if p is not None and q is not None:
                    self.pin(left | right, node)
                    return truth(
                        {"==": p == q, "!=": p != q, "<": p < q, "<=": p <= q, ">": p > q, ">=": p >= q}[sign]
                    )
        return Unknown(f"{self.span(node)}: a comparison")

    def _not_none(self, value: Any) -> Bool | None:
        match value:
            case Null():
                return FALSE
            case Unknown():
                return None
            case Optional():
                return tensors.defined(self.run, value)
        return TRUE

    def binary(self, op: ast.operator, a: Any, b: Any, node: ast.AST) -> Any:
        if isinstance(a, Bool) and a.plain:
            a = as_int(a, PY)
        if isinstance(b, Bool) and b.plain and isinstance(a, Int):
            b = as_int(b, PY)
        if isinstance(a, PyList) or isinstance(b, PyList):
            joined = self.binary(op, _plain(a), _plain(b), node)
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
        zero = const(0, PY)
        first = zero if low is None else low
        last = dim if high is None else high
        if not isinstance(first, Int) or not isinstance(last, Int):
            return None
        ends: list[Int] = []
        for end in (first, last):
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
        return Unknown(f"{self.span(node)}: an element")

    # --- attributes --------------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str, node: ast.AST) -> Any:
        match owner:
            case Dotted(name=base):
                return _dotted(f"{base}.{name}")
            case Extension():
                return CppFunction(name)
            case PyObject():
                if self.running and (id(owner), name) not in self.assigned:
                    self.read_first.add((id(owner), name))
                if name in owner.attributes:
                    return owner.attributes[name]
                method = self._find_method(owner.cls, name)
                if method is not None:
                    static = any(
                        ast.unparse(d) == "staticmethod" for d in getattr(method.node, "decorator_list", ())
                    )
                    return PyFunction(method.node, method.scope, None if static else owner)
                return Unknown("training mode") if name == "training" else BoundMethod(owner, name)
            case PyClass():
                method = self._find_method(owner, name)
                return method or self._class_attribute(owner, name) or BoundMethod(owner, name)
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
                        method = self._find_method(found, name)
                        if method is not None:
                            return PyFunction(method.node, method.scope, instance)
                return BoundMethod(owner, name)
        return BoundMethod(owner, name)

    # --- calls -------------------------------------------------------------------------------------------------------

    def call(self, node: ast.Call, scope: Scope, hint: str) -> Any:
        target = self._target(node.func, scope)
        args: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                inner = self.sequence(self.evaluate(argument.value, scope))
                if inner is None:
                    args.append(Unknown("starred arguments"))
                    if isinstance(target, CppFunction):
                        raise Refused(f"{self.span(node)}: starred arguments that are not followed")
                else:
                    args += inner
            else:
                args.append(self.evaluate(argument, scope))
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, PyDict):
                kwargs |= {k: v for k, v in value.items.items() if isinstance(k, str)}
        return self.apply(target, args, kwargs, node, scope, hint)

    def _target(self, node: ast.expr, scope: Scope) -> Any:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
            return self.evaluate(node, scope)
        return self.evaluate(node, scope)

    def apply(
        self, target: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call, scope: Scope, hint: str
    ) -> Any:
        span = self.span(node)
        match target:
            case Dotted(name=name):
                values = [_plain(a) for a in args]
                return self.library(
                    name, values, {k: _plain(v) for k, v in kwargs.items()}, node, scope, hint
                )
            case CppFunction(name=name):
                return self.cpp(
                    name, [_plain(a) for a in args], {k: _plain(v) for k, v in kwargs.items()}, span
                )
            case PyFunction():
                return self.call_function(target, args, kwargs)
            case PyClass():
                return self.instantiate(target, args, kwargs)
            case PyObject():
                forward = self._find_method(target.cls, "forward") or self._find_method(
                    target.cls, "__call__"
                )
                if forward is None:
                    return Unknown("a call of an object without forward()")
                return self.call_function(PyFunction(forward.node, forward.scope, target), args, kwargs)
            case Layer(kind="Sequential"):
                value = args[0] if args else Unknown("no argument")
                for part in [v for k, v in target.attributes.items() if k.startswith("_")]:
                    value = self.apply(part, [value], {}, node, scope, hint)
                return value
            case Layer():
                return layers.apply(self.run, target, args, span, hint or f"{target.kind.lower()}_out")
            case BoundMethod(owner=owner, name=name):
                values = [_plain(a) for a in args]
                return self.method(owner, name, values, {k: _plain(v) for k, v in kwargs.items()}, node, hint)
        return Unknown(target.why if isinstance(target, Unknown) else f"{span}: a call that is not followed")

    def method(
        self, owner: Any, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call, hint: str
    ) -> Any:
        span = self.span(node)
        match owner:
            case Tensor():
                if name == "item":
                    return Float()
                if name in ("is_contiguous",):
                    return (
                        TRUE
                        if tensors.is_contiguous(self.run, owner)
                        else Bool(fact=("contiguous", owner.key, None))
                    )
                if name in ("chunk", "split", "unbind", "unfold", "max", "min", "topk", "sort"):
                    return Unknown(f"{name}()")
                return torch_ops.call_method(self.run, owner, name, args, kwargs, span, hint)
            case Super():
                return Null()
            case PyObject() if name == "register_buffer" and len(args) >= 2 and isinstance(args[0], Text):
                owner.attributes[args[0].value] = args[1]
                return Null()
            case PyObject() if name == "register_parameter" and len(args) >= 2 and isinstance(args[0], Text):
                owner.attributes[args[0].value] = args[1]
                return Null()
            case PyObject() if name in ("cuda", "to", "eval", "train", "half", "float"):
                return owner
            case Layer() if name in ("cuda", "to", "eval", "train"):
                return owner
            case Layer(kind="ModuleList") if name == "append" and args:
                owner.attributes[f"_{len(owner.attributes)}"] = args[0]
                return Null()
            case PyList(items=items):
                if name == "append" and args:
                    items.append(args[0])
                elif name == "extend" and args and (more := self.sequence(args[0])) is not None:
                    items.extend(more)
                else:
                    raise Refused(f"{span}: {name}() of a list is not followed")
                return Null()
            case PyClass() if name == "apply":
                forward = self._find_method(owner, "forward")
                if forward is not None:
                    context = PyObject(owner)
                    return self.call_function(PyFunction(forward.node, forward.scope, context), args, kwargs)
            case PyDict() if name == "get" and args and isinstance(args[0], Text):
                return owner.items.get(args[0].value, args[1] if len(args) > 1 else Null())
            case Text():
                return Text()
        return Unknown(f"{span}: {name}()")

    def cpp(self, name: str, args: list[Any], kwargs: dict[str, Any], span: Span) -> Any:
        """Run the C++ launcher on these values, converted as the binding does."""
        found = self.functions.get(name, [])
        if len(found) > 1:
            raise Refused(f"{span}: the C++ function {name} is defined more than once")
        if not found:
            return Unknown(f"{span}: the C++ function {name} is not in the sources")
        usr = found[0]
        function = self.code.functions[usr]
        self.called.add(usr)
        values: list[Value] = []
        for index, param in enumerate(function["params"]):
            if index < len(args):
                values.append(self._bound_value(args[index], param, span))
            elif param["name"] in kwargs:
                values.append(self._bound_value(kwargs[param["name"]], param, span))
            elif param["default"] is not None:
                values.append(self.host.eval(param["default"]))
            else:
                values.append(free_argument(self.run, param))
        if len(args) > len(function["params"]):
            raise Dead
        self.host.launcher = name
        self.host.references.clear()
        self.run.scope = len(self.run.storages)
        return self.host.call(usr, values, span)

    def _bound_value(self, value: Any, param: Any, span: Span) -> Value:
        """What pybind11 makes of an argument; it throws for an int that the C type cannot hold."""
        type_ = param["type"]
        dtype = dtype_of(type_)
        if dtype in ("f32", "f64", "f16", "bf16"):
            return self.host.coerce(value, type_) if isinstance(value, Int | Float) else Float(type=dtype)
        if dtype == "bool":
            return self.condition(value, ast.Constant(value=None))
        if dtype is not None:
            if isinstance(value, Bool) and value.plain:
                value = as_int(value, PY)
            if not isinstance(value, Int):
                return free_argument(self.run, param)
            lo, hi = limits(dtype)
            if lo is not None and (value.lo is None or value.lo < lo):
                self.run.assume(Bool(f"({value.text} >= {lo})"), span)
            if hi is not None and (value.hi is None or value.hi > hi):
                self.run.assume(Bool(f"({value.text} <= {hi})"), span)
            low = lo if value.lo is None or (lo is not None and value.lo < lo) else value.lo
            high = hi if value.hi is None or (hi is not None and value.hi > hi) else value.hi
            return Int(value.text, low, high, dtype, value.taint)
        inner = re.fullmatch(r"(?:std::vector|c10::ArrayRef|std::tuple|std::pair)<(.*)>", type_)
        if inner is not None and isinstance(value, Items | Sizes) and "Tensor" not in type_:
            items = self.sequence(value)
            types = [t.strip() for t in inner.group(1).split(",")]
            if items is None:
                return value if isinstance(value, Sizes) else Unknown("a list")
            types = types if len(types) == len(items) else types[:1] * len(items)
            return Items(
                tuple(
                    self._bound_value(v, {"type": t, "name": param["name"]}, span)
                    for v, t in zip(items, types, strict=True)
                )
            )
        if "Tensor" in type_ and isinstance(value, Unknown):
            if type_.startswith("std::optional"):
                return free_argument(self.run, param)
            if "vector" in type_:
                return Unknown(value.why)
            return tensors.opaque(self.run, param["name"] or "tensor", value.why)
        if isinstance(
            value, Int | Bool | Float | Tensor | Items | Null | Text | Unknown | Optional | Sizes | Dtype
        ):
            return value
        return free_argument(self.run, param)

    def library(
        self, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call, scope: Scope, hint: str
    ) -> Any:
        """Calls of torch, math and the builtins."""
        span = self.span(node)
        last = name.split(".")[-1]
        if last in ("load_inline", "load"):
            return Extension()
        if name.startswith("builtins."):
            return self._builtin(last, args, kwargs, node, scope)
        if name.startswith("math."):
            return _math(last, args)
        if name == "torch.nn.Parameter":
            source = args[0] if args else kwargs.get("data")
            if isinstance(source, Tensor):
                dims = source.dims if not isinstance(source.dims, Shape) else None
                return layers.parameter(
                    self.run, hint or "parameter", dims, tensors.dtype_name(self.run, source)
                )
            return layers.parameter(self.run, hint or "parameter", None)
        if name in ("torch.nn.Sequential", "torch.nn.ModuleList"):
            parts = list(args)
            if len(parts) == 1 and isinstance(parts[0], Items):
                parts = list(parts[0].items)
            return Layer(last, {f"_{i}": p for i, p in enumerate(parts)})
        if name.startswith("torch.nn.functional.") or (name.startswith("torch.") and name.count(".") == 1):
            if last in ("Tensor", "FloatTensor") and args and all(isinstance(a, Int) for a in args):
                return torch_ops.call_function(self.run, "empty", args, {}, span, hint)
            if last in ("Tensor", "FloatTensor", "tensor", "from_numpy", "linspace", "eye", "arange"):
                return tensors.allocate_unknown(self.run, hint or last, None)
            if last in ("no_grad", "inference_mode", "enable_grad"):
                return Null()
            if last in ("max", "min", "topk", "sort", "split", "chunk", "unbind", "meshgrid"):
                return Unknown(f"{last}()")
            if last == "dropout" and args and isinstance(args[0], Tensor):
                return torch_ops.call_method(self.run, args[0], "detach", [], {}, span, hint)
            return torch_ops.call_function(self.run, last, args, kwargs, span, hint)
        if name.startswith("torch.nn.init."):
            if args and isinstance(args[0], Tensor):
                self.run.write(args[0].storage)
            return Null()
        if name.startswith("torch.nn.") and name.count(".") == 2:
            return layers.build(self.run, last, args, kwargs, hint or last.lower())
        if name.startswith("torch.cuda."):
            return Null()
        return Unknown(f"{span}: {name}()")

    def _builtin(
        self, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call, scope: Scope
    ) -> Any:
        first = args[0] if args else None
        match name:
            case "super":
                instance = scope.find("self")
                if isinstance(instance, PyObject):
                    owner = next(
                        (a for a in args if isinstance(a, PyClass)), self._enclosing(scope, instance)
                    )
                    return Super(instance, owner)
                return Unknown("super()")
            case "int" | "float" | "bool":
                return self._scalar(name, first, node)
            case "len":
                items = self.sequence(first)
                if items is not None:
                    return const(len(items), PY)
                return (
                    tensors.size(self.run, first, const(0)) if isinstance(first, Tensor) else Unknown("len()")
                )
            case "range":
                values = [a.value for a in args if isinstance(a, Int)]
                if len(values) == len(args) and None not in values and len(range(*values)) <= _MAX_LOOP:  # type: ignore[arg-type]
                    return Items(tuple(const(i, PY) for i in range(*values)))  # type: ignore[arg-type]
                return Unknown("range()")
            case "min" | "max":
                flat = list(first.items) if len(args) == 1 and isinstance(first, Items) else args
                if flat and all(isinstance(a, Int) for a in flat):
                    out = convert(flat[0], PY)
                    for item in flat[1:]:
                        out = arith(name, out, convert(item, PY), PY) or out
                    return out
                return Float() if all(isinstance(a, Int | Float) for a in flat) else Unknown(name)
            case "tuple" | "list":
                items = self.sequence(first) if first is not None else []
                return (
                    Items(tuple(items))
                    if items is not None
                    else (first if isinstance(first, Sizes) else Unknown(name))
                )
            case "enumerate":
                items = self.sequence(first)
                if items is None:
                    return Unknown("enumerate()")
                return Items(tuple(Items((const(i, PY), v)) for i, v in enumerate(items)))
            case "zip":
                columns = [self.sequence(a) for a in args]
                if any(c is None for c in columns):
                    return Unknown("zip()")
                return Items(
                    tuple(
                        Items(tuple(row)) for row in zip(*(c for c in columns if c is not None), strict=False)
                    )
                )
            case "isinstance":
                return _isinstance(first, ast.unparse(node.args[1]) if len(node.args) == 2 else "", args)
            case "print":
                return Null()
            case "abs" if isinstance(first, Int) and first.lo is not None and first.lo >= 0:
                return first
            case "getattr" if len(args) >= 2 and isinstance(args[1], Text):
                return self.attribute(first, args[1].value, node)
            case "hasattr" if isinstance(first, PyObject) and len(args) == 2 and isinstance(args[1], Text):
                return truth(
                    args[1].value in first.attributes
                    or self._find_method(first.cls, args[1].value) is not None
                )
            case "sum" if isinstance(first, Items) and all(isinstance(i, Int) for i in first.items):
                total = const(0, PY)
                for item in first.items:
                    total = arith("+", total, convert(item, PY), PY) or total
                return total
        return Unknown(f"{name}()")

    def _enclosing(self, scope: Scope, instance: PyObject) -> PyClass:
        found = scope.find("__class__")
        return found if isinstance(found, PyClass) else instance.cls

    def _scalar(self, name: str, value: Any, node: ast.AST) -> Any:
        if isinstance(value, Bool):
            value = as_int(value, PY) if value.plain else Unknown("a condition")
        match name, value:
            case "int", Int():
                return value
            case "int", Float(value=number, pins=pins) if number is not None:
                self.pin(pins, node)
                return const(int(number), PY)
            case "float", Int():
                number, pins = self.number(value)
                return Float(None if number is None else float(number), pins=pins)
            case "float", Float():
                return value
            case "bool", Int():
                return as_bool(value)
        return Unknown(f"{name}()")


def _only_initialises(loop: ast.For) -> bool:
    """A loop that only fills parameters (``nn.init.…``, ``m.weight.data.fill_()``): it changes no shape and launches nothing."""
    harmless = ("nn.init.", "torch.nn.init.", "init.", "isinstance", "hasattr", "math.", "getattr", "len")
    for node in ast.walk(loop):
        if isinstance(node, ast.Call) and node is not loop.iter:
            text = ast.unparse(node.func)
            filling = text.endswith(
                (
                    "_",
                    ".modules",
                    ".parameters",
                    ".named_parameters",
                    ".named_modules",
                    ".children",
                    ".size",
                    ".dim",
                )
            )
            if not filling and not text.startswith(harmless):
                return False
        if isinstance(node, ast.Return | ast.Yield | ast.FunctionDef):
            return False
        if isinstance(node, ast.Assign) and any(not isinstance(t, ast.Name) for t in node.targets):
            return False
    return True


def _callable(code: HostCode) -> dict[str, list[str]]:
    """The C++ functions by the names that Python sees: those of bindings, else their own."""
    out: dict[str, list[str]] = {}
    for usr, function in code.functions.items():
        if function["body"] is not None and "(lambda" not in function["name"]:
            out.setdefault(function["name"].split("::")[-1], []).append(usr)
    for name, usr in bindings(code).items():
        out[name] = [usr]
    return out


def _gives_up(body: list[ast.stmt]) -> bool:
    """Whether an exception handler raises in the end."""
    return isinstance(body[-1], ast.Raise)


def _isinstance(value: Any, names: str, args: list[Any]) -> Any:
    """``isinstance(value, names)`` where both sides are certain."""
    words = set(re.findall(r"\w+", names))
    match value:
        case Layer(kind=kind):
            return truth(kind in words or ("Module" in words and "nn" in words))
        case PyObject(cls=cls):
            return truth(cls.node.name in words or "Module" in words)
        case Int():
            return truth("int" in words or "numbers" in words or "Number" in words)
        case Float():
            return truth("float" in words or "Number" in words)
        case Text():
            return truth("str" in words or "Iterable" in words)
        case Items():
            return truth(bool(words & {"tuple", "Iterable", "Sequence"}))
        case PyList():
            return truth(bool(words & {"list", "Iterable", "Sequence"}))
        case Tensor():
            return truth("Tensor" in words or "Parameter" in words)
        case Null():
            return truth("NoneType" in words)
    return Unknown("isinstance()")


def _plain(value: Any) -> Any:
    """Lists as the immutable values that the tensor operations take."""
    if isinstance(value, PyList):
        return Items(tuple(_plain(v) for v in value.items))
    return value


def input_sizes(problem: Problem) -> frozenset[str]:
    """Names that are a size of an input. ``stride`` of ``height * stride`` is none where the model gets it too."""
    shapes = [t for a in problem.inputs for t in a.shape or ()]
    given = {n for a in problem.init for t in _texts(a) for n in names(t)}
    alone = frozenset(t for t in shapes if t in problem.values)
    return alone | frozenset(n for t in shapes for n in names(t) if n not in given)


def _texts(argument: Argument) -> list[str]:
    return [argument.text] if argument.text else [t for a in argument.items for t in _texts(a)]


def parameter_sizes(run: Run, problem: Problem) -> frozenset[str]:
    """Names that are a whole dim of a parameter: sizes like ``out_features``, in distinction from ``stride``.

    Kernel sizes are dims of a weight too, but stay at the problem's value.
    """
    found = {d.text for dims in run.caller_dims for d in dims if d.text in problem.values}
    return frozenset(n for n in found if "kernel" not in n.lower() and problem.values[n] >= 1)


def _constant(value: object) -> Any:
    match value:
        case bool():
            return truth(value)
        case int():
            return const(value, PY)
        case float():
            return Float(value)
        case str():
            return Text(value)
        case None:
            return Null()
    return Unknown("a constant")


def _dotted(name: str) -> Any:
    """``torch.float32`` is a dtype, ``math.pi`` a number; other names stay names."""
    parts = name.split(".")
    if parts[0] == "torch" and len(parts) == 2 and parts[1] in tensors.DTYPES:
        return Dtype(tensors.DTYPES[parts[1]])
    if name in ("math.pi", "math.e", "math.inf"):
        return Float(3.141592653589793 if name == "math.pi" else None)
    return Dotted(name)


def _hint(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    return target.attr if isinstance(target, ast.Attribute) else ""


def _loaded(target: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(target), mode="eval").body


def _math(name: str, args: list[Any]) -> Any:
    import math

    values = [a.value for a in args if isinstance(a, Int | Float)]
    if len(values) == len(args) and None not in values and hasattr(math, name):
        try:
            result = getattr(math, name)(*values)
        except (ValueError, OverflowError, TypeError):
            return Unknown(f"math.{name}()")
        return const(result, PY) if isinstance(result, int) else Float(float(result))
    if (
        name == "prod"
        and args
        and isinstance(args[0], Items)
        and all(isinstance(i, Int) for i in args[0].items)
    ):
        return tensors.product([i for i in args[0].items if isinstance(i, Int)])
    return Unknown(f"math.{name}()") if name in ("ceil", "floor", "prod", "gcd") else Float()
