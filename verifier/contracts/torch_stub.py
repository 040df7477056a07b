"""A stand-in for torch that knows shapes, dtypes and value ranges only; problem files run against it in a child.

Ints that a module assigns at its top level are :class:`Sym`, an int that carries its expression, so that
``torch.rand(batch, dim * 2)`` has the shape ``("batch", "dim * 2")``. A function without a model here, or with an argument that
its model does not name, gives an ``Unknown`` and loses its tensors.

Example::

    torch = stand_in()
    n = Sym(1024, "n")
    torch.rand(n, n // 2).shape  # (1024, 512), with texts 'n' and 'n // 2'
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

from verifier.contracts.stub_tensor import DTYPES, Device, Dtype, Tensor, is_number, shape_of
from verifier.contracts.stub_values import WORLD, Known, Library, Sym, Unknown, escape, is_int, refuse

CREATED = frozenset("device requires_grad pin_memory generator".split())
"""Keywords of functions that create tensors on which neither shape nor dtype nor range depend."""
REAL = frozenset(
    "__future__ abc collections contextlib copy dataclasses enum functools itertools math numbers operator typing "
    "warnings".split()
)
"""Modules that a problem file gets as they are."""


def _created(
    shape: tuple[int, ...] | None, default: str, dtype: Any, kwargs: dict[str, Any], low: Any = None, high: Any = None,
    layout: str = "contiguous",
) -> Any:  # fmt: skip
    """What a function that creates tensors gives."""
    if kwargs.keys() - CREATED or not (dtype is None or isinstance(dtype, Dtype)):
        escape([dtype, *kwargs.values()], keeps_lists=True)
        return Unknown()
    return Tensor(shape, default if dtype is None else dtype.name, low, high, layout)


def _creator(name: str) -> Callable[..., Any]:
    def create(*size: Any, dtype: Any = None, **kwargs: Any) -> Any:
        if "size" in kwargs:
            size = (*size, kwargs.pop("size"))
        return _created(shape_of(size), "f32", dtype, kwargs)

    create.__name__ = name
    return create


def full(size: Any, fill_value: Any, *, dtype: Any = None, **kwargs: Any) -> Any:
    kinds = {bool: "bool", int: "i64", Sym: "i64", float: "f32"}
    if type(fill_value) not in kinds or not isinstance(size, list | tuple):
        return _created(None, "", Unknown(), {**kwargs, "fill_value": fill_value})
    return _created(shape_of([size]), kinds[type(fill_value)], dtype, kwargs)


def _like(name: str) -> Callable[..., Any]:
    def like(tensor: Any, *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        fill = [*args, *([kwargs.pop("fill_value")] if "fill_value" in kwargs else [])]
        exact = len(fill) == (name == "full_like") and all(is_number(f) or type(f) is bool for f in fill)
        if not isinstance(tensor, Tensor) or not tensor._known or not exact:
            return _created(None, "", Unknown(), {**kwargs, "of": [tensor, *fill]})
        return _created(tensor._shape, tensor._dtype, dtype, kwargs, layout=tensor._layout)

    like.__name__ = name
    return like


def randint(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """``randint(high, size)``, ``randint(low, high, size)``, and the keyword forms."""
    given = list(args)
    size = kwargs.pop("size") if "size" in kwargs else given.pop() if given else None
    names = [n for n in ("low", "high") if n not in kwargs]
    if len(given) == 1 and len(names) == 2:
        names = ["high"]
    ends = {"low": 0} | {n: kwargs.pop(n) for n in ("low", "high") if n in kwargs}
    ends |= dict(zip(names, given, strict=False))
    shape = shape_of([size]) if isinstance(size, list | tuple) else None
    if len(given) > len(names) or not all(map(is_int, ends.values())) or "high" not in ends:
        escape([*given, *ends.values()])
        return _created(shape, "i64", dtype, kwargs)
    return _created(shape, "i64", dtype, kwargs, ends["low"], ends["high"] - 1)


def arange(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    if len(args) != 1 or not is_int(args[0]) or args[0] < 0:
        return _created(None, "", Unknown(), {**kwargs, "of": args})
    return _created((args[0],), "i64", dtype, kwargs, 0, args[0] - 1)


def randperm(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    return arange(*args, dtype=dtype, **kwargs)


def _of_first(name: str) -> Callable[..., Any]:
    def apply(*args: Any, **kwargs: Any) -> Any:
        if not args or not isinstance(args[0], Tensor) or not args[0]._known:
            escape([*args, *kwargs.values()], keeps_lists=True)
            return Unknown()
        return getattr(args[0], name)(*args[1:], **kwargs)

    apply.__name__ = name
    return apply


def device(*args: Any, **kwargs: Any) -> Any:
    if kwargs or not args or type(args[0]) is not str or not all(map(is_int, args[1:])):
        return Unknown("torch.device")
    return Device()


class Plain(Known):
    """``torch.no_grad()``: a context and a decorator that changes no value."""

    __slots__ = ()

    def __call__(self, function: Any) -> Any:
        return function

    def __enter__(self) -> None:
        return None

    def __exit__(self, *args: Any) -> None:
        return None


def plain(*args: Any, **kwargs: Any) -> Any:
    return args[0] if len(args) == 1 and isinstance(args[0], types.FunctionType) else Plain()


class _OfTensor(type):
    """``torch.Tensor`` as a name for ``isinstance`` and annotations; its functions are not known."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if isinstance(instance, Unknown):
            refuse("whether a value is a tensor is not known here, and the file depends on it")
        return isinstance(instance, Tensor)

    def __eq__(cls, other: object) -> bool:
        return same_object(cls, other)

    __hash__ = type.__hash__

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return Unknown("torch.Tensor")(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"torch.Tensor.{name}")

    def __setattr__(cls, name: str, value: Any) -> None:
        WORLD.lose(f"torch.Tensor.{name} is replaced")


