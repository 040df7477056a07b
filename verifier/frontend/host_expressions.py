"""Expressions of host code as libclang sees them -> JSON nodes. Part of the host reader's child process.

Example: the implicit conversion in ``int n = x.numel();`` is ``{"k": "cast", "t": "int", "a": {"k": "method", …}}``.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

import clang.cindex as ci
from clang.cindex import Cursor, CursorKind, TypeKind

from verifier.frontend import host_sizes
from verifier.frontend.host_classes import BINARY, CLASSES, ClassReader, acts, is_plain, named_types
from verifier.frontend.host_names import (
    ARRAYS,
    REFERENCE_TYPES,
    forget_types,
    function_key,
    identity,
    parameter_type,
    qualified,
    template_arguments,
    template_types,
    token_head,
    type_text,
)

Node = dict[str, Any]
_MARKER = re.compile(r'^#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"')
_UNARY = {1: "p++", 2: "p--", 3: "++", 4: "--", 5: "&", 6: "*", 7: "+", 8: "-", 9: "~", 10: "!"}
_CASTS = {
    CursorKind.CSTYLE_CAST_EXPR,
    CursorKind.CXX_STATIC_CAST_EXPR,
    CursorKind.CXX_REINTERPRET_CAST_EXPR,
    CursorKind.CXX_CONST_CAST_EXPR,
    CursorKind.CXX_DYNAMIC_CAST_EXPR,
    CursorKind.CXX_FUNCTIONAL_CAST_EXPR,
}
_REFERENCES = {
    CursorKind.TYPE_REF,
    CursorKind.TEMPLATE_REF,
    CursorKind.NAMESPACE_REF,
    CursorKind.OVERLOADED_DECL_REF,
    CursorKind.MEMBER_REF,
}
FUNCTIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.CONVERSION_FUNCTION,
}

_HARMLESS_CAPTURE = re.compile(r"\w+=(?:std::move\(\w+\)|\w+(?:\.\w+(?:<\w+>)?\(\))*)")
"""``n=m``, ``x=std::move(x)``, ``p=x.data_ptr<float>()``: a copy under another name, which changes nothing."""
_COMPILERS_OWN = frozenset(
    "__builtin_inf __builtin_inff __builtin_huge_val __builtin_huge_valf __builtin_nan __builtin_nanf".split()
)
"""Functions that no text can define, which INFINITY and NAN stand for."""


class ExpressionReader(ClassReader):
    """``first``: the first physical line of the user's text. ``functions``: those that were read, by USR."""

    def __init__(self, unit: ci.TranslationUnit, first: int, text: str) -> None:
        forget_types()
        self.unit = unit
        self.first = first
        self.text, self.encoded = text, text.encode()
        self.rows = [0, *(found.end() for found in re.finditer(rb"\n", self.encoded))]
        self.heads: dict[bytes, list[int]] = {}
        self.paths: list[str] = []
        self.places = _places(text, first, self.paths)
        self.functions: dict[str, Node] = {}
        self.pending: list[Cursor] = []
        self.device_ranges: list[tuple[int, int]] = []
        self.budget = 400_000
        self.depth = 0

    def _expr(self, cursor: Cursor) -> Node:
        self.budget -= 1
        if self.budget < 0:
            raise MemoryError("host code too large")
        self.depth += 1
        try:
            if self.depth > 200:
                return {
                    "k": "refused",
                    "t": "",
                    "why": "an expression nested too deep",
                    "s": self._span(cursor),
                }
            node = self._expression(cursor)
        finally:
            self.depth -= 1
        node.setdefault("t", type_text(cursor.type))
        node.setdefault("s", self._span(cursor))
        return node

    def _expression(self, cursor: Cursor) -> Node:
        kind = cursor.kind
        children = [c for c in cursor.get_children() if c.kind not in _REFERENCES]
        match kind:
            case CursorKind.INTEGER_LITERAL | CursorKind.CHARACTER_LITERAL:
                return evaluated(cursor) or {"k": "unknown", "why": "literal", "args": []}
            case CursorKind.FLOATING_LITERAL:
                return evaluated(cursor) or {"k": "float", "v": None}
            case CursorKind.STRING_LITERAL:
                return {"k": "str", "v": cursor.spelling.strip('"')}
            case CursorKind.CXX_BOOL_LITERAL_EXPR:
                tokens = [t.spelling for t in cursor.get_tokens()]
                return evaluated(cursor) or {"k": "int", "v": int(tokens[:1] == ["true"])}
            case CursorKind.CXX_NULL_PTR_LITERAL_EXPR | CursorKind.GNU_NULL_EXPR:
                return {"k": "null"}
            case CursorKind.PAREN_EXPR:
                return self._expr(children[0])
            case CursorKind.UNEXPOSED_EXPR:
                return self._unexposed(cursor, children)
            case CursorKind.DECL_REF_EXPR:
                return self._reference(cursor)
            case CursorKind.MEMBER_REF_EXPR:
                field = cursor.referenced
                parent = field.semantic_parent if field is not None else None
                if parent is not None and parent.kind == CursorKind.UNION_DECL:
                    return {
                        "k": "unknown",
                        "why": "a member of a union",
                        "args": [self._expr(c) for c in children],
                    }
                if field is not None and field.kind == CursorKind.FIELD_DECL and field.is_bitfield():
                    return {"k": "unknown", "why": "a bit field", "args": [self._expr(c) for c in children]}
                static = field is not None and field.kind == CursorKind.VAR_DECL
                if static and not any(map(acts, children)) and (value := evaluated(cursor)):
                    return value
                base = self._expr(children[0]) if children else self._this(cursor, parent)
                if (
                    field is not None
                    and field.kind == CursorKind.FIELD_DECL
                    and not is_plain(parent, self.first)
                ):
                    return {"k": "unknown", "why": "a member of a class with bases", "args": [base]}
                return {"k": "member", "base": base, "name": cursor.spelling or _member_name(cursor)}
            case CursorKind.CALL_EXPR:
                node = self._call(cursor, children)
                return node | {"lvalue": True} if _returns_reference(cursor, children) else node
            case CursorKind.BINARY_OPERATOR | CursorKind.COMPOUND_ASSIGNMENT_OPERATOR if len(children) == 2:
                op = BINARY.get(ci.conf.lib.clang_getCursorBinaryOperatorKind(cursor), "?")
                return {"k": "bin", "op": op, "a": self._expr(children[0]), "b": self._expr(children[1])}
            case CursorKind.UNARY_OPERATOR if children:
                op = _UNARY.get(ci.conf.lib.clang_getCursorUnaryOperatorKind(cursor), "?")
                return {"k": "un", "op": op, "a": self._expr(children[0])}
            case CursorKind.CONDITIONAL_OPERATOR:
                c, a, b = (self._expr(x) for x in children)
                return {"k": "cond", "c": c, "a": a, "b": b}
            case CursorKind.ARRAY_SUBSCRIPT_EXPR:
                if children[0].type.get_canonical().kind not in (TypeKind.POINTER, *ARRAYS):  # 1[p]
                    children.reverse()
                return {"k": "index", "a": self._expr(children[0]), "i": self._expr(children[1])}
            case CursorKind.INIT_LIST_EXPR:
                return self._init_list(cursor, children)
            case CursorKind.LAMBDA_EXPR:
                return self._lambda(cursor)
            case CursorKind.CXX_UNARY_EXPR:
                size = evaluated(cursor)
                if size is None and any(map(acts, children)):  # the size of an array of variable length
                    return {"k": "refused", "why": "an effect inside of sizeof"}
                if size is None or not host_sizes.known(cursor, size["v"], self.first):
                    return {"k": "unknown", "why": "sizeof of a library's type", "args": []}
                return size
            case CursorKind.CXX_NEW_EXPR:
                return {"k": "new", "args": [self._expr(c) for c in children if c.kind.is_expression()]}
            case CursorKind.CXX_DELETE_EXPR:
                args = [self._expr(c) for c in children if c.kind.is_expression()]
                return {"k": "unknown", "why": "", "args": args, "t": "void"}
            case CursorKind.CXX_THROW_EXPR:
                return {"k": "throw"}
            case CursorKind.CXX_THIS_EXPR:
                return {"k": "this"}
            case _ if kind in _CASTS and children:
                if any(map(acts, children[:-1])):
                    return {"k": "refused", "why": "an effect inside of a type"}
                if cursor.type.get_canonical().kind == TypeKind.RECORD and _gives_away(cursor):
                    return {"k": "refused", "why": "a cast to an rvalue reference"}
                return {"k": "cast", "a": self._expr(children[-1]), "explicit": True}
        why = kind.name.lower().replace("_", " ")
        if any(c.kind.is_statement() or c.kind.is_declaration() for c in children):  # ({ … })
            return {"k": "refused", "why": why}
        return {
            "k": "unknown",
            "why": why,
            "args": [self._expr(c) for c in children if c.kind.is_expression()],
        }

    def _unexposed(self, cursor: Cursor, children: list[Cursor]) -> Node:
        """Implicit casts, temporaries, default arguments, recovered errors."""
        if not children:
            if cursor.location.line == 0:
                return {"k": "default"}
            return evaluated(cursor) or {"k": "unknown", "why": "expression", "args": []}
        if len(children) > 1:
            return {
                "k": "unknown",
                "why": "expression",
                "args": [self._expr(c) for c in children if c.kind.is_expression()],
            }
        inner = self._expr(children[0])
        type_ = type_text(cursor.type)
        if type_ == inner["t"] or not type_:
            return inner
        return {"k": "cast", "t": type_, "a": inner, "explicit": False}

    def _this(self, cursor: Cursor, owner: Cursor | None) -> Node | None:
        """The object that a member without one before it belongs to."""
        if owner is None or owner.kind not in CLASSES:
            return None
        return {"k": "this", "t": f"{type_text(owner.type)} *", "s": self._span(cursor)}

    def _reference(self, cursor: Cursor) -> Node:
        target = cursor.referenced
        if target is None:  # a template parameter that has been replaced by its argument
            return evaluated(cursor) or {"k": "unknown", "why": "name", "args": []}
        if target.kind == CursorKind.ENUM_CONSTANT_DECL:
            owner = target.semantic_parent.spelling
            return {"k": "enum", "v": target.enum_value, "name": target.spelling, "owner": owner}
        if target.kind in FUNCTIONS or target.kind == CursorKind.FUNCTION_TEMPLATE:
            return {"k": "function", **self._callee(target)}
        node: Node = {"k": "var", "name": target.spelling, "id": identity(target)}
        if target.location.line < self.first:
            node["shim"] = qualified(target)
            value = evaluated(cursor)
            if value is not None:
                node["v"] = value["v"]
        elif target.type.is_const_qualified() or target.kind == CursorKind.TEMPLATE_NON_TYPE_PARAMETER:
            value = evaluated(cursor)
            if value is not None and value["k"] == "int":
                node["v"] = value["v"]
        return node

    def _callee(self, target: Cursor) -> Node:
        node: Node = {
            "name": qualified(target),
            "targs": template_arguments(target, partial=True),
            "params": [type_text(a.type) for a in target.get_arguments() or ()],
        }
        if target.location.line >= self.first and target.spelling not in _COMPILERS_OWN:
            definition = target.get_definition() or target
            attributes = {c.kind for c in target.get_children()}
            owner = target.semantic_parent
            if CursorKind.CUDAGLOBAL_ATTR in attributes:
                node["kernel"] = True
            elif target.spelling == "operator=" and owner is not None and owner.location == target.location:
                if self._assigns(owner):
                    node["fn"] = ""  # made by the compiler of operators that are not followed
                else:
                    node["implicit"] = True  # made by the compiler
            else:
                node["fn"] = function_key(definition)
                if node["fn"] not in self.functions:
                    self.pending.append(definition)
        return node

    def _call(self, cursor: Cursor, children: list[Cursor]) -> Node:
        target = cursor.referenced
        if (target is not None and target.kind == CursorKind.CONSTRUCTOR) or (
            not children and target is None
        ):
            items = [self._expr(c) for c in children]
            made: Node = {"k": "construct", "args": items}
            if target is not None and target.location.line >= self.first:
                made |= self._made(target.semantic_parent, target)
            else:
                made |= self._runs(children, [cursor.type])
            return made
        if not children:
            return {"k": "construct", "args": []}
        config = children[1] if len(children) > 1 else None
        if (
            config is not None
            and config.kind == CursorKind.CALL_EXPR
            and config.spelling in ("cudaConfigureCall", "__cudaPushCallConfiguration")
        ):
            return self._launch(children, config)
        callee = children[0]
        if target is None or target.kind not in (*FUNCTIONS, CursorKind.FUNCTION_TEMPLATE):
            return {
                "k": "call",
                "name": "",
                "callee": self._expr(callee),
                "args": [self._expr(c) for c in children[1:]],
                **self._runs(children[1:], [cursor.type]),
            }
        if target.spelling == "apply" and qualified(target) == "torch::autograd::Function::apply":
            forward = self._forward(target)
            if forward is not None:  # the context comes first
                context: Node = {
                    "k": "unknown",
                    "why": "autograd context",
                    "args": [],
                    "t": "",
                    "s": [0, 0, 0],
                }
                return {"k": "call", **forward, "args": [context, *(self._expr(c) for c in children[1:])]}
        info = self._callee(target)
        if target.kind == CursorKind.CONVERSION_FUNCTION:
            base = (
                callee
                if callee.kind != CursorKind.MEMBER_REF_EXPR
                else next(iter(callee.get_children()), callee)
            )
            if "fn" in info:
                return {
                    "k": "method",
                    **info,
                    "base": self._expr(base),
                    "args": [],
                    **self._kind_of_method(target),
                }
            return {"k": "cast", "a": self._expr(base), "explicit": False}
        if (
            target.kind == CursorKind.CXX_METHOD
            and target.spelling.startswith("operator")
            and not (callee.kind == CursorKind.MEMBER_REF_EXPR and _refers(callee, target))
        ):
            others = [c for c in children if not _refers(c, target)]
            return {"k": "operator", **info, "args": [self._expr(c) for c in others]}
        if callee.kind == CursorKind.MEMBER_REF_EXPR:
            inner = [c for c in callee.get_children() if c.kind not in _REFERENCES]
            base_ = self._expr(inner[0]) if inner else self._this(cursor, target.semantic_parent)
            if "fn" in info:
                info |= self._kind_of_method(target)
            args = [self._expr(c) for c in children[1:]]
            runs = {} if "fn" in info else self._runs(children[1:], [c.type for c in inner])
            return {"k": "method", **info, "base": base_, "args": args, **runs}
        if target.spelling.startswith("operator"):
            others = [c for c in children if not _refers(c, target)]
            return {"k": "operator", **info, "args": [self._expr(c) for c in others]}
        if acts(callee):
            return {"k": "refused", "why": "an effect before a function's name"}
        args = [self._expr(c) for c in children[1:]]
        types = [cursor.type, *template_types(target), *named_types(callee)]
        return {
            "k": "call",
            **info,
            "args": args,
            **({} if "fn" in info else self._runs(children[1:], types)),
        }

    def _launch(self, children: list[Cursor], config: Cursor) -> Node:
        callee = children[0]
        if acts(callee):
            return {"k": "refused", "why": "an effect before a kernel's name"}
        target = _referenced(callee)
        launch = [self._expr(c) for c in list(config.get_children())[1:]]
        node: Node = {
            "k": "launch",
            "config": launch,
            "args": [self._expr(c) for c in children[2:]],
            "t": "void",
        }
        if target is not None and target.kind in FUNCTIONS:
            node |= {
                "kernel": target.spelling,
                "targs": template_arguments(target),
                "params": [{"name": a.spelling, "type": type_text(a.type)} for a in target.get_arguments()],
                "known": True,
            }
            definition = target.get_definition()
            if definition is not None:  # a forward declaration may name its parameters otherwise
                node["params"] = [
                    {"name": a.spelling, "type": type_text(a.type)} for a in definition.get_arguments()
                ]
        else:
            function = callee.type.get_canonical().get_pointee() if callee.type.spelling else callee.type
            types = (
                [type_text(t) for t in function.argument_types()]
                if function.kind == TypeKind.FUNCTIONPROTO
                else []
            )
            node |= {
                "kernel": callee.spelling or _spelled(callee),
                "targs": [],
                "params": [{"name": "", "type": t} for t in types],
                "known": False,
                "callee": self._expr(callee),
            }
        return node

    def _lambda(self, cursor: Cursor) -> Node:
        params, body = [], None
        for child in cursor.get_children():
            if child.kind == CursorKind.PARM_DECL:
                params.append(self.parameter(child))
            elif child.kind == CursorKind.COMPOUND_STMT:
                body = self._stmt(child)
        captures = [c for c in token_head(cursor, "]").strip("[]").split(",") if c]
        if any("=" in c and c != "=" and not _HARMLESS_CAPTURE.fullmatch(c) for c in captures):
            return {"k": "refused", "why": "what a lambda captures"}
        return {"k": "lambda", "params": params, "body": body, "captures": captures, "t": "lambda"}

    def parameter(self, cursor: Cursor) -> Node:
        """A parameter of a function or lambda."""
        default = [c for c in cursor.get_children() if c.kind.is_expression()]
        type_ = cursor.type.get_canonical()
        if type_.kind in ARRAYS or type_.get_pointee().kind in ARRAYS:
            default = []  # that is the length
        return {
            "name": cursor.spelling,
            "id": identity(cursor),
            "type": parameter_type(cursor),
            "ref": type_.kind in REFERENCE_TYPES,
            "rvalue": type_.kind == TypeKind.RVALUEREFERENCE,
            "const": type_.get_pointee().is_const_qualified(),
            "default": self._expr(default[-1]) if default else None,
        }

    def _span(self, cursor: Cursor) -> list[int]:
        location = cursor.location
        return self._place(location.line, location.column)

    def _place(self, line: int, column: int) -> list[int]:
        if line < self.first or line - self.first >= len(self.places):
            return [0, 0, 0]
        path, user_line = self.places[line - self.first]
        return [path, user_line, column]


