"""Symbolic execution of C++ host code (the tree of verifier/frontend/host): statements and expressions.

One :class:`Host` executes one path of one :class:`~verifier.contracts.run.Run`. Calls of host functions are inlined;
what the library calls mean is in ``calls``; torch is in ``tensors``.

Invariant: a statement that is not understood, or that was dropped by the parser, ends the path with ``Refused`` or
leaves the variables it may change unknown. Nothing is skipped as harmless that could change a size.

Example::

    host = Host(run, code)
    host.call(usr_of_launcher, [run.free_tensor("x"), …])
    run.launches
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

from specs.location import Span
from verifier.contracts import classes
from verifier.contracts.accounts import accounted, declared_in
from verifier.contracts.conversions import merge
from verifier.contracts.declarations import Declarations
from verifier.contracts.effects import assigned_variables, effects
from verifier.contracts.inert import dies, goes_on, has_loop, touches, ways_out
from verifier.contracts.loops import (
    Break,
    Continue,
    execute_loop,
    execute_range,
    havoc_cells,
)
from verifier.contracts.objects import (
    Address,
    Function,
    Items,
    Optional,
    Pointer,
    Record,
    Tensor,
    Unknown,
    Value,
    cells_in,
    pointers_in,
)
from verifier.contracts.run import SKIPPABLE_STEPS, Dead, Forked, NotSimple, Refused, Run
from verifier.contracts.values import (
    Bool,
    Int,
    dtype_of,
    limits,
    lnot,
)
from verifier.frontend.host import HostCode, Node

_MAX_CALLS = 24


class Return(Exception):
    def __init__(self, value: Value | None) -> None:
        super().__init__()
        self.value = value


def _declares(function: Node) -> set[str]:
    """The variables of a lambda's own, by their places in the text; those of lambdas in it are theirs."""
    found: set[str] = set()
    waiting: list[object] = [function["params"], function["body"]]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict) and node.get("k") != "lambda":
            if "id" in node and node.get("k") != "var":
                found.add(node["id"])
            waiting += node.values()
    return found


