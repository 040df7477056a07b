"""Inline assembly that only computes in registers: its outputs are any value, everything else stays as it is.

Input -> output: an ``asm`` statement -> assignments of Undef to its outputs; Refused for any instruction that touches
memory, control or other threads.

Invariant: an instruction is only accepted by its name being in a closed list of register instructions. ``mma.sync``
computes in registers too, but all lanes of the warp must take part: it is a WarpOp as well.

Example: ``asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x))`` -> ``y = undef <inline assembly>``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from verifier.frontend.device_clang import Node
from verifier.frontend.device_initialisers import Initialisers
from verifier.frontend.device_places import place_type
from verifier.frontend.device_types import SCALAR_TYPES, Refused
from verifier.frontend.device_values import LValue
from verifier.ir.nodes import U32, IntConst, Undef

_REGISTER_ONLY = frozenset(
    "mov add sub mul mad mad24 mul24 fma neg abs min max div rem sqrt rsqrt rcp ex2 lg2 sin cos tanh cvt and or xor not "
    "shl shr shf prmt lop3 bfe bfi bfind brev clz popc selp set setp slct sad copysign testp cnot dp4a dp2a addc subc "
    "madc".split()
)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class _Assembly:
    instructions: tuple[str, ...]
    outputs: tuple[Node, ...]
    inputs: tuple[Node, ...]


class Assembly(Initialisers):
    """Lowering of ``asm`` statements."""

    def assembly(self, node: Node) -> None:
        parsed = _parse(node)
        refused = [line for line in parsed.instructions if not _is_register_only(line)]
        matrix = [line for line in refused if line.startswith("mma.sync.aligned.")]
        if len(refused) > len(matrix):
            raise Refused("inline assembly", refused[0][:80], node.span)
        for operand in parsed.inputs:
            self.scalar(operand)
        places = [self.lvalue(operand) for operand in parsed.outputs]
        for _ in matrix:
            self.collective("mma", IntConst(0xFFFFFFFF, U32), (), U32, node.span)
        for place in places:
            self._unknown(place, node)

    def _unknown(self, place: LValue, node: Node) -> None:
        type_ = place_type(place)
        if not isinstance(type_, SCALAR_TYPES):
            raise Refused("inline assembly", "with an output that is no scalar", node.span)
        self.write(place, Undef(type_, "inline assembly", node.span), node.span)


def _is_register_only(line: str) -> bool:
    words = re.sub(r"^@!?\S+\s+", "", line).split()
    if not words or words[0] in (".reg", ".pred"):
        return True
    if "[" in line:
        return False
    return words[0].split(".")[0] in _REGISTER_ONLY


def _parse(node: Node) -> _Assembly:
    """The instructions of the text, and the operands by the section of the statement that they stand in."""
    start, end = node.extent
    text = node.unit.text[start:end].decode("utf-8", "replace")
    colons = _sections(text)
    template = text[: colons[0]] if colons else text
    code = "".join(re.sub(r"\\[nt]", "\n", part) for part in _STRING.findall(template))
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", code, flags=re.S)
    lines = tuple(filter(None, (part.strip(" \t\n{}") for part in code.split(";"))))
    if not lines and code.strip(" \t\n{};"):
        raise Refused("inline assembly", code[:80], node.span)
    bounds = [*colons, len(text), len(text), len(text)]
    operands = [
        (len(node.unit.text[start : child.start].decode("utf-8", "replace")), child)
        for child in node.children
    ]
    return _Assembly(
        lines,
        tuple(child for at, child in operands if bounds[0] < at < bounds[1]),
        tuple(child for at, child in operands if bounds[1] < at < bounds[2]),
    )


def _sections(text: str) -> list[int]:
    """The places of the colons between template, outputs, inputs and clobbers."""
    found: list[int] = []
    depth = position = 0
    while position < len(text):
        string = _STRING.match(text, position)
        if string:
            position = string.end()
            continue
        char = text[position]
        depth += (char in "([{") - (char in ")]}")
        if char == ":" and depth == 1:
            found.append(position)
        position += 1
    return found
