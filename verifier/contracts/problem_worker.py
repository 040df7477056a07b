"""The child that runs a problem file against the stub of torch: JSON on stdin -> JSON on stdout.

Each int that the module assigns at its top level becomes a named symbol; equal numbers stay different names.
``get_inputs()`` and ``get_init_inputs()`` are called; the model is never built.

Example: ``N = 2048`` and ``torch.randn(N, N)`` give the shape ``["N", "N"]``.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from typing import Any

from specs.clauses import FUNCTIONS
from verifier.contracts.torch_stub import Sym, Tensor, install, text_of

_WRAP = "__name_ints__"


class _Naming(ast.NodeTransformer):
    """After each top-level assignment, ``name = __name_ints__("name", name)`` for each name that it binds."""

    def visit_Module(self, node: ast.Module) -> ast.Module:
        body: list[ast.stmt] = []
        for statement in node.body:
            body.append(statement)
            for name in _bound(statement):
                wrapped = ast.parse(f"{name} = {_WRAP}({name!r}, {name})").body[0]
                body.append(ast.copy_location(wrapped, statement))
        node.body = body
        return node


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
            while self.values.get(name, value) != value:  # bound again: another size
                name += "_"
            self.values[name] = value
            return Sym(value, name)
        if (
            isinstance(value, list | tuple)
            and value
            and len(value) <= 16
            and all(type(v) in (int, Sym) for v in value)
        ):
            # a 1 inside a shape is there to broadcast, not a size that may grow
            items = [v if int(v) == 1 else self.wrap(f"{name}_{i}", v) for i, v in enumerate(value)]
            return items if isinstance(value, list) else tuple(items)
        return value


def describe(value: Any, bases: dict[int, int]) -> dict[str, Any]:
    """An argument as data. ``bases`` numbers the memory of tensors, so that shared memory is seen."""
    if isinstance(value, Tensor):
        shape = None if value.shape is None else [text_of(d) for d in value.shape]
        known = value.low is not None and value.high is not None and not value.base.changed
        content = [text_of(value.low), text_of(value.high)] if known else None  # type: ignore[arg-type]
        return {
            "kind": "tensor",
            "shape": shape,
            "sizes": None if value.shape is None else [int(d) for d in value.shape],
            "dtype": str(value.dtype),
            "content": content,
            "layout": value.layout,
            "memory": bases.setdefault(id(value.base), len(bases)),
            "whole": value.base is value,
        }
    if value is None:
        return {"kind": "none"}
    if isinstance(value, bool):
        return {"kind": "bool", "value": value}
    if isinstance(value, int):
        return {"kind": "int", "text": text_of(value), "value": int(value)}
    if isinstance(value, float):
        return {"kind": "float", "value": value}
    if isinstance(value, str):
        return {"kind": "text", "value": value}
    if isinstance(value, list | tuple) and len(value) <= 256:
        return {"kind": "list", "items": [describe(v, bases) for v in value]}
    if isinstance(value, dict) and len(value) <= 64 and all(isinstance(k, str) for k in value):
        return {"kind": "dict", "keys": list(value), "items": [describe(v, bases) for v in value.values()]}
    return {"kind": "other", "type": type(value).__name__}


def main() -> int:
    request = json.load(sys.stdin)
    names = Names()
    install()
    tree = ast.fix_missing_locations(_Naming().visit(ast.parse(request["text"], request["path"])))
    scope: dict[str, Any] = {_WRAP: names.wrap, "__name__": "problem", "__file__": request["path"]}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(tree, request["path"], "exec"), scope)
        inputs = scope["get_inputs"]() if "get_inputs" in scope else None
        init = scope["get_init_inputs"]() if "get_init_inputs" in scope else []
    bases: dict[int, int] = {}
    found = {
        "symbols": names.values,
        "inputs": None if inputs is None else [describe(v, bases) for v in inputs],
        "init": describe(init if isinstance(init, dict) else list(init), bases),
        "model": "Model" in scope,
    }
    json.dump(found, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