class Host(Declarations):
    """``constants``: names of program constants that stand for symbols (demo main), by declaration id."""

    def __init__(self, run: Run, code: HostCode, constants: dict[str, Int] | None = None) -> None:
        super().__init__(run, code)
        self.constants = constants or {}
        self.lambdas: list[set[str]] = []
        """The variables of each lambda that is running."""
        self.alone = False
        """Nothing runs after the function that is called first: it is the whole program, or an entry followed on its own."""
        self._globals()

    def copied(self, run: Run) -> Host:
        """The same moment of another path."""
        other = copy.copy(self)
        other.run = run
        other.cells, other.references = dict(self.cells), dict(self.references)
        other.escaped, other.declared = set(self.escaped), set(self.declared)
        other.constant, other.stack = set(self.constant), list(self.stack)
        other.lambdas = list(self.lambdas)
        other.met, other.followers = dict(self.met), {c: set(n) for c, n in self.followers.items()}
        return other

    def _globals(self) -> None:
        for variable in self.code.globals:
            if variable["const"] or dtype_of(variable["type"]) in ("f32", "f64"):
                if variable["init"] is not None:
                    try:
                        self.declare(variable)
                    except (Refused, Dead):
                        self.cells[variable["id"]] = Unknown(f"global {variable['name']}")
            else:
                self.cells[variable["id"]] = Unknown(f"global variable {variable['name']}")

    def initialise_globals(self) -> None:
        """For a program that starts at main: globals hold their initialisers."""
        for variable in self.code.globals:  # static only says that other files do not see it
            self.declare({**variable, "static": False})

    def call(self, usr: str, args: list[Value], span: Span | None = None) -> Value:
        """Inline a host function. ``args`` are values, or Address for a reference parameter."""
        function = self.code.functions.get(usr)
        if function is None or function["body"] is None:
            return self.unknown_call("a function without a body", args)
        if self._inert(usr):
            return self._left_out(function, args)
        if self._apart(usr) and not self.run.skippable:
            try:
                with self.skippable():
                    return self.inline(usr, args)
            except (Forked, NotSimple):
                return self._left_out(function, args)
        return self.inline(usr, args)

    def _left_out(self, function: Node, args: list[Value]) -> Value:
        """A function that is not followed, as it touches nothing of the device; its result is any value of its type."""
        name, result = function["name"], function["result"]
        for param, value in zip(function["params"], args, strict=False):
            if isinstance(value, Pointer) and not param["type"].startswith("const "):
                self.fill(value, f"{name}()")
        given = self.unknown_call(f"the result of {name}()", args)
        dtype, why = dtype_of(result), f"{name}(), which is not followed"
        if dtype == "bool":
            return self.run.unknown_condition(why)
        if dtype is None or dtype in ("f32", "f64", "f16", "bf16"):
            return given
        if not any(p["type"].replace("const", "").replace(" ", "") == "char**" for p in function["params"]):
            return self.free_int(dtype, f"the result of {name}()", name)
        lo, hi = limits(dtype)
        out = self.run.fresh(name, "scalar", dtype, meaning=f"{name}() of the command line", lo=lo, hi=hi)
        self.run.symbols[out.text].low, self.run.symbols[out.text].high = lo, hi
        return out

    @contextlib.contextmanager
    def skippable(self) -> Iterator[None]:
        """Code that need not be followed: where it forks, the path is as if it had not been begun."""
        cells, references, escaped = dict(self.cells), dict(self.references), set(self.escaped)
        before = self.run.learned()
        self.run.skippable += 1
        self.run.patience = self.run.steps + SKIPPABLE_STEPS
        try:
            yield
        except (Forked, NotSimple):
            self.cells, self.references, self.escaped = cells, references, escaped
            self.run.forget(before)
            raise
        finally:
            self.run.skippable -= 1

    def inline(self, usr: str, args: list[Value]) -> Value:
        function = self.code.functions[usr]
        name = function["name"]
        if usr in self.stack or len(self.stack) > _MAX_CALLS:
            raise Refused(f"{name} is recursive")
        first, last = function["lines"]
        bad = [(m, s) for m, s, line in self.code.errors if first <= line <= last]
        if bad:
            message, where = bad[0]
            gap = f"{where}: host code not understood: {message}"
            if gap not in self.run.gaps:
                self.run.gaps.append(gap)
        put_back = self._set_aside(function, args)
        self.stack.append(usr)
        try:
            for index, param in enumerate(function["params"]):
                if index < len(args):
                    value = args[index]
                elif param["default"] is not None:
                    value = self.eval(param["default"])
                else:
                    value = Unknown(f"argument {param['name']}")
                self._bind(param, value)
            if "fields" in function:
                classes.initialise(self, function)
            try:
                self.exec(function["body"])
            except Return as result:
                if isinstance(result.value, Record | Items) or put_back is not None:
                    for cell in cells_in(result.value):  # perhaps into itself, where nothing is copied
                        if declared_in(cell, function):
                            raise Refused(f"{name} returns an object that points into {name}") from None
                return result.value if result.value is not None else Unknown("void")
            return Unknown("void")
        finally:
            self.stack.pop()
            if put_back is not None:
                put_back()

    def _set_aside(self, function: Node, args: list[Value]) -> Callable[[], None] | None:
        """Another instance of a template that is running has variables of the same names: away while this one runs.

        None if there is none. Refused where something leads from this call into those variables.
        """
        text = function["lines"], (function["body"] or {}).get("s")
        running = (self.code.functions[usr] for usr in self.stack if usr in self.code.functions)
        if not any((f["lines"], (f["body"] or {}).get("s")) == text for f in running):
            return None

        def own() -> set[str]:
            held = {*self.cells, *self.references, *self.escaped, *self.constant}
            return {cell for cell in held if declared_in(cell, function)}

        before = own()
        around = [v for c, v in (*self.cells.items(), *self.references.items()) if c not in before]
        followed = {*self.followers, *(n for names in self.followers.values() for n in names)}
        if before & (followed | {cell for v in (*args, *around) for cell in self._reached(v)}):
            raise Refused(f"{function['name']} is recursive")
        cells = {c: self.cells[c] for c in before if c in self.cells}
        references = {c: self.references[c] for c in before if c in self.references}
        escaped, constant = self.escaped & before, self.constant & before

        def clear() -> None:
            for cell in own():
                self.cells.pop(cell, None)
                self.references.pop(cell, None)
                self.escaped.discard(cell)
                self.constant.discard(cell)

        def put_back() -> None:
            clear()
            self.cells.update(cells)
            self.references.update(references)
            self.escaped |= escaped
            self.constant |= constant

        clear()
        return put_back

    def _reached(self, value: Value) -> Iterator[str]:
        """The variables that a value points to, or that the code in it names."""
        yield from cells_in(value)
        match value:
            case Function(node=dict(node)) if node.get("body"):
                yield from effects(self.code, node["body"]).named
            case Items(items=items):
                for item in items:
                    yield from self._reached(item)
            case Record(fields=fields):
                for item in fields.values():
                    yield from self._reached(item)
            case Optional(value=inner):
                yield from self._reached(inner)

    def _apart(self, usr: str) -> bool:
        """A function with loops that touches nothing of the device, as ``_inert``, with a result that may matter."""
        function = self.code.functions[usr]
        call = {"fn": usr, "k": "call", "name": "?", "args": []}
        return bool(
            self.code.remember(
                "apart",
                function,
                lambda: has_loop(function["body"]) and not touches(self.code, call, frozenset()),
            )
        )

    def _inert(self, usr: str) -> bool:
        """A function with loops that touches nothing of the device and checks nothing: host reference code.

        Following it would cost paths and tell nothing; what it is given is unknown afterwards.
        """
        function = self.code.functions[usr]
        result, call = function["result"], {"fn": usr, "k": "call", "name": "?", "args": []}
        return bool(
            self.code.remember(
                "inert",
                function,
                lambda: (
                    (result in ("void", "float", "double") or result.endswith("*"))
                    and has_loop(function["body"])
                    and not touches(self.code, call, frozenset())
                ),
            )
        )

    def skips(self, loop: Node) -> bool:
        """Whether a loop could be skipped (see ``skip``)."""
        return all(self._outside(n, True) for n in (loop["body"], loop.get("step"), loop.get("c")) if n)

    def _outside(self, node: Node, loop: bool) -> bool:
        """Whether a statement touches nothing of the device and is left only at its end."""
        return bool(
            self.code.remember(
                f"outside {loop}",
                node,
                lambda: not touches(self.code, node, frozenset()) and not ways_out(node, loop),
            )
        )

    def skip(self, nodes: list[Node], why: str, *, loop: bool = False) -> bool:
        """Statements that touch nothing of the device, of which it does not matter whether they run: what they may
        change is unknown afterwards."""
        if not all(self._outside(n, loop) for n in nodes):
            return False
        if self.run.speculative:
            raise NotSimple
        taken: dict[str, None] = {}
        through: dict[str, None] = {}
        assigned = assigned_variables(self, nodes, taken, through)
        for cell in through:
            for pointer in pointers_in(self.load(self.named(cell))):
                self.fill(pointer, f"the host code ({self.span(nodes[0])})")
        for name in (
            n for node in nodes for n in effects(self.code, node).named
        ):  # by pointers made in there
            for pointer in pointers_in(self.load(self.named(name))):
                self.fill(pointer, "")
        for cell in assigned:
            value = self.cells.get(self.named(cell).cell)
            if isinstance(value, Pointer) and value.storage in self.run.storages:
                self.run.write(value.storage)
        havoc_cells(self, assigned, why)
        for cell in taken:
            if cell in self.cells:
                self.escape(cell)
        return True

    def _bind(self, param: Node, value: Value) -> None:
        self.born(param["id"])
        if isinstance(value, Address) and param.get("ref"):
            if value.cell != param["id"]:
                self.references[param["id"]] = value
                return
            value = self.load(value)
        self.cells[param["id"]] = self.coerce(value, param["type"])
        if param.get("ref") and param.get("const"):
            self.constant.add(param["id"])

    def call_lambda(self, function: Function, args: list[Value], callee: Node) -> Value:
        node, copies = function.node, function.captured or {}
        if len(self.stack) > _MAX_CALLS:
            raise Refused("lambda calls nested too deep")
        if node["body"] is None:
            raise Refused("a lambda without a body")
        if copies and any(cell in effects(self.code, node["body"]).taken for cell in copies):
            raise Refused(f"{self.span(callee)}: a lambda that takes the address of its copy of a variable")
        own = _declares(node)
        if any(own & names for names in self.lambdas):  # those of a call around this one
            raise Refused(f"{self.span(callee)}: a recursive lambda")
        saved = {cell: self.cells.get(cell) for cell in copies}
        references = dict(self.references)
        for cell, value in copies.items():
            self.cells[cell] = value
            self.references.pop(cell, None)
        if copies and self._leads_into(copies, node):
            raise Refused(f"{self.span(callee)}: a lambda with another name for what it copies")
        self.stack.append("lambda")
        self.lambdas.append(own)
        result: Value = Unknown("void")
        try:
            for index, param in enumerate(node["params"]):
                self._bind(param, args[index] if index < len(args) else Unknown("argument"))
            try:
                self.exec(node["body"])
            except Return as returned:
                result = returned.value if returned.value is not None else result
        finally:
            self.stack.pop()
            self.lambdas.pop()
            left = {cell: self.cells[cell] for cell in copies if cell in self.cells}
            for cell, old in saved.items():
                if old is None:
                    self.cells.pop(cell, None)
                else:
                    self.cells[cell] = old
                if cell in references:
                    self.references[cell] = references[cell]
        if left != copies:
            self._copies_changed(copies | left, callee)
        return result

    def _leads_into(self, copies: dict[str, Value], node: Node) -> bool:
        """Whether a lambda can reach the variable that it has a copy of."""
        named = effects(self.code, node["body"]).named
        others = {self.references[n].cell for n in named if n in self.references}
        waiting = [*others, *(n for n in named if n not in self.references)]
        seen: set[str] = set()
        while waiting:
            cell = waiting.pop()
            if cell not in seen:
                seen.add(cell)
                found = set(cells_in(self.cells.get(cell)))
                others |= found
                waiting += found
        return any(cell in copies for cell in others)

    def _copies_changed(self, copies: dict[str, Value], callee: Node) -> None:
        """A mutable lambda keeps what it changed; another copy of the lambda does not get it."""
        if callee["k"] == "lambda":
            return
        place = self.place(callee) if callee["k"] == "var" else None
        held = self.load(place) if place is not None else None
        if self.run.speculative:
            raise NotSimple
        if place is None or not isinstance(held, Function):
            raise Refused(f"{self.span(callee)}: a lambda that changes its copies of variables")
        self.store(place, replace(held, captured=copies))

    def exec(self, node: Node) -> None:
        self.run.step()
        match node["k"]:
            case "block":
                before = set(self.cells)
                try:
                    for child in node["body"]:
                        self.exec(child)
                finally:  # its tensors end here; pointers into them may go on
                    for cell in [
                        c for c in self.cells if c not in before and isinstance(self.cells[c], Tensor)
                    ]:
                        del self.cells[cell]
            case "decl":
                for variable in node["vars"]:
                    if variable["init"] is None or variable["static"]:
                        self.declare(variable)
                        continue
                    with accounted(self, variable["init"]):
                        self.declare(variable)
            case "expr":
                self.whole(node["a"])
            case "if":
                self._if(node)
            case "for" | "while" | "do":
                execute_loop(self, node)
            case "range":
                execute_range(self, node)
            case "return":
                raise Return(self.whole(node["a"]) if node["a"] is not None else None)
            case "break":
                raise Break
            case "continue":
                raise Continue
            case "switch":
                self._switch(node)
            case "try":
                if not all(self._leaves(h) for h in node["handlers"]):
                    raise Refused(f"{self.span(node)}: an exception handler that goes on is not followed")
                self.exec(node["body"])
            case _:
                raise Refused(f"{self.span(node)}: {node.get('why') or node['k']} is not followed")

    def _if(self, node: Node) -> None:
        condition = self.condition(node["c"])
        known = self.run.evaluate(condition)
        if known is None and self._one_way(node, condition):
            return
        if known is None and condition.plain and self._merge_if(node, condition):
            return
        branches = [b for b in (node["then"], node["else"]) if b is not None]
        if (
            known is None
            and self.unfollowed(condition)
            and self.skip(branches, f"{self.span(node)}: a variable that an if changes")
        ):
            return
        if self.run.decide(condition, self.span(node)) if known is None else known:
            self.exec(node["then"])
        elif node["else"] is not None:
            self.exec(node["else"])

    def _one_way(self, node: Node, condition: Bool) -> bool:
        """``if (c) { …; exit(1); }``: the program goes on only where c does not hold, so there is one path."""
        then = node["then"]
        if node["else"] is not None or self.run.speculative:
            return False
        if not self.code.remember("dies", then, lambda: dies(then)):
            return False
        if not self.unfollowed(condition):  # else nothing is known either way
            self.run.assume(lnot(condition), self.span(node))
        return True

    def _leaves(self, node: Node) -> bool:
        """Whether a handler surely ends the program without a launch: it throws, exits, or returns from all there is."""
        if dies(node):
            return True
        last = node["body"][-1] if node["k"] == "block" and node["body"] else node
        if last["k"] != "return" or not self.alone or len(self.stack) != 1:
            return False
        return node is last or not any(goes_on(n) for n in [*node["body"][:-1], last.get("a")])

    def _merge_if(self, node: Node, condition: Bool) -> bool:
        """Both branches at once, where they only set variables: ``if (c) x = a;`` is ``x = a if c else x``."""
        before, references = dict(self.cells), dict(self.references)
        sides: list[dict[str, Value]] = []
        for branch in (node["then"], node["else"]):
            self.cells = dict(before)
            self.run.speculative += 1
            try:
                if branch is not None:
                    self.exec(branch)
                sides.append(self.cells)
            except (NotSimple, Return, Break, Continue, Dead, Refused):
                return False
            finally:
                self.run.speculative -= 1
                self.cells, self.references = dict(before), dict(references)
        merged = dict(before)
        for cell in sides[0] | sides[1]:
            a, b = sides[0].get(cell), sides[1].get(cell)
            if a is None or b is None:
                continue  # declared inside one branch
            if a is b:
                merged[cell] = a
                continue
            value = merge(condition, a, b)
            if value is None:
                return False
            merged[cell] = self.of_length(value, node)
        self.cells = merged
        return True

    def _switch(self, node: Node) -> None:
        subject = self.whole(node["a"])
        chosen = None
        for index, case in enumerate(node["cases"]):
            for value in case["values"]:
                same = self.as_condition(self.binary("==", subject, self.eval(value), node), node)
                if self.run.decide(same, self.span(node)):
                    chosen = index
                    break
            if chosen is not None:
                break
        if chosen is None:
            chosen = next((i for i, c in enumerate(node["cases"]) if c["default"]), None)
        if chosen is None:
            return
        try:
            for case in node["cases"][chosen:]:
                for statement in case["body"]:
                    self.exec(statement)
        except Break:
            return
