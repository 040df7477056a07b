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

import gc
import json
import re
import sys
import tempfile
from pathlib import Path

import clang.cindex as ci
from clang.cindex import Cursor, CursorKind, TypeKind

from verifier.frontend.host_classes import acts
from verifier.frontend.host_exports import EXPORT, export_lines, with_exports
from verifier.frontend.host_expressions import ExpressionReader, Node, prepare_library
from verifier.frontend.host_names import (
    function_key,
    identity,
    parameter_type,
    qualified,
    token_head,
    type_text,
)
from verifier.frontend.statement_heads import initialised, semicolons

_ARGS = [
    "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-nogpulib", "-nostdinc", "-std=c++17",
    "--cuda-path=/nonexistent", "--cuda-gpu-arch=sm_80", "-ferror-limit=0", "-w", "-fno-delayed-template-parsing",
]  # fmt: skip
_ROUNDS = 4
_UNKNOWN_TYPE = re.compile(r"unknown type name '(\w+)'")
_UNKNOWN_MEMBER = re.compile(
    r"no (?:member|type|template) named '(\w+)' in (?:namespace )?'(?:struct |class )?([\w:]+)"
)
_NAMESPACES = ("torch", "at", "c10", "std", "at::cuda", "c10::cuda", "torch::nn::functional", "pybind11")


