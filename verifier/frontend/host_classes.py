"""Classes of host code: how their objects are made, and what may run when a library has them.

Example: ``Tile{4}`` of ``struct Tile { int n; }`` is ``{"k": "init", "items": [4], "fields": ["n"]}``; of a class with a
constructor of its own it is ``{"k": "construct", "args": [4], "own": [USR of the constructor]}``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import clang.cindex as ci
from clang.cindex import Cursor, CursorKind, TypeKind

from verifier.frontend.host_names import ARRAYS, REFERENCE_TYPES, function_key, type_text

Node = dict[str, Any]
BINARY = {
    1: ".*", 2: "->*", 3: "*", 4: "/", 5: "%", 6: "+", 7: "-", 8: "<<", 9: ">>", 10: "<=>", 11: "<", 12: ">", 13: "<=",
    14: ">=", 15: "==", 16: "!=", 17: "&", 18: "^", 19: "|", 20: "&&", 21: "||", 22: "=", 23: "*=", 24: "/=", 25: "%=",
    26: "+=", 27: "-=", 28: "<<=", 29: ">>=", 30: "&=", 31: "^=", 32: "|=", 33: ",",
}  # fmt: skip
_STEPS = (1, 2, 3, 4)
_ACTS = (
    CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,
    CursorKind.CALL_EXPR,
    CursorKind.LAMBDA_EXPR,
    CursorKind.CXX_NEW_EXPR,
    CursorKind.CXX_DELETE_EXPR,
    CursorKind.StmtExpr,
)
CLASSES = {CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.UNION_DECL}


class ClassReader:
    """Part of the reader of expressions. ``first``: the first line of the user's text."""

    first: int
    functions: dict[str, Node]
    pending: list[Cursor]

    def _stmt(self, cursor: Cursor) -> Node:
        raise NotImplementedError

    def _expr(self, cursor: Cursor) -> Node:
        raise NotImplementedError

    def _callee(self, target: Cursor) -> Node:
        raise NotImplementedError

    def _runs(self, arguments: list[Cursor], made: list[ci.Type]) -> Node:
        """What a library may call: methods of the objects of the host code that it is given, and what makes, copies and
        ends those that it holds or returns (``made``: ``std::vector<S>``)."""
        found: dict[str, Cursor] = {}
        types = [*made, *(a.type for a in arguments)]
        for owner in {o.hash: o for t in types for o in self._held(t)}.values():
            for part in [owner, *self._parts(owner)]:
                for method in part.get_children():
                    definition = method.get_definition() if method.kind in _ALL else None
                    if definition is not None and any(c.kind in _BODIES for c in definition.get_children()):
                        found[function_key(definition)] = definition
        for definition in found.values():
            self._later(definition)
        return {"runs": list(found)} if found else {}

    def _held(self, type_: ci.Type) -> list[Cursor]:
        """The classes of the host code that a type is or has among its template arguments."""
        type_ = type_.get_canonical()
        if type_.kind in REFERENCE_TYPES:
            type_ = type_.get_pointee().get_canonical()
        if type_.kind != TypeKind.RECORD:
            return []
        owner = type_.get_declaration()
        own = (
            [owner]
            if owner.location.line >= self.first and owner.spelling and "(lambda" not in type_.spelling
            else []
        )
        count = range(max(type_.get_num_template_arguments(), 0))
        return own + [o for i in count for o in self._held(type_.get_template_argument_type(i))]

    def _assigns(self, owner: Cursor) -> bool:
        """Whether a base or member of a class has an assignment of its own."""
        return any(
            c.kind == CursorKind.CXX_METHOD and c.spelling == "operator=" and not c.is_default_method()
            for part in self._parts(owner)
            for c in part.get_children()
        )

    def _later(self, definition: Cursor) -> str:
        """The key of a function that is to be read."""
        key = function_key(definition)
        if key not in self.functions:
            self.pending.append(definition)
        return key

    def _init_list(self, cursor: Cursor, children: list[Cursor]) -> Node:
        """A class of the host code has its ``fields``; one with references or a destructor is an object made by ``own`` code."""
        named = [_designated(c) for c in children]
        items = [self._expr(c) for c in children]
        owner = cursor.type.get_canonical().get_declaration()
        if any(n is not None for n in named):
            return self._designated_list(owner, children, named)
        if owner.kind not in CLASSES or owner.location.line < self.first:
            return {"k": "init", "items": items}
        fields = list(cursor.type.get_canonical().get_fields())
        own = self._own(owner, None)
        if self._acts_by_default(owner):
            return {"k": "refused", "why": "a member that is initialised by code"}
        if own or any(f.type.get_canonical().kind in REFERENCE_TYPES for f in fields):
            return {"k": "construct", "args": items, "own": own}
        plain = len(items) <= len(fields) and is_plain(owner, self.first)
        plain = plain and not any(f.is_bitfield() for f in fields)
        plain = plain and all(_whole(c, f) for c, f in zip(children, fields, strict=False))
        if plain:
            rest = self._members(owner, {}, len(items))
            names, types = [f.spelling for f in fields], [type_text(f.type) for f in fields]
            return {"k": "init", "items": items, "fields": names, "types": types, "rest": rest}
        return {"k": "unknown", "why": "initialisation of a class that is not followed", "args": items}

    def _designated_list(self, owner: Cursor, children: list[Cursor], named: list[str | None]) -> Node:
        """``{.n = 4, .block = 256}``: as if it were written in full."""
        simple = all(named) and owner.location.line >= self.first and is_plain(owner, self.first)
        fields = list(owner.type.get_canonical().get_fields()) if simple else []
        values = {n: list(c.get_children())[-1] for n, c in zip(named, children, strict=True) if n}
        simple = simple and not self._own(owner, None) and not self._acts_by_default(owner)
        simple = simple and all(
            not f.is_bitfield() and f.type.get_canonical().kind not in REFERENCE_TYPES for f in fields
        )
        simple = simple and all(_whole(values[f.spelling], f) for f in fields if f.spelling in values)
        if not simple or set(values) - {f.spelling for f in fields}:
            args = [self._expr(c) for c in children]
            return {"k": "unknown", "why": "initialisation by name that is not followed", "args": args}
        types = {f.spelling: type_text(f.type) for f in fields}
        return {
            "k": "init",
            "items": [self._expr(v) for v in values.values()],
            "fields": list(values),
            "types": [types[name] for name in values],
            "rest": [m for m in self._members(owner, {}) if m["name"] not in values],
        }

    def _made(self, owner: Cursor, constructor: Cursor) -> Node:
        """What runs where an object of a class of the host code is made, or later, where it ends: ``own``.

        ``constructor``: the one that can be followed, of a class without bases, references and a destructor.
        """
        own = self._own(owner, constructor)
        if constructor.location == owner.location and self._acts_by_default(owner):
            return {"k": "refused", "why": "a member that is initialised by code"}
        definition = constructor.get_definition() or constructor
        key = function_key(definition)
        fields = list(owner.type.get_canonical().get_fields())
        simple = (
            own == [key]
            and is_plain(owner, self.first)
            and not any(f.is_bitfield() or f.type.get_canonical().kind in REFERENCE_TYPES for f in fields)
        )
        kinds = {c.kind for c in definition.get_children()}
        if constructor.location == owner.location and not own and len(list(constructor.get_arguments())) == 0:
            whole = is_plain(owner, self.first) and not any(f.is_bitfield() for f in fields)
            return {"members": self._members(owner, {})} if whole else {}
        if simple and not kinds & {CursorKind.TYPE_REF, CursorKind.TEMPLATE_REF, CursorKind.CXX_TRY_STMT}:
            return {"own": own, "constructor": key}
        return {"own": own} if own else {}

    def _own(self, owner: Cursor, constructor: Cursor | None) -> list[str]:
        """USRs of the constructor and the destructor of a class of the host code, where they have a body; and of
        all constructors and destructors of its bases and members."""
        found: list[str] = []
        destructors = [c for c in owner.get_children() if c.kind == CursorKind.DESTRUCTOR]
        parts = [c for part in self._parts(owner) for c in part.get_children() if c.kind in _LIFE]
        for function in [constructor, *destructors, *parts]:
            if function is None or function.location.line < self.first:
                continue
            definition = function.get_definition() or function
            if definition.is_default_method() or not any(True for _ in definition.get_tokens()):
                continue
            if function.kind == CursorKind.CONSTRUCTOR and not any(
                c.kind == CursorKind.COMPOUND_STMT for c in definition.get_children()
            ):
                continue
            found.append(self._later(definition))
        return found

    def _parts(self, owner: Cursor) -> list[Cursor]:
        """The classes of the host code of its bases and members, and of theirs."""
        found: list[Cursor] = []
        waiting = [owner]
        while waiting:
            inside = waiting.pop()
            for child in inside.get_children():
                if child.kind not in (CursorKind.FIELD_DECL, CursorKind.CXX_BASE_SPECIFIER):
                    continue
                type_ = child.type.get_canonical()
                while type_.kind in ARRAYS:
                    type_ = type_.element_type.get_canonical()
                part = type_.get_declaration() if type_.kind == TypeKind.RECORD else None
                if part is not None and part.location.line >= self.first and part not in found:
                    found.append(part)
                    waiting.append(part)
        return found

    def _acts_by_default(self, owner: Cursor) -> bool:
        """Whether making an object may run code in the initialisers that stand at members."""

        def runs(cursor: Cursor) -> bool:
            if cursor.kind != CursorKind.CALL_EXPR:
                return cursor.kind in _ACTS or _changes(cursor)
            made = cursor.referenced
            return not (made and made.kind == CursorKind.CONSTRUCTOR and made.location.line < self.first)

        fields = [
            f
            for c in [owner, *self._parts(owner)]
            for f in c.get_children()
            if f.kind == CursorKind.FIELD_DECL
        ]
        return any(runs(c) for f in fields for c in _below(f))

    def _initialisers(self, constructor: Cursor) -> Node:
        """Of a constructor: ``fields``, in their order, each with what initialises it."""
        written: dict[str, Cursor] = {}
        member = ""
        for child in constructor.get_children():
            if child.kind == CursorKind.MEMBER_REF:
                member = child.spelling
            elif child.kind.is_expression() and member:
                written[member], member = child, ""
        return {"fields": self._members(constructor.semantic_parent, written)}

    def _members(self, owner: Cursor, written: dict[str, Cursor], skip: int = 0) -> list[Node]:
        """The members of a class in their order, but for the first, each with what initialises it."""
        out: list[Node] = []
        for field in list(owner.type.get_canonical().get_fields())[skip:]:
            type_ = field.type.get_canonical()
            given = written.get(field.spelling)
            if given is None:
                default = [c for c in field.get_children() if c.kind.is_expression()]
                given = default[-1] if default and type_.kind not in ARRAYS else None
            count = type_.element_count if type_.kind == TypeKind.CONSTANTARRAY else None
            init = self._expr(given) if given is not None else None
            out.append({"name": field.spelling, "type": type_text(field.type), "count": count, "init": init})
        return out

    def _kind_of_method(self, target: Cursor) -> Node:
        """``const``: also no member of the class may change all the same."""
        members = target.semantic_parent.get_children()
        const = target.is_const_method() and not any(m.is_mutable_field() for m in members)
        return {"virtual": target.is_virtual_method(), "static": target.is_static_method(), "const": const}

    def _forward(self, apply: Cursor) -> Node | None:
        """``F::forward`` of the class that ``torch::autograd::Function<F>::apply`` belongs to."""
        owner = apply.semantic_parent.type.get_template_argument_type(0).get_declaration()
        found = [
            c for c in owner.get_children() if c.kind == CursorKind.CXX_METHOD and c.spelling == "forward"
        ]
        return self._callee(found[0]) if len(found) == 1 and found[0].is_static_method() else None


