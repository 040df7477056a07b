"""Tensors of a problem file: shape, dtype, value range and memory, without values.

Modelled are the tables below and the methods of :class:`Tensor`, for the arguments that they name; any other use of a tensor
gives an ``Unknown`` and loses what was known of it.

Invariant: a dtype, a shape or a range that is told is the one that torch would give. Views share their memory, and with it
the loss of their ranges.

Example::

    idx = Tensor((Sym(64, "M"),), "i64", 0, 99)
    row = idx.view(8, 8)
    row += 1                     # idx has no range any more
    idx.resize_(3)               # neither has a shape
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from verifier.contracts.stub_values import UNDECIDED, Known, Memory, Unknown, escape, is_int, refuse, text_of


class Dtype(Known):
    """A torch dtype; one object for each."""

    __slots__ = ("name", "title")

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title

    def __repr__(self) -> str:
        return f"torch.{self.title}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown()


BY_NAME = {
    n: Dtype(n, title)
    for n, title in {
        "f16": "float16",
        "bf16": "bfloat16",
        "f32": "float32",
        "f64": "float64",
        "bool": "bool",
        "u8": "uint8",
        "i8": "int8",
        "i16": "int16",
        "i32": "int32",
        "i64": "int64",
    }.items()
}
_SHORT = {"float": "f32", "double": "f64", "half": "f16", "int": "i32", "long": "i64", "short": "i16"}
DTYPES = {d.title: d for d in BY_NAME.values()} | {n: BY_NAME[d] for n, d in _SHORT.items()}
FLOATS = ("f16", "bf16", "f32", "f64")
INTS = {"u8": (0, 2**8)} | {f"i{n}": (-(2 ** (n - 1)), 2 ** (n - 1)) for n in (8, 16, 32, 64)}

CONVERSIONS = _SHORT | {"bfloat16": "bf16", "char": "i8", "byte": "u8", "bool": "bool"}
SAME = frozenset("cuda cpu contiguous clone detach pin_memory".split())
"""Methods that give the same values, perhaps in other memory."""
UNARY = frozenset("exp log sqrt sigmoid tanh relu sign round floor abs neg square".split())
"""Methods without arguments that give a float tensor's shape and dtype."""
FILLS = frozenset(
    "normal_ uniform_ fill_ zero_ mul_ add_ sub_ div_ random_ clamp_ exponential_ bernoulli_ copy_ abs_ neg_ "
    "fill_diagonal_ pow_ relu_ sigmoid_ tanh_ exp_ sqrt_ masked_fill_ scatter_ index_fill_ index_put_".split()
)
"""Methods that change values in place, but neither shape nor dtype."""
VIEWS = frozenset("expand permute squeeze flatten narrow select unfold movedim swapaxes".split())
"""Methods that give a tensor of the same dtype, of any shape, perhaps in the same memory."""
READS = frozenset(
    "sum mean prod amax amin argmax argmin norm std var cumsum cumprod topk sort argsort unique nonzero any all item tolist "
    "matmul mm bmm is_cuda is_contiguous is_leaf requires_grad element_size stride storage_offset".split()
)
"""Methods and attributes that change nothing and give nothing that shares memory; the result is not known."""
OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()


class Device(Known):
    __slots__ = ()

    def _undecided(self, *args: Any) -> Any:
        refuse("the device is not known here, and the file depends on it")

    __str__ = __repr__ = __format__ = __eq__ = __ne__ = _undecided
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown()


def is_number(value: object) -> bool:
    return is_int(value) or type(value) is float


