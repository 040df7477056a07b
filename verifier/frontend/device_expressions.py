"""C++ expressions as IR expressions, with their effects as statements in C's order.

Input -> output: a Node -> ``rvalue`` (a Value), ``lvalue`` (a place) or ``effect`` (nothing).

Invariant: an operand that needs a load or has an effect is evaluated only where C would: ``&&``, ``||`` and ``?:``
become control flow then. What is not understood raises Refused.

Example: ``a[i++] = b`` -> ``t = i; i = i + 1; store a[i64(t)] = b``.
"""

from __future__ import annotations

from collections.abc import Sequence

from specs.location import Span
from verifier.frontend.device_clang import CType, Node
from verifier.frontend.device_places import CASTS, Places, is_decayed, is_string
from verifier.frontend.device_types import Refused
from verifier.frontend.device_values import (
    Aggregate,
    ArrayValue,
    Closure,
    FunctionRef,
    LocalVar,
    LValue,
    Value,
)
from verifier.ir.nodes import (
    BOOL,
    I32,
    I64,
    And,
    Array,
    Assign,
    Binary,
    Bool,
    BoolConst,
    Compare,
    Expr,
    Float,
    FloatConst,
    If,
    Int,
    IntConst,
    Not,
    Or,
    Pointer,
    PtrAdd,
    PtrDiff,
    Read,
    Select,
    Struct,
    Type,
    Unary,
)

_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})


