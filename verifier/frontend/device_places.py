"""C++ lvalues as places: variables, members, elements, dereferences, reinterpreting reference casts.

Input -> output: a Node that C++ calls an lvalue -> an LValue; a Node that is none -> a Temp of its value.

Invariant: evaluating a place emits what its address needs (and nothing else), in C's order.

Example: ``p->v[i]`` -> Memory(Elem(Member(Deref(p), v), i64(i))).
"""

from __future__ import annotations

from collections.abc import Sequence

from specs.location import Span
from verifier.frontend.device_builder import Builder
from verifier.frontend.device_clang import CType, Node
from verifier.frontend.device_types import Refused, is_anonymous
from verifier.frontend.device_values import (
    Aggregate,
    ArrayValue,
    Closure,
    FunctionRef,
    LocalVar,
    LValue,
    Memory,
    Poison,
    Split,
    Temp,
    Value,
)
from verifier.ir.nodes import (
    I32,
    I64,
    U32,
    Builtin,
    Expr,
    IntConst,
    Pointer,
    PtrAdd,
    Select,
    Struct,
    Type,
)

CASTS = frozenset(
    {
        "CSTYLE_CAST_EXPR",
        "CXX_STATIC_CAST_EXPR",
        "CXX_FUNCTIONAL_CAST_EXPR",
        "CXX_REINTERPRET_CAST_EXPR",
        "CXX_CONST_CAST_EXPR",
    }
)
_INDICES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})