class Tensor:
    """``_shape``: dims (ints or Sym), or None where it is not known; the dtype is known as long as the memory is.

    ``_whole``: it is not made from another tensor.
    """

    __slots__ = ("_dtype", "_high", "_layout", "_low", "_memory", "_shape", "_whole")
    _dtype: str
    _low: int | None
    _high: int | None
    _layout: str
    _memory: Memory
    _shape: tuple[int, ...] | None
    _whole: bool

    def __init__(
        self,
        shape: tuple[int, ...] | None,
        dtype: str,
        low: int | None = None,
        high: int | None = None,
        layout: str = "contiguous",
        memory: Memory | None = None,
    ) -> None:
        if (
            low is None
            or high is None
            or dtype not in INTS
            or not INTS[dtype][0] <= low <= high < INTS[dtype][1]
        ):
            low = high = None
        values = (dtype, high, layout, low, memory or Memory(), shape, memory is None)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    # what is known

    @property
    def _known(self) -> bool:
        return not self._memory.wild

    def _escape(self) -> None:
        self._memory.changed = self._memory.wild = True

    def _unknown(self, *others: Any) -> Any:
        escape([self, *others], keeps_lists=True)
        return Unknown()

    def _made(self, shape: tuple[int, ...] | None, dtype: str = "", layout: str = "") -> Tensor:
        """A new tensor of other values."""
        return Tensor(shape, dtype or self._dtype, layout=layout or self._layout)

    def _view(self, shape: tuple[int, ...] | None, layout: str = "") -> Tensor:
        """The same values, perhaps in the same memory."""
        return Tensor(shape, self._dtype, self._low, self._high, layout or self._layout, self._memory)

    # attributes

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("_"):
            return object.__getattribute__(self, name)
        if not self._known:
            return Unknown(f"torch.Tensor.{name}")
        if name in METHODS:
            return object.__getattribute__(self, name)
        for table, make in (
            (SAME, self._same), (UNARY, self._unary), (CONVERSIONS, self._converted), (FILLS, self._filled),
        ):  # fmt: skip
            if name in table:
                return functools.partial(make, name)
        if name in VIEWS:
            return self._viewed
        if name not in READS:
            self._unknown()
        return Unknown(f"torch.Tensor.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "requires_grad":
            self._unknown(value)

    def __delattr__(self, name: str) -> None:
        self._unknown()

    @property
    def shape(self) -> Any:
        return Unknown() if self._shape is None else self._shape

    @property
    def dtype(self) -> Any:
        return BY_NAME[self._dtype]

    @property
    def device(self) -> Any:
        return Device()

    @property
    def ndim(self) -> Any:
        return Unknown() if self._shape is None else len(self._shape)

    @property
    def T(self) -> Any:
        return self._viewed() if self._shape is None else self._view(self._shape[::-1], "dense")

    @property
    def data(self) -> Any:
        return self._view(self._shape)

    def size(self, *index: Any) -> Any:
        if self._shape is None or not all(map(is_int, index)):
            return Unknown()
        return self._shape[index[0]] if index else self._shape

    def dim(self) -> Any:
        return self.ndim

    def numel(self) -> Any:
        if self._shape is None:
            return Unknown()
        total: int = 1
        for dim in self._shape:
            total = total * dim
        return total

    # methods by table

    def _same(self, name: str, *args: Any, **kwargs: Any) -> Any:
        most = 2 if name == "cuda" else 0
        if len(args) > most or kwargs.keys() - {"device", "non_blocking"}:
            return self._unknown(args, kwargs)
        return self._view(self._shape)

    def _unary(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs or self._dtype not in FLOATS:
            return self._unknown(args, kwargs)
        return self._made(self._shape)

    def _converted(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self._unknown(args, kwargs) if args or kwargs else self._as(CONVERSIONS[name])

    def _as(self, dtype: str) -> Tensor:
        low, high = (None, None) if self._memory.changed else (self._low, self._high)
        same = dtype == self._dtype
        return self._view(self._shape) if same else Tensor(self._shape, dtype, low, high, self._layout)

    def _filled(self, name: str, *args: Any, **kwargs: Any) -> Any:
        self._memory.changed = True
        return self

    def _viewed(self, *args: Any, **kwargs: Any) -> Any:
        escape([args, kwargs], keeps_lists=True)
        return self._view(None, "dense")

    # methods

    def to(self, *args: Any, **kwargs: Any) -> Any:
        places = [a for a in args if isinstance(a, Device) or type(a) in (str, bool) or is_int(a)]
        wanted = [a for a in args if isinstance(a, Dtype)]
        dtype = kwargs.pop("dtype", None)
        wanted += [dtype] if isinstance(dtype, Dtype) else []
        rest = {k for k in kwargs if k not in ("device", "non_blocking", "copy")}
        if len(places) + len(wanted) < len(args) + (dtype is not None) or rest or len(wanted) > 1:
            return self._unknown(args, dtype, kwargs)
        return self._as(wanted[0].name if wanted else self._dtype)

    def type(self, *args: Any, **kwargs: Any) -> Any:
        plain = len(args) == 1 and isinstance(args[0], Dtype) and not kwargs
        return self.to(*args) if plain else self._unknown(args, kwargs)

    def requires_grad_(self, *args: Any, **kwargs: Any) -> Any:
        return self

    def transpose(self, *dims: Any, **kwargs: Any) -> Any:
        if self._shape is None or kwargs or len(dims) != 2 or not all(map(is_int, dims)):
            return self._viewed(dims, kwargs)
        made = list(self._shape)
        a, b = (self._axis(d, len(made)) for d in dims)
        made[a], made[b] = made[b], made[a]
        return self._view(tuple(made), "dense")

    def t(self) -> Any:
        return self.transpose(0, 1) if self._shape is not None and len(self._shape) == 2 else self._viewed()

    def unsqueeze(self, *at: Any, **kwargs: Any) -> Any:
        if self._shape is None or kwargs or len(at) != 1 or not is_int(at[0]):
            return self._viewed(at, kwargs)
        made = list(self._shape)
        made.insert(self._axis(at[0], len(made) + 1), 1)
        return self._view(tuple(made))

    @staticmethod
    def _axis(axis: int, count: int) -> int:
        return int(axis) % count if -count <= axis < count else refuse(f"there is no axis {axis}")

    def view(self, *dims: Any, **kwargs: Any) -> Any:
        shape = None if kwargs else shape_of(dims)
        if shape is None or self._shape is None:
            return self._viewed(dims, kwargs) if not kwargs and _ints(dims) else self._unknown(dims, kwargs)
        if math.prod(map(int, shape)) != math.prod(map(int, self._shape)):
            refuse("a view has another number of elements")
        return self._view(shape)

    def reshape(self, *dims: Any, **kwargs: Any) -> Any:
        return self.view(*dims, **kwargs)

    def softmax(self, *args: Any, **kwargs: Any) -> Any:
        axis = [*args, *kwargs.values()]
        if len(axis) != 1 or not is_int(axis[0]) or kwargs.keys() - {"dim"} or self._dtype not in FLOATS:
            return self._unknown(args, kwargs)
        return self._made(self._shape)

    def log_softmax(self, *args: Any, **kwargs: Any) -> Any:
        return self.softmax(*args, **kwargs)

    def clamp(self, *args: Any, **kwargs: Any) -> Any:
        ends = [*args, *kwargs.values()]
        exact = all(e is None or (is_number(e) if self._dtype in FLOATS else is_int(e)) for e in ends)
        if not exact or len(ends) > 2 or kwargs.keys() - {"min", "max"} or self._dtype == "bool":
            return self._unknown(args, kwargs)
        return self._made(self._shape)

    def triu(self, *args: Any, **kwargs: Any) -> Any:
        diagonal = [*args, *kwargs.values()]
        if len(diagonal) > 1 or not all(map(is_int, diagonal)) or kwargs.keys() - {"diagonal"}:
            return self._unknown(args, kwargs)
        return self._made(self._shape)

    def tril(self, *args: Any, **kwargs: Any) -> Any:
        return self.triu(*args, **kwargs)

    def add(self, *args: Any, **kwargs: Any) -> Any:
        return self._unknown(args, kwargs) if len(args) != 1 or kwargs else self._with(args[0])

    sub = mul = add

    def div(self, *args: Any, **kwargs: Any) -> Any:
        return self._unknown(args, kwargs) if len(args) != 1 or kwargs else self._with(args[0], floats=True)

    pow = div

    # operators

    def _with(self, other: Any, floats: bool = False, dtype: str = "") -> Any:
        """A binary operation. ``floats``: ints have another dtype as result. ``dtype``: that of any result."""
        ints = self._dtype in INTS and not floats
        if not self._known:
            return self._unknown(other)
        if is_number(other) and (dtype or self._dtype in FLOATS or (ints and is_int(other))):
            return self._made(self._shape, dtype)
        if not isinstance(other, Tensor) or not other._known:
            return self._unknown(other)
        if not (dtype or (self._dtype == other._dtype and (self._dtype in FLOATS or ints))):
            return self._unknown(other)
        shape = _broadcast(self._shape, other._shape)
        # strides follow the first operand where nothing is repeated
        plain = shape is not None and self._layout == "contiguous" and self._texts() == other._texts()
        return self._made(shape, dtype, "contiguous" if plain else "dense")

    def _texts(self) -> list[str] | None:
        return None if self._shape is None else [text_of(d) for d in self._shape]

    def _divided(self, other: Any) -> Any:
        return self._with(other, floats=True)

    def _compared(self, other: Any) -> Any:
        return self._with(other, dtype="bool")

    def _changed(self, other: Any) -> Any:
        """An operator in place, which keeps shape and dtype."""
        self._memory.changed = True
        return self

    def _undecided(self, *args: Any, **kwargs: Any) -> Any:
        refuse("a tensor's values are not known here, and the file depends on them")

    def _copied(self, *args: Any) -> Any:
        return self._unknown()

    __copy__ = __deepcopy__ = __reduce_ex__ = __invert__ = __abs__ = _copied
    __hash__ = object.__hash__

    def __neg__(self) -> Any:
        return self._unary("neg") if self._known else Unknown()

    def __len__(self) -> int:
        if not self._known or not self._shape:
            refuse("the length of a tensor is not known here, and the file depends on it")
        return int(self._shape[0])

    def __getitem__(self, key: Any) -> Any:
        return self._viewed(key) if self._known else Unknown()

    def __setitem__(self, key: Any, value: Any) -> None:
        self._memory.changed = True


METHODS = frozenset(n for n in vars(Tensor) if not n.startswith("_"))
"""Methods and attributes with a model of their own."""

for _name in OPERATORS:
    setattr(Tensor, f"__{_name}__", Tensor._unknown)
    setattr(Tensor, f"__r{_name}__", Tensor._unknown)
    setattr(Tensor, f"__i{_name}__", Tensor._changed)
for _name in ("add", "radd", "sub", "rsub", "mul", "rmul"):
    setattr(Tensor, f"__{_name}__", Tensor._with)
for _name in ("truediv", "rtruediv", "pow"):
    setattr(Tensor, f"__{_name}__", Tensor._divided)
for _name in ("gt", "lt", "ge", "le", "eq", "ne"):
    setattr(Tensor, f"__{_name}__", Tensor._compared)
for _name in UNDECIDED:
    if _name != "len":
        setattr(Tensor, f"__{_name}__", Tensor._undecided)


def _ints(values: Sequence[Any]) -> bool:
    """Ints, or one list of them."""
    if len(values) == 1 and isinstance(values[0], list | tuple):
        values = values[0]
    return bool(values) and all(map(is_int, values))


def shape_of(values: Sequence[Any]) -> tuple[int, ...] | None:
    """A shape that is given by ints, or by one list."""
    if len(values) == 1 and isinstance(values[0], list | tuple):
        values = values[0]
    return tuple(values) if all(is_int(v) and v >= 0 for v in values) else None


def _broadcast(a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """None where it is not certain for all values of the names."""
    if a is None or b is None:
        return None
    width = max(len(a), len(b))
    dims: list[int] = []
    for p, q in zip((1,) * (width - len(a)) + a, (1,) * (width - len(b)) + b, strict=True):
        if text_of(p) == "1" or text_of(p) == text_of(q):
            dims.append(q)
        elif text_of(q) == "1":
            dims.append(p)
        else:
            return None
    return tuple(dims)
