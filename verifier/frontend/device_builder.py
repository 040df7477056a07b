"""State of the lowering of one kernel: names, statements, places; and the conversions and accesses made of them.

Input -> output: used by the lowering classes above it; collects locals, objects and statements.

Invariant: names are unique in the kernel; a conversion of C is a Convert node; a struct access is one access.

Example::

    b.read(b.element(array, index), span)   # emits Load, returns Read of a fresh local
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite

from specs.location import NOWHERE, Span
from verifier.frontend.device_clang import Node, Unit
from verifier.frontend.device_types import SCALAR_TYPES, Refused, TypeMap, is_union
from verifier.frontend.device_values import (
    Aggregate,
    ArrayValue,
    Binding,
    Closure,
    Frame,
    FunctionRef,
    LocalVar,
    LValue,
    Memory,
    Split,
    Temp,
    Value,
    place_reads,
    reads,
)
from verifier.ir.nodes import (
    I32,
    I64,
    AddressOf,
    Array,
    Assign,
    Atomic,
    BarrierReduce,
    Binary,
    Bool,
    BoolConst,
    Builtin,
    Compare,
    Convert,
    Declare,
    Deref,
    Elem,
    Expr,
    Field,
    Float,
    FloatConst,
    If,
    Int,
    IntConst,
    Load,
    Loop,
    Member,
    Object,
    ObjectDecl,
    Place,
    Pointer,
    PtrAdd,
    Read,
    Scope,
    Stmt,
    Store,
    Struct,
    Type,
    Undef,
    WarpOp,
    size_of,
)

MAX_LEAVES = 64
"""A struct or array value of more scalars than this is not copied scalar by scalar."""
MAX_DEPTH = 48
MAX_STATEMENTS = 200_000


class Builder:
    """Everything that is known while one kernel is lowered."""

    def __init__(self, unit: Unit, types: TypeMap, demanded: set[int]) -> None:
        self.unit = unit
        self.types = types
        self.locals: dict[str, Type] = {}
        self.objects: dict[str, ObjectDecl] = {}
        self.env: dict[int, Binding] = {}
        self.out: list[Stmt] = []
        self.frames: list[Frame] = []
        self.path: list[str] = []
        self.demanded = demanded
        """Declarations that must be objects because their address is taken; grows, then the kernel is lowered anew."""
        self.wanted: set[int] = set()
        self.object_names: dict[int, str] = {}
        self._used: set[str] = {"kernel"}
        self._emitted = 0
        self._temporaries = 1
        self._sites: dict[str, int] = {}

    def function_number(self, function: FunctionRef) -> Expr:
        """A function as a value that is kept."""
        raise NotImplementedError

    def refuse_broken(self, callee: Node) -> None:
        """Raise if the parser reported an error inside of the function."""
        raise NotImplementedError

    # --- names and statements ---

    def fresh(self, base: str) -> str:
        name, number = base, 0
        while name in self._used:
            number += 1
            name = f"{base}.{number}"
        self._used.add(name)
        return name

    def local(self, base: str, type_: Type, root: int = 0) -> LocalVar:
        name = self.fresh(base)
        self.locals[name] = type_
        return LocalVar(name, type_, root)

    def temporary(self, type_: Type) -> LocalVar:
        while (name := f"t.{self._temporaries}") in self._used:
            self._temporaries += 1
        self._used.add(name)
        self.locals[name] = type_
        return LocalVar(name, type_)

    def emit(self, stmt: Stmt) -> None:
        self._emitted += 1
        if self._emitted > MAX_STATEMENTS:
            raise Refused("kernel size", f"more than {MAX_STATEMENTS} statements after inlining")
        self.out.append(stmt)

    @contextmanager
    def nested(self) -> Iterator[list[Stmt]]:
        outer, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outer

    @contextmanager
    def resumed(self, body: list[Stmt]) -> Iterator[None]:
        """Append to a list that ``nested`` gave."""
        outer, self.out = self.out, body
        try:
            yield
        finally:
            self.out = outer

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def site(self, span: Span) -> str:
        """A name for this barrier or collective and the calls that lead to it; unique in the kernel."""
        site = "/".join([*self.path, f"{span.line}:{span.column}"])
        count = self._sites[site] = self._sites.get(site, 0) + 1
        return site if count == 1 else f"{site}#{count}"

    # --- making variables ---

    def needs_object(self, type_: Type) -> bool:
        match type_:
            case Array():
                return True
            case Struct(fields=fields):
                return is_union(type_) or any(self.needs_object(field.type) for field in fields)
            case _:
                return False

    def variable(self, name: str, type_: Type, root: int, span: Span) -> LValue:
        """A new local variable; its contents are not set (objects are declared)."""
        if root in self.demanded or self.needs_object(type_):
            return self.local_object(name, type_, span)
        return self.split(name, type_, root)

    def split(self, name: str, type_: Type, root: int = 0) -> LValue:
        if isinstance(type_, Struct):
            fields = {f.name: self.split(f"{name}.{f.name}", f.type, root) for f in type_.fields}
            return Split(type_, fields, root)
        if not isinstance(type_, SCALAR_TYPES):
            raise Refused("variable", f"of type {type(type_).__name__.lower()}")
        return self.local(name, type_, root)

    def local_object(self, name: str, type_: Type, span: Span, align: int = 0) -> Memory:
        unique = self.fresh(name)
        self.objects[unique] = ObjectDecl(unique, type_, "local", align=align, span=span)
        self.emit(Declare(unique, span))
        return Memory(Object(unique, type_))

    def snapshot(self, value: Value) -> Value:
        """The value in locals that nothing assigns later."""
        match value:
            case Aggregate(type=type_, fields=fields):
                return Aggregate(type_, {name: self.snapshot(part) for name, part in fields.items()})
            case ArrayValue(items=items):
                return ArrayValue(tuple(self.snapshot(item) for item in items))
            case Closure() | FunctionRef() | IntConst() | FloatConst() | BoolConst() | Builtin():
                return value
            case _:
                if not any(True for _ in reads(value)):
                    return value
                temporary = self.temporary(value.type)
                self.emit(Assign(temporary.name, value))
                return Read(temporary.name, value.type)

    def snapshot_expr(self, expr: Expr) -> Expr:
        value = self.snapshot(expr)
        assert not isinstance(value, Aggregate | ArrayValue | Closure | FunctionRef)
        return value

    def freeze(self, target: LValue) -> LValue:
        """The same place, whatever is assigned to the locals that its address was computed from."""
        if isinstance(target, Memory) and any(True for _ in place_reads(target.place)):
            return Memory(self._freeze_place(target.place), target.volatile)
        return target

    def _freeze_place(self, place: Place) -> Place:
        match place:
            case Deref(
                pointer=PtrAdd(pointer=pointer, index=index, type=type_, span=inner), type=elem, span=span
            ):
                frozen = PtrAdd(self.snapshot_expr(pointer), self.snapshot_expr(index), type_, inner)
                return Deref(frozen, elem, span)
            case Deref(pointer=pointer, type=type_, span=span):
                return Deref(self.snapshot_expr(pointer), type_, span)
            case Elem(array=array, index=index, type=type_, span=span):
                return Elem(self._freeze_place(array), self.snapshot_expr(index), type_, span)
            case Member(struct=inside, field=field, type=type_):
                return Member(self._freeze_place(inside), field, type_)
            case _:
                return place

    def protect(self, earlier: list[Value], start: int) -> None:
        """Keep values as they were before ``out[start:]`` ran, where that assigned what they read."""
        if len(self.out) == start:
            return
        assigned = set(assigned_locals(self.out[start:]))
        for number, value in enumerate(earlier):
            if assigned.intersection(reads(value)):
                later = self.out[start:]
                del self.out[start:]
                earlier[number] = self.snapshot(value)
                start = len(self.out)
                self.out.extend(later)

    # --- conversions ---

    def convert(self, value: Expr, target: Type, span: Span, implicit: bool = True) -> Expr:
        source = value.type
        if source == target:
            return value
        if isinstance(target, Bool):
            return self.truth(value)
        if isinstance(source, Struct | Array) or isinstance(target, Struct | Array):
            raise Refused("conversion", "of a class", span)
        folded = fold_conversion(value, target)
        if folded is not None:
            return folded
        if isinstance(source, Pointer) != isinstance(target, Pointer):
            if not isinstance(source, Int | Pointer) or not isinstance(target, Int | Pointer):
                raise Refused("conversion", "between a pointer and a number", span)
        return Convert(target, value, span, implicit)

    def truth(self, value: Expr) -> Expr:
        """The value as a C condition."""
        match value.type:
            case Bool():
                return value
            case Int() as type_:
                if isinstance(value, IntConst):
                    return BoolConst(value.value != 0)
                if isinstance(value, Convert) and isinstance(value.operand.type, Bool):
                    return value.operand
                return Compare("ne", value, IntConst(0, type_))
            case Float() as float_type:
                return Compare("ne", value, FloatConst(0.0, float_type))
            case Pointer() as pointer:
                return Compare("ne", value, Convert(pointer, IntConst(0, I64)))
        raise Refused("condition", "that is no scalar")

    def index(self, value: Expr, span: Span) -> Expr:
        if not isinstance(value.type, Int | Bool):
            raise Refused("index", "that is no integer", span)
        return self.convert(value, I64, span)

    # --- places ---

    def element(self, array: LValue, index: Expr, span: Span) -> Memory:
        if not isinstance(array, Memory) or not isinstance(array.type, Array):
            raise Refused("array", "element of an array that is no object", span)
        return Memory(Elem(array.place, self.index(index, span), array.type.elem, span), array.volatile)

    def dereference(self, pointer: Expr, span: Span, volatile: bool = False) -> Memory:
        if isinstance(pointer, Convert) and isinstance(pointer.type, Pointer):
            inner = pointer.operand
            if isinstance(inner.type, Pointer) and inner.type.elem == pointer.type.elem:
                pointer = inner  # only const differs
        if isinstance(pointer, AddressOf) and pointer.place.type == pointer.type.elem:
            return Memory(pointer.place, volatile)
        if not isinstance(pointer.type, Pointer):
            raise Refused("dereference", "of something that is no pointer", span)
        return Memory(Deref(pointer, pointer.type.elem, span), volatile)

    def decay(self, array: LValue, span: Span, const: bool = False) -> Expr:
        first = self.element(array, IntConst(0, I32), span)
        return AddressOf(first.place, Pointer(first.type, const))

    def address(self, target: LValue, span: Span, const: bool = False) -> Expr:
        match target:
            case Memory(place=Deref(pointer=pointer)):
                return self.convert(pointer, Pointer(target.type, const), span)
            case Memory(place=place):
                return AddressOf(place, Pointer(place.type, const))
            case LocalVar(root=root, type=type_) | Split(root=root, type=type_) if root:
                self.wanted.add(root)
                return Undef(Pointer(type_, const), "address of a local", span)
            case _:
                raise Refused("address", "of a temporary", span)

    def member(self, target: LValue, name: str, span: Span) -> LValue:
        match target:
            case Split(fields=fields) if name in fields:
                return fields[name]
            case Temp(value=Aggregate(fields=values), root=root) if name in values:
                return Temp(values[name], root)
            case Memory(place=place, volatile=volatile) if isinstance(place.type, Struct):
                for field in place.type.fields:
                    if field.name == name:
                        return Memory(Member(place, field, field.type), volatile)
        raise Refused("member", name, span)

    # --- reading and writing ---

    def read(self, target: LValue, span: Span, readonly: bool = False) -> Value:
        match target:
            case LocalVar(name=name, type=type_):
                return Read(name, type_)
            case Temp(value=value):
                return value
            case Split(type=struct_type, fields=fields):
                return Aggregate(struct_type, {name: self.read(part, span) for name, part in fields.items()})
            case Memory(place=place, volatile=volatile):
                return self._load(place, span, volatile, readonly)

    def _load(self, place: Place, span: Span, volatile: bool, readonly: bool) -> Value:
        type_ = place.type
        if isinstance(type_, SCALAR_TYPES):
            temporary = self.temporary(type_)
            self.emit(Load(temporary.name, place, span, (), volatile, readonly))
            return Read(temporary.name, type_)
        if isinstance(type_, Array):
            return ArrayValue(
                tuple(
                    self._load(Elem(place, IntConst(i, I64), type_.elem, span), span, volatile, readonly)
                    for i in range(self._bounded(type_, span))
                )
            )
        if not isinstance(type_, Struct):
            raise Refused("load", "of a type without a value", span)
        parts = leaves(type_, span)
        names = [(self.temporary(field.type).name, field) for field in parts]
        if names:
            self.emit(Load("", place, span, tuple(names), volatile, readonly))
        values = iter([Read(name, field.type) for name, field in names])
        return _assemble(type_, values)

    def _bounded(self, type_: Array, span: Span) -> int:
        if type_.count > MAX_LEAVES:
            raise Refused("array copy", f"of {type_.count} items", span)
        return type_.count

    def write(self, target: LValue, value: Value, span: Span) -> None:
        if isinstance(value, FunctionRef):
            value = self.function_number(value)
        match target:
            case LocalVar(name=name, type=type_):
                if isinstance(value, Aggregate | ArrayValue | Closure | FunctionRef) or value.type != type_:
                    raise Refused("assignment", "of another type", span)
                self.emit(Assign(name, value, span))
            case Split(fields=fields):
                if not isinstance(value, Aggregate):
                    raise Refused("assignment", "of a class from something else", span)
                names = {name for part in fields.values() for name in _names(part)}
                if len(names) > 1 and names.intersection(reads(value)):
                    value = self.snapshot(value)
                    assert isinstance(value, Aggregate)
                for name, part in fields.items():
                    self.write(part, value.fields[name], span)
            case Memory(place=place, volatile=volatile):
                self._store(place, value, span, volatile)
            case Temp():
                raise Refused("assignment", "to a constant or temporary", span)

    def _store(self, place: Place, value: Value, span: Span, volatile: bool) -> None:
        type_ = place.type
        match value:
            case Aggregate() if isinstance(type_, Struct):
                fields = leaves(type_, span)
                values = list(_flatten(value))
                if len(fields) != len(values) or any(
                    f.type != v.type for f, v in zip(fields, values, strict=True)
                ):
                    raise Refused("store", "of another class", span)
                if fields:
                    self.emit(Store(place, None, span, tuple(zip(fields, values, strict=True)), volatile))
            case ArrayValue(items=items) if isinstance(type_, Array) and len(items) == type_.count:
                for number, item in enumerate(items):
                    self._store(Elem(place, IntConst(number, I64), type_.elem, span), item, span, volatile)
            case Aggregate() | ArrayValue() | Closure() | FunctionRef():
                raise Refused("store", "of another class", span)
            case _:
                if value.type != type_:
                    raise Refused("store", "of another type", span)
                self.emit(Store(place, value, span, (), volatile))

    def undefined(self, target: LValue, span: Span) -> None:
        """An uninitialised scalar or split variable; an object was declared already."""
        match target:
            case LocalVar(name=name, type=type_):
                self.emit(Assign(name, Undef(type_, "", span), span))
            case Split(fields=fields):
                for part in fields.values():
                    self.undefined(part, span)
            case _:
                return

    def zero(self, type_: Type, span: Span) -> Value:
        match type_:
            case Int():
                return IntConst(0, type_)
            case Bool():
                return BoolConst(False)
            case Float():
                return FloatConst(0.0, type_)
            case Pointer():
                return Convert(type_, IntConst(0, I64), span)
            case Struct(fields=fields):
                return Aggregate(type_, {field.name: self.zero(field.type, span) for field in fields})
            case Array(elem=elem):
                return ArrayValue(tuple(self.zero(elem, span) for _ in range(self._bounded(type_, span))))
            case _:
                raise Refused("initialiser", "of a type without a value", span)

    def fill(self, place: Place, value: Expr, span: Span) -> None:
        """Store one scalar into every element of an array object: a loop if there are many."""
        type_ = place.type
        if isinstance(type_, Array) and isinstance(type_.elem, Array | Int | Bool | Float | Pointer):
            if type_.count <= 8:
                for number in range(type_.count):
                    self.fill(Elem(place, IntConst(number, I64), type_.elem, span), value, span)
                return
            counter = self.local("fill", I64)
            label = self.fresh(f"fill.{span.line}")
            self.emit(Assign(counter.name, IntConst(0, I64), span))
            read = Read(counter.name, I64)
            with self.nested() as body:
                self.fill(Elem(place, read, type_.elem, span), value, span)
            step = Assign(counter.name, Binary("add", read, IntConst(1, I64), I64, span), span)
            condition = Compare("lt", read, IntConst(type_.count, I64))
            self.emit(Loop(label, (), condition, tuple(body), (step,), span))
            return
        self._store(place, value, span, False)


def fold_conversion(value: Expr, target: Type) -> Expr | None:
    """A constant converted at compile time, where no value changes (but for the rounding of a float)."""
    match value, target:
        case IntConst(value=number), Int(bits=bits, signed=signed):
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
            return IntConst(number, target) if low <= number <= high else None
        case IntConst(value=number), Float() if abs(number) <= 1 << 11 or (
            abs(number) <= 1 << 24 and target.name in ("f32", "f64")
        ):
            return FloatConst(float(number), target) if target.name != "bf16" or abs(number) <= 256 else None
        case BoolConst(value=truth), Int():
            return IntConst(int(truth), target)
        case FloatConst(value=real), Float(name=name) if name in ("f32", "f64"):
            if not isfinite(real) or name == "f64":
                return FloatConst(real, target)
            try:
                return FloatConst(struct.unpack("f", struct.pack("f", real))[0], target)
            except OverflowError:
                return None
    return None


def leaves(type_: Struct, span: Span = NOWHERE) -> list[Field]:
    """The scalars of a struct, with names like ``a.b[1]`` and offsets from its start."""
    found: list[Field] = []

    def add(name: str, inner: Type, offset: int) -> None:
        match inner:
            case Struct(fields=fields):
                if is_union(inner):
                    raise Refused("union copy", inner.name, span)
                for field in fields:
                    add(f"{name}.{field.name}" if name else field.name, field.type, offset + field.offset)
            case Array(elem=elem, count=count):
                for number in range(min(count, MAX_LEAVES + 1)):
                    add(f"{name}[{number}]", elem, offset + number * size_of(elem))
            case _:
                found.append(Field(name, inner, offset))
        if len(found) > MAX_LEAVES:
            raise Refused("class copy", f"of more than {MAX_LEAVES} scalars", span)

    add("", type_, 0)
    return found


def _assemble(type_: Type, values: Iterator[Read]) -> Value:
    match type_:
        case Struct(fields=fields):
            return Aggregate(type_, {field.name: _assemble(field.type, values) for field in fields})
        case Array(elem=elem, count=count):
            return ArrayValue(tuple(_assemble(elem, values) for _ in range(count)))
        case _:
            return next(values)


def _flatten(value: Value) -> Iterator[Expr]:
    match value:
        case Aggregate(type=type_, fields=fields):
            for field in type_.fields:
                yield from _flatten(fields[field.name])
        case ArrayValue(items=items):
            for item in items:
                yield from _flatten(item)
        case Closure() | FunctionRef():
            raise Refused("lambda or function", "stored in memory")
        case _:
            yield value


def flatten(values: Sequence[Value]) -> list[Expr]:
    """The scalars of values, in order."""
    return [scalar for value in values for scalar in _flatten(value)]


def _names(target: LValue) -> Iterator[str]:
    match target:
        case LocalVar(name=name):
            yield name
        case Split(fields=fields):
            for part in fields.values():
                yield from _names(part)
        case _:
            return


def assigned_locals(body: Sequence[Stmt]) -> Iterator[str]:
    """Every local that the statements may assign."""
    for stmt in body:
        match stmt:
            case Assign(var=var) | Atomic(var=var) | BarrierReduce(var=var) | WarpOp(var=var):
                yield var
            case Load(var=var, parts=parts):
                yield var
                yield from (name for name, _ in parts)
            case If(then=then, other=other):
                yield from assigned_locals(then)
                yield from assigned_locals(other)
            case Loop(head=head, body=inner, step=step):
                yield from assigned_locals(head)
                yield from assigned_locals(inner)
                yield from assigned_locals(step)
            case Scope(body=inner):
                yield from assigned_locals(inner)
            case _:
                continue
