"""A stand-in for torch that knows shapes, dtypes and value ranges only; problem files run against it in a child.

``install()`` makes ``import torch`` and every other unknown import succeed. Ints that a module assigns at its top level
become :class:`Sym`, an int that carries its expression, so that ``torch.rand(batch, dim * 2)`` has the shape
``("batch", "dim * 2")``. What has no entry gives a tensor without a shape, which the reader treats as unknown.

Example::

    n = Sym(1024, "n")
    rand(n, n // 2).shape        # (1024, 512), with texts 'n' and 'n // 2'
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

DTYPES = {
    "float32": "f32", "float": "f32", "float64": "f64", "double": "f64", "float16": "f16", "half": "f16", "bfloat16": "bf16",
    "int32": "i32", "int": "i32", "int64": "i64", "long": "i64", "int16": "i16", "short": "i16", "int8": "i8", "uint8": "u8",
    "bool": "bool",
}  # fmt: skip


class Sym(int):
    """An int with the clause text it was made by. Comparisons, hashing and printing are those of the int."""

    text: str

    def __new__(cls, value: int, text: str) -> Sym:
        made = super().__new__(cls, value)
        made.text = text
        return made


def text_of(value: int) -> str:
    return value.text if isinstance(value, Sym) else str(int(value))


def _binary(
    symbol: str, function: Callable[[int, int], int]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(a: Sym, b: object) -> Any:
        if type(b) is not int and not isinstance(b, Sym):
            return NotImplemented
        return Sym(function(int(a), int(b)), f"({text_of(a)} {symbol} {text_of(b)})")

    def backward(a: Sym, b: object) -> Any:
        if type(b) is not int and not isinstance(b, Sym):
            return NotImplemented
        return Sym(function(int(b), int(a)), f"({text_of(b)} {symbol} {text_of(a)})")

    return forward, backward


for _name, _symbol, _function in (
    ("add", "+", lambda a, b: a + b),
    ("sub", "-", lambda a, b: a - b),
    ("mul", "*", lambda a, b: a * b),
):
    _forward, _backward = _binary(_symbol, _function)
    setattr(Sym, f"__{_name}__", _forward)
    setattr(Sym, f"__r{_name}__", _backward)


def _floordiv(a: int, b: object) -> Any:
    """Python's floor and C's truncation agree for what is not negative; anything else loses its expression."""
    if type(b) is not int and not isinstance(b, Sym):
        return NotImplemented
    quotient = int(a) // int(b)
    return Sym(quotient, f"({text_of(a)} // {text_of(b)})") if int(a) >= 0 and int(b) > 0 else quotient


def _modulo(a: int, b: object) -> Any:
    if type(b) is not int and not isinstance(b, Sym):
        return NotImplemented
    rest = int(a) % int(b)
    return Sym(rest, f"({text_of(a)} % {text_of(b)})") if int(a) >= 0 and int(b) > 0 else rest


Sym.__floordiv__ = _floordiv  # type: ignore[method-assign]
Sym.__mod__ = _modulo  # type: ignore[method-assign]


class Dtype(str):
    """A torch dtype: its name in contracts."""


class Tensor:
    """``shape``: dims (ints or Sym), or None where an operation is not known."""

    def __init__(
        self,
        shape: tuple[int, ...] | None,
        dtype: str = "f32",
        low: int | None = None,
        high: int | None = None,
        layout: str = "contiguous",
        base: Tensor | None = None,
    ) -> None:
        self.base: Tensor = base.base if base is not None else self
        """The tensor whose memory this one may share."""
        self.shape: Any = shape
        self.dtype = Dtype(dtype)
        self.low, self.high, self.layout = low, high, layout
        self.device = "cpu"
        self.changed = False
        """Something may have written to the memory since its values were known."""

    def size(self, index: int | None = None) -> Any:
        return self.shape if index is None else self.shape[index]

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        total: int = 1
        for dim in self.shape:
            total = total * dim
        return total

    def _same(self, dtype: str | None = None, keep: bool = False) -> Tensor:
        return Tensor(
            self.shape,
            dtype or self.dtype,
            self.low if keep else None,
            self.high if keep else None,
            self.layout,
            self if keep else None,
        )

    def unknown(self) -> Tensor:
        """The result of something that is not known: a tensor of any kind, perhaps in the same memory."""
        return Tensor(None, "", base=self)

    def spoil(self, shape: bool = False) -> None:
        """The memory is written to, or the tensor itself becomes another one."""
        self.base.changed = True
        if shape:
            self.shape = self.base.shape = None

    @property
    def data(self) -> Tensor:
        return self._same(keep=True)

    @data.setter
    def data(self, value: Any) -> None:
        self.spoil(shape=True)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in DTYPES:
            return lambda: self._same(DTYPES[name], keep=DTYPES[name] in ("i32", "i64"))
        if name in _KEEP:
            return lambda *a, **k: self.unknown() if "memory_format" in k else self._same(keep=True)
        if name in _POINTWISE:
            return lambda *a, **k: self._pointwise(name, a, k)
        if name.endswith("_"):
            return lambda *a, **k: self._in_place(name)
        return lambda *a, **k: self.unknown()

    def _in_place(self, name: str) -> Tensor:
        self.spoil(shape=name not in _FILLS)
        return self

    def _pointwise(self, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Tensor:
        values = (*args, *kwargs.values())
        if "out" in kwargs or "dtype" in kwargs:
            spoil(values)
            return self.unknown()
        plain = [v for v in values if isinstance(v, int | float) or v is None]
        if len(plain) != len(values):
            other = values[0] if len(values) == 1 else None
            return self._with(other) if name in ("add", "sub", "mul", "div") else self.unknown()
        if self.dtype not in _FLOATS and not (
            name in ("add", "sub", "mul", "abs", "triu", "tril", "square")
            and all(isinstance(v, int) for v in values)
        ):
            return self.unknown()
        return self._same()

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        values = (*args, *(v for k, v in kwargs.items() if k not in ("device", "non_blocking", "copy")))
        wanted = next((a for a in values if isinstance(a, Dtype)), None)
        if any(not isinstance(v, str | bool | int) and v is not None for v in values):
            return self.unknown()
        return self._same(wanted, keep=wanted in (None, "i32", "i64"))

    def type(self, wanted: Any = None) -> Any:
        return self.to(wanted) if isinstance(wanted, Dtype) else self.unknown()

    def transpose(self, a: int, b: int) -> Tensor:
        if self.shape is None:
            return Tensor(None, self.dtype, base=self)
        dims = list(self.shape)
        dims[a], dims[b] = dims[b], dims[a]
        return Tensor(tuple(dims), self.dtype, self.low, self.high, "dense", self)

    def t(self) -> Tensor:
        return self.transpose(0, 1)

    @property
    def T(self) -> Tensor:
        return self.transpose(0, 1)

    def view(self, *dims: Any) -> Tensor:
        return Tensor(_resolved(self, _dims(dims)), self.dtype, self.low, self.high, self.layout, self)

    def reshape(self, *dims: Any) -> Tensor:
        return self.view(*dims)

    def unsqueeze(self, at: int) -> Tensor:
        if self.shape is None:
            return Tensor(None, self.dtype, base=self)
        dims = list(self.shape)
        dims.insert(at if at >= 0 else at + len(dims) + 1, 1)
        return Tensor(tuple(dims), self.dtype, self.low, self.high, self.layout, self)

    def _with(self, other: Any) -> Tensor:
        """A binary operation: the shape is known for a number, and for a tensor of the same dims."""
        if isinstance(other, Tensor):
            same = self.shape is not None and other.shape is not None and self.dtype == other.dtype
            texts = [[text_of(d) for d in t.shape] for t in (self, other)] if same else [[], ["?"]]
            return self._same() if texts[0] == texts[1] and self.dtype in _FLOATS else self.unknown()
        number = isinstance(other, int | float) if self.dtype in _FLOATS else isinstance(other, int)
        return self._same() if number else self.unknown()

    def _divided(self, other: Any) -> Tensor:
        return self._with(other) if self.dtype in _FLOATS else self.unknown()

    def _compared(self, other: Any) -> Tensor:
        if isinstance(other, int | float):
            return self._same("bool")
        found = self._with(other)
        return found._same("bool") if found.shape is not None else found

    def _changed(self, other: Any) -> Tensor:
        self.spoil()
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _with
    __truediv__ = __rtruediv__ = __pow__ = _divided
    __iadd__ = __isub__ = __imul__ = __itruediv__ = _changed
    __gt__ = __lt__ = __ge__ = __le__ = _compared

    def __neg__(self) -> Tensor:
        return self._same()

    def __getitem__(self, key: Any) -> Tensor:
        return Tensor(None, self.dtype, base=self)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.spoil()

    def __iter__(self) -> Any:
        raise TypeError("iteration over a tensor without values")


_KEEP = frozenset("cuda cpu contiguous clone detach requires_grad_ pin_memory clone".split())
_POINTWISE = frozenset("softmax log_softmax abs exp log sqrt sigmoid tanh relu clamp triu tril mul add sub div sign round floor "
                        "square pow".split())  # fmt: skip
_FILLS = frozenset(
    "normal_ uniform_ fill_ zero_ mul_ add_ sub_ div_ random_ clamp_ exponential_ bernoulli_ copy_ requires_grad_ abs_ neg_ "
    "fill_diagonal_ pow_ relu_ sigmoid_ tanh_ exp_ sqrt_ masked_fill_ scatter_ index_fill_ index_put_".split()
)
"""Operations in place that leave the shape."""
_FLOATS = ("f16", "bf16", "f32", "f64")


def spoil(values: Any, shape: bool = True) -> None:
    """All tensors in these may be changed."""
    if isinstance(values, Tensor):
        values.spoil(shape)
    elif isinstance(values, list | tuple):
        for value in values:
            spoil(value, shape)
    elif isinstance(values, dict):
        spoil(list(values.values()), shape)


def _dtype(dtype: Any, default: str) -> str:
    """Of a keyword argument; empty for one that is not known."""
    return default if dtype is None else dtype if isinstance(dtype, Dtype) else ""


def _dims(values: Sequence[Any]) -> tuple[int, ...] | None:
    if len(values) == 1 and isinstance(values[0], list | tuple):
        values = values[0]
    return tuple(values) if all(isinstance(v, int) for v in values) else None


def _resolved(tensor: Tensor, dims: tuple[int, ...] | None) -> tuple[int, ...] | None:
    if dims is None or tensor.shape is None or any(d == -1 for d in dims):
        return None
    return dims


def _creator(name: str) -> Callable[..., Tensor]:
    def create(*size: Any, dtype: str | None = None, **kwargs: Any) -> Tensor:
        given = [s for s in size if isinstance(s, int | list | tuple)]
        if name == "full":
            given = [s for s in given if isinstance(s, list | tuple)]
        if "size" in kwargs:
            given = [kwargs["size"]]
        default = "f32"
        if name == "full":
            fill = kwargs.get("fill_value", size[1] if len(size) > 1 else None)
            default = "f32" if isinstance(fill, float) else "bool" if isinstance(fill, bool) else "i64"
            if not isinstance(fill, int | float):
                return Tensor(None, "")
        return _made(_dims(given), _dtype(dtype, default), kwargs)

    return create


def _made(
    shape: tuple[int, ...] | None, dtype: str, kwargs: dict[str, Any], low: Any = None, high: Any = None
) -> Tensor:
    """What a creation function gives."""
    if "out" in kwargs or "layout" in kwargs or "memory_format" in kwargs or not dtype:
        spoil(kwargs)
        return Tensor(None, "")
    return Tensor(shape, dtype, low, high)


def randint(
    *args: Any, dtype: str | None = None, size: Any = None, low: Any = None, high: Any = None, **kwargs: Any
) -> Tensor:
    """``randint(high, size)``, ``randint(low, high, size)``, and the keyword forms."""
    numbers = [a for a in args if isinstance(a, int)]
    size = next((a for a in args if isinstance(a, list | tuple)), size)
    if len(numbers) == 1:
        low, high = (0 if low is None else low), (numbers[0] if high is None else high)
    elif len(numbers) >= 2:
        low, high = numbers[:2]
    top = None if not isinstance(high, int) else high - 1
    shape = _dims([size]) if size is not None else None
    return _made(shape, _dtype(dtype, "i64"), kwargs, 0 if low is None else low, top)


def arange(*args: Any, dtype: str | None = None, **kwargs: Any) -> Tensor:
    if len(args) == 1 and isinstance(args[0], int):
        return _made((args[0],), _dtype(dtype, "i64"), kwargs, 0, args[0] - 1)
    return Tensor(None, "")


def _like(tensor: Tensor, *args: Any, dtype: str | None = None, **kwargs: Any) -> Tensor:
    return (
        _made(tensor.shape, _dtype(dtype, tensor.dtype), kwargs)
        if isinstance(tensor, Tensor)
        else Tensor(None, "")
    )


def _pointwise(name: str) -> Callable[..., Any]:
    def apply(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        return tensor._pointwise(name, args, kwargs) if isinstance(tensor, Tensor) else Tensor(None, "")

    return apply


class Anything:
    """Any name, callable, usable as a decorator and as a base class. ``_name``: that of the function, where it is one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._name = args[0] if len(args) == 1 and isinstance(args[0], str) else ""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Anything(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._name.startswith("set_default"):
            raise NotImplementedError(f"{self._name}() changes what all other functions make")
        spoil([args, kwargs], self._name.endswith("_") or "out" in kwargs or self._name == "")
        return Anything()

    def __getitem__(self, key: Any) -> Any:
        return Anything()

    def __or__(self, other: Any) -> Any:
        return Anything()

    def __iter__(self) -> Any:
        return iter(())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *args: Any) -> None:
        return None


