"""Nothing that forward computes is kept for the next call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from specs.results import Severity
from verifier.source.reading import Reading, Word
from verifier.source.wrapper import Wrapper
from verifier.static_rules.hit import Hit

ID = "result-cache"
SEVERITY = Severity.ERROR
SUMMARY = "nothing that forward computes is kept for the next call"
WHY = "A result that is kept is given back for data that changed; timings then measure a look-up."
FIX = "compute it each time, or in __init__ if it depends on no input"
SWITCHABLE = True
_KEYS = frozenset(("id", "hash", ".data_ptr", ".__hash__", "._version", ".untyped_storage", ".storage"))
_CACHES = frozenset(("functools.lru_cache", "functools.cache", "functools.cached_property"))


def check(reading: Reading) -> Iterator[Hit]:
    if reading.wrapper is not None and reading.wrapper.forward is not None:
        yield from _python(reading.wrapper)
    for function in reading.host_functions:
        if not function.device:
            yield from _static(function.body, function.name)


def _python(wrapper: Wrapper) -> Iterator[Hit]:
    for function in wrapper.running:
        for decorator in function.decorator_list:
            made = decorator.func if isinstance(decorator, ast.Call) else decorator
            parameters = [a for a in function.args.args if a.arg != "self"]
            if (
                wrapper.name(made) in _CACHES
                and parameters
                and not any(map(wrapper.builds, ast.walk(function)))
            ):
                yield Hit(wrapper.span(function), f"the results of {function.name} are cached")
        if function.name == "__init__":
            continue
        names = {a.arg for a in (*function.args.args, *function.args.kwonlyargs)} - {"self"}
        tested = _tested(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Subscript | ast.Compare):
                keys = [node.slice] if isinstance(node, ast.Subscript) else [node.left, *node.comparators]
                for part in (p for k in keys for p in ast.walk(k)):
                    word = wrapper.name(part.func) if isinstance(part, ast.Call) else ""
                    if word in _KEYS or (isinstance(part, ast.Attribute) and part.attr == "_version"):
                        yield Hit(wrapper.span(node), "a tensor's identity decides what is computed")
            if isinstance(node, ast.Assign) and names & {
                n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)
            }:
                for target in node.targets:
                    kept = _kept(target)
                    if kept and kept in tested and not any(map(wrapper.builds, ast.walk(node.value))):
                        yield Hit(wrapper.span(node), f"{kept} keeps a result for the next call")


def _kept(target: ast.expr) -> str:
    """``self.name`` or ``name[...]``: what outlives the call."""
    match target:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return f"self.{name}"
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            return f"self.{name}"
        case ast.Subscript(value=ast.Name(id=name)):
            return name
    return ""


def _tested(function: ast.AST) -> set[str]:
    """What conditions look at: ``self.name`` or ``name``."""
    found: set[str] = set()
    for node in ast.walk(function):
        tests = [node.test] if isinstance(node, ast.If | ast.IfExp | ast.While) else []
        for part in (p for t in tests for p in ast.walk(t)):
            match part:
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    found.add(f"self.{name}")
                case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
                    found.add(name)
                case ast.Call(
                    func=ast.Name(id="hasattr"), args=[ast.Name(id="self"), ast.Constant(value=str(name))]
                ):
                    found.add(f"self.{name}")
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get")):
                    found.add(name)
    return found


def _static(body: Sequence[Word], name: str) -> Iterator[Hit]:
    texts = [w.text for w in body]
    for i, text in enumerate(texts):
        if text in ("static", "thread_local"):
            end = next((j for j in range(i, len(texts)) if texts[j] in (";", "=", "{", "(")), len(texts))
            words = set(texts[i:end])
            if words & {
                "Tensor",
                "map",
                "unordered_map",
                "vector",
                "set",
                "unordered_set",
                "optional",
            } and not (words & {"const", "constexpr"}):
                yield Hit(body[i].span, f"{name} keeps {' '.join(texts[i + 1 : end])} for the next call")
