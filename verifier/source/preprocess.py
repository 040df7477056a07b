"""The single preprocessing: user text and its own headers -> one text with line markers and no directives.

System includes are stripped and recorded; quote includes are read here, once, from inside the root, and reach the
preprocessor as private copies, so that it opens no file of the user's. Conditions may only name what the text defines
or what means the same to every reader; others are returned for the static gate.

Invariant: g++ runs with ``-undef -nostdinc``, our macros only, an empty environment, in the sandbox; no header that was
not resolved here can be in the result. What could not be resolved and was reached is in ``problems``.

Example::

    reader = Reader(Path("."), (), sandbox)
    reader.preprocess(SourceText("a.cu", "#define N 4\\nint a[N];"), arch="sm_80", device=True, defines={}).text
    # '# 1 "a.cu"\\n\\nint a[4];\\n'
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from specs.location import Span
from verifier.isolation.child import Limits, run
from verifier.isolation.sandbox import Sandbox
from verifier.source import headers, macros
from verifier.source.device_text import Conditional, SourceText
from verifier.source.errors import SourceError
from verifier.source.tokens import LineMap, Token, directive_line, scan, without_comments

MAX_FILE = 1 << 20
MAX_HEADERS = 256
MAX_HEADER_BYTES = 4 << 20
MAX_EXPANDED = 2 << 20
_LIMITS = Limits(cpu_seconds=3, memory_mb=1024, wall_seconds=15.0, output_bytes=MAX_EXPANDED, processes=16)
_COMMAND = ("g++", "-E", "-undef", "-nostdinc", "-x", "c++", "-std=gnu++17", "-w")
_ERROR = re.compile(r"^(.*?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.MULTILINE)
_CONDITION = frozenset(("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"))
_EXISTENCE = frozenset(("ifdef", "ifndef", "elifdef", "elifndef"))
_DEFINED = re.compile(r"\bdefined\s*(\(\s*\w+\s*\)|\w+)")
_OPERATORS = frozenset(
    ("defined", "true", "false", "and", "or", "not", "xor", "bitand", "bitor", "compl", "not_eq")
)


def read_text(path: Path) -> str:
    """The text of a regular file, no symlink. Raises SourceError with one clear line."""
    return decode(read_bytes(path), path)


def read_bytes(path: Path) -> bytes:
    """One open, no symlink, no device, at most MAX_FILE bytes."""
    where = Span(str(path), 0)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SourceError("is a symbolic link", where, "name the file it points to") from None
        raise SourceError(
            f"cannot be read: {os.strerror(error.errno or 0)}", where, "check the path"
        ) from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        what = "is a folder" if stat.S_ISDIR(mode) else "is not a regular file"
        raise SourceError(what, where, "name a .cu or .py file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise SourceError(f"is larger than {MAX_FILE >> 20} MiB", where, "split the file")
    return data


def decode(data: bytes, path: Path) -> str:
    """UTF-8 text with ``\\n`` line ends. In another encoding only comments of C++ may say more than ASCII."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = "" if path.suffix == ".py" else _without_words(data)
        if not text:
            line = data[: error.start].count(b"\n") + 1
            raise SourceError("is not UTF-8 text", Span(str(path), line), "save the file as UTF-8") from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise SourceError("holds a NUL byte", Span(str(path), line), "name a text file")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _without_words(data: bytes) -> str:
    """ASCII text with ``_`` for each other byte of a comment, so that places stay; "" if other text has such bytes."""
    text = data.decode("ascii", "replace")
    rest = (
        without_comments(t.text) if t.kind == "directive" else t.text
        for t in scan(text)
        if t.kind != "comment"
    )
    return "" if any("\ufffd" in word for word in rest) else text.replace("\ufffd", "_")