_LIFE = (CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR)
_ALL = (*_LIFE, CursorKind.CXX_METHOD, CursorKind.CONVERSION_FUNCTION)
_BODIES = (CursorKind.COMPOUND_STMT, CursorKind.CXX_TRY_STMT)


def is_plain(owner: Cursor | None, first: int) -> bool:
    """Whether a class has no base of the host code, so that the name of a member says which it is, and is no union."""
    if owner is None or owner.location.line < first:
        return True
    children = {c.kind for c in owner.get_children()}
    return owner.kind != CursorKind.UNION_DECL and CursorKind.CXX_BASE_SPECIFIER not in children


def _designated(item: Cursor) -> str | None:
    """The member that an item of a braced list names, "" for anything else that it may name."""
    parts = list(item.get_children()) if item.kind == CursorKind.UNEXPOSED_EXPR else []
    members = [c.spelling for c in parts if c.kind == CursorKind.MEMBER_REF]
    if len(parts) < 2 and not members:
        return None
    return members[0] if len(members) == 1 and len(parts) == 2 else ""


def _whole(item: Cursor, field: Cursor) -> bool:
    """Whether an item of a braced list initialises just this field, with no braces left out."""
    type_ = field.type.get_canonical()
    if type_.kind not in (TypeKind.RECORD, TypeKind.CONSTANTARRAY):
        return True
    same: bool = type_text(item.type) == type_text(type_)
    return same or item.kind in (CursorKind.INIT_LIST_EXPR, CursorKind.STRING_LITERAL)


def acts(cursor: Cursor) -> bool:
    """Whether evaluating an expression that the tree leaves out might change something."""
    return any(c.kind in _ACTS or _changes(c) for c in _below(cursor))


def named_types(cursor: Cursor) -> list[ci.Type]:
    """Those that an expression names: ``std::make_unique<S>``."""
    return [c.type for c in _below(cursor) if c.kind == CursorKind.TYPE_REF]


def _below(cursor: Cursor) -> Iterator[Cursor]:
    """It and all that it is made of, without recursion: libclang's visitor drops what raises inside of it."""
    waiting = [cursor]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += part.get_children()


def _changes(cursor: Cursor) -> bool:
    if cursor.kind == CursorKind.UNARY_OPERATOR:
        return ci.conf.lib.clang_getCursorUnaryOperatorKind(cursor) in _STEPS
    return cursor.kind == CursorKind.BINARY_OPERATOR and (
        BINARY.get(ci.conf.lib.clang_getCursorBinaryOperatorKind(cursor)) == "="
    )
