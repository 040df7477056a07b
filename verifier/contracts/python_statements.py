"""Statements of a Python caller: every kind is followed exactly or refused by name.

Invariant: a statement that is left out changes nothing, except names that are hidden afterwards.

Example: ``for m in self.modules(): nn.init.zeros_(m.bias)`` fills parameters; ``m`` is hidden after it.
"""

from __future__ import annotations

import ast
from typing import Any

from verifier.contracts import tensors
from verifier.contracts.objects import Dtype, Float, Items, Null, Shape, Sizes, Tensor, Text, Unknown
from verifier.contracts.python_calls import Calls
from verifier.contracts.python_state import is_main, only_raises, stored_names
from verifier.contracts.python_values import (
    DEVICE,
    BoundMethod,
    BreakSignal,
    ContinueSignal,
    Dotted,
    Hidden,
    PyDict,
    PyList,
    PyObject,
    ReturnSignal,
    Scope,
    hint_of,
    key_of,
    loaded,
    reaches,
)
from verifier.contracts.run import Dead
from verifier.contracts.values import Bool, Int, const

_MAX_LOOP = 64
_CONTEXTS = frozenset(
    "torch.no_grad torch.inference_mode torch.enable_grad torch.set_grad_enabled torch.autograd.set_grad_enabled "
    "torch.autograd.no_grad torch.cuda.device torch.cuda.device_of torch.profiler.record_function "
    "torch.autograd.profiler.record_function torch.cuda.nvtx.range warnings.catch_warnings".split()
)
"""Context managers of libraries that change nothing that is followed."""


