"""Declarations -> the device text: every kernel, and what kernels use, transitively, by name.

Invariant: nothing that device code uses is changed, and nothing it can use is left out: an omitted declaration is host
code (which device code cannot call) or is named by no kept one. Where that is not certain there is a problem line.

Example::

    cut = slice_device(parse(preprocessed))
    cut.text, cut.kernels, cut.problems
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specs.location import Span
from verifier.source.declarations import Declaration, Unit, Wrapper

_DEVICE_NAMESPACES = frozenset(
    ("std", "nvcuda", "wmma", "cooperative_groups", "cuda", "cub", "cute", "cutlass")
)

_WIDEST = 400
"""Columns kept for a declaration that begins further right than this would make hostile text quadratic."""


@dataclass(frozen=True, slots=True)
class Cut:
    """``defined``: name -> text of each kept definition, to find clashes between units."""

    text: str
    kernels: tuple[tuple[str, Span], ...]
    problems: tuple[str, ...]
    defined: dict[str, str]


def slice_device(unit: Unit) -> Cut:
    """Cut the device code out of a preprocessed text."""
    every = tuple(_flat(unit.items))
    kept = _reachable(every)
    namespaces = {n for w in _wrappers(unit.items) for n in w.names} | _DEVICE_NAMESPACES
    kept |= {d.first for d in every if d.kind == "using" and _last_name(unit, d) in namespaces}
    lines: list[str] = []
    _emit(unit, unit.items, kept, lines)
    kernels = [d for d in every if _is_kernel(d) and d.defines]
    defined = {
        f"{d.kind} {name}": unit.text[unit.tokens[d.first].start : unit.tokens[d.last].end]
        for d in every
        if d.first in kept and d.defines
        for name, _ in d.names
    }
    return Cut(
        "\n".join(lines) + "\n" if kernels else "",
        tuple(d.names[0] for d in kernels),
        tuple(_problems(unit, every, kernels)),
        defined,
    )


def _flat(items: Sequence[Declaration | Wrapper]) -> Iterator[Declaration]:
    for item in items:
        if isinstance(item, Wrapper):
            yield from _flat(item.items)
        else:
            yield item


def _wrappers(items: Sequence[Declaration | Wrapper]) -> Iterator[Wrapper]:
    for item in items:
        if isinstance(item, Wrapper):
            yield item
            yield from _wrappers(item.items)


def _is_kernel(declaration: Declaration) -> bool:
    return (
        declaration.kind == "function" and "__global__" in declaration.specifiers and bool(declaration.names)
    )


def _for_device(declaration: Declaration) -> bool:
    """Whether device code could use it at all."""
    match declaration.kind:
        case "function":
            return declaration.device or bool(declaration.specifiers & {"constexpr", "consteval"})
        case "variable":
            kept = {"const", "constexpr", "constinit", "texture", "surface"}
            return declaration.device or bool(declaration.specifiers & kept)
        case "type" | "alias":
            return True
        case "using" | "template" | "assembly" | "other" | "empty":
            return False


def _reachable(every: Sequence[Declaration]) -> set[int]:
    """``first`` of each declaration that a kernel needs."""
    by_name: dict[str, list[Declaration]] = {}
    operators: list[Declaration] = []
    for declaration in filter(_for_device, every):
        for name, _ in declaration.names:
            if name == "operator":
                operators.append(declaration)
            else:
                by_name.setdefault(name, []).append(declaration)
    kept: set[int] = set()
    types: set[str] = set()
    queue = [d for d in every if _is_kernel(d) and d.defines]
    while queue:
        declaration = queue.pop()
        if declaration.first not in kept:
            kept.add(declaration.first)
            if declaration.kind in ("type", "alias"):
                types.update(name for name, _ in declaration.names)
            for name in declaration.uses:
                queue += by_name.pop(name, ())
        if not queue:
            queue = [o for o in operators if o.first not in kept and o.uses & types]
    return kept


def _last_name(unit: Unit, declaration: Declaration) -> str:
    return unit.tokens[declaration.last - 1].text


def _emit(unit: Unit, items: Sequence[Declaration | Wrapper], kept: set[int], lines: list[str]) -> bool:
    """Append the kept items; False if there was none."""
    some = False
    for item in items:
        if isinstance(item, Wrapper):
            inner: list[str] = []
            if _emit(unit, item.items, kept, inner):
                lines += [
                    *_placed(unit, item.first, item.brace),
                    *inner,
                    *_placed(unit, item.last, item.last),
                ]
                some = True
        elif item.first in kept:
            lines += _placed(unit, item.first, item.last)
            some = some or item.kind != "using"
    return some


def _placed(unit: Unit, first: int, last: int) -> tuple[str, str]:
    """A line marker and the text of the tokens ``first`` … ``last`` in their columns."""
    start = unit.tokens[first].start
    span = unit.places.span(start)
    path = span.path.replace("\\", "\\\\").replace('"', '\\"')
    return f'# {span.line} "{path}"', " " * min(span.column - 1, _WIDEST) + unit.text[
        start : unit.tokens[last].end
    ]


def _problems(unit: Unit, every: Sequence[Declaration], kernels: Sequence[Declaration]) -> Iterator[str]:
    seen: dict[str, Span] = {}
    for kernel in kernels:
        name, span = kernel.names[0]
        if name in seen:
            yield f"{span}: a second kernel is named {name} (the first is at {seen[name]})"
        seen.setdefault(name, span)
    for declaration in every:
        inner = declaration.uses & {"__device__", "__global__"} - declaration.specifiers
        if declaration.kind in ("function", "variable") and not declaration.device and inner:
            yield f"{declaration.span}: device code inside a host function (an extended lambda) is not supported"
        elif "__global__" in declaration.uses and declaration.kind not in ("function", "template"):
            yield f"{declaration.span}: this declaration of a __global__ function is not understood"
        elif (
            "__global__" in declaration.specifiers
            and declaration.kind == "function"
            and not declaration.names
        ):
            yield f"{declaration.span}: this __global__ function has no name that can be read"