@dataclass(frozen=True, slots=True)
class Expanded:
    """``text`` has line markers. ``texts``: every user text that was read, the main one first."""

    text: str
    system_includes: tuple[str, ...]
    user_headers: tuple[tuple[str, str], ...]
    texts: tuple[SourceText, ...]
    conditionals: tuple[Conditional, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Include:
    """An include that is not expanded. ``fatal``: it may not even be asked for."""

    name: str
    span: Span
    problem: str = ""
    fatal: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class _Copy:
    """A user header: the name of its private copy, and the copy's text."""

    name: str
    source: SourceText
    sha256: str


@dataclass(frozen=True, slots=True)
class Reader:
    """Preprocesses the texts of one submission. ``root``: no header outside of it and ``include_dirs`` is read."""

    root: Path
    include_dirs: Sequence[Path]
    sandbox: Sandbox

    def preprocess(
        self, source: SourceText, *, arch: str, device: bool, defines: Mapping[str, str]
    ) -> Expanded:
        """Raises SourceError for a preprocessing error or an include that leaves the root."""
        return _Run(self, source).expand(macros.prelude(arch, device=device, defines=defines), defines)

    def resolve(self, name: str, folder: Path, quoted: bool) -> Path | None:
        """The header that ``name`` means in a file of ``folder``. Raises PermissionError if it leaves the root."""
        allowed = [Path(os.path.realpath(p)) for p in (self.root, *self.include_dirs)]
        escaped = Path(name).is_absolute()
        for base in (folder, *self.include_dirs) if quoted else self.include_dirs:
            lexical = Path(os.path.normpath(os.path.realpath(base) + "/" + name))
            real = Path(os.path.realpath(lexical))
            if not all(any(p.is_relative_to(a) for a in allowed) for p in (lexical, real)):
                escaped = True
            elif real.is_file():
                return real
        if escaped and quoted:
            raise PermissionError(name)
        return None


class _Run:
    """One preprocessing: the includes met and the headers copied on the way."""

    def __init__(self, reader: Reader, source: SourceText) -> None:
        self.reader, self.source = reader, source
        self.includes: list[_Include] = []
        self.copies: dict[Path, _Copy] = {}
        self.texts: dict[str, str] = {}
        self.header_bytes = 0
        self.pragma = "vk_" + hashlib.sha256(source.text.encode()).hexdigest()[:16]

    def expand(self, prelude: str, defines: Mapping[str, str]) -> Expanded:
        with tempfile.TemporaryDirectory(prefix="vk") as folder:
            main = self._sanitised(self.source, Path(self.source.path).parent, folder)
            for name, text in self.texts.items():
                Path(folder, name).write_text(text, encoding="utf-8")
            done = run(
                (*_COMMAND, "-I", folder, "-"),
                sandbox=self.reader.sandbox,
                stdin=f'# 1 "<verify-kernel>"\n{prelude}{main}'.encode(),
                limits=_LIMITS,
                readable=[Path(folder)],
            )
        texts = (self.source, *(copy.source for copy in self.copies.values()))
        conditionals = _undecided(texts, defines)
        if done.timed_out or done.truncated or done.returncode < 0:
            problem = f"{self.source.path}: preprocessing exceeds its limits (a macro or include bomb)"
            return Expanded("", (), (), texts, conditionals, (problem,))
        errors = done.stderr.decode(errors="replace")
        if done.returncode:
            raise self._error(errors)
        text, entered, reached = self._cleaned(done.stdout.decode(), folder)
        fatal = next((i for i in reached if i.fatal), None)
        if fatal is not None:
            raise SourceError(fatal.fatal, fatal.span, fatal.fix)
        return Expanded(
            text,
            tuple(dict.fromkeys(i.name for i in reached if not i.problem)),
            tuple((c.source.path, c.sha256) for c in self.copies.values() if c.name in entered),
            texts,
            conditionals,
            tuple(f"{i.span}: {i.problem}" for i in reached if i.problem),
        )

    def _sanitised(self, source: SourceText, folder: Path, copies: str) -> str:
        """The text with line markers, its includes replaced by private copies or by numbered pragmas."""
        tokens = scan(source.text)
        places = LineMap(source.text, source.path, [])
        pieces: list[str] = []
        position = 0
        for token in tokens:
            if token.kind != "directive":
                continue
            name, rest = directive_line(token.text)
            if name in ("", "line") and rest:
                new = ""
            elif name in ("include", "include_next", "import", "embed"):
                line = source.line(places.span(token.start).line)
                new = self._include(name, rest, Span(source.path, line, 1), folder, copies)
            else:
                continue
            pieces += [source.text[position : token.start], new, "\n" * token.text.count("\n")]
            position = token.end
        pieces.append(source.text[position:])
        return _with_markers(source, "".join(pieces), tokens)

    def _include(self, directive: str, rest: str, span: Span, folder: Path, copies: str) -> str:
        found = re.match(r'"([^"\n]+)"|<([^>\n]+)>', rest)
        if directive != "include" or found is None:
            problem = f"#{directive} {rest} cannot be resolved: write #include with a literal name"
            return self._numbered(_Include(rest, span, problem))
        name, quoted = found[1] or found[2], bool(found[1])
        try:
            path = self.reader.resolve(name, folder, quoted)
        except PermissionError:
            fatal = f'include "{name}" leaves the root folder {self.reader.root}'
            return self._numbered(
                _Include(name, span, fatal, fatal, "pass --root DIR for the project's folder")
            )
        if path is not None:
            return f'#include "{copies}/{self._copy(path, folder, name, span, copies).name}"'
        problem = "" if headers.is_system(name) else f"header {name} is not found; pass -I DIR"
        return self._numbered(_Include(name, span, problem))

    def _numbered(self, include: _Include) -> str:
        self.includes.append(include)
        return f"#pragma {self.pragma} {len(self.includes) - 1}"

    def _copy(self, path: Path, folder: Path, name: str, span: Span, copies: str) -> _Copy:
        if path not in self.copies:
            if len(self.copies) >= MAX_HEADERS:
                raise SourceError(f"includes more than {MAX_HEADERS} headers", span, "split the file")
            shown = os.path.normpath(folder / name)
            shown = shown if os.path.realpath(shown) == str(path) else str(path)
            data = read_bytes(path)
            self.header_bytes += len(data)
            if self.header_bytes > MAX_HEADER_BYTES:
                raise SourceError(
                    f"includes more than {MAX_HEADER_BYTES >> 20} MiB of headers", span, "split it"
                )
            source = SourceText(shown, decode(data, Path(shown)))
            copy = _Copy(f"h{len(self.copies)}", source, hashlib.sha256(data).hexdigest())
            self.copies[path] = copy
            self.texts[copy.name] = self._sanitised(source, Path(shown).parent, copies)
        return self.copies[path]

    def _cleaned(self, output: str, folder: str) -> tuple[str, set[str], list[_Include]]:
        """The preprocessed text of user files only; the copies that were entered; the numbered includes reached."""
        entered: set[str] = set()
        reached: dict[int, None] = {}
        kept: list[str] = []
        started = False
        for line in output.split("\n"):
            if marker := _OUTPUT_MARKER.match(line):
                name = Path(_unquoted(marker[2]))
                if str(name.parent) == folder:
                    entered.add(name.name)
                    continue
                line = f'# {marker[1]} "{marker[2]}"'
                started = started or _unquoted(marker[2]) == self.source.path
                if "1" in marker[3].split():
                    raise SourceError("preprocessing entered a foreign file", Span(self.source.path, 0), "")
            elif self.pragma in line:
                number = line.rsplit(" ", 1)[-1]
                if number.isdigit() and int(number) < len(self.includes):
                    reached[int(number)] = None
                    line = ""
            if started:
                kept.append(line)
        return "\n".join(kept), entered, [self.includes[n] for n in reached]

    def _error(self, errors: str) -> SourceError:
        found = _ERROR.search(errors)
        if found is None:
            first = errors.strip().splitlines()[0] if errors.strip() else "no message"
            if "failed to execute g++" in first:
                return SourceError("g++ is missing on this machine", Span("", 0), "apt-get install g++")
            return SourceError(f"cannot be preprocessed: {first}", Span(self.source.path, 0), "")
        span = Span(found[1], int(found[2]), int(found[3] or 0))
        return SourceError(f"preprocessing error: {found[4]}", span, "fix the line or pass -D NAME=VALUE")


_OUTPUT_MARKER = re.compile(r'# (\d+) "((?:\\.|[^"\\])*)"((?: \d)*)$')


def _unquoted(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _marker(line: int, path: str) -> str:
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'# {line} "{quoted}"'


def _with_markers(source: SourceText, text: str, tokens: Sequence[Token]) -> str:
    """``text`` (line for line the source's) with a marker at its start and wherever file lines jump."""
    first = _marker(source.line(1), source.path)
    if not source.lines:
        return f"{first}\n{text}\n"
    inside: set[int] = set()  # lines that begin within a token: a marker there would become part of it
    places = LineMap(source.text, "", [])
    for token in tokens:
        if "\n" in token.text:
            begin = places.span(token.start).line
            inside.update(range(begin + 1, begin + token.text.count("\n") + 1))
    result = [first]
    expected = source.line(1)
    for number, line in enumerate(text.split("\n"), 1):
        actual = source.line(number)
        if actual != expected and number not in inside:
            result.append(_marker(actual, source.path))
            expected = actual
        result.append(line)
        expected += 1
    return "\n".join(result) + "\n"


def _undecided(texts: Sequence[SourceText], defines: Mapping[str, str]) -> tuple[Conditional, ...]:
    """Macros that conditions depend on and that neither the texts, the command line nor all readers alike define."""
    asked: list[tuple[str, bool, Span]] = []
    bodies: dict[str, set[str]] = {name: set() for name in defines}
    for source in texts:
        places = LineMap(source.text, source.path, [])
        for token in scan(source.text):
            if token.kind != "directive":
                continue
            name, rest = directive_line(token.text)
            if name == "define" and (macro := re.match(r"([^\W\d]\w*)(\([^)]*\))?", rest)):
                parameters = set(re.findall(r"\w+", macro[2] or ""))
                body = {t.text for t in scan(rest[macro.end() :]) if t.kind == "ident"}
                bodies.setdefault(macro[1], set()).update(body - parameters)
            elif name in _CONDITION:
                where = places.span(token.start)
                span = Span(source.path, source.line(where.line), where.column)
                values = set() if name in _EXISTENCE else {t.text for t in scan(_DEFINED.sub("", rest))}
                asked += [(t.text, t.text in values, span) for t in scan(rest) if t.kind == "ident"]
    unknown: dict[str, Conditional] = {}
    seen: set[tuple[str, bool]] = set()
    for name, valued, span in asked:  # grows on the way
        if (name, valued) in seen:
            continue
        seen.add((name, valued))
        if valued:
            asked += [(inner, True, span) for inner in sorted(bodies.get(name, ()))]
        if name in _OPERATORS or name in macros.SAFE_IN_CONDITIONS or name in defines:
            continue
        if name not in bodies or macros.is_predefined(name):
            unknown.setdefault(name, Conditional(name, span, macros.is_tool_macro(name)))
    return tuple(unknown.values())
