"""Calls: the user's functions are inlined, the shim's become what the intrinsic table says.

Input -> output: a CALL_EXPR or LAMBDA_EXPR node -> its value, with the effects as statements.

Invariant: a call whose body or table entry is not there is refused by name; recursion is refused; each call site has
locals of its own, shared objects are shared by all of them.

Example: ``float r = blockReduce(v);`` -> the body of blockReduce in a Scope, its ``return`` an Assign and a Leave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from specs.location import Span
from verifier.frontend.device_builder import MAX_DEPTH
from verifier.frontend.device_clang import CType, Node
from verifier.frontend.device_intrinsics import IntrinsicCalls, is_held
from verifier.frontend.device_places import is_string, place_type
from verifier.frontend.device_types import FUNCTION_POINTER, Refused, is_lambda
from verifier.frontend.device_values import (
    Aggregate,
    ArrayValue,
    Closure,
    Frame,
    FunctionRef,
    LocalVar,
    LValue,
    Memory,
    Split,
    Temp,
    Value,
)
from verifier.ir.nodes import (
    BODILESS,
    Array,
    Assign,
    Bool,
    Compare,
    Expr,
    Float,
    If,
    Int,
    IntConst,
    Pointer,
    Read,
    Scope,
    Struct,
    Trap,
    Undef,
    Unsupported,
)

_FUNCTIONS = frozenset({"FUNCTION_DECL", "CXX_METHOD", "CONVERSION_FUNCTION", "FUNCTION_TEMPLATE"})


class Calls(IntrinsicCalls):
    """Lowering of calls and lambdas; statements are in the subclass."""

    # --- provided by the statements layer ---

    def statements(self, nodes: Sequence[Node]) -> None:
        raise NotImplementedError

    def default_initialise(self, target: LValue, node: Node | None, span: Span) -> None:
        raise NotImplementedError

    def construct(self, node: Node, callee: Node) -> Value:
        raise NotImplementedError

    # --- calls ---

    def call(self, node: Node) -> Value | None:
        result = self._call(node, want_place=False)
        if result is None or not isinstance(result, LocalVar | Memory | Split | Temp):
            return result
        return self.read(result, node.span)

    def call_effect(self, node: Node) -> None:
        self._call(node, want_place=True)

    def call_lvalue(self, node: Node) -> LValue:
        result = self._call(node, want_place=True)
        if result is None:
            raise Refused("void value", node.spelling, node.span)
        return result if isinstance(result, LocalVar | Memory | Split | Temp) else Temp(result)

    def _call(self, node: Node, want_place: bool) -> Value | LValue | None:
        callee = node.referenced
        if callee.start < 0 and callee.definition.start >= 0:
            callee = callee.definition  # the text defines a function of the shim's name and types itself
        if callee.kind == "CONSTRUCTOR":
            return self.construct(node, callee)
        if callee.kind not in _FUNCTIONS or _calls_a_result(node):
            return self._indirect(node, callee, want_place)
        if callee.spelling == "operator=" and callee.kind == "CXX_METHOD" and callee.body is None:
            return self._copy_assign(node)
        if callee.start < 0 or callee.spelling.startswith("__builtin_"):
            return self.intrinsic_call(node, callee)
        return self._user_call(node, callee, want_place)

    def _indirect(self, node: Node, callee: Node, want_place: bool) -> Value | LValue | None:
        """A call through a function pointer: known here (a template argument, a parameter), or one of the text's."""
        name = callee.spelling or node.source[:60]
        if not node.operands:
            raise Refused("call", name, node.span)
        operand = _function_behind(node.operands[0])
        target = self.rvalue(operand)
        if isinstance(target, FunctionRef):
            return self._call_one(node, target.function, want_place)
        if isinstance(target, Aggregate | ArrayValue | Closure) or target.type != FUNCTION_POINTER:
            raise Refused("indirect call", name, node.span)
        type_ = operand.type.pointee if operand.type.kind == "POINTER" else operand.type
        return self._call_any(node, self.snapshot_expr(target), type_, name)

    def _call_one(self, node: Node, function: Node, want_place: bool) -> Value | LValue | None:
        if function.start < 0:
            return self.intrinsic_call(node, function)
        return self._user_call(node, function, want_place)

    def _call_any(self, node: Node, target: Expr, type_: CType, name: str) -> Value | None:
        """One branch for each function of the type; a pointer to none of them is a fault."""
        candidates = [f for f in self.unit.functions if f.type.key == type_.key]
        result_type = type_.result
        if result_type.is_reference or len(candidates) > 16:
            raise Refused("indirect call", name, node.span)
        result: LValue | None = None
        if result_type.kind != "VOID":
            result = self.variable(f"{name}.ret", self.types.of(result_type), 0, node.span)
            self.undefined(result, node.span)
        with self.nested() as branch:
            if self.unit.functions_known:
                self.emit(Trap("a call through a pointer to no function", node.span))
            else:
                self.emit(Unsupported("indirect call", name, node.span))
        for function in candidates:
            with self.nested() as inner:
                value = self._call_one(node, function, False)
                if result is not None and value is not None:
                    held = (
                        value
                        if not isinstance(value, LocalVar | Memory | Split | Temp)
                        else self.read(value, node.span)
                    )
                    self.write(result, held, node.span)
            here = Compare("eq", target, self.function_number(FunctionRef(function)))
            branch = [If(here, tuple(inner), tuple(branch), node.span)]
        self.out.extend(branch)
        return self.read(result, node.span) if result is not None else None

    def function_number(self, function: FunctionRef) -> Expr:
        known = [f.key for f in self.unit.functions]
        node = function.function
        key = node.key if node.key in known else node.definition.key
        if key not in known:
            raise Refused("function pointer", function.function.spelling)
        return IntConst(known.index(key) + 1, FUNCTION_POINTER)

    def _copy_assign(self, node: Node) -> LValue:
        if node.type.kind == "RECORD" and _assigns_itself(node.type, self.types.bases):
            raise Refused("assignment", f"of {node.type.spelling}: a member has its own operator=", node.span)
        left, right = (
            node.arguments[-2:] if len(node.arguments) >= 2 else (node.operands[0], node.operands[-1])
        )
        value = self.rvalue(right)
        target = self.lvalue(left)
        type_ = place_type(target)
        if type_ is not None and not isinstance(value, Aggregate | ArrayValue | Closure | FunctionRef):
            value = self.convert(
                value, type_, node.span
            )  # a 16-bit float has an operator= for each number type
        self.write(target, value, node.span)
        return target

    def _user_call(self, node: Node, function: Node, want_place: bool) -> Value | LValue | None:
        callee = function
        if callee.is_virtual:
            raise Refused("virtual call", callee.spelling, node.span)
        body = callee.body
        if body is None:
            callee = callee.definition
            body = callee.body if callee.exists else None
        if body is None:
            return self._without_body(node, function)
        arguments = list(node.arguments)
        this: LValue | None = None
        copies: dict[int, LValue] = {}
        if callee.kind in ("CXX_METHOD", "CONVERSION_FUNCTION") and not callee.is_static_method:
            owner, arguments = self._receiver(node, arguments)
            this = owner
            if isinstance(owner, Temp) and isinstance(owner.value, Closure):
                copies = dict(owner.value.copies)
                this = owner.value.this
        return self.inline(callee, body, arguments, node, this, copies, want_place)

    def _without_body(self, node: Node, function: Node) -> Value | None:
        """Any value of a number's type, after a statement that nothing is known of (unless it is assumed to be pure)."""
        name = function.spelling or node.spelling
        type_ = self.types.of(node.type) if node.type.kind != "VOID" else None
        number = type_ is None or isinstance(type_, Int | Bool | Float)
        if not number or function.kind != "FUNCTION_DECL" or function.type.result.is_reference:
            raise Refused(BODILESS, name, node.span)
        for argument in node.arguments:
            if not is_string(argument):
                self.rvalue(argument)
        self.emit(Unsupported(BODILESS, name, node.span))
        if type_ is None:
            return None
        holder = self.temporary(type_)
        self.emit(Assign(holder.name, Undef(type_, "", node.span), node.span))
        return Read(holder.name, type_)

    def _receiver(self, node: Node, arguments: list[Node]) -> tuple[LValue, list[Node]]:
        first = node.operands[0] if node.operands else None
        if (
            first is not None
            and first.kind == "MEMBER_REF_EXPR"
            and first.referenced.key == node.referenced.key
        ):
            return self.freeze(self.object_of(first)), arguments
        if not arguments:
            raise Refused("method call", node.source[:60], node.span)
        return self.freeze(self.lvalue(arguments[0])), arguments[1:]

    # --- inlining ---

    def inline(
        self,
        callee: Node,
        body: Node,
        arguments: Sequence[Node],
        node: Node,
        this: LValue | None,
        copies: dict[int, LValue],
        want_place: bool = False,
        before: Callable[[], None] | None = None,
    ) -> Value | LValue | None:
        name = callee.spelling or "lambda"
        if any(frame.key == callee.key for frame in self.frames):
            raise Refused("recursion", name, node.span)
        if len(self.frames) >= MAX_DEPTH:
            raise Refused("call depth", f"more than {MAX_DEPTH} nested calls", node.span)
        self.refuse_broken(callee)
        self._bind_parameters(callee, arguments, node)
        hidden = {key: self.env.get(key) for key in copies}
        self.env.update(copies)
        span = node.span
        self.path.append(f"{span.line}:{span.column}")
        self.frames.append(Frame("", None, this, callee.key))
        try:
            return self._inline_body(callee, body, name, span, want_place, before)
        finally:
            self.frames.pop()
            self.path.pop()
            for key, binding in hidden.items():
                if binding is not None:
                    self.env[key] = binding

    def _inline_body(
        self,
        callee: Node,
        body: Node,
        name: str,
        span: Span,
        want_place: bool,
        before: Callable[[], None] | None,
    ) -> Value | LValue | None:
        if before is not None:
            before()
        result_type = callee.type.result
        statements = body.children
        returns = _returns(body)
        last = statements[-1] if statements else None
        ends = last is not None and [each.statement_key for each in returns] == [last.statement_key]
        straight = not returns or ends
        if straight:
            self.statements(statements[:-1] if returns else statements)
            operands = last.operands if returns and last is not None else ()
            if result_type.kind == "VOID" or not operands:
                if operands:
                    self.effect(operands[0])
                if result_type.kind == "VOID":
                    return None
                return Undef(self.types.of(result_type), "missing return", span)
            if result_type.is_reference:
                return self.freeze(self.lvalue(operands[0]))
            return self.rvalue(operands[0])
        frame = self.frame
        frame.label = self.fresh(name)
        frame.last = last
        with self.nested() as inner:
            if result_type.is_reference:
                pointer = Pointer(self.types.of(result_type), result_type.pointee.const)
                frame.result = self.local(f"{name}.at", pointer)
                frame.refers = True
                self.emit(Assign(frame.result.name, Undef(pointer, "", span), span))
            elif result_type.kind != "VOID":
                frame.result = self._result(name, result_type, span, last)
            self.statements(statements)
        self.emit(Scope(frame.label, tuple(inner)))
        if frame.refers and isinstance(frame.result, LocalVar):
            at = self.snapshot_expr(Read(frame.result.name, frame.result.type))
            return self.dereference(at, span, result_type.pointee.volatile)
        return self.read(frame.result, span) if frame.result is not None else None

    def _result(self, name: str, type_: CType, span: Span, last: Node | None) -> LValue:
        if is_lambda(type_):
            raise Refused("lambda", f"returned by {name} on several paths", span)
        target = self.variable(f"{name}.ret", self.types.of(type_), 0, span)
        if last is None or last.kind != "RETURN_STMT":
            self.undefined(target, span)
        return target

    def _bind_parameters(self, callee: Node, arguments: Sequence[Node], node: Node) -> None:
        parameters = [child for child in callee.children if child.kind == "PARM_DECL"]
        if len(arguments) != len(parameters):
            raise Refused("call", f"{callee.spelling}: {len(arguments)} arguments", node.span)
        bound: list[LValue | None] = []
        values: list[Value] = []
        for parameter, argument in zip(parameters, arguments, strict=True):
            initial = self.given(parameter, argument)
            start = len(self.out)
            place = self.bind_reference(initial, parameter) if parameter.type.is_reference else None
            value = self.rvalue(initial) if place is None else Undef(Struct("", (), 0, 1))
            self.protect(values, start)
            bound.append(place)
            values.append(value)
        for parameter, place, value in zip(parameters, bound, values, strict=True):
            if place is not None:
                self.env[parameter.key] = place
            elif isinstance(value, Closure | FunctionRef) or is_held(parameter.type):
                self.env[parameter.key] = self.kept(value, arguments[parameters.index(parameter)])
            else:
                type_ = self.types.parameter(parameter.type)
                name = parameter.spelling or "unnamed"
                target = self.variable(name, type_, parameter.key, parameter.span)
                self.write(target, value, node.span)
                self.env[parameter.key] = target

    def bind_reference(self, initial: Node, variable: Node) -> LValue:
        place = self.freeze(self.lvalue(initial))
        if isinstance(place, Temp):
            if not isinstance(place.value, Aggregate | ArrayValue | Closure | FunctionRef):
                target = self.types.of(variable.type)
                converted = self.convert(place.value, target, initial.span)
                if not variable.type.pointee.const:
                    holder = self.variable(variable.spelling, target, variable.key, initial.span)
                    self.write(holder, converted, initial.span)
                    return holder
                return Temp(self.snapshot(converted), place.root)
            return Temp(self.snapshot(place.value), place.root)
        return place

    # --- lambdas ---

    def kept(self, value: Value, initial: Node) -> Temp:
        """A new variable's value; a copy of a lambda that changes its own variables would have others of its own."""
        if (
            isinstance(value, Closure)
            and value.copies
            and _is_mutable(value.body)
            and not _is_lambda(initial)
        ):
            raise Refused("lambda", "that changes its own variables, copied", initial.span)
        return Temp(self.snapshot(value))

    def closure(self, node: Node) -> Value:
        copies: dict[int, LValue] = {}
        text = node.source
        captures = text[1 : text.find("]")] if text.startswith("[") else "="
        items = [item.strip() for item in captures.split(",") if item.strip()]
        if any("=" in item and item != "=" for item in items):
            raise Refused("lambda", "with an initialised capture", node.span)
        if "*this" in items:
            raise Refused("lambda", "that copies *this", node.span)
        default_copy = "=" in items
        named = {item for item in items if item not in ("=", "&", "this")}
        by_copy = {name for name in named if not name.startswith("&")}
        by_reference = {name.lstrip("& ") for name in named if name.startswith("&")}
        start, end = node.extent
        for target in _outer_variables(node):
            name = target.spelling
            if start <= target.start < end:
                continue
            bound = self.env.get(target.key)
            if bound is None or target.key in copies or name in by_reference:
                continue
            if isinstance(bound, Temp) and (name in by_copy or default_copy):
                self.kept(bound.value, target)
            if (name in by_copy or default_copy) and isinstance(bound, LocalVar | Split):
                copies[target.key] = self._copy(name, bound, target.span)
            elif (
                (name in by_copy or default_copy)
                and isinstance(bound, Memory)
                and not target.type.is_reference
            ):
                if target.has("CUDASHARED_ATTR"):
                    continue
                if isinstance(bound.type, Array) and target.type.is_array:
                    raise Refused("lambda", f"that copies the array {name}", node.span)
                copies[target.key] = self._copy(name, bound, target.span)
        return Closure(node, copies, self.frames[-1].this if self.frames else None)

    def _copy(self, name: str, source: LValue, span: Span) -> LValue:
        value = self.read(source, span)
        assert not isinstance(value, ArrayValue | Closure | FunctionRef)
        target = self.variable(name, value.type, 0, span)
        self.write(target, value, span)
        return target

    def return_value(self, operand: Node | None, span: Span) -> None:
        """``return operand`` of an inlined function that returns on several paths."""
        frame = self.frame
        if operand is None:
            return
        if frame.result is None:
            self.effect(operand)
        elif frame.refers and isinstance(frame.result, LocalVar):
            assert isinstance(frame.result.type, Pointer)
            address = self.address(self.lvalue(operand), span, frame.result.type.const)
            self.write(frame.result, self.convert(address, frame.result.type, span), span)
        else:
            self.write(frame.result, self.rvalue(operand), span)


