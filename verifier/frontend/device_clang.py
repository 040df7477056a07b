"""A thin typed view of libclang's tree: the only place that calls the library for device code.

Input -> output: C++ text -> ``Unit`` with ``Node`` cursors and ``CType`` types, read lazily through raw ctypes calls
(the wheel's Python bindings lack operator kinds and presumed locations, and convert too much to be quick).

Invariant: nothing here interprets C++; a location is the presumed one, so line markers of the text are obeyed.

Example::

    unit = Unit.parse("__global__ void k() {}", shim)
    [node.spelling for node in unit.root.children]
"""

from __future__ import annotations

import ctypes
import re
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_longlong,
    c_uint,
    c_ulonglong,
    c_void_p,
)
from dataclasses import dataclass
from typing import Any, ClassVar

from clang import cindex

from specs.location import Span

MAIN, SHIM = "/device.cu", "/shim.h"
ARGUMENTS = (
    "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-nogpulib", "-nostdinc", "-std=c++17", "-w",
    "-ferror-limit=0", "-ftemplate-depth=256", "-fconstexpr-steps=200000", "--cuda-path=/nonexistent",
)  # fmt: skip

BINARY = {
    3: "mul", 4: "div", 5: "rem", 6: "add", 7: "sub", 8: "shl", 9: "shr", 11: "lt", 12: "gt", 13: "le", 14: "ge",
    15: "eq", 16: "ne", 17: "and", 18: "xor", 19: "or", 20: "land", 21: "lor", 22: "assign", 23: "mul", 24: "div",
    25: "rem", 26: "add", 27: "sub", 28: "shl", 29: "shr", 30: "and", 31: "xor", 32: "or", 33: "comma",
}  # fmt: skip
UNARY = {
    1: "postinc", 2: "postdec", 3: "preinc", 4: "predec", 5: "addrof", 6: "deref", 7: "plus", 8: "minus", 9: "bitnot",
    10: "not", 13: "extension",
}  # fmt: skip
_KINDS: dict[int, str] = {kind.value: kind.name for kind in cindex.CursorKind.get_all_kinds()}
_TYPE_KINDS: dict[int, str] = {
    value.value: name for name, value in vars(cindex.TypeKind).items() if isinstance(value, cindex.TypeKind)
}
REFERENCE_KINDS = frozenset({"TYPE_REF", "TEMPLATE_REF", "NAMESPACE_REF", "OVERLOADED_DECL_REF", "LABEL_REF"})


class _Cursor(Structure):
    _fields_: ClassVar = [("kind", c_int), ("xdata", c_int), ("data", c_void_p * 3)]


class _Type(Structure):
    _fields_: ClassVar = [("kind", c_int), ("data", c_void_p * 2)]


class _String(Structure):
    _fields_: ClassVar = [("data", c_void_p), ("flags", c_uint)]


class _Location(Structure):
    _fields_: ClassVar = [("ptr", c_void_p * 2), ("raw", c_uint)]


class _Range(Structure):
    _fields_: ClassVar = [("ptr", c_void_p * 2), ("begin", c_uint), ("end", c_uint)]


