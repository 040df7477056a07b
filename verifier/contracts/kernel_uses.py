"""Launches without ``<<<…>>>`` that nobody follows: kernels handed to code that is not there, and the runtime's other launchers.

Invariant: each mention of a kernel as an argument is followed, or only asks or sets something, or is told here.

Example: ``cudaLaunchKernelEx(&config, k, x, n)`` gives ``a.cu:9:5: cudaLaunchKernelEx may launch k unseen``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from verifier.contracts.launches import is_launch
from verifier.frontend.host import HostCode, Node

_ASKS = re.compile(r"cudaFunc(?:Set|Get)\w+|cudaOccupancy\w+|cuFunc\w+|cuOccupancy\w+|printf|fprintf")
_LAUNCHES = re.compile(
    r"cudaLaunch(?!HostFunc)\w+|cuLaunch(?!HostFunc)\w+|cu(?:da)?Graph\w*Kernel\w*|cu(?:da)?GraphAddNode\w*"
    r"|cu(?:da)?GraphExec(?:Node|Update)\w*|cu(?:da)?(?:Module|Library)(?:Load|Get)\w*|nvrtc\w+"
)
"""They launch, or load, what no text of the submission shows."""
_CAPTURES = re.compile(r"cu(?:da)?StreamBeginCapture\w*|capture_begin")
"""What is launched then runs later, when the memory may be another one's."""


def unseen(code: HostCode) -> Iterator[tuple[str, str]]:
    """The kernel (empty: any) and one line, for each place."""
    for function in code.functions.values():
        yield from _unseen(code, function["body"])


def _unseen(code: HostCode, node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, list):
        for item in node:
            yield from _unseen(code, item)
    elif isinstance(node, dict):
        if node.get("k") in ("call", "operator", "method"):
            yield from _called(code, node)
        for key, value in node.items():
            if key != "s":
                yield from _unseen(code, value)


def _called(code: HostCode, node: Node) -> Iterator[tuple[str, str]]:
    args, name = node["args"], str(node.get("name", ""))
    if node["k"] == "operator":  # a function that nothing declares is called by an operator
        if not name.startswith("vk::unknown") or not args:
            return
        name, args = str(args[0].get("name", "")), args[1:]
    name = name.split("::")[-1]
    if (node["k"] == "call" and is_launch(node)) or _ASKS.fullmatch(name):
        return
    place = code.span(node["s"])
    if _CAPTURES.fullmatch(name):
        yield "", f"{place}: {name}: what is captured runs later, which is not followed"
    elif _LAUNCHES.fullmatch(name):
        yield "", f"{place}: {name} may launch a kernel unseen"
    elif node["k"] != "method":
        function = code.functions.get(node.get("fn", ""))
        followed = function is not None and function["body"] is not None
        for kernel in () if followed or not name else _kernels(args):
            yield kernel, f"{place}: {name} may launch {kernel} unseen"


def _kernels(node: Any) -> Iterator[str]:
    """The kernels that an argument names itself, not through another call."""
    if isinstance(node, list):
        for item in node:
            yield from _kernels(item)
    elif isinstance(node, dict) and node.get("k") not in ("call", "lambda", "launch"):
        if node.get("kernel") is True:
            yield str(node["name"]).split("::")[-1]
        for key, value in node.items():
            if key != "s":
                yield from _kernels(value)
