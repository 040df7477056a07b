"""The values that only Python callers have, and small helpers on their syntax trees. Data and pure functions.

Example: ``torch.nn.functional`` is ``Dotted("torch.nn.functional")``; the result of ``load_inline`` is an ``Extension``.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

from verifier.contracts import tensors
from verifier.contracts.layers import Layer
from verifier.contracts.objects import (
    Dtype,
    Float,
    Items,
    Null,
    Tensor,
    Text,
    Unknown,
)
from verifier.contracts.values import (
    PY,
    Int,
    const,
    truth,
)


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


class ReturnSignal(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class BreakSignal(Exception):
    pass


class ContinueSignal(Exception):
    pass


def plain(value: Any) -> Any:
    """Lists as the immutable values that the tensor operations take."""
    if isinstance(value, PyList):
        return Items(tuple(plain(v) for v in value.items))
    return value


def constant(value: object) -> Any:
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


def dotted(name: str) -> Any:
    """``torch.float32`` is a dtype, ``math.pi`` a number; other names stay names."""
    parts = name.split(".")
    if parts[0] == "torch" and len(parts) == 2 and parts[1] in tensors.DTYPES:
        return Dtype(tensors.DTYPES[parts[1]])
    if name in ("math.pi", "math.e", "math.inf"):
        return Float(3.141592653589793 if name == "math.pi" else None)
    return Dotted(name)


def is_instance(value: Any, names: str, args: list[Any]) -> Any:
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


def hint_of(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    return target.attr if isinstance(target, ast.Attribute) else ""


def loaded(target: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(target), mode="eval").body


def math_call(name: str, args: list[Any]) -> Any:
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


def gives_up(body: list[ast.stmt]) -> bool:
    """Whether an exception handler raises in the end."""
    ways_out = (ast.Return, ast.Break, ast.Continue)
    return isinstance(body[-1], ast.Raise) and not any(
        isinstance(n, ways_out) for s in body for n in ast.walk(s)
    )


def only_initialises(loop: ast.For) -> bool:
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


def holds_code(value: Any) -> bool:
    """Whether a value is, or holds, something of the caller that may launch when it is called."""
    match value:
        case CppFunction() | PyFunction() | PyObject() | Extension():
            return True
        case BoundMethod(owner=owner):
            return holds_code(owner)
        case Items(items=items) | PyList(items=items):
            return any(holds_code(v) for v in items)
        case PyDict(items=table):
            return any(holds_code(v) for v in table.values())
        case Layer(kind="Sequential" | "ModuleList", attributes=attributes):
            return any(holds_code(v) for v in attributes.values())
    return False
