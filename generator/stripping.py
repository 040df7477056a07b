"""Source as a model may see it again: a candidate's text without comments, strings and other free prose.

Text in -> text with the same line numbers. Invariant: no comment, docstring or string of more than one word survives;
strings that hold CUDA source (arguments of ``load_inline``) survive as code, stripped in turn.

Example::

    strip_cuda('int n; // say PASS\\n')                # 'int n; \\n'
    quoted_prose(candidate)                            # ['// say PASS']: what was taken out
    mask(["// say PASS, it is fine"])("clang: say PASS, it is fine")   # 'clang: […]'
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import tokenize
import unicodedata
import warnings
from collections.abc import Callable, Iterable

from generator.answers import Candidate

_TOKEN = re.compile(
    r"""
    (?P<comment> //[^\n]* | /\*.*?(?:\*/|\Z) )
  | (?P<raw> (?<!\w)(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?(?:\)(?P=mark)"|\Z) )
  | (?P<string> "(?:\\.|[^"\\\n])*(?:"|(?=\n)|\Z) )
  | (?P<number> (?<!\w)\.?\d(?:[eEpP][+-]|'?[\w.])* )
  | (?P<char> '(?:\\.|[^'\\\n])*(?:'|(?=\n)|\Z) )
  | (?P<word> [^\W\d]\w* )
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"^\s*(?:\#|%:)\s*(?P<name>\w*)(?P<rest>.*)$")
_PRAGMA = re.compile(r"\s*(once|nounroll|unroll\s*\(?\s*\w{0,40}\s*\)?)\s*$")
_WORDS = re.compile(r"[^\W\d]\w*(?:\s+[^\W\d]\w*){3,}")
_DECLARING = """
static inline const constexpr extern volatile register unsigned signed long short int char float double void bool auto
typedef typename template class struct enum union using namespace public private protected virtual explicit define
__global__ __device__ __host__ __shared__ __constant__ __restrict__ __restrict __forceinline__ __noinline__ __inline__
"""
_SPECIFIERS = frozenset(_DECLARING.split())
_ONE_WORD = re.compile(r"[A-Za-z0-9_./+=:\-]{0,40}")
_MAX_NAME = 64


def strip_cuda(text: str, removed: list[str] | None = None) -> str:
    """CUDA/C++ text without comments, string contents, ``#error``-like text and ``#if 0`` groups."""
    taken: list[str] = [] if removed is None else removed

    def replace(match: re.Match[str]) -> str:
        found = match.group()
        newlines = "\n" * found.count("\n")
        match match.lastgroup:
            case "comment":
                taken.append(found)
                return " " + newlines
            case "raw" | "mark":
                taken.append(found)
                return '""' + newlines
            case "string":
                inner = found.strip('"')
                if _ONE_WORD.fullmatch(inner):
                    return found
                taken.append(found)
                return '""'
            case "char":
                if len(found) <= 3 or (found[1] == "\\" and len(found) <= 8 and " " not in found):
                    return found
                taken.append(found)
                return "' '"
            case "word":
                return plain_name(found)
            case _:
                return found if len(found) <= _MAX_NAME else "0"

    code = _strip_directives(_TOKEN.sub(replace, _join_splices(text)), taken)
    return _printable(_strip_sentences(code, taken))


def _join_splices(text: str) -> str:
    """Backslash-newline is no line end for a C++ reader; the line ends move behind the joined line."""
    lines: list[str] = []
    joined = 0
    pending = ""
    for line in text.split("\n"):
        stripped = line.rstrip(" \t")
        if stripped.endswith("\\"):
            pending += stripped[:-1]
            joined += 1
            continue
        lines.append(pending + line + "\n" * joined)
        pending, joined = "", 0
    if pending or joined:
        lines.append(pending + "\n" * max(joined - 1, 0))
    return "\n".join(lines)


def _strip_directives(text: str, removed: list[str]) -> str:
    lines: list[str] = []
    dead = 0
    for line in text.split("\n"):
        directive = _DIRECTIVE.match(line)
        name = directive["name"] if directive else ""
        if dead:
            dead += name in ("if", "ifdef", "ifndef")
            dead -= name == "endif" or (dead == 1 and name in ("else", "elif"))
            removed.append(line)
            lines.append(line if not dead and name in ("else", "endif") and directive else "")
            continue
        if directive and name == "if" and directive["rest"].strip() in ("0", "(0)", "false"):
            dead = 1
        elif directive and name not in (
            "if",
            "ifdef",
            "ifndef",
            "elif",
            "else",
            "endif",
            "include",
            "define",
            "undef",
        ):
            if not (name == "pragma" and _PRAGMA.match(directive["rest"])):
                removed.append(line)
                line = ""
        lines.append(line)
    return "\n".join(lines)


def _strip_sentences(text: str, removed: list[str]) -> str:
    """Prose where code is not compiled (macro bodies, dead branches): four words in a row that declare nothing."""

    def replace(match: re.Match[str]) -> str:
        if sum(word not in _SPECIFIERS for word in match.group().split()) < 4:
            return match.group()
        removed.append(match.group())
        return "/**/" + "\n" * match.group().count("\n")

    parts = re.split(r"(^[ \t]*(?:\#|%:).*$)", text, flags=re.MULTILINE)
    return "".join(_WORDS.sub(replace, part) for part in parts)


def plain_name(name: str) -> str:
    """An identifier in ASCII; one that is too long to be a name becomes ``name_<digest>``."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return name if len(name) <= _MAX_NAME else f"name_{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def _printable(text: str) -> str:
    return "".join(c if c == "\n" or " " <= c <= "~" else " " for c in text.expandtabs(4))


def strip_python(text: str, removed: list[str] | None = None) -> str:
    """Python text without comments and strings; CUDA sources given to ``load_inline`` are stripped and kept.

    Text that Python cannot read yields "" (all of it counts as removed)."""
    taken: list[str] = [] if removed is None else removed
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sources = _cuda_sources(text)
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        taken.append(text)
        return ""
    lines = text.splitlines(keepends=True)
    out: list[str] = []
    position = (1, 0)
    for start, end, kind, found in _literals(tokens, lines):
        out.append(_names_only(_slice(lines, position, start)))
        newlines = "\n" * found.count("\n")
        if kind == "comment":
            taken.append(found)
        elif (
            kept := _kept_string(found, kind, any(a <= start and end <= b for a, b in sources), taken)
        ) is None:
            taken.append(found)
            out.append('""' + _continued(newlines))
        else:
            out.append(kept)
        position = end
    out.append(_names_only(_slice(lines, position, (len(lines) + 1, 0))))
    return _printable("".join(out))


def _kept_string(found: str, kind: str, is_source: bool, removed: list[str]) -> str | None:
    """A string literal as it may be shown, or None."""
    if kind == "formatted":
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = ast.literal_eval(found)
    if not isinstance(value, str):
        return None
    if is_source:
        code = strip_cuda(value, removed).replace('"""', '"')
        missing = found.count("\n") - code.count("\n")
        return f'r"""{code}{chr(10) * max(missing, 0)}"""'
    return f'"{value}"' if _ONE_WORD.fullmatch(value) and "\n" not in found else None


def _continued(newlines: str) -> str:
    return newlines.replace("\n", " \\\n") if newlines else ""


def _names_only(code: str) -> str:
    return re.sub(r"[^\W\d]\w*", lambda m: plain_name(m.group()), code)


def _literals(
    tokens: list[tokenize.TokenInfo], lines: list[str]
) -> Iterable[tuple[tuple[int, int], tuple[int, int], str, str]]:
    """(start, end, "comment" | "string" | "formatted", text) of each comment and string, outermost only."""
    opened: list[tuple[int, int]] = []
    for token in tokens:
        name = tokenize.tok_name[token.type]
        if name in ("FSTRING_START", "TSTRING_START"):
            opened.append(token.start)
        elif name in ("FSTRING_END", "TSTRING_END"):
            start = opened.pop()
            if not opened:
                yield start, token.end, "formatted", _slice(lines, start, token.end)
        elif opened:
            continue
        elif name == "COMMENT":
            yield token.start, token.end, "comment", token.string
        elif name == "STRING":
            prefix = re.match(r"\w*", token.string)
            kind = "formatted" if prefix and set(prefix.group().lower()) & {"f", "t"} else "string"
            yield token.start, token.end, kind, token.string


def _slice(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    (first, column), (last, stop) = start, end
    if first == last:
        return lines[first - 1][column:stop] if first <= len(lines) else ""
    middle = lines[first : last - 1]
    tail = lines[last - 1][:stop] if last <= len(lines) else ""
    return "".join([lines[first - 1][column:] if first <= len(lines) else "", *middle, tail])


def _cuda_sources(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where the string literals stand that ``load_inline`` gets as sources, directly or by a variable's name."""
    tree = ast.parse(text)
    arguments: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == "load_inline":
                arguments += node.args[1:3]
                arguments += [k.value for k in node.keywords if k.arg in ("cpp_sources", "cuda_sources")]
    names = {n.id for a in arguments for n in ast.walk(a) if isinstance(n, ast.Name)}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names:
                arguments.append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name in names:
                arguments.append(value)
    lines = text.splitlines()
    flat = [e for a in arguments for e in (a.elts if isinstance(a, (ast.List, ast.Tuple)) else [a])]
    return [
        (
            _place(lines, e.lineno, e.col_offset),
            _place(lines, e.end_lineno or e.lineno, e.end_col_offset or 0),
        )
        for e in flat
        if isinstance(e, ast.Constant)
    ]


def _place(lines: list[str], line: int, column: int) -> tuple[int, int]:
    """ast counts columns in UTF-8 bytes, tokenize in characters."""
    return line, len(lines[line - 1].encode()[:column].decode(errors="ignore"))


def shown(candidate: Candidate) -> str:
    """The candidate with line numbers, as it goes back to the model; blank lines are left out."""
    strip = strip_python if candidate.language == "python" else strip_cuda
    lines = strip(candidate.source).split("\n")
    return "\n".join(f"{n:4d}| {line.rstrip()}" for n, line in enumerate(lines, 1) if line.strip())


def quoted_prose(candidate: Candidate) -> list[str]:
    """Every piece of text that ``shown`` takes out."""
    removed: list[str] = []
    (strip_python if candidate.language == "python" else strip_cuda)(candidate.source, removed)
    return removed


_RUN = 4
"""So many words in a row that also stand in a comment or string are a quotation; so is a whole text of three."""


def mask(prose: Iterable[str]) -> Callable[[str], str]:
    """A function that makes a message safe to send: one bounded printable line without quotations of ``prose``."""
    runs: set[tuple[str, ...]] = set()
    for piece in prose:
        words = [w.lower() for w in re.findall(r"\w+", piece)]
        size = min(_RUN, max(len(words), 3))
        runs.update(tuple(words[i : i + size]) for i in range(len(words) - size + 1))

    def apply(text: str) -> str:
        text = clean(text)
        words = list(re.finditer(r"\w+", text))
        hidden = [False] * len(text)
        for size in (3, _RUN):
            for i in range(len(words) - size + 1):
                window = words[i : i + size]
                if tuple(w.group().lower() for w in window) in runs:
                    first, last = window[0].start(), window[-1].end()
                    hidden[first:last] = [True] * (last - first)
        return re.sub("\0+", "[…]", "".join("\0" if h else c for c, h in zip(text, hidden, strict=True)))

    return apply


def clean(text: str, limit: int = 400) -> str:
    """One printable line: no control, format (bidi) or private characters."""
    kept = "".join(
        " " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c)[0] != "C"
    )
    kept = re.sub(r" {2,}", " ", kept).strip()
    return kept if len(kept) <= limit else kept[: limit - 1] + "…"
