"""Calls of a Python caller: launchers of the extension, its own functions and classes, methods of what it holds.

Invariant: a call is followed, or known to change nothing, or refused; what a call of a library could change is refused.

Example: ``ops.scale(x, 3)`` runs the C++ function on the tensor and the int, converted as the binding does.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from specs.location import Span
from verifier.contracts import layers, tensors, torch_ops
from verifier.contracts.entries import free_argument
from verifier.contracts.layers import Layer
from verifier.contracts.objects import (
    Chosen,
    Dtype,
    Float,
    Items,
    Null,
    Optional,
    Sizes,
    Tensor,
    Text,
    Unknown,
    Value,
)
from verifier.contracts.python_library import Library
from verifier.contracts.python_state import PURE_METHODS
from verifier.contracts.python_values import (
    DEVICE,
    OTHER_DEVICE,
    BoundMethod,
    CppFunction,
    Dotted,
    Hidden,
    PyClass,
    PyDict,
    PyFunction,
    PyIterator,
    PyList,
    PyObject,
    Scope,
    Super,
    constant,
    holds_code,
    key_of,
    plain,
    reaches,
)
from verifier.contracts.run import Dead, Refused
from verifier.contracts.values import (
    PY,
    TRUE,
    Bool,
    Int,
    as_int,
    dtype_of,
    limits,
)
from verifier.frontend.host import Node

_TENSORS = frozenset("parameters named_parameters buffers named_buffers state_dict extra_repr".split())
"""Methods of modules that give tensors, and change nothing."""
_MODULES = frozenset("modules named_modules children named_children".split())
_CONTEXT = frozenset("save_for_backward mark_dirty mark_non_differentiable set_materialize_grads".split())
"""Methods of the contexts of torch.autograd.Function."""
_EAGER = frozenset(
    "builtins.sum builtins.tuple builtins.list builtins.min builtins.max builtins.sorted builtins.set".split()
)
"""What goes through all of a generator at once."""
_TEXT = frozenset(
    "join format upper lower strip lstrip rstrip replace split splitlines startswith endswith removeprefix removesuffix "
    "title capitalize find count isdigit isalpha encode zfill".split()
)


class Calls(Library):
    """Statements are left to the subclass."""

    def call(self, node: ast.Call, scope: Scope, hint: str) -> Any:
        target = self.evaluate(node.func, scope)
        eager = isinstance(target, Dotted) and target.name in _EAGER
        args: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                args += self._starred(argument, target, scope)
            elif isinstance(argument, ast.GeneratorExp):
                if not eager and not self.purity(scope).expression(argument):
                    self.refuse(argument, "a generator with calls")
                if not eager and not (
                    isinstance(target, Dotted) and target.name.startswith(("builtins.", "torch."))
                ):
                    self.refuse(argument, "a generator that is passed on")
                args.append(self.comprehension(argument.elt, argument.generators, scope, argument))
            else:
                args.append(self.evaluate(argument, scope))
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, PyDict) and all(isinstance(k, str) for k in value.items):
                kwargs |= value.items
            else:
                self.refuse(keyword, "what is starred here")
        return self.apply(target, args, kwargs, node, scope, hint)

    def _starred(self, argument: ast.Starred, target: Any, scope: Scope) -> list[Any]:
        values = self.elements([argument], scope)
        if values is not None:
            return values
        if not (isinstance(target, Dotted) and target.name.startswith("torch.")) and not (
            isinstance(target, BoundMethod) and isinstance(target.owner, Tensor | Unknown)
        ):
            self.refuse(argument, "what is starred here")
        chosen = (
            self.evaluate(argument.value, scope)
            if isinstance(argument.value, ast.Name | ast.Attribute)
            else None
        )
        if isinstance(chosen, Chosen):
            return [Chosen(chosen.why, chosen.name, many=True)] * 2
        return [Unknown("starred arguments")] * 2

    def apply(
        self, target: Any, args: list[Any], kwargs: dict[str, Any], node: ast.Call, scope: Scope, hint: str
    ) -> Any:
        span = self.span(node)
        self.evaluated.add((node.lineno, node.col_offset))
        match target:
            case Dotted(name=name):
                return self.call_library(name, args, kwargs, node, scope, hint)
            case CppFunction(name=name):
                if any(holds_code(v) or isinstance(v, Layer) for v in (*args, *kwargs.values())):
                    self.refuse(node, "what is passed to C++ here")
                return self.cpp(
                    name, [plain(a) for a in args], {k: plain(v) for k, v in kwargs.items()}, node
                )
            case PyFunction():
                return self.call_function(target, args, kwargs)
            case PyClass():
                return self.instantiate(target, args, kwargs, node)
            case PyObject(cls=cls):
                special = cls.find("__call__")
                forward = self.method_of(target, "__call__" if special is not None else "forward")
                if forward is None or "torch.autograd.Function" in cls.libraries():
                    self.refuse(node, f"a call of {cls.name}")
                return self.call_function(forward, args, kwargs)
            case Layer(kind="Sequential"):
                if len(args) != 1 or kwargs or target.changed:
                    self.refuse(node, "a call of nn.Sequential with other arguments")
                value = args[0]
                for part in self.sequence(target) or []:
                    value = self.apply(part, [value], {}, node, scope, hint)
                return value
            case Layer(kind=kind):
                if any(reaches(v) for v in (*args, *kwargs.values())) or holds_code(target):
                    self.refuse(node, f"a call of nn.{kind} with objects")
                return layers.apply(self.run, target, args, kwargs, span, hint or f"{kind.lower()}_out")
            case BoundMethod(owner=owner, name=name):
                return self.method(owner, name, args, kwargs, node, hint)
        self.refuse(node, "a call of something that is not known")

    def method(
        self, owner: Any, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call, hint: str
    ) -> Any:
        if name.startswith("_") and not isinstance(owner, Super):
            self.refuse(node, f"{name}()")
        match owner:
            case Tensor() | Unknown():
                return self._of_tensors(owner, name, args, kwargs, node, hint)
            case BoundMethod(owner=inner) if not reaches(inner):
                return self._of_tensors(Unknown(owner.name), name, args, kwargs, node, hint)
            case Super(object=instance) if name == "__init__":
                if any(reaches(v) for v in (*args, *kwargs.values()) if v is not instance):
                    self.refuse(node, "objects that are given to a library")
                return Null()
            case PyObject():
                return self._of_module(owner, name, args, kwargs, node)
            case Layer():
                return self._of_layer(owner, name, args, kwargs, node, hint)
            case PyList():
                return self._of_list(owner, name, args, kwargs, node)
            case PyDict():
                return self._of_dict(owner, name, args, kwargs, node)
            case PyClass() if (
                name == "apply" and "torch.autograd.Function" in owner.libraries() and not kwargs
            ):
                forward = owner.find("forward")
                if isinstance(forward, PyFunction) and forward.kind == "static":
                    return self.call_function(forward, [PyObject(owner), *args], {})
            case Text(value=text) if name in _TEXT:
                return self._of_text(text, name, args, kwargs)
            case Items() | Sizes() | Int() | Float() | Bool() | Dtype() | Text():
                if not any(reaches(v) for v in (owner, *args, *kwargs.values())):
                    return Unknown(f"{self.span(node)}: {name}()")
        self.refuse(node, f"{name}() of this")

    def _of_tensors(
        self, owner: Any, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call, hint: str
    ) -> Any:
        """Methods of tensors, and of what may be one or hold some."""
        if torch_ops.changes_handle(name) or "out" in kwargs:
            self.refuse(node, f"{name}(), which may change a tensor in place,")
        self.refuse_code(args, kwargs, node)
        values = [plain(a) for a in args]
        named = {k: plain(v) for k, v in kwargs.items()}
        if any(reaches(v) for v in (*values, *named.values())):
            self.refuse(node, f"{name}() of objects")
        if not isinstance(owner, Tensor):
            if name not in PURE_METHODS:
                self.forget_contents()
            return Unknown(f"{self.span(node)}: {name}()")
        if name == "item":
            return Float()
        if name == "is_contiguous":
            if args or kwargs:
                return Unknown("is_contiguous() of a memory format")
            return (
                TRUE if tensors.is_contiguous(self.run, owner) else Bool(fact=("contiguous", owner.key, None))
            )
        if name in (
            "chunk",
            "split",
            "unbind",
            "max",
            "min",
            "topk",
            "sort",
            "numpy",
            "untyped_storage",
            "tolist",
            "get_device",
        ):
            self.dissolve([owner])
            return Unknown(f"{name}()")
        if torch_ops.may_convert(name) and not self._only_moves([*values, *named.values()], name):
            return tensors.opaque(self.run, hint or name, f"{name}() that is not followed", None, [owner])
        made = torch_ops.call_method(self.run, owner, name, values, named, self.span(node), hint)
        if isinstance(made, Tensor) and name.startswith("new_") and tensors.elsewhere(named.get("device")):
            self.run.storages[made.storage].gap = tensors.elsewhere(named["device"])
        return made

    def _only_moves(self, values: list[Any], name: str) -> bool:
        """Whether ``to`` and the like get what is followed: a device, a dtype, another tensor."""
        known = (Dtype, Tensor, Bool, Null) if name == "type" else (Dtype, Tensor, Bool, Null, Text)
        return all(isinstance(v, known) or v in (DEVICE, OTHER_DEVICE) for v in values)

    def _moved(self, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call) -> None:
        """``cuda``, ``to``, ``eval``, ``train`` of modules: those that leave dtypes and layouts as they are."""
        if name in ("eval", "train"):
            self.modes_differ = True
        values = [v for v in (*args, *kwargs.values()) if not isinstance(v, Text | Bool | Int | Null)]
        if any(v not in (DEVICE, OTHER_DEVICE) for v in values):
            self.refuse(node, f"{name}() with what may be a dtype")

    def _of_module(
        self, owner: PyObject, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call
    ) -> Any:
        match name, args:
            case "register_buffer" | "register_parameter" | "add_module" | "register_module", [
                Text(value=text),
                value,
                *_,
            ]:
                if isinstance(value, Tensor):
                    self.registered.add(value.storage)
                self.set_attribute(owner, text, value, node)
                return Null()
            case (("cuda" | "to" | "eval" | "train" | "requires_grad_"), _):
                self._moved(name, args, kwargs, node)
                return owner
            case "apply", [PyFunction(node=ast.FunctionDef(body=body) as function, scope=scope)] if (
                self.purity(scope).fills(body) and not self.running
            ):
                self.forget_contents()
                del function
                return owner
        self.refuse_code(args, kwargs, node)
        if name in _TENSORS or name in _CONTEXT:
            return Unknown(f"{name}()")
        if name in _MODULES:
            return Hidden(f"what {name}() gives")
        self.refuse(node, f"{name}() of an object")

    def _of_layer(
        self, owner: Layer, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call, hint: str
    ) -> Any:
        match name, args:
            case (("cuda" | "to" | "eval" | "train" | "requires_grad_"), _):
                self._moved(name, args, kwargs, node)
                return owner
            case "append", [part] if owner.kind == "ModuleList":
                self.change(owner, node)
                owner.attributes[f"_{len(self.sequence(owner) or [])}"] = part
                return owner
            case "extend", [parts] if (
                owner.kind == "ModuleList" and (more := self.sequence(parts)) is not None
            ):
                self.change(owner, node)
                for part in more:
                    owner.attributes[f"_{len(self.sequence(owner) or [])}"] = part
                return owner
            case "forward", _ if owner.kind != "Sequential":
                return self.apply(owner, args, kwargs, node, self.module, hint)
            case "reset_parameters", []:
                self.forget_contents()
                return Null()
        if name in _TENSORS and not args and not kwargs:
            return Unknown(f"{name}()")
        if name in _MODULES:
            return Hidden(f"what {name}() gives")
        self.refuse(node, f"{name}() of nn.{owner.kind}")

    def _of_list(
        self, owner: PyList, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call
    ) -> Any:
        items = owner.items
        at = args[0].value if args and isinstance(args[0], Int) else None
        for value in args:
            if name != "extend":
                self.kept_value(value, node)
        match name, args:
            case "copy", []:
                return PyList(list(items))
            case (("index" | "count"), [value]) if not reaches(value):
                return Unknown(f"{name}() of a list")
        self.change(owner, node)
        match name, args:
            case "append", [value]:
                items.append(value)
            case "extend", [value] if (more := self.sequence(value)) is not None:
                items.extend(more)
            case "insert", [_, value] if at is not None:
                items.insert(at, value)
            case "pop", [] if items:
                return items.pop()
            case "pop", [_] if at is not None and -len(items) <= at < len(items):
                return items.pop(at)
            case "clear", []:
                items.clear()
            case "reverse", []:
                items.reverse()
            case _:
                self.refuse(node, f"{name}() of a list")
        return Null()

    def _of_dict(
        self, owner: PyDict, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call
    ) -> Any:
        table = owner.items
        key = key_of(args[0]) if args else None
        for value in (*args, *kwargs.values()):
            self.kept_value(value, node)
        match name, args:
            case "get", [_] if key is not None:
                return table.get(key, Null())
            case "get", [_, default] if key is not None:
                return table.get(key, default)
            case "keys", []:
                return PyIterator(self.sequence(owner) or [], (owner,))
            case "values", []:
                return PyIterator(list(table.values()), (owner,))
            case "items", []:
                pairs = [Items((constant(k), v)) for k, v in table.items()]
                return PyIterator(pairs, (owner,))
            case "copy", []:
                return PyDict(dict(table))
        self.change(owner, node)
        match name, args:
            case "update", [] | [PyDict()]:
                table |= (args[0].items if args else {}) | kwargs
                return Null()
            case "pop", [_] if key in table:
                return table.pop(key)
            case "pop", [_, default] if key is not None:
                return table.pop(key, default)
            case "setdefault", [_, default] if key is not None:
                return table.setdefault(key, default)
            case "clear", []:
                table.clear()
                return Null()
        self.refuse(node, f"{name}() of a dictionary")

    def _of_text(self, text: str, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Python's own method, where everything is known."""
        values: list[Any] = []
        for value in (*args, *kwargs.values()):
            items = self.sequence(value) if isinstance(value, Items | PyList) else None
            known = [key_of(v) for v in items] if items is not None else key_of(value)
            if known is None or (isinstance(known, list) and None in known):
                return Unknown("a text")
            values.append(known)
        try:
            result = getattr(text, name)(
                *values[: len(args)], **dict(zip(kwargs, values[len(args) :], strict=True))
            )
        except (TypeError, ValueError, LookupError):
            return Unknown("a text")
        return PyList([Text(t) for t in result]) if isinstance(result, list) else constant(result)

    def cpp(self, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """Run the C++ launcher on these values, converted as the binding does."""
        found = self.functions.get(name, [])
        if len(found) != 1:
            many = "more than once" if found else "nowhere"
            self.refuse(node, f"the C++ function {name}, which is defined {many},")
        if self._rebinds(found[0], set()):
            self.refuse(node, f"the C++ function {name}, which changes a tensor in place,")
        if kwargs or len(args) < len(self.code.functions[found[0]]["params"]):
            self.refuse(node, f"a call of the C++ function {name} by names or with defaults")
        return self.run_function(found[0], args, self.span(node))

    def _rebinds(self, usr: str, seen: set[str]) -> bool:
        """Whether a C++ function may give a tensor that it gets other sizes or memory."""
        seen.add(usr)

        def walk(node: Any) -> bool:
            if isinstance(node, list):
                return any(walk(n) for n in node)
            if not isinstance(node, dict):
                return False
            name = str(node.get("name", ""))
            if name.startswith(("at::", "torch::")) and "(" not in name:
                last = name.split("::")[-1]
                if (
                    node.get("k") in ("method", "call")
                    and torch_ops.changes_handle(last)
                    and last != "operator="
                ):
                    return True
            if node.get("fn") and node["fn"] not in seen and self._rebinds(node["fn"], seen):
                return True
            return any(walk(v) for k, v in node.items() if k != "s")

        function: Node | None = self.code.functions.get(usr)
        return function is not None and walk(function["body"])

    def run_function(self, usr: str, args: list[Any], span: Span) -> Any:
        """Execute a C++ function of the extension."""
        function = self.code.functions[usr]
        self.called.add(usr)
        values: list[Value] = []
        for index, param in enumerate(function["params"]):
            if index < len(args):
                values.append(self._bound_value(args[index], param, span))
            elif param["default"] is not None:
                values.append(self.host.eval(param["default"]))
            else:
                values.append(free_argument(self.run, param))
        if len(args) > len(function["params"]):
            raise Dead
        self.host.launcher = function["name"]
        self.host.references.clear()
        self.run.scope = len(self.run.storages)
        tensors = (
            (v, p["name"]) for v, p in zip(values, function["params"], strict=True) if isinstance(v, Tensor)
        )
        self.run.parameters = {v.storage: name for v, name in tensors if name}
        return self.host.call(usr, values, span)

    def _bound_value(self, value: Any, param: Any, span: Span) -> Value:
        """What pybind11 makes of an argument; it throws for an int that the C type cannot hold."""
        type_ = param["type"]
        dtype = dtype_of(type_)
        if isinstance(value, BoundMethod) and isinstance(value.owner, Tensor) and "Tensor" in type_:
            value = tensors.opaque(self.run, param["name"] or "tensor", value.name, None, [value.owner])
        if isinstance(value, BoundMethod | Dotted):
            value = Unknown(value.name)
        if dtype in ("f32", "f64", "f16", "bf16"):
            if not isinstance(value, Int | Float) or (isinstance(value, Float) and value.pins):
                return Float(type=dtype)  # what the problem's sizes make of it holds for these sizes only
            return self.host.coerce(value, type_)
        if dtype == "bool":
            return self.condition(value, ast.Constant(value=None))
        if dtype is not None:
            if isinstance(value, Bool) and value.plain:
                value = as_int(value, PY)
            if isinstance(value, Chosen) and value.name in self.run.chosen:
                value = self.run.chosen[value.name]
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
        if inner is not None and isinstance(value, Unknown) and "Tensor" not in type_:
            return free_argument(self.run, param)
        if "Tensor" in type_ and isinstance(value, Unknown):
            if type_.startswith("std::optional"):
                return free_argument(self.run, param)
            if "vector" in type_ and self.dissolved:
                raise Refused(f"{span}: tensors that are not followed: {self.dissolved}")
            if "vector" in type_:
                return Unknown(value.why)
            made = tensors.opaque(self.run, param["name"] or "tensor", value.why)
            self.run.storages[made.storage].gap = self.dissolved
            return made
        if isinstance(
            value, Int | Bool | Float | Tensor | Items | Null | Text | Unknown | Optional | Sizes | Dtype
        ):
            return value
        return free_argument(self.run, param)
