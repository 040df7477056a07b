"""Which operations of a wrapper a library computes, on which way through it, and whether its kernels' results are returned.

``kind`` of a use: ``main``, ``device`` (only for tensors that are not on a GPU, or in training), ``fallback`` (where the
extension is not called, although the other branch calls it). Reading is by name and without order of statements, so a
value counts as a kernel's if any assignment makes it one.

Example::

    [(u.operation, u.kind) for u in uses(wrapper)]     # [("conv2d", "main")]
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from specs.location import Span
from verifier.source.compute import operation, plain
from verifier.source.reading import Reading
from verifier.source.wrapper import Function, Wrapper

Kind = Literal["main", "device", "fallback"]
_DEVICE = frozenset(("is_cuda", "device", "training", "is_available", "requires_grad", "is_grad_enabled"))
_LIBRARIES = ("cublas", "cudnn", "cusolver", "cusparse", "cufft", "curand", "nvblas")
_SILENT = (
    "Create",
    "Destroy",
    "SetStream",
    "SetTensor",
    "SetFilter",
    "SetConvolution",
    "Handle",
    "Status",
    "Get",
    "_t",
)
_NAMESPACES = frozenset(
    ("at", "torch", "nn", "functional", "F", "aten", "native", "cuda", "linalg", "special")
)


@dataclass(frozen=True, slots=True)
class Use:
    """``from_kernel``: it works on what a kernel computed."""

    operation: str
    name: str
    span: Span
    kind: Kind
    from_kernel: bool


def uses(wrapper: Wrapper) -> list[Use]:
    """Calls that compute something, in everything that forward reaches."""
    found: dict[tuple[int, int], Use] = {}
    for function in wrapper.running:
        kinds = _kinds(wrapper, function)
        made = from_kernels(wrapper, function)
        for node in ast.walk(function):
            for number, (name, word) in enumerate(_operations(wrapper, node)):
                owned = [*ast.iter_child_nodes(node)]
                use = Use(
                    name, word, wrapper.span(node), kinds.get(id(node), "main"), _made(wrapper, owned, made)
                )
                found.setdefault((id(node), number), use)
    return list(found.values())


def _operations(wrapper: Wrapper, node: ast.AST) -> list[tuple[str, str]]:
    """(operation, as it is called) of a call; for a layer of ``self``, those that it was made of."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            return [("matmul", "@")] if isinstance(op, ast.MatMult) else [("arithmetic", "an operator")]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=attr)) if attr in wrapper.members:
            parts = [p for v in wrapper.members[attr] for p in ast.walk(v) if isinstance(p, ast.Call)]
            names = [n for n in (wrapper.name(p.func) for p in parts) if n.startswith("torch.nn.")]
            return [(operation(n), f"self.{attr}") for n in names if operation(n)]
        case ast.Call(func=func):
            name = wrapper.name(func)
            if operation(name) and not wrapper.touches(func):
                return [(operation(name), name.lstrip("."))]
    return []


def host_uses(reading: Reading) -> list[Use]:
    """The same in C++ host code: ``at::matmul``, ``x.matmul(…)``, cuBLAS."""
    found = []
    for function in reading.host_functions:
        if function.device or function.kernel:
            continue
        words = function.body
        texts = [w.text for w in words]
        launches = any(texts[i : i + 3] == ["<", "<", "<"] for i in range(len(texts) - 2))
        for i in range(1, len(words) - 1):
            word, before = texts[i], texts[i - 1]
            if words[i].kind != "ident" or texts[i + 1] not in ("(", "<"):
                continue
            name = ""
            if (before == "::" and texts[i - 2] in _NAMESPACES) or before in (".", "->"):
                name = plain(word)
            elif word.startswith(_LIBRARIES) and not any(s in word for s in _SILENT):
                name = "matmul" if "gemm" in word.lower() or "gemv" in word.lower() else word
            if name:
                found.append(Use(name, word, words[i].span, "main", launches))
    return found