class Places(Builder):
    """Lowering of lvalues; values are in the subclasses."""

    # --- provided by the layers above ---

    def rvalue(self, node: Node) -> Value:
        raise NotImplementedError

    def scalar(self, node: Node) -> Expr:
        raise NotImplementedError

    def scalars(self, nodes: Sequence[Node]) -> list[Expr]:
        raise NotImplementedError

    def condition(self, node: Node) -> Expr:
        raise NotImplementedError

    def effect(self, node: Node) -> None:
        raise NotImplementedError

    def constant_of(self, value: int | float | None, type_: CType, span: Span) -> Expr:
        raise NotImplementedError

    def reference(self, node: Node) -> Value:
        raise NotImplementedError

    def conditional(self, node: Node) -> Value:
        raise NotImplementedError

    def assign(self, node: Node) -> tuple[LValue, Value]:
        raise NotImplementedError

    def compound(self, node: Node) -> LValue:
        raise NotImplementedError

    def increment(self, node: Node) -> LValue:
        raise NotImplementedError

    def call_lvalue(self, node: Node) -> LValue:
        raise NotImplementedError

    def global_variable(self, node: Node) -> LValue:
        raise NotImplementedError

    # --- places ---

    def lvalue(self, node: Node) -> LValue:
        match node.kind:
            case "DECL_REF_EXPR":
                return self._declared(node)
            case "PAREN_EXPR":
                return self.lvalue(node.operands[0])
            case "MEMBER_REF_EXPR":
                return self._member(node)
            case "ARRAY_SUBSCRIPT_EXPR":
                return self._subscript(node)
            case "UNARY_OPERATOR":
                match node.unary_operator:
                    case "deref":
                        child = node.operands[-1]
                        this = self._this_behind(child)
                        if this is not None:
                            return this
                        array = _decayed(child)
                        if array is None and child.type.is_array and not is_decayed(child):
                            array = child
                        if array is not None:
                            return self.element(self.lvalue(array), IntConst(0, I64), node.span)
                        return self.dereference(self.scalar(child), node.span, node.type.volatile)
                    case "preinc" | "predec":
                        return self.increment(node)
                    case "extension":
                        return self.lvalue(node.operands[-1])
            case "BINARY_OPERATOR":
                match node.binary_operator:
                    case "assign":
                        return self.assign(node)[0]
                    case "comma":
                        self.effect(node.operands[0])
                        return self.lvalue(node.operands[1])
            case "COMPOUND_ASSIGNMENT_OPERATOR":
                return self.compound(node)
            case "UNEXPOSED_EXPR" if len(node.operands) == 1:
                return self._unexposed_lvalue(node)
            case "CALL_EXPR":
                return self.call_lvalue(node)
            case "CONDITIONAL_OPERATOR":
                return self._conditional_lvalue(node)
            case kind if kind in CASTS and node.operands:
                child = node.operands[-1]
                if self.is_reference_cast(node, child):
                    return self._reference_cast(node, child)
        return Temp(self.rvalue(node))

    def _unexposed_lvalue(self, node: Node) -> LValue:
        child = node.operands[0]
        if node.type.kind == "RECORD" and child.type.kind == "RECORD":
            return self.lvalue(child)
        if unqualified(node.type) == unqualified(child.type):
            return self.lvalue(child)
        return Temp(self.rvalue(node))

    def _reference_cast(self, node: Node, child: Node) -> LValue:
        target = self.types.of(node.type)
        place = self.lvalue(child)
        if place_type(place) == target:
            return place
        pointer = self.convert(
            self.address(place, node.span), Pointer(target, node.type.const), node.span, False
        )
        return self.dereference(pointer, node.span, node.type.volatile)

    def _conditional_lvalue(self, node: Node) -> LValue:
        condition, then, other = node.operands
        test = self.condition(condition)
        with self.nested() as yes:
            first = self.lvalue(then)
        with self.nested() as no:
            second = self.lvalue(other)
        if yes or no or not isinstance(first, Memory) or not isinstance(second, Memory):
            if isinstance(first, Temp) or isinstance(second, Temp) or not (yes or no):
                return Temp(self.conditional(node)) if node.type.const else self._refuse_choice(node)
            return self._refuse_choice(node)
        left, right = self.address(first, node.span), self.address(second, node.span)
        return self.dereference(
            Select(test, left, right, left.type), node.span, first.volatile or second.volatile
        )

    def _refuse_choice(self, node: Node) -> LValue:
        raise Refused("conditional", "that chooses a variable", node.span)

    def _declared(self, node: Node) -> LValue:
        target = node.referenced
        bound = self.env.get(target.key)
        if isinstance(bound, Poison):
            raise Refused(bound.construct, f"variable {target.spelling}", node.span)
        if bound is not None:
            return bound
        match target.kind:
            case "ENUM_CONSTANT_DECL":
                return Temp(self.constant_of(target.evaluate(), node.type, node.span))
            case "VAR_DECL":
                name = target.spelling
                if target.start < 0 and name in _INDICES:
                    record = self.types.of(node.type)
                    assert isinstance(record, Struct)
                    return Temp(Aggregate(record, {axis: Builtin(f"{name}.{axis}", U32) for axis in "xyz"}))
                if target.start < 0 and name == "warpSize":
                    return Temp(Builtin("warpSize", I32))
                return self.global_variable(target)
            case "INVALID_FILE" | "NO_DECL_FOUND" | "NON_TYPE_TEMPLATE_PARAMETER" if node.operands:
                return Temp(self.reference(node))
        raise Refused("name", node.spelling or node.source[:40], node.span)

    def _member(self, node: Node) -> LValue:
        target = node.referenced
        if target.kind == "VAR_DECL":
            return self.global_variable(target)
        if target.kind == "ENUM_CONSTANT_DECL":
            return Temp(self.constant_of(target.evaluate(), node.type, node.span))
        if target.kind == "FIELD_DECL" and is_anonymous(target):
            return self.object_of(node)  # an anonymous member: its members are those of the object
        if target.kind != "FIELD_DECL":
            raise Refused("member", node.spelling, node.span)
        return self.member(self.object_of(node), target.spelling, node.span)

    def object_of(self, node: Node) -> LValue:
        """What stands before ``.`` or ``->`` of a member expression."""
        operands = node.operands
        if not operands:
            return self.this(node.span)
        base = operands[0]
        this = self._this_behind(base)
        if this is not None:
            return this
        if base.type.kind == "POINTER":
            return self.dereference(self.scalar(base), node.span, base.type.pointee.volatile)
        return self.lvalue(base)

    def this(self, span: Span) -> LValue:
        this = self.frame.this
        if this is None:
            raise Refused("this", "outside of a method", span)
        return this

    def _this_behind(self, node: Node) -> LValue | None:
        while node.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and len(node.operands) == 1:
            node = node.operands[0]
        return self.this(node.span) if node.kind == "CXX_THIS_EXPR" else None

    def _subscript(self, node: Node) -> LValue:
        base, index = node.operands[-2:]
        if base.type.kind not in ("POINTER",) and not base.type.is_array:
            base, index = index, base
        array = base if base.type.is_array and not is_decayed(base) else _decayed(base)
        if array is not None:
            place = self.lvalue(array)
            start = len(self.out)
            position = self.scalar(index)
            if len(self.out) != start:
                later = self.out[start:]
                del self.out[start:]
                place = self.freeze(place)
                self.out.extend(later)
            if isinstance(place, Temp):
                return self._constant_element(place, position, node.span)
            return self.element(place, position, node.span)
        pointer, position = self.scalars((base, index))
        if not isinstance(pointer.type, Pointer):
            raise Refused("subscript", node.source[:60], node.span)
        offset = self.index(position, node.span)
        return self.dereference(
            PtrAdd(pointer, offset, pointer.type, node.span), node.span, node.type.volatile
        )

    def _constant_element(self, array: Temp, position: Expr, span: Span) -> LValue:
        if isinstance(array.value, ArrayValue) and isinstance(position, IntConst):
            if 0 <= position.value < len(array.value.items):
                return Temp(array.value.items[position.value])
        raise Refused("array", "element of a temporary", span)

    def is_reference_cast(self, node: Node, child: Node) -> bool:
        """``reinterpret_cast<T&>(x)``: the type of such an expression is T; but its operand was not read."""
        if node.type.kind == "VOID":
            return False
        if (
            _is_place(child)
            and child.type.kind not in ("RECORD", "FUNCTIONPROTO")
            and not child.type.is_array
        ):
            return True
        if node.kind == "CXX_FUNCTIONAL_CAST_EXPR" or child.start < 0:
            return False
        head = self.unit.text[node.start : child.start].decode("utf-8", "replace")
        head = head.rsplit("(", 1)[0] if node.kind != "CSTYLE_CAST_EXPR" else head.strip().rstrip("(").strip()
        return head.rstrip(" )>\t\n").endswith("&")


