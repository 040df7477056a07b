"""Arguments of functions, lambdas and methods of the host code: values, or places for parameters that are references.

Example: ``grow(n, 3)`` of ``void grow(int &v, int by)`` is given the place of ``n`` and 3.
"""

from __future__ import annotations

from verifier.contracts.lvalues import own_call, roots
from verifier.contracts.memory import Memory
from verifier.contracts.objects import Function, Value
from verifier.contracts.run import Refused
from verifier.frontend.host import Node


class Arguments(Memory):
    def arguments(self, node: Node) -> list[Value]:
        """Arguments of a user function: variables bound to a reference parameter are passed as places."""
        function = self.code.functions.get(node.get("fn", ""))
        return self._handed(function["params"] if function else [], node["args"])

    def handed(self, target: Value, nodes: list[Node], node: Node) -> list[Value]:
        """Arguments of a lambda or of what a function object holds, likewise."""
        function: Node | None = self.code.functions.get(node.get("fn", ""))
        if function is None and isinstance(target, Function):
            function = target.node if target.node is not None else self.code.functions.get(target.usr)
        names = isinstance(target, Function) and target.node is not None and target.node["captures"]
        return self._handed(function["params"] if function else [], nodes, bool(names))

    def handed_to(self, params: list[Node], nodes: list[Node]) -> list[Value]:
        """Arguments of a method or constructor, which can change its object under another name."""
        return self._handed(params, nodes, True)

    def _handed(self, params: list[Node], nodes: list[Node], captures_names: bool = False) -> list[Value]:
        """``captures_names``: what is called can change variables whose names it captured."""
        out: list[Value] = []
        changing = any(p.get("ref") and not p.get("const") for p in params)
        changing |= captures_names or any(not g["const"] for g in self.code.globals)
        for index, argument in enumerate(nodes):
            param = params[index] if index < len(params) else None
            if (
                changing
                and param is not None
                and param.get("ref")
                and argument["k"] in ("var", "member", "index")
            ):
                same = self.place(argument) if argument["t"].removeprefix("const ") == param["type"] else None
                if same is not None:  # also of a constant: another name may change it
                    out.append(same)
                    continue
            if argument["k"] == "default" and param is not None and param.get("default") is not None:
                out.append(self.eval(param["default"]))
                continue
            if param is not None and param.get("ref") and not param.get("const"):
                place = self.place(argument)
                if place is not None:
                    out.append(place)
                    continue
                if not param.get("rvalue") and own_call(
                    argument
                ):  # it binds to what that call returns a reference to
                    raise Refused(f"{self.span(argument)}: a reference that a call returns, passed on,")
                moved = argument["k"] == "call" and argument["name"] in ("std::move", "std::forward")
                parts = ("index", "member", "cond", "un", "operator", "cast")
                if not param.get("rvalue") or moved or argument["k"] in parts:
                    for root in roots(argument):  # somewhere in one of them
                        self.escape(self.named(root).cell)
            out.append(self.eval(argument))
        return out
