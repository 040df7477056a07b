"""Lanes of a warp that share memory are synchronised."""

from __future__ import annotations

from collections.abc import Iterator

from specs.results import Severity
from verifier.source.reading import Function, Reading, Word
from verifier.static_rules.hit import Hit

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
    texts = [w.text for w in statement]
    if "=" not in texts:
        return ""
    left, right = texts[: texts.index("=")], texts[texts.index("=") + 1 :]
    for position, text in enumerate(left[:-1]):
        if left[position + 1] == "[" and statement[position].kind == "ident":
            starts = [i for i, t in enumerate(right[:-1]) if t == text and right[i + 1] == "["]
            index_of = left[position + 2 : -1]
            shifted = any("+" in right[i : i + 2 + len(index_of) + 4] for i in starts)
            return text if shifted else ""
    return ""
