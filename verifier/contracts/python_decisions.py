"""Conditions of a Python caller: which way it goes, and what numbers the problem gives its sizes.

Example: ``if x.size(0) > 8`` with a problem whose batch is 16 is followed as true, with the clause ``batch > 8``.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from specs.clauses import ClauseError, ClauseUndefined, evaluate
from specs.location import Span
from verifier.contracts import tensors
from verifier.contracts.entries import bindings
from verifier.contracts.layers import Layer, births
from verifier.contracts.lift import Host
from verifier.contracts.objects import (
    Float,
    Items,
    Null,
    Optional,
    Sizes,
    Tensor,
    Text,
    Unknown,
)
from verifier.contracts.problem import Problem
from verifier.contracts.python_state import Kept, function_names, kept, stored_names
from verifier.contracts.python_values import (
    BoundMethod,
    CppFunction,
    Dotted,
    Extension,
    Hidden,
    PyClass,
    PyDict,
    PyFunction,
    PyIterator,
    PyList,
    PyObject,
    Scope,
)
from verifier.contracts.run import Fact, NotSimple, Refused, Run
from verifier.contracts.values import (
    FALSE,
    PY,
    TRUE,
    Bool,
    Int,
    as_bool,
    const,
    lnot,
    truth,
)
from verifier.frontend.host import HostCode

PLAIN_BASES = frozenset(
    "torch.nn.Module torch.nn.modules.Module torch.nn.modules.module.Module torch.autograd.Function "
    "torch.autograd.function.Function builtins.object".split()
)


class Decisions:
    """What all parts of the caller share: the path, the state that outlives a call, conditions."""

    def __init__(
        self,
        run: Run,
        source: str,
        path: str,
        code: HostCode,
        problem: Problem | None,
        sizes: frozenset[str] = frozenset(),
    ) -> None:
        """``sizes``: names of the problem that are sizes although no input has them."""
        self.run, self.path, self.code, self.problem, self.sizes = run, path, code, problem, sizes
        self.tree = ast.parse(source)
        self.kept: Kept = kept(self.tree)
        self.own_names = function_names(self.tree)
        names = {
            "__name__": Text("<imported>"),
            "__file__": Unknown("__file__"),
            "__doc__": Unknown("__doc__"),
        }
        self.module = Scope(dict[str, Any](names), kind="module")
        self.set_somewhere = stored_names(self.tree.body)
        self.host = Host(run, code)
        self.depth = 0
        self.called: set[str] = set()
        self.memory: dict[int, str] = {}
        """The storage of each memory of the problem's inputs."""
        self.dissolved = ""
        """Why a tensor that is not followed may be one that kernels cannot use: one of which more was known is a part of it."""
        self.registered: set[str] = set()
        """Memory of parameters and buffers."""
        self.evaluated: set[tuple[int, int]] = set()
        """Places of the calls that were followed."""
        self.running = False
        self.started = 0
        """The last object that was there before forward() was called."""
        self.making = 0
        """The last object that was there before the model was made; 0 while none is."""
        self.tried = 0
        """The last object that was there before the expression that is only tried."""
        self.locked: list[Any] = []
        """What loops go through."""
        self.training_symbol = ""
        self.modes_differ = False
        """A part of the model was put into a mode of its own."""
        self.assigned: set[tuple[int, str]] = set()
        """Names that this call of forward() has given to older objects."""
        self.recalled: dict[tuple[int, str], bool] = {}
        texts = (n.value for n in ast.walk(self.tree) if isinstance(n, ast.Constant))
        loads = [n for n in ast.walk(self.tree) if isinstance(n, ast.Call) and _loads(n.func)]
        self.functions = _callable(code, frozenset(t for t in texts if isinstance(t, str)), len(loads) > 1)

    def span(self, node: ast.AST) -> Span:
        return Span(self.path, getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1)

    def training(self) -> Bool:
        """Whether the model is in training mode: not known, but the same for all its modules."""
        if self.modes_differ:
            return self.run.unknown_condition("training mode of a part of the model")
        if not self.training_symbol:
            value = self.run.fresh(
                "training", "scalar", "i32", meaning="training mode of the model", lo=0, hi=1, low=0
            )
            self.run.symbols[value.text].high = 1
            self.training_symbol = value.text
        return Bool(f"({self.training_symbol} == 1)")

    # --- what can be changed ------------------------------------------------------------------------------------------

    def change(self, target: Any, node: ast.AST, value: Any = None) -> None:
        """Every change of an object of the caller passes here (or through ``keep``)."""
        self._once(target, node)
        self._shared(target, node, value)
        if self.running and target.born <= self.started:
            raise Refused(f"{self.span(node)}: forward() changes what an earlier call of it may have changed")

    def _shared(self, target: Any, node: ast.AST, value: Any) -> None:
        """There may be several models: what one changes outside of itself, another finds. An extension is always the same."""
        if (
            self.making
            and not self.running
            and target.born <= self.making
            and not isinstance(value, Extension)
        ):
            raise Refused(f"{self.span(node)}: making a model changes what another one may have changed")

    def keep(self, target: Any, name: str, names: dict[str, bool], node: ast.AST, value: Any = None) -> None:
        """A name of an object or of the module is about to be set. ``names``: those that forward() may keep."""
        self._once(target, node)
        self._shared(target, node, value)
        if self.running and target.born <= self.started:
            if name not in names:
                raise Refused(f"{self.span(node)}: {name} is set in a way that was not foreseen")
            self.assigned.add((target.born, name))

    def _once(self, target: Any, node: ast.AST) -> None:
        if self.run.speculative and target.born <= self.tried:
            raise NotSimple
        if any(target is held for held in self.locked):
            raise Refused(f"{self.span(node)}: a loop changes what it goes through")

    def recall(self, target: Any, name: str, names: dict[str, bool], value: Any, node: ast.AST) -> Any:
        """The value of a name of an object or of the module, unless an earlier call of forward() may have set it."""
        if not self.running or target.born > self.started or (target.born, name) in self.assigned:
            return value
        if name not in names and not (self.kept.all and names is self.kept.attributes):
            return value
        if not names.get(name, False):
            raise Refused(
                f"{self.span(node)}: forward() reads {name}, which an earlier call of it may have set"
            )
        place = (target.born, name)
        if place not in self.recalled:
            why = f"{self.span(node)}: an earlier call of forward() has set {name}"
            self.recalled[place] = self.run.decide(self.run.unknown_condition(why))
        return Extension() if self.recalled[place] else value

    @contextlib.contextmanager
    def going_through(self, value: Any) -> Iterator[None]:
        """A loop over a value, which must stay as it is meanwhile."""
        held = [value, *(value.sources if isinstance(value, PyIterator) else ())]
        self.locked += held
        try:
            yield
        finally:
            del self.locked[len(self.locked) - len(held) :]

    def begin_forward(self) -> None:
        """From here on, what is there already may have been used by earlier calls."""
        self.running, self.started = True, births()
        for storage in self.run.storages.values():
            storage.zero, storage.content = False, None

    def dissolve(self, values: Iterable[Any]) -> None:
        """Parts of these are not followed from here on; what was known to be wrong of them is kept."""
        for value in values:
            if isinstance(value, Tensor):
                repeated = tensors.overlapping(value) if tensors.overlaps(self.run, value) else ""
                self.dissolved = repeated or tensors.out_of_reach(self.run, [value]) or self.dissolved

    def forget_contents(self) -> None:
        """Something may have written to any tensor."""
        self.run.write_anywhere()

    # --- values -------------------------------------------------------------------------------------------------------

    def sequence(self, value: Any) -> list[Any] | None:
        if isinstance(value, Items | PyList | PyIterator):
            return list(value.items)
        if isinstance(value, PyDict):
            return [Text(k) if isinstance(k, str) else const(k, PY) for k in value.items]
        if isinstance(value, Layer) and value.kind in ("Sequential", "ModuleList"):
            return [v for k, v in value.attributes.items() if k.startswith("_")]
        if isinstance(value, Sizes):
            dims = tensors.dims_of(self.run, value.tensor)
            return None if dims is None else list(dims)
        return None

    def condition(self, value: Any, node: ast.AST) -> Bool:
        match value:
            case Bool():
                return value
            case Int():
                return as_bool(value)
            case Null():
                return FALSE
            case Optional():
                return tensors.defined(self.run, value)
            case Text(value=text):
                return truth(bool(text))
            case Items(items=items) | PyList(items=items):
                return truth(bool(items))
            case PyDict(items=table):
                return truth(bool(table))
            case Layer(kind="Sequential" | "ModuleList"):
                return truth(bool(self.sequence(value)))
            case Layer(kind=kind) if not kind.endswith(("List", "Dict")):
                return TRUE
            case PyObject(cls=cls) if cls.libraries() <= PLAIN_BASES:
                return TRUE
            case PyFunction() | PyClass() | CppFunction() | Extension():
                return TRUE
            case Float(value=number, pins=pins) if number is not None:
                self.pin(pins, node)
                return truth(number != 0)
            case Hidden(why=why):
                raise Refused(f"{self.span(node)}: {why} is not followed")
            case _:
                why = value.why if isinstance(value, Unknown) else "a condition"
                return self.run.unknown_condition(f"{self.span(node)}: {why}")

    def decide(self, value: Any, node: ast.AST) -> bool:
        """Which way the caller goes. Where the problem's sizes decide it, only that way, as a clause of the contract."""
        condition = self.condition(value, node)
        if self.run.evaluate(condition) is None and condition.plain:
            answer = self.value_of(condition.text)
            if answer is not None and not self.run.speculative:
                text = condition.text if answer else lnot(condition).text
                self.run.known[condition.text] = bool(answer)
                self.run.known[lnot(condition).text] = not answer
                self.run.path.append(
                    Fact(text, "derived", self.span(node), "the way the caller goes for the problem's sizes")
                )
                return bool(answer)
        return self.run.decide(condition, self.span(node))

    def value_of(self, text: str) -> int | None:
        """A clause's value for the problem's numbers, where all its symbols have one."""
        if self.problem is None:
            return None
        values = {n: i.value for n, i in self.run.symbols.items() if i.value is not None}
        try:
            return evaluate(text, values)
        except (ClauseUndefined, ClauseError):
            return None

    def number(self, value: Any) -> tuple[float | None, frozenset[str]]:
        """The number that a value has for the problem, and the terms that are thereby fixed."""
        match value:
            case Int():
                if value.value is not None:
                    return value.value, frozenset()
                found = self.value_of(value.text)
                return found, frozenset({value.text})
            case Float(value=number, pins=pins):
                return number, pins
        return None, frozenset()

    def pin(self, pins: frozenset[str], node: ast.AST) -> None:
        """A number made of the problem's sizes by float arithmetic holds for these sizes only."""
        for text in sorted(pins):
            found = self.value_of(text)
            if found is not None:
                fact = Fact(
                    f"({text} == {found})",
                    "derived",
                    self.span(node),
                    "the caller computes with this size in floats",
                )
                self.run.path.append(fact)

    def not_none(self, value: Any) -> Bool | None:
        match value:
            case Null():
                return FALSE
            case Unknown() | BoundMethod() | Dotted():  # an attribute that is not followed may hold None
                return None
            case Optional():
                return tensors.defined(self.run, value)
        return TRUE