def _returns_reference(call: Cursor, children: list[Cursor]) -> bool:
    """Whether what a call returns may be another name for something; so for what is called through a pointer."""
    target = call.referenced
    if target is not None and target.kind in (*FUNCTIONS, CursorKind.FUNCTION_TEMPLATE):
        return bool(target.result_type.get_canonical().kind == TypeKind.LVALUEREFERENCE)
    pointee = children[0].type.get_canonical().get_pointee() if children else call.type
    return bool(pointee.get_result().get_canonical().kind == TypeKind.LVALUEREFERENCE)


def _gives_away(cast: Cursor) -> bool:
    """Whether a cast names a type with ``&&``, so that its operand may be left without its contents."""
    operand = list(cast.get_children())[-1].extent.start.offset
    return any(t.spelling == "&&" and t.extent.start.offset < operand for t in cast.get_tokens())


def _referenced(cursor: Cursor) -> Cursor | None:
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        children = list(cursor.get_children())
        if len(children) != 1:
            return None
        cursor = children[0]
    found: Cursor | None = cursor.referenced
    return found


def _refers(cursor: Cursor, target: Cursor) -> bool:
    found = _referenced(cursor)
    return found is not None and bool(found == target)


def _member_name(cursor: Cursor) -> str:
    tokens = [t.spelling for t in cursor.get_tokens()]
    return tokens[-1] if tokens and tokens[-1].isidentifier() else ""