_VISITOR = ctypes.CFUNCTYPE(c_int, _Cursor, _Cursor, c_void_p)
_FIELD_VISITOR = ctypes.CFUNCTYPE(c_int, _Cursor, c_void_p)
_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "clang_visitChildren": (c_uint, (_Cursor, _VISITOR, c_void_p)),
    "clang_getCursorType": (_Type, (_Cursor,)),
    "clang_getCanonicalType": (_Type, (_Type,)),
    "clang_getPointeeType": (_Type, (_Type,)),
    "clang_getArrayElementType": (_Type, (_Type,)),
    "clang_getArraySize": (c_longlong, (_Type,)),
    "clang_getEnumConstantDeclValue": (c_longlong, (_Cursor,)),
    "clang_getEnumDeclIntegerType": (_Type, (_Cursor,)),
    "clang_getResultType": (_Type, (_Type,)),
    "clang_Type_visitFields": (c_uint, (_Type, _FIELD_VISITOR, c_void_p)),
    "clang_getTypeDeclaration": (_Cursor, (_Type,)),
    "clang_Type_getSizeOf": (c_longlong, (_Type,)),
    "clang_Type_getAlignOf": (c_longlong, (_Type,)),
    "clang_Cursor_getOffsetOfField": (c_longlong, (_Cursor,)),
    "clang_Cursor_isBitField": (c_uint, (_Cursor,)),
    "clang_isConstQualifiedType": (c_uint, (_Type,)),
    "clang_isVolatileQualifiedType": (c_uint, (_Type,)),
    "clang_isRestrictQualifiedType": (c_uint, (_Type,)),
    "clang_getTypeSpelling": (_String, (_Type,)),
    "clang_getCursorSpelling": (_String, (_Cursor,)),
    "clang_getCString": (c_char_p, (_String,)),
    "clang_disposeString": (None, (_String,)),
    "clang_getCursorReferenced": (_Cursor, (_Cursor,)),
    "clang_getCursorDefinition": (_Cursor, (_Cursor,)),
    "clang_getCursorSemanticParent": (_Cursor, (_Cursor,)),
    "clang_getSpecializedCursorTemplate": (_Cursor, (_Cursor,)),
    "clang_isCursorDefinition": (c_uint, (_Cursor,)),
    "clang_getCursorExtent": (_Range, (_Cursor,)),
    "clang_getCursorLocation": (_Location, (_Cursor,)),
    "clang_getRangeStart": (_Location, (_Range,)),
    "clang_getRangeEnd": (_Location, (_Range,)),
    "clang_getPresumedLocation": (None, (_Location, POINTER(_String), POINTER(c_uint), POINTER(c_uint))),
    "clang_getExpansionLocation": (
        None, (_Location, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)),
    ),
    "clang_getFileName": (_String, (c_void_p,)),
    "clang_getCursorBinaryOperatorKind": (c_int, (_Cursor,)),
    "clang_getCursorUnaryOperatorKind": (c_int, (_Cursor,)),
    "clang_Cursor_Evaluate": (c_void_p, (_Cursor,)),
    "clang_EvalResult_getKind": (c_int, (c_void_p,)),
    "clang_EvalResult_getAsLongLong": (c_longlong, (c_void_p,)),
    "clang_EvalResult_isUnsignedInt": (c_uint, (c_void_p,)),
    "clang_EvalResult_getAsUnsigned": (c_ulonglong, (c_void_p,)),
    "clang_EvalResult_getAsDouble": (c_double, (c_void_p,)),
    "clang_EvalResult_dispose": (None, (c_void_p,)),
    "clang_Cursor_getVarDeclInitializer": (_Cursor, (_Cursor,)),
    "clang_Cursor_getStorageClass": (c_int, (_Cursor,)),
    "clang_Cursor_getNumArguments": (c_int, (_Cursor,)),
    "clang_Cursor_getArgument": (_Cursor, (_Cursor, c_uint)),
    "clang_CXXMethod_isStatic": (c_uint, (_Cursor,)),
    "clang_CXXMethod_isVirtual": (c_uint, (_Cursor,)),
    "clang_CXXMethod_isDefaulted": (c_uint, (_Cursor,)),
    "clang_CXXConstructor_isCopyConstructor": (c_uint, (_Cursor,)),
    "clang_CXXConstructor_isMoveConstructor": (c_uint, (_Cursor,)),
    "clang_isInvalidDeclaration": (c_uint, (_Cursor,)),
}  # fmt: skip


