"""Device text -> text that the host compiler can build: shared and device variables become checked references.

Only declarations of ``__shared__``, ``__device__`` and ``__constant__`` variables are rewritten, each within its own
lines, so every place stays where it was. What the simulator has no meaning for is refused by name.

Invariant: code that would run unwatched (assembler, constructors, attributes, builtins, our own names) never passes.

Example::

    prepare("__shared__ float s[4];").text
    # typedef float simt_base1; typedef simt_base1 simt_type1 [4]; static simt::Declaration simt_slot1; …
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sanitizers.simulator.assembler import translate
from verifier.source.tokens import LineMap, Token, scan

_RESERVED = re.compile(r"alloca|simt(_\w*)?|SIMT_\w*|__tsan\w*|__ubsan\w*|_GLOBAL_\w*")
_ASM = {"asm", "__asm", "__asm__"}
_ATTRIBUTES = {"aligned", "__aligned__", "always_inline", "__always_inline__", "noinline", "__noinline__", "unused",
               "__unused__", "maybe_unused", "nodiscard", "fallthrough", "likely", "unlikely", "noreturn"}  # fmt: skip
_BUILTINS = re.compile(
    r"__builtin_(memcpy|memmove|memset|expect|assume|assume_aligned|unreachable|offsetof|align__|(inf|nan|huge_val|fma|fabs|sqrt|exp|log|floor|ceil"
    r"|fmin|fmax|copysign)[fl]?|popcount|clz|ctz|ffs|popcountll|clzll|ctzll|ffsll|bswap32|bswap64)"
)
_ARENA, _SLOT_BITS, _DYNAMIC_SLOT = 0x100000000000, 36, 47  # as in runtime/state.h
_SPACES = {"__shared__", "__device__", "__constant__"}
_SPECIFIERS = {"extern", "static", "inline", "__shared__", "__device__", "__constant__", "__host__"}


@dataclass(frozen=True, slots=True)
class Prepared:
    """``shared`` and ``device``: names of the rewritten variables. ``unsupported``: why it cannot be run, or None."""

    text: str
    unsupported: str | None = None
    shared: frozenset[str] = frozenset()
    device: frozenset[str] = frozenset()


class _Refused(Exception):
    def __init__(self, what: str, offset: int) -> None:
        self.what, self.offset = what, offset


@dataclass(frozen=True, slots=True)
class _Declarator:
    stars: str
    name: str
    dims: str
    initial: str


def prepare(text: str) -> Prepared:
    """Check and rewrite a device text."""
    tokens = scan(text)
    try:
        if (splice := re.search(r"\\\r?\n", text)) is not None:  # would join what is two tokens here
            raise _Refused("a line that ends in a backslash", splice.start())
        return _Rewriter(text, tokens).run()
    except _Refused as refused:
        return Prepared("", f"{refused.what} ({LineMap(text, tokens=tokens).span(refused.offset)})")


class _Rewriter:
    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = [t for t in tokens if t.kind not in ("comment", "directive")]
        self.directives = [t for t in tokens if t.kind == "directive"]
        self.assembler: dict[int, tuple[int, int, str]] = {}
        """By the index of ``asm``: what is replaced, and by what."""
        self.count = 0
        self.slots = 0
        self.dynamic: set[tuple[str, str]] = set()
        self.shared: set[str] = set()
        self.device: set[str] = set()

    def run(self) -> Prepared:
        edits = [(d.start, d.end, _directive(d)) for d in self.directives]
        file_scope = self._check()
        edits += self.assembler.values()
        start = 0
        for index, token in enumerate(self.tokens):
            if token.text in (";", "{", "}"):
                start = max(start, index + 1)
            elif token.text == "__managed__":
                raise _Refused("__managed__ memory", token.start)
            elif token.text in _SPACES and index >= start and not self._in_lambda(index):
                edit = self._statement(start, index, file_scope=file_scope[index])
                if edit is not None:
                    edits.append(edit)
                start = self._next_statement(index)
        out, position = [], 0
        for begin, end, new in sorted(edits):
            if begin >= position:  # else: a directive inside a rewritten declaration
                out += [self.text[position:begin], new]
                position = end
        out.append(self.text[position:])
        return Prepared(self._aliases() + "".join(out), None, frozenset(self.shared), frozenset(self.device))

    def _aliases(self) -> str:
        """PyTorch's namespaces, if the text speaks of them."""
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        used = {name.text for name, colons in pairs if colons.text == "::"} & {"at", "c10", "torch"}
        return "".join(f"namespace {name} = simt_{name};" for name in sorted(used)) + "\n"

    def _in_lambda(self, index: int) -> bool:
        return index > 0 and self.tokens[index - 1].text == "]"

    def _next_statement(self, index: int) -> int:
        """The first token after the declaration that token ``index`` belongs to."""
        for at in range(index, len(self.tokens)):
            if self.tokens[at].text in (";", "{"):
                return at + 1
        return len(self.tokens)

    def _check(self) -> list[bool]:
        """Refuse what must not pass; for each token, whether it stands at namespace scope."""
        scopes: list[bool] = []  # for each open brace: does it open a namespace?
        at_file: list[bool] = []
        tokens = self.tokens
        for index, token in enumerate(tokens):
            at_file.append(all(scopes))
            word = token.text
            if token.kind == "ident":
                self._check_word(index, token)
            elif word == "{":
                scopes.append(self._opens_namespace(index))
            elif word == "}" and scopes:
                scopes.pop()
            elif word == "<" and [t.text for t in tokens[index + 1 : index + 3]] == ["<", "<"]:
                raise _Refused("a launch from a kernel", token.start)
            elif word == "[" and index + 1 < len(tokens) and tokens[index + 1].text == "[":
                self._check_attribute(index + 2, "]")
        return at_file

    def _check_word(self, index: int, token: Token) -> None:
        word = token.text
        if _RESERVED.fullmatch(word):
            raise _Refused(f"the name {word} is the simulator's own", token.start)
        if word in _ASM:
            self._translate(index)
        if word.startswith("__builtin_") and not _BUILTINS.fullmatch(word):
            raise _Refused(word, token.start)
        if word in ("__attribute__", "__attribute"):
            self._check_attribute(index + 3, ")")
        if word in ("_Pragma", "__pragma", "__extension__", "__transaction_atomic"):
            raise _Refused(word, token.start)

    def _translate(self, index: int) -> None:
        """A statement of a few known instructions becomes calls; any other is refused."""
        start = self.tokens[index].start
        known = translate(self.tokens, index)
        if known is None:
            raise _Refused(f"inline assembler{self._mnemonic(index)}", start)
        end = self.tokens[known[0]].end
        self.assembler[index] = (start, end, known[1] + "\n" * self.text.count("\n", start, end))

    def _mnemonic(self, index: int) -> str:
        for token in self.tokens[index : index + 6]:
            if token.kind == "string":
                found = re.match(r'"\s*\{?\s*(?:\.reg[^;]*;)?\s*([\w.:]+)', token.text)
                return f" {found[1]}" if found else ""
        return ""

    def _check_attribute(self, index: int, close: str) -> None:
        depth = 0
        for token in self.tokens[index : index + 40]:
            if token.text == "(":
                depth += 1
            elif token.text == close and depth == 0:
                return
            elif token.text == ")":
                depth -= 1
            elif token.kind == "ident" and depth == 0 and token.text not in _ATTRIBUTES:
                raise _Refused(f"the attribute {token.text}", token.start)

    def _opens_namespace(self, brace: int) -> bool:
        for at in range(brace - 1, max(brace - 8, -1), -1):
            word = self.tokens[at].text
            if word == "namespace":
                return True
            if word == "extern":
                return True
            if word in (";", "{", "}", ")"):
                return False
        return False

    def _statement(self, start: int, space: int, *, file_scope: bool) -> tuple[int, int, str] | None:
        """The edit for the declaration around token ``space``, or None when it declares no variable to be rewritten."""
        end = start
        depth = 0
        while end < len(self.tokens):
            word = self.tokens[end].text
            if word in ("(", "[", "{"):
                depth += 1
            elif word in (")", "]", "}"):
                depth -= 1
                if word == "}" and depth == 0 and self._follows(end) not in (";", ","):
                    return None  # a function
            elif word == ";" and depth == 0:
                break
            end += 1
        body = _strip(self.tokens[start:end])
        words = {t.text for t in self.tokens[start:end] if t.kind == "ident"}
        shared = "__shared__" in words
        if any(w in words for w in ("template", "using", "typedef", "struct", "class")) and not shared:
            return None
        split = _declarators(body)
        if split is None:
            if shared:
                raise _Refused("this form of __shared__ declaration", self.tokens[space].start)
            return None
        base, items = split
        if not shared and ("constexpr" in words or "const" in words):
            return None  # a constant stays what it is
        first, last = self.tokens[start], self.tokens[min(end, len(self.tokens) - 1)]
        if not shared and ("extern" in words or not file_scope):
            raise _Refused(f"this declaration of a device variable: {items[0].name}", first.start)
        new = "".join(
            self._shared(base, item, "extern" in words, file_scope) if shared else self._device(base, item)
            for item in items
        )
        lines = self.text.count("\n", first.start, last.end)
        return first.start, last.end, new + "\n" * lines

    def _follows(self, index: int) -> str:
        return self.tokens[index + 1].text if index + 1 < len(self.tokens) else ""

    def _shared(self, base: str, item: _Declarator, dynamic: bool, file_scope: bool) -> str:
        self.count += 1
        n, name = self.count, item.name
        self.shared.add(name)
        head = f"typedef {base} simt_base{n}; typedef simt_base{n} {item.stars} simt_type{n} {item.dims};"
        if item.initial:
            raise _Refused(f"an initialiser of the shared variable {name}", 0)
        if file_scope and dynamic and (base, name) in self.dynamic:
            return ""  # declared twice
        if file_scope:
            self.dynamic.add((base, name))
            size = 0 if dynamic else f"sizeof(simt_type{n})"
            return f"{head} {self._placed(n, name, size, 'Dynamic' if dynamic else 'Shared', 'nullptr')}"
        if dynamic:
            return f'{head} simt_type{n}& {name} = simt::dynamic_shared_object<simt_type{n}>("{name}");'
        return (
            f"{head} static simt::Declaration simt_slot{n}; "
            f'simt_type{n}& {name} = simt::shared_object<simt_type{n}>(simt_slot{n}, "{name}");'
        )

    def _device(self, base: str, item: _Declarator) -> str:
        self.count += 1
        n, name = self.count, item.name
        self.device.add(name)
        if item.initial:
            head = f"static const {base} {item.stars} simt_initial{n} {item.dims} {item.initial}; "
            head += f"typedef simt::variable_t<decltype(simt_initial{n})> simt_type{n};"
            return f"{head} {self._placed(n, name, f'sizeof(simt_type{n})', 'Device', f'&simt_initial{n}')}"
        head = f"typedef {base} simt_base{n}; typedef simt_base{n} {item.stars} simt_type{n} {item.dims};"
        return f"{head} {self._placed(n, name, f'sizeof(simt_type{n})', 'Device', 'nullptr')}"

    def _placed(self, n: int, name: str, size: str | int, kind: str, initial: str) -> str:
        """A variable of namespace scope gets its address here, so that nothing has to run before the launch."""
        if kind != "Dynamic":
            self.slots += 1
        if self.slots >= _DYNAMIC_SLOT:
            raise _Refused(f"more than {_DYNAMIC_SLOT - 1} variables of namespace scope", 0)
        slot = _DYNAMIC_SLOT if kind == "Dynamic" else self.slots
        address = _ARENA + (slot << _SLOT_BITS) + (1 << (_SLOT_BITS - 1))
        return (
            f"SIMT_PLACED(simt_entry{n}) = {{{slot}, simt::Placed::{kind}, {size}, simt::element_of<simt_type{n}>(), "
            f'{initial}, "{name}"}}; static simt_type{n}& {name} = *reinterpret_cast<simt_type{n}*>({address:#x});'
        )


