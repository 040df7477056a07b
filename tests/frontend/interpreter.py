"""A concrete evaluator of kernel IR for one thread: integers exactly as C on x86-64 with -fwrapv, floats as doubles
or rounded to float.

Input -> output: ``run(kernel, arguments)`` changes the buffers among the arguments. It knows no symbolic execution;
it exists to compare the front end with g++.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from verifier.ir import nodes as n

_FORMATS = {(8, True): "b", (8, False): "B", (16, True): "h", (16, False): "H", (32, True): "i", (32, False): "I",
            (64, True): "q", (64, False): "Q"}  # fmt: skip


@dataclass(frozen=True)
class Ptr:
    """An address: a buffer and a byte offset; None is the null pointer's buffer."""

    buffer: bytearray | None
    offset: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ptr) and self.buffer is other.buffer and self.offset == other.offset


class Leaving(Exception):
    def __init__(self, label: str) -> None:
        super().__init__(label)
        self.label = label


class Trapped(Exception):
    pass


def wrap(value: int, type_: n.Int) -> int:
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if type_.signed and value >> (type_.bits - 1) else value


def _round(value: float, type_: n.Float) -> float:
    if type_.name == "f64":
        return value
    try:
        near: float = struct.unpack(
            "e" if type_.name == "f16" else "f", struct.pack("e" if type_.name == "f16" else "f", value)
        )[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    if type_.name == "bf16":  # the upper half of a float, rounded to nearest even
        (bits,) = struct.unpack("I", struct.pack("f", near))
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
        return float(struct.unpack("f", struct.pack("I", bits))[0])
    return near


class Machine:
    def __init__(
        self, kernel: n.Kernel, arguments: dict[str, Any], builtins: dict[str, int] | None = None
    ) -> None:
        self.kernel = kernel
        self.locals: dict[str, Any] = dict(arguments)
        self.builtins = {"warpSize": 32, **(builtins or {})}
        self.pointers: dict[int, Ptr] = {}
        self.objects = {decl.name: bytearray(max(1, n.size_of(decl.type))) for decl in kernel.objects}
        for decl in kernel.objects:
            if decl.init is not None:
                scalar = decl.type
                while isinstance(scalar, n.Array):
                    scalar = scalar.elem
                assert isinstance(scalar, n.Int)
                packed = struct.pack(f"<{len(decl.init)}{_FORMATS[scalar.bits, scalar.signed]}", *decl.init)
                self.objects[decl.name][:] = packed

    def run(self) -> None:
        try:
            self.body(self.kernel.body)
        except Leaving as leaving:
            assert leaving.label == "kernel", leaving.label

    # --- expressions ---

    def value(self, expr: n.Expr) -> Any:
        match expr:
            case n.IntConst() | n.FloatConst() | n.BoolConst():
                return expr.value
            case n.Read(name=name):
                return self.locals[name]
            case n.Builtin(name=name):
                return self.builtins[name]
            case n.Unary(op=op, operand=operand, type=type_):
                value = self.value(operand)
                if isinstance(type_, n.Float):
                    return -value
                return wrap(-value if op == "neg" else ~value, type_)
            case n.Binary(op=op, left=left, right=right, type=type_):
                return self.binary(op, self.value(left), self.value(right), type_)
            case n.Compare(op=op, left=left, right=right):
                return self.compare(op, self.value(left), self.value(right))
            case n.Not(operand=operand):
                return not self.value(operand)
            case n.And(left=left, right=right):
                return self.value(left) and self.value(right)
            case n.Or(left=left, right=right):
                return self.value(left) or self.value(right)
            case n.Select(cond=cond, then=then, other=other):
                return self.value(then) if self.value(cond) else self.value(other)
            case n.Convert(type=type_, operand=operand):
                return self.convert(self.value(operand), operand.type, type_)
            case n.Call(name=name, args=args, type=type_):
                return self.intrinsic(name, [self.value(a) for a in args], [a.type for a in args], type_)
            case n.AddressOf(place=place):
                return self.address(place)
            case n.PtrAdd(pointer=pointer, index=index, type=type_):
                base = self.value(pointer)
                return Ptr(base.buffer, base.offset + self.value(index) * n.size_of(type_.elem))
            case n.PtrDiff(left=left, right=right):
                a, b = self.value(left), self.value(right)
                return (a.offset - b.offset) // n.size_of(left.type.elem)
        raise AssertionError(f"no evaluation of {expr}")

    def binary(self, op: str, a: Any, b: Any, type_: n.Type) -> Any:
        if isinstance(type_, n.Float):
            return _round({"add": a + b, "sub": a - b, "mul": a * b}[op] if op != "div" else a / b, type_)
        assert isinstance(type_, n.Int)
        match op:
            case "add":
                result = a + b
            case "sub":
                result = a - b
            case "mul":
                result = a * b
            case "div":
                result = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            case "rem":
                result = abs(a) % abs(b) * (-1 if a < 0 else 1)
            case "shl":
                result = a << b
            case "shr":
                result = a >> b
            case "and":
                result = a & b
            case "or":
                result = a | b
            case _:
                result = a ^ b
        return wrap(result, type_)

    def compare(self, op: str, a: Any, b: Any) -> bool:
        if isinstance(a, Ptr) and op not in ("eq", "ne"):
            a, b = a.offset, b.offset
        match op:
            case "lt":
                return a < b
            case "le":
                return a <= b
            case "gt":
                return a > b
            case "ge":
                return a >= b
            case "eq":
                return a == b
        return a != b

    def convert(self, value: Any, source: n.Type, target: n.Type) -> Any:
        match target:
            case n.Int():
                return wrap(int(value), target)
            case n.Bool():
                return bool(value)
            case n.Float():
                return _round(float(value), target)
            case n.Pointer():
                return value if isinstance(value, Ptr) else Ptr(None, value)
        raise AssertionError(f"no conversion from {source} to {target}")

    def intrinsic(self, name: str, args: list[Any], types: list[n.Type], type_: n.Type) -> Any:
        match name:
            case "min":
                return min(args)
            case "max":
                return max(args)
            case "abs":
                return wrap(abs(args[0]), type_) if isinstance(type_, n.Int) else abs(args[0])
            case "__popc" | "__popcll":
                return (args[0] & ((1 << types[0].bits) - 1)).bit_count()
            case "__clz":
                return 32 - (args[0] & 0xFFFFFFFF).bit_length()
            case "__ffs":
                return (args[0] & -args[0]).bit_length()
        raise AssertionError(f"no intrinsic {name}")

    # --- places ---

    def address(self, place: n.Place) -> Ptr:
        match place:
            case n.Deref(pointer=pointer):
                return self.value(pointer)
            case n.Object(name=name):
                return Ptr(self.objects[name], 0)
            case n.Elem(array=array, index=index, type=type_):
                base, position = self.address(array), self.value(index)
                assert 0 <= position < array.type.count, f"index {position} of {array}"
                return Ptr(base.buffer, base.offset + position * n.size_of(type_))
            case n.Member(struct=inside, field=field):
                base = self.address(inside)
                return Ptr(base.buffer, base.offset + field.offset)

    def load(self, at: Ptr, type_: n.Type) -> Any:
        assert at.buffer is not None and 0 <= at.offset <= len(at.buffer) - n.size_of(type_), (
            at.offset,
            type_,
        )
        raw = bytes(at.buffer[at.offset : at.offset + n.size_of(type_)])
        match type_:
            case n.Int(bits=bits, signed=signed):
                return struct.unpack("<" + _FORMATS[bits, signed], raw)[0]
            case n.Bool():
                return bool(raw[0])
            case n.Float(name=name):
                return struct.unpack("<f" if name == "f32" else "<d", raw)[0]
            case n.Pointer():
                return self.pointers[struct.unpack("<q", raw)[0]]
        raise AssertionError(f"load of {type_}")

    def store(self, at: Ptr, type_: n.Type, value: Any) -> None:
        assert at.buffer is not None and 0 <= at.offset <= len(at.buffer) - n.size_of(type_), (
            at.offset,
            type_,
        )
        match type_:
            case n.Int(bits=bits, signed=signed):
                raw = struct.pack("<" + _FORMATS[bits, signed], value)
            case n.Bool():
                raw = bytes([value])
            case n.Float(name=name):
                raw = struct.pack("<f" if name == "f32" else "<d", value)
            case n.Pointer():
                self.pointers[len(self.pointers)] = value
                raw = struct.pack("<q", len(self.pointers) - 1)
            case _:
                raise AssertionError(f"store of {type_}")
        at.buffer[at.offset : at.offset + len(raw)] = raw

    # --- statements ---

    def body(self, body: tuple[n.Stmt, ...]) -> None:
        for stmt in body:
            self.stmt(stmt)

    def scope(self, label: str, body: tuple[n.Stmt, ...]) -> None:
        try:
            self.body(body)
        except Leaving as leaving:
            if leaving.label != label:
                raise

    def stmt(self, stmt: n.Stmt) -> None:
        match stmt:
            case n.Assign(value=n.Undef()):
                self.locals.pop(stmt.var, None)
            case n.Assign(var=var, value=value):
                self.locals[var] = self.value(value)
            case n.Load(var=var, place=place, parts=parts):
                at = self.address(place)
                if var:
                    self.locals[var] = self.load(at, place.type)
                for name, field in parts:
                    self.locals[name] = self.load(Ptr(at.buffer, at.offset + field.offset), field.type)
            case n.Store(place=place, value=value, parts=parts):
                if value is not None:
                    result = self.value(value)
                    self.store(self.address(place), place.type, result)
                else:
                    at = self.address(place)
                    for field, part in parts:
                        self.store(Ptr(at.buffer, at.offset + field.offset), field.type, self.value(part))
            case n.Atomic(op="add", var=var, place=place, args=(arg,)):
                at = self.address(place)
                self.locals[var] = self.load(at, place.type)
                self.store(at, place.type, self.binary("add", self.locals[var], self.value(arg), place.type))
            case n.If(cond=cond, then=then, other=other):
                self.body(then if self.value(cond) else other)
            case n.Loop():
                self.loop(stmt)
            case n.Scope(label=label, body=body):
                self.scope(label, body)
            case n.Leave(label=label):
                raise Leaving(label)
            case n.Declare() | n.Fence() | n.Barrier() | n.CopyGroup():
                pass
            case n.Assert(cond=cond):
                if not self.value(cond):
                    raise Trapped
            case n.Trap():
                raise Trapped
            case _:
                raise AssertionError(f"no execution of {stmt}")

    def loop(self, loop: n.Loop) -> None:
        try:
            while True:
                self.body(loop.head)
                if not self.value(loop.cond):
                    return
                self.scope(f"{loop.label}.body", loop.body)
                self.body(loop.step)
        except Leaving as leaving:
            if leaving.label != loop.label:
                raise


def run(kernel: n.Kernel, arguments: dict[str, Any], builtins: dict[str, int] | None = None) -> None:
    Machine(kernel, arguments, builtins).run()
