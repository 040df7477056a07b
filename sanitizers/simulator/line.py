"""One line of a device text -> the same line with its integer operands checked for lost values.

A replay of an overflow needs unsigned wrap and narrowing conversions to be seen, which the compiler's own check does not
see. On the line in question each operand ``e`` becomes ``simt::ck(e)``, an integer that reports when an operation or a
conversion changes its value; ``a += e`` becomes ``a = simt::ck(a) + (e)``. Everything else stays as it is; a line that then
does not compile cannot be checked this way (None is the answer, not a guess).

Example::

    check_line("int k = i * sizeof(float);", 1)    # "int k = simt::ck(i) * simt::ck(sizeof(float));"
"""

from __future__ import annotations

import re

from specs.location import Span
from verifier.source.tokens import LineMap, Token, scan

_TYPE = re.compile(
    r"(u?int(8|16|32|64)?_t|size_t|ptrdiff_t|int|unsigned|signed|long|short|char|bool|float|double|half|__half|auto|void|dim3"
    r"|const|volatile|constexpr|static|register|u?(int|char|short|long|float)[1-4]|uint|scalar_t|T)"
)
_WORDS = re.compile(
    r"(if|for|while|do|else|return|break|continue|switch|case|default|sizeof|alignof|decltype|new|delete|goto|true|false|nullptr"
    r"|this|static_cast|reinterpret_cast|const_cast|typename|template|struct|class|using|namespace|operator|simt)"
)
_ASSIGNMENTS = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"}


def check_line(text: str, line: int, path: str | None = None) -> str:
    """``text`` with the operands on this line of the user's file checked."""
    tokens = [t for t in scan(text) if t.kind != "comment"]
    places = LineMap(text)
    chosen = [
        i for i, t in enumerate(tokens) if t.kind != "directive" and _is_at(places.span(t.start), line, path)
    ]
    edits: list[tuple[int, int, str]] = []
    index = chosen[0] if chosen else 0
    last = chosen[-1] if chosen else -1
    while index <= last:
        step = _operand(tokens, index, edits)
        index = step if step > index else index + 1
    out, position = [], 0
    for begin, end, new in sorted(
        edits, key=lambda e: (e[0], e[1])
    ):  # insertions before replacements; else in order
        out += [text[position:begin], new]
        position = end
    return "".join([*out, text[position:]])


def _is_at(span: Span, line: int, path: str | None) -> bool:
    return span.line == line and (path is None or span.path == path)


def _operand(tokens: list[Token], index: int, edits: list[tuple[int, int, str]]) -> int:
    """Edit the operand that starts here, if one does; the index of the token after it."""
    token = tokens[index]
    before = tokens[index - 1].text if index else ""
    if token.text == "sizeof" and _text(tokens, index + 1) == "(":
        end = _closing(tokens, index + 1)
        edits.append((token.start, tokens[end].end, f"simt::ck({_source(tokens, index, end)})"))
        return end + 1
    if token.text == "decltype":
        return _after_angle(tokens, index + 1)
    if (operand := _cast(tokens, index)) is not None and not _declares(tokens, index):
        return _rewrite_cast(tokens, index, operand, edits)
    if token.kind != "ident" or _TYPE.fullmatch(token.text) or _WORDS.fullmatch(token.text):
        return index + 1
    end = index
    while _text(tokens, end + 1) in (".", "->") and end + 2 < len(tokens) and tokens[end + 2].kind == "ident":
        end += 2
    follows = _text(tokens, end + 1)
    if _compound(tokens, end):
        return _rewrite_compound(tokens, index, end, edits)
    declares = (
        index > 0
        and (tokens[index - 1].kind == "ident" and not _WORDS.fullmatch(before))
        and before != "return"
    )
    assigned = follows == "=" and _text(tokens, end + 2) != "="
    stepped = (follows in "+-" and _text(tokens, end + 2) == follows and follows) or (
        before in ("+", "-") and index > 1 and tokens[index - 2].text == before
    )
    if (
        declares
        or assigned
        or stepped
        or follows in ("(", "[", "::", "<:")
        or before in (".", "->", "::", "&", "~")
    ):
        return end + 1
    edits.append((token.start, tokens[end].end, f"simt::ck({_source(tokens, index, end)})"))
    return end + 1


