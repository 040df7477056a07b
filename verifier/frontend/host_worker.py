"""The child that libclang runs in: preprocessed host text on stdin -> JSON tree of the host functions on stdout.

The text is parsed with our declarations before it (``host_shim.h``). Names that these do not know are declared as
opaque (``vk::unknown``) and the text is parsed again, at most ``_ROUNDS`` times, so that one unknown call does not take
the statement around it away. What still does not parse is reported with its place, and the reader of the tree
(verifier/contracts) refuses to trust the function that holds it.

Invariant: nothing is interpreted here. Every expression has its C type, every implicit conversion is a node, every
template function appears instantiated as it is called.

Example: ``int n = x.numel();`` ::

    {"k": "decl", "vars": [{"name": "n", "type": "int", "init": {"k": "cast", "t": "int", "a": {"k": "method", …}}}]}
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
from pathlib import Path
from typing import Any

import clang.cindex as ci
from clang.cindex import Cursor, CursorKind, TypeKind

Node = dict[str, Any]

_ARGS = [
    "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-nogpulib", "-nostdinc", "-std=c++17",
    "--cuda-path=/nonexistent", "--cuda-gpu-arch=sm_80", "-ferror-limit=0", "-w", "-fno-delayed-template-parsing",
]  # fmt: skip
_ROUNDS = 4
_TYPE_ARGUMENT, _INTEGRAL_ARGUMENT = 1, 4
_MARKER = re.compile(r'^#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"')
_BINARY = {
    1: ".*", 2: "->*", 3: "*", 4: "/", 5: "%", 6: "+", 7: "-", 8: "<<", 9: ">>", 10: "<=>", 11: "<", 12: ">", 13: "<=",
    14: ">=", 15: "==", 16: "!=", 17: "&", 18: "^", 19: "|", 20: "&&", 21: "||", 22: "=", 23: "*=", 24: "/=", 25: "%=",
    26: "+=", 27: "-=", 28: "<<=", 29: ">>=", 30: "&=", 31: "^=", 32: "|=", 33: ",",
}  # fmt: skip
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
_FUNCTIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.CONVERSION_FUNCTION,
}


class Reader:
    """One parsed translation unit. ``first`` is the first physical line of the user's text."""

    def __init__(self, unit: ci.TranslationUnit, first: int, text: str) -> None:
        self.unit = unit
        self.first = first
        self.paths: list[str] = []
        self.places = _places(text, first, self.paths)
        self.functions: dict[str, Node] = {}
        self.pending: list[Cursor] = []
        self.device_ranges: list[tuple[int, int]] = []
        self.budget = 400_000
        self.depth = 0

    # --- the unit ----------------------------------------------------------------------------------------------------

    def read(self) -> Node:
        globals_: list[Node] = []
        roots: list[str] = []
        structs: list[Node] = []
        kernels: list[Node] = []
        for cursor in self._declarations(self.unit.cursor):
            kind = cursor.kind
            if kind in (CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE, CursorKind.CXX_METHOD):
                attributes = {c.kind for c in cursor.get_children()}
                is_kernel = CursorKind.CUDAGLOBAL_ATTR in attributes
                if is_kernel:
                    kernels.append(self._kernel(cursor))
                if is_kernel or (
                    CursorKind.CUDADEVICE_ATTR in attributes and CursorKind.CUDAHOST_ATTR not in attributes
                ):
                    self.device_ranges.append((cursor.extent.start.line, cursor.extent.end.line))
                    continue
                if kind == CursorKind.FUNCTION_DECL and cursor.is_definition():
                    roots.append(cursor.get_usr())
                    self._function(cursor)
            elif kind == CursorKind.VAR_DECL:
                globals_.append(self._variable(cursor))
        while self.pending:
            self._function(self.pending.pop())
        errors = [
            {
                "message": d.spelling,
                "s": self._place(d.location.line, d.location.column),
                "line": d.location.line,
            }
            for d in self.unit.diagnostics
            if d.severity >= 3 and not any(a <= d.location.line <= b for a, b in self.device_ranges)
        ]
        return {
            "paths": self.paths,
            "globals": globals_,
            "functions": self.functions,
            "roots": roots,
            "structs": structs,
            "kernels": kernels,
            "errors": errors,
        }

    def _declarations(self, cursor: Cursor) -> list[Cursor]:
        found: list[Cursor] = []
        for child in cursor.get_children():
            if child.location.line < self.first:
                continue
            if child.kind in (CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL):
                found += self._declarations(child)
            elif child.kind in (CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.CLASS_TEMPLATE):
                found += [c for c in self._declarations(child) if c.kind == CursorKind.CXX_METHOD]
            else:
                found.append(child)
        return found

    def _kernel(self, cursor: Cursor) -> Node:
        params = [c for c in cursor.get_children() if c.kind == CursorKind.PARM_DECL]
        return {
            "name": cursor.spelling,
            "template": cursor.kind == CursorKind.FUNCTION_TEMPLATE,
            "params": [{"name": p.spelling, "type": _type(p.type)} for p in params],
            "s": self._span(cursor),
        }

    def _function(self, cursor: Cursor) -> None:
        key = cursor.get_usr()
        if key in self.functions:
            return
        node: Node = {
            "name": _qualified(cursor),
            "params": [],
            "result": _type(cursor.result_type),
            "s": self._span(cursor),
            "lines": [cursor.extent.start.line, cursor.extent.end.line],
            "body": None,
        }
        self.functions[key] = node
        for child in cursor.get_children():
            if child.kind == CursorKind.PARM_DECL:
                default = [c for c in child.get_children() if c.kind.is_expression()]
                node["params"].append(
                    {
                        "name": child.spelling,
                        "id": _identity(child),
                        "type": _type(child.type),
                        "ref": child.type.get_canonical().kind
                        in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE),
                        "const": child.type.get_canonical().get_pointee().is_const_qualified(),
                        "default": self._expr(default[-1]) if default else None,
                    }
                )
            elif child.kind == CursorKind.COMPOUND_STMT:
                node["body"] = self._stmt(child)
            elif child.kind == CursorKind.CXX_TRY_STMT:
                node["body"] = {"k": "unknown", "why": "function try block", "s": self._span(child)}

    # --- statements --------------------------------------------------------------------------------------------------

    def _stmt(self, cursor: Cursor) -> Node:
        self.depth += 1
        try:
            if self.depth > 200:
                raise RecursionError("statements nested too deep")
            return self._statement(cursor)
        finally:
            self.depth -= 1

    def _statement(self, cursor: Cursor) -> Node:
        kind, span = cursor.kind, self._span(cursor)
        children = list(cursor.get_children())
        match kind:
            case CursorKind.COMPOUND_STMT:
                return {"k": "block", "body": [self._stmt(c) for c in children], "s": span}
            case CursorKind.DECL_STMT:
                variables = []
                for child in children:
                    if child.kind == CursorKind.VAR_DECL:
                        variables.append(self._variable(child))
                    elif child.kind.is_declaration() and "decomposition" not in str(child.kind):
                        if child.kind == CursorKind.UNEXPOSED_DECL:  # structured bindings
                            variables.append(self._binding(child))
                return {"k": "decl", "vars": variables, "s": span}
            case CursorKind.IF_STMT:
                return self._if(cursor, children, span)
            case CursorKind.FOR_STMT:
                return self._for(cursor, children, span)
            case CursorKind.WHILE_STMT:
                if len(children) != 2:
                    return {"k": "unknown", "why": "while with a declaration", "s": span}
                return {
                    "k": "while",
                    "c": self._expr(children[0]),
                    "body": self._stmt(children[1]),
                    "s": span,
                }
            case CursorKind.DO_STMT:
                return {"k": "do", "body": self._stmt(children[0]), "c": self._expr(children[1]), "s": span}
            case CursorKind.RETURN_STMT:
                return {"k": "return", "a": self._expr(children[0]) if children else None, "s": span}
            case CursorKind.BREAK_STMT:
                return {"k": "break", "s": span}
            case CursorKind.CONTINUE_STMT:
                return {"k": "continue", "s": span}
            case CursorKind.NULL_STMT:
                return {"k": "block", "body": [], "s": span}
            case CursorKind.SWITCH_STMT:
                return self._switch(children, span)
            case CursorKind.CXX_TRY_STMT:
                handlers = [self._stmt(list(c.get_children())[-1]) for c in children[1:]]
                return {"k": "try", "body": self._stmt(children[0]), "handlers": handlers, "s": span}
            case CursorKind.CXX_FOR_RANGE_STMT:
                return self._range(children, span)
            case CursorKind.LABEL_STMT | CursorKind.GOTO_STMT | CursorKind.INDIRECT_GOTO_STMT:
                return {"k": "unknown", "why": "goto", "s": span}
            case CursorKind.CASE_STMT | CursorKind.DEFAULT_STMT:
                return {"k": "unknown", "why": "case label inside a block", "s": span}
        if kind.is_expression():
            return {"k": "expr", "a": self._expr(cursor), "s": span}
        if kind.is_declaration():
            return {"k": "block", "body": [], "s": span}
        if kind == CursorKind.UNEXPOSED_STMT and len(children) == 1:  # attributed statement
            return self._stmt(children[0])
        return {"k": "unknown", "why": kind.name.lower(), "s": span}

    def _variable(self, cursor: Cursor) -> Node:
        inits = [
            c for c in cursor.get_children() if c.kind.is_expression() or c.kind == CursorKind.LAMBDA_EXPR
        ]
        type_ = cursor.type.get_canonical()
        count = type_.element_count if type_.kind == TypeKind.CONSTANTARRAY else None
        # an array's dimensions come first among the children, the initialiser last
        has_init = bool(inits) and (
            count is None
            or inits[-1].kind
            in (CursorKind.INIT_LIST_EXPR, CursorKind.STRING_LITERAL, CursorKind.UNEXPOSED_EXPR)
        )
        return {
            "name": cursor.spelling,
            "id": _identity(cursor),
            "type": _type(cursor.type),
            "const": cursor.type.is_const_qualified(),
            "static": cursor.storage_class == ci.StorageClass.STATIC,
            "ref": type_.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE),
            "count": count,
            "init": self._expr(inits[-1]) if has_init else None,
            "s": self._span(cursor),
        }

    def _binding(self, cursor: Cursor) -> Node:
        names = [
            c
            for c in cursor.get_children()
            if c.kind == CursorKind.UNEXPOSED_DECL or c.kind == CursorKind.VAR_DECL
        ]
        inits = [c for c in cursor.get_children() if c.kind.is_expression()]
        return {
            "name": "",
            "id": _identity(cursor),
            "type": "auto",
            "const": True,
            "static": False,
            "ref": False,
            "count": None,
            "bindings": [{"name": c.spelling, "id": _identity(c)} for c in names],
            "init": self._expr(inits[-1]) if inits else None,
            "s": self._span(cursor),
        }

    def _if(self, cursor: Cursor, children: list[Cursor], span: list[int]) -> Node:
        """Children: [init or declaration…] condition then [else]; the tokens tell how many."""
        heads = [c for c in children if c.kind == CursorKind.DECL_STMT or c.kind == CursorKind.VAR_DECL]
        if heads and children[0] == heads[0] and children[0].kind == CursorKind.VAR_DECL:
            return {"k": "unknown", "why": "declaration in an if condition", "s": span}
        prefix = []
        if children[0].kind == CursorKind.DECL_STMT:
            prefix = [self._stmt(children[0])]
            children = children[1:]
        if len(children) not in (2, 3):
            return {"k": "unknown", "why": "if statement", "s": span}
        node: Node = {
            "k": "if",
            "c": self._expr(children[0]),
            "then": self._stmt(children[1]),
            "else": self._stmt(children[2]) if len(children) == 3 else None,
            "s": span,
        }
        return {"k": "block", "body": [*prefix, node], "s": span} if prefix else node

    def _for(self, cursor: Cursor, children: list[Cursor], span: list[int]) -> Node:
        """Which of init, condition and step are there is read off the two semicolons of the head."""
        body = children[-1]
        head = [t for t in cursor.get_tokens() if t.extent.end.offset <= body.extent.start.offset]
        depth, semicolons = 0, []
        for token in head:
            if token.spelling in "([{":
                depth += 1
            elif token.spelling in ")]}":
                depth -= 1
            elif token.spelling == ";" and depth == 1:
                semicolons.append(token.extent.start.offset)
        parts: list[Cursor | None] = [None, None, None]
        if len(semicolons) != 2 or len(children) > 4:
            if len(children) != 4:
                return {"k": "unknown", "why": "for statement made by a macro", "s": span}
            parts = list(children[:3])
        else:
            for child in children[:-1]:
                at = child.extent.start.offset
                where = 0 if at < semicolons[0] else 1 if at < semicolons[1] else 2
                parts[where] = child
        init, cond, step = parts
        return {
            "k": "for",
            "init": self._stmt(init) if init is not None else None,
            "c": self._expr(cond) if cond is not None else None,
            "step": self._expr(step) if step is not None else None,
            "body": self._stmt(body),
            "s": span,
        }

    def _range(self, children: list[Cursor], span: list[int]) -> Node:
        node: Node = {"k": "range", "body": self._stmt(children[-1]), "s": span}
        variables = [c for c in children if c.kind == CursorKind.VAR_DECL]
        ranges = [c for c in children[:-1] if c.kind.is_expression()]
        if len(variables) == 1 and len(ranges) == 1:
            node["var"] = self._variable(variables[0]) | {"init": None}
            node["a"] = self._expr(ranges[0])
        return node

    def _switch(self, children: list[Cursor], span: list[int]) -> Node:
        """``cases``: (values or None for default, statements) in order; fall-through is the reader's business."""
        if len(children) != 2 or children[1].kind != CursorKind.COMPOUND_STMT:
            return {"k": "unknown", "why": "switch statement", "s": span}
        cases: list[Node] = []
        for statement in children[1].get_children():
            values: list[Node] = []
            default = False
            while statement.kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
                inner = list(statement.get_children())
                if statement.kind == CursorKind.CASE_STMT:
                    values.append(self._expr(inner[0]))
                else:
                    default = True
                statement = inner[-1]
            if values or default:
                cases.append({"values": values, "default": default, "body": [self._stmt(statement)]})
            elif cases:
                cases[-1]["body"].append(self._stmt(statement))
            else:
                return {"k": "unknown", "why": "statement before the first case", "s": span}
        return {"k": "switch", "a": self._expr(children[0]), "cases": cases, "s": span}

    # --- expressions -------------------------------------------------------------------------------------------------

    def _expr(self, cursor: Cursor) -> Node:
        self.budget -= 1
        if self.budget < 0:
            raise MemoryError("host code too large")
        self.depth += 1
        try:
            if self.depth > 200:
                return {"k": "unknown", "t": "", "why": "expression nested too deep", "args": []}
            node = self._expression(cursor)
        finally:
            self.depth -= 1
        node.setdefault("t", _type(cursor.type))
        node.setdefault("s", self._span(cursor))
        return node

    def _expression(self, cursor: Cursor) -> Node:
        kind = cursor.kind
        children = [c for c in cursor.get_children() if c.kind not in _REFERENCES]
        match kind:
            case CursorKind.INTEGER_LITERAL | CursorKind.CHARACTER_LITERAL:
                return _evaluated(cursor) or {"k": "unknown", "why": "literal", "args": []}
            case CursorKind.FLOATING_LITERAL:
                return _evaluated(cursor) or {"k": "float", "v": None}
            case CursorKind.STRING_LITERAL:
                return {"k": "str", "v": cursor.spelling.strip('"')}
            case CursorKind.CXX_BOOL_LITERAL_EXPR:
                tokens = [t.spelling for t in cursor.get_tokens()]
                return _evaluated(cursor) or {"k": "int", "v": int(tokens[:1] == ["true"])}
            case CursorKind.CXX_NULL_PTR_LITERAL_EXPR | CursorKind.GNU_NULL_EXPR:
                return {"k": "null"}
            case CursorKind.PAREN_EXPR:
                return self._expr(children[0])
            case CursorKind.UNEXPOSED_EXPR:
                return self._unexposed(cursor, children)
            case CursorKind.DECL_REF_EXPR:
                return self._reference(cursor)
            case CursorKind.MEMBER_REF_EXPR:
                if not children:
                    return {"k": "member", "base": None, "name": cursor.spelling or _member_name(cursor)}
                return {
                    "k": "member",
                    "base": self._expr(children[0]),
                    "name": cursor.spelling or _member_name(cursor),
                }
            case CursorKind.CALL_EXPR:
                return self._call(cursor, children)
            case CursorKind.BINARY_OPERATOR | CursorKind.COMPOUND_ASSIGNMENT_OPERATOR if len(children) == 2:
                op = _BINARY.get(ci.conf.lib.clang_getCursorBinaryOperatorKind(cursor), "?")
                return {"k": "bin", "op": op, "a": self._expr(children[0]), "b": self._expr(children[1])}
            case CursorKind.UNARY_OPERATOR if children:
                op = _UNARY.get(ci.conf.lib.clang_getCursorUnaryOperatorKind(cursor), "?")
                return {"k": "un", "op": op, "a": self._expr(children[0])}
            case CursorKind.CONDITIONAL_OPERATOR:
                c, a, b = (self._expr(x) for x in children)
                return {"k": "cond", "c": c, "a": a, "b": b}
            case CursorKind.ARRAY_SUBSCRIPT_EXPR:
                return {"k": "index", "a": self._expr(children[0]), "i": self._expr(children[1])}
            case CursorKind.INIT_LIST_EXPR:
                return {"k": "init", "items": [self._expr(c) for c in children]}
            case CursorKind.LAMBDA_EXPR:
                return self._lambda(cursor)
            case CursorKind.CXX_UNARY_EXPR:
                return _evaluated(cursor) or {"k": "unknown", "why": "sizeof", "args": []}
            case CursorKind.CXX_NEW_EXPR:
                return {"k": "new", "args": [self._expr(c) for c in children if c.kind.is_expression()]}
            case CursorKind.CXX_DELETE_EXPR:
                return {"k": "unknown", "why": "", "args": [], "t": "void"}
            case CursorKind.CXX_THROW_EXPR:
                return {"k": "throw"}
            case CursorKind.CXX_THIS_EXPR:
                return {"k": "unknown", "why": "this", "args": []}
            case _ if kind in _CASTS and children:
                return {"k": "cast", "a": self._expr(children[-1]), "explicit": True}
        return {
            "k": "unknown",
            "why": kind.name.lower().replace("_", " "),
            "args": [self._expr(c) for c in children if c.kind.is_expression()],
        }

    def _unexposed(self, cursor: Cursor, children: list[Cursor]) -> Node:
        """Implicit casts, temporaries, default arguments, recovered errors."""
        if not children:
            if cursor.location.line == 0:
                return {"k": "default"}
            return _evaluated(cursor) or {"k": "unknown", "why": "expression", "args": []}
        if len(children) > 1:
            return {
                "k": "unknown",
                "why": "expression",
                "args": [self._expr(c) for c in children if c.kind.is_expression()],
            }
        inner = self._expr(children[0])
        type_ = _type(cursor.type)
        if type_ == inner["t"] or not type_:
            return inner
        return {"k": "cast", "t": type_, "a": inner, "explicit": False}

    def _reference(self, cursor: Cursor) -> Node:
        target = cursor.referenced
        if target is None:
            return {"k": "unknown", "why": "name", "args": []}
        if target.kind == CursorKind.ENUM_CONSTANT_DECL:
            owner = target.semantic_parent.spelling
            return {"k": "enum", "v": target.enum_value, "name": target.spelling, "owner": owner}
        if target.kind in _FUNCTIONS or target.kind == CursorKind.FUNCTION_TEMPLATE:
            return {"k": "function", **self._callee(target)}
        node: Node = {"k": "var", "name": target.spelling, "id": _identity(target)}
        if target.location.line < self.first:
            node["shim"] = _qualified(target)
            value = _evaluated(cursor)
            if value is not None:
                node["v"] = value["v"]
        elif target.type.is_const_qualified() or target.kind == CursorKind.TEMPLATE_NON_TYPE_PARAMETER:
            value = _evaluated(cursor)
            if value is not None and value["k"] == "int":
                node["v"] = value["v"]
        return node

    def _callee(self, target: Cursor) -> Node:
        node: Node = {
            "name": _qualified(target),
            "targs": _template_arguments(target, partial=True),
            "params": [_type(a.type) for a in target.get_arguments() or ()],
        }
        if target.location.line >= self.first:
            definition = target.get_definition() or target
            attributes = {c.kind for c in target.get_children()}
            if CursorKind.CUDAGLOBAL_ATTR in attributes:
                node["kernel"] = True
            else:
                node["fn"] = definition.get_usr()
                if node["fn"] not in self.functions:
                    self.pending.append(definition)
        return node

    def _call(self, cursor: Cursor, children: list[Cursor]) -> Node:
        target = cursor.referenced
        if (target is not None and target.kind == CursorKind.CONSTRUCTOR) or (
            not children and target is None
        ):
            items = [self._expr(c) for c in children]
            return {"k": "construct", "args": items}
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
        if target is None or target.kind not in (*_FUNCTIONS, CursorKind.FUNCTION_TEMPLATE):
            return {
                "k": "call",
                "name": "",
                "callee": self._expr(callee),
                "args": [self._expr(c) for c in children[1:]],
            }
        info = self._callee(target)
        if target.kind == CursorKind.CONVERSION_FUNCTION:
            base = (
                callee
                if callee.kind != CursorKind.MEMBER_REF_EXPR
                else next(iter(callee.get_children()), callee)
            )
            return {"k": "cast", "a": self._expr(base), "explicit": False}
        if (
            target.kind == CursorKind.CXX_METHOD
            and target.spelling.startswith("operator")
            and callee.kind != CursorKind.MEMBER_REF_EXPR
        ):
            others = [c for c in children if not _refers(c, target)]
            return {"k": "operator", **info, "args": [self._expr(c) for c in others]}
        if callee.kind == CursorKind.MEMBER_REF_EXPR:
            inner = [c for c in callee.get_children() if c.kind not in _REFERENCES]
            base_ = self._expr(inner[0]) if inner else None
            return {"k": "method", **info, "base": base_, "args": [self._expr(c) for c in children[1:]]}
        if target.spelling.startswith("operator"):
            others = [c for c in children if not _refers(c, target)]
            return {"k": "operator", **info, "args": [self._expr(c) for c in others]}
        return {"k": "call", **info, "args": [self._expr(c) for c in children[1:]]}

    def _launch(self, children: list[Cursor], config: Cursor) -> Node:
        callee = children[0]
        target = _referenced(callee)
        launch = [self._expr(c) for c in list(config.get_children())[1:]]
        node: Node = {
            "k": "launch",
            "config": launch,
            "args": [self._expr(c) for c in children[2:]],
            "t": "void",
        }
        if target is not None and target.kind in _FUNCTIONS:
            node |= {
                "kernel": target.spelling,
                "targs": _template_arguments(target),
                "params": [{"name": a.spelling, "type": _type(a.type)} for a in target.get_arguments()],
                "known": True,
            }
            definition = target.get_definition()
            if definition is not None:  # a forward declaration may name its parameters otherwise
                node["params"] = [
                    {"name": a.spelling, "type": _type(a.type)} for a in definition.get_arguments()
                ]
        else:
            node |= {"kernel": callee.spelling or _spelled(callee), "targs": [], "params": [], "known": False}
        return node

    def _lambda(self, cursor: Cursor) -> Node:
        params, body = [], None
        for child in cursor.get_children():
            if child.kind == CursorKind.PARM_DECL:
                params.append({"name": child.spelling, "id": _identity(child), "type": _type(child.type)})
            elif child.kind == CursorKind.COMPOUND_STMT:
                body = self._stmt(child)
        head = ""
        for token in cursor.get_tokens():
            head += token.spelling
            if token.spelling == "]":
                break
        return {
            "k": "lambda",
            "params": params,
            "body": body,
            "by_value": not re.fullmatch(r"\[(&)?\]", head),
            "t": "lambda",
        }

    # --- places ------------------------------------------------------------------------------------------------------

    def _span(self, cursor: Cursor) -> list[int]:
        location = cursor.location
        return self._place(location.line, location.column)

    def _place(self, line: int, column: int) -> list[int]:
        if line < self.first or line - self.first >= len(self.places):
            return [0, 0, 0]
        path, user_line = self.places[line - self.first]
        return [path, user_line, column]


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


