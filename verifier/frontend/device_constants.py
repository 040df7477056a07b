"""What the parser keeps only as text: the arguments of ``__launch_bounds__``, explicit instantiations of templates.

Input -> output: text, the kernel and its template arguments -> integers; raises Refused where a name is not constant.
What is more than arithmetic of plain constants (``Traits<T>::block``, ``a < b ? a : b``) the parser is asked for, by a
variable that is put behind the text (``bound_probe``).

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


def bounds_text(node: Node) -> str | None:
    """The arguments of the function's ``__launch_bounds__``, if it has any."""
    prefix = "launch_bounds "
    for child in node.children:
        if child.kind == "ANNOTATE_ATTR" and child.spelling.startswith(prefix):
            return child.spelling.removeprefix(prefix)
    return None


def bound_probe(
    number: int, kernel: Node, qualified: str, arguments: tuple[str, ...], text: str
) -> list[str]:
    """Lines that make ``vk_bound_{number}`` the first launch bound of the kernel, or none where that is not possible.

    ``kernel``: the function, or its template; the bound is written where the kernel stands, under the same template head.
    """
    bounds = bounds_text(kernel)
    head = _template_head(text, kernel.extent[0]) if kernel.kind == "FUNCTION_TEMPLATE" else ""
    if bounds is None or head is None or not _BOUND.fullmatch(bounds):
        return []
    *scopes, _ = qualified.split("::")
    open_, close = "".join(f"namespace {s} {{ " for s in scopes), " }" * len(scopes)
    holder = f"vk_bounds_{number}"
    value = f"static constexpr long long value = ::vk_first_bound({bounds});"
    where = "::".join([*scopes, holder]) + (f"<{', '.join(arguments)}>" if head else "")
    return [
        f"{open_}{head} struct {holder} {{ {value} }};{close}",
        f"constexpr long long vk_bound_{number} = {where}::value;",
    ]


FIRST_BOUND = "constexpr long long vk_first_bound(long long a, long long = 0, long long = 0) { return a; }"
_BOUND = re.compile(r"[\w\s:<>,+*/%?()&|=!.-]+")


def _template_head(text: str, start: int) -> str | None:
    """``template <…>`` at this place."""
    opened = re.compile(r"template\s*<").match(text, start)
    open_ = ["<"]
    for at in range(opened.end(), len(text)) if opened else ():
        if text[at] in ";{}":
            return None
        if text[at] == "(" or (text[at] == "<" and open_[-1] == "<"):
            open_.append(text[at])
        elif open_[-1] + text[at] in ("<>", "()"):
            open_.pop()
        if not open_:
            return text[start : at + 1]
    return None


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
