"""What stands in the parentheses of ``if``, ``switch`` and range-based ``for``: the parser does not show all of it.

Input -> output: text and the place of the keyword -> how many semicolons the head has. An ``if`` or ``switch`` with one has
a statement before its condition; so has a range-based ``for``.

Example: ``switch (k += 8; n)`` has one semicolon, ``if (c == ';')`` has none.
"""

from __future__ import annotations

import re

_PIECE = re.compile(rb"(?<![0-9A-Fa-f])'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|[()\[\]{};]", re.S)


def semicolons(text: bytes, start: int, end: int) -> int:
    """Those of the head itself, not of lambdas in it."""
    depth, found = 0, 0
    for piece in _PIECE.finditer(text, start, end):
        char = piece[0]
        if char in (b"(", b"[", b"{"):
            depth += 1
        elif char in (b")", b"]", b"}"):
            depth -= 1
            if depth == 0:
                break
        elif char == b";" and depth == 1:
            found += 1
    return found


def initialised(text: bytes, keyword: bytes) -> list[int]:
    """The lines of all ``keyword`` statements that have a statement before their condition or range."""
    return [
        text.count(b"\n", 0, found.start()) + 1
        for found in re.finditer(rb"\b" + keyword + rb"\b(?:\s*constexpr\b)?\s*\(", text)
        if semicolons(text, found.start(), len(text)) == 1
    ]
