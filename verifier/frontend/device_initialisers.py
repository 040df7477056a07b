"""Variables and their initialisers.

Input -> output: a VAR_DECL node -> a binding, and the statements that set its value.

Invariant: what C leaves indeterminate is Undef (a scalar) or a Declare without stores (an object); what an initialiser
list leaves out is zero.

Example: ``float acc[2][2] = {{1.f}};`` -> Declare(acc) and four stores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from specs.location import Span
from verifier.frontend.device_clang import CType, Node
from verifier.frontend.device_construction import (
    Construction,
    field_default,
    is_made,
    item_type,
    own_fields,
    reads_members,
)
from verifier.frontend.device_intrinsics import is_held
from verifier.frontend.device_types import SCALAR_TYPES, Refused, is_lambda, is_union
from verifier.frontend.device_values import (
    Aggregate,
    ArrayValue,
    Closure,
    FunctionRef,
    LValue,
    Memory,
    Poison,
    Temp,
    Value,
)
from verifier.ir.nodes import (
    I64,
    Array,
    Elem,
    Int,
    IntConst,
    Object,
    ObjectDecl,
    Struct,
    Type,
    size_of,
)

FUNCTIONS = frozenset(
    {"FUNCTION_DECL", "CXX_METHOD", "FUNCTION_TEMPLATE", "CONSTRUCTOR", "CONVERSION_FUNCTION"}
)
_ALIGN = re.compile(r"(?:__align__|alignas|aligned|__builtin_align__)\s*\(\s*(\d+)\s*\)")
MAX_CONSTANT = 4096


class Initialisers(Construction):
    """Lowering of variable declarations."""

    def declare(self, node: Node) -> None:
        type_ = node.type
        if node.has("CUDASHARED_ATTR"):
            self.env[node.key] = self._shared(node)
            return
        initial = node.initializer
        if type_.is_reference:
            if initial is None:
                raise Refused("reference", "without an initialiser", node.span)
            self.env[node.key] = self.bind_reference(initial, node)
            return
        if node.is_static:
            self.env[node.key] = self.global_variable(node)
            return
        if type_.kind == "RECORD" and (is_lambda(type_) or is_held(type_)):
            if initial is None:
                raise Refused("declaration", node.source[:60], node.span)
            self.env[node.key] = self.kept(self.rvalue(initial), initial)
            return
        self._local(node, self.types.of(type_), initial)

    def _local(self, node: Node, type_: Type, initial: Node | None) -> None:
        span = node.name_span
        value: Value | None = None
        if initial is not None and isinstance(type_, SCALAR_TYPES):
            # Before the variable exists: ``int i = i;`` is not what anyone means, shadowing is.
            value = self.rvalue(initial)
        alignment = _ALIGN.search(self._declaration_text(node))
        if node.key in self.demanded or self.needs_object(type_) or alignment:
            align = int(alignment.group(1)) if alignment else 0
            target: LValue = self.local_object(node.spelling, type_, span, align)
        else:
            target = self.variable(node.spelling, type_, node.key, span)
        self.env[node.key] = target
        if isinstance(value, FunctionRef):
            value = self.function_number(value)
        if value is not None:
            if isinstance(value, Aggregate | ArrayValue | Closure | FunctionRef):
                raise Refused("initialiser", node.source[:60], span)
            self.write(target, self.convert(value, type_, span), span)
        elif initial is None:
            self.undefined(target, span)
        else:
            self.initialise(target, initial, span)

    # --- objects ---

    def _shared(self, node: Node) -> Memory:
        type_ = self.types.of(node.type)
        dynamic = isinstance(type_, Array) and type_.count == 0
        return self.shared_object(node, type_, dynamic)

    def shared_object(self, node: Node, type_: Type, dynamic: bool) -> Memory:
        name = self._object_name(node)
        decl = self.objects.get(name)
        if decl is None:
            alignment = _ALIGN.search(self._declaration_text(node))
            align = int(alignment.group(1)) if alignment else 0
            self.objects[name] = ObjectDecl(name, type_, "shared", dynamic, align, None, node.name_span)
        return Memory(Object(name, type_), node.type.volatile or _element_volatile(node.type))

    def _object_name(self, node: Node) -> str:
        """One object for one declaration, however often its function is inlined."""
        known = self.object_names.get(node.key)
        if known is None:
            known = self.object_names[node.key] = self.fresh(node.spelling or "object")
        return known

    def _declaration_text(self, node: Node) -> str:
        start, end = node.extent
        if start < 0:
            return ""
        line = max(self.unit.text.rfind(b";", 0, start), self.unit.text.rfind(b"{", 0, start)) + 1
        return self.unit.text[line:end].decode("utf-8", "replace")

    def global_variable(self, node: Node) -> LValue:
        """A variable that outlives the call: of the file, of a class, or static."""
        bound = self.env.get(node.key)
        if isinstance(bound, Poison):
            raise Refused(bound.construct, f"variable {node.spelling}", node.span)
        if bound is not None:
            return bound
        place = self._global(node)
        self.env[node.key] = place
        return place

    def _global(self, node: Node) -> LValue:
        type_ = node.type
        if node.has("CUDASHARED_ATTR"):
            return self._shared(node)
        definition = node.definition
        node = definition if definition.exists else node
        ir_type = self.types.of(type_)
        const = type_.const or _element_const(type_)
        if const and isinstance(ir_type, SCALAR_TYPES) and not node.has("CUDACONSTANT_ATTR"):
            value = node.evaluate()
            if value is not None:
                return Temp(self.constant_of(value, type_, node.span))
        constant = node.has("CUDACONSTANT_ATTR")
        # A static variable of a function is one variable for all threads, as a __device__ variable is.
        device = node.has("CUDADEVICE_ATTR") or (node.is_static and node.parent.kind in FUNCTIONS)
        if not constant and not device and not const:
            raise Refused(
                "host variable" if not node.is_static else "static variable", node.spelling, node.span
            )
        name = self._object_name(node)
        init = self._constant_values(node, ir_type) if const else None
        space: Literal["constant", "device"] = "constant" if constant or const else "device"
        self.objects[name] = ObjectDecl(name, ir_type, space, False, 0, init, node.name_span)
        return Memory(Object(name, ir_type), type_.volatile)

    def _constant_values(self, node: Node, type_: Type) -> tuple[int, ...] | None:
        """The integers of a constant array, when the whole initialiser is constant."""
        scalar = _scalar_of(type_)
        count = size_of(type_) // max(1, size_of(scalar))
        initial = node.initializer
        if not isinstance(scalar, Int) or count > MAX_CONSTANT or initial is None:
            return None
        values: list[int] = []
        try:
            self._collect(initial, type_, values)
        except Refused:
            return None
        return tuple(values) if len(values) == count else None

    def _collect(self, node: Node, type_: Type, values: list[int]) -> None:
        if isinstance(type_, Array):
            if node.kind != "INIT_LIST_EXPR" or len(node.operands) > type_.count:
                raise Refused("initialiser", "of a constant array")
            for item in node.operands:
                self._collect(item, type_.elem, values)
            missing = (type_.count - len(node.operands)) * (size_of(type_.elem) // size_of(_scalar_of(type_)))
            values += [0] * missing
            return
        value = node.evaluate()
        if not isinstance(value, int) or not isinstance(type_, Int):
            raise Refused("initialiser", "that the parser cannot evaluate")
        converted = self.constant_of(value, node.type, node.span)
        folded = self.convert(converted, type_, node.span)
        if not isinstance(folded, IntConst):
            raise Refused("initialiser", "that does not fit")
        values.append(folded.value)

    # --- initialisers ---

    def initialise(self, target: LValue, node: Node, span: Span) -> None:
        """Give a new variable, element or field the value of its initialiser."""
        type_ = _type_of(target)
        node = _plain(node)
        if node.kind == "INIT_LIST_EXPR" and isinstance(type_, Array | Struct):
            self._from_list(target, type_, node, node.type, span)
            return
        if node.kind == "CALL_EXPR" and node.referenced.kind == "CONSTRUCTOR" and isinstance(type_, Array):
            self._construct_items(target, type_, node, span)
            return
        if node.kind == "CALL_EXPR" and node.referenced.kind == "CONSTRUCTOR" and isinstance(type_, Struct):
            callee = node.referenced
            body = callee.body
            if body is not None and self.types.of(node.type) == type_:
                self.construct_into(target, node, callee, body, node.type)
                return
            if body is None and not node.arguments:
                self.default_initialise(target, node, span)
                return
        value = self.rvalue(node)
        if not isinstance(value, Aggregate | ArrayValue | Closure | FunctionRef):
            value = self.convert(value, type_, span)
        self.write(target, value, span)

    def initialise_part(self, place: LValue, type_: CType, node: Node, span: Span) -> None:
        """As ``initialise``; the parser does not say the type of a list inside of another."""
        made = _type_of(place)
        plain = _plain(node)
        if plain.kind == "INIT_LIST_EXPR" and isinstance(made, Array | Struct):
            self._from_list(place, made, plain, type_, span)
        else:
            self.initialise(place, node, span)

    def default_initialise(self, target: LValue, node: Node | None, span: Span) -> None:
        """``T x;`` (fields stay indeterminate) or ``T x{};``, ``T()`` (fields are zero)."""
        type_ = _type_of(target)
        empty = node is not None and node.source.rstrip().endswith((")", "}"))
        if node is not None and node.type.kind == "RECORD":
            if empty:
                self.value_initialise(target, node.type, span)
            else:
                self.default_construct(target, node.type, span)
        elif empty:
            self.write(target, self.zero(type_, span), span)
        else:
            self.undefined(target, span)

    def _construct_items(self, target: LValue, type_: Array, node: Node, span: Span) -> None:
        """An array of a class with a default constructor: nothing to do if that does nothing."""
        callee = node.referenced
        if callee.body is not None or self.has_work(item_type(node.type)):
            if type_.count > 64 or isinstance(type_.elem, Array):
                raise Refused("constructor", "of the elements of an array", span)
            for number in range(type_.count):
                self._initialise_item(target, type_, number, node, span)

    def _initialise_item(self, target: LValue, type_: Array, number: int, node: Node, span: Span) -> None:
        assert isinstance(target, Memory)
        place = Memory(Elem(target.place, IntConst(number, I64), type_.elem, span))
        body = node.referenced.body
        if body is not None:
            self.construct_into(place, node, node.referenced, body, item_type(node.type))
        else:
            self.default_construct(place, item_type(node.type), span)

    def _from_list(self, target: LValue, type_: Array | Struct, node: Node, made: CType, span: Span) -> None:
        items = list(node.operands)
        if any(item.kind == "DESIGNATED_INIT_EXPR" or item.source.startswith(".") for item in items):
            raise Refused("designated initialiser", node.source[:60], span)
        if isinstance(type_, Array) and (not items or (len(items) == 1 and _is_zero(items[0]))):
            scalar = _scalar_of(type_)
            if isinstance(scalar, SCALAR_TYPES) and isinstance(target, Memory):
                zero = self.zero(scalar, span)
                assert not isinstance(zero, Aggregate | ArrayValue | Closure | FunctionRef)
                self.fill(target.place, zero, span)
                return
        if self.types.of(made) != type_:
            raise Refused("initialiser list", "of another type", span)
        queue = list(items)
        self._consume(target, type_, made, queue, span)
        if queue:
            raise Refused("initialiser list", "with too many items", span)

    def aggregate(self, target: LValue, record: CType, items: list[Node], span: Span) -> None:
        """The part of an object that is its base ``record``."""
        queue = list(items)
        self._consume(target, self.types.of(record), record, queue, span)
        if queue:
            raise Refused("initialiser list", "with too many items", span)

    def _consume(self, target: LValue, type_: Type, made: CType, queue: list[Node], span: Span) -> None:
        """Fill an aggregate from the items of a list (with brace elision); what is missing has its default, or is zero."""
        if made.kind == "RECORD" and self.types.bases(made):
            if queue:
                raise Refused("initialiser list", "of a class with a base class", span)
            self.value_initialise(target, made, span)
            return
        parts = self._parts(target, type_, made, span)
        defaults = (field_default(field, made) for *_, field in parts if field is not None)
        if any(default is not None and reads_members(default) for default in defaults):
            self.undefined(target, span)
        for part, part_type, part_made, field in parts:
            if not queue:
                self._left_out(target, part, part_made, field, span)
                continue
            item = queue[0]
            plain = _plain(item)
            whole = plain.kind == "INIT_LIST_EXPR" or not isinstance(part_type, Array | Struct)
            if whole or self._is_whole(item, part_type):
                queue.pop(0)
                self.initialise_part(part, part_made, item, item.span)
            else:
                item_made, leaf = (
                    t.kind == "RECORD" and isinstance(self.types.of(t), Struct)
                    for t in (item.type, item_type(part_made))
                )
                if item_made or (leaf and is_made(item_type(part_made))):
                    raise Refused("initialiser list", "that converts an item to a class", item.span)
                self._consume(part, part_type, part_made, queue, span)

    def _left_out(self, target: LValue, part: LValue, made: CType, field: Node | None, span: Span) -> None:
        default = field_default(field, field.type) if field is not None else None
        if default is None:
            self.missing(part, made, span)
            return
        with self.object_made(target):
            self.initialise_part(part, made, default, span)

    def _is_whole(self, item: Node, type_: Type) -> bool:
        if not isinstance(type_, Struct) or item.type.kind != "RECORD":
            return False
        return self.types.of(item.type) == type_

    def _parts(
        self, target: LValue, type_: Type, made: CType, span: Span
    ) -> Sequence[tuple[LValue, Type, CType, Node | None]]:
        """Each element or field: where it is, its type, and its declaration, which may have a default initialiser."""
        match type_:
            case Array(elem=elem, count=count) if isinstance(target, Memory):
                if count > 1024:
                    raise Refused("initialiser list", f"of {count} items", span)
                return [
                    (Memory(Elem(target.place, IntConst(n, I64), elem, span)), elem, made.element, None)
                    for n in range(count)
                ]
            case Struct(fields=fields):
                own = {child.spelling: child for child in own_fields(made)}
                if set(own) != {f.name for f in fields}:
                    raise Refused("initialiser list", "of this type", span)
                if is_union(type_):
                    if any(f.offset for f in fields):
                        raise Refused("initialiser list", "of a class with an anonymous union", span)
                    if any(field_default(child, made) is not None for child in own.values()):
                        raise Refused(
                            "initialiser list", "of a union with a default member initialiser", span
                        )
                    fields = fields[:1]
                return [
                    (self.member(target, f.name, span), f.type, own[f.name].type, own[f.name]) for f in fields
                ]
        raise Refused("initialiser list", "of this type", span)


def _plain(node: Node) -> Node:
    """Without the wrappers that change nothing (temporaries, qualification)."""
    while (
        node.kind == "UNEXPOSED_EXPR"
        and len(node.operands) == 1
        and node.operands[0].type.key == node.type.key
    ):
        if node.operands[0].kind not in ("UNEXPOSED_EXPR", "INIT_LIST_EXPR", "CALL_EXPR"):
            break
        node = node.operands[0]
    return node


def _is_zero(node: Node) -> bool:
    while node.kind == "INIT_LIST_EXPR" and len(node.operands) == 1:
        node = node.operands[0]
    if node.kind == "INIT_LIST_EXPR":
        return not node.operands
    return node.type.kind != "RECORD" and node.evaluate() == 0 and not str(node.evaluate()).startswith("-")


def _scalar_of(type_: Type) -> Type:
    while isinstance(type_, Array):
        type_ = type_.elem
    return type_


def _type_of(target: LValue) -> Type:
    match target:
        case Temp():
            raise Refused("initialiser", "of a temporary")
        case _:
            return target.type


def _element_volatile(type_: CType) -> bool:
    while type_.is_array:
        type_ = type_.element
    return type_.volatile


def _element_const(type_: CType) -> bool:
    while type_.is_array:
        type_ = type_.element
    return type_.const
