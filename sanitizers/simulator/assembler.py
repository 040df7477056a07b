"""Inline assembler -> calls of the prelude: a short list of instructions; everything else has no meaning here.

Tokens of one ``asm`` statement -> the C++ that takes its place, or None. Invariant: no assembler reaches the compiler; what
takes its place is calls of ``simt::ptx_…`` (runtime/prelude/ptx.h) on the statement's own operands.

Example::

    translate(tokens, index)   # asm volatile("cp.async.wait_group %0;" :: "n"(1)); -> (";"'s index, "simt::ptx_nothing();")
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from verifier.source.tokens import Token

_ESCAPE = re.compile(r"\\(.)")
_COPY = re.compile(
    r"cp\.async\.c[ag]\.shared(?:::cta)?\.global(?:\.L2::\d+B)? \[%(\d)\], \[%(\d)\], (%\d|\d+)(?:, (%\d|\d+))?"
)
_MATRIX = re.compile(
    r"ldmatrix\.sync\.aligned\.(?:m8n8\.)?x([124])(?:\.m8n8)?(\.trans)?(?:\.m8n8)?\.shared(?:::cta)?\.b16 "
    r"\{((?:%\d, )*%\d)\}, \[%(\d)\]"
)
_MULTIPLY = re.compile(
    r"mma\.sync\.aligned\.m16n8k(8|16)\.row\.col\.f32\.(f16|bf16)\.\2\.f32 "
    r"\{([%\d, ]+)\}, \{([%\d, ]+)\}, \{([%\d, ]+)\}, \{([%\d, ]+)\}"
)
_NOTHING = re.compile(r"cp\.async\.(commit_group|wait_all|wait_group (%\d|\d+))")
_BARRIER = re.compile(r"(bar|barrier)\.sync(\.aligned)? 0")


def translate(tokens: Sequence[Token], index: int) -> tuple[int, str] | None:
    """Index of the statement's last token and the text that takes its place."""
    at = index + 1
    while at < len(tokens) and tokens[at].text in ("volatile", "__volatile__"):
        at += 1
    if at >= len(tokens) or tokens[at].text != "(":
        return None
    end = _closing(tokens, at)
    if end is None or end + 1 >= len(tokens) or tokens[end + 1].text != ";":
        return None
    sections = _sections(tokens[at + 1 : end])
    operands = [o for section in sections[1:3] for o in _operands(section)]
    if None in operands or any(t.kind != "string" for t in sections[0]):
        return None
    code = "".join(
        _ESCAPE.sub(lambda m: {"n": "\n", "t": " "}.get(m[1], m[1]), t.text[1:-1]) for t in sections[0]
    )
    calls = []
    for line in code.replace("{\n", "").split(";"):
        text = re.sub(r"\s*,\s*", ", ", " ".join(line.split())).replace("{ ", "{").replace(" }", "}")
        if text:
            call = _call(text, [str(o) for o in operands])
            if call is None:
                return None
            calls.append(call)
    return end + 1, "{ " + " ".join(f"{c};" for c in calls) + " }" if calls else "{}"


def _call(text: str, operands: list[str]) -> str | None:
    def value(name: str) -> str:
        return f"({operands[int(name[1:])]})" if name.startswith("%") else name

    try:
        if found := _COPY.fullmatch(text):
            present = value(found[4]) if found[4] else value(found[3])
            return f"simt::ptx_copy({value('%' + found[1])}, {value('%' + found[2])}, {value(found[3])}, {present})"
        if found := _MATRIX.fullmatch(text):
            registers = ", ".join(value(n) for n in found[3].split(", "))
            if found[3].count("%") != int(found[1]):
                return None
            return (
                f"simt::ptx_ldmatrix<{'true' if found[2] else 'false'}>({value('%' + found[4])}, {registers})"
            )
        if found := _MULTIPLY.fullmatch(text):
            groups = [[value(n) for n in re.findall(r"%\d+", found[i])] for i in (3, 4, 5, 6)]
            halves = int(found[1]) // 8
            if [len(g) for g in groups] != [4, 2 * halves, halves, 4]:
                return None
            given = ", ".join(f"{{{', '.join(g)}}}" for g in groups[1:3])
            type_ = "__half" if found[2] == "f16" else "__nv_bfloat16"
            return f"simt::ptx_multiply<{type_}, {halves}>({', '.join(groups[0])}, {given}, {', '.join(groups[3])})"
        if _NOTHING.fullmatch(text):
            return "(void)0"
        if _BARRIER.fullmatch(text):
            return "__syncthreads()"
    except (IndexError, ValueError):
        return None
    return None


def _sections(tokens: Sequence[Token]) -> list[list[Token]]:
    """Template, outputs, inputs, clobbers."""
    sections: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and token.text in (":", "::"):
            sections += [[] for _ in token.text]
        else:
            sections[-1].append(token)
    return [*sections, [], [], []][: max(4, len(sections))]


def _operands(tokens: Sequence[Token]) -> list[str | None]:
    """The expressions of ``"r"(e), "=f"(v)``; None for one of another form."""
    found: list[str | None] = []
    at = 0
    while at < len(tokens):
        end = _closing(tokens, at + 1) if at + 1 < len(tokens) and tokens[at + 1].text == "(" else None
        if tokens[at].kind != "string" or end is None:
            return [None]
        found.append(" ".join(t.text for t in tokens[at + 2 : end]))
        at = end + 1
        if at < len(tokens) and tokens[at].text != ",":
            return [None]
        at += 1
    return found


def _closing(tokens: Sequence[Token], index: int) -> int | None:
    depth = 0
    for at in range(index, len(tokens)):
        depth += (tokens[at].text in ("(", "[", "{")) - (tokens[at].text in (")", "]", "}"))
        if depth == 0:
            return at
    return None
