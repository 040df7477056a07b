"""What can be read off an expression of host code without evaluating it.

Example: the roots of ``p->sizes[i]`` are ``{p}``.
"""

from __future__ import annotations

from verifier.frontend.host import Node

COMPARES = ("<", ">", "<=", ">=", "==", "!=")


def roots(node: Node | None) -> set[str]:
    """The variables that an lvalue may be a part of, or reach through a pointer."""
    if node is None:
        return set()
    match node["k"]:
        case "var":
            return {node["id"]}
        case "member":
            return roots(node["base"])
        case "index" | "cast" | "un":
            return roots(node["a"])
        case "bin":
            return roots(node["a"]) | roots(node["b"])
        case "cond":
            return roots(node["a"]) | roots(node["b"])
        case "method":
            return roots(node["base"]).union(*(roots(a) for a in node["args"]))
        case "call" | "operator" | "construct" | "unknown" | "init":
            parts = node.get("args") or node.get("items") or []
            return roots(node.get("callee")).union(*(roots(a) for a in parts))
    return set()


def pure(node: Node) -> bool:
    """Whether evaluating it can change nothing and does not launch (the right side of && may then be evaluated)."""
    match node["k"]:
        case "un":
            return node["op"] not in ("++", "--", "p++", "p--") and pure(node["a"])
        case "bin":
            return (
                not (node["op"].endswith("=") and node["op"] not in COMPARES)
                and pure(node["a"])
                and pure(node["b"])
            )
        case "call" | "launch" | "lambda" | "throw":
            return False
        case "method":
            name = node["name"].split("::")[-1]
            if name == "size":  # throws for a dim that is not there
                return False
            return not name.endswith("_") and (node["base"] is None or pure(node["base"]))
        case _:
            return True


def plain(node: Node) -> Node:
    """Without conversions."""
    while node["k"] == "cast":
        node = node["a"]
    return node