def _directive(token: Token) -> str:
    """Line markers stay; pragmas are hints to a compiler that is not this one."""
    body = token.text.lstrip("#").strip()
    if re.match(r"(line\s+)?\d", body):
        return token.text
    if re.match(r"pragma\b", body):
        return "\n" * token.text.count("\n")
    raise _Refused(f"the directive #{body.split()[0] if body else ''}", token.start)


def _strip(tokens: list[Token]) -> list[Token]:
    """Without storage and space specifiers and without alignment (every object is aligned to 256 bytes)."""
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        word = tokens[index].text
        if word in ("alignas", "__align__", "__attribute__", "__builtin_align__"):
            index = _closing(tokens, index + 1) + 1
        elif word == "[" and index + 1 < len(tokens) and tokens[index + 1].text == "[":
            index = _closing(tokens, index) + 1
        elif word in _SPECIFIERS:
            index += 1
        else:
            kept.append(tokens[index])
            index += 1
    return kept


def _closing(tokens: list[Token], index: int) -> int:
    """The index of the bracket that closes the one at ``index``."""
    depth = 0
    for at in range(index, len(tokens)):
        if tokens[at].text in ("(", "[", "{"):
            depth += 1
        elif tokens[at].text in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                return at
    return len(tokens) - 1


def _declarators(tokens: list[Token]) -> tuple[str, list[_Declarator]] | None:
    """``float a[4], *b`` -> ("float", …). None for a function, an operator or a form that is not understood."""
    angle = 0
    name_at = -1
    for at, token in enumerate(tokens):
        word = token.text
        if word == "<":
            angle += 1
        elif word == ">":
            angle -= 1
        elif angle == 0 and word in ("(", "operator"):
            return None
        elif angle == 0 and word in ("[", ",", "=", "{"):
            name_at = at - 1
            break
    else:
        name_at = len(tokens) - 1
    if name_at < 1 or tokens[name_at].kind != "ident":
        return None
    first = name_at
    while first > 0 and tokens[first - 1].text == "*":
        first -= 1
    base = _join(tokens[:first])
    if not base:
        return None
    items: list[_Declarator] = []
    at = first
    while at < len(tokens):
        stars = ""
        while at < len(tokens) and tokens[at].text == "*":
            stars += "*"
            at += 1
        if at >= len(tokens) or tokens[at].kind != "ident":
            return None
        name = tokens[at].text
        at += 1
        dims = ""
        while at < len(tokens) and tokens[at].text == "[":
            close = _closing(tokens, at)
            dims += _join(tokens[at : close + 1])
            at = close + 1
        initial: list[Token] = []
        while at < len(tokens) and tokens[at].text != ",":
            close = _closing(tokens, at) if tokens[at].text in ("(", "[", "{") else at
            initial += tokens[at : close + 1]
            at = close + 1
        items.append(_Declarator(stars, name, dims, _join(initial)))
        at += 1
    return base, items


def _join(tokens: list[Token]) -> str:
    return " ".join(t.text for t in tokens)
