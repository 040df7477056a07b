"""Host code that need not be followed: what ends the program, and what has nothing to do with the device.

Read off the tree alone. Every answer errs on the side of following the code.

Example: a loop that compares two host arrays and counts differences ``touches`` nothing; one with a launch does.
"""

from __future__ import annotations

from typing import Any

from verifier.contracts.values import dtype_of
from verifier.frontend.host import HostCode, Node

_QUIET = frozenset(
    "cudaGetLastError cudaPeekAtLastError cudaGetErrorString cudaGetErrorName cudaDeviceSynchronize cudaEventRecord "
    "cudaEventSynchronize cudaEventElapsedTime".split()
)
_STRINGS = frozenset(
    "strchr strrchr strstr strcmp strncmp strcasecmp strncasecmp strspn strcspn memcmp".split()
)
"""Functions of the C library that only read what they get."""
_LOOPS = ("for", "while", "do", "range")


def dies(node: Node) -> bool:
    """Whether a statement surely ends the program (or throws), without a launch and without another way out."""
    if node["k"] == "block":
        return bool(node["body"]) and dies(node["body"][-1]) and not goes_on(node)
    if node["k"] != "expr":
        return False
    inner = node["a"]
    return inner["k"] == "throw" or inner.get("name") in (
        "exit",
        "std::exit",
        "abort",
        "std::abort",
        "vk::fail",
    )


def goes_on(node: object) -> bool:
    """Whether something in it launches, calls host code, or leaves by another way than its last statement."""
    if isinstance(node, list):
        return any(goes_on(n) for n in node)
    if isinstance(node, dict):
        kind = node.get("k")
        if kind in ("launch", "return", "break", "continue", "try", "lambda", "refused") or (
            kind == "unknown" and "t" not in node
        ):
            return True
        if kind in ("call", "method", "operator") and ("fn" in node or not node.get("name")):
            return True
        return any(goes_on(v) for k, v in node.items() if k != "s")
    return False


def ways_out(node: Any, inside: bool) -> bool:
    """Whether control may leave a statement otherwise than at its end (or by ending the program)."""
    if isinstance(node, list):
        return any(ways_out(n, inside) for n in node)
    if not isinstance(node, dict):
        return False
    match node.get("k"):
        case "return":
            return True
        case "break" | "continue":
            return not inside
        case "try":
            return True
    inside = inside or node.get("k") in _LOOPS
    return any(ways_out(v, inside) for k, v in node.items() if k != "s")


def has_loop(node: Any) -> bool:
    if isinstance(node, list):
        return any(has_loop(n) for n in node)
    if isinstance(node, dict):
        return node.get("k") in _LOOPS or any(has_loop(v) for k, v in node.items() if k != "s")
    return False


def touches(code: HostCode, node: Any, shared: frozenset[str], seen: set[str] | None = None) -> bool:
    """Whether code, or a function that it calls, launches, checks, changes tensors or device memory, holds something not
    understood, or names a ``shared`` variable."""
    seen = set() if seen is None else seen
    if isinstance(node, list):
        return any(touches(code, n, shared, seen) for n in node)
    if not isinstance(node, dict):
        return False
    match node.get("k"):
        case "launch" | "lambda" | "refused":
            return True
        case "unknown" if "t" not in node:  # a statement
            return True
        case "var" if node.get("id") in shared:
            return True
        case "decl" if any(v["static"] and not v["const"] for v in node["vars"]):
            return True
        case "construct" if "own" in node:
            return True
        case "operator" if node["name"].startswith("std::") and node["name"].endswith("operator()"):
            return True
        case "method" | "operator" if node["name"].startswith("vk::unknown"):
            given = node["args"][1:] if node["k"] == "operator" else node["args"]
            if any(dtype_of(a["t"]) is None for a in given) and not _of_strings(node):
                return True
        case "method" | "operator" if "at::Tensor" in node["name"] or any(
            a.get("t") == "at::Tensor" for a in (node.get("base") or {}, *node["args"])
        ):
            return True
        case "call":
            name = node["name"].split("::")[-1]
            back = any(a.get("name") == "cudaMemcpyDeviceToHost" for a in node["args"])
            if name in ("check", "dispatch", "no_dispatch", "") or "operator()" in name:
                return True
            if name.startswith("cu") and not back and name not in _QUIET:
                return True
            if node["name"].startswith(("at::", "torch::", "c10::")):
                return True
    if "fn" in node and node["fn"] not in seen:
        seen.add(node["fn"])
        function = code.functions.get(node["fn"])
        if function is None or function["body"] is None:
            return True
        first, last = function["lines"]
        if any(first <= line <= last for _, _, line in code.errors):
            return True
        if touches(code, function["body"], _shared(code), seen):
            return True
    return any(touches(code, v, shared, seen) for k, v in node.items() if k != "s")


def _of_strings(node: Node) -> bool:
    callee = node["args"][0] if node["k"] == "operator" else {}
    return callee.get("k") == "var" and "shim" in callee and callee["name"] in _STRINGS


def _shared(code: HostCode) -> frozenset[str]:
    return frozenset(v["id"] for v in code.globals if not v["const"])
