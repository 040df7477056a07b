"""Texture and surface objects: accesses of memory that only the hardware can address.

Input -> output: a call of ``tex2D<T>`` or ``surf2Dwrite`` -> a load or store of a T behind an opaque pointer, which
carries the handle and the coordinates.

Invariant: a texture fetch is never out of bounds (the address mode decides) and its value is unknown; a surface access
may be out of bounds. What the handle stands for is nobody's knowledge here.

Example: ``float v = tex2D<float>(t, x, y);`` -> ``v = load *texture memory(t, x, y)``.
"""

from __future__ import annotations

from collections.abc import Sequence

from verifier.frontend.device_builder import flatten
from verifier.frontend.device_clang import Node
from verifier.frontend.device_cooperative import GroupCalls
from verifier.frontend.device_types import Refused
from verifier.frontend.device_values import Value
from verifier.ir.nodes import Call, Pointer

_TEXTURES = (
    "tex1Dfetch tex1D tex2D tex3D texCubemap tex1DLayered tex2DLayered texCubemapLayered tex1DLod tex2DLod tex3DLod "
    "texCubemapLod tex1DLayeredLod tex2DLayeredLod texCubemapLayeredLod tex1DGrad tex2DGrad tex3DGrad tex1DLayeredGrad "
    "tex2DLayeredGrad tex2Dgather"
).split()
_SURFACES = "surf1D surf2D surf3D surf1DLayered surf2DLayered surfCubemap surfCubemapLayered".split()
TEXTURE_FUNCTIONS = frozenset(
    [*_TEXTURES, *(f"{name}{what}" for name in _SURFACES for what in ("read", "write"))]
)
"""Functions of the shim that are lowered here."""


class TextureCalls(GroupCalls):
    """Lowering of texture fetches and surface accesses."""

    def texture_call(self, node: Node, name: str, arguments: Sequence[Node]) -> Value | None:
        """``arguments``: with the defaults of what the call leaves out."""
        span = node.span
        family = "texture" if name.startswith("tex") else "surface"
        if not arguments or any(a.type.spelling.startswith(f"{family}<") for a in arguments):
            raise Refused(f"{family} reference", name, span)
        first = arguments[0].type
        values = self.ordered(arguments)
        leading: Value | None = None
        if name.endswith("write") or first.kind == "POINTER":
            leading, values = values[0], values[1:]
        handle, *coordinates = flatten(values)
        elem = first if name.endswith("write") else first.pointee if first.kind == "POINTER" else node.type
        type_ = self.types.of(elem)
        pointer = Call(
            f"{family} memory", (handle, *coordinates), Pointer(type_, not name.endswith("write")), span
        )
        place = self.dereference(pointer, span)
        if name.endswith("write"):
            assert leading is not None
            self.write(place, leading, span)
            return None
        value = self.read(place, span)
        if leading is None:
            return value
        (output,) = flatten([leading])
        self.write(self.dereference(output, span), value, span)
        return None
