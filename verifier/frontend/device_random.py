"""cuRAND's device functions: a state in memory that is read and written, and numbers that nobody can know.

Input -> output: a call of ``curand_uniform(&state)`` -> a load and a store of the whole state, and any value of the
documented range.

Invariant: every call touches all bytes of its state; two calls never give the same unknown. The generators whose calls
synchronise the block (MTGP32) are not declared.

Example: ``float u = curand_uniform(&s[i]);`` -> ``load s[i]; store s[i]; u = fmin(fmax(any, 0), 1)``.
"""

from __future__ import annotations

from collections.abc import Sequence

from verifier.frontend.device_builder import flatten
from verifier.frontend.device_clang import Node
from verifier.frontend.device_textures import TextureCalls
from verifier.frontend.device_values import Aggregate, ArrayValue, Value
from verifier.ir.nodes import (
    Array,
    Assign,
    Call,
    Expr,
    Float,
    FloatConst,
    Pointer,
    Read,
    Struct,
    Type,
    Undef,
    size_of,
)

RANDOM_FUNCTIONS = frozenset(
    "curand curand4 curand_init curand_uniform curand_uniform_double curand_uniform4 curand_uniform2_double "
    "curand_uniform4_double curand_normal curand_normal_double curand_normal2 curand_normal2_double curand_normal4 "
    "curand_normal4_double curand_log_normal curand_log_normal_double curand_log_normal2 curand_log_normal2_double "
    "curand_log_normal4 curand_log_normal4_double curand_poisson curand_poisson4 skipahead skipahead_sequence "
    "skipahead_subsequence".split()
)
"""Functions of the shim that are lowered here."""


class RandomCalls(TextureCalls):
    """Lowering of cuRAND's calls."""

    def random_call(self, node: Node, name: str, arguments: Sequence[Node]) -> Value | None:
        span = node.span
        values = flatten(self.ordered(arguments))
        pointer = values[-1] if name == "curand_init" or name.startswith("skipahead") else values[0]
        place = self.dereference(pointer, span)
        if name != "curand_init":
            self.read(place, span)
        elif isinstance(values[0].type, Pointer):
            word = values[0].type.elem
            vectors = Pointer(Array(word, 8 * size_of(word)), True)
            self.read(self.dereference(self.convert(values[0], vectors, span, implicit=False), span), span)
        self.write(place, _undefined(place.type), span)
        if node.type.kind == "VOID":
            return None
        return self._number(self.types.of(node.type), "uniform" in name, node)

    def _number(self, type_: Type, unit: bool, node: Node) -> Value:
        if isinstance(type_, Struct):
            return Aggregate(type_, {f.name: self._number(f.type, unit, node) for f in type_.fields})
        holder = self.temporary(type_)
        self.emit(Assign(holder.name, Undef(type_, "", node.span), node.span))
        value: Expr = Read(holder.name, type_)
        if unit and isinstance(type_, Float):
            suffix = "f" if type_.name == "f32" else ""
            positive = Call(f"fmax{suffix}", (value, FloatConst(0.0, type_)), type_, node.span)
            return Call(f"fmin{suffix}", (positive, FloatConst(1.0, type_)), type_, node.span)
        return value


def _undefined(type_: Type) -> Value:
    match type_:
        case Struct(fields=fields):
            return Aggregate(type_, {f.name: _undefined(f.type) for f in fields})
        case Array(elem=elem, count=count):
            return ArrayValue(tuple(_undefined(elem) for _ in range(count)))
        case _:
            return Undef(type_, "")