def _declares(tokens: list[Token], index: int) -> bool:
    """``int x``, ``size_t x``: the name that stands here is declared, or its type goes on."""
    before = tokens[index - 1] if index else None
    return before is not None and before.kind == "ident" and not _WORDS.fullmatch(before.text)


def _cast(tokens: list[Token], index: int) -> int | None:
    """Where the operand of a cast begins: ``(T)e``, ``T(e)``, ``static_cast<T>(e)``."""
    word = tokens[index].text
    if word == "static_cast":
        return _after_angle(tokens, index + 1)
    if _TYPE.fullmatch(word) and _text(tokens, index + 1) == "(":
        return index + 1
    if word == "(":
        end = index + 1
        while end < len(tokens) and _TYPE.fullmatch(tokens[end].text):
            end += 1
        following = _text(tokens, end + 1)
        if (
            end > index + 1
            and _text(tokens, end) == ")"
            and (following == "(" or re.match(r"[\w.]", following))
        ):
            return end + 1
    return None


def _rewrite_cast(tokens: list[Token], index: int, operand: int, edits: list[tuple[int, int, str]]) -> int:
    end = _postfix_end(tokens, operand)
    edits.append((tokens[index].start, tokens[index].start, "simt::ck("))
    at = operand
    while at <= end:
        step = _operand(tokens, at, edits)
        at = step if step > at else at + 1
    edits.append((tokens[end].end, tokens[end].end, ")"))
    return end + 1


def _postfix_end(tokens: list[Token], index: int) -> int:
    """The last token of ``name(…)[…].name`` or ``(…)``."""
    end = _closing(tokens, index) if tokens[index].text == "(" else index
    while _text(tokens, end + 1) in ("(", "[", ".", "->"):
        if tokens[end + 1].text in (".", "->"):
            end += 2
        else:
            end = _closing(tokens, end + 1)
    return end


def _compound(tokens: list[Token], end: int) -> bool:
    """``a op=`` as the scanner has it: one or two operator tokens and a ``=``."""
    one, two, three = (_text(tokens, end + n) for n in (1, 2, 3))
    return (one in _ASSIGNMENTS and two == "=") or (one in ("<", ">") and two == one and three == "=")


def _rewrite_compound(tokens: list[Token], index: int, end: int, edits: list[tuple[int, int, str]]) -> int:
    width = 1 if _text(tokens, end + 2) == "=" else 2
    operator = "".join(_text(tokens, end + n) for n in range(1, width + 1))
    target = _source(tokens, index, end)
    first = end + width + 2
    stop, depth = first, 0
    while stop < len(tokens) and not (depth == 0 and tokens[stop].text in (";", ",", ")")):
        depth += (tokens[stop].text in ("(", "[", "{")) - (tokens[stop].text in (")", "]", "}"))
        stop += 1
    inner: list[tuple[int, int, str]] = []
    at = first
    while at < stop:
        step = _operand(tokens, at, inner)
        at = step if step > at else at + 1
    start = tokens[end + 1].start
    edits.append((start, tokens[first].start, f"= simt::ck({target}) {operator} ("))
    edits += inner
    edits.append((tokens[stop - 1].end, tokens[stop - 1].end, ")"))
    return stop


def _text(tokens: list[Token], index: int) -> str:
    return tokens[index].text if index < len(tokens) else ""


def _source(tokens: list[Token], first: int, last: int) -> str:
    return "".join(t.text if t.text not in ("sizeof",) else "sizeof " for t in tokens[first : last + 1])


def _closing(tokens: list[Token], index: int) -> int:
    depth = 0
    for at in range(index, len(tokens)):
        depth += (tokens[at].text in "([") - (tokens[at].text in ")]")
        if depth == 0:
            return at
    return len(tokens) - 1


def _after_angle(tokens: list[Token], index: int) -> int:
    """The token after ``<…>`` or ``(…)``."""
    if _text(tokens, index) == "(":
        return _closing(tokens, index) + 1
    depth = 0
    for at in range(index, len(tokens)):
        depth += (tokens[at].text == "<") - (tokens[at].text == ">")
        if depth == 0:
            return at + 1
    return len(tokens)
