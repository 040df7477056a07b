"""A submission as static rules see it: tokens with places in the user's files, functions with their bodies.

Three views: ``user`` (what was written, comments and directives too), ``device`` and ``host`` (after the
preprocessing, so that nothing hides in a macro). A place in a preprocessed view is moved to the same word on
the user's line, if it is there once.

Example::

    reading = Reading.of(submission, archs=("sm_80",))
    [t.span for t in reading.device if t.text == "clock64"]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specs.contract import Contract
from specs.location import Span
from verifier.ir.nodes import Module
from verifier.source.declarations import Declaration, Unit, Wrapper, parse
from verifier.source.device_text import SourceText, Submission
from verifier.source.errors import SourceError
from verifier.source.tokens import LineMap, directive_line, scan
from verifier.source.wrapper import Wrapper as Python

_NO_MODULE = Module(())


@dataclass(frozen=True, slots=True)
class Word:
    """A token with its place in the user's file."""

    kind: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Directive:
    """``#name rest`` as the user wrote it."""

    name: str
    rest: str
    span: Span


@dataclass(frozen=True, slots=True)
class Function:
    """A function definition of a preprocessed view: ``head`` up to the body's brace, ``body`` with both braces."""

    name: str
    head: tuple[Word, ...]
    body: tuple[Word, ...]
    span: Span
    kernel: bool
    device: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything a rule may look at.

    ``functions`` are those of the device view, ``host_functions`` all of the host view (device ones too);
    ``globals`` the namespace-level declarations of the host view that are no functions. ``wrapper``: the Python around the
    kernels, if there is any; ``reference``: the problem's own Python, "" if none was given.
    """

    submission: Submission
    user: tuple[Word, ...]
    directives: tuple[Directive, ...]
    device: tuple[Word, ...]
    host: tuple[Word, ...]
    functions: tuple[Function, ...]
    host_functions: tuple[Function, ...]
    globals: tuple[tuple[Declaration, tuple[Word, ...]], ...]
    archs: tuple[str, ...] = ()
    module: Module = _NO_MODULE
    contracts: tuple[Contract, ...] = ()
    wrapper: Python | None = None
    reference: str = ""

    @staticmethod
    def of(
        submission: Submission,
        archs: Sequence[str] = (),
        module: Module = _NO_MODULE,
        contracts: Sequence[Contract] = (),
        reference: str = "",
    ) -> Reading:
        """All views of ``submission``."""
        user, directives = _user(submission.texts)
        columns = _columns(user)
        device = _unit(submission.device.text, submission.path)
        host = _unit(submission.host, submission.path)
        device_words = _words(device, columns)
        host_words = _words(host, columns)
        every = list(_declarations(host.items))
        return Reading(
            submission=submission,
            user=user,
            directives=directives,
            device=device_words,
            host=host_words,
            functions=tuple(_functions(device, device_words)),
            host_functions=tuple(_functions(host, host_words)),
            globals=tuple((d, host_words[d.first : d.last + 1]) for d in every if d.kind != "function"),
            archs=tuple(archs),
            module=module,
            contracts=tuple(contracts),
            wrapper=Python.of(submission.python, submission.path) if submission.python else None,
            reference=reference,
        )


def _unit(text: str, path: str) -> Unit:
    try:
        return parse(text, path)
    except SourceError:  # host text of a .cpp beside the kernel; its brackets are not ours to judge
        tokens = tuple(t for t in scan(text) if t.kind not in ("directive", "comment"))
        return Unit(text, tokens, LineMap(text, path), ())


def _user(texts: Sequence[SourceText]) -> tuple[tuple[Word, ...], tuple[Directive, ...]]:
    words: list[Word] = []
    directives: list[Directive] = []
    for source in texts:
        places = LineMap(source.text, source.path, [])
        for token in scan(source.text):
            where = places.span(token.start)
            span = Span(source.path, source.line(where.line), where.column)
            words.append(Word(token.kind, token.text, span))
            if token.kind == "directive":
                directives.append(Directive(*directive_line(token.text), span))
    return tuple(words), tuple(directives)


def _columns(user: Sequence[Word]) -> dict[tuple[str, int, str], int]:
    """(path, line, word) -> column of every word that stands once on its line; 0 if it stands there more often."""
    columns: dict[tuple[str, int, str], int] = {}
    for word in user:
        key = (word.span.path, word.span.line, word.text)
        columns[key] = 0 if key in columns else word.span.column
    return columns


def _words(unit: Unit, columns: dict[tuple[str, int, str], int]) -> tuple[Word, ...]:
    words = []
    for token in unit.tokens:
        span = unit.places.span(token.start)
        column = columns.get((span.path, span.line, token.text), 0) or span.column
        words.append(Word(token.kind, token.text, Span(span.path, span.line, column)))
    return tuple(words)


def _declarations(items: Sequence[Declaration | Wrapper]) -> Iterator[Declaration]:
    for item in items:
        if isinstance(item, Wrapper):
            yield from _declarations(item.items)
        else:
            yield item


def _functions(unit: Unit, words: Sequence[Word]) -> Iterator[Function]:
    """Function definitions at namespace level and, as one function each, the types with ``__device__`` members."""
    for declaration in _declarations(unit.items):
        body = declaration.last
        members = declaration.kind == "type" and "__device__" in declaration.uses
        if (
            not declaration.defines
            or not declaration.names
            or not (declaration.kind == "function" or members)
        ):
            continue
        depth = 0
        for index in range(declaration.last, declaration.first - 1, -1):
            depth += {"}": 1, "{": -1}.get(words[index].text, 0)
            if depth == 0 and words[index].text == "{":
                body = index
                break
        yield Function(
            declaration.names[0][0],
            tuple(words[declaration.first : body]),
            tuple(words[body : declaration.last + 1]),
            declaration.names[0][1],
            "__global__" in declaration.specifiers,
            declaration.device or members,
        )
