"""What the user means by ``--reference``: text -> Reference, or ReferenceError with what to write instead.

``torch.nn.functional.gelu`` (an op file) · ``torch.nn.functional.gelu(x, approximate="tanh")`` (with options) ·
``torch.relu(x @ w + b)`` (an expression over the kernel's parameters) · ``refs.py:fused`` or ``package.module:fused``
(the user's own function, called with the inputs in order).
Invariant: nothing is evaluated here; an expression holds only names, numbers, strings, operators and ``torch.`` calls.

Example::

    parse("torch.softmax(x, dim=-1)", {"x"}).op.name     # "softmax", options {"dim": -1}
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specs.reference_ops import Op, Value, find, load


class BadReference(ValueError):
    """A reference that cannot be used; the message says what can."""


@dataclass(frozen=True, slots=True)
class Reference:
    """``op`` is set for op files, else ``wire`` is what the oracle gets. ``names``: an expression's inputs."""

    text: str
    op: Op | None = None
    options: dict[str, Value] = field(default_factory=dict)
    wire: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()


_ALLOWED = (
    ast.Expression, ast.Name, ast.Load, ast.Attribute, ast.Call, ast.keyword, ast.Constant, ast.BinOp, ast.UnaryOp,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.USub, ast.UAdd, ast.Tuple, ast.List, ast.Subscript,
    ast.Slice,
)  # fmt: skip


def parse(text: str, params: Collection[str]) -> Reference:
    """``params``: names of the kernel's parameters."""
    text = text.strip()
    if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)*", text) and text.partition(".")[0] not in params:
        op = find(text)
        if op is None:
            raise BadReference(f"no reference op for {text!r}; {_offer(text)}")
        return Reference(text, op)
    if re.fullmatch(r"[^():]*\.py:[A-Za-z_]\w*", text):
        path, _, function = text.rpartition(":")
        file = Path(path).resolve()
        if not file.is_file():
            raise BadReference(f"{path}: no such file")
        wire = {"kind": "function", "path": str(file), "function": function}
        return Reference(text, wire=wire)
    if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)*:[A-Za-z_]\w*", text):
        module, _, function = text.partition(":")
        return Reference(text, wire={"kind": "function", "module": module, "function": function})
    return _expression(text, params)


def files(text: str) -> tuple[Path, ...]:
    """What the oracle's process must be able to read for this reference: the folder of ``FILE.py:FUNCTION``."""
    found = re.fullmatch(r"([^():]*\.py):[A-Za-z_]\w*", text.strip())
    return (Path(found[1]).resolve().parent,) if found else ()


def _offer(text: str) -> str:
    tail = text.rpartition(".")[2].lower()
    near = sorted(name for name in load() if tail in name or name in tail)
    known = ", ".join(near) if near else ", ".join(sorted(load()))
    return f"known: {known}; or name your own function as FILE.py:FUNCTION"


def _expression(text: str, params: Collection[str]) -> Reference:
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadReference(
            f"{text!r} is neither a dotted name, FILE.py:FUNCTION nor an expression"
        ) from error
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED) or (isinstance(node, ast.Attribute) and node.attr.startswith("_")):
            raise BadReference(f"{ast.unparse(node)!r} may not stand in a reference: {text!r}")
    names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
    used = tuple(dict.fromkeys(n for n in names if n not in ("torch", "F")))
    body = tree.body
    if isinstance(body, ast.Call):
        op = find(re.sub(r"^F\.", "torch.nn.functional.", ast.unparse(body.func)))
        simple = all(isinstance(a, ast.Name) for a in body.args)
        if op is not None and simple:
            ours = [a.id for a in body.args if isinstance(a, ast.Name)]
            options = _options(op, body, text)
            if options is not None and (not set(ours) <= set(params) or _same_order(op, ours, params)):
                return Reference(text, op, options)
    missing = [n for n in used if n not in params]
    if missing:
        raise BadReference(
            f"{', '.join(missing)} in {text!r}: not a parameter of the kernel ({', '.join(params)})"
        )
    return Reference(text, wire={"kind": "expression", "text": text}, names=used)


def _same_order(op: Op, ours: list[str], params: Collection[str]) -> bool:
    """Whether the call names the kernel's parameters in the kernel's own order, as the op's binding would."""
    order = [p for p in params if p in ours]
    return order == ours


def _options(op: Op, call: ast.Call, text: str) -> dict[str, Value] | None:
    """Keyword constants; None when a keyword is a tensor (then it is an expression)."""
    options: dict[str, Value] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise BadReference(f"** may not stand in a reference: {text!r}")
        try:
            value = ast.literal_eval(keyword.value)
        except ValueError:
            return None
        if op.option(keyword.arg) is None:
            raise BadReference(
                f"{op.name} has no option {keyword.arg}; it has {', '.join(o.name for o in op.options)}"
            )
        options[keyword.arg] = tuple(value) if isinstance(value, list) else value
    return options


def suggest(kernel: str) -> str | None:
    """The dotted callable that a kernel's name suggests. Only ever a suggestion."""
    lowered = kernel.lower()
    best: tuple[int, str] | None = None
    for op in load().values():
        for word in op.words:
            if re.search(rf"(?:^|[^a-z]){re.escape(word)}(?:[^a-z]|$)", lowered) or (
                len(word) > 4 and word in lowered
            ):
                dotted = op.callables[0] if op.callables else op.name
                if best is None or len(word) > best[0]:
                    best = (len(word), dotted)
    return best[1] if best else None
