"""The memory of a path through C++ host code: variables, places in them, and conversions between C types.

A variable is a cell, by its declaration; structs and arrays are values in it, and a place is a cell with a path into it.

Invariant: what a call that is not understood could change is unknown afterwards; a variable whose address goes where it
is not followed (``lost``) is unknown from there on, for good: a store through a pointer that is not known changes only
such variables.

Example: ``grid.x = n`` stores at ``Address("grid@3:8", ("x",))``, converted to ``unsigned int``.
"""

from __future__ import annotations

from typing import Any

from specs.location import Span
from verifier.contracts import cuda_calls, streams, tensors
from verifier.contracts.conversions import Conversions
from verifier.contracts.inert import touches
from verifier.contracts.lvalues import handed_on, pure, roots, through_call
from verifier.contracts.objects import (
    THIS,
    Address,
    Dim3,
    Function,
    Items,
    Iterator,
    Null,
    Optional,
    Pointer,
    Record,
    Sizes,
    Tensor,
    Text,
    Unknown,
    Unlisted,
    Value,
)
from verifier.contracts.run import NotSimple, Refused, Run
from verifier.contracts.values import (
    Bool,
    Int,
    arith,
    choose,
    compare,
    const,
    convert,
    dtype_of,
    limits,
)
from verifier.frontend.host import HostCode, Node


