"""Lanes of a warp that share memory are synchronised."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Function, Reading, Word
from verifier.static_rules.hit import Hit, between

ID = "warp-synchronous"
SEVERITY = Severity.WARNING
SUMMARY = "lanes of a warp that share memory are synchronised"
WHY = "Since sm_70 the lanes of a warp run independently; volatile does not order them."
FIX = "put __syncwarp() between the write and the read, or use __shfl_down_sync"


def check(reading: Reading) -> Iterator[Hit]:
    for function in reading.functions:
        for word in _unsynchronised(function):
            yield Hit(
                word.span, f"{word.text} is read and written by neighbouring lanes without __syncwarp()"
            )


def _unsynchronised(function: Function) -> Iterator[Word]:
    """The second of two statements ``a[i] op= a[i + c];`` on one array with nothing between them."""
    body = function.body
    previous, start = "", 0
    for index, word in enumerate(body):
        if word.text not in (";", "{", "}"):
            continue
        statement = body[start:index]
        start = index + 1
        array = _folds(statement)
        if array and array == previous:
            yield next(w for w in statement if w.text == array)
            array = ""
        if word.text == ";" and (array or statement):
            previous = array


def _folds(statement: tuple[Word, ...]) -> str:
    """The array of a statement that adds a shifted element of it to an element: ``a[i] += a[i + 16]``."""
    if len(statement) > 1 and statement[0].text == "if" and statement[1].text == "(":
        statement = statement[between(statement, 1) + 1 :]
    texts = [w.text for w in statement]
    if "=" not in texts or texts[1:2] != ["["] or statement[0].kind != "ident":
        return ""
    assigned = texts.index("=")
    closing = between(statement, 1)
    index, right = texts[2:closing], texts[assigned + 1 :]
    shifted = [texts[0], "[", *index, "+"]
    found = any(right[i : i + len(shifted)] == shifted for i in range(len(right)))
    return texts[0] if found and closing < assigned else ""
