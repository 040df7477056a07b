"""Functions, classes and objects of a Python caller: how they are made, called, and what their attributes are.

Invariant: what a class could do behind the interpreter's back (a special method, a metaclass, a decorator, a base that is not
known) refuses the class where it is defined; attributes are found and set in the order that Python uses.

Example: ``self.big`` with a property ``big`` calls it; ``ModelNew.k = 3`` changes what every object without a ``k`` shows.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from verifier.contracts import tensors, torch_ops
from verifier.contracts.layers import Layer
from verifier.contracts.objects import (
    Dtype,
    Items,
    Null,
    Sizes,
    Tensor,
    Text,
    Unknown,
)
from verifier.contracts.python_decisions import PLAIN_BASES
from verifier.contracts.python_expressions import Expressions
from verifier.contracts.python_state import generates, own_nodes
from verifier.contracts.python_values import (
    DEVICE,
    BoundMethod,
    CppFunction,
    Dotted,
    Extension,
    Hidden,
    PyClass,
    PyDict,
    PyFunction,
    PyIterator,
    PyObject,
    ReturnSignal,
    Scope,
    Super,
    dotted,
    reaches,
)
from verifier.contracts.run import Dead
from verifier.contracts.values import Bool

_MAX_DEPTH = 30
_SPECIAL = frozenset(
    "__init__ __call__ __doc__ __constants__ __annotations__ __module__ __qualname__ __version__".split()
)
"""Names with underscores that a class may have."""
_INTERNAL = frozenset(
    "_apply _call_impl _wrapped_call_impl _slow_forward train add_module register_module register_buffer register_parameter "
    "get_submodule get_parameter requires_grad_ setup_context vmap jvp".split()
)
"""Names of torch.nn.Module and Function through which others work: a class of the caller that has one is not followed."""
_GRAD = ("no_grad", "inference_mode", "enable_grad")
_LAYER_DATA = frozenset(
    "weight bias in_features out_features in_channels out_channels kernel_size stride padding dilation groups eps momentum "
    "num_features running_mean running_var normalized_shape num_groups num_channels affine".split()
)


class Objects(Expressions):
    """Statements and calls are left to the subclasses."""

    def statement(self, node: ast.stmt, scope: Scope) -> None:
        raise NotImplementedError

    # --- making ---------------------------------------------------------------------------------------------------------

    def function(
        self, node: ast.FunctionDef | ast.Lambda, scope: Scope, owner: PyClass | None = None
    ) -> PyFunction:
        """``def`` or ``lambda``: defaults are evaluated now, decorators are known ones."""
        a = node.args
        kind: Any = "plain"
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                kind = self._decorated(decorator, scope, kind)
            notes = [
                x.annotation
                for x in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
                if x is not None
            ]
            for note in (*notes, node.returns):
                self.annotation(note)
        values = [self.evaluate(d, scope) for d in a.defaults]
        named = [x.arg for x in (*a.posonlyargs, *a.args)]
        defaults = dict(zip(named[len(named) - len(values) :], values, strict=True))
        for argument, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
            if default is not None:
                defaults[argument.arg] = self.evaluate(default, scope)
        for value in defaults.values():
            self.kept_value(value, node)
        return PyFunction(node, scope.around(), None, defaults, kind, owner)

    def annotation(self, node: ast.expr | None) -> None:
        """Annotations are evaluated where they stand: one that could do something is refused."""
        effects = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)
        if node is not None and any(isinstance(n, effects) for n in ast.walk(node)):
            self.refuse(node, "an annotation that calls something")

    def _decorated(self, node: ast.expr, scope: Scope, kind: str) -> str:
        target = node.func if isinstance(node, ast.Call) else node
        found = self.evaluate(target, scope) if isinstance(target, ast.Name | ast.Attribute) else None
        name = found.name if isinstance(found, Dotted) else ""
        if name in ("functools.lru_cache", "functools.cache") and kind == "plain":
            return "cached"
        if isinstance(node, ast.Call) and (node.args or node.keywords):
            name = ""
        if kind == "plain" and not isinstance(node, ast.Call):
            if name == "builtins.staticmethod":
                return "static"
            if name == "builtins.property":
                return "property"
        if name.startswith("torch.") and name.split(".")[-1] in _GRAD:
            return kind
        self.refuse(node, f"the decorator {ast.unparse(node)[:40]}")

    def define_class(self, node: ast.ClassDef, scope: Scope) -> PyClass:
        if node.decorator_list or node.keywords or getattr(node, "type_params", None):
            self.refuse(node, f"the class {node.name} with decorators or a metaclass")
        bases = tuple(self.evaluate(b, scope) for b in node.bases)
        for base in bases:
            if isinstance(base, PyClass):
                continue
            if not (
                isinstance(base, Dotted)
                and (base.name in PLAIN_BASES or re.fullmatch(r"torch\.nn\.[A-Z]\w*", base.name))
            ):
                self.refuse(node, f"the base of class {node.name}")
        if sum(isinstance(b, PyClass) for b in bases) > 1:
            self.refuse(node, f"the class {node.name} with several bases")
        for inner in ast.walk(node):
            name = getattr(inner, "attr", getattr(inner, "id", getattr(inner, "arg", None)))
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                self.refuse(inner, f"the private name {name}")
        cls = PyClass(node.name, bases)
        body = Scope(cls.attributes, scope.around(), kind="class")
        body.owner_class = cls
        for statement in node.body:
            self.statement(statement, body)
        for name in cls.attributes:
            if name in _INTERNAL or (name.startswith("__") and name not in _SPECIAL):
                self.refuse(node, f"the class {node.name} with {name}")
        return cls

    def instantiate(
        self, cls: PyClass, args: Sequence[Any], kwargs: dict[str, Any], node: ast.AST
    ) -> PyObject:
        instance = PyObject(cls)
        init = cls.find("__init__")
        if isinstance(init, PyFunction):
            self.call_function(init.bound(instance), args, kwargs)
        elif init is not None:
            self.refuse(node, f"how {cls.name} is made")
        elif any(reaches(v) for v in (*args, *kwargs.values())):
            self.refuse(node, "an object that is given to a library")
        return instance

    # --- calling --------------------------------------------------------------------------------------------------------

    def call_function(self, function: PyFunction, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        node = function.node
        if isinstance(node, ast.FunctionDef) and (
            generates(node) or (self.running and node not in self.kept.reach)
        ):
            self.refuse(node, f"the call of {node.name}")
        if function.kind == "cached":  # whichever call it was: an extension is always the same
            if (
                args
                or kwargs
                or not isinstance(found := self.call_function(function.plainly(), [], {}), Extension)
            ):
                self.refuse(node, "a function that keeps its results")
            return found
        self.depth += 1
        try:
            if self.depth > _MAX_DEPTH:
                self.refuse(node, "a call nested too deep")
            scope = Scope(self._bind(function, args, kwargs), function.scope)
            if function.owner is not None:
                scope.names["__class__"] = function.owner
                scope.names["__first__"] = next(iter(scope.names.values()))
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, scope)
            for inner in own_nodes(node):
                if isinstance(inner, ast.Global):
                    scope.shared |= set(inner.names)
            try:
                for statement in node.body:
                    self.statement(statement, scope)
            except ReturnSignal as result:
                return result.value
            return Null()
        finally:
            self.depth -= 1

    def _bind(self, function: PyFunction, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The parameters' values; what Python would reject ends the path by a refusal."""
        node, a = function.node, function.node.args
        values = [function.self_, *args] if function.self_ is not None else list(args)
        positional = [x.arg for x in (*a.posonlyargs, *a.args)]
        names = dict(zip(positional, values, strict=False))
        if a.vararg is not None:
            names[a.vararg.arg] = Items(tuple(values[len(positional) :]))
        elif len(values) > len(positional):
            self.refuse(node, "a call with more arguments than parameters")
        by_name = {x.arg for x in (*a.args, *a.kwonlyargs)}
        extra = {k: v for k, v in kwargs.items() if k not in by_name}
        if any(k in names for k in kwargs if k not in extra) or (extra and a.kwarg is None):
            self.refuse(node, "a call with arguments that do not fit")
        names |= {k: v for k, v in kwargs.items() if k not in extra}
        if a.kwarg is not None:
            names[a.kwarg.arg] = PyDict(extra)
        for name in (*positional, *(x.arg for x in a.kwonlyargs)):
            if name not in names:
                if name not in function.defaults:
                    self.refuse(node, f"a call without the argument {name}")
                names[name] = function.defaults[name]
        if any(isinstance(v, PyIterator) for v in names.values()):
            self.refuse(node, "an iterator that is passed on")
        return names

    def method_of(self, instance: PyObject, name: str) -> PyFunction | None:
        found = instance.cls.find(name)
        return found.bound(instance) if isinstance(found, PyFunction) and found.kind == "plain" else None

    # --- attributes -----------------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str, node: ast.AST) -> Any:
        if name.startswith("__") and not (isinstance(owner, PyClass | PyObject | Super) and name in _SPECIAL):
            if name == "__name__" and isinstance(owner, PyClass):
                return Text(owner.name)
            if name in ("__version__", "__name__", "__file__", "__path__") and not reaches(owner):
                return Unknown(name)
            self.refuse(node, f"the attribute {name}")
        match owner:
            case Dotted(name=base):
                return dotted(f"{base}.{name}")
            case Extension():
                return CppFunction(name)
            case PyObject():
                return self._of_object(owner, name, node)
            case PyClass():
                found = owner.find(name)
                for cls in owner.line():
                    found = self.recall(cls, name, self.kept.attributes, found, node)
                if isinstance(found, PyFunction) and found.kind == "property":
                    self.refuse(node, f"the property {name} of a class")
                return BoundMethod(owner, name) if found is None else found
            case Layer():
                found = self.recall(owner, name, self.kept.attributes, owner.attributes.get(name), node)
                if found is None and name.startswith("_"):
                    self.refuse(node, f"the attribute {name}")
                return BoundMethod(owner, name) if found is None else found
            case Tensor():
                return self._of_tensor(owner, name, node)
            case Super(object=instance, cls=cls):
                found = next((c.attributes[name] for c in cls.line()[1:] if name in c.attributes), None)
                if isinstance(found, PyFunction) and found.kind == "plain":
                    return found.bound(instance)
                return BoundMethod(owner, name) if found is None else found
            case Hidden(why=why):
                self.refuse(node, why)
            case Null():
                self.refuse(node, f"the attribute {name} of None")
        return BoundMethod(owner, name)

    def _of_object(self, owner: PyObject, name: str, node: ast.AST) -> Any:
        shared = owner.cls.find(name)
        if isinstance(shared, PyFunction) and shared.kind == "property":
            return self.call_function(shared.bound(owner), [], {})
        value = self.recall(owner, name, self.kept.attributes, owner.attributes.get(name), node)
        if value is not None:
            return value
        if shared is not None:
            for cls in owner.cls.line():
                shared = self.recall(cls, name, self.kept.attributes, shared, node)
            if isinstance(shared, PyFunction):
                return shared if shared.kind == "static" else shared.bound(owner)
            return shared
        if name == "training":
            return self.training()
        if name.startswith("_"):
            self.refuse(node, f"the attribute {name}")
        if name in _LAYER_DATA and not owner.cls.libraries() <= PLAIN_BASES:
            return Unknown(f"{name} of a layer")
        return BoundMethod(owner, name)

    def _of_tensor(self, owner: Tensor, name: str, node: ast.AST) -> Any:
        match name:
            case "shape":
                return Sizes(owner)
            case "dtype":
                return Dtype(tensors.dtype_name(self.run, owner), owner)
            case "device":
                return DEVICE
            case "is_cuda":
                return Bool(fact=("cuda", owner.key, None))
            case "real" | "imag" | "H" | "mH":
                return tensors.opaque(self.run, name, f"the {name} part of a tensor", None, [owner])
            case "T" | "mT" | "data" | "ndim":
                return torch_ops.call_method(self.run, owner, name, [], {}, self.span(node))
        return BoundMethod(owner, name)

    def set_attribute(self, owner: Any, name: str, value: Any, node: ast.AST) -> None:
        """``owner.name = value``; a value of None (not ``Null``) deletes."""
        if name.startswith("__") or isinstance(value, PyIterator):
            self.refuse(node, f"setting {name}")
        match owner:
            case PyObject():
                shared = owner.cls.find(name)
                property_ = isinstance(shared, PyFunction) and shared.kind == "property"
                held = isinstance(value, Tensor | Layer | PyObject) and shared is not None
                if property_ or held or name == "training":  # the class wins over what a module registers
                    self.refuse(node, f"setting {name}, which the class has")
                self.keep(owner, name, self.kept.attributes, node)
                table = owner.attributes
            case Layer():
                self.change(owner, node)
                owner.changed = True
                table = owner.attributes
            case PyClass():
                self.change(owner, node)
                if name in _INTERNAL:
                    self.refuse(node, f"setting {name} of a class")
                table = owner.attributes
            case Tensor() if name in ("requires_grad", "grad"):
                return
            case Dotted(name=base) if base.startswith("torch.backends."):
                return
            case _:
                self.refuse(node, f"setting the attribute {name} of this")
        if value is not None:
            table[name] = value
        elif name not in table:
            raise Dead
        else:
            del table[name]