class _Library:
    """The functions above with raw prototypes, next to (not instead of) the bindings' own."""

    def __init__(self) -> None:
        library = ctypes.CDLL(cindex.conf.lib._name)
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
            setattr(self, name.removeprefix("clang_"), function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


_lib: Any = None


def lib() -> Any:
    global _lib
    if _lib is None:
        _lib = _Library()
    return _lib


def _text(string: _String) -> str:
    raw: bytes | None = _lib.getCString(string)
    value = (raw or b"").decode("utf-8", "replace")
    _lib.disposeString(string)
    return value


class CType:
    """A canonical C++ type with its qualifiers. ``key`` is equal for equal types (of one unit)."""

    __slots__ = ("key", "kind", "raw", "unit")

    def __init__(self, raw: _Type, unit: Unit) -> None:
        self.raw = _lib.getCanonicalType(raw)
        self.unit = unit
        self.kind = _TYPE_KINDS.get(self.raw.kind, str(self.raw.kind))
        self.key: int = self.raw.data[0] or 0

    @property
    def spelling(self) -> str:
        return _text(_lib.getTypeSpelling(self.raw))

    @property
    def const(self) -> bool:
        return bool(_lib.isConstQualifiedType(self.raw))

    @property
    def volatile(self) -> bool:
        return bool(_lib.isVolatileQualifiedType(self.raw))

    @property
    def restrict(self) -> bool:
        return bool(_lib.isRestrictQualifiedType(self.raw))

    @property
    def pointee(self) -> CType:
        return CType(_lib.getPointeeType(self.raw), self.unit)

    @property
    def element(self) -> CType:
        return CType(_lib.getArrayElementType(self.raw), self.unit)

    @property
    def result(self) -> CType:
        return CType(_lib.getResultType(self.raw), self.unit)

    @property
    def count(self) -> int:
        return int(_lib.getArraySize(self.raw))

    @property
    def size(self) -> int:
        return int(_lib.Type_getSizeOf(self.raw))

    @property
    def align(self) -> int:
        return int(_lib.Type_getAlignOf(self.raw))

    @property
    def declaration(self) -> Node:
        return Node(_lib.getTypeDeclaration(self.raw), self.unit)

    @property
    def fields(self) -> list[Node]:
        """The fields of a class, those of its bases excepted."""
        found: list[Node] = []
        unit = self.unit

        def visit(child: _Cursor, _data: Any) -> int:
            found.append(Node(child, unit))
            return 1

        _need_room()
        _lib.Type_visitFields(self.raw, _FIELD_VISITOR(visit), None)
        return found

    @property
    def members(self) -> tuple[Node, ...]:
        """What the class declares; for an instantiated template, what the template declares."""
        declaration = self.declaration
        definition = declaration.definition
        if definition.children or not declaration.template.exists:
            return definition.children
        return declaration.template.children

    @property
    def is_reference(self) -> bool:
        return self.kind in ("LVALUEREFERENCE", "RVALUEREFERENCE")

    @property
    def is_array(self) -> bool:
        return self.kind.endswith("ARRAY")


def _need_room(frames: int = 20) -> None:
    """Raises RecursionError here: in a visitor it would be swallowed on its way through C, with the rest of the children."""
    if frames:
        _need_room(frames - 1)


class Node:
    """A cursor: a declaration, statement or expression."""

    __slots__ = ("_children", "_extent", "_referenced", "_span", "_type", "kind", "raw", "unit")

    def __init__(self, raw: _Cursor, unit: Unit) -> None:
        self.raw = raw
        self.unit = unit
        self.kind = _KINDS.get(raw.kind, str(raw.kind))
        self._children: tuple[Node, ...] | None = None
        self._type: CType | None = None
        self._extent: tuple[int, int] | None = None
        self._span: Span | None = None
        self._referenced: Node | None = None

    @property
    def children(self) -> tuple[Node, ...]:
        if self._children is None:
            found: list[Node] = []
            unit = self.unit

            def visit(child: _Cursor, _parent: _Cursor, _data: Any) -> int:
                found.append(Node(child, unit))
                return 1

            _need_room()
            if _lib.visitChildren(self.raw, _VISITOR(visit), None):
                raise RecursionError("a visitor failed")
            self._children = tuple(found)
        return self._children

    @property
    def operands(self) -> tuple[Node, ...]:
        """The children without the references to types, templates and namespaces that their spelling names."""
        return tuple([child for child in self.children if child.kind not in REFERENCE_KINDS])

    @property
    def type(self) -> CType:
        if self._type is None:
            self._type = CType(_lib.getCursorType(self.raw), self.unit)
        return self._type

    @property
    def initializer(self) -> Node | None:
        """The initialiser of a variable."""
        found = Node(_lib.Cursor_getVarDeclInitializer(self.raw), self.unit)
        return found if found.exists else None

    @property
    def is_static(self) -> bool:
        return int(_lib.Cursor_getStorageClass(self.raw)) == 3

    def has(self, kind: str) -> bool:
        return any(child.kind == kind for child in self.children)

    @property
    def key(self) -> int:
        """Identifies a declaration."""
        return self.raw.data[0] or 0

    @property
    def statement_key(self) -> int:
        """Identifies a statement or expression."""
        return self.raw.data[1] or 0

    @property
    def spelling(self) -> str:
        return _text(_lib.getCursorSpelling(self.raw))

    @property
    def referenced(self) -> Node:
        if self._referenced is None:
            self._referenced = self.unit.declaration(_lib.getCursorReferenced(self.raw))
        return self._referenced

    @property
    def definition(self) -> Node:
        return Node(_lib.getCursorDefinition(self.raw), self.unit)

    @property
    def parent(self) -> Node:
        return Node(_lib.getCursorSemanticParent(self.raw), self.unit)

    @property
    def template(self) -> Node:
        """The template of a specialization (kind INVALID_FILE if it is none)."""
        return Node(_lib.getSpecializedCursorTemplate(self.raw), self.unit)

    @property
    def is_definition(self) -> bool:
        return bool(_lib.isCursorDefinition(self.raw))

    @property
    def is_invalid(self) -> bool:
        return bool(_lib.isInvalidDeclaration(self.raw))

    @property
    def is_static_method(self) -> bool:
        return bool(_lib.CXXMethod_isStatic(self.raw))

    @property
    def is_virtual(self) -> bool:
        return bool(_lib.CXXMethod_isVirtual(self.raw))

    @property
    def is_defaulted(self) -> bool:
        """A special member that the language writes."""
        return bool(_lib.CXXMethod_isDefaulted(self.raw))

    @property
    def copies(self) -> bool:
        """A copy or move constructor."""
        return bool(
            _lib.CXXConstructor_isCopyConstructor(self.raw) or _lib.CXXConstructor_isMoveConstructor(self.raw)
        )

    @property
    def body(self) -> Node | None:
        """The body of a function that somebody wrote."""
        if self.kind in ("CONSTRUCTOR", "CXX_METHOD", "DESTRUCTOR") and self.is_defaulted:
            return None
        return next((child for child in self.children if child.kind == "COMPOUND_STMT"), None)

    @property
    def exists(self) -> bool:
        return not self.kind.startswith(("INVALID", "NO_DECL", "NOT_IMPL"))

    @property
    def binary_operator(self) -> str:
        return BINARY.get(_lib.getCursorBinaryOperatorKind(self.raw), "")

    @property
    def unary_operator(self) -> str:
        return UNARY.get(_lib.getCursorUnaryOperatorKind(self.raw), "")

    @property
    def arguments(self) -> tuple[Node, ...]:
        count = _lib.Cursor_getNumArguments(self.raw)
        return tuple(
            Node(_lib.Cursor_getArgument(self.raw, index), self.unit) for index in range(max(0, count))
        )

    @property
    def field_offset(self) -> int:
        """In bits; negative if unknown."""
        return int(_lib.Cursor_getOffsetOfField(self.raw))

    @property
    def is_bit_field(self) -> bool:
        return bool(_lib.Cursor_isBitField(self.raw))

    @property
    def extent(self) -> tuple[int, int]:
        """Byte offsets in the device text; (-1, -1) for something of the shim."""
        if self._extent is None:
            area = _lib.getCursorExtent(self.raw)
            self._extent = (
                self.unit.offset(_lib.getRangeStart(area)),
                self.unit.offset(_lib.getRangeEnd(area)),
            )
        return self._extent

    @property
    def start(self) -> int:
        return self.extent[0]

    @property
    def span(self) -> Span:
        if self._span is None:
            self._span = self.unit.span(_lib.getRangeStart(_lib.getCursorExtent(self.raw)))
        return self._span

    @property
    def name_span(self) -> Span:
        return self.unit.span(_lib.getCursorLocation(self.raw))

    @property
    def source(self) -> str:
        start, end = self.extent
        return self.unit.text[start:end].decode("utf-8", "replace") if 0 <= start <= end else ""

    def evaluate(self) -> int | float | None:
        """The value of a constant expression, constant variable or enumerator, as the parser computes it."""
        if self.kind == "ENUM_CONSTANT_DECL":
            return int(_lib.getEnumConstantDeclValue(self.raw))
        result = _lib.Cursor_Evaluate(self.raw)
        if not result:
            return None
        try:
            match _lib.EvalResult_getKind(result):
                case 1:
                    if _lib.EvalResult_isUnsignedInt(result):
                        return int(_lib.EvalResult_getAsUnsigned(result))
                    return int(_lib.EvalResult_getAsLongLong(result))
                case 2:
                    return float(_lib.EvalResult_getAsDouble(result))
                case _:
                    return None
        finally:
            _lib.EvalResult_dispose(result)


@dataclass(frozen=True, slots=True)
class Complaint:
    severity: str
    message: str
    span: Span
    offset: int
    """Byte offset in the device text, -1 outside of it."""
    everywhere: bool = False
    """It may change the meaning of every function of the text."""


_SEVERITY = {0: "note", 1: "note", 2: "warning", 3: "error", 4: "error"}


class Unit:
    """A parsed text."""

    def __init__(self, text: str, shim: str, arch: str) -> None:
        lib()
        self.text = text.encode()
        self._spans: dict[int, Span] = {}
        self._offsets: dict[int, int] = {}
        self._files: dict[int, bool] = {}
        self._declarations: dict[tuple[int, int], Node] = {}
        self._functions: list[Node] | None = None
        index = cindex.Index.create()
        self._unit = index.parse(
            MAIN,
            args=[*ARGUMENTS, f"--cuda-gpu-arch={arch}", "-include", SHIM],
            unsaved_files=[(MAIN, text), (SHIM, shim)],
        )
        cursor = self._unit.cursor
        self.root = Node(_Cursor(cursor._kind_id, cursor.xdata, (c_void_p * 3)(*cursor.data)), self)

    def declaration(self, raw: _Cursor) -> Node:
        """One node for one declaration, so that an inlined body is read only once."""
        key = (raw.kind, raw.data[0] or 0)
        known = self._declarations.get(key)
        if known is None:
            known = self._declarations[key] = Node(raw, self)
        return known

    @property
    def functions(self) -> list[Node]:
        """The functions that a pointer can point to: those of the text for the device, and those whose address it takes."""
        if self._functions is None:
            found: dict[int, Node] = {}
            self._find_functions(self.root, found)
            self._functions = list(found.values())
        return self._functions

    @property
    def functions_known(self) -> bool:
        """Whether there are no others: instances of templates, static methods, lambdas."""
        return re.search(rb"\btemplate\b|\bstatic\b|[\s(,=]\[[&=\w,\s]*\]\s*[({]", self.text) is None

    def _find_functions(self, node: Node, found: dict[int, Node], called: bool = False) -> None:
        for number, child in enumerate(node.children):
            if child.kind == "FUNCTION_DECL" and child.start < 0 and node.kind == "TRANSLATION_UNIT":
                continue
            if child.kind == "FUNCTION_DECL" and child.is_definition and child.has("CUDADEVICE_ATTR"):
                found.setdefault(child.key, child)
            is_callee = node.kind == "CALL_EXPR" and number == 0
            if child.kind == "DECL_REF_EXPR" and child.referenced.kind == "FUNCTION_DECL":
                target = (
                    child.referenced.definition if child.referenced.definition.exists else child.referenced
                )
                if not (called or is_callee) and not target.has("CUDAGLOBAL_ATTR"):
                    found.setdefault(target.key, target)
            self._find_functions(child, found, (called or is_callee) and child.kind == "UNEXPOSED_EXPR")

    @property
    def complaints(self) -> list[Complaint]:
        found = []
        for item in self._unit.diagnostics:
            if item.spelling.startswith("invalid % escape in inline assembly"):
                continue  # nvcc takes ``%laneid`` for ``%%laneid``; the instructions are read from the text
            raw = item.location
            location = _Location((c_void_p * 2)(*raw.ptr_data), raw.int_data)
            found.append(
                Complaint(_SEVERITY[item.severity], item.spelling, self.span(location), self.offset(location))
            )
        return found

    def span(self, location: _Location) -> Span:
        known = self._spans.get(location.raw)
        if known is None:
            name, line, column = _String(), c_uint(), c_uint()
            _lib.getPresumedLocation(location, byref(name), byref(line), byref(column))
            known = self._spans[location.raw] = Span(_text(name), line.value, column.value)
        return known

    def offset(self, location: _Location) -> int:
        known = self._offsets.get(location.raw)
        if known is None:
            file, line, column, offset = c_void_p(), c_uint(), c_uint(), c_uint()
            _lib.getExpansionLocation(location, byref(file), byref(line), byref(column), byref(offset))
            known = self._offsets[location.raw] = offset.value if self._is_main(file.value or 0) else -1
        return known

    def _is_main(self, file: int) -> bool:
        known = self._files.get(file)
        if known is None:
            known = self._files[file] = bool(file) and _text(_lib.getFileName(file)) == MAIN
        return known
