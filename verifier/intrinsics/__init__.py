"""Every function that device code may call without defining it, one entry a name: ``TABLE``.

Input -> output: the family files -> ``TABLE: dict[name, Intrinsic]`` and ``declarations()``, the C++ text from which
the front end's shim is made.

Invariant: a name has one entry; a function that is declared has an entry; what has none is UNKNOWN.

Example::

    TABLE["__popc"].int_meaning == "popc"
"""

from __future__ import annotations

from collections.abc import Container

from verifier.intrinsics import atomics, conversion, half, math, memory, synchronization, vector, warp
from verifier.intrinsics.model import INT_MEANINGS, Intrinsic

__all__ = ["INT_MEANINGS", "TABLE", "Intrinsic", "declarations"]

_FAMILIES = (math, conversion, atomics, warp, synchronization, memory, vector, half)


def _collect() -> dict[str, Intrinsic]:
    table: dict[str, Intrinsic] = {}
    for family in _FAMILIES:
        for entry in family.entries():
            known = table.get(entry.name)
            if known is None:
                table[entry.name] = entry
                continue
            if (known.kind, known.meaning, known.scope) != (entry.kind, entry.meaning, entry.scope):
                raise ValueError(f"two entries for {entry.name}")
            merged = known.declarations + entry.declarations
            table[entry.name] = Intrinsic(
                entry.name, known.family, known.kind, known.meaning, merged, known.common, known.scope
            )
    return table


TABLE: dict[str, Intrinsic] = _collect()


def declarations(words: Container[str] | None = None) -> str:
    """The C++ declarations of every entry (that ``words`` name) that is not one of the parser's own builtins."""
    lines = []
    for entry in TABLE.values():
        if entry.name.startswith("__builtin_") or (words is not None and entry.name not in words):
            continue
        for declaration in entry.declarations:
            lines.append(f"{_attributed(declaration)};")
    return "\n".join(lines)


def _attributed(declaration: str) -> str:
    if "..." in declaration:
        return f'extern "C" VK_HD {declaration}'
    template, bracket, rest = declaration.partition("> ")
    if declaration.startswith("template<") and bracket:
        return f"{template}> VK_HD {rest}"
    return f"VK_HD {declaration}"
