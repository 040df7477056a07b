"""Which sizes of types the host reader may believe: its own headers only declare most library types.

A ``sizeof`` operand -> whether libclang's answer is the real one: built-in types, pointers, CUDA's vector and half types
whose declared size is right, and classes of the user's text made of such.

Example: ``sizeof(float4)`` is 16, ``sizeof(std::vector<int>)`` is not known.
"""

from __future__ import annotations

from clang.cindex import Cursor, CursorKind, Type, TypeKind

_ELEMENTS = {
    "char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4, "long": 8, "ulong": 8,
    "longlong": 8, "ulonglong": 8, "double": 8,
}  # fmt: skip
SIZES = {f"{name}{count}": size * count for name, size in _ELEMENTS.items() for count in (1, 2, 3, 4)}
SIZES |= {
    "__half": 2, "__half2": 4, "__nv_bfloat16": 2, "__nv_bfloat162": 4, "c10::Half": 2, "c10::BFloat16": 2, "dim3": 12,
}  # fmt: skip


def known(cursor: Cursor, value: int, first: int) -> bool:
    """Whether ``value``, the operand's size, is the real one; ``first`` is the first line of the user's text."""
    children = list(cursor.get_children())
    if not children:
        return True  # a built-in type, or a pointer to one
    child = children[0]
    if child.kind.is_expression():
        return _sized(child.type, first)
    target = child.referenced
    if target is None or target.kind == CursorKind.TEMPLATE_TYPE_PARAMETER:
        return value > 1  # of an instance; what is only declared has size 1
    return _sized(target.type, first)


def _sized(type_: Type, first: int) -> bool:
    type_ = type_.get_canonical()
    while type_.kind in (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY):
        type_ = type_.element_type.get_canonical()
    if type_.kind != TypeKind.RECORD:
        return type_.kind not in (TypeKind.UNEXPOSED, TypeKind.DEPENDENTSIZEDARRAY, TypeKind.INVALID)
    declared = SIZES.get(type_.spelling.removeprefix("const "))
    if declared is not None:
        return bool(type_.get_size() == declared)
    declaration = type_.get_declaration()
    if declaration.location.line < first:
        return False
    bases = [c for c in declaration.get_children() if c.kind == CursorKind.CXX_BASE_SPECIFIER]
    return not bases and all(_sized(field.type, first) for field in type_.get_fields())