def _is_lambda(node: Node) -> bool:
    """Whether an initialiser is the lambda itself, not a variable that holds one."""
    while node.kind in ("UNEXPOSED_EXPR", "CALL_EXPR", "PAREN_EXPR") and len(node.operands) == 1:
        node = node.operands[0]
    return node.kind == "LAMBDA_EXPR"


def _is_mutable(body: Node) -> bool:
    return re.search(r"\bmutable\b", body.source.partition("{")[0]) is not None


def _assigns_itself(record: CType, bases: Callable[[CType], list[CType]]) -> bool:
    """Whether a base or member of the class has an assignment of its own, which the implicit one would call."""
    parts = bases(record)
    for part in record.fields:
        type_ = part.type
        while type_.is_array:
            type_ = type_.element
        parts += [type_] if type_.kind == "RECORD" else []
    return any(
        part.declaration.start >= 0
        and (
            any(m.spelling == "operator=" and not m.is_defaulted for m in part.members)
            or _assigns_itself(part, bases)
        )
        for part in parts
    )


def _calls_a_result(node: Node) -> bool:
    """``pick(i)(x)``: what is called is the result of another call, whatever the parser says that it refers to."""
    first = _function_behind(node.operands[0]) if node.operands else None
    return (
        first is not None
        and first.kind in ("CALL_EXPR", "CONDITIONAL_OPERATOR")
        and first.type.kind == "POINTER"
        and first.type.pointee.kind in ("FUNCTIONPROTO", "FUNCTIONNOPROTO")
    )


def _function_behind(node: Node) -> Node:
    """What ``(*f)(x)`` calls: ``f``."""
    while True:
        if node.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and len(node.operands) == 1:
            inner = node.operands[0]
        elif node.kind == "UNARY_OPERATOR" and node.unary_operator in ("deref", "addrof"):
            inner = node.operands[-1]
        else:
            return node
        if inner.type.kind not in ("POINTER", "FUNCTIONPROTO", "FUNCTIONNOPROTO"):
            return node
        node = inner


def _returns(node: Node) -> list[Node]:
    """The return statements of a body, those of lambdas in it excepted."""
    found: list[Node] = []
    for child in node.children:
        if child.kind == "RETURN_STMT":
            found.append(child)
        elif child.kind not in ("LAMBDA_EXPR", "DECL_REF_EXPR"):
            found += _returns(child)
    return found


def _outer_variables(node: Node) -> list[Node]:
    found: list[Node] = []
    for child in node.children:
        if child.kind == "DECL_REF_EXPR":
            target = child.referenced
            if target.kind in ("VAR_DECL", "PARM_DECL"):
                found.append(target)
        found += _outer_variables(child)
    return found
