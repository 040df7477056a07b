"""Every store in an expression of host code is followed just once.

What a library call means is written down call by call, and not every one looks at all of its arguments. A store in an
argument that nobody looked at (``std::to_string(n++)``), or that two looked at, would be wrong in silence: each
expression is checked when it has been evaluated.

Example: the stores of ``f(n++) + (a && b = 3)`` are the call of ``f`` and ``n++``; ``b = 3`` is one of the operand of
``&&``, which need not be evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from verifier.contracts.calls import is_code, reads_only
from verifier.contracts.effects import assigned_variables
from verifier.contracts.inert import touches
from verifier.contracts.lvalues import changing, children_of, plain, reading
from verifier.contracts.run import Refused
from verifier.frontend.host import Node

if TYPE_CHECKING:
    from verifier.contracts.memory import Memory


@contextmanager
def accounted(host: Memory, node: Node) -> Iterator[None]:
    """Around the evaluation of an expression, or of an operand that may be left out."""
    due: list[Node] = host.code.remember("stores", node, lambda: list(stores(node)))
    outer = {id(store): host.met.get(id(store)) for store in due}
    host.met.update(dict.fromkeys(outer, 0))
    try:
        yield
        for store in due:
            if host.met[id(store)] != 1:
                raise Refused(f"{host.span(store)}: a store inside of an expression that is not followed")
    finally:
        for key, times in outer.items():
            if times is None:
                del host.met[key]
            else:
                host.met[key] += times


def stores(node: Node) -> Iterator[Node]:
    """The parts of an expression that may change something and are evaluated if it is."""
    if node["k"] == "lambda" or node.get("name") == "vk::asserted":
        return
    if is_store(node):
        yield node
    match node["k"]:
        case "bin" if node["op"] in ("&&", "||"):
            parts = [node["a"]]
        case "cond":
            parts = [node["c"]]
        case _:
            parts = list(children_of(node))
    for part in parts:
        yield from stores(part)


def is_store(node: Node) -> bool:
    """Whether an expression may change something itself, its operands aside."""
    if "runs" in node or (node["k"] != "launch" and any(map(is_code, map(plain, node.get("args", ()))))):
        return True  # what it is given may be called
    match node["k"]:
        case "un":
            return node["op"] in ("++", "--", "p++", "p--")
        case "bin":
            return node["op"].endswith("=") and node["op"] not in ("<", ">", "<=", ">=", "==", "!=")
        case "launch" | "new" | "refused":
            return True
        case "call":
            return "fn" in node or not node["name"] or not reads_only(node["name"])
        case "operator":
            return "fn" in node or not reading(node)
        case "construct":
            return "own" in node
        case "method":
            return "fn" in node or changing(node)
    return False


def idle(host: Memory, node: Node) -> bool:
    """Whether it makes no difference if an expression is evaluated: it stores to no variable that is there, and its calls
    do nothing on the device."""
    if not list(stores(node)):
        return True
    present = {g["id"] for g in host.code.globals}
    running = [host.code.functions[usr] for usr in host.stack if usr in host.code.functions]
    for cell in assigned_variables(host, [node]):
        if cell in present or _line(cell) is None or any(declared_in(cell, f) for f in running):
            return False
    return not touches(host.code, node, frozenset())


def declared_in(cell: str, function: Node) -> bool:
    """Whether a variable is declared in a function of the host code."""
    first, last = function["lines"]
    line = _line(cell)
    return line is not None and bool(first <= line <= last)


def _line(cell: str) -> int | None:
    """The line that a variable of a function is named by; a global is named by its USR (``c:@kThreads``)."""
    line = cell.rpartition("@")[2].partition(":")[0]
    return int(line) if "@" in cell and line.isdecimal() else None
