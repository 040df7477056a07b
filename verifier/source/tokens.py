"""C++ text -> tokens, without a preprocessor. Used on the user's text and on preprocessed text alike.

Invariant: linear time; the tokens lie in order and do not overlap; every character that is not white space is in
exactly one token. A directive (``#...`` with its continuation lines, line markers too) is one token.

Example::

    [t.text for t in scan('#include "a.h"\\nint x = R"(;)";')]   # ['#include "a.h"', 'int', 'x', '=', 'R"(;)"', ';']
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from specs.location import Span


class Token(NamedTuple):
    """``kind``: ident, number, string, char, comment, directive, punct."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


# Literals that are not closed end with their line: so a scan stays linear on hostile text.
_QUOTED = r"""(?:"(?:\\.|[^"\\\n])*+(?:"|(?=\n)|\Z)|'(?:\\.|[^'\\\n])*+(?:'|(?=\n)|\Z))"""
_COMMENT = r"(?://(?:\\\r?\n|[^\n])*+|/\*.*?(?:\*/|\Z))"
_TOKEN = re.compile(
    rf"""
      (?P<comment>{_COMMENT})
    | (?P<directive>\#|%:)
    | (?P<string>(?:u8|[uUL])?R"(?P<delimiter>[^\s()\\"]{{0,16}})\(.*?(?:\)(?P=delimiter)"|\Z)
        |(?:u8|[uUL])?(?="){_QUOTED})
    | (?P<char>(?:u8|[uUL])?(?='){_QUOTED})
    | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*+)
    | (?P<ident>[^\W\d]\w*+)
    | (?P<space>(?:\s|\\\r?\n)++)
    | (?P<punct>::|->|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(rf"(?:\\\r?\n|{_COMMENT}|{_QUOTED}|[^\n])*+", re.DOTALL)
_SPLICE_OR_COMMENT = re.compile(rf"(?P<splice>\\\r?\n)|(?P<comment>{_COMMENT})|{_QUOTED}", re.DOTALL)


_SHORT = 400
"""Texts up to this length are scanned anew each time: there are many, and they would drive out the long ones."""


def scan(text: str) -> list[Token]:
    """All tokens of ``text``, comments and directives among them."""
    return list(_kept(text)) if len(text) > _SHORT else _scanned(text)


@lru_cache(maxsize=32)
def _kept(text: str) -> tuple[Token, ...]:
    """Headers are read once for each pass of a file."""
    return tuple(_scanned(text))


def _scanned(text: str) -> list[Token]:
    tokens: list[Token] = []
    position, size = 0, len(text)
    fresh = True  # nothing but white space and comments on this line so far
    match, make = _TOKEN.match, tuple.__new__  # Token's own constructor takes three times as long
    while position < size:
        found = match(text, position)
        assert found is not None and found.lastgroup is not None
        kind = found.lastgroup if found.lastgroup != "delimiter" else "string"
        word = found.group()
        if kind == "space":
            fresh = fresh or "\n" in word
        elif kind == "directive" and fresh:
            rest = _DIRECTIVE.match(text, position)
            assert rest is not None
            word = rest.group()
            tokens.append(Token("directive", word, position))
        elif kind == "directive":
            tokens.append(Token("punct", word, position))
        else:
            tokens.append(make(Token, (kind, word, position)))
            fresh = fresh and kind == "comment"
        position += len(word)
    return tokens


def without_comments(directive: str) -> str:
    """The text of a directive token, continuation lines joined and comments removed."""
    return _SPLICE_OR_COMMENT.sub(
        lambda m: "" if m["splice"] else " " if m["comment"] else m.group(), directive
    )


def directive_line(text: str) -> tuple[str, str]:
    """(name, rest) of a directive token, continuation lines joined and comments removed; name "" for a line marker."""
    flat = without_comments(text).removeprefix("%:").removeprefix("#").strip()
    name = re.match(r"[^\W\d]\w*", flat)
    return (name.group(), flat[name.end() :].strip()) if name else ("", flat)


_MARKER = re.compile(r'\#\s*(?:line\s+)?(\d+)\s+"((?:\\.|[^"\\])*)"((?:\s+\d)*)\s*$')


class LineMap:
    """Offset in a text with line markers -> place in the user's file."""

    def __init__(self, text: str, path: str = "", tokens: list[Token] | None = None) -> None:
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self._marks: list[tuple[int, str, int]] = [(0, path, 1)]
        for token in scan(text) if tokens is None else tokens:
            if token.kind == "directive" and (marker := _MARKER.match(token.text)):
                number = bisect_right(self._starts, token.start)
                name = re.sub(r"\\(.)", r"\1", marker[2])
                self._marks.append((number, name, int(marker[1])))
        self._mark_lines = [m[0] for m in self._marks]

    def span(self, offset: int) -> Span:
        """The place of ``offset``."""
        number = bisect_right(self._starts, offset)
        mark, path, line = self._marks[bisect_right(self._mark_lines, number - 1) - 1]
        return Span(path, line + number - mark - 1, offset - self._starts[number - 1] + 1)
