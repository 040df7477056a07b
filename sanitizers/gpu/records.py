"""compute-sanitizer's XML -> findings with our property ids, and the seeded faults among them.

Invariant: a record that is about neither a seeded fault nor an API call is a finding, whatever else it says: an unknown
kind gets the property that its tool looks for.

Example::

    parse(xml, "memcheck", paths={"saxpy.cu"})
    # Records(findings=(SimFinding("bounds-global", Span("saxpy.cu", 4), thread=(0, 0, 0), block=(4, 0, 0), …),), controls=0)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from xml.etree import ElementTree

from sanitizers.gpu.lines import Lines
from sanitizers.simulator import SimFinding
from specs.location import NOWHERE, Span
from specs.results import ThreadAccess

CONTROL = "vk_control_"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
"""In the order in which they run: what lies outside a buffer comes first."""
SEES: dict[str, tuple[str, ...]] = {
    "memcheck": ("bounds-global", "bounds-shared", "bounds-local", "alignment"),
    "racecheck": ("race-shared",),
    "initcheck": ("uninitialized",),
    "synccheck": ("barrier-divergence",),
}
"""What each tool looks for; the first is what it is taken to mean where its record does not say."""
_EXCEPTIONS = {
    "assert": "assert",
    "trap": "assert",
    "illegal instruction": "barrier-divergence",  # what the hardware makes of a wrong mask
    "misaligned": "alignment",
    "stack": "bounds-local",
}
"""A word of the hardware's exception -> property; any other is an access outside its buffer."""
_SPACES = {"__global__": "bounds-global", "__shared__": "bounds-shared", "__local__": "bounds-local"}


class BadXml(Exception):
    """A file that is no report of compute-sanitizer."""


@dataclass(frozen=True, slots=True)
class Records:
    """``controls``: records of the tool's seeded fault. ``api``: failed calls, in words."""

    findings: tuple[SimFinding, ...]
    controls: int
    api: tuple[str, ...]


def parse(text: bytes, tool: str, paths: Set[str], lines: Lines | None = None) -> Records:
    """``paths``: the user's files as the device text names them; ``lines``: of the kernel. Raises BadXml."""
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise BadXml("it has a document type")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise BadXml(str(error)) from error
    if root.tag != "ComputeSanitizerOutput":
        raise BadXml(f"its root is <{root.tag}>")
    findings: list[SimFinding] = []
    api: list[str] = []
    controls = 0
    for record in root.iter("record"):
        kind = _text(record, "kind")
        functions = {w.findtext("func") or "" for w in record.iter("where")}
        if any(f.startswith(CONTROL) for f in functions):
            controls += any(f == CONTROL + tool for f in functions)
        elif kind == "Api":
            api.append(_text(record, "what/text"))
        else:
            findings.append(_finding(record, tool, paths, lines))
    return Records(tuple(_distinct(findings)), controls, tuple(api))


def _distinct(findings: list[SimFinding]) -> Iterator[SimFinding]:
    """One for each property and place, with how often it was reported."""
    grouped: dict[object, list[SimFinding]] = {}
    for finding in findings:
        grouped.setdefault((finding.property, finding.span), []).append(finding)
    for same in grouped.values():
        yield replace(same[0], count=sum(f.count for f in same))


def _finding(record: ElementTree.Element, tool: str, paths: Set[str], lines: Lines | None) -> SimFinding:
    said = (_text(record, f"what/{name}") for name in ("text", "type", "exception"))
    text = ": ".join(w for w in said if w) or _text(record, "kind") or "a record without words"
    sides = [s for name in ("source", "destination") for s in record.findall(f"what/{name}")]
    places = [_span(w, paths, lines) for w in record.iter("where")]
    frames = [_span(f, paths, None) for f in record.iter("frame")]
    span = next((s for s in (*places[:1], *frames) if s.line), NOWHERE)
    other = None
    message = _message(text, tool)
    if sides:
        words = [(_text(s, "direction") or "access").lower() for s in sides]
        message = f"{'/'.join(words)} race in shared memory"
        if len(places) > 1:
            action = f"{words[-1]}s the same place"
            other = ThreadAccess((0, 0, 0), (0, 0, 0), action, places[1])
    counts = [int(c.text) for c in record.iter("count") if c.text and c.text.isdigit()]
    return SimFinding(
        property=_property(record, text, tool),
        span=span,
        thread=_triple(record, "who/threadIdx"),
        block=_triple(record, "who/blockIdx"),
        message=message,
        other=other,
        action=message,
        count=counts[0] if counts else 1,
    )


def _property(record: ElementTree.Element, text: str, tool: str) -> str:
    if tool == "memcheck":
        exception = _text(record, "what/exception").lower()
        if exception:
            return next((p for word, p in _EXCEPTIONS.items() if word in exception), "bounds-global")
        if "misaligned" in text or _text(record, "what/error") == "misaligned":
            return "alignment"
        space = _text(record, "what/space") or next((s for s in _SPACES if s in text), "")
        return _SPACES.get(space, "bounds-global")
    return SEES[tool][0]


def _message(text: str, tool: str) -> str:
    """The tool's words, cleaned of what is not printable."""
    return f"{''.join(c for c in ' '.join(text.split()) if c.isprintable())[:300]} ({tool})"


def _span(where: ElementTree.Element, paths: Set[str], lines: Lines | None) -> Span:
    path, line, offset = _text(where, "path"), _text(where, "line"), _text(where, "pc")
    known = next(
        (p for p in sorted(paths, key=len, reverse=True) if path == p or path.endswith(f"/{p}")), None
    )
    if not re.fullmatch(r"\d{1,9}", line):
        return NOWHERE
    if known is not None:
        return Span(known, int(line))
    inlined = lines is not None and re.fullmatch(r"0x[0-9a-f]{1,12}", offset)
    return lines.caller(int(offset, 16), int(line), paths) if lines is not None and inlined else NOWHERE


def _triple(record: ElementTree.Element, where: str) -> tuple[int, int, int]:
    x, y, z = (_text(record, f"{where}/{axis}") for axis in "xyz")
    return (_number(x), _number(y), _number(z))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _text(element: ElementTree.Element, path: str) -> str:
    return (element.findtext(path) or "").strip()
