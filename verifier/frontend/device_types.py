"""C++ types as IR types.

Input -> output: a canonical ``CType`` -> an ``ir.Type``; raises Refused for what the IR has no type for.

Invariant: sizes, alignments and offsets are the parser's; a 16-bit float class of the shim is a Float.

Example: ``const float4 *`` -> Pointer(Struct("float4", …), const=True).
"""

from __future__ import annotations

from specs.location import NOWHERE, Span
from verifier.frontend.device_clang import CType, Node, lib
from verifier.ir.nodes import (
    BOOL,
    F32,
    F64,
    VOID,
    Array,
    Bool,
    Field,
    Float,
    Int,
    Pointer,
    Struct,
    Type,
    align_of,
)

_SCALARS: dict[str, Type] = {
    "VOID": VOID, "BOOL": BOOL, "CHAR_S": Int(8, True), "SCHAR": Int(8, True), "CHAR_U": Int(8, False),
    "UCHAR": Int(8, False), "SHORT": Int(16, True), "USHORT": Int(16, False), "INT": Int(32, True),
    "UINT": Int(32, False), "LONG": Int(64, True), "ULONG": Int(64, False), "LONGLONG": Int(64, True),
    "ULONGLONG": Int(64, False), "INT128": Int(128, True), "UINT128": Int(128, False), "FLOAT": F32, "DOUBLE": F64,
    "CHAR16": Int(16, False), "CHAR32": Int(32, False), "WCHAR": Int(32, True), "NULLPTR": Int(64, True),
    "HALF": Float("f16"), "FLOAT16": Float("f16"), "BFLOAT16": Float("bf16"),
}  # fmt: skip
SMALL_FLOATS = {"__half": "f16", "c10::Half": "f16", "__nv_bfloat16": "bf16", "c10::BFloat16": "bf16"}
FUNCTION_POINTER = Int(64, False)
"""A pointer to a function is the number of that function among those of the text; 0 is null."""
SCALAR_TYPES = (Int, Bool, Float, Pointer)


class Refused(Exception):
    """A construct without a meaning in the IR; becomes an Unsupported statement."""

    def __init__(self, construct: str, detail: str, span: Span = NOWHERE) -> None:
        super().__init__(f"{construct}: {detail}")
        self.construct, self.detail, self.span = construct, detail, span


def is_anonymous(field: Node) -> bool:
    """The member that holds an anonymous struct or union."""
    return not field.spelling or "(anonymous" in field.spelling


def is_lambda(type_: CType) -> bool:
    return type_.kind == "RECORD" and "(lambda at " in type_.spelling.rpartition("::")[2]


class TypeMap:
    """Caches the IR types of one parsed unit."""

    def __init__(self) -> None:
        self._known: dict[int, Type] = {}
        self._open: set[int] = set()

    def of(self, type_: CType) -> Type:
        known = self._known.get(type_.key)
        if known is None:
            known = self._known[type_.key] = self._make(type_)
        return known

    def parameter(self, type_: CType) -> Type:
        """The type of a parameter: an array is a pointer to its first element."""
        if type_.is_array:
            return Pointer(self.of(type_.element), type_.element.const)
        return self.of(type_)

    def _make(self, type_: CType) -> Type:
        scalar = _SCALARS.get(type_.kind)
        if scalar is not None:
            return scalar
        match type_.kind:
            case "POINTER":
                pointee = type_.pointee
                if pointee.kind in ("FUNCTIONPROTO", "FUNCTIONNOPROTO"):
                    return FUNCTION_POINTER
                return Pointer(self._pointee(pointee), pointee.const)
            case "LVALUEREFERENCE" | "RVALUEREFERENCE":
                return self.of(type_.pointee)
            case "CONSTANTARRAY":
                return Array(self.of(type_.element), type_.count)
            case "INCOMPLETEARRAY":
                return Array(self.of(type_.element), 0)
            case "ENUM":
                return self.of(enum_type(type_))
            case "RECORD":
                return self._record(type_)
        raise Refused("type", type_.spelling)

    def _pointee(self, type_: CType) -> Type:
        """What is pointed to; a class whose layout the IR cannot say is Void, so that only its use is refused."""
        try:
            return self.of(type_)
        except Refused:
            if type_.kind == "RECORD":
                return VOID
            raise

    def _record(self, type_: CType) -> Type:
        name = type_.spelling.removeprefix("const ").removeprefix("volatile ").removeprefix("struct ")
        if name in SMALL_FLOATS and type_.declaration.start < 0:
            return Float(SMALL_FLOATS[name])
        if is_lambda(type_):
            raise Refused("lambda", "stored or passed where its calls cannot be followed")
        size, align = type_.size, type_.align
        if size < 0 or align <= 0:
            raise Refused("incomplete type", name)
        if type_.key in self._open:
            raise Refused("recursive class", name)
        self._open.add(type_.key)
        try:
            fields = tuple(self._fields(type_, name))
        finally:
            self._open.discard(type_.key)
        for field in fields:
            if field.offset % max(1, align_of(field.type)):
                raise Refused("packed struct", name)
        return Struct(name, fields, size, align)

    def _fields(self, type_: CType, name: str) -> list[Field]:
        found: list[Field] = []
        for base in self.bases(type_):
            found += self._fields(base, name)
        for member in type_.members:
            match member.kind:
                case "CXX_METHOD" | "DESTRUCTOR" if member.is_virtual:
                    raise Refused("virtual function", name)
                case "DESTRUCTOR" if not member.is_defaulted:
                    raise Refused("destructor", name)
                case "CONSTRUCTOR" if member.copies and not member.is_defaulted:
                    raise Refused("copy constructor", name)
        for field in type_.fields:
            if field.is_bit_field:
                raise Refused("bit field", name)
            if is_anonymous(field):  # the members of an anonymous struct or union are members of this one
                if field.type.kind != "RECORD":
                    raise Refused("anonymous member", name)
                start = field.field_offset // 8
                found += [Field(f.name, f.type, start + f.offset) for f in self._fields(field.type, name)]
                continue
            if field.type.is_reference:
                raise Refused("reference member", name)
            if any(other.name == field.spelling for other in found):
                raise Refused("member of a base class", f"hidden by {name}::{field.spelling}")
            found.append(Field(field.spelling, self.of(field.type), field.field_offset // 8))
        return found

    def bases(self, type_: CType) -> list[CType]:
        bases = [member for member in type_.members if member.kind == "CXX_BASE_SPECIFIER"]
        if len(bases) > 1:
            raise Refused("multiple inheritance", type_.spelling)
        if any(base.type.kind != "RECORD" for base in bases):
            raise Refused("base class of a template", type_.spelling)
        return [base.type for base in bases]


def enum_type(type_: CType) -> CType:
    return CType(lib().getEnumDeclIntegerType(type_.declaration.raw), type_.unit)


def is_union(type_: Struct) -> bool:
    """Whether two fields overlap."""
    end = 0
    for field in sorted(type_.fields, key=lambda f: f.offset):
        if field.offset < end:
            return True
        end = field.offset + 1
    return False