class Module:
    """torch.nn.Module: never constructed here."""


class StubModule(types.ModuleType):
    """A module in which every name exists."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        module = StubModule(spec.name)
        module.__path__ = []
        if spec.name == "torch":
            _fill(module)
        if spec.name == "torch.nn":
            module.Module = Module  # type: ignore[attr-defined]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        return None


def _fill(module: types.ModuleType) -> None:
    names: dict[str, Any] = {n: _creator(n) for n in ("rand", "randn", "zeros", "ones", "empty", "full")}
    names |= dict.fromkeys(
        ("rand_like", "randn_like", "zeros_like", "ones_like", "empty_like", "full_like"), _like
    )
    names |= {
        n: _pointwise(n) for n in ("triu", "tril", "softmax", "abs", "sigmoid", "relu", "clamp", "exp", "log")
    }
    names |= {n: Dtype(d) for n, d in DTYPES.items()}
    names |= {"randint": randint, "arange": arange, "Tensor": Tensor, "manual_seed": Anything()}
    for name, value in names.items():
        setattr(module, name, value)


def install() -> None:
    """Every import that the standard library does not serve is served by a stub; torch always is."""
    finder = _Finder()

    class First(importlib.abc.MetaPathFinder):
        def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
            return finder.find_spec(name) if name.split(".")[0] in ("torch", "numpy", "triton") else None

    sys.meta_path.insert(0, First())
    sys.meta_path.append(finder)
