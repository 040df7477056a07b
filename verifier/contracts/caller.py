"""The Python caller: an abstract interpreter over the syntax tree of a submission (``ModelNew``). Nothing is executed.

``ModelNew.__init__`` and ``forward`` are followed with the problem's arguments (or free ones); a call of a function of
a ``load_inline`` module executes the C++ launcher on the very tensors that reach it, so shapes and names carry over.

Invariant: what is not followed becomes Unknown; an Unknown that is passed as a tensor is a free tensor.

Example: ``return self.ops.scale(x.contiguous(), self.weight)`` runs ``scale`` on ``x`` (contiguous) and the parameter.
"""

from __future__ import annotations

import ast
from typing import Any

from specs.clauses import names
from specs.location import Span
from verifier.contracts import tensors
from verifier.contracts.layers import Layer, births
from verifier.contracts.objects import (
    Chosen,
    Float,
    Items,
    Null,
    Tensor,
    Text,
    Unknown,
)
from verifier.contracts.problem import Argument, Problem
from verifier.contracts.python_statements import Statements
from verifier.contracts.python_values import (
    Hidden,
    PyClass,
    PyFunction,
    PyObject,
)
from verifier.contracts.run import Refused, Run, Storage, SymbolInfo
from verifier.contracts.values import (
    DIM_MAX,
    FALSE,
    PY,
    TRUE,
    Bool,
    Int,
    arith,
    const,
    symbol,
)

_MAX_DEPTH = 30
_MAX_LOOP = 64


