"""What the parser keeps only as text: the arguments of ``__launch_bounds__``, explicit instantiations of templates.

Input -> output: text, the kernel and its template arguments -> integers; raises Refused where a name is not constant.

Example: ``constant_list("TILE * 32, 2", node, ("8",))`` -> ``(256, 2)`` for ``template <int TILE>``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

from verifier.frontend.device_clang import Node
from verifier.frontend.device_types import Refused

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv,
    ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip


_EXPLICIT = re.compile(r"\btemplate\s+(?!\s*<)[^;{}()<]*\b__global__\b[^;{}()<]*?([A-Za-z_][\w:]*)\s*<")


def explicit_instantiations(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """(template, arguments) of every ``template __global__ void k<float>(…);`` of the text."""
    found = []
    for start in _EXPLICIT.finditer(text):
        open_, arguments, at = ["<"], [""], start.end()
        while at < len(text) and open_:
            char = text[at]
            if char in "<(" and not (char == "<" and open_[-1] == "("):
                open_.append(char)
            elif (open_[-1], char) in (("<", ">"), ("(", ")")):
                open_.pop()
            if char == "," and open_ == ["<"]:
                arguments.append("")
            elif open_:
                arguments[-1] += char
            at += 1
        if text[at:].lstrip().startswith("("):
            found.append((start[1], tuple(" ".join(argument.split()) for argument in arguments)))
    return found


def constant_list(text: str, node: Node, arguments: tuple[str, ...]) -> tuple[int, ...]:
    names = _template_values(node, arguments)
    try:
        tree = ast.parse(f"({text},)", mode="eval").body
        assert isinstance(tree, ast.Tuple)
        return tuple(_value(item, node, names) for item in tree.elts)
    except (SyntaxError, ValueError, ZeroDivisionError):
        raise Refused("launch bounds", text, node.name_span) from None


def _template_values(node: Node, arguments: tuple[str, ...]) -> dict[str, int]:
    parameters = [
        child for child in node.template.children if "TEMPLATE" in child.kind and "PARAMETER" in child.kind
    ]
    values: dict[str, int] = {}
    for number, parameter in enumerate(parameters):
        if number < len(arguments):
            if arguments[number].strip().isdigit():
                values[parameter.spelling] = int(arguments[number])
        else:
            default = [child for child in parameter.operands if child.evaluate() is not None]
            if default:
                values[parameter.spelling] = int(default[-1].evaluate() or 0)
    return values


def _value(tree: ast.expr, node: Node, names: dict[str, int]) -> int:
    match tree:
        case ast.Constant(value=int() as value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name):
            return _global(node, name)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            a, b = _value(left, node, names), _value(right, node, names)
            if a < 0 or b < 0 or b > 1 << 20:
                raise ValueError
            return _OPERATORS[type(op)](a, b)
    raise ValueError


def _global(node: Node, name: str) -> int:
    found = [
        child.evaluate()
        for child in node.unit.root.children
        if child.kind == "VAR_DECL" and child.spelling == name and child.type.const
    ]
    if len(found) == 1 and isinstance(found[0], int):
        return found[0]
    raise ValueError
