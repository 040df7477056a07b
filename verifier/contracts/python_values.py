"""The values that only Python callers have, and small helpers on their syntax trees. Data and pure functions.

Invariant: an ``Unknown`` is never another name for an object that is followed (a list, an object, a class, a function): what may
be one is ``Hidden``, and nothing but naming it is followed. Objects are numbered as they are born.

Example: ``torch.nn.functional`` is ``Dotted("torch.nn.functional")``; the result of ``load_inline`` is an ``Extension``.
"""

from __future__ import annotations

import ast
import builtins
import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from verifier.contracts import tensors
from verifier.contracts.layers import Layer, births
from verifier.contracts.objects import (
    Dtype,
    Float,
    Items,
    Null,
    Text,
    Unknown,
)
from verifier.contracts.values import (
    PY,
    Int,
    arith,
    const,
    convert,
    truth,
)

DEVICE = Unknown("device")
"""That of a tensor."""
OTHER_DEVICE = Unknown("a device")

BUILTINS = frozenset(dir(builtins))
EXCEPTIONS = frozenset(
    n for n, v in vars(builtins).items() if isinstance(v, type) and issubclass(v, BaseException)
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


@dataclass(frozen=True, slots=True)
class Hidden:
    """Something that may be, or hold, an object that is followed; ``why`` nobody knows which."""

    why: str


@dataclass(slots=True, eq=False)
class Scope:
    """Names; ``shared``: those that the function declares global; ``owner_class``: the class whose body it is."""

    names: dict[str, Any]
    parent: Scope | None = None
    kind: Literal["module", "function", "class", "comprehension"] = "function"
    shared: set[str] = field(default_factory=set)
    owner_class: PyClass | None = None
    born: int = field(default_factory=births)

    def module(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def owner(self, name: str) -> Scope | None:
        """The scope that holds a name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.shared:
                scope = scope.module()
            if name in scope.names:
                return scope
            scope = scope.parent
        return None

    def find(self, name: str) -> Any:
        scope = self.owner(name)
        return None if scope is None else scope.names[name]

    def around(self) -> Scope:
        """The scope that functions defined here see."""
        return self.parent if self.kind == "class" and self.parent is not None else self


@dataclass(slots=True, eq=False)
class PyFunction:
    """``defaults``: values by parameter, made once. ``owner``: the class in whose body it stands."""

    node: ast.FunctionDef | ast.Lambda
    scope: Scope
    self_: Any = None
    defaults: dict[str, Any] = field(default_factory=dict)
    kind: Literal["plain", "static", "property", "cached"] = "plain"
    owner: PyClass | None = None

    def plainly(self) -> PyFunction:
        return PyFunction(self.node, self.scope, self.self_, self.defaults, "plain", self.owner)

    def bound(self, instance: Any) -> PyFunction:
        return PyFunction(self.node, self.scope, instance, self.defaults, self.kind, self.owner)


@dataclass(slots=True, eq=False)
class PyClass:
    """``bases``: classes of the caller and of libraries."""

    name: str
    bases: tuple[Any, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    born: int = field(default_factory=births)

    def line(self) -> list[PyClass]:
        """The class and those of the caller that it inherits from, in the order of look-up; at most one is direct."""
        out = [self]
        for base in self.bases:
            if isinstance(base, PyClass):
                out += base.line()
        return out

    def libraries(self) -> set[str]:
        return {b.name for c in self.line() for b in c.bases if isinstance(b, Dotted)}

    def find(self, name: str) -> Any:
        """An attribute of the class; None where no class of the caller has it."""
        return next((c.attributes[name] for c in self.line() if name in c.attributes), None)


@dataclass(slots=True, eq=False)
class PyObject:
    cls: PyClass
    attributes: dict[str, Any] = field(default_factory=dict)
    born: int = field(default_factory=births)


@dataclass(frozen=True, slots=True)
class Super:
    object: Any
    cls: PyClass


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """An attribute that is not followed: a method, or a value that is none of the caller's objects."""

    owner: Any
    name: str


@dataclass(slots=True, eq=False)
class PyDict:
    items: dict[Any, Any]
    born: int = field(default_factory=births)


@dataclass(slots=True, eq=False)
class PyList:
    """A list: an object, so that what another name sees is the same list."""

    items: list[Any]
    born: int = field(default_factory=births)


@dataclass(slots=True, eq=False)
class PyIterator:
    """What ``enumerate``, ``zip`` … give. It is gone through where it is made, and is never kept; ``sources`` stay meanwhile."""

    items: list[Any]
    sources: tuple[Any, ...] = ()
    born: int = field(default_factory=births)


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


def key_of(value: Any) -> Any:
    """A dictionary key as Python compares it; None for one that is not known."""
    match value:
        case Text(value=text):
            return text
        case Int(value=number) if number is not None:
            return number
    return None


def dotted(name: str) -> Any:
    """``torch.float32`` is a dtype, ``math.pi`` a number; other names stay names."""
    parts = name.split(".")
    if parts[0] == "torch" and len(parts) == 2 and parts[1] in tensors.DTYPES:
        return Dtype(tensors.DTYPES[parts[1]])
    if name in ("math.pi", "math.e", "math.inf"):
        return Float({"math.pi": math.pi, "math.e": math.e}.get(name))
    return Dotted(name)


def hint_of(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    return target.attr if isinstance(target, ast.Attribute) else ""


def loaded(target: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
    """The target of an assignment as an expression."""
    out = copy.copy(target)
    out.ctx = ast.Load()
    return out


def math_call(name: str, args: list[Any]) -> Any:
    """Of known numbers; the caller minds what they are pinned to."""
    values = [a.value for a in args if isinstance(a, Int | Float)]
    if len(values) == len(args) and None not in values and hasattr(math, name):
        try:
            result = getattr(math, name)(*values)
        except (ValueError, OverflowError, TypeError):
            return Unknown(f"math.{name}()")
        if isinstance(result, bool) or not isinstance(result, int | float):
            return Unknown(f"math.{name}()")
        return const(result, PY) if isinstance(result, int) else Float(float(result))
    return Unknown(f"math.{name}()")


def product(values: Sequence[Any]) -> Any:
    """Exact, as Python multiplies."""
    total = const(1, PY)
    for value in values:
        found = arith("*", total, convert(value, PY), PY) if isinstance(value, Int) else None
        if found is None:
            return Unknown("a product")
        total = found
    return total


def reaches(value: Any) -> bool:
    """Whether a value is, or holds, an object of the caller: what gets it could change it or call it."""
    match value:
        case CppFunction() | PyFunction() | PyClass() | PyObject() | Extension() | Super() | Hidden():
            return True
        case PyList() | PyDict() | PyIterator() | Scope() | Layer():
            return True
        case BoundMethod(owner=owner):
            return reaches(owner)
        case Items(items=items):
            return any(reaches(v) for v in items)
    return False


def holds_code(value: Any) -> bool:
    """Whether a value is, or holds, something of the caller that may launch when it is called, or that can be changed."""
    match value:
        case PyList(items=items):
            return any(holds_code(v) for v in items)
        case Items(items=items):
            return any(holds_code(v) for v in items)
        case Layer(attributes=attributes):
            return any(holds_code(v) for v in attributes.values())
    return reaches(value)
