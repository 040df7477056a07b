"""Methods and constructors of classes of the host code, as far as they can be followed.

``this`` is a variable that holds the place of the object. A class with bases, references or a destructor of its own is not
followed: an object that a constructor makes is a value like any struct, so nothing may point into it.

Example: ``Shape s(n); s.size()`` with ``Shape(int n) : h(n), w(2 * n) {}`` and ``int size() const { return h * w; }``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from verifier.contracts.lvalues import children_of, plain
from verifier.contracts.objects import THIS, Address, Record, Unknown, Value, cells_in
from verifier.contracts.run import Refused
from verifier.contracts.values import const, dtype_of
from verifier.frontend.host import Node

if TYPE_CHECKING:
    from verifier.contracts.evaluate import Evaluator


def method(host: Evaluator, node: Node) -> Value:
    """A call of a method whose text is there."""
    span, base = host.span(node), node["base"]
    function = host.code.functions.get(node["fn"])
    place = host.object_place(base) if base is not None else None
    if place is None and base is not None and _makes_object(plain(base)):
        value = host.eval(base)
        if isinstance(value, Record):  # a temporary
            place = Address(f"temporary@0:{span.line}:{span.column}")
            host.born(place.cell)
            host.store(place, value)
    static = node.get("static", False)
    if function is None or function["body"] is None or node.get("virtual") or (place is None and not static):
        raise Refused(f"{span}: a method of a class of the host code is not followed")
    args = host.handed_to(function["params"], node["args"])
    with _object(host, place):
        return host.inline(node["fn"], args)


def construct(host: Evaluator, node: Node) -> Value:
    """An object made by a constructor whose text is there."""
    span = host.span(node)
    function = host.code.functions[node["constructor"]]
    args = host.handed_to(function["params"], node["args"])
    place = Address(f"object@0:{span.line}:{span.column}")
    host.born(place.cell)
    host.store(place, Record(node["t"], {}))
    with _object(host, place):
        host.inline(node["constructor"], args)
    made = host.load(place)
    del host.cells[place.cell]
    if not isinstance(made, Record) or place.cell in host.escaped or _leads_to(host, made, place.cell):
        raise Refused(f"{span}: a constructor that hands out its object's address is not followed")
    return made


def initialise(host: Evaluator, function: Node) -> None:
    """The members of an object before the body of its constructor."""
    place = host.named(THIS)
    for member in function["fields"]:
        if member["init"] is None:
            value = host.uninitialised(member)
        else:
            value = host.coerce(host.whole(member["init"]), member["type"], member["count"])
        host.store(Address(place.cell, (*place.path, member["name"])), value)


def _makes_object(node: Node) -> bool:
    """Whether an expression is a value of its own, and no name of an object that stands elsewhere."""
    return (
        node["k"] in ("call", "method", "construct", "init")
        and not node.get("lvalue")
        and not node["t"].endswith("*")
    )


def by_default(host: Evaluator, members: list[Node], zero: bool) -> dict[str, Value]:
    """Members that nobody names where an object is made. ``zero``: those without an initialiser are 0."""
    out: dict[str, Value] = {}
    for member in members:
        if member["init"] is not None:
            named = _names_this(member["init"])
            value = Unknown("a member made of others") if named else host.whole(member["init"])
        elif zero and (dtype_of(member["type"]) is not None or member["type"].endswith("*")):
            value = const(0, "i32")
        else:
            value = Unknown(f"member {member['name']}") if zero else host.uninitialised(member)
        out[member["name"]] = host.coerce(value, member["type"], member["count"])
    return out


def _names_this(node: Node) -> bool:
    return node["k"] == "this" or any(map(_names_this, children_of(node)))


@contextmanager
def _object(host: Evaluator, place: Address | None) -> Iterator[None]:
    outer = host.cells.get(THIS)
    host.cells[THIS] = place if place is not None else Unknown("this")
    try:
        yield
    finally:
        if outer is not None:
            host.cells[THIS] = outer
        else:
            host.cells.pop(THIS, None)


def _leads_to(host: Evaluator, made: Value, cell: str) -> bool:
    """Whether something points into an object that is a value from here on."""
    held = [made, *host.cells.values(), *host.references.values()]
    return any(cell in cells_in(value) for value in held)