def _spelled(cursor: Cursor) -> str:
    return "".join(t.spelling for t in cursor.get_tokens())[:80]


def evaluated(cursor: Cursor) -> Node | None:
    """What libclang itself computes the expression to, or None."""
    lib = ci.conf.lib
    result = lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = lib.clang_EvalResult_getKind(result)
        if kind == 1:
            if lib.clang_EvalResult_isUnsignedInt(result):
                return {"k": "int", "v": lib.clang_EvalResult_getAsUnsigned(result)}
            return {"k": "int", "v": lib.clang_EvalResult_getAsLongLong(result)}
        if kind == 2:
            return {"k": "float", "v": lib.clang_EvalResult_getAsDouble(result)}
        return None
    finally:
        lib.clang_EvalResult_dispose(result)


def prepare_library() -> None:
    lib = ci.conf.lib
    for name, arguments, result in (
        ("clang_getCursorBinaryOperatorKind", [Cursor], ctypes.c_int),
        ("clang_getCursorUnaryOperatorKind", [Cursor], ctypes.c_int),
        ("clang_Cursor_getTemplateArgumentKind", [Cursor, ctypes.c_uint], ctypes.c_int),
        ("clang_Cursor_Evaluate", [Cursor], ctypes.c_void_p),
        ("clang_EvalResult_getKind", [ctypes.c_void_p], ctypes.c_int),
        ("clang_EvalResult_getAsLongLong", [ctypes.c_void_p], ctypes.c_longlong),
        ("clang_EvalResult_isUnsignedInt", [ctypes.c_void_p], ctypes.c_uint),
        ("clang_EvalResult_getAsUnsigned", [ctypes.c_void_p], ctypes.c_ulonglong),
        ("clang_EvalResult_getAsDouble", [ctypes.c_void_p], ctypes.c_double),
        ("clang_EvalResult_dispose", [ctypes.c_void_p], None),
    ):
        function = getattr(lib, name)
        function.argtypes = arguments
        function.restype = result


def _places(text: str, first: int, paths: list[str]) -> list[tuple[int, int]]:
    """For each physical line of the user's text: (index of path, line there)."""
    known: dict[str, int] = {}
    out: list[tuple[int, int]] = []
    path, line = 0, 1
    paths.append("")
    for row in text.split("\n"):
        marker = _MARKER.match(row)
        if marker:
            name = marker.group(2)
            if name not in known:
                known[name] = len(paths)
                paths.append(name)
            path, line = known[name], int(marker.group(1))
            out.append((path, line))
            continue
        out.append((path, line))
        line += 1
    return out
