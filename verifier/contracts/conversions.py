"""Conversions between the C types of values, and values that are not followed. Part of the memory of a path.

Example: ``unsigned int`` of the ``Int`` 70000 of type ``int`` is the same number; of a pointer it is its bits.
"""

from __future__ import annotations

from specs.location import Span
from verifier.contracts import elements, tensors
from verifier.contracts.clause_text import too_long
from verifier.contracts.floats import to_float
from verifier.contracts.objects import (
    Address,
    Bits,
    Dim3,
    Dtype,
    Float,
    Items,
    Null,
    Optional,
    Pointer,
    Tensor,
    Text,
    Unknown,
    Value,
)
from verifier.contracts.run import NotSimple, Run
from verifier.contracts.values import (
    FALSE,
    NOT_FOLLOWED,
    PY,
    SIZES,
    TRUE,
    Bool,
    Int,
    arith,
    as_bool,
    as_int,
    choose,
    const,
    convert,
    dtype_of,
    element_of,
    land,
    limits,
    lnot,
)
from verifier.frontend.host import Node


class Conversions:
    run: Run

    def span(self, node: Node) -> Span:
        raise NotImplementedError

    def lost(self, value: Value) -> None:
        raise NotImplementedError

    def coerce(self, value: Value, type_: str, count: int | None = None) -> Value:
        """The C conversion to a type, by name. Class types pass through."""
        dtype = dtype_of(type_)
        if dtype == "bool":
            if isinstance(value, Unknown | Float | Text):
                return value
            return self.as_condition(value, {"s": None})
        if dtype in ("f32", "f64", "f16", "bf16"):
            if isinstance(value, Bool):
                value = self.bool_value(value)
            if isinstance(value, Int):
                return to_float(value, dtype)
            if isinstance(value, Float):
                exact = dtype == "f64" or (value.ratio is None) or dtype == value.type
                return Float(value.value, value.ratio if exact else None, dtype)
            return Float(type=dtype) if isinstance(value, Unknown) else value
        if dtype is not None:
            match value:
                case Bool():
                    return convert(self.bool_value(value), dtype)
                case Int():
                    return convert(self.run.narrow(value), dtype)
                case Float(ratio=ratio) if ratio is not None:
                    quotient = arith("/", ratio[0], ratio[1], "py")
                    return convert(quotient, dtype) if quotient is not None else Unknown("float to int")
                case Float():
                    return self.free_int(dtype, "a float converted to an int", "rounded")
                case Pointer():
                    return Bits((value,))
                case Null():
                    return const(0, dtype)
                case Dtype() | Unknown() | Optional() | Tensor() | Items() | Text():
                    return value
            return value
        if type_.endswith("*"):
            return self.pointer_cast(value, type_)
        if type_.startswith(elements.CONTAINERS):
            return elements.contained(self, value, type_)
        if type_ in NOT_FOLLOWED and not isinstance(value, Unknown):
            self.lost(value)
            return Unknown(f"a value of type {type_}")
        if type_.endswith("]") and isinstance(value, Items) and count and len(value.items) < count <= 64:
            element = type_[: type_.index("[")].strip()
            zero = self.coerce(const(0, "i32"), element)
            return Items((*value.items, *(zero for _ in range(count - len(value.items)))))
        if type_ == "dim3" and isinstance(value, Int):
            return self.dim3([value], [])
        if type_.endswith("]") and isinstance(value, Items):
            element = type_[: type_.index("[")].strip()
            return Items(tuple(self.coerce(i, element) for i in value.items))
        return value

    def pointer_cast(self, value: Value, type_: str) -> Value:
        if isinstance(value, Int) and value.value == 0:
            return Null()
        if isinstance(value, Pointer):
            found = element_of(type_)
            if type_.removeprefix("const ").rstrip("* ") == "void":
                return Pointer(value.storage, value.offset, None, 1, 1)
            if found is None:
                return Pointer(value.storage, value.offset, None, 1, 0)
            dtype, lanes = found
            return Pointer(value.storage, value.offset, dtype, lanes, SIZES[dtype] * lanes)
        return value

    def dim3(self, values: list[Value], nodes: list[Node]) -> Value:
        if len(values) == 1 and isinstance(values[0], Dim3):
            return values[0]
        parts: list[Int] = []
        for value, node in zip(values, nodes or [{"k": "?"}] * len(values), strict=False):
            if node["k"] == "default":
                parts.append(const(1, "u32"))
                continue
            converted = self.coerce(value, "unsigned int")
            if not isinstance(converted, Int):
                why = value.why if isinstance(value, Unknown) else "a launch dimension"
                converted = self.free_int("u32", why, "extent")
            parts.append(converted)
        while len(parts) < 3:
            parts.append(const(1, "u32"))
        return Dim3(*parts[:3])

    def as_condition(self, value: Value, node: Node) -> Bool:
        match value:
            case Bool():
                return value
            case Int():
                return as_bool(value)
            case Null():
                return FALSE
            case Pointer() | Address():
                return TRUE
            case Bits(modulus=modulus) if modulus is not None and (found := aligned(value)) is not None:
                return lnot(found)
            case Optional():
                return tensors.defined(self.run, value)
            case Float(value=number) if number is not None:
                return TRUE if number != 0 else FALSE
            case _:
                if self.run.speculative:
                    raise NotSimple
                why = value.why if isinstance(value, Unknown) else "a condition"
                return self.run.unknown_condition(f"{self.span(node)}: {why}")

    def unfollowed(self, condition: Bool) -> bool:
        """Whether a condition is just one that is not followed."""
        name = condition.text.strip("()").split(" ")[0]
        info = self.run.symbols.get(name)
        return info is not None and info.unfollowed

    def bool_value(self, value: Bool) -> Int:
        if value.plain:
            return as_int(value, "i32")
        return const(int(self.run.decide(value)), "i32")

    def free_condition(self, op: str, node: Node) -> Value:
        if self.run.speculative:
            raise NotSimple
        return self.run.unknown_condition(f"{self.span(node)}: a comparison that is not followed")

    def free_int(self, type_: str, why: str, hint: str = "value") -> Int:
        """An int that is not followed. Any contract that mentions it has a gap."""
        if self.run.speculative:
            raise NotSimple
        lo, hi = limits(type_)
        out = self.run.fresh(hint, "scalar", type_, meaning=why, lo=lo, hi=hi, gap=f"{why} is not followed")
        info = self.run.symbols[out.text]
        info.low, info.high = lo, hi
        return out

    def of_length(self, value: Value, node: Node) -> Value:
        """The value; unknown if its term is too long to go on with."""
        match value:
            case Int(text=text, type=type_) if too_long(text):
                return self.free_int(
                    type_ if type_ != PY else "i64", f"{self.span(node)}: a term that is too long"
                )
            case Bool(text=text) if too_long(text):
                if self.run.speculative:
                    raise NotSimple
                return self.run.unknown_condition(f"{self.span(node)}: a term that is too long")
        return value


def aligned(value: Bits) -> Bool | None:
    """That the residue is 0: each pointer starts at a multiple of the modulus."""
    out = TRUE
    for pointer in value.pointers:
        if pointer.offset is None:
            return None
        out = land(
            out, Bool(fact=(f"aligned {value.modulus}", f"{pointer.storage}+{pointer.offset.text}", None))
        )
    return out


def merge(condition: Bool, a: Value, b: Value) -> Value | None:
    """``condition ? a : b`` as one value, or None where it needs a decision."""
    if a == b:
        return a
    match a, b:
        case Int(), Int() if a.type == b.type:
            return choose(condition, a, b)
        case Bool(), Bool() if a.plain and b.plain:
            return Bool(f"({a.text} if {condition.text} else {b.text})")
        case Float(), Float() if a.type == b.type:
            return Float(type=a.type)
        case Dim3(), Dim3():
            return Dim3(choose(condition, a.x, b.x), choose(condition, a.y, b.y), choose(condition, a.z, b.z))
        case Text(), Text():
            return Text()
        case (Unknown() | Text(), Unknown() | Text() | Int() | Float()) | (
            Int() | Float(),
            Unknown() | Text(),
        ):
            return Unknown("either of two values")
    return None
