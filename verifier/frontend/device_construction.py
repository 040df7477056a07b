"""Objects of classes come into being: constructors, what they initialise, and what nobody writes down.

Input -> output: a variable, field or temporary and its class (and the call, if there is one) -> statements that set it.

Invariant: as in C++, the base comes first, then the members in the order of the class, whatever order is written; each is
set by its own initialiser, else by its default member initialiser, else by its class's default constructor, whose body
is run; what then has no value is Undef. A default member initialiser speaks of the object that is made. Whatever of it
is not followed is refused by name, never left out.

Example: ``struct D : B { int n = 4; D(int k) : B(k) {} };`` -> ``D d(2);`` runs ``B(2)``, sets ``d.n = 4``, runs the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from specs.location import Span
from verifier.frontend.device_calls import Calls
from verifier.frontend.device_clang import CType, Node
from verifier.frontend.device_types import Refused, is_anonymous, is_lambda
from verifier.frontend.device_values import Aggregate, Frame, LValue, Value
from verifier.ir.nodes import Struct

_SILENT = frozenset({"PARM_DECL", "NAMESPACE_REF", "TEMPLATE_REF"})
_NO_FUNCTION = -1


@dataclass(slots=True)
class _Written:
    """The initialisers of a constructor; None for one that is empty: ``n()``."""

    fields: dict[str, Node | None] = field(default_factory=dict)
    bases: list[Node | None] = field(default_factory=list)
    delegate: Node | None = None


class Construction(Calls):
    """Lowering of constructors."""

    def construct(self, node: Node, callee: Node) -> Value:
        arguments = node.arguments
        if is_lambda(node.type):
            if len(arguments) != 1:
                raise Refused("lambda", node.source[:60], node.span)
            return self.rvalue(arguments[0])
        type_ = self.types.of(node.type)
        if not isinstance(type_, Struct):
            return self.construct_scalar(node, type_, arguments)
        body = callee.body
        if body is None:
            if len(arguments) == 1 and self._same_class(arguments[0], node):
                return self.rvalue(arguments[0])
            if callee.start < 0 and arguments:
                return self.construct_shim(node, type_, arguments)
            if not arguments:
                target = self.variable("t", type_, 0, node.span)
                self.default_initialise(target, node, node.span)
                return self.read(target, node.span)
            raise Refused("constructor", node.source[:60], node.span)
        target = self.variable("t", type_, 0, node.span)
        self.construct_into(target, node, callee, body, node.type)
        return self.read(target, node.span)

    def construct_into(self, target: LValue, node: Node, callee: Node, body: Node, record: CType) -> None:
        """Run a constructor with a body on a new variable, or on the part of it that is its base ``record``."""
        self._run(target, callee, body, node.arguments, node, record)

    def _run(
        self, target: LValue, callee: Node, body: Node, arguments: Sequence[Node], node: Node, record: CType
    ) -> None:
        written = _initialisers(callee, record)
        if callee.parent.spelling != record.declaration.spelling:
            raise Refused("constructor", f"inherited by {record.spelling}", node.span)

        def members() -> None:
            if written.delegate is not None:
                self._from(target, written.delegate, record, node.span)
                return
            bases = self.types.bases(record)
            if len(written.bases) > len(bases):
                raise Refused("constructor", f"the initialisers of {record.spelling}", node.span)
            for base in bases:
                self._base(target, base, written, node.span)
            self._fields(target, record, written.fields, node.span)

        self.inline(callee, body, arguments, node, target, {}, False, members)

    def _base(self, target: LValue, base: CType, written: _Written, span: Span) -> None:
        if not written.bases:
            self.default_construct(target, base, span)
        elif written.bases[0] is None:
            self.value_initialise(target, base, span)
        else:
            self._from(target, written.bases[0], base, span)

    def _from(self, target: LValue, node: Node, record: CType, span: Span) -> None:
        """The part of the target that is a ``record``, from its initialiser."""
        while node.kind == "UNEXPOSED_EXPR" and len(node.operands) == 1:
            node = node.operands[0]
        if node.kind == "INIT_LIST_EXPR":
            self.aggregate(target, record, list(node.operands), span)
            return
        if node.kind == "CALL_EXPR" and node.referenced.kind == "CONSTRUCTOR":
            body = node.referenced.body
            if node.type.declaration.key != record.declaration.key:
                raise Refused("constructor", node.source[:60], node.span)
            if body is not None:
                self.construct_into(target, node, node.referenced, body, record)
                return
            if not node.arguments:
                self.value_initialise(target, record, span)
                return
        value = self.rvalue(node)
        if not isinstance(value, Aggregate) or value.type != self.types.of(record):
            raise Refused("constructor", f"the base {record.spelling}", span)
        for name, part in self.snapshot_fields(value).items():
            self.write(self.member(target, name, span), part, span)

    def snapshot_fields(self, value: Aggregate) -> Mapping[str, Value]:
        kept = self.snapshot(value)
        assert isinstance(kept, Aggregate)
        return kept.fields

    def aggregate(self, target: LValue, record: CType, items: list[Node], span: Span) -> None:
        """An aggregate from a list of items."""
        raise NotImplementedError

    def initialise_part(self, place: LValue, type_: CType, node: Node, span: Span) -> None:
        """A member or element of that type from its initialiser."""
        raise NotImplementedError

    # --- what nobody writes ---

    def default_construct(self, target: LValue, record: CType, span: Span, zeroed: bool = False) -> None:
        """``T x;``: members without a value stay indeterminate, or zero where they were made so before."""
        if not isinstance(self.types.of(record), Struct):  # half and the like
            if not zeroed:
                self.undefined(target, span)
            return
        function = self._default_constructor(record)
        body = function.body if function is not None else None
        if function is not None and body is not None:
            self._run(target, function, body, _defaults(function), function, record)
            return
        with self.object_made(target):
            for base in self.types.bases(record):
                self.default_construct(target, base, span, zeroed)
            self._fields(target, record, {}, span, zeroed)

    def value_initialise(self, target: LValue, record: CType, span: Span) -> None:
        """``T x{};``, ``T()``, and what a list of initialisers leaves out: zero first, unless a constructor is written."""
        function = self._default_constructor(record)
        zeroed = function is None or function.body is None
        if zeroed:
            self._zero(target, record, span)
        self.default_construct(target, record, span, zeroed)

    def _zero(self, target: LValue, record: CType, span: Span) -> None:
        type_ = self.types.of(record)
        if not isinstance(type_, Struct):  # half and the like
            self.write(target, self.zero(type_, span), span)
            return
        for part in type_.fields:
            self.write(self.member(target, part.name, span), self.zero(part.type, span), span)

    def _fields(
        self,
        target: LValue,
        record: CType,
        written: Mapping[str, Node | None],
        span: Span,
        zeroed: bool = False,
    ) -> None:
        initials = [n for child in own_fields(record) if (n := _initial(child, record, written)) is not None]
        if not zeroed and any(map(reads_members, initials)):
            for child in own_fields(record):
                self.undefined(self.member(target, child.spelling, span), span)
        for child in record.fields:
            if is_anonymous(child):
                self._fields(target, child.type, written, span, zeroed)
                continue
            place = self.member(target, child.spelling, span)
            if child.spelling in written:
                initial = written[child.spelling]
                if initial is not None:
                    self.initialise_part(place, child.type, initial, span)
                else:
                    self.missing(place, child.type, span)
                continue
            self._unwritten(place, child, record, span, zeroed)

    def _unwritten(self, place: LValue, child: Node, record: CType, span: Span, zeroed: bool) -> None:
        default = field_default(child, record)
        if default is not None:
            self.initialise_part(place, child.type, default, span)
        elif child.type.kind == "RECORD":
            self.default_construct(place, child.type, span, zeroed)
        elif child.type.is_array and self.has_work(item_type(child.type)):
            raise Refused("constructor", "of the elements of an array", span)
        elif not zeroed:
            self.undefined(place, span)

    def missing(self, place: LValue, type_: CType, span: Span) -> None:
        """What an initialiser list leaves out and has no default."""
        if type_.kind == "RECORD":
            self.value_initialise(place, type_, span)
            return
        if type_.is_array and self.has_work(item_type(type_)):
            raise Refused("initialiser list", "that leaves elements of a class out", span)
        self.write(place, self.zero(self.types.of(type_), span), span)

    def has_work(self, record: CType) -> bool:
        """Whether ``T x;`` does more than to leave x indeterminate."""
        if record.kind != "RECORD":
            return False
        function = self._default_constructor(record)
        if function is not None and function.body is not None:
            return True
        if any(self.has_work(base) for base in self.types.bases(record)):
            return True
        fields = own_fields(record)
        return any(
            field_default(child, record) is not None or self.has_work(item_type(child.type))
            for child in fields
        )

    def _default_constructor(self, record: CType) -> Node | None:
        """The constructor that the class declares and that can be called without arguments, if there is one."""
        if record.declaration.start < 0:
            return None
        own = [m for m in record.members if m.kind == "CONSTRUCTOR" and not m.copies]
        templates = [m for m in record.members if m.kind == "FUNCTION_TEMPLATE" and _names_class(m, record)]
        for function in own:
            parameters = [child for child in function.children if child.kind == "PARM_DECL"]
            if len(_defaults(function)) == len(parameters):
                written = function.definition if function.definition.exists else function
                if record.declaration.template.exists and written.body is not None:
                    raise Refused(
                        "constructor", f"of the class template {record.spelling}, called implicitly"
                    )
                return written
        if own or templates:
            raise Refused("constructor", f"{record.spelling}: called without arguments")
        return None

    @contextmanager
    def object_made(self, target: LValue) -> Iterator[None]:
        """Default member initialisers speak of this object."""
        self.frames.append(Frame("", None, target, _NO_FUNCTION))
        try:
            yield
        finally:
            self.frames.pop()

    def _same_class(self, argument: Node, node: Node) -> bool:
        return argument.type.declaration.key == node.type.declaration.key


def _initialisers(callee: Node, record: CType) -> _Written:
    """What stands behind the colon; what is not understood is refused."""
    written = _Written()
    of: str | None = None
    class_: Node | None = None

    def empty() -> None:
        if of is not None:
            written.fields[of] = None
        elif class_ is not None:
            written.bases.append(None)

    for child in callee.children:
        if child.kind in _SILENT or child.kind.endswith("_ATTR") or "TEMPLATE" in child.kind:
            continue
        if child.kind == "MEMBER_REF":
            empty()
            of, class_ = child.spelling, None
        elif child.kind == "TYPE_REF":
            empty()
            of, class_ = None, child.referenced
        elif child.kind == "COMPOUND_STMT":
            empty()
            of, class_ = None, None
        elif of is not None:
            written.fields[of], of = child, None
        elif class_ is not None:
            if child.type.kind == "RECORD" and child.type.declaration.key == record.declaration.key:
                written.delegate = child
            else:
                written.bases.append(child)
            class_ = None
        else:
            raise Refused("constructor", child.source[:60] or child.kind, child.span)
    return written


def _defaults(function: Node) -> list[Node]:
    """The default arguments of the parameters that have one."""
    found = []
    for parameter in function.children:
        if parameter.kind == "PARM_DECL":
            found += [c for c in parameter.operands if c.kind.endswith(("EXPR", "LITERAL", "OPERATOR"))][-1:]
    return found


def _names_class(function: Node, record: CType) -> bool:
    return function.spelling.partition("<")[0] == record.declaration.spelling


def field_default(field: Node, record: CType) -> Node | None:
    """The default member initialiser of a field."""
    written = re.search(r"[={]", field.source)
    if written is None:
        return None
    defaults = [child for child in field.operands if child.kind.endswith(("EXPR", "LITERAL", "OPERATOR"))]
    if not defaults or (field.type.is_array and defaults[-1].kind != "INIT_LIST_EXPR"):
        raise Refused("default member initialiser", f"{record.spelling}::{field.spelling}", field.span)
    return defaults[-1]


def _initial(child: Node, record: CType, written: Mapping[str, Node | None]) -> Node | None:
    return written[child.spelling] if child.spelling in written else field_default(child, record)


def reads_members(node: Node) -> bool:
    """Whether an initialiser may read what it stands in, which may have no value yet."""
    return node.kind in ("MEMBER_REF_EXPR", "CXX_THIS_EXPR") or any(map(reads_members, node.children))


def is_made(record: CType) -> bool:
    """Whether the class has constructors: no list goes through to its members."""
    return record.kind == "RECORD" and any(
        (m.kind == "CONSTRUCTOR" and not m.copies)
        or (m.kind == "FUNCTION_TEMPLATE" and _names_class(m, record))
        for m in record.members
    )


def own_fields(type_: CType) -> list[Node]:
    """The fields, those of anonymous members in their place."""
    found: list[Node] = []
    for child in type_.fields:
        found += own_fields(child.type) if is_anonymous(child) else [child]
    return found


def item_type(type_: CType) -> CType:
    while type_.is_array:
        type_ = type_.element
    return type_
