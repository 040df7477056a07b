"""Declarations of host code: what a variable holds at first, or which other variable it is another name of.

Example: after ``int &m = n;`` a store to ``m`` is one to ``n``.
"""

from __future__ import annotations

from verifier.contracts import elements
from verifier.contracts.evaluate import Evaluator
from verifier.contracts.lvalues import own_call, own_reference, plain, pure, roots, unchanging
from verifier.contracts.objects import (
    Address,
    Dim3,
    Items,
    Null,
    Pointer,
    Record,
    Sizes,
    Tensor,
    Unknown,
    Value,
)
from verifier.contracts.run import Refused
from verifier.contracts.values import (
    Int,
    const,
    dtype_of,
)
from verifier.frontend.host import Node


class Declarations(Evaluator):
    """``constants``: names of program constants that stand for symbols (demo main), by declaration id."""

    constants: dict[str, Int]

    def skip(self, nodes: list[Node], why: str, *, loop: bool = False) -> bool:
        raise NotImplementedError

    def declare(self, variable: Node) -> None:
        identity = variable["id"]
        self.born(identity)
        if "bindings" in variable:
            self._declare_bindings(variable)
            return
        if variable["static"] and not (
            variable["const"] and (variable["init"] is None or unchanging(variable["init"]))
        ):
            self._declare_static(variable)
            return
        if variable["init"] is None:
            self.cells[identity] = self.uninitialised(variable)
            return
        if variable["ref"]:
            init = variable["init"]
            while plain(init)["k"] == "cond":  # a name of one or the other
                init = plain(init)
                init = init["a" if self.run.decide(self.condition(init["c"]), self.span(init)) else "b"]
            place = self.place(init)
            if place is not None and place.cell != identity:
                self.references[identity] = place
                return
            if not variable["const_ref"]:
                if plain(init)["k"] in (
                    "index",
                    "un",
                    "operator",
                ):  # an element of memory: what is stored there later
                    self.run.write_anywhere()
                self.lost(self.eval(variable["init"]))
                self._escape_roots(variable["init"])
                if own_call(init):  # perhaps a variable that no argument names
                    for cell in [g["id"] for g in self.code.globals if not g["const"]]:
                        self.escape(cell)
        if identity in self.constants:
            self.cells[identity] = self.constants[identity]
            return
        value = self.coerce(
            self.eval(variable["init"], hint=variable["name"]), variable["type"], variable.get("count")
        )
        if isinstance(value, Int) and value.value is not None and not value.taint:
            value = Int(value.text, value.lo, value.hi, value.type, frozenset({identity}))
        self.cells[identity] = value
        if variable["ref"] and not isinstance(value, Tensor | Pointer | Sizes):
            self._another_name(variable)
        elif variable["type"].startswith(elements.VIEWS):
            self.follow(identity, variable["init"])
        self.prefer(variable["name"], value)
        if isinstance(value, Pointer) and _of_temporary(variable["init"]):
            self._dangling(value, variable)

    def _another_name(self, variable: Node) -> None:
        """A reference to something whose place is not known, which holds its value as of now."""
        init, identity = plain(variable["init"]), variable["id"]
        if init["k"] in ("bin", "int", "float", "construct"):  # a value of its own
            return
        if own_reference(init):
            raise Refused(f"{self.span(init)}: a reference that a call returns is not followed")
        self.follow(identity, init)
        if variable["const_ref"]:
            self.constant.add(identity)
        elif init.get("lvalue") or init["k"] in ("index", "un", "member", "cond"):
            self.escape(identity)

    def _declare_static(self, variable: Node) -> None:
        """What an earlier call left in it, or what the first call gave it, of whose values nothing is known here."""
        init = variable["init"]
        self.cells.pop(variable["id"], None)
        if init is None or pure(init):
            if init is not None:
                self.lost(self.whole(init))
        elif not self.skip(
            [{"k": "expr", "a": init}], f"{self.span(variable)}: the first call alone changes it"
        ):
            if self.run.decide(self.run.unknown_condition(f"{self.span(variable)}: the first call")):
                self.lost(self.whole(init))
        if init is not None and variable["ref"]:
            self._escape_roots(init)
        if not variable["const"]:
            self.cells[variable["id"]] = Unknown(f"static variable {variable['name']}")

    def _declare_bindings(self, variable: Node) -> None:
        """``auto [a, b] = x;`` copies; with ``auto &`` they are names of the parts."""
        place = self.place(variable["init"]) if variable["init"] and variable["ref"] else None
        value = self.eval(variable["init"]) if variable["init"] else Unknown("binding")
        followed = isinstance(value, Items) and len(value.items) == len(variable["bindings"])
        if variable["ref"] and (place is None or not followed) and variable["init"]:
            self._escape_roots(variable["init"])
        if not followed:
            self.lost(value)
        for index, binding in enumerate(variable["bindings"]):
            self.born(binding["id"])
            if variable["ref"] and place is not None and followed:
                self.references[binding["id"]] = Address(place.cell, (*place.path, index))
            else:
                self.cells[binding["id"]] = value.items[index] if followed else Unknown("structured binding")  # type: ignore[union-attr]

    def _escape_roots(self, node: Node) -> None:
        for root in roots(node):
            place = self.named(root)
            if place.cell in self.cells and not isinstance(self.load(place), Tensor | Pointer):
                self.escape(place.cell)

    def _dangling(self, pointer: Pointer, variable: Node) -> None:
        """The pointer outlives its tensor, unless a variable holds the same memory."""
        for value in self.cells.values():
            if isinstance(value, Tensor) and value.storage == pointer.storage:
                return
        storage = self.run.storages[pointer.storage]
        if storage.from_view_of in self.run.storages and self.run.root(pointer.storage) != pointer.storage:
            say = f"{self.span(variable)}: {variable['name']} points into a temporary unless its tensor is contiguous"
        else:
            say = f"{self.span(variable)}: {variable['name']} points into a temporary tensor"
        storage.gap = say

    def uninitialised(self, variable: Node) -> Value:
        type_ = variable["type"]
        if type_ == "dim3":
            one = const(1, "u32")
            return Dim3(one, one, one)
        if type_ == "at::Tensor":
            return Null()
        if type_.startswith("std::vector"):
            return Items(())
        if type_.endswith("]"):
            return Items(
                tuple(Unknown("uninitialised element") for _ in range(min(variable["count"] or 0, 64)))
            )
        if type_.startswith("std::optional"):
            return Null()
        if dtype_of(type_) is None and not type_.endswith("*") and not type_.startswith("std::"):
            return Record(type_, {})
        return Unknown(f"{variable['name']} before it is set")


def _of_temporary(node: Node) -> bool:
    """``make().data_ptr<T>()``: the tensor is gone at the end of the statement."""
    while node["k"] == "cast":
        node = node["a"]
    if node["k"] != "method" or not node["name"].startswith("at::Tensor::") or node["base"] is None:
        return False
    return node["base"]["k"] in ("call", "method", "operator", "construct")
