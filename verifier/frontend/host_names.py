"""Names, types and template arguments of declarations as text. Part of the host reader's child process.

Example: ``const float *__restrict__`` is ``const float *``; the second parameter of a pack is ``a@3:8#1``.
"""

from __future__ import annotations

import clang.cindex as ci
from clang.cindex import Cursor, CursorKind, TypeKind

REFERENCE_TYPES = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
_ENUMS = ("ScalarType", "DeviceType", "Layout", "MemoryFormat")
"""Those of torch, which are values of their own; any other is a number of its underlying type."""
_TYPE_ARGUMENT, _INTEGRAL_ARGUMENT = 1, 4
ARRAYS = (TypeKind.INCOMPLETEARRAY, TypeKind.CONSTANTARRAY, TypeKind.VARIABLEARRAY)

_texts: dict[tuple[int, ...], str] = {}
"""Of the types of the unit that is being read, by what libclang knows them by."""


def forget_types() -> None:
    """Another unit is read from here on."""
    _texts.clear()


def type_text(type_: ci.Type) -> str:
    key = (type_._kind_id, type_.data[0] or 0, type_.data[1] or 0)
    if key not in _texts:
        _texts[key] = _type_text(type_)
    return _texts[key]


def _type_text(type_: ci.Type) -> str:
    canonical = type_.get_canonical()
    if canonical.kind in REFERENCE_TYPES:
        canonical = canonical.get_pointee()
    text: str = canonical.spelling.replace("__restrict", "").rstrip()
    if canonical.kind == TypeKind.ENUM and canonical.get_declaration().spelling not in _ENUMS:
        text = canonical.get_declaration().enum_type.get_canonical().spelling
    text = text.removeprefix("const ").removeprefix("volatile ") if not text.endswith("*") else text
    return text.removeprefix("const ").removesuffix(" const") if not text.endswith("*") else text


def function_key(cursor: Cursor) -> str:
    """What tells functions apart: the USR; lambdas of one macro argument have the same, so theirs is made longer."""
    usr: str = cursor.get_usr()
    return f"{usr}#{cursor.hash}" if cursor.spelling == "operator()" else usr


def token_head(cursor: Cursor, last: str) -> str:
    """The text of the tokens up to the first that is ``last``."""
    head = ""
    for token in cursor.get_tokens():
        head += token.spelling
        if token.spelling == last:
            break
    return head


def identity(cursor: Cursor) -> str:
    """By its place; a variable that is no local one by its name, so that it may be declared often, and once for each
    instance of a template."""
    if cursor.kind == CursorKind.VAR_DECL and cursor.linkage != ci.LinkageKind.NO_LINKAGE:
        return f"{cursor.spelling}@0:0#{cursor.get_usr()}"
    location = cursor.location
    where = f"{cursor.spelling}@{location.line}:{location.column}"
    if cursor.kind != CursorKind.PARM_DECL or cursor.semantic_parent is None:
        return where
    # the parameters that a pack stands for have one name and one place
    twins = [
        c
        for c in cursor.semantic_parent.get_children()
        if c.kind == CursorKind.PARM_DECL and c.location == location
    ]
    return (
        where
        if len(twins) < 2
        else f"{where}#{next((i for i, c in enumerate(twins) if c == cursor), cursor.hash)}"
    )


def qualified(cursor: Cursor) -> str:
    parts = [cursor.spelling]
    parent = cursor.semantic_parent
    while parent is not None and parent.kind != CursorKind.TRANSLATION_UNIT:
        if parent.spelling:
            parts.append(parent.spelling)
        parent = parent.semantic_parent
    return "::".join(reversed(parts))


def template_arguments(target: Cursor, *, partial: bool = False) -> list[str] | None:
    """The arguments of a function template's instance; None, or those before it, where one is a pack or the like."""
    count = target.get_num_template_arguments()
    if count < 0:
        return []
    out: list[str] = []
    types = _parameter_types(target)
    for index in range(count):
        kind = ci.conf.lib.clang_Cursor_getTemplateArgumentKind(target, index)
        if kind == _TYPE_ARGUMENT:
            out.append(target.get_template_argument_type(index).get_canonical().spelling)
        elif kind == _INTEGRAL_ARGUMENT:
            type_ = types[index] if index < len(types) else None
            out.append(_constant(target.get_template_argument_value(index), type_))
        else:
            return out if partial else None
    return out


def template_types(target: Cursor) -> list[ci.Type]:
    """The types among the arguments of a function template's instance."""
    count = range(max(target.get_num_template_arguments(), 0))
    kind = ci.conf.lib.clang_Cursor_getTemplateArgumentKind
    return [target.get_template_argument_type(i) for i in count if kind(target, i) == _TYPE_ARGUMENT]


def _parameter_types(target: Cursor) -> list[ci.Type]:
    """The types of the template's parameters; a parameter that is a type has one of no use."""
    template = ci.conf.lib.clang_getSpecializedCursorTemplate(target)
    kinds = (
        CursorKind.TEMPLATE_TYPE_PARAMETER,
        CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
        CursorKind.TEMPLATE_TEMPLATE_PARAMETER,
    )
    children = [] if template is None else template.get_children()
    return [c.type.get_canonical() for c in children if c.kind in kinds]


def _constant(value: int, type_: ci.Type | None) -> str:
    """As an argument is written: libclang gives bools sign-extended, and to an enumeration no number converts."""
    if type_ is not None and type_.kind == TypeKind.BOOL:
        return ("false", "true")[value != 0]
    if type_ is not None and type_.kind == TypeKind.ENUM and "(" not in type_.spelling:
        return f"({type_.spelling}){value}"
    return str(value)


def parameter_type(parameter: Cursor) -> str:
    """An array as a parameter is a pointer to its elements."""
    type_ = parameter.type.get_canonical()
    if type_.kind not in ARRAYS:
        return type_text(parameter.type)
    constant = "const " if type_.is_const_qualified() or type_.element_type.is_const_qualified() else ""
    return f"{constant}{type_text(type_.element_type).removeprefix('const ')} *"