class Reader(ExpressionReader):
    """One parsed translation unit."""

    def read(self) -> Node:
        self.device_ranges += export_lines(self.text, self.first)
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
                    roots.append(function_key(cursor))
                    self._function(cursor)
            elif kind == CursorKind.VAR_DECL and cursor.spelling.startswith(EXPORT):
                roots += self._exported(cursor)
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
            "launches": self._launch_places(),
        }

    def _launch_places(self) -> list[list[int]]:
        """Where the text launches a kernel, also in functions that nothing calls."""
        out: list[list[int]] = []
        for index, row in enumerate(self.text.split("\n")):
            bare = _STRING.sub(lambda found: "x" * len(found.group()), row)
            if not bare.startswith("#"):
                out += [self._place(self.first + index, m.start() + 1) for m in _LAUNCH.finditer(bare)]
        return out

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

    def _exported(self, pointer: Cursor) -> list[str]:
        """The function that an explicit instantiation makes; none where the parser could not tell."""
        named = [c.referenced for c in pointer.walk_preorder() if c.kind == CursorKind.DECL_REF_EXPR]
        functions = [c.get_definition() or c for c in named if c and c.kind == CursorKind.FUNCTION_DECL]
        for function in functions:
            self._function(function)
        return [function_key(f) for f in functions]

    def _kernel(self, cursor: Cursor) -> Node:
        params = [c for c in cursor.get_children() if c.kind == CursorKind.PARM_DECL]
        return {
            "name": cursor.spelling,
            "template": cursor.kind == CursorKind.FUNCTION_TEMPLATE,
            "params": [{"name": p.spelling, "type": parameter_type(p)} for p in params],
            "s": self._span(cursor),
        }

    def _function(self, cursor: Cursor) -> None:
        key = function_key(cursor)
        if key in self.functions:
            return
        node: Node = {
            "name": qualified(cursor),
            "params": [],
            "result": type_text(cursor.result_type),
            "s": self._span(cursor),
            "lines": [cursor.extent.start.line, cursor.extent.end.line],
            "body": None,
        }
        self.functions[key] = node
        for child in cursor.get_children():
            if child.kind == CursorKind.PARM_DECL:
                node["params"].append(self.parameter(child))
            elif child.kind == CursorKind.COMPOUND_STMT:
                node["body"] = self._stmt(child)
            elif child.kind == CursorKind.CXX_TRY_STMT:
                node["body"] = {"k": "unknown", "why": "function try block", "s": self._span(child)}
        if cursor.kind == CursorKind.CONSTRUCTOR:
            node |= self._initialisers(cursor)

    def _stmt(self, cursor: Cursor) -> Node:
        self.depth += 1
        try:
            if self.depth > 200:
                return {"k": "unknown", "why": "statements nested too deep", "s": self._span(cursor)}
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
                if children[0].kind != CursorKind.DECL_STMT and self._initialised(cursor, b"if"):
                    return {"k": "unknown", "why": "a statement before the condition", "s": span}
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
                if self._initialised(cursor, b"switch"):
                    return {"k": "unknown", "why": "a statement before the condition", "s": span}
                return self._switch(children, span)
            case CursorKind.CXX_TRY_STMT:
                handlers = [self._stmt(list(c.get_children())[-1]) for c in children[1:]]
                return {"k": "try", "body": self._stmt(children[0]), "handlers": handlers, "s": span}
            case CursorKind.CXX_FOR_RANGE_STMT:
                if self._initialised(cursor, b"for"):
                    return {"k": "unknown", "why": "a statement before the range", "s": span}
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

    def _initialised(self, cursor: Cursor, keyword: bytes) -> bool:
        """Whether the statement has another before its condition, which the parser does not show.

        What a macro's argument holds has no place of its own: there, any such statement of the macro counts.
        """
        text, extent = self.encoded, cursor.extent
        first, last = extent.start.line - self.first, extent.end.line - self.first
        at = self.rows[first] + extent.start.column - 1 if 0 <= first < len(self.rows) else len(text)
        if text.startswith(keyword, at):
            return semicolons(text, at, len(text)) > 0
        if keyword not in self.heads:
            self.heads[keyword] = initialised(text, keyword)
        return any(first < line <= last + 1 for line in self.heads[keyword])

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
        init = self._expr(inits[-1]) if has_init else None
        if any(map(acts, inits[:-1] if has_init else inits)):
            init = {"k": "refused", "why": "an effect inside of a type", "t": "", "s": self._span(cursor)}
        return {
            "name": cursor.spelling,
            "id": identity(cursor),
            "type": type_text(cursor.type),
            "const": cursor.type.is_const_qualified(),
            "static": cursor.storage_class == ci.StorageClass.STATIC or cursor.tls_kind != ci.TLSKind.NONE,
            "ref": type_.kind in (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE),
            "const_ref": type_.get_pointee().is_const_qualified(),
            "count": count,
            "init": init,
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
            "id": identity(cursor),
            "type": "auto",
            "const": True,
            "static": False,
            "ref": "&" in token_head(cursor, "["),
            "count": None,
            "bindings": [{"name": c.spelling, "id": identity(c)} for c in names],
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
                if statement.kind == CursorKind.CASE_STMT and len(inner) > 2:
                    return {"k": "unknown", "why": "a range of cases", "s": span}
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


_LAUNCH = re.compile(r"<<<|\bcudaLaunch(?:Cooperative)?Kernel(?:ExC?)?\b")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_INTRINSIC = re.compile(
    r"\b(__(?!builtin|attribute|launch|align|restrict|declspec|syncthreads\b)[a-z]\w*|atomic[A-Z]\w*)\s*\("
)
_UNKNOWN_NAME = re.compile(r"use of undeclared identifier '(\w+)'")


def _declarations(messages: list[str], known: set[str], text: str) -> str:
    """Opaque declarations for the names that the parser did not know; also the members to add to Tensor."""
    out: list[str] = []
    for message in messages:
        if found := _UNKNOWN_TYPE.search(message):
            key, declared = found.group(1), f"typedef vk::unknown {found.group(1)};"
        elif found := _UNKNOWN_MEMBER.search(message):
            name, scope = found.group(1), found.group(2)
            key = f"{scope}::{name}"
            if key in known:
                continue
            if scope == "at::Tensor":
                declared = f"//member {name}"
            elif scope == "vk::unknown":
                declared = f"//unknown {name}"
            elif scope in _NAMESPACES:
                declared = f"namespace {scope} {{ {_opaque(name, text)} }}"
            else:
                continue
        elif (found := _UNKNOWN_NAME.search(message)) and found.group(1) not in known:
            key, declared = found.group(1), _opaque(found.group(1), text)
        else:
            continue
        if key not in known:
            known.add(key)
            out.append(declared)
    return "\n".join(out)


def _device_names(text: str, shim: str, known: set[str]) -> str:
    """Declarations of intrinsics that kernels use and the host text does not define, so that one parse is enough."""
    out = []
    for name in dict.fromkeys(_INTRINSIC.findall(text)):
        if not re.search(rf"\b{name}\b", shim) and not re.search(
            rf"[\w>&*]\s+{name}\s*\([^;{{}}]*\)\s*\{{", text
        ):
            known.add(name)
            out.append(_opaque(name, text))
    return "\n".join(out) + "\n" if out else ""


def _opaque(name: str, text: str) -> str:
    """A variable that can be anything and be called; a function template where the text gives it arguments."""
    if re.search(rf"\b{name}\s*<(?!<)", text):
        return f"template <class... T, class... A> vk::unknown {name}(A &&...);"
    return f"extern vk::unknown {name};"


def parse(text: str, shim: str, precompiled: str = "") -> Node:
    """The JSON tree of ``text``. ``precompiled``: a file that holds the shim, parsed already."""
    prepare_library()
    text = with_exports(text)
    index = ci.Index.create()
    known: set[str] = set()
    extra, members, unknowns = _device_names(text, shim, known), "", ""
    for _ in range(_ROUNDS):
        head = (
            shim.replace(
                "void reset(); void print() const;", f"void reset(); void print() const; {members}"
            ).replace("/*members*/", unknowns)
            + "\n"
            + extra
            + "\n"
        )
        first = head.count("\n") + 1
        unit = None
        if precompiled and not members and not unknowns:
            unit = _quick(index, precompiled, "\n" * (shim.count("\n") + 1) + extra + "\n" + text)
        if unit is None:
            unit = index.parse("host.cu", args=_ARGS, unsaved_files=[("host.cu", head + text)], options=0)
        errors = [d for d in unit.diagnostics if d.severity >= 3]
        messages = list(dict.fromkeys(d.spelling for d in errors if d.location.line >= first))
        added = _declarations(messages, known, text)
        if not added:
            break
        for line in added.split("\n"):
            if line.startswith("//member "):
                members += f"VK_M({line.removeprefix('//member ')}) "
            elif line.startswith("//unknown "):
                unknowns += f"static unknown {line.removeprefix('//unknown ')}; "
            else:
                extra += line + "\n"
    reader = Reader(unit, first, text)
    tree = reader.read()
    tree["unknown_names"] = sorted(known)
    return tree


def _quick(index: ci.Index, precompiled: str, text: str) -> ci.TranslationUnit | None:
    """The text after the precompiled shim, on the same lines as after the shim itself; None if that is refused."""
    arguments = [*_ARGS, "-include-pch", precompiled]
    try:
        unit = index.parse("host.cu", args=arguments, unsaved_files=[("host.cu", text)], options=0)
    except ci.TranslationUnitLoadError:
        return None
    refused = any(d.severity >= 3 and d.location.file is None for d in unit.diagnostics)
    return None if refused else unit


def precompile(shim: Path) -> bytes:
    """The precompiled header of the shim."""
    unit = ci.Index.create().parse(str(shim), args=_ARGS, options=ci.TranslationUnit.PARSE_INCOMPLETE)
    if any(d.severity >= 3 for d in unit.diagnostics):
        raise AssertionError("the shim does not parse")
    with tempfile.TemporaryDirectory() as folder:
        unit.save(f"{folder}/host.pch")
        return Path(folder, "host.pch").read_bytes()


def main() -> int:
    sys.setrecursionlimit(10_000)
    gc.disable()  # the process ends with its one answer
    prepare_library()  # takes time and needs no request
    shim = Path(__file__).resolve().parent / "host_shim.h"
    arguments = sys.argv[1:]
    if arguments == ["--precompile"]:
        sys.stdout.buffer.write(precompile(shim))
        return 0
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    json.dump(parse(text, shim.read_text(encoding="utf-8"), *arguments), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