def from_kernels(wrapper: Wrapper, function: Function) -> set[str]:
    """Names (``x``, ``self.x``) that may hold what the extension computed, or that it was given to write."""
    made: set[str] = set()
    for _ in range(8):
        before = len(made)
        for node in ast.walk(function):
            match node:
                case (
                    ast.Assign(value=value)
                    | ast.AugAssign(value=value)
                    | ast.AnnAssign(value=value)
                    | ast.NamedExpr(value=value)
                ) if value is not None and _made(wrapper, [value], made):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    made |= {n for t in targets for n in _names(t)}
                case ast.For(target=target, iter=value) if _made(wrapper, [value], made):
                    made |= set(_names(target))
                case ast.Expr(value=ast.Call(func=func, args=args, keywords=keywords)):
                    if wrapper.touches(func):
                        given = [*args, *(k.value for k in keywords)]
                        own = {a.arg for a in function.args.args}
                        made |= {n for a in given for n in _names(a) if n not in own}
                    elif isinstance(func, ast.Attribute) and any(_made(wrapper, [a], made) for a in args):
                        made |= set(_names(func.value))
                case _:
                    pass
        if len(made) == before:
            break
    return made


def returned(wrapper: Wrapper, function: Function) -> bool:
    """Whether anything that ``function`` returns may come from the extension."""
    made = from_kernels(wrapper, function)
    values = [
        n.value for n in ast.walk(function) if isinstance(n, ast.Return | ast.Yield) and n.value is not None
    ]
    if any(_made(wrapper, [v], made) for v in values):
        return True
    calls = [c for c in ast.walk(function) if isinstance(c, ast.Call) and wrapper.touches(c.func)]
    given = {n for c in calls for a in c.args for n in _names(a)}
    views = [v for v in values if not any(_operations(wrapper, n) for n in ast.walk(v))]
    return any(given & set(_names(v)) for v in views)  # written in place


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether a block ends with an exception, or the program."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    ends = isinstance(last, ast.Expr) and ast.unparse(last.value).startswith(
        ("sys.exit", "exit(", "os._exit")
    )
    return isinstance(last, ast.Raise) or ends


def _made(wrapper: Wrapper, nodes: Sequence[ast.AST], made: set[str]) -> bool:
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and (wrapper.touches(part.func) or _handed(wrapper, part)):
                return True
            if isinstance(part, ast.Name | ast.Attribute) and made.intersection(_name(part)):
                return True
    return False


def _handed(wrapper: Wrapper, call: ast.Call) -> bool:
    """Whether a function of the extension is an argument: ``apply(ext.relu, x)``."""
    for argument in call.args:
        if isinstance(argument, ast.Attribute) and wrapper.touches(argument):
            return True
        own = wrapper.definitions.get(argument.id, []) if isinstance(argument, ast.Name) else []
        if (
            own
            and all(isinstance(d, ast.FunctionDef | ast.ClassDef) for d in own)
            and wrapper.touches(argument)
        ):
            return True
    return False


def _name(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=ast.Name(id="self"), attr=attr):
            return (f"self.{attr}",)
    return ()


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        yield from (n for n in _name(part) if n != "self")


def _kinds(wrapper: Wrapper, function: Function) -> dict[int, Kind]:
    """Nodes that do not belong to the main way."""
    kinds: dict[int, Kind] = {}

    def mark(nodes: Sequence[ast.AST], kind: Kind) -> None:
        for node in (n for root in nodes for n in ast.walk(root)):
            kinds.setdefault(id(node), kind)

    def branches(test: ast.expr, one: Sequence[ast.AST], other: Sequence[ast.AST]) -> None:
        words = {n.attr for n in ast.walk(test) if isinstance(n, ast.Attribute)}
        words |= {str(n.value) for n in ast.walk(test) if isinstance(n, ast.Constant)}
        kind: Kind = "device" if words & _DEVICE or words & {"cuda", "cpu"} else "fallback"
        here, there = wrapper.touches(one), wrapper.touches(other)
        positive = "is_cuda" in words and not any(isinstance(n, ast.Not) for n in ast.walk(test))
        if kind == "device" and positive and there and not here:
            kind = "fallback"
        if here != there or kind == "device":
            mark(other if here else one if there else (), kind)

    def block(body: Sequence[ast.stmt]) -> None:
        for index, statement in enumerate(body):
            if isinstance(statement, ast.If):
                ends = isinstance(statement.body[-1], ast.Return)
                rest = statement.orelse or (body[index + 1 :] if ends else [])
                branches(statement.test, statement.body, rest)
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    block(inner)
            for handler in getattr(statement, "handlers", ()):
                if wrapper.touches(getattr(statement, "body", [])):
                    mark([handler], "fallback")
                block(handler.body)

    block(function.body)
    for node in ast.walk(function):
        if isinstance(node, ast.IfExp):
            branches(node.test, [node.body], [node.orelse])
    return kinds
