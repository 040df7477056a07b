"""The host code of several compilations as one text: a header that more than one of them includes stands in it once.

Input -> output: preprocessed texts with line markers -> one text. Without this a struct of a shared header would be defined
twice, and nothing that uses it would be understood.

Invariant: what is left out stands before, letter by letter, from the same lines of the same file, and is made of whole
declarations at file scope. A header that expands to something else the second time stays.

Example: ``a.cu`` and ``b.cpp`` include ``shape.h`` -> its text from ``a.cu``, then the rest of ``b.cpp``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MARKER = re.compile(r'# (\d+) "((?:[^"\\]|\\.)*)"')
_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')


@dataclass(frozen=True, slots=True)
class _Piece:
    """The lines between two markers; ``head`` is the marker before them."""

    head: str
    path: str
    line: int
    body: str


def joined(texts: Sequence[str]) -> str:
    """The texts behind each other, without what an earlier one said already."""
    seen: set[tuple[str, int, str]] = set()
    out: list[str] = []
    for text in texts:
        plain = not any(odd in text for odd in ('R"', "<%", "%>"))  # braces can be counted
        depth, last = 0, ""
        new: set[tuple[str, int, str]] = set()
        for piece in _pieces(text):
            key = (piece.path, piece.line, piece.body)
            code = _LITERAL.sub("0", piece.body)
            inside = code.count("{") - code.count("}")
            end = code.rstrip()[-1:]
            whole = depth == 0 and inside == 0 and last in ("", ";", "}") and end in ("", ";", "}")
            if not (whole and plain and key in seen):
                out.append(piece.head + piece.body)
                new.add(key)
            depth += inside
            last = end or last
        seen |= new
    return "".join(out)


def _pieces(text: str) -> Iterator[_Piece]:
    head, path, line = "", "", 0
    body: list[str] = []
    for row in text.splitlines(keepends=True):
        marker = _MARKER.match(row)
        if marker is None:
            body.append(row)
            continue
        if head or body:
            yield _Piece(head, path, line, "".join(body))
        head, path, line, body = row, marker[2], int(marker[1]), []
    if head or body:
        yield _Piece(head, path, line, "".join(body))
