"""Claims about single accesses: inside the object, aligned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from verifier.smt.terms import Term, Terms, show
from verifier.symex.claims import Claims, Obligation
from verifier.symex.pointers import address_of
from verifier.symex.summary import Access, Summary


def has_space(s: Summary, space: str) -> bool:
    """Whether any access goes to the space (constant memory and surfaces count as global)."""
    return any(matches(a, space) for a in s.accesses)


def matches(a: Access, space: str) -> bool:
    """Whether the access is to the space."""
    return a.obj.space == space or (space == "global" and a.obj.space in ("constant", "surface"))


def name_of(a: Access) -> str:
    """``x[index]`` for messages."""
    return f"{a.obj.name}[{show(a.offset, 4)} bytes]"


def bounds(c: Claims, property_: str, space: str) -> Iterator[Obligation]:
    """0 <= offset and offset + size <= extent; for declared arrays also each axis within its own count."""
    for a in c.s.accesses:
        if matches(a, space) and a.obj.space == "surface":
            yield _surface(c, property_, a, "stays inside it")
        if matches(a, space) and not 0 <= a.origin != a.number:
            yield from bounds_of(c, property_, a)


def bounds_of(c: Claims, property_: str, a: Access) -> Iterator[Obligation]:
    """The claim on one access, if its object has an extent."""
    t = c.s.t
    if a.obj.extent is None:
        return
    goals: list[Term] = []
    for index, count in a.rows:
        goals += [t.le(t.zero, index), t.lt(index, t.const(count))]
    if not a.rows:
        goals += [t.le(t.zero, a.offset), t.le(t.add(a.offset, t.const(a.size)), a.obj.extent)]
    else:
        goals.append(t.le(t.add(a.offset, t.const(a.size)), a.obj.extent))
        goals.append(t.le(t.zero, a.offset))
    claim = f"the {a.kind} of {a.obj.name} stays inside it"
    yield c.single(property_, a.span, claim, (a.guard,), t.and_(*goals), (a,))


def _surface(c: Claims, property_: str, a: Access, what: str) -> Obligation:
    """Nothing is known of a surface: an access outside of it ends the kernel."""
    made = c.single(
        property_, a.span, f"the {a.kind} of surface {a.obj.name} {what}", (a.guard,), c.s.t.false, (a,)
    )
    return replace(made, note=f"unsupported: the {a.kind} of surface {a.obj.name}, whose size is not known")


def alignment_of(a: Access) -> int:
    """The alignment in bytes that the access needs, a power of two."""
    return min(a.align or (a.size & -a.size), 16)


def may_be_odd(t: Terms, a: Access) -> bool:
    """Whether the access is wider than the object's element, or at an offset that is not evidently a multiple of its size."""
    need = alignment_of(a)
    if a.obj.space in ("texture", "surface"):
        return a.obj.space == "surface"
    if need == 1 or 0 <= a.origin != a.number:
        return False
    if a.vector or a.size > max(a.obj.elem, 1):
        return True
    return any(coefficient % need for coefficient in t.poly(a.offset).values())


def aligned(c: Claims, property_: str) -> Iterator[Obligation]:
    """Vector and cast accesses: base alignment and offset are multiples of the access size (a power of two)."""
    t = c.s.t
    for a in c.s.accesses:
        if not may_be_odd(t, a):
            continue
        if a.obj.space == "surface":
            yield _surface(c, property_, a, "is aligned")
            continue
        need = alignment_of(a)
        base = t.true if a.obj.align % need == 0 or a.obj.space in ("shared", "local") else t.false
        if a.obj.space in ("shared", "local") and a.obj.align and a.obj.align % need:
            base = t.false
        evident = all(k * c.divisor(m) % need == 0 for m, k in t.poly(a.offset).items())
        goal = base if evident else t.and_(base, t.eq(t.rem(a.offset, t.const(need)), t.zero))
        if base is t.false and a.obj.space == "global":  # unless the kernel has looked at the address itself
            goal = t.eq(t.rem(t.add(address_of(t, a.obj), a.offset), t.const(need)), t.zero)
        yield c.single(
            property_,
            a.span,
            f"the {a.size}-byte {a.kind} of {a.obj.name} is aligned",
            (a.guard,),
            goal,
            (a,),
        )
