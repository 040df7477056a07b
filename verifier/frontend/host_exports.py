"""Explicit instantiations of host templates: functions that the text makes for callers elsewhere.

Input -> output: host text -> the same text, with a pointer of a known name in the place of each instantiation, so that
the parser says which function it is. Lines stay where they are.

Invariant: a form that is not understood is left as it is; it only names no function.

Example: ``template void sum<int>(int n, int *x);`` -> ``void (*vk_export_0)(int n, int *x) = &sum<int>;``
"""

from __future__ import annotations

import re

EXPORT = "vk_export_"
_START = re.compile(r"\btemplate\b(?!\s*<)")
_BEFORE = re.compile(r"(?:^|[;{}]|\n)\s*\Z")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*\Z")
_DEVICE = re.compile(r"\b__(?:global|device)__\b")
_OPEN, _CLOSE = {"<": ">", "(": ")", "[": "]"}, {">", ")", "]"}


def with_exports(text: str) -> str:
    """The text with a pointer for each explicit instantiation of a host function."""
    out, position = [], 0
    for number, found in enumerate(_START.finditer(text)):
        end = text.find(";", found.end())
        if found.start() < position or end < 0 or not _BEFORE.search(text[: found.start()][-200:]):
            continue
        made = _pointer(text[found.end() : end], f"{EXPORT}{number}")
        if made is not None:
            out += [text[position : found.start()], made]
            position = end
    return "".join([*out, text[position:]])


def export_lines(text: str, first: int) -> list[tuple[int, int]]:
    """(first, last) line of each pointer; the text starts at line ``first``."""
    found = re.finditer(rf"\b{EXPORT}\d+\)[^;]*;", text)
    return [tuple(first + text.count("\n", 0, at) for at in m.span()) for m in found]  # type: ignore[misc]


def _pointer(declaration: str, name: str) -> str | None:
    """``void sum<int>(int n)`` -> ``void (*name)(int n) = &sum<int>``."""
    if _DEVICE.search(declaration) or re.search(r"[{}=\"']", declaration):
        return None
    opened = _at_depth_zero(declaration, "(")
    if opened is None or _matching(declaration, opened) != len(declaration.rstrip()) - 1:
        return None
    head, parameters = declaration[:opened], declaration[opened:]
    plain, arguments = head.rstrip(), ""
    if plain.endswith(">"):
        angle = _at_depth_zero(plain, "<", last=True)
        if angle is None:
            return None
        plain, arguments = plain[:angle].rstrip(), plain[angle:]
    called = _NAME.search(plain)
    result = plain[: called.start()].strip() if called is not None else ""
    if called is None or not result or result.endswith("::"):
        return None
    return f"{plain[: called.start()]}(*{name}){parameters} = &{called[0]}{arguments}"


def _at_depth_zero(text: str, wanted: str, last: bool = False) -> int | None:
    """Where the first (or last) bracket of a kind stands that is in no other."""
    depth, found = 0, None
    for at, char in enumerate(text):
        if char == wanted and depth == 0 and (found is None or last):
            found = at
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
    return found


def _matching(text: str, opened: int) -> int:
    depth = 0
    for at in range(opened, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    return -1
