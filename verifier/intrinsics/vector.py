"""Vector types: ``make_float4`` and its like build a struct out of their arguments.

Example: ``make_float2(a, b)`` -> the struct value {x: a, y: b}.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.intrinsics.model import Intrinsic, declare

SCALARS = {
    "char": "signed char", "uchar": "unsigned char", "short": "short", "ushort": "unsigned short", "int": "int",
    "uint": "unsigned", "long": "long", "ulong": "unsigned long", "longlong": "long long",
    "ulonglong": "unsigned long long", "float": "float", "double": "double",
}  # fmt: skip


def entries() -> Iterator[Intrinsic]:
    for name, scalar in SCALARS.items():
        for count in (1, 2, 3, 4):
            arguments = ", ".join([scalar] * count)
            yield from declare("vector", "vector", "", f"{name}{count} make_{name}{count}({arguments})")


def struct_declarations() -> Iterator[str]:
    """The C++ definitions of the vector types, with CUDA's alignments."""
    sizes = {"char": 1, "short": 2, "int": 4, "long": 8, "longlong": 8, "float": 4, "double": 8}
    for name, scalar in SCALARS.items():
        size = sizes[name.removeprefix("u")]
        for count in (1, 2, 3, 4):
            align = size if count in (1, 3) else min(16, size * count)
            members = " ".join(f"{scalar} {field};" for field in "xyzw"[:count])
            yield f"struct __attribute__((aligned({align}))) {name}{count} {{ {members} }};"
