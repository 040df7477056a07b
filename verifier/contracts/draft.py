"""A contract to review for kernels of which nothing is known. Kernel parameters -> commented TOML.

Everything in it is a guess from names and types and says so; it never counts until a person has edited and given it.

Example: ``k(const float* x, float* y, int n)`` is drafted with ``x = "in f32[n]"  # guess``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from specs.clauses import INT_TYPES
from verifier.contracts.values import dtype_of, element_of
from verifier.frontend.host import Node

_COUNT = re.compile(
    r"^(n|N|size|len|length|count|num|numel|total|elements|num_elements|total_elements|n_elements|nelem)$"
)


def draft(kernels: Sequence[Node]) -> str:
    """The draft of all these kernels; empty for none."""
    return "\n".join(_one(k) for k in kernels)


def _one(kernel: Node) -> str:
    ints = [p["name"] for p in kernel["params"] if dtype_of(p["type"]) in INT_TYPES]
    pointers = [(p["name"], p["type"]) for p in kernel["params"] if p["type"].endswith("*")]
    count = next((n for n in ints if _COUNT.match(n)), None)
    extent = count or ", ".join(ints[:3]) or "n"
    lines = [
        "# Drafted from names and types alone: check every line, then pass it with --contract FILE.",
        "[[contract]]",
        f'kernel = "{kernel["name"]}"',
    ]
    if kernel["template"]:
        lines.append('instantiation = ["float"]  # guess: one table for each instantiation that is launched')
    total = count or " * ".join(ints[:3]) or "n"
    lines += [
        f'launch = {{ grid = ["ceil_div({total}, 256)"], block = ["256"] }}  # guess',
        f"requires = [{', '.join(f'{chr(34)}{n} >= 1{chr(34)}' for n in ints)}]  # guess: the smallest sizes",
        "",
        "[contract.buffers]",
    ]
    for name, type_ in pointers:
        found = element_of(type_)
        dtype = found[0] if found else "f32"
        mode = "in" if type_.startswith("const ") else "inout"
        sure = "the extent is a guess" if found else "the type and the extent are guesses"
        lines.append(f'{name} = "{mode} {dtype}[{extent}]"  # {sure}')
    if not pointers:
        lines.append("# the kernel has no pointer parameter")
    return "\n".join(lines) + "\n"
