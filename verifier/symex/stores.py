"""What stores may go through, by the text alone: statements -> names of pointer locals and objects.

Invariant: an object that is not named keeps its contents for the whole launch, if the answer is complete. A pointer that is
loaded may be any pointer that is stored somewhere.

Example: ``*q = a; p = *q; p[i] = 0;`` gives ``p`` and, through memory, ``a``.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.ir import nodes as ir
from verifier.symex.pointers import OPAQUE_MEMORY, SHARED_POINTER

_MEMORY = "*"
"""Stands for every pointer that is stored in memory."""


def written_objects(body: tuple[ir.Stmt, ...]) -> tuple[set[str], bool]:
    """Names of pointer locals and objects that stores may go through (syntactic), and whether that is complete."""
    names: set[str] = set()
    flows: dict[str, set[str]] = {}
    complete = True
    for s in _statements(body):
        targets: list[tuple[set[str], ir.Expr]] = []
        match s:
            case ir.Store(place=place, value=value, parts=fields):
                complete &= _place_roots(place, names)
                stored = [e for e in (value, *(e for _, e in fields)) if e is not None]
                targets = [(flows.setdefault(_MEMORY, set()), e) for e in stored]
            case ir.Atomic(place=place, args=args):
                complete &= _place_roots(place, names)
                targets = [(flows.setdefault(_MEMORY, set()), e) for e in args]
            case ir.Assign(var=var, value=value):
                targets = [(flows.setdefault(var, set()), value)]
            case ir.Load(var=var, place=place, parts=parts):
                for local, type_ in ((var, place.type), *((p, f.type) for p, f in parts)):
                    if isinstance(type_, ir.Pointer):
                        flows.setdefault(local, set()).add(_MEMORY)
        for into, e in targets:
            if isinstance(e.type, ir.Pointer):
                complete &= _roots(e, into)
    todo = list(names)
    while todo:
        for source in flows.get(todo.pop(), ()):
            if source not in names:
                names.add(source)
                todo.append(source)
    return names, complete


def _statements(stmts: tuple[ir.Stmt, ...]) -> Iterator[ir.Stmt]:
    for s in stmts:
        yield s
        match s:
            case ir.If(then=a, other=b):
                yield from _statements((*a, *b))
            case ir.Loop(head=h, body=b, step=st):
                yield from _statements((*h, *b, *st))
            case ir.Scope(body=b):
                yield from _statements(b)


def _place_roots(place: ir.Place, names: set[str]) -> bool:
    match place:
        case ir.Deref(pointer=p):
            return _roots(p, names)
        case ir.Object(name=name):
            names.add(name)
            return True
        case ir.Elem(array=a):
            return _place_roots(a, names)
        case ir.Member(struct=m):
            return _place_roots(m, names)


def _roots(e: ir.Expr, names: set[str]) -> bool:
    match e:
        case ir.Read(name=name):
            names.add(name)
        case ir.PtrAdd(pointer=p):
            return _roots(p, names)
        case ir.Convert(operand=o) if isinstance(o.type, ir.Pointer):
            return _roots(o, names)
        case ir.Convert(operand=o) if not isinstance(o, ir.IntConst):
            return False  # a number as an address
        case ir.Call(name="global pointer", args=(o,)) if isinstance(o.type, ir.Pointer):
            return _roots(o, names)
        case ir.Call(name=name) if name != SHARED_POINTER and name not in OPAQUE_MEMORY:
            return False
        case ir.Select(then=a, other=b):
            return _roots(a, names) & _roots(b, names)
        case ir.AddressOf(place=place):
            return _place_roots(place, names)
    return True