class Memory(Conversions):
    """``cells``: values by declaration. ``references``: variables that are another name for a place.

    ``escaped``: cells that something may change without being seen.
    """

    def __init__(self, run: Run, code: HostCode) -> None:
        self.run = run
        self.code = code
        self.cells: dict[str, Value] = {}
        self.references: dict[str, Address] = {}
        self.escaped: set[str] = set()
        self.constant: set[str] = set()
        """Parameters that are references to const, which are copies here."""
        self.declared: set[str] = set()
        """Variables that are declared in the round of a loop that is followed."""
        self.followers: dict[str, set[str]] = {}
        """References to const and views that may be another name for (a part of) a variable, by that variable."""
        self.stack: list[str] = []
        """The functions that are being executed, by USR."""
        self.met: dict[int, int] = {}
        """How often the stores of the expression that is being evaluated were met (see ``accounts``)."""

    def eval(self, node: Node, hint: str = "") -> Value:
        """The value of an expression (see ``evaluate``)."""
        raise NotImplementedError

    def span(self, node: Node) -> Span:
        return self.code.span(node.get("s"))

    def named(self, identity: str) -> Address:
        """The place that a variable is a name of; for ``this``, that of the object."""
        if identity == THIS and isinstance(here := self.cells.get(THIS), Address):
            return here
        return self.references.get(identity, Address(identity))

    def place(self, node: Node) -> Address | None:
        """Where an lvalue lives; None for what is no variable of ours or a place that is not known."""
        match node["k"]:
            case "var":
                return self.named(node["id"])
            case "member" if node["base"] is not None:
                base = self.object_place(node["base"])
                return None if base is None else Address(base.cell, (*base.path, node["name"]))
            case "index":
                return self._element_place(node["a"], self.eval(node["i"]))
            case "un" if node["op"] == "*":
                value = self.eval(node["a"])
                return value if isinstance(value, Address) else self._position(value)
            case "un" if node["op"] in ("++", "--"):
                self.eval(node)
                return self.place(node["a"])
            case "cast":
                seen, real = dtype_of(node["t"]), dtype_of(node["a"].get("t", ""))
                derived = (
                    seen is None and node["t"] != node["a"].get("t") and not node["t"].endswith(("*", "]"))
                )
                return None if derived or (node.get("explicit") and seen != real) else self.place(node["a"])
            case "operator" if node["name"].endswith("operator[]") and len(node["args"]) == 2:
                return self._element_place(node["args"][0], self.eval(node["args"][1]))
            case "operator" if node["name"].endswith("operator*") and len(node["args"]) == 1:
                return self._position(self.eval(node["args"][0]))
            case "method" if node["base"] is not None and node["name"].startswith("std::"):
                return self._method_place(node)
            case "call" if node["name"] == "std::get" and (node.get("targs") or [""])[0].isdigit():
                base = self.place(node["args"][0])
                return None if base is None else Address(base.cell, (*base.path, int(node["targs"][0])))
        return None

    def object_place(self, node: Node) -> Address | None:
        """The place of the object whose member is named: that of an lvalue, or what a pointer points to."""
        if node.get("t", "").endswith("*"):
            value = self.eval(node)
            return value if isinstance(value, Address) else None
        return self.place(node)

    def _element_place(self, node: Node, index: Value) -> Address | None:
        if not isinstance(index, Int) or index.value is None:
            return None
        if node.get("t", "").endswith("*"):
            pointer = self.eval(node)
            return self.stepped(pointer, index.value) if isinstance(pointer, Address) else None
        base = self.place(node)
        if base is not None and isinstance(self.load(base), Iterator | Address | Pointer):
            return None
        return None if base is None else Address(base.cell, (*base.path, index.value))

    def _method_place(self, node: Node) -> Address | None:
        """``v.at(1)``, ``v.front()``, ``v.back()``, ``o.value()`` as lvalues."""
        name = node["name"].split("::")[-1]
        if name not in ("at", "front", "back"):
            return None
        base = self.place(node["base"])
        if base is None or not isinstance(held := self.load(base), Items):
            return None
        at = {"front": 0, "back": len(held.items) - 1}.get(name)
        if at is None:
            index = self.eval(node["args"][0])
            at = index.value if isinstance(index, Int) else None
        return None if at is None or at < 0 else Address(base.cell, (*base.path, at))

    def _position(self, value: Value) -> Address | None:
        if isinstance(value, Iterator) and value.place is not None:
            return Address(value.place.cell, (*value.place.path, value.index))
        return None

    def stepped(self, pointer: Address, by: int) -> Address | None:
        """``p + by`` inside an array."""
        if by == 0:
            return pointer
        if not pointer.path or not isinstance(pointer.path[-1], int) or pointer.path[-1] + by < 0:
            return None
        return Address(pointer.cell, (*pointer.path[:-1], pointer.path[-1] + by))

    def load(self, place: Address) -> Value:
        if place.cell in self.escaped:
            return Unknown(f"{place.cell.split('@')[0]}, whose address was passed on")
        value: Value = self.cells.get(place.cell) or Unknown(f"{place.cell.split('@')[0]}")
        for step in place.path:
            value = self.component(value, step)
        return value

    def component(self, value: Value, step: Any) -> Value:
        match value:
            case Unlisted():
                return (
                    self._unlisted(value, const(step), {"s": None})
                    if isinstance(step, int)
                    else Unknown(str(step))
                )
            case Items(items=items) if isinstance(step, int):
                return items[step] if 0 <= step < len(items) else Unknown("element out of range")
            case Record(type=type_, fields=fields):
                if step in fields:
                    found: Value = fields[step]
                    return found
                return cuda_calls.device_property(self.run, type_, str(step))
            case Dim3(x=x, y=y, z=z):
                return {"x": x, "y": y, "z": z}.get(step) or Unknown(f"member {step}")
            case Items(items=items) if step in ("first", "second") and len(items) == 2:
                second: Value = items[("first", "second").index(step)]
                return second
            case _:
                self.lost(value)
                return Unknown(f"member {step}")

    def store(self, place: Address, value: Value) -> None:
        if self.run.speculative and place.path and not isinstance(self.cells.get(place.cell), Dim3):
            raise NotSimple
        if place.cell in self.constant:
            raise Refused(f"a store to {place.cell.split('@')[0]}, a reference to const, is not followed")
        self._outdate(place.cell)
        if place.cell in self.escaped:
            self.lost(value)
        elif not place.path:
            self.cells[place.cell] = value
        elif _beyond(self.cells.get(place.cell), place.path):  # perhaps in the next row
            self.lost(value)
            self.escape(place.cell)
        else:
            old = self.cells.get(place.cell)
            self.cells[place.cell] = self._updated(old, place.path, value)

    def follow(self, name: str, init: Node) -> None:
        """``name`` was given the value of an lvalue that is not followed, and may be another name for it."""
        for root in roots(init):
            self.followers.setdefault(self.named(root).cell, set()).add(name)

    def _outdate(self, cell: str) -> None:
        for name in sorted(self.followers.get(cell, ())):
            self.cells[name] = Unknown(f"{name.split('@')[0]}, another name for a variable that was changed")

    def _updated(self, old: Value | None, path: tuple[Any, ...], value: Value) -> Value:
        if not path:
            return value
        step, rest = path[0], path[1:]
        match old:
            case Items(items=items) if isinstance(step, int) and 0 <= step < len(items):
                return Items((*items[:step], self._updated(items[step], rest, value), *items[step + 1 :]))
            case Record(type=type_, fields=fields):
                return Record(type_, {**fields, step: self._updated(fields.get(step), rest, value)})
            case Dim3(x=x, y=y, z=z) if step in ("x", "y", "z") and not rest:
                parts: dict[str, Any] = {"x": x, "y": y, "z": z, step: self.coerce(value, "unsigned int")}
                if all(isinstance(p, Int) for p in parts.values()):
                    return Dim3(parts["x"], parts["y"], parts["z"])
            case Items(items=items) if step in ("first", "second") and len(items) == 2:
                return self._updated(old, (("first", "second").index(step), *rest), value)
        if old is not None:
            self.lost(old)
        self.lost(value)
        return Unknown("an assignment that is not followed")

    def lost(self, value: Value) -> None:
        """Something that is not followed holds this value: what it points to may change at any time from now on."""
        match value:
            case Address(cell=cell):
                self.escape(cell)
            case Iterator(items=items, place=place):
                if place is not None:
                    self.escape(place.cell)
                for item in items:
                    self.lost(item)
            case Items(items=items):
                for item in items:
                    self.lost(item)
            case Record(fields=fields):
                for item in fields.values():
                    self.lost(item)
            case Optional(value=item):
                self.lost(item)
            case Function(node=node, usr=usr, captured=captured):
                self.lost_code(([node["body"]] if node is not None else []) + ([usr] if usr else []))
                for item in (captured or {}).values():
                    if isinstance(item, Address | Iterator):
                        self.lost(item)
            case _:
                return

    def lost_code(self, parts: list[Any]) -> None:
        """Code that may run at any time from now on: bodies, or functions by USR."""
        from verifier.contracts.effects import assigned_variables

        for part in parts:
            function = self.code.functions.get(part) if isinstance(part, str) else None
            body = function["body"] if function is not None else part
            if isinstance(body, dict):
                for cell in assigned_variables(self, [body]):
                    if cell in self.cells:
                        self.escape(cell)
                if touches(self.code, body, frozenset()):
                    self.run.write_anywhere()

    def escape(self, cell: str, *, by_name: bool = False) -> None:
        """``by_name``: to what does not get its address, unless it takes a reference."""
        if cell in self.escaped:
            return
        if self.run.speculative:
            raise NotSimple
        old = self.cells.get(cell)
        if cell in self.constant and not by_name and isinstance(old, Int | Bool | Items | Record | Dim3):
            raise Refused(f"where {cell.split('@')[0]}, a reference to const, goes is not followed")
        self.escaped.add(cell)
        self._outdate(cell)
        if old is not None:
            self.havoc(old)

    def born(self, cell: str) -> None:
        """A variable is declared (anew): no pointer to it exists yet."""
        self.references.pop(cell, None)
        self.escaped.discard(cell)
        self.constant.discard(cell)
        self.declared.add(cell)

    def havoc(self, value: Value) -> None:
        """An argument of a call that is not understood: what is reachable from it is unknown, now and later."""
        self.lost(value)
        match value:
            case Unknown():  # perhaps a tensor or a pointer
                self.run.write_anywhere()
            case Tensor() | Pointer():
                if value.storage in self.run.storages:
                    self.run.write(value.storage)
            case Items(items=items):
                for item in items:
                    self.havoc(item)
            case Record(fields=fields):
                for item in fields.values():
                    self.havoc(item)
            case Optional(value=item):
                self.havoc(item)

    def havoc_node(self, node: Node, handles: bool = True) -> None:
        """An argument of something not understood: what it names may change.

        ``handles``: a tensor, pointer or function that it names may be another one afterwards (``std::exchange(y, z)``).
        """
        place = (
            self.place(handed_on(node))
            if node["k"] in ("var", "member", "index", "call") and pure(handed_on(node))
            else None
        )
        value = self.eval(node)
        self.havoc(value)
        if place is None and node.get("lvalue"):
            for root in roots(node):
                self.escape(self.named(root).cell, by_name=True)
        if place is not None and (handles or not isinstance(value, Tensor | Pointer | Function)):
            self.escape(place.cell, by_name=True)
        elif place is None and node["k"] in ("member", "index", "cond"):
            self.overwrite_roots(node)

    def overwrite(self, value: Value, why: str) -> None:
        """A call that is understood writes something there, and does not keep the pointer."""
        place = value if isinstance(value, Address) else self._position(value)
        if isinstance(value, Iterator) and value.place is not None:
            place = value.place
        if place is not None:
            if place.path and isinstance(place.path[-1], int):  # some elements from there on
                place = Address(place.cell, place.path[:-1])
            self.lost(self.load(place))
            self.store(place, Unknown(why))
        elif isinstance(value, Pointer) and value.storage in self.run.storages:
            self.run.write(value.storage)
        elif isinstance(value, Unknown):
            self.run.write_anywhere()

    def given_away(self, node: Node, value: Value) -> None:
        """``std::move(x)``: whoever gets it may leave x without its contents."""
        if not _has_contents(value):
            return
        if (place := self.place(node)) is not None:
            self.store(place, Unknown(f"{self.span(node)}: what was moved away"))
        elif node["k"] in ("var", "member", "index", "un", "operator", "method"):
            self.overwrite_roots(node)

    def fill(self, pointer: Pointer, by: str, *, device: bool = False) -> None:
        """Something that is not followed writes there: the host, or (``device``) work in the order of a stream.

        Memory without contents counts as written ``by`` it, which is printed.
        """
        held = self.run.storages.get(pointer.storage)
        if held is not None:
            self.run.write(pointer.storage)
            if not device:
                streams.stored(self.run, pointer.storage)
            if by and not held.initialized:
                held.initialized = True
                self.run.filled[pointer.storage] = len(self.run.launches), by

    def overwrite_roots(self, node: Node) -> None:
        """A store to an lvalue whose place is not known: every variable that it may be a part of is unknown."""
        if through_call(node):
            raise Refused(f"{self.span(node)}: an assignment to what a call returns")
        if node["k"] != "var":
            self.run.write_anywhere()
        for root in roots(node):
            place = self.named(root)
            held = self.load(place)
            self.lost(held)
            if isinstance(held, Pointer):
                self.fill(held, f"the host code ({self.span(node)})" if self.run.loops else "")
            if not isinstance(held, Address | Iterator | Pointer | Tensor | Unknown | Null):
                self.store(place, Unknown(f"{self.span(node)}: assigned at a place that is not followed"))

    def prefer(self, name: str, value: Value) -> None:
        """A symbol is named after the first variable that holds just it, through width conversions."""
        if not isinstance(value, Int):
            return
        text = value.text
        for type_ in ("i32", "u32", "i64", "u64"):
            if (
                text.startswith(f"{type_}(")
                and text.endswith(")")
                and text[len(type_) + 1 : -1].isidentifier()
            ):
                text = text[len(type_) + 1 : -1]
        info = self.run.symbols.get(text)
        if info is not None and not info.prefer and not info.value:
            info.prefer = name
        elif text.endswith("_numel"):
            self.run.numel_prefer.setdefault(text, name)

    def assign(self, target: Node, value: Value) -> None:
        place = self.place(target)
        if place is None:
            if self.run.speculative:
                raise NotSimple
            self.lost(value)
            self.overwrite_roots(target)
            return
        self.store(place, self.coerce(value, target["t"]))
        if not place.path:
            self.prefer(place.cell.split("@")[0], value)

    def element(self, base: Value, index: Value, node: Node) -> Value:
        if isinstance(base, Sizes):
            return tensors.size(self.run, base.tensor, index)
        if isinstance(base, Iterator):
            base = Items(base.items[base.index :]) if base.place is None else Unknown("an iterator")
        if isinstance(base, Address):  # a pointer into an array
            start = base.path[-1] if base.path else None
            if isinstance(index, Int) and index.value is not None:
                place = self.stepped(base, index.value)
                return self.load(place) if place is not None else Unknown("outside of an array")
            if start != 0:
                return Unknown(f"{self.span(node)}: an element that is not followed")
            base = self.load(Address(base.cell, base.path[:-1]))
        if isinstance(base, Unlisted):
            return self._unlisted(base, index, node)
        if isinstance(base, Items) and isinstance(index, Int):
            index = self.run.narrow(index)
            if index.value is not None:
                at = index.value
                return base.items[at] if 0 <= at < len(base.items) else Unknown("element out of range")
            if base.items and all(isinstance(i, Int) for i in base.items) and len(base.items) <= 16:
                out = base.items[-1]
                for at in range(len(base.items) - 2, -1, -1):
                    out = choose(compare("==", index, const(at, index.type)), base.items[at], out)
                result: Value = out
                return result
        self.lost(base)
        return Unknown(f"{self.span(node)}: an element that is not followed")

    def _unlisted(self, base: Unlisted, index: Value, node: Node) -> Value:
        at = self.run.narrow(index).value if isinstance(index, Int) else None
        if at is None or at < 0:
            return Unknown(f"{self.span(node)}: an element that is not followed")
        cell = f"{base.name}[{at}]"
        if cell not in self.cells:
            if self.run.speculative:
                raise NotSimple
            name, dtype = f"{base.name}_{at}", dtype_of(base.type)
            if dtype is None:
                self.cells[cell] = self.run.free_tensor(name)
            else:
                lo, hi = limits(dtype)
                made = self.run.fresh(
                    name, "scalar", dtype, meaning=f"element {at} of {base.name}", lo=lo, hi=hi
                )
                info = self.run.symbols[made.text]
                info.low, info.high = lo, hi
                self.cells[cell] = made
        return self.cells[cell]

    def moved(self, pointer: Pointer, by: Int, op: str) -> Value:
        if pointer.offset is None or not pointer.size:
            return Pointer(pointer.storage, None, pointer.dtype, pointer.lanes, pointer.size)
        step = arith("*", convert(by, "py"), const(pointer.size, "py"), "py")
        offset = arith(op, pointer.offset, step, "py") if step is not None else None
        return Pointer(pointer.storage, offset, pointer.dtype, pointer.lanes, pointer.size)


def _has_contents(value: Value) -> bool:
    """Whether a move from it may leave something else than a copy does."""
    match value:
        case Record(fields=fields):
            return any(map(_has_contents, fields.values()))
        case Items() | Tensor() | Optional() | Function() | Unlisted() | Text():
            return True
        case _:
            return False


def _beyond(value: Value | None, path: tuple[Any, ...]) -> bool:
    """Whether a place is behind the end of an array."""
    for step in path:
        match value:
            case Items(items=items) if isinstance(step, int):
                if not 0 <= step < len(items):
                    return True
                value = items[step]
            case Record(fields=fields):
                value = fields.get(step)
            case _:
                return False
    return False