def is_string(node: Node) -> bool:
    while node.kind in ("UNEXPOSED_EXPR", "PAREN_EXPR", "CSTYLE_CAST_EXPR") and node.operands:
        node = node.operands[-1]
    return node.kind == "STRING_LITERAL"


def _is_place(node: Node) -> bool:
    """An lvalue without the conversion that reads it."""
    match node.kind:
        case "PAREN_EXPR":
            return _is_place(node.operands[0])
        case "DECL_REF_EXPR":
            return node.referenced.kind in ("VAR_DECL", "PARM_DECL")
        case "MEMBER_REF_EXPR":
            return node.referenced.kind in ("VAR_DECL", "FIELD_DECL")
        case "UNARY_OPERATOR":
            return node.unary_operator in ("deref", "preinc", "predec")
        case "BINARY_OPERATOR":
            return node.binary_operator == "assign"
        case kind:
            return kind in ("ARRAY_SUBSCRIPT_EXPR", "COMPOUND_ASSIGNMENT_OPERATOR")


def _decayed(node: Node) -> Node | None:
    """The array expression behind an array-to-pointer conversion."""
    while node.kind in ("UNEXPOSED_EXPR", "PAREN_EXPR") and len(node.operands) == 1:
        node = node.operands[0]
        if node.type.is_array:
            return node if node.kind != "STRING_LITERAL" and not is_decayed(node) else None
    return None


def is_decayed(node: Node) -> bool:
    """Whether an expression that the parser calls an array is a pointer: a parameter ``float x[4]``, or made of one."""
    match node.kind:
        case "UNEXPOSED_EXPR" | "PAREN_EXPR" if len(node.operands) == 1:
            return is_decayed(node.operands[0])
        case "DECL_REF_EXPR":
            return node.referenced.kind == "PARM_DECL" and node.referenced.type.is_array
        case "CONDITIONAL_OPERATOR":
            return is_decayed(node.operands[1])
        case "BINARY_OPERATOR" if node.binary_operator == "comma":
            return is_decayed(node.operands[1])
        case "BINARY_OPERATOR" | "COMPOUND_ASSIGNMENT_OPERATOR":
            return node.type.is_array
        case "UNARY_OPERATOR":
            return node.type.is_array and node.unary_operator != "deref"
    return False


def unqualified(type_: CType) -> str:
    words = type_.spelling.split()
    while words and words[0] in ("const", "volatile"):
        words.pop(0)
    return " ".join(words)


def place_type(place: LValue) -> Type | None:
    match place:
        case LocalVar(type=type_) | Split(type=type_):
            return type_
        case Memory(place=inner):
            return inner.type
        case Temp(value=Aggregate() | ArrayValue() | Closure() | FunctionRef()):
            return None
        case Temp(value=value):
            return value.type  # type: ignore[union-attr]
