"""What a static rule finds, and small readers of words that several rules need."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specs.location import Span
from verifier.source.reading import Word


@dataclass(frozen=True, slots=True)
class Hit:
    """One place. ``kernel`` and ``fix`` are optional; an empty ``fix`` means the rule's own."""

    span: Span
    message: str
    kernel: str = ""
    fix: str = ""


_BEFORE_CALLS = frozenset(
    ("return", "else", "do", "case", "throw", "and", "or", "not", "co_return", "co_await")
)


def calls(words: Sequence[Word], names: frozenset[str]) -> Iterator[Word]:
    """The words in ``names`` that are called, ``name(`` or ``name<…>(``; not members, not ``int name(…)``."""
    for index, word in enumerate(words):
        if word.kind != "ident" or word.text not in names or index + 1 >= len(words):
            continue
        before = words[index - 1] if index else None
        if before and (
            before.text in (".", "->") or (before.kind == "ident" and before.text not in _BEFORE_CALLS)
        ):
            continue
        if words[index + 1].text in ("(", "<"):
            yield word


def assembly(words: Sequence[Word]) -> Iterator[tuple[Word, str]]:
    """Each ``asm`` statement with its template text (the strings joined, up to the first colon)."""
    for index, word in enumerate(words):
        if word.text not in ("asm", "__asm__", "__asm") or word.kind != "ident":
            continue
        parts: list[str] = []
        for following in words[index + 1 :]:
            if following.kind == "string":
                parts.append(string_value(following.text))
            elif following.text not in ("(", "volatile", "__volatile__", "goto"):
                break
        yield word, "".join(parts)


def string_value(literal: str) -> str:
    """The value of a C string literal; its raw text if it cannot be evaluated."""
    if 'R"' in literal[:4]:
        return literal.split("(", 1)[-1].rsplit(")", 1)[0]
    body = literal[literal.index('"') :]
    try:
        return str(ast.literal_eval(body))
    except (SyntaxError, ValueError):
        return body


def between(words: Sequence[Word], opening: int) -> int:
    """The index of the bracket that closes ``words[opening]``; the end if none does."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    open_, close, depth = words[opening].text, pairs[words[opening].text], 0
    for index in range(opening, len(words)):
        depth += (words[index].text == open_) - (words[index].text == close)
        if depth == 0:
            return index
    return len(words) - 1
