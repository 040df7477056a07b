"""Which variables a piece of host code may change, without running it.

What the tree alone says (``Effects``) is computed once; through which names and pointers it reaches other variables
depends on the path, and is added by ``assigned_variables``.

Example: ``n += 1; f(&m);`` assigns ``n`` and ``m``, and takes the address of ``m``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from verifier.contracts.calls import by_value, changes_nothing
from verifier.contracts.lvalues import decays, gives_away, plain, pure, roots
from verifier.contracts.objects import THIS, Address, Function, Items, Iterator, Record
from verifier.contracts.run import Refused
from verifier.contracts.values import dtype_of
from verifier.frontend.host import HostCode, Node

if TYPE_CHECKING:
    from verifier.contracts.memory import Memory

_OPERATORS = ("=", "+=", "-=", "*=", "/=", "<<", ">>")
_METHODS = frozenset(
    "push_back emplace_back pop_back clear resize insert erase data begin end at front back fill assign swap reset "
    "emplace".split()
)


@dataclass(slots=True)
class Effects:
    """By declaration: variables ``assigned``, those ``taken`` by pointer or another name, those ``named`` at all.

    ``through``: pointers through which something is stored. ``called``: objects of which an ``operator()`` is called.
    ``indirect``: something is called through a variable.
    Dicts are ordered sets: names are given out in their order.
    """

    assigned: dict[str, None] = field(default_factory=dict)
    taken: dict[str, None] = field(default_factory=dict)
    named: dict[str, None] = field(default_factory=dict)
    called: dict[str, None] = field(default_factory=dict)
    through: dict[str, None] = field(default_factory=dict)
    indirect: bool = False


def effects(code: HostCode, node: Node) -> Effects:
    """Of a statement or expression, with the host functions that it calls."""
    found: Effects = code.remember("effects", node, lambda: _effects(code, node))
    return found


def _effects(code: HostCode, start: Node) -> Effects:
    out = Effects()
    seen: set[str] = set()
    bound: dict[tuple[str, str], None] = {}
    """(parameter, variable): the parameter is a reference to it, or to a part of it."""

    def root(node: Node | None, named: bool = False) -> None:
        found = dict.fromkeys(roots(node))
        out.assigned.update(found)
        if named:
            out.taken.update(found)

    def walk(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item)
            return
        if not isinstance(node, dict):
            return
        match node.get("k"):
            case "var" if "id" in node:
                out.named[node["id"]] = None
            case "this":
                root(node, True)
            case "member" if node["base"] is not None and node["base"]["k"] == "this":
                out.named[THIS] = None
                return
            case "index" if decays(node["a"]):
                walk(node["a"]["a"])
                walk(node["i"])
                return
            case "cast" if decays(node):
                root(node["a"], True)
            case "decl":
                for variable in node["vars"]:
                    if variable["ref"] and not variable.get("const_ref"):
                        root(variable["init"], True)
                    elif variable["ref"]:  # const may be cast away
                        bound.update(((variable["id"], cell), None) for cell in roots(variable["init"]))
            case "range" if node.get("var") and node["var"]["ref"] and not node["var"]["const_ref"]:
                root(node["a"])
            case "bin" if node["op"].endswith("=") and node["op"] not in ("<=", ">=", "==", "!="):
                store(node["a"])
            case "un" if node["op"] in ("++", "--", "p++", "p--"):
                store(node["a"])
            case "un" if node["op"] == "&":
                root(node["a"], True)
            case "method" if node["base"] is not None and not node["name"].startswith("at::Tensor"):
                method(node)
            case "operator":
                operator(node)
            case "call" | "construct":
                called(node)
            case "unknown":
                root(node, True)
        for key, value in node.items():
            if key != "s":
                walk(value)

    def store(node: Node) -> None:
        inside = node
        while inside["k"] == "member" and inside["base"] is not None and not _is_pointer(inside["base"]):
            inside = inside["base"]
        pointer = inside.get("base" if inside["k"] == "member" else "a")
        if inside["k"] in ("member", "index") or (inside["k"] == "un" and inside["op"] == "*"):
            if pointer is not None and _is_pointer(pointer):
                out.through.update(dict.fromkeys(roots(pointer)))
                return
        root(node)

    def method(node: Node) -> None:
        name, foreign = node["name"].split("::")[-1], node["name"].startswith("vk::unknown")
        if foreign or name in _METHODS or ("fn" in node and not _only_looks(code, node)):
            root(node["base"], True)
        if foreign or name == "swap":
            for argument in node["args"]:
                root(argument)
        called(node)

    def operator(node: Node) -> None:
        name = node["name"].split("operator")[-1].strip()
        if name in _OPERATORS:
            root(node["args"][0])
        if name == ">>":  # out of a stream
            root(node["args"][-1])
        called(node)

    def called(node: Node) -> None:
        name, arguments = str(node.get("name", "")), node["args"]
        target = node.get("callee")
        if name.endswith("operator()"):
            target, *arguments = arguments
            out.called.update(dict.fromkeys(roots(target)))
        if target is not None:
            out.indirect = True
        if gives_away(node) and dtype_of(node.get("t", "")) is None:
            root(arguments[0])
        for usr in node.get("runs", ()):
            if usr not in seen and usr in code.functions:
                seen.add(usr)
                walk(code.functions[usr]["body"])
        if "own" in node:  # an object that may hold references
            for argument in arguments:
                root(argument, True)
        if "fn" in node:
            function = code.functions.get(node["fn"])
            params = function["params"] if function is not None else []
            if node["k"] == "operator" and len(arguments) == len(params) + 1:  # the object is no parameter
                params = [{"ref": True, "const": False}, *params]
            seen_through = node["k"] == "call" and function is not None and _whole(code, function)
            for index, argument in enumerate(arguments):
                if index < len(params) and not params[index]["ref"]:
                    continue
                if index < len(params) and params[index]["const"] and not seen_through:
                    continue
                if index < len(params) and seen_through:
                    bound.update(((params[index]["id"], cell), None) for cell in roots(argument))
                else:
                    root(argument)
            if node["fn"] not in seen and function is not None:
                seen.add(node["fn"])
                walk(function["body"])
        elif (target is not None and not by_value(target) and not _takes_values(target["t"])) or (
            node["k"] == "call" and name and not changes_nothing(name)
        ):
            for argument in arguments:
                root(argument)

    walk(start)
    more = True
    while more:
        more = False
        for param, cell in bound:
            for group in (out.assigned, out.taken, out.called, out.through):
                if param in group and cell not in group:
                    group[cell], more = None, True
    return out


def _whole(code: HostCode, function: Node) -> bool:
    """Whether the tree of a function says everything that it does."""
    first, last = function["lines"]
    return function["body"] is not None and not any(first <= line <= last for _, _, line in code.errors)


def _only_looks(code: HostCode, node: Node) -> bool:
    """Whether a method is const, calls no other code, and takes no address and no cast of its object."""
    function = code.functions.get(node["fn"])

    def acts(part: Any) -> bool:
        if isinstance(part, list):
            return any(map(acts, part))
        if not isinstance(part, dict):
            return False
        kind = part.get("k")
        if kind in ("lambda", "unknown", "refused", "new") or "fn" in part or part.get("explicit"):
            return True
        if kind == "member" and part["base"] is not None and part["base"]["k"] == "this":
            return False
        own = kind == "this" or (kind == "un" and part["op"] == "&")
        return own or any(acts(v) for k, v in part.items() if k != "s")

    return bool(node.get("const")) and function is not None and not acts(function["body"])


def _takes_values(type_: str) -> bool:
    """Whether a pointer to a function, or a function object, of this type has no reference among its parameters."""
    return ("(*)(" in type_ or type_.startswith("std::function<")) and "&" not in type_


def _keeps_nothing(host: Memory, value: Any) -> bool:
    """Whether a call of this leaves it as it is: a function, or a lambda that does not change its copies of variables."""
    if not isinstance(value, Function) or not value.captured:
        return isinstance(value, Function)
    found = effects(host.code, value.node["body"] or {})
    return not any(cell in found.assigned or cell in found.taken for cell in value.captured)


def _is_pointer(node: Node) -> bool:
    """Whether this is a pointer that a variable or member holds, in distinction from an array."""
    node = plain(node)
    return node["k"] in ("var", "member") and str(node["t"]).endswith("*")


def assigned_variables(
    host: Memory,
    nodes: list[Node],
    taken: dict[str, None] | None = None,
    through: dict[str, None] | None = None,
) -> dict[str, None]:
    """Cells that the code may assign on this path: also through references, pointers and lambdas that are around.

    ``taken`` collects those of which the code makes a pointer or another name; ``through`` pointers that stay the same,
    while what they point to is changed.
    """
    found: dict[str, None] = {}

    def cell_of(identity: str) -> str:
        return host.named(identity).cell

    def targets(value: Any) -> None:
        match value:
            case Address(cell=cell) if cell not in found:
                found[cell] = None
                targets(host.cells.get(cell))
            case Iterator(place=place) if place is not None:
                found[place.cell] = None
            case Items(items=items):
                for item in items:
                    targets(item)
            case Record(fields=fields):
                for item in fields.values():
                    targets(item)

    parts = [effects(host.code, n) for n in nodes]
    if any(p.indirect for p in parts):  # any lambda that is around may run
        for value in list(host.cells.values()):
            if isinstance(value, Function) and value.node is not None and value.node.get("body") is not None:
                parts.append(effects(host.code, value.node["body"]))
    for part in parts:
        for identity in part.named:  # a store through it may change what it points to
            targets(host.cells.get(cell_of(identity)))
    for part in parts:
        found.update(dict.fromkeys(map(cell_of, part.assigned)))
        found.update(
            (c, None) for c in map(cell_of, part.called) if not _keeps_nothing(host, host.cells.get(c))
        )
        (found if through is None else through).update(dict.fromkeys(map(cell_of, part.through)))
        if taken is not None:
            taken.update(dict.fromkeys(map(cell_of, part.taken)))
    return found


def in_any_order(host: Memory, parts: list[Node], node: Node) -> None:
    """Operands and arguments are evaluated in an order that C++ (or its older versions) leave open."""
    parts = [p for p in parts if plain(p)["k"] != "lambda"]
    if len(parts) > 1 and not all(map(pure, parts)) and order_matters(host, parts):
        raise Refused(f"{host.span(node)}: what depends on the order of evaluation")


def order_matters(host: Memory, parts: list[Node]) -> bool:
    """Whether one part changes what another reads: C++ does not say which is evaluated first."""
    changed = [set() if pure(p) else set(assigned_variables(host, [p])) for p in parts]
    named = [set(effects(host.code, p).named) | cells for p, cells in zip(parts, changed, strict=True)]
    return any(cells & others for i, cells in enumerate(changed) for j, others in enumerate(named) if i != j)
