"""C++ statements and declarations as IR statements.

Input -> output: statement nodes -> statements appended to the current list.

Invariant: a statement that is refused becomes Unsupported with its construct and place; nothing is dropped in silence.

Example: ``for (int i = 0; i < n; ++i) s += x[i];`` -> ``i = 0; loop L { while i < n; …; step i = i + 1 }``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from specs.location import Span
from verifier.frontend.device_clang import Node
from verifier.frontend.device_expressions import negate
from verifier.frontend.device_matrix import Matrices
from verifier.frontend.device_types import Refused
from verifier.frontend.device_values import Aggregate, ArrayValue, Closure, FunctionRef, Memory, Poison
from verifier.frontend.statement_heads import semicolons
from verifier.ir.nodes import (
    BOOL,
    I64,
    Array,
    Assign,
    Binary,
    BoolConst,
    Compare,
    Expr,
    If,
    IntConst,
    Leave,
    Loop,
    Or,
    Read,
    Scope,
    Unsupported,
)

_JUMPS = frozenset({"BREAK_STMT", "RETURN_STMT", "CONTINUE_STMT"})
_NAMES = {
    "GOTO_STMT": "goto", "LABEL_STMT": "label", "CXX_TRY_STMT": "try",
    "INDIRECT_GOTO_STMT": "goto", "MS_ASM_STMT": "inline assembly",
}  # fmt: skip


@dataclass(slots=True)
class _Group:
    """The statements after one or several ``case`` labels."""

    values: list[Expr] = field(default_factory=list)
    default: bool = False
    body: list[Node] = field(default_factory=list)


class Statements(Matrices):
    """Lowering of statements: the whole of a function body."""

    @property
    def has_goto(self) -> bool:
        return re.search(rb"\bgoto\b", self.unit.text) is not None

    def statements(self, nodes: Sequence[Node]) -> None:
        """What comes before a label is a scope that a ``goto`` of it leaves; jumps backwards are refused."""
        last = (
            max((i for i, n in enumerate(nodes) if n.kind == "LABEL_STMT"), default=0) if self.has_goto else 0
        )
        if last:
            name, ahead = nodes[last].spelling, self.frame.ahead
            label = self.fresh(f"goto.{name}")
            outer, ahead[name] = ahead.get(name), label
            with self.nested() as inner:
                self.statements(nodes[:last])
            del ahead[name]
            if outer is not None:
                ahead[name] = outer
            self.emit(Scope(label, tuple(inner)))
        for node in nodes[last:]:
            self.statement(node)

    def statement(self, node: Node) -> None:
        try:
            self._statement(node)
        except Refused as refused:
            span = refused.span if refused.span.line else node.span
            self.emit(Unsupported(refused.construct, refused.detail, span))
        except RecursionError:
            self.emit(Unsupported("nesting", "too deep", node.span))

    def _statement(self, node: Node) -> None:
        match node.kind:
            case "COMPOUND_STMT":
                self.statements(node.children)
            case "DECL_STMT":
                for child in node.children:
                    self._declaration(child)
            case "NULL_STMT":
                pass
            case "IF_STMT":
                self._if(node)
            case "FOR_STMT":
                self._for(node)
            case "CXX_FOR_RANGE_STMT":
                self._range_for(node)
            case "WHILE_STMT":
                self._while(node)
            case "DO_STMT":
                self._do(node)
            case "SWITCH_STMT":
                self._switch(node)
            case "BREAK_STMT":
                self._jump(self.frame.breaks, "break", node)
            case "CONTINUE_STMT":
                self._jump(self.frame.loops, "continue", node)
            case "RETURN_STMT":
                self._return(node)
            case "UNEXPOSED_STMT" if node.children:
                self._statement(node.children[-1])
            case "LABEL_STMT":
                self.statement(node.children[-1])
            case "GOTO_STMT" if (scope := self.frame.ahead.get(_target(node))) is not None:
                self.emit(Leave(scope, node.span))
            case "ASM_STMT":
                self.assembly(node)
            case kind if kind in _NAMES:
                raise Refused(_NAMES[kind], node.source[:80], node.span)
            case kind if kind.endswith(("_STMT", "_DECL")):
                raise Refused(kind.lower().replace("_", " "), node.source[:80], node.span)
            case _:
                self.effect(node)

    def _jump(self, labels: list[str], what: str, node: Node) -> None:
        if not labels:
            raise Refused(what, "outside of a loop", node.span)
        self.emit(Leave(labels[-1], node.span))

    def _return(self, node: Node) -> None:
        operands = node.operands
        frame = self.frame
        self.return_value(operands[0] if operands else None, node.span)
        if frame.last is None or frame.last.statement_key != node.statement_key:
            self.emit(Leave(frame.label, node.span))

    # --- declarations ---

    def _declaration(self, node: Node) -> None:
        match node.kind:
            case "VAR_DECL":
                try:
                    self.declare(node)
                except Refused as refused:
                    self.env[node.key] = Poison(refused.construct)
                    refused.span = refused.span if refused.span.line else node.span
                    raise
            case (
                "TYPEDEF_DECL" | "TYPE_ALIAS_DECL" | "STRUCT_DECL" | "CLASS_DECL" | "ENUM_DECL" | "UNION_DECL"
            ):
                pass
            case (
                "STATIC_ASSERT" | "STATICASSERT" | "USING_DECLARATION" | "USING_DIRECTIVE" | "NAMESPACE_ALIAS"
            ):
                pass
            case "FUNCTION_DECL" | "EMPTY_DECL" | "TYPE_ALIAS_TEMPLATE_DECL":
                pass
            case "UNEXPOSED_DECL" if "[" in node.source or not node.children:
                raise Refused("declaration", node.source[:60], node.span)
            case kind:
                raise Refused(kind.lower().replace("_", " "), node.source[:60], node.span)

    # --- branches ---

    def _if(self, node: Node) -> None:
        head = self.unit.text[node.start : node.start + 40]
        children = node.children
        made = semicolons(self.unit.text, node.start, node.extent[1]) > 0
        if made and children[0].kind != "DECL_STMT":
            raise Refused("if with an initialiser", node.source[:60], node.span)
        if re.match(rb"if\s+constexpr\b", head) or re.match(rb"if\s*\(\s*(true|false)\s*\)", head):
            self._static_if(node)
            return
        if made or len(children) not in (2, 3) or children[0].kind in ("VAR_DECL", "DECL_STMT"):
            self._if_with_declaration(node)
            return
        self._branch(children[0], children[1], children[2] if len(children) == 3 else None, node.span)

    def _if_with_declaration(self, node: Node) -> None:
        first, *rest = node.children
        if first.kind == "DECL_STMT" and len(rest) == 3 and rest[0].kind == "VAR_DECL":
            raise Refused("if with a declaration", node.source[:60], node.span)
        if first.kind in ("DECL_STMT", "VAR_DECL") and len(rest) in (2, 3):
            if first.kind == "VAR_DECL":
                self._declaration(first)
            else:
                self._statement(first)
            self._branch(rest[0], rest[1], rest[2] if len(rest) == 3 else None, node.span)
            return
        raise Refused("if with a declaration", node.source[:60], node.span)

    def _branch(self, condition: Node, then: Node, other: Node | None, span: Span) -> None:
        test = self.condition(condition)
        with self.nested() as yes:
            self.statement(then)
        with self.nested() as no:
            if other is not None:
                self.statement(other)
        self.emit(If(test, tuple(yes), tuple(no), span))

    def _static_if(self, node: Node) -> None:
        condition, then, *other = node.children
        value = condition.evaluate()
        if value is None:
            raise Refused("if constexpr", "with a condition that the parser cannot evaluate", node.span)
        if value:
            self.statement(then)
        elif other:
            self.statement(other[0])

    # --- loops ---

    def _for(self, node: Node) -> None:
        declared = [child for child in node.children[:-1] if child.kind == "VAR_DECL"]
        init, condition, step, body = self._for_parts(node)
        if init is not None:
            self._statement(init)
        self._loop(node, condition, step, body, declared[0] if declared else None)

    def _range_for(self, node: Node) -> None:
        """``for (T x : array)``: a counter over the elements."""
        variable, array, body = node.children[-3:]
        made = semicolons(self.unit.text, node.start, node.extent[1]) > 0
        if made or len(node.children) != 3 or variable.kind != "VAR_DECL" or not array.type.is_array:
            raise Refused("range-based for", node.source[:80], node.span)
        place = self.freeze(self.lvalue(array))
        type_ = place.type if isinstance(place, Memory) else None
        if not isinstance(type_, Array) or type_.count == 0:
            raise Refused("range-based for", node.source[:80], node.span)
        counter = self.local("item", I64)
        self.emit(Assign(counter.name, IntConst(0, I64), node.span))
        position = Read(counter.name, I64)
        label = self.fresh(f"loop.{node.span.line}")
        self._used.add(f"{label}.body")
        with self.nested() as inner:
            element = self.element(place, position, node.span)
            if variable.type.is_reference:
                self.env[variable.key] = element
            else:
                value = self.read(element, node.span)
                wanted = self.types.of(variable.type)
                if not isinstance(value, Aggregate | ArrayValue | Closure | FunctionRef):
                    value = self.convert(value, wanted, node.span)
                target = self.variable(variable.spelling, wanted, variable.key, node.span)
                self.write(target, value, node.span)
                self.env[variable.key] = target
            self._loop_body(label, body)
        step = Assign(counter.name, Binary("add", position, IntConst(1, I64), I64, node.span), node.span)
        test = Compare("lt", position, IntConst(type_.count, I64))
        self.emit(Loop(label, (), test, tuple(inner), (step,), node.span))

    def _for_parts(self, node: Node) -> tuple[Node | None, Node | None, Node | None, Node]:
        """The four parts; which of the first three is missing shows only in the text."""
        *header, body = node.children
        header = [child for child in header if child.kind != "VAR_DECL"]
        text = self.unit.text
        first, second = _semicolons(text, node.start, body.start)
        parts: list[Node | None] = [None, None, None]
        for child in header:
            place = 0 if child.start < first else 1 if child.start < second else 2
            if parts[place] is not None:
                raise Refused("for", node.source[:60], node.span)
            parts[place] = child
        return parts[0], parts[1], parts[2], body

    def _loop(
        self, node: Node, condition: Node | None, step: Node | None, body: Node, declared: Node | None = None
    ) -> None:
        label = self.fresh(f"loop.{node.span.line}")
        self._used.add(f"{label}.body")
        with self.nested() as head:
            if declared is not None:
                self._declaration(declared)
            test = self.condition(condition) if condition is not None else BoolConst(True)
        with self.nested() as inner:
            self._loop_body(label, body)
        with self.nested() as after:
            if step is not None:
                self.effect(step)
        self.emit(Loop(label, tuple(head), test, tuple(inner), tuple(after), node.span))

    def _loop_body(self, label: str, body: Node) -> None:
        frame = self.frame
        frame.breaks.append(label)
        frame.loops.append(f"{label}.body")
        try:
            self.statement(body)
        finally:
            frame.breaks.pop()
            frame.loops.pop()

    def _while(self, node: Node) -> None:
        *declared, condition, body = node.children
        self._loop(node, condition, None, body, declared[0] if declared else None)

    def _do(self, node: Node) -> None:
        body, condition = node.children
        label = self.fresh(f"loop.{node.span.line}")
        self._used.add(f"{label}.body")
        with self.nested() as inner:
            self._loop_body(label, body)
        with self.nested() as after:
            test = self.condition(condition)
            if test != BoolConst(True):
                self.emit(If(negate(test), (Leave(label, condition.span),), (), condition.span))
        if test == BoolConst(False) and not after[:-1]:
            # ``do … while (0)`` runs once: a scope says so plainly, with the label that break leaves.
            self.emit(Scope(label, (Scope(f"{label}.body", tuple(inner)),)))
            return
        self.emit(Loop(label, (), BoolConst(True), tuple(inner), tuple(after), node.span))

    # --- switch ---

    def _switch(self, node: Node) -> None:
        if semicolons(self.unit.text, node.start, node.extent[1]) > 0:
            raise Refused("switch", "with an initialiser", node.span)
        *declared, selector, body = node.children
        for child in declared:
            if child.kind == "VAR_DECL":
                self._declaration(child)
            else:
                self._statement(child)
        value = self.snapshot_expr(self.scalar(selector))
        groups = self._groups(body, value)
        label = self.fresh(f"switch.{node.span.line}")
        frame = self.frame
        frame.breaks.append(label)
        try:
            with self.nested() as inner:
                if all(_ends(group.body) for group in groups[:-1]):
                    self._switch_chain(groups, value, label)
                else:
                    self._switch_fallthrough(groups, value, node.span)
        finally:
            frame.breaks.pop()
        self.emit(Scope(label, tuple(inner)))

    def _groups(self, body: Node, value: Expr) -> list[_Group]:
        if body.kind != "COMPOUND_STMT":
            raise Refused("switch", "whose body is no block", body.span)
        groups: list[_Group] = []
        for child in body.children:
            fresh = True
            while child.kind in ("CASE_STMT", "DEFAULT_STMT"):
                if fresh and (not groups or groups[-1].body):
                    groups.append(_Group())
                fresh = False
                if child.kind == "DEFAULT_STMT":
                    groups[-1].default = True
                else:
                    if len(child.children) != 2:
                        raise Refused("case range", child.source[:40], child.span)
                    label = child.children[0]
                    number = label.evaluate()
                    if not isinstance(number, int):
                        raise Refused("case", "whose value the parser cannot evaluate", child.span)
                    constant = self.convert(
                        self.constant_of(number, label.type, label.span), value.type, label.span
                    )
                    groups[-1].values.append(constant)
                child = child.children[-1]
            if not groups:
                raise Refused("switch", "with a statement before its first case", child.span)
            if _has_case(child):
                raise Refused("switch", "with a case inside of another statement", child.span)
            groups[-1].body.append(child)
        return groups

    def _matches(self, group: _Group, groups: Sequence[_Group], value: Expr) -> Expr:
        if not group.default:
            return _any_equal(value, group.values)
        others = [constant for other in groups if other is not group for constant in other.values]
        return negate(_any_equal(value, others)) if others else BoolConst(True)

    def _switch_chain(self, groups: Sequence[_Group], value: Expr, label: str) -> None:
        """No case falls into the next one: each is a branch of its own."""
        for group in groups:
            body = group.body
            with self.nested() as inner:
                flat = body[0].children if len(body) == 1 and body[0].kind == "COMPOUND_STMT" else body
                last = flat[-1] if flat else None
                self.statements(flat[:-1] if last is not None and last.kind == "BREAK_STMT" else flat)
            if not inner:
                continue
            self.emit(If(self._matches(group, groups, value), tuple(inner), (), body[0].span))

    def _switch_fallthrough(self, groups: Sequence[_Group], value: Expr, span: Span) -> None:
        entered = self.temporary(BOOL)
        self.emit(Assign(entered.name, BoolConst(False), span))
        for group in groups:
            matches = self._matches(group, groups, value)
            self.emit(Assign(entered.name, Or(Read(entered.name, BOOL), matches), span))
            with self.nested() as inner:
                self.statements(group.body)
            self.emit(If(Read(entered.name, BOOL), tuple(inner), (), span))


_QUOTE = re.compile(rb"(?:^|\W|(?:^|\W)(?:u8|[uUL]))$")
"""What stands before a literal, and not before the separator of a number."""


def _target(node: Node) -> str:
    """The label that a goto names."""
    found = re.match(r"goto\s+(\w+)", node.source)
    return found[1] if found else ""


def _semicolons(text: bytes, start: int, end: int) -> tuple[int, int]:
    """The offsets of the two semicolons of a ``for`` header."""
    found: list[int] = []
    depth = 0
    position = start
    while position < end and len(found) < 2:
        char = text[position : position + 1]
        if char in b"([{":
            depth += 1
        elif char in b")]}":
            depth -= 1
        elif char == b";" and depth == 1:
            found.append(position)
        elif char in b"\"'" and _QUOTE.search(text[max(0, position - 3) : position]):
            position += 1
            while position < end and text[position : position + 1] != char:
                position += 2 if text[position : position + 1] == b"\\" else 1
        position += 1
    if len(found) != 2:
        raise Refused("for", "whose header could not be read")
    return found[0], found[1]


def _any_equal(value: Expr, constants: Sequence[Expr]) -> Expr:
    result: Expr | None = None
    for constant in constants:
        equal = Compare("eq", value, constant)
        result = equal if result is None else Or(result, equal)
    return result if result is not None else BoolConst(False)


def _ends(body: Sequence[Node]) -> bool:
    """Whether control cannot fall out of the end of these statements."""
    if not body:
        return False
    last = body[-1]
    if last.kind == "COMPOUND_STMT":
        return _ends(last.children)
    return last.kind in _JUMPS


def _has_case(node: Node) -> bool:
    if node.kind in ("CASE_STMT", "DEFAULT_STMT"):
        return True
    return node.kind != "SWITCH_STMT" and any(_has_case(child) for child in node.children)
