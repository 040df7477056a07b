"""Preprocessed text -> its declarations at namespace level, each with what it introduces and uses.

Invariant: the declarations and the wrappers' heads and tails cover all tokens of the text, in order;
unbalanced text is a SourceError. Nothing is understood of C++ beyond brackets, heads and names: what a
name means is libclang's business.

Example::

    [d] = parse('# 1 "a.cu"\\n__global__ void k(int n) { }\\n').items
    d.kind, d.names, d.device        # 'function', ('k',), True
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from specs.location import Span
from verifier.source.errors import SourceError
from verifier.source.tokens import LineMap, Token, scan

Kind = Literal["function", "type", "variable", "alias", "using", "template", "assembly", "other", "empty"]

_EXPECTED = re.compile(r'#(pragma\b| \d+ "|ident\b)')
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLASS = frozenset(("class", "struct", "union", "enum"))
_SPACES = frozenset(("__global__", "__device__", "__constant__", "__shared__", "__managed__"))
_OPERATOR_PARTS = frozenset("+ - * / % & | ^ < > ! = << >>".split())
_ATTRIBUTES = frozenset(
    (
        *(
            "__launch_bounds__",
            "__attribute__",
            "__align__",
            "alignas",
            "decltype",
            "noexcept",
            "explicit",
            "requires",
        ),
        *(
            "__declspec",
            "__maxnreg__",
            "__cluster_dims__",
            "__block_size__",
            "throw",
            "typeof",
            "__typeof__",
            "sizeof",
        ),
    )
)
_HEAD = frozenset(
    (
        *("static", "const", "constexpr", "inline", "extern", "volatile", "thread_local", "friend"),
        *("__device__", "__constant__", "__host__", "__managed__", "__shared__"),
    )
)
MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Declaration:
    """``first``/``last``: its tokens, inclusive. ``names``: what it introduces. ``uses``: every identifier in it."""

    kind: Kind
    first: int
    last: int
    names: tuple[tuple[str, Span], ...]
    uses: frozenset[str]
    specifiers: frozenset[str]
    """Identifiers of the head outside of all brackets: ``__global__``, ``static``, ``const``, ``constexpr`` …"""
    defines: bool
    """A body or initialiser is there."""
    span: Span

    @property
    def device(self) -> bool:
        """Marked for the device itself (not merely by something inside of it)."""
        return bool(self.specifiers & _SPACES)


@dataclass(frozen=True, slots=True)
class Wrapper:
    """``namespace a { … }`` or ``extern "C" { … }``. ``first`` … ``brace`` is the head; ``last`` the closing brace."""

    first: int
    brace: int
    last: int
    names: tuple[str, ...]
    items: tuple[Declaration | Wrapper, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A whole text. ``tokens`` has no line markers; ``pragmas`` at namespace level are dropped."""

    text: str
    tokens: tuple[Token, ...]
    places: LineMap
    items: tuple[Declaration | Wrapper, ...]


def parse(text: str, path: str = "") -> Unit:
    """Split ``text``. Raises SourceError if brackets do not match."""
    everything = scan(text)
    places = LineMap(text, path, everything)
    tokens = tuple(t for t in everything if t.kind not in ("directive", "comment"))
    _refuse_oddities(everything, places)
    return Unit(text, tokens, places, _Splitter(tokens, places).items(0, len(tokens)))


_DIGRAPHS = frozenset((("<", "%"), ("%", ">"), ("<", ":"), (":", ">")))


def _refuse_oddities(tokens: list[Token], places: LineMap) -> None:
    """Directives that a macro made, and digraphs, would be read differently here and by a compiler."""
    for index, token in enumerate(tokens):
        if token.kind == "directive" and not _EXPECTED.match(token.text):
            raise SourceError(
                "a macro makes a preprocessing directive", places.span(token.start), "write it out"
            )
        if token.kind == "punct" and index + 1 < len(tokens) and tokens[index + 1].start == token.end:
            if (token.text, tokens[index + 1].text) in _DIGRAPHS:
                raise SourceError("digraphs are not read", places.span(token.start), "write { } [ ]")


