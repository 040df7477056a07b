"""The child that runs a problem file against the stub of torch: JSON on stdin -> JSON on stdout.

Each int that the module assigns at its top level becomes a named symbol; equal numbers stay different names, and a name that
is bound again is another symbol. ``get_inputs()`` and ``get_init_inputs()`` are called; the model is never built.

Invariant: a clause text that is told has the value that the file gives it; arguments that differ from call to call are not
told at all.

Example: ``N = 2048`` and ``torch.randn(N, N)`` give the shape ``["N", "N"]``.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import sys
import types
from typing import Any

from specs.clauses import FUNCTIONS, ClauseError, ClauseUndefined, evaluate, names
from verifier.contracts.stub_tensor import Tensor
from verifier.contracts.stub_values import WORLD, Sym, Unknown, escape, text_of
from verifier.contracts.torch_stub import importer, same_object

_WRAP, _SAME = "__name_ints__", "__same_object__"
_LONGEST = 400
"""Characters of a clause text; a longer one is told as its number."""


class _Naming(ast.NodeTransformer):
    """After each top-level assignment, ``name = __name_ints__("name", name)`` for each name that it binds.

    ``a is b`` becomes a call, since it decides without asking the values.
    """

    def visit_Module(self, node: ast.Module) -> ast.Module:
        body: list[ast.stmt] = []
        for statement in node.body:
            body.append(self.visit(statement))
            for name in _bound(statement):
                wrapped = ast.parse(f"{name} = {_WRAP}({name!r}, {name})").body[0]
                body.append(ast.copy_location(wrapped, statement))
        node.body = body
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot):
            return node
        name = ast.Name(_SAME, ast.Load())
        call: ast.expr = ast.Call(name, [node.left, *node.comparators], [])
        if isinstance(node.ops[0], ast.IsNot):
            call = ast.UnaryOp(ast.Not(), call)
        return ast.copy_location(call, node)


def _bound(statement: ast.stmt) -> list[str]:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = list(statement.targets)
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    names: list[str] = []
    while targets:
        target = targets.pop(0)
        if isinstance(target, ast.Name):
            names.append(target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            targets += target.elts
    return names


class Names:
    """The symbols made so far."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}

    def wrap(self, name: str, value: Any) -> Any:
        if type(value) is int:
            name = f"{name}_" if name in FUNCTIONS or not name.isascii() else name
            while name in self.values:
                name += "_"
            self.values[name] = value
            return Sym(value, name)
        if (
            type(value) in (list, tuple)
            and value
            and len(value) <= 16
            and all(type(v) in (int, Sym) for v in value)
        ):
            # a 1 inside a shape is there to broadcast, not a size that may grow
            items = [v if int(v) == 1 else self.wrap(f"{name}_{i}", v) for i, v in enumerate(value)]
            if type(value) is tuple:
                return tuple(items)
            value[:] = items  # the same list: other names of it see later changes
        return value

    def text(self, value: int, *, size: bool = False) -> str:
        """The clause text of an int, or its number where the text does not say it. Sizes are at least 1 in clauses."""
        text = text_of(value)
        try:
            exact = len(text) <= _LONGEST and evaluate(text, self.values) == int(value)
        except (ClauseError, ClauseUndefined):
            exact = False
        if not exact or (size and any(self.values[n] < 1 for n in names(text))):
            return str(int(value))
        return text


def describe(value: Any, bases: dict[int, int], known: Names) -> dict[str, Any]:
    """An argument as data. ``bases`` numbers the memory of tensors, so that shared memory is seen."""
    if isinstance(value, Tensor):
        return _tensor(value, bases, known)
    if value is None:
        return {"kind": "none"}
    if isinstance(value, bool):
        return {"kind": "bool", "value": value}
    if type(value) in (int, Sym):
        return {"kind": "int", "text": known.text(value), "value": int(value)}
    if type(value) is float:
        return {"kind": "float", "value": value}
    if type(value) is str:
        return {"kind": "text", "value": value}
    if type(value) in (list, tuple) and len(value) <= 256:
        return {"kind": "list", "items": [describe(v, bases, known) for v in value]}
    if type(value) is dict and len(value) <= 64 and all(type(k) is str for k in value):
        return {
            "kind": "dict",
            "keys": list(value),
            "items": [describe(v, bases, known) for v in value.values()],
        }
    escape([value], keeps_lists=True)
    return {"kind": "other", "type": type(value).__name__}


def _tensor(value: Tensor, bases: dict[int, int], known: Names) -> dict[str, Any]:
    memory, shape = value._memory, value._shape
    if memory.wild or shape is None:
        # of wild memory, every tensor may share that of every other
        number = bases.setdefault(0 if memory.wild else id(memory), len(bases))
        dtype = "" if memory.wild else value._dtype
        return {"kind": "tensor", "shape": None, "dtype": dtype, "memory": number, "whole": False}
    content = None
    if value._low is not None and value._high is not None and not memory.changed:
        content = [known.text(value._low), known.text(value._high)]
    return {
        "kind": "tensor",
        "shape": [known.text(d, size=True) for d in shape],
        "sizes": [int(d) for d in shape],
        "dtype": value._dtype,
        "content": content,
        "layout": value._layout,
        "memory": bases.setdefault(id(memory), len(bases)),
        "whole": value._whole,
    }


def _arguments(scope: dict[str, Any], known: Names) -> dict[str, Any]:
    """What one call of ``get_inputs()`` and ``get_init_inputs()`` gives."""
    inputs = scope["get_inputs"]() if "get_inputs" in scope else None
    init = scope["get_init_inputs"]() if "get_init_inputs" in scope else []
    if type(inputs) not in (list, tuple, type(None)) or type(init) not in (list, tuple, dict):
        raise TypeError("get_inputs() and get_init_inputs() give no list that is known")
    for _ in range(2):  # what is found on the way may take away what was told before it
        bases: dict[int, int] = {}
        found = {
            "inputs": None if inputs is None else [describe(v, bases, known) for v in inputs],
            "init": describe(init, bases, known),
        }
    return found


def _lost(found: dict[str, Any], why: str) -> dict[str, Any]:
    other = {"kind": "other", "type": "not followed", "value": why}
    inputs = found["inputs"]
    init = {**found["init"], "items": [other for _ in found["init"]["items"]]}
    return {"inputs": inputs and [other for _ in inputs], "init": init}


def read(text: str, path: str) -> dict[str, Any]:
    known = Names()
    tree = ast.fix_missing_locations(_Naming().visit(ast.parse(text, path)))
    module = types.ModuleType("problem")
    sys.modules["problem"] = module  # dataclasses look there
    scope = vars(module)
    scope |= {
        _WRAP: known.wrap,
        _SAME: same_object,
        "__file__": path,
        "__builtins__": {**vars(builtins), "__import__": importer()},
    }
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(tree, path, "exec"), scope)
        found = _arguments(scope, known)
        if _arguments(scope, known) != found:
            WORLD.lose("get_inputs() gives something else at each call")
        if isinstance(scope.get("get_inputs"), Unknown):
            WORLD.lose("get_inputs() is not known")
    if WORLD.lost:
        found = _lost(found, WORLD.lost)
    return {"symbols": known.values, **found, "model": "Model" in scope}


def main() -> int:
    request = json.load(sys.stdin)
    json.dump(read(request["text"], request["path"]), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
