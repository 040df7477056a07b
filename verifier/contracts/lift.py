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

from collections.abc import Callable
from typing import Any

from specs.location import Span
from verifier.contracts import calls, tensors
from verifier.contracts.objects import (
    Address,
    Device,
    Dim3,
    Dtype,
    Float,
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
    Value,
)
from verifier.contracts.run import Dead, NotSimple, Refused, Run, Storage
from verifier.contracts.values import (
    FALSE,
    SIZES,
    TRUE,
    Bool,
    Int,
    arith,
    as_bool,
    as_int,
    choose,
    common,
    compare,
    const,
    convert,
    dtype_of,
    element_of,
    land,
    limits,
    lnot,
    lor,
    symbol,
)
from verifier.frontend.host import HostCode, Node

_MAX_CALLS = 24
_UNROLL = 64
_COMPARES = ("<", ">", "<=", ">=", "==", "!=")


class Return(Exception):
    def __init__(self, value: Value | None) -> None:
        super().__init__()
        self.value = value


class Break(Exception):
    pass


class Continue(Exception):
    pass


class Host:
    """``constants``: names of program constants that stand for symbols (demo main), by declaration id."""

    def __init__(self, run: Run, code: HostCode, constants: dict[str, Int] | None = None) -> None:
        self.run = run
        self.code = code
        self.constants = constants or {}
        self.cells: dict[str, Value] = {}
        self.references: dict[str, Address] = {}
        self.stack: list[str] = []
        self.launcher = ""
        self.bad_lines = [line for _, _, line in code.errors]
        self._globals()

    # --- functions ---------------------------------------------------------------------------------------------------

    def _globals(self) -> None:
        for variable in self.code.globals:
            if variable["const"] or dtype_of(variable["type"]) in ("f32", "f64"):
                if variable["init"] is not None:
                    try:
                        self._declare(variable)
                    except (Refused, Dead):
                        self.cells[variable["id"]] = Unknown(f"global {variable['name']}")
            else:
                self.cells[variable["id"]] = Unknown(f"global variable {variable['name']}")

    def initialise_globals(self) -> None:
        """For a program that starts at main: globals hold their initialisers."""
        for variable in self.code.globals:
            self._declare(variable)

    def call(self, usr: str, args: list[Value], span: Span | None = None) -> Value:
        """Inline a host function. ``args`` are values, or Address for a reference parameter."""
        function = self.code.functions.get(usr)
        if function is None or function["body"] is None:
            return self._unknown_call("a function without a body", args)
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
            try:
                self.exec(function["body"])
            except Return as result:
                return result.value if result.value is not None else Unknown("void")
            return Unknown("void")
        finally:
            self.stack.pop()

    def _bind(self, param: Node, value: Value) -> None:
        self.references.pop(param["id"], None)
        if isinstance(value, Address) and param.get("ref"):
            if value.cell != param["id"]:
                self.references[param["id"]] = value
                return
            value = self.load(value)
        self.cells[param["id"]] = self.coerce(value, param["type"])

    def call_lambda(self, function: Function, args: list[Value]) -> Value:
        node = function.node
        if len(self.stack) > _MAX_CALLS:
            raise Refused("lambda calls nested too deep")
        saved: dict[str, Value | None] = {}
        if function.captured is not None:
            for cell, value in function.captured.items():
                saved[cell] = self.cells.get(cell)
                self.cells[cell] = value
        self.stack.append("lambda")
        try:
            for index, param in enumerate(node["params"]):
                self._bind(param, args[index] if index < len(args) else Unknown("argument"))
            if node["body"] is None:
                raise Refused("a lambda without a body")
            try:
                self.exec(node["body"])
            except Return as result:
                return result.value if result.value is not None else Unknown("void")
            return Unknown("void")
        finally:
            self.stack.pop()
            for cell, old in saved.items():
                if old is None:
                    self.cells.pop(cell, None)
                else:
                    self.cells[cell] = old

    def _unknown_call(self, what: str, args: list[Value]) -> Value:
        for value in args:
            self.havoc(value, what)
        return Unknown(what)

    def havoc(self, value: Value, why: str) -> None:
        """What is reachable from an argument of a call that is not understood is unknown afterwards."""
        match value:
            case Address():
                self.store(value, Unknown(why))
            case Tensor() | Pointer():
                if value.storage in self.run.storages:
                    self.run.write(value.storage)
            case Items(items=items):
                for item in items:
                    self.havoc(item, why)
            case _:
                return

    # --- statements --------------------------------------------------------------------------------------------------

    def exec(self, node: Node) -> None:
        self.run.step()
        match node["k"]:
            case "block":
                for child in node["body"]:
                    self.exec(child)
            case "decl":
                for variable in node["vars"]:
                    self._declare(variable)
            case "expr":
                self.eval(node["a"])
            case "if":
                self._if(node)
            case "for" | "while" | "do":
                from verifier.contracts.loops import execute_loop

                execute_loop(self, node)
            case "range":
                from verifier.contracts.loops import execute_range

                execute_range(self, node)
            case "return":
                raise Return(self.eval(node["a"]) if node["a"] is not None else None)
            case "break":
                raise Break
            case "continue":
                raise Continue
            case "switch":
                self._switch(node)
            case "try":
                if not all(_leaves(h) for h in node["handlers"]):
                    raise Refused(f"{self.span(node)}: an exception handler that goes on is not followed")
                self.exec(node["body"])
            case _:
                raise Refused(f"{self.span(node)}: {node.get('why') or node['k']} is not followed")

    def _declare(self, variable: Node) -> None:
        identity = variable["id"]
        self.references.pop(identity, None)
        if "bindings" in variable:
            value = self.eval(variable["init"]) if variable["init"] else Unknown("binding")
            for index, binding in enumerate(variable["bindings"]):
                known = isinstance(value, Items) and index < len(value.items)
                self.cells[binding["id"]] = value.items[index] if known else Unknown("structured binding")  # type: ignore[union-attr]
            return
        if variable["static"] and not variable["const"]:
            self.cells[identity] = Unknown(f"static variable {variable['name']}")
            return
        if variable["init"] is None:
            self.cells[identity] = self._uninitialised(variable)
            return
        if variable["ref"]:
            place = self.place(variable["init"])
            if place is not None and place.cell != identity:
                self.references[identity] = place
                return
        if identity in self.constants:
            self.cells[identity] = self.constants[identity]
            return
        value = self.coerce(
            self.eval(variable["init"], hint=variable["name"]), variable["type"], variable.get("count")
        )
        if isinstance(value, Int) and value.value is not None and not value.taint:
            value = Int(value.text, value.lo, value.hi, value.type, frozenset({identity}))
        self.cells[identity] = value
        self._prefer(variable["name"], value)

    def _prefer(self, name: str, value: Value) -> None:
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

    def _uninitialised(self, variable: Node) -> Value:
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

    def _if(self, node: Node) -> None:
        condition = self.condition(node["c"])
        known = self.run.evaluate(condition)
        if known is None and condition.plain and self._merge_if(node, condition):
            return
        if self.run.decide(condition, self.span(node)) if known is None else known:
            self.exec(node["then"])
        elif node["else"] is not None:
            self.exec(node["else"])

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
        for cell in {*sides[0], *sides[1]}:
            a, b = sides[0].get(cell), sides[1].get(cell)
            if a is None or b is None:
                continue  # declared inside one branch
            value = merge(condition, a, b)
            if value is None:
                return False
            merged[cell] = value
        self.cells = merged
        return True

    def _switch(self, node: Node) -> None:
        subject = self.eval(node["a"])
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

    # --- places ------------------------------------------------------------------------------------------------------

    def place(self, node: Node) -> Address | None:
        """Where an lvalue lives; None for what is no variable of ours."""
        match node["k"]:
            case "var":
                identity = node["id"]
                return self.references.get(identity, Address(identity))
            case "member" if node["base"] is not None:
                base = self.place(node["base"])
                if base is None:
                    return None
                value = self.load(base)
                if isinstance(value, Address):  # p->field
                    return Address(value.cell, (*value.path, node["name"]))
                return Address(base.cell, (*base.path, node["name"]))
            case "index":
                base, index = self.place(node["a"]), self.eval(node["i"])
                if base is None or not isinstance(index, Int) or index.value is None:
                    return None
                return Address(base.cell, (*base.path, index.value))
            case "un" if node["op"] == "*":
                value = self.eval(node["a"])
                return value if isinstance(value, Address) else None
            case "cast":
                return self.place(node["a"])
            case "operator" if node["name"].endswith("operator[]") and len(node["args"]) == 2:
                return self.place({"k": "index", "a": node["args"][0], "i": node["args"][1]})
        return None

    def load(self, place: Address) -> Value:
        value: Value = self.cells.get(place.cell) or Unknown(f"{place.cell.split('@')[0]}")
        for step in place.path:
            value = self.component(value, step)
        return value

    def component(self, value: Value, step: Any) -> Value:
        match value:
            case Items(items=items) if isinstance(step, int):
                return items[step] if 0 <= step < len(items) else Unknown("element out of range")
            case Record(type=type_, fields=fields):
                if step in fields:
                    found: Value = fields[step]
                    return found
                return calls.device_property(self.run, type_, str(step))
            case Dim3(x=x, y=y, z=z):
                return {"x": x, "y": y, "z": z}.get(step) or Unknown(f"member {step}")
            case Items(items=items) if step in ("first", "second"):
                second: Value = items[("first", "second").index(step)]
                return second
            case _:
                return Unknown(f"member {step}")

    def store(self, place: Address, value: Value) -> None:
        if self.run.speculative and place.path:
            raise NotSimple
        if not place.path:
            self.cells[place.cell] = value
            return
        self.cells[place.cell] = self._updated(self.cells.get(place.cell), place.path, value)

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
        return Unknown("an assignment that is not followed")

    # --- expressions -------------------------------------------------------------------------------------------------

    def span(self, node: Node) -> Span:
        return self.code.span(node.get("s"))

    def condition(self, node: Node) -> Bool:
        return self.as_condition(self.eval(node), node)

    def as_condition(self, value: Value, node: Node) -> Bool:
        match value:
            case Bool():
                return value
            case Int():
                return as_bool(value)
            case Null():
                return FALSE
            case Pointer() | Address():
                return TRUE
            case Optional():
                return tensors.defined(self.run, value)
            case Float(value=number) if number is not None:
                return TRUE if number != 0 else FALSE
            case _:
                if self.run.speculative:
                    raise NotSimple
                why = value.why if isinstance(value, Unknown) else "a condition"
                return self.run.unknown_condition(f"{self.span(node)}: {why}")

    def eval(self, node: Node, hint: str = "") -> Value:
        self.run.step()
        handler: Callable[[Node, str], Value] | None = getattr(self, f"_eval_{node['k']}", None)
        if handler is None:
            for child in node.get("args", ()):
                self.havoc_node(child)
            return Unknown(f"{self.span(node)}: {node.get('why') or node['k']}")
        value = handler(node, hint)
        if isinstance(value, Pointer) and node.get("t", "").endswith("*"):
            return self._pointer_cast(value, node["t"])
        return value

    def havoc_node(self, node: Node) -> None:
        """An argument of something not understood: what it names may change."""
        if node["k"] in ("var", "member", "index"):
            place = self.place(node)
            value = self.load(place) if place is not None else Unknown("")
            if isinstance(value, Tensor | Pointer):
                self.havoc(value, "an expression that is not understood")
            elif place is not None:
                self.store(place, Unknown(f"{self.span(node)}: an expression that is not understood"))
        elif node["k"] != "lambda":
            self.havoc(self.eval(node), "an expression that is not understood")

    def _eval_int(self, node: Node, hint: str) -> Value:
        type_ = dtype_of(node["t"]) or "i64"
        if type_ == "bool":
            return TRUE if node["v"] else FALSE
        return const(node["v"], type_)

    def _eval_enum(self, node: Node, hint: str) -> Value:
        if node["owner"] == "ScalarType":
            return Dtype(tensors.DTYPES.get(node["name"]))
        return const(node["v"], "i32")

    def _eval_float(self, node: Node, hint: str) -> Value:
        value, type_ = node["v"], dtype_of(node["t"]) or "f64"
        if value is not None and abs(value) < 1 << 53 and value == int(value):
            return Float(value, (const(int(value)), const(1)), type_)
        return Float(value, None, type_)

    def _eval_str(self, node: Node, hint: str) -> Value:
        return Text(node["v"])

    def _eval_null(self, node: Node, hint: str) -> Value:
        return Null()

    def _eval_default(self, node: Node, hint: str) -> Value:
        return Unknown("default argument")

    def _eval_throw(self, node: Node, hint: str) -> Value:
        raise Dead

    def _eval_var(self, node: Node, hint: str) -> Value:
        if "shim" in node:
            name = node["shim"].split("::")[-1]
            if node["t"] == "c10::ScalarType":
                return Dtype(tensors.DTYPES.get(name))
            if name == "nullopt":
                return Null()
            return const(node["v"], dtype_of(node["t"]) or "i32") if "v" in node else Unknown(name)
        place = self.references.get(node["id"], Address(node["id"]))
        if place.cell in self.cells:
            return self.load(place)
        if "v" in node:
            type_ = dtype_of(node["t"])
            if type_ == "bool":
                return TRUE if node["v"] else FALSE
            if type_ in SIZES and type_ not in ("f32", "f64", "f16", "bf16"):
                return const(node["v"], type_)
        return Unknown(f"{node['name']}")

    def _eval_function(self, node: Node, hint: str) -> Value:
        if node.get("kernel"):
            return Function(kernel=node["name"].split("::")[-1], targs=tuple(node["targs"] or ()))
        return Function(usr=node.get("fn", ""))

    def _eval_lambda(self, node: Node, hint: str) -> Value:
        return Function(node=node, captured=dict(self.cells) if node["by_value"] else None)

    def _eval_new(self, node: Node, hint: str) -> Value:
        return Unknown("host memory")

    def _eval_init(self, node: Node, hint: str) -> Value:
        items = tuple(self.eval(i) for i in node["items"])
        if node["t"] == "dim3":
            return self._dim3(list(items), node["items"])
        if len(items) == 1 and (dtype_of(node["t"]) or node["t"].endswith("*")):
            return self.coerce(items[0], node["t"])
        return Items(items)

    def _eval_member(self, node: Node, hint: str) -> Value:
        if node["base"] is None:
            return Unknown(f"member {node['name']}")
        value = self.eval(node["base"])
        if isinstance(value, Address):
            value = self.load(value)
        return self.component(value, node["name"])

    def _eval_index(self, node: Node, hint: str) -> Value:
        base, index = self.eval(node["a"]), self.eval(node["i"])
        return self.element(base, index, node)

    def element(self, base: Value, index: Value, node: Node) -> Value:
        if isinstance(base, Sizes):
            return tensors.size(self.run, base.tensor, index)
        if isinstance(base, Address):
            base = self.load(base)
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
        return Unknown(f"{self.span(node)}: an element that is not followed")

    def _eval_cond(self, node: Node, hint: str) -> Value:
        condition = self.condition(node["c"])
        known = self.run.evaluate(condition)
        if known is None and condition.plain:
            self.run.speculative += 1
            try:
                merged = merge(condition, self.eval(node["a"]), self.eval(node["b"]))
            except (NotSimple, Dead, Refused):
                merged = None
            finally:
                self.run.speculative -= 1
            if merged is not None:
                return merged
        answer = self.run.decide(condition, self.span(node)) if known is None else known
        return self.eval(node["a"] if answer else node["b"])

    def _eval_un(self, node: Node, hint: str) -> Value:
        op = node["op"]
        if op in ("++", "--", "p++", "p--"):
            place = self.place(node["a"])
            old = self.eval(node["a"])
            new: Value = self.binary("+" if "++" in op else "-", old, const(1, "i32"), node["a"])
            new = self.coerce(new, node["a"]["t"])
            if place is None:
                raise Refused(f"{self.span(node)}: {op} of something that is not a variable")
            self.store(place, new)
            return old if op.startswith("p") else new
        if op == "&":
            if node["a"]["k"] == "function":
                return self.eval(node["a"])
            return self.place(node["a"]) or Unknown("an address")
        value = self.eval(node["a"])
        match op, value:
            case "!", _:
                return lnot(self.as_condition(value, node))
            case "*", Address():
                return self.load(value)
            case "*", Optional(value=inner):
                found: Value = inner
                return found
            case "+", _:
                return self.coerce(value, node["t"])
            case "-", Int():
                type_ = dtype_of(node["t"]) or value.type
                return arith("-", const(0, type_), convert(value, type_), type_) or Unknown("negation")
            case "-", Float(value=number, ratio=ratio):
                negated = None
                if ratio is not None and (top := arith("-", const(0), ratio[0], "i64")) is not None:
                    negated = (top, ratio[1])
                return Float(None if number is None else -number, negated, value.type)
            case "~", Int():
                type_ = dtype_of(node["t"]) or value.type
                if value.value is not None:
                    return convert(const(~value.value, "py"), type_)
                return arith("-", const(-1, type_), convert(value, type_), type_) or Unknown("complement")
        return Unknown(f"{self.span(node)}: operator {op}")

    def _eval_bin(self, node: Node, hint: str) -> Value:
        op = node["op"]
        if op == ",":
            self.eval(node["a"])
            return self.eval(node["b"])
        if op == "=":
            value = self.eval(node["b"], self._name_hint(node["a"]))
            self._assign(node["a"], value)
            return value
        if op in ("&&", "||"):
            left = self.condition(node["a"])
            known = self.run.evaluate(left)
            if known is not None:
                return self.condition(node["b"]) if known == (op == "&&") else (TRUE if known else FALSE)
            if not _pure(node["b"]):
                if self.run.decide(left, self.span(node)) == (op == "&&"):
                    return self.condition(node["b"])
                return FALSE if op == "&&" else TRUE
            right = self.condition(node["b"])
            return land(left, right) if op == "&&" else lor(left, right)
        if op.endswith("=") and op not in _COMPARES:
            old, value = self.eval(node["a"]), self.eval(node["b"])
            self._assign(node["a"], self.coerce(self.binary(op[:-1], old, value, node), node["a"]["t"]))
            return self.eval(node["a"])
        return self.binary(op, self.eval(node["a"]), self.eval(node["b"]), node)

    def _name_hint(self, node: Node) -> str:
        return node["name"] if node["k"] == "var" else ""

    def _assign(self, target: Node, value: Value) -> None:
        place = self.place(target)
        if place is None:
            base = target
            while base["k"] in ("member", "index", "cast"):
                base = base.get("base") or base.get("a") or {"k": "none"}
            if base["k"] == "var":  # an element with an index that is not followed
                root = self.references.get(base["id"], Address(base["id"]))
                held = self.load(root)
                if isinstance(held, Items | Record):
                    self.store(
                        root, Unknown(f"{self.span(target)}: assigned at an index that is not followed")
                    )
            return
        self.store(place, self.coerce(value, target["t"]))
        if not place.path:
            self._prefer(place.cell.split("@")[0], value)

    def binary(self, op: str, a: Value, b: Value, node: Node) -> Value:
        """A C operator on values; operands are converted as C does where the tree has not done it."""
        if isinstance(a, Bool):
            a = self.bool_value(a)
        if isinstance(b, Bool):
            b = self.bool_value(b)
        if isinstance(a, Float) and isinstance(b, Int):
            b = to_float(b, a.type)
        if isinstance(b, Float) and isinstance(a, Int):
            a = to_float(a, b.type)
        match a, b:
            case Int(), Int():
                a, b = self.run.narrow(a), self.run.narrow(b)
                for one, other in ((a, b), (b, a)):
                    shape = tensors.rank_symbol(one, self.run)
                    if shape and other.value is not None and op in ("==", "!="):
                        same = Bool(fact=("rank", shape, other.value))
                        return same if op == "==" else lnot(same)
                if op in ("<<", ">>"):
                    type_ = common(a.type, a.type)
                else:
                    type_ = common(a.type, b.type)
                    b = convert(b, type_)
                a = convert(a, type_)
                if op in _COMPARES:
                    return compare(op, a, b)
                return arith(op, a, b, type_) or self._free_int(type_, f"{self.span(node)}: operator {op}")
            case Float(), Float():
                return float_binary(op, a, b) or self._free_condition(op, node)
            case Iterator(items=items, index=at), Int() if op in ("+", "-"):
                if b.value is not None:
                    return Iterator(items, at + b.value if op == "+" else at - b.value)
            case Pointer(), Int() if op in ("+", "-"):
                return self.moved(a, b, op)
            case Int(), Pointer() if op == "+":
                return self.moved(b, a, op)
            case (Device(of=x), Int(value=1)) | (Int(value=1), Device(of=x)) if op in ("==", "!="):
                cuda = Bool(fact=("cuda", x.key, None))
                return cuda if op == "==" else lnot(cuda)
            case Dtype(), Dtype() if op in ("==", "!="):
                found = calls.same_dtype(self.run, a, b)
                return found if op == "==" else lnot(found)
            case (Pointer() | Address() | Tensor(), Null()) | (Null(), Pointer() | Address() | Tensor()):
                return TRUE if op == "!=" else FALSE
            case Null(), Null():
                return TRUE if op == "==" else FALSE
            case Optional(), Null():
                present = tensors.defined(self.run, a)
                return present if op == "!=" else lnot(present)
        if op in _COMPARES:
            return self._free_condition(op, node)
        why = next((v.why for v in (a, b) if isinstance(v, Unknown)), f"operator {op}")
        type_name = dtype_of(node["t"])
        if type_name in ("f32", "f64"):
            return Float(type=type_name)
        return Unknown(why)

    def bool_value(self, value: Bool) -> Int:
        if value.plain:
            return as_int(value, "i32")
        return const(int(self.run.decide(value)), "i32")

    def _free_condition(self, op: str, node: Node) -> Value:
        if self.run.speculative:
            raise NotSimple
        return self.run.unknown_condition(f"{self.span(node)}: a comparison that is not followed")

    def _free_int(self, type_: str, why: str, hint: str = "value") -> Int:
        """An int that is not followed. Any contract that mentions it has a gap."""
        if self.run.speculative:
            raise NotSimple
        lo, hi = limits(type_)
        out = self.run.fresh(hint, "scalar", type_, meaning=why, lo=lo, hi=hi, gap=f"{why} is not followed")
        info = self.run.symbols[out.text]
        info.low, info.high = lo, hi
        return out

    def moved(self, pointer: Pointer, by: Int, op: str) -> Value:
        if pointer.offset is None or not pointer.size:
            return Pointer(pointer.storage, None, pointer.dtype, pointer.lanes, pointer.size)
        step = arith("*", convert(by, "py"), const(pointer.size, "py"), "py")
        offset = arith(op, pointer.offset, step, "py") if step is not None else None
        return Pointer(pointer.storage, offset, pointer.dtype, pointer.lanes, pointer.size)

    # --- conversions -------------------------------------------------------------------------------------------------

    def _eval_cast(self, node: Node, hint: str) -> Value:
        return self.coerce(self.eval(node["a"], hint), node["t"])

    def coerce(self, value: Value, type_: str, count: int | None = None) -> Value:
        """The C conversion to a type, by name. Class types pass through."""
        dtype = dtype_of(type_)
        if dtype == "bool":
            if isinstance(value, Unknown | Float | Text):
                return value
            return self.as_condition(value, {"s": None})
        if dtype in ("f32", "f64", "f16", "bf16"):
            if isinstance(value, Bool):
                value = self.bool_value(value)
            if isinstance(value, Int):
                return to_float(value, dtype)
            if isinstance(value, Float):
                exact = dtype == "f64" or (value.ratio is None) or dtype == value.type
                return Float(value.value, value.ratio if exact else None, dtype)
            return Float(type=dtype) if isinstance(value, Unknown) else value
        if dtype is not None:
            match value:
                case Bool():
                    return convert(self.bool_value(value), dtype)
                case Int():
                    return convert(self.run.narrow(value), dtype)
                case Float(ratio=ratio) if ratio is not None:
                    quotient = arith("/", ratio[0], ratio[1], "py")
                    return convert(quotient, dtype) if quotient is not None else Unknown("float to int")
                case Float():
                    return self._free_int(dtype, "a float converted to an int", "rounded")
                case Dtype() | Unknown() | Pointer() | Optional() | Tensor() | Items() | Text():
                    return value
            return value
        if type_.endswith("*"):
            return self._pointer_cast(value, type_)
        if type_.endswith("]") and isinstance(value, Items) and count and len(value.items) < count <= 64:
            element = type_[: type_.index("[")].strip()
            zero = self.coerce(const(0, "i32"), element)
            return Items((*value.items, *(zero for _ in range(count - len(value.items)))))
        if type_ == "dim3" and isinstance(value, Int):
            return self._dim3([value], [])
        if type_.endswith("]") and isinstance(value, Items):
            element = type_[: type_.index("[")].strip()
            return Items(tuple(self.coerce(i, element) for i in value.items))
        return value

    def _pointer_cast(self, value: Value, type_: str) -> Value:
        if isinstance(value, Int) and value.value == 0:
            return Null()
        if isinstance(value, Pointer):
            found = element_of(type_)
            if type_.removeprefix("const ").rstrip("* ") == "void":
                return Pointer(value.storage, value.offset, None, 1, 1)
            if found is None:
                return Pointer(value.storage, value.offset, None, 1, 0)
            dtype, lanes = found
            return Pointer(value.storage, value.offset, dtype, lanes, SIZES[dtype] * lanes)
        return value

    def _dim3(self, values: list[Value], nodes: list[Node]) -> Value:
        if len(values) == 1 and isinstance(values[0], Dim3):
            return values[0]
        parts: list[Int] = []
        for value, node in zip(values, nodes or [{"k": "?"}] * len(values), strict=False):
            if node["k"] == "default":
                parts.append(const(1, "u32"))
                continue
            converted = self.coerce(value, "unsigned int")
            if not isinstance(converted, Int):
                why = value.why if isinstance(value, Unknown) else "a launch dimension"
                converted = self._free_int("u32", why, "extent")
            parts.append(converted)
        while len(parts) < 3:
            parts.append(const(1, "u32"))
        return Dim3(*parts[:3])

    # --- calls -------------------------------------------------------------------------------------------------------

    def _eval_construct(self, node: Node, hint: str) -> Value:
        type_ = node["t"]
        values = [self.eval(a, hint) for a in node["args"]]
        if type_ == "dim3":
            return self._dim3(values, node["args"])
        return calls.construct(self, type_, values, node)

    def _eval_call(self, node: Node, hint: str) -> Value:
        if not node["name"]:
            target = self.eval(node["callee"])
            return self._apply(target, self.arguments(node), node)
        if node["name"].endswith("operator()"):
            target = self.eval(node["args"][0])
            return self._apply(target, [self.eval(a) for a in node["args"][1:]], node)
        if "fn" in node:
            return self.call(node["fn"], self.arguments(node), self.span(node))
        return calls.call(self, node, hint)

    def arguments(self, node: Node) -> list[Value]:
        """Arguments of a user function: variables bound to a reference parameter are passed as places."""
        function = self.code.functions.get(node.get("fn", ""))
        out: list[Value] = []
        for index, argument in enumerate(node["args"]):
            param = function["params"][index] if function and index < len(function["params"]) else None
            if argument["k"] == "default" and param is not None and param["default"] is not None:
                out.append(self.eval(param["default"]))
                continue
            if param is not None and param["ref"] and not param["const"]:
                place = self.place(argument)
                if place is not None:
                    out.append(place)
                    continue
            out.append(self.eval(argument))
        return out

    def _apply(self, target: Value, args: list[Value], node: Node) -> Value:
        match target:
            case Function(node=lambda_) if lambda_ is not None:
                return self.call_lambda(target, args)
            case Function(usr=usr) if usr:
                return self.call(usr, args, self.span(node))
            case _:
                raise Refused(f"{self.span(node)}: a call through something that is not followed")

    def _eval_operator(self, node: Node, hint: str) -> Value:
        if node["name"].endswith("operator()"):
            return self._apply(self.eval(node["args"][0]), [self.eval(a) for a in node["args"][1:]], node)
        if "fn" in node:
            return self._unknown_call("an operator of the host code", [self.eval(a) for a in node["args"]])
        return calls.operator(self, node, hint)

    def _eval_method(self, node: Node, hint: str) -> Value:
        return calls.method(self, node, hint)

    def _eval_launch(self, node: Node, hint: str) -> Value:
        calls.launch(self, node)
        return Unknown("void")

    def storage(self, key: str) -> Storage | None:
        return self.run.storages.get(key)


