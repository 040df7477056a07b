"""The CUDA and C++ source strings of a Python file that calls ``load_inline``, read with ``ast`` alone.

Invariant: the file is never executed. A source is read only if it is certain: constants, names that are bound once to
such, concatenations, lists, f-strings of constants. Anything else is a problem line. Each line of a source knows its
line in the Python file.

Example::

    builds, problems = read_builds('src = "…"\\nm = load_inline(name="m", cpp_sources="", cuda_sources=src)', "op.py")
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from specs.location import Span
from verifier.source import macros
from verifier.source.build_flags import Flags, read_flags
from verifier.source.device_text import SourceText
from verifier.source.errors import SourceError
from verifier.source.python_builds import changed_elsewhere, unread_builds, unread_texts

Lines = list[tuple[str, int]]
"""The lines of a string value, each with its line in the Python file."""
_POSITIONAL = ("name", "cpp_sources", "cuda_sources", "functions", "extra_cflags", "extra_cuda_cflags")
MAX_PYTHON = 256 << 10
"""Python's own parser needs seconds for hostile text of this size."""
_HARMLESS_VARIABLES = frozenset(
    ("TORCH_CUDA_ARCH_LIST", "CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "MAX_JOBS",
     "TORCH_EXTENSIONS_DIR", "TORCH_USE_CUDA_DSA", "PYTORCH_CUDA_ALLOC_CONF", "TOKENIZERS_PARALLELISM",
     "OMP_NUM_THREADS", "PYTHONHASHSEED")
)  # fmt: skip
"""Environment variables that do not change what a text is compiled to (NVCC_APPEND_FLAGS or CPATH do)."""


@dataclass(frozen=True, slots=True)
class Named:
    """A source string and the name it has in the Python file."""

    name: str
    source: SourceText


@dataclass(frozen=True, slots=True)
class Build:
    """One ``load_inline`` call (``inline``) or one plain file: what is compiled together.

    ``defines`` and ``flags`` are those of the CUDA sources, ``host_defines`` those of the C++ sources. ``folders``: includes are
    looked for in folders that the call names.
    """

    cuda: tuple[Named, ...] = ()
    cpp: tuple[Named, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    inline: bool = False
    host_defines: Mapping[str, str] = field(default_factory=dict)
    folders: bool = False


class _Unclear(Exception):
    """An expression whose value is not certain."""

    def __init__(self, node: ast.AST, why: str) -> None:
        self.line, self.why = getattr(node, "lineno", 0), why
        super().__init__(why)


def joined(sources: Sequence[SourceText]) -> SourceText:
    """Several sources as the one file that PyTorch makes of them."""
    if len(sources) == 1:
        return sources[0]
    lines = [s.line(n) for s in sources for n in range(1, s.text.count("\n") + 2)]
    return SourceText(sources[0].path, "\n".join(s.text for s in sources), tuple(lines))


def read_builds(text: str, path: str) -> tuple[tuple[Build, ...], tuple[str, ...]]:
    """Every ``load_inline`` call of the file, in order, and what could not be read. Raises SourceError."""
    if len(text) > MAX_PYTHON:
        raise SourceError(f"is larger than {MAX_PYTHON >> 10} KiB", Span(path, 0), "split the file")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise SourceError(
            f"is not Python: {error.msg}", Span(path, error.lineno or 0), "fix the line"
        ) from None
    except (ValueError, RecursionError, MemoryError):
        raise SourceError("is nested too deeply", Span(path, 0), "simplify the file") from None
    builds: list[Build] = []
    problems: list[str] = []
    for line in _environment_changes(tree):
        problems.append(f"{Span(path, line)}: the environment is changed, on which the build may depend")
    names = _aliases(tree)
    problems += (f"{Span(path, line)}: {what}" for line, what in unread_builds(tree, names))
    for call, scopes in _calls(tree, names):
        try:
            builds.append(_build(call, _Constants(text, path, scopes)))
        except _Unclear as unclear:
            problems.append(f"{Span(path, unclear.line)}: {unclear.why}")
        except RecursionError:
            problems.append(f"{Span(path, call.lineno)}: the source expression is nested too deeply")
    if not builds and not problems and "__global__" in text:
        problems.append(f"{path}: holds CUDA code that no load_inline call with literal sources compiles")
    if builds:
        read = [s.source.text for b in builds for s in (*b.cuda, *b.cpp)]
        problems += (f"{Span(path, line)}: {what}" for line, what in unread_texts(tree, read))
    return tuple(builds), tuple(problems)


def _environment_changes(tree: ast.Module) -> list[int]:
    """Lines that use ``os.environ`` or ``putenv`` otherwise than to read, or to set a harmless variable by name."""

    def environment(node: ast.AST) -> bool:
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        return name in ("environ", "environb", "putenv", "unsetenv")

    def harmless(key: ast.AST) -> bool:
        return isinstance(key, ast.Constant) and key.value in _HARMLESS_VARIABLES

    fine: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=owner, slice=key, ctx=ctx):
                if isinstance(ctx, ast.Load) or harmless(key):
                    fine.add(owner)
            case ast.Call(func=ast.Attribute(value=owner, attr=attr), args=[key, *_]):
                if attr == "get" or (attr == "setdefault" and harmless(key)):
                    fine.add(owner)
            case ast.Compare(comparators=[owner]):
                fine.add(owner)
    return [getattr(n, "lineno", 0) for n in ast.walk(tree) if environment(n) and n not in fine]