@dataclass(slots=True)
class _Splitter:
    tokens: tuple[Token, ...]
    places: LineMap
    partner: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.partner = {}
        stack: list[int] = []
        for index, token in enumerate(self.tokens):
            if token.kind != "punct":
                continue
            if token.text in _OPEN:
                stack.append(index)
                if len(stack) > MAX_DEPTH:
                    raise SourceError(
                        "brackets are nested too deeply", self.places.span(token.start), "simplify it"
                    )
            elif token.text in (")", "]", "}"):
                if not stack or _OPEN[self.tokens[stack[-1]].text] != token.text:
                    raise SourceError(
                        f"'{token.text}' closes nothing", self.places.span(token.start), "check brackets"
                    )
                self.partner[stack.pop()] = index
        if stack:
            token = self.tokens[stack[-1]]
            raise SourceError(
                f"'{token.text}' is never closed", self.places.span(token.start), "check brackets"
            )

    def items(self, start: int, end: int) -> tuple[Declaration | Wrapper, ...]:
        found: list[Declaration | Wrapper] = []
        position = start
        while position < end:
            brace = self._wrapper_brace(position, end)
            if brace is not None:
                last = self.partner[brace]
                names = tuple(t.text for t in self.tokens[position:brace] if t.kind == "ident")
                names = tuple(n for n in names if n not in ("namespace", "inline", "extern"))
                found.append(Wrapper(position, brace, last, names, self.items(brace + 1, last)))
                position = last + 1
            else:
                declaration = self._declaration(position, end)
                if declaration.kind != "empty":
                    found.append(declaration)
                position = declaration.last + 1
        return tuple(found)

    def _text(self, index: int) -> str:
        return self.tokens[index].text if index < len(self.tokens) else ""

    def _wrapper_brace(self, start: int, end: int) -> int | None:
        """The ``{`` of a namespace or linkage block that starts here."""
        head = start + (self._text(start) == "inline")
        if self._text(head) == "extern" and head + 2 < end and self.tokens[head + 1].kind == "string":
            return head + 2 if self._text(head + 2) == "{" else None
        if self._text(head) != "namespace":
            return None
        position = head + 1
        while position < end and (
            self.tokens[position].kind == "ident" or self._text(position) in ("::", "[", "(")
        ):
            position = self.partner.get(position, position) + 1
        return position if self._text(position) == "{" else None

    def _names_operator(self, position: int) -> bool:
        """Whether the token is part of a name like ``operator+=``."""
        position -= 1
        while position >= 0 and self._text(position) in _OPERATOR_PARTS:
            position -= 1
        return self._text(position) == "operator"

    def _declaration(self, start: int, end: int) -> Declaration:
        position = self._after_template_head(start, end)
        head = position
        assigned = parenthesis = False
        class_like = self._text(position) == "typedef" or self._begins_type(position, end)
        constructor = False
        while position < end:
            text = self._text(position)
            if text == ";":
                return self._made(start, head, position, assigned, parenthesis, class_like)
            if text == "=" and not self._names_operator(position):
                assigned = True
            elif text == "(" and not assigned and self._text(position - 1) not in _ATTRIBUTES:
                parenthesis = True
            elif text == ":" and parenthesis and not assigned and not class_like:
                constructor = True
            elif text == "{":
                close = self.partner[position]
                member = constructor and (
                    self.tokens[position - 1].kind == "ident" or self._text(position - 1) == ">"
                )
                ends = not (assigned or class_like or member) and self._text(close + 1) not in (",", ";")
                if ends or (parenthesis and not assigned and not class_like and not member):
                    return self._made(start, head, close, assigned, parenthesis, class_like)
                position = close
            position = self.partner.get(position, position) + 1
        return self._made(start, head, end - 1, assigned, parenthesis, class_like)

    def _begins_type(self, position: int, end: int) -> bool:
        """Whether specifiers and then ``struct X {`` or ``struct X;`` stand here (not ``struct X f(…)``)."""
        while position < end and self._text(position) not in _CLASS:
            after = self._skip_attributes(position)
            if after == position and self._text(position) not in _HEAD:
                return False
            position = after if after != position else position + 1
        position = self._skip_attributes(position + 1)
        while position < end and self._text(position) not in ("{", ";", "=", "("):
            position = max(self._skip_attributes(position), position + 1)
        return self._text(position) in ("{", ";")

    def _skip_attributes(self, position: int) -> int:
        """Past ``__align__(16)``, ``[[…]]`` and the like."""
        while True:
            if self._text(position) in _ATTRIBUTES and self._text(position + 1) == "(":
                position = self.partner[position + 1] + 1
            elif self._text(position) == "[" and self._text(position + 1) == "[":
                position = self.partner[position] + 1
            else:
                return position

    def _after_template_head(self, start: int, end: int) -> int:
        """Past ``template <…>``, as often as it stands there."""
        position = start
        while self._text(position) == "template" and self._text(position + 1) == "<":
            depth, position = 0, position + 1
            while position < end:
                text = self._text(position)
                if text in ("<", ">"):
                    depth += 1 if text == "<" else -1
                    if depth == 0:
                        break
                elif text in (";", "{"):
                    return start + 1
                position = self.partner.get(position, position) + 1
            position += 1
        return position

    def _made(
        self, start: int, head: int, last: int, assigned: bool, parenthesis: bool, class_like: bool
    ) -> Declaration:
        tokens = self.tokens[start : last + 1]
        uses = frozenset(t.text for t in tokens if t.kind == "ident")
        depth0 = self._depth0(head, last)
        specifiers = frozenset(self.tokens[i].text for i in depth0 if self.tokens[i].kind == "ident")
        kind = self._kind(head, last, depth0, assigned, parenthesis, class_like)
        names = tuple((self.tokens[i].text, self._span(i)) for i in self._names(kind, head, last, depth0))
        if kind == "function":
            operator = [i for i in depth0 if self._text(i) == "operator"]
            if operator:
                names = (("operator", self._span(operator[0])),)
        defines = self._text(last) == "}" or any(self._text(i) in ("{", "=") for i in depth0)
        return Declaration(kind, start, last, names, uses, specifiers, defines, self._span(head))

    def _span(self, index: int) -> Span:
        return self.places.span(self.tokens[min(index, len(self.tokens) - 1)].start)

    def _depth0(self, start: int, last: int) -> list[int]:
        """The indices of tokens outside of brackets, opening brackets among them, up to an initialiser or body."""
        found = []
        position = start
        while position <= last:
            found.append(position)
            position = self.partner.get(position, position) + 1
        return found

    def _kind(
        self, head: int, last: int, depth0: list[int], assigned: bool, parenthesis: bool, class_like: bool
    ) -> Kind:
        first = self._text(head)
        if first == ";":
            return "empty"
        if first == "template":
            return "template"  # explicit instantiation
        if first in ("asm", "__asm__", "__asm"):
            return "assembly"
        if first in ("using", "namespace"):
            return "using" if self._text(head + 1) == "namespace" else "alias"
        if first == "typedef":
            return "alias"
        if first in ("static_assert", "_Static_assert"):
            return "other"
        if class_like:
            return "type"
        return "function" if parenthesis and not self._is_variable(depth0) else "variable"

    def _is_variable(self, depth0: list[int]) -> bool:
        """Whether a head with parentheses is a variable: ``int a(3)``, ``float f = g(x)``, ``int (*p)(int)``."""
        for i in depth0:
            text, before = self._text(i), self._text(i - 1)
            if text == "=" and not self._names_operator(i):
                return True
            if text == "(" and before not in _ATTRIBUTES:
                inside = self._text(i + 1)
                if inside == "*" or self.tokens[i + 1].kind in ("number", "string", "char"):
                    return "operator" not in (self._text(j) for j in depth0)
                return False
        return False

    def _names(self, kind: Kind, head: int, last: int, depth0: list[int]) -> list[int]:
        """Indices of the names that a declaration introduces."""
        match kind:
            case "function":
                found = []
                for i in depth0:
                    if self._text(i) in (":", "->", "{", "="):
                        break
                    if self._text(i) == "(" and self._text(i - 1) not in _ATTRIBUTES:
                        found = [self._before_template_arguments(i - 1)]
                return found
            case "type":
                return self._type_names(head, last, depth0)
            case "alias":
                if self._text(head) in ("using", "namespace"):
                    assigned = self._text(head + 2) == "="
                    return [head + 1 if assigned else last - 1]
                pointer = [i + 2 for i in depth0 if self._text(i) == "(" and self._text(i + 1) == "*"]
                return pointer or [i for i in depth0 if self._declares(i)] + self._type_names(
                    head, last, depth0
                )
            case "variable":
                names, skipping = [], False
                for i in depth0:
                    if not skipping and self._declares(i):
                        names.append(i)
                    text = self._text(i)
                    if text == "(" and self._text(i + 1) == "*" and not skipping:
                        names.append(i + 2)
                    skipping = text == "=" or (skipping and text != ",")
                return names
            case "using" | "template" | "assembly" | "other" | "empty":
                return []

    def _declares(self, index: int) -> bool:
        follows = self._text(index + 1)
        return (
            self.tokens[index].kind == "ident"
            and follows in ("=", ";", ",", "[", "{", "(")
            and self._text(index) not in _ATTRIBUTES
            and self._text(index) not in _CLASS
        )

    def _before_template_arguments(self, index: int) -> int:
        """``f`` of ``f<int, 3>`` in an explicit specialisation."""
        if self._text(index) != ">":
            return index
        depth = 0
        while index > 0:
            depth += {">": 1, "<": -1}.get(self._text(index), 0)
            index -= 1
            if depth == 0:
                break
        return index

    def _type_names(self, head: int, last: int, depth0: list[int]) -> list[int]:
        keywords = [i for i in depth0 if self._text(i) in _CLASS]
        if not keywords:
            return []
        names: list[int] = []
        at = keywords[0] + 1 + (self._text(keywords[0] + 1) in ("class", "struct"))
        at = self._skip_attributes(at)
        while self.tokens[at].kind == "ident" and self._text(at + 1) == "::":
            at += 2
        if self.tokens[at].kind == "ident":
            names.append(at)
        brace = next((i for i in depth0 if self._text(i) == "{"), None)
        if brace is not None and self._text(keywords[0]) in ("enum", "union"):
            names += [i for i in range(brace + 1, self.partner[brace]) if self.tokens[i].kind == "ident"]
        after = [i for i in depth0 if brace is not None and i > brace]
        return names + [i for i in after if self._declares(i)]