def to_float(value: Int, dtype: str) -> Float:
    """Exact only where every value of the interval is a float of this type."""
    top = {"f64": 1 << 53, "f32": 1 << 24, "f16": 1 << 11, "bf16": 1 << 8}[dtype]
    exact = value.lo is not None and value.hi is not None and -top <= value.lo and value.hi <= top
    number = float(value.value) if value.value is not None else None
    return Float(number, (value, const(1)) if exact else None, dtype)


def float_binary(op: str, a: Float, b: Float) -> Value | None:
    """Constants are computed; a quotient of exact ints is kept as a ratio for ``ceil`` (double only)."""
    type_ = "f64" if "f64" in (a.type, b.type) else a.type
    if op in _COMPARES:
        if a.ratio and b.ratio and a.ratio[1].value == 1 and b.ratio[1].value == 1:
            return compare(op, a.ratio[0], b.ratio[0])
        return None
    if (
        op == "/"
        and type_ == "f64"
        and a.ratio
        and b.ratio
        and a.ratio[1].value == 1
        and b.ratio[1].value == 1
    ):
        if (
            b.ratio[0].lo is not None
            and b.ratio[0].lo >= 1
            and a.ratio[0].lo is not None
            and a.ratio[0].lo >= 0
        ):
            return Float(None, (a.ratio[0], b.ratio[0]), type_)
    if (
        a.ratio
        and b.ratio
        and a.ratio[1].value == 1
        and b.ratio[1].value == 1
        and op in ("+", "-", "*")
        and type_ == "f64"
    ):
        found = arith(op, a.ratio[0], b.ratio[0], "py")
        if found is not None and found.lo is not None and found.hi is not None:
            return to_float(found, "f64")
    return Float(type=type_)