class Statements(Calls):
    def statement(self, node: ast.stmt, scope: Scope) -> None:
        self.run.step()
        match node:
            case ast.Import(names=names):
                for alias in names:
                    first = alias.name.split(".")[0]
                    self.bind(
                        alias.asname or first, Dotted(alias.name if alias.asname else first), scope, node
                    )
            case ast.ImportFrom(module=module, names=names, level=level):
                for alias in names:
                    if alias.name == "*" or level:
                        self.refuse(node, "an import of names that are not known")
                    self.bind(alias.asname or alias.name, Dotted(f"{module}.{alias.name}"), scope, node)
            case ast.FunctionDef(name=name):
                if getattr(node, "type_params", None):
                    self.refuse(node, "a generic function")
                self.bind(name, self.function(node, scope, scope.owner_class), scope, node)
            case ast.ClassDef(name=name):
                self.bind(name, self.define_class(node, scope), scope, node)
            case ast.Assign(targets=targets, value=value):
                found = self.evaluate(value, scope, hint_of(targets[0]))
                self.evaluated.add((node.lineno, node.col_offset))
                for target in targets:
                    self.assign(target, found, scope)
            case ast.AnnAssign(target=target, value=value, annotation=annotation):
                self.annotation(annotation)
                if value is None and not isinstance(target, ast.Name):
                    self.refuse(node, "an annotation of this")
                if value is not None:
                    self.assign(target, self.evaluate(value, scope, hint_of(target)), scope)
            case ast.AugAssign():
                self._augmented(node, scope)
            case ast.Expr(value=value):
                self.evaluate(value, scope)
            case ast.Return(value=value):
                found = self.evaluate(value, scope) if value is not None else Null()
                raise ReturnSignal(self.kept_value(found, node))
            case ast.If(test=test, body=body, orelse=orelse):
                branch = body if self.decide(self.evaluate(test, scope), node) else orelse
                for child in branch:
                    self.statement(child, scope)
            case ast.For():
                self._for(node, scope)
            case ast.While():
                self._while(node, scope)
            case ast.With():
                self._with(node, scope)
            case ast.Try():
                self._try_statement(node, scope)
            case ast.Assert(test=test):  # nobody knows whether it runs
                if not self.purity(scope).expression(test):
                    self.refuse(node, "an assertion that may change something")
            case ast.Raise(exc=exc, cause=cause):
                for part in (exc, cause):
                    if part is not None:
                        self.evaluate(part, scope)
                raise Dead
            case ast.Break():
                raise BreakSignal
            case ast.Continue():
                raise ContinueSignal
            case ast.Delete(targets=targets):
                for target in targets:
                    self._delete(target, scope)
            case ast.Global() if scope.kind == "class":
                self.refuse(node, "a global name in a class")
            case (
                ast.Pass() | ast.Global()
            ):  # names that a function declares global are known when it is called
                pass
            case (
                ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith() | ast.Match() | ast.TryStar() | ast.Nonlocal()
            ):  # fmt: skip
                self.refuse(node, type(node).__name__.lower())
            case _:
                self.refuse(node, type(node).__name__.lower())

    def _for(self, node: ast.For, scope: Scope) -> None:
        if any(isinstance(n, ast.GeneratorExp) for n in ast.walk(node.iter)):
            self.refuse(node, "a loop over a generator")
        value = self.evaluate(node.iter, scope)
        items = self.sequence(value)
        if items is None and self.purity(scope).fills([node]):
            self._only_counts(node, scope)
            self.forget_contents()
            if self.run.speculative:
                self.refuse(node, "a loop in what is only tried")
            for name in stored_names([node]):
                self.bind(name, Hidden(f"{name}, which a loop has set,"), scope, node)
            return
        if items is None or len(items) > _MAX_LOOP:
            self.refuse(node, "a loop over something that is not known or long")
        with self.going_through(value):
            for item in items:
                self.assign(node.target, item, scope)
                try:
                    for child in node.body:
                        self.statement(child, scope)
                except ContinueSignal:
                    continue
                except BreakSignal:
                    return
        for child in node.orelse:
            self.statement(child, scope)

    def _only_counts(self, node: ast.For, scope: Scope) -> None:
        """``+=`` in a loop that is not followed changes a number: a list or a tensor would change under its other names."""
        stored = [n.targets for n in ast.walk(node) if isinstance(n, ast.Assign)]
        names = stored_names([node.target, *(t for targets in stored for t in targets)])
        for inner in ast.walk(node):
            if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
                old = scope.find(inner.target.id)
                if inner.target.id in names or not isinstance(old, Int | Float | Text | Bool | Items):
                    self.refuse(inner, "a loop with this")

    def _while(self, node: ast.While, scope: Scope) -> None:
        for _ in range(_MAX_LOOP):
            known = self.run.evaluate(self.condition(self.evaluate(node.test, scope), node))
            if known is None:
                break
            if not known:
                for child in node.orelse:
                    self.statement(child, scope)
                return
            try:
                for child in node.body:
                    self.statement(child, scope)
            except ContinueSignal:
                continue
            except BreakSignal:
                return
        self.refuse(node, "a loop of which the end is not known")

    def _with(self, node: ast.With, scope: Scope) -> None:
        for item in node.items:
            call = item.context_expr
            target = self.evaluate(call.func, scope) if isinstance(call, ast.Call) else None
            if not (isinstance(call, ast.Call) and isinstance(target, Dotted) and target.name in _CONTEXTS):
                self.refuse(node, "this context manager")
            if item.optional_vars is not None:
                self.refuse(node, "the value of a context manager")
            for argument in (*call.args, *(k.value for k in call.keywords)):
                if self.evaluate(argument, scope) != DEVICE and target.name == "torch.cuda.device":
                    self.refuse(node, "a change of the device")
        for child in node.body:
            self.statement(child, scope)

    def _try_statement(self, node: ast.Try, scope: Scope) -> None:
        if node.finalbody:
            self.refuse(node, "a finally clause")
        if any(
            isinstance(n, ast.Call) for h in node.handlers if h.type is not None for n in ast.walk(h.type)
        ):
            self.refuse(node, "an exception that a call gives")
        if all(only_raises(h.body, lambda name: scope.find(name) is not None) for h in node.handlers):
            for child in (*node.body, *node.orelse):
                self.statement(child, scope)
            return
        match node:
            case ast.Try(
                body=[ast.Assign(targets=[ast.Name()], value=ast.Call() as call)], handlers=[handler]
            ) if (
                self.purity(scope).dotted(call.func).startswith("torch.utils.cpp_extension.load")
            ):  # loading may fail, and then it has changed nothing
                failed = self.run.decide(self.run.unknown_condition(f"{self.span(node)}: loading fails"))
                if failed and handler.name is not None:
                    self.bind(handler.name, Unknown("an exception"), scope, node)
                for child in handler.body if failed else (*node.body, *node.orelse):
                    self.statement(child, scope)
                return
        self.refuse(node, "an exception handler that goes on")

    # --- assignments ------------------------------------------------------------------------------------------------------

    def bind(self, name: str, value: Any, scope: Scope, node: ast.AST) -> None:
        """Give a name a value; None (not ``Null``) takes it away."""
        if (
            name.startswith("__")
            and name not in ("__all__", "__version__", "__author__")
            and scope.kind != "class"
        ):
            self.refuse(node, f"setting {name}")
        target = scope.module() if name in scope.shared else scope
        if target.kind == "module":
            self.keep(target, name, self.kept.shared, node, value)
        elif target.kind != "comprehension":
            self._once(target, node)
        if value is not None:
            target.names[name] = value
        elif name not in target.names:
            self.refuse(node, f"the name {name}, which is not set here,")
        else:
            del target.names[name]

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        self.kept_value(value, target)
        match target:
            case ast.Name(id=name):
                self.bind(name, value, scope, target)
                if isinstance(value, Int):
                    self.host.prefer(name, value)
            case ast.Attribute(value=base, attr=name):
                self.set_attribute(self.evaluate(base, scope), name, value, target)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self._unpack(target, parts, value, scope)
            case ast.Subscript(value=base, slice=index):
                self._set_element(self.evaluate(base, scope), self.index(index, scope), value, target)
            case _:
                self.refuse(target, f"an assignment to a {type(target).__name__.lower()}")

    def _unpack(self, target: ast.expr, parts: list[ast.expr], value: Any, scope: Scope) -> None:
        starred = [i for i, p in enumerate(parts) if isinstance(p, ast.Starred)]
        if isinstance(value, Sizes) and not starred:
            for index, part in enumerate(parts):
                self.assign(part, tensors.size(self.run, value.tensor, const(index)), scope)
            if isinstance(value.tensor.dims, Shape):
                # unpacking to n names throws unless the rank is n
                self.run.assume(Bool(fact=("rank", value.tensor.dims.name, len(parts))), self.span(target))
            elif len(value.tensor.dims) != len(parts):
                raise Dead
            return
        items = self.sequence(value)
        if items is None and isinstance(value, Sizes):
            at = starred[0]
            for index, part in enumerate(parts):
                if index != at:
                    place = index if index < at else index - len(parts)
                    self.assign(part, tensors.size(self.run, value.tensor, const(place)), scope)
            self.assign(parts[at].value, Unknown("the other dims"), scope)  # type: ignore[attr-defined]
            return
        if items is None:
            if reaches(value):
                self.refuse(target, "taking this apart")
            items = [Unknown("unpacking")] * len(parts)
        elif starred:
            at, after = starred[0], len(parts) - starred[0] - 1
            if len(items) < len(parts) - 1:
                self.refuse(target, "taking apart what is too short")
            middle = items[at : len(items) - after]
            items = [*items[:at], PyList(middle), *items[len(items) - after :]]
        if len(items) != len(parts):
            self.refuse(target, "taking apart what has another length")
        for part, item in zip(parts, items, strict=True):
            self.assign(part.value if isinstance(part, ast.Starred) else part, item, scope)

    def _set_element(self, owner: Any, key: Any, value: Any, node: ast.expr) -> None:
        """``owner[key] = value``; a value of None (not ``Null``) deletes."""
        self.evaluated.add((node.lineno, node.col_offset))
        match owner:
            case PyDict(items=table):
                found = key_of(key)
                if found is None or (value is None and found not in table):
                    self.refuse(node, "an entry that is not known")
                self.change(owner, node, value)
                if value is None:
                    del table[found]
                else:
                    table[found] = value
            case PyList(items=items):
                at = key.value if isinstance(key, Int) else None
                if at is None or not -len(items) <= at < len(items):
                    self.refuse(node, "an element of a list that is not known")
                self.change(owner, node)
                if value is None:
                    del items[at]
                else:
                    items[at] = value
            case Tensor() if value is not None and not reaches(value):
                self.run.write(owner.storage)
            case Dotted(name="os.environ") if value is not None and isinstance(key, Text):
                pass
            case Unknown() | BoundMethod() if value is not None and not reaches(owner) and not reaches(value):
                self.forget_contents()
            case _:
                self.refuse(node, "setting an element of this")

    def _augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        target = node.target
        if not self.purity(scope).expression(loaded(target)):
            self.refuse(node, "an assignment to what a call gives")
        old = self.evaluate(loaded(target), scope)
        value = self.evaluate(node.value, scope)
        self.evaluated.add((node.lineno, node.col_offset))
        match old:
            case Int() | Float() | Bool() | Text() | Items() | Sizes() | Dtype():
                new = self.binary(node.op, old, value, node)
            case Tensor() if not isinstance(node.op, ast.MatMult) and not reaches(value):
                self.run.write(old.storage)  # in place: it is the same tensor
                new = old
            case PyList(items=items) if isinstance(node.op, ast.Add):
                more = self.sequence(value)
                if more is None:
                    self.refuse(node, "what is added to a list")
                self.change(old, node)
                items.extend(more)
                new = old
            case Unknown() | BoundMethod() if not reaches(old) and not reaches(value):
                self.forget_contents()
                new = Unknown("a value that is changed")
            case _:
                self.refuse(node, "a change in place of this")
        if isinstance(target, ast.Subscript) and isinstance(new, Tensor):
            owner = self.evaluate(target.value, scope)
            if isinstance(
                owner, Tensor | Unknown
            ):  # the part that was changed is written back to where it is
                self.run.write(owner.storage) if isinstance(owner, Tensor) else self.forget_contents()
                return
        self.assign(target, new, scope)

    def _delete(self, target: ast.expr, scope: Scope) -> None:
        self.evaluated.add((target.lineno, target.col_offset))
        match target:
            case ast.Name(id=name):
                self.bind(name, None, scope, target)
            case ast.Attribute(value=base, attr=name):
                owner = self.evaluate(base, scope)
                if not isinstance(owner, PyObject):
                    self.refuse(target, "deleting an attribute of this")
                self.set_attribute(owner, name, None, target)
            case ast.Subscript(value=base, slice=index):
                self._set_element(self.evaluate(base, scope), self.index(index, scope), None, target)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._delete(part, scope)
            case _:
                self.refuse(target, "deleting this")

    def module_code(self) -> None:
        """What happens when the submission is imported."""
        for statement in self.tree.body:
            if not is_main(statement):
                self.statement(statement, self.module)
