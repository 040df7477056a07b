"""Tokens cover the text; places survive line markers; hostile text stays cheap."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.source.tokens import LineMap, directive_line, scan

PIECES = [
    "//x",
    "/*",
    "*/",
    "#",
    "%:",
    '"',
    "'",
    "\\",
    "\n",
    "R",
    "(",
    ")",
    "a",
    "u8",
    "1",
    ".",
    "e+",
    " ",
    "::",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_tokens_cover_the_text_in_order(text: str) -> None:
    position = 0
    for token in scan(text):
        assert token.start >= position and text[token.start : token.end] == token.text
        assert not text[position : token.start].replace("\\\n", "").strip()
        position = token.end
    assert not text[position:].replace("\\\n", "").strip()


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ('R"x(a")"b)x" c', ["string", "ident"]),
        ("1'000.5e+3f", ["number"]),
        ("'\\''", ["char"]),
        ("a # b", ["ident", "punct", "ident"]),
        ("/* c */ # define X \\\n 1\ny", ["comment", "directive", "ident"]),
        ("%:include <a>", ["directive"]),
        ("u8\"x\" L'c'", ["string", "char"]),
        ("x // y \\\n z\nw", ["ident", "comment", "ident"]),
        ("don't", ["ident", "char"]),
    ],
)
def test_kinds(text: str, kinds: list[str]) -> None:
    assert [t.kind for t in scan(text)] == kinds


@pytest.mark.parametrize("piece", ['\\"', "R(", '"\\\n', "/*", "'", "#", "\\\n", 'u8R"a', '#"', "(", "a##"])
def test_hostile_text_takes_linear_time(piece: str) -> None:
    begin = time.process_time()
    scan(piece * 100_000)
    assert time.process_time() - begin < 3


def test_directive_line_joins_and_strips() -> None:
    assert directive_line("#  /*a*/ inc\\\nlude /* b */ <a.h> // c") == ("include", "<a.h>")
    assert directive_line("%:define A(x) x") == ("define", "A(x) x")
    assert directive_line('# 12 "a.cu"') == ("", '12 "a.cu"')


def test_places_follow_line_markers() -> None:
    text = '# 5 "a.cu"\nint x;\n\n# 20 "b \\"q.h"\n  y\n'
    places = LineMap(text)
    assert str(places.span(text.index("int"))) == "a.cu:5:1"
    assert str(places.span(text.index("y\n"))) == 'b "q.h:20:3'