def _loads(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in ("load_inline", "load")


def _callable(code: HostCode, written: frozenset[str], several: bool) -> dict[str, list[str]]:
    """The C++ functions by the names that Python sees: those of bindings, else their own.

    ``written``: the texts of the caller, among them the names that it asks ``load_inline`` to bind. ``several``: extensions
    are loaded, and a name of one may be another function than the same name of another.
    """
    counted: dict[str, int] = {}

    def walk(node: Any, label: bool = True) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item, label)
        elif isinstance(node, dict):
            if node.get("k") == "str" and label:
                counted[node["v"]] = counted.get(node["v"], 0) + 1
            plain_def = node.get("k") == "method" and node["name"].endswith("module_::def")
            for key, value in node.items():
                if plain_def and key == "args":
                    walk(value[:2])  # what follows are descriptions and arguments
                elif key != "s":
                    walk(value)

    own = [f["body"] for f in code.functions.values() if f["name"].startswith("vk_bindings")]
    walk(own)
    out: dict[str, list[str]] = {}
    for usr, function in code.functions.items():
        name = function["name"].split("::")[-1]
        asked = not own or (name in written and name not in counted)
        if function["body"] is not None and "(lambda" not in function["name"] and asked:
            out.setdefault(name, []).append(usr)
    for name, usr in bindings(code).items():
        if counted.get(name) == 1:
            out[name] = [usr]
            if several and any(
                u != usr and f["name"].split("::")[-1] == name for u, f in code.functions.items()
            ):
                del out[name]
    return out