def _type(type_: ci.Type) -> str:
    canonical = type_.get_canonical()
    text: str = canonical.spelling.replace("__restrict", "").rstrip()
    if canonical.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE):
        text = canonical.get_pointee().spelling
    return text.removeprefix("const ").removesuffix(" const") if not text.endswith("*") else text


def _identity(cursor: Cursor) -> str:
    location = cursor.location
    return f"{cursor.spelling}@{location.line}:{location.column}"


def _qualified(cursor: Cursor) -> str:
    parts = [cursor.spelling]
    parent = cursor.semantic_parent
    while parent is not None and parent.kind != CursorKind.TRANSLATION_UNIT:
        if parent.spelling:
            parts.append(parent.spelling)
        parent = parent.semantic_parent
    return "::".join(reversed(parts))


def _template_arguments(target: Cursor, *, partial: bool = False) -> list[str] | None:
    """The arguments of a function template's instance; None, or those before it, where one is a pack or the like."""
    count = target.get_num_template_arguments()
    if count < 0:
        return []
    out: list[str] = []
    booleans = _boolean_parameters(target)
    for index in range(count):
        kind = ci.conf.lib.clang_Cursor_getTemplateArgumentKind(target, index)
        if kind == _TYPE_ARGUMENT:
            out.append(target.get_template_argument_type(index).get_canonical().spelling)
        elif kind == _INTEGRAL_ARGUMENT:
            value = target.get_template_argument_value(index)
            out.append(("false", "true")[value != 0] if index in booleans else str(value))
        else:
            return out if partial else None
    return out


