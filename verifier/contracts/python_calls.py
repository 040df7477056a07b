"""Calls of a Python caller: launchers of the extension, torch, layers, builtins, its own functions and classes.

Example: ``ops.scale(x, 3)`` runs the C++ function on the tensor and the int, converted as the binding does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from specs.location import Span
from verifier.contracts import layers, tensors, torch_ops
from verifier.contracts.entries import free_argument
from verifier.contracts.layers import Layer
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
from verifier.contracts.python_expressions import Expressions
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
    holds_code,
    is_instance,
    math_call,
    plain,
)
from verifier.contracts.run import Dead, Refused
from verifier.contracts.values import (
    PY,
    TRUE,
    Bool,
    Int,
    arith,
    as_bool,
    as_int,
    const,
    convert,
    dtype_of,
    limits,
    truth,
)

_MAX_LOOP = 64
_MODULE_METHODS = frozenset(
    "parameters named_parameters modules named_modules children named_children buffers state_dict zero_grad requires_grad_ "
    "extra_repr save_for_backward mark_dirty mark_non_differentiable".split()
)
"""Methods of modules and autograd contexts that call nothing of the caller."""


class Calls(Expressions):
    """Functions and classes of the caller are left to the subclass."""

    def call_function(self, function: PyFunction, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError

    def instantiate(self, cls: PyClass, args: Sequence[Any], kwargs: dict[str, Any]) -> PyObject:
        raise NotImplementedError

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
        self.evaluated.add((node.lineno, node.col_offset))
        match target:
            case Dotted(name=name):
                values = [plain(a) for a in args]
                return self.library(name, values, {k: plain(v) for k, v in kwargs.items()}, node, scope, hint)
            case CppFunction(name=name):
                return self.cpp(
                    name, [plain(a) for a in args], {k: plain(v) for k, v in kwargs.items()}, span
                )
            case PyFunction():
                return self.call_function(target, args, kwargs)
            case PyClass():
                return self.instantiate(target, args, kwargs)
            case PyObject():
                forward = self.find_method(target.cls, "forward") or self.find_method(target.cls, "__call__")
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
                values = [plain(a) for a in args]
                return self.method(owner, name, values, {k: plain(v) for k, v in kwargs.items()}, node, hint)
        raise Refused(f"{span}: a call of something that is not followed")

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
                if name in ("chunk", "split", "unbind", "max", "min", "topk", "sort"):
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
                forward = self.find_method(owner, "forward")
                if forward is not None:
                    context = PyObject(owner)
                    return self.call_function(PyFunction(forward.node, forward.scope, context), args, kwargs)
            case PyDict() if name == "get" and args and isinstance(args[0], Text):
                return owner.items.get(args[0].value, args[1] if len(args) > 1 else Null())
            case Text():
                return Text()
            case PyObject() if name == "add_module" and len(args) == 2 and isinstance(args[0], Text):
                owner.attributes[args[0].value] = args[1]
                return Null()
            case PyObject() if name not in _MODULE_METHODS:
                raise Refused(f"{span}: {name}() of an object is not followed")
            case BoundMethod() if holds_code(owner):
                raise Refused(f"{span}: {name}() of something that is not followed")
        self._refuse_code(args, kwargs, span)
        return Unknown(f"{span}: {name}()")

    def cpp(self, name: str, args: list[Any], kwargs: dict[str, Any], span: Span) -> Any:
        """Run the C++ launcher on these values, converted as the binding does."""
        found = self.functions.get(name, [])
        if len(found) > 1:
            raise Refused(f"{span}: the C++ function {name} is defined more than once")
        if not found:
            return Unknown(f"{span}: the C++ function {name} is not in the sources")
        return self.run_function(found[0], args, kwargs, span)

    def run_function(self, usr: str, args: list[Any], kwargs: dict[str, Any], span: Span) -> Any:
        """Execute a C++ function of the extension."""
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
        self.host.launcher = function["name"]
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
            return math_call(last, args)
        if name == "torch.nn.Parameter":
            source = args[0] if args else kwargs.get("data")
            if isinstance(source, Tensor):
                storage = self.run.storages[source.storage]
                storage.initialized, storage.host_name = True, hint or storage.host_name
                self.run.uninitialised.discard(source.storage)
                if not isinstance(source.dims, Shape):
                    self.run.caller_dims.append(source.dims)
                return tensors.replace(source, host_name=hint or source.host_name)
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
            self._refuse_code(args, kwargs, span)
            made = torch_ops.call_function(self.run, last, args, kwargs, span, hint)
            if last in torch_ops.CREATE and isinstance(made, Tensor):
                self.run.storages[made.storage].how = "argument"  # the caller's, and on whatever device it is
            return made
        if name.startswith("torch.nn.init."):
            if args and isinstance(args[0], Tensor):
                self.run.write(args[0].storage)
            return Null()
        self._refuse_code(args, kwargs, span)
        if name.startswith("torch.nn.") and name.count(".") == 2:
            return layers.build(self.run, last, args, kwargs, hint or last.lower())
        if name.startswith("torch.cuda."):
            return Null()
        return Unknown(f"{span}: {name}()")

    def _refuse_code(self, args: list[Any], kwargs: dict[str, Any], span: Span) -> None:
        """A function that is handed to a library may be called there with anything."""
        if any(holds_code(v) for v in (*args, *kwargs.values())):
            raise Refused(f"{span}: a function that is passed on is not followed")

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
                return is_instance(first, ast.unparse(node.args[1]) if len(node.args) == 2 else "", args)
            case "print":
                return Null()
            case "abs" if isinstance(first, Int) and first.lo is not None and first.lo >= 0:
                return first
            case "setattr" if len(args) == 3:
                if not isinstance(first, PyObject | Layer) or not isinstance(args[1], Text):
                    raise Refused(f"{self.span(node)}: setattr() is not followed")
                first.attributes[args[1].value] = args[2]
                return Null()
            case "getattr" if len(args) >= 2 and isinstance(args[1], Text):
                return self.attribute(first, args[1].value, node)
            case "hasattr" if isinstance(first, PyObject) and len(args) == 2 and isinstance(args[1], Text):
                return truth(
                    args[1].value in first.attributes
                    or self.find_method(first.cls, args[1].value) is not None
                )
            case "sum" if isinstance(first, Items) and all(isinstance(i, Int) for i in first.items):
                total = const(0, PY)
                for item in first.items:
                    total = arith("+", total, convert(item, PY), PY) or total
                return total
        self._refuse_code(args, kwargs, self.span(node))
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