def _aliases(tree: ast.Module) -> set[str]:
    names = {"load_inline"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names.update(a.asname for a in node.names if a.name == "load_inline" and a.asname)
    return names


_Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def _calls(tree: ast.Module, names: set[str]) -> Iterator[tuple[ast.Call, tuple[_Scope, ...]]]:
    """Each call with the scopes around it, innermost last, in the order of the text."""
    stack: list[tuple[ast.AST, tuple[_Scope, ...]]] = [(tree, ())]
    while stack:
        node, scopes = stack.pop()
        if isinstance(node, ast.Call):
            called = node.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if name in names:
                yield node, scopes
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            scopes = (*scopes, node)
        stack += [(child, scopes) for child in reversed(list(ast.iter_child_nodes(node)))]


def _build(call: ast.Call, constants: _Constants) -> Build:
    given: dict[str, ast.expr] = {}
    for name, value in zip(_POSITIONAL, call.args, strict=False):
        given[name] = value
    for keyword in call.keywords:
        if keyword.arg is None:
            raise _Unclear(call, "load_inline(**…) is not read; write the arguments out")
        given[keyword.arg] = keyword.value
    if any(isinstance(a, ast.Starred) for a in call.args):
        raise _Unclear(call, "load_inline(*…) is not read; write the arguments out")
    flags = {
        option: read_flags("\n".join(t for t, _ in lines) for _, lines in constants.strings(given[option]))
        if option in given
        else Flags()
        for option in ("extra_cflags", "extra_cuda_cflags")
    }
    for option, found in flags.items():
        if found.unknown:
            raise _Unclear(given[option], f"the compiler flag {found.unknown[0]} is not known; leave it out")
    return Build(
        constants.sources(given.get("cuda_sources")),
        constants.sources(given.get("cpp_sources")),
        {**macros.PYTORCH_DEFINES, **flags["extra_cuda_cflags"].defines},
        tuple(dict.fromkeys(f for found in flags.values() for f in found.recorded)),
        inline=True,
        host_defines=flags["extra_cflags"].defines,
        folders="extra_include_paths" in given,
    )


@dataclass(slots=True)
class _Constants:
    """Evaluates string expressions as seen from inside ``scopes``."""

    text: str
    path: str
    scopes: tuple[_Scope, ...]
    depth: int = 0

    def sources(self, node: ast.expr | None) -> tuple[Named, ...]:
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return ()
        return tuple(
            Named(name, SourceText(self.path, "\n".join(t for t, _ in lines), tuple(n for _, n in lines)))
            for name, lines in self.strings(node)
        )

    def strings(self, node: ast.expr) -> list[tuple[str, Lines]]:
        """A string, or a list of strings, each with a name."""
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [pair for item in items for pair in self.strings(item)]
            case ast.BinOp(left=left, op=ast.Add(), right=right) if self._is_list(left):
                return self.strings(left) + self.strings(right)
            case ast.Name(id=name):
                bound, scopes = self._lookup(node)
                if isinstance(bound, ast.List) and changed_elsewhere(scopes[0], name):
                    raise _Unclear(node, f"the list {name} is used elsewhere too, where it may be changed")
                found = _Constants(self.text, self.path, scopes, self.depth + 1).strings(bound)
                return [(name, lines) for _, lines in found]
            case ast.Constant(value=None):
                return []
            case _:
                return [("literal", self.lines(node))]

    def _is_list(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return isinstance(self._lookup(node)[0], ast.List | ast.Tuple)
        return isinstance(node, ast.List | ast.Tuple) or (
            isinstance(node, ast.BinOp) and self._is_list(node.left)
        )

    def lines(self, node: ast.expr) -> Lines:
        """The value of a string expression. Raises _Unclear."""
        match node:
            case ast.Constant(value=str(value)):
                return self._literal(node, value)
            case ast.JoinedStr():
                return self._formatted(node)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _concatenated([self.lines(left), self.lines(right)])
            case ast.Name():
                bound, scopes = self._lookup(node)
                return _Constants(self.text, self.path, scopes, self.depth + 1).lines(bound)
            case _:
                raise _Unclear(
                    node, "this source is not a constant string; write it as a literal or its concatenation"
                )

    def _literal(self, node: ast.expr, value: str) -> Lines:
        segment = ast.get_source_segment(self.text, node) or ""
        pieces: list[Lines] = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(f"(\n{segment}\n)").readline):
                if token.type == tokenize.STRING:
                    pieces.append(_decoded(token.string, node.lineno + token.start[0] - 2))
        except (tokenize.TokenError, SyntaxError, ValueError):
            pieces = []
        lines = _concatenated(pieces)
        if "\n".join(t for t, _ in lines) != value:
            raise _Unclear(node, "this string literal cannot be mapped to lines")
        return lines

    def _formatted(self, node: ast.JoinedStr) -> Lines:
        value = "".join(self._piece(part) for part in node.values)
        parts = value.split("\n")
        straight = len(parts) == (node.end_lineno or node.lineno) - node.lineno + 1
        return [(part, node.lineno + (number if straight else 0)) for number, part in enumerate(parts)]

    def _piece(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                value = self._scalar(inner)
                return value if isinstance(value, str) else str(value)
            case _:
                raise _Unclear(node, "this f-string has a part that is not a plain constant")

    def _scalar(self, node: ast.expr) -> str | int | float:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() as value):
                return value
            case ast.Name():
                bound, scopes = self._lookup(node)
                return _Constants(self.text, self.path, scopes, self.depth + 1)._scalar(bound)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self._scalar(operand)
                if isinstance(value, int | float):
                    return -value
            case ast.BinOp(
                left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() as op, right=right
            ):
                a, b = self._scalar(left), self._scalar(right)
                if isinstance(a, int) and isinstance(b, int) and abs(a) < 1 << 64 and abs(b) < 1 << 64:
                    return _arithmetic(node, op, a, b)
            case ast.BinOp() | ast.JoinedStr():
                return "\n".join(t for t, _ in self.lines(node))
        raise _Unclear(node, "this f-string has a part that is not a plain constant")

    def _lookup(self, name: ast.Name) -> tuple[ast.expr, tuple[_Scope, ...]]:
        """The one expression that ``name`` is bound to, and the scopes to read it in."""
        if self.depth > 50:
            raise _Unclear(name, f"{name.id} is defined by itself")
        for number in range(len(self.scopes) - 1, -1, -1):
            scope = self.scopes[number]
            if isinstance(scope, ast.ClassDef) and number != len(self.scopes) - 1:
                continue
            bindings = list(_bindings(scope, name.id))
            if not bindings:
                continue
            last = number == len(self.scopes) - 1
            before = [
                b for b in bindings if last and b is not None and _ends(b) <= (name.lineno, name.col_offset)
            ]
            straight = all(b is not None and b in _body(scope) for b in bindings)
            chosen = before[-1] if straight and before else bindings[0] if len(bindings) == 1 else None
            if not isinstance(chosen, ast.Assign | ast.AnnAssign) or chosen.value is None:
                raise _Unclear(name, f"{name.id} is not bound to one constant string")
            if number == 0 and _set_from_outside(self.scopes[0], name.id):
                raise _Unclear(name, f"{name.id} may be set as an attribute of the module")
            return chosen.value, self.scopes[: number + 1]
        raise _Unclear(name, f"{name.id} is not defined in this file")


def _ends(node: ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def _set_from_outside(tree: _Scope, name: str) -> bool:
    """Whether something may be a store to a variable of the module as its attribute (``sys.modules[…].N = 9``)."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=owner, attr=attr, ctx=ast.Store()) if attr == name:
                if not (isinstance(owner, ast.Name) and owner.id in ("self", "cls", "ctx")):
                    return True
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=value), _]) if (
                value == name
            ):
                if not (isinstance(owner, ast.Name) and owner.id in ("self", "cls", "ctx")):
                    return True
    return False


def _arithmetic(node: ast.expr, op: ast.operator, a: int, b: int) -> int:
    match op:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        case _:
            if b == 0:
                raise _Unclear(node, "this f-string divides by zero")
            return a // b


def _body(scope: _Scope) -> Sequence[ast.stmt]:
    return () if isinstance(scope, ast.Lambda) else scope.body


def _bindings(scope: _Scope, name: str) -> Iterator[ast.Assign | ast.AnnAssign | None]:
    """Each binding of ``name`` in ``scope`` itself: its plain assignment, or None for any other kind."""
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        arguments = scope.args
        every = [
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ]
        if any(a is not None and a.arg == name for a in every):
            yield None
    stack: list[ast.AST] = list(reversed(_body(scope)))
    while stack:
        node = stack.pop()
        match node:
            case ast.Assign(targets=[ast.Name(id=bound)]) | ast.AnnAssign(target=ast.Name(id=bound)) if (
                bound == name
            ):
                yield node
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if node.name == name or any(
                    isinstance(n, ast.Global | ast.Nonlocal) and name in n.names for n in ast.walk(node)
                ):
                    yield None
                continue
            case ast.Lambda():
                continue
            case ast.Name(id=bound, ctx=ast.Store() | ast.Del()) if bound == name:
                yield None
            case ast.alias() if (node.asname or node.name.split(".")[0]) == name:
                yield None
            case (
                ast.MatchAs(name=bound)
                | ast.MatchStar(name=bound)
                | ast.MatchMapping(rest=bound)
                | ast.ExceptHandler(name=bound)
            ) if bound == name:
                yield None
        stack += reversed(list(ast.iter_child_nodes(node)))


def _concatenated(pieces: Sequence[Lines]) -> Lines:
    """The lines of several strings, one after the other; a line that is put together has its first part's number."""
    parts: list[list[str]] = [[]]
    numbers = [0]
    for piece in pieces:
        for index, (text, number) in enumerate(piece):
            if index:
                parts.append([])
                numbers.append(number)
            elif not any(parts[-1]):
                numbers[-1] = number
            parts[-1].append(text)
    return [("".join(part), number) for part, number in zip(parts, numbers, strict=True)]


_PIECE = re.compile(
    r"(?P<splice>\\\n)|(?P<newline>\n)|(?P<escape>\\(?:N\{[^}]*\}|U[0-9a-fA-F]{8}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}"
    r"|[0-7]{1,3}|.))|(?P<plain>[^\\\n]+)|(?P<other>\\)"
)
_RAW_PIECE = re.compile(r"(?P<newline>\n)|(?P<plain>[^\n]+)")


def _decoded(token: str, line: int) -> Lines:
    """The value of one string token that begins on ``line``, line by line. Raises ValueError."""
    quote = re.match(r"([A-Za-z]*)(\'\'\'|\"\"\"|'|\")", token)
    if quote is None or set(quote[1].lower()) - set("ru"):
        raise ValueError("not a plain string literal")
    raw = "r" in quote[1].lower()
    result: Lines = [("", line)]
    for piece in (_RAW_PIECE if raw else _PIECE).finditer(token[quote.end() : -len(quote[2])]):
        text = piece.group()
        match piece.lastgroup:
            case "newline":
                line += 1
                result.append(("", line))
                continue
            case "splice":
                line += 1
                if not result[-1][0]:
                    result[-1] = ("", line)
                continue
            case "escape":
                text = str(ast.literal_eval(f"'{text}'"))
        first, *rest = text.split("\n")
        result[-1] = (result[-1][0] + first, result[-1][1])
        result += [(part, line) for part in rest]
    return result
