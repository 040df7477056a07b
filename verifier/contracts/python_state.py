"""What a caller's syntax tree says of its state, without following it: what a call of forward() may leave for the next one,
which expressions change nothing, which statements only fill parameters.

Invariant: every answer errs to the safe side, by names: a name that any function within reach of forward() stores is kept.

Example: ``self.buf = y`` in forward() makes ``buf`` kept: read before it is set, it is what an earlier call left.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from verifier.contracts import torch_ops
from verifier.contracts.python_values import EXCEPTIONS

PURE_BUILTINS = frozenset(
    "isinstance issubclass hasattr len all any min max abs sum int float bool str repr tuple list range sorted callable type "
    "round enumerate zip reversed set frozenset".split()
)
PURE_METHODS = frozenset(
    "size dim ndimension numel nelement stride is_contiguous is_floating_point is_complex get_device element_size "
    "data_ptr item tolist is_pinned is_nonzero allclose equal is_tensor is_available all any sum mean max min abs "
    "isfinite isnan eq ne lt le gt ge startswith endswith format join lower upper strip split replace keys values items "
    "parameters named_parameters modules named_modules children named_children buffers".split()
)
_GROWS = frozenset(
    "append extend insert pop remove clear update setdefault popitem sort reverse add discard register_buffer register_parameter "
    "add_module register_module set_".split()
)
_PLAIN = (
    ast.Constant, ast.Name, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List,
    ast.Subscript, ast.Slice, ast.JoinedStr, ast.FormattedValue, ast.Starred, ast.GeneratorExp, ast.ListComp, ast.comprehension,
    ast.keyword, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_EXTENSION = ("load_inline", "load")


@dataclass(slots=True)
class Kept:
    """Names that functions within reach of forward() store: attributes, and globals. The value says whether each of them is
    always given what ``load_inline`` returns.

    ``reach``: those functions. ``all``: an attribute is stored by a name that is computed.
    """

    attributes: dict[str, bool] = field(default_factory=dict)
    shared: dict[str, bool] = field(default_factory=dict)
    reach: set[ast.AST] = field(default_factory=set)
    all: bool = False


def is_main(node: ast.stmt) -> bool:
    """``if __name__ == "__main__":``, which does not run when a submission is imported."""
    match node:
        case ast.If(
            test=ast.Compare(
                left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")]
            )
        ):
            return not node.orelse
    return False


def kept(tree: ast.Module) -> Kept:
    nodes = [n for s in tree.body if not is_main(s) for n in ast.walk(s)]
    named: dict[str, list[ast.AST]] = {}
    contexts: dict[ast.AST, str] = {}
    todo: list[ast.AST] = []
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named.setdefault(node.name, []).append(node)
            if node.name == "forward" or (node.name.startswith("__") and node.name != "__init__"):
                todo.append(node)
        elif isinstance(node, ast.ClassDef):
            inner = [f for f in node.body if isinstance(f, ast.FunctionDef)]
            named.setdefault(node.name, []).extend(f for f in inner if f.name in ("__init__", "forward"))
            if any(ast.unparse(b).endswith("Function") for b in node.bases):
                contexts |= {f: f.args.args[0].arg for f in inner if f.name == "forward" and f.args.args}
        elif isinstance(node, ast.Lambda):
            todo.append(node)
    called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    for node in nodes:  # a function that is named without being called may be called by any name
        name = _identifier(node)
        if name is not None and id(node) not in called and not isinstance(node, ast.Constant):
            todo += [
                f
                for f in named.get(name, [])
                if not (isinstance(f, ast.FunctionDef) and f.name == "__init__")
            ]
    out = Kept()
    while todo:
        function = todo.pop()
        if function in out.reach:
            continue
        out.reach.add(function)
        for node in ast.walk(function):
            todo += named.get(_identifier(node) or "", [])
        _stores(function, contexts.get(function, ""), out)
    return out


def _identifier(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name
    return None


def _stores(function: ast.AST, context: str, out: Kept) -> None:
    shared = {n for node in ast.walk(function) if isinstance(node, ast.Global) for n in node.names}
    loads: set[int] = set()  # targets of ``name = load_inline(…)``
    for node in ast.walk(function):
        match node:
            case ast.Assign(
                targets=[target], value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))
            ) if name in _EXTENSION:
                loads.add(id(target))
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=base, attr=name, ctx=ast.Store() | ast.Del()):
                if not (context and isinstance(base, ast.Name) and base.id == context):
                    out.attributes[name] = out.attributes.get(name, True) and id(node) in loads
            case ast.Call(
                func=ast.Name(id="setattr" | "delattr") | ast.Attribute(attr="__setattr__"), args=args
            ):
                match args:
                    case [_, ast.Constant(value=str(name)), *_]:
                        out.attributes[name] = False
                    case _:
                        out.all = True
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name in shared:
                out.shared[name] = out.shared.get(name, True) and id(node) in loads
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)) if (
                name in shared
            ):
                out.shared[name] = False
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    if (alias.asname or alias.name) in shared:
                        out.shared[alias.asname or alias.name] = False


def changes_elsewhere(found: Kept, followed: set[tuple[int, int]]) -> ast.expr | None:
    """A place within reach of forward() that may change a container that outlives it, on a way that was not followed."""
    for function in found.reach:
        own = _made_here(function)
        for node in ast.walk(function):
            base: ast.expr | None = None
            match node:
                case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in _GROWS:
                    pass
                case ast.Subscript(value=base, ctx=ast.Store() | ast.Del()):
                    pass
                case _:
                    continue
            if isinstance(base, ast.Name) and base.id in own:
                continue
            if (node.lineno, node.col_offset) not in followed:
                return node
    return None


def _made_here(function: ast.AST) -> set[str]:
    """Local names that only ever hold a new list, dictionary or tensor."""
    made: set[str] = set()
    other: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                new = isinstance(value, ast.List | ast.Dict | ast.ListComp) or (
                    isinstance(value, ast.Call)
                    and ast.unparse(value.func).startswith(("torch.empty", "torch.zeros"))
                )
                (made if new else other).add(name)
            case ast.For(target=target) | ast.comprehension(target=target) | ast.AnnAssign(target=target):
                other |= stored_names([target])
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                other |= stored_names(targets)
            case ast.NamedExpr(target=ast.Name(id=name)):
                other.add(name)
    return made - other


def function_names(tree: ast.Module) -> frozenset[str]:
    return frozenset(
        n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )


@dataclass(frozen=True, slots=True)
class Purity:
    """Which code changes nothing. ``own``: names of the caller's functions; ``defined``: whether a name is bound at this place;
    ``dotted``: the dotted name that an expression stands for."""

    own: frozenset[str]
    defined: Callable[[str], bool]
    dotted: Callable[[ast.expr], str]

    def expression(self, node: ast.AST) -> bool:
        return all(self._one(n) for n in _walk(node))

    def _one(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return (name in PURE_BUILTINS or name in EXCEPTIONS) and not self.defined(name)
            case ast.Call(func=ast.Attribute(attr=name)):
                if name in PURE_METHODS and name not in self.own:
                    return True
                return self.dotted(node.func).startswith("math.")
            case ast.Attribute(attr=name):
                return name not in self.own
        return isinstance(node, _PLAIN)

    def fills(self, body: Iterable[ast.stmt]) -> bool:
        """Statements that only fill parameters (``nn.init.…``, ``m.weight.data.fill_()``) and set plain names."""
        return all(self._fill(s) for s in body)

    def _fill(self, node: ast.stmt) -> bool:
        match node:
            case ast.Pass() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Constant()):
                return True
            case ast.Expr(value=ast.Call(func=func, args=args, keywords=keywords)):
                if not all(self.expression(a) for a in (*args, *keywords)):
                    return False
                if self.dotted(func).startswith("torch.nn.init."):
                    return True
                match func:
                    case ast.Attribute(value=base, attr=name):
                        keeps = (
                            name.endswith("_") and not torch_ops.changes_handle(name) and name not in self.own
                        )
                        return keeps and self.expression(base)
                return False
            case ast.Assign(targets=targets, value=value):
                return all(isinstance(t, ast.Name) for t in targets) and self.expression(value)
            case ast.AugAssign(target=ast.Name(), value=value):
                return self.expression(value)
            case ast.If(test=test, body=body, orelse=orelse):
                return self.expression(test) and self.fills(body) and self.fills(orelse)
            case ast.For(target=target, iter=iterated, body=body, orelse=orelse):
                names = all(isinstance(n, ast.Name | ast.Tuple | ast.expr_context) for n in ast.walk(target))
                return names and self.expression(iterated) and self.fills(body) and self.fills(orelse)
        return False


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of an expression; the function of a call is judged by the call."""
    yield node
    children: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call):
        inner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        children = [*inner, *node.args, *node.keywords]
    for child in children:
        yield from _walk(child)


def stored_names(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del)
    }


def only_raises(body: list[ast.stmt], defined: Callable[[str], bool]) -> bool:
    """Whether an exception handler does nothing but raise (and print)."""
    if not isinstance(body[-1], ast.Raise):
        return False
    for statement in body:
        if not isinstance(statement, ast.Raise | ast.Pass) and not isinstance(statement, ast.Expr):
            return False
        for node in ast.walk(statement):
            match node:
                case ast.Call(func=ast.Name(id=name)):
                    if defined(name) or name not in EXCEPTIONS | {"print", "str", "repr"}:
                        return False
                case ast.Call(func=ast.Attribute(attr="format")):
                    pass
                case ast.Call() | ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                    return False
    return True


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions and classes in it."""
    todo = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)


def generates(function: ast.AST) -> bool:
    return any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in own_nodes(function))