class Expressions(Places):
    """Lowering of expressions; calls and lambdas are in the subclass."""

    # --- provided by the calls layer ---

    def call(self, node: Node) -> Value | None:
        """The value of a call, None for void."""
        raise NotImplementedError

    def call_effect(self, node: Node) -> None:
        raise NotImplementedError

    def closure(self, node: Node) -> Value:
        raise NotImplementedError

    def initialise(self, target: LValue, node: Node, span: Span) -> None:
        raise NotImplementedError

    # --- entry points ---

    def scalar(self, node: Node) -> Expr:
        value = self.rvalue(node)
        if isinstance(value, FunctionRef):
            return self.function_number(value)
        if isinstance(value, Aggregate | ArrayValue | Closure):
            raise Refused("class value", "where a number or pointer is needed", node.span)
        return value

    def condition(self, node: Node) -> Expr:
        return self.truth(self.scalar(node))

    def ordered(self, nodes: Sequence[Node]) -> list[Value]:
        """The values of several operands, each as it was when it was evaluated."""
        values: list[Value] = []
        for node in nodes:
            start = len(self.out)
            value = self.rvalue(node)
            self.protect(values, start)
            values.append(value)
        return values

    def scalars(self, nodes: Sequence[Node]) -> list[Expr]:
        found = []
        for node, value in zip(nodes, self.ordered(nodes), strict=True):
            if isinstance(value, FunctionRef):
                value = self.function_number(value)
            if isinstance(value, Aggregate | ArrayValue | Closure):
                raise Refused("class value", "where a number or pointer is needed", node.span)
            found.append(value)
        return found

    def effect(self, node: Node) -> None:
        """Evaluate for the side effects only."""
        match node.kind:
            case "PAREN_EXPR" | "UNEXPOSED_EXPR" if len(node.operands) == 1:
                self.effect(node.operands[0])
            case "BINARY_OPERATOR":
                match node.binary_operator:
                    case "assign":
                        self.assign(node)
                    case "comma":
                        self.effect(node.operands[0])
                        self.effect(node.operands[1])
                    case _:
                        self.rvalue(node)
            case "UNARY_OPERATOR" if node.unary_operator in ("postinc", "postdec", "preinc", "predec"):
                self.increment(node)
            case "COMPOUND_ASSIGNMENT_OPERATOR":
                self.compound(node)
            case "CALL_EXPR":
                self.call_effect(node)
            case "CONDITIONAL_OPERATOR":
                self._conditional_effect(node)
            case kind if kind in CASTS and node.type.kind == "VOID":
                self.effect(node.operands[-1])
            case _:
                self.rvalue(node)

    def _conditional_effect(self, node: Node) -> None:
        condition, then, other = node.operands
        test = self.condition(condition)
        with self.nested() as yes:
            self.effect(then)
        with self.nested() as no:
            self.effect(other)
        if yes or no:
            self.emit(If(test, tuple(yes), tuple(no), node.span))

    # --- values ---

    def rvalue(self, node: Node) -> Value:
        match node.kind:
            case "INTEGER_LITERAL" | "FLOATING_LITERAL" | "CHARACTER_LITERAL" | "CXX_BOOL_LITERAL_EXPR":
                return self.constant(node)
            case "CXX_NULL_PTR_LITERAL_EXPR" | "GNU_NULL_EXPR":
                return IntConst(0, I64)
            case "CXX_UNARY_EXPR" | "SIZE_OF_PACK_EXPR":
                return self.constant(node)
            case "PAREN_EXPR":
                return self.rvalue(node.operands[0])
            case "UNEXPOSED_EXPR":
                return self._unexposed(node)
            case "UNARY_OPERATOR":
                return self._unary(node)
            case "BINARY_OPERATOR":
                return self._binary(node)
            case "COMPOUND_ASSIGNMENT_OPERATOR":
                return self.read(self.compound(node), node.span)
            case "CONDITIONAL_OPERATOR":
                return self.conditional(node)
            case "CALL_EXPR":
                value = self.call(node)
                if value is None:
                    raise Refused("void value", node.spelling, node.span)
                return value
            case "LAMBDA_EXPR":
                return self.closure(node)
            case "INIT_LIST_EXPR":
                return self._init_list(node)
            case "DECL_REF_EXPR" | "MEMBER_REF_EXPR" | "ARRAY_SUBSCRIPT_EXPR":
                return self.reference(node)
            case "CXX_THIS_EXPR":
                raise Refused("this", "used as a value", node.span)
            case kind if kind in CASTS:
                return self._cast(node)
        raise Refused(node.kind.lower().replace("_", " "), node.source[:80], node.span)

    def constant(self, node: Node) -> Expr:
        return self.constant_of(node.evaluate(), node.type, node.span)

    def constant_of(self, value: int | float | None, type_: CType, span: Span) -> Expr:
        target = self.types.of(type_)
        match target, value:
            case Int(bits=bits, signed=signed), int():
                number = value & ((1 << bits) - 1)
                return IntConst(number - (1 << bits) if signed and number >> (bits - 1) else number, target)
            case Bool(), int():
                return BoolConst(bool(value))
            case Float(), int() | float():
                return FloatConst(float(value), target)
        raise Refused("constant", "that the parser cannot evaluate", span)

    def _unexposed(self, node: Node) -> Value:
        operands = node.operands
        if len(operands) != 1:
            if not operands and node.evaluate() is not None:
                return self.constant(node)
            raise Refused("expression", node.source[:80] or node.type.spelling, node.span)
        child = operands[0]
        target = node.type
        if child.extent != node.extent:
            raise Refused(
                "expression", node.source[:80], node.span
            )  # no implicit conversion: it has text of its own
        if target.kind == "BOOL" and is_string(child):
            return BoolConst(True)
        if target.kind == "POINTER" and child.type.is_array and not is_decayed(child):
            if child.kind == "STRING_LITERAL":
                raise Refused("string", child.source[:80], node.span)
            return self.decay(self.lvalue(child), node.span, target.pointee.const)
        if target.kind == "RECORD" or target.kind == "VOID" or target.is_array:
            return self.rvalue(child)
        value = self.rvalue(child)
        if isinstance(value, Aggregate | ArrayValue | Closure | FunctionRef):
            if target.key == child.type.key or isinstance(value, FunctionRef):
                return value
            raise Refused("conversion", f"to {target.spelling}", node.span)
        return self.convert(value, self.types.of(target), node.span)

    def reference(self, node: Node) -> Value:
        if node.kind == "DECL_REF_EXPR":
            target = node.referenced
            if target.kind == "FUNCTION_DECL":
                return FunctionRef(target)
            if node.operands and (not target.exists or target.kind == "NON_TYPE_TEMPLATE_PARAMETER"):
                value = self.rvalue(node.operands[-1])
                if isinstance(value, FunctionRef):
                    return value
                if isinstance(value, Aggregate | ArrayValue | Closure):
                    raise Refused("template argument", node.source[:60], node.span)
                return self.convert(value, self.types.of(node.type), node.span)
        return self.read(self.lvalue(node), node.span)

    def _cast(self, node: Node) -> Value:
        child = node.operands[-1] if node.operands else None
        target = node.type
        if child is None:
            return self.zero(self.types.of(target), node.span)
        if self.is_reference_cast(node, child):
            return self.read(self.lvalue(node), node.span)
        if target.kind == "VOID":
            raise Refused("void value", node.source[:60], node.span)
        value = self.rvalue(child)
        if target.kind == "RECORD" or isinstance(value, Aggregate | ArrayValue | Closure | FunctionRef):
            if isinstance(
                value, Aggregate | ArrayValue | Closure | FunctionRef
            ) or value.type == self.types.of(target):
                return value
            raise Refused("cast", f"to {target.spelling}", node.span)
        return self.convert(value, self.types.of(target), node.span, implicit=False)

    # --- operators ---

    def _unary(self, node: Node) -> Value:
        operator = node.unary_operator
        child = node.operands[-1]
        match operator:
            case "addrof":
                if child.type.kind in ("FUNCTIONPROTO", "FUNCTIONNOPROTO"):
                    return self.rvalue(child)
                return self.address(self.lvalue(child), node.span, node.type.pointee.const)
            case "deref":
                return self.read(self.lvalue(node), node.span)
            case "plus" | "extension":
                return self.rvalue(child)
            case "not":
                return negate(self.condition(child))
            case "minus" | "bitnot":
                return self._negative(operator, self.scalar(child), node.span)
            case "postinc" | "postdec":
                target = self.lvalue(child)
                old = self.snapshot(self.read(target, node.span))
                self._step(target, old, operator == "postinc", node.span)
                return old
            case "preinc" | "predec":
                return self.read(self.increment(node), node.span)
        raise Refused("operator", node.source[:60], node.span)

    def _negative(self, operator: str, value: Expr, span: Span) -> Expr:
        type_ = value.type
        if isinstance(type_, Bool) or not isinstance(type_, Int | Float):
            raise Refused("operator", f"{operator} of a {type(type_).__name__.lower()}", span)
        if operator == "bitnot":
            return Unary("bitnot", value, type_, span)
        if isinstance(value, IntConst) and isinstance(type_, Int) and type_.signed and value.value > 0:
            return IntConst(-value.value, type_)
        if isinstance(value, FloatConst):
            return FloatConst(-value.value, value.type)
        return Unary("neg", value, type_, span)

    def increment(self, node: Node) -> LValue:
        """``++x`` or ``x++`` whose old value nobody needs."""
        target = self.lvalue(node.operands[-1])
        value = self.read(target, node.span)
        self._step(target, value, node.unary_operator.endswith("inc"), node.span)
        return target

    def _step(self, target: LValue, old: Value, up: bool, span: Span) -> None:
        if isinstance(old, Aggregate | ArrayValue | Closure | FunctionRef):
            raise Refused("operator", "++ of a class", span)
        type_ = old.type
        match type_:
            case Pointer():
                self.write(target, PtrAdd(old, IntConst(1 if up else -1, I64), type_, span), span)
            case Int():
                wide = promoted(type_)
                assert isinstance(wide, Int)
                assert isinstance(wide, Int)
                operand = self.convert(old, wide, span)
                result = Binary("add" if up else "sub", operand, IntConst(1, wide), wide, span)
                self.write(target, self.convert(result, type_, span), span)
            case Float():
                one = FloatConst(1.0, type_)
                self.write(target, Binary("add" if up else "sub", old, one, type_, span), span)
            case _:
                raise Refused("operator", "++ of this type", span)

    def _binary(self, node: Node) -> Value:
        operator = node.binary_operator
        left, right = node.operands[-2:]
        match operator:
            case "assign":
                target, value = self.assign(node)
                return value if not isinstance(target, LocalVar) else self.read(target, node.span)
            case "comma":
                self.effect(left)
                return self.rvalue(right)
            case "land" | "lor":
                return self._logical(operator, left, right, node.span)
            case "":
                raise Refused("operator", node.source[:60], node.span)
        if operator in _COMPARISONS:
            return self._comparison(operator, left, right, node.span)
        first, second = self.scalars((left, right))
        return self.arithmetic(operator, first, second, self.types.of(node.type), node.span)

    def _comparison(self, operator: str, left: Node, right: Node, span: Span) -> Expr:
        first, second = self.scalars((left, right))
        if first.type != second.type:
            if isinstance(first.type, Pointer) and isinstance(second.type, Pointer | Int):
                second = self.convert(second, first.type, span)
            elif isinstance(second.type, Pointer) and isinstance(first.type, Int):
                first = self.convert(first, second.type, span)
            else:
                raise Refused("comparison", "of different types", span)
        return Compare(operator, first, second)  # type: ignore[arg-type]

    def arithmetic(self, operator: str, left: Expr, right: Expr, type_: Type, span: Span) -> Expr:
        """A binary operator on operands that C has converted already (the shift count excepted)."""
        match left.type, right.type:
            case Pointer() as pointer, Int() if operator in ("add", "sub"):
                return PtrAdd(left, self._offset(operator, right, span), pointer, span)
            case Int(), Pointer() as pointer if operator == "add":
                return PtrAdd(right, self._offset(operator, left, span), pointer, span)
            case Pointer() as pointer, Pointer() if operator == "sub":
                return self.convert(PtrDiff(left, self.convert(right, pointer, span)), type_, span)
        if operator in ("shl", "shr"):
            right = self.convert(right, left.type, span)
        if left.type != type_ or right.type != type_ or isinstance(type_, Bool):
            raise Refused("operator", f"{operator} on operands of different types", span)
        return Binary(operator, left, right, type_, span)  # type: ignore[arg-type]

    def _offset(self, operator: str, value: Expr, span: Span) -> Expr:
        index = self.index(value, span)
        if operator == "add":
            return index
        return IntConst(-index.value, I64) if isinstance(index, IntConst) else Unary("neg", index, I64, span)

    def _logical(self, operator: str, left: Node, right: Node, span: Span) -> Expr:
        first = self.condition(left)
        with self.nested() as effects:
            second = self.condition(right)
        conjunction = operator == "land"
        if not effects:
            return And(first, second) if conjunction else Or(first, second)
        result = self.temporary(BOOL)
        self.emit(Assign(result.name, BoolConst(not conjunction), span))
        effects.append(Assign(result.name, second, span))
        self.emit(If(first if conjunction else negate(first), tuple(effects), (), span))
        return Read(result.name, BOOL)

    def conditional(self, node: Node) -> Value:
        condition, then, other = node.operands
        test = self.condition(condition)
        with self.nested() as yes:
            first = self.rvalue(then)
        with self.nested() as no:
            second = self.rvalue(other)
        if isinstance(first, FunctionRef):
            first = self.function_number(first)
        if isinstance(second, FunctionRef):
            second = self.function_number(second)
        if isinstance(first, Closure) or isinstance(second, Closure):
            raise Refused("lambda or function", "chosen by a condition", node.span)
        if not isinstance(first, Aggregate | ArrayValue) and not isinstance(second, Aggregate | ArrayValue):
            if first.type != second.type:
                type_ = self.types.of(node.type)
                with self.resumed(yes):
                    first = self.convert(first, type_, node.span)
                with self.resumed(no):
                    second = self.convert(second, type_, node.span)
            if not yes and not no:
                return Select(test, first, second, first.type)
            result: LValue = self.temporary(first.type)
        elif isinstance(first, Aggregate) and isinstance(second, Aggregate) and first.type == second.type:
            result = self.split("t", first.type)
        else:
            raise Refused("conditional", "of arrays or groups", node.span)
        with self.resumed(yes):
            self.write(result, first, node.span)
        with self.resumed(no):
            self.write(result, second, node.span)
        self.emit(If(test, tuple(yes), tuple(no), node.span))
        return self.read(result, node.span)

    def assign(self, node: Node) -> tuple[LValue, Value]:
        """``left = right``: the right side first, as C++17 has it. The value is what the place holds afterwards."""
        left, right = node.operands[-2:]
        value = self.rvalue(right)
        start = len(self.out)
        target = self.lvalue(left)
        held = [value]
        self.protect(held, start)
        self.write(target, held[0], node.span)
        return target, held[0]

    def compound(self, node: Node) -> LValue:
        """``left op= right``: promoted, computed, converted back."""
        left, right = node.operands[-2:]
        operand = self.scalar(right)
        start = len(self.out)
        target = self.lvalue(left)
        held: list[Value] = [operand]
        self.protect(held, start)
        assert not isinstance(held[0], Aggregate | ArrayValue | Closure | FunctionRef)
        operand = held[0]
        old = self.read(target, node.span)
        if isinstance(old, Aggregate | ArrayValue | Closure | FunctionRef):
            raise Refused("operator", node.source[:60], node.span)
        self.write(target, self.compound_value(node.binary_operator, old, operand, node.span), node.span)
        return target

    def compound_value(self, operator: str, old: Expr, operand: Expr, span: Span) -> Expr:
        type_ = old.type
        if isinstance(type_, Pointer):
            return self.arithmetic(operator, old, operand, type_, span)
        if operator in ("shl", "shr"):
            common = promoted(type_)
        else:
            common = operand.type  # the parser has converted the right operand to the common type
        left = self.convert(old, common, span)
        if isinstance(common, Bool):
            raise Refused("operator", "on bool", span)
        return self.convert(self.arithmetic(operator, left, operand, common, span), type_, span)

    def _init_list(self, node: Node) -> Value:
        type_ = self.types.of(node.type)
        if isinstance(type_, Struct):
            target = self.variable("t", type_, 0, node.span)
            self.initialise(target, node, node.span)
            return self.read(target, node.span)
        operands = node.operands
        if not operands:
            return self.zero(type_, node.span)
        if len(operands) != 1 or isinstance(type_, Array):
            raise Refused("initialiser list", node.source[:60], node.span)
        return self.convert(self.scalar(operands[0]), type_, node.span)


def negate(condition: Expr) -> Expr:
    match condition:
        case BoolConst(value=value):
            return BoolConst(not value)
        case Not(operand=operand):
            return operand
        case _:
            return Not(condition)


def promoted(type_: Type) -> Type:
    """Integer promotion."""
    match type_:
        case Int(bits=bits) if bits < 32:
            return I32
        case Bool():
            return I32
        case _:
            return type_
