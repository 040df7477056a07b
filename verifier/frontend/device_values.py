"""What an expression denotes while it is lowered: values and places to put values.

A struct that is only used field by field is a ``Split`` of locals; everything whose address matters is ``Memory``.
``root`` is the key of the variable's declaration, so that taking its address can demand an object.

Example: ``float4 v`` -> Split(Struct("float4"), {"x": LocalVar("v.x", f32), …}).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from verifier.frontend.device_clang import Node
from verifier.ir.nodes import (
    AddressOf,
    And,
    Binary,
    Call,
    Compare,
    Convert,
    Deref,
    Elem,
    Expr,
    Member,
    Not,
    Or,
    Place,
    PtrAdd,
    PtrDiff,
    Read,
    Select,
    Struct,
    Type,
    Unary,
)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A struct value, field by field."""

    type: Struct
    fields: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """The value of an array member, item by item."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Closure:
    """A lambda: its body, and the variables that it copied."""

    body: Node
    copies: Mapping[int, LValue]
    this: LValue | None = None


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function that a template argument or a parameter names."""

    function: Node


Value = Expr | Aggregate | ArrayValue | Closure | FunctionRef


@dataclass(frozen=True, slots=True)
class LocalVar:
    name: str
    type: Type
    root: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    place: Place
    volatile: bool = False

    @property
    def type(self) -> Type:
        return self.place.type


@dataclass(frozen=True, slots=True)
class Split:
    type: Struct
    fields: Mapping[str, LValue]
    root: int = 0


@dataclass(frozen=True, slots=True)
class Temp:
    """A value that a name is bound to; it cannot be assigned."""

    value: Value
    root: int = 0


@dataclass(frozen=True, slots=True)
class Poison:
    """A variable whose declaration was refused."""

    construct: str


LValue = LocalVar | Memory | Split | Temp
Binding = LValue | Poison


@dataclass(slots=True)
class Frame:
    """A function body that is being lowered. ``label`` is where ``return`` goes."""

    label: str
    result: LValue | None = None
    this: LValue | None = None
    key: int = 0
    refers: bool = False
    """``result`` is the address of what a reference result refers to."""
    last: Node | None = None
    """The statement after which control leaves the body anyway."""
    loops: list[str] = field(default_factory=list)
    """Labels for ``continue``, innermost last."""
    breaks: list[str] = field(default_factory=list)
    ahead: dict[str, str] = field(default_factory=dict)
    """Labels of the text that come after the statements being lowered -> the scope that ends there."""


def reads(value: Value) -> Iterator[str]:
    """The locals that a value reads."""
    match value:
        case Read(name=name):
            yield name
        case Unary(operand=operand) | Convert(operand=operand) | Not(operand=operand):
            yield from reads(operand)
        case Binary() | Compare() | And() | Or() | PtrDiff():
            yield from reads(value.left)
            yield from reads(value.right)
        case Select(cond=cond, then=then, other=other):
            yield from reads(cond)
            yield from reads(then)
            yield from reads(other)
        case Call(args=args):
            for arg in args:
                yield from reads(arg)
        case AddressOf(place=place):
            yield from place_reads(place)
        case PtrAdd(pointer=pointer, index=index):
            yield from reads(pointer)
            yield from reads(index)
        case Aggregate(fields=fields):
            for part in fields.values():
                yield from reads(part)
        case ArrayValue(items=items):
            for part in items:
                yield from reads(part)
        case _:
            return


def place_reads(place: Place) -> Iterator[str]:
    match place:
        case Deref(pointer=pointer):
            yield from reads(pointer)
        case Elem(array=array, index=index):
            yield from place_reads(array)
            yield from reads(index)
        case Member(struct=struct):
            yield from place_reads(struct)
        case _:
            return


def lvalue_reads(target: LValue) -> Iterator[str]:
    match target:
        case LocalVar(name=name):
            yield name
        case Memory(place=place):
            yield from place_reads(place)
        case Split(fields=fields):
            for part in fields.values():
                yield from lvalue_reads(part)
        case Temp(value=value):
            yield from reads(value)
