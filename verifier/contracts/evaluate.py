"""Expressions of C++ host code: the tree of verifier/frontend/host -> values.

Conversions are nodes of the tree; arithmetic is written out at its C type. ``&&``, ``||`` and ``?:`` are merged into one
condition where evaluating both sides can change nothing, and decide the path where it could.

Example: ``(n + 255) / 256`` of an int ``n`` is ``i32(n + 255) // 256``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from specs.location import Span
from verifier.contracts import calls, captures, classes, elements, launches, tensors, torch_calls
from verifier.contracts.accounts import accounted, idle
from verifier.contracts.arguments import Arguments
from verifier.contracts.conversions import aligned, merge
from verifier.contracts.effects import in_any_order
from verifier.contracts.floats import float_binary, to_float
from verifier.contracts.lvalues import COMPARES, decays, holds_reference, plain, pure, roots
from verifier.contracts.objects import (
    THIS,
    Address,
    Bits,
    Device,
    Dtype,
    Float,
    Function,
    Items,
    Iterator,
    Null,
    Optional,
    Pointer,
    Record,
    Tensor,
    Text,
    Unknown,
    Value,
)
from verifier.contracts.run import Dead, NotSimple, Refused
from verifier.contracts.values import (
    FALSE,
    PY,
    SIZES,
    TRUE,
    Bool,
    Int,
    arith,
    common,
    compare,
    const,
    convert,
    dtype_of,
    land,
    lnot,
    lor,
)
from verifier.frontend.host import Node


class Evaluator(Arguments):
    """Calls of host functions are left to the subclass. ``launcher``: the function that launches are reported for."""

    launcher = ""

    def call(self, usr: str, args: list[Value], span: Span | None = None) -> Value:
        raise NotImplementedError

    def inline(self, usr: str, args: list[Value]) -> Value:
        raise NotImplementedError

    def uninitialised(self, variable: Node) -> Value:
        raise NotImplementedError

    def call_lambda(self, function: Function, args: list[Value], callee: Node) -> Value:
        raise NotImplementedError

    def unknown_call(self, what: str, args: list[Value]) -> Value:
        """What a call that is not understood was given may be changed."""
        for value in args:
            self.havoc(value)
        return Unknown(what)

    def condition(self, node: Node) -> Bool:
        return self.as_condition(self.whole(node), node)

    def whole(self, node: Node, hint: str = "") -> Value:
        """The value of an expression that is no part of another one, or of an operand that may be left out."""
        with accounted(self, node):
            return self.eval(node, hint)

    def idle(self, node: Node) -> bool:
        return idle(self, node)

    def eval(self, node: Node, hint: str = "") -> Value:
        self.run.step()
        if id(node) in self.met:
            self.met[id(node)] += 1
        if holds_reference(node.get("t", "")):
            raise Refused(f"{self.span(node)}: an object that holds a reference is not followed")
        handler: Callable[[Node, str], Value] | None = getattr(self, f"_eval_{node['k']}", None)
        if handler is None:
            for child in node.get("args", ()):
                self.havoc_node(child)
            return Unknown(f"{self.span(node)}: {node.get('why') or node['k']}")
        value = self.of_length(handler(node, hint), node)
        if isinstance(value, Pointer) and node.get("t", "").endswith("*"):
            return self.pointer_cast(value, node["t"])
        if isinstance(value, Int | Bool) and node["k"] in ("call", "operator", "method"):
            dtype = dtype_of(node.get("t", ""))
            if dtype not in (None, "bool", "f32", "f64", "f16", "bf16"):
                return self.coerce(value, node["t"])
        return value

    def _eval_int(self, node: Node, hint: str) -> Value:
        type_ = dtype_of(node["t"]) or "i64"
        if type_ == "bool":
            return TRUE if node["v"] else FALSE
        return const(node["v"], type_)

    def _eval_enum(self, node: Node, hint: str) -> Value:
        if node["owner"] == "ScalarType":
            return Dtype(tensors.DTYPES.get(node["name"]))
        type_ = dtype_of(node.get("t", "")) or "i32"
        if type_ == "bool":
            return TRUE if node["v"] else FALSE
        return convert(const(node["v"], PY), type_)

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
        place = self.named(node["id"])
        if place.cell in self.cells:
            return self.load(place)
        if "v" in node:
            type_ = dtype_of(node["t"])
            if type_ == "bool":
                return TRUE if node["v"] else FALSE
            if type_ in SIZES and type_ not in ("f32", "f64", "f16", "bf16"):
                return const(node["v"], type_)
        return Unknown(f"{node['name']}")

    def _eval_this(self, node: Node, hint: str) -> Value:
        return self.cells.get(THIS) or Unknown("this")

    def _eval_function(self, node: Node, hint: str) -> Value:
        if node.get("kernel"):
            targs, params = tuple(node["targs"] or ()), tuple(node["params"])
            return Function(kernel=node["name"].split("::")[-1], targs=targs, params=params)
        return Function(usr=node.get("fn", ""))

    def _eval_lambda(self, node: Node, hint: str) -> Value:
        return Function(node=node, captured=captures.held(self, node) or None)

    def _eval_new(self, node: Node, hint: str) -> Value:
        for argument in node["args"]:
            if dtype_of(argument["t"]) is not None or argument["k"] == "construct":
                self.lost(self.eval(argument))
            else:  # placement, or what the object may keep
                self.havoc_node(argument)
        return Unknown("host memory")

    def _eval_refused(self, node: Node, hint: str) -> Value:
        raise Refused(f"{self.span(node)}: {node['why']} is not followed")

    def _eval_init(self, node: Node, hint: str) -> Value:
        items = tuple(self.eval(i) for i in node["items"])
        if "fields" in node:
            held = [self.coerce(i, t) for i, t in zip(items, node["types"], strict=False)]
            fields = dict(zip(node["fields"], held, strict=False))
            return Record(node["t"], fields | classes.by_default(self, node["rest"], zero=True))
        if node["t"] == "dim3":
            return self.dim3(list(items), node["items"])
        if len(items) == 1 and (dtype_of(node["t"]) or node["t"].endswith("*")):
            return self.coerce(items[0], node["t"])
        return self.coerce(Items(items), node["t"])

    def _eval_member(self, node: Node, hint: str) -> Value:
        if node["base"] is None:
            return Unknown(f"member {node['name']}")
        value = self.eval(node["base"])
        if isinstance(value, Address):
            value = self.load(value)
        if isinstance(value, Iterator):
            value = value.items[value.index] if value.place is None else Unknown("an iterator")
        return self.component(value, node["name"])

    def _eval_index(self, node: Node, hint: str) -> Value:
        array = node["a"]
        if (
            decays(array) and self.place(array["a"]) is None
        ):  # an element at an index that is not known, of an array of arrays
            array = array["a"]
        base, index = self.eval(array), self.eval(node["i"])
        return self.element(base, index, node)

    def _eval_cond(self, node: Node, hint: str) -> Value:
        condition = self.condition(node["c"])
        known = self.run.evaluate(condition)
        if known is None and condition.plain and pure(node["a"]) and pure(node["b"]):
            self.run.speculative += 1
            try:
                merged = merge(condition, self.eval(node["a"]), self.eval(node["b"]))
            except (NotSimple, Dead, Refused):
                merged = None
            finally:
                self.run.speculative -= 1
            if merged is not None:
                return merged
        if known is None and self.unfollowed(condition):
            tried = [self._aside(node[side], condition=False) for side in ("a", "b")]
            sides = [v for v in tried if v is not None and not isinstance(v, Tensor | Pointer | Optional)]
            if len(sides) == 2:
                for side in sides:
                    self.lost(side)
                return Unknown(f"{self.span(node)}: either of two values")
        answer = self.run.decide(condition, self.span(node)) if known is None else known
        return self.whole(node["a"] if answer else node["b"])

    def _aside(self, node: Node, *, condition: bool = True) -> Value | None:
        """The value of an operand that may not be evaluated at all: None if that would change or assume anything."""
        if not pure(node):
            return None
        self.run.speculative += 1
        try:
            return self.condition(node) if condition else self.eval(node)
        except (NotSimple, Dead, Refused):
            return None
        finally:
            self.run.speculative -= 1

    def _eval_un(self, node: Node, hint: str) -> Value:
        op = node["op"]
        if op in ("++", "--", "p++", "p--"):
            if not pure(node["a"]):
                raise Refused(f"{self.span(node)}: {op} of an expression with an effect of its own")
            place = self.place(node["a"])
            old = self.eval(node["a"])
            new: Value = self.binary("+" if "++" in op else "-", old, const(1, "i32"), node["a"])
            new = self.coerce(new, node["a"]["t"])
            if place is None:
                self.assign(node["a"], new)
                return Unknown(f"{self.span(node)}: {op} of something that is not a variable")
            self.store(place, new)
            return old if op.startswith("p") else new
        if op == "&":
            if node["a"]["k"] == "function":
                return self.eval(node["a"])
            place = self.place(node["a"]) if pure(node["a"]) else None
            if place is None:
                for root in roots(node["a"]):
                    self.lost(self.named(root))
            return place or Unknown("an address")
        value = self.eval(node["a"])
        match op, value:
            case "!", _:
                return lnot(self.as_condition(value, node))
            case "*", Address():
                return self.load(value)
            case "*", Iterator():
                return self.element(value, const(0), node)
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
        self.lost(value)
        return Unknown(f"{self.span(node)}: operator {op}")

    def _eval_bin(self, node: Node, hint: str) -> Value:
        op = node["op"]
        if op == ",":
            self.eval(node["a"])
            return self.eval(node["b"])
        if op == "=":
            value = self.eval(node["b"], self._name_hint(node["a"]))
            self.assign(node["a"], value)
            return value
        if op in ("&&", "||"):
            left = self.condition(node["a"])
            known = self.run.evaluate(left)
            if known is not None:
                return self.condition(node["b"]) if known == (op == "&&") else (TRUE if known else FALSE)
            right = self._aside(node["b"])
            if isinstance(right, Bool):
                return land(left, right) if op == "&&" else lor(left, right)
            if self.run.decide(left, self.span(node)) == (op == "&&"):
                return self.condition(node["b"])
            return FALSE if op == "&&" else TRUE
        if op.endswith("=") and op not in COMPARES:
            if not pure(node["a"]):
                raise Refused(f"{self.span(node)}: {op} to an expression with an effect of its own")
            in_any_order(self, [node["a"], node["b"]], node)
            old, value = self.eval(node["a"]), self.eval(node["b"])
            self.assign(node["a"], self.coerce(self.binary(op[:-1], old, value, node), node["a"]["t"]))
            return self.eval(node["a"])
        if op != ",":
            in_any_order(self, [node["a"], node["b"]], node)
        return self.binary(op, self.eval(node["a"]), self.eval(node["b"]), node)

    def _name_hint(self, node: Node) -> str:
        return node["name"] if node["k"] == "var" else ""

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
                if op in COMPARES:
                    return compare(op, a, b)
                return arith(op, a, b, type_) or self.free_int(type_, f"{self.span(node)}: operator {op}")
            case Float(), Float():
                return float_binary(op, a, b) or self.free_condition(op, node)
            case Iterator(items=items, index=at, place=place), Int() if op in ("+", "-"):
                if b.value is not None:
                    return Iterator(items, at + b.value if op == "+" else at - b.value, place)
            case Address(), Int(value=by) if op in ("+", "-") and by is not None:
                stepped = self.stepped(a, by if op == "+" else -by)
                if stepped is not None:
                    return stepped
            case Pointer(), Int() if op in ("+", "-"):
                return self.moved(a, b, op)
            case Int(), Pointer() if op == "+":
                return self.moved(b, a, op)
            case (Bits(), _) | (_, Bits()) if (bits := self._bits(op, a, b)) is not None:
                return bits
            case (Device(of=x), Int(value=1)) | (Int(value=1), Device(of=x)) if op in ("==", "!="):
                cuda = Bool(fact=("cuda", x.key, None))
                return cuda if op == "==" else lnot(cuda)
            case Dtype(), Dtype() if op in ("==", "!="):
                found = tensors.same_dtype(self.run, a, b)
                return found if op == "==" else lnot(found)
            case (Pointer() | Address() | Tensor(), Null()) | (Null(), Pointer() | Address() | Tensor()):
                return TRUE if op == "!=" else FALSE
            case Null(), Null():
                return TRUE if op == "==" else FALSE
            case Optional(), Null():
                present = tensors.defined(self.run, a)
                return present if op == "!=" else lnot(present)
        if op in COMPARES:
            return self.free_condition(op, node)
        self.lost(a)
        self.lost(b)
        why = next((v.why for v in (a, b) if isinstance(v, Unknown)), f"operator {op}")
        type_name = dtype_of(node["t"])
        if type_name in ("f32", "f64"):
            return Float(type=type_name)
        return Unknown(why)

    def _bits(self, op: str, a: Value, b: Value) -> Value | None:
        """Tests of the low bits of addresses: ``% 16``, ``& 15``, ``|`` of several, ``== 0``."""
        match a, b:
            case Bits(pointers=x, modulus=m), Bits(pointers=y, modulus=n) if op == "|" and m == n:
                return Bits((*x, *y), m)
            case Bits(pointers=x, modulus=None), Int(value=v) if v is not None:
                modulus = v if op == "%" else v + 1 if op == "&" else 0
                return Bits(x, modulus) if modulus >= 2 and modulus & (modulus - 1) == 0 else None
            case (Bits(modulus=m) as bits, Int(value=0)) | (Int(value=0), Bits(modulus=m) as bits) if (
                m is not None
            ):
                found = aligned(bits)
                if found is not None and op in ("==", "!="):
                    return found if op == "==" else lnot(found)
        return None

    def _eval_cast(self, node: Node, hint: str) -> Value:
        if decays(node):  # an array becomes a pointer to its first element
            place = self.place(node["a"])
            if place is not None and not isinstance(self.load(place), Text):
                return Address(place.cell, (*place.path, 0))
            value = self.eval(node["a"], hint)
            if place is None and not isinstance(value, Text):
                for root in roots(node["a"]):
                    self.escape(self.named(root).cell)
                return Unknown(f"{self.span(node)}: a pointer into an array")
            return self.coerce(value, node["t"])
        value = self.eval(node["a"], hint)
        if isinstance(value, Function) and node["t"].endswith("*"):
            return value
        if isinstance(value, Address) and not self._same_pointee(value, node["a"]["t"], node["t"]):
            self.lost(value)
            return Unknown(f"{self.span(node)}: a pointer of another type")
        return self.coerce(value, node["t"])

    def _same_pointee(self, pointer: Address, old: str, new: str) -> bool:
        """Whether a pointer of type ``new`` still sees the variable as what it is."""
        before, after = (t.replace("const ", "").replace(" const", "").strip() for t in (old, new))
        if after == before or (after.endswith("**") and before.endswith("**")):
            return True
        if after == "void *":
            return True
        held = self.load(pointer)
        pointee = dtype_of(after.removesuffix("*").strip()) if after.endswith("*") else None
        match held:
            case Int(type=type_) | Float(type=type_):
                return before == "void *" and pointee == type_
            case Record(type=type_):
                return before == "void *" and after.removesuffix("*").strip() == type_
        return before == "void *" and pointee is None

    def _eval_construct(self, node: Node, hint: str) -> Value:
        type_ = node["t"]
        if "members" in node:
            return Record(type_, classes.by_default(self, node["members"], zero=False))
        if "constructor" in node:
            return classes.construct(self, node)
        if "own" in node:
            return self._own_object(node)
        self.lost_code(node.get("runs", []))
        values = [self.eval(a, hint) for a in node["args"]]
        if type_ == "dim3":
            return self.dim3(values, node["args"])
        made = self.coerce(calls.construct(self, type_, values, node), type_)
        if isinstance(made, Unknown):
            for value in values:
                self.lost(value)
        return made

    def _own_object(self, node: Node) -> Value:
        """A class of the host code with a constructor or destructor of its own, which are not followed."""
        for argument in node["args"]:
            self.havoc_node(argument)
        self.lost_code(node["own"])
        return Unknown(f"{self.span(node)}: an object of type {node['t']}")

    def _eval_call(self, node: Node, hint: str) -> Value:
        if not node["name"].startswith("vk::"):
            in_any_order(self, node["args"], node)
        if not node["name"]:
            if node["callee"]["t"] == "vk::unknown":
                return self._foreign(node["callee"], node["args"], node)
            target = self.eval(node["callee"])
            return self.apply(target, self.handed(target, node["args"], node), node)
        if node["name"].endswith("operator()"):
            target = self.eval(node["args"][0])
            return self.apply(target, self.handed(target, node["args"][1:], node), node)
        if "fn" in node:
            return self.call(node["fn"], self.arguments(node), self.span(node))
        return calls.call(self, node, hint)

    def apply(self, target: Value, args: list[Value], node: Node) -> Value:
        if isinstance(target, Function) and target.through:
            found = self.apply(replace(target, through=""), args, node)
            return self.coerce(found, elements.result_type(target.through))
        match target:
            case Function(node=lambda_) if lambda_ is not None:
                instance = self.code.functions.get(node.get("fn", ""))
                if instance is not None and instance["body"] is not None:  # of a generic lambda
                    body = {**lambda_, "params": instance["params"], "body": instance["body"]}
                    target = replace(target, node=body)
                return self.call_lambda(target, args, plain(node.get("callee") or node["args"][0]))
            case Function(usr=usr) if usr:
                return self.call(usr, args, self.span(node))
            case _:
                raise Refused(f"{self.span(node)}: a call through something that is not followed")

    def _eval_operator(self, node: Node, hint: str) -> Value:
        if node["name"].startswith("vk::unknown::"):
            return self._foreign(node["args"][0], node["args"], node)
        if node["name"].endswith("operator()"):
            target = self.eval(node["args"][0])
            return self.apply(target, self.handed(target, node["args"][1:], node), node)
        if self.copies(node) and len(node["args"]) == 2:
            value = self.eval(node["args"][1])
            self.assign(node["args"][0], value)
            return value
        if "fn" in node:
            for argument in node["args"]:
                self.havoc_node(argument)
            self.lost_code([node["fn"]])
            return Unknown("an operator of the host code")
        return torch_calls.operator(self, node, hint)

    def copies(self, node: Node) -> bool:
        """Whether it is the assignment of a class of the host code that the compiler makes itself."""
        return node["name"].endswith("::operator=") and bool(node.get("implicit"))

    def _foreign(self, callee: Node, nodes: list[Node], node: Node) -> Value:
        """A function of a library that is not known. Those of C libraries take their arguments by value."""
        self.lost_code(node.get("runs", []))
        for argument in nodes:
            if not calls.by_value(callee):
                self.havoc_node(argument)
            elif dtype_of(argument["t"]) is not None:
                self.eval(argument)
            else:  # what a pointer points to may change, the pointer itself not
                value = self.eval(argument)
                self.havoc(value)
                if isinstance(value, Pointer):
                    self.fill(value, f"{callee['name']}()", device=True)
        return Unknown(f"{self.span(node)}: {callee.get('name') or 'a call'}()")

    def _eval_method(self, node: Node, hint: str) -> Value:
        if "fn" in node and not self.copies(node):
            return classes.method(self, node)
        self.lost_code(node.get("runs", []))
        return torch_calls.method(self, node, hint)

    def _eval_launch(self, node: Node, hint: str) -> Value:
        launches.launch(self, node)
        return Unknown("void")
