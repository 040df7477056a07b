"""The child's raw facts -> findings with spans, names and words. Nothing the child says is a verdict.

Example::

    read_findings(facts, program, prepared, lines, sandbox)   # (SimFinding("race-shared", Span("k.cu", 7), …),)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sanitizers.simulator.model import PlaceRequests, SimFinding
from sanitizers.simulator.places import Lines, first_place, resolve
from sanitizers.simulator.text import Prepared
from specs.location import NOWHERE, Span
from specs.results import ThreadAccess
from verifier.isolation import Sandbox

# In the order of runtime/state.h. bounds-array is told apart here, by the name of the array.
PROPERTIES = (
    "bounds-global", "bounds-shared", "bounds-local", "bounds-array", "alignment", "race-shared", "race-global",
    "barrier-divergence", "overflow", "arithmetic", "uninitialized", "assert", "termination",
)  # fmt: skip


def read_findings(
    facts: Mapping[str, Any], program: Path, prepared: Prepared, lines: Lines, sandbox: Sandbox
) -> tuple[SimFinding, ...]:
    """All findings of one reply. Malformed facts give a finding without a place rather than none."""
    items = facts.get("findings")
    items = [i for i in items if isinstance(i, dict)] if isinstance(items, list) else []
    addresses = [a for item in items for a in _addresses(item)]
    known = resolve(program, addresses, lines.paths, sandbox) if addresses else {}
    objects = facts.get("objects")
    return tuple(
        _finding(item, objects if isinstance(objects, dict) else {}, known, prepared, lines) for item in items
    )


def read_requests(
    facts: Mapping[str, Any], program: Path, lines: Lines, sandbox: Sandbox
) -> tuple[PlaceRequests, ...] | None:
    """What the warps asked of memory, by place. None for a run that did not record it, or not all of it."""
    told = facts.get("requests")
    if not isinstance(told, dict) or told.get("whole") is not True or not isinstance(told.get("rows"), list):
        return None
    rows = [
        r for r in told["rows"] if isinstance(r, list) and len(r) == 11 and all(isinstance(n, int) for n in r)
    ]
    known = resolve(program, [row[0] for row in rows], lines.paths, sandbox) if rows else {}
    objects = facts.get("objects")
    found: list[PlaceRequests] = []
    for pc, slot, size, write, atomic, *counts in rows:
        named = objects.get(str(slot)) if isinstance(objects, dict) else None
        name, kind = (str(named[0]), named[3]) if isinstance(named, list) and len(named) == 4 else ("", None)
        action = "atomic" if atomic else "store" if write else "load"
        found.append(PlaceRequests(known.get(pc, NOWHERE), name, kind == 2, action, size, *counts))  # type: ignore[arg-type]
    return tuple(sorted(found, key=lambda r: (r.span.path, r.span.line, r.buffer, r.action, r.size)))


def _addresses(item: Mapping[str, Any]) -> Iterator[int]:
    frames = item.get("frames")
    yield from (f for f in frames if isinstance(f, int)) if isinstance(frames, list) else ()
    other = item.get("other")
    if isinstance(other, dict) and isinstance(other.get("pc"), int):
        yield other["pc"]


def _finding(
    item: Mapping[str, Any],
    objects: Mapping[str, Any],
    known: Mapping[int, Span],
    prepared: Prepared,
    lines: Lines,
) -> SimFinding:
    number = item.get("property")
    property_ = (
        PROPERTIES[number] if isinstance(number, int) and 0 <= number < len(PROPERTIES) else "bounds-global"
    )
    frames = [f for f in item.get("frames", []) if isinstance(f, int)]
    span = first_place(frames, item.get("site"), known, lines.paths)
    offset = item.get("offset") if isinstance(item.get("offset"), int) else 0
    assert isinstance(offset, int)
    buffer, index, extent = "", None, None
    found = objects.get(str(item.get("object")))
    if isinstance(found, list) and len(found) == 4:
        buffer, size, element = str(found[0]), int(found[1]), max(1, int(found[2]))
        index, extent = offset // element, size // element
    if property_ == "bounds-array":
        name, property_ = _array(span, prepared, lines)
        buffer, index = name, offset
    message = str(item.get("message", ""))[:400]
    verb = str(item.get("verb", ""))
    action = f"{verb} {buffer}[{index}]" if buffer and index is not None else _bare(verb, message)
    return SimFinding(
        property=property_,
        span=span,
        thread=_triple(item.get("thread")),
        block=_triple(item.get("block")),
        message=message,
        buffer=buffer,
        index=index,
        other=_other(item.get("other"), known, lines, f"{buffer}[{index}]" if buffer else ""),
        extent=extent,
        action=action
        + (f", which has {extent} elements" if property_.startswith("bounds") and extent is not None else ""),
        count=item["count"] if isinstance(item.get("count"), int) else 1,
    )


def _bare(verb: str, message: str) -> str:
    """What a thread does that touches no named memory."""
    if verb == "waits":
        return "waits at a barrier"
    if found := re.fullmatch(r"\w+ overflow: (.*) does not fit (.*)", message):
        return f"computes {found[1]}, which does not fit {found[2]}"
    return f"computes: {message}" if verb == "computes" else verb


def _other(other: object, known: Mapping[int, Span], lines: Lines, place: str) -> ThreadAccess | None:
    if not isinstance(other, dict):
        return None
    pc = other.get("pc")
    span = first_place([pc] if isinstance(pc, int) else [], other.get("site"), known, lines.paths)
    action = str(other.get("action", ""))[:100]
    touches = action.endswith(("reads", "writes", "updates"))
    return ThreadAccess(
        _triple(other.get("block")),
        _triple(other.get("thread")),
        f"{action} {place}" if touches and place else action,
        span,
    )


def _triple(value: object) -> tuple[int, int, int]:
    if isinstance(value, list) and len(value) == 3 and all(isinstance(v, int) for v in value):
        return value[0], value[1], value[2]
    return 0, 0, 0


def _array(span: Span, prepared: Prepared, lines: Lines) -> tuple[str, str]:
    """Name and property of the array whose own bound was passed at this place."""
    if span == NOWHERE:
        return "", "bounds-local"
    line = lines.at(span)
    names = list(re.finditer(r"([A-Za-z_]\w*)\s*\[", line))
    before = [m for m in names if m.start() < span.column]
    known = prepared.shared | prepared.device
    chosen = before[-1] if before else names[0] if names else None
    if chosen is None:
        return "", "bounds-local"
    name = chosen[1]
    if name not in known and (
        outer := [m[1] for m in reversed(before) if m[1] in known and _encloses(line, m.end())]
    ):
        name = outer[0]
    kind = (
        "bounds-shared"
        if name in prepared.shared
        else "bounds-global"
        if name in prepared.device
        else "bounds-local"
    )
    return name, kind


def _encloses(line: str, start: int) -> bool:
    return line[start:].count("]") > 0