class Caller(Statements):
    """One path through the caller."""

    def start(self) -> None:
        """Run ``ModelNew(*init).forward(*inputs)``, as one of many calls of it."""
        self.module_code()
        model = self.module.find("ModelNew")
        if not isinstance(model, PyClass):
            raise Refused(f"{self.path}: no class ModelNew")
        self._problem_symbols()
        init, forward = model.find("__init__"), model.find("forward")
        if not isinstance(forward, PyFunction) or forward.kind != "plain":
            raise Refused(f"{self.path}: ModelNew has no forward()")
        args, kwargs = self._init_arguments(init if isinstance(init, PyFunction) else None)
        self.making = births()
        instance = self.instantiate(model, args, kwargs, forward.node)
        self._name_parameters(instance, "", set())
        self.begin_forward()
        self.run.began = len(self.run.writes)
        inputs, named = self._forward_arguments(forward)
        for index, value in enumerate(inputs):
            if isinstance(value, Tensor):
                self.run.storages[value.storage].source = f"argument {index}"
        call = ast.Call(ast.Name("ModelNew"), [], [], lineno=forward.node.lineno, col_offset=-1)
        told, before = self._told(), len(self.run.writes)
        result = self.apply(instance, inputs, named, call, self.module, "")
        self._unwritten(told, before)
        if isinstance(result, Tensor) and result.layout != "other":
            self.run.returned = result

    def _told(self) -> set[str]:
        """The inputs of which the problem tells a range."""
        return {k for k, s in self.run.storages.items() if s.content is not None}

    def _unwritten(self, told: set[str], before: int) -> None:
        """A later call may get the same inputs: what is written has no range then."""
        if told & {key for _, key, _ in self.run.writes[before:]}:
            raise Refused(
                f"{self.path}: an input whose range the problem tells may be changed, so a later call is not followed"
            )

    def pass_inputs(self, usr: str) -> None:
        """Call one C++ function with the problem's inputs, by position."""
        assert self.problem is not None
        self._problem_symbols()
        function = self.code.functions[usr]
        names = [p["name"] or f"input{i}" for i, p in enumerate(function["params"])]
        inputs = [self.from_problem(a, n) for a, n in zip(self.problem.inputs, names, strict=True)]
        for index, value in enumerate(inputs):
            if isinstance(value, Tensor):
                self.run.storages[value.storage].source = f"argument {index}"
        told = self._told()
        result = self.run_function(usr, inputs, Span(self.path, 0))
        self._unwritten(told, 0)
        if isinstance(result, Tensor) and result.layout != "other":
            self.run.returned = result

    def _name_parameters(self, owner: Any, prefix: str, seen: set[int]) -> None:
        """Tensors that the model holds are its parameters, by the path of attributes that leads to them."""
        if id(owner) in seen or len(seen) > 2000:
            return
        seen.add(id(owner))
        for name, value in owner.attributes.items():
            nested = isinstance(owner, Layer) and owner.kind in ("Sequential", "ModuleList")
            label = name.removeprefix("_") if nested else name
            if isinstance(value, Tensor):
                storage = self.run.storages[value.storage]
                storage.source = storage.source or f"parameter {prefix}{label}"
                if storage.gap == tensors.ON_CPU and value.storage in self.registered:
                    storage.gap = ""  # whoever moves the model moves what is registered, and nothing else
            elif isinstance(value, PyObject | Layer):
                self._name_parameters(value, f"{prefix}{label}.", seen)

    def _problem_symbols(self) -> None:
        """The problem's named sizes. A size of an input is a dim; other ints are scalars, fixed at their value."""
        if self.problem is None:
            return
        sizes = input_sizes(self.problem) | self.sizes
        for name, value in self.problem.values.items():
            kind = "dim" if name in sizes else "scalar"
            low = 1 if kind == "dim" else value
            high = None if kind == "dim" else value
            self.run.symbols[name] = SymbolInfo(
                kind, f"{name} of the problem", low, high, value, "derived", prefer=name
            )
            self.run.names[name] = 1

    def _term(self, text: str) -> Int:
        """A problem's clause text as a value."""
        assert self.problem is not None
        tree = ast.parse(text, mode="eval").body
        return self._term_node(tree)

    def _term_node(self, node: ast.expr) -> Int:
        match node:
            case ast.Constant(value=int(v)):
                return const(v, PY)
            case ast.Name(id=name):
                info = self.run.symbols[name]
                if info.kind == "scalar" and info.value is not None:
                    return symbol(name, info.value, info.value, PY)
                return symbol(name, 0, DIM_MAX, PY)
            case ast.UnaryOp(op=ast.USub(), operand=a):
                return arith("-", const(0, PY), self._term_node(a), PY) or const(0, PY)
            case ast.BinOp(left=a, op=op, right=b):
                sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}[type(op)]
                found = arith(sign, self._term_node(a), self._term_node(b), PY)
                assert found is not None
                return found
        raise Refused(f"{self.path}: a size of the problem that is not followed")

    def from_problem(self, argument: Argument, name: str) -> Any:
        """An argument of the problem as a value; tensors are objects of their own, allocated by the caller."""
        match argument.kind:
            case "tensor":
                return self._problem_tensor(argument, name)
            case "int":
                return self._term(argument.text)
            case "float":
                return Float(float(argument.value or 0.0), None)
            case "bool":
                return TRUE if argument.value else FALSE
            case "none":
                return Null()
            case "text":
                return Text(str(argument.value))
            case "list":
                return Items(tuple(self.from_problem(a, f"{name}_{i}") for i, a in enumerate(argument.items)))
            case _:
                return Unknown(str(argument.value) if argument.value else f"argument {name} of the problem")

    def _problem_tensor(self, argument: Argument, name: str) -> Tensor:
        run = self.run
        if argument.shape is None and (not argument.whole or argument.memory in self.memory):
            out = tensors.opaque(run, name, "a view of an input", argument.dtype or None)
            first = self.memory.setdefault(argument.memory, out.storage)
            run.storages[out.storage].from_view_of = first if first != out.storage else ""
            return out
        if argument.shape is None:
            out = tensors.allocate_unknown(run, name, argument.dtype or None)
            return tensors.replace(out, layout="free")
        dims = tuple(self._term(t) for t in argument.shape)
        dims = tuple(Int(d.text, max(d.lo or 0, 0), d.hi, "i64", d.taint) for d in dims)
        key = run.unique(name)
        storage = Storage(
            argument.dtype, None, dims, how="argument", host_name=name, caller=True, align=tensors.DEVICE_ALIGN,
            content=argument.content, content_origin="derived",
        )  # fmt: skip
        first = self.memory.setdefault(argument.memory, key)
        if first != key or not argument.whole:
            # a second name for memory, or a view: it may overlap what it was made from
            storage.caller, storage.align, storage.how = False, 0, "view"
            storage.from_view_of = first if first != key else ""
        run.add_storage(key, storage)
        run.caller_dims.append(dims)
        layout: Any = "free" if argument.layout == "contiguous" else "dense"
        return Tensor(key, dims, argument.dtype, key, layout, host_name=name)

    def _init_arguments(self, function: PyFunction | None) -> tuple[list[Any], dict[str, Any]]:
        names = [a.arg for a in function.node.args.args[1:]] if function is not None else []
        if self.problem is not None:
            if self.problem.init_keys:
                pairs = zip(self.problem.init_keys, self.problem.init, strict=True)
                return [], {k: self.from_problem(a, k) for k, a in pairs}
            found = [
                self.from_problem(a, names[i] if i < len(names) else f"init{i}")
                for i, a in enumerate(self.problem.init)
            ]
            return found, {}
        if function is None:
            return [], {}
        self._all_named(function)
        free = [self._free_default(function, a) for a in function.node.args.args[1:]]
        return free, self._free_keywords(function)

    def _free_python(self, argument: ast.arg, span: Span) -> Any:
        """A constructor argument of which only the annotation is known."""
        annotation = ast.unparse(argument.annotation) if argument.annotation else ""
        if annotation == "int":
            return self.run.fresh(argument.arg, "scalar", PY, meaning=f"argument {argument.arg} of the model")
        if annotation == "float":
            return Float()
        return self._chosen(argument.arg)

    def _chosen(self, name: str) -> Chosen:
        return Chosen(f"argument {name} of the model", self.run.unique(name))

    def _forward_arguments(self, function: PyFunction) -> tuple[list[Any], dict[str, Any]]:
        given = function.node.args.args[1:]
        if self.problem is not None:
            names = [a.arg for a in given]
            return [
                self.from_problem(a, names[i] if i < len(names) else f"input{i}")
                for i, a in enumerate(self.problem.inputs)
            ], {}
        self._all_named(function)
        return [self._free_default(function, a, tensor=True) for a in given], self._free_keywords(function)

    def _all_named(self, function: PyFunction) -> None:
        """Without a problem nobody knows what ``*args`` holds."""
        a = function.node.args
        if a.vararg is not None or a.kwarg is not None:
            raise Refused(
                f"{self.span(function.node)}: a model with * or ** in its arguments is not followed"
            )

    def _free_keywords(self, function: PyFunction) -> dict[str, Any]:
        return {a.arg: self._free_default(function, a, tensor=True) for a in function.node.args.kwonlyargs}

    def _free_default(self, function: PyFunction, argument: ast.arg, tensor: bool = False) -> Any:
        """An argument of which nothing is known but its annotation and the kind of its default."""
        name, annotation = argument.arg, ast.unparse(argument.annotation) if argument.annotation else ""
        default = function.defaults.get(name)
        match default:
            case None if tensor and annotation not in ("int", "float"):
                return self.run.free_tensor(name)
            case None:
                return self._free_python(argument, self.span(function.node))
            case Int():
                return self.run.fresh(name, "scalar", PY, meaning=f"argument {name} of the model")
            case Bool():
                return self.run.unknown_condition(f"argument {name} of the model")
            case Float():
                return Float()
            case Null():
                if self.run.decide(self.run.unknown_condition(f"argument {name} of the model is given")):
                    return self.run.free_tensor(name) if tensor else self._chosen(name)
                return default
            case Items(items=items) if all(isinstance(i, Int | Float | Bool) for i in items):
                return self._chosen(name)
            case Text():
                return Unknown(f"argument {name} of the model")
        return Hidden(f"argument {name} of the model")


def input_sizes(problem: Problem) -> frozenset[str]:
    """Names that are a size of an input. ``stride`` of ``height * stride`` is none where the model gets it too."""
    shapes = [t for a in problem.inputs for t in a.shape or ()]
    given = {n for a in problem.init for t in _texts(a) for n in names(t)}
    alone = frozenset(t for t in shapes if t in problem.values)
    return alone | frozenset(n for t in shapes for n in names(t) if n not in given)


def _texts(argument: Argument) -> list[str]:
    return [argument.text] if argument.text else [t for a in argument.items for t in _texts(a)]


def parameter_sizes(run: Run, problem: Problem) -> frozenset[str]:
    """Names that are a whole dim of a parameter: sizes like ``out_features``, in distinction from ``stride``.

    Kernel sizes are dims of a weight too, but stay at the problem's value.
    """
    found = {d.text for dims in run.caller_dims for d in dims if d.text in problem.values}
    return frozenset(n for n in found if "kernel" not in n.lower() and problem.values[n] >= 1)
