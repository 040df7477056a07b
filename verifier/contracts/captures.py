"""What a lambda captures: copies of variables, and variables of its own. Tree of a lambda -> values by cell.

Example: ``[n, q = &m]`` holds the value of ``n``; ``m``, to which ``q`` leads, is unknown from here on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verifier.contracts.accounts import declared_in
from verifier.contracts.effects import effects
from verifier.contracts.objects import THIS, Pointer, Tensor, Value
from verifier.contracts.run import Refused
from verifier.frontend.host import Node

if TYPE_CHECKING:
    from verifier.contracts.memory import Memory


def held(host: Memory, node: Node) -> dict[str, Value]:
    """The variables that it copies, with their values."""
    by_value = [c.partition("=")[0] for c in node["captures"] if not c.startswith("&") and c != "="]
    by_reference = [c[1:] for c in node["captures"] if c.startswith("&")]
    if "*this" in node["captures"]:
        raise Refused(f"{host.span(node)}: a lambda that copies its object is not followed")
    named = effects(host.code, node["body"]).named if node["body"] is not None else {}
    running = [host.code.functions[usr] for usr in host.stack if usr in host.code.functions]
    for made in node["captures"]:  # what a variable of the lambda's own is made of is not followed
        if not re.fullmatch(r"[&=]|&?\w+|\*?this", made):
            _leads_to(host, made)

    def copied(cell: str) -> bool:
        name = cell.split("@")[0]
        if cell == THIS or cell not in named:
            return cell == THIS
        local = any(declared_in(cell, f) for f in running)
        return name in by_value or ("=" in node["captures"] and name not in by_reference and local)

    out = {cell: value for cell, value in host.cells.items() if copied(cell)}
    return out | {cell: host.load(place) for cell, place in host.references.items() if copied(cell)}


def _leads_to(host: Memory, text: str) -> None:
    """``r = &n``, ``&r = n``, ``q = p``: what the lambda's own variable may lead to changes at any time."""
    names = set(re.findall(r"[A-Za-z_]\w*", text.partition("=")[2] or text))
    for cell in [*host.cells, *host.references]:
        if cell.split("@")[0] in names:
            place = host.named(cell)
            value = host.load(place)
            host.lost(value)
            if isinstance(value, Tensor | Pointer) and value.storage in host.run.storages:
                host.run.write(value.storage)
            if "&" in text or "(" in text:
                host.escape(place.cell)
