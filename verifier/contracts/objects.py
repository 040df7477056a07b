"""The values of host code that are not numbers: tensors, pointers, lists, options, functions. Data only.

A tensor's dims are ints of the clause language, or a :class:`Shape`, the name of a shape of which not all dims are known.

Example: ``Tensor("x", (n, m), "f32", storage="x", layout="contiguous")``.
"""

from __future__ import annotations

from collections.abc import Iterator as Iterator_
from dataclasses import dataclass
from typing import Any, Literal

from verifier.contracts.values import Bool, Int


@dataclass(frozen=True, slots=True)
class Float:
    """``value`` where it is a known constant; ``ratio``: exactly num / den (den > 0), else nothing is known.

    ``pins``: int terms whose problem value the constant was computed with (Python callers only).
    """

    value: float | None = None
    ratio: tuple[Int, Int] | None = None
    type: str = "f64"
    pins: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Unknown:
    """What was not followed; ``why`` with its line."""

    why: str


@dataclass(frozen=True, slots=True)
class Chosen(Unknown):
    """An argument of the model of which not even the type is known: a size made of it is any size.

    ``name`` is its own; where only an int can be, it is the int that has this name. ``many``: any number of them.
    """

    name: str = ""
    many: bool = False


@dataclass(frozen=True, slots=True)
class Null:
    pass


@dataclass(frozen=True, slots=True)
class Text:
    value: str = ""


@dataclass(frozen=True, slots=True)
class Dim3:
    x: Int
    y: Int
    z: Int


@dataclass(frozen=True, slots=True)
class Pointer:
    """``offset`` in bytes from the start of the storage; None for not known. ``elem``: what it points to now.

    ``dtype``/``lanes`` of ``elem`` are None/1 for void and unknown types.
    """

    storage: str
    offset: Int | None
    dtype: str | None
    lanes: int = 1
    size: int = 0
    """Bytes of the pointed-to type; 0 if not known."""


@dataclass(frozen=True, slots=True)
class Bits:
    """The addresses of pointers, or-ed together; ``modulus``: only their residue by this power of two."""

    pointers: tuple[Pointer, ...]
    modulus: int | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape that is not known as dims: that of the free tensor ``name``."""

    name: str


@dataclass(frozen=True, slots=True)
class Tensor:
    """``layout``: contiguous (known), free (not known), dense (a permutation of contiguous), other (strided, expanded).

    ``key`` names the tensor in facts; ``storage`` the memory; ``offset``: it may start inside its storage.
    """

    key: str
    dims: tuple[Int, ...] | Shape
    dtype: str | None
    storage: str
    layout: Literal["contiguous", "free", "dense", "other"] = "free"
    offset: bool = False
    host_name: str = ""


@dataclass(frozen=True, slots=True)
class Dtype:
    """A scalar type: known by name, or that of a tensor."""

    name: str | None
    of: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """The device of a tensor."""

    of: Tensor


@dataclass(frozen=True, slots=True)
class Options:
    """``device``: cpu (PyTorch's default), cuda, cuda:0, like (that of a tensor), unknown."""

    dtype: Dtype | None = None
    device: str = "cpu"


@dataclass(frozen=True, slots=True)
class Sizes:
    """``x.sizes()``."""

    tensor: Tensor


@dataclass(frozen=True, slots=True)
class Strides:
    tensor: Tensor


@dataclass(frozen=True, slots=True)
class Items:
    """An array, vector, initialiser list or tuple of known length."""

    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A list of the caller of which nothing is known: its elements are free, the same for the same index."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Record:
    """A struct value."""

    type: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Optional:
    """An optional or possibly undefined tensor: present where the fact ``defined(key)`` holds."""

    key: str
    value: Any


@dataclass(frozen=True, slots=True)
class Address:
    """``&variable``; the path into structs and arrays follows the cell."""

    cell: str
    path: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Iterator:
    """A position in a list of known length; ``items`` are those of the list it was taken from, which stands at ``place``."""

    items: tuple[Any, ...]
    index: int
    place: Address | None = None


THIS = "this"
"""The variable that holds the place of the object whose method is executed."""


@dataclass(frozen=True, slots=True)
class Function:
    """A host function (by USR), a lambda node with the cells it captured by value, or a kernel's name."""

    usr: str = ""
    node: Any = None
    captured: Any = None
    kernel: str = ""
    targs: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    """The types of the kernel's parameters."""
    through: str = ""
    """The type of the function object (``std::function``) that holds it."""


Value = (
    Int
    | Bool
    | Float
    | Unknown
    | Null
    | Text
    | Dim3
    | Pointer
    | Bits
    | Tensor
    | Dtype
    | Device
    | Options
    | Sizes
    | Strides
    | Items
    | Unlisted
    | Iterator
    | Record
    | Optional
    | Address
    | Function
)


def cells_in(value: Any) -> Iterator_[str]:
    """The variables into which a value, or what it holds, points."""
    match value:
        case Address(cell=cell):
            yield cell
        case Iterator(place=place, items=items):
            if place is not None:
                yield place.cell
            yield from cells_in(Items(items))
        case Items(items=items):
            for item in items:
                yield from cells_in(item)
        case Record(fields=fields):
            for item in fields.values():
                yield from cells_in(item)
        case Optional(value=inner):
            yield from cells_in(inner)
        case Function(captured=dict(captured)):
            for item in captured.values():
                yield from cells_in(item)


def pointers_in(value: Value) -> list[Pointer]:
    """Those that a struct or an array holds."""
    match value:
        case Pointer():
            return [value]
        case Items(items=items):
            return [p for item in items for p in pointers_in(item)]
        case Record(fields=fields):
            return [p for item in fields.values() for p in pointers_in(item)]
    return []
