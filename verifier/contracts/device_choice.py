"""PyTorch's guards and setters that choose a device by a number: another device than that of the tensors, for all that is known.

Invariant: a number other than 0 in the text is told; what is asked of a tensor (``x.get_device()``) is its own device.

Example: ``c10::cuda::CUDAGuard guard(1);`` gives ``a.cu:9:5: device 1 is chosen by its number``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from verifier.frontend.host import HostCode

_GUARD = re.compile(r"(?:const )?(?:c10|at)::(?:cuda::)?(?:Optional)?(?:CUDA|Device)Guard")
_SETTER = re.compile(
    r"(?:c10::cuda|at::cuda)::(?:set_device|SetDevice)|.*Guard::(?:set|reset)_(?:device|index)"
)


def chosen(code: HostCode) -> Iterator[str]:
    """One line for each place."""
    for function in code.functions.values():
        yield from _chosen(code, function["body"])


def _chosen(code: HostCode, node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _chosen(code, item)
    elif isinstance(node, dict):
        guard = node.get("k") == "construct" and _GUARD.fullmatch(str(node.get("t", "")))
        setter = node.get("k") in ("call", "method") and _SETTER.fullmatch(str(node.get("name", "")))
        if guard or setter:
            for number in _numbers(node["args"]):
                yield f"{code.span(node['s'])}: device {number} is chosen by its number"
        for key, value in node.items():
            if key != "s":
                yield from _chosen(code, value)


def _numbers(node: Any) -> Iterator[int]:
    """Literals other than 0 that are the argument, or the index of a device that is."""
    if isinstance(node, list):
        for item in node:
            yield from _numbers(item)
    elif isinstance(node, dict):
        if node.get("k") == "int" and int(node["v"]) > 0:
            yield int(node["v"])
        elif node.get("k") in ("construct", "cast", "init"):
            yield from _numbers(node.get("args", node.get("a")))