class TensorType(metaclass=_OfTensor):
    pass


def same_object(a: object, b: object) -> bool:
    """``a is b``."""
    if a is b or {id(a), id(b)} == {id(Tensor), id(TensorType)}:
        return True
    for value, other in ((a, b), (b, a)):
        if (
            value is Unknown
            or isinstance(value, Unknown)
            or (isinstance(value, Tensor) and isinstance(other, Tensor))
        ):
            refuse("whether two values are one object is not known here, and the file depends on it")
    return False


class Module:
    """torch.nn.Module: never constructed here."""


CREATORS = ("rand", "randn", "zeros", "ones", "empty")
LIKES = ("rand_like", "randn_like", "zeros_like", "ones_like", "empty_like", "full_like")
OF_FIRST = (
    "triu",
    "tril",
    "softmax",
    "log_softmax",
    "abs",
    "sigmoid",
    "relu",
    "tanh",
    "sqrt",
    "clamp",
    "exp",
    "log",
)


def stand_in() -> Library:
    """``torch``."""
    known: dict[str, Any] = {n: _creator(n) for n in CREATORS} | {n: _like(n) for n in LIKES}
    known |= {n: _of_first(n) for n in OF_FIRST} | DTYPES
    known |= {f.__name__: f for f in (full, randint, arange, randperm, device)}
    known |= {"no_grad": plain, "inference_mode": plain, "enable_grad": plain, "Tensor": TensorType}
    known["nn"] = Library("torch.nn", {"Module": Module})
    known["cuda"] = Library("torch.cuda", {"is_available": lambda: True})
    return Library("torch", known)


def importer() -> Callable[..., Any]:
    """``__import__`` for a problem file: the modules in REAL as they are, the stub of torch, and nothing known else."""
    modules: dict[str, Library] = {"torch": stand_in()}

    def find(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        first, *rest = name.split(".")
        if level:
            refuse("a relative import")
        if first in REAL:
            return builtins.__import__(name, globals, locals, fromlist, level)
        found: Any = modules.setdefault(first, Library(first))
        if not fromlist:
            return found
        if "*" in fromlist:
            refuse(f"from {name} import *")
        for part in rest:
            found = getattr(found, part)
        return found

    return find
