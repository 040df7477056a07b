"""Declarations -> the device text: every kernel, and what kernels use, transitively, by name.

Invariant: nothing that device code uses is changed, and nothing it can use is left out: an omitted declaration is host
code (which device code cannot call) or is named by no kept one. Where that is not certain there is a problem line.

Example::

    cut = slice_device(parse(preprocessed))
    cut.text, cut.kernels, cut.problems
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from specs.location import Span
from verifier.source.declarations import Declaration, Unit, Wrapper
from verifier.source.tokens import Token

_DEVICE_NAMESPACES = frozenset(
    ("std", "nvcuda", "wmma", "cooperative_groups", "cuda", "cub", "cute", "cutlass")
)

_CASTS = frozenset(("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"))
_HOST_ONLY = frozenset(
    (
        *(
            "vector",
            "string",
            "map",
            "unordered_map",
            "function",
            "shared_ptr",
            "unique_ptr",
            "optional",
            "mutex",
        ),
        *("Tensor", "TensorOptions", "cudaStream_t", "cudaEvent_t", "ostream", "chrono", "FILE"),
    )
)
"""Names that no device text can declare: a type that uses one stays with the host."""

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
    kept = _reachable(every, _given_types(unit, every))
    kept |= _used_namespaces(unit, every, kept)
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
        tuple(_problems(unit, every, kernels, kept)),
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


def _given_types(unit: Unit, every: Sequence[Declaration]) -> Iterator[Declaration]:
    """Types that host code can give to a kernel template: with device code inside, or named as template arguments."""
    hosts = [d for d in every if d.kind == "function" and not d.device and not _is_kernel(d)]
    named = frozenset[str]().union(*(d.uses for d in hosts))
    arguments = frozenset(name for d in hosts for name in _template_arguments(unit.tokens[d.first : d.last]))
    for declaration in every:
        if declaration.kind in ("type", "alias"):
            names = {name for name, _ in declaration.names}
            given = names & arguments or (names & named and "__device__" in declaration.uses)
            if given and not declaration.uses & _HOST_ONLY:
                yield declaration


def _template_arguments(tokens: Sequence[Token]) -> Iterator[str]:
    """Identifiers between ``name<`` and ``>(``, ``>::`` or ``><<<``."""
    opened: list[int] = []
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else token
        if token.text == "<" and before.kind == "ident" and before.text not in _CASTS:
            opened.append(index)
        elif token.text == ">" and opened:
            start = opened.pop()
            if index + 1 < len(tokens) and tokens[index + 1].text in ("(", "::", ":", "<", "<<", "<<<"):
                yield from (t.text for t in tokens[start:index] if t.kind == "ident")
        elif token.text in (";", "{", "}"):
            opened.clear()


def _reachable(every: Sequence[Declaration], given: Iterable[Declaration]) -> set[int]:
    """``first`` of each declaration that a kernel needs."""
    by_name: dict[str, list[Declaration]] = {}
    kernels = [d for d in every if _is_kernel(d) and d.defines]
    queue = list(kernels)
    if kernels:  # an explicit instantiation of a kernel says which of them exist
        queue += [d for d in every if d.kind == "template" and "__global__" in d.uses]
        queue += given
    for declaration in filter(_for_device, every):
        for name, _ in declaration.names:
            if name == "operator" and kernels:
                queue.append(declaration)  # used without being named
            else:
                by_name.setdefault(name, []).append(declaration)
    kept: set[int] = set()
    while queue:
        declaration = queue.pop()
        if declaration.first not in kept:
            kept.add(declaration.first)
            for name in declaration.uses:
                queue += by_name.pop(name, ())
    return kept


def _used_namespaces(unit: Unit, every: Sequence[Declaration], kept: set[int]) -> set[int]:
    """``using namespace`` of namespaces that the device text has, with the aliases that they go through."""
    present = {name for wrapper in _wrappers(unit.items) if _holds(wrapper, kept) for name in wrapper.names}
    aliases = {name: d for d in every if d.kind == "alias" for name, _ in d.names}
    found: set[int] = set()
    for declaration in every:
        if declaration.kind == "using":
            name = unit.tokens[declaration.last - 1].text
            alias = aliases.get(name)
            if (
                alias is not None
                and "namespace" in alias.uses
                and alias.uses & (_DEVICE_NAMESPACES | present)
            ):
                found |= {declaration.first, alias.first}
            elif name in present or declaration.uses & _DEVICE_NAMESPACES:
                found.add(declaration.first)
    return found


def _holds(wrapper: Wrapper, kept: set[int]) -> bool:
    return any(d.first in kept for d in _flat(wrapper.items))


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
            if item.kind == "using" and (outer := next(iter(item.uses & _DEVICE_NAMESPACES), "")):
                lines.append(f"namespace {outer} {{}}")  # a reader's prelude may not have it
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


def _problems(
    unit: Unit, every: Sequence[Declaration], kernels: Sequence[Declaration], kept: set[int]
) -> Iterator[str]:
    seen: dict[str, Span] = {}
    for kernel in kernels:
        name, span = kernel.names[0]
        if name in seen:
            yield f"{span}: a second kernel is named {name} (the first is at {seen[name]})"
        seen.setdefault(name, span)
    called = _called(unit, every, kept)
    functions = (
        d for d in every if d.first in kept and d.kind == "function" and "__global__" not in d.specifiers
    )
    devices = {name for d in functions for name, _ in d.names}  # a kernel is launched, never called
    for declaration in every:
        if declaration.kind == "function" and declaration.first not in kept and not declaration.device:
            for name, span in declaration.names:
                if name in called & devices:
                    yield f"{span}: host function {name} overloads a device function that kernels call; rename one"
        inner = declaration.uses & {"__device__", "__global__"} - declaration.specifiers
        if declaration.kind in ("function", "variable") and not declaration.device and inner:
            yield f"{declaration.span}: device code inside a host function (an extended lambda) is not supported"
        elif "__location__" in declaration.uses:
            yield f"{declaration.span}: __location__ is not read; write __global__, __device__ and the like"
        elif "__global__" in declaration.uses and declaration.kind not in ("function", "template"):
            yield f"{declaration.span}: this declaration of a __global__ function is not understood"
        elif (
            "__global__" in declaration.specifiers
            and declaration.kind == "function"
            and not declaration.names
        ):
            yield f"{declaration.span}: this __global__ function has no name that can be read"


def _called(unit: Unit, every: Sequence[Declaration], kept: set[int]) -> set[str]:
    """Names that kept declarations call."""
    called: set[str] = set()
    for declaration in every:
        if declaration.first in kept:
            tokens = unit.tokens[declaration.first : declaration.last + 1]
            for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
                if token.kind == "ident" and after.text in ("(", "<") and before.text not in (".", "->"):
                    called.add(token.text)
    return called
