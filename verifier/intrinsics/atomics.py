"""Atomic read-modify-write functions and their scopes.

Invariant: the overloads are CUDA's (int, unsigned, 64-bit, float and half additions), so a value argument is converted
to the type of the memory cell.

Example: ``atomicAdd(&x[i], 1)`` -> Atomic("add", t, x[i], (Convert(f32, 1),), "device").
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.intrinsics.model import Intrinsic, declare

_DEVICE_SCOPE_ONLY = ("__half", "__half2", "__nv_bfloat16", "__nv_bfloat162", "unsigned short")
_U, _ULL = "unsigned", "unsigned long long"
_BITS = ["int", _U, _ULL]
_TYPES: dict[str, tuple[str, list[str]]] = {
    "add": (
        "Add",
        ["int", _U, _ULL, "float", "double", "__half", "__half2", "__nv_bfloat16", "__nv_bfloat162"],
    ),
    "sub": ("Sub", ["int", _U]),
    "min": ("Min", [*_BITS, "long long"]),
    "max": ("Max", [*_BITS, "long long"]),
    "exch": ("Exch", [*_BITS, "float"]),
    "cas": ("CAS", [*_BITS, "unsigned short"]),
    "and": ("And", [*_BITS, "long long"]),
    "or": ("Or", [*_BITS, "long long"]),
    "xor": ("Xor", [*_BITS, "long long"]),
    "inc": ("Inc", [_U]),
    "dec": ("Dec", [_U]),
}


def entries() -> Iterator[Intrinsic]:
    for op, (suffix, types) in _TYPES.items():
        for name, scope in (("", "device"), ("_block", "block"), ("_system", "system")):
            known = [t for t in types if not name or t not in _DEVICE_SCOPE_ONLY]
            lines = [f"{t} atomic{suffix}{name}({t}*, {t}{f', {t}' if op == 'cas' else ''})" for t in known]
            yield from declare("atomics", "atomic", op, *lines, scope=scope)  # type: ignore[arg-type]
