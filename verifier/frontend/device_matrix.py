"""Warp matrix functions (``nvcuda::wmma``): whole-warp accesses of a matrix in memory.

Input -> output: a call of ``load_matrix_sync`` and the like -> participation of all lanes, and one access of a line of
the matrix for any of its lines.

Invariant: which lane touches which element is not known. A load counts as every lane reading every line; a store as
some lane writing each line (agent ``warp``). Fragments are local arrays whose values nobody knows.

Example: ``load_matrix_sync(a, p, ld)`` -> ``t = warp wmma …; if (t < 16) load 32 bytes at p + t * ld``.
"""

from __future__ import annotations

import re

from specs.location import Span
from verifier.frontend.device_assembly import Assembly
from verifier.frontend.device_builder import flatten
from verifier.frontend.device_clang import Node
from verifier.frontend.device_groups import lane_index
from verifier.frontend.device_types import Refused
from verifier.frontend.device_values import Memory, Value
from verifier.ir.nodes import (
    F32,
    I64,
    U32,
    And,
    Array,
    Binary,
    Call,
    Compare,
    Convert,
    Deref,
    Expr,
    Field,
    If,
    IntConst,
    Load,
    Pointer,
    PtrAdd,
    Read,
    Store,
    Struct,
    Undef,
    size_of,
)

_FRAGMENT = re.compile(
    r"fragment<nvcuda::wmma::(\w+), (\d+), (\d+), (\d+), ([^,<>]+)(?:, nvcuda::wmma::(\w+))?"
)
_FULL = IntConst(0xFFFFFFFF, U32)


class Matrices(Assembly):
    """Lowering of the functions of ``nvcuda::wmma``."""

    def matrix_call(self, node: Node, name: str) -> Value | None:
        arguments = node.arguments
        match name:
            case "__float_to_tf32":
                return Call("__float_to_tf32", (self.scalar(arguments[0]),), F32, node.span)
            case "fill_fragment":
                self.rvalue(arguments[1])
                self._fill(arguments[0])
            case "mma_sync":
                for argument in arguments[1:4]:
                    self._touch(argument)
                self.collective("wmma", _FULL, (), U32, node.span)
                self._fill(arguments[0])
            case "load_matrix_sync":
                self._transfer(
                    node, arguments[0], arguments[1], arguments[2], list(arguments[3:]), stores=False
                )
                self._fill(arguments[0])
            case "store_matrix_sync":
                self._touch(arguments[1])
                self._transfer(
                    node, arguments[1], arguments[0], arguments[2], list(arguments[3:]), stores=True
                )
            case _:
                raise Refused("warp matrix function", name, node.span)
        return None

    def _elements(self, fragment: Node) -> Memory:
        place = self.lvalue(fragment)
        if not isinstance(place, Memory) or not isinstance(place.type, Struct):
            raise Refused("warp matrix function", "on a fragment that is no variable", fragment.span)
        elements = self.member(place, "x", fragment.span)
        assert isinstance(elements, Memory) and isinstance(elements.type, Array)
        return elements

    def _touch(self, fragment: Node) -> None:
        """Reads the fragment: its elements have values, and indices into arrays of fragments are looked at."""
        elements = self._elements(fragment)
        self.read(self.element(elements, IntConst(0, I64), fragment.span), fragment.span)

    def _fill(self, fragment: Node) -> None:
        """Writes the fragment: elements that nobody knows, but that are there."""
        elements = self._elements(fragment)
        assert isinstance(elements.type, Array)
        for index in range(elements.type.count):
            element = self.element(elements, IntConst(index, I64), fragment.span)
            self.emit(Store(element.place, Undef(elements.type.elem, "", fragment.span), fragment.span))

    def _transfer(
        self, node: Node, fragment: Node, pointer: Node, leading: Node, layout: list[Node], *, stores: bool
    ) -> None:
        span = node.span
        lines, width = self._shape(fragment, layout, span)
        base, distance = flatten(self.ordered((pointer, leading)))
        assert isinstance(base.type, Pointer)
        scalar = base.type.elem
        bytes_ = size_of(scalar) * width
        line = Struct(f"line{bytes_}", (Field("first", scalar, 0),), bytes_, size_of(scalar))
        which = self.collective("wmma", _FULL, (), U32, span)  # any number: any of the lines
        assert isinstance(which, Read)
        index = Binary("mul", Convert(I64, which, span), self.convert(distance, I64, span), I64, span)
        address = PtrAdd(base, index, base.type, span)
        place = Deref(Convert(Pointer(line), address, span, False), line, span)
        here: Expr = Compare("lt", which, IntConst(lines, U32))
        if stores:
            some_lane = Compare("eq", lane_index(), IntConst(0, U32))
            parts = ((line.fields[0], Undef(scalar, "", span)),)
            self.emit(If(And(some_lane, here), (Store(place, None, span, parts, agent="warp"),), (), span))
        else:
            value = self.temporary(scalar)
            self.emit(If(here, (Load("", place, span, ((value.name, line.fields[0]),)),), (), span))

    def _shape(self, fragment: Node, layout: list[Node], span: Span) -> tuple[int, int]:
        """(lines, elements of a line) of the matrix in memory."""
        found = _FRAGMENT.search(fragment.type.spelling)
        if found is None:
            raise Refused("warp matrix function", fragment.type.spelling[:80], span)
        m, n, k = (int(found[i]) for i in (2, 3, 4))
        rows, columns = {"matrix_a": (m, k), "matrix_b": (k, n)}.get(found[1], (m, n))
        if layout:
            order = layout[0].evaluate()
            if order not in (0, 1):
                raise Refused("warp matrix function", "with a layout that is no constant", span)
            by_row = order == 0
        elif found[6] in ("row_major", "col_major"):
            by_row = found[6] == "row_major"
        else:
            raise Refused("warp matrix function", fragment.type.spelling[:80], span)
        return (rows, columns) if by_row else (columns, rows)
