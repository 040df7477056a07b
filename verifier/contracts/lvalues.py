"""What can be read off an expression of host code without evaluating it.

Example: the roots of ``p->sizes[i]`` are ``{p}``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from verifier.frontend.host import Node

COMPARES = ("<", ">", "<=", ">=", "==", "!=")


def roots(node: Node | None) -> tuple[str, ...]:
    """The variables that an lvalue may be a part of, or reach through a pointer; in the order of the text."""
    if node is None:
        return ()
    parts: list[Node | None]
    match node["k"]:
        case "var":
            return (node["id"],)
        case "this":
            return ("this",)
        case "member":
            return roots(node["base"])
        case "index" | "cast" | "un":
            return roots(node["a"])
        case "bin" | "cond":
            parts = [node["a"], node["b"]]
        case "method":
            parts = [node["base"], *node["args"]]
        case "call" | "operator" | "construct" | "unknown" | "init":
            parts = [node.get("callee"), *(node.get("args") or node.get("items") or [])]
        case _:
            return ()
    return tuple(dict.fromkeys(root for part in parts for root in roots(part)))


def through_call(node: Node | None) -> bool:
    """Whether an lvalue is (a part of) what a function or lambda returns: a reference to anything."""
    if node is None:
        return False
    match node["k"]:
        case "call":
            return True
        case "operator":
            return node["name"].endswith("operator()") or through_call(
                node["args"][0] if node["args"] else None
            )
        case "member" | "method":
            return "fn" in node or through_call(node["base"])
        case "index" | "cast" | "un":
            return through_call(node["a"])
        case "cond":
            return through_call(node["a"]) or through_call(node["b"])
    return False


def own_call(node: Node) -> bool:
    """Whether an lvalue is (a part of) what a function or a lambda of the host code returns."""
    node = plain(node)
    match node["k"]:
        case "call":
            return not node["name"].startswith(("std::", "at::", "c10::"))
        case "operator":
            return node["name"].endswith("operator()") or (bool(node["args"]) and own_call(node["args"][0]))
        case "member" | "method":
            return "fn" in node or (node["base"] is not None and own_call(node["base"]))
        case "index" | "un":
            return own_call(node["a"])
        case "cond":
            return own_call(node["a"]) or own_call(node["b"])
    return False


def own_reference(node: Node) -> bool:
    """Whether it names (a part of) what a function of the host code returns a reference to."""
    node = plain(node)
    match node["k"]:
        case "call" | "operator" | "method" if node.get("lvalue") and own_call(node):
            return True
        case "member" | "method":
            return node["base"] is not None and own_reference(node["base"])
        case "index" | "un":
            return own_reference(node["a"])
        case "operator":
            return bool(node["args"]) and own_reference(node["args"][0])
        case "cond":
            return own_reference(node["a"]) or own_reference(node["b"])
    return False


_READING = ("==", "!=", "<", ">", "<=", ">=", "+", "-", "/", "%", "[]", "!", "*", "->", "bool")
"""Overloaded operators of the libraries that change nothing."""
_CHANGING = frozenset(
    "push_back emplace_back emplace pop_back clear resize insert erase fill assign swap reset release get set def "
    "impl synchronize set_device backward save_for_backward".split()
)


def pure(node: Node) -> bool:
    """Whether evaluating it can change nothing and does not launch (the right side of && may then be evaluated)."""
    match node["k"]:
        case "un":
            own = node["op"] not in ("++", "--", "p++", "p--")
        case "bin":
            own = not (node["op"].endswith("=") and node["op"] not in COMPARES)
        case "call" if node.get("name") == "std::get" and "fn" not in node:  # of a variant it may throw
            holder = str(node["args"][0].get("t", "")).removeprefix("const ")
            own = holder.startswith(("std::tuple<", "std::pair<", "std::array<"))
        case "call" | "launch" | "lambda" | "throw" | "new" | "unknown" | "refused":
            own = False
        case "operator":
            own = "fn" not in node and reading(node)
        case "method":
            # size() throws for a dim that is not there
            own = "fn" not in node and node["name"].split("::")[-1] != "size" and not changing(node)
        case "construct":
            own = not node.get("own")
        case _:
            own = True
    return own and all(pure(child) for child in children_of(node))


def reading(node: Node) -> bool:
    """Whether an overloaded operator of a library changes nothing."""
    return node["name"].split("operator")[-1].strip() in _READING


def changing(node: Node) -> bool:
    """Whether a method of a library may change its object."""
    name = node["name"].split("::")[-1]
    return name.endswith("_") or name in _CHANGING


def children_of(node: Node) -> Iterator[Node]:
    """The expressions that it is made of; not the body of a lambda."""
    for key, value in node.items():
        if key not in ("s", "body", "params"):
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict) and "k" in item:
                    yield item


@lru_cache(maxsize=4096)
def holds_reference(type_: str) -> bool:
    """Whether an object of this type is another name for a variable: ``std::tuple<int &>``, ``std::reference_wrapper<int>``.

    A function type may have them among its parameters: ``std::function<void (int &)>``.
    """
    if "reference_wrapper<" in type_:
        return True
    angles = parentheses = 0
    for character in type_ if "&" in type_ else "":
        angles += (character == "<") - (character == ">")
        parentheses += (character == "(") - (character == ")")
        if character == "&" and angles and not parentheses:
            return True
    return False


def decays(node: Node) -> bool:
    """Whether it is an array that becomes a pointer to its first element."""
    pointer = node["t"].endswith("*") or "(*)" in node["t"]
    return node["k"] == "cast" and pointer and str(node["a"].get("t", "")).endswith("]")


def handed_on(node: Node) -> Node:
    """What ``std::move(x)`` and the like are another name of."""
    while node["k"] == "call" and node["name"] in ("std::move", "std::forward", "std::as_const"):
        node = node["args"][0]
    return node


def gives_away(node: Node) -> bool:
    """Whether it is ``std::move(x)``, or ``std::forward`` of what is no lvalue: x may be left without its contents."""
    return node["k"] == "call" and node["name"] in ("std::move", "std::forward") and not node.get("lvalue")


def plain(node: Node) -> Node:
    """Without conversions."""
    while node["k"] == "cast":
        node = node["a"]
    return node


def unchanging(node: Node) -> bool:
    """Whether an initialiser is a compile-time constant, so that it does not matter which call evaluates it."""
    match node["k"]:
        case "int" | "float" | "str" | "enum" | "null" | "function" | "default":
            return True
        case "var":
            return "v" in node or "shim" in node
        case "cast" | "bin" | "un" | "cond" | "init" | "index":
            return pure(node) and all(unchanging(child) for child in children_of(node))
        case "construct":
            return not node.get("own") and all(unchanging(a) for a in node["args"])
        case "lambda":
            return not node["captures"]
    return False
