"""Calls of what the shim declares, lowered by the kind of their entry in the intrinsic table.

Input -> output: a call of a shim function, method or operator -> its value and statements.

Invariant: what has no entry, or whose kind is not known here, is refused by name.

Example: ``__syncthreads()`` -> Barrier("block", site); ``acc[i][j]`` of a tensor accessor -> a Deref of its data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from specs.location import Span
from verifier.frontend.device_builder import MAX_LEAVES, flatten
from verifier.frontend.device_clang import CType, Node
from verifier.frontend.device_cooperative import GROUP_FUNCTIONS, REFUSED_GROUP_FUNCTIONS, is_any_group
from verifier.frontend.device_places import is_string, place_type
from verifier.frontend.device_random import RANDOM_FUNCTIONS, RandomCalls
from verifier.frontend.device_textures import TEXTURE_FUNCTIONS
from verifier.frontend.device_types import Refused
from verifier.frontend.device_values import Aggregate, ArrayValue, Closure, FunctionRef, LValue, Memory, Value
from verifier.intrinsics import TABLE, Intrinsic
from verifier.ir.nodes import (
    I32,
    I64,
    U32,
    U64,
    Array,
    Assert,
    Assign,
    Atomic,
    Barrier,
    BarrierReduce,
    Binary,
    Call,
    Compare,
    Convert,
    CopyGroup,
    Expr,
    Fence,
    Float,
    FloatConst,
    Int,
    IntConst,
    Loop,
    Member,
    Place,
    Pointer,
    PtrAdd,
    Read,
    Struct,
    Trap,
    Type,
    Unary,
    Undef,
    Void,
    size_of,
)

_OPERATORS = {
    "operator+": "add", "operator-": "sub", "operator*": "mul", "operator/": "div",
    "operator+=": "add", "operator-=": "sub", "operator*=": "mul", "operator/=": "div",
    "operator==": "eq", "operator!=": "ne", "operator<": "lt", "operator>": "gt", "operator<=": "le",
    "operator>=": "ge",
}  # fmt: skip
_ACCESSOR = re.compile(r"^(const )?at::(GenericPacked)?TensorAccessor<")
SPECIAL_FUNCTIONS = (
    frozenset(
        "move forward swap load_matrix_sync store_matrix_sync fill_fragment mma_sync __float_to_tf32".split()
    )
    | GROUP_FUNCTIONS
    | TEXTURE_FUNCTIONS
    | RANDOM_FUNCTIONS
)
"""Functions of the shim that are lowered here instead of by an entry of the table."""
REFUSED_FUNCTIONS = dict.fromkeys(REFUSED_GROUP_FUNCTIONS, "cooperative group")
"""Functions of the shim that are declared only to be refused."""


def is_accessor(type_: CType) -> bool:
    return type_.kind == "RECORD" and bool(_ACCESSOR.match(type_.spelling))


def is_held(type_: CType) -> bool:
    """Whether a variable of the class is the value that it was made with."""
    return is_accessor(type_) or is_any_group(type_)


class IntrinsicCalls(RandomCalls):
    """Lowering of calls into the shim."""

    def async_copy_call(self, node: Node, arguments: Sequence[Node]) -> None:
        raise NotImplementedError  # provided by the layer of the assembly

    def matrix_call(self, node: Node, name: str) -> Value | None:
        raise NotImplementedError  # provided by the layer of the matrix functions

    def given(self, parameter: Node, argument: Node) -> Node:
        """The argument, or the parameter's default where the call leaves it out."""
        if argument.kind == "UNEXPOSED_EXPR" and not argument.operands and argument.start < 0:
            default = [
                child for child in parameter.operands if child.kind.endswith(("EXPR", "LITERAL", "OPERATOR"))
            ]
            if default:
                return default[-1]
        return argument

    def given_all(self, node: Node, callee: Node) -> list[Node]:
        arguments = list(node.arguments)
        parameters = [child for child in callee.children if child.kind == "PARM_DECL"]
        return [self.given(p, a) for p, a in zip(parameters, arguments, strict=False)] + arguments[
            len(parameters) :
        ]

    def intrinsic_call(self, node: Node, callee: Node) -> Value | LValue | None:
        name = callee.spelling
        if callee.kind == "CONVERSION_FUNCTION":
            value = self.rvalue(self.object_node(node))
            if isinstance(value, Aggregate | ArrayValue | Closure | FunctionRef):
                raise Refused("conversion", f"to {node.type.spelling}", node.span)
            return self.convert(value, self.types.of(node.type), node.span, implicit=False)
        if callee.kind == "CXX_METHOD":
            return self._method(node, callee, name)
        if name in _OPERATORS:
            return self._operator(node, _OPERATORS[name], name)
        if callee.parent.spelling == "wmma":
            return self.matrix_call(node, name)
        if callee.parent.spelling == "cooperative_groups":
            return self.group_function(node, name)
        match name:
            case "move" | "forward":
                return self.lvalue(node.arguments[0])
            case "swap":
                self._swap(node)
                return None
            case "__builtin_expect" | "__builtin_assume_aligned":
                return self.rvalue(node.arguments[0])
            case "__builtin_assume":
                return None  # a promise of the text is no fact
            case "__builtin_unreachable":
                self.emit(Trap("unreachable", node.span))
                return None
            case "memcpy" | "__builtin_memcpy":
                return self.copy_memory(node)
            case "memset" | "__builtin_memset":
                return self.set_memory(node)
        if name.startswith("__builtin_"):
            number = node.evaluate()
            if number is not None:
                return self.constant_of(number, node.type, node.span)
            name = name if name in TABLE else name.removeprefix("__builtin_")
        if name in TEXTURE_FUNCTIONS:
            return self.texture_call(node, name, self.given_all(node, callee))
        if name in RANDOM_FUNCTIONS:
            return self.random_call(node, name, self.given_all(node, callee))
        entry = TABLE.get(name)
        if name in REFUSED_FUNCTIONS:
            raise Refused(REFUSED_FUNCTIONS[name], name, node.span)
        if entry is None:
            raise Refused("unknown function", name, node.span)
        return self.intrinsic(entry, node, self.given_all(node, callee))

    def _swap(self, node: Node) -> None:
        first, second = (self.freeze(self.lvalue(argument)) for argument in node.arguments)
        left, right = self.snapshot(self.read(first, node.span)), self.snapshot(self.read(second, node.span))
        self.write(first, right, node.span)
        self.write(second, left, node.span)

    # --- blocks of memory ---

    def copy_memory(self, node: Node) -> Value:
        """``memcpy``: a load and a store for each scalar of the source, or for each byte if that cannot be said."""
        target, source, size = node.arguments
        destination = self.scalar(target)
        origin = self.scalar(source)
        behind = self._scalars_behind(origin, size)
        if behind is None:
            return self._byte_loop(node, destination, origin, self.scalar(size))
        pointer, scalar, count = behind
        cells = Pointer(scalar)
        output = self.convert(destination, cells, node.span, implicit=False)
        values = [self.read(self._cell(pointer, number, node.span), node.span) for number in range(count)]
        for number, value in enumerate(values):
            self.write(self._cell(output, number, node.span), value, node.span)
        return destination

    def set_memory(self, node: Node) -> Value:
        """``memset``: a store for each scalar that is cleared, else for each byte."""
        target, value, size = node.arguments
        destination = self.scalar(target)
        behind = self._scalars_behind(destination, size) if value.evaluate() == 0 else None
        if behind is None:
            byte = self.convert(self.scalar(value), Int(8, False), node.span, implicit=False)
            return self._byte_loop(node, destination, self.snapshot_expr(byte), self.scalar(size))
        pointer, scalar, count = behind
        for number in range(count):
            self.write(self._cell(pointer, number, node.span), self.zero(scalar, node.span), node.span)
        return destination

    def _cell(self, pointer: Expr, number: int, span: Span) -> Memory:
        assert isinstance(pointer.type, Pointer)
        cell = PtrAdd(pointer, IntConst(number, I64), pointer.type, span) if number else pointer
        return self.dereference(cell, span)

    def _scalars_behind(self, pointer: Expr, size: Node) -> tuple[Expr, Type, int] | None:
        """The pointer as one to the scalars that it points to, their type, and how many make up the constant size."""
        while isinstance(pointer, Convert):
            pointer = pointer.operand
        length = size.evaluate()
        if not isinstance(pointer.type, Pointer) or not isinstance(length, int):
            return None
        scalar: Type = pointer.type.elem
        while isinstance(scalar, Array | Struct):
            inner = [scalar.elem] if isinstance(scalar, Array) else [field.type for field in scalar.fields]
            if not inner or any(other != inner[0] for other in inner):
                return None
            scalar = inner[0]
        if isinstance(scalar, Void) or length % size_of(scalar) or length // size_of(scalar) > MAX_LEAVES:
            return None
        cells = Pointer(scalar, pointer.type.const)
        return self.convert(pointer, cells, size.span, implicit=False), scalar, length // size_of(scalar)

    def _byte_loop(self, node: Node, target: Expr, source: Expr, size: Expr) -> Value:
        """``for (k = 0; k < size; k++) target[k] = source[k]`` on bytes; a source that is no pointer is one byte."""
        span = node.span
        byte = Int(8, False)
        limit = self.snapshot_expr(self.convert(size, U64, span))
        output = self.snapshot_expr(self.convert(target, Pointer(byte), span, implicit=False))
        origin: Expr | None = None
        if source.type != byte:
            origin = self.snapshot_expr(self.convert(source, Pointer(byte, True), span, implicit=False))
        counter = self.local("byte", U64)
        label = self.fresh(f"bytes.{span.line}")
        self.emit(Assign(counter.name, IntConst(0, U64), span))
        read = Read(counter.name, U64)
        index = Convert(I64, read, span)
        with self.nested() as body:
            value = source
            if origin is not None:
                moved = PtrAdd(origin, index, Pointer(byte, True), span)
                value = flatten([self.read(self.dereference(moved, span), span)])[0]
            self.write(self.dereference(PtrAdd(output, index, Pointer(byte), span), span), value, span)
        step = Assign(counter.name, Binary("add", read, IntConst(1, U64), U64, span), span)
        self.emit(Loop(label, (), Compare("lt", read, limit), tuple(body), (step,), span))
        return target

    # --- by kind ---

    def intrinsic(self, entry: Intrinsic, node: Node, arguments: Sequence[Node]) -> Value | None:
        span = node.span
        match entry.kind:
            case "pure-float" | "pure-int":
                return self._pure(entry, node, arguments)
            case "convert":
                return self.convert(self.scalar(arguments[0]), self.types.of(node.type), span, implicit=False)
            case "binary" | "compare":
                return self._fieldwise(entry.meaning, self.ordered(arguments), self.types.of(node.type), span)
            case "vector":
                type_ = self.types.of(node.type)
                assert isinstance(type_, Struct)
                values = self.ordered(arguments)
                return Aggregate(type_, {f.name: v for f, v in zip(type_.fields, values, strict=True)})
            case "atomic":
                return self._atomic(entry, arguments, span)
            case "warp":
                return self._warp(entry, node, arguments)
            case "barrier":
                return self._barrier(entry, arguments, span)
            case "fence":
                self.emit(Fence(entry.meaning, span))  # type: ignore[arg-type]
                return None
            case "load":
                return self._load_through(entry, node, arguments[0])
            case "store":
                pointer, value = self.ordered(arguments)
                assert not isinstance(pointer, Aggregate | ArrayValue | Closure | FunctionRef)
                self.write(self.dereference(pointer, span), value, span)
                return None
            case "address":
                return Call(entry.name, (self.scalar(arguments[0]),), self.types.of(node.type), span)
            case "copy-group":
                left = arguments[0].evaluate() if arguments else 0
                if not isinstance(left, int) or left < 0:
                    raise Refused("asynchronous copy", f"{entry.name} of a number that is no constant", span)
                self.emit(CopyGroup(entry.meaning, left, span))  # type: ignore[arg-type]
                return None
            case "async-copy":
                self.async_copy_call(node, arguments)
                return None
            case "results":
                self._results(entry, arguments, span)
                return None
            case "nothing":
                for argument in arguments:
                    if not is_string(argument):
                        self.rvalue(argument)
                return IntConst(0, I32) if node.type.kind == "INT" else None
            case "opaque":
                holder = self.temporary(self.types.of(node.type))
                self.emit(Assign(holder.name, Undef(holder.type, "", span), span))  # it really is any value
                return Read(holder.name, holder.type)
            case "trap":
                self.emit(Trap(entry.meaning, span))
                return None
            case "assert":
                condition = self.condition(arguments[0])
                self.emit(Assert(condition, arguments[0].source, span))
                return None
        raise Refused("function without a meaning", entry.name, span)

    def _pure(self, entry: Intrinsic, node: Node, arguments: Sequence[Node]) -> Value:
        type_ = self.types.of(node.type)
        if arguments and is_string(arguments[0]) and isinstance(type_, Float):
            return FloatConst(float("nan"), type_)
        values = flatten(self.ordered(arguments))
        if entry.common:
            values = [self.convert(value, type_, node.span) for value in values]
        if isinstance(type_, Struct):
            return Aggregate(
                type_,
                {
                    f.name: Call(f"{entry.name}.{f.name}", tuple(values), f.type, node.span)
                    for f in type_.fields
                },
            )
        return Call(entry.name, tuple(values), type_, node.span)

    def _fieldwise(self, operator: str, operands: Sequence[Value], result: Type, span: Span) -> Value:
        """An operator on 16-bit floats, or on each field of a pair of them."""
        if isinstance(result, Struct):
            fields: dict[str, Value] = {}
            for field in result.fields:
                parts = []
                for operand in operands:
                    if not isinstance(operand, Aggregate):
                        raise Refused("operator", f"{operator} of a pair and a number", span)
                    parts.append(operand.fields[field.name])
                fields[field.name] = self._fieldwise(operator, parts, field.type, span)
            return Aggregate(result, fields)
        scalars = flatten(operands)
        comparison = operator in ("eq", "ne", "lt", "le", "gt", "ge")
        common = scalars[0].type if comparison else result
        if not isinstance(common, Float):
            raise Refused("function without a meaning", f"{operator} of integers by an intrinsic", span)
        scalars = [self.convert(scalar, common, span) for scalar in scalars]
        if len(scalars) == 1:
            return Unary("neg", scalars[0], common, span) if operator == "sub" else scalars[0]
        if comparison:
            return Compare(operator, scalars[0], scalars[1])  # type: ignore[arg-type]
        return Binary(operator, scalars[0], scalars[1], common, span)  # type: ignore[arg-type]

    def _operator(self, node: Node, operator: str, name: str) -> Value | LValue:
        arguments = node.arguments
        if not name.endswith("=") or name in ("operator==", "operator!=", "operator<=", "operator>="):
            return self._fieldwise(operator, self.ordered(arguments), self.types.of(node.type), node.span)
        operand = self.rvalue(arguments[1])
        start = len(self.out)
        target = self.freeze(self.lvalue(arguments[0]))
        held = [operand]
        self.protect(held, start)
        type_ = place_type(target)
        if type_ is None:
            raise Refused("operator", f"{name} on a temporary", node.span)
        old = self.read(target, node.span)
        self.write(target, self._fieldwise(operator, (old, held[0]), type_, node.span), node.span)
        return target

    def _atomic(self, entry: Intrinsic, arguments: Sequence[Node], span: Span) -> Value:
        address, *values = self.ordered(arguments)
        (pointer,) = flatten([address])
        place = self.dereference(pointer, span).place
        if isinstance(place.type, Struct) and len(values) == 1 and isinstance(values[0], Aggregate):
            return self._atomic_pair(entry, place, values[0], span)
        operands = flatten(values)
        if isinstance(place.type, Struct) or any(operand.type != place.type for operand in operands):
            raise Refused("atomic", f"{entry.name} on this type", span)
        result = self.temporary(place.type)
        self.emit(Atomic(entry.meaning, result.name, place, tuple(operands), entry.scope, span))
        return Read(result.name, result.type)

    def _atomic_pair(self, entry: Intrinsic, place: Place, value: Aggregate, span: Span) -> Value:
        """A pair of 16-bit floats: each of them is added atomically, the pair is not."""
        assert isinstance(place.type, Struct)
        old: dict[str, Value] = {}
        for field in place.type.fields:
            part = Member(place, field, field.type)
            (operand,) = flatten([value.fields[field.name]])
            if not isinstance(field.type, Float) or operand.type != field.type:
                raise Refused("atomic", f"{entry.name} on this type", span)
            result = self.temporary(field.type)
            self.emit(Atomic(entry.meaning, result.name, part, (operand,), entry.scope, span))
            old[field.name] = Read(result.name, field.type)
        return Aggregate(place.type, old)

    def _warp(self, entry: Intrinsic, node: Node, arguments: Sequence[Node]) -> Value:
        type_ = self.types.of(node.type)
        span = node.span
        if entry.meaning == "activemask":
            return self.collective("activemask", None, (), type_, span)
        values = self.ordered(arguments)
        mask = values[0]
        assert not isinstance(mask, Aggregate | ArrayValue | Closure | FunctionRef)
        mask = self.convert(mask, U32, span)
        rest = values[1:]
        if entry.meaning == "match_all":
            value, pointer = flatten(rest)
            same = self.collective("match_all", mask, (value,), type_, span)
            (bits,) = flatten([same])
            place = self.dereference(pointer, span)
            self.write(place, self.convert(self.truth(bits), place.type, span), span)
            return same
        if entry.meaning in ("ballot", "any", "all", "uni"):
            return self.collective(entry.meaning, mask, (self.truth(flatten(rest)[0]),), type_, span)
        return self.collective(entry.meaning, mask, rest, type_, span)

    def _barrier(self, entry: Intrinsic, arguments: Sequence[Node], span: Span) -> Value | None:
        match entry.meaning:
            case "block":
                self.emit(Barrier("block", self.site(span), None, span))
            case "warp":
                mask = (
                    self.convert(self.scalar(arguments[0]), U32, span)
                    if arguments
                    else IntConst(0xFFFFFFFF, U32)
                )
                self.emit(Barrier("warp", self.site(span), mask, span))
            case _:
                predicate = self.condition(arguments[0])
                result = self.temporary(I32)
                op: Literal["count", "and", "or"] = entry.meaning  # type: ignore[assignment]
                self.emit(BarrierReduce(op, result.name, predicate, self.site(span), span))
                return Read(result.name, I32)
        return None

    def _load_through(self, entry: Intrinsic, node: Node, argument: Node) -> Value:
        place = self.dereference(self.scalar(argument), node.span, entry.meaning == "volatile")
        return self.read(place, node.span, readonly=entry.meaning == "readonly")

    def _results(self, entry: Intrinsic, arguments: Sequence[Node], span: Span) -> None:
        value, *pointers = self.scalars(arguments)
        for function, pointer in zip(entry.meaning.split(","), pointers, strict=True):
            place = self.dereference(pointer, span)
            self.write(place, Call(f"{entry.name}.{function}", (value,), place.type, span), span)

    # --- classes of the shim ---

    def construct_scalar(self, node: Node, type_: Type, arguments: Sequence[Node]) -> Value:
        """A 16-bit float from a number, or the copy of a lambda."""
        if len(arguments) == 1:
            value = self.rvalue(arguments[0])
            if isinstance(value, Closure | FunctionRef):
                return value
            if isinstance(value, Aggregate | ArrayValue):
                raise Refused("constructor", node.source[:60], node.span)
            return self.convert(value, type_, node.span, implicit=False)
        if arguments:
            raise Refused("constructor", node.source[:60], node.span)
        if node.source.rstrip().endswith((")", "}")):
            return self.zero(type_, node.span)
        return Undef(type_, "", node.span)

    def construct_shim(self, node: Node, type_: Struct, arguments: Sequence[Node]) -> Value:
        values = self.ordered(self.given_all(node, node.referenced))
        if len(values) == 1 and isinstance(values[0], Aggregate):
            if is_any_group(node.type):
                return values[0]
            return Aggregate(type_, values[0].fields)
        if len(values) != len(type_.fields):
            raise Refused("constructor", node.source[:60], node.span)
        return Aggregate(
            type_,
            {
                field.name: self.convert(flatten([value])[0], field.type, node.span)
                for field, value in zip(type_.fields, values, strict=True)
            },
        )

    def _method(self, node: Node, callee: Node, name: str) -> Value | LValue | None:
        owner = callee.parent.spelling
        if owner in ("TensorAccessor", "GenericPackedTensorAccessor"):
            return self._accessor(node, name)
        if owner == "numeric_limits":
            return self.constant(node)
        if name == "operator=":
            value = self.scalar(node.arguments[-1])
            target = self.lvalue(node.arguments[0])
            type_ = place_type(target)
            assert type_ is not None
            self.write(target, self.convert(value, type_, node.span, implicit=False), node.span)
            return target
        if callee.parent.parent.spelling == "cooperative_groups":
            return self.group_method(node, owner, name)
        raise Refused("method without a meaning", f"{owner}::{name}", node.span)

    def _accessor(self, node: Node, name: str) -> Value | LValue:
        source = node.arguments[0] if name == "operator[]" else self.object_node(node)
        accessor = self.rvalue(source)
        if not isinstance(accessor, Aggregate):
            raise Refused("tensor accessor", node.source[:60], node.span)
        data, sizes, strides = (accessor.fields[key] for key in ("data_", "sizes_", "strides_"))
        assert isinstance(sizes, ArrayValue) and isinstance(strides, ArrayValue)
        assert not isinstance(data, Aggregate | ArrayValue | Closure | FunctionRef)
        if name == "data":
            return data
        index = self.scalar(node.arguments[-1])
        if name in ("size", "stride"):
            items = (sizes if name == "size" else strides).items
            if isinstance(index, IntConst) and 0 <= index.value < len(items):
                return items[index.value]
            raise Refused("tensor accessor", f"{name} of a dimension that is no constant", node.span)
        stride = flatten([strides.items[0]])[0]
        offset = Binary("mul", stride, index, stride.type, node.span)
        assert isinstance(data.type, Pointer)
        pointer = PtrAdd(data, self.convert(offset, I64, node.span), data.type, node.span)
        if len(sizes.items) == 1:
            return self.dereference(pointer, node.span)
        type_ = self.types.of(node.type)
        assert isinstance(type_, Struct)
        rest: dict[str, Value] = {
            "data_": pointer,
            "sizes_": ArrayValue(sizes.items[1:]),
            "strides_": ArrayValue(strides.items[1:]),
        }
        return Aggregate(type_, rest)
