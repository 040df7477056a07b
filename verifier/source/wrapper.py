"""The Python around a kernel as static rules see it: what ``ModelNew.forward`` reaches, read with ``ast`` alone.

A definition is reached if its name is used by something reached: functions, classes, attributes of ``self``; names are
not told apart by scope or type, so more may be reached than is ever called. Invariant: nothing is executed; an alias
(``import torch as t``, ``f = torch.matmul``) does not hide what a name means.

Example::

    wrapper = Wrapper.of(python, "op.py")
    wrapper.touches(wrapper.forward)                  # whether it may call what load_inline made
    [(wrapper.name(c.func), wrapper.span(c)) for c in wrapper.calls()]
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from specs.location import Span

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BUILDS = frozenset(("load_inline", "load", "_import_module_from_library"))
_ADDS = frozenset(("append", "extend", "insert", "add_module", "register_module", "update", "setdefault"))
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(slots=True)
class Wrapper:
    """``model``: the class ModelNew; ``forward``: its forward, or a base class's of the same file.

    ``reached``: functions and values that forward may use, forward first. ``definitions``: by plain name; ``members``: by
    attribute name (methods, values given to ``self.name``).
    """

    tree: ast.Module
    path: str
    aliases: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, list[ast.AST]] = field(default_factory=dict)
    members: dict[str, list[ast.AST]] = field(default_factory=dict)
    model: ast.ClassDef | None = None
    forward: Function | None = None
    reached: tuple[ast.AST, ...] = ()
    running: tuple[Function, ...] = ()
    """Functions that run when forward does, not only when the model is made."""
    roots: frozenset[str] = frozenset()
    _touching: dict[int, bool] = field(default_factory=dict)

    @staticmethod
    def of(text: str, path: str, model: str = "ModelNew") -> Wrapper | None:
        """None if this is no Python."""
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        wrapper = Wrapper(tree, path)
        wrapper._collect()
        classes = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == model]
        if classes:
            wrapper.model = classes[-1]
            wrapper.forward = wrapper._method(classes[-1], "forward", set())
        if wrapper.forward is not None:
            found = wrapper._closure([wrapper.forward]).values()
            wrapper.reached = tuple(node for node, _ in found)
            wrapper.running = tuple(node for node, runs in found if runs and isinstance(node, Function))
        return wrapper

    def span(self, node: ast.AST) -> Span:
        return Span(self.path, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)

    def name(self, node: ast.AST) -> str:
        """The dotted name, aliases followed: ``torch.nn.functional.relu``; ``.sum`` for an attribute of a value; else ""."""
        match node:
            case ast.Name(id=name):
                return self.aliases.get(name, "" if name in self.definitions else name)
            case ast.Attribute(value=owner, attr=attr):
                before = self.name(owner)
                known = before.partition(".")[0] in self.roots
                return f"{before}.{attr}" if known else f".{attr}"
            case ast.Call(func=func, args=[owner, ast.Constant(value=str(attr)), *_]):
                if self.name(func) == "getattr" and (before := self.name(owner)):
                    return f"{before}.{attr}"
        return ""

    def builds(self, node: ast.AST) -> bool:
        """Whether this is a call that makes the extension, or one of an operator library."""
        if isinstance(node, ast.Call):
            name = self.name(node.func)
            last = name.rpartition(".")[2]
            return last == "load_inline" or (last in _BUILDS and "cpp_extension" in name)
        if isinstance(node, ast.Attribute):
            name = self.name(node)
            return name.startswith("torch.ops.") and not name.startswith(("torch.ops.aten", "torch.ops.prim"))
        return False

    def touches(self, node: ast.AST | Sequence[ast.AST]) -> bool:
        """Whether what the extension made is used by it, or by anything that it may use."""
        nodes = list(node) if isinstance(node, Sequence) else [node]
        return any(self._touches(n) for n in nodes)

    def nodes(self, everywhere: bool = False) -> Iterator[ast.AST]:
        """All nodes of what is reached, or of the whole file."""
        if everywhere:
            yield from ast.walk(self.tree)
            return
        seen: set[int] = set()
        for root in self.reached:
            for node in ast.walk(root):
                if id(node) not in seen:
                    seen.add(id(node))
                    yield node

    def calls(self, everywhere: bool = False) -> Iterator[ast.Call]:
        return (n for n in self.nodes(everywhere) if isinstance(n, ast.Call))

    # --- how it is found ---

    def _collect(self) -> None:
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        top = alias.name.partition(".")[0]
                        self.aliases[alias.asname or top] = alias.name if alias.asname else top
                case ast.ImportFrom(module=module, names=names):
                    for alias in names:
                        self.aliases[alias.asname or alias.name] = f"{module or ''}.{alias.name}"
        self.roots = _MODULES | {n.partition(".")[0] for n in self.aliases.values()}
        for _ in range(3):  # aliases of aliases
            for node in ast.walk(self.tree):
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute):
                    name = self.name(node.value)
                    if name and not name.startswith(".") and name.partition(".")[0] in self.roots:
                        for target in node.targets:
                            if isinstance(target, ast.Name):
                                self.aliases[target.id] = name
        self._define(self.tree)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef):
                for item in node.body:
                    if isinstance(item, Function):
                        self.members.setdefault(item.name, []).append(item)

    def _define(self, scope: ast.AST) -> None:
        """Names of the module, of functions inside functions too; a class's own names are members."""
        for node in ast.walk(scope):
            if isinstance(node, _SCOPES):
                self.definitions.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                self._store(targets, node.value)
            elif isinstance(node, ast.AugAssign):
                self._store([node.target], node.value)
            elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
                self._store([node.target], node.iter)
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                self._store([node.optional_vars], node.context_expr)
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in _ADDS
            ):
                for argument in node.args:
                    self._store([node.func.value], argument)

    def _store(self, targets: Sequence[ast.AST], value: ast.AST) -> None:
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name) and part.id != "self":
                    self.definitions.setdefault(part.id, []).append(value)
                elif isinstance(part, ast.Attribute):
                    self.members.setdefault(part.attr, []).append(value)

    def _method(self, owner: ast.ClassDef, name: str, seen: set[str]) -> Function | None:
        for item in owner.body:
            if isinstance(item, Function) and item.name == name:
                return item
        for base in owner.bases:
            if isinstance(base, ast.Name) and base.id not in seen:
                for found in self.definitions.get(base.id, []):
                    if isinstance(found, ast.ClassDef) and found is not owner:
                        method = self._method(found, name, seen | {base.id})
                        if method is not None:
                            return method
        return None

    def _uses(self, node: ast.AST, running: bool) -> Iterator[tuple[ast.AST, bool]]:
        """Definitions whose names stand in ``node``, each with whether it runs with forward or only makes a value."""
        if isinstance(node, ast.ClassDef):
            made = (m for m in node.body if not (isinstance(m, ast.FunctionDef) and m.name == "__init__"))
            yield from ((m, True) for m in (*made, *node.decorator_list, *node.bases))
            return
        called = {id(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
        later = {id(n) for n in ast.walk(node) if isinstance(n, ast.Lambda) for n in ast.walk(n.body)}
        for part in ast.walk(node):
            found: list[ast.AST] = []
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                found = self.definitions.get(part.id, [])
            elif isinstance(part, ast.Attribute):
                found = self.members.get(part.attr, [])
            here = running or id(part) not in called or id(part) in later
            for definition in found:
                yield definition, here if isinstance(definition, Function) else False

    def _closure(self, roots: Sequence[ast.AST]) -> dict[int, tuple[ast.AST, bool]]:
        """Everything that is reached, with whether it runs with the roots."""
        found: dict[int, tuple[ast.AST, bool]] = {}
        todo = [(r, True) for r in roots]
        while todo:
            node, running = todo.pop(0)
            known = found.get(id(node))
            if known is None or (running and not known[1]):
                found[id(node)] = node, running
                todo += self._uses(node, running)
        return found

    def _touches(self, node: ast.AST) -> bool:
        if id(node) not in self._touching:
            self._touching[id(node)] = any(
                self.builds(part) for root, _ in self._closure([node]).values() for part in ast.walk(root)
            )
        return self._touching[id(node)]


_MODULES = frozenset(
    """
    torch numpy np os sys time inspect traceback gc threading multiprocessing concurrent asyncio subprocess builtins
    importlib pickle marshal base64 zlib codecs ctypes glob pathlib shutil socket urllib requests tempfile io functools
    math random json warnings types contextlib signal atexit queue hashlib binascii lzma bz2 platform weakref
    """.split()
)