def _boolean_parameters(target: Cursor) -> set[int]:
    """Positions of the template's bool parameters: libclang gives their values sign-extended."""
    template = ci.conf.lib.clang_getSpecializedCursorTemplate(target)
    if template is None:
        return set()
    kinds = (
        CursorKind.TEMPLATE_TYPE_PARAMETER,
        CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
        CursorKind.TEMPLATE_TEMPLATE_PARAMETER,
    )
    parameters = [c for c in template.get_children() if c.kind in kinds]
    return {i for i, c in enumerate(parameters) if c.type.get_canonical().kind == TypeKind.BOOL}


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


def _evaluated(cursor: Cursor) -> Node | None:
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


def _prepare_library() -> None:
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


_UNKNOWN_NAME = re.compile(r"use of undeclared identifier '(\w+)'")
_UNKNOWN_TYPE = re.compile(r"unknown type name '(\w+)'")
_UNKNOWN_MEMBER = re.compile(
    r"no (?:member|type|template) named '(\w+)' in (?:namespace )?'(?:struct |class )?([\w:]+)"
)
_NAMESPACES = ("torch", "at", "c10", "std", "at::cuda", "c10::cuda", "torch::nn::functional", "pybind11")


def _declarations(messages: list[str], known: set[str]) -> str:
    """Opaque declarations for the names that the parser did not know; also the members to add to Tensor."""
    out: list[str] = []
    for message in messages:
        if found := _UNKNOWN_TYPE.search(message):
            key, text = found.group(1), f"typedef vk::unknown {found.group(1)};"
        elif found := _UNKNOWN_MEMBER.search(message):
            name, scope = found.group(1), found.group(2)
            key = f"{scope}::{name}"
            if scope == "at::Tensor":
                text = f"//member {name}"
            elif scope in _NAMESPACES:
                inner = f"template <class... A> vk::unknown {name}(A &&...);"
                text = f"namespace {scope} {{ {inner} }}"
            else:
                continue
        elif found := _UNKNOWN_NAME.search(message):
            key, text = found.group(1), f"template <class... A> vk::unknown {found.group(1)}(A &&...);"
        else:
            continue
        if key not in known:
            known.add(key)
            out.append(text)
    return "\n".join(out)


def parse(text: str, shim: str) -> Node:
    """The JSON tree of ``text``."""
    _prepare_library()
    index = ci.Index.create()
    known: set[str] = set()
    extra, members = "", ""
    for _ in range(_ROUNDS):
        head = (
            shim.replace("void reset(); void print() const;", f"void reset(); void print() const; {members}")
            + "\n"
            + extra
            + "\n"
        )
        first = head.count("\n") + 1
        unit = index.parse("host.cu", args=_ARGS, unsaved_files=[("host.cu", head + text)], options=0)
        errors = [d for d in unit.diagnostics if d.severity >= 3]
        added = _declarations([d.spelling for d in errors if d.location.line >= first], known)
        if not added:
            break
        for line in added.split("\n"):
            if line.startswith("//member "):
                members += f"VK_M({line.removeprefix('//member ')}) "
            else:
                extra += line + "\n"
    reader = Reader(unit, first, text)
    tree = reader.read()
    tree["unknown_names"] = sorted(known)
    return tree


def main() -> int:
    sys.setrecursionlimit(10_000)
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    shim = (Path(__file__).parent / "host_shim.h").read_text(encoding="utf-8")
    json.dump(parse(text, shim), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
