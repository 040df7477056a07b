"""PyTorch's guards and setters that choose a device by a number: another device than that of the tensors, for all that is known.

Those that make another stream the current one are told too: what is on the current stream before and after is not ordered.

Invariant: a number other than 0 in the text is told; what is asked of a tensor (``x.get_device()``) is its own device.

Example: ``c10::cuda::CUDAGuard guard(1);`` gives ``a.cu:9:5: device 1 is chosen by its number``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from verifier.contracts.objects import Value
from verifier.contracts.values import Int
from verifier.frontend.host import HostCode, Node

if TYPE_CHECKING:
    from verifier.contracts.memory import Memory

GUARD = re.compile(r"(?:const )?(?:c10|at)::(?:cuda::)?(?:Optional)?(?:CUDA|Device)Guard")
STREAM_GUARD = re.compile(
    r"(?:const )?(?:c10|at|torch)::(?:cuda::)?(?:Optional)?(?:CUDA)?(?:Multi)?StreamGuard"
)
STREAM_SETTER = re.compile(
    r".*::(?:setCurrentCUDAStream|setCurrentStream|set_stream|reset_stream|exchangeStream)"
)
SETTER = re.compile(
    r"(?:c10::cuda|at::cuda)::(?:set_device|SetDevice)|.*Guard::(?:set|reset)_(?:device|index)"
)


def chosen_by(host: Memory, values: Sequence[Value], node: Node) -> None:
    """A guard or setter that is executed: any number but 0 is a gap of the launches that follow, whatever it is called."""
    if any(isinstance(v, Int) and v.value != 0 for v in values):
        gap = f"{host.span(node)}: a device is chosen by its number"
        if gap not in host.run.gaps:
            host.run.gaps.append(gap)


def chosen(code: HostCode) -> Iterator[str]:
    """One line for each place."""
    for function in code.functions.values():
        yield from _chosen(code, function["body"])


def _chosen(code: HostCode, node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _chosen(code, item)
    elif isinstance(node, dict):
        guard = node.get("k") == "construct" and GUARD.fullmatch(str(node.get("t", "")))
        setter = node.get("k") in ("call", "method") and SETTER.fullmatch(str(node.get("name", "")))
        if guard or setter:
            for number in _numbers(node["args"]):
                yield f"{code.span(node['s'])}: device {number} is chosen by its number"
        guard = node.get("k") == "construct" and STREAM_GUARD.fullmatch(str(node.get("t", "")))
        setter = node.get("k") in ("call", "method") and STREAM_SETTER.fullmatch(str(node.get("name", "")))
        if guard or setter:
            yield f"{code.span(node['s'])}: another stream is made the current one"
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