def merge(condition: Bool, a: Value, b: Value) -> Value | None:
    """``condition ? a : b`` as one value, or None where it needs a decision."""
    if a == b:
        return a
    match a, b:
        case Int(), Int() if a.type == b.type:
            return choose(condition, a, b)
        case Bool(), Bool() if a.plain and b.plain:
            return Bool(f"({a.text} if {condition.text} else {b.text})")
        case Float(), Float() if a.type == b.type:
            return Float(type=a.type)
        case Dim3(), Dim3():
            return Dim3(choose(condition, a.x, b.x), choose(condition, a.y, b.y), choose(condition, a.z, b.z))
        case Text(), Text():
            return Text()
    return None


def _leaves(node: Node) -> bool:
    """Whether a handler surely ends the function without a launch: its last statement returns, throws or exits."""
    if node["k"] == "block":
        return bool(node["body"]) and _leaves(node["body"][-1]) and not _launches(node)
    if node["k"] == "expr":
        inner = node["a"]
        return inner["k"] == "throw" or inner.get("name") in (
            "exit",
            "std::exit",
            "abort",
            "std::abort",
            "vk::fail",
        )
    return bool(node["k"] == "return")


def _launches(node: object) -> bool:
    if isinstance(node, list):
        return any(_launches(n) for n in node)
    if isinstance(node, dict):
        if node.get("k") == "launch" or ("fn" in node and node.get("k") in ("call", "method", "operator")):
            return True
        return any(_launches(v) for k, v in node.items() if k != "s")
    return False


def _pure(node: Node) -> bool:
    """Whether evaluating it can change nothing and does not launch (the right side of && may then be evaluated)."""
    match node["k"]:
        case "un":
            return node["op"] not in ("++", "--", "p++", "p--") and _pure(node["a"])
        case "bin":
            return (
                not (node["op"].endswith("=") and node["op"] not in _COMPARES)
                and _pure(node["a"])
                and _pure(node["b"])
            )
        case "call" | "launch" | "lambda" | "throw":
            return False
        case "method":
            name = node["name"].split("::")[-1]
            if name == "size":  # throws for a dim that is not there
                return False
            return not name.endswith("_") and (node["base"] is None or _pure(node["base"]))
        case _:
            return True


def kernel_symbol(name: str) -> Int:
    return symbol(name, None, None)
