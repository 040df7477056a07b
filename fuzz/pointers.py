"""Which pointer parameters a kernel writes and reads, through copies of the pointers. ir.Kernel -> names.

Flow-insensitive, so both sets may be too large, never too small, for what the IR holds.

Example::

    written(kernel), loaded(kernel)    # {"y"}, {"x", "y"}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verifier.ir import nodes as ir


def written(kernel: ir.Kernel) -> set[str]:
    """Pointer parameters that a store or an atomic may write, through any copies of the pointer."""
    places = [s.place for s in _statements(kernel.body) if isinstance(s, (ir.Store, ir.Atomic))]
    return _through_copies(kernel, {root for place in places for root in _place_roots(place)})


def loaded(kernel: ir.Kernel) -> set[str]:
    """Pointer parameters that a load or an atomic may read."""
    places = [s.place for s in _statements(kernel.body) if isinstance(s, (ir.Load, ir.Atomic))]
    return _through_copies(kernel, {root for place in places for root in _place_roots(place)})


def _through_copies(kernel: ir.Kernel, targets: set[str]) -> set[str]:
    sources: dict[str, set[str]] = {}
    for statement in _statements(kernel.body):
        match statement:
            case ir.Assign(var=var, value=value) if isinstance(kernel.locals.get(var), ir.Pointer):
                sources.setdefault(var, set()).update(_roots(value))
            case ir.Unsupported():
                targets = targets | {
                    p.name for p in kernel.params if isinstance(p.type, ir.Pointer) and not p.type.const
                }
            case _:
                pass
    reached, todo = set(targets), list(targets)
    while todo:
        for source in sources.get(todo.pop(), ()):
            if source not in reached:
                reached.add(source)
                todo.append(source)
    return {p.name for p in kernel.params if p.name in reached}


def _statements(body: Sequence[ir.Stmt]) -> Iterator[ir.Stmt]:
    for statement in body:
        yield statement
        match statement:
            case ir.If(then=then, other=other):
                yield from _statements(then)
                yield from _statements(other)
            case ir.Loop(head=head, body=inner, step=step):
                for part in (head, inner, step):
                    yield from _statements(part)
            case ir.Scope(body=inner):
                yield from _statements(inner)
            case _:
                pass


def _place_roots(place: ir.Place) -> set[str]:
    match place:
        case ir.Deref(pointer=pointer):
            return _roots(pointer)
        case ir.Elem(array=inner) | ir.Member(struct=inner):
            return _place_roots(inner)
        case ir.Object():
            return set()


def _roots(pointer: ir.Expr) -> set[str]:
    match pointer:
        case ir.Read(name=name):
            return {name}
        case ir.PtrAdd(pointer=inner) | ir.Convert(operand=inner):
            return _roots(inner)
        case ir.Select(then=a, other=b):
            return _roots(a) | _roots(b)
        case ir.AddressOf(place=place):
            return _place_roots(place)
        case _:
            return set()
